"""Pictures of a page, as SVG: they need no library, take their colours from the page, and say in words what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tippingpoint.report.elements import Markup, tag, void
from tippingpoint.text import NOTHING_REACHES, number

WIDTH, HEIGHT = 480.0, 270.0
"""Of a chart, in its own units; the page scales it."""

LEFT, RIGHT, TOP, BOTTOM = 58.0, 16.0, 14.0, 46.0
"""Room around the lines of a chart for its words."""

BAR = 26.0
"""Height of a line of a bar chart."""

LETTERS = 26
"""Of a name along a bar; longer ones are cut, and whole in the table below."""

LETTER = 9.5
"""Width of a letter, on a small screen, where they are largest."""

BAND = 1.5
"""How far above the curve, at most, a chart goes for its band."""

TICKS = 5
"""Numbers along an axis, about."""

Format = Callable[[float], str]


def ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Round numbers that divide an interval into about so many parts."""
    span = high - low
    if not (span > 0.0 and math.isfinite(span)):
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough * (1.0 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def line_chart(
    sweep: Mapping[str, Any], own: float, axis: str, title: str, form: Format, ends: tuple[str, str] | None = None
) -> Markup:
    """A curve with its band, and the report's own place on it."""
    points = [
        each for each in zip(sweep["at"], sweep["value"], sweep["low"], sweep["high"], strict=True) if math.isfinite(each[1])
    ]
    if len(points) < 2:
        return tag("p", "There is no curve to draw: no other setting gets anywhere.", class_="quiet")
    low, high = sweep["at"][0], sweep["at"][-1]
    most = max(value for _, value, _, _ in points)
    top = 1.05 * max(min(max(above for *_, above in points), BAND * most), most) or 1.0

    def x(at: float) -> float:
        return float(LEFT + (WIDTH - LEFT - RIGHT) * (at - low) / (high - low))

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * min(value / top, 1.0)

    band = [(x(at), y(above)) for at, _, _, above in points] + [(x(at), y(below)) for at, _, below, _ in reversed(points)]
    drawn = [
        _axes(x, y, ticks(low, high), ticks(0.0, top), form, axis, ends),
        void("path", d=_path(band) + "Z", class_="band"),
        void("path", d=_path([(x(at), y(value)) for at, value, _, _ in points]), class_="curve"),
    ]
    mine = [each for each in points if each[0] == own]
    if mine:
        drawn += [void("circle", cx=_n(x(own)), cy=_n(y(mine[0][1])), r=5, class_="own")]
    return _picture(drawn, title, HEIGHT)


def price_bar(value: float, end: float, title: str, interval: tuple[float, float] | None = None) -> Markup:
    """A price on a scale from nothing to `end`, with its interval where it has one; as wide as a cell of a table."""
    width, height, middle = 240.0, 18.0, 9.0

    def x(at: float) -> float:
        return 2.0 + (width - 4.0) * min(at / end, 1.0)

    low, high = interval or (0.0, 0.0)
    drawn = [
        void("rect", x=_n(x(0.0)), y=_n(middle - 6), width=_n(x(end) - x(0.0)), height=12, rx=6, class_="track"),
        void("rect", x=_n(x(low)), y=_n(middle - 6), width=_n(x(high) - x(low)), height=12, rx=6, class_="band")
        if interval
        else None,
        void("rect", x=_n(x(0.0)), y=_n(middle - 3), width=_n(x(value) - x(0.0)), height=6, rx=3, class_="filled"),
        void("circle", cx=_n(x(value)), cy=_n(middle), r=6, class_="own") if interval else None,
    ]
    return _picture(drawn, title, height, width)


def risk_bar(result: Mapping[str, Any], form: Format, title: str) -> Markup:
    """The risk in steps: now, what moving adds, what reweighting adds, up to the threshold."""
    now, moving, weighing = result["current_risk"], result["corruption_excess"], result["reweighting_excess"]
    whole = max(result["risk"], now)
    if result["status"] in ("already", *NOTHING_REACHES) or min(now, moving, weighing) < 0.0 or whole <= 0.0:
        return Markup("")
    start, drawn = 0.0, []
    for name, part in (("now", now), ("moving", moving), ("reweighting", weighing)):
        wide = WIDTH * part / whole
        drawn.append(void("rect", x=_n(start), y=0, width=_n(max(wide - 2.0, 0.0)), height=22, rx=3, class_=f"part-{name}"))
        start += wide
    picture = _picture(drawn, title, 22.0)
    words = (
        ("now", f"{form(now)} now"),
        ("moving", f"+ {form(moving)} by moving"),
        ("reweighting", f"+ {form(weighing)} by reweighting"),
    )
    key = [tag("li", tag("span", class_=f"swatch part-{name}", aria_hidden="true"), text) for name, text in words]
    return tag("div", picture, tag("ul", key, class_="key"), class_="riskbar")


def bar_chart(rows: Sequence[Mapping[str, Any]], name: str, limit: float, title: str) -> Markup:
    """Stabilities as bars with their intervals, and what reweighting alone costs as a dashed line."""
    finite = [row for row in rows if math.isfinite(row["value"])]
    if not finite:
        return tag("p", "None of them gets there, so there is nothing to draw.", class_="quiet")
    ends = [row["value"] + (row["margin"] if math.isfinite(row["margin"]) else 0.0) for row in finite]
    end = 1.05 * max([*ends, *([limit] if math.isfinite(limit) else [])]) or 1.0
    left, height = 190.0, BAR * len(finite) + 34.0

    def x(value: float) -> float:
        return left + (WIDTH - left - RIGHT) * min(value / end, 1.0)

    drawn = []
    for at in ticks(0.0, end, 4):
        drawn.append(void("line", x1=_n(x(at)), x2=_n(x(at)), y1=0, y2=_n(height - 30), class_="grid"))
        drawn.append(_word(number(at, 3), x(at), height - 12, "tick"))
    for k, row in enumerate(finite):
        middle = BAR * k + BAR / 2
        drawn.append(_word(_cut(str(row[name])), left - 8, middle + 4, "name"))
        class_ = "bar" if row.get("matters", True) else "bar idle"
        drawn.append(
            void("rect", x=_n(left), y=_n(middle - 8), width=_n(x(row["value"]) - left), height=16, rx=2, class_=class_)
        )
        if math.isfinite(row["margin"]) and row["margin"] > 0.0 and row.get("matters", True):
            low, high = x(max(row["value"] - row["margin"], 0.0)), x(row["value"] + row["margin"])
            drawn.append(void("line", x1=_n(low), x2=_n(high), y1=_n(middle), y2=_n(middle), class_="whisker"))
    if math.isfinite(limit):
        drawn.append(void("line", x1=_n(x(limit)), x2=_n(x(limit)), y1=0, y2=_n(height - 30), class_="limit"))
    return _picture(drawn, title, height)


def area_chart(concentration: Mapping[str, Any], title: str) -> Markup:
    """How weights concentrate: the heaviest part of the rows against the part of the weight that it has."""
    size, edge = 200.0, 40.0

    def at(rows: float, weight: float) -> tuple[float, float]:
        return edge + (size - edge - 8) * rows, size - edge - (size - edge - 8) * weight

    points = [at(rows, weight) for rows, weight in zip(concentration["rows"], concentration["weight"], strict=True)]
    drawn = [
        void("path", d=_path([at(0, 0), at(1, 0), at(1, 1), at(0, 1)]) + "Z", class_="frame"),
        void("path", d=_path([*points, at(1, 0)]) + "Z", class_="band"),
        void("path", d=_path([at(0, 0), at(1, 1)]), class_="even"),
        void("path", d=_path(points), class_="curve"),
        *[_word(f"{part:.0%}", at(part, 0)[0], at(0, 0)[1] + 14, "end" if part == 1.0 else "tick") for part in (0.0, 0.5, 1.0)],
        *[_word(f"{part:.0%}", edge - 6, at(0, part)[1] + 4, "end") for part in (0.5, 1.0)],
        _word("rows, the heaviest first", (edge + size - 8) / 2, size - 6, "tick"),
    ]
    return _picture(drawn, title, size, size)


def _axes(
    x: Callable[[float], float],
    y: Callable[[float], float],
    across: Sequence[float],
    up: Sequence[float],
    form: Format,
    axis: str,
    ends: tuple[str, str] | None,
) -> list[Markup]:
    foot = HEIGHT - BOTTOM
    drawn = []
    for value in up:
        drawn.append(void("line", x1=_n(LEFT), x2=_n(WIDTH - RIGHT), y1=_n(y(value)), y2=_n(y(value)), class_="grid"))
        drawn.append(_word(number(value, 3), LEFT - 8, y(value) + 4, "end"))
    if ends is None:
        drawn += [_word(form(at), x(at), foot + 18, "tick") for at in across]
    else:
        drawn += [_word(ends[0], LEFT, foot + 18, "start"), _word(ends[1], WIDTH - RIGHT, foot + 18, "end")]
    drawn.append(_word(axis, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "tick"))
    return drawn


def _picture(drawn: Sequence[Any], title: str, height: float, width: float = WIDTH) -> Markup:
    return tag("svg", drawn, viewBox=f"0 0 {_n(width)} {_n(height)}", role="img", aria_label=title)


def _word(text: str, x: float, y: float, class_: str) -> Markup:
    reach = LETTER * len(text) / 2.0
    fits = "start" if x < reach else "end" if x > WIDTH - reach else "middle"
    anchor = {"name": "end", "end": "end", "start": "start"}.get(class_, fits)
    return tag("text", text, x=_n(x), y=_n(y), text_anchor=anchor, class_=class_)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points)


def _n(value: float) -> str:
    """A coordinate, to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _cut(name: str) -> str:
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"
