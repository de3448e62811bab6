"""Names that try to do something: seen as they are in terminals, Markdown, HTML and CSV; exact in JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import MODEL, Command, patients, run
from tippingpoint.progress import progress_bar
from tippingpoint.report import render_json, render_markdown, render_page
from tippingpoint.visible import csv_text, is_hidden, spreadsheet_cell, visible

BAD = "\x1b[31mred\x07\u202eegap\u2066x\u200b\u2028y\r\x9b2J"
"""An escape sequence, a bell, an override and an isolate of direction, nothing, a separator, a return, and C1's escape."""

SHOWN = r"\x1b[31mred\x07\u202eegap\u2066x\u200b\u2028y\r\x9b2J"


def harmless(text: str) -> bool:
    return not any(is_hidden(letter) for letter in text if letter != "\n")


def people(names: list[str]) -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(80, len(names))), columns=names)
    coef = rng.normal(size=len(names))
    return x, np.where(x.to_numpy() @ coef + rng.normal(size=80) > 0.0, 1, -1), (coef, 0.1)


def test_everything_is_seen_and_what_was_seen_stays() -> None:
    assert visible(BAD) == SHOWN
    assert visible("a\0b\nc\ud800") == r"a\x00b\nc\ud800"
    assert visible("é ü 名前 שם 😀 θ1 → ∞ [red] C:\\x") == "é ü 名前 שם 😀 θ1 → ∞ [red] C:\\x"
    assert visible("a\n\tb\r", keep="\n\t") == "a\n\tb\\r"


def test_results_rankings_comparisons_and_advice_are_harmless() -> None:
    x, y, model = people([BAD, "plain"])
    ranked = tp.feature_stability(model, x, y, 0.5)
    compared = tp.compare({BAD: model, "b\nb": (model[0][::-1], 0.0)}, x, y, 0.5)
    for text in (str(ranked), repr(ranked), str(ranked.advice()), str(compared), ranked._repr_html_()):
        assert SHOWN in text
        assert harmless(text)
    assert r"b\nb" in str(compared)
    noted = tp.StabilityResult.from_dict({**tp.stability(model, x, y, 0.5).to_dict(), "notes": [BAD], "loss": BAD, "unit": BAD})
    for text in (str(noted), noted._repr_html_()):
        assert SHOWN in "".join(text.split("\n                  "))
        assert harmless(text)


def test_the_page_and_its_twins_are_harmless() -> None:
    x, y, model = people([BAD, "<script>alert(1)</script>", "a|b `c` [d](javascript:e)", "- f\n# g"])
    x.index = pd.Index([f"{BAD}{i}" for i in range(len(x))])
    ranked = tp.feature_stability(model, x, y, 0.6)
    summary = tp.stability(model, x, y, 0.6).report_summary(model=BAD, data="# d", title=f"# {BAD}", features=ranked)
    summary = {**summary, "limits": ["# heading", "1. list", "- list", "---", "1.5 is a number", *summary["limits"]]}
    page, markdown = render_page(summary), render_markdown(summary)
    for text in (page, markdown):
        assert harmless(text)
    assert SHOWN in page
    assert SHOWN.replace("\\", "\\\\").replace("[", "\\[") in markdown
    assert "javascript:e)" in markdown
    assert "[d](" not in markdown
    assert "<script>" not in markdown
    lines = markdown.splitlines()
    for line in (r"- \# heading", r"- 1\. list", r"- \- list", r"- \---", "- 1.5 is a number"):
        assert line in lines
    assert [line for line in lines if line.startswith("## g")] == []
    assert json.loads(render_json(summary))["rows"]["columns"] == list(x.columns), "exact"


def test_the_command_line_shows_names_and_writes_json_exactly(
    cli: Command,
) -> None:
    name = BAD.replace("\r", "").replace("\u2028", "")
    data = patients().rename(columns={"age": name})
    data.to_csv("eval.csv", index=False)
    Path("model.json").write_text(json.dumps({**MODEL, "features": [name, "dose"]}), encoding="utf-8")
    asked = ("features", "--model", "model.json", "--data", "eval.csv", "--target", "y", "--risk", "0.4")
    code, out, err = cli(*asked, "--fail-below", "9")
    assert code == 1
    assert visible(name) in out
    assert harmless(out + err)
    code, out, err = cli(*asked, "--json", "-", "--report", f"{name}.md")
    assert code == 0
    assert harmless(out + err)
    assert name in [each["feature"] for each in json.loads(out)["features"]]
    for wrong in (
        ("--target", name + "z"),
        ("--loss", name),
        (name,),
        ("--model", name),
        ("--frozen", name + "z"),
        ("--report", name),
    ):
        code, out, err = cli(*asked, *wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert harmless(err)


def test_json_is_exact_where_the_terminal_has_few_letters(place: Path) -> None:
    patients().rename(columns={"age": "âge 😀"}).to_csv(place / "eval.csv", index=False)
    (place / "model.json").write_text(json.dumps({**MODEL, "features": ["âge 😀", "dose"]}), encoding="utf-8")
    done = run("features", "--config", "run.toml", "--json", "-", cwd=place, PYTHONIOENCODING="ascii")
    assert "âge 😀" in [each["feature"] for each in json.loads(done.stdout)["features"]]


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_bytes_that_are_no_letters_are_shown_and_written(suffix: str, place: Path) -> None:
    data = "\udcffeval.csv"
    (place / data).write_bytes((place / "eval.csv").read_bytes())
    done = run("evaluate", "--config", "run.toml", "--data", data, "--report", f"\udcfe{suffix}", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert rf"The report is in \udcfe{suffix}." in done.stdout
    text = (place / f"\udcfe{suffix}").read_text(encoding="utf-8")
    assert r"\udcffeval.csv" in text
    if suffix == ".json":
        assert json.loads(text)["data"] == data


def test_a_spreadsheet_finds_no_formula_and_all_numbers() -> None:
    frame = pd.DataFrame(
        {
            "=cmd()": ["=1+1", "+1", "-x", "@a", "plain"],
            "-b": [-0.5, 1.0, -2.0, 0.0, np.nan],
            "c": pd.Categorical(["\tx", "a\x1bb", "-1e5", "a,b", "n\nm"]),
            "d": [-1, 2, -3, 4, 5],
        }
    )
    kept = frame.copy()
    head, *rows = csv.reader(io.StringIO(csv_text(frame)))
    assert head == ["'=cmd()", "'-b", "c", "d"]
    assert [row[0] for row in rows] == ["'=1+1", "+1", "'-x", "'@a", "plain"]
    assert [row[1] for row in rows] == ["-0.5", "1.0", "-2.0", "0.0", ""]
    assert [row[2] for row in rows] == ["'\tx", r"a\x1bb", "-1e5", "a,b", "n\nm"]
    assert [row[3] for row in rows] == ["-1", "2", "-3", "4", "5"]
    pd.testing.assert_frame_equal(frame, kept)
    assert spreadsheet_cell(-0.5) == -0.5


def test_the_sensitive_distribution_is_safe_to_open(
    cli: Command,
) -> None:
    rows = [("=evil()", 0.0, 0, "@p"), ("=evil()", 1.0, 1, "-q"), ("b", 0.0, 0, "r"), ("b", 2.0, 1, "\x1b")]
    pd.DataFrame(rows, columns=["sample", "cost", "loss", "+text"]).to_csv("runs.csv", index=False)
    assert cli("evaluate", "--table", "runs.csv", "--risk", "0.4", "--sensitive", "q.csv")[0] == 0
    written = pd.read_csv("q.csv")
    assert "'+text" in written.columns
    text = Path("q.csv").read_text(encoding="utf-8")
    assert harmless(text)
    for cell in text.replace("\n", ",").split(","):
        assert not cell.startswith(("=", "@", "+"))


def test_markup_of_a_progress_bar_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("[red]x[/red][/]", 2, show=True) as tick:
        tick(1)
    assert "[red]x[/red][/]" in capsys.readouterr().err
