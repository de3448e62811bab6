"""`tippingpoint worst-risk` as a person runs it: numbers, files, and a gate that takes what is proved only."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import tippingpoint as tp
from commands import MODEL, Command, patients, run

SUBJECT = ("--model", "model.json", "--data", "eval.csv", "--target", "y", "--theta1", "1", "--theta2", "0.25")
BOX = "def box():\n    return lambda rows: rows['age'] - 0.5 * rows['dose'] + 0.1\n"


def exact(cost: float) -> tp.WorstRisk:
    data = patients()
    model = tp.LinearModel.of(MODEL["coef"], MODEL["intercept"], ["healthy", "ill"])
    return tp.worst_risk(model, data[["age", "dose"]], data["y"], cost, theta1=1.0, theta2=0.25)


def test_the_installed_command_prints_stores_passes_and_fails(place: Path) -> None:
    found = exact(0.05)
    assert found.certified is not None
    words = ("worst-risk", *SUBJECT, "--cost", "0.05")
    passed = run(*words, "--fail-above", f"{found.certified + 1e-9}", "--json", "out.json", cwd=place)
    assert passed.returncode == 0
    assert passed.stdout.startswith(str(found).splitlines()[0])
    assert passed.stderr.startswith("gate: passed: no change of cost 0.05 lifts the error rate above ")
    stored = tp.WorstRisk.from_json((place / "out.json").read_text(encoding="utf-8"))
    assert stored.value == found.value
    failed = run(*words, "--fail-above", f"{found.value - 1e-6}", cwd=place)
    assert failed.returncode == 1
    assert failed.stderr.startswith(
        f"gate: failed: a change at cost 0.05 lifts the error rate to {100 * found.value:.6g}%, above "
    )


def test_several_costs_are_a_curve_and_all_have_to_pass(cli: Command) -> None:
    code, out, _ = cli("worst-risk", *SUBJECT, "--cost", "0.01,0.05", "--json", "-")
    assert code == 0
    curve = tp.WorstRiskCurve.from_json(out)
    assert curve.at == (0.01, 0.05)
    assert [each.value for each in curve] == [exact(cost).value for cost in curve.at]
    between = 0.5 * (curve.results[0].value + curve.results[1].value)
    code, out, err = cli("worst-risk", *SUBJECT, "--cost", "0.01,0.05", "--fail-above", f"{between}")
    assert code == 1
    assert out.splitlines()[0].split() == ["cost", "worst_risk", "certified", "standard_error", "spent"]
    assert "a change at cost 0.05 lifts" in err
    assert cli("worst-risk", *SUBJECT, "--cost", "0.01,0.05", "--fail-above", "1", "--quiet") == (0, "", "")


def test_the_sensitive_distribution_of_one_cost_is_written(place: Path, cli: Command) -> None:
    assert cli("worst-risk", *SUBJECT, "--cost", "0.05", "--sensitive", "q.csv")[0] == 0
    q = pd.read_csv(place / "q.csv")
    assert (q["mass"] * q["loss"]).sum() == pytest.approx(exact(0.05).value, rel=1e-9)
    code, _, err = cli("worst-risk", *SUBJECT, "--cost", "0.01,0.05", "--sensitive", "q.csv")
    assert (code, err) == (2, "tippingpoint: --sensitive has no meaning with several costs; leave it out.\n")


def test_a_table_of_alternatives_needs_no_model(place: Path, cli: Command) -> None:
    lines = [("a", 0, 0), ("a", 1, 2), ("b", 0, 0), ("b", 1, 3)]
    pd.DataFrame(lines, columns=["sample", "loss", "cost"]).to_csv(place / "runs.csv", index=False)
    code, out, _ = cli("worst-risk", "--table", "runs.csv", "--cost", "1", "--theta1", "1", "--theta2", "inf", "--json", "-")
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(0.5), "one of two samples goes over for 2, half of which is its weight"


def test_data_in_parts_reach_the_same(place: Path, cli: Command) -> None:
    data = patients()[["age", "dose", "y"]]
    (place / "parts").mkdir()
    for k in range(3):
        data.iloc[40 * k : 40 * (k + 1)].to_parquet(place / "parts" / f"{k}.parquet")
    code, out, _ = cli("worst-risk", "--model", "model.json", "--data", "parts", *SUBJECT[4:], "--cost", "0.05", "--json", "-")
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(exact(0.05).value, rel=1e-12)


def test_what_nothing_certifies_never_passes(place: Path, cli: Command) -> None:
    (place / "vendor.py").write_text(BOX, encoding="utf-8")
    patients()[["age", "dose", "y"]].to_csv("eval.csv", index=False)
    words = ("worst-risk", "--model", "vendor:box", *SUBJECT[2:], "--calls", "3000", "--cost", "0.001")
    code, out, err = cli(*words, "--fail-above", "0.99")
    assert code == 1
    assert out.startswith("Worst risk at least ")
    assert err.startswith("gate: failed: nothing certifies the error rate at cost 0.001 from above (found: ")
    assert cli(*words)[0] == 0, "without a gate it is an answer"


def test_what_is_certified_only_above_the_gate_does_not_pass(place: Path, cli: Command) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    (place / "nets.py").write_text(
        "import torch\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))\n",
        encoding="utf-8",
    )
    patients()[["age", "dose", "y"]].to_csv("eval.csv", index=False)
    words = (
        "worst-risk",
        "--model",
        "nets:net",
        *SUBJECT[2:],
        "--loss",
        "logistic",
        "--cost",
        "0.5",
        "--classes",
        "healthy,ill",
    )
    stored = json.loads(cli(*words, "--json", "-").out)
    assert stored["value"] < stored["certified"]
    middle = f"{0.5 * (stored['value'] + stored['certified'])}"
    code, _, err = cli(*words, "--fail-above", middle)
    assert code == 1
    assert err.startswith("gate: failed: the logistic risk at cost 0.5 is certified up to ")
    assert cli(*words, "--fail-above", f"{stored['certified'] + 1e-6}", "--quiet")[0] == 0


def test_an_interrupted_search_never_passes(place: Path, cli: Command) -> None:
    (place / "vendor.py").write_text(
        "left = [4000]\n"
        "def box():\n"
        "    def model(rows):\n"
        "        before, left[0] = left[0], left[0] - len(rows)\n"
        "        if before >= 0 > left[0]:\n"
        "            raise KeyboardInterrupt\n"
        "        return rows['age'] - 0.5 * rows['dose'] + 0.1\n"
        "    return model\n",
        encoding="utf-8",
    )
    patients()[["age", "dose", "y"]].to_csv("eval.csv", index=False)
    code, out, err = cli("worst-risk", "--model", "vendor:box", *SUBJECT[2:], "--cost", "0.05", "--fail-above", "1")
    assert code == 130
    assert "interrupted" in out
    assert "gate: not passed: interrupted" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--cost=-1",), "cost=-1.0 must be 0 or more, and finite: what the perturbation may cost, as 0.05."),
        (("--cost", "inf"), "cost=inf must be 0 or more, and finite: what the perturbation may cost, as 0.05."),
        (("--cost", "nan"), "cost=nan must be a number."),
        (("--cost", "much"), "argument --cost: 'much' is not a number; see tippingpoint worst-risk --help."),
        (
            ("--cost", "0.1,,0.2"),
            "argument --cost: '0.1,,0.2' must be words between commas, as a,b; see tippingpoint worst-risk",
        ),
        ((), "the following arguments are required: --cost; see tippingpoint worst-risk --help."),
        (
            ("--cost", "0.1", "--fail-above", "nan"),
            "--fail-above nan: give the largest risk that is accepted, a number such as",
        ),
        (
            ("--cost", "0.1", "--fail-above", "inf"),
            "--fail-above inf: give the largest risk that is accepted, a number such as",
        ),
        (("--cost", "0.1", "--theta1", "-1"), "theta1=-1 must be positive"),
    ],
)
def test_mistakes_are_one_sentence(cli: Command, words: tuple[str, ...], sentence: str) -> None:
    code, out, err = cli("worst-risk", *SUBJECT, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"tippingpoint: {sentence}")
    assert len(err.splitlines()) == 1
