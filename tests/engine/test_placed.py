"""Answers about partitions in this process are those about the same rows in memory."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier

import tippingpoint as tp
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.engine.placed import Placed, array_bytes
from tippingpoint.engine.placed import tuned as placed_tuned
from tippingpoint.results.stability import StabilityResult

ROWS = 300
CUTS = (0, 0, 1, 2, 80, 80, 81, 200, ROWS, ROWS)
"""Partitions of different lengths: some empty, some of a single row."""

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
SIGN = np.where(X.to_numpy() @ [1.0, 0.5, -0.3] + RNG.normal(size=ROWS) > 0.0, 1, -1)
TABLE = X.assign(label=np.where(SIGN > 0, "yes", "no"), weight=RNG.integers(0, 4, ROWS) / 2.0)
PARTS = [TABLE.iloc[first:last] for first, last in pairwise(CUTS)]
LINE = ([1.0, 0.5, -0.3], 0.1)
RISKS = {"zero_one": 0.45, "hinge": 1.2, "logistic": 0.8}
DIVERGENCES = ("kl", "chi2", "cvar:0.4")
NUMBERS = (
    "value",
    "lower",
    "current_risk",
    "largest_risk",
    "corruption_cost",
    "reweighting_cost",
    "effective_share",
    "effective_sample",
    "nats",
    "moved_share",
    "standard_error",
)


def in_memory(loss: str, **settings: Any) -> StabilityResult:
    made = tp.profile(LINE, X, TABLE["label"], loss=loss, sample_weight=TABLE["weight"])
    return made.stability(RISKS[loss], **settings)


def in_parts(loss: str, source: Any = PARTS, memory: Any = None, **settings: Any) -> StabilityResult:
    made = tp.profile(LINE, source, "label", loss=loss, sample_weight="weight", memory=memory)
    return made.stability(RISKS[loss], **settings)


def numbers(result: StabilityResult) -> list[float]:
    return [getattr(result, name) for name in NUMBERS]


def by_row(atoms: pd.DataFrame) -> pd.DataFrame:
    """Of every sample: its mass, and the means of all else over its atoms."""
    kept = atoms[["loss", "cost", "a", "b", "c"]].mul(atoms["share"], axis=0)
    return kept.assign(row=atoms["row"], mass=atoms["mass"]).groupby("row").sum()


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("mix", [0.0, 0.5, 1.0])
def test_partitions_of_any_length_tell_what_memory_does(loss: str, divergence: str, mix: float) -> None:
    whole = in_memory(loss, divergence=divergence, mix=mix)
    parts = in_parts(loss, divergence=divergence, mix=mix)
    assert (parts.status, parts.exact, parts.samples) == (whole.status, whole.exact, whole.samples)
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    # What has a slope in the dual price is known to the root of that, as in tests/core/test_blocks.py.
    np.testing.assert_allclose(numbers(parts), numbers(whole), rtol=1e-7, atol=1e-15)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("loss", RISKS)
def test_what_is_kept_in_memory_changes_no_bit(loss: str, divergence: str) -> None:
    kept = numbers(in_parts(loss, divergence=divergence))
    for memory in (0, 3000, "1 GB"):
        np.testing.assert_array_equal(numbers(in_parts(loss, memory=memory, divergence=divergence)), kept)
    np.testing.assert_array_equal(numbers(in_parts(loss, lambda: iter(PARTS), 0, divergence=divergence)), kept)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_no_bit(threads: int) -> None:
    made = tp.profile(LINE, PARTS, "label", loss="logistic", sample_weight="weight", threads=threads)
    np.testing.assert_array_equal(numbers(made.stability(0.8)), numbers(in_parts("logistic")))


FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X.to_numpy(), SIGN)


def test_an_interrupt_in_one_partition_ends_the_search_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made = tp.profile(FOREST, [(X.to_numpy()[a:b], SIGN[a:b]) for a, b in pairwise((0, 100, 200, ROWS))], None, threads=1)
    asked: list[int] = []

    def tuned(placed: Placed, question: Any) -> Placed:
        asked.append(placed.number)
        if placed.number == 1:
            raise KeyboardInterrupt
        return placed_tuned(placed, question)

    monkeypatch.setattr("tippingpoint.engine.oracle.tuned", tuned)
    result = made.stability(0.45)
    assert asked == [0, 1]
    assert result.interrupted
    assert INTERRUPTED in result.notes
    assert (result.lower, result.standing.exact) == (0.0, False)
    atoms = result.sensitive
    moved = atoms[atoms["cost"] > 0.0]
    assert len(moved) > 0
    assert (moved["row"] < 100).all(), "the search of the others was never begun"
    stays = atoms[atoms["row"] >= 100]
    np.testing.assert_array_equal(stays[["x0", "x1", "x2"]], X.to_numpy()[stays["row"]])


def test_an_interrupt_before_anything_was_found_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tippingpoint.engine.samples.place_part", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tp.profile(FOREST, [(X.to_numpy(), SIGN)], None)


def test_what_is_kept_of_a_closed_form_is_not_the_features() -> None:
    wide = RNG.normal(size=(1000, 200))
    sign = np.where(wide[:, 0] > 0.0, 1, -1)
    for loss in ("zero_one", "logistic"):
        made = tp.profile((np.ones(200), 0.0), [(wide, sign)], None, loss=loss, memory="1 GB")
        (placed,) = made.oracle.samples._placed()  # type: ignore[attr-defined]
        assert array_bytes(placed) < 100 * len(wide) < wide.nbytes
        assert placed.size < 200 * len(wide)


def test_only_partitions_that_are_not_kept_are_read_again() -> None:
    read: list[int] = []

    def parts() -> Any:
        for number, part in enumerate(PARTS):
            read.append(number)
            yield part

    made = tp.profile(LINE, parts, "label", sample_weight="weight", memory=100 * 150, threads=1)
    kept = set(made.oracle.samples._kept)  # type: ignore[attr-defined]
    assert 0 < len(kept) < len(PARTS)
    assert made.stability(0.45).value == in_parts("zero_one").value


@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("memory", [0, None])
def test_the_same_rows_are_heaviest_and_go_to_the_same_places(loss: str, memory: Any) -> None:
    whole, parts = in_memory(loss), in_parts(loss, memory=memory)
    pd.testing.assert_frame_equal(parts.heaviest(7), whole.heaviest(7), check_dtype=False, rtol=1e-6)
    mine, theirs = parts.sensitive, whole.sensitive
    assert mine["mass"].sum() == pytest.approx(1.0, rel=1e-12)
    assert mine["mass"] @ mine["loss"] == pytest.approx(RISKS[loss], rel=1e-9)
    # Where a sample is split between two places a hair apart, its shares are anybody's: what is left of it is compared.
    pd.testing.assert_frame_equal(by_row(mine), by_row(theirs), check_dtype=False, rtol=1e-6, atol=1e-9)


def test_the_bootstrap_of_partitions() -> None:
    parts = in_parts("hinge")
    drawn = parts.bootstrap(30, seed=3)
    assert drawn.standard_error == pytest.approx(parts.standard_error, rel=0.5)
    again = in_parts("hinge", memory=0).bootstrap(2, seed=3)
    np.testing.assert_array_equal(again.values, drawn.values[:2])  # noqa: PD011  # no frame's


def test_a_table_of_alternatives_is_taken_in_memory_only() -> None:
    """Its samples may be in several partitions, so there is no such door."""
    with pytest.raises(tp.TippingPointError):
        tp.profile_table(PARTS)


def test_trees_are_proved_from_both_sides() -> None:
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, TABLE["label"])
    whole = tp.stability(forest, X, TABLE["label"], 0.45)
    parts = tp.stability(forest, [part.drop(columns="weight") for part in PARTS], "label", 0.45)
    assert 0.0 < parts.lower <= parts.upper
    assert max(parts.lower, whole.lower) <= min(parts.upper, whole.upper) * (1.0 + 1e-9)
    assert parts.lower >= 0.98 * parts.upper
    assert parts.standing.kind in ("bounded", "exact")


def by_sign(rows: Any) -> Any:
    return np.where(rows["a"] > 0.0, "yes", "no")


def test_a_black_box_is_searched_and_says_so() -> None:
    """Also in partitions of a single row, where a search has nobody else's place to go to."""
    parts = tp.stability(by_sign, [part.drop(columns="weight") for part in PARTS], "label", 0.6, calls=20000)
    assert parts.standing.kind == "searched"
    assert (parts.lower, parts.exact) == (0.0, False)
    assert parts.lower_by.startswith("not certified: ")
    exact = tp.stability(([1.0, 0.0, 0.0], 0.0), X, TABLE["label"], 0.6)
    assert exact.value * (1.0 - 1e-9) <= parts.upper < 3.0 * exact.value


def test_a_network_is_searched_and_bounded() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).eval()
    pairs = [(X.to_numpy()[first:last], SIGN[first:last]) for first, last in ((0, 1), (1, 100), (100, ROWS))]
    parts = tp.stability(net, pairs, None, 1.0, loss="logistic")
    whole = tp.stability(net, X.to_numpy(), SIGN, 1.0, loss="logistic")
    assert parts.lower <= whole.upper * (1.0 + 1e-6)
    assert whole.lower <= parts.upper * (1.0 + 1e-6)
    assert parts.upper == pytest.approx(whole.upper, rel=0.02)
    assert not parts.exact


def test_a_result_is_pickled_without_its_partitions() -> None:
    parts = in_parts("zero_one")
    again = pickle.loads(pickle.dumps(parts))  # noqa: S301  # our own
    assert numbers(again) == numbers(parts)
    with pytest.raises(tp.DetachedError, match="its partitions stayed where they are"):
        _ = again.sensitive
