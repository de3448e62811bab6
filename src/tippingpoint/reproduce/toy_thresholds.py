"""The toy under the 0/1 loss at θ1 = 1, θ2 = 0.25: r = 20, 40, 60 and 80 %."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tippingpoint.reproduce.claims import Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import Setting
from tippingpoint.reproduce.figure import Figure, Record, Tables
from tippingpoint.reproduce.toys import Question, draw_toy, measure_toy, panel_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "toy-thresholds"

QUESTIONS = tuple(Question(1.0, 0.25, risk) for risk in (0.2, 0.4, 0.6, 0.8))


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """The four thresholds, for a toy of this seed."""
    return measure_toy(seed, "zero_one", QUESTIONS)


def draw(tables: Tables) -> Canvas:
    """The four most sensitive distributions."""
    return draw_toy(tables, [question.panel for question in QUESTIONS])


def claims(tables: Tables) -> Sequence[Claim]:
    """What can be read off this figure."""
    values = np.array([panel_values(tables, question.panel, "stability") for question in QUESTIONS])
    parts = {
        kind: np.array([panel_values(tables, question.panel, f"{kind} excess") for question in QUESTIONS])
        for kind in ("corruption", "reweighting")
    }
    moved = np.array([panel_values(tables, question.panel, "moved share") for question in QUESTIONS])
    return [
        judged(
            NAME,
            "a higher threshold takes a larger perturbation",
            "shown",
            "stability " + ", ".join(spread(row) for row in values),
            (np.diff(values, axis=0) > 0.0).all(axis=0),
        ),
        judged(
            NAME,
            "both corruption and sub-population shift are used at every threshold",
            "yes",
            "moved share " + ", ".join(spread(row, percentage) for row in moved),
            (parts["corruption"] > 0.0).all(axis=0) & (parts["reweighting"] > 0.0).all(axis=0),
        ),
    ]


FIGURE = Figure(NAME, "toy, 0/1 loss, r = 20 to 80 %", (), measure, draw, claims)
