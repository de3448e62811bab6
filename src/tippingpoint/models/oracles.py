"""From a model, data, a loss and a space to the oracle that serves them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.frames import Features, read_labels, read_numbers
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named
from tippingpoint.models.labels import class_indices
from tippingpoint.models.linear import LinearModel, recognise
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.linear import LinearOracle
from tippingpoint.oracles.multiclass import MulticlassOracle
from tippingpoint.oracles.pieces import PiecesOracle
from tippingpoint.space import Domain


class Judgement(Protocol):
    """What a profile tells of its loss."""

    @property
    def label(self) -> str:
        """Its name."""

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value it can take."""


def oracle_for(
    model: Any, features: Features, y: Any, loss: Any, domain: Domain, search: Mapping[str, Any]
) -> tuple[Oracle, Judgement]:
    """The oracle that serves this model and loss, or an error that says what would."""
    if is_module(model):
        from tippingpoint.models.networks import network_oracle

        return network_oracle(model, features, y, loss, domain, search)
    if search:
        name = next(iter(search))
        raise InputError(f"{name}={search[name]!r} is an option of networks; this model needs no search, leave it out.")
    if len(features.shape) != 1:
        shape = (len(features.x), *features.shape)
        raise InputError(f"X has shape {shape}; give a table of rows and columns (a PyTorch module may take more).")
    chosen = None if loss is None else loss_named(loss)
    if isinstance(chosen, PiecewiseLinear) and chosen.of_features:
        return _pieces(model, features, y, chosen, domain), chosen
    if model is None:
        raise InputError("model=None: only a PiecewiseLinear loss of the features does without a model; pass one.")
    linear = recognise(model, features)
    if chosen is None:
        chosen = loss_named("squared" if linear.regressor else "zero_one")
    if chosen.task == "regression":
        return _regression(linear, features, y, chosen, domain), chosen
    return _classification(linear, features, y, chosen, domain), chosen


def is_module(model: Any) -> bool:
    """Whether a model is a PyTorch module; PyTorch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _regression(linear: LinearModel, features: Features, y: Any, loss: Loss, domain: Domain) -> Oracle:
    if linear.classes is not None:
        raise UnsupportedError(
            f"loss={loss.label!r} judges regressors but the model is a classifier; use {_names('classification')}."
        )
    if len(linear.coef) > 1:
        raise UnsupportedError(f"the model has {len(linear.coef)} scores; pass one output at a time, as (coef, intercept).")
    target = read_numbers(y, "y", len(features.x))
    return LinearOracle(features.x, target, linear.coef[0], float(linear.intercept[0]), loss, domain)


def _classification(linear: LinearModel, features: Features, y: Any, loss: Loss, domain: Domain) -> Oracle:
    if linear.regressor:
        raise UnsupportedError(
            f"loss={loss.label!r} judges classifiers but the model is a regressor; use {_names('regression')}."
        )
    index, classes = class_indices(read_labels(y, "y", len(features.x)), linear.classes, len(linear.coef))
    if len(linear.coef) == 1:
        signs = np.where(index > 0, 1.0, -1.0)
        return LinearOracle(features.x, signs, linear.coef[0], float(linear.intercept[0]), loss, domain)
    if loss.name != "zero_one":
        raise UnsupportedError(f"loss={loss.label!r} of {len(classes)} classes is not served; use 'zero_one', which is exact.")
    return MulticlassOracle(features.x, index, linear.coef, linear.intercept, domain)


def _pieces(model: Any, features: Features, y: Any, loss: PiecewiseLinear, domain: Domain) -> Oracle:
    if model is not None:
        raise InputError("a PiecewiseLinear loss of the features holds the model already; pass model=None.")
    if loss.slopes.shape[1] != features.x.shape[1]:
        raise InputError(f"the loss has {loss.slopes.shape[1]} coefficients a piece but X has {features.x.shape[1]} columns.")
    index, _ = class_indices(read_labels(y, "y", len(features.x)), None, 1)
    return PiecesOracle(features.x, np.where(index > 0, 1.0, -1.0), loss, domain)


def _names(task: str) -> str:
    return ", ".join(repr(name) for name, make in LOSSES.items() if make().task == task)
