r"""Drift on a line: time and gap over prices and rows, permutations, and other ways to compare two samples.

The samples are normal, the current one shifted by a tenth of a standard deviation and 5 % wider; `ratio` is `θ1/θ2`, with moves
in standard deviations. Every line of the first table is a whole call of `drift_on_line`: sorting, bins, chain, bounds on all
rows. The gap is that between the certified bounds, relative to the upper one.

POT's `sinkhorn_unbalanced` solves the same problem with an entropy added, one marginal free at the price `θ2`, the other fixed;
its error is that of the cost of its plan against our bounds. It is left out where POT (`pip install pot`) is not installed.
`scipy.stats.ks_2samp` is what is usually reached for: it answers another question, so only its time is shown.

Run as `python benchmarks/drift.py`; `--quick` takes fewer rows, prices and repeats.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import ks_2samp

from tippingpoint.transport import Drift, drift_by_switching, drift_on_line, drift_on_table, permuted

FloatArray = npt.NDArray[np.float64]

SEED = 0
SHIFT, WIDTH = 0.1, 1.05
"""The current sample: mean and standard deviation, where the reference has 0 and 1."""

DIVERGENCES = ("kl", "chi2")
ENTROPIES = (0.05, 0.005)
"""Of POT; with a fifth of the smaller one its numbers underflow on these data."""

LEVELS = (9, 25, 60)


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    rows, ratios, tolerances
        Of the table of calls.
    large, large_ratios
        Rows of the few calls on many rows.
    permutations
        Rows dealt out so often.
    entropic
        Rows on which POT is tried.
    repeats
        Of which the best and the median are shown.
    """

    rows: int
    ratios: tuple[float, ...]
    tolerances: tuple[float, ...]
    large: int
    large_ratios: tuple[float, ...]
    permutations: int
    entropic: int
    repeats: int


FULL = Plan(20_000, (0.3, 1.0, 10.0, 100.0, 1000.0), (1e-3, 1e-4), 1_000_000, (0.3, 1.0, 10.0), 199, 2_000, 7)
QUICK = Plan(5_000, (1.0, 10.0), (1e-3,), 100_000, (1.0,), 19, 500, 3)

TARGETS = {
    (1e-3, 10.0): 20.0,
    (1e-3, 1.0): 20.0,
    (1e-3, 0.3): 20.0,
    (1e-4, 10.0): 150.0,
    (1e-4, 1.0): 150.0,
    (1e-4, 0.3): 150.0,
}
"""Milliseconds at 20,000 rows, by tolerance and ratio."""


def made(rows: int) -> tuple[FloatArray, FloatArray]:
    """A reference and a current sample."""
    rng = np.random.default_rng(SEED)
    return rng.normal(size=rows), SHIFT + WIDTH * rng.normal(size=rows)


def timed(function: Callable[[], Any], repeats: int) -> tuple[float, float, Any]:
    """The best and the median time in milliseconds, and what is returned."""
    taken, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = function()
        taken.append(1e3 * (time.perf_counter() - start))
    return min(taken), statistics.median(taken), found


def line(x: FloatArray, y: FloatArray, ratio: float, divergence: str, tolerance: float) -> Drift:
    """A call."""
    return drift_on_line(x, None, y, None, price=ratio, theta2=1.0, divergence=divergence, tolerance=tolerance)


def calls(plan: Plan) -> Iterator[str]:
    """A line a call, over prices, tolerances and divergences."""
    yield f"\n{plan.rows:,} against {plan.rows:,} rows"
    yield f"{'':<6}{'ratio':>8}{'tolerance':>11}{'best':>11}{'median':>11}{'target':>16}{'gap':>10}{'drift':>12}{'moving':>9}"
    x, y = made(plan.rows)
    for divergence in DIVERGENCES:
        for ratio in plan.ratios:
            for tolerance in plan.tolerances:
                best, median, found = timed(partial(line, x, y, ratio, divergence, tolerance), plan.repeats)
                target = TARGETS.get((tolerance, ratio)) if plan is FULL else None
                verdict = "" if target is None else f"{target:g} ms" + ("" if best <= target else ", missed")
                yield (
                    f"{divergence:<6}{ratio:>8g}{tolerance:>11g}{best:>8.1f} ms{median:>8.1f} ms{verdict:>16}"
                    f"{found.gap:>10.1e}{found.upper:>12.6f}{found.moving / found.upper:>9.0%}"
                )


def large(plan: Plan) -> Iterator[str]:
    """Many rows: what sorting them takes is shown beside."""
    yield f"\n{plan.large:,} against {plan.large:,} rows, tolerance 1e-3" + ("; target: about 2 s" if plan is FULL else "")
    yield f"{'':<6}{'ratio':>8}{'best':>11}{'sorting':>11}{'gap':>10}"
    x, y = made(plan.large)
    sorting, _, _ = timed(lambda: (np.argsort(x), np.argsort(y)), 2)
    for divergence in DIVERGENCES:
        for ratio in plan.large_ratios:
            best, _, found = timed(partial(line, x, y, ratio, divergence, 1e-3), 2)
            yield f"{divergence:<6}{ratio:>8g}{best / 1e3:>9.2f} s{sorting / 1e3:>9.2f} s{found.gap:>10.1e}"


def dealt(plan: Plan) -> Iterator[str]:
    """Permutations: of samples that differ, and of one sample in two halves."""
    yield f"\n{plan.permutations} permutations of {plan.rows:,} and {plan.rows:,} rows" + (
        "; target: 5 s" if plan is FULL else ""
    )
    x, y = made(plan.rows)
    labels = (np.arange(plan.rows) % 2).astype(int)
    for title, current, label in (
        ("shifted", y, None),
        ("the same population", (y - SHIFT) / WIDTH, None),
        ("shifted, with labels", y, labels),
    ):
        start = time.perf_counter()
        found = permuted(
            x, None, current, None, price=1.0, theta2=1.0, labels=label, current_labels=label, permutations=plan.permutations
        )
        taken = time.perf_counter() - start
        yield f"{title:<22}{taken:>8.2f} s   drift {found.value:.6f}, floor {found.floor:.6f}, p = {found.p_value:.3f}"


def levels(plan: Plan) -> Iterator[str]:
    """Categories: a table of costs, and one price for all switches."""
    yield "\nLevels, KL: a table of costs to a gap of 1e-6, and one price for all switches"
    yield f"{'levels':<8}{'table':>11}{'gap':>10}{'one price':>12}"
    rng = np.random.default_rng(SEED)
    for count in LEVELS:
        p, q, places = rng.dirichlet(np.ones(count)), rng.dirichlet(np.ones(count)), rng.normal(size=(count, 3))
        costs = np.square(places[:, None] - places).sum(axis=2)
        best, _, found = timed(partial(drift_on_table, p, q, costs, theta2=1.0), plan.repeats)
        closed, _, _ = timed(partial(drift_by_switching, p, q, switch=1.0, theta2=1.0), plan.repeats)
        yield f"{count:<8}{best:>8.1f} ms{found.gap:>10.1e}{closed:>9.2f} ms"


def entropic(x: FloatArray, y: FloatArray, entropy: float) -> float:
    """The cost of POT's plan, its columns made to sum to the current sample: an upper bound as ours is."""
    ot: Any = importlib.import_module("ot")
    n, m = len(x), len(y)
    costs = np.square(x[:, None] - y)
    p, q = np.full(n, 1.0 / n), np.full(m, 1.0 / m)
    plan = ot.unbalanced.sinkhorn_unbalanced(p, q, costs, entropy, (1.0, np.inf))
    plan = plan * (q / plan.sum(axis=0))
    source = plan.sum(axis=1)
    return float((plan * costs).sum() + (source * np.log(source / p)).sum())


def others(plan: Plan) -> Iterator[str]:
    """POT and SciPy beside ours."""
    rows = plan.entropic
    x, y = made(rows)
    yield f"\nBeside others, {rows:,} rows, ratio 1, KL"
    best, _, found = timed(partial(line, x, y, 1.0, "kl", 1e-4), plan.repeats)
    yield f"{'ours, to a gap of 1e-4':<42}{best:>9.1f} ms   gap {found.gap:.1e}"
    if find_spec("ot") is None:
        yield "POT is not installed (pip install pot): its sinkhorn_unbalanced is left out."
    else:
        for entropy in ENTROPIES:
            taken, _, value = timed(partial(entropic, x, y, entropy), 1)
            title, error = f"POT sinkhorn_unbalanced, entropy {entropy:g}", (value - found.lower) / found.lower
            yield f"{title:<42}{taken:>9.1f} ms   {error:.1%} above our lower bound, {taken / best:.0f}x"
    x, y = made(plan.rows)
    ours, _, _ = timed(partial(line, x, y, 1.0, "kl", 1e-3), plan.repeats)
    taken, _, _ = timed(lambda: ks_2samp(x, y, method="asymp"), plan.repeats)
    yield f"{f'ours, {plan.rows:,} rows, to a gap of 1e-3':<42}{ours:>9.1f} ms"
    yield f"{f'scipy.stats.ks_2samp, {plan.rows:,} rows':<42}{taken:>9.1f} ms"


def report(plan: Plan) -> Iterator[str]:
    """The lines of the report, each as soon as it is known."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("tippingpoint", "numpy", "scipy"))
    yield f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {packages}"
    for part in (calls, large, dealt, levels, others):
        yield from part(plan)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Drift on a line: time and gap, and other ways to compare two samples.")
    parser.add_argument("--quick", action="store_true", help="fewer rows, prices and repeats")
    options = parser.parse_args(arguments)
    for line in report(QUICK if options.quick else FULL):
        print(line, flush=True)


if __name__ == "__main__":
    main()
