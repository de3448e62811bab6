"""Whether the user's data are still what they were when they were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import blocks
from tippingpoint.data.frames import Features, read_features
from tippingpoint.data.vectors import CHUNK
from tippingpoint.errors import InputError


@dataclass(frozen=True)
class Witness:
    """The user's data, and what was read off them before any model saw them.

    Attributes
    ----------
    data, categories
        What the user holds, and how it is read.
    before
        What was read: a copy, to compare with, or the user's own array under a seal.
    """

    data: Any
    categories: Mapping[str, Sequence[Any]]
    before: Features

    def check(self) -> None:
        """Refuse data that have changed since, read once more; a model that holds them, or another thread, may do that."""
        before = self.before
        if before.seal.array is not None:
            before.seal.check("while the model was asked", BLAME)
            return
        try:
            now = read_features(self.data, self.categories)
        except InputError as error:
            raise InputError(f"X changed while the model was asked, and cannot be read any more: {error}") from error
        if now.x.shape != before.x.shape or now.names != before.names:
            raise InputError(f"X changed while the model was asked: it has shape {now.x.shape} now; {REMEDY}.")
        for rows in blocks(len(now.x), CHUNK // now.x.shape[1]):
            same = (now.x[rows] == before.x[rows]) | (np.isnan(now.x[rows]) & np.isnan(before.x[rows]))
            if not same.all():
                i, j = (int(k) for k in np.argwhere(~same)[0])
                row, column = rows.start + i, before.columns[j]
                was, is_now = column.label(float(before.x[row, j])), now.columns[j].label(float(now.x[row, j]))
                raise InputError(f"{before.cell(row, j)} changed while the model was asked, from {was} to {is_now}; {REMEDY}.")
        changed = None if before.inputs is None or now.inputs is None else before.inputs.differing(now.inputs)
        if changed is not None:
            raise InputError(f"X[{changed!r}] changed while the model was asked; {REMEDY}.")


BLAME = "the model, or another thread, holds X and writes into it"

REMEDY = f"{BLAME}: pass X.copy()"
