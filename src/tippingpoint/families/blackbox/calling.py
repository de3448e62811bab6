"""A user's model, asked about rows at places: counted, kept away from the data, its failures in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError
from tippingpoint.foreign import guarded
from tippingpoint.query.noise import Noise

BATCH = 2**16
"""Rows that a model is asked about at once, unless the user says how many."""

Method = Callable[[Any], Any]


class Caller:
    """A model, and how often it was asked.

    Parameters
    ----------
    model
        Whose methods are asked.
    features
        The samples.
    batch
        Rows at once.
    calls
        Rows in all; None for as many as are wanted.
    repeats
        Answers that are averaged.
    """

    def __init__(self, model: Any, features: Features, batch: int | None, calls: int | None, repeats: int) -> None:
        self.rows_asked: int = 0
        """Rows that the model was asked about."""
        self.noise: Noise = Noise(repeats)
        """How far answers that were averaged are apart."""
        self._model = model
        self._features = features
        self._batch = batch or BATCH
        self._calls = calls
        self._answered = False
        self._forms: dict[Hashable, tuple[tuple[int, ...], bool]] = {}

    def affords(self, rows: int) -> int:
        """How many of so many rows the model may still be asked about, if every sample is still to be asked about too."""
        if self._calls is None:
            return rows
        return max(min(rows, self._calls - self.rows_asked - self.noise.repeats * len(self._features.x)), 0)

    def averaged(self, method: Method, rows: IntArray, x: FloatArray) -> FloatArray:
        """The numbers that the model gives these rows at these places, averaged over the repeats."""
        return self.noise.averaged(lambda: numbers(self.once(method, rows, x)))

    def once(self, method: Method, rows: IntArray, x: FloatArray) -> np.ndarray[Any, Any]:
        """What the model says of these rows at these places, batch by batch."""
        return np.concatenate([self._call(method, rows[part], x[part]) for part in blocks(len(rows), self._batch)])

    def _call(self, method: Method, rows: IntArray, x: FloatArray) -> np.ndarray[Any, Any]:
        self.rows_asked += len(rows)
        with guarded(lambda reason: self._failed(method, rows, x, reason)):
            outputs = self._outputs(method, rows, x)
        if outputs.ndim not in (1, 2) or len(outputs) != len(rows):
            raise ModelError(
                f"the model returns shape {outputs.shape} for {len(rows)} rows; it must return one value, or one row of scores,"
                " for each."
            )
        self._check_form(key(method), outputs)
        if outputs.dtype.kind == "f" and not np.isfinite(outputs).all():
            bad = int(np.argwhere(~np.isfinite(outputs))[0, 0])
            raise ModelError(
                f"the model returns {outputs[bad]} for {self._place(int(rows[bad]), x[bad])}; it must return numbers."
            )
        self._answered = True
        return outputs

    def _outputs(self, method: Method, rows: IntArray, x: FloatArray) -> np.ndarray[Any, Any]:
        """The answer, as an array of ours: a model may write into its next one where this one is."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as names given or missing, or categories that an encoder ignores
            return np.array(method(self._features.native_at(rows, x)))

    def _check_form(self, name: Hashable, outputs: np.ndarray[Any, Any]) -> None:
        """Refuse answers of another width, or text after numbers."""
        form = outputs.shape[1:], outputs.dtype.kind in "biuf"
        width, are_numbers = self._forms.setdefault(name, form)
        if outputs.shape[1:] != width:
            raise ModelError(f"the model returns rows of shape {outputs.shape[1:]}, and {width} before; it must not change.")
        if form[1] != are_numbers:
            changed = (
                f"{outputs.flat[0]!r}, no number, and numbers" if are_numbers else f"the number {outputs.flat[0]!r}, and none"
            )
            raise ModelError(f"the model returns {changed} before; what it returns must not change.")

    def _failed(self, method: Method, rows: IntArray, x: FloatArray, reason: str) -> ModelError:
        """An error that names the first row on which the model fails, found by halving; each row is asked about once more."""
        kind, after = type(self._model).__name__, f"after {self.rows_asked:,} calls"
        if self._calls is not None and self.rows_asked + len(rows) >= self._calls:
            return ModelError(f"model={kind} fails {after} ({reason}); find out why, or ask it less often with calls=.")
        if self._answered and self._fails(method, np.zeros(1, dtype=np.intp), self._features.x[:1]):
            return ModelError(
                f"model={kind} fails {after} ({reason}), now also on rows that it answered before; find out why, or ask it less"
                " often with calls=."
            )
        low, high = 0, len(rows)
        while high - low > 1:
            middle = (low + high) // 2
            if self._fails(method, rows[low:middle], x[low:middle]):
                high = middle
            else:
                low = middle
        if high < len(rows) or self._fails(method, rows[low:high], x[low:high]):
            place = self._place(int(rows[low]), x[low])
            return ModelError(
                f"model={kind} fails on {place} ({reason}); restrict what may move with a Space, or pass the columns it was"
                " fitted on."
            )
        return ModelError(
            f"model={kind} fails {after} ({reason}), though not when asked again about fewer rows; ask about fewer at once with"
            " batch=, or less often with calls=."
        )

    def _fails(self, method: Method, rows: IntArray, x: FloatArray) -> bool:
        self.rows_asked += len(rows)
        try:
            with guarded(ModelError):
                self._outputs(method, rows, x)
        except ModelError:
            return True
        return False

    def _place(self, row: int, x: FloatArray) -> str:
        """A row, and what of it was changed."""
        features = self._features
        changed = [j for j in range(len(x)) if not (x[j] == features.x[row, j] or np.isnan(x[j]))]
        moved = ", ".join(f"{features.names[j]}={features.columns[j].label(float(x[j]))}" for j in changed[:3])
        return features.row_words(row) + (f" with {moved}" if moved else "")


def key(method: Method) -> Hashable:
    """What a method is known by; a function of the user's may be an object without a hash."""
    return method if isinstance(method, Hashable) else id(method)


def numbers(outputs: np.ndarray[Any, Any]) -> FloatArray:
    """Answers as finite numbers."""
    with guarded(lambda _: ModelError(f"the model returns {outputs.flat[0]!r}; it must return numbers.")):
        found = np.asarray(outputs, dtype=float)
    if outputs.dtype.kind not in "biu" and not np.isfinite(found).all():
        raise ModelError(f"the model returns {outputs[~np.isfinite(found)][0]!r}; it must return numbers.")
    return found
