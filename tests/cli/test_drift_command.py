"""`tippingpoint drift` as a person runs it: what it prints is what Python says, and its gate passes on what is known only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tippingpoint as tp
from commands import MODEL, Command, patients, succeed

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
SUBJECT = ("--model", "model.json", "--reference", "eval.csv", "--target", "y")
QUESTION = ("--risk", "0.45", "--theta1", "1", "--theta2", "0.25", "--permutations", "19")


def model(stored: dict[str, Any] = MODEL) -> tp.LinearModel:
    return tp.LinearModel.of(stored["coef"], stored["intercept"], stored["classes"], stored["features"])


def windows() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Patients of two later months, older and with other outcomes."""
    rows = patients()
    may, june = rows.iloc[::2].reset_index(drop=True), rows.iloc[1::2].reset_index(drop=True)
    return may, june.assign(dose=june["dose"] * 1.2 + 0.1)


@pytest.fixture
def months(place: Path) -> Path:
    may, june = windows()
    may.to_csv(place / "may.csv", index=False)
    june.to_csv(place / "june.csv", index=False)
    pd.concat([may.assign(month=5), june.assign(month=6)]).to_csv(place / "later.csv", index=False)
    june.drop(columns="y").to_csv(place / "unlabelled.csv", index=False)
    return place


def by_python(*current: pd.DataFrame, names: tuple[str, ...] = (), **settings: Any) -> Any:
    rows = patients()
    given = [(each[["age", "dose"]], each["y"]) for each in current]
    after = dict(zip(names, given, strict=True)) if names else given[0]
    reference = rows[["age", "dose"]], rows["y"]
    return tp.drift(model(), reference, after, risk=0.45, permutations=19, **PRICES, **settings)


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
def test_it_prints_and_writes_what_python_says(months: Path) -> None:
    found = by_python(windows()[1])
    shown = succeed("drift", *SUBJECT, "--current", "june.csv", *QUESTION, "--json", "drift.json", cwd=months)
    assert shown == f"{found}\n"
    assert (months / "drift.json").read_text(encoding="utf-8") == found.to_json() + "\n"


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
def test_several_windows_by_file_and_by_column(months: Path, cli: Command) -> None:
    both = by_python(*windows(), names=("may", "june"), features=False)
    files = ("--current", "may=may.csv", "--current", "june=june.csv")
    code, out, _ = cli("drift", *SUBJECT, *files, *QUESTION, "--no-features")
    assert (code, out) == (0, f"{both}\n")
    code, out, _ = cli("drift", *SUBJECT, "--current", "later.csv", "--by", "month", *QUESTION, "--no-features", "--json", "-")
    stored = json.loads(out)
    assert code == 0
    assert list(stored["results"]) == ["5", "6"]
    values = [each.value for each in both.results.values()]
    assert [each["value"] for each in stored["results"].values()] == pytest.approx(values, rel=1e-9)


def test_without_labels_it_says_so_and_no_gate_passes(months: Path, cli: Command) -> None:
    asked = ("drift", *SUBJECT, "--current", "unlabelled.csv", *QUESTION, "--no-features")
    code, out, err = cli(*asked)
    assert code == 0
    assert "only sizes are told" in err
    assert "without labels of the current rows nothing follows" in " ".join(out.split())
    code, _, err = cli(*asked, "--fail-below-remaining", "0.0001")
    assert code == 1
    assert "gate: failed: without labels" in err
    code, out, _ = cli(*asked, "--assume", "calibration")
    assert code == 0
    assert "an estimate and no bound" in " ".join(out.split())


def test_the_gate_is_about_the_tolerance_of_the_current_rows(months: Path, cli: Command) -> None:
    asked = ("drift", *SUBJECT, "--current", "june.csv", *QUESTION, "--no-features")
    found = json.loads(cli(*asked, "--json", "-")[1])
    left = found["outcome"]["remaining"]
    assert left > 0.0
    code, _, err = cli(*asked, "--fail-below-remaining", str(0.9 * left))
    assert code == 0
    assert "gate: passed: the tolerance of the current rows to 0.45, measured on the margin" in err
    code, _, err = cli(*asked, "--fail-below-remaining", str(1.1 * left))
    assert code == 1
    assert f"is {left:.6g}, below" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--current", "june.csv", "--by", "year"), "june.csv has no column 'year' for --by"),
        (("--current", "may.csv", "--current", "june.csv", "--by", "y"), "--by splits one file"),
        (("--current", "a=may.csv", "--current", "a=june.csv"), "each needs a name of its own"),
        (("--current", "nowhere.csv"), "nowhere.csv"),
        (("--current", "june.csv", "--fail-below-remaining", "0"), "--fail-below-remaining 0: no tolerance is below that"),
        (("--current", "june.csv", "--permutations", "-3"), "--permutations"),
        (("--current", "june.csv", "--json", "june.csv"), "would overwrite --current june.csv"),
        (("--current", "june.csv", "--json", "eval.csv"), "would overwrite --reference eval.csv"),
        (("--current", "other.csv"), "other.csv has no column 'dose'"),
        (("--current", "broken.csv"), "broken.csv, line 4: current: y[2]"),
    ],
)
def test_bad_commands_get_a_sentence(months: Path, cli: Command, words: tuple[str, ...], message: str) -> None:
    june = windows()[1]
    june.drop(columns="dose").to_csv(months / "other.csv", index=False)
    june.assign(y=june["y"].astype(object).where(june.index != 2)).to_csv(months / "broken.csv", index=False)
    code, _, err = cli("drift", *SUBJECT, *words, "--risk", "0.45", "--no-features")
    assert code == 2
    assert message in " ".join(err.split())
    assert len(err.strip().splitlines()) == 1


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
def test_a_report_holds_the_stability_against_what_the_data_did(months: Path, cli: Command) -> None:
    asked = ("report", "--model", "model.json", "--data", "eval.csv", "--target", "y", *QUESTION[:6])
    code, _, err = cli(*asked, "--current", "may=may.csv", "--current", "june=june.csv", "--report", "page.json", "--quiet")
    assert (code, err) == (0, "")
    against = json.loads((months / "page.json").read_text(encoding="utf-8"))["against"]
    found = by_python(*windows(), names=("may", "june"), features=False)
    assert {row["window"]: row["drift"] for row in against["rows"]} == {
        name: each.value for name, each in found.results.items()
    }
    assert cli(*asked, "--current", "june.csv", "--report", "page.md", "--quiet")[0] == 0
    assert "## Against what?" in (months / "page.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
def test_dates_are_split_by_period_and_too_many_windows_name_the_flag(months: Path, cli: Command) -> None:
    rows = pd.concat(windows(), ignore_index=True)
    daily = pd.date_range("2026-01-01", periods=len(rows), freq="D").strftime("%Y-%m-%d")
    rows.assign(day=daily).to_csv(months / "daily.csv", index=False)
    asked = ("drift", *SUBJECT, *QUESTION, "--no-features", "--json", "-")
    code, out, _ = cli(*asked, "--current", "daily.csv", "--by", "day:quarter")
    assert code == 0
    stored = json.loads(out)
    assert list(stored["results"])[:1] == ["2026Q1"]
    assert stored["least_adjusted"] == pytest.approx(min(len(stored["results"]) / 20, 1.0))
    many = pd.concat([rows.iloc[:10]] * 110, ignore_index=True)
    times = pd.date_range("2026-01-01", periods=len(many), freq="h").strftime("%Y-%m-%dT%H:%M")
    many.assign(at=times).to_csv(months / "many.csv", index=False)
    code, _, err = cli(*asked, "--current", "many.csv", "--by", "at")
    assert code == 2
    assert "--by at makes 1,100 windows, and at most 1,000 are compared in one call." in " ".join(err.split())
    assert "Group the dates by a period: --by at:day makes 46." in " ".join(err.split())
    code, _, err = cli(*asked, "--current", "many.csv", "--by", "at:hour")
    assert code == 2
    assert "--by at:hour: 'hour' is not a period" in err
