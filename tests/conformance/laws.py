"""What holds of every family, whatever it serves: each law is a function of a trial, and fails in both directions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bruteforce import REACH, Atoms, envelopes, stability
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, Divergence
from tippingpoint.core.responses import Response
from tippingpoint.families.capabilities import Knowledge
from tippingpoint.results.stability import StabilityResult
from trials import Trial

ROUND_OFF = 1e-9
"""Relative, of sums of a handful of numbers."""

GRID_ERROR = 1e-2
"""Relative, how near brute force comes where places cannot be counted."""

DEAR = 0.6 * REACH**2
"""Cost of a move that may leave the grid of brute force."""

SEARCH_LUCK = 0.1
"""Part of a rise in risk by which two searches at neighbouring questions differ, a handful of samples each."""

PRICES = ((1.0, 0.25), (math.inf, 0.5))
"""Of moving and of reweighting; infinite: not at all."""


def gains(trial: Trial, prices: list[float]) -> tuple[FloatArray, list[Response]]:
    """`e_i(λ) - λ·ℓ(ẑ_i)` of every price and sample, and the responses."""
    responses = [trial.profile.oracle.respond(price) for price in prices]
    return np.array([price * each.lift - each.cost for price, each in zip(prices, responses, strict=True)]), responses


def envelope_theorem(trial: Trial) -> None:
    """The lift of the response is the slope of `e`, which is convex and increasing: between two prices the slope of the chord
    lies between the lifts at its ends, however far apart they are and whether or not a sample jumps in between."""
    prices = sorted([*trial.prices, *(price * (1.0 + 1e-4) for price in trial.prices)])
    gain, responses = gains(trial, prices)
    oracle = trial.profile.oracle
    slack = (ROUND_OFF if oracle.exact else GRID_ERROR) * (1.0 + np.abs(gain[1:])) + 1e-12
    assert (gain >= -slack.max()).all(), "staying is worth nothing"
    for k, (low, high) in enumerate(itertools.pairwise(prices)):
        rise = gain[k + 1] - gain[k]
        assert (responses[k].lift * (high - low) <= rise + slack[k]).all(), f"too flat between {low} and {high}"
        assert (rise <= responses[k + 1].lift * (high - low) + slack[k]).all(), f"too steep between {low} and {high}"
    still = oracle.respond(0.0)
    assert not still.cost.any()
    assert np.abs(still.lift).max() <= ROUND_OFF * (1.0 + np.abs(oracle.losses).max()), "where nothing is paid nobody moves"


def points_fed_back(trial: Trial) -> None:
    """The user's own model confirms loss and cost of every place shown; of the 0/1 loss, the error itself."""
    oracle, base = trial.profile.oracle, trial.profile.base
    everyone = np.arange(len(base))
    top = oracle.peak()
    priced = [(price, oracle.respond(price)) for price in trial.prices] + (
        [(math.inf, top)] if np.isfinite(top.lift).all() else []
    )
    for price, response in priced:
        loss, cost = trial.fed_back(everyone, oracle.points(price, everyone, response.lift))
        assert loss == pytest.approx(oracle.losses + response.lift, rel=1e-6, abs=1e-7), f"at price {price}"
        assert cost == pytest.approx(response.cost, rel=1e-5, abs=1e-6), f"at price {price}"


def brute_force(trial: Trial) -> None:
    """No place beats an exact response and some come as near as they can; what a search found is there."""
    exact, losses = trial.profile.oracle.exact, trial.profile.oracle.losses
    prices = trial.prices
    gain, responses = gains(trial, prices)
    for price, mine, response in zip(prices, gain, responses, strict=True):
        there = envelopes(trial.tried, price) - price * losses
        size = 1.0 + np.abs(price * losses) + np.abs(mine)
        within = trial.counted | (response.cost < DEAR)
        near = (ROUND_OFF if trial.counted else GRID_ERROR) * size
        if exact:
            assert (there <= mine + ROUND_OFF * size).all(), f"brute force is better at price {price}"
            assert (there >= mine - near)[within].all(), f"brute force is far from what is claimed at price {price}"
        else:
            assert (mine <= there + near)[within].all(), f"what was found is not there at price {price}"


def two_sided(trial: Trial, divergence: Divergence, answer: Knowledge) -> None:
    """`lower ≤ brute force ≤ upper`, and what is declared: exact, bounded or searched; Q* attains what it claims."""
    for theta1, theta2 in PRICES:
        _question(trial, theta1, theta2, divergence, answer)


def moving_alone(trial: Trial, answer: Knowledge) -> None:
    """The same where nothing may be reweighted, which no divergence has a part in."""
    _question(trial, 0.2, math.inf, KL(), answer)


def read_the_other_way(trial: Trial, divergence: Divergence) -> None:
    """The cost of a threshold reaches that threshold, less than what is proved to be needed does not, and ceilings hold."""
    for theta1, theta2 in (*PRICES, (0.2, math.inf)):
        prices: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
        result = trial.profile.stability(trial.risk, **prices)
        if result.status != "attained":
            continue
        rise = trial.risk - result.current_risk
        worst = trial.profile.worst_risk(result.upper, **prices)
        near = 1e-6 if result.exact else SEARCH_LUCK
        assert worst.value >= trial.risk - near * rise, "what the threshold costs does not reach it"
        assert worst.exact <= (worst.value <= trial.risk + near * rise), "what is called exact is cheaper than the stability"
        assert worst.spent <= result.upper * (1.0 + 1e-9)
        assert worst.certified is None or worst.certified >= max(worst.value, trial.risk - 1e-9 * rise)
        assert (worst.certified is None) == (worst.standing.kind in ("searched", "estimate"))
        if result.lower > 0.0:
            less = trial.profile.worst_risk(result.lower * (1.0 - 1e-6), **prices)
            assert less.value <= trial.risk + 1e-9 * rise, "less than what is proved to be needed reaches the threshold"


def _question(trial: Trial, theta1: float, theta2: float, divergence: Divergence, answer: Knowledge) -> None:
    result = trial.profile.stability(trial.risk, theta1=theta1, theta2=theta2, divergence=divergence)
    there = _brute(trial, result, theta1, theta2, divergence)
    if math.isfinite(theta1) and result.status != "already":
        assert result.standing.kind == answer, f"declared {answer}, but {result.lower_by}"
    if math.isinf(result.upper):
        assert math.isinf(there), "out of reach, says the result"
        return
    assert result.lower <= there * (1.0 + 1e-6) + 1e-9, "brute force is cheaper than the lower bound"
    assert there <= result.upper * (1.0 + 2.0 * GRID_ERROR) + 1e-6, "brute force does not find what the result shows"
    if result.exact:
        assert result.upper <= there * (1.0 + 1e-6) + 1e-9, "brute force is cheaper than what is called exact"
        assert result.lower == pytest.approx(result.upper, rel=1e-6, abs=1e-12), "primal and dual"
    _attained(trial, result, divergence)


def _brute(trial: Trial, result: StabilityResult, theta1: float, theta2: float, divergence: Divergence) -> float:
    """The least cost over places; those around the price of the result are among them, so that they come near."""
    atoms: list[Atoms] = trial.tried
    if math.isfinite(theta1) and 0.0 < result.price < math.inf and not trial.counted:
        here = result.price / theta1
        finer = trial.atoms([here * part for part in (0.97, 1.0, 1.03)])
        atoms = [(np.append(a, c), np.append(b, d)) for (a, b), (c, d) in zip(atoms, finer, strict=True)]
    return stability(atoms, trial.profile.base, trial.risk, theta1, theta2, divergence)


def _attained(trial: Trial, result: StabilityResult, divergence: Divergence) -> None:
    """The sensitive distribution, as the user sees it: its risk is the threshold and its price the upper bound."""
    q = result.sensitive
    mass, loss, cost = (q[name].to_numpy(dtype=float) for name in ("mass", "loss", "cost"))
    assert mass.sum() == pytest.approx(1.0, rel=1e-9)
    assert float(mass @ loss) == pytest.approx(max(trial.risk, result.current_risk), rel=1e-6)
    weights = q.groupby("row", sort=False)["weight"].first().reindex(list(trial.profile.index)).to_numpy(dtype=float)
    moving = result.theta1 * float(mass @ cost) if math.isfinite(result.theta1) else 0.0
    priced = math.isfinite(result.theta2)
    reweighting = result.theta2 * float(trial.profile.base @ divergence.phi(weights)) if priced else 0.0
    assert moving + reweighting == pytest.approx(result.upper, rel=1e-6, abs=1e-9)
