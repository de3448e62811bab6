"""Costs of texts by what can be seen: words edited, ways in which the layout differs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.costs.base import Cost, Pair, shown
from tippingpoint.errors import InputError

MARK = re.compile(r"[^\w\s]")
SPACES = re.compile(r"\s+")


class WordEdits(Cost):
    r"""Share of words edited: :math:`d / \max(|a|, |b|)`, `d` the words put in, left out or replaced between two texts.

    Words are what stands between spaces, as it is written: another case or mark is another word. Texts that differ in their
    spaces only count as one word edited, so that no variant costs nothing.

    Parameters
    ----------
    squared
        Whether the share is squared. It is not: with every word a direction of its own, the number of words that differ is
        a squared distance already, and twice as many edits cost twice as much. Squared, many small edits are cheaper than one
        large one.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> pair = tp.costs.Pair("What is the capital of France?", "what is the capital town of France?")
    >>> tp.costs.WordEdits()([pair]).round(3).tolist(), tp.costs.WordEdits(squared=True)([pair]).round(3).tolist()
    ([0.286], [0.082])
    """

    def __init__(self, *, squared: bool = False) -> None:
        self.squared: bool = squared
        self.label: str = "squared share of words edited" if squared else "share of words edited"

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        shares = np.array([self._share(*texts(pair)) for pair in pairs], dtype=float)
        return shares * shares if self.squared else shares

    @staticmethod
    def _share(original: str, changed: str) -> float:
        if original == changed:
            return 0.0
        before, after = original.split(), changed.split()
        return max(word_distance(before, after), 1) / max(len(before), len(after), 1)


class FormatChanges(Cost):
    """Ways in which the layout differs, each counts one: case of words that both have, kinds of spaces, punctuation, words.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> changes = [tp.costs.Pair("Who, me?", each) for each in ("WHO, ME?", "who  me", "You ask: who, me?")]
    >>> tp.costs.FormatChanges()(changes).tolist()
    [1.0, 3.0, 3.0]
    """

    label: str = "number of changes of layout"

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        return np.array([self._changes(*texts(pair)) for pair in pairs], dtype=float)

    @staticmethod
    def _changes(original: str, changed: str) -> int:
        before, after = MARK.sub("", original).split(), MARK.sub("", changed).split()
        common = {word.casefold() for word in before} & {word.casefold() for word in after}
        case = {word for word in before if word.casefold() in common} != {word for word in after if word.casefold() in common}
        spaces = set(SPACES.findall(original)) != set(SPACES.findall(changed))
        marks = MARK.findall(original) != MARK.findall(changed)
        words = [word.casefold() for word in before] != [word.casefold() for word in after]
        return case + spaces + marks + words


def texts(pair: Pair) -> tuple[str, str]:
    """Both texts of a pair."""
    if not isinstance(pair.original, str) or not isinstance(pair.changed, str):
        raise InputError(
            f"cost compares texts, and those of {shown(pair)} are not known; give prices, as cost={{{pair.variant!r}: 0.2}}."
        )
    return pair.original, pair.changed


def word_distance(before: Sequence[str], after: Sequence[str]) -> int:
    """Levenshtein's distance of two lists of words; by rapidfuzz where that is installed (extra `text`), else by NumPy."""
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        return plain_word_distance(before, after)
    return int(Levenshtein.distance(before, after))


def plain_word_distance(before: Sequence[str], after: Sequence[str]) -> int:
    """The same in NumPy: `D[i, j] = min(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + (a_i ≠ b_j))`, a row at a time."""
    number = {word: k for k, word in enumerate(dict.fromkeys([*before, *after]))}
    columns = np.array([number[word] for word in after], dtype=np.intp)
    steps = np.arange(len(columns) + 1)
    row = steps.copy()
    for i, word in enumerate(before):
        best = np.empty_like(row)
        best[0] = i + 1
        best[1:] = np.minimum(row[1:] + 1, row[:-1] + (columns != number[word]))
        row = np.minimum.accumulate(best - steps) + steps  # words put in, any number of them
    return int(row[-1])
