"""Ctrl-C in the midst of the work, as a person presses it: what was found is printed and marked, and no conclusion drawn."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tippingpoint as tp
from commands import COMMAND, Output, interrupted

VENDOR = """
import time

ROWS, PAUSE = 4000, 0.1

def slow(rows_before=ROWS, pause=PAUSE):
    count = 0
    def score(rows):
        nonlocal count
        count += len(rows)
        if count > rows_before:
            if count - len(rows) <= rows_before:
                print("far enough", flush=True)
            time.sleep(pause)
        return rows['age'] - 0.5 * rows['dose']
    return score

def later():
    return slow(6400, 2.0)

def deaf():
    count = 0
    def score(rows):
        nonlocal count
        count += len(rows)
        if count > ROWS > count - len(rows):
            print("far enough", flush=True)
            try:
                time.sleep(20)
            except KeyboardInterrupt:
                pass
        return rows['age'] - 0.5 * rows['dose']
    return score

def failing():
    count = 0
    def score(rows):
        nonlocal count
        count += len(rows)
        if count > ROWS:
            raise RuntimeError("quota")
        return rows['age'] - 0.5 * rows['dose']
    return score
"""
"""Models that say when a search is well under way, and are slow from then on, so that an interrupt finds them at it."""

LONG = ("--data", "few.csv", "--target", "y", "--risk", "0.45", "--output", "score", "--calls", "1000000")


@pytest.fixture
def place(place: Path) -> Path:
    (place / "vendor.py").write_text(VENDOR, encoding="utf-8")
    return place


def midway(place: Path, *words: str, times: int = 1) -> Output:
    """A command that is interrupted once its model says that it is under way."""
    return interrupted(str(COMMAND), *words, cwd=place, ready=lambda line: "far enough" in line, wait=0.3, times=times)


def stored(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_gate_never_passes_an_interrupted_search_and_what_it_found_is_kept(place: Path) -> None:
    gate = ("--fail-below", "1e-9", "--on", "value")
    ended = midway(place, "evaluate", "--model", "vendor:slow", *LONG, *gate, "--json", "out.json", "--sensitive", "q.csv")
    assert ended.code == 130
    assert ended.err == ("gate: not passed: interrupted, so not all that it judges is known.\ntippingpoint: interrupted.\n")
    result = tp.StabilityResult.from_json((place / "out.json").read_text(encoding="utf-8"))
    assert result.interrupted
    assert 0.0 < result.value < float("inf"), "thousands of calls had found something"
    assert ended.out.startswith("Stability at most ")
    assert "interrupted" in ended.out.splitlines()[0]
    assert (place / "q.csv").exists()


def test_an_interrupted_search_of_partitions_begins_no_other_and_keeps_what_it_found(place: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.read_csv(place / "few.csv").to_parquet(place / "few.parquet", row_group_size=30)
    words = ["few.parquet" if word == "few.csv" else word for word in LONG]
    ended = midway(place, "evaluate", "--model", "vendor:slow", *words, "--memory", "1 GB", "--json", "out.json")
    assert ended.code == 130
    assert ended.err == "tippingpoint: interrupted.\n"
    assert "interrupted" in ended.out.splitlines()[0]
    result = tp.StabilityResult.from_json((place / "out.json").read_text(encoding="utf-8"))
    assert result.interrupted
    assert result.lower == 0.0
    assert 0.0 < result.value < float("inf")


def test_an_interrupted_report_ends_with_what_it_has(place: Path) -> None:
    ended = midway(place, "report", "--model", "vendor:slow", *LONG, "--report", "r.json", "--json", "out.json")
    assert ended.code == 130
    assert ended.err.endswith("tippingpoint: interrupted.\n")
    report = stored(place / "r.json")
    assert report["result"]["interrupted"] is True
    assert report["features"] is None, "no feature is searched for after that"
    assert stored(place / "out.json")["interrupted"] is True


def test_a_report_that_is_interrupted_at_its_features_keeps_its_result(place: Path) -> None:
    # The whole search takes some thousand calls here; the one of the features then meets the slow part.
    words = ("--data", "few.csv", "--target", "y", "--risk", "0.45", "--output", "score", "--calls", "6000")
    ended = midway(place, "report", "--model", "vendor:later", *words, "--report", "r.json", "--fail-below", "1e-9")
    assert ended.code == 130
    assert "gate: not passed" in ended.err
    report = stored(place / "r.json")
    assert report["result"]["interrupted"] is False
    assert report["result"]["value"] > 0.0


def test_an_interrupted_ranking_stops_at_the_feature_that_it_is_at(place: Path) -> None:
    ended = midway(place, "features", "--model", "vendor:slow", *LONG, "--fail-below", "1e-9", "--json", "out.json")
    assert ended.code == 130
    assert "gate: not passed" in ended.err
    ranking = stored(place / "out.json")
    assert ranking["interrupted"] is True
    assert [each["feature"] for each in ranking["features"]] == ["age"]
    assert "Features that are missing were not asked about." in ended.out


def test_a_comparison_with_an_interrupted_search_is_undecided(place: Path) -> None:
    models = ("--model", "now=model.json", "--model", "next=vendor:slow")
    ended = midway(place, "compare", *models, *LONG, "--json", "out.json", "--report", "r.md")
    assert ended.code == 130
    found = stored(place / "out.json")
    assert (found["interrupted"], found["results"]["now"]["interrupted"], found["results"]["next"]["interrupted"]) == (
        True,
        False,
        True,
    )
    (verdict,) = found["verdicts"]
    assert not verdict["decided"]
    assert "the search of 'next' did not end" in verdict["sentence"]
    assert verdict["sentence"] in ended.out
    assert (place / "r.md").exists()


def test_a_comparison_that_is_interrupted_at_its_first_model_asks_no_other(place: Path) -> None:
    models = ("--model", "now=vendor:slow", "--model", "next=model.json")
    ended = midway(place, "compare", *models, *LONG, "--json", "out.json", "--fail-below", "1e-9", "--gate-model", "next")
    assert ended.code == 130
    assert "gate: not passed" in ended.err
    assert list(stored(place / "out.json")["results"]) == ["now"]


def test_an_interrupted_curve_is_marked_everywhere(place: Path) -> None:
    words = [word for word in LONG if word not in ("--risk", "0.45")]
    ended = midway(place, "curve", "--model", "vendor:slow", *words, "--risks", "0.4,0.45", "--json", "out.json")
    assert ended.code == 130
    found = stored(place / "out.json")
    assert found["interrupted"] is True
    assert all(each["interrupted"] for each in found["results"])
    assert "Interrupted" in ended.out


def test_a_second_interrupt_ends_at_once_and_writes_nothing(place: Path) -> None:
    ended = midway(place, "report", "--model", "vendor:slow", *LONG, "--report", "r.html", "--json", "out.json", times=2)
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "tippingpoint: interrupted.\n"
    assert not (place / "r.html").exists()
    assert not (place / "out.json").exists()


def test_an_interrupt_that_the_model_swallows_passes_no_gate_either(place: Path) -> None:
    words = (*LONG[:-1], "12000", "--fail-below", "1e-9", "--on", "value", "--json", "out.json")
    ended = midway(place, "evaluate", "--model", "vendor:deaf", *words)
    assert ended.code == 130
    assert "gate: passed" not in ended.err
    assert "gate: not passed" in ended.err
    assert stored(place / "out.json")["interrupted"] is False, "that search went on to its end"


def test_a_model_that_fails_halfway_passes_no_gate(place: Path) -> None:
    words = (*LONG, "--fail-below", "1e-9", "--on", "value", "--json", "out.json")
    done = subprocess.run(
        [str(COMMAND), "evaluate", "--model", "vendor:failing", *words], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "gate: failed: the search did not end, so what it found decides nothing.\n"
    assert stored(place / "out.json")["interrupted"] is True
