"""Stability by feature: one may move, all others stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tippingpoint.api.cases import Case, prepared
from tippingpoint.api.partitioned import refuse_partitions
from tippingpoint.api.prices import resolve_prices
from tippingpoint.api.profiles import Profile
from tippingpoint.api.settings import Settings, check_used
from tippingpoint.api.stopping import answered
from tippingpoint.errors import InputError, UnsupportedError, listed
from tippingpoint.families.base import Judgement
from tippingpoint.losses import Loss
from tippingpoint.progress import progress_bar
from tippingpoint.results.rankings import FeatureStability
from tippingpoint.results.stability import StabilityResult
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain
from tippingpoint.space.scaling import Scale

OF_RANKING = "is one of a ranking, which keeps the numbers of each only; its result(name) works out the rest again"
"""Why a result has no sensitive distribution."""


def feature_stability(
    model: Any,
    X: Any,  # noqa: N803  # the name every data scientist expects
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
    given = Settings.read(settings, "feature_stability")
    refuse_partitions(X, y, "feature_stability")
    if isinstance(X, Mapping):
        raise UnsupportedError(
            "feature_stability ranks columns of a table, and X is a mapping of inputs; ask stability(..., space=Space("
            "movable=['inputs_embeds'])) of each input that may move."
        )
    case = prepared(model, X, y, given.options, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    check_used(given.options, [case.family])
    return ranked(case, risk, given.question, features)


@dataclass(frozen=True)
class _SingleFeatures:
    """What it takes to work out the stability of one feature, or one group of them, of a case.

    Attributes
    ----------
    case, judgement
        The model on data, and the same with what may be spent on one feature.
    members
        The features behind every name.
    risk, question
        The threshold, and the prices and divergence.
    """

    case: Case
    judgement: Judgement
    members: Mapping[str, tuple[str, ...]]
    risk: float
    question: Mapping[str, Any]

    def profile(self, name: str) -> Profile:
        return self.case.profile_by(self.judgement.along(self.case.domain.only(self.members[name])))

    def __call__(self, name: str) -> StabilityResult:
        self.case.features.seal.check()
        return self.profile(name).stability(self.risk, **self.question)


def ranked(case: Case, risk: float, question: Mapping[str, Any], features: Any) -> FeatureStability:
    """The stabilities of these features of a case, one after the other."""
    chosen = _chosen(case.domain, features)
    single = _SingleFeatures(case, case.judgement.shared(len(chosen)), chosen, risk, question)
    limit = _limit(case, risk, question)  # first: a model that was interrupted may not answer any more
    found, reach, proved = dict[str, StabilityResult](), dict[str, float](), True
    with progress_bar("features", len(chosen), show=None if case.judgement.searched else False) as tick:

        def result(name: str) -> StabilityResult:
            nonlocal proved
            # Of the size of the data is only what a single result needs; a ranking of many keeps their numbers.
            alone = single.profile(name)
            reach[name], proved = alone.reach, proved and alone.oracle.exact
            found[name] = alone.stability(risk, **question).without_evidence(OF_RANKING)
            tick(len(found))
            return found[name]

        answered(chosen, result, stopped=lambda result: result.stopped)
    in_order = dict(sorted(found.items(), key=lambda item: (item[1].value, -reach[item[0]])))
    kinds = {name: case.domain.kind(name) if chosen[name] == (name,) else "group" for name in in_order}
    return FeatureStability(
        in_order,
        limit,
        kinds,
        {name: reach[name] for name in in_order},
        case.features.backend,
        single,
        len(found) < len(chosen) or any(each.interrupted for each in found.values()),
        proved,
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


def _limit(case: Case, risk: float, question: Mapping[str, Any]) -> float:
    """What reweighting alone costs."""
    theta1, theta2, mix, budget = (question.get(name) for name in ("theta1", "theta2", "mix", "budget"))
    _, theta2 = resolve_prices(theta1, theta2, mix, budget)
    if math.isinf(theta2):
        return math.inf
    still = case.profile_by(case.judgement.along(case.domain.only(())))
    return still.stability(risk, theta1=math.inf, theta2=theta2, divergence=question.get("divergence", "kl")).value
