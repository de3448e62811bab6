"""Claims: judged seed by seed, told with their spread, rendered for the page."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tippingpoint.reproduce.claims import Claim, judged, percentage, rendered, spread, tabulated, tally


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        ([True, True, True], "holds"),
        ([True, False, True], "holds for 2 of 3 seeds"),
        ([False, False], "does not hold"),
        (np.array([True]), "holds"),
    ],
)
def test_a_verdict_counts_the_seeds_in_which_the_claim_holds(holds: list[bool], verdict: str) -> None:
    claim = judged("income", "moving shifts", "yes", "0.5", holds)
    assert (claim.holding, claim.seeds, claim.verdict) == (sum(map(bool, holds)), len(holds), verdict)


def test_a_spread_is_mean_and_standard_deviation_and_counts_infinities_apart() -> None:
    assert spread([1.0, 2.0, 3.0]) == "2 ± 1"
    assert spread([0.5]) == "0.5"
    assert spread([1.0, 3.0, math.inf]) == "2 ± 1.41 (∞ in 1 of 3)"
    assert spread([math.inf, math.inf]) == "∞"
    assert spread([0.825, 0.835], percentage) == "83.0 % ± 0.7 %"


def test_a_table_of_claims_is_rendered_a_figure_at_a_time_and_keeps_its_columns() -> None:
    table = tabulated([Claim("b", "x | y", "1 %", "2 %", 1, 2), Claim("a", "z", "yes", "no", 0, 2)])
    told = rendered(table, {"a": "first", "b": "second"}, "paper/").splitlines()
    assert told[0] == "### Second"
    assert told[2] == "![Second](paper/b.png)"
    assert "| x \\| y | 1 % | 2 % | holds for 1 of 2 seeds |" in told
    assert told.index("### Second") < told.index("### First")
    assert "| z | yes | no | does not hold |" in told


def test_a_tally_counts_the_three_verdicts() -> None:
    table = tabulated([Claim("a", "x", "", "", held, 4) for held in (4, 4, 3, 0)])
    assert tally(table) == "Of 4 claims 2 hold, 1 hold for some seeds, 1 do not hold."
