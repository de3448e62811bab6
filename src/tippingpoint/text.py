"""A result in plain language: one screen for the terminal, the same for a notebook."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.errors import MOST_LETTERS, SHOWN_LETTERS, listed
from tippingpoint.standing import Standing
from tippingpoint.visible import readable, visible

WIDTH = 79
"""Columns of a plain terminal."""

GIVEN_LOSS_NAME = "mean loss"
"""What the risk of a table of given losses is called."""

OWN_LOSS_NAME = "your own loss"
"""What the loss of a user is called whose function has no name."""

UNENDED = "Interrupted: a search did not end, so the numbers are those of what was found by then, and some may be missing."
"""The line below several numbers, some of which are not what they would have become."""

USUAL_PART = 0.1
"""Standard error, as a part of the stability, to which the rows that it takes are told."""

ROUND_OFF = 1e-12
"""Part of a whole below which a number is rounding, and shown as nothing."""

LINEAR, RELAXED, LIPSCHITZ = "features (linear, exact)", "features (linear, relaxed)", "features (Lipschitz)"
SCORE = "score"
"""What shifting a margin means: the unit of a drift, and its scale."""

Line = tuple[str, str]
"""A label, and the text beside it."""


def number(value: float, digits: int = 4) -> str:
    """A number for reading: significant digits, no noise."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.{digits}g}"


def percent(share: float) -> str:
    """A share for reading."""
    return f"{100.0 * share:.3g}%"


def level(value: float, loss: str) -> str:
    """A risk for reading: 0/1 losses are error rates."""
    return percent(value) if loss == "zero_one" else number(value)


def risk_name(loss: str) -> str:
    """What the mean of a loss is called."""
    return {"zero_one": "error rate", GIVEN_LOSS_NAME: GIVEN_LOSS_NAME, OWN_LOSS_NAME: f"mean of {OWN_LOSS_NAME}"}.get(
        loss, f"{loss} risk"
    )


NOTHING_REACHES = ("unreachable", "not_found")
"""Statuses of results without a distribution: none reaches the threshold, or none was found."""


def loss_name(loss: str) -> str:
    """A loss in a sentence, with its article."""
    return {GIVEN_LOSS_NAME: "the loss", OWN_LOSS_NAME: OWN_LOSS_NAME}.get(loss, f"the {loss} loss")


NOT_FOUND_LEGEND = "not found: the search found no change that reaches the threshold, which does not prove that there is none."
"""Below a table with a stability that was not found."""


def shown_stability(result: Any) -> str:
    """The stability of a result in a table; the infinity sign only if it is proved."""
    return "not found" if result.status == "not_found" else number(result.value)


def bound(summary: Mapping[str, Any]) -> str:
    """What is known of a stability, in a word or two, for a table."""
    known = Standing.of(summary)
    if known.exact:
        return "exact"
    if known.interrupted:
        return "interrupted"
    if known.kind == "estimate":
        return "estimate"
    if summary["lower"] > 0.0:
        return f"≥ {number(summary['lower'])}"
    return "not found" if known.kind == "not found" else "upper"


def headline(summary: Mapping[str, Any]) -> str:
    """The answer in a sentence; of a search that did not end it is what was found by then."""
    if not summary["interrupted"] or summary["status"] == "features":
        return readable(_answer(summary))
    if Standing.of(summary).exact or summary["status"] == "already":
        return readable(f"Interrupted, yet certain. {_answer(summary)}")
    now, then = level(summary["current_risk"], summary["loss"]), level(summary["risk"], summary["loss"])
    rise = f"lifts the {risk_name(summary['loss'])} from {now} to {then}"
    if summary["status"] in NOTHING_REACHES:
        return readable(f"Stability unknown, interrupted: the search had found nothing yet that {rise}.")
    return readable(f"Stability at most {number(summary['value'])}, interrupted: the search for what {rise} did not end.")


def _answer(summary: Mapping[str, Any]) -> str:
    now, then = level(summary["current_risk"], summary["loss"]), level(summary["risk"], summary["loss"])
    what = risk_name(summary["loss"])
    if summary["status"] == "features":
        moving = "by one variation" if summary.get("one") == "variation" else "by moving one feature"
        how = "by reweighting" if math.isinf(summary["theta1"]) else moving
        also = "" if math.isinf(summary["theta1"]) or math.isinf(summary["theta2"]) else ", and reweighting"
        return f"What it takes to lift the {what} from {now} to {then} {how}{also}."
    if summary["status"] == "already":
        if summary["current_risk"] >= summary["risk"]:
            return f"Stability 0: the {what} is {now} already, at or above the threshold {then}."
        return f"Stability 0: reweighting within the cap of {summary['divergence']} lifts the {what} from {now} to {then} free."
    if summary["status"] == "not_found":
        return f"Stability unknown: no perturbation was found that lifts the {what} from {now} to {then}."
    if summary["status"] == "unreachable":
        return f"Stability ∞: no allowed perturbation lifts the {what} from {now} to {then}."
    return f"Stability {_known(summary)} the {what} from {now} to {then}."


def _known(summary: Mapping[str, Any]) -> str:
    """What is known of the number, and no more, up to what is lifted."""
    value, lower = number(summary["value"]), number(summary["lower"])
    kind = Standing.of(summary).kind
    if kind == "searched":
        return f"at most {value}: what was found to lift"
    if kind == "estimate":
        return f"about {value}: an estimate of what it takes to lift"
    if kind == "bounded" and lower != value:
        return f"between {lower} and {value}: what it takes to lift"
    return f"{value}: what it takes to lift"


def cautions(told: Mapping[str, str]) -> list[str]:
    """What must be read first of all of several results: of the first of which there is anything, and which others it is of."""
    names = [name for name, caution in told.items() if caution]
    if not names:
        return []
    others = f" Likewise: {listed(names[1:])}." if names[1:] else ""
    return [f"first of all: {readable(names[0])}: {readable(told[names[0]])}.{others}"]


def lines(summary: Mapping[str, Any]) -> list[Line]:
    """What stands below the headline."""
    kind = "" if math.isinf(summary["theta2"]) else f" ({summary['divergence']})"
    prices = f"moving θ1 = {number(summary['theta1'])}, reweighting θ2 = {number(summary['theta2'])}{kind}"
    first = [("first of all", summary["caution"])] if summary.get("caution") else []
    listed = [*first, ("prices", prices), ("certificate", _certificate(summary))]
    free = summary["status"] == "already" and summary["current_risk"] < summary["risk"]
    if summary["status"] in ("attained", "largest") or free:
        listed += [
            *([] if free else [("standard error", _error(summary))]),
            *([] if summary.get("repeats", 0) < 2 or free else [("corrected", _corrected(summary))]),
            *([] if summary.get("held_out") is None or free else [("held out", _held_out(summary))]),
            *rows_line(summary),
            ("moving", _moving(summary)),
            ("reweighting", _reweighting(summary)),
            ("excess risk", _split(summary, "excess")),
            ("cost", _split(summary, "cost")),
        ]
    listed += [("note", note) for note in summary["notes"]]
    return [(label, readable(text)) for label, text in listed]


def render_text(summary: Mapping[str, Any]) -> str:
    """One screen of plain text."""
    return "\n".join([headline(summary), *render_lines(lines(summary))])


def render_lines(listed: Sequence[Line]) -> list[str]:
    """Labels with the text beside them, as wide as a terminal."""
    indent = max(len(label) for label, _ in listed) + 4
    return [textwrap.fill(f"  {label:<{indent - 2}}{text}", WIDTH, subsequent_indent=" " * indent) for label, text in listed]


def render_html(summary: Mapping[str, Any]) -> str:
    """The same for a notebook."""
    return render_lines_html(headline(summary), lines(summary))


def render_lines_html(head: str, listed: Sequence[Line]) -> str:
    """A sentence, and labels with the text beside them, for a notebook; every value is escaped."""
    rows = "".join(
        f'<tr><th style="text-align:left;font-weight:600">{html.escape(label)}</th>'
        f'<td style="text-align:left">{html.escape(text)}</td></tr>'
        for label, text in listed
    )
    return f"<div><p><strong>{html.escape(head)}</strong></p><table>{rows}</table></div>"


def render_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 0) -> str:
    """Columns of numbers and words, aligned to the right; the first `left` of them to the left."""
    cells = [[_cell(value) if isinstance(value, str) else number(float(value)) for value in row] for row in rows]
    widths = [max(len(name), *(len(row[k]) for row in cells)) if cells else len(name) for k, name in enumerate(columns)]

    def line(row: Sequence[str]) -> str:
        padded = [cell.ljust(w) if k < left else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))]
        return "  ".join(padded).rstrip()

    return "\n".join(line(row) for row in (columns, *cells))


def _cell(value: str) -> str:
    """A text in a table: all of it on one line, so that an overlong one is cut off whatever it holds."""
    text = visible(value)
    return text if len(text) < MOST_LETTERS else f"{text[:SHOWN_LETTERS]}… ({len(text):,} letters)"


def _certificate(summary: Mapping[str, Any]) -> str:
    known = Standing.of(summary)
    if summary["status"] in NOTHING_REACHES:
        return _nothing_reaches(summary)
    upper = f"≤ {number(summary['upper'], 10)} ({summary['upper_by']})"
    if known.kind == "estimate":
        return f"estimate only, no bound ({known.why}); {summary['lower_by']}"
    if known.kind == "bounded":
        return f"two-sided: ≥ {number(summary['lower'], 10)} ({known.why}), {upper}"
    if known.exact:
        return f"exact: ≥ {number(summary['lower'], 10)} (dual), {upper}; {known.why}"
    return f"upper bound only: {upper}; {known.why}"


def _nothing_reaches(summary: Mapping[str, Any]) -> str:
    """What is known where there is no distribution to show."""
    why = Standing.of(summary).why
    if summary["status"] == "not_found":
        found = level(summary["largest_risk_found"], summary["loss"])
        return f"the largest risk found is {found}; ≥ {number(summary['lower'], 10)} ({why})"
    if summary["largest_risk"] is None:
        return f"exact: no change reaches the threshold; {why}"
    return f"exact: the largest risk that can be reached is {level(summary['largest_risk'], summary['loss'])}"


def _error(summary: Mapping[str, Any]) -> str:
    error = summary["standard_error"]
    if math.isnan(error):
        reached = "can be reached" if summary["status"] == "largest" else "was found"
        return f"not defined here: the threshold is the largest risk that {reached}"
    effective, samples, groups = f"{summary['effective_sample']:,.0f} effective", summary["samples"], summary.get("groups", 0)
    if groups:
        return f"{number(error, 2)} (sampling of groups, first order; {effective} of {groups:,} groups, {samples:,} samples)"
    return f"{number(error, 2)} (sampling, first order; {effective} of {samples:,} samples)"


def _corrected(summary: Mapping[str, Any]) -> str:
    """The stability without the noise of repeats."""
    value, corrected = number(summary["value"]), summary.get("corrected")
    if corrected is None:
        return f"not known: {value} is too low on average, and the repeats do not say by how much"
    error, spread = number(summary["corrected_error"], 2), summary["corrected_spread"]
    between = f"extrapolations from {number(corrected - spread)} to {number(corrected + spread)}"
    return (
        f"{number(corrected)} ± {error} (samples and answers), without the noise of {summary['repeats']} repeats; {between}."
        f" {value} is too low on average, because the worst of noisy answers is in part luck"
    )


def _held_out(summary: Mapping[str, Any]) -> str:
    """What was chosen on some repeats, priced on the others."""
    held, value = summary["held_out"], summary["value"]
    if math.isinf(held):
        return "∞: what is chosen on some of the repeats does not reach the threshold on the others"
    more = f"{number(abs(held - value), 3)} {'more' if held >= value else 'less'}"
    return f"{number(held)} ({more}), chosen on some of the repeats and priced on the others: too high on average"


def rows_line(summary: Mapping[str, Any]) -> list[Line]:
    """How many rows would bring the standard error to a tenth of the stability; nothing where that is not known."""
    from tippingpoint.core.inference import rows_for  # which needs NumPy; words do not, and the doctor has to have them without

    names = ("corrected", "corrected_error") if summary.get("corrected") else ("value", "standard_error")
    value, error = (summary[name] for name in names)
    rows = rows_for(USUAL_PART, value, error, summary["samples"])
    if not math.isfinite(rows):
        return []
    needed, here = max(math.ceil(rows), 1), summary["samples"]
    enough = f"the {here:,} here are enough" if needed <= here else f"{here:,} are here"
    return [("rows", f"{needed:,} rows would bring the standard error to a tenth of the stability; {enough}")]


def _moving(summary: Mapping[str, Any]) -> str:
    if math.isinf(summary["theta1"]) or summary["moved_share"] == 0.0:
        return "not allowed" if math.isinf(summary["theta1"]) else "nothing moves"
    moved = f"{percent(summary['moved_share'])} of the samples move"
    if summary["unit"] == "cost" or math.isnan(summary["root_mean_square_move"]):
        return f"{moved}; mean cost {number(summary['corruption_cost'] / summary['theta1'])}"
    changes = changes_without_distance(summary)
    if len(changes) == 1 and summary["root_mean_square_move"] == 0.0:
        return f"{percent(summary['moved_share'])} of the samples {changes[0].partition(' ')[2]}"
    return "; ".join([moved, *([", ".join(changes)] if changes else []), *_distance(summary, "of numbers " if changes else "")])


def _distance(summary: Mapping[str, Any], whose: str) -> list[str]:
    """How far numbers move; nothing if only categories change."""
    distance = summary["root_mean_square_move"]
    return [f"root-mean-square move {whose}{number(distance)} {summary['unit']}"] if distance > 0.0 or not whose else []


def changes_without_distance(summary: Mapping[str, Any]) -> list[str]:
    """How often categories change and values go missing, each in a phrase; nothing if neither happens or is known."""
    shares = [(summary.get("category_share", 0.0), "change category"), (summary.get("missing_share", 0.0), "lose a value")]
    return [f"{percent(share)} {what}" for share, what in shares if share > 0.0]


def _reweighting(summary: Mapping[str, Any]) -> str:
    if math.isinf(summary["theta2"]):
        return "not allowed"
    return (
        f"the population shrinks to an effective {percent(summary['effective_share'])} of itself;"
        f" KL {number(summary['nats'])} nats"
    )


def _split(summary: Mapping[str, Any], what: str) -> str:
    moving, reweighting = summary[f"corruption_{what}"], summary[f"reweighting_{what}"]
    total = moving + reweighting
    if total <= 0.0:
        return "none"
    moving, reweighting = (0.0 if abs(part) < ROUND_OFF * total else part for part in (moving, reweighting))
    return (
        f"{number(total)} = {number(moving)} moving ({percent(moving / total)})"
        f" + {number(reweighting)} reweighting ({percent(reweighting / total)})"
    )
