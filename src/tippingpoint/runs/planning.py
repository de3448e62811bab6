"""What is to be asked: every sample as it is and in every variation, each with its prompt and its cost."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.costs.base import Cost, Pair
from tippingpoint.costs.embeddings import PixelDistance
from tippingpoint.data.frames import read_frame
from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded
from tippingpoint.runs.joining import as_cost
from tippingpoint.runs.outcomes import ORIGINAL
from tippingpoint.variations.base import Item, Variation, content_key, generator

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What options are called."""

UNCHANGED = "of a variation that left a sample as it was"


@dataclass(frozen=True)
class Planned:
    """One line of the table to be: a sample in one of its variants.

    Attributes
    ----------
    sample, number
        What it is called, and its place among the samples.
    variant, variation
        The name of the variant, and of the variations that made it; "" of the original.
    item
        The sample as it is asked about, for the judge.
    prompt, key
        What the model is given, and its fingerprint.
    cost
        0 of the original.
    """

    sample: Any
    number: int
    variant: str
    variation: str
    item: Item
    prompt: Any
    key: str
    cost: float = 0.0


def read_samples(samples: Any) -> list[tuple[Any, Item]]:
    """Samples with their names: from a frame, a dictionary by name, or a list, of texts, images or dictionaries."""
    import narwhals as nw

    frame = read_frame(samples, "samples")
    if isinstance(frame, nw.DataFrame):
        columns = {str(name): frame[name].to_list() for name in frame.columns}
        given: list[tuple[Any, Any]] = [
            (None, {name: values[i] for name, values in columns.items()}) for i in range(len(frame))
        ]
    elif isinstance(samples, Mapping):
        given = list(samples.items())
    elif isinstance(samples, (str, bytes)) or not isinstance(samples, (Sequence, np.ndarray)):
        raise InputError(f"samples={type(samples).__name__} must be a list of texts or dictionaries, or a frame, one a sample.")
    else:
        given = [(None, each) for each in samples]
    if not given:
        raise InputError("samples is empty; give one text a sample.")
    read: list[tuple[Any, Item]] = []
    for k, (name, each) in enumerate(given):
        item = dict(each) if isinstance(each, Mapping) else {"text" if isinstance(each, str) else "image": each}
        label = item.pop("sample", k) if name is None else name
        key = content_key(item)
        if key == "text" and (not isinstance(item["text"], str) or not item["text"].strip()):
            raise InputError(f"samples[{k}]: text={item['text']!r} must be some text.")
        read.append((label, item))
    seen: set[str] = set()
    for label, _ in read:
        if str(label) in seen:
            raise InputError(f"samples holds {label!r} twice; give every sample a name of its own.")
        seen.add(str(label))
    return read


def default_prompt(item: Item) -> Any:
    """The text, with lettered options below it where there are any; of an image, the image."""
    content = item[content_key(item)]
    options = item.get("options")
    if not isinstance(content, str) or options is None:
        return content
    if len(options) > len(LETTERS):
        raise InputError(f"a sample has {len(options)} options, more than there are letters; give prompt=, a function of it.")
    return "\n".join([content, *(f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False))])


def fingerprint(thing: Any) -> str:
    """The SHA-256 of a text, an array, or lists and dictionaries of these."""
    digest = hashlib.sha256()
    _feed(digest.update, thing)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], thing: Any) -> None:
    if isinstance(thing, str):
        update(b"s" + thing.encode("utf-8", "backslashreplace"))
    elif isinstance(thing, np.ndarray):
        update(f"a{thing.dtype}{thing.shape}".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, (list, tuple)):
        update(f"l{len(thing)}".encode())
        for each in thing:
            _feed(update, each)
            update(b"\x1f")
    elif isinstance(thing, Mapping):
        update(f"d{len(thing)}".encode())
        for name, each in thing.items():
            _feed(update, (str(name), each))
    elif thing is None or isinstance(thing, (bool, int, float, bytes)):
        update(repr(thing).encode())
    else:
        raise InputError(f"a prompt is {type(thing).__name__}; prompts are texts, arrays, or lists and dictionaries of these.")


def plan(
    samples: Any,
    variations: Sequence[Variation],
    *,
    draws: int,
    seed: int,
    prompt: Callable[[Item], Any] | None,
    cost: Any,
) -> tuple[list[Planned], Counter[str], Cost]:
    """Every line of the table to be, originals first; what was left out; and what costs are."""
    make = _guarded_prompt(prompt) if prompt is not None else default_prompt
    read = read_samples(samples)
    dropped: Counter[str] = Counter()
    originals = [_planned(name, k, ORIGINAL, "", item, make) for k, (name, item) in enumerate(read)]
    changed: list[Planned] = []
    for variation in variations:
        for draw in range(draws):
            variant = variation.name if draws == 1 else f"{variation.name} {draw + 1}"
            for k, (name, item) in enumerate(read):
                varied = variation.of_item(item, generator(seed, variation.name, name, draw))
                line = _planned(name, k, variant, variation.name, varied, make)
                if line.key == originals[k].key:
                    dropped[UNCHANGED] += 1
                else:
                    changed.append(line)
    images = not isinstance(originals[0].prompt, str)
    priced = as_cost(cost) if cost is not None else PixelDistance() if images else as_cost("words")
    parts = {variation.name: tuple(part.name for part in variation.parts) for variation in variations}
    pairs = [Pair(_content(originals[line.number]), _content(line), line.variant, parts[line.variation]) for line in changed]
    costs = priced(pairs) if pairs else np.zeros(0)
    made = [_with_cost(line, float(each)) for line, each in zip(changed, costs, strict=True)]
    return originals + made, dropped, priced


def _planned(name: Any, number: int, variant: str, variation: str, item: Item, make: Callable[[Item], Any]) -> Planned:
    asked = make(item)
    return Planned(name, number, variant, variation, {**item, "sample": name, "variant": variant}, asked, fingerprint(asked))


def _content(line: Planned) -> Any:
    """What a cost compares: the prompt where it is a text, else the image."""
    return line.prompt if isinstance(line.prompt, str) else line.item[content_key(line.item)]


def _with_cost(line: Planned, cost: float) -> Planned:
    if not (math.isfinite(cost) and cost > 0.0):
        raise InputError(
            f"the cost of {line.variant!r} of sample {line.sample!r} is {cost:g}; only the original costs 0: give one above."
        )
    return Planned(line.sample, line.number, line.variant, line.variation, line.item, line.prompt, line.key, cost)


def _guarded_prompt(prompt: Callable[[Item], Any]) -> Callable[[Item], Any]:
    if not callable(prompt):
        raise InputError(f"prompt={prompt!r} must be a function from a sample (a dictionary) to what the model is given.")

    def made(item: Item) -> Any:
        with guarded(lambda reason: InputError(f"prompt fails ({reason}) on a sample with {list(item)!r}; mend the function.")):
            return prompt(item)

    return made
