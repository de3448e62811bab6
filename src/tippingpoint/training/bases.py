"""What the estimators share: reading, splitting, training; labels or numbers."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from tippingpoint.errors import InputError
from tippingpoint.families.options import check_whole
from tippingpoint.training import objectives
from tippingpoint.training.adversary import Losses
from tippingpoint.training.fitting import Course, History, Rows, minimise
from tippingpoint.training.inputs import Array, read_rows, read_training, read_weights
from tippingpoint.training.modules import Factory, build, check_model, check_outputs, seeded
from tippingpoint.training.objectives import MeanRisk, Objective

TRIAL_ROWS = 2
"""Rows on which a user's module is tried out."""

BLOCK = 65_536
"""Rows that the module sees at once when it predicts."""

LOSSES: dict[str, Losses] = {"squared": objectives.squared, "absolute": objectives.absolute}
"""What regressors may be trained by."""


@dataclass(eq=False, repr=False)
class Trained(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What all estimators share: a module, Adam, and rows held out to know when to stop.

    Parameters
    ----------
    model
        "linear", "mlp" (one hidden layer of ReLUs), or a function of the numbers of features and outputs that returns a
        fresh module. Outputs are logits: one for two classes, else one a class; a regressor has one.
    hidden
        Units of the hidden layer of "mlp".
    max_iter
        Steps of Adam, at most.
    batch_size
        Rows that a step sees; None for all of them, so that the objective is minimised as it is written.
    learning_rate, weight_decay
        Of Adam.
    validation_share
        Share of the rows held out; 0 for none, and then all `max_iter` are taken.
    patience
        Looks at the rows held out, one every 10 steps, without improvement of the objective before training ends; the module
        is then the best that was seen.
    random_state
        Of the first weights, the rows held out, and the batches.
    device
        Where to train, as "cpu" or "cuda".

    Attributes
    ----------
    module_
        The trained module; trained in float32, kept in float64.
    history_
        Steps taken, and the objective on the rows held out.
    validation_score_
        Accuracy (of a regressor: R²) on the rows held out; not a number without any.
    n_iter_
        Steps taken.
    coef_, intercept_
        Of a linear model, as scikit-learn has them; others have none.
    """

    model: str | Factory = "mlp"
    _: KW_ONLY
    hidden: int = 16
    max_iter: int = 3000
    batch_size: int | None = None
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    validation_share: float = 0.1
    patience: int = 20
    random_state: int | np.random.RandomState | None = None
    device: str = "cpu"

    tuned: ClassVar[str | None] = None
    """The knob that `select` turns."""

    def as_module(self) -> nn.Module:
        """The trained module, whose outputs are scores; what `tp.stability` searches."""
        check_is_fitted(self)
        module: nn.Module = self.module_
        return module

    @property
    def coef_(self) -> Array:
        """Coefficients of a linear model."""
        return self._layer().weight.detach().cpu().numpy().copy()

    @property
    def intercept_(self) -> Any:
        """Intercepts of a linear model."""
        layer = self._layer()
        return np.zeros(layer.out_features) if layer.bias is None else layer.bias.detach().cpu().numpy().copy()

    def _layer(self) -> nn.Linear:
        """The module, where it is one linear layer; not a child of one, which may return anything."""
        module = self.as_module()
        if type(module) is not nn.Linear:
            raise AttributeError(f"model={self.model!r} is not linear, and has no coefficients.")
        return module

    def _objective(self, losses: Losses) -> Objective:
        return MeanRisk(losses)

    def _check(self) -> None:
        """Every parameter is what it must be."""
        check_model(self.model)
        for name in ("hidden", "max_iter", "patience"):
            check_whole(name, getattr(self, name), 1)
        check_whole("batch_size", self.batch_size, 1, optional=True)
        if not (isinstance(self.learning_rate, Real) and 0.0 < self.learning_rate < math.inf):
            raise InputError(f"learning_rate={self.learning_rate!r} must be a positive number.")
        if not (isinstance(self.weight_decay, Real) and 0.0 <= self.weight_decay < math.inf):
            raise InputError(f"weight_decay={self.weight_decay!r} must be a number, 0 or more.")
        if not (isinstance(self.validation_share, Real) and 0.0 <= self.validation_share < 1.0):
            raise InputError(f"validation_share={self.validation_share!r} must be a share of the rows, 0 to below 1.")
        try:
            torch.empty(0, device=self.device)
        except (TypeError, RuntimeError, AssertionError):  # all three are PyTorch's
            raise InputError(f"device={self.device!r} is not one that PyTorch has here; use 'cpu'.") from None

    def _train(self, x: Array, target: Array, sample_weight: Any, outputs: int, losses: Losses) -> None:
        """Fit the module to rows that are read and checked."""
        weight = read_weights(sample_weight, len(x))
        x, target, weight = x[weight > 0], target[weight > 0], weight[weight > 0]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        trained, held = self._split(x, target, seed)
        every = Rows(
            torch.tensor(x, dtype=torch.float32, device=self.device),
            torch.tensor(target, dtype=torch.long if target.dtype.kind in "iu" else torch.float32, device=self.device),
            torch.tensor(weight, dtype=torch.float32, device=self.device),
        )
        course = Course(self.max_iter, self.batch_size, self.learning_rate, self.weight_decay, self.patience)
        train, held_out = every.take(torch.from_numpy(trained)), every.take(torch.from_numpy(held)) if len(held) else None
        with seeded(seed):
            module = build(self.model, self.hidden, x.shape[1], outputs).float().to(self.device)
            check_outputs(_trial(module, every.x[:TRIAL_ROWS]), min(TRIAL_ROWS, len(x)), outputs)
            self.history_: History = minimise(module, self._objective(losses), train, held_out, course, seed)
        self.n_iter_: int = self.history_.steps
        self.module_: nn.Module = module.double().eval()
        self.validation_score_: float = self._judged(x[held], target[held], weight[held]) if len(held) else math.nan

    def _split(self, x: Array, target: Array, seed: int) -> tuple[Array, Array]:
        """Rows to train on and rows held out; by class where every class has enough."""
        rows = np.arange(len(x))
        held = int(self.validation_share * len(x))
        if held == 0:
            return rows, rows[:0]
        classes, counts = np.unique(target, return_counts=True) if target.dtype.kind in "iu" else (rows[:0], rows[:0])
        even = 0 < len(classes) <= min(held, len(x) - held) and counts.min() >= 2
        trained, kept = train_test_split(rows, test_size=held, random_state=seed, stratify=target if even else None)
        return np.asarray(trained), np.asarray(kept)

    @abstractmethod
    def _judged(self, x: Array, target: Array, weight: Array) -> float:
        """The validation score."""

    def _outputs(self, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
        check_is_fitted(self)
        return _scored(self.module_, read_rows(self, X), self.device)


@dataclass(eq=False, repr=False)
class Classifier(ClassifierMixin, Trained):  # type: ignore[misc]  # scikit-learn has no types
    """Labels of any type; cross-entropy."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803  # scikit-learn's name
        """Train on rows with labels; a row of weight 2 counts twice."""
        self._check()
        x, y = read_training(self, X, y)
        check_classification_targets(y)
        classes, index = np.unique(y, return_inverse=True)
        self.classes_: Array = classes
        if len(self.classes_) < 2:
            raise InputError(f"y holds one class only, {self.classes_.tolist()[0]!r}; a classifier needs at least two.")
        two = len(self.classes_) == 2
        losses = objectives.binary_cross_entropy if two else objectives.cross_entropy
        self._train(x, index, sample_weight, 1 if two else len(self.classes_), losses)
        return self

    def decision_function(self, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
        """Logits: of the second class where there are two, else one a class."""
        scores = self._outputs(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
        """Probabilities of the classes."""
        scores = self._outputs(X)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
        """The most probable class."""
        chosen = _chosen(self._outputs(X))
        return np.asarray(self.classes_[chosen])

    def _judged(self, x: Array, target: Array, weight: Array) -> float:
        right = _chosen(_scored(self.module_, x, self.device)) == target
        return float(np.average(right, weights=weight))


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, Trained):  # type: ignore[misc]  # scikit-learn has no types
    """Numbers; the "squared" or the "absolute" `loss`."""

    loss: str = "squared"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: N803  # scikit-learn's name
        """Train on rows with targets; a row of weight 2 counts twice."""
        self._check()
        if self.loss not in LOSSES:
            raise InputError(f"loss={self.loss!r} is not known; use one of {', '.join(LOSSES)}.")
        x, y = read_training(self, X, y, numeric=True)
        self._train(x, y.astype(float), sample_weight, 1, LOSSES[self.loss])
        return self

    @property
    def coef_(self) -> Array:
        """Coefficients of a linear model."""
        return np.asarray(super().coef_[0])

    @property
    def intercept_(self) -> Any:
        """Intercept of a linear model."""
        return float(super().intercept_[0])

    def predict(self, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
        """The prediction."""
        return self._outputs(X)[:, 0]

    def _judged(self, x: Array, target: Array, weight: Array) -> float:
        from sklearn.metrics import r2_score

        if len(x) < 2:
            return math.nan
        predicted = _scored(self.module_, x, self.device)[:, 0]
        return float(r2_score(target, predicted, sample_weight=weight))


def _trial(module: nn.Module, x: Tensor) -> Any:
    module.eval()
    with torch.no_grad():
        return module(x)


def _scored(module: nn.Module, x: Array, device: str) -> Array:
    """Outputs in float64, in blocks of rows."""
    with torch.no_grad():
        blocks = [module(torch.tensor(x[k : k + BLOCK], dtype=torch.float64, device=device)) for k in range(0, len(x), BLOCK)]
    return np.asarray(torch.cat(blocks).cpu().numpy())


def _chosen(scores: Array) -> Array:
    """The class of every row, by its position; a score of 0 is the first of two, as in scikit-learn."""
    return np.asarray(scores[:, 0] > 0.0, dtype=np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
