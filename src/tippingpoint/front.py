"""The front door: `profile` and `stability` of a model on data, `compare` several, and ask about single features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.domain import Domain
from tippingpoint.errors import InputError
from tippingpoint.frames import Features, base_weights, read_features, read_vector
from tippingpoint.losses import Loss
from tippingpoint.models.judging import Judgement, encoded_by, judge
from tippingpoint.profiles import Profile
from tippingpoint.results import Comparison, StabilityResult
from tippingpoint.scaling import Scale, in_units
from tippingpoint.space import Space

SETTINGS = ("theta1", "theta2", "mix", "budget", "divergence")
"""What a question is asked with; all other options are of the search."""


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
    case = _prepared(model, X, y, loss, sample_weight, space, scale, search)
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
    case, asked = _asked(model, X, y, settings, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    return case.profile().stability(risk, **asked)


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
    _, search = _sorted_out(settings)
    shared: dict[str, Any] = {"loss": loss, "sample_weight": sample_weight, "space": space, "scale": scale}
    cases = {str(name): _asked(model, X, y, settings, **shared, check=False) for name, model in models.items()}
    if not any(case.judgement.searched for case, _ in cases.values()):
        next(iter(cases.values()))[0].check_options(search)
    results = {name: case.profile().stability(risk, **asked) for name, (case, asked) in cases.items()}
    return Comparison(results, next(iter(cases.values()))[0].features.backend)


@dataclass(frozen=True)
class Case:
    """A model on data, read and checked: all that a profile needs.

    Attributes
    ----------
    judgement
        The model and its loss.
    domain
        What may move.
    features, base
        The samples of positive weight, and their weights.
    """

    judgement: Judgement
    domain: Domain
    features: Features
    base: FloatArray

    def check_options(self, search: Mapping[str, Any]) -> None:
        """An option that would be ignored is an error."""
        if search and not self.judgement.searched:
            name = next(iter(search))
            raise InputError(
                f"{name}={search[name]!r} is an option of a search (networks, black boxes); this model needs none, leave it out."
            )

    def profile(self) -> Profile:
        """The best responses in the whole domain."""
        return self.ask(self.judgement.oracle(self.domain))

    def ask(self, oracle: Any) -> Profile:
        """A profile of these samples by this oracle."""
        features, judged = self.features, self.judgement
        return Profile(oracle, self.base, features.index, judged.label, judged.range, features.backend, features.columns)


def _asked(
    model: Any,
    data: Any,
    y: Any,
    settings: Mapping[str, Any],
    *,
    loss: Any,
    sample_weight: Any,
    space: Space | None,
    scale: Scale | None,
    check: bool = True,
) -> tuple[Case, dict[str, Any]]:
    """A model on data, and what it is to be asked.

    Options of the question and of the search come together here. A `budget` counts the calls of a model that is searched by
    calling it; for all others it is the dial's.
    """
    asked, search = _sorted_out(settings)
    case = _prepared(model, data, y, loss, sample_weight, space, scale, search, asked.get("budget"))
    if check:
        case.check_options(search)
    if case.judgement.counts_calls:
        asked.pop("budget", None)
    return case, asked


def _prepared(
    model: Any,
    data: Any,
    y: Any,
    loss: Any,
    sample_weight: Any,
    space: Space | None,
    scale: Scale | None,
    search: Mapping[str, Any],
    budget: Any = None,
) -> Case:
    """The data read, the space resolved, the model recognised."""
    if not isinstance(space, (Space, type(None))):
        raise InputError(f"space={space!r} must be a tippingpoint.Space, as Space(frozen=['sex']).")
    chosen = space or Space()
    known = encoded_by(model, getattr(data, "columns", ()))
    features = read_features(data, chosen.read_as(known, data))
    base = base_weights(sample_weight, len(features.x))
    domain = chosen.resolve(features, base, known)
    rows = np.flatnonzero(base)
    if len(rows) < len(base):
        y = read_vector(y, "y", len(base))[rows]
        features, base = features.take(rows), base[rows]
    judgement = judge(model, features, y, loss, search, budget)
    return Case(judgement, in_units(domain, features, base, scale), features, base)


def _sorted_out(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which settings are of the question, and which of the search."""
    asked = {name: value for name, value in settings.items() if name in SETTINGS}
    return asked, {name: value for name, value in settings.items() if name not in SETTINGS}
