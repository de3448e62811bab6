"""The stability of a model, and stabilities over a range of settings. The number never stands alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.inference import LEVEL, NORMAL_FROM, check_level, corrected_interval, normal_margin, rows_for
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.errors import DetachedError, InputError, SmallSampleWarning, UnsupportedError
from tippingpoint.plots import draw_convergence, draw_result, draw_weights
from tippingpoint.results.advice import Advice, of_result
from tippingpoint.results.bootstrap import Bootstrap
from tippingpoint.results.evidence import Evidence
from tippingpoint.results.reported import Reported
from tippingpoint.standing import Standing
from tippingpoint.text import NOTHING_REACHES, render_html, render_text, risk_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NUMBERS_ONLY = "holds its numbers only; run stability() again"
"""What a result without evidence is, where no reason is known."""

FROM_JSON = "was read from JSON, which holds its numbers only; run stability() again"
"""The same of one that was stored."""


TOO_LARGE = (
    "pictures, reports, comparisons and lists of all rows are not made of data in partitions; result.heaviest(1000) has the"
    " rows that matter most, result.sensitive all of them, and a sample of the rows in memory serves for the rest."
)
"""What is said where somebody asks for what is of the size of the data."""


@dataclass(frozen=True)
class StabilityResult(Reported):
    """How much the data must change before the model's risk reaches a threshold.

    Attributes
    ----------
    value
        `R`: the least cost of a perturbation that lifts the risk to `risk`. Big is stable.
    lower, upper
        Bounds on it; `upper` is what the sensitive distribution costs, `lower` is what was proved, 0 where nothing was.
    lower_by, upper_by
        What certifies each: how best responses were found, and which distribution attains the upper bound.
    exact
        Whether the number is known to rounding: `lower` and `upper` agree. `standing` says more.
    status
        "attained", "already" (`R = 0`), "largest" (the threshold is proved to be the largest risk in reach), "unreachable"
        (proved: `R = ∞`) or "not_found" (a search found nothing, which proves nothing: `lower` is all that is known).
    standard_error
        Of `value`, from sampling of the evaluation data; not a number where it is not defined.
    risk, current_risk
        The threshold, and the mean loss now.
    largest_risk
        The largest mean loss that any perturbation reaches, at any cost; None if that is not proved.
    loss, divergence, theta1, theta2
        Of the question.
    price
        `h*`: what one more unit of risk would cost.
    corruption_excess, reweighting_excess
        Excess risk from moving samples and from reweighting them; they sum to `risk - current_risk`.
    corruption_cost, reweighting_cost
        Cost of moving and of reweighting; they sum to `upper`.
    root_mean_square_move, unit
        Typical distance that numbers move under Q*, and its unit; category changes and missing values have none. It is not a
        number for data in partitions that may change in both ways, as it is not known then.
    moved_share
        Share of the data that moves at all.
    category_share, missing_share
        Share of the data whose category changes, and in which a value goes missing; not a number if they are not known.
    effective_share, effective_sample
        The part of the population, and the number of samples, that the weights amount to.
    nats
        Kullback-Leibler divergence of the weights.
    samples
        Rows of positive weight.
    evaluations
        Passes over the data that the dual took.
    notes
        What a careful reader should know.
    caution
        What must be read before the number; empty where there is nothing.
    held_out
        The stability chosen on some repeats of every outcome and priced on the others; None if outcomes were not repeated.
        `value` is too low on average, because the worst of noisy outcomes is in part luck. This is too high on average, because
        it is chosen from fewer repeats.
    repeats
        How often most outcomes of a table were run; 0 if the table does not count repeats.
    corrected
        The stability without the noise of repeats: the mean of two extrapolations to infinitely many repeats. None if the noise
        is not known, or if the extrapolated threshold is out of reach.
    corrected_lower
        The same with missing outcomes counted as the largest loss; equal to `corrected` if none is missing.
    corrected_error
        Standard error of `corrected`, from sampling of the samples and of their answers.
    corrected_spread
        How far the two extrapolations are from `corrected`: what is not known of the bias that remains.
    groups
        Groups that samples come in, which errors and effective numbers count instead; 0 where samples are independent.
    missing
        Outcomes of a table that are missing.
    ending
        Why the proof of a tree ensemble ended. "gap": the bounds are as close as `gap=` asks. "time": `time_limit=` is over.
        "work": the open rows had all the work a row gets. "rounding": the model's library rounds its sums, and no work narrows
        the rest. "partitions": in partitions each row gets a fixed amount of work. "keyboard": you stopped it. None if nothing
        is proved step by step.
    trace
        The risk on the way: after every epoch of `method="paper"`, for all others at every price that the dual tried.
    interrupted
        Whether a search did not end, stopped at the keyboard or by a model that failed: `upper` holds for what it had found
        by then, and no gate and no verdict takes it for an answer.
    time_limit_reached
        Whether `time_limit` ended a search or a proof. The bounds hold, and more time may narrow them.
    largest_risk_found
        The largest mean loss that the search found, if the status is "not_found"; None otherwise.
    evidence
        What the sensitive distribution, the bootstrap and the report are worked out from; None where only numbers are left.
    partitioned
        The same of data in partitions, without what would bring all rows to one place.
    detached
        Why there is none, and what to do about it.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> result = profile.stability(risk=0.5, theta1=1.0, theta2=float("inf"))
    >>> result.lower, result.value, result.upper, result.status
    (0.125, 0.125, 0.125, 'attained')
    >>> q = result.sensitive
    >>> float((q["mass"] * q["loss"]).sum())  # the threshold
    0.5
    >>> tp.StabilityResult.from_json(result.to_json()).value
    0.125
    """

    value: float
    lower: float
    upper: float
    lower_by: str
    upper_by: str
    exact: bool
    status: str
    standard_error: float
    risk: float
    current_risk: float
    largest_risk: float | None
    loss: str
    divergence: str
    theta1: float
    theta2: float
    price: float
    corruption_excess: float
    reweighting_excess: float
    corruption_cost: float
    reweighting_cost: float
    root_mean_square_move: float
    unit: str
    moved_share: float
    effective_share: float
    effective_sample: float
    nats: float
    samples: int
    evaluations: int
    notes: tuple[str, ...] = ()
    trace: tuple[float, ...] = ()
    interrupted: bool = False
    caution: str = ""
    held_out: float | None = None
    corrected: float | None = None
    groups: int = 0
    missing: int = 0
    category_share: float = 0.0
    missing_share: float = 0.0
    repeats: int = 0
    corrected_lower: float | None = None
    corrected_error: float | None = None
    corrected_spread: float | None = None
    time_limit_reached: bool = False
    largest_risk_found: float | None = None
    ending: str | None = None
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    partitioned: Any = field(default=None, repr=False, compare=False)  # a PartitionedEvidence, or None
    detached: str = field(default=NUMBERS_ONLY, repr=False, compare=False)

    SCHEMA: ClassVar[str] = "tippingpoint.stability/1"
    LIVE: ClassVar[tuple[str, ...]] = ("evidence", "partitioned", "detached")

    @property
    def gap(self) -> float:
        """Upper minus lower bound, relative to the upper; not a number where both are infinite."""
        if math.isinf(self.upper):
            return math.nan
        return (self.upper - self.lower) / self.upper if self.upper > 0.0 else 0.0

    @property
    def standing(self) -> Standing:
        """How much is known of the number: exact, bounded, searched, an estimate, or nothing found; and why."""
        return Standing.of(self.summary)

    @property
    def held_out_difference(self) -> float:
        """`held_out - value`: how far the noise of the runs may reach; not a number where none was held out."""
        return math.nan if self.held_out is None else self.held_out - self.value

    @property
    def stopped(self) -> bool:
        """Whether somebody at the keyboard ended the search; otherwise, where it was interrupted, the model failed."""
        return INTERRUPTED in self.notes

    @cached_property
    def sensitive(self) -> Any:
        """Q*, the most sensitive distribution, as a frame of the kind that the data came in.

        One line an atom: the `row` it belongs to, its `weight` (1: as now), the `share` of the row that goes here (below one
        only for the one row that is split), its `mass` (the row's base weight times `share` times `weight`), `loss_before` and
        `loss`, `cost`, then every feature, moved or not, under its own name (`feature:mass`, where it has one of ours).
        The masses sum to one; `(q.mass * q.loss).sum()` is the threshold and `(q.mass * q.cost).sum()` the cost of moving
        over `theta1`. Where X was a mapping of a module's inputs, there is a column for each vector of a sequence that may
        move (`inputs_embeds[3]`), and one for any other input: how far it has moved, 0 where it stayed. `moved_inputs` has
        the inputs themselves.
        """
        return (self.partitioned or self._evidence).sensitive()

    def moved_inputs(self) -> Any:
        """What a module is given at every atom of Q*, one line an atom, in the order of `sensitive`.

        A mapping of arrays or tensors where X was one, with what rides along, so that `module(**result.moved_inputs())` gives
        the outputs there; otherwise an array of the shape of X. For models of other kinds `sensitive` is all there is.
        """
        return self._evidence.moved_inputs()

    def heaviest(self, count: int = 10) -> Any:
        """The atoms of Q* of the rows that add most to the risk, the heaviest first, as a frame like `sensitive`."""
        if not isinstance(count, Integral) or count < 1:
            raise InputError(f"count={count!r} must be a whole number, 1 or more.")
        return (self.partitioned or self._evidence).heaviest(int(count))

    @property
    def influence(self) -> FloatArray:
        """First-order effect of each row of positive weight on the stability: its standard error is their spread."""
        return self._evidence.influence

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Confidence interval for the stability under the population that the data were drawn from.

        For a table with repeats it is the interval of `corrected`: it covers the stability that infinitely many repeats would
        show. It is normal for the square root, adds to the standard error what is not known of the remaining bias, and reaches
        up to `held_out`, so it is wide if there are few repeats. It has no upper end if the noise of the answers is not known,
        or if `held_out` is infinite.

        Otherwise it is a normal interval of `value`, cut at zero. If every outcome was run once, it is about the answers given:
        noise of the answers cannot be told from sensitivity then. Where outcomes are missing it reaches from below the lower
        bound to above the upper one.
        """
        check_level(level)
        if math.isnan(self.standard_error):
            remedy = "give a larger risk" if self.status == "already" else "use bootstrap()"
            raise InputError(f"there is no normal interval where the status is {self.status!r}; {remedy}.")
        if self.effective_sample < NORMAL_FROM:
            warnings.warn(small_sample(self.effective_sample, self.groups), SmallSampleWarning, stacklevel=2)
        return self.band(level)

    def band(self, level: float) -> tuple[float, float]:
        """`interval` without its warnings; not numbers if there is none."""
        margin, least = normal_margin(self.standard_error, level), self.lower if self.missing else self.value
        low, high = max(least - margin, 0.0), self.value + margin
        if self.repeated and self.corrected and self.corrected_error is not None:
            spread, floor = self.corrected_spread or 0.0, self.corrected_lower or 0.0
            held_out = 0.0 if self.held_out is None else self.held_out
            low, high = corrected_interval(self.corrected, floor, self.corrected_error, spread, level, held_out)
        return low, math.inf if self.noise_unbounded else high

    @property
    def repeated(self) -> bool:
        """Whether outcomes were run several times."""
        return self.repeats > 1

    @property
    def noise_unbounded(self) -> bool:
        """Whether nothing bounds from above what the stability is without the noise of repeats.

        Too few outcomes were repeated for that, or what is chosen on some repeats does not reach the threshold on the others.
        """
        return self.repeated and self.status != "unreachable" and (self.corrected is None or self.held_out == math.inf)

    def rows_needed(self, relative: float = 0.1) -> int:
        """How many evaluation rows make the standard error this part of the stability: `n·(se/R)²/relative²`, rounded up.

        To first order, if further rows are drawn independently from the same population and weighted as these are; rows that
        belong together, as those of one customer, count as one. The number is that of what was found where `value` is a bound,
        and no more certain than the standard error itself. If outcomes were repeated, it is that of `corrected`.

        Parameters
        ----------
        relative
            One standard error, as a part of the stability: 0.1 is ±10 %.

        Examples
        --------
        >>> import tippingpoint as tp
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 25, ["no", "yes", "yes", "yes"] * 25
        >>> result = tp.stability(([1.0], -1.5), X, y, risk=0.5, theta1=1.0, theta2=0.25)
        >>> result.samples, result.rows_needed(0.1), result.rows_needed(0.05)
        (100, 1346, 5381)
        """
        if isinstance(relative, bool) or not isinstance(relative, Real) or not 0.0 < relative < math.inf:
            raise InputError(f"relative={relative!r} must be a positive number: a part of the stability, as 0.1 for ±10 %.")
        value, error = (self.corrected, self.corrected_error) if self.corrected else (self.value, self.standard_error)
        rows = rows_for(float(relative), value, math.nan if error is None else error, self.samples)
        if math.isnan(rows):
            smaller = dict.fromkeys(NOTHING_REACHES, "give a smaller risk")
            remedy = {"already": "give a larger risk", **smaller}.get(self.status, "use bootstrap()")
            raise InputError(
                f"no number of rows is known where the status is {self.status!r}, as there is no standard error; {remedy}."
            )
        if math.isinf(rows):
            raise InputError(f"relative={relative!r} would take more rows than can be counted; give a larger part.")
        if self.effective_sample < NORMAL_FROM:
            warnings.warn(small_sample(self.effective_sample), SmallSampleWarning, stacklevel=2)
        return max(math.ceil(rows), 1)

    def bootstrap(self, replicates: int = 1000, seed: int = 0) -> Bootstrap:
        """Stabilities of data resampled with replacement; the best responses are reused, so it is fast."""
        if not isinstance(replicates, Integral) or replicates < 2:
            raise InputError(f"replicates={replicates!r}: at least 2 are needed, 1000 are usual.")
        if not isinstance(seed, Integral) or seed < 0:
            raise InputError(f"seed={seed!r} must be a whole number, 0 or more.")
        return (self.partitioned or self._evidence).bootstrap(int(replicates), int(seed))

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> StabilityResult:
        found = super()._restored(stored).without_evidence(FROM_JSON)
        if found.status == "unreachable" and math.isfinite(found.lower):  # as earlier versions stored what was not found
            return replace(found, status="not_found", largest_risk=None, largest_risk_found=found.largest_risk)
        return found

    def without_evidence(self, why: str = NUMBERS_ONLY) -> StabilityResult:
        """The same without what is of the size of the data; `why` ends the sentence with which `sensitive` refuses then."""
        return replace(self, evidence=None, partitioned=None, detached=why)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The risk in steps: now, what moving samples adds, what reweighting them adds, the threshold."""
        return draw_result(self.summary, ax)

    def plot_sensitive(
        self, features: Sequence[str] | None = None, *, labels: Any = None, model: Any = None, ax: Axes | None = None
    ) -> Axes:
        """Q* in two features: grey shadows where samples were, dots where they go, as large as their weights.

        Parameters
        ----------
        features
            Names of two; where none are given, the two that move most, in standard deviations. Where nothing moves, the two
            whose means the weights shift most. Samples of the same category are spread a little, so that each is seen.
        labels
            Colours the dots: one label a row of positive weight, such as `y`.
        model
            Whose decision boundary is drawn: a classifier of two classes, `(coef, intercept)`, a PyTorch module, or a function
            of data whose zero it is. Where there are further features, it is the boundary with each of them at its median,
            or its most frequent category: samples that differ from that may be on the other side of the model's own.
        ax
            Where to draw; a new figure where none is given.
        """
        self._reached()
        return self._evidence.places().picture(features, labels, model, ax)

    def plot_weights(self, ax: Axes | None = None) -> Axes:
        """How the weights of Q* concentrate on few samples, and the effective share that comes of it."""
        self._reached()
        q = self._evidence.distribution
        return draw_weights(q.weight, q.origin, ax)

    def plot_convergence(self, ax: Axes | None = None) -> Axes:
        """The risk on the way to the threshold: after every epoch of `method="paper"`, else at every price of the dual."""
        if not self.trace:
            raise InputError(f"there was no way to go where the status is {self.status!r}; ask for another risk to see one.")
        return draw_convergence({"risk": self.trace}, self.risk, "step of the search", ax, ylabel=risk_name(self.loss))

    def advice(self) -> Advice:
        """Which kind of change makes most of the excess risk, and which training helps against it."""
        return of_result(self.summary)

    def __str__(self) -> str:
        return render_text(self.summary)

    def _repr_html_(self) -> str:
        return render_html(self.summary)

    @property
    def summary(self) -> dict[str, Any]:
        """Every number and word, as the page and the screen show them."""
        return self._stored()

    def _reached(self) -> None:
        if self.status in NOTHING_REACHES:
            found = "was found that reaches" if self.status == "not_found" else "reaches"
            raise InputError(f"no distribution {found} risk={self.risk:g}, so there is none to draw. Give a smaller risk.")

    @property
    def _evidence(self) -> Evidence:
        if self.partitioned is not None:
            raise UnsupportedError(TOO_LARGE)
        if self.evidence is None:
            raise DetachedError(f"this result {self.detached}.")
        return self.evidence


def shows_corrected(results: Sequence[StabilityResult]) -> bool:
    """Whether pictures and tables of several results show corrected stabilities: all that are finite have one."""
    finite = [result for result in results if math.isfinite(result.value)]
    return bool(finite) and all(result.repeated and result.corrected is not None for result in finite)


def bands(results: Sequence[StabilityResult], level: float = LEVEL) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The stability of each, corrected if all can be, and the ends of its interval; ends that do not exist are not numbers."""
    corrected = shows_corrected(results)
    value = [result.value if result.corrected is None or not corrected else result.corrected for result in results]
    ends = np.array([result.band(level) for result in results])
    ends[~np.isfinite(ends)] = math.nan
    return np.array(value), ends[:, 0], ends[:, 1]


def small_sample(effective: float, groups: int = 0) -> str:
    """Why not to trust a normal interval."""
    left = f"{effective:.0f} effective {'groups' if groups else 'samples'} (fewer than {NORMAL_FROM:.0f})"
    return (
        f"the weights leave only {left}; the standard error and normal interval are not to be trusted: use bootstrap(), a"
        " smaller risk, or more data"
    )
