"""The stability against independent solvers, closed forms and its optimality conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from problems import CLASSIFICATION, DIVERGENCES, INF, PRICES, answer, linear, pieces_by_cvxpy, primal_by_cvxpy, table
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import Status, honest_lower
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.losses import LOSSES, PiecewiseLinear, loss_named
from tippingpoint.space import Space

PASSES = 14
"""Evaluations that a KL problem may take; 12 are the aim, two are for luck."""


def still(losses: np.ndarray[tuple[int], np.dtype[np.float64]]) -> AtomsOracle:
    """Samples that cannot move."""
    return AtomsOracle(np.arange(len(losses)), losses, np.zeros(len(losses)), {})


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", [(1.0, 0.25), (0.5, INF), (INF, 0.3)])
@pytest.mark.parametrize("lift", [0.05, 0.3, 0.8])
def test_tables_agree_with_the_primal_solved_by_cvxpy(divergence: Divergence, prices: tuple[float, float], lift: float) -> None:
    rng = np.random.default_rng(int(100 * lift))
    oracle, loss, cost = table(rng, 15, 4)
    base = rng.dirichlet(np.ones(15))
    risk = (1.0 - lift) * float(base @ loss[:, 0]) + lift * float(loss[:, 0].max())
    ours = answer(oracle, risk, *prices, divergence, base)
    if ours.solution.status is Status.UNREACHABLE:
        assert primal_by_cvxpy(loss, cost, base, risk, *prices, divergence) == INF
    else:
        assert ours.value == pytest.approx(primal_by_cvxpy(loss, cost, base, risk, *prices, divergence), rel=2e-5, abs=1e-7)


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
@pytest.mark.parametrize("factor", [1.1, 1.6, 2.5])
def test_hinge_agrees_with_the_papers_conic_program(divergence: Divergence, factor: float) -> None:
    oracle, x, y, beta, _ = linear(np.random.default_rng(1), "hinge", 60, 4)
    risk = factor * float(oracle.losses.mean())
    pieces = np.stack([np.zeros(60), 1.0 - y * (x @ beta + 0.3)])
    theirs = pieces_by_cvxpy(pieces, np.array([0.0, beta @ beta]), risk, 1.0, 0.25, divergence)
    assert answer(oracle, risk, 1.0, 0.25, divergence).value == pytest.approx(theirs, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
def test_general_pieces_agree_with_the_papers_conic_program(divergence: Divergence) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=4)
    x, y = rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], size=50)
    oracle = PiecesOracle(x, y, PiecewiseLinear(a, b), Space().resolve(["a", "b", "c"]))
    risk = float(oracle.losses.mean()) + 0.8
    values = np.stack([y * (x @ row) + offset for row, offset in zip(a, b, strict=True)])
    theirs = pieces_by_cvxpy(values, np.square(a).sum(axis=1), risk, 0.8, 0.3, divergence)
    assert answer(oracle, risk, 0.8, 0.3, divergence).value == pytest.approx(theirs, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("bounded", [False, True])
def test_primal_equals_dual_and_the_threshold_is_met(
    loss: str, prices: tuple[float, float], divergence: Divergence, *, bounded: bool
) -> None:
    rng = np.random.default_rng(4)
    space = Space(lower=-2.0, upper={f"x{j}": 2.0 for j in range(3)}) if bounded else None
    oracle, *_ = linear(rng, loss, 300, 4, space)
    base = rng.dirichlet(np.full(300, 2.0))
    current = float(base @ oracle.losses)
    for part in (1e-9, 1e-3, 0.2, 0.7, *(() if loss == "zero_one" else (40.0,))):
        risk = current + part * ((1.0 if loss == "zero_one" else 3.0 * current) - current)
        got = answer(oracle, risk, *prices, divergence, base)
        if got.solution.status is Status.UNREACHABLE:
            assert risk > got.problem.reachable
            continue
        assert got.q.risk == pytest.approx(risk, rel=1e-12)
        assert got.solution.lower == pytest.approx(got.value, rel=1e-9)
        assert got.q.base @ got.q.weights == pytest.approx(1.0, rel=1e-9)
        assert got.q.corruption_excess + got.q.reweighting_excess == pytest.approx(risk - current, rel=1e-9)
        assert len(got.q.sample) <= 301
        if isinstance(divergence, KL) and part < 1.0:
            assert got.solution.evaluations <= PASSES


@pytest.mark.parametrize("loss", CLASSIFICATION)
def test_weights_satisfy_their_optimality_conditions(loss: str) -> None:
    """KL: log w - E/θ2 is constant; chi-square: w = (E + α)₊-linear. E from the responses, not from the dual."""
    oracle, *_ = linear(np.random.default_rng(5), loss, 200, 3)
    risk = float(oracle.losses.mean()) + 0.1
    for divergence in (KL(), ChiSquare()):
        got = answer(oracle, risk, 0.7, 0.3, divergence)
        h = got.solution.left.price
        response = oracle.respond(h / 0.7)
        gain = h * (oracle.losses + response.lift) - 0.7 * response.cost
        w = got.q.weights
        multiplier = 0.3 * np.log(w) - gain if isinstance(divergence, KL) else (0.6 * (w - 1.0) - gain)[w > 1e-9]
        assert np.ptp(multiplier) < 1e-6 * (1.0 + np.abs(gain).max())


class TestClosedForms:
    """Section 11 of the mathematics."""

    def test_zero_one_reweighted(self) -> None:
        losses, r, theta = np.repeat([1.0, 0.0], [3, 17]), 0.4, 0.2
        e = 0.15
        kl = theta * (r * math.log(r / e) + (1 - r) * math.log((1 - r) / (1 - e)))
        chi = theta * (r - e) ** 2 / (e * (1 - e))
        assert answer(still(losses), r, INF, theta, KL()).value == pytest.approx(kl, rel=1e-12)
        assert answer(still(losses), r, INF, theta, ChiSquare()).value == pytest.approx(chi, rel=1e-12)

    @pytest.mark.parametrize("factor", [1.0001, 2.0, 1e6])
    def test_squared_moved(self, factor: float) -> None:
        oracle, _, _, beta, _ = linear(np.random.default_rng(6), "squared", 100, 3)
        v = float(oracle.losses.mean())
        closed = 0.3 * (math.sqrt(factor * v) - math.sqrt(v)) ** 2 / float(beta @ beta)
        assert answer(oracle, factor * v, 0.3, INF, KL()).value == pytest.approx(closed, rel=1e-10)

    def test_absolute_moved(self) -> None:
        oracle, _, _, beta, _ = linear(np.random.default_rng(7), "absolute", 100, 3)
        mean = float(oracle.losses.mean())
        closed = 0.3 * (2.0 * mean - mean) ** 2 / float(beta @ beta)
        assert answer(oracle, 2.0 * mean, 0.3, INF, KL()).value == pytest.approx(closed, rel=1e-12)

    def test_exponential_tilt(self) -> None:
        losses = np.random.default_rng(8).exponential(size=80)
        r = 2.0 * float(losses.mean())

        def tilted(t: float) -> tuple[float, float]:
            w = np.exp(t * (losses - losses.max()))
            q = w / w.sum()
            return float(q @ losses), float(q @ np.log(q * len(q)))

        t = brentq(lambda s: tilted(s)[0] - r, 0.0, 50.0, xtol=1e-14)
        got = answer(still(losses), r, INF, 0.3, KL())
        assert got.value == pytest.approx(0.3 * tilted(t)[1], rel=1e-10)
        assert math.exp(-got.value / 0.3) == pytest.approx(math.exp(-got.q.nats), rel=1e-10)

    def test_worst_share_is_free_up_to_its_mean_and_out_of_reach_beyond(self) -> None:
        losses = np.arange(10.0)
        worst = float(losses[-2:].mean())
        free = answer(still(losses), worst - 1e-9, INF, 1.0, CVaR(0.2))
        beyond = answer(still(losses), worst + 1e-9, INF, 1.0, CVaR(0.2))
        assert (free.value, free.solution.status) == (0.0, Status.ALREADY)
        assert free.q.risk == pytest.approx(worst - 1e-9, rel=1e-12)
        assert beyond.solution.status is Status.UNREACHABLE

    def test_zero_one_moved_flips_the_nearest_and_splits_the_last(self) -> None:
        x, y = np.array([[-3.0], [-1.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
        oracle, _, _, _, domain = linear(np.random.default_rng(0), "zero_one", 4, 1)
        oracle = linear_oracle(x, y, Score(np.array([1.0]), 0.0), loss_named("zero_one"), domain)
        got = answer(oracle, 0.6, 2.0, INF, KL())
        # Two samples at distance 1 flip for 1 each, 0.4 of the one at distance 2 for 4 each.
        assert got.value == pytest.approx(2.0 * 0.25 * (1.0 + 1.0 + 0.4 * 4.0), rel=1e-12)
        assert sorted(got.q.share[got.q.share < 1.0]) == pytest.approx([0.4, 0.6])


class TestLimits:
    @pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
    def test_a_risk_already_reached_costs_nothing(self, divergence: Divergence) -> None:
        oracle, *_ = linear(np.random.default_rng(9), "hinge", 50, 2)
        for risk in (float(oracle.losses.mean()), 0.5 * float(oracle.losses.mean())):
            got = answer(oracle, risk, 1.0, 1.0, divergence)
            assert (got.value, got.solution.lower, got.solution.status) == (0.0, 0.0, Status.ALREADY)
            assert (got.q.cost == 0.0).all()

    @pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
    @pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.25), (1.0, INF)])
    def test_the_largest_risk_is_the_limit_of_smaller_ones(self, divergence: Divergence, prices: tuple[float, float]) -> None:
        rng = np.random.default_rng(10)
        oracle, *_ = table(rng, 12, 3)
        largest = answer(oracle, 1e3, *prices, divergence).problem.reachable
        at = answer(oracle, largest, *prices, divergence)
        below = answer(oracle, largest - 1e-9, *prices, divergence)
        assert at.q.risk == pytest.approx(largest, rel=1e-12)
        assert at.value == pytest.approx(below.value, rel=1e-5)
        assert at.solution.lower == pytest.approx(at.value, rel=1e-9)
        assert answer(oracle, largest * 1.001, *prices, divergence).solution.status is Status.UNREACHABLE

    def test_all_losses_at_their_largest_value(self) -> None:
        assert answer(still(np.ones(5)), 1.0, INF, 1.0, KL()).value == 0.0
        assert answer(still(np.ones(5)), 1.1, INF, 1.0, KL()).solution.status is Status.UNREACHABLE

    def test_one_sample(self) -> None:
        oracle = AtomsOracle(np.zeros(2, dtype=np.intp), np.array([0.0, 1.0]), np.array([0.0, 3.0]), {})
        got = answer(oracle, 0.25, 2.0, 1.0, KL())
        assert got.value == pytest.approx(2.0 * 3.0 * 0.25, rel=1e-12)

    @pytest.mark.parametrize("scale", [1e-12, 1.0, 1e8])
    @pytest.mark.parametrize("theta", [1e-6, 1.0, 1e6])
    @pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
    def test_scales_of_losses_and_prices_do_not_matter(self, scale: float, theta: float, divergence: Divergence) -> None:
        rng = np.random.default_rng(11)
        _, loss, cost = table(rng, 30, 3)
        sample = np.repeat(np.arange(30), 3)
        plain = AtomsOracle(sample, loss.ravel(), cost.ravel(), {})
        scaled = AtomsOracle(sample, scale * loss.ravel(), cost.ravel(), {})
        risk = 1.4 * float(plain.losses.mean())
        expected = answer(plain, risk, 1.0, 0.3, divergence).value
        got = answer(scaled, scale * risk, theta, 0.3 * theta, divergence)
        assert got.value == pytest.approx(theta * expected, rel=1e-10)
        assert got.solution.lower == pytest.approx(got.value, rel=1e-9)

    @pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
    def test_large_losses_a_hair_apart_keep_their_digits(self, divergence: Divergence) -> None:
        apart = np.array([0.0, 1.0, 3.0]) * 2.0**-40
        plain = answer(still(apart), 2.0**-40 * 2.0, INF, 0.3, divergence)
        lifted = answer(still(1.0 + apart), 1.0 + 2.0**-40 * 2.0, INF, 0.3, divergence)
        assert lifted.value == pytest.approx(plain.value, rel=1e-12)
        assert lifted.solution.lower == pytest.approx(lifted.value, rel=1e-9)

    @pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
    @pytest.mark.parametrize("prices", [(0.5, INF), (0.5, 0.2)])
    def test_a_perfect_model_breaks_at_the_pole(self, loss: str, prices: tuple[float, float]) -> None:
        """No loss to amplify: all of the risk must be bought at the pole's price, `θ1 r / B`."""
        _, x, _, beta, domain = linear(np.random.default_rng(12), loss, 20, 3)
        score = x @ beta + 0.3
        y = score if loss == "squared" else np.where(score > 0, 1.0, -1.0)
        big = 1.0 if loss == "squared" else 1e3  # every margin beyond one
        perfect = linear_oracle(x, y, Score(beta * big, 0.3 * big), loss_named(loss), domain)
        assert perfect.losses.max() < 1e-20
        got = answer(perfect, 0.7, *prices, KL())
        assert got.value == pytest.approx(0.5 * 0.7 / float(big * big * (beta @ beta)), rel=1e-8)
        assert got.q.risk == pytest.approx(0.7, rel=1e-9)

    def test_a_threshold_beyond_the_pole_of_nothing(self) -> None:
        """Where no feature may move, a squared loss can only be reweighted."""
        oracle, *_ = linear(np.random.default_rng(13), "squared", 40, 2, Space(movable=[]))
        top = float(oracle.losses.max())
        assert answer(oracle, 1.01 * top, 1.0, 1.0, KL()).solution.status is Status.UNREACHABLE
        moving = answer(oracle, 0.9 * top, 1.0, 1.0, KL())
        assert moving.value == pytest.approx(answer(oracle, 0.9 * top, INF, 1.0, KL()).value, rel=1e-12)


@pytest.mark.parametrize(("dual", "lower"), [(0.9, 0.9), (1.0, 1.0), (1.01, 0.99), (3.0, 0.0), (INF, 0.0)])
def test_a_dual_above_the_primal_is_a_disagreement_not_a_proof(dual: float, lower: float) -> None:
    assert honest_lower(dual, 1.0) == pytest.approx(lower)
