"""From a user's model to a judgement of its trees, or the reason why they are not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import Features, read_labels, read_numbers
from tippingpoint.data.labels import class_indices
from tippingpoint.errors import InputError, ModelError, UnsupportedError
from tippingpoint.families.base import Refusal, Subject
from tippingpoint.families.trees.columns import ModelColumns, model_columns
from tippingpoint.families.trees.judgement import TreeJudgement, TreeModel
from tippingpoint.families.trees.judging import Judge
from tippingpoint.families.trees.kernels import kernels
from tippingpoint.families.trees.options import TreeOptions
from tippingpoint.families.trees.partition import NotDividedError, RawForest, check_divided
from tippingpoint.families.trees.readers import read_model
from tippingpoint.families.trees.readers.checking import check_reading, check_rows
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.foreign import guarded
from tippingpoint.losses import Loss, loss_named
from tippingpoint.preprocessing.boosters import booster_estimator
from tippingpoint.preprocessing.categories import is_booster
from tippingpoint.preprocessing.modules import steps_and_last


def recognised(subject: Subject, given: Mapping[str, Any]) -> TreeJudgement | Refusal | None:
    """The judgement of a tree ensemble; None where the model is none."""
    model, features = subject.model, subject.features
    steps, last = steps_and_last(model)
    if steps is None and is_booster(last):
        model = last = booster_estimator(last, features, subject.y, given.get("classes"))
    reading = read_model(last)
    if reading is None or isinstance(reading, Unread):
        return None if reading is None else Refusal(reading.reason)
    if callable(subject.loss) and not isinstance(subject.loss, Loss):
        return Refusal("a loss of your own is not known to its trees")
    options = TreeOptions.read(given)
    judge, label = _judge(reading, subject, options)
    columns = model_columns(steps, reading, features)
    if isinstance(columns, Unread):
        return Refusal(columns.reason)
    if judge.of_rivals and kernels() is None:
        return Refusal("the cross-entropy of several classes takes the compiled kernels, which are not here")
    outputs = reading.forest.scores(columns.values(features.x))
    sides, strict = judge.sides(outputs, reading.rounding), judge.sides(outputs, -reading.rounding)
    if isinstance(sides, Unread) or isinstance(strict, Unread):
        return Refusal(next(each.reason for each in (sides, strict) if isinstance(each, Unread)))
    raw = RawForest(reading.forest, columns)
    flaw = _flaw(reading, columns, steps, features) or _obstacle(raw, subject)
    if flaw is not None:
        return Refusal(flaw)
    return TreeJudgement(TreeModel(model, steps, raw, judge, sides, strict), features, label, options)


def _judge(reading: TreeReading, subject: Subject, options: TreeOptions) -> tuple[Judge, str]:
    """The loss of the outputs, and what results call it."""
    regressor, samples = reading.returns == "prediction", len(subject.features.x)
    loss = loss_named(subject.loss if subject.loss is not None else "squared" if regressor else "zero_one")
    if regressor:
        if loss.task != "regression":
            raise UnsupportedError(f"loss={loss.label!r} judges classifiers but the model is a regressor; use 'squared'.")
        if options.classes is not None:
            raise UnsupportedError("classes=[...] are those of a classifier, but the model is a regressor; leave them out.")
        return Judge(reading, loss, None, read_numbers(subject.y, "y", samples)), loss.label
    if loss.task == "regression":
        raise UnsupportedError(f"loss={loss.label!r} judges regressors but the model is a classifier; use 'zero_one'.")
    classes = _classes(reading, options)
    scores = reading.forest.outputs if reading.forest.outputs > 2 else 1
    index, known = class_indices(read_labels(subject.y, "y", samples), classes, scores)
    return Judge(reading, loss, index, None), loss.label_of(len(known))


def _classes(reading: TreeReading, options: TreeOptions) -> list[Any] | None:
    """The labels in the order of the outputs: the user's, where there are any."""
    own = reading.classes
    if options.classes is None:
        return None if own is None else list(own)
    wanted = len(own) if own is not None else max(2, reading.forest.outputs)
    if len(options.classes) != wanted or len(set(options.classes)) != wanted:
        raise InputError(
            f"classes={list(options.classes)!r} must name the {wanted} classes of the model, each once, in their order."
        )
    return list(options.classes)


def _flaw(reading: TreeReading, columns: ModelColumns, steps: Any, features: Features) -> str | None:
    """In words: where the reading is not what the library says, on the data and on rows moved onto thresholds."""
    try:
        with guarded(lambda why: ModelError(f"it fails when asked about the data ({why})")):
            seen, everyone = columns.values(features.x), np.arange(len(features.x))
            if steps is not None:
                return check_rows(reading, seen, steps.transform(features.native_at(everyone, features.x)))
            numbers = [m for m in reading.forest.columns if columns.rises[m] > 0]

            def rows_of(like: IntArray, moved: FloatArray) -> Any:
                raw = features.x[like]
                raw[:, columns.source[numbers]] = moved[:, numbers]
                return features.native_at(like, raw)

            return check_reading(reading, seen, rows_of, np.array(numbers, dtype=np.intp))
    except ModelError as failure:
        return str(failure)


def _obstacle(raw: RawForest, subject: Subject) -> str | None:
    """In words: which feature moves in a way that cannot be taken back to the thresholds of trees."""
    try:
        check_divided(raw, subject.domain, subject.features.x)
    except NotDividedError as obstacle:
        return str(obstacle)
    return None
