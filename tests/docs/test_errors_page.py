"""The page on errors: it has every class, and every exit code, with what the library says of them."""

from __future__ import annotations

import inspect
import re

import pytest

import tippingpoint as tp
from pages import ROOT
from tippingpoint import errors
from tippingpoint.cli import faults, gate, interrupts

PAGE = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, (Exception, Warning))]
CODES = {gate.PASSED, gate.FAILED, faults.BAD_INPUT, faults.OUR_FAULT, faults.NO_READER, interrupts.INTERRUPTED}


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_every_error_and_warning_has_a_section_and_a_row(each: type[Exception]) -> None:
    name = each.__name__
    kind = "Warnings" if issubclass(each, Warning) else "Errors"
    part = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    titles = {section.partition("\n")[0]: section for section in part}
    assert f"\n### {name}\n" in titles[kind]
    assert f"| [`{name}`](#{name.lower()}) |" in PAGE
    assert getattr(tp, name) is each


@pytest.mark.parametrize("each", [each for each in CLASSES if not issubclass(each, Warning)], ids=lambda each: each.__name__)
def test_every_error_is_what_its_row_says_it_is(each: type[Exception]) -> None:
    row = re.search(rf"^\| \[`{each.__name__}`\]\([^)]*\) \| `(\w+)` \|.*\| (\d+) \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert row[1] in {base.__name__ for base in each.__mro__[1:]}
    assert int(row[2]) == faults.exit_code(each("why"))


def test_every_exit_code_is_there_and_no_other() -> None:
    listed = PAGE.split("## Exit codes")[1].split("```")[0]
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", listed, re.MULTILINE)} == CODES


def test_every_message_is_told_by_the_code_above_its_row() -> None:
    messages = PAGE.split("## Messages people meet most")[1]
    for section in re.split(r"^### ", messages, flags=re.MULTILINE)[1:]:
        printed = " ".join("".join(re.findall(r"```text\n(.*?)```", section, re.DOTALL)).split())
        rows = re.findall(r"^\| \*(.+?)\* \|", section, re.MULTILINE)
        assert rows, section
        for row in rows:
            assert all(part in printed for part in row.split(" ... ")), row
