r"""The embedded profile: what a browser needs to find best responses :math:`e_i(\lambda)` by itself.

Three kinds, from exact to bounded:

- *line*: a linear score whose features move freely. The loss is a function of one number `v` a sample, and pushing it by `t`
  costs `t²/B`; every loss of the package has its closed form there too.
- *atoms*, settled: finitely many places a sample, all of them held. For the 0/1 loss of any model two are enough, to stay and
  the nearest error. Otherwise they are found one by one: two neighbours on an envelope tie at one price, and if nothing beats
  them there, nothing lies between them.
  Where errors of the 0/1 loss were proved rather than found, the page holds the least that they can cost too: what comes of
  that bounds every number from below.
- *atoms* of a ladder: the best places at several prices around those of the report. What they attain is attained, so numbers
  from them are upper bounds; at the report's own setting they are the report's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Envelopes
from tippingpoint.core.crossing import NearestErrors
from tippingpoint.core.envelope import envelope
from tippingpoint.core.oracle import ClosedForm, Oracle
from tippingpoint.core.responses import BestResponses, Response
from tippingpoint.report.packing import Digits, pack, unpack

MAX_RESPONSES = 2_000_000
"""Responses, one a sample and price, that are computed to settle that no place is missing."""

FINE_RATIO, COARSE_RATIO = 2.0**0.25, 2.0
"""From one price of a ladder to the next, near the report's and farther away."""

FINE_RUNGS = 8
"""Prices of a ladder on either side of the report's that are near it."""

COARSE_RUNGS = 6
"""Prices of a ladder on either side that are farther away."""

MAX_LADDER_NUMBERS = 400_000
"""Numbers that a ladder may take in a page; with very many samples it has fewer rungs."""

MAX_EXACT_NUMBERS = 1_000_000
"""Numbers of places that are held with all of their digits where all places are known."""

MAX_NUMBERS = 3_000_000
"""Numbers beyond which a page would be too large for a browser, and holds none."""

ROUND_OFF = 1e-12
"""Relative excess over an envelope that is rounding."""

LEAST_COST = 1e-300
"""What an alternative costs that costs nothing: it is not the sample itself."""


class EmbeddedAtoms(Envelopes):
    """Best responses among the places that a page holds, as the browser finds them, bit by bit; it fulfils
    `tippingpoint.core.responses.BestResponses`.

    Parameters
    ----------
    held
        Embedded atoms: every sample's loss, and how many places it has, with the lift and the cost of each, both rising.
    """

    def __init__(self, held: dict[str, Any]) -> None:
        self.losses: FloatArray = unpack(held["losses"])
        atoms = Envelopes.of_moves(unpack(held["count"]).astype(np.intp), unpack(held["lift"]), unpack(held["cost"]))
        super().__init__(atoms.first, atoms.lift, atoms.cost, atoms.begins)

    def part(self, rows: slice) -> BestResponses:
        """The best responses of a run of samples."""
        return self.beside(self.losses, rows)


@dataclass(frozen=True)
class Embedded:
    """The profile as a page holds it.

    Attributes
    ----------
    held
        As plain JSON, arrays in base 64.
    exact
        Whether numbers from it are those of the profile at every setting; if not, they are upper bounds.
    places
        The most places that any sample has, besides its own; 0 where they are not counted off.
    oracle
        Whose places they are.
    responses
        The same in Python: what the browser's numbers are to agree with.
    seen
        Prices at which places that the page holds are those of the oracle; empty for a line.
    closed
        The formula of a line.
    floors
        Responses of which a question costs no more than it does in truth; None where nothing is proved from below.
    """

    held: dict[str, Any]
    exact: bool
    places: int
    oracle: Oracle
    responses: BestResponses
    seen: tuple[float, ...] = ()
    closed: ClosedForm | None = None
    floors: NearestErrors | None = None


def embed(oracle: Oracle, loss: str, prices: tuple[float, float]) -> Embedded | None:
    """The profile of an oracle; None where it would be too large.

    Parameters
    ----------
    oracle
        Who finds the best responses.
    loss
        As results name it.
    prices
        The two prices `λ` of the report's own setting, around which a ladder is built.
    """
    closed = oracle.closed_form()
    if closed is not None:
        return _line(closed, oracle)
    if loss == "zero_one":  # wrong or right: to stay, and the nearest error
        return _errors(oracle) if 2 * len(oracle.losses) <= MAX_NUMBERS else None
    peak = oracle.peak()
    own = _own(prices, peak)
    near = tuple(price for price in own if price < oracle.ceiling)
    ends = tuple(
        price for price in (own[0] / FINE_RATIO**FINE_RUNGS, own[-1] * FINE_RATIO**FINE_RUNGS) if price < oracle.ceiling
    )
    held = oracle.held_atoms()
    if held is not None:
        sample = np.repeat(np.arange(len(held.first)), np.diff(held.first, append=len(held.lift)))
        return _packed(oracle, (sample, held.lift, held.cost), near + ends, exact=2 * len(sample) <= MAX_EXACT_NUMBERS)
    responses, exact = _responses(oracle, own, peak)
    return _atoms(oracle, responses, near + ends, exact=exact)


def _errors(oracle: Oracle) -> Embedded | None:
    """The nearest errors, and what they cost at least."""
    embedded, least = _atoms(oracle, [oracle.peak()], (math.inf,), exact=True), oracle.least
    if embedded is None or least is None:
        return embedded
    embedded = replace(embedded, floors=NearestErrors(oracle.losses, least))
    if oracle.exact:  # it is what they cost
        return embedded
    errs = (oracle.losses == 0.0) & np.isfinite(least)
    held = {**embedded.held, "floor": {"count": pack(errs.astype(float)), "cost": pack(least[errs])}}
    return replace(embedded, held=held)


def _line(closed: ClosedForm, oracle: Oracle) -> Embedded | None:
    """A linear score whose features move freely, under a loss that the page knows in closed form."""
    if 2 * len(oracle.losses) > MAX_NUMBERS:
        return None
    sides = [{"loss": dict(side.formula), "v": pack(side.v)} for side in closed.sides]
    held = {"kind": "line", "compliance": closed.compliance, "sides": sides}
    return Embedded(held, exact=True, places=0, oracle=oracle, responses=oracle, closed=closed)


def _responses(oracle: Oracle, own: list[float], peak: Response) -> tuple[list[Response], bool]:
    """Responses at several prices, and whether they are all that there are."""
    found = [oracle.respond(price) for price in _ladder(own, len(peak.lift)) if price < oracle.ceiling]
    if np.isfinite(peak.lift).all() and np.isfinite(peak.cost).all():
        found.append(peak)
        if not any(response.slope.any() for response in found):
            return _settled(oracle, found)
    return found, False


def _settled(oracle: Oracle, found: list[Response]) -> tuple[list[Response], bool]:
    """Respond where neighbours tie until nothing new is found there, or there are enough responses."""
    tried: set[float] = set()
    while True:
        sample, lift, cost = _envelopes(found)
        inner = np.flatnonzero(sample[1:] == sample[:-1])
        ties = np.unique((cost[inner + 1] - cost[inner]) / (lift[inner + 1] - lift[inner]))
        fresh = [float(tie) for tie in ties if float(tie) not in tried and 0.0 < tie < math.inf]
        if not fresh:
            return found, True
        if (len(tried) + len(fresh)) * len(oracle.losses) > MAX_RESPONSES:
            return found, False
        first = np.searchsorted(sample, np.arange(len(oracle.losses)))
        for tie in fresh:
            tried.add(tie)
            answer = oracle.respond(tie)
            known = np.maximum.reduceat(tie * lift - cost, first)
            if (tie * answer.lift - answer.cost > known + ROUND_OFF * np.maximum(answer.cost, known)).any():
                found.append(answer)


def _ladder(own: list[float], samples: int) -> list[float]:
    """Prices around the report's, close together near them; fewer of them for very many samples."""
    steps = [FINE_RATIO**k for k in range(1, FINE_RUNGS + 1)] + [
        FINE_RATIO**FINE_RUNGS * COARSE_RATIO**k for k in range(1, COARSE_RUNGS + 1)
    ]
    every = -(-len(steps) // max(MAX_LADDER_NUMBERS // (4 * samples) - 1, 1))
    steps = steps[every - 1 :: every]
    return sorted({*own, *(own[-1] * step for step in steps), *(own[0] / step for step in steps)})


def _own(prices: tuple[float, float], peak: Response) -> list[float]:
    """The report's prices; where it has none, that at which half of the samples that can be moved are worth it."""
    own = sorted({price for price in prices if 0.0 < price < math.inf})
    if own:
        return own
    pays = (peak.lift > 0.0) & np.isfinite(peak.lift)
    rates = peak.cost[pays] / peak.lift[pays]
    return [float(np.median(rates))] if len(rates) and np.median(rates) > 0.0 else [1.0]


def _envelopes(found: list[Response]) -> tuple[IntArray, FloatArray, FloatArray]:
    """Sample, lift and cost of the places on the envelopes, staying first, sorted by sample and lift."""
    n = len(found[0].lift)
    lift = np.concatenate([np.zeros(n), *(response.lift for response in found)])
    cost = np.concatenate([np.zeros(n), *(response.cost for response in found)])
    sample = np.tile(np.arange(n, dtype=np.intp), len(found) + 1)
    return _enveloped(sample, lift, np.where((lift > 0.0) & (cost == 0.0), LEAST_COST, cost))


def _enveloped(sample: IntArray, lift: FloatArray, cost: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    kept = envelope(sample, lift, cost)
    return sample[kept], lift[kept], cost[kept]


def _atoms(oracle: Oracle, found: list[Response], seen: tuple[float, ...], *, exact: bool) -> Embedded | None:
    return _packed(oracle, _envelopes(found), seen, exact=exact)


def _packed(
    oracle: Oracle, places: tuple[IntArray, FloatArray, FloatArray], seen: tuple[float, ...], *, exact: bool
) -> Embedded | None:
    """Places on the envelopes as a page holds them: with all digits where they are all there are, else with fewer."""
    sample, lift, cost = places
    digits: Digits = "f8" if exact else "f4"
    if digits == "f4":  # rounded so that what is claimed is still attained: less lift, more cost
        less = np.nextafter(lift.astype(np.float32), np.float32(0.0))
        more = np.where(lift > 0.0, np.nextafter(cost.astype(np.float32), np.float32(np.inf)), np.float32(0.0))
        sample, lift, cost = _enveloped(sample, less.astype(float), more.astype(float))
    moves = (lift > 0.0) & np.isfinite(cost)
    sample, lift, cost = sample[moves], lift[moves], cost[moves]
    if 2 * len(sample) > MAX_NUMBERS:
        return None
    count = np.bincount(sample, minlength=len(oracle.losses)).astype(float)
    held = {
        "kind": "atoms",
        "losses": pack(oracle.losses),
        "count": pack(count),
        "lift": pack(lift, digits),
        "cost": pack(cost, digits),
    }
    return Embedded(held, exact, int(count.max(initial=0.0)), oracle, EmbeddedAtoms(held), seen)
