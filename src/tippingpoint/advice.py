"""What to do about it: which kind of change dominates, which features to target, and which training helps against that."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tippingpoint.show.text import WIDTH, number, percent
from tippingpoint.show.visible import visible

DOMINANT = 0.6
"""Share of the excess risk from which on one kind of change is the one to act on."""

NOTABLE = 0.5
"""Features are named that close at least this part of what the most sensitive one closes."""

NAMED = 5
"""Features that are named at most."""

REMEDIES = {
    "moving": "adversarial training: train on samples moved to where they hurt most",
    "reweighting": "tilted ERM: train with more weight on the samples of large loss, or collect more of such samples",
    "both": "both adversarial training and tilted ERM; neither kind of change explains the excess alone",
    "targeted": "targeted adversarial training: move only the features named, so that the rest of the accuracy is kept",
}
"""Which training helps against which kind of change, as in the paper."""


@dataclass(frozen=True)
class Advice:
    """What the numbers suggest; a place to begin, not a proof that it will help.

    Attributes
    ----------
    dominant
        "moving", "reweighting" or "both": which kind of change makes most of the excess risk; "none" where there is none.
    targets
        Features to target, the most sensitive first; empty where single features were not asked about, or none matters.
    intervention
        What to try.
    reasons
        In words: the numbers behind it.
    """

    dominant: str
    targets: tuple[str, ...]
    intervention: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        said = [textwrap.fill(f"  - {visible(reason)}", WIDTH, subsequent_indent="    ") for reason in self.reasons]
        return "\n".join([textwrap.fill(f"Try {self.intervention}.", WIDTH), *said])


def of_result(summary: Mapping[str, Any]) -> Advice:
    """Which kind of change to act on, from how the excess risk splits."""
    if summary["status"] in ("already", "unreachable"):
        told = "the threshold is reached already" if summary["status"] == "already" else "nothing found reaches the threshold"
        return Advice("none", (), "another threshold", (f"{told}, so there is no excess risk to explain",))
    moving, reweighting = summary["corruption_excess"], summary["reweighting_excess"]
    excess = moving + reweighting
    reasons = [f"moving makes {percent(moving / excess)} of the excess risk, reweighting {percent(reweighting / excess)}"]
    for forbidden, only in (("theta1", "reweighting"), ("theta2", "moving")):
        if math.isinf(summary[forbidden]):
            reasons.append(
                f"only {only} was allowed, so the split says nothing of the other; make {forbidden} finite to compare"
            )
            return Advice(only, (), REMEDIES[only], tuple(reasons))
    share = moving / excess
    dominant = "moving" if share >= DOMINANT else "reweighting" if share <= 1.0 - DOMINANT else "both"
    if not summary["exact"]:
        reasons.append("the best responses were searched for, so the true share of moving may be larger")
    return Advice(dominant, (), REMEDIES[dominant], tuple(reasons))


def of_features(ranked: Sequence[tuple[str, float, float]], limit: float) -> Advice:
    """Which features to target, from `(name, stability, standard error)`, the most sensitive first."""
    if math.isinf(limit):
        closed = [(name, 1.0 if math.isfinite(value) else 0.0, value, error) for name, value, error in ranked]
    else:
        closed = [(name, 1.0 - value / limit if limit > 0.0 else 0.0, value, error) for name, value, error in ranked]
    most = max((part for _, part, _, _ in closed), default=0.0)
    targets = [each for each in closed if each[1] > 0.0 and each[1] >= NOTABLE * most][:NAMED]
    if not targets:
        why = "no single feature makes the threshold cheaper to reach than reweighting alone does"
        return Advice("reweighting", (), REMEDIES["reweighting"], (why,))
    reasons = []
    for name, part, value, error in targets:
        cheaper = f", {percent(part)} less than reweighting alone ({number(limit)})" if math.isfinite(limit) else ""
        spread = f" ± {number(error, 2)}" if math.isfinite(error) else ""
        reasons.append(f"{name}: {number(value)}{spread}{cheaper}")
    close = [name for name, _, value, error in targets[1:] if value - targets[0][2] <= error]
    if close:
        reasons.append(
            f"{targets[0][0]} is ahead of {', '.join(close)} by less than a standard error: their order is not certain"
        )
    return Advice("moving", tuple(name for name, *_ in targets), REMEDIES["targeted"], tuple(reasons))
