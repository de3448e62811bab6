"""tippingpoint: how much must the data change before this model breaks?

The names below are all there is to know; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tippingpoint.api.comparing import compare
    from tippingpoint.api.features import feature_stability
    from tippingpoint.api.profiles import Profile
    from tippingpoint.api.stability import profile, stability
    from tippingpoint.api.tables import profile_table
    from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
    from tippingpoint.core.inference import Bootstrap
    from tippingpoint.errors import (
        DetachedError,
        InputError,
        PairingWarning,
        ScaleWarning,
        SmallSampleWarning,
        TippingPointError,
        UnsupportedError,
    )
    from tippingpoint.families.linear.recognise import LinearModel
    from tippingpoint.files import load_model
    from tippingpoint.losses import Loss, PiecewiseLinear
    from tippingpoint.report import Gate
    from tippingpoint.results.advice import Advice
    from tippingpoint.results.comparisons import Comparison, Verdict
    from tippingpoint.results.rankings import FeatureStability
    from tippingpoint.results.stability import StabilityResult, Sweep
    from tippingpoint.space import Space

__version__ = "0.1.0"

_HOMES = {
    "results.advice": ("Advice",),
    "results.comparisons": ("Comparison", "Verdict"),
    "core.divergences": ("KL", "CVaR", "ChiSquare", "Divergence"),
    "core.inference": ("Bootstrap",),
    "errors": (
        "DetachedError",
        "InputError",
        "OutputWarning",
        "PairingWarning",
        "ScaleWarning",
        "SmallSampleWarning",
        "TippingPointError",
        "UnsupportedError",
    ),
    "api.comparing": ("compare",),
    "api.features": ("feature_stability",),
    "api.stability": ("profile", "stability"),
    "losses": ("Loss", "PiecewiseLinear"),
    "files": ("load_model",),
    "families.linear.recognise": ("LinearModel",),
    "api.profiles": ("Profile",),
    "results.rankings": ("FeatureStability",),
    "report": ("Gate",),
    "results.stability": ("StabilityResult", "Sweep"),
    "space": ("Space",),
    "api.tables": ("profile_table",),
}

__all__ = [
    "KL",
    "Advice",
    "Bootstrap",
    "CVaR",
    "ChiSquare",
    "Comparison",
    "DetachedError",
    "Divergence",
    "FeatureStability",
    "Gate",
    "InputError",
    "LinearModel",
    "Loss",
    "OutputWarning",
    "PairingWarning",
    "PiecewiseLinear",
    "Profile",
    "ScaleWarning",
    "SmallSampleWarning",
    "Space",
    "StabilityResult",
    "Sweep",
    "TippingPointError",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "compare",
    "feature_stability",
    "load_model",
    "profile",
    "profile_table",
    "stability",
]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "errors"):
        return import_module(f"tippingpoint.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"tippingpoint.{home}"), name)
            return value
    raise AttributeError(f"module 'tippingpoint' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
