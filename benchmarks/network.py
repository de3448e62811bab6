"""Networks: the path against the paper's algorithms, nearest errors against foolbox, and both against proofs.

On the ACS Income data (76 columns, 2,000 rows to train and 2,000 to evaluate, numeric columns standardised) a network 76-16-1
and one of three hidden layers of 128, trained with Adam. The data are looked for in TIPPINGPOINT_DATA and in ../shared/data.

Algorithms 1 and 2 begin at h = 1, as published; their rates are the best of those tried by hand, and they are given as many
epochs as their risk needs to stay within 1 % of the threshold. All in one process, on `--threads`
threads (1: on two shared cores small networks are slower on two).

Run as `python benchmarks/network.py`; `--quick` leaves the slowest parts out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import tippingpoint as tp

RISK, THETA = 3.0, 0.4
"""The paper's threshold for Income, and its prices at equal shares."""

ERROR, THETA1, THETA2 = 0.4, 1.0, 0.25
"""The paper's threshold and prices for the 0/1 loss."""

WITHIN = 0.01
"""How far from the threshold the paper's algorithm may end."""

SCHEDULES: dict[str, dict[str, Any]] = {
    "76-16-1": {"learning_rate": 0.03, "price_rate": 0.1},
    "3 x 128": {"learning_rate": 0.03, "price_rate": 0.05},
}
"""Adam's rates for the samples and for the price; of those tried, the ones that need the fewest epochs."""

MOST_EPOCHS = 300
"""Where the search for enough epochs gives up."""

SHORT = 2.0
"""Seconds below which a machine shared with others needs a second and a third look."""

MIXES = [k / 10 for k in range(11)]


@dataclass(frozen=True)
class Setup:
    """A trained network and the data it is judged on."""

    name: str
    net: nn.Sequential
    x: Any
    y: Any


@dataclass(frozen=True)
class Line:
    """One line of the table: what was done, how long it took, what came out."""

    network: str
    task: str
    method: str
    seconds: float
    value: float
    lower: float = 0.0
    note: str = ""


def data_directory() -> Path:
    for place in (os.environ.get("TIPPINGPOINT_DATA"), Path(__file__).parents[2] / "shared" / "data"):
        if place and Path(place).is_dir():
            return Path(place)
    raise SystemExit("no data: set TIPPINGPOINT_DATA to the directory that holds acs2018_income_ca.csv.gz")


def setups() -> list[Setup]:
    x, y = tp.datasets.acs_income(data_directory())
    drawn = np.random.default_rng(0).permutation(len(x))[:4000]
    numeric = ["SEX", "AGEP", "WKHP", "SCHL"]
    train, evaluate = x.iloc[drawn[:2000]].copy(), x.iloc[drawn[2000:]].copy()
    mean, spread = train[numeric].mean(), train[numeric].std()
    for frame in (train, evaluate):
        frame[numeric] = (frame[numeric] - mean) / spread
    labels = y.to_numpy()
    inputs = torch.tensor(train.to_numpy(), dtype=torch.float32)
    targets = torch.tensor(labels[drawn[:2000]], dtype=torch.float32)
    found = []
    for name, widths, epochs in (("76-16-1", [16], 600), ("3 x 128", [128, 128, 128], 60)):
        torch.manual_seed(0)
        layers: list[nn.Module] = []
        for before, after in zip([76, *widths], [*widths, 1], strict=True):
            layers += [nn.Linear(before, after), nn.ReLU()]
        net = nn.Sequential(*layers[:-1])
        optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
        for _ in range(epochs):
            optimiser.zero_grad()
            loss: Any = nn.functional.binary_cross_entropy_with_logits(net(inputs)[:, 0], targets)
            loss.backward()
            optimiser.step()
        found.append(Setup(name, net.eval(), evaluate, labels[drawn[2000:]]))
    return found


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, the median of three where it is short, and what came out."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and seconds[0] < SHORT):
        start = time.perf_counter()
        found = run()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 2], found


def evaluated(setup: Setup, divergence: str, **search: Any) -> Any:
    settings: dict[str, Any] = {"theta1": THETA, "theta2": THETA, "divergence": divergence}
    return tp.stability(setup.net, setup.x, setup.y, RISK, loss="cross_entropy", **settings, **search)


def smooth(setup: Setup) -> list[Line]:
    """Cross-entropy at the paper's threshold: the path, and the algorithm with just enough epochs."""
    lines = []
    for divergence in ("kl", "chi2"):
        once = partial(evaluated, setup, divergence)
        seconds, path = timed(partial(once, certify="none"))
        lines.append(Line(setup.name, f"cross-entropy, {divergence}", "path", seconds, path.value))
        seconds, bounded = timed(once)
        lines.append(Line(setup.name, f"cross-entropy, {divergence}", "path, certified", seconds, bounded.value, bounded.lower))
        schedule = SCHEDULES[setup.name]
        trial = once(method="paper", epochs=MOST_EPOCHS, **schedule)
        off = np.abs(np.array(trial.trace) / RISK - 1.0) > WITHIN
        enough = min(int(np.flatnonzero(off).max(initial=-1)) + 2, MOST_EPOCHS)
        seconds, paper = timed(partial(once, method="paper", epochs=enough, **schedule))
        algorithm = "Algorithm 1" if divergence == "kl" else "Algorithm 2"
        faster, apart = seconds / lines[-2].seconds, path.value / paper.value - 1.0
        note = f"{enough} epochs, risk {paper.trace[-1]:.3f}; path {faster:.0f}x faster, its R {apart:+.2%}"
        lines.append(Line(setup.name, f"cross-entropy, {divergence}", algorithm, seconds, paper.value, note=note))
    return lines


def sweep(setup: Setup) -> list[Line]:
    """Eleven mixes off one profile, against one evaluation."""
    search: dict[str, Any] = {"loss": "cross_entropy", "certify": "none"}
    single, result = timed(lambda: tp.profile(setup.net, setup.x, setup.y, **search).stability(RISK, mix=0.5))
    whole, _ = timed(lambda: tp.profile(setup.net, setup.x, setup.y, **search).tradeoff(MIXES, risk=RISK))
    note = f"{whole / single:.1f} times one evaluation ({single:.2f} s)"
    return [Line(setup.name, "11 mixes", "path", whole, result.value, note=note)]


def exact(setup: Setup) -> list[Line]:
    """Cross-entropy, proved over the gates."""

    def once() -> Any:
        return tp.stability(setup.net, setup.x, setup.y, RISK, loss="cross_entropy", theta1=THETA, theta2=THETA, method="exact")

    seconds, result = timed(once)
    note = f"bounds agree to {result.gap:.2%}"
    return [Line(setup.name, "cross-entropy, kl", "exact", seconds, result.value, result.lower, note)]


def errors(setup: Setup) -> list[Line]:
    """Nearest errors: ours, and foolbox's DDN; `value` is the mean distance over the rows that are right."""
    sign = np.where(setup.y > 0, 1.0, -1.0)
    with torch.no_grad():
        scores = setup.net(torch.tensor(setup.x.to_numpy(), dtype=torch.float32))[:, 0].double().numpy()
    right = np.flatnonzero(sign * scores > 0.0)
    rows, labels = setup.x.iloc[right], setup.y[right]
    seconds, mine = timed(lambda: tp.profile(setup.net, rows, labels, loss="zero_one"))
    pool = mine.oracle.pool
    found = np.sqrt(pool.costs[-1])
    proof = f"the search alone, no proof; {int((pool.lifts[-1] > 0.0).sum())} of {len(right)} found"
    if len(setup.net) == 3:
        squared = mine.oracle.certifier.squared  # what the proof left
        proof = f"search and proof; within {float((found / np.sqrt(squared)).max() - 1.0):.1e} of exact at worst"
    lines = [Line(setup.name, "nearest errors", "ours", seconds, float(found.mean()), note=proof)]
    for steps in (100, 1000):
        seconds, distance = timed(partial(ddn, setup, rows, labels, steps))
        ratio = distance / found
        note = f"mean excess over ours {float(ratio.mean()) - 1.0:.2%}, worst {float(ratio.max()) - 1.0:.1%}"
        lines.append(Line(setup.name, "nearest errors", f"foolbox DDN({steps})", seconds, float(distance.mean()), note=note))
    if len(setup.net) == 3:
        lines.append(search_alone(setup, rows, labels, found))
    seconds, result = timed(
        lambda: tp.stability(setup.net, setup.x, setup.y, ERROR, theta1=THETA1, theta2=THETA2, loss="zero_one")
    )
    lines.append(
        Line(setup.name, "0/1 loss, R", "path", seconds, result.value, result.lower, f"bounds agree to {result.gap:.2%}")
    )
    return lines


def search_alone(setup: Setup, rows: Any, labels: Any, exact: Any) -> Line:
    """The same search on a network that looks like nothing known, so that nothing is proved or improved by proofs."""

    class Plain(nn.Module):
        def __init__(self, net: nn.Module) -> None:
            super().__init__()
            self.net = net

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.net(x) * float(len(x) > 0))  # a branch on the data: not a chain of layers

    seconds, mine = timed(lambda: tp.profile(Plain(setup.net).eval(), rows, labels, loss="zero_one"))
    ratio = np.sqrt(mine.oracle.pool.costs[-1]) / exact
    note = f"mean excess over exact {float(ratio.mean()) - 1.0:.2%}, worst {float(ratio.max()) - 1.0:.1%}"
    return Line(setup.name, "nearest errors", "ours, search alone", seconds, float((ratio * exact).mean()), note=note)


def ddn(setup: Setup, rows: Any, labels: Any, steps: int) -> Any:
    """Distances of foolbox's decoupled direction and norm attack; two logits, as it wants them."""
    import foolbox

    class TwoLogits(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            score = setup.net(x)
            return torch.cat([torch.zeros_like(score), score], dim=1)

    inputs = torch.tensor(rows.to_numpy(), dtype=torch.float32)
    low, high = float(inputs.min()) - 50.0, float(inputs.max()) + 50.0  # nothing comes near these bounds
    model = foolbox.PyTorchModel(TwoLogits().eval(), bounds=(low, high))
    attack = foolbox.attacks.DDNAttack(steps=steps, init_epsilon=0.3)
    _, moved, success = attack(model, inputs, torch.tensor(labels), epsilons=None)
    distance = (moved - inputs).double().norm(dim=1).numpy()
    return np.where(success.numpy(), distance, math.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave out the paper's algorithms on the large network")
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch; default 1")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lines: list[Line] = []
    for setup in setups():
        tp.stability(setup.net, setup.x[:50], setup.y[:50], RISK, loss="cross_entropy")  # imports and first calls
        parts = [errors, sweep] + ([exact] if len(setup.net) == 3 else [])
        if not options.quick or len(setup.net) == 3:
            parts.insert(0, smooth)
        for part in parts:
            for line in part(setup):
                lines.append(line)
                if not options.json:
                    shown = f"{line.network:8} {line.task:22} {line.method:20} {line.seconds:7.2f} s  {line.value:.6f}"
                    print(shown + (f" >= {line.lower:.6f}" if line.lower else "") + f"  {line.note}", flush=True)
    about = {name: version(name) for name in ("numpy", "torch", "foolbox", "tippingpoint")}
    if options.json:
        print(json.dumps({"python": platform.python_version(), **about, "lines": [asdict(line) for line in lines]}, indent=2))
    else:
        print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {number}" for name, number in about.items()))


if __name__ == "__main__":
    main()
