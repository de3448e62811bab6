"""What importing the package imports, and what it then has."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tippingpoint as tp

HEAVY = ("pandas", "sklearn", "torch", "matplotlib", "rich", "polars", "narwhals", "numpy", "scipy")


def modules_after(code: str) -> list[str]:
    """Heavy packages that a fresh interpreter holds after running this."""
    script = f"import sys\n{code}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert modules_after("import tippingpoint") == []


def test_naming_all_there_is_imports_no_model_library_and_no_plotting() -> None:
    loaded = modules_after("import tippingpoint as tp\nfor name in tp.__all__: getattr(tp, name)")
    assert set(loaded) <= {"numpy", "scipy"}


def test_every_public_name_exists_and_is_listed() -> None:
    assert set(tp.__all__) <= set(dir(tp))
    for name in tp.__all__:
        assert getattr(tp, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'stabilty'"):
        _ = tp.stabilty  # type: ignore[attr-defined]


def test_submodules_that_users_name_are_there() -> None:
    assert tp.errors.InputError is tp.InputError
    assert len(tp.datasets.breast_cancer()[0]) == 569
