"""Several tables of the same samples: paired by name, grouped by a column, with errors recomputed independently."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.results.comparisons import Comparison

INF = math.inf
N = 120


def runs(seed: int = 0, n: int = N) -> pd.DataFrame:
    """Two models asked the same questions in four wordings each; the lines of both, shuffled together."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        costs = [0.0, *rng.uniform(0.1, 1.0, 3).round(3)]
        hard = rng.uniform()
        for model, skill in (("small", 0.6), ("large", 0.85)):
            for variant, cost in zip(("original", "typo", "formal", "terse"), costs, strict=True):
                wrong = int(rng.uniform() < hard * (1.0 - skill) * (1.0 + 2.0 * cost))
                lines.append((f"q{i}", model, variant, cost, wrong))
    table = pd.DataFrame(lines, columns=["sample", "model", "variant", "cost", "loss"])
    return table.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def of(table: pd.DataFrame, model: str) -> pd.DataFrame:
    return table[table["model"] == model].drop(columns="model")


PRICES: dict[str, Any] = {"risk": 0.5, "theta1": 1.0, "theta2": 0.5}


def test_tables_of_two_models_are_compared_without_x_and_y() -> None:
    table = runs()
    compared = tp.compare({"small": of(table, "small"), "large": of(table, "large")}, **PRICES)
    for name, result in compared.results.items():
        assert result.value == pytest.approx(tp.profile_table(of(table, name)).stability(**PRICES).value, rel=1e-12)
    assert compared.results["small"].value < compared.results["large"].value


def test_a_column_of_groups_gives_a_profile_of_each_which_compare_takes_as_it_is() -> None:
    table = runs()
    profiles = tp.profile_table(table, by="model")
    assert list(profiles) == list(dict.fromkeys(table["model"]))
    for name, profile in profiles.items():
        alone = tp.profile_table(of(table, name)).stability(**PRICES)
        assert profile.stability(**PRICES).value == pytest.approx(alone.value, rel=1e-12)
    grouped = tp.compare({name: profiles[name] for name in ("small", "large")}, **PRICES)
    apart = tp.compare({name: of(table, name) for name in ("small", "large")}, **PRICES)
    pd.testing.assert_frame_equal(grouped.differences(), apart.differences(), rtol=1e-12)


def test_samples_are_paired_by_name_wherever_they_stand() -> None:
    """The same table in another order is no other table: its difference from itself is 0, with no error at all."""
    table = of(runs(), "small")
    shuffled = table.sample(frac=1.0, random_state=9)
    (row,) = tp.compare({"a": table, "again": shuffled}, **PRICES).pairs()
    assert row[2:4] == pytest.approx((0.0, 0.0), abs=1e-12)
    by_position = (
        tp.profile_table(shuffled).stability(**PRICES).influence - tp.profile_table(table).stability(**PRICES).influence
    )
    assert np.abs(by_position).max() > 0.1, "pairs by position would have had an error"


@pytest.mark.parametrize(("theta1", "theta2"), [(1.0, 0.5), (INF, 0.5), (1.0, INF)])
def test_the_paired_error_is_that_of_the_influences_recomputed_by_name(theta1: float, theta2: float) -> None:
    """From the lines of the tables and the formula of the dual alone, joined by pandas on the names of samples."""
    table = runs(1)
    asked: dict[str, Any] = {"risk": 0.4, "theta1": theta1, "theta2": theta2}
    compared = tp.compare({"small": of(table, "small"), "large": of(table, "large")}, **asked)
    joined = pd.DataFrame({name: effect(of(table, name), result) for name, result in compared.results.items()})
    assert len(joined) == N
    expected = (joined["large"] - joined["small"]).std(ddof=1) / math.sqrt(N)
    ((_, _, difference, error, low, high),) = compared.pairs()
    assert error == pytest.approx(expected, rel=1e-3)
    assert (low, high) == pytest.approx((difference - 1.959964 * error, difference + 1.959964 * error), rel=1e-6)


def effect(table: pd.DataFrame, result: tp.StabilityResult) -> Any:
    """What each sample adds to the dual, `h r - θ2 log E exp(max(h loss - θ1 cost)/θ2)`, at the price `h` of the answer."""
    moved = table["cost"] > 0.0
    paid = (result.theta1 * table["cost"].where(moved)).fillna(0.0)
    best = (result.price * table["loss"] - paid).groupby(table["sample"]).max()
    if math.isinf(result.theta2):
        return -best
    tilted = np.exp(best / result.theta2)
    return -result.theta2 * tilted / tilted.mean()


def test_the_paired_error_is_what_resampling_the_questions_gives() -> None:
    table = runs(2)
    compared = tp.compare({"small": of(table, "small"), "large": of(table, "large")}, **PRICES)
    ((_, _, _, error, _, _),) = compared.pairs()
    rng, found = np.random.default_rng(0), []
    names = [f"q{i}" for i in range(N)]
    for _ in range(150):
        drawn = pd.DataFrame({"sample": rng.choice(names, N), "copy": [f"c{k}" for k in range(N)]})
        again = drawn.merge(table, on="sample").drop(columns="sample").rename(columns={"copy": "sample"})
        values = {name: tp.profile_table(of(again, name)).stability(**PRICES).value for name in ("small", "large")}
        found.append(values["large"] - values["small"])
    assert np.std(found, ddof=1) == pytest.approx(error, rel=0.25)


def test_samples_that_one_side_lacks_are_named_and_refused_unless_told_otherwise() -> None:
    table = runs()
    small, large = of(table, "small"), of(table, "large")
    fewer = large[~large["sample"].isin(["q3", "q7"])]
    other = small[small["sample"] != "q5"]
    with pytest.raises(tp.InputError, match=r"'large' lacks 'q[37]', 'q[37]'.*118.*common=True"):
        tp.compare({"small": small, "large": fewer}, **PRICES)
    with pytest.warns(tp.PairingWarning, match=r"117 of 120.*'small' lacks 'q5'; 'large' lacks"):
        compared = tp.compare({"small": other, "large": fewer}, **PRICES, common=True)
    left = table[~table["sample"].isin(["q3", "q5", "q7"])]
    both = tp.compare({"small": of(left, "small"), "large": of(left, "large")}, **PRICES)
    pd.testing.assert_frame_equal(compared.differences(), both.differences(), rtol=1e-9)
    with pytest.raises(tp.InputError, match="no sample in common: 'small' lacks 'other q"):
        tp.compare({"small": small, "large": large.assign(sample="other " + large["sample"])}, **PRICES)


def test_other_weights_of_the_same_sample_are_refused() -> None:
    table = of(runs(), "small").assign(weight=1.0)
    heavier = table.assign(weight=np.where(table["sample"] == "q4", 2.0, 1.0))
    with pytest.raises(tp.InputError, match=r"sample 'q\d+' has 0\.008333 of the weight in 'a' and 0\.0\d+ in 'b'"):
        tp.compare({"a": table, "b": heavier}, **PRICES)
    assert tp.compare({"a": table, "b": table.assign(weight=3.0)}, **PRICES).pairs()[0][2] == pytest.approx(0.0, abs=1e-12)


def test_other_alternatives_are_said() -> None:
    table = of(runs(), "small")
    with pytest.warns(tp.PairingWarning, match=r"sample 'q\d+' has alternatives of the costs .* the unit of the costs"):
        tp.compare({"words": table, "characters": table.assign(cost=5 * table["cost"])}, **PRICES)
    fewer = table[(table["sample"] != "q9") | (table["variant"] != "terse")]
    for tables in ({"a": table, "b": fewer}, {"a": fewer, "b": table}):
        with pytest.warns(tp.PairingWarning, match=r"sample 'q9' has alternatives of the costs 0\.0, "):
            tp.compare(tables, **PRICES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tp.compare({"csv": table, "parquet": table.assign(cost=table["cost"] * (1 + 1e-12))}, **PRICES)


def test_a_forgotten_grouping_is_named_with_its_remedy() -> None:
    table = runs()
    with pytest.raises(tp.InputError, match=r"for each 'model'.*by='model' \(tippingpoint compare --by model\)"):
        tp.profile_table(table)
    some = table[(table["model"] == "small") | (table["sample"] == "q1")]  # the other model was asked one question only
    clash = some[(some["sample"] == "q1") & (some["cost"] == 0.0)].index
    some = some.assign(loss=some["loss"].where(some.index != clash[0], 1 - some.loc[clash[1], "loss"]))
    with pytest.raises(tp.InputError, match=r"sample 'q1' has several lines.*one for each 'model'.*by='model'"):
        tp.profile_table(some)
    unnamed = some.drop(columns=["model", "variant"])
    with pytest.raises(tp.InputError, match=r"several lines of cost 0.*table\[\d+\] and table\[\d+\]; keep the original; if"):
        tp.profile_table(unnamed)


def test_groups_whose_originals_happen_to_agree_are_not_pooled_in_silence() -> None:
    """Pooled, either model would be judged by the other's errors too."""
    lines = {"sample": ["a", "a", "b", "b"] * 2, "cost": [0, 1, 0, 1] * 2, "loss": [0, 0, 0, 1, 0, 1, 0, 0]}
    table = pd.DataFrame({**lines, "model": ["x"] * 4 + ["y"] * 4})
    with pytest.raises(tp.InputError, match="these are several tables in one; give by='model'"):
        tp.profile_table(table)
    assert list(tp.profile_table(table, by="model")) == ["x", "y"]
    assert tp.profile_table(table.drop(columns="model")).stability(0.5).samples == 2, "without it, it is one table"


def test_an_original_that_is_written_twice_is_no_grouping() -> None:
    lines = {"sample": ["a", "a", "a", "b", "b"], "cost": [0, 0, 1, 0, 1], "loss": [0, 0, 1, 0, 1]}
    table = pd.DataFrame({**lines, "variant": ["original", "comma", "typo", "original", "typo"]})
    assert tp.profile_table(table).stability(0.5).samples == 2


def test_polars_tables_give_polars_frames() -> None:
    polars = pytest.importorskip("polars")
    table = runs()
    frames = {name: polars.DataFrame(of(table, name).to_dict("list")) for name in ("small", "large")}
    compared = tp.compare(frames, **PRICES)
    assert isinstance(compared.differences(), polars.DataFrame)
    grouped = tp.compare(tp.profile_table(polars.DataFrame(table.to_dict("list")), by="model"), **PRICES)
    assert abs(grouped.pairs()[0][2]) == pytest.approx(abs(compared.pairs()[0][2]), rel=1e-12)


def test_profiles_of_models_on_the_same_rows_compare_as_the_models_do() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = np.where(x[:, 0] > 0.3 * rng.normal(size=80), "yes", "no")
    models: dict[str, Any] = {"a": ([1.0, 0.0], 0.0), "b": ([1.0, 0.5], 0.1)}
    asked: dict[str, Any] = {"risk": 0.4, "theta1": 1.0, "theta2": 0.5}
    profiles = {name: tp.profile(model, x, y) for name, model in models.items()}
    expected = tp.compare(models, x, y, **asked)
    pd.testing.assert_frame_equal(tp.compare(profiles, **asked).differences(), expected.differences())
    fewer = {**profiles, "b": tp.profile(models["b"], x[:50], y[:50])}
    with pytest.raises(tp.InputError, match="same data"):
        tp.compare(fewer, **asked)
    with pytest.raises(tp.InputError, match="judged by zero_one and 'b' by hinge"):
        tp.compare({**profiles, "b": tp.profile(models["b"], x, y, loss="hinge")}, **asked)


def test_profiles_of_black_boxes_are_no_tables() -> None:
    """What a search tried is nothing that was offered, and cannot be taken apart as if it were all that there is."""
    x = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(x[:, 0] > 0.1, 1, 0)
    models: dict[str, Any] = {
        "a": lambda rows: (np.asarray(rows)[:, 0] > 0.0).astype(int),
        "b": lambda rows: (np.asarray(rows)[:, 0] > 0.2).astype(int),
    }
    profiles = {name: tp.profile(model, x, y, calls=4_000) for name, model in models.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", tp.PairingWarning)
        compared = tp.compare(profiles, risk=0.5, theta1=1.0, theta2=0.5)
    assert not any(result.exact for result in compared.results.values())
    shifted = tp.profile(models["b"], x[:30], y[:30], calls=4_000)
    with pytest.raises(tp.InputError, match="'a' is of other rows than the others"):
        tp.compare({**profiles, "b": shifted}, risk=0.5, theta1=1.0, theta2=0.5)


GOOD = of(runs(), "small")

BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "no risk": (lambda: tp.compare({"a": GOOD, "b": GOOD}), "risk is missing"),
    "one table": (lambda: tp.compare({"a": GOOD}, risk=0.5), "at least two"),
    "a model among tables": (lambda: tp.compare({"a": GOOD, "b": ([1.0], 0.0)}, risk=0.5), "'b' is a tuple.*X and y"),
    "a loss": (lambda: tp.compare({"a": GOOD, "b": GOOD}, risk=0.5, loss="mae"), "loss='mae' has no meaning without X"),
    "calls": (lambda: tp.compare({"a": GOOD, "b": GOOD}, risk=0.5, calls=9), "calls=9 has no meaning without X"),
    "a table that is none": (
        lambda: tp.compare({"a": GOOD, "b": GOOD.drop(columns="loss")}, risk=0.5),
        "of 'b': the table has no column 'loss'",
    ),
    "groups by no column": (lambda: tp.profile_table(GOOD, by="vendor"), "no column 'vendor' for the groups"),
    "groups by the sample": (lambda: tp.profile_table(GOOD, by="sample"), "'sample' is named for sample and for by"),
    "a line of no group": (
        lambda: tp.profile_table(runs().assign(model=lambda t: t["model"].where(t.index != 6)), by="model"),
        r"table\['model'\]\[6\] is missing",
    ),
    "groups written alike": (
        lambda: tp.profile_table(GOOD.assign(run=[1, "1"] * (len(GOOD) // 2)), by="run"),
        "written alike",
    ),
    "a group without an original": (
        lambda: tp.profile_table(runs().query("model != 'small' or cost > 0"), by="model"),
        "of 'small' has no line of cost 0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_one_sentence(case: str) -> None:
    call, told = BAD[case]
    with pytest.raises(tp.InputError, match=told) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_comparison_of_tables_prints_and_draws(tmp_path: Any) -> None:
    table = runs()
    compared = tp.compare({"small": of(table, "small"), "large": of(table, "large")}, **PRICES)
    assert isinstance(compared, Comparison)
    assert "'large' is more stable than 'small'" in str(compared) or "Undecided" in str(compared)
    pytest.importorskip("matplotlib")
    compared.plot()
    first = compared.results["small"]
    page = first.report(tmp_path / "report.md", comparison=compared)
    assert "large" in page.read_text(encoding="utf-8")
