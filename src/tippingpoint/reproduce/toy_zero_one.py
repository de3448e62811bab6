"""The toy under the 0/1 loss, r = 30 %: both ways, only moving, only reweighting."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tippingpoint.reproduce.claims import Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import Setting
from tippingpoint.reproduce.figure import Figure, Record, Tables
from tippingpoint.reproduce.toys import ORIGINAL, Question, draw_toy, measure_toy, panel_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "toy-zero-one"

BOTH, MOVE, REWEIGHT = Question(1.0, 0.25, 0.3), Question(0.2, math.inf, 0.3), Question(math.inf, 0.2, 0.3)

BOUNDARY_TOLERANCE = 1e-6
"""Distance from the boundary, in standard deviations of a cloud, that counts as none."""


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """The three questions, for a toy of this seed."""
    return measure_toy(seed, "zero_one", (BOTH, MOVE, REWEIGHT))


def draw(tables: Tables) -> Canvas:
    """The data as they are, and the three most sensitive distributions."""
    return draw_toy(tables, [ORIGINAL, *(question.panel for question in (BOTH, MOVE, REWEIGHT))])


def claims(tables: Tables) -> Sequence[Claim]:
    """What the paper says of this figure."""
    error = panel_values(tables, ORIGINAL, "error")
    distance = [panel_values(tables, question.panel, "farthest mover from boundary") for question in (BOTH, MOVE)]
    shares = panel_values(tables, MOVE.panel, "effective share")
    moved = [panel_values(tables, question.panel, "moved share") for question in (MOVE, REWEIGHT)]
    worst = max(float(values.max()) for values in distance)
    return [
        judged(
            NAME, "the error rate before is about 1 %", "1 %", spread(error, percentage), (error >= 0.005) & (error <= 0.02)
        ),
        judged(
            NAME,
            "θ2 = ∞: only corruption (all weights are one)",
            "yes",
            f"effective share {spread(shares, percentage)}, {spread(moved[0], percentage)} move",
            (abs(shares - 1.0) < 1e-9) & (moved[0] > 0.0),
        ),
        judged(
            NAME,
            "θ1 = ∞: only reweighting (nothing moves)",
            "yes",
            f"{spread(moved[1], percentage)} move",
            moved[1] == 0.0,
        ),
        judged(
            NAME,
            "perturbed samples are all near the boundary (here: they end on it)",
            "yes",
            f"farthest {worst:.0e} from it",
            (distance[0] < BOUNDARY_TOLERANCE) & (distance[1] < BOUNDARY_TOLERANCE),
        ),
    ]


FIGURE = Figure(NAME, "toy, 0/1 loss, r = 30 %", (), measure, draw, claims)
