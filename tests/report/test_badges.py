"""Every stability in a report says what is known of it, in the same words on the page, in Markdown and in JSON."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import tippingpoint as tp
from tippingpoint.report import render_json, render_markdown, render_page
from tippingpoint.report.badges import MEANING, badge, elsewhere, standing

RESULT = {"exact": False, "value": 0.2, "lower": 0.0, "interrupted": False, "upper": 0.5}


def rows(n: int = 120) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["a", "b", "c"])
    return x, np.where(x["a"] + 0.5 * x["b"] + rng.normal(scale=0.5, size=n) > 0.0, 1, 0)


def badges(page: str) -> list[str]:
    """The badges of a page, from top to bottom."""
    return re.findall(r'<span class="badge [^"]*"[^>]*>([^<]*)</span>', page)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exact": True}, "exact"),
        ({"lower": 0.1}, "two-sided"),
        ({}, "upper bound only"),
        ({"upper": float("inf")}, "estimate only"),
        ({"value": float("inf")}, "not found"),
        ({"exact": True, "value": float("inf"), "lower": float("inf")}, "exact"),
        ({"interrupted": True, "lower": 0.1}, "interrupted"),
        ({"interrupted": True, "exact": True}, "interrupted"),
    ],
)
def test_the_words_follow_from_the_bounds(changes: dict[str, Any], said: str) -> None:
    assert standing({**RESULT, **changes}) == said
    assert MEANING[said]
    assert f">{said}</span>" in badge(said)


def test_other_settings_are_never_known_better_than_the_result() -> None:
    assert elsewhere("exact", exact=True) == "exact"
    assert elsewhere("exact", exact=False) == "upper bound only"
    assert elsewhere("two-sided", exact=True) == "upper bound only"
    assert elsewhere("two-sided", exact=False, floored=True) == "two-sided"
    assert elsewhere("two-sided", exact=True, floored=True) == "exact"
    assert elsewhere("interrupted", exact=False, floored=True) == "interrupted"
    assert elsewhere("interrupted", exact=True) == "interrupted"


def test_an_exact_result_has_its_badge_at_the_headline_and_on_every_number() -> None:
    x, y = rows()
    model = (np.array([1.0, 0.5, 0.0]), 0.0)
    settings: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
    result = tp.stability(model, x, y, 0.5, **settings)
    ranked = tp.feature_stability(model, x, y, 0.5, **settings)
    compared = tp.compare({"one": model, "two": (model[0][::-1], 0.0)}, x, y, 0.5, **settings)
    summary = result.report_summary(features=ranked, comparison=compared)
    found = badges(render_page(summary))
    # The headline, four lines that it is held against, two curves, three features, two models.
    assert found == ["exact"] * (1 + 4 + 2 + 3 + 2)
    assert json.loads(render_json(summary))["standing"] == "exact"
    assert f"| Stability | {result.value:.4g} | exact |" in render_markdown(summary)


def test_a_search_is_an_upper_bound_but_reweighting_alone_needs_none() -> None:
    x, y = rows()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(x, y).predict
    summary = tp.stability(model, x, y, 0.5, theta1=1.0, theta2=0.25, calls=3000).report_summary()
    assert summary["standing"] == "upper bound only"
    known = {each["kind"]: each["standing"] for each in summary["yardsticks"]}
    assert known == {"reweighting": "exact", "moving": "upper bound only", "noise": "upper bound only"}
    assert badges(render_page(summary))[0] == "upper bound only"
    assert summary["live"]["standing"] == ["upper bound only", "upper bound only"]


def test_reweighting_alone_is_exact_but_the_rest_of_the_dial_is_not() -> None:
    x, y = rows()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(x, y).predict
    summary = tp.stability(model, x, y, 0.3, theta1=float("inf"), theta2=0.25, calls=3000).report_summary()
    assert summary["standing"] == summary["curve"]["standing"] == "exact"
    assert [each["standing"] for each in summary["yardsticks"]] == ["exact"]
    assert summary["tradeoff"]["standing"] == "upper bound only"
    assert summary["live"]["standing"] == ["exact", "upper bound only"]


def test_a_proof_from_below_makes_it_two_sided() -> None:
    torch = pytest.importorskip("torch")
    x, y = rows(60)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).eval()
    result = tp.stability(net, x.to_numpy(np.float32), y, 0.9, loss="logistic", theta1=1.0, theta2=0.5)
    assert 0.0 < result.lower < result.upper
    summary = result.report_summary()
    assert summary["standing"] == "two-sided"
    assert summary["curve"]["standing"] == "upper bound only"
    assert badges(render_page(summary))[0] == "two-sided"


class Stopped:
    """A model at which somebody presses Ctrl-C once it has been asked about so many rows."""

    def __init__(self, most: int) -> None:
        self.left = most

    def predict(self, x: Any) -> Any:
        self.left -= len(x)
        if self.left < 0:
            raise KeyboardInterrupt
        return (np.sin(3.0 * np.asarray(x)[:, 0]) + np.asarray(x)[:, 1] > 0.0).astype(int)


def test_a_search_that_was_interrupted_says_so_at_the_headline_and_passes_no_gate(tmp_path: Path) -> None:
    x, y = rows()
    result = tp.stability(Stopped(6000), x, y, 0.6, theta1=1.0, theta2=1.0, calls=60_000)
    page = result.report(tmp_path / "page.html", gate=1e-9).read_text(encoding="utf-8")
    headline = page.partition("Large compared with what?")[0]
    assert badges(headline) == ["interrupted", "interrupted"]  # of the stability and of the gate
    assert "Not passed: a search was interrupted" in headline
    text = result.report(tmp_path / "page.md", gate=tp.Gate(1e-9, on="value")).read_text(encoding="utf-8")
    assert f"| Stability | {result.value:.4g} | interrupted |" in text
    assert "did not end" in text
    stored = json.loads(result.report(tmp_path / "page.json", gate=1e-9).read_text(encoding="utf-8"))
    assert (stored["standing"], stored["gate"]["outcome"]) == ("interrupted", "interrupted")
    assert {each["kind"]: each["standing"] for each in stored["yardsticks"]}["reweighting"] == "exact"


def test_a_comparison_says_no_more_than_somebody_has_certified() -> None:
    x, y = rows()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(x, y).predict
    compared = tp.compare({"line": (np.array([1.0, 0.5, 0.0]), 0.0), "trees": model}, x, y, 0.5, calls=3000)
    summary = compared.results["line"].report_summary(comparison=compared)
    bounds = {row["model"]: (row["lower"], row["upper"], row["standing"]) for row in summary["comparison"]["rows"]}
    assert bounds["line"][2] == "exact"
    assert bounds["trees"] == (0.0, compared.results["trees"].upper, "upper bound only")
    (pair,) = summary["comparison"]["differences"]
    assert pair["verdict"] == compared.verdict("trees").sentence
    for told in (render_page(summary), render_markdown(summary)):
        assert pair["verdict"] in html.unescape(told)


def test_the_verdict_of_a_comparison_is_told_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows()
    compared = tp.compare({"one": ([1.0, 0.5, 0.0], 0.0), "two": ([0.5, 1.0, 0.0], 0.0)}, x, y, 0.5)
    said = "Undecided whether two or one is the more stable: the bounds overlap."
    monkeypatch.setattr(tp.Comparison, "verdict", lambda *_: SimpleNamespace(sentence=said), raising=False)
    summary = compared.results["one"].report_summary(comparison=compared)
    for told in (render_page(summary), render_markdown(summary), render_json(summary)):
        assert said in told
