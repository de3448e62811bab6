"""Badges: what is known of a stability, in the same few words wherever one is shown, and in colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.report.elements import Markup, tag
from tippingpoint.standing import Kind, Standing

EXACT, TWO_SIDED, UPPER, INTERRUPTED, NOT_FOUND = "exact", "two-sided", "upper bound only", "interrupted", "not found"
ESTIMATE = "estimate only"
LOWER = "lower bound only"

MEANING = {
    EXACT: "no cheaper change exists, and this one can be shown",
    TWO_SIDED: "a change at this price can be shown, and a smaller price is proved to be too small; the truth lies between",
    UPPER: "a change at this price can be shown; a cheaper one may exist",
    LOWER: "a change that gets there can be shown; another one of the same cost may get further",
    INTERRUPTED: "the search did not end, so a cheaper change may well exist",
    ESTIMATE: "the model's answers are noisy, and the search picked lucky ones among fewer rows: no bound, from neither side",
    NOT_FOUND: "the search found no change that gets there, which does not prove that there is none",
}
"""Every standing that a number can have, and what it says."""

BADGES: dict[Kind, str] = {
    "exact": EXACT,
    "bounded": TWO_SIDED,
    "searched": UPPER,
    "estimate": ESTIMATE,
    "not found": NOT_FOUND,
}
"""What a badge calls each kind of standing."""

PASSED, FAILED = "passed", "failed"


def standing(result: Mapping[str, Any]) -> str:
    """What is known of the stability of a result; a search that did not end comes before everything else."""
    known = Standing.of(result)
    return INTERRUPTED if known.interrupted else BADGES[known.kind]


def elsewhere(own: str, *, exact: bool, floored: bool = False) -> str:
    """What is known of the stability at another setting, from responses of a result with this standing.

    Parameters
    ----------
    own
        The standing of the result.
    exact
        Whether the responses that the other setting is asked of are exact.
    floored
        Whether they are bounded from below.
    """
    if own in (INTERRUPTED, ESTIMATE):
        return own
    if exact and (own == EXACT or floored):
        return EXACT
    return TWO_SIDED if floored else UPPER


def badge(name: str) -> Markup:
    """A standing, or the outcome of a gate, as a badge; the word is always there, and its meaning a tooltip away."""
    return tag("span", name, class_=f"badge {name.replace(' ', '-')}", title=MEANING.get(name))


def with_badges(rows: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Rows of a table whose last cell is a standing, as a badge."""
    return [[*cells, badge(name)] for *cells, name in rows]
