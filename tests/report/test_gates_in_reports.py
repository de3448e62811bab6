"""The gate in a report: its threshold, its outcome and why, the same as the exit code of the command says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import tippingpoint as tp
from commands import Command
from tippingpoint.errors import InputError

ASKED = ("--data", "eval.csv", "--target", "y", "--risk", "0.4", "--theta1", "1", "--theta2", "0.25", "--quiet")
KNOWN = {"interrupted": False, "upper": 1.0}
X, Y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["no", "no", "yes", "yes"]


@pytest.mark.parametrize("command", ["evaluate", "report", "features"])
@pytest.mark.parametrize(("least", "outcome"), [("1e-6", "passed"), ("100", "failed")])
def test_the_report_of_a_command_says_what_its_exit_code_says(cli: Command, command: str, least: str, outcome: str) -> None:
    for suffix in ("html", "md", "json"):
        words = (command, "--model", "model.json", *ASKED, "--fail-below", least, "--report", f"page.{suffix}")
        code, _, _ = cli(*words)
        assert code == {"passed": 0, "failed": 1}[outcome]
    page, text = (Path(f"page.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "md"))
    gate = json.loads(Path("page.json").read_text(encoding="utf-8"))["gate"]
    assert (gate["threshold"], gate["on"], gate["outcome"]) == (float(least), "lower", outcome)
    assert f">{outcome}</span>" in page
    of = f" (feature '{gate['name']}')" if command == "features" else ""
    assert f"| Gate{of}: at least | {float(least):.6g} | {outcome} |" in text
    for told in (page, text):
        assert gate["sentence"].split(";")[1] in told


def test_the_gate_of_a_comparison_is_that_of_its_worst_model(cli: Command) -> None:
    models = ("--model", "now=model.json", "--model", "next=next.json")
    lowest = min(each["lower"] for each in _results(cli, models).values())
    for least, code in ((lowest * 0.999, 0), (lowest * 1.001, 1)):
        assert cli("compare", *models, *ASKED, "--fail-below", repr(least), "--report", "both.json")[0] == code
        gate = json.loads(Path("both.json").read_text(encoding="utf-8"))["gate"]
        assert gate["outcome"] == ("passed", "failed")[code]
        assert "of the model" in gate["sentence"]
        assert gate["found"] == lowest


@pytest.mark.parametrize("order", [("now", "next"), ("next", "now")])
def test_a_report_of_several_models_has_the_gate_of_their_comparison(cli: Command, order: tuple[str, str]) -> None:
    files = {"now": "model.json", "next": "next.json"}
    models = tuple(word for name in order for word in ("--model", f"{name}={files[name]}"))
    low, high = sorted(_results(cli, models).items(), key=lambda item: float(item[1]["lower"]))
    between = repr(0.5 * (low[1]["lower"] + high[1]["lower"]))
    for extra in ((), ("--gate-model", low[0]), ("--gate-model", high[0])):
        asked = (*models, *ASKED, "--fail-below", between, "--report", "page.json", *extra)
        compared, reported = cli("compare", *asked), cli("report", *asked)
        gate = json.loads(Path("page.json").read_text(encoding="utf-8"))["gate"]
        cli("report", *(word.replace("page.json", "page.md") for word in asked))
        assert f"| Gate (model '{gate['name']}'): at least |" in Path("page.md").read_text(encoding="utf-8")
        passes = extra[1:] == (high[0],)
        assert (compared, reported) == (reported, compared)
        assert (reported[0], gate["outcome"], gate["name"]) == ((0, "passed", high[0]) if passes else (1, "failed", low[0]))


def test_a_report_refuses_a_gate_about_another_model(cli: Command) -> None:
    code, _, err = cli("report", "--model", "now=model.json", *ASKED, "--fail-below", "0.1", "--gate-model", "next")
    assert (code, err) == (2, "tippingpoint: --gate-model next is none of the models; they are now.\n")


def test_in_python_the_gate_of_a_report_judges_the_compared_models_too() -> None:
    stable, fragile = ([1.0, 0.1], -1.5), ([30.0, 3.0], -15.0)
    compared = tp.compare({"stable": stable, "fragile": fragile}, X, Y, 0.5, theta1=1.0, theta2=1.0)
    first, least = compared.results["stable"], compared.results["fragile"].lower
    assert least < first.lower
    gate = first.report_summary(gate=0.5 * (least + first.lower), comparison=compared)["gate"]
    assert (gate["outcome"], gate["name"], gate["found"]) == ("failed", "fragile", least)
    other = tp.stability(([0.1, 1.0], -0.5), X, Y, 0.9, theta1=1.0, theta2=1.0)
    gate = other.report_summary(gate=1e-6, comparison=compared)["gate"]
    assert (gate["outcome"], gate["found"]) == ("passed", min(least, other.lower)), "its own result counts too"


def _results(cli: Command, models: tuple[str, ...]) -> dict[str, Any]:
    cli("compare", *models, *ASKED, "--json", "both.json")
    found: dict[str, Any] = json.loads(Path("both.json").read_text(encoding="utf-8"))["results"]
    return found


def test_without_a_gate_none_is_told(cli: Command) -> None:
    cli("evaluate", "--model", "model.json", *ASKED, "--report", "page.json")
    assert json.loads(Path("page.json").read_text(encoding="utf-8"))["gate"] is None
    assert "gate" not in tp.stability(([1.0, 0.1], -1.5), X, Y, 0.5).report_summary()["words"]["sentence"]


def test_python_has_the_same_gate() -> None:
    result = tp.stability(([1.0, 0.1], -1.5), X, Y, 0.5, theta1=1.0, theta2=1.0)
    passed = result.report_summary(gate=result.lower)["gate"]
    assert (passed["outcome"], passed["found"]) == ("passed", result.lower)
    failed = result.report_summary(gate=tp.Gate(2.0 * result.value, on="value"))["gate"]
    assert (failed["outcome"], failed["found"]) == ("failed", result.value)
    assert failed["sentence"].startswith("Failed: the stability is ")


def test_out_of_reach_passes_with_a_sentence_of_its_own() -> None:
    result = tp.stability(([1.0, 0.1], -1.5), X, Y, 0.5, theta1=math.inf, theta2=1.0)
    assert result.status == "unreachable"
    gate = result.report_summary(gate=0.05)["gate"]
    assert gate["outcome"] == "passed"
    assert gate["sentence"] == "Passed: no allowed change can raise the risk that far; at least 0.05 was asked for."


def test_what_is_not_certified_fails_and_says_so() -> None:
    gate = tp.Gate(0.05).judge({"": {**KNOWN, "exact": False, "lower": 0.0, "value": 0.2, "status": "attained"}})
    assert gate.outcome == "failed"
    assert "nothing certifies the stability from below (found: 0.2)" in gate.sentence


@pytest.mark.parametrize("on", ["lower", "value"])
def test_a_search_that_found_nothing_passes_nothing(on: Any) -> None:
    found = {**KNOWN, "exact": False, "lower": 0.0, "value": math.inf, "status": "unreachable"}
    assert tp.Gate(0.05, on=on).judge({"": found}).outcome == "failed"


def test_what_is_not_all_there_is_not_passed() -> None:
    found = {**KNOWN, "exact": True, "lower": 1.0, "value": 1.0, "status": "attained"}
    assert tp.Gate(0.05).judge({"age": found}, "feature").outcome == "passed"
    assert tp.Gate(0.05).judge({"age": found}, "feature", complete=False).outcome == "interrupted"


@pytest.mark.parametrize("gate", [0.0, -1.0, math.nan, "0.05", True])
def test_what_is_no_gate_is_said_in_a_sentence(gate: Any) -> None:
    result = tp.stability(([1.0, 0.1], -1.5), X, Y, 0.5)
    with pytest.raises(InputError, match="no stability is below that"):
        result.report_summary(gate=gate)
    with pytest.raises(InputError, match="must be 'lower'"):
        tp.Gate(0.05, on="upper")  # type: ignore[arg-type]
