"""The size of a drift bounds its damage: what it would take to reach the risk of the current sample costs no more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from problems import answer
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.divergences import KL, ChiSquare, Divergence
from tippingpoint.transport import drift_on_line
from transports import squares

LOSSES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "zero_one": lambda margin: (margin <= 0.0).astype(float),
    "hinge": lambda margin: np.maximum(1.0 - margin, 0.0),
    "logistic": lambda margin: np.log1p(np.exp(-margin)),
    "squared": lambda margin: np.square(1.0 - margin),
}


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("price", [0.3, 3.0, 100.0])
def test_the_stability_at_the_current_risk_is_no_more_than_the_drift(loss: str, price: float, divergence: Divergence) -> None:
    """Samples may stay or move to a current margin: fewer ways than the stability allows, so that it would be less still."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, y = 1.0 + rng.normal(size=25), 0.6 + 1.3 * rng.normal(size=20)
        costs = np.column_stack((np.zeros(25), squares(x, y)))
        losses = np.column_stack((LOSSES[loss](x), np.tile(LOSSES[loss](y), (25, 1))))
        oracle = AtomsOracle(np.repeat(np.arange(25), 21), losses.ravel(), costs.ravel(), {})
        risk = float(LOSSES[loss](y).mean())
        used = answer(oracle, risk, price, 0.4, divergence).value
        found = drift_on_line(x, None, y, None, price=price, theta2=0.4, divergence=divergence)
        assert used <= found.upper * (1.0 + 1e-9)
        if risk > LOSSES[loss](x).mean():
            assert used > 0.0
