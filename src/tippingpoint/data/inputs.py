"""Samples of several arrays: X as a mapping of what a module takes, some of which may move while the rest rides along."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import Column
from tippingpoint.errors import InputError

TOKEN_MASKS = ("attention_mask", "mask")
"""Inputs that hold 1 where a position counts and 0 where it is padding, as Hugging Face names them."""

PADDING_MASKS = "padding_mask"
"""How names of inputs end that hold True where a position is padding, as PyTorch has it."""

SEQUENCE = (1, 2)
"""Dimensions of a sample that is a sequence: of numbers, or of vectors."""

PLAIN = "biuf"
"""Kinds of NumPy's types that a tensor can be made of."""


@dataclass(frozen=True)
class Input:
    """One of the arrays that a sample is made of.

    Attributes
    ----------
    name
        Its key in the mapping.
    shape
        Of one sample.
    columns
        Where it stands in the table of numbers; None where it rides along.
    like
        An empty array or tensor of the user's type, which what is given back takes on.
    """

    name: str
    shape: tuple[int, ...]
    columns: slice | None
    like: Any = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """Values of one sample."""
        return math.prod(self.shape)

    @property
    def sequence(self) -> bool:
        """Whether a sample of it is a sequence of vectors."""
        return len(self.shape) == len(SEQUENCE)

    @property
    def kind(self) -> str:
        """In words: what its values are."""
        word = "embedding coordinates" if "embed" in self.name else "pixels" if "pixel" in self.name else "values"
        return f"{word} of {self.name!r}"

    def at(self, row: object, place: int) -> str:
        """One of its values, as Python writes it."""
        return f"X[{self.name!r}][{', '.join([str(row), *map(str, np.unravel_index(place, self.shape))])}]"


@dataclass(frozen=True)
class Inputs:
    """What the columns of a table of numbers are to a module of several inputs, and what rides along with every row.

    Attributes
    ----------
    entries
        The inputs, in the user's order.
    beside
        Those that ride along, by name: `(n, ...)` each, of the user's own type.
    padding
        By name of a sequence that may move: `(n, T)`, True where a position is padding.
    masks
        Names of the inputs that say so.
    """

    entries: tuple[Input, ...]
    beside: Mapping[str, np.ndarray[Any, Any]]
    padding: Mapping[str, BoolArray]
    masks: tuple[str, ...]

    @property
    def floating(self) -> tuple[Input, ...]:
        """The inputs that may move, unless a space says otherwise."""
        return tuple(each for each in self.entries if each.columns is not None)

    @property
    def width(self) -> int:
        """Columns of the table."""
        return sum(each.size for each in self.floating)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What results show: how far each vector of a sequence has moved, of anything else how far all of it has."""
        return tuple(Column(name, "shift") for each in self.floating for name in _shown(each))

    def take(self, rows: IntArray) -> Inputs:
        """The same of these rows only."""
        beside = {name: values[rows] for name, values in self.beside.items()}
        return replace(self, beside=beside, padding={name: here[rows] for name, here in self.padding.items()})

    def still(self, columns: IntArray) -> BoolArray | None:
        """`(n, columns)`: what never moves of every row, as it is padding; None where nothing is."""
        if not any(here.any() for here in self.padding.values()):
            return None
        parts = [self._still(each) for each in self.floating]
        return np.concatenate(parts, axis=1)[:, columns]

    def _still(self, each: Input) -> BoolArray:
        rows = len(next(iter(self.padding.values())))
        if each.name not in self.padding:
            return np.zeros((rows, each.size), dtype=bool)
        return np.repeat(self.padding[each.name], math.prod(each.shape[1:]), axis=1)

    def held(self, each: Input, x: FloatArray) -> tuple[FloatArray, IntArray]:
        """The values of an input outside of its padding, and the row of each."""
        values = x[:, each.columns]
        if each.name not in self.padding:
            return values.reshape(-1), np.repeat(np.arange(len(x)), values.shape[1])
        counts = ~self._still(each)
        return values[counts], np.nonzero(counts)[0]

    def place(self, column: int) -> tuple[Input, int]:
        """The input that a column belongs to, and its place there."""
        for each in self.floating:
            if each.columns is not None and column < each.columns.stop:
                return each, column - each.columns.start
        raise IndexError(column)

    def split(self, flat: Any) -> dict[str, Any]:
        """The columns of some rows, an array or a tensor, as the inputs that they are."""
        return {each.name: flat[:, each.columns].reshape(len(flat), *each.shape) for each in self.floating}

    def shifts(self, before: FloatArray, after: FloatArray) -> dict[str, FloatArray]:
        """How far these rows have moved: `‖after - before‖` of each vector of a sequence, of anything else as a whole."""
        found = dict[str, FloatArray]()
        for each in self.floating:
            steps = (after - before)[:, each.columns]
            apart = steps.reshape(len(steps), len(_shown(each)), -1)
            found.update(zip(_shown(each), np.sqrt(np.square(apart).sum(axis=2)).T, strict=True))
        return found

    def given_back(self, flat: FloatArray, rows: IntArray) -> dict[str, Any]:
        """Rows of numbers as the user gave them, arrays or tensors, with what rides along."""
        parts = {**self.split(flat), **{name: values[rows] for name, values in self.beside.items()}}
        return {each.name: _typed(parts[each.name], each.like) for each in self.entries}

    def contents(self, x: FloatArray) -> dict[str, Any]:
        """All values by input, each as one vector under its name and shape: what a fingerprint is of."""
        parts = {**self.split(x), **self.beside}
        return {f"{each.name}\x00{each.shape}": parts[each.name].reshape(-1) for each in self.entries}

    def differing(self, other: Inputs) -> str | None:
        """The first input that rides along with other values in `other`; None where all are the same."""
        for name, values in self.beside.items():
            its = other.beside.get(name)
            if its is None or its.shape != values.shape or not np.array_equal(its, values):
                return name
        return None


def read_inputs(data: Mapping[Any, Any]) -> tuple[FloatArray, tuple[Column, ...], Inputs]:
    """A mapping of arrays as a table of the numbers that may move, its columns, and what they are to a module."""
    held = {name: _array(name, values) for name, values in data.items()}
    if not held:
        raise InputError("X is an empty mapping; give the inputs of the module by name, as {'inputs_embeds': ...}.")
    (first, rows), *others = ((name, len(values)) for name, values in held.items())
    for name, length in others:
        if length != rows:
            raise InputError(f"X[{name!r}] has {length} rows but X[{first!r}] has {rows}; give every input one row a sample.")
    moving = [name for name, values in held.items() if values.dtype.kind == "f" and not _is_mask(name)]
    if not moving:
        kinds = ", ".join(f"{name}: {values.dtype}" for name, values in held.items())
        raise InputError(
            f"X holds no input that can move ({kinds}): samples move by small steps, so give one of floats (token ids: embed"
            " them, as {'inputs_embeds': model.get_input_embeddings()(input_ids)})."
        )
    entries, start = list[Input](), 0
    for name, values in held.items():
        width = math.prod(values.shape[1:])
        columns = slice(start, start + width) if name in moving else None
        start += width if name in moving else 0
        entries.append(Input(name, values.shape[1:], columns, _like(data[name], values)))
    masks = {name: values for name, values in held.items() if _is_mask(name)}
    floating = [each for each in entries if each.columns is not None]
    x = np.empty((rows, start))
    for each in floating:
        x[:, each.columns] = held[each.name].reshape(rows, -1)
    padding = dict[str, BoolArray]()
    for name, values in masks.items():
        gaps, sequences = _padding(name, values), [each for each in floating if _fits(each, values)]
        if not sequences:
            shapes = ", ".join(f"{each.name} has {(rows, *each.shape)}" for each in floating)
            raise InputError(
                f"X[{name!r}] has shape {values.shape}, and {shapes}; a mask has one value for every row and position of a"
                " sequence, (rows, positions)."
            )
        for each in sequences:
            padding[each.name] = padding.get(each.name, np.zeros_like(gaps)) | gaps
    beside = {name: values.copy() for name, values in held.items() if name not in moving}
    cells = tuple(Column(name) for each in floating for name in _cells(each))
    return x, cells, Inputs(tuple(entries), beside, padding, tuple(masks))


def _array(name: Any, values: Any) -> np.ndarray[Any, Any]:
    """One input as an array."""
    if not isinstance(name, str):
        raise InputError(f"X has the key {name!r}; name inputs by text, as the module's forward does.")
    if type(values).__module__.startswith("dask"):
        raise InputError(
            f"X[{name!r}] is a Dask collection; inputs of a module are held in memory: pass X[{name!r}].compute()."
        )
    if type(values).__module__ == "torch":
        values = values.detach().cpu()
        values = (values.double() if values.is_floating_point() else values).numpy()
    try:
        held = np.asarray(values)
    except ValueError:
        raise InputError(f"X[{name!r}] has rows of different lengths; pad them, and mark padding in a mask.") from None
    if held.dtype.kind not in PLAIN:
        raise InputError(f"X[{name!r}] holds {held.dtype}, which no tensor does; give numbers, or leave it out.")
    if not held.ndim:
        raise InputError(f"X[{name!r}] is a single value; give an array of one row a sample, or set it in a wrapper module.")
    if 0 in held.shape:
        raise InputError(f"X[{name!r}] has shape {held.shape}: there is nothing to evaluate; give at least one row and value.")
    return held


def _is_mask(name: str) -> bool:
    return name in TOKEN_MASKS or name.endswith(PADDING_MASKS)


def _padding(name: str, values: np.ndarray[Any, Any]) -> BoolArray:
    """Where a mask marks padding."""
    odd = values[(values != 0) & (values != 1)]
    if len(odd):
        marks = (
            "True where a position is padding" if name.endswith(PADDING_MASKS) else "1 where a position counts, 0 at padding"
        )
        raise InputError(f"X[{name!r}] holds {odd[0].item()!r}; a mask holds {marks}.")
    return np.asarray(values == (1 if name.endswith(PADDING_MASKS) else 0))


def _fits(each: Input, mask: np.ndarray[Any, Any]) -> bool:
    """Whether an input is a sequence of as many positions as a mask."""
    return len(each.shape) in SEQUENCE and mask.ndim == len(SEQUENCE) and each.shape[0] == mask.shape[1]


def _cells(each: Input) -> list[str]:
    """Names of all values of a sample of an input."""
    if not each.shape:
        return [each.name]
    return [f"{each.name}[{', '.join(map(str, place))}]" for place in np.ndindex(*each.shape)]


def _shown(each: Input) -> list[str]:
    """Names of what is shown of an input: its vectors, where it is a sequence of them, else all of it."""
    return [f"{each.name}[{t}]" for t in range(each.shape[0])] if each.sequence else [each.name]


def _like(given: Any, values: np.ndarray[Any, Any]) -> Any:
    """An empty array or tensor of the user's type, which holds nothing of what was given."""
    return given.detach().new_empty(0, device="cpu") if type(given).__module__ == "torch" else np.empty(0, values.dtype)


def _typed(values: np.ndarray[Any, Any], like: Any) -> Any:
    """An array as the user's kind of array, of its precision where that holds the values."""
    if type(like).__module__ == "torch":
        torch = sys.modules["torch"]  # whoever made a tensor has imported it
        made = torch.as_tensor(np.ascontiguousarray(values))
        cast = made.to(like.dtype)
        return cast if bool((cast == made).all()) else made
    typed = values.astype(like.dtype)
    return typed if np.array_equal(typed, values) else values
