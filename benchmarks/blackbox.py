"""Black boxes: how fast, how close to brute force, and side by side with another state of this library.

On the ACS Income data (looked for in TIPPINGPOINT_DATA and in ../shared/data):

- `tp.compare` of three gradient-boosting models on 2,000 rows, and a report of them: result, comparison and features;
- two and three features of gradient boosting, only moving: the excess over trying every cell between thresholds.

Run as `python benchmarks/blackbox.py`; `--against DIRECTORY` runs the same with the sources in that directory, in turns, and
gives ratios; `--quick` takes 300 rows.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

import tippingpoint as tp

COLUMNS = ["AGEP", "WKHP", "SCHL", "SEX", "COW", "MAR", "RELP", "RAC1P", "OCCP"]
FEW = (("AGEP", "WKHP"), ("AGEP", "WKHP", "SCHL"), ("AGEP", "WKHP", "OCCP"))
PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
RISK, MORE = 0.4, 0.15
"""The threshold of the comparison, and by how much the risk is to rise in that with brute force."""


def home() -> Path:
    named = os.environ.get("TIPPINGPOINT_DATA")
    for place in (Path(named) if named else None, Path(__file__).parents[2] / "shared" / "data"):
        if place is not None and (place / "acs").is_dir():
            return place
    raise SystemExit("the ACS data are not here; name their directory in TIPPINGPOINT_DATA")


def several(x: Any, y: Any, rows: int) -> dict[str, float]:
    """Seconds of a comparison and of a report, and the stabilities."""
    models = {
        f"depth {depth}": GradientBoostingClassifier(max_depth=depth, random_state=0).fit(x[:2000], y[:2000])
        for depth in (2, 3, 4)
    }
    x, y = x[2000 : 2000 + rows], y[2000 : 2000 + rows]
    start = time.perf_counter()
    compared = tp.compare(models, x, y, RISK, scale="std", **PAPER)
    middle = time.perf_counter()
    try:
        from tippingpoint.api.reviewing import review
    except ImportError:  # a commit before this one: a report then took both
        tp.compare(models, x, y, RISK, scale="std", **PAPER)
        tp.feature_stability(models["depth 2"], x, y, RISK, scale="std", **PAPER)
    else:
        review(models, x, y, RISK, scale="std", **PAPER)
    measured = {"compare, seconds": middle - start, "report, seconds": time.perf_counter() - middle}
    return measured | {f"stability, {name}": result.value for name, result in compared.results.items()}


def excess(x: Any, y: Any, names: tuple[str, ...]) -> dict[str, float]:
    """By how much, in percent, what is found for a few features exceeds the best there is."""
    x = x[list(names)]
    model = GradientBoostingClassifier(n_estimators=50, random_state=0).fit(x[:2000], y[:2000])
    x, y = x[2000:2200].reset_index(drop=True), y[2000:2200]
    edges = [
        np.unique(np.concatenate([t.tree_.threshold[t.tree_.feature == j] for t in model.estimators_[:, 0]]))
        for j in range(len(names))
    ]
    inside = [np.concatenate((at[:1] - 1.0, 0.5 * (at[1:] + at[:-1]), at[-1:] + 1.0)) for at in edges]
    wrong = model.predict(pd.DataFrame(itertools.product(*inside), columns=x.columns))
    now, lines = model.predict(x), list[dict[str, float]]()
    for i, row in enumerate(x.to_numpy()):
        cost = np.zeros(1)
        for at, here, unit in zip(edges, row, x.to_numpy().std(axis=0), strict=True):
            below, above = np.append(-np.inf, at), np.append(at, np.inf)
            cost = np.add.outer(cost, np.square(np.maximum(np.maximum(below - here, here - above), 0.0) / unit)).ravel()
        lines.append({"sample": i, "loss": float(now[i] != y[i]), "cost": 0.0})
        if now[i] == y[i] and (wrong != y[i]).any():
            lines.append({"sample": i, "loss": 1.0, "cost": float(cost[wrong != y[i]].min())})
    best = tp.profile_table(pd.DataFrame(lines))
    settings: dict[str, Any] = {"theta1": 1.0, "theta2": math.inf}
    found = tp.profile(model, x, y, scale="std").stability(best.risk + MORE, **settings).value
    return {f"excess in %, {', '.join(names)}": 100.0 * (found / best.stability(best.risk + MORE, **settings).value - 1.0)}


def measured(rows: int) -> dict[str, float]:
    table = pd.read_csv(home() / "acs" / "acs2018_income_ca.csv.gz", nrows=60_000).sample(2000 + max(rows, 200), random_state=0)
    table["OCCP"] //= 100
    x, y = table[COLUMNS].astype(float).reset_index(drop=True), table["LABEL"].to_numpy()
    found = several(x, y, rows)
    for names in FEW:
        found |= excess(x, y, names)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="DIRECTORY", help="sources of another state of the library")
    parser.add_argument("--quick", action="store_true", help="300 rows instead of 2,000")
    parser.add_argument("--numbers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = 300 if options.quick else 2000
    if options.numbers:
        print(json.dumps(measured(rows)))
        return
    runs = list[dict[str, float]]()
    for source in [Path(tp.__file__).parents[1], *([options.against] if options.against else [])]:
        words = [sys.executable, __file__, "--numbers", *(["--quick"] if options.quick else [])]
        ran = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(source)})  # noqa: S603
        runs.append(json.loads(ran.stdout))
    for name, value in runs[0].items():
        other = runs[1][name] if len(runs) > 1 else math.nan
        ratio = f"{other:12.5g} {value / other:8.2f}x" if len(runs) > 1 and other else ""
        print(f"{name:<36} {value:12.5g} {ratio}")


if __name__ == "__main__":
    main()
