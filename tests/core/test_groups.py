"""Samples that belong together: errors and draws by group; numbers held out; tables with many alternatives a sample."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tippingpoint.core import atoms
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.blocks import InMemory
from tippingpoint.core.divergences import KL
from tippingpoint.core.drawn import Drawn, DrawnGroups
from tippingpoint.core.inference import corrected_interval, effective_groups, normal_margin, standard_error
from tippingpoint.core.oracle import Corrected
from tippingpoint.core.problem import Problem

LOSSES = np.array([0.0, 1.0, 0.5, 2.0, 1.0, 0.0])
GROUPS = np.array([0, 0, 1, 1, 1, 2])
BASE = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 2.0]) / 10.0


def table(losses: FloatArray) -> AtomsOracle:
    return AtomsOracle(np.arange(len(losses)), losses, np.zeros(len(losses)), {})


def test_groups_are_drawn_whole_and_weigh_one_together() -> None:
    expected = np.zeros(6)
    replicates = 400
    for replicate in range(replicates):
        drawn = DrawnGroups(InMemory(table(LOSSES), BASE), GROUPS, 0, replicate)
        held = [(block.losses, block.base) for block in drawn.gather(lambda block: block)]
        losses, base = (np.concatenate(each) for each in zip(*held, strict=True))
        assert base.sum() == pytest.approx(1.0)
        assert drawn.ceiling == math.inf
        counts = np.random.default_rng([0, replicate]).multinomial(3, np.full(3, 1.0 / 3.0))[GROUPS]
        kept = counts > 0
        assert np.array_equal(losses, LOSSES[kept])
        assert base == pytest.approx((BASE * counts)[kept] / (BASE * counts).sum())
        expected += counts / replicates
    assert expected == pytest.approx(np.ones(6), abs=0.2), "every group once on average"


def test_errors_by_group_are_those_of_the_sums_of_groups() -> None:
    psi = np.array([0.3, -0.2, 0.5, -0.1, 0.0, -0.4])
    sums, masses = (np.bincount(GROUPS, each) for each in (BASE * psi, BASE))
    assert standard_error(psi, BASE, GROUPS) == pytest.approx(
        math.sqrt(np.square(sums).sum() / (1.0 - np.square(masses).sum()))
    )
    assert standard_error(psi, BASE, np.arange(6)) == pytest.approx(standard_error(psi, BASE)), "each its own group"
    assert effective_groups(BASE, GROUPS) == pytest.approx(1.0 / np.square(masses).sum())


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_weights_of_drawn_samples_are_those_of_their_blocks(groups: np.ndarray | None) -> None:
    samples = InMemory(table(LOSSES), BASE, 1)
    drawn = Drawn(samples, 0, 1) if groups is None else DrawnGroups(samples, groups, 0, 1)
    weights = drawn.weights()
    assert weights.sum() == pytest.approx(1.0)
    assert np.array_equal(weights[weights > 0.0], np.concatenate(drawn.gather(lambda block: block.base)))


def test_the_interval_of_a_corrected_stability_is_normal_for_its_root() -> None:
    low, high = corrected_interval(0.04, 0.04, 0.01, 0.0, 0.95)
    assert (math.sqrt(low), math.sqrt(high)) == pytest.approx((0.2 - 0.025 * normal_margin(1.0, 0.95), 0.2 + 0.049), abs=1e-4)
    wider = corrected_interval(0.04, 0.04, 0.01, 0.01, 0.95)
    assert wider[0] < low < high < wider[1], "what is not known of the bias counts"
    assert corrected_interval(0.04, 0.01, 0.0, 0.0, 0.95) == pytest.approx((0.01, 0.04)), "missing outcomes lower one end"
    assert corrected_interval(0.04, 0.0, 0.01, 0.0, 0.95)[0] == 0.0
    assert corrected_interval(0.04, 0.04, 1.0, 0.0, 0.95)[0] == 0.0, "no stability is negative"
    found = Corrected(0.03, 0.05, BASE, 2, 0.04)
    assert (found.value, found.spread) == pytest.approx((0.04, 0.01))


def test_an_oracle_holds_neither_atoms_nor_runs_unless_it_says_so() -> None:
    oracle = table(LOSSES)
    problem = Problem(oracle, BASE, 1.0, 1.0, 1.0, KL())
    assert oracle.held_out(problem) is None
    assert oracle.corrector(problem) is None
    assert oracle.repeats == 0
    assert oracle.held_atoms() is None


def test_many_alternatives_are_chosen_among_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    sample = np.repeat(np.arange(5), 40)
    lift, cost = np.sort(rng.random((5, 40)), axis=1), np.sort(rng.random((5, 40)), axis=1)
    lift[:, 0] = cost[:, 0] = 0.0
    made = [AtomsOracle(sample, lift.ravel(), cost.ravel(), {})]
    monkeypatch.setattr(atoms, "MAX_RANKS", 1)
    made.append(AtomsOracle(sample, lift.ravel(), cost.ravel(), {}))
    for price in (0.0, 0.3, 1.0, 2.7, math.inf):
        one, other = (oracle.respond(price) for oracle in made)
        gains = lift - cost / price if 0.0 < price < math.inf else lift if price else -cost
        assert np.array_equal(one.lift, other.lift)
        assert np.array_equal(one.cost, other.cost)
        assert one.lift - (one.cost / price if 0.0 < price < math.inf else 0.0) == pytest.approx(
            gains.max(axis=1) if price else 0.0
        )
