"""Lower bounds on the stability of networks: from proofs over gates, or from how steep a network can be.

Any bound on what a response can gain is a lower bound on the stability, at any price (`Problem.floor`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from torch import nn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray
from tippingpoint.core.atoms import Layers
from tippingpoint.core.crossing import largest_gains
from tippingpoint.core.dual import Solution, highest_floor
from tippingpoint.core.oracle import Certificate
from tippingpoint.core.problem import Problem
from tippingpoint.data.frames import Features
from tippingpoint.families.network.outputs import OutputReading
from tippingpoint.families.network.proofs.gates import Bounds, GateSearch
from tippingpoint.families.network.proofs.shells import Shell, reason, shells
from tippingpoint.families.network.rises import Rise
from tippingpoint.families.network.search.oracle import Certifier, PathOracle, Setting, Uncertified
from tippingpoint.losses import Loss
from tippingpoint.push import FreePush
from tippingpoint.space.domain import Domain

STEEPNESS = "Lipschitz constants and linear relaxations of the layers"
"""What certifies where nothing is proved."""

GAIN_FLOOR = 0.1
"""Gaps are judged relative to a sample's own gain plus this part of the mean one: small gains need no proof of their own."""


@dataclass(frozen=True)
class Slopes:
    """One rise of the loss: `f(v)`, and lines that no distance takes `v` above.

    Attributes
    ----------
    loss
        `f`, which never falls.
    shells
        For every distance a line, of one or several functionals of the output.
    soft
        Whether `v` is the log-sum-exp of the functionals; otherwise their maximum.
    """

    loss: Loss
    shells: Sequence[Shell]
    soft: bool = False

    def gains(self, price: float, losses: FloatArray) -> FloatArray:
        """The most that any step can gain: the best place on every shell's line."""
        most = np.zeros_like(losses)
        for shell in self.shells:
            for offset, slope in self._lines(shell):
                most = np.maximum(most, self._best(price, losses, shell, offset, slope))
        return most

    def distances(self) -> FloatArray:
        """The least distance at which `v` could reach zero."""
        least = np.full(len(self.shells[0].inner), math.inf)
        for shell in self.shells:
            for offset, slope in self._lines(shell):
                with np.errstate(divide="ignore", invalid="ignore"):
                    there = np.where(offset >= 0.0, 0.0, np.where(slope > 0.0, -offset / slope, math.inf))
                there = np.maximum(there, shell.inner)
                least = np.where(there <= shell.outer, np.minimum(least, there), least)
        return least

    def _lines(self, shell: Shell) -> list[tuple[FloatArray, FloatArray]]:
        """Lines whose losses, each for itself, bound that of `v`: of a maximum every functional's, otherwise one of all."""
        if self.soft:
            return [(np.logaddexp.reduce(shell.offset, axis=1), shell.slope.max(axis=1))]
        return list(zip(shell.offset.T, shell.slope.T, strict=True))

    def _best(self, price: float, losses: FloatArray, shell: Shell, offset: FloatArray, slope: FloatArray) -> FloatArray:
        """`max λ·(f(offset + slope·r) - ℓ) - r²` over the distances of a shell."""
        push = FreePush(np.square(slope), len(slope))
        most = np.zeros_like(losses)
        reaches = [np.sqrt(reach.cost) for reach in self.loss.candidates(price, offset, push)]
        for distance in (shell.inner, shell.outer, *reaches):
            with np.errstate(invalid="ignore"):
                inside = (distance >= shell.inner) & (distance <= shell.outer) & np.isfinite(distance)
            there = np.where(inside, distance, shell.inner)
            most = np.maximum(most, price * (self.loss.value(offset + slope * there) - losses) - np.square(there))
        return np.where(np.isinf(shell.outer) & (self.loss.ceiling(1.0) <= price * np.square(slope)), math.inf, most)


@dataclass(frozen=True)
class LayerSlopes:
    """The slopes of a chain of layers, found when first asked for.

    Attributes
    ----------
    layers, features, domain
        The chain, the samples, and where they may go.
    rises
        Of the loss, through the outputs.
    work
        How many multiplications they are worth.
    """

    layers: nn.Sequential
    features: Features
    domain: Domain
    rises: Sequence[Rise]
    work: float

    @cached_property
    def slopes(self) -> Sequence[Slopes]:
        """One for every rise that can be bounded."""
        x, shape = self.features.x, self.features.shape
        found = []
        for rise in self.rises:
            lines = shells(self.layers, x, shape, self.domain, rise.functionals, rise.constants, self.work)
            if lines is not None:
                found.append(Slopes(rise.loss, lines, rise.soft))
        return found

    @cached_property
    def squared_distances(self) -> FloatArray:
        """No error of a sample is nearer."""
        return np.asarray(np.square(np.min([slopes.distances() for slopes in self.slopes], axis=0)))


@dataclass(frozen=True)
class SteepnessCertifier(Certifier):
    """Bounds on gains from how steep the score can be, kept for every price that was asked for."""

    steepness: LayerSlopes
    losses: FloatArray
    _known: dict[float, FloatArray] = field(default_factory=dict)

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        return Certificate(highest_floor(problem, self.gains, _begin(problem, solution)), STEEPNESS)

    def gains(self, price: float) -> FloatArray:
        """The most that any step can gain at a price, by any rise of the loss."""
        if price not in self._known:
            self._known[price] = np.asarray(
                np.max([slopes.gains(price, self.losses) for slopes in self.steepness.slopes], axis=0)
            )
        return self._known[price]


@dataclass(frozen=True)
class DistanceCertifier(Certifier):
    """The 0/1 loss: no error of a sample that is right is nearer than a distance, which was proved or follows from slopes."""

    least: FloatArray | LayerSlopes
    right: BoolArray
    by: str = STEEPNESS
    cut: bool = False

    @property
    def timed_out(self) -> bool:
        return self.cut

    @property
    def squared(self) -> FloatArray:
        """The least squared distance of an error."""
        return self.least.squared_distances if isinstance(self.least, LayerSlopes) else self.least

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        return Certificate(highest_floor(problem, self.gains, _begin(problem, solution)), self.by)

    def gains(self, price: float) -> FloatArray:
        return largest_gains(price, self.right, self.squared)


@dataclass(frozen=True)
class GateCertifier(Certifier):
    """Proofs over gates, at the price of every question.

    Attributes
    ----------
    searches
        One over the gates for every rise of the loss.
    tolerance
        Relative gap at which a sample counts as proved.
    time_limit
        Seconds for each question.
    deadline
        When they are over, once a question is asked.
    finished
        Whether every sample was proved to the tolerance before.
    stopped
        Whether somebody at the keyboard ended a proof.
    fallback
        Who certifies where this does not, or not as well.
    known
        Bounds on gains, by price.
    """

    searches: Sequence[GateSearch]
    tolerance: float
    time_limit: float
    fallback: Certifier
    known: tuple[tuple[float, FloatArray], ...] = ()
    deadline: float = math.inf
    finished: bool = True
    stopped: bool = False

    @property
    def proves(self) -> bool:
        return True

    @property
    def timed_out(self) -> bool:
        return not self.finished and not self.stopped

    def timed(self) -> GateCertifier:
        return replace(self, deadline=time.monotonic() + self.time_limit)

    def proved(self, price: float, oracle: PathOracle) -> tuple[Certifier, Layers]:
        rows = np.arange(len(oracle.losses))
        response = oracle.respond(price)
        gain = price * response.lift - response.cost
        known = Bounds(np.full(len(rows), math.inf), gain, oracle.steps(price, rows))
        most, floor = np.zeros(len(rows)), GAIN_FLOOR * float(gain.mean())
        deadline, finished, stopped = min(self.deadline, time.monotonic() + self.time_limit), True, False
        for search in self.searches:
            found = search.search(price, known, tolerance=self.tolerance, deadline=deadline, floor=floor)
            most, finished = np.maximum(most, found.most), finished and found.finished
            known, stopped = Bounds(known.most, found.least, found.steps), stopped or found.stopped
        layers = oracle.learnt(known.steps)
        proofs = (*self.known, (price, most))
        return replace(self, known=proofs, deadline=deadline, finished=finished, stopped=stopped), layers

    def gains(self, price: float) -> FloatArray | None:
        """Gains are convex in the price and nothing at 0, so what is proved at one price bounds those below."""
        best = self.fallback.gains(price)
        for rung, most in self.known:
            if price <= rung:
                below = most * (price / rung)
                best = below if best is None else np.minimum(best, below)
        return best

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        best = self.fallback.certify(problem, solution)
        for price, most in self.known:
            if not np.isfinite(most).all():
                best = Certificate(best.lower, f"{best.by}; nothing is proved beyond the pole of this loss")
            else:
                lower = problem.floor(price * problem.theta1, most)
                if lower > best.lower:
                    end = "" if self.finished else ", which ran out of time"
                    best = Certificate(lower, f"responses bounded by a proof over the gates of the hidden layer{end}")
        return best


def steepness_certifier(
    layers: nn.Sequential | None,
    features: Features,
    domain: Domain,
    reading: OutputReading,
    setting: Setting,
    work: float,
) -> Certifier:
    """Who bounds a network by how steep its layers can be, for so many multiplications; or says why nobody does."""
    if not work:
        return Uncertified("none was asked for")
    if not reading.rises:
        return Uncertified("a loss of your own, or this many classes, has no known bound")
    if layers is None:
        return Uncertified("the module is not a chain of layers; an nn.Sequential of known ones would be bounded")
    why = reason(layers, features.shape)
    if why is not None:
        return Uncertified(why)
    steepness = LayerSlopes(layers, features, domain, reading.rises, work)
    if reading.loss.needs_crossing:
        return DistanceCertifier(steepness, setting.now < 0.0)
    return SteepnessCertifier(steepness, setting.losses)


def _begin(problem: Problem, solution: Solution) -> float:
    """`h*`; where it is infinite, a price to begin from."""
    price = solution.right.price
    return price if math.isfinite(price) and price > 0.0 else problem.theta1
