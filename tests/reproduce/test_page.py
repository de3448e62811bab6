"""`docs/paper.md`: what it says is what the committed tables say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tippingpoint.reproduce.claims import rendered, tabulated, tally
from tippingpoint.reproduce.registry import FIGURES
from tippingpoint.reproduce.running import read

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "paper"

if not DOCS.is_dir():
    pytest.skip("the docs are not in this distribution", allow_module_level=True)

PAGE = (DOCS / "paper.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def claims() -> pd.DataFrame:
    return pd.read_csv(FOLDER / "claims.csv")


@pytest.mark.parametrize("name", FIGURES)
def test_claims_are_those_that_the_tables_of_the_figure_bear_out(name: str, claims: pd.DataFrame) -> None:
    again = tabulated(FIGURES[name].claims(read(FIGURES[name], FOLDER)))
    stored = claims[claims["figure"] == name].reset_index(drop=True)
    assert len(again) > 1
    pd.testing.assert_frame_equal(again, stored)


def test_the_page_shows_every_claim_of_the_table_and_counts_them(claims: pd.DataFrame) -> None:
    assert rendered(claims, {figure.name: figure.title for figure in FIGURES.values()}, "paper/") in PAGE
    assert tally(claims) in PAGE
    assert set(claims["figure"]) == set(FIGURES)


def test_the_run_was_the_whole_one() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["figures"] == list(FIGURES)
    assert len(manifest["seeds"]) >= 10
    assert not manifest["quick"]
    assert manifest["rows"] == {"train": 2000, "evaluate": 2000, "judge": 5000}


def test_every_picture_is_there_and_all_are_small() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", PAGE)
    assert sorted(pictures) == sorted(f"paper/{name}.png" for name in FIGURES)
    assert sum((DOCS / picture).stat().st_size for picture in pictures) < 2_000_000
    assert all((DOCS / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)
