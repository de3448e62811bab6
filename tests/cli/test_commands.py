"""Every command of the one set of options: what it prints and writes is what Python says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import MODEL, NEXT, Command, patients, run, succeed

DATA = ("--data", "eval.csv", "--target", "y")
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
QUESTION = ("--risk", "0.4", "--theta1", "1", "--theta2", "0.25")
SUBJECT = ("--model", "model.json", *DATA)


def model(stored: dict[str, Any] = MODEL) -> tp.LinearModel:
    return tp.LinearModel.of(stored["coef"], stored["intercept"], stored["classes"], stored["features"])


def features() -> pd.DataFrame:
    return patients()[["age", "dose"]]


def test_features_ranks_as_python_does_and_advises(place: Path) -> None:
    ranked = tp.feature_stability(model(), features(), patients()["y"], 0.4, **PRICES)
    shown = succeed("features", *SUBJECT, *QUESTION, "--json", "ranking.json", cwd=place)
    assert shown == f"{ranked}\n\n{ranked.advice()}\n"
    assert (place / "ranking.json").read_text(encoding="utf-8") == ranked.to_json() + "\n"


def test_features_asks_about_those_that_are_named(cli: Command) -> None:
    code, out, _ = cli("features", *SUBJECT, *QUESTION, "--feature", "dose", "--json", "-")
    assert code == 0
    assert [each["feature"] for each in json.loads(out)["features"]] == ["dose"]


def test_compare_prints_the_paired_comparison_and_writes_every_number(place: Path) -> None:
    compared = tp.compare({"now": model(), "next": model(NEXT)}, features(), patients()["y"], 0.4, **PRICES)
    models = ("--model", "now=model.json", "--model", "next=next.json")
    assert succeed("compare", *models, *DATA, *QUESTION, "--json", "both.json", cwd=place) == f"{compared}\n"
    stored = json.loads((place / "both.json").read_text(encoding="utf-8"))
    assert stored["schema"] == "tippingpoint.comparison/1"
    for name, result in compared.results.items():
        assert stored["results"][name] == result.to_dict()
    (difference,) = stored["differences"]
    told = compared.differences().to_dict("records")[0]
    assert {name: difference[name] for name in told} == told


def test_compared_models_are_named_by_their_files_where_nobody_names_them(cli: Command) -> None:
    code, out, _ = cli("compare", "--model", "model.json", "--model", "next.json", *DATA, *QUESTION, "--json", "-")
    assert code == 0
    assert list(json.loads(out)["results"]) == ["model", "next"]


def test_curve_sweeps_thresholds_and_the_dial(place: Path, cli: Command) -> None:
    profile = tp.profile(model(), features(), patients()["y"])
    curve = profile.curve([0.3, 0.4, 0.5], **PRICES)
    thetas = ("--theta1", "1", "--theta2", "0.25")
    assert succeed("curve", *SUBJECT, "--risks", "0.3,0.4,0.5", *thetas, cwd=place) == f"{curve}\n"
    code, out, _ = cli("curve", *SUBJECT, "--risk", "0.4", "--mixes", "0,0.5,1", "--budget", "2", "--json", "-")
    stored, sweep = json.loads(out), profile.tradeoff([0, 0.5, 1], risk=0.4, budget=2.0)
    assert (code, stored["schema"], stored["over"], stored["at"]) == (0, "tippingpoint.sweep/1", "mix", [0.0, 0.5, 1.0])
    assert stored["results"] == [result.to_dict() for result in sweep]


def test_parquet_data_give_what_csv_gives(place: Path, cli: Command) -> None:
    pytest.importorskip("pyarrow")
    pd.read_csv(place / "eval.csv").to_parquet(place / "eval.parquet")
    once = cli("evaluate", *SUBJECT, *QUESTION)
    again = cli("evaluate", "--model", "model.json", "--data", "eval.parquet", "--target", "y", *QUESTION)
    assert once == again
    assert once[0] == 0


def test_a_linear_model_by_its_old_option_is_the_same(cli: Command) -> None:
    assert cli("evaluate", "--linear", "model.json", *DATA, *QUESTION) == cli("evaluate", *SUBJECT, *QUESTION)


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_report_writes_a_page_and_says_how_to_open_it(suffix: str, place: Path, cli: Command) -> None:
    code, out, err = cli("report", *SUBJECT, *QUESTION, "--report", f"page{suffix}")
    assert (code, err) == (0, "")
    result = tp.stability(model(), features(), patients()["y"], 0.4, **PRICES)
    assert out.startswith(str(result))
    assert f"The report is in page{suffix}" in out
    assert f"page{suffix}, or file://" in out
    page = (place / f"page{suffix}").read_text(encoding="utf-8")
    for part in ("model.json", "eval.csv", "dose", f"{result.value:.3f}" if suffix == ".json" else f"{result.value:.4g}"):
        assert part in page, "the model, the data, the ranking and the number"


def test_report_of_several_models_compares_them_and_goes_to_its_usual_place(place: Path) -> None:
    before = [file.name for file in place.iterdir()]
    models = ("--model", "now=model.json", "--model", "next=next.json")
    succeed("report", *models, *DATA, *QUESTION, "--quiet", cwd=place)
    page = (place / "tippingpoint-report.html").read_text(encoding="utf-8")
    assert "next" in page
    assert {file.name for file in place.iterdir()} == {*before, "tippingpoint-report.html"}


@pytest.mark.parametrize("command", ["evaluate", "features", "compare"])
def test_other_commands_write_a_report_beside_what_they_print(command: str, place: Path, cli: Command) -> None:
    models = ("--model", "model.json", "--model", "next.json") if command == "compare" else ("--model", "model.json")
    code, out, _ = cli(command, *models, *DATA, *QUESTION, "--report", "page.json")
    assert code == 0
    assert out.endswith("The report is in page.json.\n")
    page = json.loads((place / "page.json").read_text(encoding="utf-8"))
    assert (page["features"] is not None, page["comparison"] is not None) == (command == "features", command == "compare")
    assert (page["model"], page["data"]) == ("model.json", "eval.csv")


def test_nothing_is_written_where_the_report_cannot_be(place: Path, cli: Command) -> None:
    code, out, err = cli("evaluate", *SUBJECT, *QUESTION, "--json", "out.json", "--report", "gone/page.html")
    assert (code, out) == (2, "")
    assert "gone/page.html cannot be written" in err
    assert not (place / "out.json").exists()


@pytest.mark.parametrize(
    "command",
    [
        "evaluate",
        "worst-risk",
        "features",
        "compare",
        "curve",
        "drift",
        "runs",
        "report",
        "demo",
        "reproduce",
        "completion",
        "doctor",
        "schema",
    ],
)
def test_every_command_has_help_with_an_example(command: str, cli: Command) -> None:
    code, out, _ = cli(command, "--help")
    assert code == 0
    assert re.search(rf"^  .*tippingpoint {command}\b", out.partition("examples:")[2], re.MULTILINE)


def examples(command: str, cli: Command) -> list[list[str]]:
    shown = cli(command, "--help")[1]
    return [line.split()[1:] for line in shown.splitlines() if line.startswith(f"  tippingpoint {command}")]


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
@pytest.mark.parametrize("command", ["features", "compare", "curve", "drift", "report"])
def test_the_examples_of_the_help_work(command: str, place: Path, cli: Command) -> None:
    lines = {"sample": [1, 1, 2, 2] * 2, "cost": [0, 0, 0, 0, 1, 1, 2, 2], "loss": [0, 0, 0, 0, 1, 1, 0, 1]}
    table = pd.DataFrame({**lines, "model": ["a", "b"] * 4})
    table.to_csv(place / "runs.csv", index=False)
    for file, model_ in (("now.csv", "a"), ("next.csv", "b")):
        table[table["model"] == model_].to_csv(place / file, index=False)
    for file in ("5.csv", "6.csv", "june.csv", "later.csv"):
        dates = pd.date_range("2026-01-31", periods=120).strftime("%Y-%m-%d")
        patients().assign(region=np.arange(120) % 2, date=dates).to_csv(place / file, index=False)
    shown = examples(command, cli)
    assert len(shown) >= 2
    for example in shown:
        code, out, err = cli(*example)
        assert (code, out != "") == (0, True), err


def test_options_of_a_search_reach_it(place: Path, cli: Command) -> None:
    (place / "vendor.py").write_text(
        "def box():\n    return lambda rows: rows['age'] - 0.5 * rows['dose'] + 0.1\n", encoding="utf-8"
    )
    data = pd.read_csv("eval.csv").drop(columns=["ward", "heft"])
    data.to_csv("eval.csv", index=False)
    searched = ("--calls", "3000", "--seed", "5", "--output", "score")
    code, out, _ = cli("evaluate", "--model", "vendor:box", *DATA, *QUESTION, *searched, "--json", "-")
    expected = tp.stability(
        lambda rows: rows["age"] - 0.5 * rows["dose"] + 0.1,
        features(),
        patients()["y"],
        0.4,
        calls=3000,
        seed=5,
        output="score",
        **PRICES,
    )
    assert code == 0
    assert tp.StabilityResult.from_json(out).to_dict() == expected.to_dict()
    for option, bad in (("--calls", "7"), ("--output", "prediction")):
        assert cli("evaluate", "--model", "vendor:box", *DATA, *QUESTION, option, bad)[0] == 2, "they are heard"


def test_quiet_draws_no_progress_bar_even_on_a_terminal(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cli: Command
) -> None:
    (place / "vendor.py").write_text("def box():\n    return lambda rows: rows['age'] - 0.5 * rows['dose']\n", encoding="utf-8")
    words = ("features", "--model", "vendor:box", "--data", "few.csv", "--target", "y", *QUESTION, "--calls", "3000")
    import sys

    monkeypatch.setattr(type(sys.stderr), "isatty", lambda stream: stream is sys.stderr)
    assert cli(*words)[2], "there is a bar to silence"
    assert cli(*words, "--quiet") == (0, "", "")


def test_a_fault_of_ours_is_a_sentence_too_and_debug_shows_where(monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("tippingpoint.cli.evaluate.profile", broken)
    code, out, err = cli("evaluate", *SUBJECT, *QUESTION)
    assert (code, out) == (3, "")
    assert err == "tippingpoint: this should not happen (ZeroDivisionError: inside); --debug shows where, please report it.\n"
    for place_of_debug in (("--debug", "evaluate"), ("evaluate", "--debug")):
        code, _, shown = cli(*place_of_debug, *SUBJECT, *QUESTION)
        assert code == 3, "a traceback is no gate that fails"
        assert shown.startswith("Traceback")
        assert shown.endswith(err)


def test_an_interrupted_command_ends_as_shells_expect(monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tippingpoint.cli.evaluate.profile", stopped)
    assert cli("evaluate", *SUBJECT, *QUESTION) == (130, "", "tippingpoint: interrupted.\n")


BAD = {
    "an abbreviated option": (("evaluate", *SUBJECT, "--ris", "0.4"), "--risk"),
    "two models to evaluate": (("evaluate", *SUBJECT, "--model", "next.json", *QUESTION), "--model is given 2 times"),
    "one model to compare": (("compare", *SUBJECT, *QUESTION), "--model model.json is alone"),
    "two models of one name": (("compare", *SUBJECT, "--model", "model.json", *QUESTION), "needs a name of its own"),
    "no data": (("features", "--model", "model.json", *QUESTION), "--model needs --data"),
    "a seed for an exact model": (("evaluate", *SUBJECT, *QUESTION, "--seed", "1"), "seed=1 is an option of a search"),
    "calls for an exact model": (("features", *SUBJECT, *QUESTION, "--calls", "9"), "calls=9 is an option of a search"),
    "a method for a table": (
        ("evaluate", "--table", "eval.csv", *QUESTION, "--method", "path"),
        "--method has no meaning with --table",
    ),
    "a pickle's trust for a linear model": (
        ("evaluate", *SUBJECT, *QUESTION, "--trust-pickle"),
        "--trust has no effect on model.json",
    ),
    "types to trust for none": (
        ("compare", *SUBJECT, "--model", "next.json", *QUESTION, "--trust", "a.b"),
        "--trust has no effect on any of",
    ),
    "a state for a file": (("evaluate", *SUBJECT, *QUESTION, "--state", "w.pt"), "--state has no effect on model.json"),
    "a state of no model": (
        ("compare", "--model", "a=x:f", *SUBJECT, *QUESTION, "--state", "b=w.pt"),
        "--state b=w.pt is of no model",
    ),
    "a threshold beside thresholds": (
        ("curve", *SUBJECT, "--risks", "0.3,0.4", "--risk", "0.4"),
        "--risk has no meaning with --risks",
    ),
    "a price along the dial": (
        ("curve", *SUBJECT, "--mixes", "0,1", "--risk", "0.4", "--theta1", "1"),
        "--theta1 has no meaning with --mixes",
    ),
    "a dial without threshold": (("curve", *SUBJECT, "--mixes", "0,1"), "--mixes needs --risk"),
    "nothing to sweep": (
        ("curve", *SUBJECT, "--risk", "0.4"),
        "a curve is over one of --risks, --mixes, --theta1 and --theta2",
    ),
    "two things to sweep": (
        ("curve", *SUBJECT, "--risks", "0.3,0.4", "--theta1", "1,2", "--theta2", "1"),
        "it is given --risks and --theta1",
    ),
    "prices without threshold": (("curve", *SUBJECT, "--theta1", "1,2", "--theta2", "1"), "--theta1 needs --risk"),
    "groups of a model": (("curve", *SUBJECT, "--risks", "0.3,0.4", "--by", "ward"), "--by has no meaning with --model"),
    "a model and a table": (("compare", *SUBJECT, "--table", "eval.csv", *QUESTION), "not allowed with argument --model"),
    "words to sweep": (("curve", *SUBJECT, "--risks", "low,high"), "'low' is not a number"),
    "an empty list": (("curve", *SUBJECT, "--risks", "0.3,,0.4"), "must be words between commas"),
    "a report as a picture": (("evaluate", *SUBJECT, *QUESTION, "--report", "page.pdf"), "a report ends in .html, .md, .json"),
    "a report to be printed": (("report", *SUBJECT, *QUESTION, "--report", "-"), "only --json can be printed"),
    "one file for two": (
        ("evaluate", *SUBJECT, *QUESTION, "--report", "a.json", "--json", "a.json"),
        "--json and --report are both",
    ),
    "labels of another model": (("evaluate", *SUBJECT, *QUESTION, "--classes", "a,b"), "names its classes itself"),
    "other columns to compare": (("compare", *SUBJECT, "--model", "other.json", *QUESTION), "takes other columns than 'model'"),
    "a report and none": (("demo", "--report", "a.md", "--no-report"), "exclude each other"),
    "an unknown shell": (("completion", "tcsh"), "tcsh"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_option_that_makes_no_sense_is_a_sentence(name: str, place: Path, cli: Command) -> None:
    (place / "other.json").write_text(json.dumps({**MODEL, "features": ["dose", "age"]}), encoding="utf-8")
    arguments, part = BAD[name]
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("tippingpoint: ")
    assert err.count("\n") == 1
    assert part in err


def test_output_that_nobody_reads_any_more_is_no_error(place: Path) -> None:
    import subprocess

    from commands import COMMAND

    many = ",".join(f"{risk:.4f}" for risk in np.linspace(0.3, 0.5, 1500))
    line = f"{COMMAND} curve --model model.json --data eval.csv --target y --risks {many} | head -1"
    done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False)  # noqa: S607
    assert done.stdout.split()[0] == "risk"
    assert not done.stderr


def test_every_command_is_listed(place: Path) -> None:
    listed = run("--help", cwd=place).stdout
    for command in (
        "demo",
        "evaluate",
        "features",
        "compare",
        "curve",
        "report",
        "reproduce",
        "completion",
        "doctor",
        "schema",
    ):
        assert re.search(rf"^    {command}\s", listed, re.MULTILINE)
