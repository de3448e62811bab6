"""Fitting: Adam on an objective, until a share of the rows that it does not see gets no better."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tippingpoint.errors import NumericalError
from tippingpoint.training.objectives import Objective

STEPS_BETWEEN_CHECKS = 10
"""Steps between two looks at the rows held out."""


@dataclass(frozen=True)
class Rows:
    """Rows to train on, or to judge by.

    Attributes
    ----------
    x, target, weight
        Features, targets as the loss takes them, and positive weights.
    """

    x: Tensor
    target: Tensor
    weight: Tensor

    def __len__(self) -> int:
        return len(self.x)

    def take(self, rows: Tensor) -> Rows:
        """These rows only."""
        return Rows(self.x[rows], self.target[rows], self.weight[rows])


@dataclass(frozen=True)
class Course:
    """How long to train, and how fast.

    Attributes
    ----------
    steps
        Of Adam, at most.
    batch
        Rows a step sees; None for all, so that the objective is minimised as it is written.
    learning_rate, weight_decay
        Of Adam.
    patience
        Looks at the rows held out, one every 10 steps, without improvement before training ends.
    """

    steps: int
    batch: int | None
    learning_rate: float
    weight_decay: float
    patience: int


@dataclass(frozen=True)
class History:
    """What training saw.

    Attributes
    ----------
    steps
        Taken by Adam.
    looked
        The steps after which the rows held out were looked at.
    held_out
        The objective on them then; the module is the one of the smallest.
    """

    steps: int
    looked: tuple[int, ...]
    held_out: tuple[float, ...]


def minimise(module: nn.Module, objective: Objective, train: Rows, held_out: Rows | None, course: Course, seed: int) -> History:
    """Train the module in place; it ends as it was when the rows held out were judged best, or after the last step."""
    optimizer = torch.optim.Adam(module.parameters(), lr=course.learning_rate, weight_decay=course.weight_decay)
    batches = _batches(len(train), course.batch, seed)
    looked: list[int] = []
    values: list[float] = []
    best, kept, step = math.inf, None, 0
    while step < course.steps:
        rows = next(batches)
        module.train()
        optimizer.zero_grad()
        value = objective(module, *_parts(train if rows is None else train.take(rows)))
        if not torch.isfinite(value):
            raise NumericalError(
                f"the objective is {value.item()} after {step} steps: scale the columns or, where samples move, raise gamma"
                " (for the squared loss the gain is unbounded below a certain price)."
            )
        value.backward()  # type: ignore[no-untyped-call]  # PyTorch's own
        optimizer.step()
        step += 1
        if held_out is None or (step % STEPS_BETWEEN_CHECKS and step < course.steps):
            continue
        looked.append(step)
        values.append(_judged(module, objective, held_out))
        if values[-1] < best:
            best, kept = values[-1], copy.deepcopy(module.state_dict())
        elif len(values) - 1 - values.index(best) >= course.patience:
            break
    if kept is not None:
        module.load_state_dict(kept)
    module.eval()
    return History(step, tuple(looked), tuple(values))


def _judged(module: nn.Module, objective: Objective, rows: Rows) -> float:
    module.eval()
    value = objective(module, *_parts(rows)).item()
    return value if math.isfinite(value) else math.inf


def _parts(rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    return rows.x, rows.target, rows.weight


def _batches(samples: int, batch: int | None, seed: int) -> Iterator[Tensor | None]:
    """Rows of one step after another, every row once before any comes again; None for all rows."""
    shuffle = torch.Generator().manual_seed(seed)
    while True:
        if batch is None or batch >= samples:
            yield None
        else:
            yield from torch.randperm(samples, generator=shuffle).split(batch)  # type: ignore[no-untyped-call]  # as above
