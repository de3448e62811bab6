"""Peak memory of a question, seen from outside the process that asks it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROWS, COLUMNS = 2_000_000, 5

CONSTANT = 64 * 2**20
"""Of the interpreter: what is imported late, buffers of blocks, what the allocator does not give back."""

CHILD = """
import sys
import numpy as np
import tippingpoint as tp

rows, columns, loss = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
model = (np.linspace(-1.0, 1.0, columns), 0.1)

def made(rows):
    rng = np.random.default_rng(0)
    x, y = np.empty((rows, columns)), np.empty(rows, dtype=np.int64)
    for start in range(0, rows, 50_000):
        some = x[start : start + 50_000]
        rng.standard_normal(out=some)
        y[start : start + 50_000] = np.where(some @ model[0] + rng.standard_normal(len(some)) > 0.0, 1, -1)
    return x, y

def asked(x, y):
    profile = tp.profile(model, x, y, loss=loss, threads=1)
    return profile.stability(1.3 * profile.risk).value

asked(*made(1000))  # what is imported on first use
x, y = made(rows)
print("ready", flush=True)
sys.stdin.readline()
print(asked(x, y), flush=True)
sys.stdin.readline()
"""


def held(pid: int, what: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(what))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are told by Linux only")
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_a_question_takes_no_more_than_the_data_once_again(loss: str) -> None:
    command = [sys.executable, "-c", CHILD, str(ROWS), str(COLUMNS), loss]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        before = held(child.pid, "VmRSS")
        Path(f"/proc/{child.pid}/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
        child.stdin.write("\n")
        child.stdin.flush()
        assert float(child.stdout.readline()) > 0.0
        beyond = held(child.pid, "VmHWM") - before
        child.communicate("\n")
    data = ROWS * (COLUMNS + 1) * 8
    assert beyond < data + CONSTANT, f"{beyond / data:.2f} times the data"
