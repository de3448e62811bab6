"""Reports: everything that one says is computed here, before anything is drawn or written."""

from __future__ import annotations

from tippingpoint.reporting.gates import Gate
from tippingpoint.reporting.reported import Reported

__all__ = ["Gate", "Reported"]
