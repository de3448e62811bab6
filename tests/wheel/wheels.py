"""Wheels and what they are tried in: how they are built, what must be in them, and environments far from the repository."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
NATIVE = SOURCE / "tippingpoint" / "families" / "trees" / "native"
COMPILED = "tippingpoint/families/trees/_kernels."
CONSTRAINTS = ROOT / "constraints.txt"
TRIALS = Path(__file__).resolve().parent

NEEDED = ("tippingpoint/py.typed", *(f"tippingpoint/schemas/{name}.schema.json" for name in ("result", "report", "doctor")))
"""Files of the package that are no Python, and that nobody would miss until a user does."""

HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV", "TIPPINGPOINT_KERNELS", "TIPPINGPOINT_DATA", "SOURCE_DATE_EPOCH")
"""Variables that a command is not to see, unless it is given them."""


def can_compile() -> bool:
    """Whether this machine has what the kernels need: then not to get them is an error."""
    named = shlex.split(os.environ.get("CXX", ""))[:1]
    compilers = named or ["c++", "g++", "clang++", "cl"]
    return any(map(shutil.which, compilers)) and Path(sysconfig.get_path("include"), "Python.h").is_file()


def run(*words: str, cwd: Path, **variables: str) -> None:
    """A command that sees neither the repository nor the environment that called it, but these variables."""
    surroundings = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    subprocess.run(words, check=True, cwd=cwd, env={**surroundings, **variables})


def build(source: Path, into: Path, **variables: str) -> tuple[Path, Path]:
    """The sdist of a source tree, and the wheel that is made out of it, with kernels wherever they can be compiled.

    What builds it is of the versions that are tested.
    """
    insist = {"TIPPINGPOINT_KERNELS": "1"} if can_compile() else {}
    words = (sys.executable, "-m", "build", "--outdir", str(into), str(source))
    run(*words, cwd=into.parent, PIP_CONSTRAINT=str(CONSTRAINTS), **insist, **variables)
    (sdist,), (wheel,) = into.glob("*.tar.gz"), into.glob("*.whl")
    return sdist, wheel


def names(folder: Path) -> set[str]:
    """Every file in a folder of the repository that belongs there, by its name in a wheel."""
    made = {".so", ".pyd", ".pyc"}
    return {path.relative_to(SOURCE).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix not in made}


def check_contents(sdist: Path, wheel: Path, *, compiled: bool) -> None:
    """Nothing of the package is left out of either, and nothing else is in the wheel: no C++, and kernels only if compiled."""
    with zipfile.ZipFile(wheel) as opened:
        every = set(opened.namelist())
    inside = {name for name in every if ".dist-info/" not in name}
    with tarfile.open(sdist) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    whole = names(SOURCE / "tippingpoint")
    wanted = whole - names(NATIVE)
    kernels = {name for name in inside - wanted if name.startswith(COMPILED)}
    assert len(kernels) == compiled, f"{wheel.name} holds {sorted(kernels)}"
    assert inside - kernels == wanted, f"wheel and repository differ: {sorted(inside - kernels ^ wanted)}"
    assert set(NEEDED) <= inside, sorted(set(NEEDED) - inside)
    assert [name for name in every if name.endswith(".dist-info/licenses/LICENSE")], "there is no licence in the wheel"
    assert wheel.stem.endswith("-py3-none-any") != compiled, wheel.name
    sources = {f"src/{name}" for name in whole} | {"CMakeLists.txt", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
    assert sources <= packed, sorted(sources - packed)
    assert not [name for name in packed if Path(name).suffix in (".so", ".pyd", ".pyc")], "the sdist holds what was compiled"
    data = sorted({Path(name).suffix or Path(name).name for name in inside} - {".py"})
    print(f"  {wheel.name}: {len(inside)} files, with {', '.join(data)}; made from {sdist.name}")


class Fresh:
    """A fresh environment in a folder of its own, far from the repository.

    Attributes
    ----------
    place
        The folder, in which commands run.
    scripts
        Where its commands are.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        venv.create(place / "fresh")
        self.scripts: Path = place / "fresh" / ("Scripts" if os.name == "nt" else "bin")

    def python(self, *words: str, **variables: str) -> None:
        """Run its Python."""
        run(str(self.scripts / "python"), *words, cwd=self.place, **variables)

    def pip(self, *words: str, **variables: str) -> None:
        """Run our pip on it: to give it one of its own takes as long as many an installation."""
        itself = (
            sys.executable,
            "-m",
            "pip",
            "--quiet",
            "--disable-pip-version-check",
            "--python",
            str(self.scripts / "python"),
        )
        run(*itself, *words, cwd=self.place, **variables)

    def install(self, *wanted: str) -> None:
        """Install these, of the versions that are tested; Python compiles what is used."""
        self.pip("install", "--no-compile", "-c", str(CONSTRAINTS), *wanted)

    def trial(self, script: str, *words: str) -> None:
        """Run one of the scripts beside this one, from a copy; warnings are errors, and what is installed is all there is."""
        copied = self.place / script
        copied.write_bytes((TRIALS / script).read_bytes())
        self.python("-I", "-W", "error", str(copied), *words)
