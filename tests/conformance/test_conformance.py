"""Every registered family x loss x space x divergence holds the same laws, and what it declares."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from examples import EXAMPLES, Cell, cells, divergences, trial
from laws import brute_force, envelope_theorem, points_fed_back, two_sided
from tippingpoint.core.divergences import Divergence
from tippingpoint.families.registry import FAMILIES
from trials import Trial

CELLS = list(cells())


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.parametrize("law", [envelope_theorem, points_fed_back, brute_force], ids=lambda law: law.__name__)
def test_responses(law: Callable[[Trial], None], cell: Cell) -> None:
    law(trial(cell))


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.parametrize("divergence", divergences(), ids=lambda divergence: divergence.label)
def test_stability(divergence: Divergence, cell: Cell) -> None:
    two_sided(trial(cell), divergence, cell.capability.answer)


def test_every_family_declares_something_and_has_an_example_of_it() -> None:
    for family in FAMILIES:
        assert family.capabilities, f"{family.name} declare nothing: fill in `capabilities` in their family.py."
    declared = {(cell.family, cell.capability.models, cell.capability.answer) for cell in CELLS}
    missing = declared - set(EXAMPLES)
    assert not missing, f"add an example to EXAMPLES in tests/conformance/examples.py for {sorted(missing)}."
    assert set(EXAMPLES) == declared, f"nobody declares {sorted(set(EXAMPLES) - declared)} any more: remove its example."
