"""Variations: what they change and what they leave, the same bytes from the same seed, composed, and the user's own."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tippingpoint as tp
from refusals import refusal
from tippingpoint.variations.base import as_variations
from tippingpoint.variations.texts import NEIGHBOURS

v = tp.variations
TEXT = "Question: What is the capital of France, and why?\nAnswer: "
TEXTS = st.text(alphabet=st.characters(codec="utf-8"), min_size=0, max_size=80)
VARIATIONS: dict[str, Any] = {
    "typos": v.Typos(0.1),
    "case": v.Case("random"),
    "spacing": v.Spacing(0.5),
    "punctuation": v.Punctuation("drop"),
    "word drop": v.WordDrop(0.3),
    "word swap": v.WordSwap(0.3),
    "separators": v.Separators(": ", [" - ", " = "]),
    "wrapper": v.Wrapper(["Please: {text}", "{text} Thanks."]),
}


@pytest.mark.parametrize("name", VARIATIONS)
@given(text=TEXTS, seed=st.integers(0, 5))
def test_a_variation_is_a_function_of_text_seed_sample_and_draw(name: str, text: str, seed: int) -> None:
    """Whatever else was varied before: twice the same, and text comes out."""
    first = v.vary(VARIATIONS[name], text, seed=seed, sample="q1", draw=2)
    v.vary(VARIATIONS[name], TEXT, seed=seed, sample="q2")
    assert isinstance(first, str)
    assert v.vary(VARIATIONS[name], text, seed=seed, sample="q1", draw=2) == first


@pytest.mark.parametrize("name", [name for name in VARIATIONS if name != "punctuation"])
def test_seeds_samples_and_draws_differ(name: str) -> None:
    made = {v.vary(VARIATIONS[name], TEXT, seed=s, sample=i, draw=d) for s in range(3) for i in range(4) for d in range(4)}
    assert len(made) > 1
    assert TEXT not in made


def test_bytes_are_those_of_every_machine() -> None:
    """Stores of answers are found again by the bytes of prompts: what a seed makes is part of what is promised."""
    made = [v.vary(VARIATIONS[name], TEXT, seed=7, sample="q1") for name in ("typos", "word drop", "word swap", "separators")]
    assert made == PINNED


PINNED = [
    "Question: What is the capitao kf Grance, abd why?\nAnswer: ",
    "is the of France, and why?\nAnswer:",
    "Question: is What capital the of France, and Answer:\nwhy? ",
    "Question - What is the capital of France, and why?\nAnswer - ",
]


@given(text=TEXTS, share=st.floats(0.01, 1.0))
def test_typos_hit_a_neighbour_in_as_many_places_as_they_say(text: str, share: float) -> None:
    made = v.vary(v.Typos(share), text)
    letters = sum(letter in NEIGHBOURS and letter.isalpha() for letter in text)
    changed = [(a, b) for a, b in zip(text, made, strict=True) if a != b]
    assert len(changed) == (min(max(1, round(share * letters)), letters) if letters else 0)
    assert all(b in NEIGHBOURS[a] and b.isupper() == a.isupper() for a, b in changed)


def test_neighbours_are_mutual() -> None:
    assert NEIGHBOURS["g"] == "fhtyvb"
    assert all(a in NEIGHBOURS[b] for a in "qwertyuiopasdfghjklzxcvbnm" for b in NEIGHBOURS[a])


def test_case_spaces_and_marks_leave_everything_else() -> None:
    for to in ("upper", "lower", "title", "swap", "random"):
        assert v.vary(v.Case(to), TEXT).casefold() == TEXT.casefold()
    spaced = v.vary(v.Spacing(1.0), TEXT)
    assert spaced != TEXT
    assert spaced.split() == TEXT.split()
    assert spaced.count("\n") == 1
    assert v.vary(v.Punctuation("drop"), TEXT) == re.sub(r"[:,?]", "", TEXT)
    assert v.vary(v.Punctuation("double"), "a, b?") == "a,, b??"


@given(text=TEXTS, share=st.floats(0.01, 1.0))
def test_words_are_dropped_or_swapped_and_no_others_come(text: str, share: float) -> None:
    words = text.split()
    dropped, swapped = v.vary(v.WordDrop(share), text).split(), v.vary(v.WordSwap(share), text).split()
    assert Counter(swapped) == Counter(words)
    kept = iter(words)
    assert all(word in kept for word in dropped)  # in their order
    gone = len(words) - len(dropped)
    assert gone == (0 if len(words) < 2 else min(max(1, round(share * len(words))), len(words) - 1))


def test_swapped_words_are_neighbours() -> None:
    words = [f"w{k}" for k in range(40)]
    swapped = v.vary(v.WordSwap(0.2), " ".join(words)).split()
    moved = [k for k, (a, b) in enumerate(zip(words, swapped, strict=True)) if a != b]
    assert 2 <= len(moved) <= 16
    assert all(swapped[k] == words[k + 1] and swapped[k + 1] == words[k] for k in moved[::2])


def test_options_come_in_another_order_and_the_text_stays() -> None:
    sample = {"text": "Which?", "options": ["Paris", "Lyon"], "target": "Paris"}
    for draw in range(5):
        varied = v.vary(v.OptionOrder(), sample, draw=draw)
        assert varied == {**sample, "options": ["Lyon", "Paris"]}  # of two there is one other
    assert sample["options"] == ["Paris", "Lyon"]
    assert "needs samples with 'options'" in str(refusal(lambda: v.vary(v.OptionOrder(), {"text": "Which?"})))
    assert "is of samples with options" in str(refusal(lambda: v.vary(v.OptionOrder(), "Which?")))


def test_a_sum_a_tuple_and_one_after_the_other_are_the_same() -> None:
    def polite(text: str) -> str:
        return f"Please. {text}"

    total = v.Case("upper") + v.Punctuation() + polite
    assert total.name == "case + punctuation + polite"
    assert [part.name for part in total.parts] == ["case", "punctuation", "polite"]
    assert v.vary(total, "Who, me?") == "Please. WHO ME"
    assert v.vary((v.Case("upper"), v.Punctuation(), polite), "Who, me?") == "Please. WHO ME"
    assert v.vary(polite + v.Case("upper"), "Who?") == "PLEASE. WHO?"


def test_functions_of_the_users_are_variations_too() -> None:
    def shuffled(text: str, rng: np.random.Generator) -> str:
        return " ".join(rng.permutation(text.split()))

    assert sorted(v.vary(shuffled, "a b c").split()) == ["a", "b", "c"]
    assert v.vary(shuffled, "a b c d e", sample=3) == v.vary(shuffled, "a b c d e", sample=3)
    assert len({v.vary(shuffled, "a b c d e", sample=k) for k in range(20)}) > 5
    assert v.vary(v.Function(str.title, name="titles"), "ab cd") == "Ab Cd"


def failing(text: str) -> str:
    raise RuntimeError("no network")


def numbering(text: str) -> Any:
    return 3


def three(text: str, rng: Any, more: Any) -> str:
    return text


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: v.Typos(0.0), "share=0.0 must lie above 0"),
        (lambda: v.Typos("0.1"), "share='0.1' must lie"),  # type: ignore[arg-type]
        (lambda: v.Case("camel"), "to='camel' is no case"),
        (lambda: v.Punctuation("more"), "how='more' is neither"),
        (lambda: v.Wrapper("no place"), "must hold {text} once"),
        (lambda: v.Separators("", "-"), "of='' must be the text"),
        (lambda: v.Brightness(0.0), "by=0.0 must lie"),
        (lambda: v.Shift(0), "pixels=0 must be"),
        (lambda: v.Noise(-1.0), "scale=-1.0 must be"),
        (lambda: v.Occlusion(0.1, value=2.0), "value=2.0 must lie"),
        (lambda: v.vary(failing, "a"), "the variation 'failing' fails (no network) on 'a'"),
        (lambda: v.vary(numbering, "a"), "the variation 'numbering' returns int"),
        (lambda: v.vary(three, "a"), "takes 3 arguments"),
        (lambda: v.vary(lambda text: text, "a"), "a lambda has no name"),
        (lambda: v.vary(3, "a"), "variation=3 is no variation"),
        (lambda: v.Typos(name=" "), "name=' ' must be some text"),
        (lambda: as_variations([v.Typos(0.1), v.Typos(0.2)]), "are both called 'typos'"),
        (lambda: as_variations(v.Typos()), "must be a list"),  # type: ignore[arg-type]
        (lambda: v.vary(v.Noise(), np.zeros(3)), "is of images, and one has shape (3,)"),
        (lambda: v.vary(v.Blur(), np.full((2, 2), 7.0)), "values outside [0, 1], such as 7"),
        (lambda: v.vary(v.Typos(), {"question": "a"}), "it needs one of 'text' and 'image'"),
    ],
)
def test_bad_variations_are_refused(call: Any, sentence: str) -> None:
    assert sentence in str(refusal(call))


IMAGES = {
    "grey": np.random.default_rng(0).random((12, 9)),
    "colour": np.random.default_rng(1).integers(0, 256, (12, 9, 3)).astype(np.uint8),
    "single": np.random.default_rng(2).random((5, 5)).astype(np.float32),
}


@pytest.mark.parametrize("image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize(
    "variation", [v.Noise(), v.Blur(), v.Brightness(), v.Shift(1), v.Occlusion()], ids=lambda each: each.name
)
def test_images_keep_type_shape_and_range(variation: Any, image: Any) -> None:
    before = image.copy()
    made = v.vary(variation, image, sample=1)
    assert made.dtype == image.dtype
    assert made.shape == image.shape
    assert made.min() >= 0
    assert made.max() <= (255 if image.dtype == np.uint8 else 1)
    assert not np.array_equal(made, image)
    assert np.array_equal(image, before)
    assert made.tobytes() == v.vary(variation, image, sample=1).tobytes()


def test_blur_keeps_the_mean_of_a_plain_middle_and_shift_moves_by_so_many_pixels() -> None:
    dot = np.zeros((21, 21))
    dot[10, 10] = 1.0
    blurred = v.vary(v.Blur(1.5), dot)
    assert blurred.sum() == pytest.approx(1.0, abs=1e-6)
    rows = np.arange(21)[:, None] - 10.0
    assert float((blurred * rows**2).sum()) == pytest.approx(1.5**2, rel=0.02)  # its variance is what it says
    places = {tuple(np.argwhere(v.vary(v.Shift(3), dot, draw=k))[0] - 10) for k in range(40)}
    assert places == {(3, 0), (-3, 0), (0, 3), (0, -3)}
