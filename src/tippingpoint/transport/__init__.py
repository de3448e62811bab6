"""Observed drift: how far a current sample is from a reference sample, at the prices of stability."""

from __future__ import annotations

from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.line import drift_on_line
from tippingpoint.transport.permuting import Permuted, permuted, permuted_levels
from tippingpoint.transport.strata import StratifiedDrift, drift_by_stratum
from tippingpoint.transport.switching import drift_by_switching
from tippingpoint.transport.table import drift_on_table
from tippingpoint.transport.vanishing import VanishingDrift, drift_with_missing, permuted_with_missing

__all__ = [
    "Drift",
    "Permuted",
    "StratifiedDrift",
    "VanishingDrift",
    "drift_by_stratum",
    "drift_by_switching",
    "drift_on_line",
    "drift_on_table",
    "drift_with_missing",
    "permuted",
    "permuted_levels",
    "permuted_with_missing",
]
