"""Build sdist and wheel, install the wheel into a fresh environment far from the repository, try it there: `make test-wheel`.

`python -m build` makes the wheel out of the sdist, so one trial tells of both. Then the same sdist, where no compiler is found,
becomes a wheel for any machine, without compiled kernels, and is tried in the place of the first.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
NATIVE = SOURCE / "tippingpoint" / "families" / "trees" / "native"
COMPILED = "tippingpoint/families/trees/_kernels."
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
NOWHERE = {"CC": "/nowhere/cc", "CXX": "/nowhere/c++"}
"""CMake looks for compilers in more places than PATH, but in no other than these if they are set."""


def can_compile() -> bool:
    """Whether this machine has what the kernels need: then not to get them is an error."""
    named = shlex.split(os.environ.get("CXX", ""))[:1]
    compilers = named or ["c++", "g++", "clang++", "cl"]
    return any(map(shutil.which, compilers)) and Path(sysconfig.get_path("include"), "Python.h").is_file()


def names(folder: Path) -> set[str]:
    """Every file in a folder of the repository that belongs there, by its name in a wheel."""
    made = {".so", ".pyd", ".pyc"}
    return {path.relative_to(SOURCE).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix not in made}


def check_contents(sdist: Path, wheel: Path, *, compiled: bool) -> None:
    """Nothing of the package is left out of either, and nothing else is in the wheel: no C++, and kernels only if compiled."""
    with zipfile.ZipFile(wheel) as opened:
        inside = {name for name in opened.namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    whole = names(SOURCE / "tippingpoint")
    wanted = whole - names(NATIVE)
    kernels = {name for name in inside - wanted if name.startswith(COMPILED)}
    assert len(kernels) == compiled, f"{wheel.name} holds {sorted(kernels)}"
    assert inside - kernels == wanted, f"wheel and repository differ: {sorted(inside - kernels ^ wanted)}"
    assert wheel.stem.endswith("-py3-none-any") != compiled, wheel.name
    sources = {f"src/{name}" for name in whole} | {"CMakeLists.txt"}
    assert sources <= packed, sorted(sources - packed)
    assert not [name for name in packed if name.startswith(f"src/{COMPILED}") and not name.endswith(".pyi")]
    data = sorted({Path(name).suffix or Path(name).name for name in inside} - {".py"})
    print(f"  {wheel.name}: {len(inside)} files, with {', '.join(data)}; made from {sdist.name}")


def run(*words: str, cwd: Path, **variables: str) -> None:
    """A command that sees neither the repository nor the environment that called it, but these variables."""
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "TIPPINGPOINT_KERNELS"}
    surroundings = {name: value for name, value in os.environ.items() if name not in hidden}
    subprocess.run(words, check=True, cwd=cwd, env={**surroundings, **variables})


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tippingpoint-wheel-") as name:
        away = Path(name)
        insist = {"TIPPINGPOINT_KERNELS": "1"} if can_compile() else {}
        run(sys.executable, "-m", "build", "--outdir", str(away / "dist"), str(ROOT), cwd=away, **insist)
        (sdist,), (wheel,) = (away / "dist").glob("*.tar.gz"), (away / "dist").glob("*.whl")
        check_contents(sdist, wheel, compiled=can_compile())

        venv.create(away / "fresh", with_pip=True)
        scripts = away / "fresh" / ("Scripts" if os.name == "nt" else "bin")
        python = str(scripts / "python")
        smoke = away / "smoke.py"
        smoke.write_bytes((ROOT / "tests" / "wheel" / "smoke.py").read_bytes())
        run(python, *PIP, "install", "-c", str(ROOT / "constraints.txt"), str(wheel), cwd=away)
        run(python, "-I", "-W", "error", str(smoke), "with" if can_compile() else "without", cwd=away)
        if not can_compile():
            print("  no C++ compiler here, or no headers of Python: tried without compiled kernels only")
            return

        run(python, *PIP, "wheel", "--no-deps", "-w", str(away / "pure"), str(sdist), cwd=away, PATH=str(scripts), **NOWHERE)
        (pure,) = (away / "pure").iterdir()
        check_contents(sdist, pure, compiled=False)
        run(python, *PIP, "uninstall", "--yes", "tippingpoint", cwd=away)
        run(python, *PIP, "install", "--no-deps", str(pure), cwd=away)
        run(python, "-I", "-W", "error", str(smoke), "without", cwd=away)


if __name__ == "__main__":
    main()
