"""Whether something can be pickled, found out without making a copy of it."""

from __future__ import annotations

import pickle
from typing import Any

from tippingpoint.foreign import why

PROTOCOL = 5
"""The first that leaves arrays where they are."""


class _Nowhere:
    """A file that keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


def obstacle(value: Any) -> str | None:
    """Why a value cannot be pickled, in words; None where it can be."""
    pickler = pickle.Pickler(_Nowhere(), PROTOCOL, buffer_callback=lambda _: None)
    try:
        pickler.dump(value)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a class of the user's does when it is asked for its state
        return why(error)
    return None
