"""What a report was made from: versions, settings, and a fingerprint of the data. No time and no place, so that it repeats."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray

PACKAGES = ("numpy", "scipy", "scikit-learn")
"""Whose versions may change the last digits of a number."""


def manifest(
    summary: Mapping[str, Any], features: Mapping[str, Any], base: FloatArray, losses: FloatArray, seen: str
) -> dict[str, Any]:
    """Versions, data and settings, as words and numbers.

    Parameters
    ----------
    summary
        Of the result.
    features
        Values of every row, by feature.
    base, losses
        Weight and present loss of every row.
    seen
        In words: how chance entered.
    """
    from tippingpoint import __version__

    return {
        "versions": {
            "tippingpoint": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in PACKAGES},
        },
        "samples": len(base),
        "features": len(features),
        "fingerprint": fingerprint(features, base, losses),
        "settings": {name: summary[name] for name in ("risk", "theta1", "theta2", "divergence", "loss", "unit")},
        "responses": summary["lower_by"],
        "seed": seen,
    }


def fingerprint(features: Mapping[str, Any], base: FloatArray, losses: FloatArray) -> str:
    """SHA-256 over names, values, weights and losses: equal data have it, and hardly any others do."""
    digest = hashlib.sha256()
    for name, values in {**features, "\x00base": base, "\x00losses": losses}.items():
        digest.update(f"{name}\x00{len(values)}\x00".encode())
        held = np.asarray(values)
        if held.dtype.kind in "biuf":
            digest.update((held.astype("<f8") + 0.0).tobytes())  # -0 is 0
        else:
            digest.update("\x00".join(map(str, held.tolist())).encode())
    return digest.hexdigest()
