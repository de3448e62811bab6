"""Drift between levels that change into one another at one price, in closed form."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.divergences.base import MAX_HALVINGS
from tippingpoint.core.units import MAX_PRICE_RATIO
from tippingpoint.transport.chain import slope
from tippingpoint.transport.checks import ALIKE, checked_masses, checked_price, priced
from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.table import NEVER, Found, drift_of_levels


def drift_by_switching(
    base: object, masses: object, *, switch: float, theta2: float, divergence: str | Divergence = "kl"
) -> Drift:
    r"""The drift of a category whose levels change into one another at one price, in closed form.

    .. math:: w_k = \min(\max(q_k/p_k, l), u), \qquad l = (\phi^*)'(\alpha), \quad u = (\phi^*)'(\alpha + \kappa/\theta_2)

    with the `α` for which the weights average one; :math:`g_k = \min(\max(\theta_2(\phi'(q_k/p_k) - \alpha), 0), \kappa)`, and
    moving costs :math:`\kappa \sum_k (q_k - p_k w_k)_+`.

    Parameters
    ----------
    base, masses
        Weights of the levels in the reference and in the current sample, of any sum; levels may have none.
    switch
        `κ`, the price of a change from any level to any other. Infinite: levels do not change.
    theta2, divergence
        The price of reweighting, and what is priced: `"kl"` or `"chi2"`. Infinite: nothing is reweighted.

    Returns
    -------
    Drift
        Of levels; `destinations[k][l]` is the part of level `k` that goes to level `l`.
    """
    p = checked_masses(base, np.size(base), "base")  # type: ignore[arg-type]  # anything that NumPy can count
    q = checked_masses(masses, len(p), "masses")
    switch, theta2 = checked_price(switch, "switch"), checked_price(theta2, "theta2")
    named = priced(divergence)
    held, wanted = p > 0.0, q > 0.0
    span = min(switch / theta2, MAX_PRICE_RATIO) if math.isfinite(switch) else MAX_PRICE_RATIO
    if math.isinf(switch) and ((q[~held] > 0.0).any() or (math.isinf(theta2) and not np.allclose(p, q, rtol=0.0, atol=ALIKE))):
        return drift_of_levels(p, q, None)
    with np.errstate(all="ignore"):  # shares of nothing, and weights that are not capped at all
        ratios = np.where(p > 0.0, q / p, np.where(q > 0.0, math.inf, 1.0))
        if math.isinf(theta2):
            weights, witness = np.ones(len(p)), np.where(q > p, switch, 0.0)
        else:
            alpha = _balanced(p[held], ratios[held], span, named)
            weights = np.clip(ratios, *named.weights(np.array([alpha, alpha + span])))
            witness = theta2 * np.clip(slope(named, ratios) - alpha, 0.0, span)
    source = p[held] * weights[held]
    masses_before = np.zeros(len(p))
    masses_before[held] = source / float(np.add.reduce(source))
    plan = _switches(masses_before, q)
    moved = total(np.ones(len(p)), np.maximum(q - masses_before, 0.0))
    moving = switch * moved if math.isfinite(switch) else 0.0
    lower, reweighting, influences = total(q, witness), 0.0, -witness[held]
    if math.isinf(theta2):
        lower -= total(p, witness)
    else:
        tilt = named.tilt(witness[held], p[held], theta2)
        lower -= total(p[held], witness[held]) + theta2 * total(p[held], named.centred_conjugate(tilt.scores))
        influences = -theta2 * tilt.conjugate
        reweighting = theta2 * max(total(p[held], named.phi(masses_before[held] / p[held])), 0.0)
    found = Found(lower, moving, reweighting, plan[np.ix_(held, wanted)], witness[wanted], influences)
    return drift_of_levels(p, q, found)


def _balanced(base: FloatArray, ratios: FloatArray, span: float, divergence: Divergence) -> float:
    """The `α` for which the clipped ratios average one: between `-span`, where the cap is one, and 0, where the floor is.

    Where weights are capped others are floored, so that the floor is positive; where none is, any low `α` will do.
    """

    def excess(alpha: float) -> float:
        return total(base, np.clip(ratios, *divergence.weights(np.array([alpha, alpha + span]))) - 1.0)

    least = max(-span, -NEVER)
    if excess(least) >= 0.0:
        return least
    if excess(0.0) <= 0.0:
        return 0.0
    return float(brentq(excess, least, 0.0, xtol=np.finfo(float).tiny, rtol=4.0 * np.finfo(float).eps, maxiter=MAX_HALVINGS))


def _switches(before: FloatArray, after: FloatArray) -> FloatArray:
    """A plan that moves no more than it must: every surplus goes to all levels that lack something, in parts alike."""
    lacking, surplus = np.maximum(after - before, 0.0), np.maximum(before - after, 0.0)
    moved = float(np.add.reduce(lacking))
    plan = np.outer(surplus, lacking / moved) if moved > 0.0 else np.zeros((len(before), len(after)))
    plan[np.diag_indices(len(before))] += np.minimum(before, after)
    return plan
