"""From a user's model to a judgement of its trees, or the reason why they are not read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.data.labels import class_indices
from tippingpoint.data.vectors import read_labels, read_numbers
from tippingpoint.errors import InputError, ModelError, UnsupportedError
from tippingpoint.families.base import Refusal, Subject
from tippingpoint.families.trees.columns.model_columns import ModelColumns, model_columns
from tippingpoint.families.trees.judgement import TreeJudgement, TreeModel
from tippingpoint.families.trees.judging import Judge
from tippingpoint.families.trees.options import TreeOptions
from tippingpoint.families.trees.partition import NotDividedError, RawForest, check_divided
from tippingpoint.families.trees.readers import read_model
from tippingpoint.families.trees.readers.checking import check_reading, check_rows
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.families.trees.search.pushing import Sides
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
    if reading is None:
        return None
    made = reading if isinstance(reading, Unread) else _judgement(reading, steps, replace(subject, model=model), given)
    return Refusal(made.reason) if isinstance(made, Unread) else made


def _judgement(reading: TreeReading, steps: Any, subject: Subject, given: Mapping[str, Any]) -> TreeJudgement | Unread:
    """Of a model that was read, in its user's columns. Options come last: those of a model that is not read are others."""
    if callable(subject.loss) and not isinstance(subject.loss, Loss):
        return Unread("a loss of your own is not known to its trees")
    features = subject.features
    judge, label = _judge(reading, subject, given.get("classes"))
    columns = model_columns(steps, reading, features)
    if isinstance(columns, Unread):
        return columns
    outputs = reading.forest.scores(columns.values(features.x))
    sides = _sides(judge, outputs)
    if isinstance(sides, Unread):
        return sides
    raw = RawForest(reading.forest, columns)
    flaw = _flaw(reading, columns, steps, features) or _other_labels(judge, subject, outputs) or _obstacle(raw, subject)
    if flaw is not None:
        return Unread(flaw)
    sample, shared = None, subject.shared
    if shared is not None:
        whole = _judgement(reading, steps, replace(subject, features=shared.features, y=shared.y, shared=None), given)
        if isinstance(whole, Unread):
            return whole
        sample = whole
    return TreeJudgement(TreeModel(subject.model, steps, raw, judge, *sides), features, label, TreeOptions.read(given), sample)


def _sides(judge: Judge, outputs: FloatArray) -> tuple[Sides, Sides] | Unread:
    """On which samples are pushed: scores raised by what the library may round, and lowered."""
    raised, lowered = (judge.sides(outputs, way * judge.reading.rounding) for way in (1.0, -1.0))
    if isinstance(raised, Unread):
        return raised
    return lowered if isinstance(lowered, Unread) else (raised, lowered)


def _judge(reading: TreeReading, subject: Subject, given: Sequence[Any] | None) -> tuple[Judge, str]:
    """The loss of the outputs, and what results call it."""
    regressor, samples = reading.returns == "prediction", len(subject.features.x)
    loss = loss_named(subject.loss if subject.loss is not None else "squared" if regressor else "zero_one")
    if regressor:
        if loss.task != "regression":
            raise UnsupportedError(f"loss={loss.label!r} judges classifiers but the model is a regressor; use 'squared'.")
        if given is not None:
            raise UnsupportedError("classes=[...] are those of a classifier, but the model is a regressor; leave them out.")
        return Judge(reading, loss, None, read_numbers(subject.y, "y", samples)), loss.label
    if loss.task == "regression":
        raise UnsupportedError(f"loss={loss.label!r} judges regressors but the model is a classifier; use 'zero_one'.")
    classes = _classes(reading, given)
    scores = reading.forest.outputs if reading.forest.outputs > 2 else 1
    index, known = class_indices(read_labels(subject.y, "y", samples), classes, scores, subject.labels)
    return Judge(reading, loss, index.astype(np.intp), None), loss.label_of(len(known))


def _classes(reading: TreeReading, given: Sequence[Any] | None) -> list[Any] | None:
    """The labels in the order of the outputs: the user's, where there are any."""
    own = reading.classes
    if given is None:
        return None if own is None else list(own)
    wanted = len(own) if own is not None else max(2, reading.forest.outputs)
    if len(given) != wanted or len(set(given)) != wanted:
        raise InputError(f"classes={list(given)!r} must name the {wanted} classes of the model, each once, in their order.")
    return list(given)


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


def _other_labels(judge: Judge, subject: Subject, outputs: FloatArray) -> str | None:
    """In words: whether a classifier tells other classes than its outputs do, where these are not level."""
    if not judge.loss.needs_crossing or judge.reading.classes is None:
        return None
    features, everyone = subject.features, np.arange(len(outputs))
    try:
        with guarded(lambda why: ModelError(f"it fails when asked about the data ({why})")):
            told = judge.wrong(everyone, subject.model.predict(features.native_at(everyone, features.x)))
    except ModelError as failure:
        return str(failure)
    if (told != judge.losses(everyone, outputs))[judge.apart(outputs)].any():
        return "its predict does not tell the classes that its scores do"
    return None


def _obstacle(raw: RawForest, subject: Subject) -> str | None:
    """In words: which feature moves in a way that cannot be taken back to the thresholds of trees."""
    try:
        check_divided(raw, subject.domain, subject.features.x)
    except NotDividedError as obstacle:
        return str(obstacle)
    return None
