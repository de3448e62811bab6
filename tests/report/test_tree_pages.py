"""Pages of tree ensembles under the 0/1 loss: every setting is bounded from both sides, in Python and in the browser."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

import tippingpoint as tp
from browser import Browser
from compiled import needs_kernels
from dials import browser, number, quiet, run, setting_of, tried
from tippingpoint.api.profiles import Profile
from tippingpoint.datasets import breast_cancer
from tippingpoint.report.embedding import embed

__all__ = ["browser", "quiet"]

pytestmark = needs_kernels

COLUMNS = ["mean radius", "mean texture", "worst area", "worst smoothness"]
SETTINGS = [(1.0, 0.25, "kl"), (0.4, 0.4, "chi2"), (math.inf, 0.3, "kl"), (0.3, math.inf, "kl")]


def boosted(**options: Any) -> Profile:
    x, y = breast_cancer()
    x_train, x_test, y_train, y_test = train_test_split(x[COLUMNS], y, test_size=0.3, random_state=0)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x_train, y_train)
    return tp.profile(model, x_test, y_test, scale="std", **options)


def test_every_setting_of_a_page_is_bounded_from_both_sides(browser: Browser, tmp_path: Path) -> None:
    exact = boosted(gap=0)
    result = boosted().stability(0.3, theta1=1.0, theta2=0.25)
    browser.open(result.report(tmp_path / "trees.html"))
    own = run(browser)
    assert number(own["value"]["value"]) == pytest.approx(result.value, rel=1e-9)
    for told in tried(browser, (0.15, 0.3, 0.6), SETTINGS, 100.0):
        truth, value, lower = exact.stability(**setting_of(told)), *(number(told["value"][k]) for k in ("value", "lower"))
        assert truth.exact
        assert lower <= truth.value * (1.0 + 1e-6)
        assert truth.value <= value * (1.0 + 1e-6)
        assert lower >= 0.9 * truth.value, "and the bounds say something"


def test_a_page_says_what_it_knows(browser: Browser, tmp_path: Path) -> None:
    result = boosted(gap=0.2).stability(0.3, theta1=1.0, theta2=0.25)
    assert result.standing.kind == "bounded"
    assert result.report_summary()["live"]["standing"][0] == "two-sided"
    browser.open(result.report(tmp_path / "trees.html"))
    assert browser.run("return document.getElementById('live-standing').textContent") == "two-sided"
    assert "Proved: at least" in run(browser)["words"]
    (told,) = tried(browser, (0.3,), [(math.inf, 0.3, "kl")], 100.0)
    assert browser.run("return document.getElementById('live-standing').textContent") == "exact"
    assert "Proved" not in told["words"]


def test_looking_further_changes_nothing_at_the_question_itself() -> None:
    result = boosted().stability(0.2, theta1=1.0, theta2=0.25)
    assert result.evidence is not None
    oracle, wider = result.evidence.oracle, result.evidence.oracle.widened()
    price = result.price / result.theta1
    near, far = oracle.respond(price), wider.respond(price)
    assert (near.lift == far.lift).all()
    assert (near.cost == far.cost).all()
    assert wider.peak().lift.sum() > oracle.peak().lift.sum(), "and more is known elsewhere"
    assert wider.least is not None
    assert oracle.least is not None
    assert (wider.least >= oracle.least).all()
    embedded = embed(wider, "zero_one", result.evidence.distribution.prices)
    assert embedded is not None
    assert ("floor" in embedded.held) != wider.exact
