"""Whatever the package returns, as numbers by name.

Words count too: what a result says in words becomes part of a name, with the number 1, so that another word is a name that
is missing and a name that is new.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import tippingpoint as tp

Numbers = dict[str, float]
"""A case's numbers, by name."""

WORDS = ("status", "loss", "divergence", "lower_by", "upper_by", "unit")
"""What of a result is in words, and recorded in them; notes are counted only."""

OF_TABLES = ("held_out", "corrected", "groups", "missing", "repeats", "corrected_lower", "corrected_error", "corrected_spread")
"""What only some tables of alternatives have; recorded where there is any."""

LISTED = 6
"""Entries of a list that are recorded one by one; of more, a sum is."""

OURS = ("row", "weight", "share", "mass", "loss_before", "loss", "cost")
"""Columns of Q* that are not features."""


def under(prefix: str, numbers: Mapping[str, float]) -> Numbers:
    """The same numbers, in a drawer of their own."""
    return {f"{prefix}.{name}": value for name, value in numbers.items()}


def of_result(result: tp.StabilityResult) -> Numbers:
    """Every number of a result, its words, its influences, and sums over Q*."""
    flat = of_fields(result)
    if result.evidence is None:
        return flat
    flat["influence.length"] = math.sqrt(math.fsum(np.square(result.influence)))
    flat["influence.sloped"] = _sloped(result.influence)
    if result.status not in ("unreachable", "not_found"):
        flat |= under("sensitive", of_sensitive(result.sensitive))
    return flat


def of_fields(result: tp.StabilityResult) -> Numbers:
    """What a result holds without its data."""
    flat: Numbers = {}
    for name, value in result.to_dict().items():
        if name in WORDS:
            flat[f"{name}={value}"] = 1.0
        elif name == "ending":  # of a proof that did not close its gap
            flat |= {f"ending={value}": 1.0} if value not in (None, "gap") else {}
        elif name == "notes":
            flat["notes"] = float(len(value))
        elif name == "caution":
            flat |= {"caution": 1.0} if value else {}
        elif name == "trace":
            flat["trace.length"], flat["trace.sum"] = float(len(value)), math.fsum(map(float, value))
        elif name in OF_TABLES:
            flat |= {name: float(value)} if value else {}
        elif name in ("largest_risk", "largest_risk_found"):
            flat |= {} if value is None else {name: float(value)}  # only what is proved, or was found
        elif name == "time_limit_reached":
            flat |= {name: 1.0} if value else {}
        elif name != "schema":
            flat[name] = float(value)
    flat["gap"] = result.gap
    return flat


def of_sensitive(q: Any) -> Numbers:
    """Q* in sums: of its weights, losses and costs, and under it of every feature."""
    mass = q["mass"].to_numpy()
    flat = {
        "atoms": float(len(q)),
        "mass": math.fsum(mass),
        "weight.sloped": _sloped(q["weight"].to_numpy()),
        "weight.largest": float(q["weight"].max()),
        "risk": math.fsum(mass * q["loss"].to_numpy()),
        "risk.before": math.fsum(mass * q["loss_before"].to_numpy()),
        "cost": math.fsum(mass * q["cost"].to_numpy()),
        "moved": math.fsum(mass * (q["cost"].to_numpy() > 0.0)),
    }
    for name in [column for column in q.columns if column not in OURS]:
        values = q[name].to_numpy()
        if values.dtype.kind in "fiub":
            there = ~np.isnan(values.astype(float))
            flat[f"{name}.mean"] = math.fsum((mass * values)[there])
            if not there.all():
                flat[f"{name}.missing"] = math.fsum(mass[~there])
        else:
            words = np.array([str(value) for value in values])
            flat |= {f"{name}={word}": math.fsum(mass[words == word]) for word in sorted(set(words))}
    return flat


def of_sweep(sweep: tp.Sweep) -> Numbers:
    """Every result of a sweep, without its data."""
    flat: Numbers = {"interrupted": float(sweep.interrupted), f"over={sweep.over}": 1.0}
    for k, (at, result) in enumerate(zip(sweep.at, sweep, strict=True)):
        flat |= under(str(k), {"at": at, **of_fields(result)})
    return flat


def of_ranking(ranked: tp.FeatureStability) -> Numbers:
    """Every feature with its place."""
    flat = {"limit": ranked.limit}
    for place, name in enumerate(ranked):
        matters = float(ranked.matters(name))
        flat |= under(name, {"place": float(place), "reach": ranked.reach[name], "matters": matters, **of_fields(ranked[name])})
    return flat


def of_comparison(compared: tp.Comparison) -> Numbers:
    """Every model, every difference, every verdict."""
    flat: Numbers = {}
    for name, result in compared.results.items():
        flat |= under(name, of_fields(result))
    for model, reference, *numbers in compared.pairs():
        flat |= under(f"{model}-{reference}", dict(zip(("difference", "error", "low", "high"), numbers, strict=True)))
    for verdict in compared.verdicts():
        flags = {name: float(getattr(verdict, name)) for name in ("decided", "certified", "significant", "ended")}
        flat |= under(f"{verdict.model}-{verdict.reference}", flags)
    return flat


def of_json(held: Any, leave_out: Iterable[str] = ()) -> Numbers:
    """Every number of parsed JSON by its path; a list is its length, its sum and its sum by place, words are lengths."""
    left_out = frozenset(leave_out)
    if isinstance(held, Mapping):
        flat: Numbers = {}
        for name, value in held.items():
            if name not in left_out:
                flat |= {f"{name}.{path}" if path else str(name): number for path, number in of_json(value, left_out).items()}
        return flat
    if isinstance(held, list):
        if held and all(isinstance(each, (int, float)) for each in held):
            values = [float(each) for each in held]
            return {"length": float(len(values)), "sum": math.fsum(values), "sloped": _sloped(np.array(values))}
        flat = {"length": float(len(held))}
        for k, each in enumerate(held):
            for path, number in of_json(each, left_out).items():
                if len(held) <= LISTED:
                    flat[f"{k}.{path}" if path else str(k)] = number
                else:  # a sum that notices which number is whose
                    flat[f"*.{path}"] = flat.get(f"*.{path}", 0.0) + number * (k + 1) / len(held)
        return flat
    if isinstance(held, str):
        return {"": float(held)} if held in ("inf", "-inf", "nan") else {"letters": float(len(held))}
    return {"": math.nan if held is None else float(held)}


def _sloped(values: Any) -> float:
    """A sum that notices which value is whose."""
    return math.fsum(value * (k + 1) / len(values) for k, value in enumerate(np.asarray(values, dtype=float)))
