"""The date that a report bears."""

from __future__ import annotations

import datetime as dt
import os
from typing import Any

from tippingpoint.errors import InputError

CLOCK = "SOURCE_DATE_EPOCH"
"""Seconds since 1970 that stand for now where builds are to repeat, as reproducible-builds.org defines it."""


def read_date(given: Any) -> str:
    """The date that a report bears, as 2026-01-31: the one given, that of `SOURCE_DATE_EPOCH`, or today's, in UTC."""
    if isinstance(given, dt.date):
        return given.strftime("%Y-%m-%d")
    if isinstance(given, str):
        try:
            return dt.date.fromisoformat(given).isoformat()
        except ValueError:
            raise InputError(f"date={given!r} is no day of a calendar; write it as '2026-01-31'.") from None
    if given is not None:
        raise InputError(f"date={given!r} must be a date, as datetime.date(2026, 1, 31) or '2026-01-31'.")
    now, fixed = dt.datetime.now(dt.timezone.utc), os.environ.get(CLOCK)
    if fixed:
        try:
            now = dt.datetime.fromtimestamp(int(fixed), dt.timezone.utc)
        except (ValueError, OverflowError, OSError):
            raise InputError(f"{CLOCK}={fixed!r} in the environment must be whole seconds since 1970; unset it.") from None
    return now.strftime("%Y-%m-%d")
