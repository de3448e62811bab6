"""The figures themselves; a new one is a module with a `FIGURE`, and its name in `tippingpoint.reproduce.NAMES`."""

from __future__ import annotations

from importlib import import_module

from tippingpoint.reproduce import NAMES
from tippingpoint.reproduce.figure import Figure

FIGURES: dict[str, Figure] = {name: import_module(f"tippingpoint.reproduce.{name.replace('-', '_')}").FIGURE for name in NAMES}
"""The figures by name, in the order of the paper."""
