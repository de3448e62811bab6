"""Data sets to try things on."""

from __future__ import annotations

from typing import Any

from tippingpoint.datasets.acs import acs_income

__all__ = ["acs_income", "breast_cancer"]


def breast_cancer() -> tuple[Any, Any]:
    """Wisconsin breast cancer, 569 tumours × 30 measurements, as it ships inside scikit-learn.

    Returns
    -------
    X, y
        A pandas frame of measurements and a series of the labels "benign" and "malignant".
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.map(dict(enumerate(data.target_names)))
