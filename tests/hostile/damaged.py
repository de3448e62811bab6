"""Real files of every format, damaged, and what becomes of them: bits and bytes changed, parts dropped, doubled or cut off.

As a command, a trial of many: ``python tests/hostile/damaged.py 3000 0`` tries 3000 damaged files of each format, seed 0, in
processes of limited memory and time, so that a crash is a figure and not the end.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import boosters
import tippingpoint as tp
from tippingpoint.cli.tables import read_table
from tippingpoint.errors import TippingPointError

MEMORY = 8 * 2**30
"""Bytes of memory that a process of a trial may take; children of the package have less."""

SECONDS = 90
"""Time that a file of a trial may take; children of the package are given 60."""

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Kind:
    """A format.

    Attributes
    ----------
    name
        Of the file.
    originals
        Small real files, by what they are.
    asked
        Loads a file and asks it for something.
    inside
        Whether parts of the archive are damaged, and not the archive, whose sums would tell.
    """

    name: str
    originals: Callable[[], Files]
    asked: Callable[[Path], Any]
    inside: bool = False


def _ask_booster(path: Path) -> None:
    model = tp.load_model(path)
    rows = boosters.rows_for(model)
    answers = np.asarray(model.predict(rows))
    if len(answers) != len(rows):
        raise ValueError(f"{len(answers)} answers to {len(rows)} rows")


def _ask_estimator(path: Path) -> None:
    import skops.io

    try:
        types: Any = skops.io.get_untrusted_types(file=path)
    except Exception:  # noqa: BLE001  # what the package says of it is the question
        types = False
    usual = {"Tree", "TreePredictor"}
    model = tp.load_model(path, trust=types if types and all(name.rpartition(".")[2] in usual for name in types) else False)
    _believing(lambda: model.predict(ROWS))


def _ask_graph(path: Path) -> None:
    model = tp.load_model(path)
    _believing(lambda: (model.predict if hasattr(model, "predict") else model)(ROWS))


def _ask_program(path: Path) -> None:
    import torch

    module = tp.load_model(path, trust=True)
    _believing(lambda: module(torch.tensor(ROWS, dtype=torch.float32)))


def _ask_weights(path: Path) -> None:
    tp.load_model("factory:net", state=str(path))


def _ask_linear(path: Path) -> None:
    tp.stability(tp.load_model(path), ROWS, ["a", "b", "a", "b"], 0.9)


def _believing(ask: Callable[[], Any]) -> None:
    """A question to a loaded model: an exception of its own, as of a wrong shape, is an answer like another."""
    try:
        ask()
    except TippingPointError:
        raise
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, RuntimeError, NotImplementedError, AssertionError):
        return


ROWS = np.vstack((np.zeros(3), np.random.default_rng(0).normal(size=(2, 3)), np.full(3, 50.0)))


@cache
def _estimators() -> Files:
    import skops.io
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x = np.random.default_rng(1).normal(size=(60, 3))
    y = (x.sum(axis=1) > 0.0).astype(int)
    models = {
        "forest": RandomForestClassifier(2, max_depth=3, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=2),
        "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "vectors": SVC(),
    }
    return {name: skops.io.dumps(model.fit(x, y)) for name, model in models.items()}


@cache
def _graphs() -> Files:
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    x = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32)
    y = (x.sum(axis=1) > 0.0).astype(int)
    models = {"linear": LogisticRegression(), "forest": RandomForestClassifier(2, max_depth=3, random_state=0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {name: to_onnx(model.fit(x, y), x[:1], options={"zipmap": False}) for name, model in models.items()}
    return {name: graph.SerializeToString() for name, graph in made.items()}


@cache
def _programs() -> Files:
    import torch
    from torch import nn

    torch.manual_seed(0)
    module, buffer = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).eval(), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = ({0: torch.export.Dim("rows")},)
        torch.export.save(torch.export.export(module, (torch.randn(4, 3),), dynamic_shapes=shapes), buffer)
    return {"network": buffer.getvalue()}


@cache
def _weights() -> Files:
    import torch

    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(1, 3), "bias": torch.zeros(1)}, buffer)
    return {"weights": buffer.getvalue()}


@cache
def _linear() -> Files:
    stored = {"coef": [0.5, -1.25, 3.0], "intercept": 0.1, "features": ["x0", "x1", "x2"], "classes": ["a", "b"]}
    return {"linear": json.dumps(stored).encode()}


def _tables(packed: Callable[[Any], bytes]) -> Callable[[], Files]:
    @cache
    def made() -> Files:
        frame, labels = boosters.data(40)
        return {"data": packed(frame.assign(town=frame["town"].astype(str), y=labels))}

    return made


def _parquet(frame: Any) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def _read(path: Path) -> None:
    read_table(str(path))


KINDS: dict[str, Kind] = {
    "XGBoost JSON": Kind("model.json", lambda: boosters.originals()["json"], _ask_booster),
    "XGBoost UBJSON": Kind("model.ubj", lambda: boosters.originals()["ubj"], _ask_booster),
    "LightGBM text": Kind("model", lambda: _light(), _ask_booster),  # noqa: PLW0108  # defined below
    "skops": Kind("model.skops", _estimators, _ask_estimator),
    "skops, inside": Kind("model.skops", _estimators, _ask_estimator, inside=True),
    "ONNX": Kind("model.onnx", _graphs, _ask_graph),
    "torch.export": Kind("model.pt2", _programs, _ask_program),
    "torch.export, inside": Kind("model.pt2", _programs, _ask_program, inside=True),
    "PyTorch weights": Kind("model.pt", _weights, _ask_weights),
    "PyTorch weights, inside": Kind("model.pt", _weights, _ask_weights, inside=True),
    "linear JSON": Kind("model.json", _linear, _ask_linear),
    "CSV": Kind("data.csv", _tables(lambda frame: bytes(frame.to_csv(index=False), "utf-8")), _read),
    "CSV, packed": Kind("data.csv.gz", _tables(lambda frame: gzip.compress(bytes(frame.to_csv(index=False), "utf-8"))), _read),
    "Parquet": Kind("data.parquet", _tables(_parquet), _read),
}
"""Every format that is read."""

FACTORY = "from torch import nn\n\n\ndef net():\n    return nn.Linear(3, 1)\n"


def _light() -> Files:
    """LightGBM's text with few of its parameters, which are almost all of it and are not read."""
    short = {}
    for name, text in boosters.originals()["txt"].items():
        short[name] = text.replace(text[text.index(b"\nparameters:") : text.index(b"\n[num_gpu:")], b"\nparameters:")
    return short


def cases(kind: str, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Damaged files of a format."""
    rng = np.random.default_rng((seed, list(KINDS).index(kind)))
    files = list(KINDS[kind].originals().items())
    ways = (_flip, _replace, _cut, _drop, _double, _renumber)
    for _ in range(count):
        name, content = files[rng.integers(len(files))]
        way = ways[rng.integers(len(ways))]
        damaged = _inside(content, way, rng) if KINDS[kind].inside else way(bytearray(content), rng)
        yield f"{name}: {way.__name__[1:]}", damaged


def _inside(content: bytes, way: Callable[[bytearray, np.random.Generator], bytes], rng: np.random.Generator) -> bytes:
    """The archive with one of its parts damaged, and sums that fit it again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    chosen = [name for name, part in parts.items() if part][int(rng.integers(sum(map(bool, parts.values()))))]
    parts[chosen] = way(bytearray(parts[chosen]), rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


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
    if not digits:
        return _flip(content, rng)
    content[digits[rng.integers(len(digits))]] ^= int(rng.integers(1, 8))
    return bytes(content)


def outcome(kind: str, home: Path, content: bytes) -> str:
    """`refused` in a sentence, or `answered`; anything else is a failure, as an exception or worse."""
    path = home / KINDS[kind].name
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind].asked(path)
    except TippingPointError as error:
        if "\n" in str(error) or not str(error).endswith("."):
            raise ValueError(f"this is no sentence: {error}") from error
        return "refused"
    return "answered"


def _serve(kind: str, count: int, seed: int, first: int) -> None:
    """Cases from one on, each told by a line, in a process of limited memory."""
    import faulthandler
    import os
    import resource

    KINDS[kind].originals()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        Path("factory.py").write_text(FACTORY, encoding="utf-8")
        for at, (name, content) in enumerate(cases(kind, count, seed)):
            if at < first:
                continue
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                told = outcome(kind, Path(home), content)
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
        for each in sys.argv[3:] or KINDS:
            print(each, dict(trial(each, int(sys.argv[1]), int(sys.argv[2]))), flush=True)
