r"""A network along one column, exactly: outputs that are lines between finitely many breakpoints.

If only feature j moves, by :math:`\delta`, what enters the first activation is a line in :math:`\delta`. An activation that is
itself made of lines bends it where it crosses a knot, and a linear layer mixes lines into lines. So the breakpoints are found
layer by layer, and between two of them every output is :math:`a + b\delta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import nn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.families.network.proofs.layers import numbers_of, plain

MAX_NUMBERS = 2**19
"""Numbers of a layer held at once, 4 MB: samples are taken in groups so small that their segments keep to it."""

NOISE = 8.0 * float(np.finfo(float).eps)
"""Part of a sum's terms up to which the sum is rounding, and of a place up to which two breakpoints are one."""


@dataclass(frozen=True)
class Lines:
    """`value + slope·δ` for `start ≤ δ ≤ stop`, on segments in order of sample and place.

    The segments of a sample cover all of its room, and one of them begins where it is now, at 0.

    Attributes
    ----------
    sample, start, stop
        `(s,)`: whose segment it is, and where it lies; the ends may be infinite.
    value, slope
        `(s, k)`: every output prolonged to `δ = 0`, and how fast it grows with `δ`.
    """

    sample: IntArray
    start: FloatArray
    stop: FloatArray
    value: FloatArray
    slope: FloatArray

    @cached_property
    def side(self) -> FloatArray:
        """Whether a segment lies above (+1) or below (-1) the sample's own place."""
        return np.where(self.start >= 0.0, 1.0, -1.0)

    @cached_property
    def near(self) -> FloatArray:
        """`|δ|` of the end that is reached first."""
        return np.where(self.side > 0.0, self.start, -self.stop)

    @cached_property
    def far(self) -> FloatArray:
        """`|δ|` of the end that is reached last."""
        return np.where(self.side > 0.0, self.stop, -self.start)

    @property
    def inside(self) -> FloatArray:
        """A place within each segment; none of them has 0 within it."""
        first = np.where(np.isinf(self.start), 2.0 * self.stop - 1.0, self.start)
        last = np.where(np.isinf(self.stop), 2.0 * self.start + 1.0, self.stop)
        return 0.5 * (first + last)

    def take(self, which: IntArray | slice) -> Lines:
        """Some of the segments."""
        return Lines(self.sample[which], self.start[which], self.stop[which], self.value[which], self.slope[which])

    def outward(self) -> Lines:
        """The same segments in order of sample, side, and distance from the sample's own place."""
        return self.take(np.lexsort((self.near, self.side, self.sample)))

    def halves(self) -> tuple[Lines, Lines]:
        """The segments of the first half of the samples, and those of the others."""
        middle = int(np.searchsorted(self.sample, (self.sample[0] + self.sample[-1] + 1) // 2))
        return self.take(slice(middle)), self.take(slice(middle, None))

    def split(self, parent: IntArray, place: FloatArray) -> Lines:
        """Segments that also end at these places, each within the segment `parent`."""
        parent = np.concatenate((np.arange(len(self.sample)), parent))
        start = np.concatenate((self.start, place))
        order = np.lexsort((start, parent))
        parent, start = parent[order], start[order]
        apart = changes(parent)
        apart[1:] |= start[1:] - start[:-1] > NOISE * np.abs(start[1:])
        parent, start = parent[apart], start[apart]
        ends = np.roll(changes(parent), -1)  # the first is a change too, so the last one ends
        stop = np.where(ends, self.stop[parent], np.roll(start, -1))
        return Lines(self.sample[parent], start, stop, self.value[parent], self.slope[parent])


@dataclass(frozen=True)
class Affine:
    """`Wu + b`."""

    weight: FloatArray
    bias: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        return np.asarray(rows @ self.weight.T + self.bias)

    def after(self, inner: Affine) -> Affine:
        return Affine(self.weight @ inner.weight, self(inner.bias))

    def mix(self, lines: Lines) -> Lines:
        """The lines that leave the layer."""
        slope = settled(lines.slope @ self.weight.T, np.abs(lines.slope) @ np.abs(self.weight).T)
        return replace(lines, value=self(lines.value), slope=slope)


@dataclass(frozen=True)
class Gate:
    """An activation of lines: `offsets[r] + slopes[r]·u` between the knots `r - 1` and `r`.

    A slope may be one number for all units or an array with one for each.
    """

    knots: tuple[float, ...]
    slopes: tuple[float | FloatArray, ...]
    offsets: tuple[float, ...]

    def crossings(self, lines: Lines) -> tuple[IntArray, FloatArray]:
        """Where a unit crosses a knot: in which segment, and at which `δ`."""
        parents, places = list[IntArray](), list[FloatArray]()
        for knot in self.knots:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                place = (knot - lines.value) / lines.slope
            within = (place > lines.start[:, None]) & (place < lines.stop[:, None])
            parents.append(np.nonzero(within)[0])
            places.append(place[within])
        return np.concatenate(parents), np.concatenate(places)

    def bend(self, lines: Lines) -> Lines:
        """The lines that leave the activation, of segments within which no unit crosses a knot."""
        entering = lines.value + lines.slope * lines.inside[:, None]
        slope, offset = np.asarray(self.slopes[0], dtype=float), np.asarray(self.offsets[0], dtype=float)
        for knot, steeper, higher in zip(self.knots, self.slopes[1:], self.offsets[1:], strict=True):
            beyond = entering > knot
            slope, offset = np.where(beyond, steeper, slope), np.where(beyond, higher, offset)
        return replace(lines, value=offset + slope * lines.value, slope=slope * lines.slope)


@dataclass(frozen=True)
class Chain:
    """`A_m ∘ gate_{m-1} ∘ … ∘ gate_0 ∘ A_0`, in double precision."""

    affines: tuple[Affine, ...]
    gates: tuple[Gate, ...]

    @classmethod
    def of(cls, layers: nn.Sequential, features: int) -> Chain | str:
        """These layers; or, in words, why they are not lines along a column."""
        affines, gates = [_identity(features)], list[Gate]()
        for layer in layers:
            width = len(affines[-1].bias)
            fault = _fault(layer, width)
            if fault is not None:
                return f"the layer {type(layer).__name__} {fault}"
            if type(layer) in AFFINE:
                affines[-1] = AFFINE[type(layer)](layer).after(affines[-1])
            elif type(layer) in GATES:
                gates.append(GATES[type(layer)](layer))
                affines.append(_identity(width))
        return cls(tuple(affines), tuple(gates))

    def enter(self, x: FloatArray) -> FloatArray:
        """What enters the first gate; the same whichever column moves."""
        return self.affines[0](x)

    def along(self, entered: FloatArray, column: int, low: FloatArray, high: FloatArray) -> Iterator[Lines]:
        """The outputs of every sample for `low ≤ δ ≤ high` of a column, some samples at a time, in their order.

        `entered` is what `enter` gave; `low ≤ 0 ≤ high`, one for each sample, may be infinite.
        """
        slope = self.affines[0].weight[:, column]
        for rows in blocks(len(entered), MAX_NUMBERS // (2 * len(slope))):
            lower, upper = low[rows], high[rows]
            start = np.stack((lower, np.zeros_like(lower)), axis=1)
            stop = np.stack((np.zeros_like(upper), upper), axis=1)
            # Who cannot go down has no segment there, but everybody has one above, be it a point.
            sample, above = np.nonzero(np.stack((lower < 0.0, np.ones(len(lower), dtype=bool)), axis=1))
            whose = sample + rows.start
            lines = np.broadcast_to(slope, (len(whose), len(slope)))
            yield from self._beyond(0, Lines(whose, start[sample, above], stop[sample, above], entered[whose], lines))

    def _beyond(self, depth: int, lines: Lines) -> Iterator[Lines]:
        """The outputs of lines that enter the gate of this depth; halved as soon as they get too many."""
        for k in range(depth, len(self.gates)):
            parent, place = self.gates[k].crossings(lines)
            widest = max(lines.value.shape[1], len(self.affines[k + 1].bias))
            if (len(lines.sample) + len(parent)) * widest > MAX_NUMBERS and lines.sample[0] < lines.sample[-1]:
                for half in lines.halves():
                    yield from self._beyond(k, half)
                return
            lines = self.affines[k + 1].mix(self.gates[k].bend(lines.split(parent, place)))
        yield lines


def settled(sums: FloatArray, terms: FloatArray) -> FloatArray:
    """Sums, zero where they are nothing but rounding of their terms: a slope of 1e-17 is none, however far one goes."""
    return np.where(np.abs(sums) <= NOISE * terms, 0.0, sums)


def changes(keys: IntArray) -> BoolArray:
    """Where a sorted key differs from the one before it; the first does."""
    flags = np.ones(len(keys), dtype=bool)
    flags[1:] = keys[1:] != keys[:-1]
    return flags


def _identity(width: int) -> Affine:
    return Affine(np.eye(width), np.zeros(width))


def _linear(layer: nn.Linear) -> Affine:
    bias = np.zeros(layer.out_features) if layer.bias is None else numbers_of(layer.bias)
    return Affine(numbers_of(layer.weight), bias)


def _batch_norm(layer: Any) -> Affine:
    scale = 1.0 / np.sqrt(numbers_of(layer.running_var) + layer.eps)
    if layer.affine:
        scale = scale * numbers_of(layer.weight)
    shift = numbers_of(layer.bias) if layer.affine else 0.0
    return Affine(np.diag(scale), shift - scale * numbers_of(layer.running_mean))


def _fault(layer: nn.Module, width: int) -> str | None:
    """Why a layer cannot be followed, where it cannot."""
    if not (type(layer) in (*AFFINE, *GATES, *NEUTRAL) and plain(layer)):
        return "is not known to be made of lines, or it has hooks"
    if getattr(layer, "running_var", 0) is None or (layer.training and isinstance(layer, nn.BatchNorm1d | nn.Dropout)):
        return "depends on the batch or on chance; call .eval() on the module first"
    if not all(bool(weight.isfinite().all()) for weight in layer.state_dict().values()):
        return "has weights that are not finite numbers"
    if isinstance(layer, nn.Flatten) and layer.start_dim != 1:
        return "mixes samples"
    taken = [getattr(layer, name) for name in ("in_features", "num_features", "num_parameters") if hasattr(layer, name)]
    shared = isinstance(layer, nn.PReLU) and taken == [1]
    return None if shared or taken in ([], [width]) else f"takes {taken[0]} numbers, not {width}"


AFFINE: dict[type[nn.Module], Callable[[Any], Affine]] = {nn.Linear: _linear, nn.BatchNorm1d: _batch_norm}
NEUTRAL: tuple[type[nn.Module], ...] = (nn.Identity, nn.Flatten, nn.Dropout)
GATES: dict[type[nn.Module], Callable[[Any], Gate]] = {
    nn.ReLU: lambda _: Gate((0.0,), (0.0, 1.0), (0.0, 0.0)),
    nn.LeakyReLU: lambda gate: Gate((0.0,), (gate.negative_slope, 1.0), (0.0, 0.0)),
    nn.PReLU: lambda gate: Gate((0.0,), (numbers_of(gate.weight), 1.0), (0.0, 0.0)),
    **dict.fromkeys(
        (nn.Hardtanh, nn.ReLU6),
        lambda gate: Gate((gate.min_val, gate.max_val), (0.0, 1.0, 0.0), (gate.min_val, 0.0, gate.max_val)),
    ),
}
"""Activations that are lines between knots; a new one is a line here."""
