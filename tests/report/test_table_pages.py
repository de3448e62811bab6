"""Reports of tables of alternatives: which questions break, under which wording, with the edits of their texts."""

from __future__ import annotations

import html
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tippingpoint as tp
from browser import Browser
from dials import agrees, browser, quiet, run, setting_of, tried
from real_data import real_data
from tippingpoint.report.edits import CONTEXT, GONE, KEPT, MAX_PAIRS, NEW, edits, edits_html, edits_markdown, words_of
from tippingpoint.report.markdown import render_markdown
from tippingpoint.report.page import render_page

__all__ = ["browser", "quiet"]

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
WORDINGS = {
    "original": "Please answer the question: which <b>drug</b> is given first, and why is it given?",
    "terse": "Which <b>drug</b> is given first?",
    "polite": "Could you please answer the question: which <b>drug</b> is given first, and why is it given, if I may ask?",
}


def runs(n: int = 60, seed: int = 0, repeats: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        hard = rng.beta(0.4, 1.2)
        for variant, wording in WORDINGS.items():
            cost = {"original": 0.0, "terse": 0.3, "polite": 0.1}[variant] * (1.0 + i / n)
            text, source = f"No. {i}: {wording}", ("ward", "exam")[i % 2]
            wrong = (rng.random(repeats) < hard + cost).astype(float)
            lines += [(f"q{i}", variant, k, cost, loss, text, source) for k, loss in enumerate(wrong)]
    table = pd.DataFrame(lines, columns=["sample", "variant", "repeat", "cost", "loss", "text", "source"])
    return table if repeats > 1 else table.drop(columns="repeat")


def replayed(before: str, after: str) -> tuple[list[str], list[str]]:
    """What edits say that the texts are."""
    found = edits(before, after)
    assert all(one[0] != other[0] for one, other in pairwise(found))
    old = [word for kind, words in found if kind in (KEPT, GONE) for word in words]
    return old, [word for kind, words in found if kind in (KEPT, NEW) for word in words]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=6), st.lists(st.sampled_from("abcd"), max_size=6))
def test_edits_lead_from_one_text_to_the_other_with_the_fewest_words(one: list[str], other: list[str]) -> None:
    assume(one != other)
    old, new = replayed(" ".join(one), " ".join(other))
    assert (old, new) == (one, other)
    changed = sum(len(words) for kind, words in edits(" ".join(one), " ".join(other)) if kind != KEPT)
    assert changed == len(one) + len(other) - 2 * longest(one, other)


def longest(one: list[str], other: list[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest(one[1:], other[1:])
    return max(longest(one[1:], other), longest(one, other[1:]))


def test_words_far_from_an_edit_are_left_out_and_long_texts_are_one_edit() -> None:
    words = [f"w{i}" for i in range(40)]
    found = edits(" ".join(words), " ".join([*words[:20], "new", *words[21:]]))
    assert found == [
        (KEPT, ["…", *words[20 - CONTEXT : 20]]),
        (GONE, ["w20"]),
        (NEW, ["new"]),
        (KEPT, [*words[21 : 21 + CONTEXT], "…"]),
    ]
    size = math.isqrt(MAX_PAIRS) + 1
    one, other = ([f"{name}{i % 7}" for i in range(size)] for name in "ab")
    assert [(kind, len(words)) for kind, words in edits(" ".join(one), " ".join(other))] == [(GONE, size), (NEW, size)]


def test_edits_are_escaped_in_both() -> None:
    before, after = "is <script>alert(1)</script> safe here", "is **bold** ~~or~~ | [not](x) safe here"
    shown = "".join(str(each) if "<" in str(each)[:1] else html.escape(str(each)) for each in edits_html(before, after))
    assert "<script>" not in shown
    assert "<del>&lt;script&gt;alert(1)&lt;/script&gt;</del>" in shown
    marked = edits_markdown(before, after)
    assert r"~~\<script\>alert(1)\</script\>~~" in marked
    assert r"**\*\*bold\*\* \~\~or\~\~ \| \[not\](x)**" in marked


def test_a_report_tells_wordings_and_edits_and_calls_nothing_impossible() -> None:
    profile = tp.profile_table(runs())
    result = profile.stability(0.7, **PRICES)
    ranked = tp.variation_stability(profile, 0.7, **PRICES)
    summary = result.report_summary(features=ranked)
    rows = summary["rows"]
    assert rows["tried"]
    assert rows["doubts"] == []
    assert rows["columns"][:2] == ["variant", "text"]
    assert all(holds is None for holds in rows["holds"])
    assert {move["feature"] for move in summary["moves"]} <= {"terse", "polite"}
    moved = result.sensitive[result.sensitive["cost"] > 0.0].groupby("variant")["mass"].sum()
    assert {move["feature"]: move["share"] for move in summary["moves"]} == pytest.approx(moved.to_dict())
    page, text = render_page(summary), render_markdown(summary)
    assert "Which variation breaks it" in page
    assert "Which variation breaks it" in text
    assert "Which feature breaks it" not in page
    assert "<ins>" in page
    assert "<del>" in page
    assert "&lt;b&gt;drug&lt;/b&gt;" in page
    assert "<b>drug" not in page
    assert "~~" in text
    assert "impossible. A Space" not in page
    assert "mostly to “" in summary["words"]["sentence"]
    assert any("alternatives in the table" in limit for limit in summary["limits"])
    assert {rule["feature"] for rule in summary["population"]["rules"]} <= {"source", ""}


def test_noise_groups_and_gaps_are_told_on_the_page() -> None:
    table = runs(repeats=4).assign(document=lambda t: t["sample"].str[1:].astype(int) // 4)
    table.loc[::7, "loss"] = np.nan
    result = tp.profile_table(table, group="document").stability(0.7, **PRICES)
    summary = result.report_summary(gate=0.5 * (result.lower + result.value))
    words = summary["words"]
    assert summary["standing"] == "two-sided"
    assert summary["gate"]["outcome"] == "failed", "a gate judges what is certain, which is the pessimistic filling"
    assert f"{result.groups} groups" in words["sampling"]
    assert f"halves of these {result.groups} groups" in words["noise"]
    assert "because the worst of 4 noisy repeats is in part luck" in words["runs"]
    assert "missing outcomes counted as the largest loss" in words["certificate"]
    own = summary["curve"]["at"].index(0.7)
    band = (summary["curve"]["low"][own], summary["curve"]["high"][own])
    with pytest.warns(tp.SmallSampleWarning, match="effective groups"):
        interval = result.interval()
    assert band == pytest.approx(interval, rel=1e-6), "the band is that of the corrected stability"
    reweighting = next(each for each in summary["yardsticks"] if each["kind"] == "reweighting")
    assert reweighting["standing"] == "upper bound only", "present losses are missing too"
    assert any("outcomes are missing" in limit for limit in summary["limits"])
    assert not any("searched for, not derived" in limit for limit in summary["limits"])
    page = render_page(summary)
    assert "Noise of the runs" in page


def test_the_dial_claims_no_more_of_a_table_with_gaps_than_its_bounds(browser: Browser, tmp_path: Path) -> None:
    table = runs(80, 3).astype({"loss": float})
    table.loc[::5, "loss"] = np.nan
    profile = tp.profile_table(table)
    result = profile.stability(0.7, **PRICES)
    assert result.lower < 0.95 * result.value
    browser.open(result.report(tmp_path / "gaps.html"))
    own = run(browser)
    assert float(own["value"]["lower"]) == pytest.approx(result.lower)
    assert f"Proved: at least {result.lower:.6g}." in own["words"]
    (told,) = tried(browser, (0.7,), [(math.inf, 0.25, "kl")])
    truth = profile.stability(**setting_of(told))
    assert not truth.standing.exact, "present losses are missing"
    assert float(told["value"]["value"]) == pytest.approx(truth.value)
    assert browser.run("return document.getElementById('live-standing').textContent") == "upper bound only"
    assert browser.run("return document.getElementById('worst-standing').textContent") == "lower bound only"


CHANGES = """return [...document.querySelectorAll('#rows-shown table.rows > tbody > tr')].slice(0, 10).map((row) => ({
  label: row.querySelector('th').textContent,
  changes: [...row.querySelectorAll('td > .change')].map((each) => each.innerHTML),
}));"""


def test_the_dial_works_on_a_table_and_shows_the_same_edits(browser: Browser, tmp_path: Path) -> None:
    profile = tp.profile_table(runs(80, 3))
    result = profile.stability(0.7, **PRICES)
    path = result.report(tmp_path / "table.html")
    still = re.search(r'<div id="rows-shown">(.*?)</div><p', path.read_text("utf-8"), re.DOTALL)
    assert still is not None
    browser.open(path)
    agrees(run(browser), result)
    for told in tried(browser, (0.5, 0.7, 0.9), [(1.0, 0.25, "kl"), (0.3, math.inf, "kl"), (math.inf, 0.5, "chi2")]):
        agrees(told, profile.stability(**setting_of(told)))
    browser.run("document.getElementById('reset').click()")
    run(browser)
    drawn = browser.run(CHANGES)
    edited = [each for row in drawn for each in row["changes"] if "<ins>" in each]
    assert edited
    for each in edited:
        assert f">{each}<" in still[1], "the script says what Python says"


def test_scripts_and_python_edit_alike(browser: Browser, tmp_path: Path) -> None:
    """Random texts of few words: the page's own function, by what the rows show of them."""
    rng, lines = np.random.default_rng(0), []
    for i in range(12):
        old, new = (" ".join(rng.choice(list("abcde"), rng.integers(4, 30))) for _ in range(2))
        lines += [(f"s{i}", "original", 0.0, 0.0, old), (f"s{i}", "other", 0.1 + i / 100, 1.0, new)]
    table = pd.DataFrame(lines, columns=["sample", "variant", "cost", "loss", "text"])
    result = tp.profile_table(table).stability(0.9, theta1=1.0, theta2=math.inf)
    texts = {sample: own["text"].tolist() for sample, own in table.groupby("sample")}
    browser.open(result.report(tmp_path / "texts.html"))
    run(browser)
    seen = 0
    for row in browser.run(CHANGES):
        before, after = texts[row["label"]]
        shown = "".join(str(each) for each in edits_html(before, after))
        assert f"text: {shown}" in row["changes"]
        assert len(words_of(before)) >= 4
        seen += 1
    assert seen == 10


def test_real_answers_of_four_models_on_one_page(browser: Browser, tmp_path: Path) -> None:
    folder = real_data("llm/clinical_prompts.csv.gz")
    answers = pd.read_csv(folder / "llm" / "clinical_prompts.csv.gz")
    table = answers.assign(cost=answers["word_edit_norm"], loss=1 - answers["correct"], source=answers["sample"].str[:5])
    profiles = tp.profile_table(table, by="model")
    first = next(iter(profiles))
    compared = tp.compare(profiles, risk=0.8, **PRICES)
    ranked = tp.variation_stability(profiles[first], 0.8, **PRICES)
    assert set(ranked) == {"formal", "simplified", "roleplay", "direct"}
    assert all(result.value >= compared.results[first].value for result in ranked.results.values())
    browser.open(compared.results[first].report(tmp_path / "models.html", features=ranked, comparison=compared))
    agrees(run(browser), compared.results[first])
    (told,) = tried(browser, (0.75,), [(0.5, 0.5, "chi2")])
    agrees(told, profiles[first].stability(**setting_of(told)))
    shown = browser.run("return document.body.innerText")
    for name in (*profiles, *ranked):
        assert name in shown
