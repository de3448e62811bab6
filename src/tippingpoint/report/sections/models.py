"""Models side by side: the comparison, where one was made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from tippingpoint.report.badges import standing, with_badges
from tippingpoint.report.charts import bar_chart
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.markdown_text import table
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section, figure, lead
from tippingpoint.report.sections.features import QUESTION
from tippingpoint.report.wording import KNOWN, Cells, not_found_legend, risk_form, stability_form
from tippingpoint.results.stability import bands
from tippingpoint.text import number

if TYPE_CHECKING:
    from tippingpoint.results.comparisons import Comparison

LEAD = "The same rows, the same prices, the same threshold."

BARS = "Long bars are stable models; lines are 95 % intervals of sampling."

CORRECTED_BARS = (
    "Long bars are stable models; these are corrected stabilities. Lines are 95 % intervals of samples and repeats."
)

CORRECTED = (
    "Outcomes were repeated. Differences are of corrected stabilities, both from the smaller number of repeats, and their"
    " errors contain the noise of the answers."
)

MODELS_CAPTION = "The largest stability found first"

DIFFERENCES_CAPTION = "Differences, with paired standard errors"


class ComparedModel(TypedDict):
    """A model's stability."""

    model: str
    current_risk: float
    value: float
    standard_error: float
    margin: float
    lower: float
    upper: float
    standing: str
    repeats: int
    corrected: float | None
    corrected_error: float | None


class Difference(TypedDict):
    """How much more stable one model is than another."""

    model: str
    reference: str
    difference: float
    standard_error: float
    low: float
    high: float
    verdict: str


class Compared(TypedDict):
    """All models, and the question."""

    asked: dict[str, Any]
    rows: list[ComparedModel]
    differences: list[Difference]


class ModelsPart(TypedDict):
    """The comparison, where there is one."""

    comparison: Compared | None


class Models(Section[ModelsPart]):
    """Models side by side."""

    name = "models"
    title = "Models side by side"

    def compute(self, material: Material) -> ModelsPart:
        comparison = material.request.comparison
        return {"comparison": None if comparison is None else _compared(comparison)}

    def html(self, part: ModelsPart, result: Mapping[str, Any]) -> Sequence[Any] | None:
        compared = part["comparison"]
        if compared is None:
            return None
        head, rows = _models(compared)
        corrected = all(row["repeats"] > 1 and row["corrected"] is not None for row in compared["rows"])
        bars = [{**row, "value": row["corrected"]} for row in compared["rows"]] if corrected else compared["rows"]
        chart = bar_chart(bars, "model", math.inf, "Stability of each model")
        return [
            lead(LEAD),
            lead(CORRECTED) if _repeated(compared) else None,
            figure(chart, CORRECTED_BARS if corrected else BARS),
            html_table(MODELS_CAPTION, head, with_badges(rows)),
            *map(lead, not_found_legend(compared["rows"])),
            html_table(DIFFERENCES_CAPTION, *_differences(compared)),
        ]

    def markdown(self, part: ModelsPart, result: Mapping[str, Any]) -> Sequence[str] | None:
        compared = part["comparison"]
        if compared is None:
            return None
        repeated = [CORRECTED] if _repeated(compared) else []
        legend = not_found_legend(compared["rows"])
        return [LEAD, *repeated, table(*_models(compared)), *legend, table(*_differences(compared))]


MODELS = Models()


def _compared(comparison: Comparison) -> Compared:
    ranked = comparison.ranked()
    value, low, high = bands([result for _, result in ranked])
    margins = np.maximum(value - low, high - value).tolist()
    rows: list[ComparedModel] = [
        {
            "model": name,
            "current_risk": result.current_risk,
            "value": result.value,
            "standard_error": result.standard_error,
            "margin": margin,
            "lower": result.lower,
            "upper": result.upper,
            "standing": standing(result.summary),
            "repeats": result.repeats,
            "corrected": result.corrected,
            "corrected_error": result.corrected_error,
        }
        for (name, result), margin in zip(ranked, margins, strict=True)
    ]
    first = next(iter(comparison.results.values()))
    differences: list[Difference] = [
        {
            "model": model,
            "reference": reference,
            "difference": difference,
            "standard_error": error,
            "low": low,
            "high": high,
            "verdict": comparison.verdict(model).sentence,
        }
        for model, reference, difference, error, low, high in comparison.pairs()
    ]
    return {"asked": {name: getattr(first, name) for name in QUESTION}, "rows": rows, "differences": differences}


def _models(compared: Compared) -> tuple[list[str], Cells]:
    """The models as a table; the last cell is a badge."""
    form, repeated = risk_form(compared["asked"]), _repeated(compared)
    rows = [
        [
            row["model"],
            form(row["current_risk"]),
            stability_form(row["value"], row["standing"]),
            *(number(value) for value in (row["lower"], row["upper"])),
            number(row["standard_error"], 2),
            *(_corrected(row) if repeated else []),
            row["standing"],
        ]
        for row in compared["rows"]
    ]
    more = ["repeats", "corrected"] if repeated else []
    return ["model", "risk now", "stability", "at least", "at most", "standard error", *more, KNOWN], rows


def _repeated(compared: Compared) -> bool:
    """Whether outcomes of some model were run several times."""
    return any(row["repeats"] > 1 for row in compared["rows"])


def _corrected(row: ComparedModel) -> list[str]:
    """How often outcomes were run, and the stability without the noise of that."""
    corrected, error = row["corrected"], row["corrected_error"]
    known = "not known" if corrected is None or error is None else f"{number(corrected)} ± {number(error, 2)}"
    return [str(max(row["repeats"], 1)), known]


def _differences(compared: Compared) -> tuple[list[str], Cells]:
    """Differences between models as a table, with nothing in words that is not certified."""
    rows = []
    for pair in compared["differences"]:
        interval = f"{number(pair['low'], 3)} to {number(pair['high'], 3)}"
        versus = f"{pair['model']} minus {pair['reference']}"
        rows.append([versus, number(pair["difference"]), interval, pair["verdict"]])
    of = "samples and repeats" if _repeated(compared) else "sampling only"
    return ["models", "difference", f"95 % interval ({of})", "verdict"], rows
