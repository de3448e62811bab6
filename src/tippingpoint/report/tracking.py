"""A result in MLflow: its numbers as metrics, its settings as tags, the report as an artifact."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, UnsupportedError

METRICS = (
    "value",
    "lower",
    "upper",
    "standard_error",
    "current_risk",
    "risk",
    "corruption_excess",
    "reweighting_excess",
    "root_mean_square_move",
    "moved_share",
    "effective_share",
)
"""Numbers of a result that are logged; those that are not finite are tags, as not every store keeps them."""

TAGS = ("loss", "divergence", "theta1", "theta2", "status", "exact", "interrupted", "lower_by")
"""The settings, and what certifies the result."""


def log(summary: Mapping[str, Any], write: Callable[[Path], object] | None, prefix: str) -> str:
    """The summary of a result, logged to the run that is active, or to a new one; its id.

    Parameters
    ----------
    summary
        Every number and word of the result.
    write
        Writes the report to a file; None for no report.
    prefix
        Of every name, so that several results fit into one run.
    """
    if not isinstance(prefix, str) or not prefix:
        raise InputError(f"prefix={prefix!r} must be a word, as 'stability'.")
    try:
        import mlflow
    except ImportError:
        raise UnsupportedError("logging needs MLflow; pip install 'tippingpoint[mlflow]'.") from None
    run = mlflow.active_run()
    if run is None:
        with mlflow.start_run():
            return log(summary, write, prefix)
    finite = {name: float(summary[name]) for name in METRICS if math.isfinite(summary[name])}
    mlflow.log_metrics({f"{prefix}.{name}": value for name, value in finite.items()})
    tags = {name: str(summary[name]) for name in (*TAGS, *METRICS) if name not in finite}
    mlflow.set_tags({f"{prefix}.{name}": text for name, text in tags.items()})
    if write is not None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / f"{prefix}.html"
            write(page)
            mlflow.log_artifact(str(page))
    return str(run.info.run_id)
