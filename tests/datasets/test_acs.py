"""Real people, in the columns of the Census: pipelines ranked by their raw features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import tippingpoint as tp
from real_data import real_data

INCOME = "acs2018_income_ca.csv.gz"
NUMBERS = ["AGEP", "WKHP", "SCHL"]
CATEGORIES = ["SEX", "COW", "MAR", "RELP", "RAC1P"]
PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
SPACE = tp.Space(kind=dict.fromkeys(NUMBERS, "integer"), price=dict.fromkeys(CATEGORIES, 0.1))


def people() -> tuple[Any, Any, Any, Any]:
    """600 Californians to train on, and 400 others."""
    table = pd.read_csv(real_data("acs/" + INCOME) / "acs" / INCOME)
    rows = np.random.default_rng(0).permutation(len(table))[:1000]
    x, y = table[NUMBERS + CATEGORIES].iloc[rows], table["LABEL"].iloc[rows]
    return x[:600], x[600:], y[:600], y[600:]


def pipelines() -> dict[str, Any]:
    one_hot = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), CATEGORIES))
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return {
        "linear": make_pipeline(one_hot, LogisticRegression(max_iter=2000)),
        "boosted": make_pipeline(
            make_column_transformer((codes, CATEGORIES), remainder="passthrough"),
            HistGradientBoostingClassifier(max_iter=20, random_state=0),
        ),
    }


@pytest.mark.parametrize("kind", ["linear", "boosted"])
def test_raw_columns_of_real_people_are_ranked_exactly_and_move_as_people_do(kind: str) -> None:
    x_train, x_test, y_train, y_test = people()
    model = pipelines()[kind].fit(x_train, y_train)
    ranked = tp.feature_stability(model, x_test, y_test, 0.4, space=SPACE, scale="std", **PAPER)
    frame = ranked.to_frame()
    assert set(frame["feature"]) == set(NUMBERS + CATEGORIES)
    assert frame["exact"].all(), "all of these features can be counted"
    assert frame["stability"].is_monotonic_increasing
    assert (frame["stability"] <= ranked.limit * (1.0 + 1e-9)).all()
    whole = tp.stability(model, x_test, y_test, 0.4, space=SPACE, scale="std", **PAPER)
    assert whole.value <= frame["stability"].min() * (1.0 + 1e-9), "all features are more freedom than one"
    assert whole.exact == (kind == "linear")
    q = whole.sensitive
    wrong = model.predict(q[x_test.columns]) != y_test.loc[q["row"]].to_numpy()
    assert float((q["weight"] * q["share"])[wrong].sum()) / len(x_test) == pytest.approx(0.4, rel=1e-9)
    for name in NUMBERS:
        assert (q[name] == q[name].round()).all()
        assert q[name].between(x_test[name].min(), x_test[name].max()).all()
    for name in CATEGORIES:
        assert set(q[name]) <= set(x_train[name]) | set(x_test[name])
