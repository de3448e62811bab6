"""What a result says, in print and in JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import tippingpoint as tp
from front import DIVERGENCES, INF, MODEL, PRICES, data
from tippingpoint.results.comparisons import Comparison


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


def people(n: int = 160) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """A number, text, an order, a one-hot group, and numbers that may go missing."""
    rng = np.random.default_rng(0)
    hot = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n),
            "job": rng.choice(list("abcd"), n),
            "level": pd.Categorical(rng.choice(["low", "mid", "high"], n), categories=["low", "mid", "high"], ordered=True),
            **{f"hot_{k}": (hot == k).astype(float) for k in range(3)},
        }
    )
    score = frame["age"] + 20 * (frame["job"] == "a") + 8 * frame["level"].cat.codes + 5 * hot + rng.normal(0, 8, n)
    return frame, (score > score.median()).to_numpy().astype(int)


def of_people(model: Any) -> Any:
    x, y = people()
    levels = OrdinalEncoder(categories=[["low", "mid", "high"]], handle_unknown="use_encoded_value", unknown_value=-1)
    columns = [(OneHotEncoder(), ["job"]), (levels, ["level"]), (SimpleImputer(), ["age"])]
    return make_pipeline(make_column_transformer(*columns, remainder="passthrough"), model).fit(x, y)


HOT = [f"hot_{k}" for k in range(3)]
SPACES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "a category": ({"movable": ["job"], "price": {"job": 0.2}}, {"job"}),
    "a one-hot group": ({"movable": ["hot"], "price": {"hot": 0.3}}, {"hot"}),
    "an order": ({"movable": ["level"]}, {"level"}),
    "a category and a number": ({"movable": ["job", "age"], "price": {"job": 0.05}}, {"job", "age"}),
    "everything": ({"price": {"job": 0.1, "hot": 0.1}}, {"job", "age", "level", "hot"}),
    "a number that may go missing": ({"movable": ["age"], "missing": {"age": 0.05}}, {"age"}),
    "all that and missing values": ({"missing": {"age": 0.1}, "price": {"job": 0.05}}, {"job", "age", "level", "hot"}),
}


LINEAR, TREES = LogisticRegression(max_iter=999), RandomForestClassifier(6, max_depth=4, random_state=0)


@pytest.mark.parametrize(
    ("name", "model"),
    [(name, TREES) for name in SPACES] + [(name, LINEAR) for name, (changes, _) in SPACES.items() if "missing" not in changes],
)
def test_only_numbers_have_a_distance_and_categories_a_share(name: str, model: Any) -> None:
    changes, movable = SPACES[name]
    x, y = people()
    space = tp.Space.infer(x).edit(**changes)
    result = tp.stability(of_people(model), x, y, risk=0.3, scale="std", space=space)
    q, now = result.sensitive, x.loc[result.sensitive["row"]].reset_index(drop=True)
    lost = (q["age"].isna() & now["age"].notna()).to_numpy()
    hot = (q[HOT].to_numpy() != now[HOT].to_numpy()).any(axis=1)
    other = (q["job"].to_numpy() != now["job"].to_numpy()) | (q["level"].astype(str) != now["level"].astype(str)).to_numpy()
    far = np.where(lost, 0.0, (q["age"].to_numpy() - now["age"].to_numpy()) / x["age"].std(ddof=0))
    share = q["share"].to_numpy() / len(x)
    assert result.category_share == pytest.approx((share * (hot | other)).sum())
    assert result.missing_share == pytest.approx((share * lost).sum())
    assert result.root_mean_square_move == pytest.approx(np.sqrt((q["mass"] * far**2).sum()), abs=1e-12)
    said = " ".join(str(result).split())
    distance = result.root_mean_square_move > 0.0
    assert ("standard deviations" in said) == distance
    assert ("change category" in said) == (result.category_share > 0.0)
    assert ("lose a value" in said) == (result.missing_share > 0.0)
    report = result.report_summary()
    words = report["words"]
    assert ("standard deviations" in words["sentence"]) == distance
    assert distance or "standard deviations" not in f"{words['prices']} {words['equivalents']}"
    moved = {move["feature"]: move for move in report["moves"]}
    assert set(moved) <= movable
    assert {each for each, move in moved.items() if move["switches"]} == set(moved) - {"age"}
    assert tp.StabilityResult.from_json(result.to_json()).to_dict() == result.to_dict()


def test_data_in_partitions_that_change_in_both_ways_have_a_mean_cost(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    x, y = people()
    model = of_people(LogisticRegression(max_iter=999))
    for k, part in enumerate(np.array_split(np.arange(len(x)), 2)):
        x.iloc[part].assign(level=x["level"].astype(str), y=y[part]).to_parquet(tmp_path / f"{k}.parquet")
    for name, told in (("a category", "change category"), ("a category and a number", "mean cost")):
        space = tp.Space.infer(x).edit(**SPACES[name][0])
        whole = tp.stability(model, x, y, risk=0.3, scale="std", space=space)
        result = tp.stability(model, str(tmp_path / "*.parquet"), "y", risk=0.3, scale="std", space=space)
        assert result.moved_share == pytest.approx(whole.moved_share)
        assert math.isnan(result.category_share) == (told == "mean cost")
        said = " ".join(str(result).split())
        assert told in said
        assert "standard deviations" not in said


def test_tables_print_not_found_where_a_search_found_nothing() -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    y = np.ones(20, dtype=int)
    asked: dict[str, Any] = {"output": "label", "calls": 200, "classes": [0, 1]}
    prices: dict[str, Any] = {"theta1": 1.0, "theta2": INF}

    def constant(rows: Any) -> Any:
        return np.ones(len(rows))

    def sign(rows: Any) -> Any:
        return (np.asarray(rows)[:, 0] > 0.0).astype(int)

    curve = tp.profile(constant, x, y, **asked).curve([0.2, 0.5], **prices)
    ranked = tp.feature_stability(constant, x, y, risk=0.5, **asked, **prices)
    compared = tp.compare({"a": constant, "b": sign}, x, y, risk=0.9, **asked, **prices)
    first, *_ = compared.results.values()
    assert {first.status, *(each.status for each in curve)} == {"not_found"}
    for table in (curve, ranked, compared):
        lines = str(table).splitlines()
        assert sum("not found  " in line for line in lines) == 2
        assert any(line.startswith("not found: ") for line in lines)
    assert "nothing" not in str(ranked)
    page = first.report_summary(comparison=compared, features=ranked)
    assert {row["standing"] for row in page["features"]["rows"]} == {"not found"}


def test_a_comparison_prints_the_notes_of_its_results_once() -> None:
    x, y = data()
    models = {"now": MODEL, "next": MODEL}
    compared = tp.compare(models, x, y, 0.5, theta1=1.0, theta2=0.25)
    one, other = compared.results.values()
    shared = Comparison({"now": replace(one, notes=("both", "mine")), "next": replace(other, notes=("both",))})
    lines = str(shared).splitlines()
    assert lines.count("note: both.") == 1
    assert lines.count("note ('now'): mine.") + lines.count("note (now): mine.") == 1
