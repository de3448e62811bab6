"""The README says what is exact for whom as the families declare it, in a table that is generated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tippingpoint.families.__main__ import declared

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- capabilities -->", "<!-- /capabilities -->"
MOST_LINES = 15


def test_the_readme_holds_the_table_that_families_declare() -> None:
    text = README.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    held = text.split(BEGIN)[1].split(END)[0].strip()
    assert held == declared(), (
        "the table in README.md is not what families declare: put what `python -m tippingpoint.families` prints between"
        f" {BEGIN} and {END}."
    )


def test_the_command_prints_it() -> None:
    printed = subprocess.run([sys.executable, "-m", "tippingpoint.families"], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == declared()


def test_it_stays_readable() -> None:
    assert len(declared().splitlines()) <= MOST_LINES
