"""Each extra alone, installed from the wheel into a fresh environment, and none at all: `make test-extras`.

No extra may break an import, need another, or be named by the doctor as what it is not. `python extras.py torch plot` tries
some; `--wheel FILE` takes a wheel that is built, and `--readme` tries all extras together, and the README with them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from wheels import ROOT, Fresh, build, can_compile, check_contents

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOR_DEVELOPERS = ("dev", "docs")
"""Extras that users do not have."""


def extras() -> list[str]:
    """The extras of users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [extra for extra in project["optional-dependencies"] if extra not in FOR_DEVELOPERS]


def write_onnx(path: Path) -> None:
    """A graph for those who can run one, but not write one: a classifier of three columns."""
    from skl2onnx import to_onnx

    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3)).astype(np.float32)
    model = LogisticRegression().fit(x, x[:, 0] > x[:, 1])
    path.write_bytes(to_onnx(model, x[:1], options={"zipmap": False}).SerializeToString())


def try_extras(wheel: Path, chosen: Sequence[str], *, readme: bool = False) -> None:
    """Install the wheel with these extras into an empty environment, use them there; if wanted, the README's examples too."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tippingpoint-extra-") as name:
        fresh = Fresh(Path(name))
        fresh.install(f"{wheel}[{','.join(chosen)}]" if chosen else str(wheel))
        if not chosen:
            fresh.trial("smoke.py", "with" if can_compile() else "without")
        if "onnx" in chosen:
            write_onnx(fresh.place / "model.onnx")
        fresh.trial("smoke_extra.py", ",".join(chosen))
        if readme:
            shutil.copy(ROOT / "README.md", fresh.place)
            fresh.trial("readme.py", "README.md")
    print(f"  {'+'.join(chosen) or 'no extra'}: {time.monotonic() - began:.0f} seconds", flush=True)


def try_all(wheel: Path, chosen: Sequence[str], *, readme: bool) -> None:
    """None, each alone, and perhaps all together."""
    for extra in ("", *chosen):
        try_extras(wheel, [extra] if extra else [])
    if readme:
        try_extras(wheel, extras(), readme=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*", help="which; all where none is named")
    parser.add_argument("--wheel", type=Path, help="one that is built; otherwise one is")
    parser.add_argument("--readme", action="store_true", help="all extras together too, and the README's examples with them")
    given = parser.parse_args()
    unknown = set(given.extras) - set(extras())
    if unknown:
        parser.error(f"no extras: {', '.join(sorted(unknown))}; they are {', '.join(extras())}")
    with tempfile.TemporaryDirectory(prefix="tippingpoint-wheel-") as name:
        wheel = given.wheel
        if wheel is None:
            sdist, wheel = build(ROOT, Path(name) / "dist")
            check_contents(sdist, wheel, compiled=can_compile())
        try_all(wheel.resolve(), given.extras or extras(), readme=given.readme)


if __name__ == "__main__":
    main()
