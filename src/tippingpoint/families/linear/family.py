"""Linear models: those of scikit-learn, pipelines that end in one, `(coef, intercept)`, and losses that hold the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.families.linear.judgement import LinearJudgement, PiecesJudgement
from tippingpoint.families.linear.recognise import LinearModel, NotLinearError, recognise
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named
from tippingpoint.preprocessing.modules import is_module, steps_and_last

ALL_BUT_FINE = tuple(kind for kind in EVERY_KIND if kind != "fine steps")
"""Steps too many to be counted are rounded."""


class LinearFamily(Family):
    """Scores `coef·x + intercept` of the user's columns, whoever fitted them."""

    name = "linear models"
    one = "a linear model"
    capabilities = (
        Capability("linear: a regressor, or two classes", tuple(LOSSES), ALL_BUT_FINE, "exact", "closed forms"),
        Capability("linear: several classes", ("zero_one",), ALL_BUT_FINE, "exact", "the nearest boundary"),
        Capability(
            "none: a `PiecewiseLinear` loss of the features",
            ("PiecewiseLinear",),
            ALL_BUT_FINE,
            "exact",
            "closed form of every piece",
        ),
        Capability(
            "linear: any of these",
            (*LOSSES, "PiecewiseLinear"),
            ("fine steps",),
            "bounded",
            "rounding, and bounded as if steps were none",
        ),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        model, features, loss = subject.model, subject.features, subject.loss
        if len(features.shape) != 1 or is_module(steps_and_last(model)[1]):
            return None
        if isinstance(loss, PiecewiseLinear) and loss.of_features:
            return PiecesJudgement(model, features, subject.y, loss)
        try:
            linear = recognise(model, features)
        except NotLinearError as why:
            return Refusal(str(why))
        if callable(loss) and not isinstance(loss, Loss):
            return Refusal("a loss of your own is not known in closed form")
        chosen = loss_named(_usual(linear) if loss is None else loss)
        if len(linear.coef) > 1 and linear.classes and chosen.name != "zero_one":
            return Refusal(f"the {chosen.label} loss of {len(linear.coef)} classes has no closed form")
        return LinearJudgement(linear, features, subject.y, chosen)


def _usual(linear: LinearModel) -> str:
    return "squared" if linear.regressor else "zero_one"


FAMILY = LinearFamily()
