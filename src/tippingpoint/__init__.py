"""tippingpoint: how much must the data change before this model breaks?

The names below are all there is to know; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# The one list of public names; `__init__.pyi` says the same to type checkers, and a test compares the two.
_HOMES = {
    "api.comparing": ("compare",),
    "api.drift": ("drift",),
    "api.features": ("feature_stability",),
    "api.profiles": ("Profile",),
    "api.stability": ("profile", "stability", "worst_risk"),
    "api.tables": ("profile_table",),
    "api.variations": ("variation_stability",),
    "core.divergences": ("KL", "CVaR", "ChiSquare", "Divergence"),
    "errors": (
        "ClusterError",
        "DetachedError",
        "InputError",
        "ModelError",
        "NumericalError",
        "OutputError",
        "OutputWarning",
        "PairingWarning",
        "ScaleWarning",
        "SmallSampleWarning",
        "TippingPointError",
        "TippingPointWarning",
        "UnsupportedError",
        "WindowWarning",
    ),
    "families.linear.recognise": ("LinearModel",),
    "files": ("load_model",),
    "losses": ("Loss", "PiecewiseLinear"),
    "report": ("Gate",),
    "results.advice": ("Advice",),
    "results.bootstrap": ("Bootstrap",),
    "results.comparisons": ("Comparison", "Verdict"),
    "results.drift": ("DriftResult", "DriftSeries"),
    "results.rankings": ("FeatureStability",),
    "results.stability": ("StabilityResult",),
    "results.sweeps": ("Sweep",),
    "results.variations": ("VariationStability",),
    "results.worst": ("WorstRisk", "WorstRiskCurve"),
    "runs.collecting": ("collect",),
    "runs.reading": ("read_runs",),
    "runs.runs": ("Runs",),
    "space": ("Space",),
}

_SUBMODULES = ("costs", "datasets", "errors", "variations")
"""Modules that need no import of their own."""

_HOME_OF = {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, "__version__"])  # noqa: PLE0605  # one list, not two


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
