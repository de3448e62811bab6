"""Frames, labels and weights of every kind give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import tippingpoint as tp
from front import COEF, DIVERGENCES, INF, MODEL, PRICES, data
from tippingpoint.data.frames import read_features


def frames() -> dict[str, Any]:
    """The same numbers in every kind of frame, some columns of small whole numbers."""
    polars = pytest.importorskip("polars")
    x, _ = data()
    x = np.column_stack([x[:, 0], np.round(x[:, 1]), x[:, 2] > 0.0])
    plain = pd.DataFrame({"a": x[:, 0], "b": x[:, 1].astype(int), "c": x[:, 2].astype(bool)})
    index = pd.MultiIndex.from_tuples([("s", f"{i:03d}") for i in range(len(x))])
    return {
        "array": x,
        "list": x.tolist(),
        "array in Fortran order": np.asarray(x, order="F"),
        "pandas": plain,
        "pandas, shuffled index": plain.set_axis(np.random.default_rng(0).permutation(len(x))),
        "pandas, two-level index": plain.set_axis(index),
        "pandas, nullable": plain.astype({"a": "Float64", "b": "Int16", "c": "boolean"}),
        "pandas, numbered columns": plain.set_axis([0, 1, 2], axis=1),
        "polars": polars.DataFrame({"a": x[:, 0], "b": x[:, 1].astype(int), "c": x[:, 2].astype(bool)}),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_frame_gives_the_same_numbers(kind: str) -> None:
    _, y = data()
    every = frames()
    expected = tp.stability(MODEL, every["array"], y, 0.5, **PRICES)
    result = tp.stability(MODEL, every[kind], y, 0.5, **PRICES)
    assert result.value == pytest.approx(expected.value, rel=1e-12)
    assert result.nats == pytest.approx(expected.nats, rel=1e-12)
    ours, theirs = (told.sensitive.to_numpy()[:, 1:].astype(float) for told in (result, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


def test_rows_of_an_arrow_table_keep_the_names_of_their_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "age": [30, 41, 52], "job": ["cook", "clerk", "cook"]})
    features = read_features(arrow.Table.from_pandas(frame, preserve_index=False))
    rebuilt = features.native_at(np.arange(3), features.x[::-1])
    assert rebuilt.to_pandas().equals(frame[::-1].reset_index(drop=True))


def test_pandas_rows_are_named_by_their_index() -> None:
    _, y = data()
    for kind in ("pandas, shuffled index", "pandas, two-level index"):
        x = frames()[kind]
        q = tp.stability(MODEL, x, y, 0.5, theta1=0.4, theta2=INF).sensitive
        assert set(q["row"]) == set(x.index)
        stays = q[q["cost"] == 0.0]
        np.testing.assert_array_equal(stays["a"], x.loc[list(stays["row"]), "a"])


def test_polars_in_gives_polars_out_everywhere() -> None:
    polars = pytest.importorskip("polars")
    _, y = data()
    x = frames()["polars"]
    profile = tp.profile(MODEL, x, polars.Series(y), sample_weight=polars.Series(np.ones(len(y))))
    comparison = tp.compare({"one": MODEL, "other": (COEF, 0.0)}, x, y, 0.5)
    told = (
        profile.stability(0.5).sensitive,
        profile.curve([0.4, 0.5]).to_frame(),
        comparison.to_frame(),
        comparison.differences(),
    )
    for frame in told:
        assert isinstance(frame, polars.DataFrame)
    assert told[0].columns[:7] == ["row", "weight", "share", "mass", "loss_before", "loss", "cost"]
    assert told[0].columns[7:] == ["a", "b", "c"]


LABELS: dict[str, Any] = {
    "str": np.array(["no", "yes"]),
    "bool": np.array([False, True]),
    "int": np.array([0, 1]),
    "odd ints": np.array([-7, 3]),
    "float": np.array([0.0, 1.0]),
    "object": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("wrapped", [np.asarray, list, pd.Series, pd.Categorical])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_give_the_same_stability(kind: str, wrapped: Any) -> None:
    x, y = data()
    labels = LABELS[kind][(y > 0).astype(int)]
    assert tp.stability(MODEL, x, wrapped(labels), 0.5) == tp.stability(MODEL, x, y, 0.5)
    fitted = LogisticRegression().fit(x, labels)
    plain = (fitted.coef_, fitted.intercept_)
    assert tp.stability(fitted, x, wrapped(labels), 0.5).value == tp.stability(plain, x, y, 0.5).value


def test_nullable_and_polars_labels_are_labels() -> None:
    polars = pytest.importorskip("polars")
    x, y = data()
    expected = tp.stability(MODEL, x, y, 0.5)
    assert tp.stability(MODEL, x, pd.Series(y > 0, dtype="boolean"), 0.5) == expected
    assert tp.stability(MODEL, x, pd.Series(np.where(y > 0, "yes", "no"), dtype="string"), 0.5) == expected
    assert tp.stability(MODEL, x, polars.Series(np.where(y > 0, "yes", "no")), 0.5) == expected


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
@pytest.mark.parametrize(("theta1", "theta2"), [(1.0, 0.25), (INF, 0.2), (0.2, INF)])
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_dropped(
    loss: str, divergence: str, theta1: float, theta2: float
) -> None:
    x, y = data(60)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    weights[:2] = (0, 3)
    asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
    weighted = tp.profile(MODEL, x, y, loss=loss, sample_weight=weights)
    repeated = tp.profile(MODEL, np.repeat(x, weights, axis=0), np.repeat(y, weights), loss=loss)
    assert weighted.risk == pytest.approx(repeated.risk, rel=1e-12)
    risk = weighted.risk + 0.2
    one, other = (profile.stability(risk, **asked) for profile in (weighted, repeated))
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.corruption_excess == pytest.approx(other.corruption_excess, rel=1e-6, abs=1e-12)
    assert one.samples == np.count_nonzero(weights)
    assert set(one.sensitive["row"]) == set(np.flatnonzero(weights))


def test_only_the_ratio_of_weights_counts() -> None:
    x, y = data(60)
    weights = np.random.default_rng(2).random(len(y))
    for scale in (1e-300, 1e300):
        assert tp.stability(MODEL, x, y, 0.5, sample_weight=weights * scale).value == pytest.approx(
            tp.stability(MODEL, x, y, 0.5, sample_weight=weights).value, rel=1e-12
        )


def test_weights_keep_their_rows_in_a_frame_with_an_index_of_its_own() -> None:
    x, y = data(60)
    frame = pd.DataFrame(x, columns=["a", "b", "c"], index=[f"r{i}" for i in range(60)])
    weights = pd.Series(np.arange(60) % 3, index=frame.index)
    q = tp.stability(MODEL, frame, y, 0.6, sample_weight=weights).sensitive
    assert list(dict.fromkeys(q["row"])) == [name for name, weight in weights.items() if weight > 0]
