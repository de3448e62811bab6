"""A module seen through one number a sample: the score `v` that raises the loss, and its gradient in what may move.

Every loss is a function `f(v)` (`tippingpoint.losses`); the module only has to say what `v` is and which way it grows. Steps
are counted in units of distance: a step `s` moves feature j by `s_j/√c_j`, and costs `‖s‖²`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks, combine
from tippingpoint.errors import InputError, ModelError
from tippingpoint.families.network.calling import Call
from tippingpoint.foreign import guarded
from tippingpoint.preprocessing.modules import input_dtype
from tippingpoint.space.domain import Domain

MAX_NUMBERS = 2**22
"""Numbers of the input that a module sees at once, unless the user says how many rows."""

TRIAL_ROWS = 16
"""Rows that are asked together and alone, to see how far a module's answers differ by rounding."""

MAX_DIFFERENCE = 0.5
"""Difference between two answers to one question, relative to their size, that is more than rounding."""

EVEN_ROWS = 256
"""Rows that a module sees at once, always, where its answers must not depend on how many are asked: the last digits of products
of matrices do. More are slow where few rows are left to ask about, fewer where many are."""

NOISE_FACTOR = 4.0
"""How much larger than on those rows the rounding may be elsewhere."""

Outputs = Callable[[torch.Tensor, IntArray], torch.Tensor]
"""From the module's output for some rows to their scores `v`."""


@dataclass
class Tally:
    """Rows that a module was asked about, and what its answer for one of them looks like."""

    rows: int = 0
    shape: torch.Size | None = None

    def form(self, output: torch.Tensor) -> torch.Size:
        """The shape of the first answer for a row."""
        self.shape = output.shape[1:] if self.shape is None else self.shape
        return self.shape


class Scores:
    """The scores of a module on data, and how they change when samples move.

    Parameters
    ----------
    call
        Any module, called on rows of numbers as it is, in the mode it is in.
    pushed
        From its output to `v`.
    x
        `(n, d)` samples, flattened.
    domain
        Which features may move, within which bounds, at what price.
    device
        Where the module is.
    batch
        Rows that the module sees at once; chosen by their size where none is given.
    """

    def __init__(
        self,
        call: Call,
        pushed: Outputs,
        x: FloatArray,
        domain: Domain,
        device: torch.device,
        batch: int | None = None,
    ) -> None:
        self._call = call
        self._pushed = pushed
        self._x = x
        self._device = device
        self._dtype = input_dtype(call.module)
        self.batch: int = batch or call.batch(x.shape[1]) or max(MAX_NUMBERS // x.shape[1], 1)
        """Rows that the module sees at once."""
        self.moves: IntArray = np.flatnonzero(np.isfinite(domain.price))
        """Columns that may move."""
        self.still: BoolArray | None = call.still(self.moves)
        """`(n, moves)`: what of a sample may not move, as it is padding; None where all may."""
        self.unit: FloatArray = np.sqrt(domain.price[self.moves])
        """How long the step of a feature's unit is."""
        self.even: int | None = None
        """Rows that the module sees at once, always: fewer are filled up; None for as many as there are."""
        self._domain = domain
        self.bounded: bool = bool(domain.bounded[self.moves].any())
        self._whole = len(self.moves) == x.shape[1]
        self._priced = bool((self.unit != 1.0).any())
        self._columns = torch.as_tensor(self.moves)
        self.tally: Tally = Tally()
        """How often the module was asked, by whichever score."""
        self.rounding: float = self._noise()
        """A score must pass zero by more than this to count: the last digits depend on how many rows are asked at once."""

    def by(self, pushed: Outputs) -> Scores:
        """The same module, data and domain, with another score."""
        other = copy.copy(self)
        other._pushed = pushed  # noqa: SLF001  # a copy of itself
        return other

    @property
    def samples(self) -> int:
        return len(self._x)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What steps are kept as: the module's own precision."""
        return np.dtype(np.float64 if self._dtype == torch.float64 else np.float32)

    @property
    def eps(self) -> float:
        """The relative precision of the module's numbers."""
        return float(torch.finfo(self._dtype).eps)

    @property
    def _digits(self) -> int:
        """Half of the binary digits of the module's numbers."""
        return round(-math.log2(self.eps)) // 2

    @cached_property
    def _places(self) -> FloatArray:
        return self.freed(np.arange(self.samples), self._x[:, self.moves] * self.unit)

    def staying(self, rows: IntArray) -> FloatArray:
        """The steps of those who stay."""
        return np.zeros((len(rows), len(self.moves)))

    def freed(self, rows: IntArray, steps: FloatArray) -> FloatArray:
        """Steps of these rows without what a row may not move, as it is padding."""
        return steps if self.still is None else np.where(self.still[rows], 0.0, steps)

    def kept(self, rows: IntArray, steps: FloatArray) -> FloatArray:
        """The steps that the module really sees: from where samples are to where its precision, and the bounds, put them."""
        steps = self.freed(rows, steps)
        seen = self.inputs(rows, steps).cpu()[:, self._columns].double().numpy()
        real = (seen - self._x[rows][:, self.moves]) * self.unit
        return np.where(steps == 0.0, 0.0, np.clip(real, *self.room(rows)) if self.bounded else real)

    def room(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """The least and the largest step of every feature that may move."""
        here = self._places[rows]
        low, high = self._domain.bounds(self._x[rows], self.moves)
        return low * self.unit - here, high * self.unit - here

    def points(self, rows: IntArray, steps: FloatArray) -> FloatArray:
        """All features of these rows after their steps: what moved as the module sees it, the rest as it was given."""
        shown = self._x[rows]
        seen = self.inputs(rows, steps).cpu()[:, self._columns].double().numpy()
        seen = np.clip(seen, *self._domain.bounds(self._x[rows], self.moves)) if self.bounded else seen
        shown[:, self.moves] = np.where(steps == 0.0, shown[:, self.moves], seen)
        return shown

    def places(self, rows: IntArray) -> FloatArray:
        """Where these rows are, as steps from the origin."""
        return np.asarray(self._places[rows])

    def values(self, rows: IntArray, steps: FloatArray) -> FloatArray:
        """`v` after these steps."""
        found = np.empty(len(rows))
        with torch.no_grad():
            for part in blocks(len(rows), self.even or self.batch):
                shown = filled(part, self.even)
                inputs = self.inputs(rows[shown], steps[shown])
                found[part] = self.scored(inputs, rows[shown]).double().cpu().numpy()[: part.stop - part.start]
        return self._checked(found, rows)

    def linearised(self, rows: IntArray, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`v` after these steps, and its gradient with respect to them."""
        found, gradient = np.empty(len(rows)), np.empty((len(rows), len(self.moves)))
        for part in blocks(len(rows), self.even or self.batch):
            shown, count = filled(part, self.even), part.stop - part.start
            with torch.inference_mode(mode=False), torch.enable_grad():
                inputs = self.inputs(rows[shown], steps[shown]).requires_grad_()
                v = self.scored(inputs.clone(), rows[shown])  # it may work in place, but not on what gradients are of
                if not v.requires_grad:
                    raise InputError("the module's output has no gradient with respect to X; it must not detach it.")
                (given,) = torch.autograd.grad(v.sum(), inputs, allow_unused=True)
                slopes = torch.zeros_like(inputs) if given is None else given
            found[part] = v.detach().double().cpu().numpy()[:count]
            flat = slopes.double().cpu()[:count]
            gradient[part] = (flat if self._whole else flat[:, self._columns]).numpy()
        if self.even is not None:
            gradient = rounded(gradient, self._digits)
        if self._priced:
            gradient /= self.unit
        return self._checked(found, rows), self.freed(rows, self._checked(gradient, rows))

    def inputs(self, rows: IntArray, steps: FloatArray) -> torch.Tensor:
        """All numbers of these rows after their steps, `(rows, d)`, in the module's precision."""
        moved = self._x[rows]
        if self._whole:
            moved += steps / self.unit if self._priced else steps
        else:
            moved[:, self.moves] += steps / self.unit
        if self.bounded:
            moved[:, self.moves] = np.clip(moved[:, self.moves], *self._domain.bounds(self._x[rows], self.moves))
        return torch.from_numpy(moved).to(self._device, self._dtype)

    def _noise(self) -> float:
        some = np.linspace(0, len(self._x) - 1, min(TRIAL_ROWS, len(self._x))).astype(np.intp)
        together = self.values(some, self.staying(some))
        alone = np.concatenate([self.values(some[k : k + 1], self.staying(some[k : k + 1])) for k in range(len(some))])
        size, apart = float(np.abs(together).max()), float(np.abs(together - alone).max())
        if apart > MAX_DIFFERENCE * size:
            raise InputError(
                "the module answers differently when asked again, or for one row at a time; it must be a fixed function of each"
                " row: call .eval(), and leave out layers that are random or look at the whole batch."
            )
        return NOISE_FACTOR * max(self.eps * size, apart)

    def scored(self, inputs: torch.Tensor, rows: IntArray) -> torch.Tensor:
        """`v` of these rows at these numbers, `(rows, d)`, which the module may write into."""
        self.tally.rows += len(rows)
        with guarded(lambda why: ModelError(f"the module fails after {self.tally.rows:,} rows ({why}).")):
            output = self._call(inputs, rows)
        if not isinstance(output, torch.Tensor):
            raise ModelError(f"the module returns a {type(output).__name__}; it must return one tensor, as it did before.")
        if len(output.shape) == 0 or len(output) != len(rows) or output.shape[1:] != self.tally.form(output):
            raise ModelError(
                f"the module returns shape {tuple(output.shape)} for {len(rows)} rows, and rows of shape"
                f" {tuple(self.tally.form(output))} before; it must not change."
            )
        return self._pushed(output, rows)

    @staticmethod
    def _checked(found: FloatArray, rows: IntArray) -> FloatArray:
        if not np.isfinite(found).all():
            first = int(np.argwhere(~np.isfinite(found))[0, 0])
            raise ModelError(
                f"the module's loss, or its gradient, is not a number at or near row {int(rows[first])}; check the module and"
                " its loss on that row."
            )
        return found


def rounded(slopes: FloatArray, digits: int) -> FloatArray:
    """Slopes to so many binary digits.

    Even among as many rows, the last digits of a gradient depend on where its row stands. A search that ends where its gain is
    stationary is off by the square of what its slopes are, so half of the digits lead it as far, and are always the same but
    where a number lies just between two of them.
    """
    part, exponent = np.frexp(slopes)
    return np.asarray(np.ldexp(np.round(np.ldexp(part, digits)), exponent - digits))


def filled(part: slice, size: int | None) -> slice | IntArray:
    """The positions of a block, filled up with the last of them to a size; as they are where none is given."""
    if size is None:
        return part
    return np.asarray(np.minimum(np.arange(part.start, part.start + size), part.stop - 1), dtype=np.intp)


def cost(steps: FloatArray) -> FloatArray:
    """`‖s‖²` of every step."""
    return combine(steps, steps)
