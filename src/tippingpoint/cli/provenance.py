"""What a report tells of the command that made it: its words, the file of the model, and the outcome of its gate."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tippingpoint.report import Gate
from tippingpoint.results.stability import StabilityResult


def provenance(
    options: argparse.Namespace,
    model: str | None = None,
    results: Mapping[str, StabilityResult] | None = None,
    what: str = "",
    *,
    complete: bool = True,
) -> dict[str, Any]:
    """Arguments of `report_summary`.

    Parameters
    ----------
    options
        Of the command.
    model
        Where the model comes from. One that a factory builds has no file of its own, but its weights may: their fingerprint
        is in the report then, and that of the object in memory where there is none.
    results, what, complete
        What the gate judges, what they are of, and whether all are there, as for `cli.gate.gate`; nothing for a command
        without a gate.
    """
    parts: dict[str, Any] = {"command": shlex.join(["tippingpoint", *options.words])}
    states = getattr(options, "state", None) or ()
    files = (each for each in (model, *(text.rpartition("=")[2] for text in states[:1])) if each is not None)
    parts["model_file"] = next((each for each in files if Path(each).is_file()), None)
    if results is not None and options.fail_below is not None:
        chosen = getattr(options, "gate_model", None)
        judged = {name: each.summary for name, each in results.items() if chosen in (None, name)}
        parts["gate"] = (
            Gate(options.fail_below, options.on or "lower").judge(judged, what, complete=complete) if judged else None
        )
    return parts
