"""The stability of every variation of a table on its own: which kind of rewording breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tippingpoint.results.advice import Advice, of_result
from tippingpoint.results.rankings import FeatureStability


@dataclass(frozen=True, repr=False)
class VariationStability(FeatureStability):
    """Stabilities when samples may only go to alternatives of one variation; the most sensitive first.

    `results`, `limit` and `reach` are as of `FeatureStability`, with variations in place of features; every kind is the column
    that tells variations apart.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> lines = [("a", "as it is", 0, 0), ("a", "typo", 1, 1), ("b", "as it is", 0, 0), ("b", "formal", 2, 1)]
    >>> runs = pd.DataFrame(lines, columns=["sample", "variation", "cost", "loss"])
    >>> ranked = tp.variation_stability(runs, risk=0.25, theta1=1.0, theta2=float("inf"))
    >>> {name: result.value for name, result in ranked.results.items()}
    {'typo': 0.25, 'formal': 0.5}
    """

    SCHEMA: ClassVar[str] = "tippingpoint.variations/1"
    ONE: ClassVar[str] = "variation"
    MAKER: ClassVar[str] = "variation_stability()"
    _TITLES: ClassVar[tuple[str, ...]] = ("variation",)
    _ALONE: ClassVar[str] = "this variation alone"
    _CHANGE: ClassVar[str] = "use of this variation"
    _TOO: ClassVar[str] = "once samples may vary so too"

    def _called(self, name: str) -> list[str]:
        return [name]

    def advice(self) -> Advice:
        """Which kind of change makes most of the excess risk where the most sensitive variation is allowed."""
        return of_result(next(iter(self.results.values())).summary)
