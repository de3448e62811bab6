"""How a person opens a file."""

from __future__ import annotations

import sys
from pathlib import Path

from tippingpoint.visible import visible

OPENERS = {"darwin": "open", "win32": "start"}
"""The command that opens a file with whatever shows it, by system; elsewhere it is xdg-open."""


def how_to_open(path: str) -> str:
    """A sentence for below a report that was written."""
    opener = OPENERS.get(sys.platform, "xdg-open")
    return f"Open it in a browser: {opener} {visible(path)}, or {Path(path).resolve().as_uri()}"
