"""The installed package with one extra and no other, as a stranger has it. Run by `extras.py`.

`python smoke_extra.py torch` uses what that extra gives; `python smoke_extra.py torch,plot` what all of these give.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import tippingpoint as tp

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
ALSO_BROUGHT = {"catboost": {"plot"}, "dask": {"parquet"}}
"""Extras whose packages others depend on."""


def told(*words: str) -> str:
    """What the installed command prints."""
    command = Path(sysconfig.get_path("scripts")) / "tippingpoint"
    return subprocess.run([str(command), *words], check=True, capture_output=True, encoding="utf-8").stdout


def people() -> tuple[pd.DataFrame, pd.Series[int]]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(80, 3)), columns=["age", "dose", "pay"])
    return x, (x["age"] - x["dose"] + 0.5 * rng.normal(size=80) > 0.0).astype(int).rename("y")


X, Y = people()


def linear() -> tp.StabilityResult:
    return tp.stability(LogisticRegression().fit(X, Y), X, Y, 0.5, **PRICES)


def proved(model: Any, **settings: Any) -> tp.StabilityResult:
    """A stability with bounds on both sides."""
    result = tp.stability(model, X, Y, 0.5, **PRICES, **settings)
    assert 0.0 < result.lower <= result.upper < float("inf"), (result.lower, result.upper)
    return result


def polars() -> None:
    import polars as pl

    result = tp.stability(([1.0, -1.0, 0.0], 0.0), pl.from_dict(X.to_dict("list")), Y.to_numpy(), 0.5, **PRICES)
    assert isinstance(result.sensitive, pl.DataFrame)


def parquet() -> None:
    Path("model.json").write_text(json.dumps({"coef": [1.0, -1.0, 0.0], "intercept": 0.0}), encoding="utf-8")
    X.assign(y=Y).to_parquet("eval.parquet")
    X.assign(y=Y).to_csv("eval.csv", index=False)
    words = ("evaluate", "--model", "model.json", "--target", "y", "--risk", "0.5", "--json", "-", "--data")
    one, other = (json.loads(told(*words, f"eval.{ending}")) for ending in ("parquet", "csv"))
    assert one["value"] == other["value"] > 0.0


def dask() -> None:
    """On a cluster of threads: processes would run this file again."""
    import dask.dataframe as dd
    from distributed import Client

    frame = dd.from_pandas(X.assign(y=Y), npartitions=3)
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        result = tp.stability(([1.0, -1.0, 0.0], 0.0), frame, "y", 0.5, client=client, **PRICES)
        assert len(result.heaviest(3)) >= 3
        assert abs(float(result.sensitive["mass"].sum().compute()) - 1.0) < 1e-9
    whole = tp.stability(([1.0, -1.0, 0.0], 0.0), X, Y, 0.5, **PRICES)
    assert abs(result.value - whole.value) < 1e-9 * whole.value


def torch() -> None:
    import torch as library

    from tippingpoint.training import ERMClassifier

    library.manual_seed(0)
    trained = ERMClassifier("mlp", hidden=4, max_iter=300, learning_rate=0.02, random_state=0).fit(X, Y)
    proved(trained)
    module = library.nn.Sequential(library.nn.Linear(3, 4), library.nn.ReLU(), library.nn.Linear(4, 1))
    assert tp.stability(module, X, Y, 0.9, **PRICES).value > 0.0


def plot() -> None:
    ax = linear().plot()
    ax.figure.savefig("result.png")  # type: ignore[union-attr]  # nobody made it a part of another
    assert Path("result.png").read_bytes().startswith(b"\x89PNG")


def mlflow() -> None:
    os.environ |= {"MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
    import mlflow as library

    library.set_tracking_uri(Path("runs").resolve().as_uri())
    run = library.get_run(linear().log_mlflow())
    assert run.data.metrics["stability.value"] > 0.0


def skops() -> None:
    from skops import io

    io.dump(LogisticRegression().fit(X, Y), "model.skops")
    assert tp.stability(tp.load_model("model.skops"), X, Y, 0.5, **PRICES).value == linear().value


def onnx() -> None:
    """`model.onnx` was written beside us: the score of `people` that is age - dose."""
    words = ("evaluate", "--model", "model.onnx", "--data", "onnx.csv", "--target", "y", "--risk", "0.5", "--json", "-")
    X.assign(y=Y).to_csv("onnx.csv", index=False)
    assert json.loads(told(*words))["value"] > 0.0


def xgboost() -> None:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1).fit(X, Y)
    result = proved(model)
    model.save_model("booster.json")
    assert tp.stability(tp.load_model("booster.json"), X, Y, 0.5, **PRICES).value == result.value


def lightgbm() -> None:
    from lightgbm import LGBMClassifier

    proved(LGBMClassifier(n_estimators=5, num_leaves=4, n_jobs=1, verbose=-1).fit(X, Y))


def catboost() -> None:
    from catboost import CatBoostClassifier

    proved(CatBoostClassifier(iterations=5, depth=2, verbose=False, allow_writing_files=False, thread_count=1).fit(X, Y))


def text() -> None:
    from rapidfuzz.distance import Levenshtein

    from tippingpoint.costs.words import plain_word_distance, word_distance

    words = ["what", "is", "the", "capital", "of", "France"], ["tell", "me", "the", "capital", "town", "of", "France"]
    assert word_distance(*words) == plain_word_distance(*words) == Levenshtein.distance(*words) == 3


def inspect() -> None:
    from inspect_ai.log import EvalLog, write_eval_log

    spec = {"task": "sums", "model": "mockllm/small", "created": "2026-01-01T00:00:00+00:00", "dataset": {}, "config": {}}
    for task, grade in (("sums", "C"), ("sums_polite", "I")):
        said = "Please add" if grade == "I" else "Add"
        one = {"id": 1, "epoch": 1, "input": said, "target": "4", "scores": {"match": {"value": grade}}}
        write_eval_log(EvalLog.model_validate({"eval": {**spec, "task": task}, "samples": [one]}), f"{task}.eval")
    assert tp.read_runs(["sums.eval", "sums_polite.eval"]).table["loss"].tolist() == [0.0, 1.0]


USES: dict[str, Callable[[], None]] = {
    use.__name__: use
    for use in (polars, parquet, dask, torch, plot, mlflow, skops, onnx, xgboost, lightgbm, catboost, text, inspect)
}
"""What each extra is used for."""


def check_where_it_is_from() -> None:
    home = Path(tp.__file__)
    assert home.is_relative_to(sys.prefix), f"imported from {home}, not from the wheel"
    for name in tp.__all__:
        assert getattr(tp, name) is not None, name


def check_what_the_doctor_finds(chosen: Sequence[str]) -> None:
    """These extras work, the others are missing, and nothing is at fault."""
    found = json.loads(told("doctor", "--json"))
    assert found["faults"] == [], found["faults"]
    working = {extra["extra"] for extra in found["extras"] if extra["status"] == "works"}
    allowed = set(chosen).union(*(ALSO_BROUGHT.get(extra, set()) for extra in chosen))
    assert set(chosen) <= working <= allowed, f"asked for {sorted(chosen)}, found {sorted(working)}"
    assert {extra["extra"] for extra in found["extras"]} == set(USES), "every extra is tried"


def main() -> None:
    chosen = [extra for extra in sys.argv[1].split(",") if extra]
    check_where_it_is_from()
    check_what_the_doctor_finds(chosen)
    linear().report("report.html")
    for extra in chosen:
        with warnings.catch_warnings():
            for kind in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
                warnings.simplefilter("ignore", kind)  # what libraries of extras warn of among themselves is theirs
            USES[extra]()
    print(f"  {', '.join(chosen) or 'no extra'}: good", flush=True)


if __name__ == "__main__":
    main()
