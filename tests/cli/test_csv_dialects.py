"""CSV files as people have them: separators, decimal commas, encodings, and lines as an editor numbers them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command, patients
from tippingpoint.cli.dialects import separator

QUESTION = ("--model", "model.json", "--target", "y", "--risk", "0.4", "--json", "-")

WRITTEN: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "commas": ({}, (), ""),
    "semicolons": ({"sep": ";"}, (), "--sep ';'"),
    "tabs": ({"sep": "\t"}, (), "--sep tab"),
    "semicolons and decimal commas": ({"sep": ";", "decimal": ","}, (), "--sep ';' --decimal ','"),
    "bars, by option": ({"sep": "|"}, ("--sep", "|"), ""),
    "semicolons, by option": ({"sep": ";", "decimal": ","}, ("--sep", ";", "--decimal", ","), ""),
    "tabs, by name": ({"sep": "\t"}, ("--sep", "tab"), ""),
    "a spreadsheet's bytes": ({"encoding": "utf-16", "sep": "\t"}, (), "--sep tab"),
    "a spreadsheet's mark": ({"encoding": "utf-8-sig", "sep": ";"}, (), "--sep ';'"),
    "an old encoding, by option": ({"encoding": "latin-1"}, ("--encoding", "latin-1"), ""),
    "an encoding without a mark, by option": ({"encoding": "utf-16-le", "sep": ";"}, ("--encoding", "utf-16-le"), "--sep ';'"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_data_give_the_same_however_they_are_written(name: str, place: Path, cli: Command) -> None:
    writing, options, recognised = WRITTEN[name]
    expected = cli("evaluate", "--data", "eval.csv", *QUESTION)
    patients().assign(ward="Größe").to_csv(place / "theirs.csv", index=False, **writing)  # type: ignore[call-overload]
    code, out, err = cli("evaluate", "--data", "theirs.csv", *QUESTION, *options)
    assert (code, out) == (0, expected[1])
    assert err == (f"tippingpoint: theirs.csv is read with {recognised}, as it seems to be written.\n" if recognised else "")


def test_what_is_recognised_is_not_said_where_nobody_wants_to_hear(place: Path, cli: Command) -> None:
    patients().to_csv(place / "theirs.csv", index=False, sep=";")
    assert cli("evaluate", "--data", "theirs.csv", *QUESTION, "--quiet")[2] == ""


def test_packed_files_and_configurations_too(place: Path, cli: Command) -> None:
    patients().to_csv(place / "theirs.csv.gz", index=False, sep=";", decimal=",")
    (place / "their.toml").write_text(
        'data = "theirs.csv.gz"\nsep = ";"\ndecimal = ","\nencoding = "utf-8"\n', encoding="utf-8"
    )
    code, out, err = cli("evaluate", "--config", "their.toml", *QUESTION)
    assert (code, err) == (0, "")
    assert out == cli("evaluate", "--data", "eval.csv", *QUESTION)[1]


@pytest.mark.parametrize(
    ("text", "sep"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a\n1\n2\n", ","),
        ("a;b\n0,5;1,5\n", ";"),
        ('a,"b;c"\n1,2\n', ","),
        ("a;b, in kg;c\n1;2;3\n", ";"),
        ("a,b;c\n1,2;3\n4,5\n", ","),
        ("a,b;c\n1,2;3\n", ","),
        ('id;text\n1;"hello, you\nand; you"\n2;x\n', ";"),
        ("", ","),
    ],
)
def test_the_separator_is_what_divides_unless_several_do(text: str, sep: str) -> None:
    assert separator(text) == sep


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0,5", "1", "2,25"], True),
        (["1,234", "5,678", "9"], False),  # could be thousands
        (["0,5", "x", "1"], False),
        (["1,234", "0,5", "2"], True),
    ],
)
def test_decimal_commas_are_read_only_where_they_are_clear(cells: list[str], numbers: bool, place: Path, cli: Command) -> None:  # noqa: FBT001
    lines = [f"{sample};{cost};1" for sample, cost in zip("abc", cells, strict=True)]
    originals = [f"{sample};0;0" for sample in "abc"]
    (place / "runs.csv").write_text("\n".join(["sample;cost;loss", *originals, *lines]), encoding="utf-8")
    code, _, err = cli("evaluate", "--table", "runs.csv", "--risk", "0.5")
    assert (code == 0) == numbers, err
    assert numbers == ("--decimal ','" in err.partition("\n")[0])
    if not numbers and "x" not in cells:
        assert "If it has decimal commas, say --decimal ','." in err
        assert cli("evaluate", "--table", "runs.csv", "--risk", "0.5", "--decimal", ",")[0] == 0


LINES = """sample,cost,loss,text

q1,0,0,"a question
on two lines"

q1,1,1,short
q2,0,0,short
q2,{},1,short
"""


@pytest.mark.parametrize(("cell", "part"), [("-1", "is -1"), ("", "nan"), ("much", "'much' in table['cost'][3]")])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_errors_name_the_line_that_an_editor_shows(cell: str, part: str, suffix: str, place: Path, cli: Command) -> None:
    path = place / f"runs.csv{suffix}"
    path.write_bytes(LINES.format(cell).encode() if not suffix else gzip.compress(LINES.format(cell).encode()))
    code, _, err = cli("evaluate", "--table", path.name, "--risk", "0.5")
    assert code == 2
    assert err.startswith(f"tippingpoint: {path.name}, line 8: table")
    assert part in err
    assert LINES.splitlines()[7] == "q2,{},1,short", "which is where it stands"


def test_errors_about_data_do_too(place: Path, cli: Command) -> None:
    lines = (place / "eval.csv").read_text(encoding="utf-8").splitlines()
    for line, column, part in ((5, 0, "X[3, 'age']"), (7, 3, "y[5]")):
        cells = lines[line - 1].split(",")
        changed = [*lines[: line - 1], ",".join("" if k == column else cell for k, cell in enumerate(cells)), *lines[line:]]
        (place / "gap.csv").write_text("\n".join(changed), encoding="utf-8")
        for command in ("evaluate", "features"):
            code, _, err = cli(command, "--data", "gap.csv", *QUESTION)
            assert code == 2
            assert err.startswith(f"tippingpoint: gap.csv, line {line}: {part}")


def test_a_command_whose_data_are_no_file_is_not_asked_for_lines(cli: Command) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    code, _, err = cli("reproduce", "income", "--data", "nowhere", "--out", "out")
    assert (code, "nowhere" in err, "please report" in err) == (2, True, False)


def test_two_originals_that_disagree_are_both_named(place: Path, cli: Command) -> None:
    (place / "runs.csv").write_text("sample,cost,loss\na,0,0\nb,0,0\na,0,1\n", encoding="utf-8")
    code, _, err = cli("evaluate", "--table", "runs.csv", "--risk", "0.5")
    assert (code, err.startswith("tippingpoint: runs.csv, lines 2, 4: sample 'a' has several lines of cost 0")) == (2, True)


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "two characters": (("--sep", ";;"), "';;' is not one character"),
    "a quote": (("--sep", '"'), "is not one character"),
    "a decimal of letters": (("--decimal", "x"), "--decimal"),
    "no encoding": (("--encoding", "klingon"), "'klingon' is no encoding of text; utf-8"),
    "an encoding that unpacks": (("--encoding", "zlib"), "'zlib' is no encoding of text"),
    "one comma for both": (("--sep", ",", "--decimal", ","), "--decimal , cannot also separate cells"),
    "another encoding": (("--data", "latin.csv"), "latin.csv is not written in utf-8; give its --encoding"),
    "an encoding that it is not in": (("--encoding", "utf-16"), "eval.csv is not written in utf-16; give its --encoding"),
    "of Parquet": (("--data", "eval.parquet", "--sep", ";"), "--sep is of CSV files, and eval.parquet is Parquet"),
    "more cells than names": (("--data", "trailing.csv"), "its lines hold more cells than its first line has names"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_a_sentence(name: str, place: Path, cli: Command) -> None:
    pytest.importorskip("pyarrow")
    patients().to_parquet(place / "eval.parquet")
    patients().assign(ward="Größe").to_csv(place / "latin.csv", index=False, encoding="latin-1")
    lines = (place / "eval.csv").read_text(encoding="utf-8").splitlines()
    (place / "trailing.csv").write_text("\n".join([lines[0], *(f"{line}," for line in lines[1:])]), encoding="utf-8")
    options, part = BAD[name]
    data = () if "--data" in options else ("--data", "eval.csv")
    code, out, err = cli("evaluate", *data, *QUESTION, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part in err


def runs() -> pd.DataFrame:
    """Two models, given the same questions in three wordings."""
    rng = np.random.default_rng(3)
    lines = [
        (f"q{i}", model, cost, int(rng.uniform() < hard * (1.0 + cost)))
        for i in range(60)
        for model, hard in (("small", 0.25), ("large", 0.1))
        for cost in (0.0, 0.5, 1.0)
    ]
    return pd.DataFrame(lines, columns=["sample", "model", "cost", "loss"])


@pytest.fixture
def table(place: Path) -> pd.DataFrame:
    runs().to_csv(place / "runs.csv", index=False)
    for name, lines in runs().groupby("model"):
        lines.sample(frac=1.0, random_state=1).to_csv(place / f"{name}.csv", index=False)
    return runs()


def test_compare_pairs_the_runs_of_one_table_and_the_files_of_several(table: pd.DataFrame, cli: Command) -> None:
    expected = tp.compare(tp.profile_table(table, by="model"), risk=0.5)
    assert cli("compare", "--table", "runs.csv", "--by", "model", "--risk", "0.5") == (0, f"{expected}\n", "")
    code, out, err = cli("compare", "--table", "small.csv", "--table", "large.csv", "--risk", "0.5", "--json", "-")
    stored = json.loads(out)
    assert (code, err, list(stored["results"])) == (0, "", ["small", "large"])
    (row,) = expected.differences().to_dict("records")
    assert stored["differences"][0]["difference"] == pytest.approx(row["difference"], rel=1e-9)
    assert stored["differences"][0]["standard_error"] == pytest.approx(row["standard_error"], rel=1e-9)


@pytest.mark.filterwarnings("default")  # as in a process of its own
def test_compare_gates_groups_and_names_what_is_missing(table: pd.DataFrame, place: Path, cli: Command) -> None:
    by = ("compare", "--table", "runs.csv", "--by", "model", "--risk", "0.5")
    code, _, err = cli(*by, "--fail-below", "1e9", "--gate-model", "large")
    assert (code, "of the model 'large'" in err) == (1, True)
    assert (
        "--gate-model huge is none of the models; they are small, large"
        in cli(*by, "--fail-below", "1", "--gate-model", "huge")[2]
    )
    table[(table["model"] == "small") | (table["sample"] != "q7")].to_csv(place / "runs.csv", index=False)
    code, out, err = cli(*by)
    assert (code, out) == (2, "")
    assert "'large' lacks 'q7'. Add what is missing, or compare on the 59 that all have: common=True (--common)" in err
    code, _, err = cli(*by, "--common")
    assert code == 0
    assert err.startswith("tippingpoint: warning: compared on the 59 of 60 samples that all tables have")


def test_a_forgotten_group_is_named_where_it_can_be_said(table: pd.DataFrame, cli: Command) -> None:
    for command in (("evaluate", "--risk", "0.5"), ("report", "--risk", "0.5"), ("curve", "--risks", "0.4,0.5")):
        code, _, err = cli(*command, "--table", "runs.csv")
        assert (code, "tippingpoint compare --by model" in err) == (2, True)
    code, _, err = cli("compare", "--table", "small.csv", "--risk", "0.5")
    assert (code, "--table small.csv is alone; say which column tells the runs in it apart, as --by model" in err) == (2, True)
    code, _, err = cli("compare", "--table", "small.csv", "--by", "model", "--risk", "0.5")
    assert (code, "all lines of small.csv have the same, 'small'" in err) == (2, True)


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_report_of_a_table_is_about_the_first_group_and_compares_the_others(
    suffix: str, table: pd.DataFrame, place: Path, cli: Command
) -> None:
    code, out, err = cli("report", "--table", "runs.csv", "--by", "model", "--risk", "0.5", "--report", f"page{suffix}")
    result = tp.profile_table(table, by="model")["small"].stability(0.5)
    assert (code, err, out.startswith(str(result))) == (0, "", True)
    page = (place / f"page{suffix}").read_text(encoding="utf-8")
    for part in ("runs.csv", "small", "large"):
        assert part in page
    assert cli("report", "--table", "small.csv", "--risk", "0.5", "--report", f"alone{suffix}")[0] == 0
    assert "small.csv" in (place / f"alone{suffix}").read_text(encoding="utf-8")


def test_curve_of_a_table_and_of_its_groups(table: pd.DataFrame, cli: Command) -> None:
    profiles = tp.profile_table(table, by="model")
    curves = {name: profile.curve([0.4, 0.5]) for name, profile in profiles.items()}
    code, out, _ = cli("curve", "--table", "runs.csv", "--by", "model", "--risks", "0.4,0.5")
    assert (code, out) == (0, "\n\n".join(f"{name}\n{curve}" for name, curve in curves.items()) + "\n")
    code, out, _ = cli("curve", "--table", "runs.csv", "--by", "model", "--risks", "0.4,0.5", "--json", "-")
    stored = json.loads(out)
    assert (stored["schema"], list(stored["sweeps"])) == ("tippingpoint.sweeps/1", ["small", "large"])
    assert stored["sweeps"]["large"]["results"] == [result.to_dict() for result in curves["large"]]
    code, out, _ = cli("curve", "--table", "small.csv", "--risks", "0.4,0.5", "--json", "-")
    assert (code, json.loads(out)["schema"]) == (0, "tippingpoint.sweep/1")


def test_curve_over_a_price(place: Path, cli: Command) -> None:
    subject = ("--model", "model.json", "--data", "eval.csv", "--target", "y", "--risk", "0.4")
    data = patients()
    model = json.loads((place / "model.json").read_text(encoding="utf-8"))
    linear = tp.LinearModel.of(model["coef"], model["intercept"], model["classes"], features=model["features"])
    profile = tp.profile(linear, data[["age", "dose"]], data["y"])
    curve = profile.curve(risk=0.4, theta1=[0.1, 1.0, 10.0], theta2=0.25)
    assert cli("curve", *subject, "--theta1", "0.1,1,10", "--theta2", "0.25") == (0, f"{curve}\n", "")
    code, out, _ = cli("curve", *subject, "--theta1", "0.5", "--theta2", "0.1,inf", "--json", "-")
    stored = json.loads(out)
    assert (code, stored["over"], stored["at"]) == (0, "theta2", [0.1, "inf"])
    assert stored["results"][1] == profile.stability(0.4, theta1=0.5, theta2=float("inf")).to_dict()
