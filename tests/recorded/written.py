"""Cases of what is written: results and reports as JSON, and what the command line writes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from flattening import Numbers, of_fields, of_json, under
from materials import Task, alternatives, diabetes, linear, people, tumours
from registry import PAPER, add, mixed

import tippingpoint as tp

NOT_RECORDED = ("versions", "fingerprint", "platform", "python", "made_with", "version", "packed", "losses", "base")
"""What of a report depends on the machine, or is packed for the browser; the rest is recorded."""


def add_files() -> None:
    """Results, rankings and reports as files."""

    def stored() -> Numbers:
        result = tp.stability(linear("logistic"), *tumours(), 0.3, scale="std", **PAPER)
        return {
            **of_json(json.loads(result.to_json())),
            **under("again", of_fields(tp.StabilityResult.from_json(result.to_json()))),
        }

    def ranking() -> Numbers:
        ranked = tp.feature_stability(linear("people"), *people(), 0.4, scale="std", space=mixed(), **PAPER)
        return of_json(json.loads(ranked.to_json()))

    add("stored: a result", "exact", stored)
    add("stored: a ranking", "exact", ranking)

    def report(model: str, task: Callable[[], Task], risk: float, **settings: Any) -> Numbers:
        result = tp.stability(linear(model), task().X, task().y, risk, scale="std", **PAPER, **settings)
        with tempfile.TemporaryDirectory(prefix="recorded-") as place:
            page = result.report(Path(place) / "report.json", model="a", data="b", gate=0.05, date="2026-01-31")
            return of_json(json.loads(page.read_text(encoding="utf-8")), NOT_RECORDED)

    add("report: two classes", "exact", partial(report, "logistic", tumours, 0.3))
    add("report: log loss", "exact", partial(report, "logistic", tumours, 0.5, loss="logistic"))
    add("report: people", "exact", partial(report, "people", people, 0.4, space=mixed()))
    add("report: numbers", "exact", partial(report, "ridge", diabetes, 0.6, divergence="chi2"))

    def page(model: str, task: Callable[[], Task], risk: float, **settings: Any) -> Numbers:
        result = tp.stability(linear(model), task().X, task().y, risk, scale="std", **PAPER, **settings)
        numbers: Numbers = {}
        with tempfile.TemporaryDirectory(prefix="recorded-") as place:
            for suffix in ("html", "md", "json"):
                written = result.report(Path(place) / f"report.{suffix}", date="2026-01-31").read_bytes()
                numbers |= under(suffix, {"bytes": float(len(written)), "crc": float(crc32(written))})
        return numbers

    add("page: two classes", "bytes", partial(page, "logistic", tumours, 0.3))
    add("page: people", "bytes", partial(page, "people", people, 0.4, space=mixed()))
    add("page: numbers, chi2", "bytes", partial(page, "ridge", diabetes, 0.6, divergence="chi2"))

    def whole() -> Numbers:
        settings: dict[str, Any] = {"scale": "std", **PAPER}
        result = tp.stability(linear("logistic"), *tumours(), 0.3, **settings)
        ranked = tp.feature_stability(linear("logistic"), *tumours(), 0.3, **settings)
        compared = tp.compare({name: linear(name) for name in ("logistic", "strict")}, *tumours(), 0.3, **settings)
        with tempfile.TemporaryDirectory(prefix="recorded-") as place:
            page = result.report(
                Path(place) / "report.json", features=ranked, comparison=compared, model="a", data="b", date="2026-01-31"
            )
            return of_json(json.loads(page.read_text(encoding="utf-8")), NOT_RECORDED)

    add("report: with features and a comparison", "exact", whole)


MODEL = {"coef": [1.0, -0.5], "intercept": 0.1, "features": ["age", "dose"], "classes": ["healthy", "ill"]}
INPUTS = ("--model", "model.json", "--data", "eval.csv", "--target", "y")

COMMANDS: dict[str, tuple[str, ...]] = {
    "evaluate": ("evaluate", *INPUTS, "--risk", "0.4", "--theta1", "1", "--theta2", "0.25"),
    "evaluate, log loss, chi2": ("evaluate", *INPUTS, "--risk", "0.8", "--loss", "log_loss", "--divergence", "chi2"),
    "evaluate, cvar": ("evaluate", *INPUTS, "--risk", "0.9", "--mix", "0.3", "--divergence", "cvar:0.3", "--scale", "std"),
    "evaluate a table": ("evaluate", "--table", "runs.csv", "--risk", "0.5"),
    "features": ("features", *INPUTS, "--risk", "0.4"),
    "compare": ("compare", "--model", "now=model.json", "--model", "next=next.json", *INPUTS[2:], "--risk", "0.4"),
    "curve": ("curve", *INPUTS, "--risks", "0.3,0.4,0.5"),
    "curve over the dial": ("curve", *INPUTS, "--risk", "0.4", "--mixes", "0,0.5,1"),
    "report": ("report", *INPUTS, "--risk", "0.4", "--report", "page.json"),
}
"""Command lines, in a directory with the files that they name."""


def add_commands() -> None:
    """The command line."""
    for name, words in COMMANDS.items():
        add(f"command: {name}", "exact", partial(_json_of_command, words))


def _json_of_command(words: tuple[str, ...]) -> Numbers:
    """What a command writes as JSON; it is run in this process, by whatever `python -m tippingpoint` runs."""
    with tempfile.TemporaryDirectory(prefix="recorded-") as named:
        place = Path(named)
        rng = np.random.default_rng(8)
        x = rng.normal(size=(120, 2)).round(6)
        y = np.where(x @ [1.0, -0.5] + rng.normal(scale=0.6, size=120) > 0.0, "ill", "healthy")
        pd.DataFrame({"age": x[:, 0], "dose": x[:, 1], "y": y}).to_csv(place / "eval.csv", index=False)
        alternatives().to_csv(place / "runs.csv", index=False)
        (place / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
        (place / "next.json").write_text(json.dumps({**MODEL, "coef": [1.2, -0.3]}), encoding="utf-8")
        there = [str(place / word) if (place / word).is_file() else word for word in words]
        there = [f"{each.partition('=')[0]}={place / each.partition('=')[2]}" if "=" in each else each for each in there]
        there = [str(place / each) if each == "page.json" else each for each in there]
        main = import_module("tippingpoint.__main__").main
        code = main([*there, "--json", str(place / "result.json"), "--quiet"])
        numbers = of_json(json.loads((place / "result.json").read_text(encoding="utf-8")), NOT_RECORDED)
        return {"exit code": float(code), **numbers}
