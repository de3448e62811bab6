"""What a stability is held against: numbers that can be had another way, and words that mean one number each."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.api.profiles import Profile
from tippingpoint.report import render_markdown, render_page


def profile(loss: str = "zero_one", weights: Any = None) -> Profile:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = np.where(x["a"] - x["b"] + rng.normal(size=200) > 0.0, 1, -1)
    return tp.profile(([1.0, -1.0, 0.1], 0.0), x, y, loss=loss, sample_weight=weights)


def held(summary: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in summary["yardsticks"]}


def test_each_kind_of_change_alone_is_what_the_profile_says_of_it() -> None:
    asked = profile()
    summary = asked.stability(0.5, theta1=1.0, theta2=0.25).report_summary()
    found = held(summary)
    assert found["reweighting"]["value"] == pytest.approx(asked.stability(0.5, theta1=math.inf, theta2=0.25).value)
    assert found["moving"]["value"] == pytest.approx(asked.stability(0.5, theta1=1.0, theta2=math.inf).value)
    assert found["reweighting"]["name"] == "reweighting alone (θ2 = 0.25)"
    assert found["moving"]["name"] == "moving alone (θ1 = 1)"


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_sampling_noise_is_the_difference_between_random_halves(loss: str) -> None:
    asked = profile(loss)
    result = asked.stability(asked.risk + 0.4, theta1=1.0, theta2=0.25)
    noise = held(result.report_summary())["noise"]
    losses, dice = asked.oracle.losses, np.random.default_rng(0)
    halves = (dice.permutation(losses).reshape(2, -1).mean(axis=1) for _ in range(20_000))
    typical = math.sqrt(np.mean([(one - other) ** 2 for one, other in halves]))
    assert noise["risk"] - result.current_risk == pytest.approx(typical, rel=0.02)
    assert noise["value"] == pytest.approx(asked.stability(noise["risk"], theta1=1.0, theta2=0.25).value)
    assert noise["value"] < result.value


def test_the_page_and_markdown_say_how_many_times_the_noise_it_is() -> None:
    result = profile().stability(0.5, theta1=1.0, theta2=0.25)
    summary = result.report_summary()
    times = result.value / held(summary)["noise"]["value"]
    said = f"the stability is {times:,.0f} times that"
    assert times > 10.0
    for told in (render_page(summary), render_markdown(summary)):
        assert "Two random halves of these rows typically differ by" in told
        assert said in told


def test_a_threshold_within_the_noise_is_called_that() -> None:
    asked = profile()
    summary = asked.stability(asked.risk + 0.005, theta1=1.0, theta2=0.25).report_summary()
    assert "chance alone may reach it" in summary["words"]["noise"]


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_the_same_price_pays_for_what_the_words_say(divergence: str) -> None:
    result = profile().stability(0.5, theta1=1.0, theta2=0.25, divergence=divergence)
    told = result.report_summary()["words"]["equivalents"]
    found = re.fullmatch(
        r"For the same price, (\S+), one could instead leave out any (\S+)% of the rows, or move every row by (\S+) .*\.", told
    )
    assert found is not None, told
    price, share, distance = float(found[1]), float(found[2]) / 100.0, float(found[3])
    assert price == pytest.approx(result.value, rel=1e-3)
    weight = 1.0 / (1.0 - share)  # of the rows that are left
    reweighting = math.log(weight) if divergence == "kl" else (1.0 - share) * (weight - 1.0) ** 2 + share
    assert 0.25 * reweighting == pytest.approx(price, rel=0.02)
    assert 1.0 * distance**2 == pytest.approx(price, rel=0.02)


def test_the_same_words_never_mean_two_numbers() -> None:
    """One kind of change alone always comes with its price; at the ends of the dial that is another one than the report's."""
    asked = profile()
    result = asked.stability(0.5, theta1=1.0, theta2=0.25)
    ranked = tp.feature_stability(
        ([1.0, -1.0, 0.1], 0.0), pd.DataFrame(np.eye(3), columns=["a", "b", "c"]), [1, -1, 1], 0.9, theta1=1.0, theta2=0.25
    )
    summary = result.report_summary(features=ranked)
    page = re.sub(r"<script.*?</script>|<style.*?</style>", "", render_page(summary), flags=re.DOTALL)
    for told in (page, render_markdown(summary)):
        assert not re.search(r"(reweighting|moving|reweight|move) (only|alone)(?! \(θ[12] = )", told)
    assert "reweighting alone (θ2 = 0.2)" in page
    left = summary["tradeoff"]["value"][0]
    assert left == pytest.approx(asked.stability(0.5, theta1=math.inf, theta2=0.2).value)
    assert held(summary)["reweighting"]["value"] != pytest.approx(left)


@pytest.mark.parametrize("settings", [{"theta1": math.inf, "theta2": 0.5}, {"theta1": 1.0, "theta2": math.inf}])
def test_where_one_kind_is_forbidden_there_is_nothing_to_tell_apart(settings: dict[str, Any]) -> None:
    summary = profile().stability(0.5, **settings).report_summary()
    assert set(held(summary)) == {"noise"}
    render_page(summary)
    render_markdown(summary)


def test_weights_count_in_the_noise() -> None:
    weights = np.where(np.arange(200) < 100, 3.0, 0.5)
    asked = profile(weights=weights)
    noise = held(asked.stability(0.6, theta1=1.0, theta2=0.25).report_summary())["noise"]
    off = asked.oracle.losses - asked.risk
    expected = 2.0 * math.sqrt(float((asked.base**2 * off**2).sum() / (1.0 - (asked.base**2).sum())))
    assert noise["risk"] - asked.risk == pytest.approx(expected)
