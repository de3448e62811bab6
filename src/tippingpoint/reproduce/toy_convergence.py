"""Convergence on the toy: the paper's algorithms by epoch, and the path beside them, in passes over the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.reproduce.claims import THRESHOLD_TOLERANCE, Claim, judged, spread
from tippingpoint.reproduce.experiments import Setting
from tippingpoint.reproduce.figure import DRAWN_SEED, Figure, Record, Tables, by_seed, numbers, traced
from tippingpoint.reproduce.toys import toy_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "toy-convergence"

CASES: Mapping[str, dict[str, Any]] = {
    "cross-entropy": {"loss": "logistic", "risk": 0.5, "theta1": 0.4, "theta2": 0.4},
    "0/1": {"loss": "zero_one", "risk": 0.3, "theta1": 1.0, "theta2": 0.25},
}
"""The two losses, with their thresholds and the prices of the figures before."""

DIVERGENCES = {"kl": "KL", "chi2": "χ²"}


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """The risk on the way, by both methods."""
    import tippingpoint as tp

    model, x, y = toy_model(seed)
    found: list[Record] = []
    for panel, question in CASES.items():
        for divergence, name in DIVERGENCES.items():
            paper = tp.stability(model.as_module(), x, y, divergence=divergence, method="paper", progress=False, **question)
            ours = tp.stability(model, x, y, divergence=divergence, **question)
            if seed == DRAWN_SEED:
                found += numbers(seed, panel, f"{name}, paper", dict(enumerate(paper.trace, start=1)))
                found += numbers(seed, panel, f"{name}, ours", dict(enumerate(ours.trace, start=1)))
            ends = {"end": paper.trace[-1], "paper": paper.value, "ours": ours.value, "passes": ours.evaluations}
            found += numbers(seed, panel, f"{name}, end", ends)
    return {"": found}


def draw(tables: Tables) -> Canvas:
    """A row a loss; the paper's epochs to the left, our passes to the right; the first seed."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import draw_convergence

    table = tables[""]
    figure, axes = plt.subplots(len(CASES), 2, figsize=(8.4, 5.6), layout="constrained")
    for row, (panel, question) in zip(axes, CASES.items(), strict=True):
        for ax, method, xlabel in zip(row, ("paper", "ours"), ("epoch of the paper's algorithm", "pass of ours"), strict=True):
            traces = {name: traced(table, panel, f"{name}, {method}") for name in DIVERGENCES.values()}
            draw_convergence(traces, question["risk"], xlabel, ax)
            ax.set_title(f"{panel}, r = {question['risk']:g}", fontsize="medium")
    return figure


def claims(tables: Tables) -> Sequence[Claim]:
    """The risk arrives at the threshold; and the two methods agree on the value."""
    table, found = tables[""], []
    for panel, question in CASES.items():
        for name in DIVERGENCES.values():
            ends, paper, ours, passes = (by_seed(table, panel, f"{name}, end", at) for at in ("end", "paper", "ours", "passes"))
            epochs = len(traced(table, panel, f"{name}, paper"))
            off = abs(ends - question["risk"]) / question["risk"]
            found.append(
                judged(
                    NAME,
                    f"{panel}, {name}: the risk converges to the threshold {question['risk']:g}",
                    "yes",
                    f"{spread(ends)} after {epochs} epochs; ours is there after {spread(passes, '{:.0f}')} passes, and the two"
                    f" values differ by {float(np.max(abs(paper / ours - 1.0))):.0e} at most",
                    off < THRESHOLD_TOLERANCE,
                )
            )
    return found


FIGURE = Figure(NAME, "convergence on the toy", (), measure, draw, claims)
