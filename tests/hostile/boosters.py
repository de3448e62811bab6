"""Files of boosters, damaged and crafted, and what becomes of them.

As a command, a trial of many: ``python tests/hostile/boosters.py 3000 0`` tries 3000 damaged files of each format, seed 0, in
processes of limited memory and time, so that a crash is a figure and not the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tippingpoint as tp
from tippingpoint.errors import TippingPointError

FORMATS = ("json", "ubj", "txt")
"""XGBoost's two and LightGBM's one."""

MEMORY = 4 * 2**30
"""Bytes of memory that a process of a trial may take."""

SECONDS = 30
"""Time that a file of a trial may take, and far more than any does."""


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


def cases(kind: str, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Damaged files: some of their bits, bytes, letters or parts changed, dropped, doubled or cut off."""
    rng = np.random.default_rng((seed, FORMATS.index(kind)))
    files = list(originals()[kind].items())
    ways = (_flip, _replace, _cut, _drop, _double, _renumber)
    for _ in range(count):
        name, content = files[rng.integers(len(files))]
        if kind == "txt":  # almost all of the text is parameters that are not read
            content = content.replace(
                content[content.index(b"\nparameters:") : content.index(b"\n[num_gpu:")], b"\nparameters:"
            )
        way = ways[rng.integers(len(ways))]
        yield f"{name}: {way.__name__[1:]}", way(bytearray(content), rng)


def _flip(content: bytearray, rng: np.random.Generator) -> bytes:
    for at in rng.integers(len(content), size=rng.integers(1, 4)):
        content[at] ^= 1 << int(rng.integers(8))
    return bytes(content)


def _replace(content: bytearray, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    content[at : at + 4] = rng.bytes(int(rng.integers(1, 5)))
    return bytes(content)


def _cut(content: bytearray, rng: np.random.Generator) -> bytes:
    return bytes(content[: rng.integers(len(content))])


def _drop(content: bytearray, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    del content[at : at + int(rng.integers(1, 30))]
    return bytes(content)


def _double(content: bytearray, rng: np.random.Generator) -> bytes:
    at, size = int(rng.integers(len(content))), int(rng.integers(1, 60))
    content[at:at] = content[at : at + size]
    return bytes(content)


def _renumber(content: bytearray, rng: np.random.Generator) -> bytes:
    """A digit changed, in texts; a byte that is small, in binaries: more likely to be read than other damage."""
    digits = [at for at, byte in enumerate(content) if 48 <= byte < 58 or byte < 8]
    content[digits[rng.integers(len(digits))]] ^= int(rng.integers(1, 8))
    return bytes(content)


def rows_for(model: Any) -> np.ndarray[Any, Any]:
    """A few rows that a model out of a booster's file takes: zeros, draws and holes."""
    source = getattr(model, "source", model)
    count = source.get_booster().num_features() if hasattr(source, "get_booster") else source.num_feature()
    draws = np.random.default_rng(0).normal(size=(2, count))
    return np.vstack((np.zeros(count), draws, 3.0 * np.abs(draws), np.full(count, np.nan)))


def outcome(path: Path, content: bytes) -> str:
    """`refused` in a sentence, or `answered`; anything else is a failure, as an exception or worse."""
    path.write_bytes(content)
    try:
        model = tp.load_model(path)
    except TippingPointError as error:
        if "\n" in str(error) or not str(error).endswith("."):
            raise ValueError(f"this is no sentence: {error}") from error
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = rows_for(model)
        answers = np.asarray(model.predict(rows))
    if len(answers) != len(rows):
        raise ValueError(f"{len(answers)} answers to {len(rows)} rows")
    return "answered"


def _serve(kind: str, count: int, seed: int, first: int) -> None:
    """Cases from one on, each told by a line, in a process of limited memory."""
    import faulthandler
    import resource

    originals()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as home:
        for at, (name, content) in enumerate(cases(kind, count, seed)):
            if at < first:
                continue
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                told = outcome(Path(home) / f"model.{kind}" if kind != "txt" else Path(home) / "model", content)
            except Exception as error:  # noqa: BLE001  # which is what is counted
                told = f"failed ({name}: {type(error).__name__}: {str(error)[:200]!r})"
            print(json.dumps([at, told]), flush=True)


def trial(kind: str, count: int, seed: int) -> Counter[str]:
    """How many files were refused, answered, or failed; a process that ends early failed on its last, and another goes on."""
    told: Counter[str] = Counter()
    first = 0
    while first < count:
        command = [sys.executable, __file__, "serve", kind, str(count), str(seed), str(first)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        for at, each in lines:
            told[each.partition(" ")[0]] += 1
            if each.startswith("failed"):
                print(kind, at, each)
        first += len(lines)
        if first < count:
            told["failed"] += 1
            print(kind, first, "ended the process", done.returncode, done.stderr[-2000:])
            first += 1
    return told


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        _serve(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        for each in FORMATS:
            print(each, dict(trial(each, int(sys.argv[1]), int(sys.argv[2]))), flush=True)
