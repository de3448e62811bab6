"""What the sections of a report are computed from: the result, its evidence, and what the user says of it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tippingpoint.cached import cached_property
from tippingpoint.core.problem import Problem
from tippingpoint.report.badges import elsewhere, standing
from tippingpoint.report.embedding import Embedded, embed
from tippingpoint.report.gates import Gate, Judged
from tippingpoint.results.evidence import Evidence, Places

if TYPE_CHECKING:
    from tippingpoint.report.section import Section
    from tippingpoint.results.comparisons import Comparison
    from tippingpoint.results.drift import DriftResult, DriftSeries
    from tippingpoint.results.rankings import FeatureStability

Part = TypeVar("Part", bound=Mapping[str, object])
"""A section's part of the summary: plain data under keys of its own, which can be stored as JSON."""


@dataclass(frozen=True)
class Request:
    """What the user says for a report beside its result; see `Reported.report`."""

    model: str | None
    data: str | None
    title: str | None
    gate: float | Gate | Judged | None
    date: str
    model_file: str | os.PathLike[str] | None
    command: str | None
    features: FeatureStability | None = None
    comparison: Comparison | None = None
    drifts: DriftResult | DriftSeries | None = None


class Material:
    """What sections compute from; everything is computed once, whichever section needs it first.

    Parameters
    ----------
    result
        Every number and word of the result.
    evidence
        What can still be computed of it.
    request
        What the user says beside it.
    """

    def __init__(self, result: Mapping[str, Any], evidence: Evidence, request: Request) -> None:
        self.result: dict[str, Any] = dict(result)
        self.evidence = evidence
        self.request = request
        self._parts: dict[str, Any] = {}

    def part(self, section: Section[Part]) -> Part:
        """The part of the summary that a section computes."""
        if section.name not in self._parts:
            self._parts[section.name] = section.compute(self)
        part: Part = self._parts[section.name]
        return part

    @property
    def results(self) -> dict[str, Mapping[str, Any]]:
        """Summaries of all results that a gate applies to: the compared models, and the result if it is not among them."""
        comparison = self.request.comparison
        compared: dict[str, Mapping[str, Any]] = {}
        if comparison is not None:
            compared = {name: each.summary for name, each in comparison.results.items()}
        return compared if self.result in compared.values() else {"": self.result, **compared}

    @cached_property
    def places(self) -> Places:
        """Where samples are and where they go."""
        return self.evidence.places()

    @cached_property
    def tried(self) -> bool:
        """Whether places are alternatives of a table, which somebody tried, and not moves of features."""
        return self.evidence.oracle.derived

    @property
    def unmeasured(self) -> bool:
        """Whether some feature may change without a distance: its category, or by going missing."""
        domain = self.evidence.domain
        return domain is not None and domain.unmeasured

    @cached_property
    def embedded(self) -> Embedded | None:
        """The best responses as a page holds them; None where it cannot."""
        return embed(self.evidence.oracle.widened(), self.result["loss"], self.evidence.distribution.prices)

    @cached_property
    def problem(self) -> Problem:
        """The question, of the responses that a page holds, so that its still pictures and its moving ones agree."""
        question, embedded = self.evidence.problem, self.embedded
        return question if embedded is None else replace(question, responses=embedded.responses)

    @property
    def standing(self) -> str:
        """What is known of the stability."""
        return standing(self.result)

    @property
    def standing_elsewhere(self) -> str:
        """What is known of the stability at other settings."""
        embedded, oracle = self.embedded, self.evidence.oracle
        held = embedded is None or embedded.exact
        floored = embedded is not None and embedded.floors is not None
        proved = (oracle if embedded is None else embedded.oracle).exact
        return elsewhere(self.standing, exact=held and proved, floored=floored)

    @property
    def standing_beside(self) -> str:
        """The same at the prices of the result: where nothing may move, it is as certain as the result."""
        return self.standing if math.isinf(self.result["theta1"]) else self.standing_elsewhere
