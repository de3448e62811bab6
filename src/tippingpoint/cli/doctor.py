"""`tippingpoint doctor`: what is installed, whether it works, and what else there could be.

It has to run where other commands cannot, so it imports nothing but the standard library and the lightest of ours. What is
installed is imported by default, each package in a process of its own: metadata alone cannot tell a working library from one
whose compiled half is missing, is built for another NumPy or crashes, and that is what people come here for.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from tippingpoint import __version__
from tippingpoint.cli.parsing import command
from tippingpoint.cli.requirements import OURSELVES, Requirement, extras, installed, release, requirements
from tippingpoint.cli.streams import print_answer, print_answer_json
from tippingpoint.cli.trials import Trial, tried
from tippingpoint.families.trees import kernels
from tippingpoint.processors import threads_of, usable_cores
from tippingpoint.text import WIDTH
from tippingpoint.visible import visible
from tippingpoint.writing import write_files

EPILOG = """examples:
  tippingpoint doctor                # for a person; put it into an issue
  tippingpoint doctor --json         # for a machine
  tippingpoint doctor --no-import    # in a moment: versions only

Exit code: 0 where all that is installed works, 1 where something is broken or too old. A missing extra is no fault.
"""

SCHEMA = "tippingpoint.doctor/1"
"""Name and version of the JSON."""

WORKS, MISSING, TOO_OLD, BROKEN, UNTRIED = "works", "missing", "too old", "broken", "installed"
"""What is known of a package; the last, where its import was not tried."""

OFF = "turned off"
"""The same of kernels."""

GIVES = {
    "polars": "polars frames in, polars frames out",
    "parquet": "Parquet files, on the command line and as data in partitions",
    "dask": "Dask collections as data, and clusters: client=, --workers, --cluster",
    "torch": "neural networks, and the trainers of tippingpoint.training",
    "plot": "pictures: the plot methods, and those of `tippingpoint reproduce`",
    "mlflow": "results logged to MLflow",
    "skops": "scikit-learn models from skops files",
    "onnx": "models from ONNX files",
    "xgboost": "XGBoost models, and files of them",
    "lightgbm": "LightGBM models, and files of them",
    "catboost": "CatBoost models",
    "text": "faster distances of words, for the costs of rewording",
    "inspect": "logs of Inspect (.eval)",
}
"""What each extra is for; a test compares these with pyproject.toml."""

FOR_DEVELOPERS = ("dev", "docs")
"""Extras for those who change this package, of which a user need not hear."""

MODULES = {
    "scikit-learn": "sklearn.linear_model",
    "scipy": "scipy.optimize",
    "pyarrow": "pyarrow.parquet",
    "dask": "dask.dataframe",
    "matplotlib": "matplotlib.figure",
    "mlflow-skinny": "mlflow",
    "skops": "skops.io",
}
"""What is imported of a package, where that is not its own name: a module of those that we use, with compiled code in it."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""By which libraries below NumPy, and compiled models, are told how many threads to use."""

VARIABLES = {
    kernels.SWITCH: "0 turns compiled kernels off; while installing, 1 insists on them and 0 leaves them out",
    "TIPPINGPOINT_DATA": "the folder from which `tippingpoint reproduce` reads its data",
    "SOURCE_DATE_EPOCH": "the date of reports, in seconds since 1970, instead of today's",
}
"""Variables of the environment that we read, and what for."""

KERNELS = "tippingpoint.families.trees._kernels"
"""The compiled module."""

REINSTALL = f"{kernels.SWITCH}=1 pip install --force-reinstall --no-deps --no-binary {OURSELVES} {OURSELVES}"
"""How to get the kernels, or the compiler's reason why not."""


class Package(TypedDict):
    """A package, and what is known of it.

    `by` is the package that is installed, where it has another name and brings the same module; `why` says what is wrong.
    """

    package: str
    least: str | None
    version: str | None
    by: str | None
    status: str
    why: str | None


class Extra(TypedDict):
    """An extra: what it gives, how to get it, and its packages."""

    extra: str
    gives: str
    status: str
    install: str
    packages: list[Package]


class Kernels(TypedDict):
    """The compiled kernels: their status, the version of their calls, and what that means."""

    status: str
    version: str | None
    means: str
    why: str | None


class Findings(NamedTuple):
    """All that was found."""

    core: list[Package]
    extras: list[Extra]
    kernels: Kernels
    notes: list[str]
    faults: list[str]


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "doctor", "what is installed, whether it works, and what each extra would give", EPILOG)
    parser.add_argument(
        "--no-import",
        action="store_true",
        help="do not try to import what is installed: quicker, and finds no package that is broken",
    )
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="as JSON: printed, or written to FILE")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Look, try, say; 1 where something that is installed does not work."""
    found = examine(importing=not options.no_import)
    if options.json is None:
        print_answer(options, as_text(found))
    else:
        stored = json.dumps(as_data(found), indent=2, ensure_ascii=False)
        if options.json == "-":
            print_answer_json(options, stored)
        else:
            write_files({Path(options.json): stored + "\n"})
    return 1 if found.faults else 0


def examine(*, importing: bool) -> Findings:
    """Everything that there is to find; `importing` says whether to try what is installed."""
    try:
        needed, known = requirements(), extras()
    except metadata.PackageNotFoundError:
        nothing = f"{OURSELVES} is not installed, but run from its sources: what it needs is unknown. Install it: pip install ."
        return Findings([], [], _kernels(_tried({KERNELS}, importing=importing)[KERNELS]), [], [nothing])
    wanted = [each for each in needed if each.extra not in FOR_DEVELOPERS]
    brought = metadata.packages_distributions()
    there = {each: installed(each.name, brought.get(_module(each).partition(".")[0], ())) for each in wanted}
    trials = _tried({KERNELS, *(_module(each) for each, found in there.items() if found)}, importing=importing)
    core: list[Package] = []
    groups: dict[str, list[Package]] = {name: [] for name in known if name not in FOR_DEVELOPERS}
    for each, found in there.items():
        name, version = (found.name, found.version) if found else (None, None)
        package = _package(each, name, version, trials.get(_module(each)))
        (core if each.extra is None else groups[each.extra]).append(package)
    every = [_extra(name, packages) for name, packages in groups.items()]
    compiled = _kernels(trials[KERNELS])
    said = metadata.version(OURSELVES)
    notes = [] if said == __version__ else [f"pip has {said} installed, but {__version__} is what runs: install it again."]
    return Findings(core, every, compiled, notes, _faults(core, every, compiled))


def _module(needed: Requirement) -> str:
    """What is imported of a package."""
    return MODULES.get(needed.name, needed.name.replace("-", "_"))


def _tried(modules: set[str], *, importing: bool) -> Mapping[str, Trial | None]:
    """What came of importing these; None for each where that is not wanted. Kernels are tried in any case: they are small."""
    chosen = modules if importing else {KERNELS}
    return {**dict.fromkeys(modules), **tried({name: name for name in sorted(chosen)})}


def _package(needed: Requirement, name: str | None, version: str | None, trial: Trial | None) -> Package:
    """What is known of one package; `name` and `version` are those of what is installed."""
    status, why = UNTRIED, None
    if version is None:
        status = MISSING
    elif not needed.is_met_by(version):
        status, why = TOO_OLD, f"{needed.least} or newer is needed: pip install --upgrade '{needed.spelled}'"
    elif trial is not None and trial.error is not None:
        status, why = BROKEN, f"{trial.error}; perhaps: pip install --force-reinstall {name}"
    elif trial is not None and trial.version is not None and release(trial.version) != release(version):
        status = BROKEN
        why = f"what is imported says that it is {trial.version}; perhaps: pip install --force-reinstall {name}"
    elif trial is not None:
        status = WORKS
    by = None if name == needed.name else name
    return {"package": needed.name, "least": needed.least, "version": version, "by": by, "status": status, "why": why}


def _extra(name: str, packages: list[Package]) -> Extra:
    """An extra: as bad as the worst of its packages."""
    found = {package["status"] for package in packages}
    status = next((each for each in (BROKEN, TOO_OLD, MISSING, UNTRIED) if each in found), WORKS)
    install = f"pip install '{OURSELVES}[{name}]'"
    return {"extra": name, "gives": GIVES.get(name, ""), "status": status, "install": install, "packages": packages}


def _kernels(trial: Trial | None) -> Kernels:
    """The compiled kernels, and what they mean for a user."""
    slower = "tree ensembles are proved by NumPy and HiGHS, which takes many times longer"
    if os.environ.get(kernels.SWITCH) == "0":
        return {"status": OFF, "version": None, "means": f"by {kernels.SWITCH}=0: {slower}", "why": None}
    if trial is None or trial.missing:
        means = f"{slower}. With a C++ compiler: {REINSTALL}"
        return {"status": MISSING, "version": None, "means": means, "why": None}
    if trial.error is not None:
        return {"status": BROKEN, "version": None, "means": slower, "why": f"{trial.error}; compile them again: {REINSTALL}"}
    if trial.version != str(kernels.VERSION):
        why = f"they are of version {trial.version}, and {kernels.VERSION} is needed; compile them again: {REINSTALL}"
        return {"status": TOO_OLD, "version": trial.version, "means": slower, "why": why}
    return {"status": WORKS, "version": trial.version, "means": "tree ensembles are proved by compiled code", "why": None}


def _faults(core: Sequence[Package], every: Sequence[Extra], compiled: Kernels) -> list[str]:
    """What does not work though it is installed, or is missing though everybody needs it; by name."""
    wrong = [each["package"] for each in core if each["status"] in (MISSING, TOO_OLD, BROKEN)]
    optional = (package for extra in every for package in extra["packages"])
    wrong += [each["package"] for each in optional if each["status"] in (TOO_OLD, BROKEN)]
    return wrong + (["compiled kernels"] if compiled["status"] in (TOO_OLD, BROKEN) else [])


def as_data(found: Findings) -> dict[str, Any]:
    """The findings, and what surrounds them, for machines."""
    return {
        "schema": SCHEMA,
        "tippingpoint": __version__,
        "python": _python(),
        "core": found.core,
        "extras": found.extras,
        "kernels": found.kernels,
        "threads": _threads(),
        "environment": _environment(),
        "notes": found.notes,
        "faults": found.faults,
    }


def _python() -> dict[str, Any]:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "virtual_environment": sys.prefix != sys.base_prefix,
    }


def _threads() -> dict[str, Any]:
    """Cores, and who may use how many; PyTorch's own threads are its own to say, at the price of importing it."""
    return {
        "cores": os.cpu_count(),
        "usable": usable_cores(),
        "default": threads_of(),
        "variables": {name: os.environ.get(name) for name in THREAD_VARIABLES},
    }


def _environment() -> dict[str, str | None]:
    """Our variables; of a folder only whether it is there, as what is printed here is shown to strangers."""
    values = {name: os.environ.get(name) for name in VARIABLES}
    folder = values["TIPPINGPOINT_DATA"]
    if folder:
        values["TIPPINGPOINT_DATA"] = "a folder" if Path(folder).is_dir() else "no folder"
    return values


def as_text(found: Findings) -> str:
    """The same for people."""
    python, threads = _python(), _threads()
    apart = ", in a virtual environment" if python["virtual_environment"] else ""
    machine = f"{python['system']} ({python['machine']})"
    lines = [f"tippingpoint {__version__}, {python['implementation']} {python['version']}, {machine}{apart}"]
    lines += ["", "core", *_aligned([(each["package"], _version(each), each["why"] or "") for each in found.core])]
    compiled = found.kernels
    said = f"{compiled['means']}. {compiled['why']}" if compiled["why"] else compiled["means"]
    lines += ["", "compiled kernels", *_aligned([(compiled["status"], "", said)])]
    lines += ["", "extras", *_aligned([row for each in found.extras for row in _rows(each)])]
    usable = f"{threads['usable']} of {threads['cores']} for this process; threads= is {threads['default']} by default"
    given = [(name, "", f"= {value}") for name, value in threads["variables"].items() if value is not None]
    unset = ", ".join(name for name, value in threads["variables"].items() if value is None)
    lines += ["", "threads", *_aligned([("cores", "", usable), *given, *([("not set", "", unset)] if unset else [])])]
    values = _environment()
    lines += ["", "environment"]
    lines += _aligned([(name, "", f"{_value(values[name])}: {meaning}") for name, meaning in VARIABLES.items()])
    return "\n".join([*lines, "", *found.notes, _verdict(found)])


def _version(package: Package) -> str:
    """The version of a package, and what is wrong with it."""
    by = f" ({package['by']})" if package["by"] else ""
    state = "" if package["status"] in (WORKS, UNTRIED) else package["status"]
    return " ".join(filter(None, [f"{package['version'] or ''}{by}", state]))


def _rows(extra: Extra) -> list[tuple[str, str, str]]:
    """The lines of an extra: what it gives, and how to get what is not there."""
    rows = []
    several = len(extra["packages"]) > 1
    for package in extra["packages"]:
        missing = package["status"] == MISSING
        rest = f"{extra['gives']}: {extra['install']}" if missing else package["why"] or extra["gives"]
        rows.append((extra["extra"], f"{package['package']} {_version(package)}" if several else _version(package), rest))
    return rows


def _value(value: str | None) -> str:
    return "not set" if value is None else f"= {value}"


def _verdict(found: Findings) -> str:
    if not found.faults:
        tried_all = all(each["status"] == WORKS for each in found.core)
        return "All that is installed works." if tried_all else "All that is installed is new enough; its import was not tried."
    return f"Broken, too old or missing: {', '.join(found.faults)}." if found.core else found.faults[0]


def _aligned(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    """Three columns, the last of them wrapped; all in one line where the others leave no room."""
    first, second = (max((len(row[k]) for row in rows), default=0) for k in (0, 1))
    indent = 2 + first + 2 + (second + 2 if second else 0)
    lines = []
    for label, middle, text in rows:
        start = f"  {label:<{first}}  " + (f"{middle:<{second}}  " if second else "")
        body = visible(text)
        filled = textwrap.wrap(body, max(WIDTH - indent, 30), break_long_words=False, break_on_hyphens=False) or [""]
        lines += [(start + filled[0]).rstrip(), *(" " * indent + line for line in filled[1:])]
    return lines
