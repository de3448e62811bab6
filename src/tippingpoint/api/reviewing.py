"""All that a report is about, each model prepared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tippingpoint.api.comparing import ask_all, compared, prepare_all
from tippingpoint.api.features import ranked
from tippingpoint.api.settings import Settings
from tippingpoint.losses import Loss
from tippingpoint.results.comparisons import Comparison
from tippingpoint.results.rankings import FeatureStability
from tippingpoint.results.stability import StabilityResult
from tippingpoint.space import Space
from tippingpoint.space.scaling import Scale


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
    X: Any,  # noqa: N803  # the name every data scientist expects
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
    given = Settings.read(settings)
    cases = prepare_all(models, X, y, given.options, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    results = ask_all(cases, risk, given.question)
    first = next(iter(cases))
    comparison = compared(cases, results) if len(cases) > 1 else None
    features = None
    if len(results) == len(cases) and not any(result.stopped for result in results.values()):
        with suppress(KeyboardInterrupt):  # the results themselves are not lost
            features = ranked(cases[first], risk, given.question, None)
    return Review(results[first], features, comparison)
