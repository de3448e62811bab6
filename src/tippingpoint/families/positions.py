"""Models that know no names of columns: those of the data are theirs in the order in which they stand."""

from __future__ import annotations

from typing import Any

from tippingpoint.errors import listed
from tippingpoint.families.linear.recognise import LinearModel
from tippingpoint.preprocessing.categories import booster_in, booster_names
from tippingpoint.preprocessing.modules import is_module


def by_position(model: Any, data: Any) -> str | None:
    """A note where data have names of columns and the model has none; None where it has, or where there is nothing to match."""
    named = [str(name) for name in getattr(data, "columns", ())]
    if not named or named == [str(j) for j in range(len(named))] or not _nameless(model):
        return None
    return f"the model names no columns, so those of X are its own in the order in which they stand: {listed(named)}"


def _nameless(model: Any) -> bool:
    """Whether a model takes columns by their place alone; of a function nobody knows."""
    if isinstance(model, LinearModel):
        return model.features is None
    booster = booster_in(model)
    if booster is not None:
        return booster_names(booster) is None
    if isinstance(model, (tuple, list)) or is_module(model) or getattr(model, "by_position", False):
        return True
    return hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
