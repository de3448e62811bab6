"""The protocol of oracles: who finds best responses, and what may be said of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tippingpoint.core.arrays import FloatArray, IntArray, Signs
from tippingpoint.core.dual import Solution
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.errors import ModelError, UnsupportedError

if TYPE_CHECKING:
    from tippingpoint.core.atoms import Envelopes
    from tippingpoint.core.prover import Ending

INTERRUPTED = "the search was interrupted; what it had found by then still gives a valid upper bound, but a looser one"
"""What a result says of a search that somebody at the keyboard ended."""

NOTHING_MOVES = "exact: nothing moves, and weights are a problem in one number"
"""What certifies a lower bound where moving is forbidden."""


def failed(failure: ModelError, calls: int) -> str:
    """In words, for a result: the model failed, and what its value is then worth."""
    return (
        f"the search ended after {calls:,} calls because the model failed: {str(failure).rstrip('.')}; what had been found by"
        " then still gives an upper bound, but a looser one"
    )


@dataclass(frozen=True)
class Certificate:
    """What is known from below.

    Attributes
    ----------
    lower
        A lower bound on the stability; 0 where there is none.
    by
        In words: what certifies it, or why nothing does.
    """

    lower: float
    by: str


@dataclass(frozen=True)
class Corrected:
    """A stability without the noise of repeated answers: two extrapolations to infinitely many repeats.

    Attributes
    ----------
    low, high
        The two extrapolations. `high` is infinite if the extrapolated threshold is out of reach.
    effects
        `(n,)` first-order effect of each sample, with its answers, on the mean of the two.
    repeats
        Runs per outcome that both start from.
    floor
        The mean of the two with missing outcomes counted as the largest loss; `value` if none is missing.
    """

    low: float
    high: float
    effects: FloatArray
    repeats: int
    floor: float

    @property
    def value(self) -> float:
        """The corrected stability."""
        return 0.5 * (self.low + self.high)

    @property
    def spread(self) -> float:
        """How far both extrapolations are from it."""
        return 0.5 * (self.high - self.low)


Corrector = Callable[[FloatArray], "Corrected | None"]
"""The corrected stability by the base weights of samples, some of which may be zero; None if there is none."""


@dataclass(frozen=True)
class ClosedSide:
    """One direction of pushing.

    Attributes
    ----------
    formula
        The loss `f` by kind and numbers, as plain data.
    v, direction
        Of every sample: where it is now, and the sign in which its score is pushed.
    """

    formula: Mapping[str, Any]
    v: FloatArray
    direction: Signs


@dataclass(frozen=True)
class ClosedForm:
    """Best responses as a formula: the loss is `f(v + t)`, and a push by `t ≥ 0` costs `t²/compliance`.

    Attributes
    ----------
    compliance
        How far the score gives way; the same for every sample.
    sides
        The directions in which a push can raise the loss.
    columns, step
        The features that a push moves, and how far each goes when the score rises by one.
    """

    compliance: float
    sides: tuple[ClosedSide, ...]
    columns: IntArray
    step: FloatArray


class Doubted(Protocol):
    """Samples whose best responses mean little, which can be counted together with those of another partition."""

    def joined(self, other: Any) -> Doubted:
        """The samples of both."""

    def words(self, rows: int) -> str:
        """What is to be read before a number about so many samples."""


class Oracle(ABC):
    """Best responses `e_i(λ) = max_z λ·ℓ(z) - d(z, ẑ_i)` of every sample.

    An oracle depends on the model, the loss and the space only; every price, divergence and threshold is served by the
    same one. It fulfils `tippingpoint.core.responses.BestResponses`, and can also say where samples go.
    """

    exact: bool
    """Whether `respond` attains `e_i`. If not, what comes of it is an upper bound on the stability, and no lower one."""

    certificate: str
    """In words: why the responses are exact, or how they were searched for."""

    derived: bool = False
    """Whether nothing is searched for: bounds that differ come of outcomes that nobody knows, and no search closes them."""

    attained_by: str = "sensitive distribution"
    """In words: what attains the upper bound."""

    unit: str
    """In words: what the square root of a cost measures; "cost" where it measures nothing."""

    noisy: bool = False
    """Whether losses are means of answers that differ: what was found is then an estimate, and no bound."""

    gap: float | None = None
    """The relative gap between the bounds at which a proof is to stop; None if nothing is proved step by step."""

    time_limit: float = math.inf
    """Seconds after which a proof stops."""

    interrupted: bool = False
    """Whether a search ended before it was done: at the keyboard, or because the model failed."""

    doubted: Doubted | None = None
    """Samples of which a reader must know before the number; None if there are none."""

    timed_out: bool = False
    """Whether `time_limit` ended a search or a proof: bounds hold, and more time may narrow them."""

    farthest: float = math.inf
    """No move of a sample costs more than this."""

    @property
    @abstractmethod
    def losses(self) -> FloatArray:
        """`ℓ(ẑ_i)`: the losses as they are now."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """The least price at which a sample of positive loss has an infinite `e_i`; `inf` where there is none."""

    @abstractmethod
    def respond(self, price: float) -> Response:
        """The best responses at a price in `[0, ceiling)`."""

    @abstractmethod
    def peak(self) -> Response:
        """The largest lift of every sample (`inf` where unbounded) and the least cost that reaches it."""

    @abstractmethod
    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        """Where these samples go at a price (`inf`: at their peak), as columns.

        `lift` is the lift of each; it tells where a sample went that escaped at the ceiling.
        """

    def inputs(self, prices: FloatArray, rows: IntArray, lift: FloatArray) -> Any:
        """What the model is given where these samples go, each at a price of its own: arrays, where `points` is a summary."""
        raise UnsupportedError("samples are rows of a table here: result.sensitive holds them, a column a feature.")

    @property
    def least(self) -> FloatArray | None:
        """Of the 0/1 loss: what any error of every sample costs at least, where that is proved; None where it is not."""
        return None

    def tuned(self, problem: Problem) -> Oracle:
        """An oracle that answers this question better, where searching depends on the question; otherwise itself."""
        return self

    def timed(self) -> Oracle:
        """The same with its time limit counted from now on, for a question that is answered by several searches."""
        return self

    def reaching(self, problem: Problem, cost: float) -> tuple[Oracle, float] | None:
        """An oracle that answers which risk a positive cost reaches, and that risk; None if it searches for thresholds only."""
        return None

    def widened(self) -> Oracle:
        """An oracle that knows more of other questions, and as much of its own; itself where there is no more to know."""
        return self

    def attains(self, problem: Problem) -> bool:
        """Whether the best among these responses is the best there is: they are exact, or nothing moves."""
        return self.exact or not problem.moves

    def ending(self, problem: Problem) -> Ending | None:
        """Why the proof of this question ended; None if this oracle was not made for it."""
        return None

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        """A lower bound on the stability; where the responses are the best there are, the dual's value is one."""
        if self.attains(problem):
            return Certificate(solution.lower, self.certificate if self.exact else NOTHING_MOVES)
        return self.bound(problem, solution)

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        """What is known from below where samples move and responses are not exact; nothing, unless an oracle says more."""
        return Certificate(0.0, f"not certified: {self.certificate}")

    def gain_bounds(self, price: float) -> FloatArray | None:
        """Bounds on `λ·lift - cost` of every sample, at a price; None where nobody bounds them."""
        if not self.exact:
            return None
        response = self.respond(price)
        return price * response.lift - response.cost

    def floor(self, problem: Problem, price: float) -> float | None:
        """A lower bound on the stability, from bounds on gains at one price `λ`; None where nobody bounds them."""
        gain = self.gain_bounds(price)
        return None if gain is None else problem.floor(price * problem.theta1, gain)

    def risk_bound(self, problem: Problem) -> float:
        """An upper bound on the risk that any perturbation reaches; infinite where nobody bounds it."""
        return problem.reachable if self.exact or not problem.moves else math.inf

    def at_price(self, price: float) -> Oracle | None:
        """The same with responses searched for, and bounded, at a price `λ`, as far as a fixed work for every sample goes.

        What it finds for a sample depends on no other, so it is how partitions answer a question about all of them. None where
        searches follow questions only (`tuned`).
        """
        return None

    def lightened(self) -> Oracle:
        """The same best responses without what only `points` needs, where that is much; itself where it is not."""
        return self

    def closed_form(self) -> ClosedForm | None:
        """The responses as a formula that others can compute with, as the page of a report does; None where there is none."""
        return None

    def held_atoms(self) -> Envelopes | None:
        """All places that matter at any price, where they are counted off and held already; None where they are not."""
        return None

    def held_out(self, problem: Problem) -> float | None:
        """The stability chosen on some runs of every outcome and priced on the others; None where outcomes are of one run.

        It is infinite if what is chosen does not reach the threshold on the others.
        """
        return None

    @property
    def repeats(self) -> int:
        """How often most outcomes were run that were run more than once; 1 if none was, 0 if runs are not counted."""
        return 0

    def corrector(self, problem: Problem, repeats: int | None = None) -> Corrector | None:
        """How this question is corrected for the noise of repeats; None if the noise is not known.

        Parameters
        ----------
        problem
            The question.
        repeats
            Runs to which every outcome is cut; None for all.
        """
        return None

    @property
    def trace(self) -> tuple[float, ...]:
        """The risk after every epoch of a search that has epochs."""
        return ()

    @property
    def caution(self) -> str:
        """In words: what must be read before the number; empty if there is nothing."""
        return "" if self.doubted is None else self.doubted.words(len(self.losses))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a careful reader should know of the search."""
        return ()

    @property
    def stopped(self) -> bool:
        """Whether somebody at the keyboard ended the search; otherwise, where it was interrupted, the model failed."""
        return INTERRUPTED in self.notes

    def escape(self, lift: float) -> Response:
        """Responses of at least this lift at the ceiling's cost per lift; infinite cost where a sample has none.

        Asked only where the ceiling is finite.
        """
        raise UnsupportedError(f"{type(self).__name__} has no ceiling, so nothing can escape from it.")
