"""The page: one self-contained file of HTML. It makes sense without scripts, and with them settings can be tried out."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from tippingpoint.report.elements import Markup, tag, void
from tippingpoint.report.sections import SECTIONS
from tippingpoint.report.sections.live import choices
from tippingpoint.report.sections.manifest import about
from tippingpoint.report.storing import island
from tippingpoint.visible import visible

SCRIPTS = ("responses.js", "dual.js", "worst.js", "sensitive.js", "drawing.js", "tables.js", "page.js")
"""What the page computes with, in order."""

ICON = "data:,"
"""No icon: otherwise a browser asks the network for one."""


def render_page(summary: Mapping[str, Any]) -> str:
    """The summary as a page."""
    scripts = [_shared(), _formulas(summary), *(_asset(name) for name in SCRIPTS)]
    script = Markup('"use strict";\n(() => {\n' + "".join(scripts) + "})();\n")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    # Only this very script may run, and nothing may be fetched: what a name or a cell holds can do no harm.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    head = tag(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=policy),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("link", rel="icon", href=ICON),
        tag("title", summary["title"]),
        tag("style", Markup(_asset("report.css"))),
    )
    body = tag(
        "body",
        tag("a", "Skip to the answer", href="#answer", class_="skip"),
        _header(summary),
        tag("main", [section.render_html(summary) for section in SECTIONS]),
        tag(
            "footer",
            tag("p", f"Made by tippingpoint {summary['manifest']['versions']['tippingpoint']}. This page needs no network."),
        ),
        tag("script", Markup(island(_embedded(summary))), type="application/json", id="summary"),
        tag("script", script),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _header(summary: Mapping[str, Any]) -> Markup:
    given = [tag("div", tag("dt", name), tag("dd", value)) for name, value in about(summary)]
    return tag(
        "header",
        tag(
            "div",
            tag("p", "Stability report", class_="kicker"),
            tag("button", "Dark", type="button", id="theme", hidden=True, aria_label="Switch between light and dark"),
            class_="bar-top",
        ),
        tag("h1", summary["title"]),
        tag("dl", given, class_="about"),
    )


def _shared() -> str:
    """Words and numbers that the script shares with the sections, written there."""
    return f"const SHARED = {island({section.name: section.script for section in SECTIONS if section.script})};\n"


def _formulas(summary: Mapping[str, Any]) -> str:
    """The divergences that the page computes with, as each of them says it."""
    live = summary["live"]
    forms = [f"\n  {json.dumps(each.label)}: {each.browser()}," for each in ([] if live is None else choices(live))]
    return f"const FORMULAS = {{{''.join(forms)}\n}};\n"


def _embedded(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the summary that the page computes with, and the rows as it shows them."""
    live = summary["live"]
    titles = {} if live is None else {each.label: each.title for each in choices(live)}
    return {
        "live": live,
        "titles": titles,
        "rows": {key: _shown(value) for key, value in summary["rows"].items() if key != "top"},
    }


def _shown(value: Any) -> Any:
    """The same with every text in it visible."""
    if isinstance(value, Mapping):
        return {key: _shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(each) for each in value]
    return visible(value) if isinstance(value, str) else value


def _asset(name: str) -> str:
    return resources.files("tippingpoint.report").joinpath("assets", name).read_text("utf-8")
