"""Options in a TOML file: the same as on the command line, which takes precedence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command, run

ALL = """
model = "model.json"
data = "eval.csv"
target = "y"
weight = "heft"
loss = "logistic"
risk = 1.1
mix = 0.3
divergence = "chi2"
scale = "std"
frozen = ["dose"]
json = "-"
fail_below = 1e-9
"""


def test_a_file_says_what_options_say(place: Path, cli: Command) -> None:
    (place / "all.toml").write_text(ALL, encoding="utf-8")
    options = (
        *("--model", "model.json", "--data", "eval.csv", "--target", "y", "--weight", "heft", "--loss", "logistic"),
        *("--risk", "1.1", "--mix", "0.3", "--divergence", "chi2", "--scale", "std", "--frozen", "dose", "--json", "-"),
        *("--fail-below", "1e-9"),
    )
    configured = cli("evaluate", "--config", "all.toml")
    assert configured == cli("evaluate", *options)
    assert configured[0] == 0
    assert json.loads(configured[1])["divergence"] == "chi2"


def test_the_installed_command_reads_it_and_a_failing_gate_in_it_is_code_1(place: Path) -> None:
    (place / "run.toml").write_text((place / "run.toml").read_text() + "fail-below = 1e9\nquiet = true\n", encoding="utf-8")
    done = run("evaluate", "--config", "run.toml", cwd=place)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gate: failed")


@pytest.mark.parametrize(
    ("written", "options", "found"),
    [
        ("", ("--risk", "0.55"), {"risk": 0.55}),
        ("mix = 0.2", ("--mix", "0.8"), {"theta1": 0.25}),
        ("mix = 0.2\nbudget = 2", ("--theta1", "3", "--theta2", "4"), {"theta1": 3.0, "theta2": 4.0}),
        ("theta1 = 3\ntheta2 = 4", ("--mix", "0.5"), {"theta1": 0.4, "theta2": 0.4}),
        ("mix = 0.5\nbudget = 2", ("--mix", "0.25"), {"theta1": 2.0}),
        ("theta1 = inf\ntheta2 = 1", (), {"theta1": "inf", "theta2": 1.0}),
    ],
)
def test_the_command_line_takes_precedence(
    written: str, options: tuple[str, ...], found: dict[str, object], place: Path, cli: Command
) -> None:
    (place / "run.toml").write_text((place / "run.toml").read_text() + written, encoding="utf-8")
    code, out, err = cli("evaluate", "--config", "run.toml", *options, "--json", "-")
    assert (code, err) == (0, "")
    stored = json.loads(out)
    assert {name: stored[name] for name in found} == found


def test_a_list_on_the_command_line_replaces_the_files(place: Path, cli: Command) -> None:
    (place / "run.toml").write_text((place / "run.toml").read_text() + 'frozen = ["age"]\n', encoding="utf-8")
    only_dose = cli("evaluate", "--config", "run.toml", "--frozen", "dose", "--json", "-")
    (place / "run.toml").write_text('model = "model.json"\ndata = "eval.csv"\ntarget = "y"\nrisk = 0.4\n', encoding="utf-8")
    assert only_dose == cli("evaluate", "--config=run.toml", "--frozen=dose", "--json", "-")


def test_another_model_on_the_command_line_replaces_the_files(cli: Command) -> None:
    replaced = cli("evaluate", "--config", "run.toml", "--model", "next.json")
    assert replaced[0] == 0
    assert replaced != cli("evaluate", "--config", "run.toml")
    assert replaced == cli("evaluate", "--config", "run.toml", "--linear", "next.json")


def test_thresholds_on_the_command_line_replace_the_one_of_the_file(cli: Command) -> None:
    code, out, _ = cli("curve", "--config", "run.toml", "--risks", "0.3,0.5", "--json", "-")
    assert code == 0
    assert json.loads(out)["at"] == [0.3, 0.5]


def test_models_and_a_space_may_be_tables_of_the_file(place: Path, cli: Command) -> None:
    (place / "both.toml").write_text(
        'data = "eval.csv"\ntarget = "y"\nrisk = 0.4\n'
        '[model]\nnow = "model.json"\nlater = "next.json"\n[space]\nfrozen = ["dose"]\n',
        encoding="utf-8",
    )
    configured = cli("compare", "--config", "both.toml", "--json", "-")
    options = ("--data", "eval.csv", "--target", "y", "--risk", "0.4", "--frozen", "dose", "--json", "-")
    assert configured == cli("compare", "--model", "now=model.json", "--model", "later=next.json", *options)
    assert list(json.loads(configured[1])["results"]) == ["now", "later"]
    (place / "free.toml").write_text("", encoding="utf-8")
    free = cli("compare", "--config", "both.toml", "--space", "free.toml", "--json", "-")
    assert free[0] == 0
    assert free != configured, "a space on the command line takes the place of the table"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("rsk = 0.4", ("'rsk'", "perhaps 'risk' is meant")),
        ("zzz = 1", ("'zzz'", "they are table, linear, model")),
        ("config = 'x.toml'", ("'config'", "no option")),
        ("quiet = 'yes'", ("quiet = 'yes' must be true or false",)),
        ("risk = true", ("risk = True must be text or a number",)),
        ("risk = 'much'", ("--risk", "'much' is not a number")),
        ("risk", ("run.toml is not TOML",)),
        ("scale = 'minmax'", ("--scale", "'minmax'")),
    ],
)
def test_a_file_that_makes_no_sense_is_a_sentence(text: str, parts: tuple[str, ...], place: Path, cli: Command) -> None:
    (place / "run.toml").write_text(text, encoding="utf-8")
    code, out, err = cli("evaluate", "--config", "run.toml", "--model", "model.json", "--data", "eval.csv", "--target", "y")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_a_file_that_is_not_there_is_a_sentence(cli: Command) -> None:
    assert cli("evaluate", "--config", "gone.toml") == (
        2,
        "",
        "tippingpoint: gone.toml: No such file or directory; check the path.\n",
    )
