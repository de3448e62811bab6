"""Linear models, whoever fitted them: known by their fitted attributes, and believed only after a trial."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, blocks
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, NumericalError, UnsupportedError, listed
from tippingpoint.families.linear.geometry import Score
from tippingpoint.foreign import guarded, why
from tippingpoint.preprocessing.affine import NotAffineError, fold
from tippingpoint.preprocessing.boosters import booster_margins, linear_booster
from tippingpoint.preprocessing.categories import booster_in, booster_names
from tippingpoint.preprocessing.encoders import contributions, stumbling_block

TRIAL_ROWS = 64
"""Rows on which a folded model is compared with the user's own."""

TRIAL_TOLERANCE = 1e-6
"""Relative difference of scores that a faithful copy may show (float32 coefficients reach 1e-7)."""

CHUNK = 2**16
"""Numbers of the data of which scores are computed at once: they stay in the cache."""


@dataclass(frozen=True)
class LinearModel:
    """Scores `coef·x + intercept` in the columns the user gave.

    Attributes
    ----------
    coef
        `(K, d)`; one row for a regressor or a classifier of two classes, otherwise one a class.
    intercept
        `(K,)`.
    classes
        Labels in the order of the scores (two for a single score, the positive one last); None for a regressor, or where
        they are to be read off the data.
    regressor
        Whether it predicts numbers.
    tables
        By column of categories: `(K, C + 1)`, what each contributes in place of a coefficient, and last a missing one.
    missing
        By column of numbers: `(K,)`, what a missing one contributes.
    features
        Names of the columns, by which a data frame is matched; None where its columns are taken in their order.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> model = tp.LinearModel.of([1.0], -1.5, classes=["no", "yes"], features=["dose"])
    >>> tp.stability(model, [[0.0], [3.0]], ["no", "yes"], risk=0.5, theta1=1.0, theta2=float("inf")).value
    1.125
    """

    coef: FloatArray
    intercept: FloatArray
    classes: tuple[Any, ...] | None = None
    regressor: bool = False
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    missing: Mapping[int, FloatArray] = field(default_factory=dict)
    features: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, coef: Any, intercept: Any = 0.0, classes: Sequence[Any] | None = None, features: Sequence[str] | None = None
    ) -> LinearModel:
        """A model from plain numbers; `features` names the columns, one for each coefficient."""
        try:
            beta = np.atleast_2d(np.asarray(coef, dtype=float))
            bias = np.atleast_1d(np.asarray(intercept, dtype=float))
        except (TypeError, ValueError):
            raise InputError("coef and intercept must be numbers; give (coef, intercept) as arrays.") from None
        except OverflowError:
            raise InputError("coef or intercept holds a number above 1.8e308. Give numbers that float64 can hold.") from None
        if beta.ndim != 2 or bias.ndim != 1 or len(bias) not in (1, len(beta)):
            raise InputError(
                f"coef of shape {np.shape(coef)} and intercept of shape {np.shape(intercept)} do not match;"
                " give one intercept for each row of coef."
            )
        if not (np.isfinite(beta).all() and np.isfinite(bias).all()):
            raise InputError("coef and intercept must be finite numbers; the model holds NaN or infinity.")
        labels = None if classes is None else read_classes(classes, len(beta))
        names = None if features is None else tuple(map(str, features))
        if names is not None and not len(set(names)) == len(names) == beta.shape[1]:
            raise InputError(f"features={features!r} must list {beta.shape[1]} different names, one for each coefficient.")
        return cls(beta, np.broadcast_to(bias, (len(beta),)), labels, features=names)

    @property
    def by_position(self) -> bool:
        """Whether the columns of a data frame are taken in their order, since the model names none."""
        return self.features is None

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """One for each row of `coef`."""
        return tuple(
            Score(
                self.coef[k],
                float(self.intercept[k]),
                {j: table[k] for j, table in self.tables.items()},
                {j: part[k] for j, part in self.missing.items()},
            )
            for k in range(len(self.coef))
        )

    def with_classes(self, classes: Any) -> LinearModel:
        """The model with the classes that the user names; a model that names its own keeps them, and they must be these."""
        if self.regressor:
            raise UnsupportedError(f"classes={classes!r} names classes, but the model is a regressor; leave it out.")
        labels = read_classes(classes, len(self.coef))
        if self.classes is not None and self.classes != labels:
            raise InputError(
                f"classes={list(labels)!r} are not those of the model, {list(self.classes)!r} in this order; leave it out."
            )
        return replace(self, classes=labels)

    def values(self, x: FloatArray) -> FloatArray:
        """`(n, K)`: the scores of every row."""
        values = np.empty((len(x), len(self.scores)))
        for k, score in enumerate(self.scores):
            try:
                for rows in blocks(len(x), CHUNK // max(x.shape[1], 1)):
                    values[rows, k] = score.of(x[rows])
            except NumericalError:
                score.of(x)  # names the row by its place among all
                raise
        return values

    def labels(self, scores: FloatArray) -> list[Any]:
        """What a classifier says to these scores."""
        decided = scores.argmax(axis=1) if len(self.coef) > 1 else (scores[:, 0] > 0.0).astype(np.intp)
        return [self.classes[k] for k in decided] if self.classes else []


class NotLinearError(Exception):
    """A model is not a linear one; the message says why."""


def recognise(model: Any, features: Features) -> LinearModel:
    """The linear model that the user means, in the user's columns."""
    if isinstance(model, LinearModel):
        linear = _named(model, features)
    elif isinstance(model, (tuple, list)) and len(model) == 2:
        linear = LinearModel.of(*model)
    else:
        linear = _fitted(model, features)
    width = linear.coef.shape[1]
    if width != features.x.shape[1]:
        raise InputError(
            f"the model has {width} coefficients but X has {features.x.shape[1]} columns; pass the columns it was fitted on."
        )
    if not isinstance(model, (LinearModel, tuple, list)):
        _try_out(model, linear, features)
    covered = {*linear.tables, *linear.missing}
    features.check_numbers(np.array([j for j in range(width) if j not in covered], dtype=np.intp))
    return linear


def _named(model: LinearModel, features: Features) -> LinearModel:
    """A model that names its columns, in the columns of a data frame; one of an array's has them in its own order."""
    if model.features is None or not hasattr(features.native, "columns"):
        return model
    absent = next((name for name in model.features if name not in features.names), None)
    if absent is not None:
        raise InputError(
            f"the model takes a column {absent!r}, which X does not have; its columns are {listed(features.names)}."
        )
    return replace(model, coef=_aligned(model.coef, model.features, features.names), features=features.names)


def _fitted(model: Any, features: Features) -> LinearModel:
    kind = type(model).__name__
    *steps, last = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    boosted = linear_booster(last)
    if boosted is None and not (hasattr(last, "coef_") and hasattr(last, "intercept_")):
        if hasattr(last, "fit") and not _is_fitted(last):
            raise InputError(f"model={kind} is not fitted; call fit first.")
        asked_only = callable(last) and not hasattr(last, "predict")
        raise NotLinearError("a function can only be asked" if asked_only else f"{kind} is not linear")
    coef, intercept = (last.coef_, last.intercept_) if boosted is None else boosted
    coef = coef.toarray() if hasattr(coef, "toarray") else coef
    classes = getattr(last, "classes_", None)
    regressor = classes is None
    if regressor and np.ndim(coef) == 2 and len(coef) > 1:
        raise UnsupportedError(f"model={kind} has {len(coef)} outputs; pass one output at a time, as (coef, intercept).")
    if boosted is None and classes is not None and (isinstance(classes, list) or np.ndim(classes) != 1):
        raise UnsupportedError(f"model={kind} predicts several labels at once; pass one at a time, as (coef, intercept).")
    try:
        beta, bias = np.atleast_2d(np.asarray(coef, dtype=float)), np.atleast_1d(np.asarray(intercept, dtype=float))
        folded, shift = fold(steps, beta, bias, features.names)
    except NotAffineError as error:
        raise NotLinearError(str(error)) from None
    names = getattr(model, "feature_names_in_", ())
    if boosted is not None and not steps:
        names = booster_names(booster_in(last)) or ()
    folded = _aligned(folded, names, features.names)
    linear = replace(LinearModel.of(folded, shift, classes), regressor=regressor)
    categories = any(column.holds == "category" for column in features.columns)
    if folded.shape[1] != features.x.shape[1]:
        return linear
    if steps and (categories or features.missing.any()):
        return _with_tables(model, linear, beta, bias, features, gaps_are_zero=boosted is not None)
    if boosted is not None:  # a missing value adds nothing to the score, as the value 0
        gaps = (j for j in np.flatnonzero(features.missing).tolist() if features.columns[j].holds != "category")
        return replace(linear, missing={j: np.zeros(len(linear.coef)) for j in gaps})
    return linear


def _is_fitted(model: Any) -> bool:
    """Whether an estimator says that it is, or has an attribute that only fitting gives."""
    says = getattr(model, "__sklearn_is_fitted__", getattr(model, "is_fitted", None))  # the latter is CatBoost's
    return bool(says()) if callable(says) else any(n.endswith("_") and not n.startswith("_") for n in vars(model))


def _with_tables(
    model: Any, linear: LinearModel, beta: FloatArray, bias: FloatArray, features: Features, *, gaps_are_zero: bool
) -> LinearModel:
    """The model with what every category contributes, as its own preprocessing says."""
    try:
        constant, tables, missing = contributions(model[:-1], beta, linear.coef, features, gaps_are_zero=gaps_are_zero)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        failure = f"model={type(model).__name__} fails on {stumbling_block(model[:-1], features)} ({why(error)})"
        raise InputError(f"{failure}; pass the columns it was fitted on, and values that it knows.") from error
    coef = linear.coef.copy()
    coef[:, list(tables)] = 0.0
    return replace(linear, coef=coef, intercept=constant + bias, tables=tables, missing=missing)


def _try_out(model: Any, linear: LinearModel, features: Features) -> None:
    """Refuse a model that is not the linear function its attributes suggest (a link function, another kernel, a vote)."""
    kind, trial = type(model).__name__, features.spread(TRIAL_ROWS)
    everyone = np.arange(len(trial.x))

    def failed(reason: str) -> InputError:
        features.check_numbers(np.array([j for j in range(len(features.columns)) if j not in linear.tables], dtype=np.intp))
        return InputError(f"model={kind} fails on rows of X ({reason}); pass the columns it was fitted on.")

    with guarded(failed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as names given or missing: the numbers below decide
        predicted = np.asarray(model.predict(trial.take(everyone).native)).ravel().tolist()
        scored = np.asarray(predicted if linear.regressor else _asked(model, trial.native), dtype=float)
    ours, theirs = linear.values(trial.x), scored.reshape(len(trial.x), -1)
    noise = TRIAL_TOLERANCE * np.column_stack([score.size(trial.x) for score in linear.scores])
    faithful = theirs.shape == ours.shape and bool((np.abs(theirs - ours) <= noise).all())
    if faithful and not linear.regressor:
        clear = _lead(ours) > 2.0 * noise.max(axis=1)
        faithful = all(a == b for a, b, c in zip(predicted, linear.labels(ours), clear, strict=True) if c)
    if not faithful:
        raise NotLinearError(f"{kind} has coefficients but does not predict on X as a linear model with them would")


def _asked(model: Any, rows: Any) -> Any:
    """The scores of a classifier by its own word; XGBoost's estimators have margins in place of a decision function."""
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    if hasattr(model, "steps"):
        return booster_margins(model.steps[-1][1], model[:-1].transform(rows))
    return booster_margins(model, rows)


def _aligned(coef: FloatArray, fitted: Sequence[str], given: Sequence[str]) -> FloatArray:
    """The coefficients in the order of the columns given: a ColumnTransformer finds its columns by name, wherever they are."""
    known = set(given)
    absent = [j for j, name in enumerate(fitted) if name not in known]
    if not len(fitted) or coef[:, absent].any():
        return coef  # columns without names, or other ones; the width or the trial tells
    place = {name: j for j, name in enumerate(fitted)}
    unused = np.zeros(len(coef))
    return np.column_stack([coef[:, place[name]] if name in place else unused for name in given])


def _lead(scores: FloatArray) -> FloatArray:
    """How far the score that decides is ahead."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    ranked = np.sort(scores, axis=1)
    return np.asarray(ranked[:, -1] - ranked[:, -2])


def read_classes(classes: Any, scores: int) -> tuple[Any, ...]:
    """The labels that a user names, as plain values, each of its own type: one for each class of so many scores."""
    listed = classes.tolist() if hasattr(classes, "tolist") else classes
    if not isinstance(listed, (list, tuple)) or not all(isinstance(label, Hashable) for label in listed):
        raise InputError(f"classes={classes!r} must list the labels, one for each class, as ['no', 'yes'].")
    if len(set(listed)) < len(listed):
        raise InputError(f"classes={classes!r} repeats a label; give every class its own.")
    if len(listed) != max(2, scores):
        raise InputError(f"classes has {len(listed)} labels but the model has {scores} score(s); give one for each class.")
    return tuple(listed)
