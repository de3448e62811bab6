r"""What a loss is.

Every loss is a function :math:`f(v)` of one number that pushing the score raises: minus the margin, :math:`v = -y s`, for
classifiers; the residual :math:`v = y - s`, or its mirror image, for regressors. A loss knows where the best responses

.. math:: \max_{t \ge 0} \lambda f(v + t) - C(t)

can lie, for any convex piecewise quadratic cost :math:`C` (`tippingpoint.push`); the oracle compares these candidates with
staying where one is. All of them are exact.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.responses import Response
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.push import Push, Reach

Task = Literal["classification", "regression"]


class Loss(ABC):
    """A loss `f(v)`; one short subclass each.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> late = tp.PiecewiseLinear([0, 1], [0, -1], task="regression", title="days beyond the first")
    >>> isinstance(late, tp.Loss)
    True
    >>> model, X, y = ([1.0], 0.0), [[0.0], [1.0]], [0.0, 1.0]
    >>> tp.stability(model, X, y, risk=0.5, loss=late, theta1=1.0, theta2=float("inf")).value
    2.0
    """

    name: ClassVar[str]
    task: Task
    curved: ClassVar[bool] = True
    """Whether `f''` is anything but zero."""
    steepest: float = math.inf
    """The largest slope there is; infinite for a quadratic."""
    range: tuple[float, float] = (0.0, math.inf)
    """The least and the largest value the loss can take."""

    @abstractmethod
    def value(self, v: FloatArray) -> FloatArray:
        """`f(v)`."""

    @abstractmethod
    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        """`f(v + t) - f(v)`, without cancellation for small `t`."""

    @abstractmethod
    def slope(self, v: FloatArray) -> FloatArray:
        """`f'(v)`, from the right."""

    @abstractmethod
    def curvature(self, v: FloatArray) -> FloatArray:
        """`f''(v)` between kinks."""

    def respond_freely(self, price: float, v: FloatArray, losses: FloatArray, compliance: float) -> Response | None:
        """The best responses at a finite price where pushing costs `t²/compliance` and nothing bounds it.

        None where they are to be found among the candidates. `losses` are `f(v)`.
        """
        return None

    @abstractmethod
    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        """Pushes among which, with staying, the best response is; not a number where there is none."""

    def mirrored(self) -> Loss:
        """The loss as a function of `-v`; itself where it is symmetric."""
        return self

    def ceiling(self, free: float) -> float:
        """The price from which on an unbounded push of compliance `free` pays without end."""
        return math.inf

    def root(self, v: FloatArray) -> FloatArray:
        """`q` for which the loss is `(q + t)²` once pushed far; asked only of losses that have a ceiling."""
        raise UnsupportedError(f"loss {self.label!r} has no ceiling to escape from.")

    def peak(self, v: FloatArray, push: Push) -> Reach:
        """The cheapest push of largest lift."""
        return push.to_limit()

    @property
    def falls(self) -> bool:
        """Whether the loss can be raised by lowering `v` too."""
        return self.task == "regression"

    @property
    def label(self) -> str:
        """How results, tables and files name this loss."""
        return self.name

    @property
    def formula(self) -> Mapping[str, Any] | None:
        """Kind and numbers of `f`, as the page of a report computes it; None where a page does not know it."""
        return None

    def label_of(self, classes: int) -> str:
        """How results name this loss of so many classes."""
        return self.label

    @property
    def needs_crossing(self) -> bool:
        """Whether a response only counts strictly beyond where its cost is least (0/1: beyond the boundary)."""
        return False


def check_positive(name: str, value: float) -> None:
    """Refuse a parameter that is not a positive number."""
    if not (isinstance(value, (int, float)) and value > 0.0 and math.isfinite(value)):
        raise InputError(f"{name}={value!r} must be a positive number.")
