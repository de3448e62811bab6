r"""The hinge loss of a linear score: the dual of one number against a conic solver, and a million rows alone.

Both sides solve the same problem, :math:`R = \max_{h \ge 0} h r - \Psi(E)` with
:math:`E_i = \max(0,\, h c_i + h^2 B/(4\theta_1))`, :math:`c_i = 1 - y_i \beta^\top x_i` and :math:`B = \lVert\beta\rVert^2`.
The conic programs are the paper's with its misprints corrected (docs/mathematics.md, section 10), in the formulation that
CVXPY's open solvers finished first of those tried.

Run as `python benchmarks/hinge.py`; `--quick` takes smaller data and fewer repeats.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

import tippingpoint as tp

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

THETA1, THETA2 = 1.0, 0.25
"""Prices at which moving and reweighting both pay, as in the paper: `1/θ1 + 1/θ2 = 5`."""

RISE = 1.5
"""The threshold, as a multiple of the present risk: far enough for both kinds of change, within reach of both solvers."""

FEATURES = 20
"""Columns of the data."""

STEEPNESS = 1.5
"""Length of the coefficients: the classes overlap so much that the model errs on a quarter of the rows."""

SEED = 0

BLOCK = 10_000
"""Rows taken at once, so that making the data needs no more memory than the data."""

ACCURATE = 1e-5
"""Relative difference in value up to which a solver counts as having solved the problem; 1e-6 is usual."""

AUDITION = 2_000
"""Rows on which the conic solvers compete; only the winner goes on, since the slowest would take minutes on more."""

MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in one unit of `ru_maxrss`, which systems count differently."""

DIVERGENCES = ("kl", "chi2")


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    sizes
        Rows on which both sides are timed.
    large
        Rows for ours alone.
    ours, conic
        Repeats of either side, of which the median is reported.
    """

    sizes: tuple[int, ...]
    large: int
    ours: int
    conic: int


FULL = Plan(sizes=(2_000, 20_000), large=1_000_000, ours=15, conic=3)
QUICK = Plan(sizes=(2_000,), large=100_000, ours=5, conic=1)


@dataclass(frozen=True)
class Case:
    """Data and a fixed linear model.

    Attributes
    ----------
    x, y
        Features, and labels -1 and +1 drawn from a logistic model.
    coef
        `β` of that model, judged here by its hinge loss.
    """

    x: FloatArray
    y: IntArray
    coef: FloatArray

    @property
    def bytes(self) -> int:
        """Memory of the data."""
        return self.x.nbytes + self.y.nbytes

    def margins(self, rows: slice = slice(None)) -> FloatArray:
        """`c_i = 1 - y_i βᵀx_i`: the hinge's second piece."""
        return np.asarray(1.0 - self.y[rows] * (self.x[rows] @ self.coef))

    def threshold(self) -> float:
        """The risk to be reached."""
        hinge = (np.maximum(self.margins(rows), 0.0).sum() for rows in blocks(len(self.y)))
        return RISE * float(sum(hinge)) / len(self.y)


@dataclass(frozen=True)
class Alone:
    """Ours on much data.

    Attributes
    ----------
    seconds
        Time of `profile` and `stability` together.
    passes
        Evaluations of the dual.
    loaded, peak
        Most memory held so far, interpreter and imports taken off, as a multiple of the data's: once the data are there,
        and after the solve.
    """

    rows: int
    divergence: str
    seconds: float
    passes: int
    loaded: float
    peak: float


@dataclass(frozen=True)
class Conic:
    """What a conic solver made of a problem: its value, and seconds in the solver and with CVXPY's compilation."""

    value: float
    solver: float
    total: float

    def error(self, value: float) -> float:
        """Relative difference to a value."""
        return abs(self.value - value) / value


@dataclass(frozen=True)
class Contender:
    """A way to solve one of the conic programs."""

    title: str
    build: Callable[[Case, float], Any]
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)


def blocks(rows: int) -> Iterator[slice]:
    """All rows, a block at a time."""
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))


def make(rows: int) -> Case:
    """A seeded data set of two overlapping classes."""
    rng = np.random.default_rng(SEED)
    coef = rng.standard_normal(FEATURES)
    coef *= STEEPNESS / np.linalg.norm(coef)
    x, y = np.empty((rows, FEATURES)), np.empty(rows, dtype=np.int64)
    for block in blocks(rows):
        rng.standard_normal(out=x[block])
        score = x[block] @ coef
        y[block] = np.where(rng.random(len(score)) < 1.0 / (1.0 + np.exp(-score)), 1, -1)
    return Case(x, y, coef)


def ours(case: Case, threshold: float, divergence: str) -> tuple[float, tp.StabilityResult]:
    """Seconds and result of the whole way: profile, dual and Q*."""
    start = time.perf_counter()
    profile = tp.profile((case.coef, 0.0), case.x, case.y, loss="hinge")
    result = profile.stability(threshold, theta1=THETA1, theta2=THETA2, divergence=divergence)
    return time.perf_counter() - start, result


def kl_program(case: Case, threshold: float) -> Any:
    """`min -h r + t` with an exponential cone a sample; the constraint has `h·b_k`, misprint 2 of docs/mathematics.md."""
    import cvxpy as cp

    n, c = len(case.y), case.margins()
    h, t, square = cp.Variable(nonneg=True), cp.Variable(), cp.Variable()
    p, eta = cp.Variable(n), cp.Variable(n)
    constraints = [
        square >= cp.square(h),
        p >= 0,
        p >= c * h + float(case.coef @ case.coef) / (4.0 * THETA1) * square,
        cp.constraints.ExpCone(p - t, np.full(n, THETA2), eta),
        cp.sum(eta) / n <= THETA2,
    ]
    return cp.Problem(cp.Minimize(-threshold * h + t), constraints)


def chi2_program(case: Case, threshold: float) -> Any:
    """`min -h r - α - θ2 + θ2/n Σ η²`: the objective has `-α - θ2`, the constraint `h·b_k`, misprints 2 and 3 of its page."""
    import cvxpy as cp

    n, c = len(case.y), case.margins()
    h, alpha, square = cp.Variable(nonneg=True), cp.Variable(), cp.Variable()
    eta = cp.Variable(n, nonneg=True)
    constraints = [
        square >= cp.square(h),
        alpha + 2.0 * THETA2 <= 2.0 * THETA2 * eta,
        c * h + float(case.coef @ case.coef) / (4.0 * THETA1) * square + alpha + 2.0 * THETA2 <= 2.0 * THETA2 * eta,
    ]
    return cp.Problem(cp.Minimize(-threshold * h - alpha - THETA2 + THETA2 / n * cp.sum_squares(eta)), constraints)


CONTENDERS: Mapping[str, Sequence[Contender]] = {
    "kl": (
        Contender("Clarabel, exponential cones", kl_program, "CLARABEL"),
        Contender("SCS, exponential cones", kl_program, "SCS", {"eps": 1e-7}),
    ),
    "chi2": (
        Contender("Clarabel, quadratic objective", chi2_program, "CLARABEL"),
        Contender("Clarabel, second-order cone", chi2_program, "CLARABEL", {"use_quad_obj": False}),
        Contender("SCS, quadratic objective", chi2_program, "SCS", {"eps": 1e-7}),
    ),
}
"""Clarabel at its own tolerance of 1e-8; SCS, a first-order method, at one that gives it as many digits."""


def conic(contender: Contender, case: Case, threshold: float) -> Conic:
    """The stability by CVXPY; not a number where the solver gives up."""
    import cvxpy as cp

    start = time.perf_counter()
    program = contender.build(case, threshold)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is seen by its error
            program.solve(solver=contender.solver, **contender.options)
    except cp.SolverError:
        return Conic(math.nan, math.nan, math.nan)
    return Conic(-float(program.value), float(program.solver_stats.solve_time), time.perf_counter() - start)


def peak_memory() -> int:
    """The most memory this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MEMORY_UNIT


def alone(rows: int, divergence: str) -> Alone:
    """Ours on much data; to be called in a process of its own, whose peak memory is then that of this call."""
    small = make(AUDITION)
    ours(small, small.threshold(), divergence)  # loads whatever is imported on first use
    baseline = peak_memory()
    case = make(rows)
    loaded = peak_memory() - baseline
    seconds, result = ours(case, case.threshold(), divergence)
    peak = peak_memory() - baseline
    return Alone(rows, divergence, seconds, result.evaluations, loaded / case.bytes, peak / case.bytes)


def alone_elsewhere(rows: int, divergence: str) -> Alone:
    """`alone`, in a fresh process."""
    command = [sys.executable, __file__, "--alone", divergence, "--rows", str(rows)]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  # this very file
    return Alone(**json.loads(finished.stdout))


def audition(divergence: str) -> tuple[Contender, list[str]]:
    """The fastest contender that solves a small problem, and the lines that tell how all of them fared."""
    case = make(AUDITION)
    _, result = ours(case, case.threshold(), divergence)
    lines, best, fastest = [], CONTENDERS[divergence][0], math.inf
    for contender in CONTENDERS[divergence]:
        conic(contender, case, case.threshold())  # the first call imports and warms up
        run = conic(contender, case, case.threshold())
        error = run.error(result.value)
        solved = error <= ACCURATE
        if solved and run.solver < fastest:
            best, fastest = contender, run.solver
        verdict = "" if solved else "  (not solved)"
        lines.append(f"{divergence:<6}{contender.title:<32}{run.solver:>8.3f} s{error:>12.1e}{verdict}")
    return best, lines


def duel(rows: int, divergence: str, contender: Contender, plan: Plan) -> str:
    """A row of the table: both sides on the same data, by turns."""
    case = make(rows)
    threshold = case.threshold()
    ours(case, threshold, divergence)
    own: list[tuple[float, tp.StabilityResult]] = []
    theirs: list[Conic] = []
    for _ in range(plan.conic):
        theirs.append(conic(contender, case, threshold))
        own.extend(ours(case, threshold, divergence) for _ in range(plan.ours // plan.conic))
    seconds, result = statistics.median(taken for taken, _ in own), own[0][1]
    solver = statistics.median(run.solver for run in theirs)
    total = statistics.median(run.total for run in theirs)
    return (
        f"{divergence:<6}{rows:>10,}{seconds * 1e3:>10.1f} ms{result.evaluations:>8}{solver:>10.3f} s{total:>10.3f} s"
        f"{solver / seconds:>9.0f}x{total / seconds:>9.0f}x{theirs[0].error(result.value):>12.1e}"
    )


def report(plan: Plan) -> Iterator[str]:
    """The lines of the report, each as soon as it is known."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("tippingpoint", "numpy", "cvxpy", "clarabel", "scs"))
    yield f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {packages}"
    yield f"hinge loss, {FEATURES} features, theta1={THETA1:g}, theta2={THETA2:g}, risk raised {RISE:g} times"
    # First, while this process is small: on Linux a child's peak memory starts at that of its parent.
    yield "\nOurs alone; memory as a multiple of the data's, which are counted in"
    yield f"{'':<6}{'rows':>10}{'seconds':>10}{'passes':>10}{'data':>8}{'peak':>8}"
    for divergence in DIVERGENCES:
        one = alone_elsewhere(plan.large, divergence)
        yield f"{divergence:<6}{one.rows:>10,}{one.seconds:>8.2f} s{one.passes:>10}{one.loaded:>7.2f}x{one.peak:>7.2f}x"
    yield f"\nConic solvers, {AUDITION:,} rows: seconds in the solver, relative difference to ours; the fastest goes on"
    chosen = {}
    for divergence in DIVERGENCES:
        chosen[divergence], lines = audition(divergence)
        yield from lines
    yield "\nOurs (profile, dual and Q*) against CVXPY: the solver alone, and with building and compiling the model"
    yield (
        f"{'':<6}{'rows':>10}{'ours':>13}{'passes':>8}{'solver':>12}{'compiled':>12}{'ratio':>10}{'compiled':>10}{'difference':>12}"
    )
    for divergence in DIVERGENCES:
        for rows in plan.sizes:
            yield duel(rows, divergence, chosen[divergence], plan)
    for divergence, contender in chosen.items():
        yield f"{divergence}: {contender.title}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The hinge loss of a linear score, timed against conic solvers.")
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats")
    parser.add_argument("--alone", choices=DIVERGENCES, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, default=FULL.large, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.alone:
        print(json.dumps(asdict(alone(options.rows, options.alone))))
        return
    for line in report(QUICK if options.quick else FULL):
        print(line, flush=True)


if __name__ == "__main__":
    main()
