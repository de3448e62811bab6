"""Mixed features: numbers, whole numbers, levels, categories and one-hot groups, exactly, against brute force."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from problems import answer
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features, read_features
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

ALL: list[Loss] = [
    *(loss_named(name) for name in LOSSES if name != "cross_entropy"),
    PiecewiseLinear([-1.0, 0.2, 3.0], [0.0, 0.0, -2.0], "regression", "lopsided"),
    PiecewiseLinear([1.0, -1.0], [0.0, 0.0], "classification", "both ways"),
]
LAMBDAS = (0.05, 0.4, 1.5, 5.0)
KINDS = {"age": "integer", "grade": "ordinal", "job": "categorical"}
LEVELS = {"grade": ["low", "mid", "high"], "job": list("abcd")}
ONE_HOT = {"race": ["r0", "r1", "r2"]}
SPACES: dict[str, Space] = {
    "all kinds": Space(kind=KINDS, categories=LEVELS, one_hot=ONE_HOT),
    "no number moves": Space(kind=KINDS, categories=LEVELS, one_hot=ONE_HOT, frozen=["x"]),
    "bounds, prices, directions": Space(
        kind=KINDS,
        categories=LEVELS,
        one_hot=ONE_HOT,
        lower={"x": -2.5, "age": -1},
        upper={"x": 2.5, "age": 6},
        price={"age": 0.3, "job": 0.7, "race": 1.7, "grade": 0.2},
        direction={"age": "up", "grade": "down"},
    ),
    "tables": Space(
        kind=KINDS,
        categories=LEVELS,
        one_hot=ONE_HOT,
        frozen=["age"],
        switch={"job": {"a": {"b": 0.3, "c": 2.0}, "b": {"c": 0.1, "d": 0.6}, "c": {"a": 0.5}}, "race": "frequency"},
    ),
    "only groups": Space(kind={**KINDS, "x": "fixed"}, categories=LEVELS, one_hot=ONE_HOT, movable=["race", "job"]),
}


def people(n: int = 10, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = np.eye(3)[rng.integers(0, 3, n)]
    return pd.DataFrame(
        {
            "x": np.clip(rng.normal(size=n), -2.0, 2.0),
            "age": rng.integers(0, 5, n),
            "grade": rng.choice(["low", "mid", "high"], n),
            "job": rng.choice(list("abcd"), n),
            "r0": race[:, 0],
            "r1": race[:, 1],
            "r2": race[:, 2],
        }
    )


def scored(seed: int = 1) -> Score:
    """A score with a table for each text column (categories in the order they are read)."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=7)
    coef[[2, 3]] = 0.0
    return Score(coef, 0.2, {2: rng.normal(size=4), 3: rng.normal(size=5)})


def read(space: Space, n: int = 10) -> tuple[Features, Domain]:
    frame = people(n)
    features = read_features(frame, space.read_as({}, frame))
    return features, space.resolve(features)


def targets(loss: Loss, scores: FloatArray) -> FloatArray:
    rng = np.random.default_rng(2)
    if loss.task == "regression":
        return np.asarray(scores + 2.0 * rng.normal(size=len(scores)))
    return np.where(rng.random(len(scores)) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0)


def places(domain: Domain, x: FloatArray, steps: int = 161) -> FloatArray:
    """Every legal row reachable from one sample, numbers on a grid."""
    axes: list[FloatArray] = []
    columns: list[list[int]] = []
    for j in domain.free:
        low, high = domain.bounds(x[None], np.array([j]))
        grid = np.linspace(max(float(low[0, 0]), x[j] - 5.0), min(float(high[0, 0]), x[j] + 5.0), steps)
        axes.append(np.unique(np.append(grid, x[j]))[:, None])
        columns.append([int(j)])
    for menu in domain.menus:
        here = menu.options(x[None])[0]
        axes.append(menu.values[np.isfinite(menu.cost[here])])  # noqa: PD011  # no pandas
        columns.append(menu.columns.tolist())
    rows = []
    for chosen in itertools.product(*axes):
        row = x.copy()
        for part, where in zip(chosen, columns, strict=True):
            row[where] = part
        rows.append(row)
    return np.array(rows)


def judged(loss: Loss, score: FloatArray, y: float) -> FloatArray:
    if loss.needs_crossing:
        return np.asarray(np.where(score > 0.0, 1.0, -1.0) != y, dtype=float)
    return np.asarray(loss.value(-y * score if loss.task == "classification" else y - score))


@pytest.mark.parametrize("space", list(SPACES))
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_no_legal_row_beats_the_best_response_and_some_come_close(loss: Loss, space: str) -> None:
    features, domain = read(SPACES[space], 6)
    x, score = features.x, scored()
    y = targets(loss, score.of(x))
    oracle = linear_oracle(x, y, score, loss, domain)
    assert oracle.exact
    legal = [places(domain, row) for row in x]
    for lam in [lam for lam in LAMBDAS if lam < 0.9 * oracle.ceiling]:
        response = oracle.respond(lam)
        value = lam * (oracle.losses + response.lift) - response.cost
        for i, rows in enumerate(legal):
            cost = domain.distance(np.tile(x[i], (len(rows), 1)), rows)
            assert np.isfinite(cost).all()
            best = float((lam * judged(loss, score.of(rows), float(y[i])) - cost).max())
            assert best <= value[i] + 1e-9 * (1.0 + abs(value[i]))
            # Numbers are on a grid: without them the best is met exactly, with them nearly.
            slack = 0.03 * (1.0 + lam) if len(domain.free) else 1e-9
            far = len(domain.free) and response.cost[i] > 16.0
            assert far or best >= value[i] - slack * (1.0 + abs(value[i]))


@pytest.mark.parametrize("space", list(SPACES))
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_rows_shown_are_legal_and_have_the_loss_and_the_cost_claimed(loss: Loss, space: str) -> None:
    features, domain = read(SPACES[space], 60)
    x, score = features.x, scored()
    y = targets(loss, score.of(x))
    oracle = linear_oracle(x, y, score, loss, domain)
    everyone = np.arange(len(x))
    finite = bool(np.isfinite(oracle.peak().lift).all())
    for lam in [*[lam for lam in LAMBDAS if lam < 0.9 * oracle.ceiling], *([math.inf] if finite else [])]:
        response = oracle.respond(lam) if math.isfinite(lam) else oracle.peak()
        shown = np.column_stack([oracle.points(lam, everyone, response.lift)[name] for name in domain.names])
        assert domain.distance(x, shown) == pytest.approx(response.cost, rel=1e-7, abs=1e-9)
        losses = [float(judged(loss, score.of(row[None]), float(label))[0]) for row, label in zip(shown, y, strict=True)]
        assert losses == pytest.approx((oracle.losses + response.lift).tolist(), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=["kl", "chi2"])
def test_primal_and_dual_agree_in_mixed_spaces(loss: Loss, divergence: Any) -> None:
    features, domain = read(SPACES["bounds, prices, directions"], 200)
    x, score = features.x, scored()
    y = targets(loss, score.of(x))
    oracle = linear_oracle(x, y, score, loss, domain)
    now = float(oracle.losses.mean())
    for risk in (now + 0.1 * (1.0 + now), now + 0.3 * (1.0 + now)):
        got = answer(oracle, min(risk, 0.9) if loss.needs_crossing else risk, 1.0, 0.5, divergence)
        assert got.solution.lower == pytest.approx(got.value, rel=1e-9)
        assert got.q.risk == pytest.approx(got.problem.risk, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_cheapest_purchase_is_the_least_over_all_combinations(seed: int) -> None:
    """Nearest errors with switches of many different prices: the envelope alone would be wrong for most."""
    rng = np.random.default_rng(seed)
    n, sizes = 40, (5, 4, 6)
    frame = pd.DataFrame({f"c{k}": rng.integers(0, size, n).astype(str) for k, size in enumerate(sizes)})
    frame["x"] = rng.normal(size=n)
    tables = {}
    for k, size in enumerate(sizes):
        table = rng.exponential(size=(size, size)) + 0.05
        np.fill_diagonal(table, 0.0)
        tables[f"c{k}"] = table
    space = Space(switch=tables, lower={"x": -4.0}, upper={"x": 4.0}, price={"x": 2.0})
    features = read_features(frame, {f"c{k}": [str(v) for v in range(size)] for k, size in enumerate(sizes)})
    domain = space.resolve(features)
    worth = {k: rng.normal(size=size + 1) for k, size in enumerate(sizes)}
    score = Score(np.array([0.0, 0.0, 0.0, 0.4]), 0.3, worth)
    y = np.where(score.of(features.x) > 0.0, 1.0, -1.0)
    oracle = linear_oracle(features.x, y, score, loss_named("zero_one"), domain)
    assert oracle.exact
    envelope_was_enough = 0
    for i in range(n):
        best = math.inf
        for choice in itertools.product(*(range(size) for size in sizes)):
            spent = sum(tables[f"c{k}"][int(features.x[i, k]), c] for k, c in enumerate(choice))
            rest = sum(worth[k][c] for k, c in enumerate(choice)) + 0.3
            margin = y[i] * (rest + 0.4 * features.x[i, 3])
            step = max(margin, 0.0) / 0.4
            room = 4.0 + y[i] * features.x[i, 3]
            if step <= room:
                best = min(best, spent + 2.0 * step**2)
        assert oracle.peak().cost[i] == pytest.approx(best, rel=1e-6)
        envelope_was_enough += best == 0.0
    assert envelope_was_enough < n


def test_a_crowd_of_choices_that_is_cut_short_is_bounded_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n, sizes = 60, (6, 6, 6, 6)
    frame = pd.DataFrame({f"c{k}": rng.integers(0, size, n).astype(str) for k, size in enumerate(sizes)})
    tables = {}
    for k, size in enumerate(sizes):
        table = rng.exponential(size=(size, size)) + 0.05
        np.fill_diagonal(table, 0.0)
        tables[f"c{k}"] = table
    features = read_features(frame, {name: [str(v) for v in range(6)] for name in frame.columns})
    domain = Space(switch=tables).resolve(features)
    score = Score(np.zeros(4), 0.1, {k: rng.normal(size=7) for k in range(4)})
    y = np.where(score.of(features.x) > 0.0, 1.0, -1.0)

    def asked() -> CrossingOracle:
        return CrossingOracle.binary(features.x, y, score, domain, score.of(features.x))

    exact, exactly = asked(), answer(asked(), 0.5, 1.0, 0.5, KL())
    assert exact.exact
    monkeypatch.setattr("tippingpoint.push.mixed.STATES", 1)
    cut, roughly = asked(), answer(asked(), 0.5, 1.0, 0.5, KL())
    assert not cut.exact
    assert (cut.nearest >= exact.nearest * (1.0 - 1e-12)).all()
    assert (cut.least <= exact.nearest * (1.0 + 1e-12)).all()
    certificate = cut.certify(roughly.problem, roughly.solution)
    assert 0.3 * exactly.value < certificate.lower <= exactly.value * (1.0 + 1e-12)
    assert roughly.value >= exactly.value * (1.0 - 1e-12)
    assert "bounded from below" in certificate.by


def test_several_classes_cross_the_nearest_boundary_in_a_mixed_space() -> None:
    space = SPACES["bounds, prices, directions"]
    features, domain = read(space, 12)
    x = features.x
    scores = [scored(seed) for seed in (4, 5, 6)]
    values = np.column_stack([score.of(x) for score in scores])
    y = np.argmax(values + np.random.default_rng(0).normal(size=values.shape), axis=1).astype(np.intp)
    oracle = CrossingOracle.multiclass(x, y, scores, domain, values)
    assert oracle.least == pytest.approx(oracle.nearest, rel=1e-9), "the nearest of all boundaries is proved"
    for i in np.flatnonzero(oracle.losses == 0.0):
        rows = places(domain, x[i], 401)
        wrong = np.argmax(np.column_stack([score.of(rows) for score in scores]), axis=1) != y[i]
        cost = domain.distance(np.tile(x[i], (len(rows), 1)), rows)
        brute = float(cost[wrong].min(initial=math.inf))
        near = oracle.nearest[i]
        assert near <= brute + 1e-6
        assert math.isinf(near) == math.isinf(brute)
        assert math.isinf(near) or near >= brute - 0.2 * (1.0 + brute)


def test_pieces_of_the_features_move_by_whole_steps() -> None:
    space = Space(kind={"a": "integer"}, lower={"a": 0}, upper={"a": 4})
    frame = pd.DataFrame({"a": [0, 2, 4, 1], "b": [0.0, 0.5, -1.0, 2.0]})
    features = read_features(frame)
    domain = space.resolve(features)
    loss = PiecewiseLinear(np.array([[0.0, 0.0], [1.0, 0.5], [-0.3, 2.0]]), [0.0, 0.2, -0.1])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    oracle: Oracle = PiecesOracle(features.x, y, loss, domain)
    for lam in (0.3, 1.0, 3.0):
        value = lam * (oracle.losses + oracle.respond(lam).lift) - oracle.respond(lam).cost
        for i in range(4):
            rows = places(domain, features.x[i], 1001)
            cost = domain.distance(np.tile(features.x[i], (len(rows), 1)), rows)
            found = lam * np.max([y[i] * rows @ a + b for a, b in zip(loss.slopes, loss.offsets, strict=True)], axis=0) - cost
            assert found.max() <= value[i] + 1e-9
            assert found.max() >= value[i] - 1e-3 or oracle.respond(lam).cost[i] > 16.0


def test_fine_steps_are_rounded_and_bounded_by_the_free_move() -> None:
    """Dollars: too many values for a menu, so they move freely, are rounded, and the gap is told."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.integers(0, 5000, 300), "x": rng.normal(size=300)})
    space = Space(kind={"income": "integer"}, price={"income": 1e-4}, lower={"income": 0}, upper={"income": 6000})
    features = read_features(frame)
    domain = space.resolve(features)
    score = Score(np.array([2e-3, 0.7]), -5.0)
    for name in ("hinge", "logistic", "zero_one", "squared"):
        loss = loss_named(name)
        y = targets(loss, score.of(features.x))
        oracle = linear_oracle(features.x, y, score, loss, domain)
        got = answer(oracle, 0.6 if name == "zero_one" else float(oracle.losses.mean()) + 0.5, 1.0, 0.5, KL())
        assert not oracle.exact
        lower = oracle.certify(got.problem, got.solution).lower
        assert 0.98 * got.value <= lower <= got.value * (1 + 1e-12)
        lift = np.concatenate([oracle.respond(got.q.prices[0]).lift])
        shown = oracle.points(got.q.prices[0], np.arange(300), lift)
        assert (shown["income"] == np.round(shown["income"])).all()
        z = np.column_stack([shown["income"], shown["x"]])
        assert domain.distance(features.x, z) == pytest.approx(oracle.respond(got.q.prices[0]).cost, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_what_escapes_at_the_pole_is_shown_where_it_went(loss: str) -> None:
    """A perfect model: all of the risk is bought at the pole's price, by the number that moves without bounds."""
    features, domain = read(SPACES["all kinds"], 20)
    judged_by, plain = loss_named(loss), scored()
    big = 1.0 if loss == "squared" else 1e3  # every margin beyond one
    tables = {j: big * table for j, table in plain.tables.items()}
    score = Score(big * plain.coef, big * plain.intercept, tables)
    y = score.of(features.x) if loss == "squared" else np.where(score.of(features.x) > 0.0, 1.0, -1.0)
    oracle = linear_oracle(features.x, y, score, judged_by, domain)
    assert oracle.losses.max() < 1e-20
    got = answer(oracle, 0.7, 0.5, 0.2, KL())
    assert got.solution.lower == pytest.approx(got.value, rel=1e-6)
    for right, price in enumerate(got.q.prices):
        atoms = np.flatnonzero(got.q.right == bool(right))
        if len(atoms):
            rows = got.q.sample[atoms]
            shown = oracle.points(price, rows, got.q.lift[atoms])
            z = np.column_stack([shown[name] for name in domain.names])
            assert domain.distance(features.x[rows], z) == pytest.approx(got.q.cost[atoms], rel=1e-6, abs=1e-12)
            found = [float(judged(judged_by, score.of(row[None]), float(y[i]))[0]) for row, i in zip(z, rows, strict=True)]
            assert found == pytest.approx((oracle.losses[rows] + got.q.lift[atoms]).tolist(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_a_scorecard_may_land_on_its_boundary(seed: int) -> None:
    """Whole coefficients: a score of exactly 0 is said to be of the first class, an error for samples of the second only."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 4, (6, 3)), columns=list("abc"))
    features = read_features(frame)
    domain = Space(kind=dict.fromkeys("abc", "integer"), lower=0.0, upper=3.0).resolve(features)
    coef = rng.integers(-3, 4, 3).astype(float)
    several = [Score(rng.integers(-2, 3, 3).astype(float), float(rng.integers(-2, 3))) for _ in range(3)]
    score = Score(coef, float(rng.integers(-4, 5)))
    every = np.array(list(itertools.product(range(4), repeat=3)), dtype=float)
    y = rng.choice([-1.0, 1.0], 6)
    oracle = CrossingOracle.binary(features.x, y, score, domain, score.of(features.x))
    labels = rng.integers(0, 3, 6).astype(np.intp)
    values = np.column_stack([one.of(features.x) for one in several])
    many = CrossingOracle.multiclass(features.x, labels, several, domain, values)
    said = np.argmax(np.column_stack([one.of(every) for one in several]), axis=1)
    for i, x in enumerate(features.x):
        cost = np.square(every - x).sum(axis=1)
        wrong = np.where(score.of(every) > 0.0, 1.0, -1.0) != y[i]
        assert oracle.nearest[i] == pytest.approx(float(cost[wrong].min(initial=math.inf)), rel=1e-9)
        assert many.nearest[i] == pytest.approx(float(cost[said != labels[i]].min(initial=math.inf)), rel=1e-9)
    peak = oracle.peak()
    shown = np.column_stack([oracle.points(math.inf, np.arange(6), peak.lift)[name] for name in "abc"])
    assert ((np.where(score.of(shown) > 0.0, 1.0, -1.0) != y) == (oracle.losses + peak.lift > 0.0)).all()
