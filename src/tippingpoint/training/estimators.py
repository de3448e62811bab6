"""The estimators: three objectives, for classes and for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from tippingpoint.families.options import check_whole
from tippingpoint.training.adversary import Losses
from tippingpoint.training.bases import Classifier, Regressor, Trained
from tippingpoint.training.inputs import check_price, moving_columns
from tippingpoint.training.objectives import AdversarialRisk, Objective, TiltedRisk

EXCEPTIONS = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the rows held out are drawn among the rows given, so where rows are repeated others are drawn; and training is in"
        " float32, coarser than the check. With validation_share=0 a weight of 2 is a row given twice, up to float32 rounding."
    ),
}
"""The checks of `sklearn.utils.estimator_checks` that the estimators do not pass, and why; they pass all others."""


@dataclass(eq=False, repr=False, kw_only=True)
class Adversarial(Trained):
    """`min E[sup_z ℓ(z) - γ ‖z - x‖²]`: adversarial training, after Sinha, Namkoong and Duchi.

    Parameters
    ----------
    gamma
        Price of a squared unit moved: small means a strong adversary, `inf` none.
    features
        The columns that may move, by name or position; None for all. With one or few this is *targeted* adversarial training.
    inner_steps
        Steps of the search for every sample's worst place.
    """

    gamma: float = 1.0
    features: Sequence[str | int] | None = None
    inner_steps: int = 20

    tuned: ClassVar[str | None] = "gamma"

    def _check(self) -> None:
        super()._check()
        check_price("gamma", self.gamma)
        check_whole("inner_steps", self.inner_steps, 1)

    def _objective(self, losses: Losses) -> Objective:
        columns = moving_columns(self.features, self.n_features_in_, getattr(self, "feature_names_in_", None))
        mask = None if columns is None else torch.zeros(self.n_features_in_, dtype=torch.float32, device=self.device)
        if mask is not None:
            mask[columns] = 1.0
        return AdversarialRisk(losses, float(self.gamma), mask, int(self.inner_steps))


@dataclass(eq=False, repr=False, kw_only=True)
class Tilted(Trained):
    """`min t log E[exp(ℓ/t)]`: tilted empirical risk minimisation, after Li, Beirami, Sanjabi and Smith.

    Parameters
    ----------
    t
        Temperature: small leans towards the worst samples, `inf` is the mean. In batches the value is of the batch, which
        leans less than the whole; the default is all rows at once.
    """

    t: float = 1.0

    tuned: ClassVar[str | None] = "t"

    def _check(self) -> None:
        super()._check()
        check_price("t", self.t)

    def _objective(self, losses: Losses) -> Objective:
        return TiltedRisk(losses, float(self.t))


class ERMClassifier(Classifier):
    """`min E[ℓ]`, the cross-entropy: empirical risk minimisation. Parameters and attributes are those of `Trained`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> from tippingpoint.training import ERMClassifier
    >>> X, y = tp.datasets.toy()
    >>> model = ERMClassifier("linear", max_iter=500, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """


class ERMRegressor(Regressor):
    """`min E[ℓ]`, the squared or absolute error: empirical risk minimisation. Parameters as in `Trained` and `Regressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tippingpoint.training import ERMRegressor
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> Z, z = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    >>> model = ERMRegressor("linear", max_iter=300, random_state=0).fit(Z, z)
    >>> bool(model.score(Z, z) > 0.3)
    True
    """


class AdversarialTrainingClassifier(Adversarial, Classifier):
    """`min E[sup_z ℓ(z) - γ ‖z - x‖²]`, the cross-entropy. Parameters as in `Adversarial` and `Trained`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> from tippingpoint.training import AdversarialTrainingClassifier
    >>> X, y = tp.datasets.toy()
    >>> model = AdversarialTrainingClassifier("linear", gamma=1.0, max_iter=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """


@dataclass(eq=False, repr=False, kw_only=True)
class AdversarialTrainingRegressor(Adversarial, Regressor):
    """`min E[sup_z ℓ(z) - γ ‖z - x‖²]`, the squared or absolute error. Parameters as in `Adversarial`, `Regressor`, `Trained`.

    With the squared error the gain is unbounded where `γ` is at most the squared slope: the search then ends where its steps
    do, and training says so once numbers overflow.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tippingpoint.training import AdversarialTrainingRegressor
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> Z, z = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    >>> model = AdversarialTrainingRegressor("linear", gamma=10.0, max_iter=300, random_state=0).fit(Z, z)
    >>> bool(model.score(Z, z) > 0.3)
    True
    """


class TiltedERMClassifier(Tilted, Classifier):
    """`min t log E[exp(ℓ/t)]`, the cross-entropy. Parameters as in `Tilted` and `Trained`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> from tippingpoint.training import TiltedERMClassifier
    >>> X, y = tp.datasets.toy()
    >>> model = TiltedERMClassifier("linear", t=1.0, max_iter=200, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """


@dataclass(eq=False, repr=False, kw_only=True)
class TiltedERMRegressor(Tilted, Regressor):
    """`min t log E[exp(ℓ/t)]`, the squared or absolute error. Parameters as in `Tilted`, `Regressor` and `Trained`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from tippingpoint.training import TiltedERMRegressor
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> Z, z = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    >>> model = TiltedERMRegressor("linear", t=1.0, max_iter=300, random_state=0).fit(Z, z)
    >>> bool(model.score(Z, z) > 0.3)
    True
    """
