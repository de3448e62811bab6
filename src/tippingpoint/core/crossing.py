"""The 0/1 loss: a sample is worth moving if its nearest error costs less than the price.

Whoever knows, or bounds, what every sample's nearest error costs has its best responses at every price; a family supplies the
costs, and says where the errors are.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, dot
from tippingpoint.core.dual import Solution, Status, highest_floor
from tippingpoint.core.oracle import Certificate, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.errors import UnsupportedError

ROUND_OFF = 1e-9
"""Relative gap between a cost and its lower bound that is rounding."""


def largest_gains(price: float, right: BoolArray, least: FloatArray) -> FloatArray:
    """The most that `λ·lift - cost` can be for samples that are `right`, of which no error costs less than `least`."""
    return np.where(right, np.maximum(price - least, 0.0), 0.0)


class NearestErrors:
    """Best responses where the nearest error of every sample costs what is given; they fulfil
    `tippingpoint.core.responses.BestResponses`.

    Parameters
    ----------
    losses
        0 or 1, as they are now.
    nearest
        What the nearest error of every sample costs; infinite where there is none.
    """

    ceiling: float = math.inf

    def __init__(self, losses: FloatArray, nearest: FloatArray) -> None:
        self.losses = losses
        self.nearest = nearest

    def part(self, rows: slice) -> NearestErrors:
        return NearestErrors(self.losses[rows], self.nearest[rows])

    def reduced(self, price: float, base: FloatArray) -> tuple[NearestErrors, FloatArray]:
        """Those who can go, and one each for all who are right and stay so, and for all who err already."""
        errs = self.losses > 0.0
        goes = self.nearest < price
        goes &= ~errs
        wrong = dot(base, errs.astype(float))
        rest = dot(base, (~(goes | errs)).astype(float))
        groups = [each for each in ((0.0, math.inf, rest), (1.0, 0.0, wrong)) if each[2] > 0.0]
        some = np.flatnonzero(goes)
        losses, nearest, weights = (
            np.append(held, [each[k] for each in groups])
            for k, held in enumerate((np.zeros(len(some)), self.nearest[some], base[some]))
        )
        return NearestErrors(losses, nearest), weights

    def respond(self, price: float) -> Response:
        goes = self.nearest < price
        goes &= self.losses == 0.0
        return Response(goes.astype(float), np.where(goes, self.nearest, 0.0), np.zeros(len(goes)))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def escape(self, lift: float) -> Response:
        """There is one error to go to, and nothing beyond it."""
        raise UnsupportedError("a nearest error has no ceiling, so nothing can escape from it.")


class NearestErrorOracle(Oracle):
    """Best responses of the 0/1 loss, where the cost of every sample's nearest error is known or bounded."""

    ceiling: float = math.inf

    @property
    @abstractmethod
    def nearest(self) -> FloatArray:
        """The cost of the nearest error that is known of every sample; infinite where none is, and 0 where it errs already."""

    @property
    def least(self) -> FloatArray:
        """A lower bound on that of any error; the same where the nearest is found for certain."""
        return self.nearest

    @property
    def exact(self) -> bool:  # type: ignore[override]  # here it depends on what was proved
        least, nearest = self.least, self.nearest
        return least is nearest or bool((least >= nearest * (1.0 - ROUND_OFF)).all())

    def part(self, rows: slice) -> NearestErrors:
        return NearestErrors(self.losses[rows], self.nearest[rows])

    def respond(self, price: float) -> Response:
        return NearestErrors(self.losses, self.nearest).respond(price)

    def peak(self) -> Response:
        return self.respond(math.inf)

    def gain_bounds(self, price: float) -> FloatArray | None:
        return largest_gains(price, self.losses == 0.0, self.least)

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        if solution.status is Status.ALREADY:
            return Certificate(solution.lower, self.certificate)
        least, right = self.least, self.losses == 0.0
        price = solution.left.price if 0.0 < solution.left.price < math.inf else problem.theta1
        lower = highest_floor(problem, lambda rung: largest_gains(rung, right, least), price)
        return Certificate(lower, f"{self.certificate}, each bounded from below")
