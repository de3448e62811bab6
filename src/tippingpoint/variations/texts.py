"""Variations of texts: what happens to prompts on their way, and how else they could have been laid out."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tippingpoint.errors import InputError
from tippingpoint.variations.base import Generator, Variation, check_name, check_share

ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
"""The keys of a keyboard, row by row; each row begins half a key to the right of the one above."""

WORD = re.compile(r"\S+")
MARK = re.compile(r"[^\w\s]")
GAP = re.compile(r"(?<=\S)[ \t]+(?=\S)")


def _neighbours() -> dict[str, str]:
    """The keys around every letter, upper case and lower case."""
    found = {}
    for r, row in enumerate(ROWS):
        for k, key in enumerate(row):
            around = [(r, k - 1), (r, k + 1), (r - 1, k), (r - 1, k + 1), (r + 1, k - 1), (r + 1, k)]
            keys = "".join(ROWS[i][j] for i, j in around if 0 <= i < len(ROWS) and 0 <= j < len(ROWS[i]))
            letters = "".join(each for each in keys if each.isalpha()) if key.isalpha() else keys
            found[key] = letters
            found[key.upper()] = letters.upper()
    return found


NEIGHBOURS = _neighbours()
"""What is hit in place of a key; letters become letters, digits become what is around them."""

CASES = ("upper", "lower", "title", "swap", "random")


class Typos(Variation):
    """Letters replaced by a neighbour on the keyboard: a share of them, at least one.

    Parameters
    ----------
    share
        Of the letters.
    name
        What it is called, where several differ in their share.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Typos(0.2), "capital of France")
    'capifal of Franvd'
    """

    def __init__(self, share: float = 0.05, *, name: str = "typos") -> None:
        self.share: float = check_share(share, "share")
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        places = [k for k, letter in enumerate(thing) if letter.isalpha() and letter in NEIGHBOURS]
        letters = list(thing)
        for k in _some(places, self.share, rng):
            near = NEIGHBOURS[letters[k]]
            letters[k] = near[int(rng.integers(len(near)))]
        return "".join(letters)


class Case(Variation):
    """The case of letters: all "upper", all "lower", "title", "swap", or "random", each letter by a coin.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Case("swap"), "Who is Ada?")
    'wHO IS aDA?'
    """

    def __init__(self, to: str = "upper", *, name: str = "case") -> None:
        if to not in CASES:
            raise InputError(f"to={to!r} is no case; use one of {', '.join(CASES)}.")
        self.to: str = to
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        if self.to == "random":
            coins = rng.random(len(thing)) < 0.5
            return "".join(letter.upper() if up else letter.lower() for letter, up in zip(thing, coins, strict=True))
        return {"upper": thing.upper, "lower": thing.lower, "title": thing.title, "swap": thing.swapcase}[self.to]()


class Spacing(Variation):
    """Spaces between words replaced: a share of them, at least one, by `by`.

    Parameters
    ----------
    share
        Of the spaces between words of one line.
    by
        What stands there instead.
    name
        What it is called.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Spacing(1.0), "Who is it?")
    'Who  is  it?'
    """

    def __init__(self, share: float = 0.2, by: str = "  ", *, name: str = "spacing") -> None:
        self.share: float = check_share(share, "share")
        self.by: str = by
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        return _replaced(thing, [each.span() for each in GAP.finditer(thing)], self.share, self.by, rng)


class Punctuation(Variation):
    """Punctuation marks: "drop" all of them, or "double" each.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Punctuation("double"), "Who, me?")
    'Who,, me??'
    """

    def __init__(self, how: str = "drop", *, name: str = "punctuation") -> None:
        if how not in ("drop", "double"):
            raise InputError(f"how={how!r} is neither 'drop' nor 'double'; use one of them.")
        self.how: str = how
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        return MARK.sub("" if self.how == "drop" else r"\g<0>\g<0>", thing)


class WordDrop(Variation):
    """Words left out: a share of them, at least one, never all.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.WordDrop(0.3), "What is the capital of France?")
    'What is capital France?'
    """

    def __init__(self, share: float = 0.1, *, name: str = "word drop") -> None:
        self.share: float = check_share(share, "share")
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        words = [each.span() for each in WORD.finditer(thing)]
        if len(words) < 2:
            return thing
        spans = [(start, _next_word(thing, end)) for start, end in words]
        return _replaced(thing, spans, self.share, "", rng, most=len(words) - 1).rstrip(" ")


class WordSwap(Variation):
    """Neighbouring words that change places: a share of the pairs, at least one.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.WordSwap(0.2), "What is the capital of France?")
    'What is the capital France? of'
    """

    def __init__(self, share: float = 0.1, *, name: str = "word swap") -> None:
        self.share: float = check_share(share, "share")
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        words = [each.span() for each in WORD.finditer(thing)]
        order = list(range(len(words)))
        for k in _some(list(range(len(words) - 1)), self.share, rng):
            if order[k] == k and order[k + 1] == k + 1:  # neither has moved yet
                order[k], order[k + 1] = k + 1, k
        made, end = [], 0
        for place, k in enumerate(order):
            start, stop = words[place]
            made += [thing[end:start], thing[words[k][0] : words[k][1]]]
            end = stop
        return "".join([*made, thing[end:]])


class Separators(Variation):
    """Separators of a layout replaced, as every ": " by " - ".

    Parameters
    ----------
    of
        What separates, as ":" in "Question: ...".
    by
        What stands there instead; of several, one is drawn for the whole text.
    name
        What it is called.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Separators(": ", " - "), "Question: Who? Answer: ")
    'Question - Who? Answer - '
    """

    def __init__(self, of: str = ": ", by: str | Sequence[str] = " - ", *, name: str = "separators") -> None:
        if not isinstance(of, str) or not of:
            raise InputError(f"of={of!r} must be the text of a separator, as ': '.")
        self.of: str = of
        self.by: list[str] = _choices(by, "by")
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        return thing.replace(self.of, self.by[int(rng.integers(len(self.by)))])


class Wrapper(Variation):
    """A text put into another: "{text}" is where it goes; of several templates, one is drawn.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Wrapper("You are a doctor. {text}"), "Who is ill?")
    'You are a doctor. Who is ill?'
    """

    def __init__(self, template: str | Sequence[str], *, name: str = "wrapper") -> None:
        self.templates: list[str] = _choices(template, "template")
        for each in self.templates:
            if each.count("{text}") != 1:
                raise InputError(f"template={each!r} must hold {{text}} once, which is where the text goes.")
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        return self.templates[int(rng.integers(len(self.templates)))].replace("{text}", thing)


class OptionOrder(Variation):
    """The options of a multiple-choice question in another order.

    It needs samples with "options", a list; their text stays. What is right should be said by its text and not by its letter:
    a judge is given the sample with its options as they were asked.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> sample = {"text": "The capital of France?", "options": ["Paris", "Lyon", "Nice"]}
    >>> tp.variations.vary(tp.variations.OptionOrder(), sample)["options"]
    ['Nice', 'Lyon', 'Paris']
    """

    def __init__(self, *, name: str = "option order") -> None:
        self.name: str = check_name(name)

    def __call__(self, thing: str, rng: Generator) -> str:
        raise InputError(f"the variation {self.name!r} is of samples with options; give samples as {{'text', 'options'}}.")

    def of_item(self, item: dict[str, object], rng: Generator) -> dict[str, object]:
        options = item.get("options")
        if isinstance(options, str) or not isinstance(options, Sequence) or len(options) < 2:
            raise InputError(
                f"the variation {self.name!r} needs samples with 'options', a list of two or more; one has {options!r}."
            )
        order = rng.permutation(len(options))
        while (order == np.arange(len(order))).all():  # as they are is no other order
            order = rng.permutation(len(options))
        return {**item, "options": [options[k] for k in order]}


def _choices(given: str | Sequence[str], name: str) -> list[str]:
    choices = [given] if isinstance(given, str) else list(given)
    if not choices or not all(isinstance(each, str) for each in choices):
        raise InputError(f"{name}={given!r} must be text, or a list of texts.")
    return choices


def _some(places: list[int], share: float, rng: Generator, most: int | None = None) -> list[int]:
    """A share of the places, at least one, in their order."""
    if not places:
        return []
    count = min(max(1, round(share * len(places))), len(places) if most is None else most)
    return [places[k] for k in sorted(rng.permutation(len(places))[:count].tolist())]


def _replaced(text: str, spans: list[tuple[int, int]], share: float, by: str, rng: Generator, most: int | None = None) -> str:
    """The text with some of these spans replaced."""
    for k in reversed(_some(list(range(len(spans))), share, rng, most)):
        text = text[: spans[k][0]] + by + text[spans[k][1] :]
    return text


def _next_word(text: str, end: int) -> int:
    """Where the spaces behind a word end; the break of a line stays."""
    while end < len(text) and text[end] in " \t":
        end += 1
    return end
