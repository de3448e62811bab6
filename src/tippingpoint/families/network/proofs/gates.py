r"""One hidden layer of ReLUs with one score, exactly: branch and bound over gates.

The score to push up is :math:`v(s) = k + \sum_j o_j \operatorname{relu}(u_j + w_j^\top s)`, `s` the step. With gates
:math:`g_j \in [0, 1]`, :math:`\operatorname{relu}(u) = \max_g g u`. So

- a unit of negative weight is *below* its linear model for any gate: every gate is a valid bound, the best one is a convex
  problem, solved by Newton's method with the active constraints set aside;
- a unit of positive weight needs its gate open (1) or shut (0): two branches. While it is undecided, the chord of the ReLU over
  all that a worthwhile step can reach is above it: a linear model again, a gate between 0 and 1 and a constant.

With all gates set the score is linear, and the best response is known in closed form (`tippingpoint.losses.push_response`), for
every loss, price and bounds. Its value is an upper bound on what any step can gain, whatever the gates of negative units are.
At the best gates of a decided pattern it is attained where the response to them is unique; otherwise, as the logistic loss
shows, a gap may remain that no branch closes (docs/mathematics.md, section 7). Nodes that cannot beat the best step known are
dropped. Stopped at any time, the largest value of the open nodes is a certified bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, combine
from tippingpoint.families.network.proofs.ranges import UNBOUNDED, HiddenLayer, UnitRanges
from tippingpoint.families.network.rises import Rise
from tippingpoint.families.network.search.oracle import Setting
from tippingpoint.families.network.search.summits import lift
from tippingpoint.losses import Loss
from tippingpoint.losses.push_response import PushResponse, Side
from tippingpoint.push import BoxPush, FreePush, Push
from tippingpoint.space.domain import Domain

BATCH_NODES = 2048
"""Nodes that are branched at once."""

MAX_NEWTON_STEPS = 24
"""Cap on Newton's steps over the gates; 4 to 8 are usual."""

NEWTON_TOLERANCE = 1e-9
"""Relative change of a bound at which Newton's steps stop."""

RIDGE = 1e-10
"""Relative diagonal added where units coincide."""

MAX_SECANTS = 4
"""Steps along a ray to the boundary that a relaxed network put too near."""

PUSHES = (1.0 + 1e-6, 1.001, 1.01, 1.05, 1.2, 1.5, 2.0)
"""The same within bounds, where nothing is linear along the way."""

ROUNDING = 1e-13
"""Part of the size of a score that counts as nothing when it is compared with zero."""

MAX_SQUARED_DISTANCE = 1e100
"""An error at a squared distance beyond this is none."""

UNDECIDED = -1


@dataclass
class Bounds:
    """What is known of every sample: no step is worth more than `most`; `steps` is worth `least`.

    Worth is `λ·lift - cost`, or minus the squared distance where an error is looked for.
    """

    most: FloatArray
    least: FloatArray
    steps: FloatArray
    nodes: int = 0
    finished: bool = True
    """Whether nothing was left open for want of time."""
    stopped: bool = False
    """Whether somebody at the keyboard ended it."""


@dataclass(frozen=True)
class _Response:
    """The best response of a linear score: what it promises, costs, and shows to every unit."""

    worth: FloatArray
    cost: FloatArray
    multiplier: FloatArray
    sees: FloatArray
    gives: BoolArray | None
    """Which features still have room; None where all do."""

    def take(self, rows: BoolArray) -> _Response:
        gives = None if self.gives is None else self.gives[rows]
        return _Response(self.worth[rows], self.cost[rows], self.multiplier[rows], self.sees[rows], gives)


@dataclass
class _Nodes:
    """Partly decided patterns of gates."""

    rows: IntArray
    state: IntArray
    gates: FloatArray
    worth: FloatArray
    branch: IntArray

    def take(self, chosen: IntArray | BoolArray) -> _Nodes:
        return _Nodes(self.rows[chosen], self.state[chosen], self.gates[chosen], self.worth[chosen], self.branch[chosen])

    def join(self, other: _Nodes) -> _Nodes:
        mine, theirs = vars(self), vars(other)
        return _Nodes(**{name: np.concatenate((mine[name], theirs[name])) for name in mine})

    def __len__(self) -> int:
        return len(self.rows)


class GateSearch:
    """Bounds on the best responses of one pushed score `k + κ·f(x)` of a hidden layer `f`.

    Parameters
    ----------
    layer
        The network, its weights in units of steps.
    hidden
        `(n, units)`: `u`, what the units see where samples are.
    direction, constant
        `κ` (-1 or +1) and `k` of every sample.
    loss
        A loss that never falls with the score.
    losses
        What every sample loses now; more than `loss` says where another rise of it is ahead.
    room
        The least and the largest step of every feature; None where nothing is bounded.
    """

    def __init__(
        self,
        layer: HiddenLayer,
        hidden: FloatArray,
        direction: FloatArray,
        constant: FloatArray,
        loss: Loss,
        losses: FloatArray,
        room: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self._w = layer.weights
        self._u = hidden
        self._sign = direction[:, None] * layer.outer
        self._ranges = UnitRanges(layer.weights, hidden, self._sign, room)
        self._gram = self._ranges.gram
        self._constant = constant + direction * layer.offset
        self._loss = loss
        self._room = room
        self._now = self._score(np.arange(len(hidden)), hidden)
        self._behind = losses - loss.value(self._now)
        self._scale = np.abs(self._constant) + combine(np.abs(self._sign), np.abs(hidden))

    def search(
        self,
        price: float,
        known: Bounds,
        *,
        tolerance: float,
        deadline: float = math.inf,
        most_nodes: float = math.inf,
        floor: float = 0.0,
    ) -> Bounds:
        """Tighten what is known until every sample's gap is below `tolerance·(|worth| + floor)`, or time is up.

        `most_nodes=0` asks for the relaxation without any branching. Interrupted from the keyboard it ends as if time were up.
        """
        bounds = Bounds(known.most.copy(), known.least.copy(), known.steps.copy())
        active = np.flatnonzero(bounds.most > self._enough(bounds, tolerance, floor))
        self._low, self._high = self._ranges.worthwhile(price, bounds.least, self._loss, self._now)
        finite = np.all((self._high - self._low < UNBOUNDED) | (self._sign <= 0.0), axis=1)
        active = active[finite[active]]  # beyond the pole of a squared loss there is nothing to prove
        closed, waiting = np.full(len(bounds.most), -math.inf), self._root(active)
        try:
            waiting = self._evaluate(price, waiting, bounds)
            bounds.nodes = len(waiting)
            while True:
                done = (waiting.branch == UNDECIDED) | (waiting.worth <= self._enough(bounds, tolerance, floor)[waiting.rows])
                np.maximum.at(closed, waiting.rows[done], waiting.worth[done])
                waiting = waiting.take(~done)
                if not len(waiting) or time.monotonic() > deadline or bounds.nodes > most_nodes:
                    break
                order = np.argsort(bounds.least[waiting.rows] - waiting.worth, kind="stable")
                children = self._evaluate(price, self._children(waiting.take(order[:BATCH_NODES])), bounds)
                bounds.nodes += len(children)
                waiting = waiting.take(order[BATCH_NODES:]).join(children)
        except KeyboardInterrupt:
            bounds.stopped = True  # as if time were up: what is waiting bounds all that is open
        most, bounds.finished = np.maximum(bounds.least, closed), not len(waiting)
        np.maximum.at(most, waiting.rows, waiting.worth)
        bounds.most[active] = np.minimum(bounds.most[active], most[active])
        return bounds

    @staticmethod
    def _enough(bounds: Bounds, tolerance: float, floor: float) -> FloatArray:
        """The worth from which on a node is pursued."""
        least = np.where(np.isfinite(bounds.least), bounds.least, 0.0)
        return np.where(np.isfinite(bounds.least), least + tolerance * (np.abs(least) + floor), -math.inf)

    def _root(self, rows: IntArray) -> _Nodes:
        sign = self._sign[rows]
        shut, open_ = self._high[rows] <= 0.0, self._low[rows] >= 0.0
        state = np.where(shut, 0, np.where(open_, 1, UNDECIDED))
        negative = sign <= 0.0
        state = np.where(negative, 0, state)
        gates = np.where(negative, (self._u[rows] > 0.0).astype(float), 0.0)
        nothing = np.full(len(rows), math.inf)
        return _Nodes(rows, state, gates, nothing, np.zeros(len(rows), dtype=np.intp))

    @staticmethod
    def _children(nodes: _Nodes) -> _Nodes:
        both = nodes.join(nodes)
        half = len(nodes)
        state = both.state.copy()
        state[np.arange(2 * half), both.branch] = np.repeat([0, 1], half)
        return _Nodes(both.rows, state, both.gates, both.worth, both.branch)

    def _evaluate(self, price: float, nodes: _Nodes, bounds: Bounds) -> _Nodes:
        """Bound every node by its best gates; steps that turn out better than what is known are kept."""
        rows, sign = nodes.rows, self._sign[nodes.rows]
        low, high = self._low[rows], self._high[rows]
        negative, undecided = sign < 0.0, nodes.state == UNDECIDED
        chord = np.where(undecided, high / np.where(undecided, high - low, 1.0), 0.0)
        constant = self._constant[rows] - np.where(undecided, sign * chord * low, 0.0).sum(axis=1)
        gates = np.where(negative, nodes.gates, np.where(undecided, chord, nodes.state))
        best, sees, worth = gates.copy(), self._u[rows], np.full(len(rows), math.inf)
        multiplier, swept = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
        live = np.arange(len(rows))
        for _ in range(MAX_NEWTON_STEPS):
            response = self._respond(price, rows[live], gates[live], constant[live])
            self._learn(price, rows[live], gates[live], response, bounds)
            size = np.where(np.isfinite(response.worth), np.abs(response.worth), 0.0)
            better = response.worth < worth[live] - NEWTON_TOLERANCE * size
            good = live[better]
            worth[good], best[good] = response.worth[better], gates[good]
            sees[good], multiplier[good] = response.sees[better], response.multiplier[better]
            # A Newton step that fails is followed by a sweep over the gates one by one, and one that fails by nothing.
            going = (better | ~swept[live]) & (worth[live] > bounds.least[rows[live]]) & (multiplier[live] > 0.0)
            swept[live] = ~better
            onwards, back = live[going & better], live[going & ~better]
            gates[onwards] = self._newton(response.take(going & better), sign[onwards], best[onwards])
            gates[back] = self._sweep(multiplier[back], sees[back], sign[back], best[back])
            live = live[going]
            if not len(live):
                break
        slack = np.where(undecided, sign * (chord * (sees - low) - np.maximum(sees, 0.0)), -1.0)
        branch = np.where(undecided.any(axis=1), slack.argmax(axis=1), UNDECIDED)
        # A child is worth no more than its parent, also where its own gates are not at their best yet.
        return _Nodes(rows, nodes.state, best, np.minimum(worth, nodes.worth), branch)

    def _respond(self, price: float, rows: IntArray, gates: FloatArray, constant: FloatArray) -> _Response:
        """The best response of the linear score with these gates."""
        q = self._sign[rows] * gates
        v = constant + combine(q, self._u[rows])
        side = Side(self._loss, v, np.ones_like(v))
        if self._room is None:
            along = q @ self._gram
            push: Push = FreePush(np.maximum(combine(along, q), 0.0), len(v))
            answer = PushResponse.best(price, [(side, push)])
            sees, gives = self._u[rows] + answer.multiplier[:, None] * along, None
        else:
            slope = q @ self._w
            low, high = (r[rows] for r in self._room)
            push = BoxPush(np.abs(slope), np.ones(slope.shape[1]), np.where(slope > 0.0, high, -low))
            answer = PushResponse.best(price, [(side, push)])
            wish = answer.multiplier[:, None] * slope
            sees, gives = self._u[rows] + np.clip(wish, low, high) @ self._w.T, (wish > low) & (wish < high)
        if math.isinf(price):
            there = (answer.lift > 0.0) & (answer.cost < MAX_SQUARED_DISTANCE)
            worth = np.where(v >= 0.0, 0.0, np.where(there, -answer.cost, -math.inf))
        else:
            rise = self._loss.value(v) - self._loss.value(self._now[rows]) - self._behind[rows]
            worth = np.maximum(price * rise + answer.gain, 0.0)
        return _Response(worth, answer.cost, answer.multiplier, sees, gives)

    def _learn(self, price: float, rows: IntArray, gates: FloatArray, response: _Response, bounds: Bounds) -> None:
        """Take the steps of these responses where the network itself rewards them more than what is known."""
        value = self._score(rows, response.sees)
        stretch, cost = np.ones(len(rows)), np.minimum(response.cost, MAX_SQUARED_DISTANCE)
        if math.isinf(price):
            if self._room is None:
                stretch, value = self._stretched(rows, response.sees, value)
                cost = np.square(stretch) * cost
            else:
                stretch, value, cost = self._pushed_on(rows, gates, response, value, cost)
            worth = np.where((value < -ROUNDING * self._scale[rows]) | (cost >= MAX_SQUARED_DISTANCE), -math.inf, -cost)
        else:
            rise = lift(self._loss, self._now[rows], value) - self._behind[rows]
            worth = price * rise - response.cost
        better = np.flatnonzero(worth > bounds.least[rows])
        better = better[np.argsort(worth[better], kind="stable")]  # of several for one row the best comes last, and stays
        slope = (self._sign[rows[better]] * gates[better]) @ self._w
        steps = (stretch * response.multiplier)[better][:, None] * slope
        if self._room is not None:
            steps = np.clip(steps, *(r[rows[better]] for r in self._room))
        bounds.least[rows[better]], bounds.steps[rows[better]] = worth[better], steps

    def _stretched(self, rows: IntArray, sees: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How much farther along its ray a step has to go to cross, by a few secants; and the score there."""
        stretch, here, there = np.ones(len(rows)), self._u[rows], sees - self._u[rows]
        before, start = self._now[rows], np.zeros(len(rows))
        for _ in range(MAX_SECANTS):
            short = np.flatnonzero((value < 0.0) & (value > before))
            if not len(short):
                break
            rate = (value[short] - before[short]) / (stretch[short] - start[short])
            start[short], before[short] = stretch[short], value[short]
            stretch[short] -= (1.0 + ROUNDING) * value[short] / rate
            value[short] = self._score(rows[short], here[short] + stretch[short][:, None] * there[short])
        return stretch, value

    def _pushed_on(
        self, rows: IntArray, gates: FloatArray, response: _Response, value: FloatArray, cost: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same within bounds: a larger multiplier moves what still has room."""
        stretch, value, cost = np.ones(len(rows)), value.copy(), cost.copy()
        short = np.flatnonzero((value < 0.0) & (response.multiplier > 0.0))
        slope = (self._sign[rows[short]] * gates[short]) @ self._w
        room = [] if self._room is None else [side[rows[short]] for side in self._room]
        for factor in PUSHES:
            steps = np.clip((factor * response.multiplier[short])[:, None] * slope, *room)
            after = self._score(rows[short], self._u[rows[short]] + steps @ self._w.T)
            crosses = (value[short] < 0.0) & (after >= 0.0)
            there = short[crosses]
            stretch[there], value[there], cost[there] = factor, after[crosses], combine(steps[crosses], steps[crosses])
        return stretch, value, cost

    def _score(self, rows: IntArray, sees: FloatArray) -> FloatArray:
        return self._constant[rows] + combine(self._sign[rows], np.maximum(sees, 0.0))

    def _newton(self, response: _Response, sign: FloatArray, gates: FloatArray) -> FloatArray:
        """One projected Newton step for the gates of negative units, at the multiplier of their response."""
        gradient = sign * response.sees
        gram = self._gram if response.gives is None else (self._w * response.gives[:, None, :]) @ self._w.T
        free = (sign < 0.0) & ~((gates <= 0.0) & (gradient > 0.0)) & ~((gates >= 1.0) & (gradient < 0.0))
        hessian = response.multiplier[:, None, None] * (sign[:, :, None] * sign[:, None, :] * gram)
        hessian *= free[:, :, None] & free[:, None, :]
        diagonal = np.einsum("ijj->ij", hessian)
        diagonal += np.where(free, RIDGE * diagonal.max(axis=1, keepdims=True) + np.finfo(float).tiny, 1.0)
        step = np.linalg.solve(hessian, np.where(free, gradient, 0.0)[:, :, None])[:, :, 0]
        return np.where(sign < 0.0, np.clip(gates - step, 0.0, 1.0), gates)

    def _sweep(self, multiplier: FloatArray, sees: FloatArray, sign: FloatArray, gates: FloatArray) -> FloatArray:
        """The best gate of every negative unit, one after the other, at the same multiplier."""
        gates, sees = gates.copy(), sees.copy()
        for j in range(gates.shape[1]):
            stiff = multiplier * np.square(sign[:, j]) * self._gram[j, j]
            wanted = gates[:, j] - sign[:, j] * sees[:, j] / np.where(stiff > 0.0, stiff, math.inf)
            after = np.where(sign[:, j] < 0.0, np.clip(wanted, 0.0, 1.0), gates[:, j])
            sees += (multiplier * sign[:, j] * (after - gates[:, j]))[:, None] * self._gram[j]
            gates[:, j] = after
        return gates


def gate_search(layer: HiddenLayer, setting: Setting, x: FloatArray, domain: Domain, rise: Rise, rows: IntArray) -> GateSearch:
    """The search over gates for one rise of the loss of these rows of `x`, in units of steps."""
    scores = setting.scores
    scaled = layer.weights[:, scores.moves] / np.sqrt(domain.price[scores.moves])
    hidden = x[rows] @ layer.weights.T + layer.bias
    direction, constant = rise.functionals[rows, 0, 0], rise.constants[rows, 0]
    room = scores.room(rows) if scores.bounded else None
    in_steps = HiddenLayer(scaled, layer.bias, layer.outer, layer.offset)
    return GateSearch(in_steps, hidden, direction, constant, rise.loss, setting.losses[rows], room)
