"""Divergences: the price of giving samples other weights than one; a new one is a class and a line of `DIVERGENCES`."""

from __future__ import annotations

from tippingpoint.core.divergences.base import Divergence, Tilt
from tippingpoint.core.divergences.chi_square import ChiSquare
from tippingpoint.core.divergences.cvar import CVaR
from tippingpoint.core.divergences.kl import KL
from tippingpoint.errors import InputError

__all__ = ["DIVERGENCES", "KL", "CVaR", "ChiSquare", "Divergence", "Tilt", "divergence_choices", "divergence_named"]

DIVERGENCES: dict[str, type[Divergence]] = {"kl": KL, "chi2": ChiSquare, "cvar": CVaR}
"""The registry: the front door, the command line and the pages of reports offer what stands here."""


def divergence_choices() -> list[str]:
    """What may be given by name, as `"kl"` and `"cvar:SHARE"`."""
    return [f"{name}:{kind.parameter}" if kind.parameter else name for name, kind in DIVERGENCES.items()]


def divergence_named(divergence: str | Divergence) -> Divergence:
    """The divergence a user means: an instance, `"kl"`, `"chi2"`, or `"cvar:0.2"` (worst share 0.2)."""
    if isinstance(divergence, Divergence):
        return divergence
    examples = [f" (as '{name}:{kind.example}')" if kind.parameter else "" for name, kind in DIVERGENCES.items()]
    names = [f"'{name}'{example}" for name, example in zip(divergence_choices(), examples, strict=True)]
    served = f"{', '.join(names)} or a Divergence"
    name, _, parameter = str(divergence).partition(":")
    if name not in DIVERGENCES:
        raise InputError(f"divergence={divergence!r} is not known; use {served}.")
    kind = DIVERGENCES[name]
    if bool(kind.parameter) != bool(parameter):
        lacks = f"{name} needs a {kind.parameter.lower()}" if kind.parameter else f"{name} takes no number"
        raise InputError(f"divergence={divergence!r}: {lacks}; use {served}.")
    if not parameter:
        return kind()
    try:
        value = float(parameter)
    except ValueError:
        raise InputError(f"divergence={divergence!r}: {parameter!r} is not a number; use {served}.") from None
    return kind(value)  # type: ignore[call-arg]  # a divergence with a parameter takes it as its first argument
