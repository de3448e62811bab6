"""The trial in numbers: ``python tests/hostile/trial.py [COUNT [SEED]]`` tries COUNT of every kind and prints a table.

What fails is printed above it, each with what is needed to try it again; the exit code is 1 then.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]  # as pytest does

import damaged  # noqa: E402
import doors  # noqa: E402
import extremes  # noqa: E402
import kills  # noqa: E402
import malformed  # noqa: E402
import tree_answers  # noqa: E402

SLOW = {"ONNX": 4, "skops, inside": 4, "skops": 4, "torch.export, inside": 4}
"""Kinds whose files take a process of their own, or a compiler: how many times fewer of them are tried."""

DOORS = 4
"""How many times fewer logs, stores and calls are tried: some of them wait, or unpack much."""

KILLS = 20
"""How many times fewer commands are killed: each of them is started."""

GOOD = ("refused", "answered", "survived")


def extreme_questions(count: int, seed: int) -> Counter[str]:
    """Questions in other units."""
    return Counter(case.outcome() for case in extremes.cases(count, seed))


def command_lines(count: int, seed: int) -> Counter[str]:
    """Malformed command lines and files."""
    outcomes: Counter[str] = Counter()
    for each in malformed.trial(count, seed):
        outcomes[each.fault or ("refused" if each.code else "answered")] += 1
    return outcomes


def main(count: int, seed: int) -> int:
    """Try all of it."""
    trials: dict[str, tuple[Callable[[int, int], Counter[str]], int]] = {
        f"damaged: {kind}": (partial(damaged.trial, kind), count // SLOW.get(kind, 1)) for kind in damaged.KINDS
    }
    trials["numbers at the edges"] = extreme_questions, count
    trials |= {kind: (partial(doors.trial, kind), count // DOORS) for kind in doors.KINDS}
    trials["trees against every cell"] = tree_answers.trial, count
    trials["command lines"] = command_lines, count
    trials["kills and interrupts"] = kills.trial, count // KILLS
    print("| trial | tried | refused with a sentence | answered | failed | seconds |\n|---|---|---|---|---|---|", flush=True)
    every = 0
    for name, (tried, times) in trials.items():
        began = time.monotonic()
        outcomes = tried(times, seed)
        failed = {outcome: n for outcome, n in outcomes.items() if outcome not in GOOD}
        for outcome, n in failed.items():
            print(f"FAILED {name}: {n} times: {outcome}", file=sys.stderr, flush=True)
        every += sum(failed.values())
        told = (outcomes.total(), outcomes["refused"], outcomes["answered"] + outcomes["survived"], sum(failed.values()))
        print(f"| {name} | {' | '.join(f'{n:,}' for n in told)} | {time.monotonic() - began:.0f} |", flush=True)
    return 1 if every else 0


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else 1000, numbers[1] if len(numbers) > 1 else 0))
