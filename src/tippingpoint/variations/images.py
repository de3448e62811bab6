"""Variations of images: arrays of rows and columns, perhaps with channels, of bytes (0 to 255) or numbers (0 to 1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.variations.base import Generator, Variation, check_name, check_share

Image = np.ndarray[Any, Any]
"""`(rows, columns)` or `(rows, columns, channels)`."""


class _ImageVariation(Variation):
    """A change of an image on the scale from 0 to 1; it comes back in its own type."""

    def __call__(self, thing: Any, rng: Generator) -> Image:
        image = np.asarray(thing)
        whole = image.dtype == np.uint8
        if image.ndim not in (2, 3) or image.size == 0 or not (whole or image.dtype.kind == "f"):
            raise InputError(
                f"the variation {self.name!r} is of images, and one has shape {image.shape} and type {image.dtype}; give"
                " (rows, columns) or (rows, columns, channels), of bytes or of numbers from 0 to 1."
            )
        values = image.astype(float) / 255.0 if whole else image.astype(float)
        if not (np.isfinite(values).all() and values.min() >= 0.0 and values.max() <= 1.0):
            raise InputError(f"an image holds values outside [0, 1], such as {_outside(values):g}; divide it by its range.")
        changed = np.clip(self.changed(values, rng), 0.0, 1.0)
        return np.rint(255.0 * changed).astype(np.uint8) if whole else changed.astype(image.dtype)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        """The image, values outside [0, 1] not yet cut off."""
        raise NotImplementedError


class Noise(_ImageVariation):
    """Normal noise on every value; `scale` is its standard deviation, of values from 0 to 1.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> grey = np.full((8, 8), 0.5)
    >>> noisy = tp.variations.vary(tp.variations.Noise(0.1), grey)
    >>> bool(0.05 < noisy.std() < 0.15)
    True
    """

    def __init__(self, scale: float = 0.05, *, name: str = "noise") -> None:
        self.scale: float = _positive(scale, "scale")
        self.name: str = check_name(name)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        return image + rng.normal(0.0, self.scale, image.shape)


class Blur(_ImageVariation):
    """A Gaussian blur over rows and columns; `radius` is its standard deviation in pixels.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> edge = np.array([[0, 0, 255, 255]] * 4, dtype=np.uint8)
    >>> tp.variations.vary(tp.variations.Blur(0.5), edge)[0].tolist()
    [0, 27, 228, 255]
    """

    def __init__(self, radius: float = 1.0, *, name: str = "blur") -> None:
        self.radius: float = _positive(radius, "radius")
        self.name: str = check_name(name)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        from scipy.ndimage import gaussian_filter

        return np.asarray(gaussian_filter(image, (self.radius, self.radius, 0.0)[: image.ndim], mode="nearest"))


class Brightness(_ImageVariation):
    """`by` added to every value, of values from 0 to 1; below 0 it darkens.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> tp.variations.vary(tp.variations.Brightness(0.2), np.array([[0.0, 0.5, 0.9]])).round(3).tolist()
    [[0.2, 0.7, 1.0]]
    """

    def __init__(self, by: float = 0.2, *, name: str = "brightness") -> None:
        if isinstance(by, (str, bool)) or not -1.0 <= by <= 1.0 or by == 0.0:
            raise InputError(f"by={by!r} must lie between -1 and 1, and not be 0.")
        self.by: float = float(by)
        self.name: str = check_name(name)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        return image + self.by


class Shift(_ImageVariation):
    """The image moved by so many pixels in a direction that is drawn; what comes into view repeats the edge.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> moved = tp.variations.vary(tp.variations.Shift(1), np.arange(9.0).reshape(3, 3) / 10)
    >>> moved.tolist()
    [[0.0, 0.0, 0.1], [0.3, 0.3, 0.4], [0.6, 0.6, 0.7]]
    """

    def __init__(self, pixels: int = 2, *, name: str = "shift") -> None:
        if isinstance(pixels, bool) or not isinstance(pixels, int) or pixels < 1:
            raise InputError(f"pixels={pixels!r} must be a whole number, 1 or more.")
        self.pixels: int = pixels
        self.name: str = check_name(name)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        axis, sign = int(rng.integers(2)), int(2 * rng.integers(2) - 1)
        places = np.clip(np.arange(image.shape[axis]) - sign * self.pixels, 0, image.shape[axis] - 1)
        return np.take(image, places, axis=axis)


class Occlusion(_ImageVariation):
    """A rectangle of the image covered with one value; `share` is that of its area.

    Examples
    --------
    >>> import numpy as np, tippingpoint as tp
    >>> covered = tp.variations.vary(tp.variations.Occlusion(0.25), np.ones((8, 8)))
    >>> int((covered == 0).sum())
    16
    """

    def __init__(self, share: float = 0.1, value: float = 0.0, *, name: str = "occlusion") -> None:
        self.share: float = check_share(share, "share")
        if isinstance(value, (str, bool)) or not 0.0 <= value <= 1.0:
            raise InputError(f"value={value!r} must lie between 0 (black) and 1 (white).")
        self.value: float = float(value)
        self.name: str = check_name(name)

    def changed(self, image: FloatArray, rng: Generator) -> FloatArray:
        height, width = (max(1, round(math.sqrt(self.share) * size)) for size in image.shape[:2])
        top, left = (int(rng.integers(whole - part + 1)) for whole, part in zip(image.shape, (height, width), strict=False))
        covered = image.copy()
        covered[top : top + height, left : left + width] = self.value
        return covered


def _positive(value: Any, name: str) -> float:
    if isinstance(value, (str, bool)) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
        raise InputError(f"{name}={value!r} must be a positive number.")
    return float(value)


def _outside(values: FloatArray) -> float:
    return float(values[~((values >= 0.0) & (values <= 1.0))].flat[0])
