"""The public names: one list, and the same in the stub, in `dir()` and in `import *`."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tippingpoint as tp
from tippingpoint import errors

STUB = Path(tp.__file__).with_name("__init__.pyi")
SUBMODULES = {"costs", "datasets", "errors", "variations"}


def imported_by_the_stub() -> dict[str, str]:
    """Every name that type checkers see, and the module it comes from; a name is re-exported only as itself."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                assert alias.asname == alias.name, f"{alias.name} is not re-exported without `as {alias.name}`"
                assert alias.name not in found, f"{alias.name} stands twice"
                found[alias.name] = str(node.module)
    return found


def test_the_stub_and_the_package_list_the_same_names() -> None:
    stubbed = set(imported_by_the_stub())
    assert stubbed - SUBMODULES == set(tp.__all__) - {"__version__"}
    assert stubbed & SUBMODULES == SUBMODULES


def test_type_checkers_find_every_name_where_the_package_does() -> None:
    for name, module in imported_by_the_stub().items():
        there = (
            importlib.import_module(f"{module}.{name}")
            if name in SUBMODULES
            else getattr(importlib.import_module(module), name)
        )
        assert getattr(tp, name) is there


def test_dir_and_all_agree_and_no_name_stands_twice() -> None:
    assert dir(tp) == sorted(tp.__all__)
    assert len(set(tp.__all__)) == len(tp.__all__)
    star: dict[str, object] = {}
    exec("from tippingpoint import *", star)  # noqa: S102  # what is tested
    assert set(tp.__all__) <= set(star)


def test_every_error_and_warning_is_public() -> None:
    defined = {name for name, each in vars(errors).items() if inspect.isclass(each) and each.__module__ == errors.__name__}
    assert defined <= set(tp.__all__)


def test_the_package_says_that_it_is_typed() -> None:
    assert STUB.with_name("py.typed").is_file()


def test_mypy_strict_sees_types_through_the_package(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "user.py"
    script.write_text(
        "import tippingpoint as tp\n"
        "result = tp.stability(([1.0], 0.0), [[1.0]], [1], 0.5)\n"
        "reveal_type(result.value)\n"
        "reveal_type(tp.Sweep.from_json(''))\n"
        "try:\n    pass\nexcept tp.NumericalError as error:\n    reveal_type(error)\n"
        "reveal_type(tp.datasets)\n"
        "tp.stabilty\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    said = subprocess.run([*command, str(script)], capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    assert 'user.py:3: note: Revealed type is "float"' in said.replace("builtins.", "")
    assert 'user.py:4: note: Revealed type is "tippingpoint.results.sweeps.Sweep"' in said
    assert 'user.py:8: note: Revealed type is "tippingpoint.errors.NumericalError"' in said
    assert 'user.py:10: error: Module has no attribute "stabilty"' in said
