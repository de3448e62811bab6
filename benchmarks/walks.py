"""Walks through the house: which files a question crosses, and how often it comes back to a room.

Four walks: the stability of a scikit-learn pipeline, of a PyTorch module and of a random forest, and the report of the first.
Each is taken twice, the second time with all that is imported lazily there already; only the second is watched, on objects
made anew, so that nothing is remembered.

A *step* is the first call of a function of the package: loops, recursion and the bodies of modules and classes do not count,
nor do lambdas and comprehensions, which belong to the function around them, nor methods that `dataclass` writes. A *room* is
the first name of a file's path below the package: a top-level package (`core`) or a module beside them (`front`). The steps
in their order are a sequence of rooms; a room is *entered* where it differs from the room of the step before. So a walk that
goes through each room once has as many entries as rooms, and whatever there is above that is coming back. Steps are not
returns: that a function goes on after the one that it called has ended is no step, and no entry.

Run as `python benchmarks/walks.py`; `--verbose` lists files and rooms in the order of the walk, `--json` is for machines.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

import tippingpoint as tp

PACKAGE = Path(tp.__file__).resolve().parent

Question = Callable[[], Any]
"""What is watched."""


@dataclass(frozen=True)
class Walk:
    """What was seen of a question.

    Attributes
    ----------
    name
        What it is called.
    functions
        Distinct functions called.
    files
        Files crossed, in the order of their first step.
    rooms
        Rooms in the order of the walk, as often as they were entered.
    """

    name: str
    functions: int
    files: tuple[str, ...]
    rooms: tuple[str, ...]

    @property
    def most(self) -> tuple[str, int]:
        """The room that is entered most often, and how often."""
        return Counter(self.rooms).most_common(1)[0]


def people(seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers and words, and a label that depends on both."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, 200),
            "income": rng.normal(40.0, 12.0, 200).round(1),
            "job": rng.choice(["cook", "clerk", "nurse", "judge"], 200),
        }
    )
    score = frame["income"] + 20.0 * (frame["job"] == "judge") + 0.3 * frame["age"]
    return frame, score + rng.normal(0.0, 8.0, 200) > 56.0


def pipeline() -> Question:
    """A column transformer of an encoder and a scaler before a logistic regression, on a frame."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    X, y = people()
    columns = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "income"]))
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    return lambda: tp.stability(model, X, y, 0.4, scale="std")


def module() -> Question:
    """A network of one hidden layer and three classes, by its cross-entropy."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).double().eval()
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = net(torch.from_numpy(X)).detach().numpy().argmax(axis=1)
    return lambda: tp.stability(net, X, y, 1.5, loss="cross_entropy")


def forest() -> Question:
    """A random forest, asked."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:150, :5], y.iloc[:150]
    model = RandomForestClassifier(n_estimators=8, max_depth=4, random_state=0).fit(X, y)
    return lambda: tp.stability(model, X, y, 0.4, scale="std", calls=4000)


def page() -> Question:
    """The report of the pipeline's result."""
    result = pipeline()()

    def written() -> None:
        with tempfile.TemporaryDirectory(prefix="walks-") as place:
            result.report(Path(place) / "report.html")

    return written


WALKS: dict[str, Callable[[], Question]] = {
    "scikit-learn pipeline": pipeline,
    "PyTorch module": module,
    "random forest": forest,
    "report of the pipeline": page,
}


def is_function(code: CodeType) -> bool:
    """Whether code is that of a function with a name: not of a module, a class, a lambda or a comprehension."""
    return not code.co_name.startswith("<") and bool(code.co_flags & inspect.CO_NEWLOCALS)


def room(file: str) -> str:
    """The room that a file of the package is in."""
    return Path(file).parts[0].removesuffix(".py")


def watched(question: Question) -> list[CodeType]:
    """Functions of the package in the order of their first calls."""
    seen: dict[CodeType, None] = {}
    inside = f"{PACKAGE}{os.sep}"

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code not in seen and frame.f_code.co_filename.startswith(inside):
            seen[frame.f_code] = None

    sys.setprofile(watch)
    try:
        question()
    finally:
        sys.setprofile(None)
    return [code for code in seen if is_function(code)]


def walk(name: str) -> Walk:
    """A walk, taken once before it is watched."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        WALKS[name]()()
        steps = watched(WALKS[name]())
    files = [Path(code.co_filename).relative_to(PACKAGE).as_posix() for code in steps]
    rooms = tuple(key for key, _ in groupby(map(room, files)))
    return Walk(name, len(steps), tuple(dict.fromkeys(files)), rooms)


def main() -> None:
    parser = argparse.ArgumentParser(description="files crossed and rooms entered by four questions")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--verbose", action="store_true", help="list files and rooms in the order of the walk")
    options = parser.parse_args()
    walks = [walk(name) for name in WALKS]
    if options.json:
        listed = [{**asdict(each), "distinct_rooms": len(set(each.rooms)), "entries": len(each.rooms)} for each in walks]
        print(json.dumps(listed, indent=2))
        return
    print(f"{'walk':<24}{'functions':>10}{'files':>7}{'rooms':>7}{'entries':>9}  most often entered")
    for each in walks:
        often, times = each.most
        distinct = len(set(each.rooms))
        print(f"{each.name:<24}{each.functions:>10}{len(each.files):>7}{distinct:>7}{len(each.rooms):>9}  {often} ({times})")
    if options.verbose:
        for each in walks:
            print(f"\n{each.name}\n  rooms: {' > '.join(each.rooms)}")
            print("\n".join(f"  {place:>3}  {file}" for place, file in enumerate(each.files, 1)))


if __name__ == "__main__":
    main()
