"""Choosing the one knob of an intervention by validation accuracy, as the paper does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from tippingpoint.errors import InputError
from tippingpoint.text import render_table

VALUES = tuple(k / 10 for k in range(1, 11))
"""The paper's grid of gamma and of t."""


@dataclass(frozen=True)
class Selection:
    """The values tried, how each did, and the best.

    Attributes
    ----------
    best
        The fitted estimator of the best value.
    parameter
        "gamma" or "t".
    values, scores
        What was tried, and the validation accuracy (of regressors: R²) of each.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> from tippingpoint.training import TiltedERMClassifier, select
    >>> X, y = tp.datasets.toy()
    >>> chosen = select(TiltedERMClassifier("linear", max_iter=100, random_state=0), X, y, values=[0.5, 1.0])
    >>> chosen.parameter, chosen.values
    ('t', (0.5, 1.0))
    """

    best: Any
    parameter: str
    values: tuple[float, ...]
    scores: tuple[float, ...]

    @property
    def value(self) -> float:
        """The best value."""
        return float(getattr(self.best, self.parameter))

    def to_frame(self) -> Any:
        """One line a value."""
        import pandas as pd

        return pd.DataFrame({self.parameter: self.values, "validation_score": self.scores})

    def __str__(self) -> str:
        marked = [(v, s, "best" if v == self.value else "") for v, s in zip(self.values, self.scores, strict=True)]
        return render_table((self.parameter, "validation score", ""), marked)


def select(
    estimator: Any,
    X: Any,  # noqa: N803  # scikit-learn's name
    y: Any,
    *,
    values: Sequence[float] = VALUES,
    sample_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
    n_jobs: int | None = None,
) -> Selection:
    """The best `gamma` or `t` by validation accuracy: one fit a value, all from one seed that the estimator's own draws.

    Parameters
    ----------
    estimator
        An adversarial or tilted estimator; it is not changed.
    X, y, sample_weight
        To fit it to.
    values
        What to try; of several that do equally well, the smallest (the strongest intervention) is taken.
    validation
        Rows and targets to judge by; where none are given, the rows that every fit holds out, the same for all.
    n_jobs
        Fits at a time, as joblib counts.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> from tippingpoint.training import TiltedERMClassifier, select
    >>> X, y = tp.datasets.toy()
    >>> chosen = select(TiltedERMClassifier("linear", max_iter=100, random_state=0), X, y, values=[0.5, 1.0])
    >>> chosen.parameter, chosen.values
    ('t', (0.5, 1.0))
    >>> chosen.best.t == chosen.value
    True
    """
    parameter = getattr(estimator, "tuned", None)
    if parameter is None:
        raise InputError(f"{type(estimator).__name__} has nothing to select; use an adversarial or a tilted estimator.")
    try:
        tried = sorted({float(value) for value in values})
    except (TypeError, ValueError):
        tried = []
    if not tried:
        raise InputError(f"values={values!r} must be several numbers, as [0.1, 0.5, 1.0].")
    share = estimator.validation_share
    if validation is None and isinstance(share, Real) and int(float(share) * len(y)) == 0:
        raise InputError(
            f"validation_share={share!r} of {len(y)} rows holds no rows out to judge by; raise it, or pass validation=(X, y)."
        )
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    candidates = [clone(estimator).set_params(**{parameter: value, "random_state": seed}) for value in tried]
    fitted = Parallel(n_jobs=n_jobs)(delayed(_fitted)(candidate, X, y, sample_weight) for candidate in candidates)
    scores = [model.validation_score_ if validation is None else float(model.score(*validation)) for model in fitted]
    if not all(math.isfinite(score) for score in scores):
        raise InputError("the rows held out are too few to judge by; raise validation_share, or pass validation=(X, y).")
    return Selection(fitted[int(np.argmax(scores))], parameter, tuple(tried), tuple(scores))


def _fitted(estimator: Any, x: Any, y: Any, sample_weight: Any) -> Any:
    return estimator.fit(x, y, sample_weight=sample_weight)
