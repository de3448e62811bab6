"""Costs by distance: of embeddings that the user's encoder makes, of pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.costs.base import Cost, Pair, shown
from tippingpoint.costs.words import texts
from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded


class EmbeddingDistance(Cost):
    r"""Distance of meanings by an encoder of yours: :math:`1 - \cos(u, v)`, which is half the squared distance of unit vectors.

    Parameters
    ----------
    encode
        A function from a list of texts to an array, one row a text. Every text is encoded once.
    metric
        "cosine", or "euclidean" for the squared distance :math:`\|u - v\|^2` of the vectors as they are.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> letters = lambda texts: np.array([[text.count(letter) for letter in "abc"] for text in texts])
    >>> pairs = [tp.costs.Pair("aab", "abb"), tp.costs.Pair("aab", "aab")]
    >>> tp.costs.EmbeddingDistance(letters)(pairs).round(3).tolist()
    [0.2, 0.0]
    """

    def __init__(self, encode: Callable[[list[str]], Any], metric: str = "cosine") -> None:
        if not callable(encode):
            raise InputError(f"encode={encode!r} must be a function from a list of texts to an array, one row a text.")
        if metric not in ("cosine", "euclidean"):
            raise InputError(f"metric={metric!r} is neither 'cosine' nor 'euclidean'; use one of them.")
        self.encode: Callable[[list[str]], Any] = encode
        self.metric: str = metric
        self.label: str = "1 - cosine of embeddings" if metric == "cosine" else "squared distance of embeddings"

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        both = [texts(pair) for pair in pairs]
        place = {text: k for k, text in enumerate(dict.fromkeys(text for each in both for text in each))}
        vectors = self._encoded(list(place))
        u = vectors[[place[original] for original, _ in both]]
        v = vectors[[place[changed] for _, changed in both]]
        same = np.array([original == changed for original, changed in both], dtype=bool)
        return np.where(same, 0.0, np.square(u - v).sum(axis=1) * (0.5 if self.metric == "cosine" else 1.0))

    def _encoded(self, distinct: list[str]) -> FloatArray:
        if not distinct:
            return np.zeros((0, 1))
        with guarded(lambda reason: InputError(f"encode fails ({reason}); it gets a list of {len(distinct)} texts.")):
            made = np.asarray(self.encode(distinct), dtype=float)
        if made.ndim != 2 or len(made) != len(distinct) or not np.isfinite(made).all():
            raise InputError(
                f"encode returns an array of shape {made.shape} for {len(distinct)} texts; return one row of finite numbers"
                " for each."
            )
        if self.metric == "euclidean":
            return made
        lengths = np.linalg.norm(made, axis=1)
        if not (lengths > 0.0).all():
            text = distinct[int(np.flatnonzero(lengths == 0.0)[0])]
            raise InputError(f"encode returns zeros for {text!r}, which has no cosine; say metric='euclidean'.")
        return np.asarray(made / lengths[:, None])


class PixelDistance(Cost):
    """Mean squared difference of the values of two images, of values from 0 to 1; bytes are divided by 255.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> tp.costs.PixelDistance()([tp.costs.Pair(np.zeros((2, 2)), np.full((2, 2), 0.5))]).tolist()
    [0.25]
    """

    label: str = "mean squared difference of pixels"

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        return np.array([self._one(pair) for pair in pairs], dtype=float)

    @staticmethod
    def _one(pair: Pair) -> float:
        one, other = np.asarray(pair.original), np.asarray(pair.changed)
        if one.shape != other.shape or one.dtype.kind not in "uif" or one.dtype != other.dtype:
            raise InputError(f"cost compares images of one shape and type, and those of {shown(pair)} differ; give prices.")
        unit = 255.0 if one.dtype == np.uint8 else 1.0
        return float(np.square((one.astype(float) - other.astype(float)) / unit).mean())
