"""One rule in every store of atoms: the largest `λ·lift - cost`, and at an infinite price the cheapest of the largest lift."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import MAX_ATOMS_A_SAMPLE, Atoms, AtomsOracle, Envelopes, Layers
from tippingpoint.core.envelope import envelope
from tippingpoint.errors import UnsupportedError

PRICES = (0.0, 0.01, 0.3, 1.0, 2.5, 40.0, math.inf)
SAMPLES, PLACES = 30, 9


def drawn(seed: int) -> tuple[FloatArray, FloatArray]:
    """Lifts and costs, one row a layer; some lifts are negative, and the first layer stays."""
    rng = np.random.default_rng(seed)
    lift, cost = rng.normal(0.3, 0.5, (PLACES, SAMPLES)), rng.exponential(0.5, (PLACES, SAMPLES))
    lift[0], cost[0] = 0.0, 0.0
    return lift, cost


def best(lift: FloatArray, cost: FloatArray, price: float) -> IntArray:
    """By looking at every atom."""
    found = []
    for rise, paid in zip(lift.T, cost.T, strict=True):
        worth = [(price * a - b, 0.0) if math.isfinite(price) else (a, -b) for a, b in zip(rise, paid, strict=True)]
        found.append(max(range(len(worth)), key=lambda k: (worth[k], -k)))
    return np.array(found)


def layers_of(lift: FloatArray, cost: FloatArray, places: FloatArray) -> Layers:
    layers = Layers.staying(places[0].astype(np.float32))
    for k in range(1, len(lift)):
        layers = layers.joined(places[k], lift[k], cost[k])
    return layers


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("price", PRICES)
def test_every_store_finds_the_best_of_all_atoms(seed: int, price: float) -> None:
    lift, cost = drawn(seed)
    everyone = np.arange(SAMPLES)
    chosen = best(lift, cost, price)
    places = np.random.default_rng(seed).integers(-50, 50, (PLACES, SAMPLES, 2)).astype(float)
    layers, memory = layers_of(lift, cost, places), Atoms(places[0])
    for k in np.random.default_rng(seed).permutation(np.arange(1, PLACES)):
        memory.add(everyone, lift[k], cost[k], places[k])
    table = AtomsOracle(np.tile(everyone, PLACES), 1.0 + lift.ravel(), cost.ravel(), {"place": places[:, :, 0].ravel()})
    for store in (layers, table):
        response = store.respond(price) if math.isfinite(price) else store.peak()
        np.testing.assert_allclose(response.lift, lift[chosen, everyone], atol=1e-15)
        np.testing.assert_array_equal(response.cost, cost[chosen, everyone])
    np.testing.assert_array_equal(layers.at(price, everyone[::3]), places[chosen, everyone][::3])
    np.testing.assert_array_equal(table.points(price, everyone, response.lift)["place"], places[chosen, everyone, 0])
    np.testing.assert_array_equal(memory.at(price), places[chosen, everyone])
    if math.isinf(price):
        there, paid = memory.cheapest()
        np.testing.assert_array_equal(there, places[chosen, everyone])
        np.testing.assert_array_equal(paid, cost[chosen, everyone])


def test_a_layer_more_leaves_the_others_as_they_were() -> None:
    lift, cost = drawn(5)
    places = np.zeros((PLACES, SAMPLES, 2))
    few = layers_of(lift[:4], cost[:4], places)
    before = few.respond(1.0)
    more = few.joined(places[4], lift[4] + 1.0, cost[4])
    assert (more.respond(1.0).lift > before.lift).any()
    np.testing.assert_array_equal(few.respond(1.0).lift, before.lift)
    assert more.places[1] is few.places[1], "layers are shared"
    assert more.places[4].dtype == np.float32


def test_a_memory_forgets_what_is_never_best_and_nothing_else() -> None:
    rng = np.random.default_rng(6)
    memory, parts = Atoms(np.zeros((SAMPLES, 1))), list[tuple[IntArray, FloatArray, FloatArray]]()
    for _ in range(3 * MAX_ATOMS_A_SAMPLE):
        part = np.arange(SAMPLES), rng.normal(0.0, 1.0, SAMPLES), rng.exponential(1.0, SAMPLES)
        parts.append(part)
        memory.add(*part, np.full((SAMPLES, 1), len(parts)))
    sample, lift, cost = (np.concatenate(each) for each in zip(*parts, strict=True))
    pays = lift > 0.0
    kept = envelope(
        np.append(np.arange(SAMPLES), sample[pays]),
        np.append(np.zeros(SAMPLES), lift[pays]),
        np.append(np.zeros(SAMPLES), cost[pays]),
    )
    assert len(memory.kept()[0]) == len(kept) < 10 * SAMPLES
    np.testing.assert_array_equal(memory.outline()[1], np.append(np.zeros(SAMPLES), lift[pays])[kept])


def test_envelopes_of_moves_are_those_with_staying_added() -> None:
    count = np.array([2, 0, 1])
    atoms = Envelopes.of_moves(count, np.array([1.0, 1.5, 2.0]), np.array([1.0, 2.0, 0.5]))
    assert atoms.first.tolist() == [0, 3, 4]
    assert atoms.begins.tolist() == [0.0, 1.0, 2.0, 0.0, 0.0, 0.25]
    assert atoms.chosen(1.5).tolist() == [1, 3, 5]
    for price in atoms.prices(np.array([0, 2])):
        assert price > 0.0
    assert [atoms.chosen(price)[0] for price in atoms.prices(np.array([0]))] == [1, 2]
    with pytest.raises(UnsupportedError, match="no ceiling"):
        atoms.escape(1.0)


def test_a_move_whose_cost_is_rounded_to_zero_is_a_move() -> None:
    atoms = Atoms(np.zeros((2, 1)))
    atoms.add(np.array([0]), np.array([1.0]), np.array([0.0]), np.array([[5e-324]]))
    sample, lift, cost, places = atoms.kept()
    assert sample.tolist() == [0, 0, 1]
    assert lift.tolist() == [0.0, 1.0, 0.0]
    assert (cost > 0.0).tolist() == [False, True, False]
    assert places[:, 0].tolist() == [0.0, 5e-324, 0.0]


def test_of_two_gains_that_differ_by_rounding_the_cheaper_counts() -> None:
    loss = np.array([0.25, 4.625153287, np.nextafter(4.625153287, 5.0), 5.0])
    kept = envelope(np.zeros(4, dtype=np.intp), loss, np.array([0.0, 0.65, 1.15, 1.2]))
    assert kept.tolist() == [0, 1, 3]
    kept = envelope(np.zeros(3, dtype=np.intp), -loss[:3][::-1], np.array([0.0, 0.65, 1.15]))
    assert kept.tolist() == [0, 2], "also of what is less than nothing"
