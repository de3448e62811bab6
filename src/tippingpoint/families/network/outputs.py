"""What a module's output means: which number of it raises the loss, and for whom."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.labels import class_indices
from tippingpoint.data.vectors import read_labels, read_numbers, read_vector
from tippingpoint.errors import InputError, ModelError, UnsupportedError
from tippingpoint.families.network.rises import Rise
from tippingpoint.families.network.search.scores import Outputs
from tippingpoint.foreign import guarded
from tippingpoint.losses import Loss, Rising, identity, loss_named, own_name
from tippingpoint.query.reading import Reading

MAX_FUNCTIONALS = 2**26
"""Numbers that certificates of all classes may take; beyond it there are none."""

MAX_CLASSES_SOUGHT = 10
"""Classes up to which searches begin towards each of them."""

UserLoss = Callable[[Tensor, Tensor], Tensor]
"""A loss of the user's own: from outputs and targets to one number a row."""


@dataclass(frozen=True)
class OutputReading(Reading):
    """What a module's output means for a loss.

    Attributes
    ----------
    pushed
        From the output to `v`.
    rises
        How `v` depends on the output; none where only the user's own function knows.
    leads
        Of many classes: for each of them, by how much it is ahead; searches begin towards every one.
    """

    pushed: Outputs
    rises: Sequence[Rise]
    leads: Sequence[Outputs] = ()


def read_outputs(
    y: Any,
    n: int,
    loss: str | Loss | UserLoss | None,
    outputs: int,
    classes: Sequence[Any] | None,
    device: torch.device,
    every: tuple[Any, ...] | None = None,
) -> OutputReading:
    """The user's loss on the output of `n` rows; `outputs` is the number of logits, 1 for one score.

    Where the rows are a part of the data, `every` holds the distinct labels of them all.
    """
    if callable(loss) and not isinstance(loss, Loss):
        return _own_loss(read_vector(y, "y", n), loss, device)
    if loss is None:
        labels = read_vector(y, "y", n) if every is None else read_vector(every, "y")
        continuous = labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels))
        loss = "squared" if continuous and outputs == 1 else "zero_one"
    chosen = loss_named(loss)
    if chosen.task == "regression":
        if outputs > 1:
            raise UnsupportedError(
                f"loss={chosen.label!r} judges one output, but the module has {outputs}; wrap the one you mean."
            )
        return _regression(read_numbers(y, "y", n), chosen, device)
    index = _classes(read_labels(y, "y", n), outputs, classes, every)
    return _binary(index, chosen, device) if outputs == 1 else _many(index, outputs, chosen, device)


def _own_loss(y: np.ndarray[Any, Any], own: UserLoss, device: torch.device) -> OutputReading:
    if y.dtype.kind not in "biuf":
        raise InputError(f"y holds {y.dtype}, which no tensor does; give numbers to a loss of your own.")
    target = torch.as_tensor(y.astype(np.float32) if y.dtype.kind == "f" else y.astype(np.int64)).to(device)
    name = own_name(own)
    return OutputReading(identity(name), name, (-math.inf, math.inf), None, OwnLoss(own, target), ())


def _regression(target: FloatArray, loss: Loss, device: torch.device) -> OutputReading:
    one, each = np.ones((len(target), 1, 1)), target[:, None]
    rises = (Rise(Rising(loss), -one, each), Rise(Rising(loss.mirrored()), one, -each))
    return OutputReading(loss, loss.label, loss.range, None, Residual(torch.as_tensor(target).to(device)), rises)


def _binary(index: IntArray, loss: Loss, device: torch.device) -> OutputReading:
    sign = np.where(index > 0, 1.0, -1.0)
    pushed = Margin(torch.as_tensor(sign, dtype=torch.float32).to(device), loss.needs_crossing)
    each, zero = sign[:, None, None], np.zeros((len(sign), 1))
    rises: tuple[Rise, ...] = (Rise(loss, -each, zero),)
    if loss.falls:
        rises = (Rise(Rising(loss), -each, zero), Rise(Rising(loss.mirrored()), each, zero))
    return OutputReading(loss, loss.label, loss.range, index, pushed, rises)


def _many(index: IntArray, outputs: int, loss: Loss, device: torch.device) -> OutputReading:
    own = torch.as_tensor(index, dtype=torch.int64).to(device)
    soft = loss.name == "logistic"
    pushed = OthersAhead(own, soft, loss.needs_crossing)
    rises: tuple[Rise, ...] = ()
    if len(index) * outputs * (outputs - 1) <= MAX_FUNCTIONALS and not loss.falls:
        unit = np.eye(outputs)
        others = np.array([[k for k in range(outputs) if k != mine] for mine in range(outputs)])
        ahead = unit[others] - unit[:, None, :]
        rises = (Rise(loss, ahead[index], np.zeros((len(index), outputs - 1)), soft),)
    leads = [OneAhead(k, pushed) for k in range(outputs)] if outputs <= MAX_CLASSES_SOUGHT else []
    return OutputReading(loss, loss.label_of(outputs), loss.range, index, pushed, rises, leads)


# From an output to `v`. These are classes, not functions inside functions, so that what holds them can be pickled.


@dataclass(frozen=True)
class OwnLoss:
    """A loss of the user's own, which is `v` itself."""

    loss: UserLoss
    target: Tensor

    def __call__(self, output: Tensor, rows: IntArray) -> Tensor:
        with guarded(lambda why: ModelError(f"the loss fails on outputs of shape {tuple(output.shape)}: {why}.")):
            per_sample = self.loss(output, _at(self.target, rows))
        if not isinstance(per_sample, Tensor) or per_sample.shape != (len(rows),):
            shape = tuple(per_sample.shape) if isinstance(per_sample, Tensor) else type(per_sample).__name__
            raise ModelError(
                f"the loss gave {shape} for {len(rows)} rows; it must return one number a row, as with reduction='none'."
            )
        return per_sample


@dataclass(frozen=True)
class Residual:
    """Of a regressor: the target less the prediction."""

    target: Tensor

    def __call__(self, output: Tensor, rows: IntArray) -> Tensor:
        return _at(self.target, rows).to(output.dtype) - output.reshape(len(rows))


@dataclass(frozen=True)
class Margin:
    """Of two classes and one score: minus the score, signed by the true class."""

    sign: Tensor
    strict: bool

    def __call__(self, output: Tensor, rows: IntArray) -> Tensor:
        mine = _at(self.sign, rows).to(output.dtype)
        v = -mine * output.reshape(len(rows))
        if not self.strict:
            return v
        # A score of exactly 0 is predicted as the first class: right for it, though on the boundary.
        return v - torch.finfo(v.dtype).tiny * ((v == 0.0) & (mine < 0.0))


@dataclass(frozen=True)
class OthersAhead:
    """Of several classes: by how much the others are ahead, the best of them or (for the cross-entropy) all together."""

    own: Tensor
    soft: bool
    strict: bool

    def __call__(self, output: Tensor, rows: IntArray) -> Tensor:
        mine = _at(self.own, rows)[:, None]
        others = output.scatter(1, mine, -math.inf)
        ahead = torch.logsumexp(others, dim=1) if self.soft else others.amax(dim=1)
        v = ahead - output.gather(1, mine)[:, 0]
        if not self.strict:
            return v
        # Of classes that tie, the first is predicted: right for it, though on the boundary.
        return v - torch.finfo(v.dtype).tiny * ((v == 0.0) & (output.argmax(dim=1) == mine[:, 0]))


@dataclass(frozen=True)
class OneAhead:
    """By how much one class is ahead of a sample's own; for its own samples, as for all classes together."""

    other: int
    all_together: OthersAhead

    def __call__(self, output: Tensor, rows: IntArray) -> Tensor:
        mine = _at(self.all_together.own, rows)
        ahead = output[:, self.other] - output.gather(1, mine[:, None])[:, 0]
        return torch.where(mine == self.other, self.all_together(output, rows), ahead)


def _at(values: Tensor, rows: IntArray) -> Tensor:
    """The entries of some rows, wherever they are."""
    return values[torch.as_tensor(rows, device=values.device)]


def _classes(
    labels: np.ndarray[Any, Any], outputs: int, classes: Sequence[Any] | None, every: Sequence[Any] | None = None
) -> IntArray:
    """Which output each label means: numbers count from 0, two labels of one score are in order, others are named."""
    wanted = max(2, outputs)
    if classes is not None:
        return _named(labels, classes, wanted)
    held = labels if every is None else read_vector(every, "y")
    whole = held.dtype.kind in "biuf" and np.array_equal(held, np.round(held.astype(float)))
    if whole:
        index = labels.astype(np.intp)
        if outputs == 1 and np.isin(held, (-1, 1)).all() and (held == -1).any():
            return (index > 0).astype(np.intp)
        bad = np.flatnonzero((index < 0) | (index >= wanted))
        if len(bad):
            raise InputError(
                f"y[{bad[0]}]={labels[bad[0]]} is out of range: the module has {outputs} output(s), so labels are 0 to"
                f" {wanted - 1}; name others in their order, as classes=[...], or judge by a loss for numbers, as 'squared'."
            )
        return index
    positions, _ = class_indices(labels, None, outputs, every)
    return positions.astype(np.intp)


def _named(labels: np.ndarray[Any, Any], classes: Any, wanted: int) -> IntArray:
    """The position of every label in a list that the user gave."""
    listed = list(classes) if isinstance(classes, (Sequence, np.ndarray)) and not isinstance(classes, str) else []
    if len(set(listed)) != wanted or len(listed) != wanted:
        raise InputError(f"classes={classes!r} must be a list of the {wanted} labels, in the order of the outputs.")
    position = {label: k for k, label in enumerate(listed)}
    unknown = next((label for label in labels.tolist() if label not in position), None)
    if unknown is not None:
        raise InputError(f"y holds the label {unknown!r}, which is not one of classes={listed!r}.")
    return np.array([position[label] for label in labels.tolist()], dtype=np.intp)


def check_logits(reading: OutputReading, layers: nn.Sequential | None) -> None:
    """Refuse outputs that were made probabilities already, where that would give wrong numbers."""
    last = type(layers[-1]).__name__ if layers is not None and len(layers) else ""
    soft = reading.loss.name == "logistic"
    if (
        reading.loss.task == "classification"
        and reading.rises
        and (last == "Sigmoid" or (last in ("Softmax", "Softmin") and soft))
    ):
        raise InputError(f"the module ends with {last}, so it returns probabilities; pass it without, its logits are needed.")
