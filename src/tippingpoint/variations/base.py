"""What a variation is: it makes another wording, layout or picture of a sample; seeded, and composed by `+`."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded

CONTENT = ("text", "image")
"""Keys of a sample of which one is what is asked about."""

Generator = np.random.Generator
"""Where a variation draws from."""

Item = dict[str, Any]
"""A sample: its "text" or "image", perhaps "options", and whatever else a judge wants to see."""


class Variation(ABC):
    """Another form of a text or an image: `variation(text, rng)`; `one + other` does both.

    A variation of your own is a function `f(text)` or `f(text, rng)`; wherever variations are taken, so are functions.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> both = tp.variations.Case("upper") + tp.variations.Punctuation("drop")
    >>> both.name, tp.variations.vary(both, "Who, me?")
    ('case + punctuation', 'WHO ME')
    """

    name: str
    """What it is called in tables, and in tables of prices."""

    @abstractmethod
    def __call__(self, thing: Any, rng: Generator) -> Any:
        """The text or image, varied; `rng` is where chance comes from."""

    @property
    def parts(self) -> tuple[Variation, ...]:
        """What is done one after the other."""
        return (self,)

    def of_item(self, item: Item, rng: Generator) -> Item:
        """A sample with its text or image varied."""
        key = content_key(item)
        return {**item, key: self(item[key], rng)}

    def __add__(self, other: Any) -> Variation:
        return Chain((*self.parts, *as_variation(other, "other").parts))

    def __radd__(self, other: Any) -> Variation:
        return Chain((*as_variation(other, "other").parts, *self.parts))


@dataclass(frozen=True)
class Chain(Variation):
    """Variations one after the other: what `one + other`, or a tuple of them, means.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> chain = tp.variations.Chain((tp.variations.Case("lower"), tp.variations.Wrapper("Q: {text}")))
    >>> tp.variations.vary(chain, "WHO?")
    'Q: who?'
    """

    done: tuple[Variation, ...]

    @property
    def name(self) -> str:  # type: ignore[override]  # of its parts
        """The names of its parts."""
        return " + ".join(part.name for part in self.done)

    @property
    def parts(self) -> tuple[Variation, ...]:
        return self.done

    def __call__(self, thing: Any, rng: Generator) -> Any:
        for part in self.done:
            thing = part(thing, rng)
        return thing

    def of_item(self, item: Item, rng: Generator) -> Item:
        for part in self.done:
            item = part.of_item(item, rng)
        return item


class Function(Variation):
    """A function of your own, `f(text)` or `f(text, rng)`, as a variation with a name.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> polite = tp.variations.Function(lambda text: f"Please: {text}", name="polite")
    >>> tp.variations.vary(polite, "Who?")
    'Please: Who?'
    """

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        called = getattr(function, "__name__", type(function).__name__) if name is None else name
        if called == "<lambda>":
            raise InputError("a lambda has no name for the table; use def, or tp.variations.Function(function, name='...').")
        self.name: str = check_name(called)
        self.function: Callable[..., Any] = function
        self._draws = _positional(function, self.name) > 1

    def __call__(self, thing: Any, rng: Generator) -> Any:
        with guarded(lambda reason: InputError(f"the variation {self.name!r} fails ({reason}) on {_shown(thing)}; mend it.")):
            made = self.function(thing, rng) if self._draws else self.function(thing)
        if isinstance(thing, str) and not isinstance(made, str):
            raise InputError(
                f"the variation {self.name!r} returns {type(made).__name__} for {_shown(thing)}; return the varied text."
            )
        return made


def as_variation(given: Any, name: str) -> Variation:
    """A variation, from one, a function, or a tuple of these."""
    if isinstance(given, Variation):
        return given
    if isinstance(given, tuple) and given:
        parts = [as_variation(each, name) for each in given]
        return Chain(tuple(part for each in parts for part in each.parts))
    if callable(given) and not isinstance(given, type):
        return Function(given)
    raise InputError(
        f"{name}={given!r} is no variation; give one of tp.variations, as tp.variations.Typos(), a function of the text,"
        " or a tuple of these."
    )


def as_variations(given: Sequence[Any]) -> list[Variation]:
    """Several of them, each under a name of its own."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence):
        raise InputError(f"variations={given!r} must be a list, as [tp.variations.Typos(), tp.variations.Case('upper')].")
    made = [as_variation(each, f"variations[{k}]") for k, each in enumerate(given)]
    seen: dict[str, int] = {}
    for k, each in enumerate(made):
        first = seen.setdefault(each.name, k)
        if first != k:
            raise InputError(
                f"variations[{first}] and variations[{k}] are both called {each.name!r}; give one a name, as"
                f" {type(each.parts[0]).__name__}(..., name='another')."
            )
    return made


def vary(variation: Any, thing: Any, *, seed: int = 0, sample: Any = 0, draw: int = 0) -> Any:
    """A text, an image or a sample (a dictionary), varied; a function of its arguments only.

    Parameters
    ----------
    variation
        One of `tp.variations`, a function, or a tuple of these.
    thing
        A text, an array, or a dictionary with "text" or "image" and perhaps "options".
    seed, sample, draw
        What the chance depends on: the same three give the same bytes, in whatever order samples come.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Case("upper"), "Who is it?")
    'WHO IS IT?'
    >>> typos = tp.variations.Typos(0.1)
    >>> [tp.variations.vary(typos, "Who is it?", draw=k) for k in (0, 1, 0)]
    ['Eho is it?', 'Who ix it?', 'Eho is it?']
    """
    made = as_variation(variation, "variation")
    rng = generator(seed, made.name, sample, draw)
    return made.of_item(thing, rng) if isinstance(thing, dict) else made(thing, rng)


def generator(seed: int, name: str, sample: Any, draw: int) -> Generator:
    """Chance of this variation of this sample, whatever others there are."""
    digest = hashlib.sha256("\x1f".join((str(seed), name, str(sample), str(draw))).encode("utf-8", "backslashreplace"))
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest.digest()[:16], "little")))


def content_key(item: Mapping[str, Any]) -> str:
    """Whether a sample is a text or an image."""
    found = [key for key in CONTENT if key in item]
    if len(found) != 1:
        raise InputError(f"a sample has the keys {list(item)!r}; it needs one of 'text' and 'image'.")
    return found[0]


def check_name(name: Any) -> str:
    """Refuse what names nothing."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"name={name!r} must be some text.")
    return name


def check_share(share: Any, name: str) -> float:
    """Refuse what is no share of a text."""
    if isinstance(share, (str, bool)) or not isinstance(share, (int, float)) or not 0.0 < share <= 1.0:
        raise InputError(f"{name}={share!r} must lie above 0 and be at most 1, as 0.1 for a tenth.")
    return float(share)


def _positional(function: Callable[..., Any], name: str) -> int:
    """How many arguments a function takes, of those that are given by their place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of compiled code
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [each for each in parameters if each.kind in kinds and each.default is inspect.Parameter.empty]
    if len(needed) > 2 or not (needed or any(each.kind in kinds for each in parameters)):
        raise InputError(f"the variation {name!r} takes {len(needed)} arguments; it is called as f(text) or f(text, rng).")
    return len(needed)


def _shown(thing: Any) -> str:
    text = repr(thing) if isinstance(thing, str) else f"an array of shape {np.shape(thing)}"
    return text if len(text) <= 60 else f"{text[:57]}..."
