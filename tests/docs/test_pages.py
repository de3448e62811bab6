"""Every block of every page of the documentation is run, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomllib

from pages import ROOT, alike, blocks, empty_directory, run, site_pages

RUN = ("python", "console")
WRITTEN = ("{code-block} ",)
SHOWN = ("text", "shell")
DRAWN = ("{",)
"""Directives of Sphinx: the build runs them."""


@pytest.mark.parametrize("name", [name for name in site_pages() if name != "README.md"])
def test_a_page_runs_and_prints_what_it_shows(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    if not any(block.language in RUN for block in blocks(page)):
        pytest.skip("nothing to run")
    with empty_directory():
        for each in run(page, name):
            assert alike(each.shown, each.printed), f"{name} shows\n{each.shown}\nand what it prints is\n{each.printed}"


@pytest.mark.parametrize("name", site_pages())
def test_no_block_of_a_page_is_left_unrun(name: str) -> None:
    for block in blocks((ROOT / name).read_text(encoding="utf-8")):
        assert block.language.startswith((*RUN, *SHOWN, *DRAWN)), f"{name}: nothing runs a block of {block.language!r}"
        if block.language.startswith(WRITTEN):
            assert block.caption, f"{name}: a {block.language} without :caption: is no file, and nothing runs it"


@pytest.mark.parametrize("name", site_pages())
def test_what_is_shown_to_install_can_be_installed(name: str) -> None:
    """`make release` installs every extra; here each that is named must be one."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(declared["project"]["optional-dependencies"])
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for block in blocks((ROOT / name).read_text(encoding="utf-8")):
        for line in block.text.splitlines() if block.language == "shell" else ():
            words = line.partition("#")[0].split()
            assert words[:2] == ["pip", "install"] or (words[0] == "make" and set(words[1:]) <= targets), line
            assert {each for named in re.findall(r"\[([\w,]+)\]", line) for each in named.split(",")} <= extras, line


def test_pages_differ_where_they_should() -> None:
    assert alike("Stability 0.0398:\nwhat it takes", "Stability 0.0399: what\nit takes\n")
    assert not alike("Stability 0.0398", "Stability 0.0498")
    assert not alike("lower 3", "upper 3")
    assert alike("a\n...\nz", "a\nb\nc\nz")
    assert alike("a\n...\nm\n...\nz", "a\nb\nm\nc\nz")
    assert not alike("a\n...\nz", "a\nb\nc")
    assert not alike("a\n...\nm\n...\nz", "a\nb\nz")


def test_what_a_page_does_wrong_is_noticed(tmp_path: Path) -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```console\n$ echo two; exit 4\nthree\n$ echo $?\n4\n```\n"
    with empty_directory():
        first, second = run(page, "page.md")
    assert (first.printed, second.printed) == ("2\n", "$ echo two; exit 4\ntwo\n$ echo $?\n4\n")
    assert not alike(first.shown, first.printed)
    assert not alike(second.shown, second.printed)


@pytest.mark.parametrize("name", site_pages())
def test_pictures_of_a_page_have_names_of_their_own(name: str) -> None:
    """Each block of reStructuredText counts its pictures from one: without a name the last would stand in place of all."""
    drawn = [block.text for block in blocks((ROOT / name).read_text(encoding="utf-8")) if ".. plot::" in block.text]
    named = [found[1] for text in drawn if (found := re.search(r"plot:: (\S+)", text))]
    prefixed = [found[1] for text in drawn if (found := re.search(r":filename-prefix: (\S+)", text))]
    if len(drawn) > 1:
        assert len({*named, *prefixed}) == len(drawn)
