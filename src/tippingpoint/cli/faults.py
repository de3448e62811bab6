"""What went wrong, in a sentence and as an exit code."""

from __future__ import annotations

from tippingpoint.errors import TippingPointError, shortened

BAD_INPUT, OUR_FAULT, NO_READER = 2, 3, 141
"""Exit codes; the last is what shells give to a program whose reader went away."""

Surroundings: tuple[type[Exception], ...] = (OSError, MemoryError, RecursionError)
"""Errors of a machine, or of an input, that is not up to what was asked: not ours to mend."""


def exit_code(error: Exception) -> int:
    """Whose fault it is."""
    return BAD_INPUT if isinstance(error, (TippingPointError, *Surroundings)) or _is_foreign(error) else OUR_FAULT


def sentence(error: Exception) -> str:
    """What happened, and what to do."""
    return shortened(_sentence(error))


def _sentence(error: Exception) -> str:
    """The same, with names as long as they are."""
    text = " ".join(str(error).split())
    if isinstance(error, TippingPointError):
        return error.on_command_line or text
    if isinstance(error, MemoryError):
        detail = f" ({text})" if text else ""
        return f"there is not enough memory for this{detail}; give fewer rows or columns, or fewer --calls."
    if isinstance(error, RecursionError):
        return f"something that was given is nested too deeply ({text}); write it flatter."
    if isinstance(error, OSError):
        reason = error.strerror or text or type(error).__name__
        return (
            f"{reason}; check the files and the disk."
            if error.filename is None
            else f"{error.filename}: {reason}; check the path."
        )
    if _is_foreign(error):
        return f"a library cannot be imported ({text}); `tippingpoint doctor` says what is installed, and what of it works."
    return f"this should not happen ({type(error).__name__}: {text}); --debug shows where, please report it."


def _is_foreign(error: Exception) -> bool:
    """Whether a library is missing or broken, rather than a module of ours."""
    return isinstance(error, ImportError) and str(error.name).partition(".")[0] != __package__.partition(".")[0]
