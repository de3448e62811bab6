"""Several models on the same rows, or several tables of the same samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.api.cases import Case, prepared
from tippingpoint.api.pairing import compare_tables
from tippingpoint.api.partitioned import refuse_partitions
from tippingpoint.api.settings import Settings, check_used
from tippingpoint.api.stopping import answered
from tippingpoint.errors import InputError
from tippingpoint.losses import Loss
from tippingpoint.results.comparisons import Comparison
from tippingpoint.results.stability import StabilityResult
from tippingpoint.space import Space
from tippingpoint.space.scaling import Scale


def compare(
    models: Mapping[str, Any],
    X: Any = None,  # noqa: N803  # the name every data scientist expects
    y: Any = None,
    risk: float | None = None,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    common: bool = False,
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
        As in `stability`. Of tables only prices and divergence are asked.
    common
        Of tables: leave out samples that some of them lack, with a warning; they are an error otherwise.

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
    given = Settings.read(settings, "compare")
    if X is None and y is None:
        of_models = {"loss": loss, "sample_weight": sample_weight, "space": space, "scale": scale, **given.options}
        return compare_tables(models, risk, given.question, of_models, common=common)
    if common:
        raise InputError("common=True pairs tables of alternatives; models are compared on the same rows, so leave it out.")
    cases = prepare_all(models, X, y, given.options, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    return compared(cases, ask_all(cases, risk, given.question))


def prepare_all(models: Mapping[str, Any], data: Any, y: Any, options: Mapping[str, Any], **shared: Any) -> dict[str, Case]:
    """Several models on the same data; an option may be meant for one of them only."""
    refuse_partitions(data, y, "compare")
    cases = {str(name): prepared(model, data, y, options, **shared) for name, model in models.items()}
    check_used(options, [case.family for case in cases.values()])
    return cases


def ask_all(cases: Mapping[str, Case], risk: float, question: Mapping[str, Any]) -> dict[str, StabilityResult]:
    """The stability of each, up to an interrupt."""
    found = answered(
        cases, lambda name: cases[name].profile().stability(risk, **question), stopped=lambda result: result.stopped
    )
    return dict(zip(cases, found, strict=False))


def compared(cases: Mapping[str, Case], results: Mapping[str, StabilityResult]) -> Comparison:
    """The results side by side; interrupted, where some are missing."""
    return Comparison(results, next(iter(cases.values())).features.backend, len(results) < len(cases))
