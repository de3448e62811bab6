"""Build sdist and wheel, install the wheel into a fresh environment far from the repository, try it there: `make test-wheel`.

`python -m build` makes the wheel out of the sdist, so one trial tells of both. Then the same sdist, where no compiler is found,
becomes a wheel for any machine, without compiled kernels, and is tried in the place of the first.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from wheels import ROOT, Fresh, build, can_compile, check_contents

NOWHERE = {"CC": "/nowhere/cc", "CXX": "/nowhere/c++"}
"""CMake looks for compilers in more places than PATH, but in no other than these if they are set."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tippingpoint-wheel-") as name:
        away = Path(name)
        sdist, wheel = build(ROOT, away / "dist")
        check_contents(sdist, wheel, compiled=can_compile())

        fresh = Fresh(away)
        fresh.install(str(wheel))
        fresh.trial("smoke.py", "with" if can_compile() else "without")
        if not can_compile():
            print("  no C++ compiler here, or no headers of Python: tried without compiled kernels only")
            return

        fresh.pip("wheel", "--no-deps", "-w", str(away / "pure"), str(sdist), PATH=str(fresh.scripts), **NOWHERE)
        (pure,) = (away / "pure").iterdir()
        check_contents(sdist, pure, compiled=False)
        fresh.pip("uninstall", "--yes", "tippingpoint")
        fresh.pip("install", "--no-deps", str(pure))
        fresh.trial("smoke.py", "without")


if __name__ == "__main__":
    main()
