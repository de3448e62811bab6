r"""Networks of which one column moves, exactly.

.. math:: e_i(\lambda) = \max_\delta \lambda \ell_i(\hat x_i + \delta e_j) - c\,\delta^2

Along a column the outputs are lines between breakpoints (`lines.py`), and so is the number `v` that
raises the loss: the best response is on one of its climbs (`climbs.py`), and the nearest error where
it first reaches 0.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.crossing import NearestErrorOracle
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.responses import ESCAPE_FACTOR, Response
from tippingpoint.errors import UnsupportedError
from tippingpoint.families.network.column.climbs import Best, Climbs, climbs, current, level, levels, winners
from tippingpoint.families.network.column.lines import NOISE, Lines
from tippingpoint.families.network.rises import Rise

MAX_STRETCH = 16.0
"""How many times farther than the slope at an error promises a margin may be passed, for a point to be shown there."""

NUDGE = 1e-6
"""Relative step into a stretch of errors on which no margin is passed."""

MAX_NUDGES = 24
"""Times that a point is moved out, twice as far each time, until the module errs there."""

ROUND_OFF = 1e-9
"""Relative difference of two numbers that would be equal but for rounding."""


class CoordinateOracle(Oracle):
    """Best responses of networks of which one column moves, at a cost of `price·δ²`.

    Parameters
    ----------
    x
        `(n, d)` features.
    column, price
        Which of them moves, and what a squared unit of it costs.
    names, unit
        What columns are called, and what the square root of a cost measures.
    """

    exact = True
    certificate = "exact: every piece of the network along one column"

    def __init__(self, x: FloatArray, column: int, price: float, names: Sequence[str], unit: str) -> None:
        self.unit = unit
        self._x = x
        self._column = column
        self._price = price
        self._names = names

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        moved = dict(zip(self._names, self._x[rows].T, strict=True))
        steps = np.where(lift > 0.0, self._steps(price, rows, lift), 0.0) if lift.any() else np.zeros(len(rows))
        moved[self._names[self._column]] = self._x[rows, self._column] + steps
        return moved

    @abstractmethod
    def _steps(self, price: float, rows: IntArray, lift: FloatArray) -> FloatArray:
        """The `δ` of these samples at a price; of those that stay, anything."""


def serves(rises: Sequence[Rise]) -> bool:
    """Whether the loss is made of lines along a column: a smooth maximum of several is not."""
    return bool(rises) and all(rise.single or not (rise.soft or rise.whole.falls) for rise in rises)


def coordinate_oracle(
    x: FloatArray,
    column: int,
    price: float,
    lines: Iterable[Lines],
    rises: Sequence[Rise],
    names: Sequence[str],
    unit: str,
    *,
    margin: float | FloatArray = 0.0,
    wrong: BoolArray | None = None,
) -> CoordinateOracle:
    """The oracle of a network of which one column moves.

    Parameters
    ----------
    x, column, price, names, unit
        As of `CoordinateOracle`.
    lines
        The outputs along the column within the room that samples have, as `Chain.along` gives them.
    rises
        How the loss can be raised: one for a loss that never falls; the loss and its mirror image for one that does.
    margin
        For the 0/1 loss: how far, in score, a point must be beyond the boundary for the module itself to err there, whatever
        its numbers round to; one for all or one a sample. Points are shown that far beyond, costs are those of the boundary.
    wrong
        For the 0/1 loss: who is wrong already by the module's own word; where not given, by that of the lines.
    """
    if not serves(rises):
        raise UnsupportedError("along a column, a loss of several outputs together is not made of lines.")
    if rises[0].loss.needs_crossing:
        return ColumnErrorOracle(x, column, price, lines, rises[0], names, unit, margin, wrong)
    return ClimbingOracle(x, column, price, lines, rises, names, unit)


class ClimbingOracle(CoordinateOracle):
    """Losses that rise with `v`: the best of all climbs of a sample."""

    def __init__(
        self,
        x: FloatArray,
        column: int,
        price: float,
        lines: Iterable[Lines],
        rises: Sequence[Rise],
        names: Sequence[str],
        unit: str,
    ) -> None:
        super().__init__(x, column, price, names, unit)
        losses, parts = list[FloatArray](), list[list[Climbs]]()
        for part in lines:
            outward = part.outward()
            losses.append(rises[0].whole.value(current(outward, rises[0])))
            parts.append([climbs(outward, rise, price) for rise in rises])
        self._losses = np.concatenate(losses)
        self._climbs = [Climbs.joined(of_rise) for of_rise in zip(*parts, strict=True)]

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @cached_property
    def ceiling(self) -> float:
        return min(part.loss.ceiling(part.free) for part in self._climbs)

    def respond(self, price: float) -> Response:
        best = Best.staying(len(self._losses))
        for part in self._climbs:
            if price == 0.0:
                rising = np.square(np.maximum(part.loss.slope(part.rest), 0.0)) * part.none().compliance
                np.maximum.at(best.slope, part.sample, 0.5 * rising)
            else:
                best.learn(price, part)
        return Response(best.lift, best.cost, best.slope)

    def peak(self) -> Response:
        peak = self.respond(math.inf)
        for part in self._climbs:
            unbounded = part.sample[np.isinf(part.loss.peak(part.rest, part).push)]
            peak.lift[unbounded] = math.inf
            peak.cost[unbounded] = math.inf
        return peak

    def escape(self, lift: float) -> Response:
        escaped = Response.staying(len(self._losses))
        escaped.cost[:] = math.inf
        free = max(part.free for part in self._climbs)
        for every in self._climbs:
            part = every.take(np.flatnonzero(np.isinf(every.far) & (every.compliance >= (1.0 - ROUND_OFF) * free)))
            far = math.sqrt(lift) + ESCAPE_FACTOR * (np.abs(part.loss.root(part.rest)) + part.low + part.rate * part.near)
            # All of these cost the ceiling's price; of a sample that has several, any will do.
            escaped.lift[part.sample] = part.loss.lift(part.rest, far)
            escaped.cost[part.sample] = part.to(far).cost
        return escaped

    def _steps(self, price: float, rows: IntArray, lift: FloatArray) -> FloatArray:
        if self.ceiling <= price < math.inf:
            return self._escaped(rows, self._losses[rows] + lift)
        best = Best.staying(len(rows))
        for part in self._climbs:
            best.learn(price, part.of(rows))
        return best.step

    def _escaped(self, rows: IntArray, loss: FloatArray) -> FloatArray:
        """The nearest `δ` of these losses: nobody pays more for a loss than it takes."""
        step, nearest = np.zeros(len(rows)), np.full(len(rows), math.inf)
        for every in self._climbs:
            part = every.of(rows)
            push = np.sqrt(loss[part.sample]) - part.loss.root(part.rest)
            place = np.minimum(part.near + np.maximum(push - part.low, 0.0) / part.rate, part.far)
            place = np.where(part.limit >= (1.0 - ROUND_OFF) * push, place, math.inf)
            best = winners(part.sample, -place, place)
            best = best[place[best] < nearest[part.sample[best]]]
            nearest[part.sample[best]] = place[best]
            step[part.sample[best]] = part.side[best] * place[best]
        return step


class ColumnErrorOracle(CoordinateOracle, NearestErrorOracle):
    """The 0/1 loss: the nearest error of every sample, found once."""

    def __init__(
        self,
        x: FloatArray,
        column: int,
        price: float,
        lines: Iterable[Lines],
        rise: Rise,
        names: Sequence[str],
        unit: str,
        margin: float | FloatArray,
        wrong: BoolArray | None,
    ) -> None:
        super().__init__(x, column, price, names, unit)
        margins = np.broadcast_to(np.asarray(margin, dtype=float), (len(x),))
        found = [_errors(part, rise, margins) for part in lines]
        nearest, self._landing = (np.concatenate(each) for each in zip(*found, strict=True))
        self._wrong = nearest < 0.0 if wrong is None else wrong
        self._nearest: FloatArray = price * np.square(np.maximum(nearest, 0.0))

    @property
    def losses(self) -> FloatArray:
        return self._wrong.astype(float)

    @property
    def nearest(self) -> FloatArray:
        return self._nearest

    def land(self, errs: Callable[[IntArray, FloatArray], BoolArray], low: FloatArray, high: FloatArray) -> None:
        """Show errors where the module itself errs: a little farther out, twice as much each time, while it does not.

        Its numbers are coarser than these; costs are still those of the boundary.
        """
        rows = np.flatnonzero(~self._wrong & np.isfinite(self._nearest))
        nudge = NUDGE * (1.0 + np.abs(self._landing))
        for _ in range(MAX_NUDGES):
            rows = rows[~errs(rows, self._landing[rows])] if len(rows) else rows
            if not len(rows):
                return
            further = self._landing[rows] + np.sign(self._landing[rows]) * nudge[rows]
            self._landing[rows] = np.clip(further, low[rows], high[rows])
            nudge[rows] *= 2.0

    def _steps(self, price: float, rows: IntArray, lift: FloatArray) -> FloatArray:
        return self._landing[rows]


def _errors(lines: Lines, rise: Rise, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nearest error of every sample, as `|δ|` (-1 where it errs already), and the `δ` at which to show one."""
    sample, near, far = lines.sample, lines.near[:, None], lines.far[:, None]
    value, rate = levels(lines, rise)
    first, last = level(value, rate, near), level(value, rate, far)
    ties, noise = _tie_errs(rise.functionals)[sample], NOISE * (np.abs(value) + np.abs(rate) * near)
    begins = np.where(ties, first >= 0.0, first > noise)
    ends = np.where(ties, last >= 0.0, last > noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.where(begins, near, np.where(ends, np.clip(near - first / rate, near, far), math.inf))
    which = place.argmin(axis=1)[:, None]
    place = np.take_along_axis(place, which, axis=1)[:, 0]
    best = winners(sample, -place, -np.take_along_axis(rate, which, axis=1)[:, 0])
    already = (begins & (near == 0.0)).any(axis=1)[best]
    # From here on only the functional counts that errs first.
    which = which[best][sample - sample[0]]
    value, rate = (np.take_along_axis(each, which, axis=1)[:, 0] for each in (value, rate))
    landing = _landing(lines, value, rate, best, place[best], margins[sample])
    return np.where(already, -1.0, place[best]), lines.side[best] * landing


def _landing(
    lines: Lines, value: FloatArray, rate: FloatArray, best: IntArray, place: FloatArray, margin: FloatArray
) -> FloatArray:
    """`|δ|` where a margin is passed, beyond the error at `place` of segment `best` of every sample, on the same side.

    Where that is not soon, as far as `v` rises in the segment; where it does not rise, a little way into it.
    """
    whose = lines.sample - lines.sample[0]
    first, last = level(value, rate, lines.near), level(value, rate, lines.far)
    passes = (np.maximum(first, last) >= margin) & (lines.side == lines.side[best][whose])
    rising, far = rate[best] > 0.0, lines.far[best]
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.where(first >= margin, lines.near, np.minimum(lines.near + (margin - first) / rate, lines.far))
        out = np.where(passes, np.maximum(out, place[whose]), math.inf)
        out = out[winners(lines.sample, -out, np.zeros(len(out)))]
        soon = rising & (out - place <= MAX_STRETCH * margin[best] / rate[best] + NUDGE * place)
    into = np.minimum(0.5 * (place + far), place + NUDGE * (1.0 + place))
    return np.where(soon, out, np.where(rising, far, into))


def _tie_errs(functionals: FloatArray) -> BoolArray:
    """Whether a rival is predicted that ties: of classes the first is, and one score, at 0, means the first of two."""
    if functionals.shape[2] == 1:
        return functionals[:, :, 0] < 0.0
    first = (functionals != 0.0).argmax(axis=2)[:, :, None]
    return np.asarray(np.take_along_axis(functionals, first, axis=2)[:, :, 0] > 0.0)
