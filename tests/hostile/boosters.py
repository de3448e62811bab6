"""Real files of boosters, small ones of every kind, and rows for their models."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

FORMATS = ("json", "ubj", "txt")
"""XGBoost's two and LightGBM's one."""


def data(rows: int = 160, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Two numbers, a column of categories and holes; and labels 0, 1, 2 that depend on all."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["size", "age"])
    frame["town"] = pd.Categorical(rng.choice(list("abcdefgh"), rows), categories=list("abcdefgh"))
    score = frame["size"] + frame["age"] * (frame["town"].cat.codes % 2) + frame["town"].cat.codes / 4
    frame.loc[::7, "age"] = np.nan
    return frame, np.digitize(score, np.quantile(score, (1 / 3, 2 / 3)))


@cache
def originals() -> dict[str, dict[str, bytes]]:
    """Small real files, by their format and what they are."""
    import lightgbm
    import xgboost

    frame, labels = data()
    plain = frame[["size", "age"]].to_numpy()
    binary = (labels > 0).astype(int)
    small = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    boosted = {
        "binary": xgboost.XGBClassifier(**small).fit(plain, binary),
        "several classes, categories": xgboost.XGBClassifier(enable_categorical=True, **small).fit(frame, labels),
        "dart": xgboost.XGBRegressor(booster="dart", **small).fit(plain, labels),
        "pruned": xgboost.XGBRegressor(tree_method="exact", gamma=3, **small).fit(plain, labels),
        "linear": xgboost.XGBRegressor(booster="gblinear", n_estimators=3).fit(np.nan_to_num(plain), labels),
    }
    few = {"n_estimators": 3, "num_leaves": 5, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}
    light = {
        "binary": lightgbm.LGBMClassifier(**few).fit(plain, binary),
        "several classes, categories": lightgbm.LGBMClassifier(min_data_per_group=2, cat_smooth=1, **few).fit(frame, labels),
        "linear leaves": lightgbm.LGBMRegressor(linear_tree=True, **few).fit(plain, labels),
    }
    return {
        "json": {name: bytes(model.get_booster().save_raw("json")) for name, model in boosted.items()},
        "ubj": {name: bytes(model.get_booster().save_raw("ubj")) for name, model in boosted.items()},
        "txt": {name: model.booster_.model_to_string().encode() for name, model in light.items()},
    }


def rows_for(model: Any) -> np.ndarray[Any, Any]:
    """A few rows that a model out of a booster's file takes: zeros, draws and holes."""
    source = getattr(model, "source", model)
    count = source.get_booster().num_features() if hasattr(source, "get_booster") else source.num_feature()
    draws = np.random.default_rng(0).normal(size=(2, count))
    return np.vstack((np.zeros(count), draws, 3.0 * np.abs(draws), np.full(count, np.nan)))
