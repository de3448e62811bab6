"""The oracle of a table: what only tables can do."""

from __future__ import annotations

import numpy as np

from problems import INF, table
from tippingpoint.families.table.oracle import TableOracle

N = 12


def test_a_table_of_fewer_samples_keeps_their_alternatives() -> None:
    rng = np.random.default_rng(12)
    _, loss, cost = table(rng, N, 3)
    sample, names = np.repeat(np.arange(N), 3), np.arange(3 * N)
    whole = TableOracle(sample, loss.ravel(), cost.ravel(), {"name": names})
    rows = np.array([5, 2, 9])
    some = whole.taking(rows)
    who, paid = some.offers
    assert who.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert paid.tolist() == np.sort(cost[rows], axis=1).ravel().tolist()
    for price in (0.0, 0.7, INF):
        here, there = some.respond(price), whole.respond(price)
        assert (here.lift == there.lift[rows]).all()
        assert (here.cost == there.cost[rows]).all()
        everyone = np.arange(len(rows))
        moved = some.points(price, everyone, here.lift)["name"]
        assert (moved == whole.points(price, rows, here.lift)["name"]).all()
        assert (cost.ravel()[moved] == here.cost).all()
