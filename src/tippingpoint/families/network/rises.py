"""How a loss can be raised through a model's output."""

from __future__ import annotations

from dataclasses import dataclass

from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses import Loss, Rising


@dataclass(frozen=True)
class Rise:
    """`f(v)` with `v = max_m constants_m + functionals_m·output`: a loss that never falls has one, others two, up and down.

    Attributes
    ----------
    loss
        `f`, or the part of it that rises.
    functionals, constants
        `(n, m, outputs)` and `(n, m)`, of every sample.
    soft
        Whether the maximum is a smooth one, the log-sum-exp.
    """

    loss: Loss
    functionals: FloatArray
    constants: FloatArray
    soft: bool = False

    @property
    def whole(self) -> Loss:
        """The loss itself, where bounds only need the part that rises."""
        return self.loss.whole if isinstance(self.loss, Rising) else self.loss

    @property
    def single(self) -> bool:
        """Whether `v` is one functional of the output."""
        return len(self.constants[0]) == 1
