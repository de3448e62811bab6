r"""Many rows: against the state before blocks, a conic solver, one thread, two Dask workers, and without any memory.

Every table is a part of its own (`--only NAME`), and every side of a comparison a process of its own, so that its memory is its
own; where two sides are timed they take turns. The state before blocks is taken from git (`64a84fc`), so the benchmark runs in
a checkout only. All sides make the same data from the same seed.

Run as `python benchmarks/scale.py`; `--quick` takes a tenth of the rows or less, at which targets are not meant to be met.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

ROOT = Path(__file__).parents[1]
BEFORE = "64a84fc"
"""The last commit that worked on all rows at once."""

THETA1, THETA2 = 1.0, 0.25
RISE = 1.5
"""The threshold, as a multiple of the present risk."""

STEEPNESS = 1.5
"""Length of the coefficients: the model errs on a quarter of the rows."""

CHUNK = 100_000
"""Rows made at once, and rows of a partition of what is made anew for every pass."""

AGREE, AGREE_ELSEWHERE = 1e-12, 1e-10
"""Relative difference of values, in one process and over a cluster."""

MIB, GIB = 2**20, 2**30


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    rows, repeats
        Of one question, and how often either side is asked it.
    memory
        Rows, five columns wide, whose peak memory is taken.
    conic
        Divergence and rows of what a conic solver solves too, and how many times faster ours is to be.
    parquet, group
        Rows of the Parquet file, and of its row groups.
    made
        Rows that are made anew at every pass.
    """

    rows: int
    repeats: int
    memory: int
    conic: tuple[tuple[str, int, float], ...]
    parquet: int
    group: int
    made: tuple[int, ...]


FULL = Plan(
    rows=1_000_000,
    repeats=7,
    memory=10_000_000,
    conic=(("kl", 20_000, 200.0), ("chi2", 20_000, 100.0), ("kl", 100_000, 600.0)),
    parquet=10_000_000,
    group=500_000,
    made=(100_000, 1_000_000, 10_000_000, 100_000_000),
)
QUICK = Plan(
    rows=100_000,
    repeats=3,
    memory=1_000_000,
    conic=(("kl", 2_000, 200.0), ("chi2", 2_000, 100.0)),
    parquet=500_000,
    group=50_000,
    made=(100_000, 1_000_000),
)


def coefficients(columns: int) -> FloatArray:
    coef = np.random.default_rng(0).standard_normal(columns)
    return np.asarray(coef * (STEEPNESS / np.linalg.norm(coef)))


def chunk(number: int, rows: int, columns: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Rows number `CHUNK·number` and following, whoever asks for them: two overlapping classes."""
    rng = np.random.default_rng([1, number])
    x = rng.standard_normal((rows, columns))
    chance = 1.0 / (1.0 + np.exp(-(x @ coefficients(columns))))
    return x, np.where(rng.random(rows) < chance, 1, -1)


def chunks(rows: int, columns: int) -> Iterator[tuple[FloatArray, npt.NDArray[np.int64]]]:
    return (chunk(number, min(CHUNK, rows - start), columns) for number, start in enumerate(range(0, rows, CHUNK)))


def make(rows: int, columns: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """All rows; making them takes no more memory than they do."""
    x, y, start = np.empty((rows, columns)), np.empty(rows, dtype=np.int64), 0
    for some, labels in chunks(rows, columns):
        x[start : start + len(labels)], y[start : start + len(labels)] = some, labels
        start += len(labels)
    return x, y


# The side of a comparison: a process that makes its data, and then does what it is told, line by line.


class Side:
    """What a process can be told to do; `tippingpoint` is that of its own `PYTHONPATH`.

    Parameters
    ----------
    rows, columns
        Of its data.
    options
        Of `tippingpoint.profile`.
    """

    def __init__(self, rows: int, columns: int, options: dict[str, Any]) -> None:
        self.options = options
        self.model = (coefficients(columns), 0.0)
        self.x, self.y = make(2_000, columns)
        self.profile("zero_one")
        self.question("kl")  # what is imported on first use is imported now
        self.x, self.y = make(rows, columns)

    def profile(self, loss: str) -> dict[str, Any]:
        """Time of reading, checking and profiling; questions are about this profile then."""
        import tippingpoint as tp

        start = time.perf_counter()
        self._profile = tp.profile(self.model, self.x, self.y, loss=loss, **self.options)
        return {"seconds": time.perf_counter() - start}

    def question(self, divergence: str) -> dict[str, Any]:
        """Time of one question to the profile, and its answer."""
        start = time.perf_counter()
        found = self._profile.stability(RISE * self._profile.risk, theta1=THETA1, theta2=THETA2, divergence=divergence)
        return {"seconds": time.perf_counter() - start, "value": found.value, "passes": found.evaluations}

    def reading(self, loss: str) -> dict[str, Any]:
        """Time until the data are read and checked, and the model is recognised."""
        from tippingpoint.api.cases import prepared

        start = time.perf_counter()
        prepared(self.model, self.x, self.y, self.options, loss=loss, sample_weight=None, space=None, scale=None)
        return {"seconds": time.perf_counter() - start}


class Streaming:
    """A process that makes its rows anew at every pass, and keeps nothing."""

    def __init__(self, rows: int, columns: int, options: dict[str, Any]) -> None:
        self.columns, self.options = columns, options
        self.rows = 2_000
        self.question("logistic")
        self.rows = rows

    def question(self, loss: str) -> dict[str, Any]:
        """Time of profile and question, passes over the rows, and the time of making them once."""
        import tippingpoint as tp

        passes = 0

        def fresh() -> Iterator[Any]:
            nonlocal passes
            passes += 1
            return chunks(self.rows, self.columns)

        start = time.perf_counter()
        profile = tp.profile((coefficients(self.columns), 0.0), fresh, None, loss=loss, memory=0, **self.options)
        found = profile.stability(RISE * profile.risk, theta1=THETA1, theta2=THETA2)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        for _ in chunks(self.rows, self.columns):
            pass
        return {"seconds": seconds, "value": found.value, "passes": passes, "making": time.perf_counter() - start}


SIDES: dict[str, Callable[..., Any]] = {"side": Side, "streaming": Streaming}


def serve(kind: str, rows: int, columns: int, options: dict[str, Any]) -> None:
    """Do what the lines of the standard input say."""
    side = SIDES[kind](rows, columns, options)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        verb, *args = json.loads(line)
        print(json.dumps(getattr(side, verb)(*args)), flush=True)


class Process:
    """A side in a process of its own; `memory` is asked of the system, from outside."""

    def __init__(
        self, kind: str, rows: int, columns: int, options: dict[str, Any] | None = None, *, source: Path = ROOT / "src"
    ) -> None:
        command = [sys.executable, __file__, "--serve", kind, str(rows), str(columns), json.dumps(options or {})]
        env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)  # noqa: S603  # this very file
        self._line()
        self.before = self.memory("VmRSS")
        Path(f"/proc/{self._child.pid}/clear_refs").write_text("5", encoding="ascii")  # the peak begins here

    def _line(self) -> Any:
        assert self._child.stdout is not None
        return json.loads(self._child.stdout.readline())

    def __call__(self, verb: str, *args: Any) -> Any:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps([verb, *args]) + "\n")
        self._child.stdin.flush()
        return self._line()

    def memory(self, what: str = "VmHWM") -> int:
        """Bytes that the process holds (`VmRSS`), or held at its peak (`VmHWM`)."""
        return memory_of(self._child.pid, what)

    def __enter__(self) -> Process:  # noqa: PYI034  # nobody inherits from it
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate()


def memory_of(pid: int, what: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    message = f"{what} of {pid} is not known"
    raise OSError(message)


@contextmanager
def sources_before() -> Iterator[Path]:
    """The sources before blocks."""
    command = ["git", "archive", BEFORE, "src"]
    packed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603  # of this repository
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / "src"


def table(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def heading(*cells: str) -> str:
    return table(*cells) + "\n" + table(*["---"] * len(cells))


def verdict(reached: float, target: float, *, most: bool = False) -> str:
    """The target, and whether it is missed."""
    met = reached <= target if most else reached >= target
    return f"{'at most ' if most else ''}{target:g}x" + ("" if met else ", missed")


def agreeing(one: float, other: float, tolerance: float) -> str:
    apart = abs(one - other) / abs(other)
    return f"{apart:.0e}" + ("" if apart <= tolerance else ", too far")


def by_turns(sides: Sequence[Process], repeats: int, *call: Any) -> list[list[dict[str, Any]]]:
    """What every side answers, each of them `repeats` times, after one for warming up."""
    for side in sides:
        side(*call)
    found: list[list[dict[str, Any]]] = [[] for _ in sides]
    for _ in range(repeats):
        for side, answers in zip(sides, found, strict=True):
            answers.append(side(*call))
    return found


def times(answers: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The best and the median."""
    seconds = [each["seconds"] for each in answers]
    return min(seconds), statistics.median(seconds)


def question(plan: Plan) -> Iterator[str]:
    """One question to a ready profile, one thread, against the state before blocks."""
    yield heading("loss", "divergence", "rows", f"{BEFORE}, best", "median", "now, best", "median", "ratio", "target", "values")
    targets = {"hinge": 4.0, "zero_one": 4.0, "logistic": 12.0}
    with ExitStack() as stack:
        source = stack.enter_context(sources_before())
        before = stack.enter_context(Process("side", plan.rows, 20, source=source))
        now = stack.enter_context(Process("side", plan.rows, 20, {"threads": 1}))
        for loss, target in targets.items():
            for side in (before, now):
                side("profile", loss)
            for divergence in ("kl", "chi2"):
                old, new = by_turns((before, now), plan.repeats, "question", divergence)
                (best_before, median_before), (best, median) = times(old), times(new)
                yield table(
                    loss,
                    divergence,
                    f"{plan.rows:,}",
                    *(f"{each * 1e3:.0f} ms" for each in (best_before, median_before, best, median)),
                    f"{best_before / best:.1f}x",
                    verdict(best_before / best, target),
                    agreeing(new[0]["value"], old[0]["value"], AGREE),
                )


def reading(plan: Plan) -> Iterator[str]:
    """Reading and checking, against the state before blocks."""
    yield heading("rows", f"{BEFORE}, best", "median", "now, best", "median", "ratio", "target")
    with ExitStack() as stack:
        source = stack.enter_context(sources_before())
        before = stack.enter_context(Process("side", plan.rows, 20, source=source))
        now = stack.enter_context(Process("side", plan.rows, 20, {"threads": 1}))
        old, new = by_turns((before, now), plan.repeats, "reading", "hinge")
    (best_before, median_before), (best, median) = times(old), times(new)
    cells = (f"{each * 1e3:.0f} ms" for each in (best_before, median_before, best, median))
    yield table(f"{plan.rows:,} x 20", *cells, f"{best_before / best:.1f}x", verdict(best_before / best, 3.0))


def memory(plan: Plan) -> Iterator[str]:
    """Peak memory beyond the data, profile and question, seen from outside."""
    yield heading("loss", "rows", "data", f"{BEFORE}: beyond the data", "now", "seconds before", "now", "target")
    data = plan.memory * 6 * 8
    with sources_before() as source:
        for loss in ("zero_one", "logistic"):
            beyond, seconds = [], []
            for path, options in ((source, {}), (ROOT / "src", {"threads": 1})):
                with Process("side", plan.memory, 5, options, source=path) as side:
                    seconds.append(side("profile", loss)["seconds"] + side("question", "kl")["seconds"])
                    beyond.append((side.memory() - side.before) / data)
            yield table(
                loss,
                f"{plan.memory:,} x 5",
                f"{data / GIB:.2f} GiB",
                *(f"{each:.2f}x" for each in beyond),
                *(f"{each:.1f}" for each in seconds),
                verdict(beyond[1], 1.0, most=True),
            )


def conic(plan: Plan) -> Iterator[str]:
    """The hinge loss against Clarabel, as in `hinge.py`."""
    import hinge

    yield heading(
        "divergence", "rows", "ours", "solver alone", "with compilation", "ratio", "with compilation", "target", "values"
    )
    for divergence, rows, target in plan.conic:
        case = hinge.make(rows)
        threshold = case.threshold()
        hinge.ours(case, threshold, divergence)
        own = [hinge.ours(case, threshold, divergence) for _ in range(2 * plan.repeats + 1)]
        theirs = hinge.conic(hinge.CONTENDERS[divergence][0], case, threshold)
        seconds = statistics.median(taken for taken, _ in own)
        yield table(
            divergence,
            f"{rows:,}",
            f"{seconds * 1e3:.1f} ms",
            f"{theirs.solver:.2f} s",
            f"{theirs.total:.2f} s",
            f"{theirs.solver / seconds:.0f}x",
            f"{theirs.total / seconds:.0f}x",
            verdict(theirs.total / seconds, target),
            f"{theirs.error(own[0][1].value):.0e}",
        )


def threads(plan: Plan) -> Iterator[str]:
    """One question on two threads against one."""
    yield heading("loss", "rows", "one thread, best", "median", "two, best", "median", "ratio", "target", "values")
    with (
        Process("side", plan.rows, 20, {"threads": 1}) as alone,
        Process("side", plan.rows, 20, {"threads": 2}) as both,
    ):
        for loss in ("hinge", "logistic"):
            for side in (alone, both):
                side("profile", loss)
            one, two = by_turns((alone, both), plan.repeats, "question", "kl")
            cells = (f"{each * 1e3:.0f} ms" for each in (*times(one), *times(two)))
            ratio = times(one)[0] / times(two)[0]
            same = "the same bits" if one[0]["value"] == two[0]["value"] else "different"
            yield table(loss, f"{plan.rows:,}", *cells, f"{ratio:.2f}x", verdict(ratio, 1.7), same)


def write_parquet(path: Path, rows: int, group: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(20)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        held: list[Any] = []
        for x, y in chunks(rows, 20):
            held.append(pa.table([*(pa.array(x[:, j]) for j in range(20)), pa.array(y)], schema=schema))
            if sum(map(len, held)) >= group:
                writer.write_table(pa.concat_tables(held), row_group_size=group)
                held = []
        if held:
            writer.write_table(pa.concat_tables(held), row_group_size=group)


def cluster(plan: Plan) -> Iterator[str]:
    """A Parquet file on two Dask workers of 1 GiB, against the same rows in memory and two threads."""
    from distributed import Client, LocalCluster

    import tippingpoint as tp

    yield heading(
        "loss",
        "rows",
        "row groups of",
        "in memory, 2 threads",
        "2 workers",
        "ratio",
        "target",
        "peak of a worker",
        "target",
        "values",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path, plan.parquet, plan.group)
        for loss in ("logistic", "zero_one"):
            with Process("side", plan.parquet, 20, {"threads": 2}) as side:
                profiled, here = side("profile", loss), side("question", "kl")
            alone = profiled["seconds"] + here["seconds"]
            workers = LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB", dashboard_address=":0"
            )
            with workers, Client(workers) as client:
                pids = client.run(os.getpid)
                start = time.perf_counter()
                profile = tp.profile((coefficients(20), 0.0), str(path), "y", loss=loss, client=client)
                found = profile.stability(RISE * profile.risk, theta1=THETA1, theta2=THETA2)
                seconds = time.perf_counter() - start
                lost = set(pids.values()) - set(client.run(os.getpid).values())
                peaks = [memory_of(pid, "VmHWM") for pid in client.run(os.getpid).values()]
            restarted = f", {len(lost)} restarted" if lost else ""
            yield table(
                loss,
                f"{plan.parquet:,} x 20",
                f"{plan.group:,}",
                f"{alone:.1f} s",
                f"{seconds:.1f} s",
                f"{seconds / alone:.1f}x",
                verdict(seconds / alone, 3.0, most=True),
                ", ".join(f"{peak / MIB:.0f} MiB" for peak in peaks) + restarted,
                "below 1 GiB" + ("" if max(peaks) < GIB and not lost else ", missed"),
                agreeing(found.value, here["value"], AGREE_ELSEWHERE),
            )


def made(plan: Plan) -> Iterator[str]:
    """Rows that are made anew at every pass: time and memory over their number."""
    yield heading(
        "rows x 5",
        "seconds",
        "passes",
        "rows a second and pass",
        "making them",
        "GB moved",
        "peak beyond the start",
        "against linear",
    )
    before = math.nan
    for rows in plan.made:
        with Process("streaming", rows, 5) as side:
            found = side("question", "logistic")
            beyond = side.memory() - side.before
        each = found["seconds"] / rows
        yield table(
            f"{rows:,}",
            f"{found['seconds']:.1f}",
            f"{found['passes']}",
            f"{rows * found['passes'] / found['seconds'] / 1e6:.1f} million",
            f"{found['making'] * found['passes'] / found['seconds']:.0%} of the time",
            f"{rows * found['passes'] * 6 * 8 / 1e9:.1f}",
            f"{beyond / MIB:.0f} MiB",
            "" if math.isnan(before) else f"{each / before:.2f}x",
        )
        before = each
    yield (
        f"\nPartitions of {CHUNK:,} rows (4.8 MB): some blocks each, and small beside the interpreter. Nothing crosses a"
        " network: a pass costs the rows' making, their reading and checking, and their responses."
    )


def peak_of(command: Sequence[str]) -> int:
    """The largest peak (`VmHWM`) of a command and of all processes that it starts, in bytes."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    found = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=env) as child:  # noqa: S603  # ours
        while child.poll() is None:
            for pid in _with_children(child.pid):
                with suppress(OSError):  # it has ended
                    found = max(found, memory_of(pid, "VmHWM"))
            time.sleep(0.1)
        if child.returncode:
            message = f"{command} ended with {child.returncode}"
            raise OSError(message)
    return found


def _with_children(pid: int) -> list[int]:
    with suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(child) for task in tasks for child in (task / "children").read_text(encoding="ascii").split()]
        return [pid, *(each for child in children for each in _with_children(child))]
    return []


def files(plan: Plan) -> Iterator[str]:
    """Peak memory of the command line on Parquet files: the largest of its processes."""
    yield heading("rows", "row groups of", "`--memory`", "peak", "without rows")
    with tempfile.TemporaryDirectory() as folder:
        model, few = Path(folder) / "model.json", Path(folder) / "few.parquet"
        names = [f"x{j}" for j in range(20)]
        linear = {"coef": coefficients(20).tolist(), "intercept": 0.0, "features": names, "classes": [-1, 1]}
        model.write_text(json.dumps(linear), encoding="utf-8")
        write_parquet(few, 1000, 1000)
        base = [sys.executable, "-m", "tippingpoint", "evaluate", "--model", str(model), "--target", "y", "--risk", "0.45"]
        baseline = peak_of([*base, "--memory", "0", "--data", str(few)])
        for rows, group in ((plan.parquet, 100_000), (plan.parquet // 2, 2**20)):
            path = Path(folder) / f"{group}.parquet"
            write_parquet(path, rows, group)
            for memory in (("0",), ("100 MB",), ("100 MB", "--workers", "2")):
                peak = peak_of([*base, "--data", str(path), "--memory", *memory])
                sizes = (f"{peak / MIB:.0f} MiB", f"{baseline / MIB:.0f} MiB")
                yield table(f"{rows:,} x 20", f"{group:,}", " ".join(memory), *sizes)


PARTS: dict[str, Callable[[Plan], Iterator[str]]] = {
    "question": question,
    "reading": reading,
    "memory": memory,
    "conic": conic,
    "threads": threads,
    "cluster": cluster,
    "made": made,
    "files": files,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Many rows: time and memory, against the state before blocks and others.")
    parser.add_argument("--quick", action="store_true", help="fewer rows and repeats; targets are not meant for these")
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        kind, rows, columns, given = options.serve
        serve(kind, int(rows), int(columns), json.loads(given))
    elif options.part:
        for line in PARTS[options.part](QUICK if options.quick else FULL):
            print(line, flush=True)
    else:
        for name in [options.only] if options.only else PARTS:
            print(f"\n### {name}: {(PARTS[name].__doc__ or '').strip()}\n", flush=True)
            command = [sys.executable, __file__, "--part", name, *(["--quick"] if options.quick else [])]
            subprocess.run(command, check=True)  # noqa: S603  # this very file


if __name__ == "__main__":
    main()
