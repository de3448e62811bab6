"""The worst risk at a cost that a reader types in: what the page computes is what Python computes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import tippingpoint as tp
from browser import Browser
from dials import AGREE, browser, number, quiet, run, worst_tried
from tippingpoint.api.profiles import Profile

__all__ = ["browser", "quiet"]

INF = math.inf
SETTINGS = [(1.0, 0.25, "kl"), (0.4, 0.4, "chi2"), (INF, 0.3, "kl"), (0.3, INF, "kl"), (20.0, 0.01, "chi2")]
COSTS = (0.0, 1e-9, 0.003, 0.05, 0.4, 30.0)


def rows() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    x, coef = rng.normal(size=(90, 3)), np.array([1.0, -0.5, 0.2])
    return x, x @ coef + rng.normal(size=90), rng.uniform(0.2, 2.0, 90)


def linear(loss: str) -> Profile:
    x, y, weight = rows()
    y = np.where(y > 0.0, 1, -1) if loss in ("zero_one", "logistic", "hinge") else y
    return tp.profile(([0.8, -0.4, 0.1], 0.1), x, y, loss=loss, sample_weight=weight)


def table() -> Profile:
    rng = np.random.default_rng(0)
    loss, cost = rng.exponential(size=(40, 4)), rng.exponential(size=(40, 4))
    cost[:, 0] = 0.0
    return tp.profile_table(pd.DataFrame({"sample": np.repeat(range(40), 4), "loss": loss.ravel(), "cost": cost.ravel()}))


@pytest.mark.parametrize("name", ["zero_one", "logistic", "hinge", "squared", "absolute", "huber", "table"])
def test_the_page_finds_what_python_finds(browser: Browser, tmp_path: Path, name: str) -> None:
    profile = table() if name == "table" else linear(name)
    result = profile.stability(1.5 * profile.risk, theta1=1.0, theta2=0.25)
    browser.open(result.report(tmp_path / "page.html"))
    first = run(browser, 'return { ...document.getElementById("live-worst").dataset };')
    assert number(first["value"]) == pytest.approx(result.risk, rel=AGREE), "the report's own cost reaches its own threshold"
    for (cost, theta1, theta2, divergence), told in worst_tried(browser, COSTS, SETTINGS):
        found = profile.worst_risk(cost, theta1=theta1, theta2=theta2, divergence=divergence)
        assert told["complaint"] == ""
        assert told["status"] == found.status
        assert number(told["value"]) == pytest.approx(found.value, rel=AGREE)
        assert number(told["spent"]) == pytest.approx(found.spent, rel=AGREE)
        assert told["standing"] == "exact"
        assert number(told["ceiling"]) == number(told["value"])
        assert "No change" in told["words"]


def test_bounds_of_trees_are_a_ceiling_and_hold_the_truth(browser: Browser, tmp_path: Path) -> None:
    x, y, _ = rows()
    labels = (y > 0.0).astype(int)
    model = RandomForestClassifier(6, max_depth=3, random_state=0).fit(x, labels)
    profile = tp.profile(model, x, labels, gap=0.2, progress=False)
    result = profile.stability(0.4, theta1=1.0, theta2=0.25)
    browser.open(result.report(tmp_path / "trees.html"))
    seen = set()
    for (cost, theta1, theta2, divergence), told in worst_tried(browser, (0.002, 0.02), SETTINGS[:2]):
        exact = tp.profile(model, x, labels, gap=0, progress=False).worst_risk(
            cost, theta1=theta1, theta2=theta2, divergence=divergence
        )
        assert number(told["value"]) <= exact.value * (1 + 1e-9)
        assert number(told["ceiling"]) >= exact.value * (1 - 1e-9)
        seen.add(told["standing"])
    assert seen <= {"exact", "two-sided"}


def score(given: Any) -> Any:
    return np.asarray(given) @ np.array([0.8, -0.4, 0.1]) + 0.1


def test_of_a_search_it_is_a_lower_bound_and_says_so(browser: Browser, tmp_path: Path) -> None:
    x, y, _ = rows()
    profile = tp.profile(score, x, np.where(y > 0.0, 1, 0), output="score", calls=3000)
    browser.open(profile.stability(0.5, theta1=1.0, theta2=0.25).report(tmp_path / "box.html"))
    for (cost, theta1, theta2, divergence), told in worst_tried(browser, (0.02,), SETTINGS[:3]):
        if math.isinf(theta1):
            assert told["standing"] == "exact", "present losses need no search"
            continue
        assert told["standing"] == "lower bound only"
        assert told["ceiling"] == "Infinity"
        assert "another may raise it further" in told["words"]
        exact = tp.profile(([0.8, -0.4, 0.1], 0.1), x, np.where(y > 0.0, 1, 0))
        assert number(told["value"]) <= exact.worst_risk(cost, theta1=theta1, theta2=theta2, divergence=divergence).value + 1e-9


def test_where_the_page_has_no_formulas_it_interpolates_nothing(browser: Browser, tmp_path: Path) -> None:
    profile = linear("zero_one")
    result = profile.stability(0.6, theta1=1.0, theta2=0.25, divergence="cvar:0.5")
    browser.open(result.report(tmp_path / "cap.html"))
    known = result.report_summary()["live"]["precomputed"]["thresholds"]
    typed = """
      const cost = document.getElementById("cost");
      cost.value = arguments[0];
      cost.dispatchEvent(new Event("input"));
      return { ...document.getElementById("live-worst").dataset, words: document.getElementById("worst-words").textContent,
        standing: document.getElementById("worst-standing").textContent };"""
    for paid in (0.0, 0.01, 0.05, 1e3):
        told = run(browser, typed, repr(paid))
        assert number(told["value"]) == max(each["risk"] for each in known if each["value"] <= paid)
        assert told["standing"] == "lower bound only"
        assert "What lies between was not computed" in told["words"]
        truth = profile.worst_risk(paid, theta1=1.0, theta2=0.25, divergence="cvar:0.5").value
        assert number(told["value"]) <= truth * (1 + 1e-9)


@pytest.mark.parametrize("text", ["-1", "much", "", "inf", "nan"])
def test_what_is_no_cost_is_refused_in_a_sentence(browser: Browser, tmp_path: Path, text: str) -> None:
    browser.open(linear("zero_one").stability(0.6, theta1=1.0, theta2=0.25).report(tmp_path / "page.html"))
    before = run(browser, 'return { ...document.getElementById("live-worst").dataset };')
    typed = """
      const cost = document.getElementById("cost");
      cost.value = arguments[0];
      cost.dispatchEvent(new Event("input"));
      return [document.getElementById("cost-complaint").textContent, { ...document.getElementById("live-worst").dataset }];"""
    complaint, after = run(browser, typed, text)
    assert complaint == f"“{text}” is no cost; give a number, 0 or more."
    assert after == before, "the last one that was a cost stays"
