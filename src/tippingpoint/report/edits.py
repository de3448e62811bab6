"""Edits of a text, word by word: what goes and what comes; `assets/tables.js` does the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tippingpoint.report.elements import Markup, tag
from tippingpoint.report.markdown_text import Marked, text

SPACE = re.compile(r"[ \t\n\r\f\v]+")
"""Between words."""

MIN_WORDS = 4
"""Words from which on a value is a text, of which edits are shown, and not a name."""

MAX_PAIRS = 250_000
"""Pairs of words that are compared; between longer texts all from the first change to the last is one edit."""

CONTEXT = 5
"""Words around an edit that are shown; what is further from any is left out."""

KEPT, GONE, NEW = "=", "-", "+"

Edits = list[tuple[str, list[str]]]
"""Runs of words that stay, go or come, in order."""


def words_of(value: str) -> list[str]:
    """The words of a text."""
    return [word for word in SPACE.split(value) if word]


def is_text(before: Any, after: Any) -> bool:
    """Whether both are texts, of which edits can be shown."""
    return all(isinstance(each, str) and len(words_of(each)) >= MIN_WORDS for each in (before, after))


def edits(before: str, after: str) -> Edits:
    """The fewest words that go and come, those that go first; words far from any edit are left out, as “…”."""
    one, two = words_of(before), words_of(after)
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    end = 0
    while end < min(len(one), len(two)) - start and one[-1 - end] == two[-1 - end]:
        end += 1
    middle = _middle(one[start : len(one) - end], two[start : len(two) - end])
    steps = [*((KEPT, word) for word in one[:start]), *middle, *((KEPT, word) for word in one[len(one) - end :])]
    runs: Edits = []
    for kind, word in steps:
        if not runs or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(word)
    return [(kind, _shortened(words, k, len(runs)) if kind == KEPT else words) for k, (kind, words) in enumerate(runs)]


def _middle(one: Sequence[str], two: Sequence[str]) -> list[tuple[str, str]]:
    """The longest common words of two texts, and what is between them."""
    if len(one) * len(two) > MAX_PAIRS:
        return [*((GONE, word) for word in one), *((NEW, word) for word in two)]
    common = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(two) - 1, -1, -1):
            same = one[i] == two[j]
            common[i][j] = common[i + 1][j + 1] + 1 if same else max(common[i + 1][j], common[i][j + 1])
    steps, i, j = list[tuple[str, str]](), 0, 0
    while i < len(one) or j < len(two):
        if i < len(one) and j < len(two) and one[i] == two[j]:
            steps.append((KEPT, one[i]))
            i, j = i + 1, j + 1
        elif j == len(two) or (i < len(one) and common[i + 1][j] >= common[i][j + 1]):
            steps.append((GONE, one[i]))
            i += 1
        else:
            steps.append((NEW, two[j]))
            j += 1
    return steps


def _shortened(words: list[str], place: int, runs: int) -> list[str]:
    """Words that stay, without those that are far from an edit on either side."""
    head = 0 if place == 0 else CONTEXT
    tail = 0 if place == runs - 1 else CONTEXT
    if len(words) <= head + tail + 1:
        return words
    return [*words[:head], "…", *words[len(words) - tail :]]


def edits_html(before: str, after: str) -> list[Any]:
    """The edits as elements."""
    made: list[Any] = []
    for kind, words in edits(before, after):
        told: Markup | str = " ".join(words)
        made += [" ", told if kind == KEPT else tag("del" if kind == GONE else "ins", told)]
    return made[1:]


def edits_markdown(before: str, after: str) -> Marked:
    """The edits as Markdown: what goes is struck through, what comes is bold."""
    marks = {KEPT: "", GONE: "~~", NEW: "**"}
    return Marked(" ".join(f"{marks[kind]}{text(' '.join(words))}{marks[kind]}" for kind, words in edits(before, after)))
