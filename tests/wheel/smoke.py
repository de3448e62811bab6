"""The installed package as a stranger has it: core dependencies only, no repository. Run by `build_and_try.py`.

`python smoke.py with` expects compiled kernels, `without` none.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import tippingpoint as tp
from tippingpoint.families.trees.kernels import kernels

DEMO = "Stability"
BOOSTERS = ("xgboost", "lightgbm", "catboost")
EXTRAS = ("torch", "polars", "pyarrow", "matplotlib", "mlflow", "skops", "onnxruntime", "rapidfuzz", *BOOSTERS, "pytest")


def told(*words: str) -> str:
    """What the installed command prints."""
    command = Path(sysconfig.get_path("scripts")) / "tippingpoint"
    return subprocess.run([str(command), *words], check=True, capture_output=True, encoding="utf-8").stdout


def check_where_it_is_from() -> None:
    home = Path(tp.__file__)
    assert home.is_relative_to(sys.prefix), f"imported from {home}, not from the wheel"
    there = [name for name in EXTRAS if find_spec(name)]
    assert not there, f"the environment is to hold core dependencies only, and holds {there}"


def check_kernels() -> None:
    assert (kernels() is not None) == (sys.argv[1] == "with"), f"expected {sys.argv[1]} compiled kernels, found {kernels()}"


def check_public_names() -> None:
    assert tp.__all__, "no public names"
    for name in tp.__all__:
        assert getattr(tp, name) is not None, name
    assert set(tp.__all__) <= set(dir(tp))


def check_version() -> None:
    assert version("tippingpoint") == tp.__version__
    assert tp.__version__ in told("--version")


def check_data_of_the_package() -> None:
    assert files("tippingpoint").joinpath("py.typed").is_file()
    for name in ("result", "report", "doctor"):
        assert json.loads(told("schema", name))["title"]


def check_a_known_stability() -> None:
    """The score is x - 1.5. Of four samples, all right, the two in the middle cross over after 0.5 each: 2 · 0.5² / 4."""
    profile = tp.profile(([1.0], -1.5), [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    result = profile.stability(risk=0.5, theta1=1.0, theta2=float("inf"))
    assert result.value == 0.125, result.value
    assert result.lower == result.upper == 0.125
    result.report("report.html")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "0.125" in page
    assert "<style" in page
    assert "<script" in page
    result.report("report.json")
    assert json.loads(Path("report.json").read_text(encoding="utf-8"))


def check_the_command() -> None:
    assert DEMO in told("demo")


def check_what_the_doctor_finds() -> None:
    """Every extra is missing, which is no fault."""
    found = json.loads(told("doctor", "--json"))
    assert found["faults"] == []
    assert found["extras"]
    assert {extra["status"] for extra in found["extras"]} == {"missing"}
    assert found["kernels"]["status"] == {"with": "works", "without": "missing"}[sys.argv[1]]
    assert {package["status"] for package in found["core"]} == {"works"}


def main() -> None:
    for check in (
        check_where_it_is_from,
        check_kernels,
        check_public_names,
        check_version,
        check_data_of_the_package,
        check_a_known_stability,
        check_the_command,
        check_what_the_doctor_finds,
    ):
        check()
        print(f"  {check.__name__.removeprefix('check_').replace('_', ' ')}: good")


if __name__ == "__main__":
    main()
