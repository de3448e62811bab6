"""Feature stability, mixed spaces and black boxes: how fast, and how close to exact.

On the ACS Income data (looked for in TIPPINGPOINT_DATA and in ../shared/data): 2,000 rows to train and 2,000 to evaluate.

- all 76 encoded columns of a logistic regression and of a network 76-16-1, exactly, beside asking for one after the other with
  `tp.stability`, and beside scikit-learn's permutation importance, which people use for the same purpose;
- the raw columns of pipelines: a logistic regression exactly, the same model and gradient boosting as black boxes;
- 1,000 columns x 100,000 rows of made-up data in a process of its own, whose peak memory is measured.

Run as `python benchmarks/features.py`; `--quick` leaves the large problem out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from torch import nn

import tippingpoint as tp

PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
RISK = 0.4
NUMBERS = ["AGEP", "WKHP", "SCHL"]
CATEGORIES = ["SEX", "COW", "MAR", "RELP", "RAC1P", "OCCP"]
FEATURES, ROWS = 1000, 100_000
"""Columns and rows of the large problem."""


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The median time of some calls, and what the last returned."""
    times, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2], found


def home() -> Path:
    named = os.environ.get("TIPPINGPOINT_DATA")
    for place in (Path(named) if named else None, Path(__file__).parents[2] / "shared" / "data"):
        if place is not None and (place / "acs").is_dir():
            return place
    raise SystemExit("the ACS data are not here; name their directory in TIPPINGPOINT_DATA")


def halves(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:2000], order[2000:4000]
    return x.iloc[train], x.iloc[test], y.iloc[train], y.iloc[test]


def encoded(rows: list[dict[str, Any]]) -> None:
    """The paper's 76 columns."""
    x, y = tp.datasets.acs_income(home())
    numeric = ["SEX", "AGEP", "WKHP", "SCHL"]
    x[numeric] = (x[numeric] - x[numeric].mean()) / x[numeric].std()
    x_train, x_test, y_train, y_test = halves(x, y)
    linear = LogisticRegression(C=1e3, max_iter=5000).fit(x_train, y_train)
    settings: dict[str, Any] = {"scale": "raw", **PAPER}
    seconds, found = timed(lambda: tp.feature_stability(linear, x_test, y_test, RISK, **settings))
    rows.append({"what": "logistic regression, 76 features", "how": "feature_stability, exact", "seconds": seconds})

    def one_by_one() -> dict[str, float]:
        return {j: tp.stability(linear, x_test, y_test, RISK, space=tp.Space(movable=[j]), **settings).value for j in x.columns}

    slow, values = timed(one_by_one, 1)
    apart = max(abs(found[name].value / values[name] - 1.0) for name in found)
    rows.append({"what": "", "how": f"one stability each (differs by {apart:.0e})", "seconds": slow, "ratio": slow / seconds})
    rival, _ = timed(lambda: permutation_importance(linear, x_test, y_test, n_repeats=5, random_state=0), 1)
    rows.append({"what": "", "how": "scikit-learn, permutation importance", "seconds": rival, "ratio": rival / seconds})
    net = trained(x_train, y_train)
    for loss, risk in (("zero_one", RISK), ("cross_entropy", 1.0)):
        seconds, found = timed(lambda: tp.feature_stability(net, x_test, y_test, risk, loss=loss, **settings), 1)  # noqa: B023
        rows.append({"what": f"network 76-16-1, 76 features, {loss}", "how": "feature_stability, exact", "seconds": seconds})
        first = list(found)[:5]

        def searched() -> list[float]:
            return [
                tp.stability(net, x_test, y_test, risk, loss=loss, space=tp.Space(movable=[j]), **settings).value  # noqa: B023
                for j in first  # noqa: B023
            ]

        slow, values = timed(searched, 1)
        above = max(value / found[name].value - 1.0 for name, value in zip(first, values, strict=True))
        how = f"searched and certified, five features times 76/5 (up to {above:.1e} above)"
        rows.append({"what": "", "how": how, "seconds": slow * 76 / 5, "ratio": slow * 76 / 5 / seconds})


def trained(x: Any, y: Any) -> nn.Module:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(76, 16), nn.ReLU(), nn.Linear(16, 1))
    inputs, targets = torch.tensor(x.to_numpy()).float(), torch.tensor(y.to_numpy()).float()
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(150):
        optimiser.zero_grad()
        torch.autograd.backward(nn.functional.binary_cross_entropy_with_logits(net(inputs)[:, 0], targets))
        optimiser.step()
    return net.eval()


class Asked:
    """A model whose coefficients nobody sees."""

    def __init__(self, model: Any, *methods: str) -> None:
        self.classes_ = model.classes_
        for method in methods:
            setattr(self, method, getattr(model, method))


def raw(rows: list[dict[str, Any]], tables: list[str]) -> None:
    """Pipelines, moved in the columns of the Census."""
    table = pd.read_csv(home() / "acs" / "acs2018_income_ca.csv.gz")
    table["OCCP"] //= 100
    x_train, x_test, y_train, y_test = halves(table[NUMBERS + CATEGORIES], table["LABEL"])
    one_hot = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), CATEGORIES))
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    ordinal = make_column_transformer((codes, CATEGORIES), remainder="passthrough")
    linear = make_pipeline(one_hot, LogisticRegression(max_iter=2000)).fit(x_train, y_train)
    boosted = make_pipeline(ordinal, HistGradientBoostingClassifier(max_iter=60, random_state=0)).fit(x_train, y_train)
    kinds = dict.fromkeys(NUMBERS, "integer") | dict.fromkeys(CATEGORIES, "categorical")
    space = tp.Space(kind=kinds, price=dict.fromkeys(CATEGORIES, 0.1))
    settings: dict[str, Any] = {"space": space, "scale": "std", **PAPER}
    seconds, exact = timed(lambda: tp.stability(linear, x_test, y_test, RISK, **settings), 1)
    what = "logistic regression in 9 raw columns, all moving"
    rows.append({"what": what, "how": "exact", "seconds": seconds, "value": exact.value})
    ways = {"scores": ("predict", "decision_function"), "classes only": ("predict",)}
    for way, methods in ways.items():
        seconds, found = timed(lambda: tp.stability(Asked(linear, *methods), x_test, y_test, RISK, **settings), 1)  # noqa: B023
        how = f"as a black box, {way} ({100.0 * (found.value / exact.value - 1.0):+.2f} %)"
        rows.append({"what": "", "how": how, "seconds": seconds, "value": found.value})
    seconds, found = timed(lambda: tp.stability(boosted, x_test, y_test, RISK, **settings), 1)
    what = "gradient boosting in 9 raw columns, all moving"
    rows.append({"what": what, "how": "as a black box", "seconds": seconds, "value": found.value})
    for name, model in (("logistic regression", linear), ("gradient boosting", boosted)):
        seconds, ranked = timed(lambda: tp.feature_stability(model, x_test, y_test, RISK, **settings), 1)  # noqa: B023
        rows.append({"what": f"{name} in 9 raw columns, one at a time", "how": "exact", "seconds": seconds})
        tables.append(f"{name}\n{ranked}")


def large() -> None:
    """The large problem, in this process."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(ROWS, FEATURES))
    beta = generator.normal(size=FEATURES) / np.sqrt(FEATURES)
    y = np.where(x @ beta + generator.normal(size=ROWS) > 0.0, 1, -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = tp.feature_stability((beta, 0.0), x, y, RISK, scale="raw", **PAPER)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "before": before / 1e6, "peak": peak / 1e6, "features": len(found)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the large problem out")
    parser.add_argument("--large", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.large:
        large()
        return
    torch.set_num_threads(1)
    print(f"Python {platform.python_version()}, NumPy {version('numpy')}, scikit-learn {version('scikit-learn')}")
    rows, tables = list[dict[str, Any]](), list[str]()
    encoded(rows)
    raw(rows, tables)
    for row in rows:
        ratio = f"({row['ratio']:.1f}x)" if "ratio" in row else ""
        value = f"R = {row['value']:.5f}" if "value" in row else ""
        print(f"{row['what']:<48} {row['how']:<62} {row['seconds']:8.2f} s {ratio:>8} {value}")
    print("\n" + "\n\n".join(tables))
    if not options.quick:
        finished = subprocess.run([sys.executable, __file__, "--large"], capture_output=True, text=True, check=True)  # noqa: S603
        print(f"\n{FEATURES:,} features x {ROWS:,} rows: {finished.stdout.strip()} (memory in GB)")


if __name__ == "__main__":
    main()
