"""Whether type checkers know the type of everything that this package offers: `make types`, and a part of `make lint`.

mypy checks that types are right; it does not mind that a type checker of users has to guess one. Pyright's `--verifytypes`
does, for every name without an underscore. What has to stay unknown is what scikit-learn, which has no types, hands down.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tippingpoint"

UNTYPED_BASES = "tippingpoint.training."
"""Where classes are made from scikit-learn's."""

INHERITED = ("Type of base class", "Type of metaclass unknown")
"""How Pyright says that nothing but a base class is unknown."""


def verified() -> dict[str, Any]:
    """What Pyright finds in this checkout, whichever is installed."""
    words = [sys.executable, "-m", "basedpyright", "--verifytypes", "tippingpoint", "--ignoreexternal", "--outputjson"]
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # it asks the first Python of the path
    around = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": here}
    done = subprocess.run(words, cwd=ROOT, env=around, capture_output=True, text=True, encoding="utf-8", check=False)
    found: dict[str, Any] = json.loads(done.stdout)["typeCompleteness"]
    return found


def is_inherited(symbol: dict[str, Any]) -> bool:
    """Whether only a base class of scikit-learn's is unknown."""
    messages = [each["message"] for each in symbol["diagnostics"]]
    return symbol["name"].startswith(UNTYPED_BASES) and all(message.startswith(INHERITED) for message in messages)


def main() -> int:
    found = verified()
    where = Path(found["packageRootDirectory"])
    assert where.samefile(PACKAGE), f"looked at {where}, not at {PACKAGE}"
    assert found.get("pyTypedPath"), "there is no py.typed"
    symbols = [each for each in found["symbols"] if each["isExported"]]
    assert len(symbols) > 1000, f"only {len(symbols)} names: that is not the whole package"
    unknown = [each for each in symbols if not each["isTypeKnown"] or each["isTypeAmbiguous"]]
    wrong = [each for each in unknown if not is_inherited(each)]
    for symbol in wrong:
        reasons = "; ".join(each["message"].splitlines()[0] for each in symbol["diagnostics"])
        print(f"{symbol['name']}: {reasons or 'made from names that are not known'}")
    known, theirs = len(symbols) - len(unknown), len(unknown) - len(wrong)
    print(f"{known:,} of {len(symbols):,} names have types; {theirs} lack those of scikit-learn, {len(wrong)} ours.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
