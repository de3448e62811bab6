"""What the experiments share: rows drawn by a seed, columns scaled, models trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tippingpoint import datasets
from tippingpoint.errors import InputError

LOADERS = {"income": datasets.acs_income, "pubcov": datasets.acs_pubcov, "covid": datasets.covid19_brazil}
"""The data sets, by the names that figures use."""

SCALINGS = ("one-hot raw", "all standardised")
"""Ways to measure distance; the paper does not state its own (see docs/paper.md)."""

GRID = tuple(k / 10 for k in range(1, 11))
"""The paper's values of gamma and t."""

MIXES = (0.0, 0.002, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Settings of the dial; at 0.002 theta1 is 100, which stands for infinity in the paper, and at 0 it is infinite."""


@dataclass(frozen=True)
class Setting:
    """How an experiment is run.

    Attributes
    ----------
    directory
        Where the data are.
    quick
        Whether a taste is enough: fewer rows, a shorter grid, shorter training.
    """

    directory: str | None = None
    quick: bool = False

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows to train on, to evaluate on, and to judge interventions by."""
        return (500, 500, 1000) if self.quick else (2000, 2000, 5000)

    @property
    def grid(self) -> tuple[float, ...]:
        """Values of gamma and t to select from."""
        return (0.5, 1.0) if self.quick else GRID

    @property
    def mixes(self) -> tuple[float, ...]:
        """Settings of the dial."""
        return (0.0, 0.002, 0.5, 1.0) if self.quick else MIXES

    @property
    def training(self) -> dict[str, Any]:
        """What all trainers have in common; Adam at 1e-3 and 16 hidden units are their defaults, as in the paper."""
        return {"max_iter": 600 if self.quick else 2000, "validation_share": 0.2}

    def task(self, name: str) -> datasets.Task:
        """A data set of the paper."""
        if self.directory is None:
            raise InputError(f"this figure needs the data set {name!r}; name the directory that holds it (--data DIR).")
        return _loaded(name, self.directory)


@cache
def _loaded(name: str, directory: str) -> datasets.Task:
    return LOADERS[name](directory)


@dataclass(frozen=True)
class Rows:
    """Rows of a data set, in the columns that the models see, and as they were."""

    x: Any
    y: Any
    raw: Any


@dataclass(frozen=True)
class Split:
    """Rows to train on, to evaluate on, to judge interventions by, and all that are left."""

    train: Rows
    evaluate: Rows
    judge: Rows
    rest: Rows


def split(task: datasets.Task, seed: int, setting: Setting, scaling: str = SCALINGS[0], *, halves: bool = False) -> Split:
    """Rows drawn without replacement; columns standardised by the training rows, the numeric ones or all of them.

    `halves` splits the data in two, as the paper does with COVID-19: the evaluation rows then also judge.
    """
    order = np.random.default_rng(seed).permutation(len(task.X))
    if halves:
        half = setting.sizes[0] if setting.quick else len(order) // 2
        parts = [order[:half], order[half:], order[half:], order[half:]]
        if setting.quick:
            parts[1] = order[half : 2 * half]
    else:
        ends = np.cumsum(setting.sizes)
        parts = [order[: ends[0]], order[ends[0] : ends[1]], order[ends[1] : ends[2]], order[ends[2] :]]
    columns = list(task.numeric) if scaling == SCALINGS[0] else list(task.X.columns)
    fitted = task.X.iloc[parts[0]][columns]
    scaled = task.X.copy()
    scaled[columns] = (scaled[columns] - fitted.mean()) / fitted.std(ddof=0).replace(0.0, 1.0)
    rows = [Rows(scaled.iloc[part], task.y.iloc[part], task.X.iloc[part]) for part in parts]
    return Split(*rows)


def trained(kind: str, rows: Rows, seed: int, setting: Setting, **options: Any) -> Any:
    """A model of the paper: "lr", "mlp", or the MLP of "at" and "tilted", their knob selected by validation accuracy."""
    from tippingpoint.training import AdversarialTrainingClassifier, ERMClassifier, TiltedERMClassifier, select

    shared = {"random_state": seed, **setting.training, **options}
    if kind in ("lr", "mlp"):
        return ERMClassifier("linear" if kind == "lr" else "mlp", **shared).fit(rows.x, rows.y)
    robust = AdversarialTrainingClassifier if kind == "at" else TiltedERMClassifier
    return select(robust(**shared), rows.x, rows.y, values=setting.grid).best


def stabilities(model: Any, rows: Rows, risk: float, mixes: Sequence[float]) -> Mapping[float, Any]:
    """Results of the cross-entropy along the dial, all from one profile."""
    import tippingpoint as tp

    profile = tp.profile(model, rows.x, rows.y, loss="cross_entropy", certify="none", progress=False)
    return dict(zip(mixes, profile.tradeoff(mixes, risk=risk), strict=True))
