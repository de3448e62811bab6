r"""What is found of a drift.

.. math:: D = \min_a \; W(a, q) + \theta_2 D_\phi(a \,\Vert\, p) = \max_g \; \sum_j q_j g_j - \Lambda(E_g)

`W` is optimal transport at the cost of a move, :math:`E_g(x) = \max_z g(z) - \text{cost}(x, z)`, and
:math:`\Lambda(v) = \max_a \langle a, v \rangle - \theta_2 D_\phi(a \Vert p)` is the divergence's `Ψ`
(`tippingpoint.core.divergences`). Every `a` gives an upper bound and every *witness* `g` a lower one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, total


@dataclass(frozen=True)
class Drift:
    """How far a current sample is from a reference sample: reweight the reference, then move it onto the current.

    Attributes
    ----------
    lower
        The value of the witness: no reweighting and moving is cheaper.
    upper
        The cost of the plan, `moving + reweighting`: what it can be done for.
    moving, reweighting
        The two parts of `upper`.
    weights
        `w_i` of every reference row in the plan, averaging one under `base`.
    witness
        `g(z_j)` of every current row.
    destinations
        The mean place to which the plan moves every reference row; the places in a row each, for a table.
    influences
        What the drift rises by, to first order, when a reference row gets more of the base weight: `-θ2·φ*(s_i)`, which is
        `-θ2·(w_i - 1)` for KL and `-θ2·(w_i² - 1)` for chi-square, and the potential of the row where nothing is reweighted.
        For a current row it is the witness.
    base, masses
        Weights of reference and current rows, summing to one each.
    """

    lower: float
    upper: float
    moving: float
    reweighting: float
    weights: FloatArray
    witness: FloatArray
    destinations: FloatArray
    influences: FloatArray
    base: FloatArray
    masses: FloatArray

    @property
    def gap(self) -> float:
        """`(upper - lower) / upper`; 0 where both are 0 or infinite."""
        return (self.upper - self.lower) / self.upper if 0.0 < self.upper < math.inf else 0.0

    def standard_error(self, n0: float | None = None, n1: float | None = None) -> float:
        """`√(Σ p_i² ψ_i² + Σ q_j² (g_j - ḡ)²)`, first order: it degenerates at a drift of zero, where the bias is all there is.

        Parameters
        ----------
        n0, n1
            Rows of the reference and the current sample, where `base` and `masses` are shares of levels: then
            `var_p(ψ)/n0` and `var_q(g)/n1` take the place of the sums.
        """
        return math.sqrt(_variance(self.influences, self.base, n0) + _variance(self.witness, self.masses, n1))


def _variance(influences: FloatArray, weights: FloatArray, rows: float | None) -> float:
    """Of a weighted mean of independent rows."""
    held = weights > 0.0
    centred = np.square(influences[held] - total(weights[held], influences[held]))
    return total(weights[held] if rows is not None else np.square(weights[held]), centred) / (rows or 1.0)
