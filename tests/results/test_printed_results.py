"""What a result says, in print and in JSON."""

from __future__ import annotations

import math

import pytest

import tippingpoint as tp
from front import DIVERGENCES, INF, MODEL, PRICES, data


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize(("risk", "theta1", "theta2"), [(0.5, 1.0, 0.25), (0.8, INF, 0.2), (0.5, 0.2, INF), (0.05, 1.0, 1.0)])
def test_json_gives_the_result_back(divergence: str, risk: float, theta1: float, theta2: float) -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, risk, theta1=theta1, theta2=theta2, divergence=divergence)
    back = tp.StabilityResult.from_json(result.to_json())
    assert back.to_dict() == result.to_dict()
    assert str(back) == str(result)
    if not math.isnan(result.standard_error):
        assert back == result
    assert result.to_dict()["schema"] == "tippingpoint.stability/1"


def test_json_holds_infinities_that_any_reader_understands() -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, 0.9, theta1=1.0, theta2=INF, space=tp.Space(movable=[]))
    assert "Infinity" not in result.to_json()
    assert tp.StabilityResult.from_json(result.to_json()).value == INF


def test_a_result_from_json_says_that_its_data_are_gone() -> None:
    x, y = data()
    back = tp.StabilityResult.from_json(tp.stability(MODEL, x, y, 0.5).to_json())
    for ask in (lambda: back.sensitive, lambda: back.influence, back.bootstrap):
        with pytest.raises(tp.DetachedError, match=r"run stability\(\) again"):
            ask()


def test_print_tells_every_fact_in_words_on_one_screen() -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, 0.5, scale="std", **PRICES)
    said = str(result)
    assert len(said.splitlines()) <= 24
    assert max(map(len, said.splitlines())) < 80
    words = " ".join(said.split())
    facts = (
        f"Stability {result.value:.4g}",
        f"from {100 * result.current_risk:.3g}",
        "to 50",
        "exact",
        f"≥ {result.lower:.10g}",
        f"≤ {result.upper:.10g}",
        f"{result.standard_error:.2g}",
        f"{result.root_mean_square_move:.4g} standard deviations",
        f"{100 * result.moved_share:.3g}",
        f"{100 * result.effective_share:.3g}",
        f"{result.nats:.4g} nats",
        f"{result.corruption_excess:.4g}",
        f"{result.reweighting_excess:.4g}",
        f"{result.corruption_cost:.4g}",
        f"{result.reweighting_cost:.4g}",
    )
    for fact in facts:
        assert fact in words


def test_a_small_effective_sample_is_noted_and_warned_about() -> None:
    x, y = data(60)
    result = tp.stability(MODEL, x, y, 0.95, theta1=INF, theta2=1.0)
    assert result.effective_sample < 50.0
    assert "bootstrap" in str(result)
    with pytest.warns(tp.SmallSampleWarning, match="effective samples"):
        result.interval()


def test_the_interval_is_around_the_value_and_widens_with_the_level() -> None:
    x, y = data(2000)
    result = tp.stability(MODEL, x, y, 0.4, **PRICES)
    low, high = result.interval(0.95)
    assert (low + high) / 2.0 == pytest.approx(result.value)
    assert high - result.value == pytest.approx(1.959964 * result.standard_error, rel=1e-6)
    assert result.interval(0.5)[1] < high


def test_html_escapes_what_the_user_named() -> None:
    x, y = data()
    loss = tp.PiecewiseLinear([0.0, 1.0], [0.0, 1.0], title="<script>alert('x')</script>")
    result = tp.stability(MODEL, x, y, 1.5, loss=loss)
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert f"{result.value:.4g}" in html


def test_rounding_is_not_shown_as_a_number() -> None:
    x, y = data()
    told = str(tp.stability(MODEL, x, y, 1.0))
    assert "+ 0 reweighting (0%)" in told
    assert "e-" not in told.split("excess risk")[1].splitlines()[0]


def test_reweighting_within_a_cap_is_told_though_it_is_free() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    result = profile.stability(profile.risk + 0.01, divergence="cvar:0.5")
    assert (result.value, result.status) == (0.0, "already")
    assert "within the cap" in str(result)
    assert "effective" in str(result)


def test_bounds_that_disagree_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    told = "the two bounds agree to"
    assert told not in str(tp.stability(MODEL, x, y, 0.5))
    monkeypatch.setattr("tippingpoint.api.profiles.honest_lower", lambda _, primal: 0.9 * primal)
    assert f"{told} 0.1 only" in " ".join(str(tp.stability(MODEL, x, y, 0.5)).split())
