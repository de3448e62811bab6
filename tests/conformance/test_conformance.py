"""Every registered family x loss x space x divergence holds the same laws, and what it declares."""

from __future__ import annotations

import pytest

from compiled import WITHOUT
from examples import EXAMPLES, Cell, cells, divergences, trial
from laws import brute_force, envelope_theorem, moving_alone, points_fed_back, read_the_other_way, two_sided
from tippingpoint.families.registry import FAMILIES
from tippingpoint.families.trees.kernels import kernels

CELLS = list(cells())


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_every_law_holds(cell: Cell) -> None:
    if cell.family == "tree ensembles" and kernels() is None:
        pytest.skip(f"{WITHOUT}, and tests/families/trees/test_without_kernels.py has the same in small")
    example = trial(cell)
    envelope_theorem(example)
    points_fed_back(example)
    brute_force(example)
    moving_alone(example, cell.capability.answer)
    for divergence in divergences():
        two_sided(example, divergence, cell.capability.answer)
        read_the_other_way(example, divergence)


def test_every_family_declares_something_and_has_an_example_of_it() -> None:
    for family in FAMILIES:
        assert family.capabilities, f"{family.name} declare nothing: fill in `capabilities` in their family.py."
    declared = {(cell.family, cell.capability.models, cell.capability.answer) for cell in CELLS}
    missing = declared - set(EXAMPLES)
    assert not missing, f"add an example to EXAMPLES in tests/conformance/examples.py for {sorted(missing)}."
    assert set(EXAMPLES) == declared, f"nobody declares {sorted(set(EXAMPLES) - declared)} any more: remove its example."
