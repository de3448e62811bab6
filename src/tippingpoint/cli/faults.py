"""What went wrong, in a sentence and as an exit code."""

from __future__ import annotations

from tippingpoint.errors import TippingPointError

BAD_INPUT, OUR_FAULT, NO_READER = 2, 3, 141
"""Exit codes; the last is what shells give to a program whose reader went away."""

Surroundings = (OSError, MemoryError, RecursionError)
"""Errors of a machine, or of an input, that is not up to what was asked: not ours to mend."""


def exit_code(error: Exception) -> int:
    """Whose fault it is."""
    return BAD_INPUT if isinstance(error, (TippingPointError, *Surroundings)) else OUR_FAULT


def sentence(error: Exception) -> str:
    """What happened, and what to do."""
    text = " ".join(str(error).split())
    if isinstance(error, TippingPointError):
        return text
    if isinstance(error, MemoryError):
        detail = f" ({text})" if text else ""
        return f"there is not enough memory for this{detail}; give fewer rows or columns, or fewer --calls."
    if isinstance(error, RecursionError):
        return f"something that was given is nested too deeply ({text}); write it flatter."
    if isinstance(error, OSError):
        reason = error.strerror or text or type(error).__name__
        if error.filename is None:
            return f"{reason}; check the files and the disk."
        return f"{error.filename}: {reason}; check the path."
    return f"this should not happen ({type(error).__name__}: {text}); --debug shows where, please report it."
