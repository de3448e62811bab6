"""Everything that can go wrong, each in one sentence: the argument, the value and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable


def listed(values: Iterable[object], most: int = 12) -> str:
    """Values for a sentence; of many, the first."""
    every = [repr(value) for value in values]
    shown = ", ".join(every[:most])
    return shown if len(every) <= most else f"{shown}, … ({len(every)} in all)"


MOST_LETTERS = 1000
"""Letters of a name or a value that a message shows whole; the longest that anybody has to copy is a list of trusted types."""

SHOWN_LETTERS = 60
"""Letters that are shown of a longer one."""

OVERLONG = re.compile(rf"(['\"])((?:(?!\1).){{{MOST_LETTERS},}})\1|\S{{{MOST_LETTERS},}}", re.DOTALL)
"""A quoted text, or a run of letters without a space, that is longer."""


def shortened(text: str) -> str:
    """A text in which overlong names and values are cut off, and their length is given."""
    return OVERLONG.sub(_cut, text) if len(text) >= MOST_LETTERS else text


def _cut(found: re.Match[str]) -> str:
    mark = found[1] or ""
    whole = found[2] if mark else found[0]
    return f"{mark}{whole[:SHOWN_LETTERS]}…{mark} ({len(whole):,} letters)"


class TippingPointError(Exception):
    """Base class of every error that tippingpoint raises on purpose. Overlong names and values in its message are cut off.

    Attributes
    ----------
    on_command_line
        The same sentence with flags in place of arguments; None if there is no other.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> try:
    ...     tp.stability(([1.0], -1.5), [[0.0], [2.0]], ["no", "yes"], risk=40)
    ... except tp.TippingPointError as error:  # any of ours
    ...     print(type(error).__name__)
    InputError
    """

    on_command_line: str | None = None

    def __init__(self, *args: object) -> None:
        super().__init__(*(shortened(each) if isinstance(each, str) else each for each in args))


class InputError(TippingPointError, ValueError):
    """An argument cannot be used as given.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.stability(([1.0], -1.5), [[0.0], [2.0]], ["no", "yes"], risk=40)
    Traceback (most recent call last):
        ...
    tippingpoint.errors.InputError: risk=40 is outside [0, 1], the range of the zero_one loss; for 40 % write 0.4.
    """


class UnsupportedError(InputError):
    """What is asked for is well formed, but no oracle serves it; the message names what would.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> three = ([[1.0], [0.0], [-1.0]], [0.0, 0.5, 0.0])
    >>> tp.stability(three, [[1.0], [0.0], [-1.0]], ["a", "b", "c"], risk=0.9, loss="hinge")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tippingpoint.errors.UnsupportedError: loss='hinge' of 3 classes is not served for plain coefficients; ...
    """


class ModelError(InputError):
    """The user's model, or a loss of the user's own, fails, or answers what cannot be read; a search ends with what it has.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.stability(lambda rows: 1 / 0, [[0.0], [2.0]], ["no", "yes"], risk=0.4)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tippingpoint.errors.ModelError: model=function fails on row 0 (division by zero); ...
    """


class NumericalError(TippingPointError, ArithmeticError):
    """The numbers are too large, too small or too far apart to compute with.

    Examples
    --------
    >>> import pandas as pd
    >>> import tippingpoint as tp
    >>> tiny = pd.DataFrame({"sample": [1, 1], "cost": [0.0, 1.0], "loss": [0.0, 1e-310]})
    >>> tp.profile_table(tiny).stability(risk=1e-310)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tippingpoint.errors.NumericalError: ...
    """


class OutputError(TippingPointError, OSError):
    """A file cannot be written; what was there before is there still.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> result = tp.stability(([1.0], -1.5), [[0.0], [2.0]], ["no", "yes"], risk=0.5)
    >>> result.report("x" * 300 + ".md")  # a name that no file system takes  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tippingpoint.errors.OutputError: xxx... cannot be written: File name too long; ...
    """


class DetachedError(TippingPointError, RuntimeError):
    """A result holds its numbers only (it was read from JSON, or its model could not be pickled), and more needs the data.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> result = tp.stability(([1.0], -1.5), [[0.0], [2.0]], ["no", "yes"], risk=0.5)
    >>> tp.StabilityResult.from_json(result.to_json()).sensitive
    Traceback (most recent call last):
        ...
    tippingpoint.errors.DetachedError: this result was read from JSON, which holds its numbers only; run stability() again.
    """


class ClusterError(TippingPointError, RuntimeError):
    """A Dask cluster is gone, or its workers die of what they are asked.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> issubclass(tp.ClusterError, tp.TippingPointError)
    True
    """


class TippingPointWarning(UserWarning):
    """Base class of every warning that tippingpoint gives.

    Examples
    --------
    >>> import warnings
    >>> import tippingpoint as tp
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", tp.TippingPointWarning)  # all of ours, and nobody else's
    ...     profile = tp.profile(([1.0, 1.0], 0.0), [[0.0, 1.0], [900.0, 2.0]], ["no", "yes"])
    """


class ScaleWarning(TippingPointWarning):
    """Columns of very different spread are measured in one unit.

    Examples
    --------
    >>> import warnings
    >>> import tippingpoint as tp
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     profile = tp.profile(([1.0, 1.0], 0.0), [[0.0, 1.0], [900.0, 2.0]], ["no", "yes"])
    >>> print(given[0].message)  # doctest: +ELLIPSIS
    a standard deviation of 'x0' is 900 times as far as one of 'x1'; pass scale='std' ...
    """


class OutputWarning(TippingPointWarning):
    """What a module returns looks like something else than it is taken for.

    Examples
    --------
    >>> import warnings
    >>> import tippingpoint as tp
    >>> import torch
    >>> class Vendor(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp() / (1.0 + x.exp())  # logits are expected, and these are probabilities
    >>> net, X, y = Vendor(), [[k / 100] for k in range(100)], ["no", "yes"] * 50
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     profile = tp.profile(net, X, y)
    >>> print(given[0].message)  # doctest: +ELLIPSIS
    every output of the module lies between 0 and 1; if these are probabilities, ...
    """


class PairingWarning(TippingPointWarning):
    """Tables that are compared do not hold the same: samples were left out, or other alternatives were tried.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import tippingpoint as tp
    >>> now = pd.DataFrame({"sample": [1, 1, 2], "cost": [0.0, 0.3, 0.0], "loss": [0, 1, 0]})
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     comparison = tp.compare({"now": now, "next": now[:2]}, risk=0.4, common=True)
    >>> print(given[0].message)
    compared on the 1 of 2 samples that all tables have, a population of their own: 'next' lacks 2
    """


class SmallSampleWarning(TippingPointWarning):
    """The reweighted sample is too small for a normal interval.

    Examples
    --------
    >>> import warnings
    >>> import tippingpoint as tp
    >>> result = tp.stability(([1.0], -1.5), [[0.0], [2.0]], ["no", "yes"], risk=0.25, theta1=1.0, theta2=0.25)
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     interval = result.interval(0.95)
    >>> print(given[0].message)  # doctest: +ELLIPSIS
    the weights leave only 2 effective samples (fewer than 50); ...
    """


class WindowWarning(TippingPointWarning):
    """Two windows of data share rows, or are too small for what is said of them.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import tippingpoint as tp
    >>> X, y = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]}, index=list("abcd")), ["no", "no", "yes", "yes"]
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     drift = tp.drift(([1.0], -1.5), (X, y), (X, y), risk=0.5, permutations=0)
    >>> print(given[0].message)  # doctest: +ELLIPSIS
    4 rows of the window 'current' carry labels of the reference too, such as 'a'; ...
    """
