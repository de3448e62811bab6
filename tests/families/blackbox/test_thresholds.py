"""What is claimed of trees that can only be asked: answers change at their thresholds, and nowhere else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray

WIDTH, ROWS = 4, 8
SCAN = np.linspace(-8.0, 8.0, 16_001)


def data(rows: int, seed: int) -> tuple[FloatArray, Any]:
    x = np.random.default_rng(seed).normal(size=(rows, WIDTH))
    return x, (x[:, 3] + x[:, 2] > 0.0).astype(int)


class Rotated(RandomForestClassifier):  # type: ignore[misc]  # of no known type
    """Predicts otherwise than its trees say."""

    def predict(self, rows: Any) -> Any:
        return (np.asarray(rows).sum(axis=1) > 0.0).astype(int)


BAGGED = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, max_features=2, random_state=0)
MODELS: dict[str, Any] = {
    "columns of its own": BAGGED,
    "all columns": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0),
    "begins with another model": GradientBoostingClassifier(n_estimators=1, max_depth=1, init=LogisticRegression()),
    "predicts otherwise": Rotated(3, max_depth=2, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("column", range(WIDTH))
def test_a_single_feature_is_exact_only_where_a_scan_finds_nothing_nearer(name: str, column: int) -> None:
    model = MODELS[name].fit(*data(120, 0))
    x, y = data(ROWS, 1)
    nearest = np.full(ROWS, math.inf)
    for i in range(ROWS):
        moved = np.repeat(x[[i]], len(SCAN), axis=0)
        moved[:, column] += SCAN
        errs = model.predict(moved) != y[i]
        nearest[i] = np.square(SCAN[errs]).min(initial=math.inf)
    wanted = ROWS - 2
    scanned = float(np.sort(nearest)[:wanted].sum()) / ROWS
    space = tp.Space(movable=[f"x{column}"])
    result = tp.stability(model, x, y, wanted / ROWS, theta1=1.0, theta2=math.inf, space=space, progress=False)
    assert result.lower <= scanned
    assert result.exact == (name in ("columns of its own", "all columns"))
    if result.exact and math.isfinite(scanned):
        assert result.value == pytest.approx(scanned, rel=0.02)
