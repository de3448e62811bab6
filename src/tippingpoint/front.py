"""The front door: a profile of a model on data, and the stabilities that can be read off it.

A profile is the expensive part, the best responses of every sample; it depends on the model, the loss and the space only.
Every price, divergence and threshold after that is a one-dimensional problem over numbers already in hand.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray, blocks, total
from tippingpoint.core.divergences import Divergence, divergence_named
from tippingpoint.core.dual import Solution, Status, honest_lower, solve
from tippingpoint.core.inference import NORMAL_FROM, Bootstrap, bootstrap, influence, standard_error
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Restricted
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution
from tippingpoint.errors import InputError, ScaleWarning
from tippingpoint.frames import CHUNK, Features, base_weights, build_frame, read_features, read_vector
from tippingpoint.losses import Loss
from tippingpoint.models.oracles import is_module, oracle_for
from tippingpoint.oracles.base import Oracle
from tippingpoint.prices import read_number, resolve_prices
from tippingpoint.results import Comparison, Evidence, StabilityResult, Sweep, small_sample
from tippingpoint.space import Domain, Space

UNEVEN = 100.0
"""Ratio of column spreads from which on one unit for all columns is hardly meant."""

IMPRECISE = 1e-9
"""Relative gap between the bounds of an exact oracle from which on the result says so."""

CONTRADICTION = 1e-3
"""Relative excess of a lower bound over the upper one that rounding does not explain, not even that of a float32 module."""

GLANCE = 5000
"""Rows, evenly spread, on which column spreads are compared before that warning."""

SETTINGS = ("theta1", "theta2", "mix", "budget", "divergence")
"""What a question is asked with; all other options are of the search."""

Scale = Literal["raw", "std"]


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
    """

    oracle: Oracle
    base: FloatArray
    index: Sequence[Any]
    loss: str
    loss_range: tuple[float, float]
    backend: str = "pandas"

    @property
    def risk(self) -> float:
        """The mean loss now."""
        return total(self.base, self.oracle.losses)

    def stability(
        self,
        risk: float,
        *,
        theta1: float | None = None,
        theta2: float | None = None,
        mix: float | None = None,
        budget: float | None = None,
        divergence: str | Divergence = "kl",
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
        """
        prices = resolve_prices(theta1, theta2, mix, budget)
        problem = Problem(self.oracle, self.base, self._threshold(risk), *prices, divergence_named(divergence))
        oracle = self.oracle.tuned(problem)
        if oracle is not self.oracle:
            problem = replace(problem, responses=oracle)
        return self._result(oracle, problem, solve(problem))

    def curve(self, risks: Sequence[float], **settings: Any) -> Sweep:
        """The stability at each of several thresholds; other settings as in `stability`."""
        results = tuple(self.stability(risk, **settings) for risk in _several("risks", risks))
        return Sweep("risk", tuple(result.risk for result in results), results, self.backend)

    def tradeoff(self, mixes: Sequence[float], *, risk: float, **settings: Any) -> Sweep:
        """The stability along the dial between reweighting (0) and moving (1); other settings as in `stability`."""
        listed = _several("mixes", mixes)
        results = tuple(self.stability(risk, mix=mix, **settings) for mix in listed)
        return Sweep("mix", tuple(float(mix) for mix in listed), results, self.backend)

    def _threshold(self, risk: float) -> float:
        low, high = self.loss_range
        threshold = read_number("risk", risk)
        if not math.isfinite(threshold):
            raise InputError(f"risk={risk!r} must be a finite number, the mean loss to be reached.")
        if not low <= threshold <= high:
            hint = f"; for {threshold:g} % write {threshold / 100:g}" if high == 1.0 and 2.0 <= threshold <= 100.0 else ""
            raise InputError(f"risk={risk!r} is outside [{low:g}, {high:g}], the range of the {self.loss} loss{hint}.")
        return threshold

    def _result(self, oracle: Oracle, problem: Problem, solution: Solution) -> StabilityResult:
        q = sensitive_distribution(problem, solution)
        reached = solution.status is not Status.UNREACHABLE
        upper = q.total_cost if reached else math.inf
        certificate = oracle.certify(problem, solution)
        contradicted = not oracle.exact and certificate.lower > upper * (1.0 + CONTRADICTION)
        lower = 0.0 if contradicted else honest_lower(certificate.lower, upper)
        exact = oracle.exact or math.isinf(problem.theta1)
        psi = influence(solution, self.base)
        error = standard_error(psi, self.base)
        notes = list(oracle.notes)
        if contradicted:
            notes.append(
                f"a lower bound of {certificate.lower:g} contradicts what was found, so none is claimed; please report it"
            )
        if reached and solution.status is not Status.ALREADY and q.effective_sample < NORMAL_FROM:
            notes.append(small_sample(q.effective_sample))
        if reached and exact and upper - lower > IMPRECISE * upper:
            apart = (upper - lower) / upper
            notes.append(f"the two bounds agree to {apart:.1g} only: losses or prices are too many orders of magnitude apart")
        return StabilityResult(
            value=upper,
            lower=lower,
            upper=upper,
            lower_by="not certified: the bounds contradict each other" if contradicted else certificate.by,
            upper_by="sensitive distribution",
            exact=exact,
            status=solution.status.value,
            standard_error=error,
            risk=problem.risk,
            current_risk=problem.current,
            largest_risk=problem.reachable,
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
            root_mean_square_move=math.sqrt(q.squared_move),
            unit=oracle.unit,
            moved_share=q.moved_share,
            effective_share=q.effective_share,
            effective_sample=q.effective_sample,
            nats=q.nats,
            samples=len(self.base),
            evaluations=solution.evaluations,
            notes=tuple(notes),
            trace=oracle.trace,
            evidence=Evidence(
                sensitive=lambda: self._frame(oracle, q),
                bootstrap=lambda replicates, seed: self._bootstrap(problem, replicates, seed),
                influence=psi,
                base=self.base,
            ),
        )

    def _frame(self, oracle: Oracle, q: SensitiveDistribution) -> Any:
        """Q* as a frame, atoms in the order of their rows."""
        order = np.argsort(q.sample, kind="stable")
        moved: dict[str, Any] = {}
        for right, price in enumerate(q.prices):
            atoms = np.flatnonzero(q.right == bool(right))
            if len(atoms):
                for name, values in oracle.points(price, q.sample[atoms], q.lift[atoms]).items():
                    column = moved.setdefault(name, np.empty(len(q.sample), dtype=np.asarray(values).dtype))
                    column[atoms] = values
        told = {
            "row": [self.index[i] for i in q.sample[order]],
            "weight": q.weight[order],
            "share": q.share[order],
            "loss_before": q.losses[q.sample[order]],
            "loss": q.loss[order],
            "cost": q.cost[order],
        }
        for name, values in moved.items():
            told[f"feature:{name}" if name in told else name] = values[order]
        return build_frame(told, self.backend)

    def _bootstrap(self, problem: Problem, replicates: int, seed: int) -> Bootstrap:
        def stability(base: FloatArray) -> float:
            drawn = np.flatnonzero(base)
            again = Problem(
                Restricted(problem.responses, drawn),
                base[drawn],
                problem.risk,
                problem.theta1,
                problem.theta2,
                problem.divergence,
            )
            solution = solve(again)
            if solution.status is Status.UNREACHABLE:
                return math.inf
            return sensitive_distribution(again, solution).total_cost

        return bootstrap(stability, self.base, replicates=replicates, seed=seed)


def profile(
    model: Any,
    X: Any,  # noqa: N803  # the name every data scientist expects
    y: Any,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    **search: Any,
) -> Profile:
    """The best responses of a model on evaluation data, once and for every setting.

    Parameters
    ----------
    model
        A fitted linear model of scikit-learn, a pipeline of affine preprocessing in front of one, `(coef, intercept)`, a
        `LinearModel`, or a PyTorch module that returns logits or a prediction (it is used as it is, and left as it was).
    X
        Evaluation data, one row a sample: NumPy, pandas, polars; for a module also a float tensor of any shape.
    y
        Labels of any type, or targets.
    loss
        What to judge by: zero_one, hinge, squared_hinge, logistic (or cross_entropy) for classifiers; squared, absolute,
        pinball, epsilon_insensitive, huber for regressors; or a `Loss`. The default is zero_one, or squared. For a module also
        a function `loss(output, y)` of tensors that returns one number a row.
    sample_weight
        Weight of each row; equal where none is given.
    space
        Which features may move, within which bounds, at what price; all, freely, where none is given.
    scale
        "std" measures each feature in its standard deviations, "raw" as it is given.
    search
        For modules: how to search. `method` is "path" (the default: a search whose best find is a valid upper bound, bounded
        from below where the layers allow it), "exact" (one hidden layer of ReLUs with one output: proved to `tolerance=0.01`
        a sample within `time_limit=60` seconds a question, whatever is open then is in the bounds) or "paper" (the published
        gradient ascent, with `epochs=`, `inner_steps=`, `learning_rate=`, `price_rate=`). Further `seed=0`, `restarts=`
        (random starts), `certify=` ("quick", "tight" or "none": effort for the lower bound), `device=`, `batch=` (rows at
        once), `progress=` (a bar; by default on a terminal), `classes=` (labels in the order of the outputs). Interrupted
        from the keyboard, the search ends, and what it found so far is used.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> profile = tp.profile(([1.0], -1.5), X, ["no", "no", "yes", "yes"])
    >>> profile.stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    0.125
    """
    if not isinstance(space, (Space, type(None))):
        raise InputError(f"space={space!r} must be a tippingpoint.Space, as Space(frozen=['sex']).")
    features = read_features(X)
    base = base_weights(sample_weight, len(features.x))
    domain = (space or Space()).resolve(features.names)
    domain.check(features.x, features.index)
    rows = np.flatnonzero(base)
    if len(rows) < len(base):
        y = read_vector(y, "y", len(base))[rows]
        features, base = features.take(rows), base[rows]
    domain = _priced(domain, features, base, scale)
    oracle, judged = oracle_for(model, features, y, loss, domain, search)
    return Profile(oracle, base, features.index, judged.label, judged.range, features.backend)


def stability(
    model: Any,
    X: Any,  # noqa: N803  # as above
    y: Any,
    risk: float,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    **settings: Any,
) -> StabilityResult:
    """How much the data must change before the model's risk reaches a threshold: `profile`, then `Profile.stability`.

    Parameters
    ----------
    model, X, y, loss, sample_weight, space, scale
        As in `profile`.
    risk
        The threshold.
    settings
        Prices and divergence, as in `Profile.stability`; for modules also how to search, as in `profile`.
    """
    asked, search = _sorted_out(settings)
    found = profile(model, X, y, loss=loss, sample_weight=sample_weight, space=space, scale=scale, **search)
    return found.stability(risk, **asked)


def compare(
    models: Mapping[str, Any],
    X: Any,  # noqa: N803  # as above
    y: Any,
    risk: float,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    **settings: Any,
) -> Comparison:
    """Several models on the same rows, with paired standard errors of their differences.

    Parameters
    ----------
    models
        Models by name; the first is the reference.
    X, y, risk, loss, sample_weight, space, scale, settings
        As in `stability`.
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models must be a mapping of at least two, as {'lr': lr, 'svm': svm}.")
    asked, search = _sorted_out(settings)
    shared: dict[str, Any] = {"loss": loss, "sample_weight": sample_weight, "space": space, "scale": scale}
    profiles = {
        str(name): profile(model, X, y, **shared, **(search if is_module(model) else {})) for name, model in models.items()
    }
    if search and not any(is_module(model) for model in models.values()):
        raise InputError(f"{next(iter(search))} is an option of networks, and none of the models is one; leave it out.")
    results = {name: one.stability(risk, **asked) for name, one in profiles.items()}
    return Comparison(results, next(iter(profiles.values())).backend)


def _priced(domain: Domain, features: Features, base: FloatArray, scale: Scale | None) -> Domain:
    """The domain in the units asked for; a word of warning where nobody asked and columns differ widely."""
    if scale not in (None, "raw", "std"):
        raise InputError(f"scale={scale!r} is not known; use 'std' (standard deviations) or 'raw' (as given).")
    if scale == "raw":
        return domain
    if scale == "std":
        return domain.scaled(_spread(features.x, base))
    glance = features.x[:: -(-len(base) // GLANCE)]
    spread = np.where(glance.min(axis=0) == glance.max(axis=0), 0.0, glance.std(axis=0))
    prices = np.where(spread > 0.0, spread * np.sqrt(domain.price), math.nan)
    prices[~np.isfinite(domain.price)] = math.nan
    if np.isfinite(prices).any():
        wide, narrow = int(np.nanargmax(prices)), int(np.nanargmin(prices))
        if prices[wide] > UNEVEN * prices[narrow]:
            warnings.warn(
                f"a standard deviation of {domain.names[wide]!r} is {prices[wide] / prices[narrow]:,.0f} times as far as one of"
                f" {domain.names[narrow]!r}; pass scale='std' to measure each column in its own, Space(price=...) to price"
                " them yourself, or scale='raw' if this is meant.",
                ScaleWarning,
                stacklevel=_outside(),
            )
    return domain


def _outside() -> int:
    """The stack level of the user's own line, seen from a function that warns."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tippingpoint"):
        frame, level = frame.f_back, level + 1
    return level


def _sorted_out(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which settings are of the question, and which of the search."""
    asked = {name: value for name, value in settings.items() if name in SETTINGS}
    return asked, {name: value for name, value in settings.items() if name not in SETTINGS}


def _several(name: str, values: Any) -> list[Any]:
    try:
        listed = list(values)
    except TypeError:
        listed = []
    if not listed:
        raise InputError(f"{name}={values!r} must be several numbers, as [0.1, 0.2, 0.3].")
    return listed


def _spread(x: FloatArray, base: FloatArray) -> FloatArray:
    """Weighted standard deviation of every column, a block of rows at a time; exactly zero for a constant one."""
    rowwise = list(blocks(len(x), CHUNK // x.shape[1]))
    mean = sum(np.einsum("i,ij->j", base[rows], x[rows]) for rows in rowwise)
    square = sum(np.einsum("i,ij->j", base[rows], np.square(x[rows] - mean)) for rows in rowwise)
    constant = x.min(axis=0) == x.max(axis=0)
    return np.where(constant, 0.0, np.sqrt(square))
