"""Interventions: estimators that are trained for stability, in the form of scikit-learn (extra `torch`).

`ERM*` minimises the mean loss, `AdversarialTraining*` the mean loss where samples may move (against data corruption),
`TiltedERM*` a mean that leans towards the worst samples (against sub-population shift). `select` chooses their one knob.
`EXCEPTIONS` lists the checks of scikit-learn that they do not pass, and why.
"""

from __future__ import annotations

from tippingpoint.errors import InputError

try:
    import torch as _torch  # noqa: F401  # all that follows needs it
except ImportError:
    raise InputError("tippingpoint.training needs PyTorch; pip install 'tippingpoint[torch]'.") from None

from tippingpoint.training.estimators import (
    EXCEPTIONS,
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
    TiltedERMRegressor,
)
from tippingpoint.training.selecting import Selection, select

__all__ = [
    "EXCEPTIONS",
    "AdversarialTrainingClassifier",
    "AdversarialTrainingRegressor",
    "ERMClassifier",
    "ERMRegressor",
    "Selection",
    "TiltedERMClassifier",
    "TiltedERMRegressor",
    "select",
]
