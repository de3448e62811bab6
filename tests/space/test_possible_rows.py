"""The sensitive distribution never holds an impossible row, whatever the frame and the space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tippingpoint.api.cases import prepared
from tippingpoint.data.frames import read_features
from tippingpoint.preprocessing.encoders import encoded_columns
from tippingpoint.space import Space

INF, NAN = math.inf, math.nan


GRADES, JOBS = ["low", "mid", "top"], ["a", "b", "c"]


@st.composite
def drawn_frames(draw: st.DrawFn) -> pd.DataFrame:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(12, 30))
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(2) * 2.0,
            "k": rng.integers(0, 6, n) * draw(st.sampled_from([1, 3])),
            "far": rng.integers(0, 900, n),
            "grade": [*GRADES, *rng.choice(GRADES, n - 3)],
            "job": [*JOBS, *rng.choice(JOBS, n - 3)],
            "flag": rng.random(n) < 0.5,
        }
    )
    frame[["d0", "d1", "d2"]] = np.eye(3)[rng.integers(0, 3, n)]
    for name in draw(st.sets(st.sampled_from(["x", "k", "job"]))):
        frame[name] = frame[name].where(pd.Series(rng.random(n) < 0.8) | (frame.index < 3))
    return frame


@st.composite
def drawn_spaces(draw: st.DrawFn, frame: pd.DataFrame) -> Space:
    names = ["x", "k", "far", "grade", "job", "flag", "dummy"]
    ways = st.sampled_from(["up", "down"])
    shared: dict[str, Any] = draw(
        st.sampled_from([{}, {"frozen": draw(st.sets(st.sampled_from(names), max_size=3))}, {"movable": names[1:5]}])
    )
    bounds, room = {}, st.floats(0.0, 2.0).map(round)
    for name in draw(st.sets(st.sampled_from(["x", "k", "far"]))):
        inside = draw(st.booleans())
        low, high = float(frame[name].quantile(0.2)), float(frame[name].quantile(0.8))
        bounds[name] = (low, high) if inside else (float(frame[name].min()) - draw(room), float(frame[name].max()) + draw(room))
    step = {"k": 3.0} if set(frame["k"].dropna() % 3) == {0.0} and draw(st.booleans()) else {}
    return Space(
        kind={"k": "integer", "far": "integer", "grade": "ordinal", "flag": draw(st.sampled_from(["categorical", "numeric"]))},
        categories={"grade": GRADES},
        one_hot={"dummy": ["d0", "d1", "d2"]},
        lower={name: ends[0] for name, ends in bounds.items()},
        upper={name: ends[1] for name, ends in bounds.items()},
        outliers="keep",
        direction=draw(st.dictionaries(st.sampled_from(["x", "k", "far", "grade"]), ways)),
        price=draw(st.dictionaries(st.sampled_from(names), st.floats(0.05, 3.0))) | {"far": 1e-3},
        switch=draw(
            st.sampled_from(
                [{}, {"job": "frequency"}, {"job": {"a": {"b": 0.3}, "c": {"a": 0.1}}}, {"dummy": {"d0": {"d2": 0.2}}}]
            )
        ),
        step=step,
        **shared,
    )


def pipeline_for(frame: pd.DataFrame, y: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    text = make_column_transformer(
        (OneHotEncoder(drop="first"), ["grade"]),
        (OneHotEncoder(), ["job"]),
        (numbers, ["x", "k", "far"]),
        remainder="passthrough",
    )
    return make_pipeline(text, LogisticRegression(max_iter=1000)).fit(frame, y)


@settings(max_examples=40)
@given(data=st.data(), loss=st.sampled_from(["zero_one", "hinge", "logistic"]), by=st.sampled_from(["raw", "std"]))
def test_no_row_of_q_is_impossible(data: st.DataObject, loss: str, by: str) -> None:
    frame = data.draw(drawn_frames())
    space = data.draw(drawn_spaces(frame))
    y = np.random.default_rng(len(frame)).random(len(frame)) < 0.5
    assume(0 < y.sum() < len(y))
    model = pipeline_for(frame, y)
    case = prepared(model, frame, y, {}, loss=loss, sample_weight=None, space=space, scale=by)
    profile = case.profile()
    risk = 0.9 if loss == "zero_one" else 1.4 * profile.risk
    q = profile.stability(risk, theta1=1.0, theta2=2.0).sensitive
    was = frame.loc[q["row"]].reset_index(drop=True)

    moves = set(space.movable or ["x", "k", "far", "grade", "job", "flag", "dummy"]) - set(space.frozen)
    for name in ("x", "k", "far", "grade", "job", "flag"):
        assert (q[name].isna() == was[name].isna()).all(), "what is missing stays missing"
        held = was[name].notna()
        before, after = was.loc[held, name], q.loc[held, name]
        if name not in moves:
            assert (before == after).all()
        if name in ("grade", "job"):
            levels = GRADES if name == "grade" else JOBS
            assert after.isin(levels).all()
        if name == "flag" and space.kind["flag"] == "categorical":
            assert after.isin([False, True]).all()
        if name in ("x", "k", "far"):
            assert (after >= np.fmin(space.lower.get(name, -INF), before) - 1e-9).all()  # type: ignore[union-attr]
            assert (after <= np.fmax(space.upper.get(name, INF), before) + 1e-9).all()  # type: ignore[union-attr]
        if name in ("k", "far"):
            assert ((after - before) % space.step.get(name, 1.0) == 0.0).all()
            inside = [frame[name].min(), frame[name].max()]
            assert name in space.lower or after.between(*inside).all(), "without bounds, within the range observed"  # type: ignore[operator]
        if name in space.direction:
            places = (before.map(GRADES.index), after.map(GRADES.index)) if name == "grade" else (before, after)
            change = places[1] - places[0]
            assert (change >= 0).all() if space.direction[name] == "up" else (change <= 0).all()
    assert (np.sort(q[["d0", "d1", "d2"]].to_numpy(), axis=1) == [0.0, 0.0, 1.0]).all()
    changed = (q[["d0", "d1", "d2"]] != was[["d0", "d1", "d2"]]).any(axis=1)
    assert "dummy" in moves or not changed.any()
    if space.switch.keys() == {"dummy"}:
        assert ((was["d0"] == 1.0) & (q["d2"] == 1.0))[changed].all(), "the only switch on the table"

    known = encoded_columns(model, list(map(str, frame.columns)))
    x, z = (read_features(rows, space.read_as(known, rows)).x for rows in (was, q[list(frame)]))
    assert case.domain.distance(x, z) == pytest.approx(q["cost"].to_numpy(), rel=1e-6, abs=1e-9)
    assert case.domain.distance(x, x).max() == 0.0


def test_the_distance_to_an_impossible_row_is_infinite() -> None:
    frame = pd.DataFrame(
        {"x": [1.0, NAN], "job": ["a", None], "k": [1, 2], "d0": [1.0, 0.0], "d1": [0.0, 1.0], "z": [0.0, 1.0]}
    )
    space = Space(kind={"k": "integer"}, one_hot={"d": ["d0", "d1"]}, frozen=["z"], upper={"x": 2.0})
    features = read_features(frame)
    domain = space.resolve(features)
    x = features.x
    assert domain.distance(x, x).tolist() == [0.0, 0.0]

    def moved(row: int, **columns: float) -> float:
        z = x[[row]].copy()
        for name, value in columns.items():
            z[0, list(frame).index(name)] = value
        return float(domain.distance(x[[row]], z)[0])

    assert moved(0, x=1.5, k=2.0, d0=0.0, d1=1.0) == pytest.approx(0.25 + 1.0 + 1.0)
    assert moved(0, x=2.5) == INF, "beyond a bound"
    assert moved(0, x=NAN) == INF, "nobody goes missing"
    assert moved(1, x=0.0) == INF, "what is missing stays"
    assert moved(0, job=NAN) == INF
    assert moved(1, job=0.0) == INF
    assert moved(0, job=1.0) == INF, "no such category"
    assert moved(0, k=1.5) == INF
    assert moved(0, d1=1.0) == INF, "both dummies"
    assert moved(0, d0=0.0) == INF, "no dummy"
    assert moved(0, z=0.1) == INF, "frozen"


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_no_row_is_farther_away_than_the_farthest(data: st.DataObject) -> None:
    frame = data.draw(drawn_frames())
    space = data.draw(drawn_spaces(frame))
    features = read_features(frame, space.read_as({}, frame))
    domain, x = space.resolve(features), features.x
    apart = np.stack([domain.distance(x, np.roll(x, shift, axis=0)) for shift in range(len(x))])
    assert apart[np.isfinite(apart)].max() <= domain.farthest(x) * (1.0 + 1e-12)
