r"""Drift on a line: :math:`D = \min_a \text{price} \cdot W_2^2(a, q) + \theta_2 D_\phi(a \Vert p)`.

The chain (`tippingpoint.transport.chain`) is solved on bins first, and on all rows where that is not enough. What it finds is a
guess, which decides no digit of what is claimed: from it a witness and a plan are made for *all* rows, and their values are the
bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.units import MAX_PRICE_RATIO, exponent, shifted
from tippingpoint.errors import NumericalError
from tippingpoint.transport.chain import LIVE_WEIGHT, reweighted, slope, stages, unblurred
from tippingpoint.transport.checks import ALIKE, checked_masses, checked_price, checked_tolerance, checked_values, priced
from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.interior import plans
from tippingpoint.transport.monotone import matched, potentials
from tippingpoint.transport.parabolas import lowest
from tippingpoint.transport.samples import Atoms, Ordered, ordered

MOST_BINS = 2000
"""Atoms of either side on which the chain is solved first."""

MOST_PAIRS = 40_000
"""Pairs of a source and a target atom for which the method for tables is quick."""

BIN_TOLERANCE = 1e-3
"""Relative gap of the drift between bins that is a guess for that between rows."""

FINER = 10
"""How many times as many bins are taken next, up to all rows."""

BLURS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
"""Blurs of the quantile function on all rows, one after the other, until the bounds are close."""

ROUNDING = 1e-15
"""Gaps so small, in units of what it costs to move over the whole range, are rounding."""

FAR = 0.1
"""Gap beyond which the ends are tried: a price so high that all go to the nearest, or so low that weights stay as they are."""


@dataclass(frozen=True)
class Witness:
    """A lower bound: `g` of the target atoms; the weights of the source atoms that belong to it, and what they cost."""

    value: float
    heights: FloatArray
    weights: FloatArray
    influences: FloatArray
    reweighting: float


@dataclass(frozen=True)
class Plan:
    """An upper bound: masses of the source atoms, and what it costs to move and to reweight."""

    masses: FloatArray
    moving: float
    reweighting: float

    @property
    def value(self) -> float:
        """The cost."""
        return self.moving + self.reweighting


@dataclass(frozen=True)
class Guess:
    """Potentials of some points on the line; and masses of all source atoms, where they are known."""

    points: FloatArray
    potentials: FloatArray
    masses: FloatArray | None = None


@dataclass(frozen=True)
class Line:
    """Two samples near one, at the cost `price·(x - y)²` a move; costs are in units of `θ2` unless nothing is reweighted."""

    source: Atoms
    target: Atoms
    price: float
    divergence: Divergence | None

    def witness(self, centres: FloatArray, guess: FloatArray) -> Witness:
        """The bound that potentials of some points give: carried over to the target rows, and from these to the source rows."""
        heights, _ = lowest(centres, guess, self.price, self.target.values)
        found, _ = lowest(self.target.values, heights, self.price, self.source.values)
        base, masses = self.source.masses, self.target.masses
        value = total(masses, heights) + total(base, found)
        if self.divergence is None:
            return Witness(value, heights, np.ones(len(base)), found, 0.0)
        tilt = self.divergence.tilt(-found, base, 1.0)
        value -= total(base, self.divergence.centred_conjugate(tilt.scores))
        return Witness(value, heights, tilt.weights, -tilt.conjugate, self.divergence.penalty(tilt, base))

    def plan(self, masses: FloatArray, reweighting: float | None = None) -> Plan:
        """The bound that masses of the source atoms give; `reweighting` is what they cost, if that is known."""
        if masses is not self.source.masses:
            masses = masses / float(np.add.reduce(masses))
        cost = matched(Atoms(self.source.values, masses), self.target).cost
        return Plan(masses, self.price * cost, self.reweighting(masses) if reweighting is None else reweighting)

    def reweighting(self, masses: FloatArray) -> float:
        """`D_φ(a‖p)`."""
        if self.divergence is None:
            return 0.0
        return max(total(self.source.masses, self.divergence.phi(masses / self.source.masses)), 0.0)

    def guesses(self) -> Iterator[Guess]:
        """Better and better ones: by the chain, and by the method for tables where that does not get there."""
        if self.divergence is None:
            yield Guess(self.source.values, self.price * potentials(self.source, self.target), self.source.masses)
            return
        yield from self._by_chain(None)
        if len(self.source) * len(self.target) <= MOST_PAIRS:
            costs = self.price * np.square(self.source.values[:, None] - self.target.values)
            for pairs, heights in plans(self.source.masses, self.target.masses, costs, self.divergence):
                yield Guess(self.source.values, (costs - heights).min(axis=1), pairs.sum(axis=1))
        else:
            target = self.target.binned(max(math.isqrt(MOST_PAIRS), MOST_PAIRS // len(self.source)))
            coarse = replace(self, source=self.source.binned(MOST_PAIRS // len(target)), target=target)
            best, bins = bounds(coarse, BIN_TOLERANCE), coarse.source
            if best.witness is None or best.plan is None:
                return
            found, _ = lowest(target.values, best.witness.heights, self.price, bins.values)
            weights = np.interp(self.source.values, bins.values, best.plan.masses / bins.masses)
            guess = Guess(bins.values, found, self.source.masses * weights)
            yield guess
            yield from self._by_chain(guess)

    def _by_chain(self, guess: Guess | None) -> Iterator[Guess]:
        """On bins, more and more of them, and on all rows; on these at once where there is a guess to start from."""
        assert self.divergence is not None
        rows = max(len(self.source), len(self.target))
        for bins in [*sizes(rows), rows] if guess is None else [rows]:
            source, target = self.source.binned(bins), self.target.binned(bins)
            if guess is None:
                start = source.masses
                for price in stages(source, self.price)[:-1]:
                    start = reweighted(source, target, price, self.divergence, BLURS[0], start)
            else:
                values = -np.interp(source.values, guess.points, guess.potentials)
                start = source.masses * self.divergence.tilt(values, source.masses, 1.0).weights
            for blur in BLURS if bins == rows else BLURS[:1]:
                start = reweighted(source, target, self.price, self.divergence, blur, start)
                live = start > LIVE_WEIGHT * source.masses
                found = -slope(self.divergence, start / source.masses)
                guess = Guess(source.values[live], found[live], start if bins == rows else None)
                yield guess
                if rows <= MOST_BINS and min(len(source), len(target)) > 1:
                    exact = unblurred(source, target, self.price, self.divergence, blur, start)
                    yield Guess(source.values[live], exact[live])

    def ends(self) -> Iterator[Guess]:
        """The guesses that are right when moving costs nearly nothing, and when it is nearly all that counts."""
        yield Guess(self.source.values, self.price * potentials(self.source, self.target), self.source.masses)
        _, nearest = lowest(self.source.values, np.zeros(len(self.source)), 1.0, self.target.values)
        crowd = np.bincount(nearest, self.target.masses, len(self.source)).astype(float)
        yield Guess(self.source.values, np.zeros(len(self.source)), crowd)


def sizes(rows: int) -> Iterator[int]:
    """Numbers of bins below one of rows."""
    bins = MOST_BINS
    while bins < rows:
        yield bins
        bins *= FINER


@dataclass
class Bounds:
    """The best witness and the best plan so far."""

    line: Line
    witness: Witness | None = None
    plan: Plan | None = None

    def add(self, guess: Guess, tolerance: float) -> None:
        """What a guess gives; its masses, if they are needed."""
        if np.isfinite(guess.potentials).all():
            witness = self.line.witness(guess.points, guess.potentials)
            if math.isfinite(witness.value):
                if self.witness is None or witness.value > self.witness.value:
                    self.witness = witness
                if self.line.divergence is not None:
                    self.offer(self.line.source.masses * witness.weights, witness.reweighting)
        if guess.masses is not None and self.gap > tolerance:
            self.offer(guess.masses)

    def offer(self, masses: FloatArray, reweighting: float | None = None) -> None:
        """What masses of the source atoms give."""
        plan = self.line.plan(masses, reweighting)
        if math.isfinite(plan.value) and (self.plan is None or plan.value < self.plan.value):
            self.plan = plan

    def offer_alike(self) -> None:
        """Where both samples have the same values: to change nothing, and to move nothing."""
        if self.line.divergence is not None and np.array_equal(self.line.source.values, self.line.target.values):
            self.offer(self.line.source.masses, 0.0)
            self.offer(self.line.target.masses)

    @property
    def gap(self) -> float:
        """Relative gap; infinite while a side is missing."""
        if self.witness is None or self.plan is None:
            return math.inf
        if self.plan.value - self.witness.value <= ROUNDING * self.line.price:
            return 0.0
        return (self.plan.value - max(self.witness.value, 0.0)) / self.plan.value

    @property
    def both(self) -> tuple[Witness, Plan]:
        """The best witness and the best plan."""
        if self.witness is None or self.plan is None:
            raise NumericalError("no bound on the drift is a number; are values or prices very far apart?")
        return self.witness, self.plan


def bounds(line: Line, tolerance: float) -> Bounds:
    """The bounds, close to each other within the tolerance or as close as they get."""
    found = Bounds(line)
    with np.errstate(all="ignore"):  # a guess that is no number is passed over
        found.offer_alike()
        for guess in line.guesses():
            found.add(guess, tolerance)
            if found.gap > FAR and line.divergence is not None:
                for end in line.ends():
                    found.add(end, tolerance)
            if found.gap <= tolerance:
                break
    return found


def drift_on_line(
    reference: object,
    base: object,
    current: object,
    masses: object,
    *,
    price: float,
    theta2: float,
    divergence: str | Divergence = "kl",
    tolerance: float = 1e-3,
) -> Drift:
    """The drift of one number a row, at the cost `price·(x - y)²` of a move.

    Parameters
    ----------
    reference, current
        A number a row.
    base, masses
        Weights of reference and current rows, of any sum; None for rows that count alike.
    price
        Of a squared distance of one. Infinite: nothing moves, and a current value that no reference row has is infinitely far.
    theta2, divergence
        The price of reweighting, and what is priced: `"kl"` or `"chi2"`. Infinite: nothing is reweighted.
    tolerance
        Relative gap between the bounds at which the search for better ones ends.
    """
    before, after = checked_values(reference, "reference"), checked_values(current, "current")
    p, q = checked_masses(base, len(before), "base"), checked_masses(masses, len(after), "masses")
    price, theta2 = checked_price(price, "price"), checked_price(theta2, "theta2")
    tolerance, named = checked_tolerance(tolerance), priced(divergence)
    source, target = ordered(before, p), ordered(after, q)
    if math.isinf(price):
        return _in_place(source, target, p, q, theta2, named)
    frame = Frame.of(source.atoms, target.atoms, price, theta2)
    line = frame.line(source.atoms, target.atoms, named)
    witness, plan = bounds(line, tolerance).both
    places = matched(Atoms(line.source.values, plan.masses), line.target).places
    unit = frame.cost
    return Drift(
        lower=unit * min(max(witness.value, 0.0), plan.value),
        upper=unit * plan.value,
        moving=unit * plan.moving,
        reweighting=unit * plan.reweighting,
        weights=source.rows(plan.masses / line.source.masses),
        witness=unit * target.rows(witness.heights),
        destinations=frame.restored(source.rows(places)),
        influences=unit * source.rows(witness.influences),
        base=p,
        masses=q,
    )


def _in_place(
    source: Ordered, target: Ordered, base: FloatArray, masses: FloatArray, theta2: float, divergence: Divergence
) -> Drift:
    """`θ2·D_φ(q‖p)`, or infinite: nothing moves."""
    value, weights = reweighted_in_place(source.atoms, target.atoms, theta2, divergence)
    some = 0.0 < value < math.inf
    price, scores = 0.0, np.zeros(len(weights))
    if some:
        price, scores = theta2, slope(divergence, np.maximum(weights, np.finfo(float).tiny))
    at = np.minimum(np.searchsorted(source.atoms.values, target.atoms.values), len(weights) - 1)
    return Drift(
        lower=value,
        upper=value,
        moving=0.0 if math.isfinite(value) else math.inf,
        reweighting=value if math.isfinite(value) else 0.0,
        weights=source.rows(weights),
        witness=price * target.rows(scores[at]),
        destinations=source.rows(source.atoms.values),
        influences=-price * source.rows(divergence.conjugate(scores)),
        base=base,
        masses=masses,
    )


def reweighted_in_place(source: Atoms, target: Atoms, theta2: float, divergence: Divergence) -> tuple[float, FloatArray]:
    """`θ2·D_φ(q‖p)` and the weights; infinite, and ones, where the target has a value that the source has not."""
    at = np.minimum(np.searchsorted(source.values, target.values), len(source) - 1)
    weights = np.zeros(len(source))
    weights[at] = target.masses / source.masses[at]
    alike = len(source) == len(target) and np.allclose(weights, 1.0, rtol=0.0, atol=ALIKE)
    if not np.array_equal(source.values[at], target.values) or (math.isinf(theta2) and not alike):
        return math.inf, np.ones(len(source))
    return 0.0 if alike else theta2 * max(total(source.masses, divergence.phi(weights)), 0.0), weights


def cost_on_line(
    source: Atoms, target: Atoms, *, price: float, theta2: float, divergence: Divergence, tolerance: float
) -> float:
    """The upper bound alone, of samples in their order."""
    if math.isinf(price):
        return reweighted_in_place(source, target, theta2, divergence)[0]
    frame = Frame.of(source, target, price, theta2)
    _, plan = bounds(frame.line(source, target, divergence), tolerance).both
    return frame.cost * plan.value


@dataclass(frozen=True)
class Frame:
    """Where a line begins and what is one on it: values lie in [-1, 1] there, and costs are in units of `cost`."""

    start: float
    unit: int
    price: float
    cost: float
    reweights: bool = False

    @classmethod
    def of(cls, source: Atoms, target: Atoms, price: float, theta2: float) -> Frame:
        """From one of the values, so that a shift common to all is taken off without a rounding."""
        start = float(target.values[len(target) // 2])
        ends = [float(atoms.values[k]) - start for atoms in (source, target) for k in (0, -1)]
        unit = exponent(max(abs(end) for end in ends)) or 0
        whole = shifted(price, 2 * unit)
        if math.isinf(whole):
            raise NumericalError(
                f"price={price:g}: a move over the whole range costs more than a number can say; use larger units."
            )
        if math.isinf(theta2):
            return cls(start, unit, 1.0, whole)
        ratio = min(whole / theta2, MAX_PRICE_RATIO)
        return cls(start, unit, ratio, whole / MAX_PRICE_RATIO if ratio == MAX_PRICE_RATIO else theta2, reweights=True)

    def line(self, source: Atoms, target: Atoms, divergence: Divergence) -> Line:
        """Two samples here."""
        return Line(self._atoms(source), self._atoms(target), self.price, divergence if self.reweights else None)

    def _atoms(self, atoms: Atoms) -> Atoms:
        return replace(atoms, values=np.ldexp(atoms.values - self.start, -self.unit))

    def restored(self, values: FloatArray) -> FloatArray:
        """Values of this line, as they were given."""
        return np.ldexp(values, self.unit) + self.start
