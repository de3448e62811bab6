"""PyTorch modules, also behind preprocessing that a layer can stand for, or inside an estimator that offers one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError
from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.families.network.options import NetworkOptions
from tippingpoint.families.options import Options
from tippingpoint.foreign import is_module
from tippingpoint.losses import LOSSES
from tippingpoint.preprocessing.modules import holds_module, steps_and_last


class NetworkFamily(Family):
    """Modules that return logits or a prediction."""

    name = "networks"
    one = "a network"
    options: type[Options] = NetworkOptions
    capabilities: tuple[Capability, ...] = (
        Capability("network: ReLUs and other lines", tuple(LOSSES), ("one feature",), "exact", "every piece along the column"),
        Capability(
            "network: the same, of several classes",
            ("zero_one", "hinge", "squared_hinge"),
            ("one feature",),
            "exact",
            "every piece along the column",
        ),
        Capability("network: any", tuple(LOSSES), ("whole numbers", "categories"), "exact", "all places, if up to 2,000 a row"),
        Capability(
            "network: a chain of known layers",
            tuple(LOSSES),
            EVERY_KIND,
            "bounded",
            "gradients, and how steep layers are; `method='exact'` proves one hidden layer of ReLUs to 1 %",
        ),
        Capability("network: any other module", tuple(LOSSES), EVERY_KIND, "searched", "gradients"),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        features, loss = subject.features, subject.loss
        steps, last = steps_and_last(subject.model)
        if holds_module(last):
            _check_columns(last, features if steps is None else None)
            classes = getattr(last, "classes_", None)
            loss = "squared" if classes is None and loss is None else loss
            given = given if classes is None else {"classes": classes.tolist(), **given}
            last = last.as_module()
        if not is_module(last):
            return None
        from tippingpoint.families.network.folding import folded
        from tippingpoint.families.network.judgement import NetworkJudgement

        module = last if steps is None else folded(steps, last, features)
        if module is None:
            return Refusal("what stands in front of the module is no affine function of numbers")
        return NetworkJudgement(module, features, subject.y, loss, given, subject.labels, subject.shared)


def _check_columns(estimator: Any, features: Features | None) -> None:
    """An estimator takes the columns that it was fitted to, in their order; a module knows none."""
    names = getattr(estimator, "feature_names_in_", None) if hasattr(getattr(features, "native", None), "columns") else None
    if features is not None and names is not None and list(map(str, names)) != list(features.names):
        raise InputError("the columns of X are not those that the model was fitted to, in their order; reorder X.")


FAMILY = NetworkFamily()
