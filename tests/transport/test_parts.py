"""The parts of which drift on a line is made, each against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare, Divergence
from tippingpoint.transport.chain import ramps, reweighted, slope, stages
from tippingpoint.transport.monotone import matched, potentials
from tippingpoint.transport.parabolas import hull, lowest
from tippingpoint.transport.samples import Atoms, ordered
from transports import squares


def drawn(rng: np.random.Generator, rows: int) -> Atoms:
    return Atoms(np.unique(rng.normal(size=rows)), rng.dirichlet(np.ones(rows)))


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 60),
    m=st.integers(1, 60),
    price=st.floats(1e-3, 1e3),
    size=st.sampled_from([1e-3, 1.0]),
)
def test_lowest_parabolas_are_those_of_all(seed: int, n: int, m: int, price: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    centres, places = np.sort(rng.normal(size=n)), np.sort(rng.normal(size=m))
    heights = size * rng.normal(size=n)
    every = squares(centres, places, price) - heights[:, None]
    found, best = lowest(centres, heights, price, places)
    assert found == pytest.approx(every.min(axis=0), rel=1e-12, abs=1e-12)
    assert every[best, np.arange(m)] == pytest.approx(found, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("shape", ["one far below", "concave", "collinear", "noise"])
def test_the_hull_is_convex_and_below_all_points(shape: str) -> None:
    """A last point far below a convex curve takes nearly all others away, one after the other."""
    n = 3000
    x = np.linspace(0.0, 1.0, n)
    y = {"one far below": x**2, "concave": -(x**2), "collinear": 3.0 * x, "noise": np.random.default_rng(0).normal(size=n)}[
        shape
    ]
    if shape == "one far below":
        y[-1] = -5.0
    kept = hull(x, y)
    assert kept[0] == 0
    assert kept[-1] == n - 1
    assert np.all(np.diff(np.diff(y[kept]) / np.diff(x[kept])) > 0.0)
    assert np.all(np.interp(x, x[kept], y[kept]) <= y + 1e-12)
    if shape in ("one far below", "concave"):
        assert len(kept) == 2


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), m=st.integers(1, 12))
def test_matching_in_order_is_the_cheapest_transport(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    source, target = drawn(rng, n), drawn(rng, m)
    costs = squares(source.values, target.values)
    columns, rows = np.kron(np.ones((1, n)), np.eye(m)), np.kron(np.eye(n), np.ones((1, m)))
    solved = linprog(costs.ravel(), A_eq=np.vstack((rows, columns)), b_eq=np.concatenate((source.masses, target.masses)))
    found = matched(source, target)
    assert found.cost == pytest.approx(solved.fun, rel=1e-7, abs=1e-10)
    assert np.bincount(found.starts, found.parts, n) == pytest.approx(source.masses, abs=1e-14)
    assert np.bincount(found.ends, found.parts, m) == pytest.approx(target.masses, abs=1e-14)
    f = potentials(source, target)
    g = (costs - f[:, None]).min(axis=0)
    assert source.masses @ f + target.masses @ g == pytest.approx(found.cost, rel=1e-9, abs=1e-12)
    assert source.masses @ found.places == pytest.approx(target.masses @ target.values, rel=1e-9, abs=1e-12)


def test_bins_are_narrow_in_mass_and_in_width() -> None:
    """Equal masses alone would put the whole tail of a heavy-tailed sample into one bin."""
    rng = np.random.default_rng(0)
    values = np.sort(rng.standard_t(2, size=50_000))
    whole = Atoms(values, np.full(50_000, 1.0 / 50_000))
    binned = whole.binned(2000)
    assert len(binned) <= 2000
    assert binned.masses.sum() == pytest.approx(1.0)
    assert binned.masses @ binned.values == pytest.approx(whole.masses @ whole.values, abs=1e-12)
    assert binned.masses.max() <= 2.0 / 998
    assert binned.values[0] <= values[2]
    assert binned.values[-1] >= values[-3]


def test_equal_values_are_one_atom_and_rows_without_mass_none() -> None:
    sample = ordered(np.array([2.0, 1.0, 2.0, 5.0, 1.5]), np.array([0.25, 0.25, 0.5, 0.0, 0.0]))
    assert sample.atoms.values.tolist() == [1.0, 2.0]
    assert sample.atoms.masses.tolist() == [0.25, 0.75]
    assert sample.rows(np.array([10.0, 20.0])).tolist() == [20.0, 10.0, 20.0, 20.0, 15.0]


def test_ramps_rise_over_the_blur_and_stand_still_elsewhere() -> None:
    quantiles = ramps(Atoms(np.array([0.0, 1.0, 3.0]), np.array([0.25, 0.5, 0.25])), 0.4)
    places, slopes = quantiles.at(np.array([0.0, 0.2, 0.25, 0.3, 0.5, 0.75, 1.0]))
    assert places == pytest.approx([0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
    assert slopes == pytest.approx([0.0, 0.0, 10.0, 10.0, 0.0, 20.0, 0.0])


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
def test_the_chain_is_stationary(divergence: Divergence) -> None:
    """What it costs to shift a little mass from one atom to the next is what that saves on the way."""
    rng = np.random.default_rng(3)
    source, target, price = drawn(rng, 40), drawn(rng, 30), 0.5
    masses = reweighted(source, target, price, divergence, 1.0, source.masses)
    x, quantile = source.values, ramps(target, 1.0).at(np.cumsum(masses)[:-1])[0]
    steps = np.diff(slope(divergence, masses / source.masses))
    assert steps == pytest.approx(-price * np.diff(x) * (x[1:] + x[:-1] - 2.0 * quantile), abs=1e-4)


def test_slopes_are_those_of_the_divergence() -> None:
    weights = np.array([0.1, 0.9, 1.0, 4.0])
    for divergence in (KL(), ChiSquare()):
        rise = (divergence.phi(weights + 1e-6) - divergence.phi(weights - 1e-6)) / 2e-6
        assert slope(divergence, weights) == pytest.approx(rise, abs=1e-7)


def test_stages_lead_to_the_price() -> None:
    source = Atoms(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
    found: FloatArray = np.array(stages(source, 1000.0))
    assert found[-1] == 1000.0
    assert found[0] <= 8.0
    assert np.all(found[1:] / found[:-1] <= 8.0 + 1e-9)
    assert stages(source, 0.1) == [0.1]
