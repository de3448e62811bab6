"""No booster's file ends the process or hangs it, and those that are whole predict to the last bit what the library does."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from boosters import FORMATS, data, originals, rows_for
from crafted import JSON, LIGHTGBM, UBJSON, XGBOOST, Document, _chain
from tippingpoint.files import ubjson


def answers(path: Path, content: bytes) -> bool:
    """Whether a model comes out of the file, and answers."""
    path.write_bytes(content)
    model = tp.load_model(path)
    return len(model.predict(rows_for(model))) == len(rows_for(model))


@pytest.mark.parametrize("kind", FORMATS)
def test_every_file_that_is_whole_answers(kind: str, tmp_path: Path) -> None:
    for content in originals()[kind].values():
        assert answers(tmp_path / "model", content)


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(tp.InputError) as told:
        tp.load_model(path)
    assert str(told.value).startswith(str(path))
    assert str(told.value).endswith(".")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 600
    return str(told.value)


def document() -> Document:
    return dict(json.loads(originals()["json"]["binary"]))


@pytest.mark.parametrize("name", XGBOOST)
@pytest.mark.parametrize("kind", ["json", "ubj"])
def test_xgboost_files_that_contradict_themselves_say_where(name: str, kind: str, tmp_path: Path) -> None:
    change, part = XGBOOST[name]
    crafted = document()
    change(crafted)
    if "learner" not in crafted:
        crafted = {"version": [3, 2, 0]}
    text = kind == "json" or name == "children beyond 64 bits"  # which UBJSON cannot say
    content = json.dumps(crafted).encode() if text else ubjson.written(crafted)
    assert re.search(part, refused(tmp_path / "model", content))


@pytest.mark.parametrize("name", UBJSON)
def test_ubjson_that_lies_is_not_believed(name: str, tmp_path: Path) -> None:
    content, part = UBJSON[name]
    assert part in refused(tmp_path / "model.ubj", content)


@pytest.mark.parametrize("name", JSON)
def test_json_that_is_no_model_is_refused(name: str, tmp_path: Path) -> None:
    content, part = JSON[name]
    assert part in refused(tmp_path / "model.json", content)


@pytest.mark.parametrize("name", LIGHTGBM)
def test_lightgbm_files_that_contradict_themselves_say_where(name: str, tmp_path: Path) -> None:
    pattern, replacement, part = LIGHTGBM[name]
    text = originals()["txt"]["binary"].decode()
    crafted = re.sub(pattern, lambda _: replacement, text, count=1)
    assert crafted != text
    assert part in refused(tmp_path / "model.txt", crafted.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_text_in_another_encoding_is_refused(encoding: str, tmp_path: Path) -> None:
    text = originals()["txt"]["binary"].decode().replace("Column_0", "größe")
    assert "no model that is known" in refused(tmp_path / "a", text.encode(encoding)) or encoding == "latin-1"


def test_lines_that_end_as_on_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(originals()["txt"]["binary"].replace(b"\n", b"\r\n"))
    (tmp_path / "same").write_bytes(originals()["txt"]["binary"])
    model, same = tp.load_model(tmp_path / "model"), tp.load_model(tmp_path / "same")
    np.testing.assert_array_equal(model.predict_proba(rows_for(model)), same.predict_proba(rows_for(same)))


def test_sizes_of_trees_that_lie_are_not_read(tmp_path: Path) -> None:
    lying = re.sub(rb"tree_sizes=.*", b"tree_sizes=9 99999999 1", originals()["txt"]["binary"])
    assert answers(tmp_path / "model", lying)


def test_the_deepest_trees_that_are_served_answer(tmp_path: Path) -> None:
    deep = document()
    _chain(4000)(deep)
    assert answers(tmp_path / "model", ubjson.written(deep))


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tippingpoint.files.base.MAX_FILE_BYTES", 1000)
    for kind in FORMATS:
        path = tmp_path / ("model" if kind == "txt" else f"model.{kind}")
        assert "more than the 1,000 that are read" in refused(path, originals()[kind]["binary"])


def test_ubjson_is_read_as_it_was_written() -> None:
    value = {
        "a": [1, -2, 2**40, "ä", {}, [True, None][:0]],
        "b": np.arange(3, dtype=np.int32),
        "c": np.array([0.1, np.inf], np.float32),
    }
    back = ubjson.read(ubjson.written(value))
    assert back["a"] == value["a"]
    np.testing.assert_array_equal(back["b"], value["b"])
    np.testing.assert_array_equal(back["c"], value["c"])


def boosted() -> dict[str, Callable[[pd.DataFrame, Any], Any]]:
    """XGBoost's models of all kinds, trained on a frame and three classes."""
    import xgboost as xgb

    few: dict[str, Any] = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1, "random_state": 0}
    numbers = ["size", "age"]

    def stopped(x: pd.DataFrame, y: Any) -> Any:
        model = xgb.XGBClassifier(n_estimators=60, max_depth=3, early_stopping_rounds=2, n_jobs=1)
        noise = np.random.default_rng(1).permutation(y[:40])
        return model.fit(x[numbers], y, eval_set=[(x[numbers][:40], noise)], verbose=False)

    return {
        "binary": lambda x, y: xgb.XGBClassifier(**few).fit(x[numbers], y > 0),
        "several classes": lambda x, y: xgb.XGBClassifier(**few).fit(x[numbers].to_numpy(), y),
        "softmax": lambda x, y: xgb.XGBClassifier(objective="multi:softmax", **few).fit(x[numbers], y),
        "regression": lambda x, y: xgb.XGBRegressor(**few).fit(x[numbers], y),
        "counts": lambda x, y: xgb.XGBRegressor(objective="count:poisson", **few).fit(x[numbers], y),
        "tweedie": lambda x, y: xgb.XGBRegressor(objective="reg:tweedie", tweedie_variance_power=1.3, **few).fit(x[numbers], y),
        "gamma": lambda x, y: xgb.XGBRegressor(objective="reg:gamma", **few).fit(x[numbers], y + 1),
        "absolute": lambda x, y: xgb.XGBRegressor(objective="reg:absoluteerror", **few).fit(x[numbers], y),
        "huber": lambda x, y: xgb.XGBRegressor(objective="reg:pseudohubererror", huber_slope=0.5, **few).fit(x[numbers], y),
        "quantiles": lambda x, y: xgb.XGBRegressor(objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9], **few).fit(
            x[numbers], y
        ),
        "two targets": lambda x, y: xgb.XGBRegressor(**few).fit(x[numbers], np.column_stack((y, -y))),
        "dart": lambda x, y: xgb.XGBClassifier(booster="dart", rate_drop=0.5, **few).fit(x[numbers], y),
        "linear": lambda x, y: xgb.XGBClassifier(booster="gblinear", n_estimators=8).fit(x[["size"]].to_numpy(), y),
        "forest": lambda x, y: xgb.XGBRFClassifier(n_estimators=9, max_depth=4, n_jobs=1).fit(x[numbers], y),
        "boosted forests": lambda x, y: xgb.XGBClassifier(num_parallel_tree=3, subsample=0.5, **few).fit(x[numbers], y),
        "pruned": lambda x, y: xgb.XGBClassifier(tree_method="exact", gamma=0.7, **few).fit(x[numbers], y),
        "categories": lambda x, y: xgb.XGBClassifier(enable_categorical=True, max_cat_to_onehot=2, **few).fit(x, y),
        "one category of all": lambda x, y: xgb.XGBClassifier(enable_categorical=True, max_cat_to_onehot=99, **few).fit(x, y),
        "numbered categories": lambda x, y: xgb.XGBClassifier(enable_categorical=True, **few).fit(
            x.assign(town=pd.Categorical(7 * x["town"].cat.codes.astype(int))), y
        ),
        "stopped early": stopped,
        "no trees": lambda x, y: xgb.XGBRegressor(n_estimators=0).fit(x[numbers], y),
    }


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, Any]:
    return data(400, seed=3)


@pytest.mark.parametrize("name", boosted())
@pytest.mark.parametrize("kind", ["json", "ubj"])
def test_xgboost_predicts_to_the_last_bit_what_it_does_of_the_file_itself(
    name: str, kind: str, table: tuple[pd.DataFrame, Any], tmp_path: Path
) -> None:
    x, y = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original = boosted()[name](x, y)
    path = tmp_path / f"model.{kind}"
    original.get_booster().save_model(path)
    direct = type(original)()
    direct.load_model(path)
    model = tp.load_model(path)
    rows: Any = x if "categor" in name else x[["size", "age"]]
    if name == "linear":
        rows = x[["size"]].to_numpy()
    if name == "several classes":
        rows = rows.to_numpy()
    if name == "numbered categories":  # and in another order, of which the names of categories tell
        rows = x.assign(town=pd.Categorical(7 * x["town"].cat.codes.astype(int), categories=[14, 7, 0, 49, 42, 35, 28, 21]))
    if name == "categories":
        rows = x.assign(town=x["town"].cat.reorder_categories(list("hgfedcba")))
    for ask in ("predict_proba", "predict"):
        if hasattr(direct, ask):
            np.testing.assert_array_equal(getattr(model, ask)(rows), getattr(direct, ask)(rows))
    if name == "stopped early":
        assert direct.best_iteration + 1 < direct.get_booster().num_boosted_rounds()


def light() -> dict[str, Callable[[pd.DataFrame, Any], Any]]:
    """LightGBM's models of all kinds."""
    import lightgbm as lgb

    few: dict[str, Any] = {"n_estimators": 8, "num_leaves": 9, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}
    bagged = {"bagging_freq": 1, "bagging_fraction": 0.5}
    numbers = ["size", "age"]
    groups = {"min_data_per_group": 2, "cat_smooth": 1}
    return {
        "binary": lambda x, y: lgb.LGBMClassifier(**few).fit(x[numbers], y > 0),
        "several classes": lambda x, y: lgb.LGBMClassifier(**few).fit(x[numbers].to_numpy(), y),
        "one against all": lambda x, y: lgb.LGBMClassifier(objective="multiclassova", **few).fit(x[numbers], y),
        "cross entropy": lambda x, y: lgb.LGBMRegressor(objective="cross_entropy", **few).fit(x[numbers], y / 2),
        "regression": lambda x, y: lgb.LGBMRegressor(**few).fit(x[numbers], y),
        "roots": lambda x, y: lgb.LGBMRegressor(reg_sqrt=True, **few).fit(x[numbers], y),
        "counts": lambda x, y: lgb.LGBMRegressor(objective="poisson", **few).fit(x[numbers], y),
        "quantile": lambda x, y: lgb.LGBMRegressor(objective="quantile", alpha=0.3, **few).fit(x[numbers], y),
        "tweedie": lambda x, y: lgb.LGBMRegressor(objective="tweedie", **few).fit(x[numbers], y),
        "dart": lambda x, y: lgb.LGBMClassifier(boosting_type="dart", drop_rate=0.5, **few).fit(x[numbers], y),
        "forest": lambda x, y: lgb.LGBMClassifier(boosting_type="rf", **bagged, **few).fit(x[numbers], y),
        "goss": lambda x, y: lgb.LGBMClassifier(data_sample_strategy="goss", **few).fit(x[numbers], y),
        "categories": lambda x, y: lgb.LGBMClassifier(**groups, **few).fit(x, y),
        "zeros are missing": lambda x, y: lgb.LGBMClassifier(zero_as_missing=True, **few).fit(x[numbers], y > 0),
        "linear leaves": lambda x, y: lgb.LGBMRegressor(linear_tree=True, **few).fit(x[numbers], y),
        "one leaf": lambda x, y: lgb.LGBMRegressor(**{**few, "min_child_samples": 390}).fit(x[numbers], y),
    }


@pytest.mark.parametrize("name", light())
def test_lightgbm_predicts_to_the_last_bit_what_it_does_of_the_file_itself(
    name: str, table: tuple[pd.DataFrame, Any], tmp_path: Path
) -> None:
    import lightgbm as lgb

    x, y = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original = light()[name](x, y)
    path = tmp_path / "model.txt"
    original.booster_.save_model(path)
    direct, model = lgb.Booster(model_file=path), tp.load_model(path)
    rows: Any = x[["size", "age"]]
    if name == "several classes":
        rows = rows.to_numpy()
    if name == "categories":
        rows = x.assign(town=x["town"].cat.reorder_categories(list("hgfedcba")))
    answers = direct.predict(rows)
    told = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    np.testing.assert_array_equal(told[:, 1] if answers.ndim < told.ndim else told, answers)
