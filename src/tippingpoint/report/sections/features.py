"""Which feature breaks it: the ranking of features, where one was made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from tippingpoint.core.inference import LEVEL, normal_margin
from tippingpoint.report.badges import EXACT, INTERRUPTED, NOT_FOUND, badge, standing, with_badges
from tippingpoint.report.charts import bar_chart
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.elements import tag
from tippingpoint.report.markdown_text import table
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section, figure, lead
from tippingpoint.report.wording import KNOWN, Cells, alone, not_found_legend, risk_form, stability_form
from tippingpoint.text import number, percent

if TYPE_CHECKING:
    from tippingpoint.results.rankings import FeatureStability

MAX_LISTED = 20
"""Features of a ranking that are listed."""

MAX_DRAWN = 10
"""Features of a ranking that are drawn."""

BARS = "Short bars are sensitive {one}s; the dashed line is the limit."

STOPPED = "The ranking was interrupted: features that it had not come to are missing."

QUESTION = ("loss", "risk", "theta1", "theta2", "divergence")
"""The question, the same for several results."""


class RankedFeature(TypedDict):
    """What it takes if only this feature may move."""

    feature: str
    kind: str
    value: float
    margin: float
    standard_error: float
    moved_share: float
    reach: float
    matters: bool
    lower: float
    standing: str


class Ranking(TypedDict):
    """The most sensitive features, and the question."""

    asked: dict[str, Any]
    one: str
    limit: float
    of: int
    interrupted: bool
    rows: list[RankedFeature]


class FeaturesPart(TypedDict):
    """The ranking, where there is one."""

    features: Ranking | None


class Features(Section[FeaturesPart]):
    """Which feature needs only be touched a little."""

    name = "features"
    title = "Which feature breaks it"

    def heading(self, part: FeaturesPart) -> str:
        ranking = part["features"]
        return self.title if ranking is None else f"Which {ranking['one']} breaks it"

    def compute(self, material: Material) -> FeaturesPart:
        features = material.request.features
        return {"features": None if features is None else _ranking(features)}

    def html(self, part: FeaturesPart, result: Mapping[str, Any]) -> Sequence[Any] | None:
        ranking = part["features"]
        if ranking is None:
            return None
        head, rows = _table(ranking)
        alone = "one variation is allowed" if ranking["one"] == "variation" else "one feature may move"
        chart = bar_chart(ranking["rows"][:MAX_DRAWN], "feature", ranking["limit"], f"Stability when only {alone}")
        threshold = risk_form(ranking["asked"])(ranking["asked"]["risk"])
        return [
            lead(f"What it takes if only {alone}, for each of them, at the threshold {threshold}."),
            tag("p", badge(INTERRUPTED), f" {STOPPED}") if ranking["interrupted"] else None,
            figure(chart, f"{BARS.format(one=ranking['one'])} {_limit(ranking)}"),
            html_table(f"The {len(rows)} most sensitive of {ranking['of']}", head, with_badges(rows)),
            *map(lead, not_found_legend(ranking["rows"])),
        ]

    def markdown(self, part: FeaturesPart, result: Mapping[str, Any]) -> Sequence[str] | None:
        ranking = part["features"]
        if ranking is None:
            return None
        stopped, limit = [STOPPED] if ranking["interrupted"] else [], _limit(ranking)
        return [*stopped, table(*_table(ranking)), *not_found_legend(ranking["rows"]), *([limit] if limit else [])]


FEATURES = Features()


def _ranking(features: FeatureStability) -> Ranking:
    rows: list[RankedFeature] = [
        {
            "feature": name,
            "kind": features.kinds[name],
            "value": result.value,
            "margin": normal_margin(result.standard_error, LEVEL),
            "standard_error": result.standard_error,
            "moved_share": result.moved_share,
            "reach": features.reach[name],
            "matters": features.matters(name),
            "lower": result.lower,
            "standing": standing(result.summary),
        }
        for name, result in features.top(MAX_LISTED).results.items()
    ]
    first = next(iter(features.results.values()))
    return {
        "asked": {name: getattr(first, name) for name in QUESTION},
        "one": features.ONE,
        "limit": features.limit,
        "of": len(features),
        "interrupted": features.interrupted,
        "rows": rows,
    }


def _table(ranking: Ranking) -> tuple[list[str], Cells]:
    """The ranking as a table; the last cell is a badge."""
    form, limit = risk_form(ranking["asked"]), ranking["limit"]
    rows = []
    for row in ranking["rows"]:
        error = number(row["standard_error"], 2) if row["matters"] else "–"
        missing = stability_form(row["value"], row["standing"]) == NOT_FOUND
        closes = percent(1.0 - row["value"] / limit) if row["matters"] and math.isfinite(limit) else "–"
        rows.append(
            [
                row["feature"],
                stability_form(row["value"], row["standing"]),
                number(row["lower"]),
                error,
                closes if row["matters"] else "–" if missing else "does not matter",
                percent(row["moved_share"]),
                form(row["reach"]),
                row["standing"],
            ]
        )
    cheaper = f"cheaper than {alone('reweighting', ranking['asked']['theta2'])}"
    return [
        ranking["one"],
        "stability",
        "at least",
        "standard error",
        cheaper if math.isfinite(limit) else "cheaper",
        "rows moved",
        "largest risk in reach",
        KNOWN,
    ], rows


def _limit(ranking: Ranking) -> str:
    """What a feature without effect costs; empty where there is no such limit."""
    if not math.isfinite(ranking["limit"]):
        return ""
    # Of a table some of the present losses may be missing, and none of its numbers is exact then.
    known = "" if ranking["one"] == "variation" and any(row["standing"] != EXACT for row in ranking["rows"]) else f" ({EXACT})"
    costs = f"{alone('reweighting', ranking['asked']['theta2'])} costs: {number(ranking['limit'])}{known}"
    return f"The limit, where a {ranking['one']} makes no difference, is what {costs}."
