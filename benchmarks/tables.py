r"""Tables of alternatives with many lines: from the file to a result, and from the result to its page, before and after.

A million lines are 200,000 questions in five wordings, in random order, as a CSV file; the wide one has texts and answers too.
Either side is a process of its own, and they take turns. Times are those of the processor: both work in one thread, so on an
idle machine they are seconds, and on a busy one they still compare. The state before is taken from git (`BEFORE`), so the
benchmark runs in a checkout only. Its report of texts is not timed: every text is a group there, and it runs out of memory.

Run as `python benchmarks/tables.py`; `--quick` takes a tenth of the lines, at which targets are not meant to be met.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
BEFORE = "cbffefd"
"""The last commit before tables had runs, groups and missing outcomes."""

LINES, QUICK_LINES = 1_000_000, 100_000
WORDINGS = ("original", "formal", "simplified", "roleplay", "direct")
REPEATS = 3
RESULT_SECONDS, REPORT_SECONDS = 2.0, 5.0
"""Targets, from the file to a result, and from the result to its page."""

AGREE = 1e-9
"""Relative difference of the two answers."""

ASK = """
import json, sys, time
import pandas as pd
import tippingpoint as tp
path, page = sys.argv[1], sys.argv[2]
tp.profile_table, tp.StabilityResult  # imported before anything is timed
found = {}
start = time.process_time()
frame = pd.read_csv(path)
found["read"] = time.process_time() - start
profile = tp.profile_table(frame)
result = profile.stability(0.5, theta1=1.0, theta2=0.25)
found["result"], found["value"] = time.process_time() - start, result.value
if page:
    start = time.process_time()
    result.report(page)
    found["report"] = time.process_time() - start
print(json.dumps(found))
"""


def make(lines: int, *, wide: bool) -> pd.DataFrame:
    """Questions in several wordings, most of them answered alike, in random order."""
    rng = np.random.default_rng(0)
    count = lines // len(WORDINGS)
    question, wording = np.repeat(np.arange(count), len(WORDINGS)), np.tile(WORDINGS, count)
    cost = np.where(wording == WORDINGS[0], 0.0, rng.uniform(0.05, 0.6, len(question)).round(4))
    loss = (rng.random(len(question)) < 0.2 + 0.2 * cost).astype(int)
    table = pd.DataFrame({"sample": np.char.add("q", question.astype(str)), "variant": wording, "cost": cost, "loss": loss})
    if wide:
        words = np.char.add("Which of the following is true of number ", question.astype(str))
        table["text"] = np.char.add(words, np.char.add(", in the wording ", wording))
        table["answer"] = np.where(loss == 1, "no", "yes")
    return table.sample(frac=1.0, random_state=0)


@contextmanager
def sources_before() -> Iterator[Path]:
    """The sources of `BEFORE`, in a directory that goes away again."""
    command = ["git", "archive", BEFORE, "src"]
    packed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603  # of this repository
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder) / "src"


def asked(sources: Path, path: Path, page: Path | None) -> dict[str, Any]:
    """One side, in a process of its own."""
    done = subprocess.run(  # noqa: S603  # the program above
        [sys.executable, "-c", ASK, str(path), "" if page is None else str(page)],
        env={"PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(path: Path, folder: Path, before: Path, repeats: int, *, old_page: bool) -> Iterator[str]:
    """A line for every step: both sides by turns, their medians, and the ratio."""
    sides: dict[str, list[dict[str, Any]]] = {"before": [], "now": []}
    for turn in range(repeats):
        sides["before"].append(asked(before, path, folder / f"old{turn}.html" if old_page else None))
        sides["now"].append(asked(ROOT / "src", path, folder / f"new{turn}.html"))
    one, other = sides["before"][0]["value"], sides["now"][0]["value"]
    yield f"  values agree to {abs(one - other) / other:.0e}" + ("" if abs(one - other) <= AGREE * other else ": THEY DO NOT")
    for step, target in (("read", None), ("result", RESULT_SECONDS), ("report", REPORT_SECONDS)):
        now = statistics.median(each[step] for each in sides["now"])
        old = statistics.median(each[step] for each in sides["before"]) if step in sides["before"][0] else None
        ratio = "before: not timed" if old is None else f"before {old:6.2f} s, {old / now:4.1f} times as long"
        met = "" if target is None else f"; target {target:g} s {'met' if now <= target else 'MISSED'}"
        yield f"  {step:<7} now {now:6.2f} s; {ratio}{met}"


def main() -> None:
    """Print a block for each table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the lines, once")
    options = parser.parse_args()
    lines, repeats = (QUICK_LINES, 1) if options.quick else (LINES, REPEATS)
    start = time.perf_counter()
    with sources_before() as before, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for wide in (False, True):
            path = folder / "runs.csv"
            make(lines, wide=wide).to_csv(path, index=False)
            print(f"{lines:,} lines, {'with texts and answers' if wide else 'four columns'}")
            for line in measured(path, folder, before, repeats, old_page=not wide):
                print(line, flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
