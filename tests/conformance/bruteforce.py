"""Slow, independent ways to know what an oracle and the dual claim: places tried one by one, and a linear program over them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linprog

if TYPE_CHECKING:
    from trials import ModelTrial

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import Divergence
from tippingpoint.space.domain import Domain

REACH = 6.0
"""How far from a sample the grid goes, in each number."""

GRID = {1: 121, 2: 41, 3: 15}
"""Places on each axis of the grid, by how many numbers move; denser near the sample."""

RADIUS, ZOOMS, ZOOMED, ZOOM = 0.5, 14, 7, 2.5
"""Neighbourhood of the best place, how often it is looked at, places on each axis, and how it shrinks if none is better."""

RANDOM = 300
"""Random places of each sample besides those of the grid."""

WEIGHTS = 201
"""Weights between which the price of any other is a chord."""

Atoms = tuple[FloatArray, FloatArray]
"""Loss and cost of places where a sample may go; the first is where it is."""


def axis(domain: Domain, row: FloatArray, j: int, steps: int, kinks: FloatArray | None) -> FloatArray:
    """Legal values of one number of one sample, its own among them; `kinks` where the model can change, if that is known."""
    low, high = (float(bound[0, 0]) for bound in domain.bounds(row[None], np.array([j])))
    if domain.step[j] > 0.0:
        size = domain.step[j]
        counts = np.arange(math.ceil((low - row[j]) / size - 1e-6), math.floor((high - row[j]) / size + 1e-6) + 1)
        return np.asarray(row[j] + size * counts)
    spread = np.linspace(-1.0, 1.0, steps)
    values = row[j] + REACH * spread * np.abs(spread) if kinks is None else kinks
    return np.unique(np.clip(np.append(values, row[j]), low, high))


def grid(domain: Domain, row: FloatArray, kinks: Mapping[str, FloatArray]) -> FloatArray:
    """Every legal place of one sample: all of its menus, numbers on a grid; where it is comes first."""
    free = [int(j) for j in domain.free]
    parts: list[tuple[list[int], FloatArray]] = [
        ([j], axis(domain, row, j, GRID[len(free)], kinks.get(domain.names[j]))[:, None]) for j in free
    ] + [(menu.columns.tolist(), menu.values[np.isfinite(menu.cost[int(menu.options(row[None])[0])])]) for menu in domain.menus]
    which = np.indices([len(values) for _, values in parts]).reshape(len(parts), -1)
    places = np.tile(row, (which.shape[1], 1))
    for (columns, values), chosen in zip(parts, which, strict=True):
        places[:, columns] = values[chosen]
    return np.concatenate([row[None], _elsewhere(domain, row, free), places])


def _elsewhere(domain: Domain, row: FloatArray, free: Sequence[int]) -> FloatArray:
    """Random places, for what hides between those of the grid."""
    smooth = [j for j in free if domain.step[j] == 0.0]
    places = np.tile(row, (RANDOM, 1)) if smooth else np.zeros((0, len(row)))
    size = np.geomspace(0.05, 2.0, RANDOM)
    for j in smooth:
        low, high = (float(bound[0, 0]) for bound in domain.bounds(row[None], np.array([j])))
        places[:, j] = np.clip(row[j] + size * np.random.default_rng(j).normal(size=RANDOM), low, high)
    return places


def refined(
    trial: ModelTrial, places: Sequence[FloatArray], found: Sequence[Atoms], prices: Sequence[float]
) -> list[FloatArray]:
    """Places ever nearer to the best of every price, for every sample; nothing where no number moves freely.

    `found` are loss and cost of `places`, of which the best are begun with.
    """
    domain, x = trial.domain, trial.features.x
    free = np.array([j for j in domain.free if domain.step[j] == 0.0], dtype=np.intp)
    if not len(free) or not prices or trial.kinks:
        return [np.zeros((0, x.shape[1])) for _ in x]
    owner, price = (each.ravel() for each in np.meshgrid(np.arange(len(x)), prices, indexing="ij"))
    low, high = domain.bounds(x[owner], free)
    worth = [p * found[i][0] - found[i][1] for i, p in zip(owner, price, strict=True)]
    best = np.array([places[i][int(each.argmax())] for i, each in zip(owner, worth, strict=True)])
    value = np.array([each.max() for each in worth])
    offsets = np.array(list(itertools.product(np.linspace(-1.0, 1.0, ZOOMED), repeat=len(free))))
    radius = np.full((len(owner), 1, 1), RADIUS)
    rng = np.random.default_rng(0)
    seen: list[FloatArray] = []
    for _ in range(ZOOMS):
        tried = np.repeat(best[:, None], len(offsets), axis=1)
        around = np.where(rng.random(offsets.shape) < 0.5, offsets, rng.uniform(-1.0, 1.0, offsets.shape))
        tried[:, :, free] = np.clip(best[:, None, free] + radius * around, low[:, None], high[:, None])
        loss, cost = trial.priced(np.repeat(owner, len(offsets)), tried.reshape(-1, x.shape[1]))
        gained = (np.repeat(price, len(offsets)) * loss - cost).reshape(len(owner), -1)
        pick, here = tried[np.arange(len(owner)), gained.argmax(axis=1)], gained.max(axis=1)
        better = here > value
        best, value = np.where(better[:, None], pick, best), np.maximum(here, value)
        radius[~better] /= ZOOM
        seen.append(best)
    return [np.concatenate([each[owner == i] for each in seen]) for i in range(len(x))]


def envelopes(atoms: Sequence[Atoms], price: float) -> FloatArray:
    """`e_i(λ)` over these places."""
    return np.array([float((price * loss - cost).max()) for loss, cost in atoms])


def worth_keeping(loss: FloatArray, cost: FloatArray) -> Atoms:
    """The places on the upper concave envelope of the loss over the cost: no mixture of others is better."""
    order = np.lexsort((-loss, cost))
    record = np.maximum.accumulate(loss[order])
    kept: list[int] = []
    for k in order[np.append(True, record[1:] > record[:-1])]:
        while len(kept) > 1 and (loss[k] - loss[kept[-2]]) * (cost[kept[-1]] - cost[kept[-2]]) >= (
            loss[kept[-1]] - loss[kept[-2]]
        ) * (cost[k] - cost[kept[-2]]):
            kept.pop()
        kept.append(int(k))
    return loss[kept], cost[kept]


def stability(
    atoms: Sequence[Atoms], base: FloatArray, risk: float, theta1: float, theta2: float, divergence: Divergence
) -> float:
    r"""The definition itself: :math:`\min \theta_1 \sum p_i m_{ij} c_{ij} + \theta_2 \sum p_i \phi(\sum_j m_{ij})`.

    The price of weights is interpolated between many of them, from above, so this is a linear program for any divergence; no
    duality and no conjugate is in it. The result is an upper bound on the stability, near to it as far as the atoms are.
    """
    kept = [worth_keeping(*each) if math.isfinite(theta1) else (each[0][:1], each[1][:1]) for each in atoms]
    owner = np.concatenate([np.full(len(loss), i) for i, (loss, _) in enumerate(kept)])
    loss, cost = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    n, m = len(base), len(owner)
    weights = np.array([1.0]) if math.isinf(theta2) else _weights(divergence, 1.0 / float(base.min()))
    phi = np.zeros(1) if math.isinf(theta2) else theta2 * divergence.phi(weights)
    # Variables: the mass of every atom, then the mixture of weights of every sample.
    k, each = len(weights), np.eye(n)
    equal = np.block(
        [
            [each[:, owner], -np.kron(each, weights)],
            [np.zeros((n, m)), np.kron(each, np.ones(k))],
            [base[owner], np.zeros(n * k)],
        ]
    )
    moving = theta1 * base[owner] * cost if math.isfinite(theta1) else np.zeros(m)
    answer = linprog(
        np.append(moving, np.repeat(base, k) * np.tile(phi, n)),
        A_eq=equal,
        b_eq=np.concatenate([np.zeros(n), np.ones(n), [1.0]]),
        A_ub=-np.append(base[owner] * loss, np.zeros(n * k))[None],
        b_ub=[-risk],
    )
    return math.inf if answer.fun is None or answer.status else float(answer.fun)


def _weights(divergence: Divergence, most: float) -> FloatArray:
    """Weights at which a divergence has a price, up to the largest there is; dense around one."""
    spread = np.linspace(0.0, 1.0, WEIGHTS // 2)
    every = np.unique(np.concatenate([spread, 1.0 + (most - 1.0) * np.square(spread)]))
    priced = np.isfinite(divergence.phi(every))
    if priced.all():
        return every
    low, high = float(every[priced].max()), float(every[int(np.argmax(~priced & (every > 1.0)))])
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.isfinite(divergence.phi(np.array([middle]))[0]) else (low, middle)
    return np.append(every[priced], low)
