"""Pipelines in raw columns: what the package folds equals what the user's own pipeline says, tried out by brute force."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses import loss_named
from tippingpoint.preprocessing.encoders import encoded_columns

TEXTS, CODES, NUMBERS = ["job", "city"], ["code"], ["x", "z"]
KNOWN: dict[str, list[Any]] = {
    "job": ["clerk", "cook", "nurse"],
    "city": ["A", "B"],
    "code": [1, 2, 5],
    "flag": [False, True],
    "note": ["p", "q"],
}
pytestmark = pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning")  # the seed, by its old name
REACH = 12.0
"""How far, in score, a response is looked for."""


def people(n: int = 90, seed: int = 0) -> pd.DataFrame:
    """Text, whole numbers that mean categories, numbers, booleans, and gaps."""
    rng = np.random.default_rng(seed)
    city = rng.choice(KNOWN["city"], n).astype(object)
    city[rng.random(n) < 0.2] = np.nan
    z = rng.normal(size=n)
    z[rng.random(n) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "x": rng.normal(size=n) * 2.0,
            "job": rng.choice(KNOWN["job"], n, p=[0.5, 0.35, 0.15]),
            "city": city,
            "code": rng.choice(KNOWN["code"], n),
            "z": z,
            "flag": rng.random(n) < 0.4,
            "note": rng.choice(["p", "q"], n),
        },
        index=[f"r{i}" for i in range(n)],
    )


def outcome(frame: pd.DataFrame, seed: int = 1) -> FloatArray:
    rng = np.random.default_rng(seed)
    worth = frame["job"].map({"clerk": 0.0, "cook": 1.3, "nurse": -1.1}).fillna(0.3) + (frame["city"] == "A") * 0.9
    score = 0.8 * frame["x"] + worth + 0.3 * frame["code"] - 0.7 * frame["z"].fillna(0.5) + 0.9 * frame["flag"]
    return np.asarray(score - score.mean() + 0.8 * rng.normal(size=len(frame)), dtype=float)


def filled(strategy: str, **settings: Any) -> Any:
    return make_pipeline(SimpleImputer(strategy=strategy, **settings), StandardScaler())


def encoded(encoder: Any, columns: list[str] | None = None, numbers: Any = None) -> Any:
    numbers = filled("mean") if numbers is None else numbers
    return make_column_transformer((encoder, columns or [*TEXTS, *CODES]), (numbers, NUMBERS), ("passthrough", ["flag"]))


def dense(**settings: Any) -> OneHotEncoder:
    return OneHotEncoder(sparse_output=False, **settings)


ENCODINGS: dict[str, Callable[[], Any]] = {
    "one-hot, sparse": lambda: encoded(OneHotEncoder()),
    "one-hot, dense": lambda: encoded(dense()),
    "one-hot, first dropped": lambda: encoded(OneHotEncoder(drop="first")),
    "one-hot, binary dropped, booleans too": lambda: make_column_transformer(
        (dense(drop="if_binary"), ["flag", *TEXTS]), (filled("mean"), [*NUMBERS, "code"])
    ),
    "one-hot, rare ones together": lambda: encoded(dense(min_frequency=0.25)),
    "one-hot, at most two": lambda: encoded(dense(max_categories=2)),
    "one-hot, unknown ignored": lambda: encoded(dense(handle_unknown="ignore", drop="first")),
    "ordinal": lambda: encoded(OrdinalEncoder(encoded_missing_value=-1)),
    "by target": lambda: encoded(TargetEncoder(random_state=0)),
    "gaps by median": lambda: encoded(dense(), numbers=filled("median")),
    "gaps by a constant": lambda: encoded(dense(), numbers=filled("constant", fill_value=2.5)),
    "gaps told": lambda: encoded(dense(), numbers=filled("mean", add_indicator=True)),
    "gaps filled before encoding": lambda: encoded(make_pipeline(SimpleImputer(strategy="most_frequent"), dense())),
    "gaps a category of their own": lambda: encoded(
        make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), dense()), TEXTS
    ),
    "scaled after encoding": lambda: make_pipeline(encoded(dense()), StandardScaler()),
    "scaled, sparse": lambda: make_pipeline(encoded(OneHotEncoder()), StandardScaler(with_mean=False)),
    "components": lambda: make_pipeline(encoded(dense()), PCA(4, whiten=True, random_state=0)),
    "the rest as it is": lambda: make_column_transformer(
        (dense(), [*TEXTS, "code", "note"]), (SimpleImputer(), ["z"]), remainder="passthrough"
    ),
    "codes as numbers too": lambda: make_column_transformer(
        (dense(), [*TEXTS, "code"]), (StandardScaler(), ["x", "code"]), (filled("mean"), ["z"]), ("passthrough", ["flag"])
    ),
    "frames inside": lambda: encoded(dense()).set_output(transform="pandas"),
    "one inside another": lambda: make_column_transformer(
        (make_pipeline(encoded(dense()), MinMaxScaler()), [*TEXTS, *CODES, *NUMBERS, "flag"])
    ),
}


def encoded_by(encoding: str) -> list[str]:
    """The columns that are categories to a pipeline, or text."""
    more = {
        "one-hot, binary dropped, booleans too": ["flag"],
        "gaps a category of their own": [],
        "the rest as it is": ["code", "note"],
    }
    return [*TEXTS, *more.get(encoding, CODES)]


def scored(model: Any, frame: pd.DataFrame) -> FloatArray:
    """`(n, K)` scores, by the user's own model."""
    raw = model.decision_function(frame) if hasattr(model, "decision_function") else model.predict(frame)
    return np.asarray(raw, dtype=float).reshape(len(frame), -1)


def neighbours(row: pd.DataFrame, choices: list[str]) -> tuple[pd.DataFrame, FloatArray]:
    """A row with every choice of categories, and how many switches each takes; gaps stay gaps."""
    options = []
    for name in choices:
        here = row[name].iloc[0]
        options.append([here] if pd.isna(here) else [here, *(value for value in KNOWN[name] if value != here)])
    rows = pd.concat([row] * math.prod(len(each) for each in options))
    switches = np.zeros(len(rows))
    for k, values in enumerate(zip(*itertools.product(*options), strict=True)):
        here = row[choices[k]].iloc[0]
        rows[choices[k]] = pd.Series(list(values), index=rows.index, dtype=row[choices[k]].dtype)
        switches += [0.0 if pd.isna(here) or value == here else 1.0 for value in values]
    return rows, switches


def compliance(model: Any, row: pd.DataFrame, choices: list[str]) -> FloatArray:
    """`(K, m)`: what a unit of each number adds to every score; nothing where it is missing."""
    numbers = [name for name in ("x", "z", "code", "flag") if name not in choices]
    start = scored(model, row)[0]
    gains = []
    for name in numbers:
        step = row.copy()
        step[name] = step[name].astype(float) + 1.0
        gains.append(np.zeros_like(start) if pd.isna(row[name].iloc[0]) else scored(model, step)[0] - start)
    return np.array(gains).T


def nearest_error(model: Any, row: pd.DataFrame, label: int, choices: list[str]) -> float:
    """The least cost of an error, over every choice of categories and the straight way to every boundary."""
    rows, switches = neighbours(row, choices)
    scores, gains = scored(model, rows), compliance(model, row, choices)
    if scores.shape[1] == 1:
        scores, gains = np.column_stack((-scores, scores)) / 2.0, np.vstack((-gains, gains)) / 2.0
    best = math.inf
    for rival in range(scores.shape[1]):
        if rival != label:
            margin = np.maximum(scores[:, label] - scores[:, rival], 0.0)
            push = float(np.square(gains[label] - gains[rival]).sum())
            with np.errstate(divide="ignore", invalid="ignore"):
                cost = switches + np.where(margin > 0.0, np.square(margin) / push, 0.0)
            best = min(best, float(np.min(cost)))
    return best


def fitted(encoding: str, last: Any, y: Any, frame: pd.DataFrame) -> Any:
    return make_pipeline(ENCODINGS[encoding](), last).fit(frame, y)


def weighted_error(model: Any, result: Any, y: Any, columns: list[Any], index: Any) -> float:
    """The error rate of the user's own model on Q*."""
    q = result.sensitive
    truth = pd.Series(list(y), index=index)[q["row"]].to_numpy()
    wrong = model.predict(q[columns]) != truth
    return float((q["weight"] * q["share"] * wrong).sum() / len(y))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_nearest_error_is_the_least_over_all_rows_of_the_raw_table(encoding: str, classes: int) -> None:
    frame = people()
    labels = np.array(["low", "mid", "top"])[np.digitize(outcome(frame), [0.0] if classes == 2 else [-0.8, 0.8])]
    last = LogisticRegression(max_iter=2000) if classes == 2 else LinearSVC(random_state=0, max_iter=20000)
    model = fitted(encoding, last, labels, frame)
    few = frame.iloc[:9]
    y = labels[:9]
    profile = tp.profile(model, few, y, scale="raw")
    assert profile.oracle.exact
    right = model.predict(few) == y
    assert profile.oracle.losses.tolist() == (~right).astype(float).tolist()
    names = sorted(set(labels))
    near = profile.oracle.peak().cost
    for i in np.flatnonzero(right).tolist():
        brute = nearest_error(model, few.iloc[[i]], names.index(y[i]), encoded_by(encoding))
        assert near[i] == pytest.approx(brute, rel=1e-6, abs=1e-9)
    result = profile.stability(0.7, theta1=1.0, theta2=0.5)
    assert weighted_error(model, result, y, list(few), few.index) == pytest.approx(0.7, rel=1e-9)


LOSSES: dict[str, Any] = {
    "hinge": LinearSVC(random_state=0, max_iter=20000),
    "logistic": LogisticRegression(max_iter=2000),
    "squared": Ridge(),
    "absolute": Ridge(),
}


@pytest.mark.parametrize("encoding", ["one-hot, first dropped", "ordinal", "by target", "gaps told", "components"])
@pytest.mark.parametrize("name", LOSSES)
def test_no_row_of_the_raw_table_beats_the_best_response_and_some_come_close(name: str, encoding: str) -> None:
    """`max λ·loss - cost` over every choice of categories and a fine grid of pushes, by the user's own model."""
    frame, loss = people(), loss_named(name)
    target = outcome(frame)
    y = target if loss.task == "regression" else np.where(target > 0.0, 1.0, -1.0)
    model = fitted(encoding, LOSSES[name], y, frame)
    few = frame.iloc[:5]
    oracle = tp.profile(model, few, y[:5], loss=name, scale="raw").oracle
    choices = encoded_by(encoding)
    pushes = np.linspace(-REACH, REACH, 4001)
    for lam in (0.3, 0.8):
        if lam > 0.7 * oracle.ceiling:
            continue
        response = oracle.respond(lam)
        value = lam * (oracle.losses + response.lift) - response.cost
        for i in range(5):
            rows, switches = neighbours(few.iloc[[i]], choices)
            gain = float(np.square(compliance(model, few.iloc[[i]], choices)).sum())
            reached = scored(model, rows) + pushes
            v = y[i] - reached if loss.task == "regression" else -y[i] * reached
            found = lam * loss.value(v) - switches[:, None] - np.square(pushes) / gain
            assert found.max() <= value[i] + 1e-9
            assert found.max() >= value[i] - 1e-3 * (1.0 + abs(value[i]))


def dummies(frame: pd.DataFrame, groups: dict[str, list[str]]) -> pd.DataFrame:
    """Text columns as 0/1 columns, one a category."""
    columns: dict[str, Any] = {}
    for name in frame:
        if name in groups:
            columns |= {f"{name}={value}": (frame[name].astype(str) == value) * 1.0 for value in groups[name]}
        else:
            columns[str(name)] = frame[name]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("name", ["zero_one", "hinge", "logistic", "squared", "huber"])
def test_a_pipeline_equals_the_same_model_on_dummies_with_one_hot_groups(name: str) -> None:
    """By hand: dummies, coefficients as they stand in the fitted steps, and a space that knows which belong together."""
    frame = people(60).drop(columns=["z", "flag", "note"]).assign(city=lambda f: f["city"].fillna("C"))
    target = outcome(frame.assign(z=0.0, flag=False))
    regression = loss_named(name).task == "regression"
    y = target if regression else np.where(target > 0.0, "yes", "no")
    encoder = make_column_transformer((StandardScaler(), ["x", "code"]), (dense(), ["job", "city"]))
    model = make_pipeline(encoder, Ridge() if regression else LogisticRegression()).fit(frame, y)
    scaler, coef = model[0].transformers_[0][1], np.ravel(model[-1].coef_)
    groups = {"job": ["clerk", "cook", "nurse"], "city": ["A", "B", "C"]}
    plain = dummies(frame, groups)
    slopes = coef[:2] / scaler.scale_
    by_name = dict(zip(["x", "code", *(c for c in map(str, plain) if "=" in c)], [*slopes, *coef[2:]], strict=True))
    by_hand = tp.LinearModel.of(
        [by_name[str(c)] for c in plain],
        float(np.ravel(model[-1].intercept_)[0] - slopes @ scaler.mean_),
        None if regression else ["no", "yes"],
    )
    one_hot = {group: [f"{group}={value}" for value in values] for group, values in groups.items()}
    shared: dict[str, Any] = {"price": {"job": 0.7, "x": 2.0}, "upper": {"x": 8.0}, "switch": {"city": "frequency"}}
    settings: dict[str, Any] = {"loss": name, "theta1": 1.0, "theta2": 0.25, "scale": "raw"}
    now = tp.profile(model, frame, y, loss=name, scale="raw").risk
    risk = 0.5 if name == "zero_one" else 1.5 * now
    ours = tp.stability(model, frame, y, risk, space=tp.Space(**shared), **settings)
    theirs = tp.stability(by_hand, plain, y, risk, space=tp.Space(**shared, one_hot=one_hot), **settings)
    assert ours.exact
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)
    assert ours.moved_share == pytest.approx(theirs.moved_share)
    moved, same = ours.sensitive, theirs.sensitive
    assert moved["cost"].to_numpy() == pytest.approx(same["cost"].to_numpy(), rel=1e-6, abs=1e-9)
    pd.testing.assert_frame_equal(dummies(moved[list(frame)], groups), same[list(plain)], check_dtype=False, rtol=1e-6)


@pytest.mark.parametrize("drop", [None, "first"])
def test_a_category_that_the_encoder_never_saw_may_stay_but_nobody_goes_there(drop: str | None) -> None:
    frame = people()
    y = np.where(outcome(frame) > 0.0, 1, 0)
    model = make_pipeline(encoded(dense(handle_unknown="ignore", drop=drop)), LogisticRegression()).fit(frame, y)
    later = frame.iloc[:40].copy()
    later.iloc[:6, list(later).index("job")] = "pilot"
    cheap = tp.Space(price={"job": 0.05})
    result = tp.stability(model, later, y[:40], 0.8, theta1=1.0, theta2=math.inf, space=cheap)
    assert result.exact
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn tells of unknown categories where the first is dropped
        assert weighted_error(model, result, y[:40], list(later), later.index) == pytest.approx(0.8, rel=1e-9)
    was = later["job"].loc[result.sensitive["row"]].to_numpy()
    now = result.sensitive["job"].to_numpy()
    assert (now[was != "pilot"] != "pilot").all()
    assert (now[was == "pilot"] != "pilot").any(), "a clerk may come of a pilot"


def test_what_a_model_does_not_use_stays_and_what_is_missing_too() -> None:
    frame = people()
    y = np.where(outcome(frame) > 0.0, "yes", "no")
    model = make_pipeline(encoded(dense()), LogisticRegression()).fit(frame, y)
    dear = tp.Space(price={"x": 20.0, "flag": 20.0, "job": 20.0})
    q = tp.stability(model, frame, y, 0.8, theta1=1.0, theta2=math.inf, space=dear).sensitive
    before = frame.loc[q["row"]].reset_index(drop=True)
    assert (q["note"] == before["note"]).all()
    for name in ("city", "z"):
        assert (q[name].isna() == before[name].isna()).all()
        assert (q[name] != before[name]).loc[before[name].notna()].any()


@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_which_columns_are_categories_and_which_categories_are_known_is_read_off_the_pipeline() -> None:
    """What an imputer puts in place of a gap is none to move to; columns that it drops shift no other."""
    frame = people().assign(empty=np.nan)
    imputer = SimpleImputer(strategy="constant", fill_value="none", add_indicator=True)
    gone = make_pipeline(SimpleImputer(strategy="most_frequent", add_indicator=True), OrdinalEncoder())
    steps = make_column_transformer(
        (make_pipeline(imputer, dense(handle_unknown="ignore")), TEXTS), (gone, ["empty", "code", "flag"]), ("drop", ["note"])
    )
    model = make_pipeline(make_pipeline(steps, "passthrough"), LogisticRegression()).fit(frame, outcome(frame) > 0.0)
    assert encoded_columns(model, list(map(str, frame))) == {
        "job": KNOWN["job"],
        "city": KNOWN["city"],
        "code": KNOWN["code"],
        "flag": KNOWN["flag"],
    }
    assert encoded_columns(LogisticRegression(), ["a"]) == {}


def in_polars(frame: pd.DataFrame) -> Any:
    polars = pytest.importorskip("polars")
    columns = {name: [None if pd.isna(value) else value for value in frame[name]] for name in frame}
    return polars.DataFrame(columns).with_columns(
        polars.col("job").cast(polars.Enum(["nurse", "clerk", "cook", "smith"])), polars.col("city").cast(polars.Categorical)
    )


TYPES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "text": lambda frame: frame,
    "objects": lambda frame: frame.astype({"job": object, "city": object}),
    "categories": lambda frame: frame.assign(
        job=pd.Categorical(frame["job"], ["nurse", "clerk", "cook", "smith"]),
        city=pd.Categorical(frame["city"], ["B", "A"], ordered=True),
    ),
    "nullable": lambda frame: frame.assign(
        job=frame["job"].astype("string"), code=frame["code"].astype("Int64"), z=frame["z"].astype("Float64")
    ),
    "narrow": lambda frame: frame.astype({"code": "int8", "x": "float32"}),
    "polars": in_polars,
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_columns_survive_and_change_nothing(kind: str) -> None:
    frame = people().astype({"x": "float32"}).astype({"x": float})  # so that narrow ones hold the same numbers
    y = np.where(outcome(frame) > 0.0, "yes", "no")
    typed = TYPES[kind](frame)
    flags = make_pipeline(dense(handle_unknown="ignore"))
    steps = make_column_transformer((flags, [*TEXTS, "code", "flag"]), (filled("mean"), NUMBERS))
    model = make_pipeline(steps, LogisticRegression())
    plain = tp.stability(model.fit(frame, y), frame, y, 0.6, theta1=1.0, theta2=0.5, scale="raw")
    result = tp.stability(model.fit(typed, y), typed, y, 0.6, theta1=1.0, theta2=0.5, scale="raw")
    assert result.exact
    assert result.value == pytest.approx(plain.value, rel=1e-5)
    q = result.sensitive
    assert type(q) is type(typed)
    moves = [*TEXTS, "code", "flag", "note", *(["z"] if kind == "nullable" else [])]
    assert [q[name].dtype for name in moves] == [typed[name].dtype for name in moves]
    row = [list(frame.index).index(r) if isinstance(r, str) else int(r) for r in q["row"]]
    wrong = model.predict(q[list(frame)]) != y[row]
    assert float((np.asarray(q["weight"]) * np.asarray(q["share"]) * wrong).sum() / len(y)) == pytest.approx(0.6, rel=1e-6)


def test_a_search_for_parameters_is_what_it_found() -> None:
    frame = people()
    y = outcome(frame) > 0.0
    search = GridSearchCV(make_pipeline(encoded(dense()), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, cv=3)
    search.fit(frame, y)
    ours = tp.stability(search, frame, y, 0.6, scale="raw")
    assert ours.exact
    assert ours.value == tp.stability(search.best_estimator_, frame, y, 0.6, scale="raw").value


LABELS: dict[str, Any] = {
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "booleans": np.array([False, True]),
    "whole numbers": np.array([3, 11]),
    "floats": np.array([-1.0, 1.0]),
    "categories": pd.Categorical(["no", "yes"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(kind: str) -> None:
    frame = people()
    index = (outcome(frame) > 0.0).astype(int)
    model = make_pipeline(encoded(dense()), LogisticRegression())
    y = pd.Series(LABELS[kind][index], index=frame.index)
    result = tp.stability(model.fit(frame, y), frame, y, 0.6, scale="raw")
    assert result.value == pytest.approx(tp.stability(model.fit(frame, index), frame, index, 0.6, scale="raw").value)
    assert weighted_error(model.fit(frame, y), result, y, list(frame), frame.index) == pytest.approx(0.6, rel=1e-9)


def test_an_array_of_codes_is_read_as_the_pipeline_encodes_it() -> None:
    """No names, no types: which columns are categories is known from the pipeline alone."""
    frame = people()[["x", "code", "z"]].fillna(0.5).assign(kind=people()["job"].map({"clerk": 10, "cook": 20, "nurse": 40}))
    y = np.where(outcome(people()) > 0.0, 1, 0)
    model = make_pipeline(make_column_transformer((dense(), [1, 3]), remainder="passthrough"), LogisticRegression())
    ours = tp.stability(model.fit(frame.to_numpy(), y), frame.to_numpy(), y, 0.6, scale="raw")
    theirs = tp.stability(model.fit(frame, y), frame, y, 0.6, scale="raw")
    assert ours.exact
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)
    assert set(ours.sensitive["x1"]) <= {1.0, 2.0, 5.0}
    assert (ours.sensitive["x3"].to_numpy() == theirs.sensitive["kind"].to_numpy()).all()


def test_columns_in_another_order_and_columns_more_are_found_by_name() -> None:
    frame = people()
    y = np.where(outcome(frame) > 0.0, 1, 0)
    model = make_pipeline(encoded(dense()), LogisticRegression()).fit(frame.drop(columns="note"), y)
    plain = tp.stability(model, frame.drop(columns="note"), y, 0.6, scale="raw")
    shuffled = tp.stability(model, frame[["note", "z", "code", "job", "flag", "x", "city"]], y, 0.6, scale="raw")
    assert shuffled.value == pytest.approx(plain.value, rel=1e-9)


def test_a_word_of_the_user_beats_what_the_pipeline_suggests() -> None:
    """An ordinal column behind a one-hot encoder moves by levels; one that is said to be fixed does not move."""
    y = np.where(outcome(people()) > 0.0, 1, 0)
    frame = people().assign(job=lambda f: pd.Categorical(f["job"], ["nurse", "clerk", "cook"], ordered=True))
    model = make_pipeline(encoded(dense()), LogisticRegression()).fit(frame, y)
    space = tp.Space(kind={"job": "ordinal", "city": "fixed"}, movable=["job", "city"], direction={"job": "up"})
    profile = tp.profile(model, frame, y, space=space)
    everyone = profile.stability(0.9, theta1=1.0, theta2=math.inf).largest_risk
    assert everyone is not None
    q = profile.stability(everyone, theta1=1.0, theta2=math.inf).sensitive
    before = frame.loc[q["row"]].reset_index(drop=True)
    levels = q["job"].cat.codes.to_numpy() - before["job"].cat.codes.to_numpy()
    assert q["cost"].to_numpy() == pytest.approx(np.square(levels.astype(float)))
    assert set(levels) == {0, 1, 2}
    assert q["city"].equals(before["city"])
