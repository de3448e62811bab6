"""How a module is called: with one tensor, or with several inputs by name or position, of which some ride along."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import BoolArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.data.inputs import Inputs
from tippingpoint.errors import InputError
from tippingpoint.text import percent

MAX_NUMBERS = 2**18
"""Numbers of the inputs that a module of several sees at once, unless the user says how many rows: what such modules keep for a
gradient is many times that."""

EMBEDDINGS = "inputs_embeds"
"""What modules call embeddings that they take in place of token ids."""


class Call(ABC):
    """A module as a function of rows of numbers.

    Attributes
    ----------
    module
        The user's.
    notes
        How its inputs were understood, where nobody had said it.
    """

    module: nn.Module
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __call__(self, numbers: Tensor, rows: IntArray) -> Any:
        """What the module returns for these rows, given the numbers `(rows, d)` that may move; it may write into them."""

    @abstractmethod
    def shown(self, rows: int) -> str:
        """In words: what the module is given for so many rows."""

    def still(self, columns: IntArray) -> BoolArray | None:
        """`(n, columns)`: which numbers of every sample may never move; None where all may."""
        return None

    def batch(self, width: int) -> int | None:
        """Rows of so many numbers at once; None for as many as is usual."""
        return None


@dataclass(frozen=True)
class OneTensor(Call):
    """A module of one tensor.

    Attributes
    ----------
    module
        The user's.
    shape
        Of one sample.
    """

    module: nn.Module
    shape: tuple[int, ...]

    def __call__(self, numbers: Tensor, rows: IntArray) -> Any:
        return logits(self.module(numbers.reshape(len(numbers), *self.shape)))

    def shown(self, rows: int) -> str:
        parameters = _parameters(self.module)
        hint = ""
        if parameters is not None and EMBEDDINGS in parameters and next(iter(parameters)) != EMBEDDINGS:
            hint = f" (it takes {EMBEDDINGS} by name: pass X as {{{EMBEDDINGS!r}: ...}})"
        return f"X as a float tensor of shape {(rows, *self.shape)}{hint}"


@dataclass(frozen=True)
class SeveralInputs(Call):
    """A module of several inputs.

    Attributes
    ----------
    module
        The user's.
    inputs
        What they are, and what rides along.
    named
        Whether they are given by name, as its `forward` has them, or one after the other.
    device
        Where the module is.
    notes
        How its inputs were understood, where nobody had said it.
    """

    module: nn.Module
    inputs: Inputs
    named: bool
    device: torch.device
    notes: tuple[str, ...] = ()

    def __call__(self, numbers: Tensor, rows: IntArray) -> Any:
        parts = self.inputs.split(numbers)
        for name, values in self.inputs.beside.items():
            tensor = torch.as_tensor(values[rows])
            parts[name] = tensor.to(self.device, numbers.dtype if tensor.is_floating_point() else None)
        given = {each.name: parts[each.name] for each in self.inputs.entries}
        return logits(self.module(**given) if self.named else self.module(*given.values()))

    def shown(self, rows: int) -> str:
        return ", ".join(f"X[{each.name!r}] of shape {(rows, *each.shape)}" for each in self.inputs.entries)

    def still(self, columns: IntArray) -> BoolArray | None:
        return self.inputs.still(columns)

    def batch(self, width: int) -> int | None:
        return max(MAX_NUMBERS // width, 1)


def call_of(module: nn.Module, features: Features, device: torch.device) -> Call:
    """How a module is called on these data; an error where its `forward` does not take what they hold."""
    inputs = features.inputs
    if inputs is None:
        return OneTensor(module, features.shape)
    names = [each.name for each in inputs.entries]
    named = _by_name(module, names)
    notes = list[str]()
    for name, here in inputs.padding.items():
        masks = " or ".join(inputs.masks)
        if here.any():
            notes.append(f"{percent(float(here.mean()))} of the positions of {name} are padding by {masks}, and never move")
    if not named:
        notes.append(f"the module was given {', '.join(names)} in this order, as its forward has other names")
    return SeveralInputs(module, inputs, named, device, tuple(notes))


def logits(output: Any) -> Any:
    """What a module returns, or the logits in it, as classifiers of Hugging Face have it."""
    return output if isinstance(output, Tensor) else getattr(output, "logits", output)


def _by_name(module: nn.Module, names: Sequence[str]) -> bool:
    """Whether a module takes inputs of these names; False where it has other names, and takes so many in their order."""
    parameters = _parameters(module)
    if parameters is None or any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return True
    able = {name for name, each in parameters.items() if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    unknown = [name for name in names if name not in able]
    if not unknown:
        return True
    if len(unknown) < len(names):  # some are known: the others are misspelt, or too many
        near = get_close_matches(unknown[0], able - set(names), n=1)
        remedy = f"call it {near[0]!r}." if near else f"it takes {', '.join(parameters)}; leave it out."
        raise InputError(f"X has an input {unknown[0]!r}, which the module's forward does not take; {remedy}")
    in_order = [each for each in parameters.values() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    most = len(names) if any(each.kind is each.VAR_POSITIONAL for each in parameters.values()) else len(in_order)
    least = sum(each.default is each.empty for each in in_order)
    if not least <= len(names) <= most:
        raise InputError(
            f"X has the inputs {', '.join(names)}, and the module's forward takes {', '.join(parameters)}; name them so."
        )
    return False


def _parameters(module: nn.Module) -> dict[str, inspect.Parameter] | None:
    """What a module's forward takes; None where that cannot be known."""
    try:
        return dict(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):
        return None
