"""Models that answer the same rows differently are refused, or averaged and said to be noisy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

import tippingpoint as tp
from boxes import RISK, asked, data, linear


class Noisy:
    """A classifier whose scores carry noise."""

    classes_ = np.array([0, 1])

    def __init__(self, deviation: float, quiet: int = 0) -> None:
        self.rows = 0
        self._quiet = quiet
        self._deviation = deviation
        self._generator = np.random.default_rng(1)

    def decision_function(self, rows: Any) -> Any:
        self.rows += len(rows)
        heard = self._deviation if self.rows > self._quiet else 0.0
        return linear(rows) + heard * self._generator.normal(size=len(rows))

    def predict(self, rows: Any) -> Any:
        return (self.decision_function(rows) > 0.0).astype(int)


class Shares(Noisy):
    """The same with probabilities."""

    def predict_proba(self, rows: Any) -> Any:
        share = 1.0 / (1.0 + np.exp(-Noisy.decision_function(self, rows)))
        return np.column_stack((1.0 - share, share))

    decision_function = property()  # it has none

    def predict(self, rows: Any) -> Any:
        return (Noisy.decision_function(self, rows) > 0.0).astype(int)


NOISY: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "scores": (lambda: Noisy(0.1), {"output": None}, "scores differ by up to"),
    "little noise": (lambda: Noisy(0.01), {"output": None}, "scores differ by up to"),
    "probabilities": (lambda: Shares(0.1), {"output": None}, "probabilities differ by up to"),
    "a function": (lambda: Noisy(0.1).decision_function, {}, "scores differ by up to"),
    "labels": (lambda: Noisy(0.3).predict, {"output": "label"}, "labels differ"),
    "predictions": (lambda: Noisy(0.1).decision_function, {"output": "prediction", "loss": "squared"}, "predictions differ"),
    "a loss of one's own": (
        lambda: linear,
        {"loss": lambda scores, y: np.square(scores - y) + np.random.default_rng().random(len(y)), "output": None},
        "losses differ",
    ),
    "other rows": (lambda: lambda rows: linear(rows) - linear(rows).mean(), {}, "scores differ by up to"),
}


@pytest.mark.parametrize("kind", NOISY)
def test_noise_is_refused_with_its_size_and_two_remedies(kind: str) -> None:
    make, settings, told = NOISY[kind]
    with pytest.raises(tp.InputError, match="answers differently when asked again") as caught:
        asked(make(), *data(), **settings)
    assert told in str(caught.value)
    assert "seed" in str(caught.value)
    assert "repeats=20" in str(caught.value)


@pytest.mark.parametrize("make", [Noisy, Shares])
def test_repeats_average_the_noise_and_tell_of_it(make: Callable[[float], Any]) -> None:
    x, y = data()
    model = make(0.1)
    calls = 400_000
    result = asked(model, x, y, output=None, repeats=20, calls=calls)
    assert model.rows <= calls
    clean = asked(linear, x, y)
    assert clean.value * 0.5 < result.value < clean.value * 1.1
    assert not result.exact
    noise, afresh = result.notes
    assert "noisy" in noise
    assert "too small" in noise
    if make is Noisy:
        single, mean = (float(part.split()[0].rstrip(";,")) for part in (noise.split(" of ")[1], noise.split("taken, ")[1]))
        assert single == pytest.approx(0.1, rel=0.05)
        assert mean == pytest.approx(0.1 / np.sqrt(20), rel=0.05)
    assert "afresh" in afresh
    fresh = float(afresh.split("risk of ")[1].split(",")[0])
    assert clean.current_risk - 0.03 < fresh < RISK, "answers that the search has not picked are worse for it"


def test_a_noisy_loss_of_ones_own_is_averaged() -> None:
    generator = np.random.default_rng(0)
    x, y = data()
    result = asked(
        linear, x, y, loss=lambda scores, labels: np.square(scores - labels) + generator.normal(size=len(labels)), repeats=5
    )
    assert "standard deviation of 1" in result.notes[0]
    assert "taken, 0.44" in result.notes[0]


def test_repeats_of_a_steady_model_cost_calls_and_nothing_else() -> None:
    x, y = data()
    result = asked(linear, x, y, repeats=3)
    assert result.value == asked(linear, x, y).value
    assert result.notes == ("the model answers the same every time, so repeats=3 are not needed",)


def test_labels_are_not_averaged() -> None:
    with pytest.raises(tp.UnsupportedError, match=r"repeats=9 averages scores .* labels.* predict_proba"):
        asked(Noisy(0.3).predict, *data(), output="label", repeats=9)


@pytest.mark.parametrize("repeats", [0, -3, 2.5, "many"])
def test_repeats_are_counted_from_one(repeats: Any) -> None:
    with pytest.raises(tp.InputError, match=r"repeats=.* whole number, 1 or more"):
        asked(linear, *data(), repeats=repeats)


@pytest.mark.parametrize("calls", [None, 30_000])
@pytest.mark.parametrize("output", ["score", "label"])
def test_noise_that_begins_in_the_middle_of_a_search_is_noticed_at_its_end(output: str, calls: int | None) -> None:
    model = Noisy(1.0, quiet=2000)
    with pytest.raises(tp.InputError, match="places that the search found give another loss now"):
        asked(model.decision_function if output == "score" else model.predict, *data(), output=output, calls=calls)
    assert calls is None or model.rows <= calls


def test_a_model_that_learns_as_it_is_called_is_noticed() -> None:
    drift = 0.0

    def learns(rows: Any) -> Any:
        nonlocal drift
        drift += 1e-6 * len(rows)
        return linear(rows) - (drift if drift > 1e-3 else 0.0)

    with pytest.raises(tp.InputError, match="answers differently when asked again"):
        asked(learns, *data(), loss="logistic")


def test_the_rounding_of_single_precision_is_no_noise() -> None:
    """Sums in single precision differ in their last digits with the rows that are asked beside them."""
    generator = np.random.default_rng(0)

    def single(rows: Any) -> Any:
        return (linear(rows) * (1.0 + 1e-6 * generator.normal(size=len(rows)))).astype(np.float32)

    x, y = data()
    for loss in ("zero_one", "logistic"):
        assert asked(single, x, y, loss=loss).value == pytest.approx(asked(linear, x, y, loss=loss).value, rel=0.02)


def test_a_fitted_network_of_single_precision_is_steady() -> None:
    x, y = data(300)
    model = MLPClassifier((64, 64), max_iter=30, random_state=0)
    with pytest.warns(match="converged"):
        model.fit(x.astype(np.float32), y)
    assert (
        asked(lambda rows: model.predict_proba(rows.astype(np.float32)), x, y, output="probability", loss="logistic").notes
        == ()
    )


def test_what_noisy_answers_give_is_an_estimate_and_bounds_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    y = (x[:, 0] > 0.0).astype(int)
    draw = np.random.default_rng(1)
    result = tp.stability(lambda rows: rows[:, 0] + draw.normal(0.0, 0.3, len(rows)), x, y, 0.5, repeats=5, calls=30_000)
    assert result.upper == float("inf")
    assert 0.0 < result.value < float("inf")
    assert "estimate only, no bound" in " ".join(str(result).split())
    result.report(tmp_path / "noisy.md")
    told = (tmp_path / "noisy.md").read_text(encoding="utf-8")
    assert "estimate only" in told
    assert "upper bound" not in told.partition("##")[0]
