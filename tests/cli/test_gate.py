"""The gate: exit codes that continuous integration can rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

import tippingpoint as tp
from commands import MODEL, NEXT, Command, patients, run

DATA = ("--data", "eval.csv", "--target", "y", "--risk", "0.4")
SUBJECT = ("--model", "model.json", *DATA)


def value(stored: dict[str, object]) -> float:
    data = patients()
    model = tp.LinearModel.of(stored["coef"], stored["intercept"], ["healthy", "ill"])
    return tp.stability(model, data[["age", "dose"]], data["y"], 0.4).value


def test_the_installed_command_passes_fails_and_refuses_by_its_code(place: Path) -> None:
    least = value(MODEL)
    passed = run("evaluate", *SUBJECT, "--fail-below", f"{0.999 * least}", cwd=place)
    assert passed.returncode == 0
    assert passed.stderr == f"gate: passed: the certified lower bound is {least:.6g}, not below {0.999 * least:g}.\n"
    failed = run("evaluate", *SUBJECT, "--fail-below", f"{1.001 * least}", "--json", "out.json", cwd=place)
    assert failed.returncode == 1
    assert failed.stderr == f"gate: failed: the certified lower bound is {least:.6g}, below {1.001 * least:g}.\n"
    assert failed.stdout == passed.stdout, "the result is told all the same"
    assert (place / "out.json").exists(), "and written"
    refused = run("evaluate", *SUBJECT, "--fail-below", "little", cwd=place)
    assert refused.returncode == 2
    assert "'little' is not a number" in refused.stderr


def test_features_are_judged_by_the_most_sensitive(cli: Command) -> None:
    data = patients()
    model = tp.LinearModel.of(MODEL["coef"], MODEL["intercept"], ["healthy", "ill"])
    ranked = tp.feature_stability(model, data[["age", "dose"]], data["y"], 0.4)
    first, second = (ranked[name].lower for name in ranked)
    between = f"{0.5 * (first + second)}"
    code, _, err = cli("features", *SUBJECT, "--fail-below", between)
    assert code == 1
    assert f"of the feature {next(iter(ranked))!r} is {first:.6g}" in err
    assert cli("features", *SUBJECT, "--fail-below", f"{0.99 * first}", "--quiet") == (0, "", "")


def test_of_compared_models_all_have_to_pass_or_the_one_that_is_named(cli: Command) -> None:
    low, high = sorted([("now", value(MODEL)), ("next", value(NEXT))], key=lambda item: item[1])
    models = ("--model", "now=model.json", "--model", "next=next.json", *DATA, "--fail-below", f"{0.5 * (low[1] + high[1])}")
    code, _, err = cli("compare", *models)
    assert code == 1
    assert f"of the model {low[0]!r}" in err
    assert cli("compare", *models, "--gate-model", high[0])[0] == 0
    assert cli("compare", *models, "--gate-model", low[0])[0] == 1
    assert cli("compare", *models, "--gate-model", "other")[::2] == (
        2,
        "tippingpoint: --gate-model other is none of the models; they are now, next.\n",
    )


def test_a_report_is_written_before_its_gate_fails(place: Path, cli: Command) -> None:
    assert cli("report", *SUBJECT, "--fail-below", "1e9", "--report", "page.md")[0] == 1
    assert (place / "page.md").exists()


def test_what_nothing_certifies_fails_unless_its_value_is_judged(place: Path, cli: Command) -> None:
    (place / "vendor.py").write_text(
        "def box():\n    return lambda rows: rows['age'] - 0.5 * rows['dose'] + 0.1\n", encoding="utf-8"
    )
    patients()[["age", "dose", "y"]].to_csv("eval.csv", index=False)
    words = ("evaluate", "--model", "vendor:box", *DATA, "--calls", "3000", "--fail-below", "1e-6")
    code, _, err = cli(*words)
    assert code == 1
    assert err.startswith("gate: failed: nothing certifies the stability from below (found: ")
    assert cli(*words, "--on", "value", "--quiet") == (0, "", "")


def test_a_threshold_that_provably_nothing_reaches_passes_in_a_sentence_of_its_own(cli: Command) -> None:
    still = ("--theta1", "1", "--theta2", "inf", "--frozen", "age", "--frozen", "dose")
    code, out, err = cli("evaluate", *SUBJECT, *still, "--fail-below", "1e9", "--json", "-")
    assert tp.StabilityResult.from_json(out).status == "unreachable"
    assert code == 0
    assert err.startswith("gate: passed: out of reach: no allowed change of the data lifts the error rate to 40%, the largest")
    assert "inf" not in err


def test_a_risk_that_is_there_already_fails(cli: Command) -> None:
    code, _, err = cli("evaluate", *SUBJECT[:-1], "0.01", "--fail-below", "0.001")
    assert (code, err) == (1, "gate: failed: the certified lower bound is 0, below 0.001.\n")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--on", "value"), "--on belongs to a gate"),
        (("--fail-below", "0"), "--fail-below 0: no stability is below that"),
        (("--fail-below", "-1"), "no stability is below that"),
        (("--fail-below", "nan"), "--fail-below nan"),
        (("--fail-below", "1", "--on", "upper"), "'upper'"),
    ],
)
def test_a_gate_that_makes_no_sense_is_refused_before_the_work(options: tuple[str, ...], part: str, cli: Command) -> None:
    code, out, err = cli("evaluate", *SUBJECT, *options)
    assert (code, out) == (2, "")
    assert part in err


def test_a_value_that_was_searched_for_is_called_what_it_is(cli: Command, place: Path) -> None:
    (place / "vendor.py").write_text(
        "def model():\n    return lambda rows: rows['age'] - 0.5 * rows['dose'] + 0.1\n", encoding="utf-8"
    )
    words = ("--model", "vendor:model", "--classes", "healthy,ill", "--data", "few.csv", "--target", "y", "--risk", "0.4")
    code, _, err = cli(
        "evaluate", *words, "--calls", "3000", "--fail-below", "1e-6", "--on", "value", "--theta1", "1", "--theta2", "1"
    )
    assert code == 0
    assert "gate: passed: the stability found (an upper bound) is " in err
    code, _, err = cli("evaluate", "--config", "run.toml", "--fail-below", "1e-6", "--on", "value")
    assert code == 0
    assert "gate: passed: the stability is " in err
