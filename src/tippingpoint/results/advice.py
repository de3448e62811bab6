"""What to do about it: which kind of change dominates, which features to target, and which training helps against that."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from tippingpoint.core.inference import LEVEL, normal_margin
from tippingpoint.results.base import Result
from tippingpoint.standing import Standing
from tippingpoint.text import NOTHING_REACHES, WIDTH, number, percent
from tippingpoint.visible import readable

DOMINANT_SHARE = 0.6
"""Share of the excess risk from which on one kind of change is the one to act on."""

NOTABLE_PART = 0.5
"""Features are named that close at least this part of what the most sensitive one closes."""

MAX_NAMED = 5
"""Features that are named at most."""

REMEDIES = {
    "moving": "adversarial training: train on samples moved to where they hurt most",
    "reweighting": "tilted ERM: train with more weight on the samples of large loss, or collect more of such samples",
    "both": "both adversarial training and tilted ERM; neither kind of change explains the excess alone",
    "targeted": "targeted adversarial training: move only the features named, so that the rest of the accuracy is kept",
}
"""Which training helps against which kind of change, as in the paper."""


UNENDED_RANKING = "a search did not end, or some features were not asked about: others may be more sensitive than these"
"""What limits the advice of a ranking that was interrupted."""


ROUNDING = 1e-9
"""Part of a stability that two ways to the same number may differ by."""


@dataclass(frozen=True)
class Advice(Result):
    """What the numbers suggest; a place to begin, not a proof that it will help.

    Attributes
    ----------
    dominant
        "moving", "reweighting" or "both": which kind of change makes most of the excess risk; "none" where there is none, or
        where the search did not end.
    targets
        Features to target, the most sensitive first; empty where single features were not asked about, or none matters.
    intervention
        What to try.
    reasons
        In words: the numbers behind it.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> advice = profile.stability(risk=0.5, theta1=1.0, theta2=0.25).advice()
    >>> advice.dominant
    'moving'
    >>> advice.intervention
    'adversarial training: train on samples moved to where they hurt most'
    """

    dominant: str
    targets: tuple[str, ...]
    intervention: str
    reasons: tuple[str, ...]

    SCHEMA: ClassVar[str] = "tippingpoint.advice/1"

    def __str__(self) -> str:
        reasons = [textwrap.fill(f"  - {readable(reason)}", WIDTH, subsequent_indent="    ") for reason in self.reasons]
        return "\n".join([textwrap.fill(f"Try {self.intervention}.", WIDTH), *reasons])


def of_result(summary: Mapping[str, Any]) -> Advice:
    """Which kind of change to act on, from how the excess risk splits."""
    if summary["status"] in ("already", *NOTHING_REACHES):
        state = "the threshold is reached already" if summary["status"] == "already" else "nothing found reaches the threshold"
        return Advice("none", (), "another threshold", (f"{state}, so there is no excess risk to explain",))
    known = Standing.of(summary)
    if known.undecided:
        why = "the search did not end, so how the excess risk splits is undecided"
        return Advice("none", (), "the search again, to its end", (why,))
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
    dominant = "moving" if share >= DOMINANT_SHARE else "reweighting" if share <= 1.0 - DOMINANT_SHARE else "both"
    if not known.exact:
        reasons.append(
            "this is undecided: the best responses were searched for, so the true share of moving may be larger"
            if dominant != "moving"
            else "the best responses were searched for, so the shares are those of what was found"
        )
    return Advice(dominant, (), REMEDIES[dominant], tuple(reasons))


class Ranked(NamedTuple):
    """A feature in a ranking: what is certain of its stability from below, what was found, and how certain that is."""

    name: str
    lower: float
    value: float
    error: float
    interrupted: bool = False


def of_features(ranked: Sequence[Ranked], limit: float, *, complete: bool = True) -> Advice:
    """Which features to target, from the most sensitive on; `complete` is a ranking whose every search ended."""
    closed = [(_closed(each.value, limit), each) for each in ranked]
    most = max((part for part, _ in closed), default=0.0)
    targets = [(part, each) for part, each in closed if part > 0.0 and part >= NOTABLE_PART * most][:MAX_NAMED]
    if not targets:
        searched = not complete or any(each.lower < each.value for each in ranked)
        makes = "was found to make" if searched else "makes"
        why = f"no single feature {makes} the threshold cheaper to reach than reweighting alone does"
        return Advice("reweighting", (), REMEDIES["reweighting"], (why, *([] if complete else [UNENDED_RANKING])))
    reasons = []
    for part, each in targets:
        cheaper = f", {percent(part)} less than reweighting alone ({number(limit)})" if math.isfinite(limit) else ""
        spread = f" ± {number(each.error, 2)}" if math.isfinite(each.error) else ""
        reasons.append(f"{each.name}: {number(each.value)}{spread}{cheaper}")
    reasons += _undecided([each for _, each in targets], ranked)
    if not complete:
        reasons.append(UNENDED_RANKING)
    return Advice("moving", tuple(each.name for _, each in targets), REMEDIES["targeted"], tuple(reasons))


def _closed(value: float, limit: float) -> float:
    """Which part of what reweighting alone costs a feature saves."""
    if math.isinf(limit):
        return 1.0 if math.isfinite(value) else 0.0
    closed = 1.0 - value / limit if limit > 0.0 else 0.0
    return closed if closed > ROUNDING else 0.0


def _undecided(targets: Sequence[Ranked], ranked: Sequence[Ranked]) -> list[str]:
    """Which features the first is not certainly ahead of: of the targets by the sampling error, of all by what is certified."""
    first, *others = targets
    near = [each.name for each in others if not each.value - first.value > _margin(first, each)]
    searched = [each.name for each in ranked if each.lower <= first.value < each.value]
    doubts = []
    if near:
        doubts.append(
            f"{first.name} is ahead of {', '.join(near)} by no more than the sampling error: their order is not certain"
        )
    if searched:
        more = f" and {len(searched) - MAX_NAMED} more" if len(searched) > MAX_NAMED else ""
        doubts.append(
            f"whether {first.name} is ahead of {', '.join(searched[:MAX_NAMED])}{more} is undecided: that was searched for, and"
            " the bounds overlap"
        )
    return doubts


def _margin(one: Ranked, other: Ranked) -> float:
    """How far apart the sampling error alone could put two features; a ranking keeps no pairs, so theirs are added."""
    return normal_margin(math.hypot(one.error, other.error), LEVEL)
