"""Losses: what a model is judged by, as functions of the label and the score."""

from __future__ import annotations

from collections.abc import Callable

from tippingpoint.errors import InputError
from tippingpoint.losses.base import Loss
from tippingpoint.losses.logistic import Logistic
from tippingpoint.losses.names import NO_MEANS, canonical, own_name
from tippingpoint.losses.piecewise import PiecewiseLinear, absolute, epsilon_insensitive, hinge, pinball
from tippingpoint.losses.quadratic import Huber, Squared, SquaredHinge
from tippingpoint.losses.rising import Rising
from tippingpoint.losses.zero_one import ZeroOne

__all__ = ["LOSSES", "Loss", "PiecewiseLinear", "Rising", "identity", "loss_named", "own_name"]

LOSSES: dict[str, Callable[..., Loss]] = {
    "zero_one": ZeroOne,
    "hinge": hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "cross_entropy": Logistic,  # of one score the two are the same
    "squared": Squared,
    "absolute": absolute,
    "pinball": pinball,
    "epsilon_insensitive": epsilon_insensitive,
    "huber": Huber,
}
"""The registry: a new loss is a file of this package and a line here."""

WITH_PARAMETER = ("pinball", "epsilon_insensitive", "huber")
"""Losses that take one number, as in `"pinball:0.9"`."""


def identity(title: str) -> Loss:
    """The loss that is `v` itself: what a loss is as a function of its own value."""
    return PiecewiseLinear([1.0], [0.0], "classification", title)


def loss_named(loss: str | Loss) -> Loss:
    """The loss a user means: an instance, a name (ours, or as in `names.py`), or a name and its number, as `"pinball:0.9"`."""
    if isinstance(loss, Loss):
        return loss
    given, _, parameter = str(loss).partition(":")
    name = canonical(given)
    if name in NO_MEANS:
        raise InputError(f"loss={loss!r} cannot be judged by: {NO_MEANS[name]}.")
    if name not in LOSSES:
        raise InputError(f"loss={loss!r} is not known; use one of {', '.join(LOSSES)}, or a Loss.")
    if not parameter:
        return LOSSES[name]()
    if name not in WITH_PARAMETER:
        raise InputError(f"loss={loss!r}: {name} takes no number; only {', '.join(WITH_PARAMETER)} do.")
    try:
        number = float(parameter)
    except ValueError:
        raise InputError(f"loss={loss!r}: {parameter!r} is not a number.") from None
    try:
        return LOSSES[name](number)
    except InputError as error:
        raise InputError(f"loss={loss!r}: {error}") from None
