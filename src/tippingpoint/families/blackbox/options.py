"""How a model that can only be asked is searched: the options that users have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tippingpoint.families.options import SEED, Options, check_choice, check_progress, check_whole, on_command_line

OUTPUTS = ("label", "probability", "score", "prediction")
"""What a model may return: a class, probabilities of classes, scores of classes (or of the second), or a number."""


@dataclass(frozen=True)
class BlackBoxOptions(Options):
    """How a model that can only be asked is searched.

    Attributes
    ----------
    calls
        Rows that the model may be asked about, in all; more find nothing worse. None for as many as it takes to scan every
        feature and to search among combinations of them, some hundreds a sample.
    seed
        Of what is drawn.
    batch
        Rows asked about at once.
    progress
        Whether to show a bar; None: on a terminal.
    repeats
        Calls for every row, of which the mean is taken: for models whose answers are noisy. Each counts.
    output
        What the model returns, where that is not clear: "label", "probability", "score" or "prediction".
    classes
        Labels in the order of the model's outputs.
    """

    calls: int | None = field(
        default=None,
        metadata=on_command_line(
            "of black boxes: rows that the model may be asked about, in all", kind="count", metavar="ROWS"
        ),
    )
    seed: int = field(default=0, metadata=SEED)
    batch: int | None = None
    progress: bool | None = None
    repeats: int = field(
        default=1,
        metadata=on_command_line(
            "of black boxes whose answers are noisy: average so many; each is a call", kind="count", metavar="TIMES"
        ),
    )
    output: str | None = field(
        default=None,
        metadata=on_command_line("of black boxes: what the model returns, where that is not clear", choices=OUTPUTS),
    )
    classes: Sequence[Any] | None = None

    def check(self, given: Mapping[str, Any]) -> None:
        # How few calls are too few depends on the rows: the judgement checks them.
        check_whole("seed", self.seed, 0)
        check_whole("batch", self.batch, 1, optional=True)
        check_whole("repeats", self.repeats, 1)
        if self.output is not None:
            check_choice("output", self.output, OUTPUTS)
        check_progress(self.progress)
