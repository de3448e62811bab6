"""Write down what the package answers, or compare what it answers now with what was written down.

Run as `python tests/recorded/record.py write` (or `compare`); words after that choose cases by parts of their
names. `compare` exits with 1 where a number is further off than 1e-9, or a name is missing or new.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before anything that uses OpenMP: threads sum in orders of their own

from cases import CASES
from flattening import Numbers

RESULTS = Path(__file__).with_name("results.json")

LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "torch", "xgboost-cpu", "lightgbm")
"""What fits the models, or computes beneath us: of another version the last digits may differ."""

TOLERANCE = 1e-9
"""Relative deviation from which on a comparison fails."""

ROUNDING = 1e-12
"""Relative deviation that another order of summation explains."""

FLOOR = 1e-6
"""Numbers below this are compared as if they were this large: they are what rounding leaves of nothing."""


def deviation(one: float, other: float) -> float:
    """How far two numbers are apart, relative to the larger; infinite where only one of them is a finite number."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other), FLOOR)


def same_bits(one: float, other: float) -> bool:
    """Whether two numbers are the same to the last bit."""
    return one.hex() == other.hex()


def versions() -> dict[str, str]:
    """The libraries that are installed."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def read() -> tuple[dict[str, Numbers], dict[str, str]]:
    """What was written down, and with which libraries."""
    held = json.loads(RESULTS.read_text(encoding="utf-8"))
    cases = {case: {name: float.fromhex(text) for name, text in numbers.items()} for case, numbers in held["cases"].items()}
    return cases, held["versions"]


def write(computed: Mapping[str, Numbers]) -> None:
    """Write everything down."""
    cases = {case: {name: number.hex() for name, number in numbers.items()} for case, numbers in computed.items()}
    held: dict[str, Any] = {"versions": versions(), "cases": cases}
    RESULTS.write_text(json.dumps(held, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases, {sum(map(len, cases.values())):,} numbers written")


def compare(computed: Mapping[str, Numbers], chosen: list[str]) -> int:
    """Tell how far everything is from what was written down."""
    before, libraries = read()
    before = {case: numbers for case, numbers in before.items() if _meant(case, chosen)}
    for name, now in versions().items():
        if libraries.get(name) != now:
            print(f"note: {name} is {now}, and was {libraries.get(name)}")
    known = {(case, name) for case, numbers in before.items() for name in numbers}
    found = {(case, name) for case, numbers in computed.items() for name in numbers}
    pairs = [(key, before[key[0]][key[1]], computed[key[0]][key[1]]) for key in sorted(known & found)]
    off = sorted(((deviation(one, other), key) for key, one, other in pairs), reverse=True)
    beyond = [each for each in off if each[0] > TOLERANCE]
    print(f"{len(computed)} cases, {len(pairs):,} numbers")
    print(f"equal to the last bit     {sum(same_bits(one, other) for _, one, other in pairs):,}")
    print(f"equal within {ROUNDING:g}      {sum(each[0] <= ROUNDING for each in off):,}")
    print(f"beyond {TOLERANCE:g}            {len(beyond):,}")
    if off and off[0][0] > 0.0:
        print(f"worst                     {off[0][0]:.2e} in {off[0][1][0]!r}, {off[0][1][1]!r}")
    for apart, (case, name) in beyond[:20]:
        print(f"  {apart:.2e} {case!r}, {name!r}: {before[case][name]!r} is now {computed[case][name]!r}")
    for title, keys in (("missing", known - found), ("new", found - known)):
        print(f"{title:<26}{len(keys):,}")
        for case, name in sorted(keys)[:20]:
            print(f"  {case!r}, {name!r}")
    return int(bool(beyond) or known != found)


def _meant(case: str, chosen: list[str]) -> bool:
    return not chosen or any(part in case for part in chosen)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=("write", "compare"))
    parser.add_argument("cases", nargs="*", help="parts of names of cases to compare; all where none are given")
    options = parser.parse_args()
    if options.do == "write" and options.cases:
        parser.error("cases are written down all at once")
    began = time.perf_counter()
    computed = {name: case.run() for name, case in CASES.items() if _meant(name, options.cases)}
    print(f"{time.perf_counter() - began:.1f} s")
    if options.do == "compare":
        return compare(computed, options.cases)
    write(computed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
