"""The toy under the cross-entropy, r = 0.5: only reweighting, only moving, and both."""

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

NAME = "toy-cross-entropy"

REWEIGHT, MOVE, BOTH = Question(math.inf, 0.2, 0.5), Question(0.2, math.inf, 0.5), Question(0.4, 0.4, 0.5)


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """The three questions, for a toy of this seed."""
    return measure_toy(seed, "logistic", (REWEIGHT, MOVE, BOTH))


def draw(tables: Tables) -> Canvas:
    """The data as they are, and the three most sensitive distributions."""
    return draw_toy(tables, [ORIGINAL, *(question.panel for question in (REWEIGHT, MOVE, BOTH))])


def claims(tables: Tables) -> Sequence[Claim]:
    """What the paper says of this figure."""
    risk = panel_values(tables, ORIGINAL, "risk")
    near = panel_values(tables, REWEIGHT.panel, "mass near boundary")
    shares = [panel_values(tables, question.panel, "effective share") for question in (REWEIGHT, BOTH, MOVE)]
    far = [panel_values(tables, question.panel, "moved far") for question in (BOTH, MOVE)]
    still = panel_values(tables, REWEIGHT.panel, "moved share")
    return [
        judged(NAME, "the loss before is about 0.1", "0.1", spread(risk), (risk > 0.05) & (risk < 0.15)),
        judged(
            NAME,
            "θ1 = ∞: weight goes to a limited number of samples near the boundary (here: the tenth with the smallest margin"
            " has more than twice its share, and nothing moves)",
            "yes",
            f"{spread(near, percentage)} of the weight; effective share {spread(shares[0], percentage)}",
            (near > 0.2) & (still == 0.0),
        ),
        judged(
            NAME,
            "θ2 = ∞: a significant number of samples are severely perturbed (here: at least a tenth move by more than half a"
            " standard deviation)",
            "yes",
            f"{spread(far[1], percentage)} of the samples",
            far[1] >= 0.1,
        ),
        judged(
            NAME,
            "θ1 = θ2 = 0.4: moderate moves (fewer go far than at θ2 = ∞)",
            "yes",
            f"{spread(far[0], percentage)} of the samples move far",
            far[0] < far[1],
        ),
        judged(
            NAME,
            "θ1 = θ2 = 0.4: weight not concentrated on few samples (effective share above that at θ1 = ∞)",
            "yes",
            f"effective share {spread(shares[1], percentage)} against {spread(shares[0], percentage)}",
            shares[1] > shares[0],
        ),
    ]


FIGURE = Figure(NAME, "toy, cross-entropy, r = 0.5", (), measure, draw, claims)
