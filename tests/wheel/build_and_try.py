"""Build sdist and wheel, install the wheel into a fresh environment far from the repository, try it there: `make test-wheel`.

`python -m build` makes the wheel out of the sdist, so one trial tells of both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def shipped() -> set[str]:
    """Every file of the package in the repository, by its name in a wheel."""
    found = (path for path in (SOURCE / "tippingpoint").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCE).as_posix() for path in found}


def check_contents(sdist: Path, wheel: Path) -> None:
    """Nothing of the package is left out of either, and nothing else is in the wheel."""
    with zipfile.ZipFile(wheel) as opened:
        inside = {name for name in opened.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    wanted = shipped()
    assert inside == wanted, f"wheel and repository differ: {sorted(inside ^ wanted)}"
    assert {f"src/{name}" for name in wanted} <= packed, sorted({f"src/{name}" for name in wanted} - packed)
    data = sorted({Path(name).suffix or Path(name).name for name in wanted} - {".py"})
    print(f"  {wheel.name}: {len(wanted)} files, with {', '.join(data)}; made from {sdist.name}")


def run(*words: str, cwd: Path) -> None:
    """A command that sees neither the repository nor the environment that called it."""
    surroundings = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    subprocess.run(words, check=True, cwd=cwd, env=surroundings)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tippingpoint-wheel-") as name:
        away = Path(name)
        run(sys.executable, "-m", "build", "--outdir", str(away / "dist"), str(ROOT), cwd=away)
        (sdist,), (wheel,) = (away / "dist").glob("*.tar.gz"), (away / "dist").glob("*.whl")
        check_contents(sdist, wheel)
        venv.create(away / "fresh", with_pip=True)
        python = str(away / "fresh" / ("Scripts" if os.name == "nt" else "bin") / "python")
        run(python, *PIP, "install", "-c", str(ROOT / "constraints.txt"), str(wheel), cwd=away)
        smoke = away / "smoke.py"
        smoke.write_bytes((ROOT / "tests" / "wheel" / "smoke.py").read_bytes())
        run(python, "-I", "-W", "error", str(smoke), cwd=away)


if __name__ == "__main__":
    main()
