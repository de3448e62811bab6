"""Bad input to training: one sentence with the argument, the value and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from torch import nn

from tippingpoint.errors import InputError
from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
)
from trainees import NAMES, TARGET, D, N, X, Y, small, y_of

PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"model": "forest"}, r"model='forest' is not known; use 'linear', 'mlp', or a function"),
    ({"model": 3}, r"model=3 is not known; use 'linear'"),
    ({"model": nn.Linear(D, 1)}, r"model is a module, which training would change; pass a function \(features, outputs\)"),
    ({"hidden": 0}, r"hidden=0 must be a whole number, 1 or more"),
    ({"hidden": 2.5}, r"hidden=2\.5 must be a whole number"),
    ({"max_iter": 0}, r"max_iter=0 must be a whole number"),
    ({"max_iter": True}, r"max_iter=True must be a whole number"),
    ({"patience": -1}, r"patience=-1 must be a whole number"),
    ({"batch_size": 0}, r"batch_size=0 must be a whole number"),
    ({"learning_rate": 0.0}, r"learning_rate=0\.0 must be a positive number"),
    ({"learning_rate": "fast"}, r"learning_rate='fast' must be a positive number"),
    ({"learning_rate": np.inf}, r"learning_rate=inf must be a positive number"),
    ({"learning_rate": np.nan}, r"learning_rate=nan must be a positive number"),
    ({"weight_decay": -0.1}, r"weight_decay=-0\.1 must be a number, 0 or more"),
    ({"weight_decay": None}, r"weight_decay=None must be a number, 0 or more"),
    ({"weight_decay": np.inf}, r"weight_decay=inf must be a number, 0 or more"),
    ({"validation_share": 1.0}, r"validation_share=1\.0 must be a share of the rows, 0 to below 1"),
    ({"validation_share": -0.1}, r"validation_share=-0\.1 must be a share"),
    ({"validation_share": "all"}, r"validation_share='all' must be a share"),
    ({"device": "abacus"}, r"device='abacus' is not one that PyTorch has here; use 'cpu'"),
    ({"device": None.__class__}, r"device=.*NoneType.* is not one that PyTorch has here; use 'cpu'"),
]


@pytest.mark.parametrize(("given", "said"), PARAMETERS, ids=[f"{k}={v!r}"[:40] for p, _ in PARAMETERS for k, v in p.items()])
def test_a_bad_parameter_is_named_with_its_value_and_the_remedy(given: dict[str, Any], said: str) -> None:
    for make in (ERMClassifier, AdversarialTrainingRegressor):
        with pytest.raises(InputError, match=said):
            make(**given).fit(X, Y)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "much", None, True])
@pytest.mark.parametrize("make", [AdversarialTrainingClassifier, AdversarialTrainingRegressor, TiltedERMClassifier])
def test_a_bad_knob_is_named_with_its_value(make: Any, value: Any) -> None:
    with pytest.raises(InputError, match=rf"{make.tuned}={value!r} must be a positive number"):
        make(**{make.tuned: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ("age", r"features='age' must be a list of columns, by name or position, as \['age'\]"),
        (1, r"features=1 must be a list of columns"),
        (["rent"], r"features names 'rent', which is not a column; the columns are 'age', 'income', 'debt'"),
        ([3], r"features names 3, which is not a column; the columns are 'age'"),
        ([-1], r"features names -1, which is not a column"),
        ([True, False, False], r"features names True, which is not a column"),
        ([1.0], r"features names 1\.0, which is not a column"),
        ([], r"features=\[\] lets nothing move; name some columns, or use an ERM estimator"),
    ],
)
def test_features_that_are_no_columns_are_named(features: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        small(AdversarialTrainingClassifier, features=features).fit(pd.DataFrame(X, columns=NAMES), Y)


def test_names_of_features_need_a_frame() -> None:
    with pytest.raises(InputError, match=r"features names 'age', which is not a column; X has no names, and columns 0 to 2"):
        small(AdversarialTrainingClassifier, features=["age"]).fit(X, Y)
    with pytest.raises(InputError, match="inner_steps=0 must be a whole number"):
        AdversarialTrainingClassifier(inner_steps=0).fit(X, Y)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (np.ones(N - 1), rf"sample_weight has shape \({N - 1},\); give one number for each of the {N} rows"),
        (np.ones((N, 1)), rf"sample_weight has shape \({N}, 1\)"),
        (-np.ones(N), "sample_weight must be finite, 0 or more, and not zero for every row"),
        (np.where(np.arange(N), 1.0, np.nan), "sample_weight must be finite"),
        (np.where(np.arange(N), 1.0, np.inf), "sample_weight must be finite"),
        (np.zeros(N), "not zero for every row"),
    ],
)
def test_bad_weights_are_refused(weight: Any, said: str) -> None:
    for make in (ERMClassifier, ERMRegressor):
        with pytest.raises(InputError, match=said):
            small(make).fit(X, y_of(make), weight)


def test_bad_data_is_refused() -> None:
    with pytest.raises(InputError, match="y holds one class only, 'no'; a classifier needs at least two"):
        small(ERMClassifier).fit(X, ["no"] * N)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        small(ERMClassifier).fit(X, TARGET)
    with pytest.raises(ValueError, match="NaN"):
        small(ERMRegressor).fit(np.where(X > 1.0, np.nan, X), TARGET)
    with pytest.raises(ValueError, match="expecting 3 features"):
        small(ERMRegressor).fit(X, TARGET).predict(X[:, :2])
    with pytest.raises(InputError, match=r"loss='hinge' is not known; use one of squared, absolute"):
        small(ERMRegressor, loss="hinge").fit(X, TARGET)


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (lambda features, _: nn.Linear(features, 2), r"outputs have shape \(2, 2\) for 2 rows; it must be \(2, 1\)"),
        (lambda *_: nn.Flatten(0), r"outputs have shape \(6,\) for 2 rows; it must be \(2, 1\)"),
        (lambda *_: "a module", r"returned str; it must return a torch\.nn\.Module"),
        (lambda features, _: nn.LSTM(features, 1), r"the module returns tuple; it must return a tensor, \(2, 1\)"),
    ],
    ids=["two scores", "no columns", "no module", "a tuple"],
)
def test_a_module_of_another_form_is_refused_before_training(factory: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        small(ERMClassifier, factory).fit(X, Y)


def test_who_is_not_fitted_says_so() -> None:
    for ask in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(ERMClassifier(), ask)(X)
    with pytest.raises(NotFittedError, match="not fitted"):
        AdversarialTrainingRegressor().as_module()
