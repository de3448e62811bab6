"""Small models of every library, trained once a process, and their files."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@dataclass(frozen=True)
class Workshop:
    """Where the files are, the data, and the models that were saved."""

    home: Path
    x: pd.DataFrame
    y: Any
    amount: Any
    models: dict[str, Any]


class Bomb:
    """Leaves a folder `exploded` where it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("exploded",)


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The one workshop of all tests of a process."""
    home = tmp_path_factory.mktemp("workshop")
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(90, 3)).round(3), columns=["a", "b", "c"])
    y = pd.Series(np.where(x["a"] + x["b"] * x["c"] + rng.normal(0, 0.4, 90) > 0.0, "yes", "no"))
    amount = (x["a"] - 2.0 * x["b"] + rng.normal(0, 0.2, 90)).round(4)
    x.assign(y=y).to_csv(home / "eval.csv", index=False)
    x.assign(y=(y == "yes").astype(int)).to_csv(home / "numbered.csv", index=False)
    x.assign(y=amount).to_csv(home / "amounts.csv", index=False)
    models = {
        "linear": make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y),
        "forest": RandomForestClassifier(5, max_depth=3, random_state=0).fit(x, y),
        "regression": LinearRegression().fit(x, amount),
    }
    return Workshop(home, x, y, amount, {**models, **_boosters(home, x, y, amount), **_files(home, models, x)})


def _boosters(home: Path, x: pd.DataFrame, y: Any, amount: Any) -> dict[str, Any]:
    import lightgbm
    import xgboost

    boosted = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(x, (y == "yes").astype(int))
    for suffix in ("json", "ubj"):
        boosted.save_model(home / f"boosted.{suffix}")
    numbers = xgboost.XGBRegressor(n_estimators=5, max_depth=2).fit(x, amount)
    numbers.save_model(home / "boosted-amount.ubj")
    xgboost.train({"objective": "rank:pairwise"}, xgboost.DMatrix(x, amount, group=[len(x)]), 2).save_model(home / "rank.json")
    light = lightgbm.LGBMClassifier(n_estimators=5, max_depth=2, verbosity=-1).fit(x, y)
    light.booster_.save_model(home / "light.txt")
    light_amount = lightgbm.LGBMRegressor(n_estimators=5, max_depth=2, verbosity=-1).fit(x, amount)
    light_amount.booster_.save_model(home / "light-amount.txt")
    return {"boosted": boosted, "boosted-amount": numbers, "light": light, "light-amount": light_amount}


def _files(home: Path, models: dict[str, Any], x: pd.DataFrame) -> dict[str, Any]:
    import joblib
    import skops.io
    from skl2onnx import to_onnx

    for name in ("linear", "forest"):
        skops.io.dump(models[name], home / f"{name}.skops")
    joblib.dump(models["forest"], home / "forest.pkl")
    joblib.dump(models["forest"], home / "forest.joblib", compress=3)
    single = x.astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the converter's own
        graphs = {
            "matrix": to_onnx(models["linear"], single.to_numpy()[:1], options={"zipmap": False}),
            "zipped": to_onnx(models["linear"], single.to_numpy()[:1]),
            "columns": to_onnx(models["linear"], single[:1]),
            "regression": to_onnx(models["regression"], single.to_numpy()[:1]),
        }
    for name, graph in graphs.items():
        (home / f"{name}.onnx").write_bytes(graph.SerializeToString())
    return {}
