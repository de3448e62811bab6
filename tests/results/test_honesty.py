"""Answers that cannot mislead: verdicts from what is certified, partial results that say so, inputs that stay as they are."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command, run
from tippingpoint.results.advice import Ranked, of_features

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
RISK = 0.45
COEF = np.array([1.0, -0.6, 0.3])


def data(rows: int = 80) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, 3))
    y = (x @ COEF + 0.3 * rng.normal(size=rows) > 0.0).astype(int)
    return pd.DataFrame(x, columns=["a", "b", "c"], index=[f"s{i}" for i in range(rows)]), y


def linear(rows: Any) -> Any:
    return np.asarray(rows) @ COEF


def stopping(after: int) -> Callable[[Any], Any]:
    """A model at which somebody presses Ctrl-C once it was asked about so many rows, and once only."""
    asked = 0

    def model(rows: Any) -> Any:
        nonlocal asked
        asked, before = asked + len(rows), asked
        if before <= after < asked:
            raise KeyboardInterrupt
        return linear(rows)

    return model


# Interrupts, in Python


def test_an_interrupted_result_says_so_in_its_headline_in_json_and_to_advice() -> None:
    result = tp.stability(stopping(5000), *data(), RISK, output="score", **PRICES)
    assert result.interrupted
    assert str(result).startswith(f"Stability at most {result.value:.4g}, interrupted: ")
    assert "interrupted" in result._repr_html_()
    assert tp.StabilityResult.from_json(result.to_json()).interrupted
    assert result.advice().dominant == "none"
    assert "did not end" in str(result.advice())


def test_a_result_stored_before_there_was_such_a_mark_is_read() -> None:
    result = tp.stability((COEF, 0.0), *data(), RISK, **PRICES)
    stored = result.to_dict()
    del stored["interrupted"]
    assert not tp.StabilityResult.from_dict(stored).interrupted


def test_an_interrupted_ranking_is_what_was_ranked_by_then() -> None:
    x, y = data()
    ranked = tp.feature_stability(stopping(9_000), x, y, RISK, output="score", **PRICES)
    assert ranked.interrupted
    assert 0 < len(ranked) < 3 or any(result.interrupted for result in ranked.results.values())
    assert ranked.to_dict()["interrupted"] is True
    assert "Interrupted" in str(ranked)
    assert any("did not end" in reason for reason in ranked.advice().reasons)
    whole = tp.feature_stability(linear, x, y, RISK, output="score", **PRICES)
    assert not whole.interrupted
    assert ranked.limit == whole.limit


def test_an_interrupted_comparison_is_of_the_models_asked_by_then() -> None:
    x, y = data()
    compared = tp.compare({"one": linear, "two": stopping(5000), "three": linear}, x, y, RISK, output="score", **PRICES)
    assert list(compared.results) == ["one", "two"]
    assert compared.interrupted
    verdict = compared.verdict("two")
    assert not verdict.decided
    assert not verdict.ended
    assert "the search of 'two' did not end" in verdict.sentence
    assert "Interrupted" in str(compared)


def test_an_interrupt_before_anything_is_found_is_one() -> None:
    with pytest.raises(KeyboardInterrupt):
        tp.compare({"one": stopping(0), "two": linear}, *data(), RISK, output="score", **PRICES)


def test_a_curve_of_an_interrupted_search_is_whole_and_marked() -> None:
    sweep = tp.profile(stopping(5000), *data(), output="score").curve([0.4, 0.45], **PRICES)
    assert len(sweep) == 2
    assert sweep.interrupted
    assert "Interrupted" in str(sweep)


def network() -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def test_a_curve_that_is_interrupted_between_two_answers_keeps_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    profile = tp.profile(network(), x, y, loss="logistic")
    ask, asked = type(profile).stability, 0

    def stability(self: Any, risk: float, **settings: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise KeyboardInterrupt
        return ask(self, risk, **settings)

    monkeypatch.setattr(type(profile), "stability", stability)
    sweep = profile.curve([0.9, 1.0, 1.1], **PRICES)
    assert sweep.at == (0.9,)
    assert sweep.interrupted


def test_a_bound_that_nobody_waits_for_does_not_take_the_result_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = tp.profile(network(), *data(), loss="logistic")

    def impatient(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(profile.oracle), "certify", impatient)
    result = profile.stability(0.9, **PRICES)
    assert result.interrupted
    assert result.stopped
    assert result.lower == 0.0 < result.value < math.inf


def test_a_search_that_was_interrupted_is_not_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    from tippingpoint.families.network.search.explorer import Explorer

    scale, scaled = Explorer.scale, 0

    def impatient(self: Any, *given: Any) -> Any:
        nonlocal scaled
        scaled += 1
        if scaled == 3:
            raise KeyboardInterrupt
        return scale(self, *given)

    monkeypatch.setattr(Explorer, "scale", impatient)
    result = tp.stability(model, *data(), 0.9, loss="logistic", **PRICES)
    assert result.interrupted
    assert scaled == 3, "the question is answered from what was found"


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_a_proof_that_is_interrupted_marks_its_result(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = network()
    from tippingpoint.families.network.proofs.gates import GateSearch

    def impatient(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(GateSearch, "_evaluate", impatient)
    x, y = data(30)
    risk = {"zero_one": 0.9, "logistic": 1.2}[loss]
    assert tp.stability(model, x, y, risk, loss=loss, method="exact", **PRICES).interrupted


# Verdicts


def results(x: Any, y: Any, **models: Any) -> dict[str, tp.StabilityResult]:
    return {name: tp.stability(model, x, y, RISK, loss="zero_one", **PRICES) for name, model in models.items()}


def test_two_exact_results_far_apart_are_decided() -> None:
    x, y = data(400)
    compared = tp.Comparison(results(x, y, strong=(COEF, 0.0), weak=(COEF * [1.0, -1.0, 1.0], 0.4)))
    verdict = compared.verdict("weak")
    assert verdict.decided
    assert verdict.sentence == "'weak' is less stable than 'strong'."
    assert compared.verdict("strong", "weak").sentence == "'strong' is more stable than 'weak'."
    assert verdict.sentence in str(compared)


def test_an_upper_bound_decides_nothing_however_far_it_is_from_the_other() -> None:
    x, y = data(400)
    both = results(x, y, strong=(COEF, 0.0), weak=(COEF * [1.0, -1.0, 1.0], 0.4))
    # What a search finds of the better model: its value, and nothing from below.
    both["strong"] = replace(both["strong"], exact=False, lower=0.0)
    verdict = tp.Comparison(both).verdict("weak")
    assert not verdict.decided
    assert verdict.significant
    assert not verdict.certified
    assert "their bounds overlap" in verdict.sentence
    assert "sampling" not in verdict.sentence
    # Bounded from below above the other, by more than the sampling error, it is decided again.
    both["strong"] = replace(both["strong"], lower=0.9 * both["strong"].value)
    assert tp.Comparison(both).verdict("weak").decided


def test_a_bound_that_is_no_further_off_than_the_sampling_error_decides_nothing() -> None:
    x, y = data(400)
    both = results(x, y, strong=(COEF, 0.0), weak=(COEF * [1.0, -1.0, 1.0], 0.4))
    both["strong"] = replace(both["strong"], exact=False, lower=both["weak"].upper * (1.0 + 1e-6))
    verdict = tp.Comparison(both).verdict("weak")
    assert verdict.certified
    assert not verdict.significant
    assert not verdict.decided
    # What was found differs by more than the sampling error: the sentence is about what is certain, and says so.
    assert "what is certain of the difference (" in verdict.sentence
    assert "within the sampling error" in verdict.sentence


def test_a_verdict_of_few_effective_samples_says_that_its_error_is_not_to_be_trusted() -> None:
    x, y = data(400)
    both = results(x, y, strong=(COEF, 0.0), weak=(COEF * [1.0, -1.0, 1.0], 0.4))
    both["weak"] = replace(both["weak"], effective_sample=12.3)
    verdict = tp.Comparison(both).verdict("weak")
    assert verdict.decided
    assert verdict.sentence.startswith("'weak' is less stable than 'strong', by a sampling error that is not to be trusted")
    assert "12 effective samples (fewer than 50)" in verdict.sentence
    both["weak"] = replace(both["weak"], groups=20)
    assert "12 effective groups" in tp.Comparison(both).verdict("weak").sentence
    assert "bounds" not in verdict.sentence


def test_models_that_are_the_same_are_undecided_for_that_reason() -> None:
    compared = tp.compare({"one": (COEF, 0.0), "same": (COEF.copy(), 0.0)}, *data(), RISK, **PRICES)
    assert not compared.verdict("same").decided
    assert "both have the same stability" in compared.verdict("same").sentence


def test_a_verdict_is_on_one_of_the_others() -> None:
    compared = tp.compare({"one": (COEF, 0.0), "same": (COEF.copy(), 0.0)}, *data(), RISK, **PRICES)
    with pytest.raises(tp.InputError, match="'one' is none of those compared with 'one'"):
        compared.verdict("one")


def test_a_search_is_not_certainly_ahead_of_another() -> None:
    exact = [Ranked("a", 0.1, 0.1, 0.001), Ranked("b", 0.2, 0.2, 0.001)]
    assert not any("ahead" in reason for reason in of_features(exact, 0.3).reasons)
    searched = [exact[0], exact[1]._replace(lower=0.0)]
    assert "whether a is ahead of b is undecided" in " ".join(of_features(searched, 0.3).reasons)
    noisy = [exact[0], exact[1]._replace(lower=0.11, value=0.11, error=0.1)]
    assert "their order is not certain" in " ".join(of_features(noisy, 0.3).reasons)


# Comparisons of results


def other(x: Any, y: Any, **changed: Any) -> tp.StabilityResult:
    asked = {"risk": RISK, **PRICES, **changed}
    return tp.stability((COEF * 1.1, 0.1), x, y, asked.pop("risk"), **asked)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"risk": 0.4}, "the threshold of 'one' is 0.45 and that of 'two' is 0.4"),
        ({"theta1": 2.0}, "the price of moving (theta1)"),
        ({"theta2": 2.0}, "the price of reweighting (theta2)"),
        ({"divergence": "chi2"}, "the divergence of 'one' is 'kl' and that of 'two' is 'chi2'"),
        ({"loss": "hinge"}, "the loss of 'one' is 'zero_one'"),
        ({"scale": "std"}, "the unit of distance"),
        ({"sample_weight": np.arange(1.0, 81.0)}, "the sample 's0' weighs"),
        ({"sample_weight": np.r_[0.0, np.ones(79)]}, "'two' was not judged on 's0'"),
    ],
)
def test_results_of_different_questions_are_not_compared(changed: Mapping[str, Any], said: str) -> None:
    x, y = data()
    one = tp.stability((COEF, 0.0), x, y, RISK, **PRICES)
    with pytest.raises(tp.InputError) as caught:
        tp.Comparison({"one": one, "two": other(x, y, **changed)})
    assert said in str(caught.value)
    assert str(caught.value).count(". ") == 0, "one sentence"


def test_samples_are_paired_by_their_labels_not_by_their_places() -> None:
    x, y = data()
    order = np.random.default_rng(5).permutation(len(x))
    one = tp.stability((COEF, 0.0), x, y, RISK, **PRICES)
    straight = tp.Comparison({"one": one, "two": other(x, y)}).pairs()
    shuffled = tp.Comparison({"one": one, "two": other(x.iloc[order], y[order])}).pairs()
    assert shuffled[0][:2] == straight[0][:2]
    assert shuffled[0][2:] == pytest.approx(straight[0][2:], rel=1e-9)


def test_a_label_that_is_missing_is_one() -> None:
    x, y = data()
    odd = x.set_axis([math.nan, *np.arange(1.0, 80.0)])
    compared = tp.compare({"one": (COEF, 0.0), "two": (COEF * 1.1, 0.1)}, odd, y, RISK, **PRICES)
    plain = tp.compare({"one": (COEF, 0.0), "two": (COEF * 1.1, 0.1)}, x, y, RISK, **PRICES)
    assert compared.pairs() == plain.pairs()


def test_labels_that_several_samples_share_pair_nothing() -> None:
    x, y = data()
    twice = x.set_axis(["same", "same", *x.index[2:]])
    one = tp.stability((COEF, 0.0), twice, y, RISK, **PRICES)
    with pytest.raises(tp.InputError, match="a label of its own"):
        tp.Comparison({"one": one, "two": other(twice.iloc[::-1], y[::-1])})


def test_a_comparison_takes_results_and_at_least_two() -> None:
    one = tp.stability((COEF, 0.0), *data(), RISK, **PRICES)
    with pytest.raises(tp.InputError, match="compare two or more"):
        tp.Comparison({"one": one})
    with pytest.raises(tp.InputError, match="must be a mapping of names to results"):
        tp.Comparison({"one": one, "two": 0.3})  # type: ignore[dict-item]


def test_stored_results_are_shown_side_by_side_without_errors_that_need_pairs() -> None:
    x, y = data()
    both = {"one": tp.stability((COEF, 0.0), x, y, RISK, **PRICES), "two": other(x, y)}
    stored = {name: tp.StabilityResult.from_json(result.to_json()) for name, result in both.items()}
    assert "two" in str(tp.Comparison(stored))
    with pytest.raises(tp.errors.DetachedError, match="run stability"):
        tp.Comparison(stored).verdict("two")


# Thresholds out of reach


@pytest.fixture
def place(place: Path) -> Path:
    runs = {"sample": [0, 0, 1, 1, 2], "loss": [0, 1, 0, 1, 0], "cost": [0, 1, 0, 2, 0]}
    pd.DataFrame(runs).to_csv(place / "runs.csv", index=False)
    pd.DataFrame({**runs, "loss": [0.0, 0.9, 0.1, 1.0, 0.0]}).to_csv(place / "graded.csv", index=False)
    return place


def test_a_percentage_is_no_threshold_of_a_table_of_errors(place: Path) -> None:
    done = run("evaluate", "--table", "runs.csv", "--risk", "40", "--fail-below", "0.05", cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tippingpoint: risk=40.0 is outside [0, 1], the range of a mean of losses that are all 0 or 1; for 40 % write 0.4.\n"
    )


def test_a_threshold_that_is_proved_out_of_reach_has_a_sentence_of_its_own(cli: Command) -> None:
    code, _, err = cli(
        "evaluate", "--table", "graded.csv", "--risk", "0.8", "--theta1", "1", "--theta2", "inf", "--fail-below", "0.05"
    )
    assert code == 0
    assert err == (
        "gate: passed: out of reach: no allowed change of the data lifts the mean loss to 0.8, the largest that any reaches is"
        " 0.6333.\n"
    )


@pytest.mark.parametrize("on", ["lower", "value"])
def test_a_search_that_finds_nothing_passes_no_gate(on: str, place: Path, cli: Command) -> None:
    (place / "stubborn.py").write_text("def build():\n    return lambda rows: rows['age'] * 0.0 + 1.0\n", encoding="utf-8")
    asked = ("--data", "eval.csv", "--target", "y", "--risk", "0.9", "--theta1", "1", "--theta2", "inf", "--calls", "3000")
    space = ("--frozen", "ward", "--frozen", "heft", "--output", "score")
    code, out, err = cli("evaluate", "--model", "stubborn:build", *asked, *space, "--fail-below", "0.01", "--on", on)
    assert "Stability unknown" in out
    assert code == 1
    assert "found no change of the data that lifts the error rate to 90%" in err
    assert "proves nothing" in err


# Output over input

SUBJECT = ("--model", "model.json", "--data", "eval.csv", "--target", "y", "--risk", "0.4")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("evaluate", *SUBJECT, "--json", "eval.csv"), "--data"),
        (("evaluate", *SUBJECT, "--sensitive", "./eval.csv"), "--data"),
        (("evaluate", *SUBJECT, "--json", "model.json"), "--model"),
        (("evaluate", *SUBJECT, "--json", "link.csv"), "--data"),
        (("evaluate", *SUBJECT, "--json", "hard.csv"), "--data"),
        (("evaluate", *SUBJECT, "--space", "space.toml", "--json", "space.toml"), "--space"),
        (("evaluate", "--config", "run.toml", "--json", "run.toml"), "--config"),
        (("evaluate", "--table", "runs.csv", "--risk", "0.4", "--sensitive", "runs.csv"), "--table"),
        (("evaluate", "--linear", *SUBJECT[1:], "--report", "model.json"), "--linear"),
        (("features", *SUBJECT, "--report", "model.json"), "--model"),
        (("report", "--model", "now=model.json", *SUBJECT[2:], "--report", "model.json"), "--model"),
        (("compare", "--model", "a=model.json", "--model", "b=next.json", *SUBJECT[2:], "--json", "next.json"), "--model"),
        (("curve", *SUBJECT[:-2], "--risks", "0.3,0.4", "--json", "eval.csv"), "--data"),
        (("evaluate", "--model", "vendor:build", *SUBJECT[2:], "--json", "vendor.py"), "--model"),
        (("evaluate", "--model", "vendor:build", "--state", "w.pt", *SUBJECT[2:], "--json", "w.pt"), "--state"),
    ],
)
def test_no_output_takes_the_place_of_an_input(words: tuple[str, ...], option: str, place: Path, cli: Command) -> None:
    (place / "link.csv").symlink_to("eval.csv")
    os.link(place / "eval.csv", place / "hard.csv")
    (place / "space.toml").write_text('frozen = ["age"]\n', encoding="utf-8")
    (place / "vendor.py").write_text("def build():\n    return None\n", encoding="utf-8")
    (place / "w.pt").write_bytes(b"weights")
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert f"would overwrite {option} " in err
    assert err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


def test_a_file_that_is_replaced_is_named(place: Path, cli: Command) -> None:
    (place / "out.json").write_text("of yesterday", encoding="utf-8")
    code, _, err = cli("evaluate", *SUBJECT, "--json", "out.json")
    assert (code, err) == (0, "tippingpoint: out.json was there, and is replaced.\n")
    assert json.loads((place / "out.json").read_text(encoding="utf-8"))["risk"] == 0.4
    assert cli("evaluate", *SUBJECT, "--json", "out.json", "--quiet") == (0, "", "")
    assert cli("evaluate", *SUBJECT, "--json", "new.json")[2] == ""


def test_a_reproduction_is_not_written_among_the_data(place: Path, cli: Command) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    code, out, err = cli("reproduce", "toy-cross-entropy", "--data", ".", "--out", str(place))
    assert (code, out) == (2, "")
    assert "is the folder that the data are read from" in err


def test_a_search_that_found_no_move_says_that_this_proves_nothing() -> None:
    """Labels alone, behind many features: the search is blind, and its number is that of reweighting."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = x[:, 0] + 0.5 * rng.normal(size=60) > 0

    def blind(rows: Any) -> Any:
        return np.asarray(rows)[:, 0] > 0

    found = tp.stability(blind, x, y, 0.5, theta1=1e6, theta2=0.1, calls=1000)
    assert found.moved_share == 0.0
    assert any(note.startswith("no move was found that makes it cheaper than reweighting alone") for note in found.notes)
    assert not any(
        "no move was found" in note for note in tp.stability(([1.0, 0, 0], 0.0), x, y, 0.5, theta1=1e6, theta2=0.1).notes
    )


def test_a_name_is_no_model() -> None:
    with pytest.raises(tp.InputError, match=r"is a name; read the file first, with tippingpoint\.load_model"):
        tp.stability("model.json", [[0.0]], [1], 0.5)
