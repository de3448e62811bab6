"""`tippingpoint runs`: from logs to a table that `evaluate` takes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command

LOGS = Path(__file__).parents[1] / "runs" / "logs"
HARNESS = sorted((LOGS / "harness" / "dummy-small").glob("samples_capitals*"))
SMALL = LOGS / "inspect" / "json"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_logs_become_a_table_that_evaluate_takes(cli: Command, place: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    out = place / f"made.{ending}"
    code, said, err = cli("runs", str(SMALL), "--out", str(out))
    assert (code, err) == (0, "")
    assert said.startswith("15 runs of 5 samples in 3 variants by 1 model; the original is 'capitals'.\n")
    assert said.endswith(f"The table is in {out}.\n")
    direct = tp.read_runs(SMALL)
    read = pd.read_csv(out) if ending == "csv" else pd.read_parquet(out)
    pd.testing.assert_frame_equal(read, direct.table, check_dtype=False)
    profile = direct.profile()
    assert isinstance(profile, tp.Profile)
    code, said, _ = cli("evaluate", "--table", str(out), "--risk", "0.6", "--theta1", "1", "--theta2", "0.25")
    assert code == 0
    assert f"Stability {profile.stability(0.6, theta1=1.0, theta2=0.25).value:.4g}:" in said


def test_variants_prices_and_metrics_are_said_on_the_command_line(cli: Command, place: Path) -> None:
    plain, polite, shout = map(str, HARNESS)
    words = ["runs", f"base={plain}", f"polite={polite}", f"shout={shout}", "--original", "base", "--metric", "acc_norm"]
    code, said, err = cli(
        *words, "--price", "polite=0.5", "--price", "shout=2", "--model", "tiny", "--out", str(place / "t.csv")
    )
    assert (code, err) == (0, "")
    assert "1 - acc_norm" in said
    table = pd.read_csv(place / "t.csv")
    assert table.groupby("variant")["cost"].unique().map(list).to_dict() == {"base": [0.0], "polite": [0.5], "shout": [2.0]}
    assert set(table["model"]) == {"tiny"}
    assert cli(*words, "--out", str(place / "t.csv")).err == f"tippingpoint: {place / 't.csv'} was there, and is replaced.\n"
    assert cli(*words, "--quiet", "--cost", "formats").out == ""


@pytest.mark.parametrize(("missing", "losses"), [("keep", 3), ("wrong", 5), ("drop", 3)])
def test_missing_outcomes_are_kept_counted_or_dropped(cli: Command, place: Path, missing: str, losses: int) -> None:
    log = LOGS / "inspect" / "odd" / "capitals-failing.json"
    code, said, _ = cli("runs", str(log), "--missing", missing, "--out", str(place / "t.csv"))
    assert code == 0
    assert int(pd.read_csv(place / "t.csv")["loss"].notna().sum()) == losses
    assert {"keep": "missing     2 outcomes", "wrong": "counted as a loss of 1", "drop": "dropped     2 lines"}[missing] in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["LOG", "--out", "t.xlsx"], "a table ends in .csv, .parquet"),
        (["answers.csv", "--out", "answers.csv"], "would overwrite answers.csv, which is read"),
        (["LOG", "--price", "polite"], "--price polite: write it as --price polite=0.2."),
        (["LOG", "--price", "capitals=x"], "'x' is not a number"),
        (["LOG", "--price", "a=1", "--cost", "words"], "--price and --cost both say"),
        (["a=LOG", "LOG"], "say of every log which variant it is"),
        (["nowhere.jsonl"], "nowhere.jsonl is not there"),
        (["answers.csv"], "answers.csv has no column for the sample; its columns are 'id', 'wrong'"),
        (["answers.csv", "--column", "sample"], "--column sample: write it as --column sample=id."),
        (["cut.jsonl"], "cut.jsonl, line 2 is cut off in the middle"),
        ([], "the following arguments are required"),
    ],
)
def test_bad_words_are_one_sentence(cli: Command, place: Path, words: list[str], sentence: str) -> None:
    (place / "answers.csv").write_text("id,wrong\n1,0\n")
    (place / "cut.jsonl").write_text('{"sample": 1, "loss": 0, "cost": 0}\n{"sample": 1, "lo')
    given = [word.replace("LOG", str(HARNESS[0])) for word in words]
    code, said, err = cli("runs", *given)
    assert (code, said) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert (place / "answers.csv").read_text() == "id,wrong\n1,0\n"


def test_a_damaged_line_can_be_dropped(cli: Command, place: Path) -> None:
    (place / "cut.jsonl").write_text('{"sample": 1, "loss": 0, "cost": 0}\n{"sample": 1, "lo')
    code, said, _ = cli("runs", "cut.jsonl", "--drop-damaged")
    assert code == 0
    assert "dropped     1 line: cut off in the middle of the line" in said
