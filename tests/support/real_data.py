"""Where the real data are, for the tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[3] / "shared" / "data"
"""A folder beside the checkout, where nobody says otherwise."""


def real_data(*needed: str) -> Path:
    """The folder `TIPPINGPOINT_DATA` where it holds all that is needed; the test is skipped where there is none."""
    for folder in (os.environ.get("TIPPINGPOINT_DATA"), BESIDE):
        if folder and all((Path(folder) / part).exists() for part in (".", *needed)):
            return Path(folder)
    pytest.skip("the real data are not here: set TIPPINGPOINT_DATA")
