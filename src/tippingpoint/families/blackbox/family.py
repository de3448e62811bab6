"""Anything with `predict`, `predict_proba` or `decision_function`, a booster, or a function of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.blackbox.boosters import booster_estimator
from tippingpoint.families.blackbox.judgement import BlackBoxJudgement
from tippingpoint.families.blackbox.options import BlackBoxOptions
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.losses import LOSSES
from tippingpoint.preprocessing.categories import is_booster
from tippingpoint.preprocessing.modules import function_of_rows, is_module, steps_and_last

METHODS = ("predict", "predict_proba", "decision_function")
"""What a model is asked by, if it is no function."""


class BlackBoxFamily(Family):
    """Models that can only be asked; of whatever nobody else serves, this family is asked last."""

    name = "black boxes"
    one = "a black box"
    options = BlackBoxOptions
    capabilities = (
        Capability(
            "black box: trees of scikit-learn",
            tuple(LOSSES),
            ("numbers", "bounds", "one feature"),
            "exact",
            "both sides of every threshold, if up to 2,000 places a row",
        ),
        Capability(
            "black box: anything that predicts",
            tuple(LOSSES),
            ("whole numbers", "categories"),
            "exact",
            "all places, if up to 2,000 a row",
        ),
        Capability("black box: anything that predicts", tuple(LOSSES), EVERY_KIND, "searched", "calls of the model"),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        model, features = subject.model, subject.features
        if len(features.shape) != 1:
            shape = (len(features.x), *features.shape)
            raise InputError(f"X has shape {shape}; give a table of rows and columns (a PyTorch module may take more).")
        steps, last = steps_and_last(model)
        if is_module(last):
            model = function_of_rows(steps, last)
        elif is_booster(model):
            model = booster_estimator(model, features, subject.y, given.get("classes"))
        if not (callable(model) or any(hasattr(model, name) for name in METHODS)):
            return Refusal(f"{type(model).__name__} has none of {', '.join(METHODS)}, and is no function")
        return BlackBoxJudgement(model, features, subject.y, subject.loss, BlackBoxOptions.read(given), reason)


FAMILY = BlackBoxFamily()
