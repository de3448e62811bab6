"""Costs against definitions written down a second time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tippingpoint as tp
from refusals import refusal
from tippingpoint.costs.words import plain_word_distance, word_distance
from tippingpoint.runs.joining import as_cost

Pair = tp.costs.Pair
WORDS = st.lists(st.sampled_from(["a", "b", "c", "dd", "e"]), max_size=9)


def levenshtein(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """By its recursive definition."""

    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return distance(len(a), len(b))


@given(WORDS, WORDS)
def test_word_distance_is_levenshteins(a: list[str], b: list[str]) -> None:
    assert plain_word_distance(a, b) == levenshtein(tuple(a), tuple(b)) == word_distance(a, b)


@given(WORDS, WORDS)
def test_rapidfuzz_says_the_same(a: list[str], b: list[str]) -> None:
    distance = pytest.importorskip("rapidfuzz.distance", reason="the extra text is not in this environment")
    assert distance.Levenshtein.distance(a, b) == plain_word_distance(a, b)


@given(WORDS, WORDS)
def test_the_share_of_words_lies_between_none_and_all(a: list[str], b: list[str]) -> None:
    one, other = " ".join(a), " ".join(b)
    (share,) = tp.costs.WordEdits()([Pair(one, other)])
    assert 0.0 <= share <= 1.0
    assert (share == 0.0) == (one == other)
    assert share == tp.costs.WordEdits()([Pair(other, one)])[0]
    assert tp.costs.WordEdits(squared=True)([Pair(one, other)])[0] == share**2


def test_a_share_is_a_squared_distance_of_one_hot_words() -> None:
    """What the documentation says of why it is not squared: words in place, each a direction of its own."""
    a, b = "what is the capital of france", "what was the capital of peru"
    words = sorted({*a.split(), *b.split()})
    u, w = (np.array([[word == each for each in words] for word in text.split()], dtype=float) for text in (a, b))
    assert tp.costs.WordEdits()([Pair(a, b)])[0] == pytest.approx(0.5 * ((u - w) ** 2).sum() / len(a.split()))


def test_layout_is_counted_by_kind() -> None:
    count = tp.costs.FormatChanges()
    original = "Question: who is it?"
    texts = {
        "Question: who is it?": 0,
        "QUESTION: WHO IS IT?": 1,
        "Question - who is it?": 1,
        "Question:  who  is  it?": 1,
        "question  who is it": 3,
        "Please. Question: who is it?": 2,
    }
    assert {text: int(count([Pair(original, text)])[0]) for text in texts} == texts


def test_embeddings_are_half_the_squared_distance_of_unit_vectors() -> None:
    rng = np.random.default_rng(0)
    known = {text: rng.normal(size=8) for text in ("a", "b", "c")}
    asked: list[list[str]] = []

    def encode(texts: list[str]) -> Any:
        asked.append(texts)
        return [known[text] for text in texts]

    pairs = [Pair("a", "b"), Pair("a", "c"), Pair("b", "b")]
    cosines = [known["a"] @ known[t] / np.linalg.norm(known["a"]) / np.linalg.norm(known[t]) for t in "bc"]
    assert tp.costs.EmbeddingDistance(encode)(pairs) == pytest.approx([1 - cosines[0], 1 - cosines[1], 0.0])
    assert asked == [["a", "b", "c"]]  # every text once, all at once
    squares = [((known["a"] - known[t]) ** 2).sum() for t in "bc"]
    assert tp.costs.EmbeddingDistance(encode, "euclidean")(pairs) == pytest.approx([*squares, 0.0])


def test_prices_add_up_over_parts_unless_the_whole_has_one() -> None:
    pair = Pair(None, None, "typos + case 2", ("typos", "case"))
    assert tp.costs.Prices({"typos": 1.0, "case": 0.25})([pair]) == [1.25]
    assert tp.costs.Prices({"typos": 1.0, "case": 0.25, "typos + case": 1.1})([pair]) == [1.1]
    assert tp.costs.Prices({"typos": 1.0, "case": 0.25, "typos + case 2": 3})([pair]) == [3.0]


def test_images_cost_their_mean_squared_difference() -> None:
    black, grey = np.zeros((2, 2), dtype=np.uint8), np.full((2, 2), 51, dtype=np.uint8)
    assert tp.costs.PixelDistance()([Pair(black, grey)]) == pytest.approx([0.04])


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        ({"typos": -1.0}, "cost['typos']=-1.0 must be a number, 0 or more"),
        ({"typos": "much"}, "cost['typos']='much' must be"),
        ({"case": 1.0}, "cost has no price of 'typos'; its prices are of 'case'"),
        ("letters", "cost='letters' is no cost"),
        (3, "cost=3 is no cost"),
        (lambda _, __: "far", "cost returns 'far' for the variant 'typos', 'whp'"),
        (lambda _, __: -1.0, "cost returns -1.0"),
        (lambda a, b: a / b, "cost fails"),
        (tp.costs.EmbeddingDistance(lambda _: np.zeros((1, 2))), "returns an array of shape (1, 2) for 2 texts"),
        (tp.costs.EmbeddingDistance(lambda _: np.zeros((2, 2))), "returns zeros for 'who'"),
        (tp.costs.EmbeddingDistance(lambda _: 1 / 0), "encode fails (division by zero)"),
        (tp.costs.PixelDistance(), "compares images"),
    ],
)
def test_bad_costs_are_refused(cost: Any, sentence: str) -> None:
    assert sentence in str(refusal(lambda: as_cost(cost)([Pair("who", "whp", "typos", ("typos",))])))


def test_texts_that_are_not_known_cannot_be_compared() -> None:
    assert "give prices" in str(refusal(lambda: tp.costs.WordEdits()([Pair(None, "a", "polite")])))
    assert "encode=3 must be a function" in str(refusal(lambda: tp.costs.EmbeddingDistance(3)))  # type: ignore[arg-type]
    assert "metric='l1'" in str(refusal(lambda: tp.costs.EmbeddingDistance(len, "l1")))
