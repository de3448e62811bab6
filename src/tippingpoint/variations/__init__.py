"""Variations of texts and images: what a sample could have been instead; small classes with a name, seeded, composed by `+`."""

from __future__ import annotations

from tippingpoint.variations.base import Chain, Function, Variation, vary
from tippingpoint.variations.images import Blur, Brightness, Noise, Occlusion, Shift
from tippingpoint.variations.texts import (
    Case,
    OptionOrder,
    Punctuation,
    Separators,
    Spacing,
    Typos,
    WordDrop,
    WordSwap,
    Wrapper,
)

__all__ = [
    "Blur",
    "Brightness",
    "Case",
    "Chain",
    "Function",
    "Noise",
    "Occlusion",
    "OptionOrder",
    "Punctuation",
    "Separators",
    "Shift",
    "Spacing",
    "Typos",
    "Variation",
    "WordDrop",
    "WordSwap",
    "Wrapper",
    "vary",
]
