r"""Best responses: what the dual needs to know of a model, a loss and a feature space, and nothing else.

At price :math:`\lambda` the best response of sample i attains

.. math:: e_i(\lambda) = \max_z \lambda \ell(z) - d(z, \hat z_i).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, Rows

ESCAPE_FACTOR = 1e10
"""How far out, in units of what is lost on the way, a response that only pays at infinity is put: 2e-10 from its limit."""


@dataclass(frozen=True)
class Response:
    """Where every sample goes at one price, seen from its loss and its cost.

    Losses are given as the *lift* above the sample's own loss: small moves keep all their digits that way.

    Attributes
    ----------
    lift
        `ℓ(z_i) - ℓ(ẑ_i) ≥ 0`.
    cost
        `d(z_i, ẑ_i) ≥ 0`.
    slope
        `dℓ(z_i)/dλ ≥ 0` where the response moves smoothly; a jump between two responses is not counted.
    """

    lift: FloatArray
    cost: FloatArray
    slope: FloatArray

    @classmethod
    def staying(cls, n: int) -> Response:
        """Nobody moves."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n))

    def take(self, rows: Rows) -> Response:
        """The responses of these samples only."""
        return Response(self.lift[rows], self.cost[rows], self.slope[rows])


def joined(parts: Sequence[Response]) -> Response:
    """The responses of neighbouring runs of samples, as those of one run."""
    if len(parts) == 1:
        return parts[0]
    return Response(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("lift", "cost", "slope")))


class BestResponses(Protocol):
    """Who finds best responses, as far as the dual is concerned."""

    @property
    def losses(self) -> FloatArray:
        """`ℓ(ẑ_i)`: the losses as they are now."""

    @property
    def ceiling(self) -> float:
        """The least price at which a sample of positive loss has an infinite `e_i`; `inf` where there is none."""

    def respond(self, price: float) -> Response:
        """The best responses at a price in `[0, ceiling)`."""

    def peak(self) -> Response:
        """The largest lift of every sample (`inf` where unbounded) and the least cost that reaches it; no slope."""

    def escape(self, lift: float) -> Response:
        """Responses of at least this lift at the ceiling's cost per lift; infinite cost where a sample has none."""


class Restricted:
    """Some of the samples of other responses."""

    def __init__(self, responses: BestResponses, rows: IntArray) -> None:
        self._responses = responses
        self._rows = rows
        self.losses: FloatArray = responses.losses[rows]
        self.ceiling: float = responses.ceiling

    def respond(self, price: float) -> Response:
        return self._responses.respond(price).take(self._rows)

    def peak(self) -> Response:
        return self._responses.peak().take(self._rows)

    def escape(self, lift: float) -> Response:
        return self._responses.escape(lift).take(self._rows)
