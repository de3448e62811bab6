"""The answer: the number in one sentence, what it is worth, and what it can be held against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from tippingpoint.core.divergences import Divergence
from tippingpoint.core.inference import LEVEL, corrected_interval, normal_margin
from tippingpoint.report.badges import ESTIMATE, INTERRUPTED, MEANING, NOT_FOUND, badge, standing
from tippingpoint.report.charts import risk_bar
from tippingpoint.report.elements import tag
from tippingpoint.report.gates import judged
from tippingpoint.report.markdown_text import paragraph, table, text
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section
from tippingpoint.report.sections import yardsticks
from tippingpoint.report.sections.population import POPULATION, PopulationPart
from tippingpoint.report.sections.yardsticks import Yardstick
from tippingpoint.report.wording import KNOWN, risk_form, stability_form
from tippingpoint.space.domain import Domain
from tippingpoint.text import changes_without_distance, level, number, percent, risk_name, rows_line

SMALL_SHIFT = 0.99
"""Effective share of the rows from which on a shift is small."""

NOT_REPORTED = ("trace", "evaluations")
"""What a result holds of its search alone."""


class Words(TypedDict):
    """The answer in sentences."""

    sentence: str
    prices: str
    equivalents: str
    noise: str
    certificate: str
    sampling: str
    runs: str


class Gauge(TypedDict):
    """The stability with its interval and bounds."""

    value: float
    low: float
    high: float
    lower: float


class AnswerPart(TypedDict):
    """The result, what is known of it, and what it is held against."""

    standing: str
    gate: dict[str, Any] | None
    result: dict[str, Any]
    words: Words
    gauge: Gauge
    yardsticks: list[Yardstick]


class Answer(Section[AnswerPart]):
    """The answer."""

    name = "answer"
    title = "The answer"
    titled = False

    def compute(self, material: Material) -> AnswerPart:
        result, divergence = material.result, material.problem.divergence
        outcome, compared = judged(material.request.gate, material.results), yardsticks.compute(material)
        return {
            "standing": material.standing,
            "gate": None if outcome is None else asdict(outcome),
            "result": {name: value for name, value in result.items() if name not in NOT_REPORTED},
            "words": {
                "sentence": _sentence(result, material.part(POPULATION)),
                "prices": _prices(result, divergence, material.evidence.domain),
                "equivalents": yardsticks.equivalents(result, divergence, material.evidence.domain),
                "noise": yardsticks.noise(
                    result, yardsticks.sampling_noise(material.problem, material.evidence.groups), compared
                ),
                "certificate": _certificate(result),
                "sampling": _sampling(result),
                "runs": _noise(result) if result.get("repeats", 0) > 1 and result["status"] in ("attained", "largest") else "",
            },
            "gauge": _gauge(result),
            "yardsticks": compared,
        }

    def html(self, part: AnswerPart, result: Mapping[str, Any]) -> Sequence[Any]:
        form, own = risk_form(result), yardsticks.own(result, part["standing"])
        cards = [
            tag("div", tag("dt", name), tag("dd", value), tag("dd", badge(known), class_="known") if known else None)
            for name, value, known in _facts(part, result)
        ]
        return [
            tag("p", part["words"]["sentence"], class_="sentence"),
            tag("p", _caution(result), class_="caution") if result.get("caution") else None,
            tag("dl", cards, class_="cards"),
            risk_bar(result, form, f"From {form(result['current_risk'])} to {form(result['risk'])}, in parts"),
            tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in _certainty(part)], class_="notes"),
            yardsticks.html(
                [own, *part["yardsticks"]],
                part["words"],
                (part["gauge"]["low"], part["gauge"]["high"]),
                corrected=bool(result.get("corrected")),
            ),
        ]

    def markdown(self, part: AnswerPart, result: Mapping[str, Any]) -> Sequence[str]:
        form, own = risk_form(result), yardsticks.own(result, part["standing"])
        facts = [
            *_facts(part, result),
            ("At least", number(result["lower"], 10), ""),
            ("At most", number(result["upper"], 10), ""),
            ("Standard error", number(result["standard_error"], 2), ""),
            ("Rows that move", percent(result["moved_share"]), ""),
            *_typical(result),
            ("Rows left, in effect", percent(result["effective_share"]), ""),
            ("KL divergence (nats)", number(result["nats"]), ""),
            ("Rise by moving", form(result["corruption_excess"]), ""),
            ("Rise by reweighting", form(result["reweighting_excess"]), ""),
        ]
        return [
            paragraph(part["words"]["sentence"]),
            *([paragraph(_caution(result))] if result.get("caution") else []),
            table(["what", "value", KNOWN], facts),
            *(f"**{name}** {text(sentence)}" for name, sentence in _certainty(part)),
            f"“{part['standing']}” means: {text(MEANING[part['standing']])}.",
            *yardsticks.markdown([own, *part["yardsticks"]], part["words"]),
        ]


ANSWER = Answer()


def _typical(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """How rows typically move, kind by kind."""
    shares = [("Rows that change category", "category_share"), ("Rows that lose a value", "missing_share")]
    told = [(name, percent(result[key]), "") for name, key in shares if result.get(key, 0.0) > 0.0]
    if result["root_mean_square_move"] > 0.0 or not told:
        name = "Typical move of numbers" if told else "Typical move"
        told.append((name, f"{number(result['root_mean_square_move'])} {result['unit']}", ""))
    return told


def _caution(result: Mapping[str, Any]) -> str:
    """What must be read before the number."""
    return f"First of all: {result['caution']}."


def _facts(part: AnswerPart, result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The numbers of the headline: what each is, the number, and its badge, empty where it is measured or chosen."""
    form, what, gate = risk_form(result), risk_name(result["loss"]), part["gate"]
    facts = [
        (f"{what[:1].upper()}{what[1:]} now", form(result["current_risk"]), ""),
        ("Threshold", form(result["risk"]), ""),
        ("Stability", stability_form(result["value"], part["standing"]), part["standing"]),
    ]
    if gate is None:
        return facts
    of = f" ({gate['what']} {gate['name']!r})" if gate["what"] and gate["name"] else ""
    return [*facts, (f"Gate{of}: at least", number(gate["threshold"], 6), gate["outcome"])]


def _certainty(part: AnswerPart) -> list[tuple[str, str]]:
    """What the answer is worth, point by point."""
    words, gate = part["words"], part["gate"]
    return [
        *([] if gate is None else [("The gate", gate["sentence"])]),
        ("How sure is it?", words["certificate"]),
        ("Sampling error", words["sampling"]),
        *([("Noise of the runs", words["runs"])] if words["runs"] else []),
        ("What is paid for", words["prices"]),
    ]


def _finite(held_out: float | None) -> float:
    """The stability held out, if there is one to draw."""
    return held_out if held_out is not None and math.isfinite(held_out) else 0.0


def _gauge(result: Mapping[str, Any]) -> Gauge:
    margin = normal_margin(result["standard_error"], LEVEL)
    spread = margin if math.isfinite(margin) else 0.0
    value, least = result["value"], result["lower"] if result.get("missing") else result["value"]
    low, high = max(least - spread, 0.0), value + spread
    if result.get("repeats", 0) > 1 and result["corrected"] and math.isfinite(result["corrected_error"]):
        floor, error, apart = (result[name] for name in ("corrected_lower", "corrected_error", "corrected_spread"))
        low, high = corrected_interval(result["corrected"], floor, error, apart, LEVEL, _finite(result["held_out"]))
    return {"value": value, "low": low, "high": high, "lower": result["lower"]}


def _sentence(result: Mapping[str, Any], population: PopulationPart) -> str:
    """The answer in one sentence: from where to where, by shifting towards whom, and by moving what."""
    what, now, then = risk_name(result["loss"]), *(level(result[key], result["loss"]) for key in ("current_risk", "risk"))
    if result["status"] == "already":
        return f"The {what} is {now} now, and the threshold is {then}: nothing needs to be paid to get there."
    if result["status"] == "not_found":
        most = level(result["largest_risk_found"], result["loss"])
        return f"No change was found that raises the {what} from {now} to {then}; the largest that was found is {most}."
    if result["status"] == "unreachable":
        most = "" if result["largest_risk"] is None else level(result["largest_risk"], result["loss"])
        largest = f"; the largest that can be reached is {most}" if most else ""
        return f"No allowed change raises the {what} from {now} to {then}{largest}."
    parts = [part for part in (_shifting(result, population), _moving(result, population)) if part]
    return f"To raise the {what} from {now} to {then}, {' and '.join(parts) or 'hardly anything has to change'}."


def _shifting(result: Mapping[str, Any], part: PopulationPart) -> str:
    if math.isinf(result["theta2"]) or result["effective_share"] > 1.0 - 1e-6:
        return ""
    rules = part["population"]["rules"] if part["population"]["of"] == "weights" else []
    little = result["effective_share"] > SMALL_SHIFT
    shift = "shift the population a little towards" if little else "shift the population towards"
    kept = [] if little else [f"as if only {percent(result['effective_share'])} of the rows were left"]
    if not rules:
        return f"{shift} rows with large losses" + "".join(f" ({each})" for each in kept)
    whom = f"rows where {rules[0]['condition']}" if rules[0]["feature"] else rules[0]["condition"]
    grows = f"from {percent(rules[0]['now'])} to {percent(rules[0]['then'])}"
    return f"{shift} {whom} ({'; '.join([grows, *kept])})"


def _moving(result: Mapping[str, Any], part: PopulationPart) -> str:
    if math.isinf(result["theta1"]) or result["moved_share"] <= 0.0:
        return ""
    named = [f"“{each['feature']}”" for each in part["moves"][:2]]
    where = "to" if part["moves"] and part["moves"][0]["chosen"] else "in"
    mostly = f", mostly {where} {' and '.join(named)}" if named else ""
    return f"move {percent(result['moved_share'])} of the rows{mostly}" + (f" ({far})" if (far := _far(result)) else "")


def _far(result: Mapping[str, Any]) -> str:
    """How rows move: how often categories change and values go missing, and the distance of numbers."""
    if result["unit"] == "cost":
        return ""
    changes, distance = changes_without_distance(result), result["root_mean_square_move"]
    if distance > 0.0:
        changes.append(f"{'numbers by a ' if changes else ''}root mean square {number(distance, 3)} {result['unit']}")
    return ", ".join(changes)


def _prices(result: Mapping[str, Any], divergence: Divergence, domain: Domain | None) -> str:
    """What the two kinds of change cost."""
    unit, price = f"a distance of one (in {result['unit']})", number(result["theta1"])
    moving = f"Moving a row by {unit} costs {price}, by twice as far four times as much"
    if math.isinf(result["theta1"]):
        moving = "Rows may not be moved"
    elif result["unit"] == "cost":
        moving = f"Moving a row by a cost of one costs {price}"
    elif domain is not None and domain.unmeasured:
        kinds = ((domain.switching, "a category change"), (domain.vanishing, "a value that goes missing"))
        switch = f"{' or '.join(name for may, name in kinds if may)} costs {price} times its own price"
        moving = f"{moving}; {switch}" if domain.measured else f"{switch[:1].upper()}{switch[1:]}"
    if math.isinf(result["theta2"]):
        weighing = "how often rows occur may not be changed"
    elif divergence.caps:
        weighing = f"weights are free within the cap of {divergence.label}"
    else:
        weighing = f"changing how often rows occur costs {number(result['theta2'])} for each unit of {divergence.title}"
    return f"{moving}; {weighing}."


def _certificate(result: Mapping[str, Any]) -> str:
    """What is exact, and what is a bound."""
    if standing(result) in (ESTIMATE, INTERRUPTED, NOT_FOUND):
        meant = MEANING[standing(result)]
        floor = f"; at least {number(result['lower'], 6)} is needed" if 0.0 < result["lower"] < math.inf else ""
        return f"{meant[:1].upper()}{meant[1:]}{floor} ({result['lower_by']})."
    if result["status"] == "unreachable":
        return f"This is proved. ({result['lower_by']})"
    lower, upper = number(result["lower"], 6), number(result["upper"], 6)
    if result["exact"]:
        return (
            f"Exact: no cheaper change exists (at least {lower} is needed), and a change that costs {upper} is shown below."
            f" How: {result['lower_by']}."
        )
    if result["lower"] > 0.0:
        return (
            f"Bounded from both sides: at least {lower} is needed ({result['lower_by']}), and a change that costs {upper} is"
            " shown below. The truth lies between."
        )
    return f"An upper bound: a change that costs {upper} is shown below; a cheaper one may exist ({result['lower_by']})."


def _sampling(result: Mapping[str, Any]) -> str:
    """The standard error, in words."""
    if math.isnan(result["standard_error"]):
        return "There is no standard error here."
    groups, error = result.get("groups", 0), number(result["standard_error"], 2)
    whole = f"{groups:,} groups, {result['samples']:,} rows" if groups else f"{result['samples']:,} rows"
    others = "groups of rows" if groups else "rows"
    sample = f"{result['effective_sample']:,.0f} effective of {whole}"
    told = f"± {error}: with other {others} from the same source it would differ by about that ({sample})."
    return " ".join([told, *(f"{words[:1].upper()}{words[1:]}." for _, words in rows_line(result))])


def _noise(result: Mapping[str, Any]) -> str:
    """What repeated runs say of the number."""
    held, value, corrected = result["held_out"], number(result["value"]), result["corrected"]
    told = [f"{value} is too low on average, because the worst of {result['repeats']} noisy repeats is in part luck."]
    if corrected is None:
        told.append("They do not say by how much.")
    else:
        error = number(result["corrected_error"], 2)
        told.append(f"Without their noise it is {number(corrected)} ± {error}, with the errors of samples and answers.")
    if held is not None and math.isinf(held):
        told.append("What is chosen on some of them does not reach the threshold on the others.")
    elif held is not None:
        told.append(f"Chosen on some of them and priced on the others it is {number(held)}, which is too high on average.")
    return " ".join(told)
