"""What families serve, and how well: declared by each, so that documentation and tests read one list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Knowledge = Literal["exact", "bounded", "searched"]
"""How well a stability is known: to rounding; from both sides; from above only, by what a search found."""

SpaceKind = Literal["numbers", "bounds", "whole numbers", "fine steps", "categories", "one feature"]
"""What may move: numbers freely; within bounds; in whole steps, which can be counted; in more of them; among categories; one
number alone."""

EVERY_KIND: tuple[SpaceKind, ...] = ("numbers", "bounds", "whole numbers", "fine steps", "categories", "one feature")

MEANING: dict[Knowledge, str] = {
    "exact": "to rounding",
    "bounded": "from both sides",
    "searched": "from above, by what was found",
}
"""In words, for a table."""


@dataclass(frozen=True)
class Capability:
    """One thing that a family can do.

    Attributes
    ----------
    models
        Of which models, in words.
    losses
        Under which losses, by their names in `tippingpoint.losses.LOSSES`.
    kinds
        In which spaces.
    answer
        How well it then knows the stability.
    how
        In words: by what.
    """

    models: str
    losses: tuple[str, ...]
    kinds: tuple[SpaceKind, ...]
    answer: Knowledge
    how: str


def table(families: Iterable[tuple[str, Iterable[Capability]]], losses: Iterable[str]) -> str:
    """What is exact for whom, as a table in Markdown; models of which the same is declared share a line.

    Parameters
    ----------
    families
        Names, and what each declares.
    losses
        All that there are, to say "all" where all are served.
    """
    every = set(losses)
    rows: dict[tuple[str, ...], list[str]] = {}
    for _, declared in families:
        for each in declared:
            named = "all" if every <= set(each.losses) else ", ".join(each.losses)
            answer = f"**{each.answer}**" if each.answer == "exact" else f"{each.answer}: {MEANING[each.answer]}"
            rows.setdefault((named, _kinds(each.kinds), answer, each.how), []).append(each.models)
    lines = ["| model | loss | what moves | stability | by |", "|---|---|---|---|---|"]
    lines += [f"| {'; '.join(models)} | {' | '.join(rest)} |" for rest, models in rows.items()]
    return "\n".join(lines)


def _kinds(kinds: tuple[SpaceKind, ...]) -> str:
    """In words: all, all but one, or each."""
    lacking = [kind for kind in EVERY_KIND if kind not in kinds]
    if len(lacking) <= 1:
        return " but ".join(["anything", *lacking])
    return ", ".join(kinds)
