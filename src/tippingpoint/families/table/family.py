"""Tables of alternatives: they come by a door of their own, `profile_table`, since there is no model to recognise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.capabilities import EVERY_KIND, Capability


class TableFamily(Family):
    """Alternatives of each sample, evaluated by the user."""

    name = "tables of alternatives"
    one = "a table of alternatives"
    capabilities: tuple[Capability, ...] = (
        Capability("any, as a table of alternatives", ("given",), EVERY_KIND, "exact", "every alternative in the table"),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        columns = [str(name) for name in getattr(subject.model, "columns", ())]
        if not {"cost", "loss"} <= set(columns):
            return None
        return Refusal("a table of alternatives needs neither X nor y; pass it to tippingpoint.profile_table")


FAMILY = TableFamily()
