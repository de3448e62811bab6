"""Tree ensembles of XGBoost, LightGBM, CatBoost and scikit-learn, also behind preprocessing of single columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.families.options import Options
from tippingpoint.families.trees.options import TreeOptions
from tippingpoint.foreign import is_module
from tippingpoint.losses import LOSSES
from tippingpoint.preprocessing.modules import steps_and_last


class TreeFamily(Family):
    """Models that add up the leaves of trees."""

    name = "tree ensembles"
    one = "a tree ensemble"
    options: type[Options] = TreeOptions
    capabilities: tuple[Capability, ...] = (
        Capability(
            "trees: XGBoost, LightGBM, CatBoost, scikit-learn",
            tuple(LOSSES),
            EVERY_KIND,
            "exact",
            "branch and bound over the cells of the trees, proved to 0.1 % unless `gap=0` asks for all",
        ),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        if len(subject.features.shape) != 1 or is_module(steps_and_last(subject.model)[1]):
            return None
        from tippingpoint.families.trees.recognise import recognised

        return recognised(subject, given)


FAMILY = TreeFamily()
