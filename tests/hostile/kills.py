"""Commands that are killed or interrupted at any moment: what they write is whole, or as it was; no traceback is seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from commands import furnish

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
"""What is sent."""

LONGEST = 3.0
"""Seconds within which it is sent; the command takes less where the machine is quiet."""

OLD = b"the report of yesterday"
"""What stands where the report is to go."""

COMMAND = ("report", "--model", "model.json", "--data", "eval.csv", "--target", "y", "--risk", "0.4", "--report", "out.html")


def outcome(place: Path, sent: signal.Signals, wait: float) -> str:
    """ "survived", or what is wrong."""
    target = place / "out.html"
    target.write_bytes(OLD)
    running = subprocess.Popen(
        [sys.executable, "-m", "tippingpoint", *COMMAND, "--quiet"],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ,
    )
    time.sleep(wait)
    running.send_signal(sent)
    _, complaint = running.communicate(timeout=60)
    allowed = {0, -sent.value} | ({130} if sent is signal.SIGINT else set())
    if running.returncode not in allowed:
        return f"{sent.name} after {wait:.2f} s: exit {running.returncode}"
    early = running.returncode == -signal.SIGINT.value  # the interpreter itself was still starting
    if b"Traceback" in complaint and not early:
        return f"{sent.name} after {wait:.2f} s: a traceback"
    written = target.read_bytes()
    if written != OLD and not written.rstrip().endswith(b"</html>"):
        return f"{sent.name} after {wait:.2f} s: half a page"
    seen = {path.name for path in place.iterdir() if not path.name.startswith(".")}
    return "survived" if seen <= {"eval.csv", "model.json", "next.json", "run.toml", "out.html"} else f"litter: {sorted(seen)}"


def trial(count: int, seed: int) -> Counter[str]:
    """Outcomes of so many commands; after them a run that is left alone tidies up."""
    rng = np.random.default_rng(seed)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        place = Path(home)
        furnish(place)
        for _ in range(count):
            outcomes[outcome(place, SIGNALS[rng.integers(len(SIGNALS))], float(rng.uniform(0.0, LONGEST)))] += 1
        subprocess.run([sys.executable, "-m", "tippingpoint", *COMMAND, "--quiet"], cwd=place, check=True)
        left = sorted(path.name for path in place.iterdir() if path.name.startswith("."))
        if left:
            outcomes[f"left behind: {left}"] += 1
    return outcomes
