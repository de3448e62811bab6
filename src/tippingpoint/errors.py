"""Everything that can go wrong, each in one sentence: the argument, the value and the remedy."""

from __future__ import annotations

from collections.abc import Iterable


def listed(values: Iterable[object], most: int = 12) -> str:
    """Values for a sentence; of many, the first."""
    every = [repr(value) for value in values]
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"


class TippingPointError(Exception):
    """Base class of every error that tippingpoint raises on purpose."""


class InputError(TippingPointError, ValueError):
    """An argument cannot be used as given."""


class UnsupportedError(InputError):
    """What is asked for is well formed, but no oracle serves it; the message names what would."""


class ModelError(InputError):
    """The user's model, or a loss of the user's own, fails, or answers what cannot be read; a search ends with what it has."""


class NumericalError(TippingPointError, ArithmeticError):
    """The numbers are too large, too small or too far apart to compute with."""


class OutputError(TippingPointError, OSError):
    """A file cannot be written; what was there before is there still."""


class DetachedError(TippingPointError, RuntimeError):
    """A result holds its numbers only (it was read from JSON, or its model could not be pickled), and more needs the data."""


class TippingPointWarning(UserWarning):
    """Base class of every warning that tippingpoint gives."""


class ScaleWarning(TippingPointWarning):
    """Columns of very different spread are measured in one unit."""


class OutputWarning(TippingPointWarning):
    """What a module returns looks like something else than it is taken for."""


class PairingWarning(TippingPointWarning):
    """Tables that are compared do not hold the same: samples were left out, or other alternatives were tried."""


class SmallSampleWarning(TippingPointWarning):
    """The reweighted sample is too small for a normal interval."""
