"""How much is known of a stability: the one place from which texts, tables, gates and badges read it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["exact", "bounded", "searched", "estimate", "not found"]


@dataclass(frozen=True)
class Standing:
    """How much is known of a stability.

    Attributes
    ----------
    kind
        "exact": no cheaper change exists, and this one can be shown. "bounded": the change can be shown, and what is certified
        from below is more than nothing. "searched": the change can be shown, and a cheaper one may exist. "estimate": the
        model's answers are noisy, so not even that bounds it. "not found": no change was found, which proves nothing.
    interrupted
        Whether a search did not end: an exact number is certain all the same, and any other one decides nothing.
    why
        What certifies it, or why nothing does.
    """

    kind: Kind
    interrupted: bool
    why: str

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> Standing:
        """The standing of a result, by its numbers."""
        kind: Kind = "bounded" if summary["lower"] > 0.0 else "searched"
        why = summary.get("lower_by", "")  # rows of a table need no reason
        if summary["exact"]:
            kind = "exact"
        elif math.isinf(summary["value"]) and math.isfinite(summary["lower"]):
            kind = "not found"
        elif math.isinf(summary["upper"]) and math.isfinite(summary["value"]):
            kind, why = "estimate", summary.get("upper_by", "")
        return cls(kind, summary["interrupted"], why)

    @property
    def exact(self) -> bool:
        """Whether no better search could change the number."""
        return self.kind == "exact"

    @property
    def undecided(self) -> bool:
        """Whether a search did not end that could have changed the number."""
        return self.interrupted and not self.exact
