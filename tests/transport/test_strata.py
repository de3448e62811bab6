"""The class balance splits off: against one table of numbers and labels in which labels may not change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import divergence_named
from tippingpoint.errors import InputError
from tippingpoint.transport import (
    StratifiedDrift,
    drift_by_stratum,
    drift_on_line,
    drift_on_table,
    drift_with_missing,
    permuted_with_missing,
)
from transports import conic_drift, squares

INF = math.inf
DIVERGENCES = ("kl", "chi2")


def drawn(seed: int) -> tuple[FloatArray, FloatArray, Any, FloatArray, FloatArray, Any]:
    rng = np.random.default_rng(seed)
    n, m = 12, 10
    labels, others = np.array(["no", "yes", "maybe"] * 4), np.array(["yes", "no"] * 5)
    return rng.normal(size=n), rng.dirichlet(np.ones(n)), labels, rng.normal(size=m), rng.dirichlet(np.ones(m)), others


def stratified(data: Any, **options: Any) -> StratifiedDrift:
    return drift_by_stratum(*data, **{"price": 2.0, "theta2": 0.5, "tolerance": 1e-9, **options})


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("seed", range(3))
def test_labels_and_parts_add_up_to_the_whole(seed: int, divergence: str) -> None:
    """A label that is gone loses all its weight."""
    data = x, p, labels, y, q, others = drawn(seed)
    found = stratified(data, divergence=divergence)
    costs = np.where(labels[:, None] == others, squares(x, y, 2.0), INF)
    assert found.whole.upper == pytest.approx(conic_drift(p, q, costs, 0.5, divergence), rel=1e-6)
    table = drift_on_table(p, q, costs, theta2=0.5, divergence=divergence, tolerance=1e-9)
    assert found.whole.lower == pytest.approx(table.lower, rel=1e-8)
    assert found.whole.weights == pytest.approx(table.weights, abs=1e-4)
    assert found.whole.standard_error() == pytest.approx(table.standard_error(), rel=1e-4)
    before = np.array([p[labels == label].sum() for label in ("no", "yes", "maybe")])
    after = np.array([q[others == label].sum() for label in ("no", "yes", "maybe")])
    assert found.labels == pytest.approx(0.5 * before @ divergence_named(divergence).phi(after / before))
    assert found.labels + found.moving + found.reweighting == pytest.approx(found.whole.upper)
    assert found.shares == pytest.approx({"no": after[0], "yes": after[1]})
    line = drift_on_line(x, p, y, q, price=2.0, theta2=0.5, divergence=divergence, tolerance=1e-9)
    assert line.lower <= found.whole.upper  # to see the number alone is to see less


def test_a_label_that_the_reference_has_not_is_infinitely_far() -> None:
    x, p, labels, y, q, others = drawn(0)
    others[0] = "new"
    found = stratified((x, p, labels, y, q, others))
    assert found.whole.lower == found.labels == INF
    assert found.unseen == ("new",)
    q[0] = 0.0  # unless it has no weight
    assert stratified((x, p, labels, y, q, others)).unseen == ()


def test_without_reweighting_shares_must_be_the_same() -> None:
    x, y = np.array([0.0, 1.0, 5.0, 6.0]), np.array([1.0, 2.0, 5.0, 9.0])
    labels = [0, 0, 1, 1]
    same = stratified((x, None, labels, y, None, labels), theta2=INF)
    assert same.whole.upper == pytest.approx(2.0 * (1 + 1 + 0 + 9) / 4)
    assert same.labels == 0.0
    assert stratified((x, None, labels, y, None, [0, 1, 1, 1]), theta2=INF).whole.upper == INF


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_one_label_is_the_line(divergence: str) -> None:
    x, p, _, y, q, _ = drawn(1)
    found = stratified((x, p, [None] * 12, y, q, [None] * 10), divergence=divergence)
    line = drift_on_line(x, p, y, q, price=2.0, theta2=0.5, divergence=divergence, tolerance=1e-9)
    assert found.labels == pytest.approx(0.0, abs=1e-15)
    assert found.whole.upper == pytest.approx(line.upper)
    assert found.whole.standard_error() == pytest.approx(line.standard_error(), rel=1e-6)


def test_labels_of_several_kinds_are_told_apart() -> None:
    found = stratified(([0.0, 1.0], None, [1, "1"], [0.0, 1.0], None, np.array([1, "1"], dtype=object)))
    assert list(found.parts) == [1, "1"]
    assert found.unseen == ()


def test_a_label_a_row() -> None:
    with pytest.raises(InputError, match="current_labels has the shape"):
        stratified(([0.0], None, [1], [0.0], None, [1, 2]))


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_values_that_go_missing_are_one_more_place(divergence: str) -> None:
    """Against a conic solver on the plan with all its pairs; also if all values are missing, or none of them are."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, y = rng.normal(size=rng.integers(1, 9)), rng.normal(size=rng.integers(1, 9)) + 0.5
        x[rng.random(len(x)) < 0.3], y[rng.random(len(y)) < 0.5] = np.nan, np.nan
        p, q = rng.random(len(x)) + 0.1, rng.random(len(y)) + 0.1
        price, missing, theta2 = 10.0 ** rng.uniform(-1.0, 1.0, size=3)
        gone, lost = np.isnan(x)[:, None], np.isnan(y)
        costs = np.where(gone, np.where(lost, 0.0, np.inf), np.where(lost, missing, squares(x, y, price)))
        prices: dict[str, Any] = {"price": price, "missing": missing, "theta2": theta2, "divergence": divergence}
        made = drift_with_missing(x, p, y, q, **prices)
        if np.isfinite(costs.min(axis=0)).all():
            truth = conic_drift(p, q, costs, theta2, divergence)
            assert made.whole.lower <= truth * (1.0 + 1e-6) + 1e-7
            assert made.whole.upper == pytest.approx(truth, rel=1e-4, abs=1e-6)
            assert made.whole.lower == pytest.approx(truth, rel=1e-4, abs=1e-6)
            assert made.whole.moving + made.whole.reweighting == pytest.approx(made.whole.upper)
        else:
            assert made.whole.lower == made.whole.upper == np.inf


@pytest.mark.parametrize("theta2", [1.0, np.inf])
def test_of_many_rows_the_bounds_of_values_that_go_missing_are_close(theta2: float) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=3000), 1.2 * rng.normal(size=2500) + 0.3
    x[rng.random(3000) < 0.1], y[rng.random(2500) < 0.3] = np.nan, np.nan
    found = drift_with_missing(x, None, y, None, price=1.0, missing=0.5, theta2=theta2).whole
    assert 0.99 * found.upper <= found.lower <= found.upper
    kept = ~np.isnan(x), ~np.isnan(y)
    stays = drift_by_stratum(np.nan_to_num(x), None, kept[0], np.nan_to_num(y), None, kept[1], price=1.0, theta2=theta2).whole
    assert found.upper < stays.upper, "that values may go missing makes it cheaper"
    test = permuted_with_missing(x, None, y, None, price=1.0, missing=0.5, theta2=1.0, permutations=19)
    assert test.p_value == 1.0 / 20.0
    assert test.floor < 0.1 * test.value
