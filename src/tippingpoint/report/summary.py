"""The summary step of a report: everything that is computed for it, as one plain dictionary.

HTML, Markdown and JSON are renderings of it (`tippingpoint.report`); none of them computes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import total
from tippingpoint.core.inference import normal_margin
from tippingpoint.report import words
from tippingpoint.report.asking import LEVEL, curve, dial, risks_of, tradeoff, various
from tippingpoint.report.badges import elsewhere, standing
from tippingpoint.report.embedding import Embedded, embed
from tippingpoint.report.gates import Gate, Judged, judged
from tippingpoint.report.manifest import manifest
from tippingpoint.report.moves import implausible, most_moved
from tippingpoint.report.packing import pack
from tippingpoint.report.population import Condition, describe
from tippingpoint.report.rows import sheet_of_rows
from tippingpoint.report.yardsticks import sampling_noise, yardsticks
from tippingpoint.results.evidence import Evidence, Places
from tippingpoint.text import risk_name

if TYPE_CHECKING:
    from tippingpoint.results.comparisons import Comparison
    from tippingpoint.results.rankings import FeatureStability

SCHEMA = "tippingpoint.report/2"
"""Name and version of the summary, which is also what is written as JSON."""

TITLE = "How much must the data change before this model breaks?"
"""What a report is called where no title is given."""

RANKED = 20
"""Features of a ranking that are shown."""

CONCENTRATION = 60
"""Points of the curve that shows how weights concentrate."""


@dataclass(frozen=True)
class Told:
    """What the user tells of a result for its report; see `Reported.report`."""

    model: str | None
    data: str | None
    title: str | None
    gate: float | Gate | Judged | None
    date: str
    model_file: str | os.PathLike[str] | None
    command: str | None


def summarise(
    summary: Mapping[str, Any],
    evidence: Evidence,
    told: Told,
    features: FeatureStability | None = None,
    comparison: Comparison | None = None,
) -> dict[str, Any]:
    """Everything that a report says, computed once."""
    result = dict(summary)
    places = evidence.places()
    embedded = embed(evidence.oracle, result["loss"], evidence.distribution.prices)
    # Other settings are asked of what the page holds, so that its still pictures and its moving ones agree.
    problem = evidence.problem if embedded is None else replace(evidence.problem, responses=embedded.responses)
    distributions = various(problem)
    rows = sheet_of_rows(evidence, places, embedded, [evidence.distribution, *distributions])
    population, moves = _population(result, places), most_moved(places)
    kind = "none" if embedded is None else "exact" if embedded.exact else "bound"
    own, passed = standing(result), judged(told.gate, result)
    # Where nothing may move, the number is exact whatever the responses are; where something may, it is as good as they are.
    others = elsewhere(own, exact=kind != "bound" and evidence.oracle.exact)
    beside = own if math.isinf(result["theta1"]) else others
    compared = yardsticks(result, problem, beside)
    made_from = manifest(
        result,
        evidence.origin,
        features=len(places.before),
        model=told.model,
        model_file=told.model_file,
        command=told.command,
        date=told.date,
    )
    doubts = {
        "live": kind,
        "places": 0 if embedded is None else embedded.places,
        "stored": len(rows["labels"]),
        "rows": rows["of"],
    }
    return {
        "schema": SCHEMA,
        "title": told.title or TITLE,
        "model": made_from["model"]["name"],
        "data": told.data,
        "date": told.date,
        "standing": own,
        "gate": None if passed is None else asdict(passed),
        "result": {name: value for name, value in result.items() if name not in ("trace", "evaluations")},
        "words": {
            "sentence": words.sentence(result, population, moves),
            "prices": words.prices(result),
            "equivalents": words.equivalents(result),
            "noise": words.noise(result, sampling_noise(problem), compared),
            "certificate": words.certificate(result),
            "sampling": words.sampling(result),
        },
        "gauge": _gauge(result),
        "yardsticks": [{**each, "name": words.yardstick(result, each)} for each in compared],
        "curve": {**curve(problem), "standing": beside},
        "tradeoff": {**tradeoff(problem), "standing": others},
        "concentration": _concentration(evidence),
        "population": population,
        "moves": moves,
        "rows": {**rows, "doubts": words.doubts(implausible(places))},
        "features": None if features is None else _ranking(features),
        "comparison": None if comparison is None else _compared(comparison),
        "limits": words.limits(result, doubts),
        "manifest": made_from,
        "live": None if embedded is None else _live(result, evidence, embedded, risks_of(problem), [own, others]),
    }


def _gauge(result: Mapping[str, Any]) -> dict[str, Any]:
    """The stability with its interval and bounds."""
    margin = normal_margin(result["standard_error"], LEVEL)
    spread = margin if math.isfinite(margin) else 0.0
    value = result["value"]
    return {
        "value": value,
        "low": max(value - spread, 0.0),
        "high": value + spread,
        "lower": result["lower"],
    }


def _population(result: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Who is counted more often; where nobody is, who moves."""
    q = places.distribution
    held = {name: (column, before) for name, (column, before, _) in places.numbers.items()}
    if math.isfinite(result["theta2"]) and result["status"] != "unreachable":
        wrong = Condition("", "rows that are wrong already", q.losses > 0.0) if result["loss"] == "zero_one" else None
        return {"of": "weights", "rules": describe(held, q.base, q.weights, wrong)}
    moved = np.bincount(q.sample, weights=q.mass * (q.cost > 0.0), minlength=len(q.base)) / q.base
    share = total(q.base, moved)
    rules = describe(held, q.base, moved / share) if share > 0.0 else []
    return {"of": "moves", "rules": rules}


def _concentration(evidence: Evidence) -> dict[str, list[float]]:
    """Which part of the weight the heaviest part of the rows has."""
    q = evidence.distribution
    order = np.argsort(-q.weights, kind="stable")
    rows, weight = np.cumsum(q.base[order]), np.cumsum((q.base * q.weights)[order])
    at = np.linspace(0.0, 1.0, CONCENTRATION)
    return {"rows": at.tolist(), "weight": np.interp(at, [0.0, *rows], [0.0, *weight]).tolist()}


def _ranking(features: FeatureStability) -> dict[str, Any]:
    shown = features.top(RANKED)
    told = [
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
        for name, result in shown.results.items()
    ]
    first = next(iter(features.results.values()))
    asked = {name: getattr(first, name) for name in ("loss", "risk", "theta1", "theta2", "divergence")}
    known = {"limit": features.limit, "of": len(features), "interrupted": features.interrupted}
    return {"asked": asked, **known, "rows": told}


def _compared(comparison: Comparison) -> dict[str, Any]:
    ranked = sorted(comparison.results.items(), key=lambda item: -item[1].value)
    told = [
        {
            "model": name,
            "current_risk": result.current_risk,
            "value": result.value,
            "standard_error": result.standard_error,
            "margin": normal_margin(result.standard_error, LEVEL),
            "lower": result.lower,
            "upper": result.upper,
            "standing": standing(result.summary),
        }
        for name, result in ranked
    ]
    first = next(iter(comparison.results.values()))
    asked = {name: getattr(first, name) for name in ("loss", "risk", "theta1", "theta2", "divergence")}
    columns = ("model", "reference", "difference", "standard_error", "low", "high")
    pairs = [dict(zip(columns, row, strict=True)) for row in comparison.pairs()]
    pairs = [{**pair, "verdict": comparison.verdict(str(pair["model"])).sentence} for pair in pairs]
    return {"asked": asked, "rows": told, "differences": pairs}


def _live(
    result: Mapping[str, Any], evidence: Evidence, embedded: Embedded, risks: tuple[float, float], standings: list[str]
) -> dict[str, Any]:
    """What the page computes with, where its controls begin, and what is known of its numbers there and elsewhere."""
    served = result["divergence"] in ("kl", "chi2")
    most = evidence.loss_range[1]
    top = most if math.isfinite(most) else max(risks[1], result["risk"])
    budget, mix = dial(result["theta1"], result["theta2"])
    return {
        "profile": embedded.held,
        "base": pack(evidence.base),
        "exact": embedded.exact,
        "places": embedded.places,
        "standing": standings,
        "served": served,
        "setting": {
            "risk": result["risk"],
            "theta1": result["theta1"],
            "theta2": result["theta2"],
            "divergence": result["divergence"] if served else "kl",
        },
        "mix": mix,
        "budget": budget,
        "risks": [min(risks[0], result["risk"]), top],
        "percent": result["loss"] == "zero_one",
        "unit": result["unit"],
        "what": risk_name(result["loss"]),
    }
