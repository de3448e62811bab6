"""Models that fail in the middle of a search, or end the program: one sentence, and what was found is kept."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from boxes import PRICES, RISK, after, asked, data, linear, raising
from commands import Command

FAILURES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raises": (raising(RuntimeError("quota is used up")), "quota is used up"),
    "ends the program": (lambda _: sys.exit(0), "sys.exit(0)"),
    "runs out of memory": (raising(MemoryError()), "MemoryError"),
    "shortens": (lambda rows: linear(rows)[:-1], "it must return one value"),
    "widens": (lambda rows: np.column_stack((linear(rows), linear(rows))), "it must not change"),
    "tells no numbers": (lambda rows: np.full(len(rows), "sorry"), "'sorry'"),
    "tells nothing": (lambda _: None, "shape ()"),
    "tells None of each": (lambda rows: [None] * len(rows), "None"),
    "is not a number": (lambda rows: np.full(len(rows), np.nan), "returns nan"),
    "is infinite": (lambda rows: np.full(len(rows), np.inf), "returns inf"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_what_was_found_before_a_model_fails_is_kept(kind: str) -> None:
    x, y = data()
    then, told = FAILURES[kind]
    result = asked(after(5000, then), x, y)
    (note,) = result.notes
    assert "the model failed" in note
    assert told in note
    assert "upper bound" in note
    assert int(note.split("after ")[1].split(" calls")[0].replace(",", "")) > 1000
    assert not result.exact
    assert result.lower == 0.0
    full = asked(linear, x, y)
    assert full.value * (1.0 - 1e-9) <= result.value < np.inf
    q = result.sensitive
    wrong = (linear(q[["x0", "x1", "x2"]].to_numpy()) > 0.0) != y[q["row"]]
    assert wrong.astype(float).tolist() == q["loss"].tolist()
    assert tp.profile(after(5000, then), x, y, output="score").oracle.interrupted


@pytest.mark.parametrize("kind", [kind for kind in FAILURES if kind != "widens"])  # two scores are those of two classes
def test_a_model_that_fails_before_anything_is_found_is_an_error(kind: str) -> None:
    then, told = FAILURES[kind]
    with pytest.raises(tp.InputError) as caught:
        asked(after(0, then), *data())
    assert told in str(caught.value)


def test_a_label_never_seen_before_is_a_failure() -> None:
    x, y = data()
    labels = np.array(["no", "yes"])
    seen = 0

    def model(rows: Any) -> Any:
        nonlocal seen
        seen += len(rows)
        found = labels[(linear(rows) > 0.0).astype(int)].astype(object)
        return found if seen < 5000 else np.full(len(rows), "rate limit reached", dtype=object)

    result = asked(model, x, labels[y], output="label")
    assert "'rate limit reached'" in result.notes[0]
    assert "classes=" in result.notes[0]
    assert result.value < np.inf


def test_a_model_that_is_dead_is_not_blamed_on_a_row() -> None:
    (note,) = asked(after(5000, raising(RuntimeError("quota"))), *data()).notes
    assert "on rows that it answered before" in note


def test_a_model_that_answers_nothing_but_the_samples_is_an_error() -> None:
    x, y = data()
    thrice = 3 * len(x)  # what it returns, whether it does so again, and the samples themselves
    with pytest.raises(tp.InputError, match="quota"):
        asked(after(thrice, raising(RuntimeError("quota"))), x, y)


@pytest.mark.parametrize("calls", [500, 1000, 3000, 6000])
def test_the_calls_are_a_limit_for_a_model_that_fails_too(calls: int) -> None:
    x, y = data()
    rows = 0

    def model(given: Any) -> Any:
        nonlocal rows
        rows += len(given)
        if (np.abs(given - x.mean(axis=0)) > np.abs(x - x.mean(axis=0)).max(axis=0)).any():
            raise RuntimeError("nobody is like that")
        return linear(given)

    with contextlib.suppress(tp.InputError):  # where it fails before anything is found
        asked(model, x, y, calls=calls)
    assert rows <= calls


def test_features_found_before_a_model_fails_are_kept() -> None:
    x, y = data()
    ranked = tp.feature_stability(after(9_000, raising(RuntimeError("quota"))), x, y, RISK, output="score", **PRICES)
    assert set(ranked) == {"x0", "x1", "x2"}
    notes = {name: ranked[name].notes for name in ranked}
    assert not notes["x0"]
    assert "quota" in notes["x2"][0]
    assert ranked["x2"].value == pytest.approx(ranked.limit)


def test_one_of_two_models_that_fails_is_compared_with_what_was_found() -> None:
    x, y = data()
    failing = after(5000, raising(RuntimeError("quota")))
    both = tp.compare({"good": linear, "bad": failing}, x, y, RISK, output="score", **PRICES).results
    assert not both["good"].notes
    assert "quota" in both["bad"].notes[0]


def test_an_own_loss_that_fails_halfway_keeps_what_was_found() -> None:
    x, y = data()
    seen = 0

    def loss(scores: Any, labels: Any) -> Any:
        nonlocal seen
        seen += len(labels)
        if seen > 8000:
            sys.exit("enough")
        return np.square(scores - labels)

    result = tp.stability(linear, x, y, 2.0, loss=loss, **PRICES)
    assert "sys.exit('enough')" in result.notes[0]


def test_the_keyboard_still_stops_what_has_found_nothing() -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(after(0, raising(KeyboardInterrupt())), *data())


# The command line


EVALUATE = ("evaluate", "--model", "vendor:make", "--data", "eval.csv", "--target", "y", "--risk", "0.4")
VENDOR = (
    "import sys\nimport numpy as np\nGENERATOR = np.random.default_rng(0)\ndef scores(rows):\n    {}\ndef make():\n    {}\n"
)

EXITS = {
    "in the model": VENDOR.format("sys.exit(0)", "return scores"),
    "in the factory": VENDOR.format("pass", "sys.exit(0)"),
    "on import": "import sys\nsys.exit(0)\n",
}


@pytest.mark.parametrize("where", EXITS)
def test_an_exit_of_the_model_is_not_that_of_the_command(where: str, cli: Command, place: Path) -> None:
    (place / "vendor.py").write_text(EXITS[where], encoding="utf-8")
    code, out, err = cli(*EVALUATE)
    assert (code, out) == (2, "")
    assert "sys.exit(0)" in err
    assert err.count("\n") == 1


def test_repeats_are_an_option_of_the_command(cli: Command, place: Path) -> None:
    noisy = "return rows['age'].to_numpy() - 0.5 * rows['dose'].to_numpy() + 0.1 * GENERATOR.normal(size=len(rows))"
    (place / "vendor.py").write_text(VENDOR.format(noisy, "return scores"), encoding="utf-8")
    score = (*EVALUATE, "--output", "score", "--frozen", "ward", "--frozen", "heft")
    code, _, err = cli(*score)
    assert code == 2
    assert "repeats=20" in err
    code, out, err = cli(*score, "--repeats", "5")
    assert (code, err) == (0, "")
    assert "noisy" in out
