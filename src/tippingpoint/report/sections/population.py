"""Who the sensitive population is: groups that stand out, what moves, and how unevenly rows count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from tippingpoint.core.arrays import total
from tippingpoint.core.sensitive import SensitiveDistribution
from tippingpoint.report.charts import area_chart
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.elements import tag
from tippingpoint.report.groups import Condition, Rule, describe
from tippingpoint.report.markdown_text import table
from tippingpoint.report.material import Material
from tippingpoint.report.moves import Move, most_chosen, most_moved, of_samples
from tippingpoint.report.section import Section, figure, lead
from tippingpoint.report.wording import Cells
from tippingpoint.results.evidence import Places
from tippingpoint.text import NOTHING_REACHES, number, percent

CONCENTRATION_POINTS = 60
"""Points of the curve that shows how weights concentrate."""

ONE_DIRECTION = 0.9
"""Part of all moves of a feature that must go up, or down, for a sentence to say so."""

SHIFT_LEAD = (
    "The sensitive population is what the data would have to look like. Groups are listed that would have to be seen more"
    " often, by more than two standard errors; many conditions were looked at, so one of them may be chance."
)
"""Above the description of whom the weights favour."""

MOVE_LEAD = (
    "At these prices nobody is counted more or less often; rows only move. Groups are listed that move more often than others."
)
"""Above the description of who moves."""

NOBODY = "No simple group of rows stands out: no single condition differs by more than two standard errors."

MOVES_HEAD = ("feature", "on average, where it changes", "of the sensitive population")

CHOSEN_HEAD = ("alternatives", "mean cost", "of the sensitive population")

CONCENTRATION_CAPTION = "How unevenly rows count: the further above the diagonal, the fewer rows carry the weight."


class Concentration(TypedDict):
    """Which part of the weight the heaviest part of the rows has."""

    rows: list[float]
    weight: list[float]


class Population(TypedDict):
    """Groups that stand out, by their weights or by how often they move."""

    of: str
    rules: list[Rule]


class PopulationPart(TypedDict):
    """Who is counted more often, and what moves."""

    concentration: Concentration
    population: Population
    moves: list[Move]


class PopulationSection(Section[PopulationPart]):
    """Who is counted more often, what moves, and how weights concentrate."""

    name = "population"
    title = "Who the sensitive population is"

    def compute(self, material: Material) -> PopulationPart:
        return {
            "concentration": _concentration(material.evidence.distribution),
            "population": _population(material.result, material.places, tried=material.tried),
            "moves": most_chosen(material.places) if material.tried else most_moved(material.places, material.evidence.domain),
        }

    def html(self, part: PopulationPart, result: Mapping[str, Any]) -> Sequence[Any]:
        head, rules = _rules(part["population"])
        nobody = tag("p", NOBODY, class_="quiet")
        who = html_table("Groups that stand out, one condition at a time", head, rules) if rules else nobody
        moves = _moves(part["moves"])
        head_of_moves, caption = _moves_head(part["moves"])
        moved = html_table(caption, head_of_moves, moves, left=2) if moves else None
        weights = figure(
            area_chart(part["concentration"], "How the weights concentrate on the heaviest rows"),
            f"{CONCENTRATION_CAPTION} In this report they amount to {percent(result['effective_share'])} of the rows.",
            id_="live-weights",
        )
        return [lead(_lead(part["population"])), tag("div", tag("div", who, moved), weights, class_="pair wide")]

    def markdown(self, part: PopulationPart, result: Mapping[str, Any]) -> Sequence[str]:
        head, rules = _rules(part["population"])
        moves = _moves(part["moves"])
        return [
            _lead(part["population"]),
            table(head, rules) if rules else NOBODY,
            *([table(_moves_head(part["moves"])[0], moves)] if moves else []),
        ]


POPULATION = PopulationSection()


def _population(result: Mapping[str, Any], places: Places, *, tried: bool) -> Population:
    """Who is counted more often; where nobody is, who moves. Of a table, by columns that tell samples apart."""
    q = places.distribution
    told = of_samples(places) if tried else list(places.before)
    numbered = {name: places.number(name) for name in told}
    features = {name: (column, before) for name, (column, before, _) in numbered.items() if column.holds != "shift"}
    if math.isfinite(result["theta2"]) and result["status"] not in NOTHING_REACHES:
        wrong = Condition("", "rows that are wrong already", q.losses > 0.0) if result["loss"] == "zero_one" else None
        return {"of": "weights", "rules": describe(features, q.base, q.weights, wrong)}
    moved = np.bincount(q.sample, weights=q.mass * (q.cost > 0.0), minlength=len(q.base)) / q.base
    share = total(q.base, moved)
    return {"of": "moves", "rules": describe(features, q.base, moved / share) if share > 0.0 else []}


def _concentration(q: SensitiveDistribution) -> Concentration:
    order = np.argsort(-q.weights, kind="stable")
    rows, weight = np.cumsum(q.base[order]), np.cumsum((q.base * q.weights)[order])
    at = np.linspace(0.0, 1.0, CONCENTRATION_POINTS)
    return {"rows": at.tolist(), "weight": np.interp(at, [0.0, *rows], [0.0, *weight]).tolist()}


def _lead(population: Population) -> str:
    return SHIFT_LEAD if population["of"] == "weights" else MOVE_LEAD


def _rules(population: Population) -> tuple[list[str], Cells]:
    """Who stands out, as a table."""
    then = "of the sensitive population" if population["of"] == "weights" else "of the rows that move"
    rows = [
        [rule["condition"], percent(rule["now"]), percent(rule["then"]), f"{number(rule['lift'], 3)}×"]
        for rule in population["rules"]
    ]
    return ["rows where …", "of the data", then, "over-representation"], rows


def _moves_head(moves: Sequence[Move]) -> tuple[tuple[str, ...], str]:
    """The head of the table of what moves, and its caption."""
    if moves and moves[0]["chosen"]:
        return CHOSEN_HEAD, "Where samples go"
    return MOVES_HEAD, "What moves most"


def _moves(moves: Sequence[Move]) -> Cells:
    """What moves most, as rows of a table."""
    return [[move["feature"], _movement(move), percent(move["share"])] for move in moves]


def _movement(move: Move) -> str:
    """How a feature moves where it does."""
    if move["chosen"]:
        return number(move["mean"], 3)
    lost = move.get("missing", 0.0)
    if lost >= move["share"]:
        return "goes missing"
    beside = f"; goes missing in {percent(lost)}" if lost > 0.0 else ""
    if move["switches"]:
        return f"changes category{beside}"
    if move.get("distance"):
        return f"moves by {number(move['length'], 2)}, in units of the input"
    up, down = (sign * move["mean"] > ONE_DIRECTION * move["length"] for sign in (1.0, -1.0))
    return f"{'up' if up else 'down' if down else 'up or down'}, by {number(move['length'], 2)} standard deviations{beside}"
