"""How to add a section to the report, step by step: one file and one line, and it comes out in every form.

A section computes its part of the summary, and says that part as HTML and as Markdown. This one says how many rows carry half
of the weight of the sensitive distribution.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from browser import Browser
from dials import browser, quiet
from tippingpoint.report.elements import tag
from tippingpoint.report.markdown_text import paragraph
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section
from tippingpoint.report.sections import SECTIONS
from tippingpoint.report.sections.population import POPULATION

__all__ = ["browser", "quiet"]


# Step 1: what it adds to the summary, which is also what is written as JSON: plain data under a key of its own.
class Heavy(TypedDict):
    rows: int
    of: int
    heaviest: str


class HeavyPart(TypedDict):
    heavy: Heavy


class HeavyRows(Section[HeavyPart]):
    """How many rows carry half of the weight."""

    name = "heavy"
    title = "How few rows it takes"

    # Step 2: compute it, from the result and its evidence; nothing is computed later.
    def compute(self, material: Material) -> HeavyPart:
        q = material.evidence.distribution
        order = np.argsort(-q.base * q.weights, kind="stable")
        half = int(np.searchsorted(np.cumsum((q.base * q.weights)[order]), 0.5)) + 1
        return {"heavy": {"rows": half, "of": len(q.base), "heaviest": str(material.evidence.index[int(order[0])])}}

    # Step 3: say it, once for both forms. Whatever is not markup is escaped where it is rendered.
    def html(self, part: HeavyPart, result: Mapping[str, Any]) -> Sequence[Any]:
        return [tag("p", _sentence(part["heavy"]))]

    def markdown(self, part: HeavyPart, result: Mapping[str, Any]) -> Sequence[str]:
        return [paragraph(_sentence(part["heavy"]))]


def _sentence(heavy: Heavy) -> str:
    return f"{heavy['rows']:,} of {heavy['of']:,} rows carry half of the weight, {heavy['heaviest']} most of all."


@pytest.fixture
def registered() -> Iterator[None]:
    # Step 4: the line, where readers are to meet it. In the package it stands in `tippingpoint.report.sections.SECTIONS`.
    place = SECTIONS.index(POPULATION)
    SECTIONS.insert(place, HeavyRows())
    yield
    del SECTIONS[place]


def result() -> tp.StabilityResult:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"], index=[f"<row {i}>" for i in range(120)])
    y = np.where(x["a"] - x["b"] + rng.normal(size=120) > 0.0, 1, -1)
    return tp.stability(([1.0, -0.5, 0.2], 0.1), x, y, 1.0, loss="logistic", theta1=1.0, theta2=0.25)


def expected() -> Heavy:
    """The same from what a user can see: the frame of the sensitive distribution."""
    weight = result().sensitive.groupby("row")["mass"].sum().sort_values(ascending=False)
    rows = int((weight.cumsum() < 0.5).sum()) + 1
    return {"rows": rows, "of": 120, "heaviest": str(weight.index[0])}


# What comes out: JSON, Markdown and HTML,


@pytest.mark.usefixtures("registered")
def test_the_section_is_in_every_form_of_the_report(tmp_path: Path) -> None:
    page, text, stored = (
        result().report(tmp_path / f"report.{suffix}").read_text("utf-8") for suffix in ("html", "md", "json")
    )
    heavy = expected()
    assert json.loads(stored)["heavy"] == heavy
    counted = f"{heavy['rows']} of 120 rows carry half of the weight, "
    escaped = heavy["heaviest"].replace("<", "&lt;").replace(">", "&gt;")
    heading = '<section id="heavy" aria-labelledby="heavy-title"><h2 id="heavy-title">How few rows it takes</h2>'
    assert f"{heading}<p>{counted}{escaped} most of all.</p></section>" in page
    before, _, after = text.partition("\n## How few rows it takes\n")
    marked = heavy["heaviest"].replace("<", r"\<").replace(">", r"\>")
    assert after.lstrip().startswith(f"{counted}{marked} most of all.")
    assert before.rindex("\n## Other thresholds, other kinds of change\n") > before.rindex("\n## Large compared with what?\n")
    assert after.index("\n## Who the sensitive population is\n") > 0


# and the page in a browser, as a reader meets it.


@pytest.mark.usefixtures("registered")
def test_a_reader_meets_the_section_in_its_place(browser: Browser, tmp_path: Path) -> None:
    browser.open(result().report(tmp_path / "report.html"))
    names = browser.run("return [...document.querySelectorAll('main > section')].map((section) => section.id)")
    assert names[:5] == ["answer", "live", "curves", "heavy", "population"]
    shown = browser.run("return document.getElementById('heavy').innerText")
    assert shown.startswith("How few rows it takes")
    assert expected()["heaviest"] in shown


def test_without_its_line_there_is_nothing_of_it(tmp_path: Path) -> None:
    for suffix in ("html", "md", "json"):
        assert "heavy" not in result().report(tmp_path / f"report.{suffix}").read_text("utf-8")


class Clumsy(HeavyRows):
    """A section under a key that another one has."""

    def compute(self, material: Material) -> HeavyPart:
        return {**super().compute(material), "rows": {}}  # type: ignore[typeddict-unknown-key]


def test_two_sections_cannot_write_one_key() -> None:
    SECTIONS.append(Clumsy())
    try:
        with pytest.raises(KeyError, match="the section 'heavy' computes 'rows', which another one has computed"):
            result().report_summary()
    finally:
        SECTIONS.pop()
