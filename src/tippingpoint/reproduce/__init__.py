"""The figures of the paper, on real data, over seeds, with a verdict on every claim.

Blanchet, Cui, Li and Liu, *Stability Evaluation via Distributional Perturbation Analysis*, ICML 2024.
"""

from __future__ import annotations

from tippingpoint.reproduce import (
    covid,
    features,
    income,
    pubcov_covid,
    toy_convergence,
    toy_cross_entropy,
    toy_thresholds,
    toy_zero_one,
)
from tippingpoint.reproduce.figure import Figure

MODULES = (toy_cross_entropy, toy_zero_one, toy_thresholds, toy_convergence, income, pubcov_covid, features, covid)
"""One file a figure: a new one is a module with a `FIGURE`, and a place here."""

FIGURES: dict[str, Figure] = {module.FIGURE.name: module.FIGURE for module in MODULES}
"""The figures by name, in the order of the paper."""
