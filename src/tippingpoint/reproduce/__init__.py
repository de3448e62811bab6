"""The figures of the paper, on real data, over seeds, with a verdict on every claim.

Blanchet, Cui, Li and Liu, *Stability Evaluation via Distributional Perturbation Analysis*, ICML 2024.
Importing this is quick, so that the command line knows the figures; `registry` imports what makes them.
"""

from __future__ import annotations

NAMES = (
    "toy-cross-entropy",
    "toy-zero-one",
    "toy-thresholds",
    "toy-convergence",
    "income",
    "pubcov-covid",
    "features",
    "covid",
)
"""The figures, in the order of the paper: each is a module here of the same name, with underscores, and its `FIGURE`."""
