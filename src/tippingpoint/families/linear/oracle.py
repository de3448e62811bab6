r"""Linear models with one score, exactly.

Moving the features of a linear model matters to the loss only through the score :math:`s = \beta^\top x + b`, and the
cheapest move for a shift of the score is known (`tippingpoint.push`), also where features are categories or whole numbers. So
a best response is a problem in one number, which every convex loss solves in closed form (`tippingpoint.losses`); the 0/1 loss
is in `tippingpoint.families.linear.crossing`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, Rows, Signs, blocks
from tippingpoint.core.blocks import BLOCK_ROWS
from tippingpoint.core.oracle import ClosedForm, ClosedSide
from tippingpoint.core.responses import ESCAPE_FACTOR, Response, joined
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.geometry import Score, ScoreGeometry
from tippingpoint.families.linear.relaxed import RelaxedOracle, how_certified
from tippingpoint.losses import Loss
from tippingpoint.losses.push_response import PushResponse, Side
from tippingpoint.push import Push
from tippingpoint.space.domain import Domain

MAX_CHUNKS_KEPT = 4
"""Chunks of curves that are kept from one price to the next: up to 40 megabytes each, whatever the size of the data."""


class LinearOracle(RelaxedOracle):
    """Best responses of `loss(y, βᵀx + b)`.

    Parameters
    ----------
    x
        `(n, d)` features.
    y
        Labels -1 and +1 for a classification loss, targets for a regression loss.
    score
        `β` and `b`, and tables for categories.
    loss
        Any convex loss of one score.
    domain
        Which features may move, how, at what price.
    scores
        `βᵀx + b` of every row.
    """

    def __init__(self, x: FloatArray, y: Signs, score: Score, loss: Loss, domain: Domain, scores: FloatArray) -> None:
        self.unit: str = domain.unit
        self._loss = loss
        self._geometry = ScoreGeometry(x, score, domain)
        self._sides = _sides(y, scores, loss, both=self._geometry.bounded)
        with np.errstate(over="ignore"):  # a loss that is no number is refused by its profile
            self._losses = np.empty(len(scores))
            for rows in blocks(len(scores), BLOCK_ROWS):
                self._losses[rows] = loss.value(self._sides[0].v[rows])
        self._kept: dict[tuple[int, int], Push] = {}
        one_way = len(self._sides) == 1 and not self._geometry.bounded and not self._geometry.rounds
        self._free = self._geometry.compliance if one_way else None
        self.exact: bool = not self._geometry.rounds
        self.certificate: str = f"{how_certified(exact=self.exact)}: {loss.label} loss of a linear score"

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @property
    def unbounded(self) -> bool:
        """Whether every sample can be pushed to any loss."""
        return self._free is not None and self._free > 0.0 and math.isinf(self._loss.range[1])

    @cached_property
    def ceiling(self) -> float:
        runs = self._geometry.chunks(0, len(self._losses)) if self._geometry.bounded else [slice(0, 1)]
        return min(self._loss.ceiling(push.free) for rows in runs for _, push in self._pushes(rows))

    def part(self, rows: slice) -> LinearPart:
        return LinearPart(self, rows)

    def respond(self, price: float) -> Response:
        return self.respond_of(slice(0, len(self._losses)), price)

    def peak(self) -> Response:
        return self.peak_of(slice(0, len(self._losses)))

    def escape(self, lift: float) -> Response:
        return self.escape_of(slice(0, len(self._losses)), lift)

    def respond_of(self, run: slice, price: float, *, rounded: bool = True) -> Response:
        """The best responses of a run of samples."""
        if price == 0.0:
            return self._at_rest(run)
        if self._free is not None and math.isfinite(price):
            side = self._sides[0]
            found = side.loss.respond_freely(price, side.v[run], self._losses[run], self._free)
            if found is not None:
                return found
        parts = []
        for rows in self._geometry.chunks(run.start, run.stop):
            answer = self._answer(price, rows)
            response = Response(answer.lift, answer.cost, answer.slope(price))
            if rounded and self._geometry.rounds:
                response = Response(*self._rounded(price, rows, answer), response.slope)
            parts.append(response)
        return joined(parts)

    def _at_rest(self, run: slice) -> Response:
        """Nobody moves, and how fast they would begin to."""
        if self._free is not None:
            slope = self._sides[0].loss.slope(self._sides[0].v[run])
            np.maximum(slope, 0.0, out=slope)
            slope *= slope
            slope *= 0.5 * self._free
            return Response(np.zeros(len(slope)), np.zeros(len(slope)), slope)
        parts = []
        for rows in self._geometry.chunks(run.start, run.stop):
            whole = Response.staying(rows.stop - rows.start)
            for side, push in self._pushes(rows):
                rising = np.square(np.maximum(side.loss.slope(side.v), 0.0)) * push.none().compliance
                np.maximum(whole.slope, 0.5 * rising, out=whole.slope)
            parts.append(whole)
        return joined(parts)

    def peak_of(self, run: slice) -> Response:
        """The highest losses of a run of samples."""
        parts = []
        for rows in self._geometry.chunks(run.start, run.stop):
            unbounded = np.zeros(rows.stop - rows.start, dtype=bool)
            for side, push in self._pushes(rows):
                unbounded |= np.isinf(side.loss.peak(side.v, push).push)
            peak = Response.staying(len(unbounded)) if unbounded.all() else self.respond_of(rows, math.inf)
            peak.lift[unbounded] = np.inf
            peak.cost[unbounded] = np.inf
            parts.append(peak)
        return joined(parts)

    def escape_of(self, run: slice, lift: float) -> Response:
        """Responses of at least this lift of a run of samples."""
        return joined([self._escape(rows, lift) for rows in self._geometry.chunks(run.start, run.stop)])

    def _escape(self, rows: slice, lift: float) -> Response:
        escaped = Response.staying(rows.stop - rows.start)
        escaped.cost[:] = np.inf
        for side, push in self._pushes(rows):
            root = side.loss.root(side.v)
            far = math.sqrt(lift) + ESCAPE_FACTOR * (np.abs(root) + push.anchor)
            with np.errstate(invalid="ignore"):
                here, cost = side.loss.lift(side.v, far), push.to(far).cost
                better = cost * escaped.lift < escaped.cost * here
            escaped.lift[:] = np.where(better, here, escaped.lift)
            escaped.cost[:] = np.where(better, cost, escaped.cost)
        return escaped

    def lightened(self) -> LinearOracle:
        if self._geometry.bounded or self._geometry.rounds:
            return self  # how far each sample can go depends on where it is
        light = copy.copy(self)
        light._geometry = self._geometry.without_rows()  # noqa: SLF001  # its own
        return light

    def closed_form(self) -> ClosedForm | None:
        if self._geometry.bounded or self._geometry.rounds:
            return None
        formulas = [(side.loss.formula, side) for side in self._sides]
        sides = tuple(ClosedSide(formula, side.v, side.direction) for formula, side in formulas if formula is not None)
        if len(sides) < len(self._sides):
            return None
        one, first = slice(0, 1), self._sides[0].direction[:1]
        step = self._geometry.steps_to(np.zeros(1, dtype=np.intp), np.ones(1), np.ones(1))[0]
        return ClosedForm(self._geometry.push(one, first).free, sides, self._geometry.columns, step)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        if self.ceiling <= price < math.inf:
            steps = self._geometry.steps_to(rows, *self._escaped(rows, lift))
        else:
            answer = self._answer(price, rows)
            steps = self._geometry.steps(rows, answer.direction, answer.reach)
        return self._geometry.shown(rows, np.where((lift > 0.0)[:, None], steps, 0.0))

    def _whole(self, price: float, *, rounded: bool) -> Response:
        return self.respond_of(slice(0, len(self._losses)), price, rounded=rounded)

    def _rounded(self, price: float, rows: Rows, answer: PushResponse) -> tuple[FloatArray, FloatArray]:
        """Lift and cost of an answer once its fine steps are rounded; nothing where that does not pay."""
        push, cost = self._geometry.rounded(rows, answer.direction, answer.reach)
        lift = np.zeros_like(push)
        for whole in self._sides:
            side = whole.of(rows)
            mine = answer.direction == side.direction
            lift[mine] = side.loss.lift(side.v, push)[mine]
        pays = (lift > 0.0) if math.isinf(price) else (price * lift > cost)
        return np.where(pays, lift, 0.0), np.where(pays, cost, 0.0)

    def _answer(self, price: float, rows: Rows) -> PushResponse:
        """The best of staying and of all candidates, on all sides."""
        return PushResponse.best(price, [(whole.of(rows), self._curve(rows, k)) for k, whole in enumerate(self._sides)])

    def _curve(self, rows: Rows, side: int) -> Push:
        """The curves of some rows on one side; where features jump, kept for the next price as far as memory should go."""
        direction = self._sides[side].direction[rows]
        if not self._geometry.mixed or not isinstance(rows, slice):
            return self._geometry.push(rows, direction)
        if (rows.start, side) not in self._kept:
            curve = self._geometry.push(rows, direction)
            if len(self._kept) >= MAX_CHUNKS_KEPT:
                return curve
            self._kept[rows.start, side] = curve
        return self._kept[rows.start, side]

    def _escaped(self, rows: Rows, lift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Direction and length of the push of samples that escaped with this lift."""
        loss = self._losses[rows] + lift
        found: list[tuple[Signs, FloatArray, FloatArray]] = []
        for whole in self._sides:
            side = whole.of(rows)
            far = np.maximum(np.sqrt(loss) - side.loss.root(side.v), 0.0)
            found.append((side.direction, far, self._geometry.push(rows, side.direction).to(far).cost))
        (direction, far, cost), (other, beyond, dearer) = found[0], found[-1]
        nearer = dearer < cost
        return np.where(nearer, other, direction), np.where(nearer, beyond, far)

    def _pushes(self, rows: slice) -> Iterator[tuple[Side, Push]]:
        for k, whole in enumerate(self._sides):
            yield whole.of(rows), self._curve(rows, k)


class LinearPart:
    """The best responses of a run of samples of a linear score."""

    def __init__(self, oracle: LinearOracle, rows: slice) -> None:
        self._oracle = oracle
        self._rows = rows
        self.losses: FloatArray = oracle.losses[rows]

    @property
    def ceiling(self) -> float:
        return self._oracle.ceiling

    def respond(self, price: float) -> Response:
        return self._oracle.respond_of(self._rows, price)

    def peak(self) -> Response:
        return self._oracle.peak_of(self._rows)

    def escape(self, lift: float) -> Response:
        return self._oracle.escape_of(self._rows, lift)


def linear_oracle(
    x: FloatArray, y: Signs, score: Score, loss: Loss, domain: Domain, scores: FloatArray | None = None
) -> LinearOracle | CrossingOracle:
    """The oracle of one score under any loss; arguments as in `LinearOracle`."""
    values = score.of(x) if scores is None else scores
    if loss.needs_crossing:
        return CrossingOracle.binary(x, y, score, domain, values)
    return LinearOracle(x, y, score, loss, domain, values)


def _sides(y: Signs, score: FloatArray, loss: Loss, *, both: bool) -> list[Side]:
    """The directions in which a push can raise the loss."""
    if loss.task == "classification":
        down = -y.astype(np.int8)
        v = down * score
        return [Side(loss, v, down), Side(loss.mirrored(), -v, -down)] if loss.falls else [Side(loss, v, down)]
    residual = y - score
    if loss.mirrored() is loss and not both:
        return [Side(loss, np.abs(residual), np.where(residual < 0.0, 1, -1).astype(np.int8))]
    down, up = np.full(len(residual), -1, dtype=np.int8), np.full(len(residual), 1, dtype=np.int8)
    return [Side(loss, residual, down), Side(loss.mirrored(), -residual, up)]
