"""`tippingpoint doctor`, in environments that are as broken as real ones: packages too old, half there, crashing, hanging."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement as Reference
from packaging.version import Version

from commands import Command, run
from tippingpoint.cli import doctor
from tippingpoint.cli.requirements import Installed, installed, release, requirements
from tippingpoint.cli.trials import Trial, try_import
from tippingpoint.families.trees import kernels

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"]) - set(doctor.FOR_DEVELOPERS)

Plant = Callable[..., dict[str, str]]


@pytest.fixture
def plant(tmp_path: Path) -> Plant:
    """A package of ours in front of the installed ones: `plant(name, version, code)` gives the environment that sees it."""
    site = tmp_path / "site"
    site.mkdir()

    def planted(name: str, version: str, code: str, module: str | None = None) -> dict[str, str]:
        told = site / f"{name.replace('-', '_')}-{version}.dist-info"
        told.mkdir()
        (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        (told / "top_level.txt").write_text(module or name.replace("-", "_"), encoding="utf-8")
        home = site / (module or name.replace("-", "_"))
        home.mkdir()
        (home / "__init__.py").write_text(code, encoding="utf-8")
        return {"PYTHONPATH": os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))}

    return planted


def of(name: str, stored: dict[str, Any]) -> dict[str, Any]:
    """What the JSON says of a package."""
    every = [*stored["core"], *(package for extra in stored["extras"] for package in extra["packages"])]
    (only,) = (package for package in every if package["package"] == name)
    return dict(only)


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every import works, without being tried."""
    monkeypatch.setattr(doctor, "tried", lambda modules: {each: Trial(_version_of(each)) for each in modules})


def _version_of(module: str) -> str | None:
    return str(kernels.VERSION) if module == doctor.KERNELS else None


def test_what_is_installed_here_works_and_every_package_is_named(cli: Command) -> None:
    code, out, err = cli("doctor")
    assert (code, err) == (0, "")
    assert out.rstrip().endswith("All that is installed works.")
    for line in PROJECT["dependencies"]:
        needed = Reference(line)
        if needed.marker is None or needed.marker.evaluate():
            assert f"  {needed.name} " in out
            assert metadata.version(needed.name) in out
    assert {extra for extra in EXTRAS if re.search(rf"^  {extra} ", out, re.MULTILINE)} == EXTRAS
    assert "MKL_NUM_THREADS" in out
    assert max(map(len, out.splitlines())) <= 100


def test_every_extra_is_explained_and_no_other() -> None:
    assert set(doctor.GIVES) == EXTRAS
    assert all(doctor.GIVES.values())


def test_what_is_imported_is_what_a_package_brings() -> None:
    """Of every package that is installed here, the module that is tried belongs to it or to one of the same modules."""
    brought = metadata.packages_distributions()
    tried = 0
    for needed in requirements():
        if needed.extra in doctor.FOR_DEVELOPERS:
            continue
        owners = brought.get(doctor._module(needed).partition(".")[0], [])
        tried += bool(owners)
        assert not owners or any(re.match(rf"{needed.name.partition('-')[0]}\b", owner.lower()) for owner in owners)
    assert tried >= len(PROJECT["dependencies"]) - 1


@pytest.mark.parametrize("python", [(3, 10), (3, 11), (3, 14)])
def test_requirements_are_read_as_pip_reads_them(python: tuple[int, int]) -> None:
    lines = [str(Reference(line)) for line in PROJECT["dependencies"]]
    lines += [
        f"{_spelled(line)} extra == '{extra}'" for extra, each in PROJECT["optional-dependencies"].items() for line in each
    ]
    found = {(each.extra, each.name, each.least) for each in requirements(lines, python)}
    expected = set()
    for line in lines:
        reference = Reference(line)
        for extra in (None, *PROJECT["optional-dependencies"]):
            surroundings = {"python_version": f"{python[0]}.{python[1]}", "extra": extra or ""}
            of_extra = "extra ==" in str(reference.marker)
            fits = reference.marker is None or reference.marker.evaluate(surroundings)
            if fits and of_extra == (extra is not None):
                bounds = [(each.operator, each.version) for each in reference.specifier]
                assert [sign for sign, _ in bounds] in ([], [">="]), "a ceiling would need another way to read it"
                expected.add((extra, reference.name, bounds[0][1] if bounds else None))
    assert found == expected


def _spelled(line: str) -> str:
    """A requirement with room for one more condition."""
    return f"{line.replace(';', '; (')}) and" if ";" in line else f"{line};"


@pytest.mark.parametrize(
    ("older", "newer"), [("1.9", "1.10"), ("2.5.1", "2.6"), ("0.15rc1", "0.16"), ("14.0", "14.0.1"), ("1.26.4", "2.0.0+cpu")]
)
def test_versions_are_ordered_as_packaging_orders_them(older: str, newer: str) -> None:
    assert release(older) < release(newer)
    assert Version(older) < Version(newer)
    assert release(f"{newer}.0" if "+" not in newer else newer) == release(newer)


def test_a_missing_extra_is_no_fault_and_says_what_it_would_give(
    cli: Command, monkeypatch: pytest.MonkeyPatch, trusting: None
) -> None:
    monkeypatch.setattr(doctor, "installed", lambda name, _: None if name == "catboost" else Installed(name, "9999"))
    code, out, _ = cli("doctor")
    assert code == 0
    assert re.search(r"^  catboost  missing +CatBoost models: pip install 'tippingpoint\[catboost\]'$", out, re.MULTILINE)


def test_a_missing_core_package_is_a_fault(cli: Command, monkeypatch: pytest.MonkeyPatch, trusting: None) -> None:
    monkeypatch.setattr(doctor, "installed", lambda name, _: None if name == "pandas" else Installed(name, "9999"))
    code, out, _ = cli("doctor")
    assert code == 1
    assert out.rstrip().endswith("Broken, too old or missing: pandas.")


def test_a_package_of_another_name_will_do_if_it_brings_the_module(plant: Plant, place: Path) -> None:
    if installed("xgboost") is not None:
        pytest.skip("the package of that name is installed, and comes first")
    around = plant("xgboost-slim", "3.1.9", "__version__ = '3.1.9'", module="xgboost")
    told = json.loads(run("doctor", "--json", "--no-import", cwd=place, **around).stdout)
    found = of("xgboost", told)
    assert (found["by"], found["version"], found["status"]) == ("xgboost-slim", "3.1.9", "installed")


def test_a_package_of_its_own_name_comes_first() -> None:
    numpy = Installed("numpy", metadata.version("numpy"))
    assert installed("numpy", ["pytest"]) == installed("not-there", ["neither-there", "numpy"]) == numpy
    assert installed("not-there", ["neither-there"]) is None


def test_a_version_too_old_is_a_fault_and_says_which_will_do(plant: Plant, place: Path) -> None:
    around = plant("skops", "0.9", "__version__ = '0.9'")
    done = run("doctor", "--no-import", cwd=place, **around)
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"skops +0\.9 too old +0\.15 or newer is needed", done.stdout)
    assert "pip install --upgrade" in done.stdout
    assert done.stdout.rstrip().endswith("Broken, too old or missing: skops.")


BROKEN = {
    "a library of the system is missing": (
        "raise OSError('libgomp.so.1: cannot open shared object file\\nand more\\nlines')",
        "OSError: libgomp.so.1: cannot open shared object file;",
    ),
    "a dependency is missing": ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all';"),
    "it crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended the whole process (SIGSEGV);"),
    "it ends the process": ("import os; os._exit(7)", "ended the whole process (exit code 7);"),
    "it wants to leave": ("raise SystemExit(3)", "SystemExit: 3;"),
    "another version is in front": ("__version__ = '4.2'", "says that it is 4.2;"),
    "it says something that a terminal obeys": ("raise ImportError('\\x1b[2Jgone')", r"ImportError: \x1b[2Jgone;"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals have other names elsewhere")
@pytest.mark.parametrize("case", BROKEN)
def test_a_package_that_does_not_import_is_found_and_told_in_a_line(
    case: str, plant: Plant, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the broken one is imported: the others are tried by the tests above and below."""
    code, why = BROKEN[case]
    around = plant("lightgbm", "4.6.0", f"print('loading'); {code}")
    monkeypatch.syspath_prepend(around["PYTHONPATH"].partition(os.pathsep)[0])
    answers = {"lightgbm": try_import("lightgbm")}
    monkeypatch.setattr(
        doctor, "tried", lambda modules: {each: answers.get(each, Trial(_version_of(each))) for each in modules}
    )
    found = cli("doctor")
    assert (found.code, found.err) == (1, "")
    assert why in re.sub(r"\s+", " ", found.out)
    assert "\x1b" not in found.out
    assert found.out.rstrip().endswith("Broken, too old or missing: lightgbm.")
    quick = cli("doctor", "--no-import")
    assert quick.code == 0, "nothing is imported then"
    assert "its import was not tried" in quick.out


def test_an_import_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hanging.py").write_text("import time; time.sleep(600)", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert try_import("hanging", seconds=1.0) == Trial(error="its import did not end within 1 seconds")


def test_it_runs_where_numpy_does_not_and_other_commands_point_to_it(plant: Plant, place: Path) -> None:
    around = plant("numpy", "2.0.0", "raise ImportError('built for another Python')")
    done = run("doctor", "--json", cwd=place, **around)
    assert (done.returncode, done.stderr) == (1, "")
    told = json.loads(done.stdout)
    assert of("numpy", told)["status"] == "broken"
    assert of("numpy", told)["why"].startswith("ImportError: built for another Python;")
    assert {"numpy", "scipy", "pandas"} <= set(told["faults"]), "those that are built on it do not work either"
    other = run("evaluate", "--config", "run.toml", cwd=place, **around)
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr.count("\n") == 1
    assert "built for another Python" in other.stderr
    assert "`tippingpoint doctor`" in other.stderr


def test_json_says_the_same_and_can_be_a_file(cli: Command, place: Path, trusting: None) -> None:
    code, out, _ = cli("doctor", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["faults"] == []
    assert {extra["extra"] for extra in told["extras"]} == EXTRAS
    assert told["python"]["version"] == ".".join(map(str, sys.version_info[:3]))
    assert cli("doctor", "--json", "told.json") == (0, "", "")
    assert json.loads((place / "told.json").read_text(encoding="utf-8")) == told


def test_cores_are_those_of_this_process(plant: Plant, place: Path) -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("processes keep to no cores here")
    one = min(os.sched_getaffinity(0))
    command = "from tippingpoint.cli import main; main(['doctor', '--no-import', '--json'])"
    code = f"import os; os.sched_setaffinity(0, {{{one}}}); {command}"
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, check=True)
    threads = json.loads(done.stdout)["threads"]
    assert (threads["cores"], threads["usable"], threads["default"]) == (os.cpu_count(), 1, 1)


def test_variables_are_shown_but_no_folder(place: Path) -> None:
    there = {"TIPPINGPOINT_DATA": str(place), "OMP_NUM_THREADS": "3", "SOURCE_DATE_EPOCH": "86400"}
    done = run("doctor", "--no-import", cwd=place, **there)
    text = re.sub(r"\s+", " ", done.stdout)
    assert "OMP_NUM_THREADS = 3" in text
    assert "SOURCE_DATE_EPOCH = 86400:" in text
    assert "TIPPINGPOINT_DATA = a folder:" in text
    assert str(place) not in done.stdout
    assert "= no folder:" in run("doctor", "--no-import", cwd=place, TIPPINGPOINT_DATA=str(place / "gone")).stdout


def test_every_variable_that_we_read_is_explained() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"\bTIPPINGPOINT_[A-Z_]+\b|\bSOURCE_DATE_EPOCH\b", sources))
    assert named == set(doctor.VARIABLES)


@pytest.mark.parametrize(
    ("trial", "status", "fault"),
    [
        (Trial(str(kernels.VERSION)), "works", False),
        (Trial(error="ModuleNotFoundError: No module named '_kernels'", missing=True), "missing", False),
        (Trial(error="ImportError: undefined symbol"), "broken", True),
        (Trial(str(kernels.VERSION - 1)), "too old", True),
    ],
)
def test_kernels_may_be_missing_but_not_broken(
    trial: Trial, status: str, *, fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kernels.SWITCH, raising=False)
    found = doctor._kernels(trial)
    assert found["status"] == status
    assert bool(doctor._faults([], [], found)) == fault
    assert ("pip install" in f"{found['means']}{found['why']}") == (status != "works"), "how to get them is told"


def test_kernels_that_are_there_are_what_is_found(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {True: "works", False: "missing"}[kernels.kernels() is not None]
    _, out, _ = cli("doctor", "--no-import", "--json")
    assert json.loads(out)["kernels"]["status"] == expected
    monkeypatch.setenv(kernels.SWITCH, "0")
    code, out, _ = cli("doctor", "--no-import", "--json")
    assert (code, json.loads(out)["kernels"]["status"]) == (0, "turned off")


def test_a_package_that_is_not_installed_says_so(cli: Command, monkeypatch: pytest.MonkeyPatch, trusting: None) -> None:
    def nowhere(name: str) -> Any:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", nowhere)
    code, out, _ = cli("doctor")
    assert code == 1
    assert "run from its sources" in out
    assert "pip install ." in out


def test_another_version_than_pip_installed_is_noted(cli: Command, monkeypatch: pytest.MonkeyPatch, trusting: None) -> None:
    monkeypatch.setattr(doctor, "__version__", "99.0")
    _, out, _ = cli("doctor")
    assert re.search(r"pip has .* installed, but 99\.0 is what runs: install it again", out)
