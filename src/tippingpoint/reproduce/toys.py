"""The paper's toy: a logistic regression on two clouds, and what its most sensitive distributions look like."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.datasets import toy
from tippingpoint.reproduce.figure import DRAWN_SEED, Record, Tables, by_seed, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NEAR_SHARE = 0.1
"""Share of the samples that are called near the boundary: those of the smallest margin."""

FAR_DISTANCE = 0.5
"""Distance from which on a sample counts as moved far, in standard deviations of its cloud."""

MARGIN = 0.6
"""Room around the points of a picture."""

NAMES = ("x1", "x2")

ORIGINAL = "original"


@dataclass(frozen=True)
class Question:
    """A panel: prices and threshold."""

    theta1: float
    theta2: float
    risk: float

    @property
    def panel(self) -> str:
        """What it is called in tables and above the picture."""
        first, second = ("∞" if math.isinf(price) else f"{price:g}" for price in (self.theta1, self.theta2))
        return f"θ1 = {first}, θ2 = {second}, r = {self.risk:g}"


def toy_model(seed: int) -> tuple[Any, Any, Any]:
    """The two clouds, and a logistic regression that 2,000 steps of Adam bring near the paper's loss of 0.1."""
    from tippingpoint.training import ERMClassifier

    x, y = toy(seed=seed)
    return ERMClassifier("linear", max_iter=2000, validation_share=0.0, random_state=seed).fit(x, y), x, y


def measure_toy(seed: int, loss: str, questions: Sequence[Question]) -> Mapping[str, list[Record]]:
    """Numbers of every panel; of the seed that is drawn, every atom too."""
    import tippingpoint as tp

    model, x, y = toy_model(seed)
    profile = tp.profile(model, x, y, loss=loss)
    slope = float(np.linalg.norm(model.coef_))
    margin = np.where(y == 1, 1.0, -1.0) * model.decision_function(x) / slope
    before: dict[str, float] = {"risk": profile.risk, "error": float(np.mean(margin <= 0.0))}
    before |= {
        "coef x1": float(model.coef_[0, 0]),
        "coef x2": float(model.coef_[0, 1]),
        "intercept": float(model.intercept_[0]),
    }
    found = numbers(seed, ORIGINAL, "LR", before)
    resting = [{"panel": ORIGINAL, "row": i, "y": int(y.iloc[i]), "weight": 1.0} | _places(x, x, i, i) for i in range(len(x))]
    atoms: list[Record] = resting if seed == DRAWN_SEED else []
    for question in questions:
        result = profile.stability(question.risk, theta1=question.theta1, theta2=question.theta2)
        q = result.sensitive
        rows = q["row"].to_numpy()
        moved = np.sqrt(q["cost"].to_numpy())
        mass = (q["weight"] * q["share"]).to_numpy() / len(x)
        nearest = np.isin(rows, np.argsort(margin, kind="stable")[: round(NEAR_SHARE * len(x))])
        sides = np.abs(model.decision_function(q[list(NAMES)])) / slope
        measured = {
            "stability": result.value,
            "effective share": result.effective_share,
            "moved share": result.moved_share,
            "moved far": float((q["share"].to_numpy()[moved > FAR_DISTANCE]).sum() / len(x)),
            "rms move": result.root_mean_square_move,
            "mass near boundary": float(mass[nearest].sum()),
            "farthest mover from boundary": float(sides[moved > 0.0].max(initial=0.0)),
            "corruption excess": result.corruption_excess,
            "reweighting excess": result.reweighting_excess,
        }
        found += numbers(seed, question.panel, "LR", measured)
        if seed == DRAWN_SEED:
            atoms += [
                {
                    "panel": question.panel,
                    "row": int(rows[k]),
                    "y": int(y.iloc[int(rows[k])]),
                    "weight": float(q["weight"].iloc[k]),
                }
                | _places(x, q, int(rows[k]), k)
                for k in range(len(q))
            ]
    return {"": found, "atoms": atoms}


def draw_toy(tables: Tables, panels: Sequence[str]) -> Canvas:
    """The panels side by side, all in one range."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import draw_sensitive

    atoms, table = tables["atoms"], tables[""]
    coef = [float(by_seed(table, ORIGINAL, "LR", at)[0]) for at in ("coef x1", "coef x2", "intercept")]
    figure, axes = plt.subplots(
        1, len(panels), figsize=(3.1 * len(panels), 3.2), sharex=True, sharey=True, layout="constrained"
    )
    for ax, panel in zip(axes, panels, strict=True):
        shown = atoms[atoms["panel"] == panel]
        before = shown[[f"{name} before" for name in NAMES]].to_numpy()
        draw_sensitive(
            before,
            shown[list(NAMES)].to_numpy(),
            np.arange(len(shown)),
            shown["weight"].to_numpy(),
            [f"y = {label}" for label in shown["y"]],
            NAMES,
            lambda places: places @ coef[:2] + coef[2],
            ax,
            legend="figure" if panel == panels[-1] else "none",
        )
        ax.set_title(panel, fontsize="medium")
        ax.label_outer()
    places = np.vstack([atoms[list(NAMES)].to_numpy(), atoms[[f"{name} before" for name in NAMES]].to_numpy()])
    axes[0].set_xlim(places[:, 0].min() - MARGIN, places[:, 0].max() + MARGIN)
    axes[0].set_ylim(places[:, 1].min() - MARGIN, places[:, 1].max() + MARGIN)
    return figure


def panel_values(tables: Tables, panel: str, at: str) -> Any:
    """One number of a panel, a seed each."""
    return by_seed(tables[""], panel, "LR", at)


def _places(before: Any, after: Any, row: int, atom: int) -> Record:
    then = {f"{name} before": float(before[name].iloc[row]) for name in NAMES}
    return then | {name: float(after[name].iloc[atom]) for name in NAMES}
