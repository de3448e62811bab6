"""The tutorials: each has its place in the order, a title, a picture and no secret. The build of the site runs them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pages import ROOT

GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
LONGEST = 230
"""Lines of a script, text and code together."""


def test_the_scripts_are_numbered_without_gaps_and_all_run() -> None:
    assert [path.name[:3] for path in SCRIPTS] == [f"{k:02}_" for k in range(1, len(SCRIPTS) + 1)]
    assert len(SCRIPTS) >= 6


def test_the_page_before_them_says_who_should_read_which() -> None:
    named = re.findall(r":doc:`(\d\d_\w+)`", (GALLERY / "GALLERY_HEADER.rst").read_text(encoding="utf-8"))
    assert sorted(named) == [path.stem for path in SCRIPTS]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_compiles_and_begins_with_a_title_and_what_it_is_about(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text, path.name))
    assert docstring
    title, underline, blank, *about = docstring.splitlines()
    assert underline == "=" * len(title)
    assert not blank
    assert len(" ".join(about)) > 200, "a paragraph says what the case is, before any code"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_text_between_cells_a_thumbnail_and_a_bearable_length(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n# %%\n") >= 8
    assert re.search(r"^# sphinx_gallery_thumbnail_number = \d$", text, re.MULTILINE)
    assert len(text.splitlines()) <= LONGEST


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_pages_that_a_script_leads_to_are_there(path: Path) -> None:
    for target in re.findall(r":doc:`([^`]+)`", path.read_text(encoding="utf-8")):
        page = ROOT / "docs" / f"{target[1:]}.md" if target.startswith("/") else GALLERY / f"{target}.py"
        assert page.exists(), f"{path.name} leads to {target}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_that_reads_data_from_elsewhere_can_do_without(path: Path) -> None:
    """It asks for TIPPINGPOINT_DATA, and says where data are made up."""
    text = path.read_text(encoding="utf-8")
    if "shared/data" in text:
        assert "TIPPINGPOINT_DATA" in text
        assert "MADE-UP" in text
