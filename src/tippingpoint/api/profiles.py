"""A profile: the best responses of a model on data, and the stabilities that can be read off it.

A profile is the expensive part; it depends on the model, the loss and the space only. Every price, divergence and threshold
after that is a one-dimensional problem over numbers already in hand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NoReturn, overload

import numpy as np

from tippingpoint.api.certifying import certified, certifier, noted
from tippingpoint.api.prices import read_cost, read_number, resolve_prices
from tippingpoint.api.settings import Settings
from tippingpoint.api.stopping import answered
from tippingpoint.api.worst import reached, worst_result
from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.blocks import Block, InMemory, Samples
from tippingpoint.core.cuts import Perturbation, perturbation
from tippingpoint.core.divergences import Divergence, divergence_named
from tippingpoint.core.dual import Solution, Status, honest_lower, solve
from tippingpoint.core.inference import NORMAL_FROM, effective_groups, influence, standard_error
from tippingpoint.core.oracle import INTERRUPTED, Corrected, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.prover import relative_gap
from tippingpoint.core.responses import BestResponses
from tippingpoint.core.sensitive import SensitiveSummary, atoms_of, check_sound, summary
from tippingpoint.data.columns import Column
from tippingpoint.data.seals import UNSHARED, Seal
from tippingpoint.engine.oracle import PartitionedOracle
from tippingpoint.errors import InputError, NumericalError, UnsupportedError
from tippingpoint.results.evidence import Evidence, Moves, Source
from tippingpoint.results.origin import Origin
from tippingpoint.results.partitioned import PartitionedEvidence
from tippingpoint.results.pickling import obstacle
from tippingpoint.results.stability import StabilityResult, small_sample
from tippingpoint.results.sweeps import Sweep
from tippingpoint.results.worst import WorstRisk, WorstRiskCurve
from tippingpoint.space.domain import Domain
from tippingpoint.text import GIVEN_LOSS_NAME, loss_name

MAX_SILENT_GAP = 1e-9
"""Relative gap between the bounds of an exact oracle from which on the result says so."""

MAX_EXACT_GAP = 1e-6
"""Relative gap from which on a result is not called exact, though its responses are: the rest is lost to rounding."""

NO_MOVE_FOUND = (
    "no move was found that makes it cheaper than reweighting alone, which proves nothing: a better search may find one"
)
"""Of a search whose number is that of samples which cannot move."""

CONTRADICTION = 1e-3
"""Relative excess of a lower bound over the upper one that rounding does not explain, not even that of a float32 module."""


@dataclass(frozen=True)
class Profile:
    """The best responses of a model on data; ask it for any number of stabilities.

    Attributes
    ----------
    oracle
        Who finds the best responses.
    base
        Base weights of the samples, positive, summing to one.
    index
        Label of each sample; rows of zero weight are left out.
    loss
        What the model is judged by, as results name it.
    loss_range
        The least and the largest value of the loss.
    backend
        Kind of frame that results come in.
    columns
        What the columns of the data hold, where samples have any.
    origin
        What it was made from, where that is known.
    notes
        How the data and the model were understood, where nobody had said it: part of every result.
    threads
        That work at once on every question; the numbers are the same.
    seal
        Of the data, where they are the user's own array: checked before they are read again.
    groups
        The number of the group of each sample, within which samples need not be independent; None where all are.
    missing
        Outcomes of a table that are missing.
    domain
        What may move; None for a table.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> profile.risk, profile.reach
    (0.0, 1.0)
    >>> [profile.stability(risk, theta1=1.0, theta2=0.25).value for risk in (0.25, 0.5)]  # the search was done once
    [0.0625, 0.125]
    """

    oracle: Oracle
    base: FloatArray
    index: Sequence[Any]
    loss: str
    loss_range: tuple[float, float]
    backend: str = "pandas"
    columns: tuple[Column, ...] = ()
    origin: Origin | None = None
    notes: tuple[str, ...] = ()
    threads: int = 1
    seal: Seal = field(default=UNSHARED, repr=False)
    groups: IntArray | None = field(default=None, repr=False)
    missing: int = 0
    domain: Domain | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        facts = self._samples.facts
        largest = max(abs(facts.least), abs(facts.largest))
        if not math.isfinite(largest) or 0.0 < largest < np.finfo(float).tiny:
            found = (each for each in self._samples.gather(partial(_odd_loss, largest)) if each is not None)
            (partition, row), loss = next(found)
            one = f"row {row} of partition {partition}" if self._partitioned else f"row {self.index[row]!r}"
            raise NumericalError(
                f"{loss_name(self.loss)} of {one} is {loss:g}, too large or too small to compute with;"
                " bring losses, targets or the model's outputs to another size."
            )

    @property
    def _partitioned(self) -> bool:
        """Whether samples are in partitions, and not all in this process."""
        return isinstance(self.oracle, PartitionedOracle)

    @cached_property
    def _samples(self) -> Samples:
        responses = _responses(self.oracle)
        return responses if isinstance(responses, Samples) else InMemory(responses, self.base, self.threads)

    @property
    def risk(self) -> float:
        """The mean loss now."""
        return self._samples.facts.risk

    @cached_property
    def reach(self) -> float:
        """The largest mean loss that moving alone reaches at any cost, or was found to reach within the time limit.

        It is proved where the family is exact, and a lower bound where responses are searched for, as in tree ensembles.
        """
        self._check_seal()
        lifts = self._samples.gather(lambda block: total(block.base, block.responses.peak().lift))
        return self.risk + math.fsum(lifts)

    def stability(
        self,
        risk: float,
        *,
        theta1: float | None = None,
        theta2: float | None = None,
        mix: float | None = None,
        budget: float | None = None,
        divergence: str | Divergence = "kl",
        **unknown: NoReturn,
    ) -> StabilityResult:
        """The least perturbation that lifts the risk to a threshold.

        Parameters
        ----------
        risk
            The threshold: a mean loss (for `zero_one`, an error rate such as 0.4).
        theta1
            Price of moving a sample by a squared distance of one; `inf` forbids moving.
        theta2
            Price of reweighting; `inf` forbids it.
        mix
            Instead of the two prices, a dial between reweighting only (0) and moving only (1):
            `1/θ1 = budget·mix` and `1/θ2 = budget·(1 - mix)`. The default is 0.5.
        budget
            `1/θ1 + 1/θ2` along the dial; 5, the paper's, where none is given.
        divergence
            "kl", "chi2", "cvar:SHARE" or a `Divergence`.
        unknown
            There are no others; one that is misspelt is an error that names the nearest.
        """
        Settings.read(unknown, "Profile.stability")
        prices = resolve_prices(theta1, theta2, mix, budget)
        asked = self._threshold(risk), *prices, divergence_named(divergence)
        problem = Problem(_responses(self.oracle), self.base, *asked, threads=self.threads)
        self._check_seal()
        oracle = self.oracle.tuned(problem)
        if oracle is not self.oracle:
            problem = replace(problem, responses=_responses(oracle))
        return noted(oracle, self._result(oracle, problem, solve(problem)))

    def curve(self, risks: Sequence[float] | None = None, *, risk: float | None = None, **settings: Any) -> Sweep:
        """The stability at each of several thresholds, or at one threshold and each of several prices.

        Parameters
        ----------
        risks
            The thresholds, as `curve([0.1, 0.2, 0.3])`.
        risk
            Instead, the one threshold of a curve over a price: one of the settings is then a list, as
            `curve(risk=0.25, theta1=[0.1, 1, 10], theta2=0.25)`.
        settings
            As in `stability`.
        """
        Settings.read(settings, "Profile.curve")
        varied = [name for name in ("theta1", "theta2", "mix", "budget") if _is_list(settings.get(name))]
        if (risks is None) == (risk is None) or len(varied) != (risks is None):
            raise InputError(
                "a curve is over one thing: several risks, as curve([0.1, 0.2]), or several of one price at one risk, as"
                " curve(risk=0.1, theta1=[0.1, 1, 10], theta2=0.25)."
            )
        over = varied[0] if varied else "risk"
        fixed = {name: value for name, value in {"risk": risk, **settings}.items() if name != over}
        at = _several(over, settings[over]) if varied else _several("risks", risks)
        # Up to an interrupt, unless that came before: nothing is searched for then.
        results = answered(
            at,
            lambda each: self.stability(**fixed, **{over: each}),
            stopped=lambda result: result.stopped and not self.oracle.stopped,
        )
        interrupted = len(results) < len(at) or any(result.interrupted for result in results)
        return Sweep(over, tuple(map(float, at[: len(results)])), tuple(results), self.backend, interrupted)

    def tradeoff(self, mixes: Sequence[float], *, risk: float, **settings: Any) -> Sweep:
        """The stability along the dial between reweighting (0) and moving (1); other settings as in `stability`."""
        return self.curve(risk=risk, mix=_several("mixes", mixes), **settings)

    @overload
    def worst_risk(self, cost: float, **settings: Any) -> WorstRisk: ...

    @overload
    def worst_risk(self, cost: Sequence[float] | FloatArray, **settings: Any) -> WorstRiskCurve: ...

    def worst_risk(
        self,
        cost: float | Sequence[float] | FloatArray,
        *,
        theta1: float | None = None,
        theta2: float | None = None,
        mix: float | None = None,
        budget: float | None = None,
        divergence: str | Divergence = "kl",
        **unknown: NoReturn,
    ) -> WorstRisk | WorstRiskCurve:
        """The largest risk that a perturbation of a cost can reach: the stability curve, read the other way.

        Parameters
        ----------
        cost
            What the perturbation may cost, 0 or more; several, as `[0.01, 0.02]`, make a curve.
        theta1, theta2, mix, budget, divergence
            The prices, and what is priced, as in `stability`.
        unknown
            There are no others; one that is misspelt is an error that names the nearest.
        """
        Settings.read(unknown, "Profile.worst_risk")
        prices, priced = resolve_prices(theta1, theta2, mix, budget), divergence_named(divergence)
        if not _is_list(cost):
            return self._worst_risk(read_cost(cost), prices, priced)
        costs = list(map(read_cost, _several("cost", cost)))
        results = answered(
            costs,
            lambda each: self._worst_risk(each, prices, priced),
            stopped=lambda result: result.stopped and not self.oracle.stopped,
        )
        interrupted = len(results) < len(costs) or any(result.interrupted for result in results)
        return WorstRiskCurve(tuple(costs[: len(results)]), tuple(results), self.backend, interrupted)

    def _worst_risk(self, cost: float, prices: tuple[float, float], divergence: Divergence) -> WorstRisk:
        """The threshold that a cost reaches, then the stability there."""
        self._check_seal()
        problem = Problem(_responses(self.oracle), self.base, self.risk, *prices, divergence, threads=self.threads)
        highest = self.loss_range[1]
        made = reached(self.oracle, problem, cost, highest, _responses)
        solution = solve(made.problem)
        result = self._result(made.oracle, made.problem, solution)
        return worst_result(made, solution, result, cost, highest)

    def _check_seal(self) -> None:
        """Refuse data that have changed; an oracle with a closed form answers without them."""
        if self.seal.array is not None and self.oracle.closed_form() is None:
            self.seal.check()

    def _threshold(self, risk: float) -> float:
        low, high = self.loss_range
        threshold = read_number("risk", risk)
        if not math.isfinite(threshold):
            raise InputError(f"risk={risk!r} must be a finite number, the mean loss to be reached.")
        if not low <= threshold <= high:
            hint = f"; for {threshold:g} % write {threshold / 100:g}" if high == 1.0 and 2.0 <= threshold <= 100.0 else ""
            whose = "a mean of losses that are all 0 or 1" if self.loss == GIVEN_LOSS_NAME else loss_name(self.loss)
            raise InputError(f"risk={risk!r} is outside [{low:g}, {high:g}], the range of {whose}{hint}.")
        return threshold

    def _result(self, oracle: Oracle, problem: Problem, solution: Solution) -> StabilityResult:
        """The stability, without a note on the gap between its bounds."""
        with np.errstate(all="ignore"):  # what is no number is noticed below
            made = perturbation(problem, solution)
            q = summary(problem, made)
            certificate, stopped = certified(oracle, problem, solution)
        reached = solution.status is not Status.UNREACHABLE
        upper = q.total_cost if reached else math.inf
        check_sound(problem, solution, q, certificate.lower, exact=oracle.exact)
        contradicted = not oracle.exact and certificate.lower > upper * (1.0 + CONTRADICTION)
        lower = 0.0 if contradicted else honest_lower(certificate.lower, upper)
        agree = oracle.derived and (lower == upper or upper - lower <= MAX_SILENT_GAP * lower)
        exact = agree or (oracle.attains(problem) and not upper - lower > MAX_EXACT_GAP * upper)
        exact = exact or (not reached and math.isinf(lower))
        held = oracle.held_out(problem) if reached else None
        largest = self._largest_risk(oracle, problem)
        status = _status(solution.status, proved=math.isinf(lower), largest=largest)
        live = self._live(oracle, problem, made, q, upper)
        moves = self._moves(live.get("evidence"), q) if reached else Moves(math.sqrt(q.squared_move), math.nan, math.nan)
        problem.samples.forget()
        correct = oracle.corrector(problem) if reached else None
        corrected = None if correct is None else correct(problem.base)
        error, effective, groups = self._errors(problem, solution, made, q)
        notes = [*self.notes, *oracle.notes, *([INTERRUPTED] if stopped else [])]
        if contradicted:
            notes.append(
                f"a lower bound of {certificate.lower:g} contradicts what was found, so none is claimed; please report it"
            )
        searched = not exact and lower == 0.0 < upper
        if (
            searched
            and not oracle.derived
            and math.isfinite(problem.theta1)
            and solution.status is Status.ATTAINED
            and q.moved_share == 0.0
        ):
            notes.append(NO_MOVE_FOUND)
        if reached and solution.status is not Status.ALREADY and effective < NORMAL_FROM:
            notes.append(small_sample(effective, groups))
        ending = _ending(oracle, problem, relative_gap(lower, upper))
        if reached and oracle.exact and upper - lower > MAX_SILENT_GAP * upper:
            apart = (upper - lower) / upper
            notes.append(f"the two bounds agree to {apart:.1g} only: losses or prices are too many orders of magnitude apart")
        return StabilityResult(
            value=upper,
            lower=lower,
            upper=math.inf if oracle.noisy else upper,
            lower_by=certifier(certificate, contradicted=contradicted, empty=searched),
            upper_by="the model's answers are noisy, see the notes" if oracle.noisy else oracle.attained_by,
            exact=exact,
            status=status.value,
            standard_error=error,
            risk=problem.risk,
            current_risk=problem.current,
            largest_risk=largest,
            largest_risk_found=problem.reachable if status is Status.NOT_FOUND else None,
            loss=self.loss,
            divergence=problem.divergence.label,
            theta1=problem.theta1,
            theta2=problem.theta2,
            price=(1.0 - solution.share) * solution.left.price + solution.share * solution.right.price
            if reached and math.isfinite(solution.right.price)
            else math.inf,
            corruption_excess=q.corruption_excess,
            reweighting_excess=q.reweighting_excess,
            corruption_cost=q.moving_cost,
            reweighting_cost=q.reweighting_cost,
            root_mean_square_move=moves.distance,
            unit=oracle.unit,
            moved_share=q.moved_share,
            effective_share=q.effective_share,
            effective_sample=effective,
            nats=q.nats,
            samples=problem.samples.facts.count,
            evaluations=solution.evaluations,
            notes=tuple(notes),
            trace=oracle.trace or solution.risks,
            interrupted=oracle.interrupted or stopped,
            time_limit_reached=oracle.timed_out,
            caution=oracle.caution if reached else "",
            held_out=held,
            repeats=oracle.repeats,
            **self._corrected(corrected, problem),
            groups=groups,
            missing=self.missing,
            category_share=moves.switched,
            missing_share=moves.vanished,
            **live,
            ending=ending,
        )

    def _moves(self, evidence: Evidence | None, q: SensitiveSummary) -> Moves:
        """How samples move: by distances if nothing else can happen to them, by changes of categories, or both."""
        domain = self.domain
        if domain is None or not domain.unmeasured or q.moved_share == 0.0:
            return Moves(math.sqrt(q.squared_move), 0.0, 0.0)
        if not domain.measured and not domain.vanishing:
            return Moves(0.0, q.moved_share, 0.0)
        return Moves(math.nan, math.nan, math.nan) if evidence is None else evidence.moves(domain)

    def _largest_risk(self, oracle: Oracle, problem: Problem) -> float | None:
        """The largest risk that any perturbation reaches, if what was found is proved to be that."""
        found = problem.reachable
        if oracle.exact or not problem.moves:
            return found
        most = min(self.loss_range[1], oracle.risk_bound(problem))
        known = math.isfinite(most) and not oracle.noisy and most - found <= MAX_EXACT_GAP * max(abs(most), abs(found))
        return found if known else None

    def _errors(
        self, problem: Problem, solution: Solution, made: Perturbation, q: SensitiveSummary
    ) -> tuple[float, float, int]:
        """The standard error, the effective number of samples, or of groups where there are any, and how many of these."""
        if self.groups is None:
            return q.standard_error, q.effective_sample, 0
        count = int(self.groups.max()) + 1
        atoms = atoms_of(problem, made, q)
        effective = effective_groups(problem.base * atoms.weights, self.groups)
        attained = solution.status is Status.ATTAINED
        error = standard_error(influence(problem, solution), problem.base, self.groups) if attained else math.nan
        return error, effective, count

    def _corrected(self, found: Corrected | None, problem: Problem) -> dict[str, Any]:
        """What is left of a stability without the noise of repeats."""
        if found is None or math.isinf(found.high):
            return {}
        return {
            "corrected": found.value,
            "corrected_lower": found.floor,
            "corrected_error": standard_error(found.effects, problem.base, self.groups),
            "corrected_spread": found.spread,
        }

    def _live(self, oracle: Oracle, problem: Problem, made: Perturbation, q: SensitiveSummary, value: float) -> dict[str, Any]:
        """What a result can still work out."""
        if isinstance(oracle, PartitionedOracle):
            found = PartitionedEvidence(oracle.samples, problem, made, q, value, self.columns, self.backend)
            return {"partitioned": found}
        evidence = Evidence(
            source=Source(oracle, problem),
            value=value,
            perturbation=made,
            summary=q,
            index=self.index,
            loss_range=self.loss_range,
            columns=self.columns,
            backend=self.backend,
            origin=self.origin,
            seal=self.seal,
            groups=self.groups,
            domain=self.domain,
        )
        return {"evidence": evidence}

    def __getstate__(self) -> dict[str, Any]:
        why = obstacle(self.oracle)
        if why is not None:
            raise UnsupportedError(
                f"this profile cannot be pickled, as its model cannot ({why}); pickle its results, or define models and losses"
                " at the top of a module."
            )
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __copy__(self) -> Profile:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Profile:
        return replace(self)  # best responses are never changed, only more of them are found


def _responses(oracle: Oracle) -> BestResponses | Samples:
    """What a question is asked of: all samples of an oracle, here or in partitions."""
    return oracle.samples if isinstance(oracle, PartitionedOracle) else oracle


def _status(met: Status, *, proved: bool, largest: float | None) -> Status:
    """How the threshold was met, as far as it is proved: responses that were searched for may miss what is further out."""
    if met is Status.UNREACHABLE and not proved:
        return Status.NOT_FOUND
    return Status.ATTAINED if met is Status.LARGEST and largest is None else met


def _ending(oracle: Oracle, problem: Problem, gap: float) -> str | None:
    """Why the proof of a result ended, by the gap between its bounds; None if nothing is proved step by step."""
    if oracle.gap is None:
        return None
    ending = oracle.ending(problem)
    if ending != "keyboard" and gap <= max(oracle.gap, MAX_SILENT_GAP):
        return "gap"
    if isinstance(oracle, PartitionedOracle):
        return "partitions"
    return "rounding" if ending == "gap" else ending  # the library's own sums are not those of the proof


def _odd_loss(largest: float, block: Block) -> tuple[tuple[int, int], float] | None:
    """Partition, row and value of the first loss of a block that is no number, or as large as this."""
    losses = block.losses
    odd = np.flatnonzero(~np.isfinite(losses) | (np.abs(losses) == largest))
    return ((block.place[0], block.first + int(odd[0])), float(losses[odd[0]])) if len(odd) else None


def _is_list(value: Any) -> bool:
    """Whether a setting is several values; text is not."""
    return np.ndim(value) > 0 if not isinstance(value, (str, Divergence)) else False


def _several(name: str, values: Any) -> list[Any]:
    try:
        listed = list(values)
    except TypeError:
        listed = []
    if not listed:
        raise InputError(f"{name}={values!r} must be several numbers, as [0.1, 0.2, 0.3].")
    return listed
