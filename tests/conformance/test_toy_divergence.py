"""How to add a divergence, step by step: one class and one line, and it comes out at the other end.

A divergence says what it costs to give a sample weight `w` instead of one. This one is the squared Hellinger distance,
`φ(w) = (√w - 1)²`, which tippingpoint does not have.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from browser import Browser
from dials import SLIDE, agrees, browser, number, quiet, run, setting_of, tried
from tippingpoint.cli import main
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import DIVERGENCES, divergence_named
from tippingpoint.errors import InputError

__all__ = ["browser", "quiet"]


# Step 1: the formulas. `φ*` is infinite for scores of one and more, so weights there are infinite or not a number; the weights
# that average one are then found without further help. A class with a closed form for that overrides `alpha`.
@dataclass(frozen=True)
class Hellinger(tp.Divergence):
    r""":math:`\phi(w) = (\sqrt{w} - 1)^2`, :math:`\phi^*(s) = s/(1-s)`, :math:`w = (1-s)^{-2}` for :math:`s < 1`."""

    name = "hellinger"

    def phi(self, weights: FloatArray) -> FloatArray:
        return np.square(np.sqrt(weights) - 1.0)

    def conjugate(self, scores: FloatArray) -> FloatArray:
        return scores / (1.0 - scores)

    def centred_conjugate(self, scores: FloatArray) -> FloatArray:
        return np.square(scores) / (1.0 - scores)

    def weights(self, scores: FloatArray) -> FloatArray:
        return np.where(scores < 1.0, (1.0 - scores) ** -2, np.inf)

    def changes(self, scores: FloatArray) -> FloatArray:
        return np.where(scores < 1.0, scores * (2.0 - scores) * (1.0 - scores) ** -2, np.inf)

    def stiffness(self, scores: FloatArray) -> FloatArray:
        return 2.0 * (1.0 - scores) ** -3

    def crowding(self, share: float) -> float:
        return math.sqrt(share)

    # Step 2: the same for the page of a report, so that readers can try it out. Without this method a page shows what was
    # computed beforehand, and says so.
    def browser(self) -> str | None:
        return """{
    phi: (w) => (Math.sqrt(w) - 1) ** 2,
    conjugate: (s) => s / (1 - s),
    centred: (s) => (s * s) / (1 - s),
    changes: (s) => (s < 1 ? (s * (2 - s)) / (1 - s) ** 2 : Infinity),
    stiffness: (s) => 2 / (1 - s) ** 3,
    crowding: Math.sqrt,
  }"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    # Step 3: the line. In the package it stands in `tippingpoint.core.divergences.DIVERGENCES`.
    monkeypatch.setitem(DIVERGENCES, "hellinger", Hellinger)


pytestmark = pytest.mark.usefixtures("registered")

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
SETTINGS = [(1.0, 0.5, "hellinger"), (1.0, 0.5, "kl"), (math.inf, 0.3, "hellinger"), (0.4, 2.0, "hellinger")]


def people() -> tuple[Any, pd.DataFrame, Any]:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    return ([1.0, -0.5, 0.2], 0.1), x, np.where(x["a"] - x["b"] + rng.normal(size=120) > 0.0, 1, -1)


def profile(loss: str = "zero_one") -> tp.Profile:
    model, x, y = people()
    return tp.profile(model, x, y, loss=loss)


# What comes out: the number,


def test_reweighting_costs_what_a_conic_solver_says() -> None:
    profiled = profile("logistic")
    losses, base, risk, theta2 = profiled.oracle.losses, profiled.base, 1.5 * profiled.risk, 0.5
    w = cp.Variable(len(base), nonneg=True)
    price = theta2 * (base @ (w - 2.0 * cp.sqrt(w)) + 1.0)
    problem = cp.Problem(cp.Minimize(price), [base @ w == 1.0, (base * losses) @ w >= risk])
    problem.solve(solver=cp.CLARABEL)
    result = profiled.stability(risk, theta1=math.inf, theta2=theta2, divergence="hellinger")
    assert result.value == pytest.approx(float(problem.value), rel=1e-6)
    assert result.lower == pytest.approx(result.value, rel=1e-9)
    assert result.divergence == "hellinger"


@pytest.mark.parametrize("theta", [1e-3, 0.5, 1e3])
def test_the_weights_average_one_and_attain_the_maximum(theta: float) -> None:
    rng = np.random.default_rng(0)
    values, base, divergence = rng.normal(size=60), rng.dirichlet(np.ones(60)), divergence_named("hellinger")
    tilt = divergence.tilt(values, base, theta)
    assert base @ tilt.weights == pytest.approx(1.0, rel=1e-9)
    attained = base @ (tilt.weights * values) - theta * divergence.penalty(tilt, base)
    alpha = float((theta * tilt.scores - values)[0])
    assert attained == pytest.approx(theta * float(base @ divergence.conjugate(tilt.scores)) - alpha, rel=1e-9)


def test_the_largest_risk_is_reached_by_all_weight_on_the_largest_losses() -> None:
    result = profile().stability(1.0, theta1=math.inf, theta2=0.5, divergence="hellinger")
    wrong = profile().risk
    assert result.status == "largest"
    assert result.value == pytest.approx(0.5 * (2.0 - 2.0 * math.sqrt(wrong)))


# the command line and its messages,


def test_the_command_line_and_its_messages_know_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = pd.DataFrame({"sample": [0, 0, 1, 1], "cost": [0.0, 1.0, 0.0, 2.0], "loss": [0.0, 1.0, 0.2, 1.0]})
    runs.to_csv(tmp_path / "runs.csv", index=False)
    arguments = ["--table", str(tmp_path / "runs.csv"), "--risk", "0.4", "--theta1", "1", "--theta2", "0.5"]
    stored = tmp_path / "result.json"
    assert main(["evaluate", *arguments, "--divergence", "hellinger", "--json", str(stored), "--quiet"]) == 0
    expected = tp.profile_table(runs).stability(0.4, **PRICES, divergence="hellinger")
    assert json.loads(stored.read_text(encoding="utf-8"))["value"] == expected.value
    assert main(["evaluate", "--help"]) == 0
    assert "cvar:SHARE or hellinger" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(InputError, match=r"'kl', 'chi2', 'cvar:SHARE' \(as 'cvar:0.2'\), 'hellinger' or a Divergence"):
        divergence_named("helinger")


# the report in every form,


def test_the_report_names_it_in_every_form(tmp_path: Path) -> None:
    result = profile().stability(0.5, **PRICES, divergence="hellinger")
    page, text, stored = (result.report(tmp_path / f"report.{suffix}").read_text("utf-8") for suffix in ("html", "md", "json"))
    price = "changing how often rows occur costs 0.5 for each unit of hellinger divergence"
    left = share_left_out(result.value / 0.5)
    for words in (price, f"leave out any {left} of the rows"):
        assert words in page
        assert words in text
    assert 'value="hellinger"/> hellinger divergence' in page
    assert json.loads(stored)["live"]["setting"]["divergence"] == "hellinger"
    assert json.loads(stored)["live"]["served"] is True


def share_left_out(cost: float) -> str:
    """The share of the rows that can be left out for a Hellinger distance: `2 - 2·√(1 - u)` is that distance."""
    return f"{100.0 * (1.0 - (1.0 - cost / 2.0) ** 2):.3g}%"


# and the dial in a browser.


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_the_dial_computes_what_python_computes(browser: Browser, tmp_path: Path, loss: str) -> None:
    profiled = profile(loss)
    risk, scale = profiled.risk + 0.2, 100.0 if loss == "zero_one" else 1.0
    result = profiled.stability(risk, **PRICES, divergence="hellinger")
    browser.open(result.report(tmp_path / "toy.html"))
    agrees(run(browser), result)
    for shown in tried(browser, (risk, profiled.risk + 0.4), SETTINGS, scale):
        agrees(shown, profiled.stability(**setting_of(shown)))


class Unwritten(Hellinger):
    """The same without step 2."""

    def browser(self) -> str | None:
        return None


LOOK = """
const text = (selector) => document.querySelector(selector).textContent;
return { lead: text("#live .lead"), curve: document.getElementById("live-curve").innerHTML, rows: text("#rows-shown"),
  chosen: document.querySelector("[name=divergence]:checked").value, setting: text("#live-setting"),
  drawn: document.documentElement.dataset.drawn };
"""

CHOOSE = """
const choice = document.querySelector(`[name=divergence][value=${arguments[0]}]`);
choice.checked = true;
choice.dispatchEvent(new Event("change"));
await settled();
return shown();
"""

PRICE = """
const price = document.getElementById("theta1");
price.value = "3";
price.dispatchEvent(new Event("change"));
return shown().complaint;
"""


def test_without_formulas_a_page_shows_what_was_computed_beforehand(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DIVERGENCES, "hellinger", Unwritten)
    profiled = profile()
    result = profiled.stability(0.5, **PRICES, divergence="hellinger")
    browser.open(result.report(tmp_path / "toy.html"))
    own, still = run(browser), browser.run(LOOK)
    agrees(own, result)
    assert still["chosen"] == "hellinger"
    assert still["drawn"] == "still"
    assert "it has no formulas and shows what was computed beforehand" in still["lead"]
    assert "(hellinger divergence)" in still["setting"]
    # The controls go to the nearest setting that Python has computed, and the number there is Python's.
    for slider, place, name in (("risk-slider", 700, "risk"), ("mix-slider", 300, "theta1"), ("mix-slider", 0, "theta1")):
        shown = run(browser, SLIDE, slider, place)
        agrees(shown, profiled.stability(**setting_of(shown)))
        assert shown["value"][name] != own["value"][name]
        assert browser.run(LOOK)["curve"] == still["curve"]
    assert run(browser, PRICE) == "Other prices were not computed beforehand for hellinger divergence."
    # With a divergence that the page has formulas for, everything is computed anew.
    shown = run(browser, CHOOSE, "kl")
    assert number(shown["value"]["theta1"]) == math.inf
    agrees(shown, profiled.stability(**setting_of(shown)))
    # Back again, all is as it was.
    agrees(run(browser, CHOOSE, "hellinger"), result)
    assert browser.run(LOOK) == still
