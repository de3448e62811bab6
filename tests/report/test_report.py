"""Reports without a browser: one summary, three renderings, the same bytes every time."""

from __future__ import annotations

import html
import json
import math
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.api.profiles import Profile
from tippingpoint.data.columns import Column
from tippingpoint.errors import DetachedError, InputError
from tippingpoint.report import render_json, render_markdown, render_page
from tippingpoint.report.elements import tag
from tippingpoint.report.embedding import embed
from tippingpoint.report.groups import describe
from tippingpoint.report.packing import pack, unpack
from tippingpoint.report.storing import island


class Text(HTMLParser):
    """The words of a page, scripts and styles left out; and whether every element is closed."""

    VOID = ("meta", "link", "input")

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, name: str, attrs: Any) -> None:
        if name not in self.VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_startendtag(self, name: str, attrs: Any) -> None:
        pass

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def read(page: str) -> str:
    parser = Text()
    parser.feed(page)
    assert parser.open == []
    return " ".join(parser.words)


def people(n: int = 200, d: int = 4) -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"f{j}" for j in range(d)])
    coef = rng.normal(size=d)
    return x, np.where(x.to_numpy() @ coef + rng.normal(size=n) > 0.0, 1, -1), (coef, 0.1)


def profile(loss: str = "zero_one", **settings: Any) -> Profile:
    x, y, model = people()
    return tp.profile(model, x, y, loss=loss, **settings)


def test_equal_inputs_are_equal_bytes_in_every_form(tmp_path: Path) -> None:
    for suffix in ("html", "md", "json"):
        told: dict[str, Any] = {"model": "a", "data": "b", "date": "2026-01-31"}
        first = profile().stability(0.5).report(tmp_path / f"one.{suffix}", **told).read_bytes()
        assert profile().stability(0.5).report(tmp_path / f"two.{suffix}", **told).read_bytes() == first
        assert str(tmp_path).encode() not in first


def test_the_three_forms_say_the_same_numbers() -> None:
    x, y, model = people()
    result = tp.stability(model, x, y, 0.5, theta1=1.0, theta2=0.25)
    ranked = tp.feature_stability(model, x, y, 0.5, theta1=1.0, theta2=0.25)
    compared = tp.compare({"one": model, "two": (model[0][::-1], 0.0)}, x, y, 0.5, theta1=1.0, theta2=0.25)
    summary = result.report_summary(features=ranked, comparison=compared, model="scores", data="people")
    page, markdown, stored = read(render_page(summary)), render_markdown(summary), json.loads(render_json(summary))
    assert stored["result"]["value"] == result.value
    assert stored["schema"] == "tippingpoint.report/2"
    told = [f"{value:.4g}" for value in (result.value, ranked["f0"].value, compared.results["two"].value)]
    told += [summary["words"]["sentence"], summary["manifest"]["data"]["fingerprint"], *summary["limits"]]
    told += [f"{100.0 * result.current_risk:.3g}%", f"{100.0 * result.corruption_excess:.3g}%"]
    told += [rule["condition"] for rule in summary["population"]["rules"]]
    told += [summary["rows"]["labels"][top["stored"]] for top in summary["rows"]["top"]]
    plain = re.sub(r"\\(.)", r"\1", markdown)
    for words in told:
        assert words in page, words
        assert words in plain, words


def test_nothing_is_fetched_and_only_the_pages_own_script_may_run() -> None:
    page = render_page(profile().stability(0.5).report_summary())
    assert not re.search(r"""(src|href)=["'](?!#|data:,)""", page)
    assert "default-src 'none'" in html.unescape(page)
    assert "http://www.w3.org/2000/svg" in page  # the name of a format, not an address
    assert page.count("http") == page.count("http://www.w3.org/2000/svg") + page.count("http-equiv")


def test_names_are_escaped_everywhere() -> None:
    x, y, model = people()
    x.columns = pd.Index(["<script>alert(1)</script>", "</script>", "a\u2028b|c", "\"q\" & 'r' `s` *t*"])
    x.index = pd.Index([f"<b>{i}</b>" for i in range(len(x))])
    result = tp.stability(model, x, np.where(y > 0, "'yes'", '"no"'), 0.6)
    summary = result.report_summary(model="<m>", data="&d", title="<t>")
    page, markdown = render_page(summary), render_markdown(summary)
    assert page.count("<script") == 2
    assert "<b>" not in page
    assert "\u2028" not in island(summary)
    assert set("<>&").isdisjoint(island(summary))
    assert json.loads(island(summary))["rows"]["columns"] == list(x.columns)
    assert "<script>" in read(page)
    assert "<script>" not in markdown
    assert r"\<script\>alert(1)\</script\>" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    for one, two in pairwise(rows):
        if two.startswith("| ---"):
            assert len(re.findall(r"(?<!\\)\|", one)) == len(re.findall(r"(?<!\\)\|", two))


def test_a_large_table_fits_in_two_megabytes() -> None:
    x, y, model = people(2000, 76)
    for loss, risk in (("zero_one", 0.6), ("logistic", 3.0)):
        result = tp.stability(model, x, y, risk, loss=loss)
        summary = result.report_summary()
        assert len(render_page(summary).encode()) < 2_000_000
        assert any("200 of the 2,000 rows are stored" in limit for limit in summary["limits"])
    bounded = tp.Space(lower=dict.fromkeys(x.columns, -6.0), upper=dict.fromkeys(x.columns, 6.0))
    result = tp.stability(model, x, y, 3.0, loss="logistic", space=bounded)
    summary = result.report_summary()
    assert summary["live"]["exact"] is False
    assert len(render_page(summary).encode()) < 2_000_000


def test_a_stored_result_has_no_report(tmp_path: Path) -> None:
    stored = tp.StabilityResult.from_json(profile().stability(0.5).to_json())
    with pytest.raises(DetachedError, match="holds its numbers only"):
        stored.report(tmp_path / "report.html")


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("report.pdf", {}, r"report\.pdf' must end in \.html, \.md, \.json"),
        ("nowhere/report.html", {}, "folder that is not there"),
        ("report.html", {"title": 3}, "title=3 must be a few words"),
    ],
)
def test_what_cannot_be_written_is_said_in_a_sentence(tmp_path: Path, name: str, settings: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        profile().stability(0.5).report(tmp_path / name, **settings)


@pytest.mark.parametrize(
    ("risk", "settings", "said"),
    [
        (0.01, {}, "nothing needs to be paid"),
        (1.0, {"theta1": math.inf, "theta2": 0.5}, "shift the population"),
        (0.5, {"theta1": 1.0, "theta2": math.inf}, "To raise the error rate"),
        (0.5, {"theta1": math.inf, "theta2": 0.5}, "shift the population"),
        (0.5, {"divergence": "cvar:0.5"}, "error rate"),
        (0.5, {"divergence": "chi2"}, "shift the population"),
    ],
)
def test_every_limit_has_its_words(risk: float, settings: dict[str, Any], said: str) -> None:
    summary = profile().stability(risk, **settings).report_summary()
    assert said in summary["words"]["sentence"]
    page = read(render_page(summary))
    assert summary["words"]["sentence"] in page
    render_markdown(summary)
    json.loads(render_json(summary))
    if settings.get("divergence", "").startswith("cvar"):
        assert "worst share 0.5 (CVaR), computed beforehand" in page
    if settings.get("theta2") == math.inf:
        assert "nobody is counted more or less often" in page


def test_out_of_reach_says_so() -> None:
    x, y, model = people()
    still = tp.profile(model, x, y, space=tp.Space(frozen=list(x.columns[1:])), loss="hinge")
    assert still.reach > still.risk
    frozen = tp.profile((np.zeros(4), 1.0), x, y)
    summary = frozen.stability(1.0, theta1=1.0, theta2=math.inf).report_summary()
    assert "No allowed change raises the error rate" in summary["words"]["sentence"]
    assert summary["result"]["value"] == math.inf
    assert json.loads(render_json(summary))["result"]["value"] == "inf"
    assert "∞" in read(render_page(summary))


def test_tables_without_features_of_their_own_have_a_report() -> None:
    lines = [("a", "p", 0.0, 0), ("a", "q", 1.0, 1), ("b", "r", 0.0, 0), ("b", None, 2.0, 1)]
    runs = pd.DataFrame(lines, columns=["sample", "text", "cost", "loss"])
    summary = tp.profile_table(runs).stability(risk=0.4).report_summary()
    assert summary["live"]["exact"]
    assert summary["rows"]["columns"] == ["text"]
    assert dict(zip(summary["rows"]["labels"], summary["rows"]["before"], strict=True)) == {"a": ["p"], "b": ["r"]}
    render_page(summary)


def test_arrays_come_back_as_they_went() -> None:
    rng = np.random.default_rng(0)
    for values in (
        np.full(5, 0.1),
        np.arange(7.0),
        rng.normal(size=9),
        np.array([0.0, 255.0]),
        np.array([256.0, 0.0]),
        np.zeros(0),
    ):
        assert (unpack(pack(values)) == values).all()


def test_two_places_are_all_of_a_classifier_and_a_ladder_never_promises_too_much() -> None:
    result = profile().stability(0.5)
    assert result.evidence is not None
    held = embed(result.evidence.oracle, "zero_one", result.evidence.distribution.prices)
    assert held is not None
    assert held.exact
    for price in (0.01, 0.3, 2.0, 50.0):
        mine, theirs = held.responses.respond(price), result.evidence.oracle.respond(price)
        assert (mine.lift == theirs.lift).all()
        assert mine.cost == pytest.approx(theirs.cost)
    boxed = profile("logistic", space=tp.Space(lower=dict.fromkeys(["f0", "f1"], -4.0), upper=dict.fromkeys(["f0", "f1"], 4.0)))
    again = boxed.stability(1.5 * boxed.risk)
    assert again.evidence is not None
    ladder = embed(again.evidence.oracle, "logistic", again.evidence.distribution.prices)
    assert ladder is not None
    assert not ladder.exact
    for price in (0.01, 0.3, 2.0, 50.0):
        mine, theirs = ladder.responses.respond(price), again.evidence.oracle.respond(price)
        assert (price * mine.lift - mine.cost <= price * theirs.lift - theirs.cost + 1e-12).all()


def test_the_group_that_is_favoured_is_found_and_chance_is_not() -> None:
    rng = np.random.default_rng(0)
    age, noise, job = rng.integers(20, 80, 2000).astype(float), rng.normal(size=2000), rng.integers(0, 3, 2000).astype(float)
    weights = np.where(age > 70, 4.0, 1.0)
    base = np.full(2000, 1 / 2000)
    weights /= base @ weights
    features = {
        "age": (Column("age"), age),
        "noise": (Column("noise"), noise),
        "job": (Column("job", "category", ("cook", "clerk", "judge")), job),
    }
    rules = describe(features, base, weights)
    assert rules[0]["feature"] == "age"
    assert rules[0]["condition"].startswith("age above")
    assert rules[0]["then"] == pytest.approx(float(base @ (weights * (age > float(rules[0]["condition"].split()[-1])))))
    assert all(rule["feature"] == "age" for rule in rules)
    assert describe(features, base, np.ones(2000)) == []
    cooks = np.where(job == 0.0, 3.0, 1.0)
    (rule,) = describe(features, base, cooks / (base @ cooks))
    assert rule["condition"] == "job is cook"


def test_rows_that_cannot_exist_are_confessed() -> None:
    x, y, model = people()
    x["f0"] = np.round(x["f0"])
    doubts = tp.stability(model, x, y, 0.6, theta1=1.0, theta2=math.inf).report_summary()["rows"]["doubts"]
    assert any("fraction where the data hold whole numbers only, as in “f0”" in doubt for doubt in doubts)


def test_elements_escape_what_is_not_markup() -> None:
    assert (
        tag("p", "a < b", tag("b", "&"), None, class_='"x"', hidden=True)
        == '<p class="&quot;x&quot;" hidden>a &lt; b<b>&amp;</b></p>'
    )
