"""JSON Schemas (draft 2020-12) of what this package writes: a file each, by which any language can check it."""

from __future__ import annotations

from importlib.resources import files

NAMES = ("result", "report", "doctor")
"""What is described: results of every kind, reports, and what `tippingpoint doctor` finds."""


def schema_text(name: str) -> str:
    """The schema of this name, as the file holds it."""
    return files(__name__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
