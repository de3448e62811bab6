"""Bad commands: one clear sentence, exit code 2, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from commands import Command

FILES = {
    "runs.csv": "sample,loss,cost,w\na,0,0,1\na,1,1,1\nb,0.5,0,2\n",
    "negative.csv": "sample,loss,cost\na,0,0\na,1,-2\n",
    "orphan.csv": "sample,loss,cost\na,0,0\nb,1,2\n",
    "nan.csv": "sample,loss,cost\na,,0\na,,2\n",
    "twice.csv": "sample,variant,loss,cost\na,x,0,0\na,y,1,2\n\na,y,1,2\n",
    "uneven.csv": "sample,variant,run,loss,cost\na,x,1,0,0\na,y,1,1,2\na,y,2,1,3\n",
    "originals.csv": "sample,variant,loss,cost\na,x,0,0\na,y,1,0\n",
    "documents.csv": "sample,doc,loss,cost\na,p,0,0\na,q,1,1\n",
    "weights.csv": "sample,loss,cost,w\na,0,0,-1\nb,1,0,1\n",
    "header.csv": "sample,loss,cost\n",
    "nothing.csv": "",
    "ragged.csv": "sample,loss,cost\na,0,0\nb,1,2,3,4\n",
    "broken.parquet": "PAR?",
    "eval.csv": "age,dose,y,w\n1,2,no,1\n2,1,yes,1\n3,5,no,0\n4,1,yes,2\n",
    "gap.csv": "age,dose,y\n1,,no\n2,1,yes\n",
    "one.csv": "age,dose,y\n1,2,no\n2,1,no\n",
    "words.csv": "age,dose,y\n1,high,no\n2,low,yes\n",
    "model.json": json.dumps({"coef": [0.5, -0.2], "intercept": -0.1, "features": ["age", "dose"], "classes": ["no", "yes"]}),
    "nameless.json": json.dumps({"coef": [0.5, -0.2], "intercept": -0.1, "features": ["age", "dose"]}),
    "broken.json": "{",
    "list.json": "[1, 2]",
    "typo.json": json.dumps({"coef": [1, 2], "bias": 3}),
    "ragged.json": json.dumps({"coef": [[1, 2], [1]]}),
    "null.json": json.dumps({"coef": [1, None]}),
    "features.json": json.dumps({"coef": [1, 2], "features": ["age", "size"]}),
    "twice.json": json.dumps({"coef": [1, 2], "features": ["age", "age"]}),
    "nested.json": json.dumps({"coef": [1, 2], "features": [["age"], ["dose"]]}),
    "classes.json": json.dumps({"coef": [1, 2], "features": ["age", "dose"], "classes": 5}),
    "maybe.json": json.dumps({"coef": [1, 2], "features": ["age", "dose"], "classes": ["no", "maybe"]}),
}
TABLE = ("--table", "runs.csv")
LINEAR = ("--linear", "model.json", "--data", "eval.csv", "--target", "y")
RISK = ("--risk", "0.6")


def linear(model: str = "model.json", data: str = "eval.csv", target: str = "y") -> tuple[str, ...]:
    return ("--linear", model, "--data", data, "--target", target, *RISK)


EMPTY_PATHS = {
    "--data": ("evaluate", "--model", "model.json", "--data", "", "--target", "y", *RISK),
    "--data of several": ("evaluate", "--model", "model.json", "--data", "eval.csv", "", "--target", "y", *RISK),
    "--model": ("evaluate", "--model", "", "--data", "eval.csv", "--target", "y", *RISK),
    "--model of a name": ("compare", "--model", "a=", "--data", "eval.csv", "--target", "y", *RISK),
    "--table": ("evaluate", "--table", "", *RISK),
    "--config": ("evaluate", "--config", "", *RISK),
    "--space": ("evaluate", *LINEAR, *RISK, "--space", ""),
    "--json": ("evaluate", *LINEAR, *RISK, "--json="),
    "--reference": ("drift", "--model", "model.json", "--reference", "", "--current", "eval.csv", "--target", "y", *RISK),
    "--current": ("drift", "--model", "model.json", "--reference", "eval.csv", "--current", "x=", "--target", "y", *RISK),
    "logs": ("runs", ""),
}


@pytest.mark.parametrize("case", EMPTY_PATHS)
def test_an_empty_path_is_not_the_current_directory(case: str, place: Path, cli: Command) -> None:
    for name, text in FILES.items():
        (place / name).write_text(text, encoding="utf-8")
    code, out, err = cli(*EMPTY_PATHS[case])
    assert (code, out) == (2, "")
    assert err.startswith(f"tippingpoint: {case.partition(' ')[0]} ")
    assert err.endswith("is an empty path. Name a file, or leave the option out.\n")


COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "no such table": (("--table", "gone.csv", *RISK), ("gone.csv", "No such file", "check the path")),
    "a directory as table": (("--table", ".", *RISK), ("is a directory; give a file",)),
    "an empty file": (("--table", "nothing.csv", *RISK), ("nothing.csv cannot be read as CSV", "check the file")),
    "a header only": (("--table", "header.csv", *RISK), ("the table is empty",)),
    "lines of different lengths": (("--table", "ragged.csv", *RISK), ("ragged.csv cannot be read as CSV", "line 3")),
    "a Parquet file that is none": (("--table", "broken.parquet", *RISK), ("broken.parquet cannot be read as Parquet",)),
    "a negative cost": (("--table", "negative.csv", *RISK), ("negative.csv, line ", "] is -2 for sample 'a'")),
    "no original": (
        ("--table", "orphan.csv", *RISK),
        ("orphan.csv, line 3: table['cost'][1] is 2: sample 'b' has no line of cost 0", "with cost 0"),
    ),
    "two originals": (
        ("--table", "originals.csv", *RISK),
        ("originals.csv, lines 2, 3: sample 'a' has several lines of cost 0 with different losses", "keep the original"),
    ),
    "losses that are all missing": (("--table", "nan.csv", *RISK), ("every loss is missing",)),
    "an alternative twice": (
        ("--table", "twice.csv", *RISK),
        ("twice.csv, lines 3, 5: the alternative 'y' of sample 'a' stands on two lines", "--repeat run"),
    ),
    "runs of different costs": (
        ("--table", "uneven.csv", "--repeat", "run", *RISK),
        ("uneven.csv, line 4: table['cost'][2] is 3, and 2 in another run of the alternative 'y'",),
    ),
    "runs of no alternative": ((*TABLE, "--repeat", "w", *RISK), ("repeat='w' counts runs", "--variant wording")),
    "a sample in two groups": (
        ("--table", "documents.csv", "--group", "doc", *RISK),
        ("documents.csv, line 3: table['doc'][1]: sample 'a' is in another group",),
    ),
    "an unknown group": ((*TABLE, "--group", "doc", *RISK), ("no column 'doc' for the group of samples",)),
    "an unknown rule": ((*TABLE, "--missing", "skip", *RISK), ("missing='skip' must be 'bounds'",)),
    "runs of a model": ((*LINEAR, "--repeat", "run", *RISK), ("--repeat", "leave it out")),
    "missing outcomes of a model": ((*LINEAR, "--missing", "drop", *RISK), ("--missing", "leave it out")),
    "a negative weight": (("--table", "weights.csv", "--weight", "w", *RISK), ("weights.csv, line ", "] is -1 for sample 'a'")),
    "an unknown weight": ((*TABLE, "--weight", "heft", *RISK), ("no column 'heft' for the weight",)),
    "an unknown cost": ((*TABLE, "--cost-column", "price", *RISK), ("no column 'price' for the cost",)),
    "a loss for a table": ((*TABLE, "--loss", "hinge", *RISK), ("--loss has no meaning with --table", "leave it out")),
    "data for a table": ((*TABLE, "--data", "eval.csv", *RISK), ("--data has no meaning with --table",)),
    "a loss column for a model": ((*linear(), "--loss-column", "l"), ("--loss-column has no meaning with --linear",)),
    "no such model": (linear(model="gone.json"), ("gone.json", "No such file")),
    "a model that is not JSON": (linear(model="broken.json"), ("broken.json is not JSON", '{"coef": [...]')),
    "a model without coefficients": (linear(model="list.json"), ('list.json has no "coef"',)),
    "a model with an unknown key": (linear(model="typo.json"), ("'bias', which is not known", "intercept")),
    "a model with ragged coefficients": (linear(model="ragged.json"), ("coef and intercept must be numbers",)),
    "a model with a missing coefficient": (linear(model="null.json"), ("coef and intercept must be finite",)),
    "a model of unknown features": (linear(model="features.json"), ("eval.csv has no column 'size'", "'age', 'dose'")),
    "a model of one feature twice": (linear(model="twice.json"), ('"features" must list 2 different names',)),
    "a model of lists of features": (linear(model="nested.json"), ('"features" must list 2 different names',)),
    "a model with a number of classes": (linear(model="classes.json"), ("classes=5 must list the labels",)),
    "a label the model never saw": (linear(model="maybe.json"), ("y holds the label 'yes'", "['no', 'maybe']")),
    "no such data": (linear(data="gone.csv"), ("gone.csv", "No such file")),
    "a gap in the data": (linear(data="gap.csv"), ("X[0, 'dose'] is missing",)),
    "words in the data": (linear(data="words.csv"), ("X['dose']", "String")),
    "one class only": (linear(model="nameless.json", data="one.csv"), ("y holds one class only, 'no'", "--classes 0,1")),
    "an unknown target": (linear(target="label"), ("eval.csv has no column 'label'", "'y'")),
    "no target": (("--linear", "model.json", "--data", "eval.csv", *RISK), ("--linear needs --target", "--help")),
    "no data": (("--linear", "model.json", "--target", "y", *RISK), ("--linear needs --data", "--help")),
    "an unknown frozen feature": ((*linear(), "--frozen", "sex"), ("frozen names 'sex'", "'age', 'dose'")),
    "an unknown loss": ((*linear(), "--loss", "l2"), ("loss='l2' is not known",)),
    "an unknown scale": ((*linear(), "--scale", "minmax"), ("--scale", "'minmax'", "--help")),
    "a risk of words": ((*TABLE, "--risk", "much"), ("--risk", "'much' is not a number", "--help")),
    "a risk of NaN": ((*TABLE, "--risk", "nan"), ("risk=nan must be a number",)),
    "a risk in percent": ((*LINEAR, "--risk", "40"), ("risk=40.0 is outside [0, 1]", "write 0.4")),
    "no risk": (TABLE, ("--risk", "required", "--help")),
    "nothing to evaluate": (RISK, ("--table", "--linear", "required")),
    "both a table and a model": ((*TABLE, "--linear", "model.json", *RISK), ("--linear", "not allowed with", "--table")),
    "theta1 of zero": ((*TABLE, *RISK, "--theta1", "0", "--theta2", "1"), ("theta1=0 must be positive",)),
    "a negative theta2": ((*TABLE, *RISK, "--theta1", "1", "--theta2", "-1"), ("theta2=-1 must be positive",)),
    "both thetas infinite": ((*TABLE, *RISK, "--theta1", "inf", "--theta2", "inf"), ("both infinite", "one of them finite")),
    "theta2 missing": ((*TABLE, *RISK, "--theta1", "1"), ("theta2 is missing",)),
    "mix above one": ((*TABLE, *RISK, "--mix", "1.5"), ("mix=1.5 must lie in [0, 1]",)),
    "a budget beside thetas": (
        (*TABLE, *RISK, "--theta1", "1", "--theta2", "1", "--budget", "5"),
        ("budget=5.0 belongs to mix",),
    ),
    "an unknown divergence": ((*TABLE, *RISK, "--divergence", "tv"), ("divergence='tv' is not known",)),
    "an unknown option": ((*TABLE, *RISK, "--frobnicate"), ("--frobnicate", "--help")),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with all the files, and in it."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_bad_command_ends_with_code_2_and_one_sentence_and_writes_nothing(name: str, place: Path, cli: Command) -> None:
    arguments, parts = COMMANDS[name]
    if "Parquet" in name:
        pytest.importorskip("pyarrow")
    code, out, err = cli("evaluate", *arguments, "--json", "out.json", "--sensitive", "out.csv")
    assert code == 2
    assert not out
    assert err.startswith("tippingpoint: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for part in parts:
        assert part in err
    assert {file.name for file in place.iterdir()} == set(FILES)


@pytest.mark.parametrize("arguments", [(), ("frobnicate",), ("demo", "--seed", "x")], ids=["none", "unknown", "bad option"])
def test_a_command_that_is_none_ends_with_code_2_and_one_sentence(arguments: tuple[str, ...], cli: Command) -> None:
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("tippingpoint: ")
    assert err.count("\n") == 1
    assert "--help" in err


@pytest.mark.parametrize(
    ("outputs", "part"),
    [
        (("--sensitive", "out.csv", "--json", "gone/out.json"), "gone/out.json cannot be written: No such file"),
        (("--json", "out.json", "--sensitive", "gone/out.csv"), "gone/out.csv cannot be written: No such file"),
        (("--sensitive", "out.csv", "--json", "."), "'.' is not a file"),
        (("--sensitive", "out.csv", "--json", "/dev/null"), "'/dev/null' is not a file"),
        (("--sensitive", "out", "--json", "out"), "--json and --sensitive are both 'out'"),
    ],
)
def test_of_two_files_neither_is_written_where_one_cannot_be(
    outputs: tuple[str, ...], part: str, place: Path, cli: Command
) -> None:
    code, out, err = cli("evaluate", *TABLE, *RISK, *outputs)
    assert (code, out) == (2, "")
    assert part in err
    assert err.count("\n") == 1
    assert {file.name for file in place.iterdir()} == set(FILES)


def test_a_file_that_was_there_survives_a_command_that_fails(place: Path, cli: Command) -> None:
    (place / "out.json").write_text("precious", encoding="utf-8")
    assert cli("evaluate", "--table", "orphan.csv", *RISK, "--json", "out.json")[0] == 2
    assert (place / "out.json").read_text(encoding="utf-8") == "precious"


def test_debug_shows_where_an_error_comes_from(place: Path, cli: Command) -> None:
    code, _, shown = cli("--debug", "evaluate", "--table", "orphan.csv", *RISK)
    assert code == 2
    assert "profile_table" in shown
    assert "no line of cost 0" in shown.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    {
        "Q* to be printed": ((*TABLE, *RISK, "--sensitive", "-"), ("--sensitive -", "give a file")),
        "one file for two": ((*TABLE, *RISK, "--json", "./a", "--sensitive", "a"), ("--json and --sensitive are both",)),
    }.values(),
)
def test_a_file_that_would_be_lost_is_refused(
    arguments: tuple[str, ...], parts: tuple[str, ...], place: Path, cli: Command
) -> None:
    before = sorted(place.iterdir())
    code, out, err = cli("evaluate", *arguments)
    assert (code, out) == (2, "")
    assert all(part in err for part in parts)
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("roles", [("--target", "a"), ("--target", "y", "--weight", "y"), ("--target", "y", "--weight", "b")])
def test_a_column_has_one_role_only(roles: tuple[str, ...], place: Path, cli: Command) -> None:
    (place / "twice.json").write_text('{"coef": [1, 1], "features": ["a", "b"]}', encoding="utf-8")
    (place / "twice.csv").write_text("a,b,y\n1,2,0\n2,1,1\n", encoding="utf-8")
    code, out, err = cli("evaluate", "--linear", "twice.json", "--data", "twice.csv", *roles, *RISK)
    assert (code, out) == (2, "")
    assert "is used twice" in err


def test_a_seed_is_a_whole_number(cli: Command) -> None:
    code, _, err = cli("demo", "--seed", "-1")
    assert code == 2
    assert "whole number" in err


SCORED = ("evaluate", "--linear", "model.json", "--data", "odd.parquet", "--target", "y", *RISK)
ODD_COLUMNS: dict[str, tuple[dict[str, list[object]], str]] = {
    "nothing in a column": ({"dose": [None] * 4}, "X[0, 'dose'] is missing: every value must be finite"),
    "a column of lists": ({"dose": [[1.0]] * 4}, "X['dose'] holds values that are no categories"),
    "a column of structures": ({"dose": [{"u": 1}] * 4}, "X['dose'] holds values that are no categories"),
    "labels that are structures": ({"y": [{"u": 1}, {"u": 0}] * 2}, "y[0]={'u': 1} is not a label"),
    "labels that are lists": ({"y": [[1], [0]] * 2}, "y[0]=array([1]) is not a label"),
    "labels that are lists of several lengths": ({"y": [[1], [0, 2]] * 2}, "is not a label"),
    "no labels": ({"y": [None] * 4}, "y[0]=None: every label must be known"),
}


@pytest.mark.parametrize("more", [(), ("--memory", "1 GB")], ids=["whole", "in parts"])
@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_columns_of_parquet_that_hold_no_values_are_a_sentence(
    name: str, more: tuple[str, ...], place: Path, cli: Command
) -> None:
    pytest.importorskip("pyarrow")
    columns, part = ODD_COLUMNS[name]
    data = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "dose": [2.0, 1.0, 5.0, 1.0], "y": ["no", "yes", "no", "yes"]})
    data.assign(**{column: pd.Series(values, dtype=object) for column, values in columns.items()}).to_parquet("odd.parquet")
    code, out, err = cli(*SCORED, *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part.replace("X[0,", "X[row 0 of row group 0 of odd.parquet,") in err if more and "X[0," in part else part in err


HUGE, LONG = "9" * 400, "q" * 100_000
OVERLONG = ("q" * 60, "100,000 letters")


@pytest.mark.parametrize(
    ("files", "words", "parts"),
    [
        ({"model.json": f'{{"coef": [{HUGE}, 1]}}'}, (), ("coef or intercept holds a number above 1.8e308",)),
        ({"model.json": f'{{"coef": [2, 1], "intercept": -{HUGE}}}'}, (), ("coef or intercept holds a number above 1.8e308",)),
        ({"space.toml": f"[lower]\nage = {HUGE}"}, ("--space", "space.toml"), ("lower['age']=999", "above 1.8e308")),
        ({"space.toml": f"price = {{age = {HUGE}}}"}, ("--space", "space.toml"), ("price['age']=999", "above 1.8e308")),
        ({"model.json": f'{{"coef": [1, 2], "features": ["age", "{LONG}"]}}'}, (), ("eval.csv has no column", *OVERLONG)),
        ({"space.toml": f'frozen = ["{LONG}"]'}, ("--space", "space.toml"), ("frozen names", *OVERLONG)),
        ({"space.toml": f"{LONG} = 1"}, ("--space", "space.toml"), ("space.toml has", *OVERLONG)),
        ({"eval.csv": f"age,{LONG},y\n1,2,no\n2,1,yes\n"}, (), ("eval.csv has no column 'dose'", *OVERLONG)),
        ({"eval.csv": f"age,dose,y\n1,{LONG},no\n2,z,yes\n"}, (), ("X['dose'] holds categories", *OVERLONG)),
        ({}, ("--frozen", LONG), ("frozen names", *OVERLONG)),
    ],
)
def test_numbers_and_names_that_are_too_large_are_a_short_sentence(
    files: dict[str, str], words: tuple[str, ...], parts: tuple[str, ...], place: Path, cli: Command
) -> None:
    for name, text in files.items():
        (place / name).write_text(text, encoding="utf-8")
    code, out, err = cli("evaluate", "--linear", "model.json", "--data", "eval.csv", "--target", "y", *RISK, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) < 1000
    for part in parts:
        assert part in err


def test_overlong_names_are_cut_off_in_what_is_printed(place: Path, cli: Command) -> None:
    (place / "model.json").write_text(json.dumps({"coef": [0.5, -0.2], "features": ["age", LONG]}), encoding="utf-8")
    (place / "eval.csv").write_text(f"age,{LONG},y\n1,2,no\n2,1,yes\n3,5,no\n4,1,yes\n", encoding="utf-8")
    words = ("--model", "model.json", "--data", "eval.csv", "--target", "y", *RISK)
    code, out, _ = cli("features", *words)
    assert (code, len(out) < 4000, "100,000 letters" in out) == (0, True, True)
    spaced = LONG.replace("qq", "q ")
    copied = json.loads((place / "model.json").read_text(encoding="utf-8"))
    (place / "model.json").write_text(json.dumps({**copied, "features": ["age", spaced]}), encoding="utf-8")
    (place / "eval.csv").write_text((place / "eval.csv").read_text(encoding="utf-8").replace(LONG, spaced), encoding="utf-8")
    code, out, _ = cli("features", *words)
    assert (code, len(out) < 4000) == (0, True)
    code, out, _ = cli("features", *words, "--json", "-")
    assert spaced in {each["feature"] for each in json.loads(out)["features"]}
