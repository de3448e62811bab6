"""The compiled kernels of tree ensembles (`native/`), where there are any: what they do is done without them too, slower."""

from __future__ import annotations

import os
from types import ModuleType

VERSION = 3
"""Which calls Python makes; `kVersion` in `native/module.cpp` is which ones a build answers."""

SWITCH = "TIPPINGPOINT_KERNELS"
"""The environment variable that turns them off, by `0`."""


def turned_off() -> bool:
    """Whether somebody does not want them."""
    return os.environ.get(SWITCH) == "0"


def kernels() -> ModuleType | None:
    """The module `_kernels`, typed in `_kernels.pyi`; None where it is not compiled, of another version, or turned off."""
    if turned_off():
        return None
    try:
        from tippingpoint.families.trees import _kernels
    except ImportError:
        return None
    return _kernels if _kernels.version() == VERSION else None
