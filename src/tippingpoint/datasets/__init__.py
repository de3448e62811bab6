"""Data sets to try things on; those that are read come from a directory that you name, and nothing is downloaded."""

from __future__ import annotations

from typing import Any

from tippingpoint.datasets.acs import acs_income, acs_pubcov
from tippingpoint.datasets.clouds import toy
from tippingpoint.datasets.covid import covid19_brazil
from tippingpoint.datasets.encodings import RACES
from tippingpoint.datasets.task import Task

__all__ = ["RACES", "Task", "acs_income", "acs_pubcov", "breast_cancer", "covid19_brazil", "toy"]


def breast_cancer() -> tuple[Any, Any]:
    """Wisconsin breast cancer, 569 tumours × 30 measurements, as it ships inside scikit-learn.

    Returns
    -------
    X, y
        A pandas frame of measurements and a series of the labels "benign" and "malignant".

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = tp.datasets.breast_cancer()
    >>> X.shape, sorted(set(y))
    ((569, 30), ['benign', 'malignant'])
    """
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.map(dict(enumerate(data.target_names)))
