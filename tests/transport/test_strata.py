"""The class balance splits off: against one table of numbers and labels in which labels may not change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import divergence_named
from tippingpoint.errors import InputError
from tippingpoint.transport import StratifiedDrift, drift_by_stratum, drift_on_line, drift_on_table
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
