"""The command as a person runs it, and files for it to work on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from tippingpoint.cli import main

COMMAND = Path(sys.executable).with_name("tippingpoint")

MODEL = {"coef": [1.0, -0.5], "intercept": 0.1, "features": ["age", "dose"], "classes": ["healthy", "ill"]}
NEXT = {**MODEL, "coef": [1.2, -0.3]}


class Output(NamedTuple):
    """How a command ended: its exit code, what it printed, and what it wrote to standard error."""

    code: int
    out: str
    err: str


Command = Callable[..., Output]
"""The command in this process: words in, an `Output` out."""


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a directory, as from a shell."""
    return subprocess.run(
        [str(COMMAND), *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def succeed(*arguments: str, cwd: Path, **environment: str) -> str:
    done = run(*arguments, cwd=cwd, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def patients() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(120, 2)).round(6)  # so few digits survive every reader of CSV
    y = np.where(x @ [1.0, -0.5] + rng.normal(scale=0.6, size=120) > 0.0, "ill", "healthy")
    return pd.DataFrame({"age": x[:, 0], "ward": "A", "dose": x[:, 1], "y": y, "heft": rng.integers(0, 3, 120)})


def furnish(place: Path) -> None:
    """Evaluation data (`few.csv`: no columns that the models do not take), two linear models and a configuration."""
    data = patients()
    data.to_csv(place / "eval.csv", index=False)
    data[["age", "dose", "y"]].to_csv(place / "few.csv", index=False)
    (place / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    (place / "next.json").write_text(json.dumps(NEXT), encoding="utf-8")
    (place / "run.toml").write_text('model = "model.json"\ndata = "eval.csv"\ntarget = "y"\nrisk = 0.4\n', encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with what `furnish` writes; a test file that needs more there extends it under the same name."""
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(place: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in `place`, without the start of an interpreter, for what depends on its arguments only."""

    def in_this_process(*arguments: str) -> Output:
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Output(code, *capsys.readouterr())

    return in_this_process


def interrupted(*words: str, cwd: Path, ready: Callable[[str], bool], wait: float, times: int = 1) -> Output:
    """A program that is interrupted some seconds after a line of its standard error says that it is under way."""
    child = subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    assert child.stderr is not None
    before = []
    for line in child.stderr:
        before.append(line)
        if ready(line):
            break
    else:
        pytest.fail(f"the program ended before: {child.communicate()[0]}{''.join(before)}")
    time.sleep(wait)
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = child.communicate(timeout=120)
    code = 130 if child.returncode == -signal.SIGINT else child.returncode  # as a shell says it; the very end is Python's
    return Output(code, out, err)
