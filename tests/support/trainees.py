"""Rows, and small estimators of every kind, that the tests of training share."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
    TiltedERMRegressor,
)

_RNG = np.random.default_rng(0)
N, D = 80, 3
X = _RNG.normal(size=(N, D))
SCORE = X @ [1.5, -1.0, 0.3] + 0.4
Y = (SCORE + _RNG.logistic(size=N) > 0.0).astype(int)
Y3 = np.digitize(SCORE + _RNG.logistic(size=N), [-1.0, 1.0])
TARGET = SCORE + 0.5 * _RNG.normal(size=N)
WEIGHT = _RNG.integers(0, 4, N).astype(float)
NAMES = ["age", "income", "debt"]

FAST_FIT: dict[str, Any] = {"max_iter": 40, "learning_rate": 0.05, "hidden": 8, "random_state": 0}
CLASSIFIERS = (ERMClassifier, AdversarialTrainingClassifier, TiltedERMClassifier)
REGRESSORS = (ERMRegressor, AdversarialTrainingRegressor, TiltedERMRegressor)
ALL: tuple[Any, ...] = (*CLASSIFIERS, *REGRESSORS)
ADVERSARIES: dict[Any, dict[str, Any]] = {
    AdversarialTrainingClassifier: {"inner_steps": 3},
    AdversarialTrainingRegressor: {"inner_steps": 3, "gamma": 100.0},
}


def small(make: Any, *args: Any, **options: Any) -> Any:
    """An estimator that is quickly fitted; its adversary is dear enough for the squared loss."""
    return make(*args, **{**FAST_FIT, **ADVERSARIES.get(make, {}), **options})


def y_of(make: Any) -> Any:
    return TARGET if make in REGRESSORS else Y


def converged(make: Any, *args: Any, **options: Any) -> Any:
    """All rows, no early end, and enough steps to compare with a solver."""
    given = {"max_iter": 800, "learning_rate": 0.02, "validation_share": 0.0, "random_state": 0, **options}
    return make(*args, **given)


def state(estimator: Any) -> bytes:
    return b"".join(value.numpy().tobytes() for value in estimator.as_module().state_dict().values())


class Bent(nn.Linear):
    """A child of a linear layer that is not linear."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).square()
