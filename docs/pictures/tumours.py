"""The result that the first pages are about."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp


def first_result() -> tp.StabilityResult:
    """As in the README and in the five minutes."""
    x_train, x_test, y_train, y_test = train_test_split(
        *tp.datasets.breast_cancer(), test_size=0.5, random_state=0
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x_train, y_train)
    return tp.stability(model, x_test, y_test, risk=0.25, scale="std", theta1=1.0, theta2=0.25)
