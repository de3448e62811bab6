"""Runs: a table of alternatives with what is known of how it came about."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tippingpoint.api.profiles import Profile
from tippingpoint.api.tables import profile_table
from tippingpoint.errors import InputError, listed
from tippingpoint.families.table.oracle import TableOracle
from tippingpoint.runs.partly import PartlyAsked, at_best, at_worst
from tippingpoint.text import WIDTH, percent
from tippingpoint.visible import readable

INDENT = 12
"""Columns before the text of a line of the summary."""

BOUNDED_SETTINGS = {"by", "weight"}
"""Settings of a profile with which the runs that were never asked can be bounded."""

SHOWN = 4
"""Reasons why outcomes are missing that are shown; errors of services may each be worded otherwise."""


@dataclass(frozen=True)
class Runs:
    """A table of alternatives, and how it came about: what was left out, what is missing, what was never asked.

    Attributes
    ----------
    table
        A pandas frame, one line a run: `sample`, `variant`, `model`, `loss`, `cost`, and where they are known `repeat`,
        `variation`, `text` (as asked), `original`, `answer`. The original of a sample has cost 0; a missing outcome has a loss
        of NaN, and `missing` says why.
    original
        What the variant is called that is the sample as it is.
    dropped
        Lines that are not in the table, counted by the reason.
    unasked
        Runs that were planned and never asked.
    loss_label, cost_label
        What loss and cost are.
    notes
        What else must be known of the table.
    interrupted
        Whether somebody ended the asking before its end.
    waiting
        A frame of the runs that were planned and never asked: `sample`, `variant`, `model`, `cost`; None where there are none.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> lines = pd.DataFrame({"sample": [1, 1, 2, 2], "variant": ["original", "typos"] * 2, "right": [1, 0, 1, 1]})
    >>> runs = tp.read_runs(lines, metric="right", cost={"typos": 0.2})
    >>> print(runs)
    4 runs of 2 samples in 2 variants by 1 model; the original is 'original'.
      loss        1 - right
      cost        prices by name
    >>> runs.profile().stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    0.1
    """

    table: Any
    original: str
    dropped: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0
    loss_label: str = "loss"
    cost_label: str = "cost"
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    waiting: Any = None

    @property
    def missing(self) -> dict[str, int]:
        """Outcomes that are missing, counted by the reason."""
        gone = self.table[self.table["loss"].isna()]
        return {} if gone.empty else {str(why): int(count) for why, count in gone["missing"].value_counts().items()}

    @property
    def models(self) -> list[str]:
        """Who was asked, in the order of the table."""
        return [str(name) for name in self.table["model"].unique()]

    @property
    def summary(self) -> str:
        """What the table holds, and what it does not, in a few lines."""
        table = self.table
        counts = (_count(len(table), "run"), _count(table["sample"].nunique(), "sample"))
        among = (_count(table["variant"].nunique(), "variant"), _count(len(self.models), "model"))
        told = [("loss", self.loss_label), ("cost", self.cost_label)]
        if self.missing:
            gone = sum(self.missing.values())
            reasons = [f"{count:,} {reason}" for reason, count in self.missing.items()]
            others = [f"{len(reasons) - SHOWN:,} more reasons"] if len(reasons) > SHOWN else []
            why = "; ".join([*reasons[:SHOWN], *others])
            told.append(("missing", f"{_count(gone, 'outcome')}, {percent(gone / len(table))} of the runs: {why}"))
        told += [("dropped", f"{_count(count, 'line')}: {why}") for why, count in self.dropped.items()]
        if self.unasked:
            told.append(("not asked", self._bound))
        told += [("note", note) for note in self.notes]
        head = f"{counts[0]} of {counts[1]} in {among[0]} by {among[1]}; the original is {self.original!r}."
        body = [
            textwrap.fill(f"  {label:<{INDENT}}{readable(text)}", WIDTH, subsequent_indent=" " * (INDENT + 2))
            for label, text in told
        ]
        return "\n".join([readable(head), *body])

    @property
    def _bound(self) -> str:
        """What runs that were planned and not made mean for a stability."""
        planned = self.unasked + len(self.table)
        bound = "of all of them a stability is known by bounds only"
        return f"{self.unasked:,} of the {planned:,} runs that were planned: {bound}"

    def __str__(self) -> str:
        return self.summary

    def filled(self, loss: float) -> Runs:
        """With a loss where outcomes are missing: 1 counts a refusal as an error."""
        if isinstance(loss, (str, bool)) or not isinstance(loss, (int, float)) or math.isnan(loss):
            raise InputError(f"loss={loss!r} must be a number, as 1.0 to count what is missing as wrong.")
        gone = int(self.table["loss"].isna().sum())
        note = f"{_count(gone, 'missing outcome')} counted as a loss of {loss:g}"
        return replace(self, table=self.table.fillna({"loss": float(loss)}), notes=(*self.notes, note) if gone else self.notes)

    def without_missing(self) -> Runs:
        """Without the lines whose outcome is missing; a sample whose original is one of them goes whole, for that model."""
        table = self.table
        gone = table["loss"].isna()
        keys = ["sample", "model", *(["repeat"] if "repeat" in table else [])]
        unknown = table.loc[gone & (table["cost"] == 0.0), keys].drop_duplicates()
        lost = table[keys].merge(unknown.assign(lost=True), how="left", on=keys)["lost"].notna().to_numpy()
        dropped = dict(self.dropped)
        for why, lines in (("with a missing outcome", gone & ~lost), ("of a sample whose original has no outcome", lost)):
            if lines.sum():
                dropped[why] = dropped.get(why, 0) + int(lines.sum())
        return replace(self, table=table[~(gone | lost)].reset_index(drop=True), dropped=dropped)

    def profile(self, **settings: Any) -> Profile | dict[str, Profile]:
        """The profile of the table, as `profile_table` makes it; of several models a dictionary of one each.

        What was left out, never asked or missing is a note of every result. Where runs were planned and never asked, results
        are bounds: from above by what was asked, from below by taking every other run for an error.

        Repeated runs and missing outcomes are as `profile_table` takes them: what is chosen on some runs is priced on others,
        and what is missing is bounded from both sides unless `missing=`, `filled` or `without_missing` says what it counts as.
        Where runs were planned and never asked, repeated ones count by their mean, and what is missing has to be decided.

        Parameters
        ----------
        settings
            As of `profile_table`.
        """
        gone = sum(self.missing.values())
        if gone and self.waiting is not None and "missing" not in settings:
            raise InputError(
                f"{_count(gone, 'outcome')} of {len(self.table):,} {'is' if gone == 1 else 'are'} missing"
                f" ({listed(self.missing, 3)}), and not all runs were asked; say what that counts as: runs.filled(1.0) takes it"
                " for wrong, runs.without_missing() leaves it out."
            )
        if len(self.models) > 1:
            settings.setdefault("by", "model")
        table = self.table if self.waiting is None or "repeat" in settings else at_best(self.table, self.waiting)
        made: Profile | dict[str, Profile] = profile_table(table.drop(columns="missing", errors="ignore"), **settings)
        if isinstance(made, Profile):
            return self._bounded({"": made}, settings)[""]
        return self._bounded(made, settings)

    def _bounded(self, profiles: dict[str, Profile], settings: dict[str, Any]) -> dict[str, Profile]:
        """The profiles with what a reader has to know of the table, and with bounds where a part of it was never asked."""
        noted = {name: self._noted(each) for name, each in profiles.items()}
        if self.waiting is None:
            return noted
        possible: dict[str, TableOracle] = {}
        if set(settings) <= BOUNDED_SETTINGS:
            worst = profile_table(at_worst(self.table, self.waiting), **settings)
            found = {"": worst} if isinstance(worst, Profile) else worst
            possible = {name: each.oracle for name, each in found.items() if isinstance(each.oracle, TableOracle)}
        return {
            name: replace(each, oracle=PartlyAsked(each.oracle, possible.get(name), interrupted=self.interrupted))
            for name, each in noted.items()
            if isinstance(each.oracle, TableOracle)
        }

    def _noted(self, profile: Profile) -> Profile:
        """The profile with what a reader of its results has to know of the table."""
        left_out = [f"{_count(count, 'line')} of the runs left out: {why}" for why, count in self.dropped.items()]
        unasked = [f"not asked: {self._bound}"] if self.unasked else []
        return replace(profile, notes=(*profile.notes, *unasked, *left_out, *self.notes))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
