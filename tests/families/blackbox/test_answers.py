"""What strangers' models answer: probabilities from `predict`, boosters out of memory, columns by position, rows by label."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tippingpoint as tp
from commands import Command
from tippingpoint.errors import InputError, ModelError, UnsupportedError

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
DATA = ("--data", "eval.csv", "--target", "y")


def cloud(classes: int = 2, rows: int = 120) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Points on a plane, in slices of the first axis."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 2))
    return x, np.clip(np.digitize(x[:, 0] + 0.3 * rng.normal(size=rows), np.linspace(-0.6, 0.6, classes - 1)), 0, classes - 1)


class Keras:
    """A network as Keras shows it: `predict` returns what the last layer does."""

    def __init__(self, said: Callable[[Any], Any]) -> None:
        self._said = said

    def predict(self, rows: Any) -> Any:
        return np.asarray(self._said(np.asarray(rows, dtype=float)))


def fitted(classes: int) -> tuple[Any, Any, LogisticRegression]:
    x, y = cloud(classes)
    return x, y, LogisticRegression().fit(x, y)


@pytest.mark.parametrize("shape", ["vector", "column", "wide"])
def test_probabilities_from_predict_are_no_labels(shape: str) -> None:
    x, y, model = fitted(2)
    cut: dict[str, Callable[[Any], Any]] = {
        "vector": lambda z: model.predict_proba(z)[:, 1],
        "column": lambda z: model.predict_proba(z)[:, 1:],
        "wide": model.predict_proba,
    }
    said, calls = Keras(cut[shape]), 20_000
    result = tp.stability(said, x, y, 0.4, calls=calls, **PRICES)
    twin = tp.stability(lambda z: model.predict_proba(z)[:, 1], x, y, 0.4, output="probability", calls=calls, **PRICES)
    exact = tp.stability(model, x, y, 0.4, **PRICES)
    assert result.current_risk == pytest.approx(np.mean(model.predict(x) != y))
    assert exact.value <= result.value <= 1.1 * exact.value
    assert result.value == pytest.approx(twin.value, rel=1e-6)
    assert any("returns probabilities" in note for note in result.notes)
    assert "returns probabilities" in str(result).replace("\n", " ")
    said_so = tp.stability(said, x, y, 0.4, output="probability", calls=calls, **PRICES)
    assert said_so.value == result.value
    assert not said_so.notes


def test_of_several_classes_too_also_where_the_data_lack_one() -> None:
    x, y, model = fitted(4)
    net = Keras(model.predict_proba)
    result = tp.stability(net, x, y, 0.6, calls=20_000, **PRICES)
    assert result.current_risk == pytest.approx(np.mean(model.predict(x) != y))
    kept = y != 2
    few = tp.stability(net, x[kept], y[kept], 0.6, calls=20_000, **PRICES)
    assert few.current_risk == pytest.approx(np.mean(model.predict(x[kept]) != y[kept]))
    words = np.array(["a", "b", "c", "d"])[y]
    with pytest.raises(InputError, match=r"classes=\[...\]|classes=\.\.\."):
        tp.stability(net, x[kept], words[kept], 0.6, calls=20_000)
    named = tp.stability(net, x[kept], words[kept], 0.6, calls=20_000, classes=["a", "b", "c", "d"], **PRICES)
    assert named.value == few.value


def test_an_output_that_is_said_is_obeyed_or_refused() -> None:
    x, y, model = fitted(2)
    labels, scores = Keras(model.predict), Keras(model.decision_function)
    with pytest.raises(InputError, match=r"output='label', but the model returns 0\.\d+, which is none of the labels"):
        tp.stability(Keras(lambda z: model.predict_proba(z)[:, 1]), x, y, 0.4, output="label")
    with pytest.raises(InputError, match=r"output='probability', but .* outside \[0, 1\]; say output='score'"):
        tp.stability(scores, x, y, 0.4, output="probability")
    with pytest.raises(InputError, match=r"predict returns .*, which is none of the labels .*output='score' if"):
        tp.stability(scores, x, y, 0.4)
    assert tp.stability(scores, x, y, 0.4, output="score", calls=20_000).current_risk < 0.4
    with pytest.raises(UnsupportedError, match="no decision_function, and its predict tells labels"):
        tp.stability(KNeighborsClassifier().fit(x, y), x, y, 0.4, output="score")
    with pytest.raises(UnsupportedError, match="output='probability' is said of classifiers"):
        tp.stability(scores, x, y, 0.4, loss="squared", output="probability")
    assert tp.stability(labels, x, y, 0.4, output="label", calls=20_000).current_risk == pytest.approx(
        np.mean(model.predict(x) != y)
    )
    seen: list[int] = []

    def brier(said: Any, truth: Any) -> Any:
        seen.append(np.ndim(said))
        return np.square((said[:, 1] if np.ndim(said) == 2 else said) - truth)

    boxed = type("Boxed", (), {"predict": staticmethod(model.predict), "predict_proba": staticmethod(model.predict_proba)})()
    tp.stability(boxed, x, y, 0.4, loss=brier, output="label", calls=5_000)
    assert set(seen) == {1}


def test_a_threshold_of_ones_own_is_said_where_probabilities_are_wanted() -> None:
    x, y, model = fitted(2)

    class Strict:
        classes_ = model.classes_
        predict_proba = staticmethod(model.predict_proba)

        def predict(self, rows: Any) -> Any:
            return (model.predict_proba(rows)[:, 1] > 0.7).astype(int)

    assert tp.stability(Strict(), x, y, 0.4, calls=9_000).current_risk == pytest.approx(np.mean(Strict().predict(x) != y))
    result = tp.stability(Strict(), x, y, 0.4, calls=9_000, output="probability")
    assert result.current_risk == pytest.approx(np.mean(model.predict(x) != y))
    assert any("predict disagrees" in note for note in result.notes)


def test_scores_that_looked_like_probabilities_are_found_out() -> None:
    x, y, model = fitted(2)
    sly = Keras(lambda z: np.where(np.abs(z).max(axis=1) > 3.5, 3.0, model.predict_proba(z)[:, 1]))
    with pytest.raises(InputError, match=r"3 lies outside \[0, 1\]; if they are scores, say output='score'"):
        tp.stability(sly, x, y, 0.4, calls=60_000, theta1=1e-3, theta2=float("inf"))


class Tabled:
    """A data set with a category, a gap and a label for boosters."""

    frame = pd.DataFrame({"age": np.random.default_rng(1).integers(20, 70, 240).astype(float)})
    frame["job"] = pd.Categorical(np.random.default_rng(2).choice(["clerk", "cook", "judge"], 240))
    frame.loc[::17, "age"] = np.nan
    good = ((frame["age"].fillna(40) > 45) ^ (frame["job"] == "cook")).astype(int)
    words = np.where(good == 1, "yes", "no")


def test_xgboost_boosters_are_what_their_wrappers_are() -> None:
    xgb = pytest.importorskip("xgboost")
    x, y = Tabled.frame, Tabled.good
    wrapper = xgb.XGBClassifier(n_estimators=8, max_depth=2, enable_categorical=True).fit(x, y)
    booster = wrapper.get_booster()
    space = tp.Space(movable=["job"])
    wanted = tp.stability(wrapper, x, y, 0.45, space=space, **PRICES)
    found = tp.stability(booster, x, y, 0.45, space=space, **PRICES)
    assert found.current_risk == wanted.current_risk
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    assert found.exact
    named = tp.stability(booster, x, Tabled.words, 0.45, space=space, classes=["no", "yes"], **PRICES)
    assert named.value == found.value
    assert tp.stability(booster, x[["job", "age"]], y, 0.45, space=space, **PRICES).value == found.value
    with pytest.raises(InputError, match=r"y holds the label '(no|yes)', but the booster numbers its classes, 0 to 1"):
        tp.stability(booster, x, Tabled.words, 0.45)
    with pytest.raises(InputError, match="trained on a column 'job', which X does not have"):
        tp.stability(booster, x[["age"]], y, 0.45)


def test_xgboost_softmax_margins_and_regressors() -> None:
    xgb = pytest.importorskip("xgboost")
    x, y = cloud(3)
    data = xgb.DMatrix(x, label=y)
    hard = xgb.train({"objective": "multi:softmax", "num_class": 3, "max_depth": 2}, data, 5)
    assert tp.stability(hard, x, y, 0.6).current_risk == pytest.approx(np.mean(hard.predict(data) != y))
    raw = xgb.train({"objective": "binary:logitraw", "max_depth": 2}, xgb.DMatrix(x, label=y > 0), 5)
    with pytest.raises(InputError, match="none of the labels"):
        tp.stability(raw, x, (y > 0).astype(int), 0.5)
    wrong = np.mean((raw.predict(data) > 0) != (y > 0))
    assert tp.stability(raw, x, (y > 0).astype(int), 0.5, output="score", calls=9_000).current_risk == pytest.approx(wrong)
    counts = xgb.train({"objective": "count:poisson"}, data, 5)
    result = tp.stability(counts, x, y, 3.0)
    assert result.loss == "squared"
    assert result.current_risk == pytest.approx(np.square(counts.predict(data) - y).mean())
    with pytest.raises(UnsupportedError, match=r"regressor \(count:poisson\), which has no classes"):
        tp.stability(counts, x, y, 3.0, classes=[0, 1, 2])


def test_lightgbm_boosters_are_what_their_wrappers_are() -> None:
    lgb = pytest.importorskip("lightgbm")
    x, y = Tabled.frame, Tabled.good
    wrapper = lgb.LGBMClassifier(n_estimators=8, num_leaves=4, verbose=-1).fit(x, y)
    space = tp.Space(movable=["job"])
    wanted = tp.stability(wrapper, x, y, 0.45, space=space, **PRICES)
    booster = wrapper.booster_
    found = tp.stability(booster, x, y, 0.45, space=space, **PRICES)
    assert found.current_risk == pytest.approx(np.mean(wrapper.predict(x) != y))
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    assert tp.stability(booster, x[["job", "age"]], y, 0.45, space=space, **PRICES).value == found.value
    assert tp.stability(booster, x, Tabled.words, 0.45, space=space, classes=["no", "yes"], **PRICES).value == found.value
    numbers = lgb.train({"objective": "regression", "verbose": -1}, lgb.Dataset(x, y), 5)
    assert tp.stability(numbers, x, y, 0.9).loss == "squared"


def test_boosters_take_polars_frames() -> None:
    xgb, pl = pytest.importorskip("xgboost"), pytest.importorskip("polars")
    x, y = cloud()
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    model = xgb.XGBClassifier(n_estimators=4).fit(frame, y)
    found = tp.stability(model.get_booster(), pl.DataFrame({"a": x[:, 0], "b": x[:, 1]}), y, 0.5)
    assert found.current_risk == pytest.approx(np.mean(model.predict(frame) != y))


def test_columns_without_names_are_taken_in_their_order_and_it_is_said(tmp_path: Path) -> None:
    x, y = cloud()
    frame = pd.DataFrame(x, columns=["debt", "age"])
    result = tp.stability(([1.0, 0.0], 0.0), frame, y, 0.4)
    assert any("in the order in which they stand: 'debt', 'age'" in note for note in result.notes)
    assert not tp.stability(([1.0, 0.0], 0.0), x, y, 0.4).notes
    array_fitted = LogisticRegression().fit(x, y)
    assert "note: the model names no columns" in str(tp.feature_stability(array_fitted, frame, y, 0.4))
    assert any("names no columns" in note for note in tp.stability(array_fitted, frame, y, 0.4).notes)
    assert not tp.stability(LogisticRegression().fit(frame, y), frame, y, 0.4).notes
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"coef": [1.0, 0.0], "features": ["debt", "age"]}))
    named = tp.load_model(path)
    assert tp.stability(named, frame[["age", "debt"]], y, 0.4).value == result.value
    assert not tp.stability(named, frame, y, 0.4).notes
    assert not tp.stability(tp.LinearModel.of([1.0, 0.0], features=["debt", "age"]), frame, y, 0.4).notes
    with pytest.raises(InputError, match="must list 2 different names"):
        tp.LinearModel.of([1.0, 0.0], features=["debt", "debt"])
    with pytest.raises(InputError, match="takes a column 'age', which X does not have; its columns are 'debt', 'wage'"):
        tp.stability(named, frame.rename(columns={"age": "wage"}), y, 0.4)


def test_onnx_with_one_input_says_so_on_the_command_line(place: Path, cli: Command) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    x, y = cloud()
    frame = pd.DataFrame(x, columns=["debt", "age"]).assign(y=y)
    frame.to_csv(place / "eval.csv", index=False)
    graph = skl2onnx.to_onnx(LogisticRegression().fit(x, y), x[:1].astype(np.float32), options={"zipmap": False})
    (place / "model.onnx").write_bytes(graph.SerializeToString())
    code, out, _ = cli("evaluate", "--model", "model.onnx", *DATA, "--risk", "0.4", "--calls", "3000")
    assert code == 0
    assert "in the order in which they stand: 'debt', 'age'" in " ".join(out.split())


def test_a_y_of_other_labels_is_matched_or_refused() -> None:
    x, y = cloud()
    frame = pd.DataFrame(x, columns=["a", "b"], index=[f"row {i}" for i in range(len(x))])
    truth, model = pd.Series(y, frame.index), ([1.0, 0.0], 0.0)
    wanted = tp.stability(model, frame, truth, 0.4)
    shuffled = truth.sample(frac=1.0, random_state=0)
    found = tp.stability(model, frame, shuffled, 0.4)
    assert found.value == wanted.value
    assert any("y was put in the order of the rows of X" in note for note in found.notes)
    weight = pd.Series(np.linspace(1.0, 2.0, len(x)), frame.index)
    weighted = tp.stability(model, frame, truth, 0.4, sample_weight=weight).value
    assert tp.stability(model, frame, truth, 0.4, sample_weight=weight[::-1]).value == weighted
    for other in (truth.reset_index(drop=True), truth.rename(lambda label: label + "!")):
        with pytest.raises(InputError, match=r"the index of y is not that of X: row 0 is 'row 0' in X .*y\.to_numpy\(\)"):
            tp.stability(model, frame, other, 0.4)
    renumbered = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    with pytest.raises(InputError, match="the index of y is not that of X"):
        tp.stability(model, renumbered, pd.Series(y).sample(frac=1.0, random_state=2), 0.4)
    with pytest.raises(InputError, match="the index of sample_weight"):
        tp.stability(model, frame, truth, 0.4, sample_weight=pd.Series(weight.to_numpy()))
    assert tp.stability(model, frame, truth.to_numpy(), 0.4).value == wanted.value
    assert not any("order of the rows" in note for note in wanted.notes)
    of_categories = pd.Series(y, pd.CategoricalIndex(frame.index))
    assert tp.stability(model, frame, of_categories, 0.4).value == wanted.value


def test_rows_of_a_repeated_index_are_positions() -> None:
    x, y = cloud()
    frame = pd.DataFrame(x, columns=["a", "b"], index=[7] * len(x))
    result = tp.stability(([1.0, 0.0], 0.0), frame, pd.Series(y, frame.index), 0.4)
    assert set(result.sensitive["row"]) == set(range(len(x)))
    assert any("the index of X holds 7 more than once" in note for note in result.notes)


def trained_on_categories(kind: str, path: Path) -> tuple[str, Any]:
    """A model of text and of numbers as categories, saved; and the model."""
    x = Tabled.frame.assign(zone=pd.Categorical(np.random.default_rng(3).choice([10, 20, 30], len(Tabled.frame))))
    y = Tabled.good ^ (x["zone"] == 30).astype(int)
    if kind == "xgboost":
        xgb = pytest.importorskip("xgboost")
        model = xgb.XGBClassifier(n_estimators=12, enable_categorical=True, max_cat_to_onehot=1).fit(x, y)
        model.save_model(path / "model.json")
        return "model.json", model
    if kind == "lightgbm":
        lgb = pytest.importorskip("lightgbm")
        model = lgb.LGBMClassifier(n_estimators=12, verbose=-1, min_child_samples=5).fit(x, y)
        model.booster_.save_model(path / "model.txt")
        return "model.txt", model
    skops = pytest.importorskip("skops.io")
    model = HistGradientBoostingClassifier(max_iter=12).fit(x, y)
    skops.dump(model, path / "model.skops")
    return "model.skops", model


@pytest.mark.parametrize("kind", ["xgboost", "lightgbm", "histograms"])
def test_categories_of_a_csv_are_those_of_the_training(kind: str, place: Path, cli: Command) -> None:
    name, model = trained_on_categories(kind, place)
    x = Tabled.frame.assign(zone=pd.Categorical(np.random.default_rng(4).choice([10, 20, 30], len(Tabled.frame))))[40:]
    x = x[(x["zone"] != 10) & (x["job"] != "clerk")]  # so that codes by the file alone would be others
    y = Tabled.good[x.index]
    x.assign(y=y).to_csv(place / "eval.csv", index=False)
    trust = ("--trust",) if kind == "histograms" else ()
    (place / "space.toml").write_text("frozen = ['age']\n")
    asked = ("--risk", "0.9", "--space", "space.toml", "--json", "out.json")
    code, _, err = cli("evaluate", "--model", name, *DATA, *trust, *asked)
    assert code == 0, err
    found = json.loads((place / "out.json").read_text())
    wanted = tp.stability(model, x, y, 0.9, space=tp.Space(frozen=["age"]))
    assert found["current_risk"] == pytest.approx(np.mean(model.predict(x) != y))
    assert found["value"] == pytest.approx(wanted.value, rel=1e-6)
    assert found["exact"]
    assert {"job", "zone"} <= {*wanted.sensitive.columns}
    assert set(wanted.sensitive["zone"].dropna()) <= {10, 20, 30}


def test_a_category_that_xgboost_never_saw_is_named(place: Path, cli: Command) -> None:
    name, _ = trained_on_categories("xgboost", place)
    jobs = [*Tabled.frame["job"].astype(str)[:-1], "pilot"]
    Tabled.frame.assign(zone=10, job=jobs, y=Tabled.good).to_csv(place / "eval.csv", index=False)
    code, _, err = cli("evaluate", "--model", name, *DATA, "--risk", "0.9")
    assert code == 2
    assert "X[239, 'job']='pilot' is none of its categories, 'clerk', 'cook', 'judge'" in err


def test_an_error_of_compiled_code_ends_where_its_stack_begins() -> None:
    def failing(rows: Any) -> Any:
        raise ValueError("[04:17:27] /workspace/src/data.cc:12: Check failed: no category q.\nStack trace:\n  [bt] (0) lib")

    x, y = cloud()
    with pytest.raises(ModelError) as caught:
        tp.stability(failing, x, y, 0.4)
    assert "(Check failed: no category q)" in str(caught.value)
    assert "Stack" not in str(caught.value)
    assert "/workspace" not in str(caught.value)


def gapped(rows: int = 60) -> tuple[pd.DataFrame, Any]:
    """Hours of work, as pandas has whole numbers with gaps, a trade, and whether the loan was repaid."""
    rng = np.random.default_rng(5)
    hours = rng.integers(30, 50, rows).astype(float)
    trade = rng.choice(["cook", "clerk", "judge"], rows).astype(object)
    good = (hours + 6 * (trade == "judge") + rng.normal(0, 3, rows) > 41).astype(int)
    hours[::9], trade[4::11] = np.nan, np.nan
    return pd.DataFrame({"hours": hours, "trade": trade}), good


def imputing(frame: pd.DataFrame, y: Any) -> Any:
    """A linear model behind imputers that say what was missing."""
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((SimpleImputer(add_indicator=True), ["hours"]), (words, ["trade"]))
    return make_pipeline(columns, LogisticRegression(C=10.0, max_iter=2000)).fit(frame, y)


@pytest.mark.parametrize("dtype", ["float64", "Int64"])
def test_whole_numbers_with_gaps_stay_whole(dtype: str) -> None:
    frame, y = gapped()
    frame = frame.astype({"hours": dtype})
    space = tp.Space.infer(frame)
    assert space.kind["hours"] == "integer"
    plain = gapped()[0]  # scikit-learn 1.4 cannot fit boosting on the nullable integers of pandas 2.1
    model = imputing(plain, y)
    for judged in (model, HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=3).fit(plain[["hours"]], y)):
        used = frame if judged is model else frame[["hours"]]
        result = tp.stability(judged, used, y, 0.5, space=tp.Space.infer(used), scale="std")
        hours = pd.to_numeric(result.sensitive["hours"]).dropna().astype(float)
        assert result.moved_share > 0.0
        assert (hours == hours.round()).all()
        assert result.sensitive["hours"].isna().any()


def least_costs(model: Any, frame: pd.DataFrame, y: Any, missing: dict[str, float]) -> Any:
    """The cheapest error of every row, by trying every place there is."""
    hours = [float(h) for h in range(30, 50)]
    places: list[tuple[Any, Any]] = list(itertools.product([*hours, np.nan], ["clerk", "cook", "judge", np.nan]))
    grid = pd.DataFrame(places, columns=["hours", "trade"])
    says = model.predict(grid)
    found = []
    held: list[tuple[Any, Any]] = list(frame.itertuples(index=False, name=None))
    for (h, t), label in zip(held, y, strict=True):
        costs = []
        for (to_h, to_t), said in zip(places, says, strict=True):
            if said == label or (pd.isna(h) and not pd.isna(to_h)) or (pd.isna(t) and not pd.isna(to_t)):
                continue
            far = 0.0 if pd.isna(h) else missing.get("hours", np.inf) if pd.isna(to_h) else 0.25 * (to_h - h) ** 2
            switch = 0.0 if pd.isna(t) or to_t == t else missing.get("trade", np.inf) if pd.isna(to_t) else 1.0
            costs.append(far + switch)
        found.append(min(costs, default=np.inf))
    return np.array(found)


@pytest.mark.parametrize("missing", [{}, {"hours": 0.4}, {"trade": 0.3}, {"hours": 0.7, "trade": 0.6}], ids=str)
@pytest.mark.parametrize("boxed", [False, True], ids=["closed form", "asked"])
def test_going_missing_has_its_price_and_no_other(missing: dict[str, float], boxed: bool) -> None:  # noqa: FBT001
    frame, y = gapped()
    linear = imputing(frame, y)
    model = linear.decision_function if boxed else linear
    space = tp.Space.infer(frame, price={"hours": 1.0}, missing=missing, lower={"hours": 30}, upper={"hours": 49})
    # Half-hours of two: the scale is of the hours, not of what it costs to go missing.
    result = tp.stability(model, frame, y, 0.6, space=space, scale={"hours": 2.0}, theta1=1.0, theta2=float("inf"))
    costs = np.sort(least_costs(linear, frame, y, missing))
    count = 0.6 * len(y)
    whole = int(count)
    wanted = (costs[:whole].sum() + (count - whole) * costs[min(whole, len(costs) - 1)]) / len(y)
    assert result.exact
    assert result.value == pytest.approx(wanted, rel=1e-6)
    shown = result.sensitive
    moved = shown[shown["cost"] > 0.0]
    assert set(linear.predict(moved[["hours", "trade"]]) == y[moved["row"]]) == {False}
    for name in ("hours", "trade"):
        gone = moved[name].isna() & frame[name].notna().to_numpy()[moved["row"]]
        assert not gone.any() or name in missing
    if missing == {"hours": 0.4}:
        assert (moved["hours"].isna() & frame["hours"].notna().to_numpy()[moved["row"]]).any()


def test_numbers_that_slide_may_go_missing_in_a_black_box_only() -> None:
    frame, y = gapped()
    model = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=3).fit(frame[["hours"]], y)
    hours = frame[["hours"]]
    without = tp.stability(model, hours, y, 0.5, theta2=float("inf"), theta1=1.0)
    result = tp.stability(model, hours, y, 0.5, space=tp.Space(missing={"hours": 1e-3}), theta2=float("inf"), theta1=1.0)
    assert result.exact
    assert result.value < without.value
    boxed = tp.Space(missing={"hours": 1e-3})
    function = tp.stability(model.decision_function, hours, y, 0.5, space=boxed, theta1=1.0, theta2=float("inf"))
    assert result.value <= function.value * (1.0 + 1e-9)
    assert function.value < without.value
    with pytest.raises(UnsupportedError, match=r"missing\['hours'\]: of a linear model, .* make it 'integer'"):
        tp.stability(imputing(frame, y), frame, y, 0.5, space=boxed)
    with pytest.raises(InputError, match=r"missing\['hours'\]: the model takes no missing values"):
        tp.stability(
            ([1.0], -40.0), hours.fillna(40.0), y, 0.5, space=tp.Space(kind={"hours": "integer"}, missing={"hours": 1.0})
        )
    with pytest.raises(InputError, match=r"missing\['hours'\]=0 must be a positive number"):
        tp.stability(model, hours, y, 0.5, space=tp.Space(missing={"hours": 0}))
    assert "hours    integer  30 to 49  1, missing 2" in str(tp.Space.infer(hours, missing={"hours": 2}))


def test_a_space_file_says_what_may_go_missing(place: Path, cli: Command) -> None:
    skops = pytest.importorskip("skops.io")
    frame, y = gapped()
    model = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=3).fit(frame[["hours"]], y)
    skops.dump(model, place / "model.skops")
    frame[["hours"]].assign(y=y).to_csv(place / "eval.csv", index=False)
    (place / "space.toml").write_text("infer = true\n[missing]\nhours = 0.001\n")
    asked = ("--risk", "0.5", "--space", "space.toml", "--trust", "--json", "out.json", "--sensitive", "q.csv")
    assert cli("evaluate", "--model", "model.skops", *DATA, *asked).code == 0
    wanted = tp.stability(model, frame[["hours"]], y, 0.5, space=tp.Space.infer(frame[["hours"]], missing={"hours": 0.001}))
    assert json.loads((place / "out.json").read_text())["value"] == pytest.approx(wanted.value)
    held = pd.read_csv(place / "q.csv")["hours"].dropna()
    assert (held == held.round()).all()


def test_rows_with_gaps_are_searched_as_well_as_others() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 5))
    y = (x @ [1.0, 0.8, 0.6, 0.4, 0.2] + 0.3 * rng.normal(size=120) > 0.0).astype(int)
    x[rng.random(x.shape) < 0.15] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(x, y)
    exact = tp.stability(model, x, y, 0.5, **PRICES).value
    assert exact <= tp.stability(model.decision_function, x, y, 0.5, calls=36_000, **PRICES).value <= 1.01 * exact


def test_spaces_in_names_that_lightgbm_keeps_as_underscores_are_found_again(place: Path, cli: Command) -> None:
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["mean radius", "worst_area"])
    y = (frame["mean radius"] > 0.0).astype(int)
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        booster = lgb.train(settings, lgb.Dataset(frame, y), 5)
    expected = tp.stability(booster, frame, y, 0.4)
    assert tp.stability(booster, frame[["worst_area", "mean radius"]], y, 0.4).current_risk == expected.current_risk
    booster.save_model(place / "model.txt")
    loaded = tp.load_model(place / "model.txt")
    np.testing.assert_array_equal(loaded.predict_proba(frame)[:, 1], booster.predict(frame))
    frame.assign(y=y).to_csv(place / "eval.csv", index=False)
    assert cli("evaluate", "--model", "model.txt", *DATA, "--risk", "0.4", "--quiet").code == 0
