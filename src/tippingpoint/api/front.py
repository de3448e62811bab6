"""The front door: `profile` and `stability` of a model on data, `compare` several, and ask about single features."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tippingpoint.api.cases import Case, prepared, question, sorted_out
from tippingpoint.api.pairing import compare_tables
from tippingpoint.api.prices import resolve_prices
from tippingpoint.api.profiles import Profile
from tippingpoint.api.stopping import answered
from tippingpoint.errors import InputError, listed
from tippingpoint.families.registry import Judgement
from tippingpoint.losses import Loss
from tippingpoint.progress import progress_bar
from tippingpoint.results.comparisons import Comparison
from tippingpoint.results.rankings import FeatureStability
from tippingpoint.results.stability import StabilityResult
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain
from tippingpoint.space.scaling import Scale


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
        A fitted linear model of scikit-learn, or a pipeline that ends in one (scalers, imputers, encoders of categories, column
        transformers), `(coef, intercept)`, a `LinearModel`: exact. A PyTorch module that returns logits or a prediction (it is
        used as it is, and left as it was), also behind preprocessing, as the last step of a pipeline. Anything else with
        `predict`, `predict_proba` or `decision_function`, or a function of the data, is a black box, and searched by asking.
    X
        Evaluation data, one row a sample: NumPy, pandas, polars, with columns of numbers, booleans, text or categories; for a
        module also a float tensor of any shape. Values may be missing where the model can do with that; they stay so.
    y
        Labels of any type, or targets. A pandas series is matched by its index to X where both have labels (a note says so),
        and refused where they differ; so are weights.
    loss
        What to judge by: zero_one (error), hinge, squared_hinge, logistic (log_loss, cross_entropy) for classifiers; squared
        (mse), absolute (mae), pinball, epsilon_insensitive, huber for regressors; or a `Loss`. The default is zero_one, or
        squared. Also a function `loss(output, y)` that returns one number a row: of tensors for a module, of arrays for any
        other model. Results call it by its name.
    sample_weight
        Weight of each row; equal where none is given.
    space
        What features are, which may move, within which bounds, at what price; where none is given all may, numbers freely.
    scale
        "std" measures each feature in its standard deviations, "mad" in median absolute deviations, "iqr" in interquartile
        ranges, "raw" as it is given; or a unit for each by name, as `{"age": 10}`.
    search
        For black boxes: `calls=` (rows that the model may be asked about, in all, some hundreds a sample by default; with the
        same seed more of them find nothing worse, and all features together nothing worse than one of them or a group of the
        space, as long as they have `2d` times its calls if they are `d`, as `feature_stability` shares them; than any other
        set of them, that is usual and not certain), `seed=0`,
        `batch=` (rows at once), `progress=`, `output=` ("label", "probability", "score" or "prediction": what the model
        returns; it is obeyed or refused, and where it is left out a note says how numbers were read), `classes=`, `repeats=`
        (for a model whose answers are noisy, which is refused otherwise: every row is asked about so often, each counts as a
        call, and the mean is taken). A model that fails in the middle of a search ends it: what it found so far is used, and
        a note says so.
        For modules: how to search. `method` is "path" (the default: a search whose best find is a valid upper bound, bounded
        from below where the layers allow it), "exact" (one hidden layer of ReLUs with one output: proved to `tolerance=0.01`
        a sample within `time_limit=60` seconds a question, whatever is open then is in the bounds) or "paper" (the published
        gradient ascent, with `epochs=`, `inner_steps=`, `learning_rate=`, `price_rate=`). Further `seed=0`, `restarts=`
        (random starts), `certify=` ("quick", "tight" or "none": effort for the lower bound), `device=`, `batch=` (rows at
        once), `progress=` (a bar; by default on a terminal), `classes=` (labels in the order of the outputs). Interrupted
        from the keyboard, every search ends; what it found so far is used, and its results are marked `interrupted`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> profile = tp.profile(([1.0], -1.5), X, ["no", "no", "yes", "yes"])
    >>> profile.stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    0.125
    """
    case = prepared(model, X, y, loss, sample_weight, space, scale, search)
    case.check_options(search)
    return case.profile()


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
    case, asked = question(model, X, y, settings, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    return case.profile().stability(risk, **asked)


def compare(
    models: Mapping[str, Any],
    X: Any = None,  # noqa: N803  # as above
    y: Any = None,
    risk: float | None = None,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    **settings: Any,
) -> Comparison:
    """Several models on the same rows, or several tables of the same samples, with paired errors of their differences.

    Interrupted from the keyboard, it ends: the models that were asked by then are compared, and marked `interrupted`.

    Parameters
    ----------
    models
        Models by name; the first is the reference. Or tables of alternatives, as `profile_table` takes them, or what it
        returns (for columns of other names, and `by=`): these are paired by what samples are called, and need no X and y.
    X, y, risk, loss, sample_weight, space, scale, settings
        As in `stability`. Of tables only prices and divergence are asked, and `common=True` leaves out samples that some
        of them lack, with a warning; they are an error otherwise.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> a = pd.DataFrame({"sample": [1, 1, 2, 2], "cost": [0, 1, 0, 2], "loss": [0, 1, 0, 1]})
    >>> b = pd.DataFrame({"sample": [2, 2, 1, 1], "cost": [0, 2, 0, 1], "loss": [0, 1, 0, 0]})
    >>> tp.compare({"a": a, "b": b}, risk=0.5, theta1=1.0, theta2=float("inf")).differences()["difference"].tolist()
    [0.5]
    """
    if not isinstance(models, Mapping) or len(models) < 2:
        raise InputError("models must be a mapping of at least two, as {'lr': lr, 'svm': svm}.")
    if risk is None:
        raise InputError("risk is missing; give the threshold, a mean loss, as risk=0.4.")
    if X is None and y is None:
        return compare_tables(models, risk, loss=loss, sample_weight=sample_weight, space=space, scale=scale, **settings)
    cases, asked = _cases(models, X, y, settings, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    return _compared(cases, _results(cases, risk, asked))


def feature_stability(
    model: Any,
    X: Any,  # noqa: N803  # as above
    y: Any,
    risk: float,
    *,
    features: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    **settings: Any,
) -> FeatureStability:
    """How much the data must change if only one feature may move, for each of them: the sensitive ones first.

    Interrupted from the keyboard, it ends: the features that were asked about by then are ranked, and marked `interrupted`.

    Parameters
    ----------
    features
        Which to ask about: names of features and of groups of the space; or groups of your own, as
        `{"race": ["race_1", "race_2"]}`. Where none are given, every feature that may move and every group of the space.
    model, X, y, risk, loss, sample_weight, space, scale, settings
        As in `stability`. The paper's setting is the 0/1 loss, `risk=0.4, theta1=1.0, theta2=0.25`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> found = tp.feature_stability(([1.0, 0.1], -1.5), X, ["no", "no", "yes", "yes"], 0.5, theta1=1.0, theta2=float("inf"))
    >>> [(name, round(found[name].value, 4)) for name in found]
    [('x0', 0.1525), ('x1', 15.25)]
    """
    case, asked = question(model, X, y, settings, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    return _ranked(case, risk, asked, features)


@dataclass(frozen=True)
class Review:
    """All that a report is about.

    Attributes
    ----------
    result
        Of the first model.
    features
        The stability of its single features; None where an interrupt came before.
    comparison
        With the other models; None where there are none.
    """

    result: StabilityResult
    features: FeatureStability | None
    comparison: Comparison | None


def review(
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
) -> Review:
    """The stability of the first model, its features, and the comparison with the others: each model is prepared once.

    Interrupted from the keyboard, it ends with what it has by then.

    Parameters
    ----------
    models
        Models by name; the first is the one that it is about.
    X, y, risk, loss, sample_weight, space, scale, settings
        As in `stability`. A number of calls holds for each model, and once more for the features.
    """
    cases, asked = _cases(models, X, y, settings, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    results = _results(cases, risk, asked)
    first = next(iter(cases))
    compared = _compared(cases, results) if len(cases) > 1 else None
    ranked = None
    if len(results) == len(cases) and not any(result.stopped for result in results.values()):
        with suppress(KeyboardInterrupt):  # the results themselves are not lost
            ranked = _ranked(cases[first], risk, asked, None)
    return Review(results[first], ranked, compared)


def _cases(
    models: Mapping[str, Any], data: Any, y: Any, settings: Mapping[str, Any], **shared: Any
) -> tuple[dict[str, Case], dict[str, Any]]:
    """Several models on the same data, and what they are to be asked."""
    asked, search = sorted_out(settings)
    cases = {str(name): question(model, data, y, settings, **shared, check=False)[0] for name, model in models.items()}
    if not any(case.serves(search) for case in cases.values()):  # an option may be meant for one of them only
        next(iter(cases.values())).check_options(search)
    return cases, asked


def _results(cases: Mapping[str, Case], risk: float, asked: Mapping[str, Any]) -> dict[str, StabilityResult]:
    """The stability of each, up to an interrupt."""
    found = answered(cases, lambda name: cases[name].profile().stability(risk, **asked), stopped=lambda result: result.stopped)
    return dict(zip(cases, found, strict=False))


def _compared(cases: Mapping[str, Case], results: Mapping[str, StabilityResult]) -> Comparison:
    return Comparison(results, next(iter(cases.values())).features.backend, len(results) < len(cases))


OF_RANKING = "is one of a ranking, which keeps the numbers of each only; its result(name) works out the rest again"
"""Why a result has no sensitive distribution."""


@dataclass(frozen=True)
class _SingleFeatures:
    """What it takes to work out the stability of one feature, or one group of them, of a case.

    Attributes
    ----------
    case, judgement
        The model on data, and the same with what may be spent on one feature.
    members
        The features behind every name.
    risk, settings
        The threshold, and the prices and divergence.
    """

    case: Case
    judgement: Judgement
    members: Mapping[str, tuple[str, ...]]
    risk: float
    settings: Mapping[str, Any]

    def profile(self, name: str) -> Profile:
        return self.case.ask(self.judgement.along(self.case.domain.only(self.members[name])))

    def __call__(self, name: str) -> StabilityResult:
        return self.profile(name).stability(self.risk, **self.settings)


def _ranked(case: Case, risk: float, asked: Mapping[str, Any], features: Any) -> FeatureStability:
    """The stabilities of these features of a case, one after the other."""
    chosen = _chosen(case.domain, features)
    single = _SingleFeatures(case, case.judgement.shared(len(chosen)), chosen, risk, asked)
    limit = _limit(case, risk, asked)  # first: a model that was interrupted may not answer any more
    found, reach = dict[str, StabilityResult](), dict[str, float]()
    with progress_bar("features", len(chosen), show=None if case.judgement.searched else False) as tick:

        def result(name: str) -> StabilityResult:
            # Of the size of the data is only what a single result needs; a ranking of many keeps their numbers.
            alone = single.profile(name)
            reach[name] = alone.reach
            found[name] = alone.stability(risk, **asked).without_evidence(OF_RANKING)
            tick(len(found))
            return found[name]

        answered(chosen, result, stopped=lambda result: result.stopped)
    ranked = dict(sorted(found.items(), key=lambda item: (item[1].value, -reach[item[0]])))
    kinds = {name: case.domain.kind(name) if chosen[name] == (name,) else "group" for name in ranked}
    return FeatureStability(
        ranked,
        limit,
        kinds,
        {name: reach[name] for name in ranked},
        case.features.backend,
        single,
        len(found) < len(chosen) or any(each.interrupted for each in found.values()),
    )


def _chosen(domain: Domain, wanted: Any) -> dict[str, tuple[str, ...]]:
    """The features behind every name that is asked about."""
    movable = domain.features
    known = {name: (name,) for name in movable} | dict(domain.groups)
    if not known:
        raise InputError("no feature may move; widen the space.")
    chosen = {}
    for name, members in (known if wanted is None else _named(domain, wanted)).items():
        expanded = [feature for member in members for feature in known.get(member, (member,))]
        for feature in expanded:
            if feature not in movable:
                group = next((menu.name for menu in domain.menus if feature in (domain.names[j] for j in menu.columns)), None)
                why = "may not move" if feature in domain.names else "is not a feature"
                why = f"belongs to the one-hot group {group!r}" if group is not None else why
                raise InputError(f"features names {feature!r}, which {why}; those that move are {listed(movable)}.")
        chosen[name] = tuple(dict.fromkeys(expanded))
    return chosen


def _named(domain: Domain, wanted: Any) -> dict[str, tuple[str, ...]]:
    """What a user asks about: names that stand for themselves, or groups by name."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise InputError(
            f"features={wanted!r} must be a list of names, or groups of them, as {{'race': ['race_1', 'race_2']}}."
        )
    if not isinstance(wanted, Mapping):
        named: dict[str, tuple[str, ...]] = {str(name): (str(name),) for name in wanted}
    else:
        for group, members in wanted.items():
            if isinstance(members, str) or not isinstance(members, Iterable):
                raise InputError(f"features[{group!r}]={members!r} must be a list of feature names.")
        named = {str(group): tuple(map(str, members)) for group, members in wanted.items()}
    for name, members in named.items():
        if name in domain.names and members != (name,):
            raise InputError(f"the group {name!r} has the name of a column; give it a name of its own.")
    if not all(named.values()) or not named:
        raise InputError(f"features={wanted!r} names nothing; name some features, or leave it out for all.")
    return named


def _limit(case: Case, risk: float, asked: Mapping[str, Any]) -> float:
    """What reweighting alone costs."""
    theta1, theta2, mix, budget = (asked.get(name) for name in ("theta1", "theta2", "mix", "budget"))
    _, theta2 = resolve_prices(theta1, theta2, mix, budget)
    if math.isinf(theta2):
        return math.inf
    still = case.ask(case.judgement.along(case.domain.only(())))
    return still.stability(risk, theta1=math.inf, theta2=theta2, divergence=asked.get("divergence", "kl")).value
