"""The prices of moving and of reweighting, given as such or by the dial between them."""

from __future__ import annotations

import math
from typing import Any

from tippingpoint.errors import InputError

BUDGET = 5.0
"""`1/θ1 + 1/θ2` along the dial between moving and reweighting, as in the paper."""

SMALLEST_BUDGET = 1e-300
"""Below this the prices along the dial overflow."""


def resolve_prices(theta1: float | None, theta2: float | None, mix: float | None, budget: float | None) -> tuple[float, float]:
    """`(θ1, θ2)`, given as such or by the dial between them."""
    if theta1 is None and theta2 is None:
        return _prices_on_dial(0.5 if mix is None else mix, BUDGET if budget is None else budget)
    if budget is not None:
        raise InputError(f"budget={budget!r} belongs to mix; leave it out where theta1 and theta2 are given.")
    if mix is not None:
        raise InputError(
            f"mix={mix!r} sets both prices, and theta1={theta1!r}, theta2={theta2!r} are given too; give one or the other."
        )
    if theta1 is None or theta2 is None:
        missing = "theta1" if theta1 is None else "theta2"
        raise InputError(f"{missing} is missing; give both prices (float('inf') forbids that kind of change), or mix.")
    prices = read_number("theta1", theta1), read_number("theta2", theta2)
    for name, price in zip(("theta1", "theta2"), prices, strict=True):
        if not price > 0.0:
            raise InputError(f"{name}={price:g} must be positive; float('inf') forbids that kind of change.")
    if all(math.isinf(price) for price in prices):
        raise InputError("theta1 and theta2 are both infinite, so nothing may change; make one of them finite.")
    return prices


def _prices_on_dial(mix: float, budget: float) -> tuple[float, float]:
    dial, total = read_number("mix", mix), read_number("budget", budget)
    if not 0.0 <= dial <= 1.0:
        raise InputError(f"mix={mix!r} must lie in [0, 1]: 0 reweights only, 1 moves only.")
    if not SMALLEST_BUDGET <= total < math.inf:
        raise InputError(f"budget={budget!r} must be a positive number; the paper's is 5.")
    inverse1, inverse2 = total * dial, total * (1.0 - dial)
    return (1.0 / inverse1 if inverse1 else math.inf), (1.0 / inverse2 if inverse2 else math.inf)


def read_number(name: str, value: Any) -> float:
    """A number, or an error that names the argument."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or isinstance(value, (str, bool)):
        raise InputError(f"{name}={value!r} must be a number.")
    return number


def read_cost(value: Any) -> float:
    """What a perturbation may cost."""
    cost = read_number("cost", value)
    if not 0.0 <= cost < math.inf:
        raise InputError(f"cost={value!r} must be 0 or more, and finite: what the perturbation may cost, as 0.05.")
    return cost
