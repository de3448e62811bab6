"""LightGBM's text files: data only."""

from __future__ import annotations

from typing import Any

from tippingpoint.errors import UnsupportedError
from tippingpoint.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.files.damage import examining
from tippingpoint.files.lightgbm_text import Ensemble, read_ensemble, written_ensemble
from tippingpoint.preprocessing.booster_estimators import (
    BoosterClassifier,
    BoosterRegressor,
    checked_classes,
    lightgbm_task,
)
from tippingpoint.preprocessing.categories import as_written

BEGINS = (b"tree\nversion=", b"tree\r\nversion=")
"""How a booster's text begins."""


def holds(content: Content) -> bool:
    """Whether it begins as a booster's text does."""
    return content.head.startswith(BEGINS)


def load(content: Content, loading: Loading) -> Stored:
    """A classifier or a regressor, by the objective that is in the file.

    LightGBM does not read the file: on one that contradicts itself it crashes. It gets a text of what was checked here.
    """
    path = content.path
    lightgbm = library("lightgbm", "lightgbm", path)
    ensemble = read(content)
    objective = ensemble.objective.partition(" ")[0] or "custom"
    task = lightgbm_task(objective)
    if task is None:
        raise UnsupportedError(
            f"{path} has the objective {objective!r}, whose answers are neither probabilities of classes nor predictions;"
            " wrap it in a function, and give that as module:factory."
        )
    with reading(path, FORMAT.name):
        booster = lightgbm.Booster(model_str=written_ensemble(ensemble))
    features = tuple(ensemble.names)
    if features == tuple(f"Column_{j}" for j in range(len(features))):
        features = ()  # the data had no names when it was trained

    def outputs(rows: Any) -> Any:
        """What the booster predicts; it takes columns by their place, so they are put in its order."""
        named = features and hasattr(rows, "columns")
        return booster.predict(rows[list(as_written(features, rows.columns))] if named else rows)

    if task == "regression":
        if loading.classes is not None:
            raise UnsupportedError(f"{path} is a regressor ({objective}), which has no classes; leave classes out.")
        return Stored(BoosterRegressor(booster, outputs), features or None, spaces_lost=True)
    classes = checked_classes(path, loading.classes, max(2, ensemble.groups))
    return Stored(BoosterClassifier(booster, outputs, classes), features or None, spaces_lost=True)


def read(content: Content) -> Ensemble:
    """The model in a file, checked."""
    with examining(content.path, FORMAT.name):
        return read_ensemble(content.data)


FORMAT = Format("a LightGBM model as text", (), ("classes",), holds, load)
