"""Observed drift: how far a current sample is from a reference sample, at the prices of stability."""

from __future__ import annotations

from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.line import drift_on_line

__all__ = ["Drift", "drift_on_line"]
