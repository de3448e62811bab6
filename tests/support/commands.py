"""The command as a person runs it, and files for it to work on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tippingpoint.cli import main

COMMAND = Path(sys.executable).with_name("tippingpoint")

MODEL = {"coef": [1.0, -0.5], "intercept": 0.1, "features": ["age", "dose"], "classes": ["healthy", "ill"]}
NEXT = {**MODEL, "coef": [1.2, -0.3]}

Told = Callable[..., tuple[int, str, str]]
"""The command in this process: its code, what it printed, what it complained of."""


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
    """Evaluation data, two linear models and a configuration, as the help of the commands names them."""
    patients().to_csv(place / "eval.csv", index=False)
    (place / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    (place / "next.json").write_text(json.dumps(NEXT), encoding="utf-8")
    (place / "run.toml").write_text('model = "model.json"\ndata = "eval.csv"\ntarget = "y"\nrisk = 0.4\n', encoding="utf-8")


def teller(capsys: pytest.CaptureFixture[str]) -> Told:
    """The command without the start of an interpreter, for what depends on its arguments only."""

    def told(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return told
