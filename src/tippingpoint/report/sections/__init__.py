"""The sections of a report, one file each, in the order in which a reader meets them."""

from __future__ import annotations

from typing import Any

from tippingpoint.report.section import Section
from tippingpoint.report.sections.answer import ANSWER
from tippingpoint.report.sections.curves import CURVES
from tippingpoint.report.sections.features import FEATURES
from tippingpoint.report.sections.limits import LIMITS
from tippingpoint.report.sections.live import LIVE
from tippingpoint.report.sections.manifest import MANIFEST
from tippingpoint.report.sections.models import MODELS
from tippingpoint.report.sections.population import POPULATION
from tippingpoint.report.sections.rows import ROWS
from tippingpoint.report.sections.windows import WINDOWS

__all__ = ["SECTIONS"]

SECTIONS: list[Section[Any]] = [
    ANSWER,
    WINDOWS,
    LIVE,
    CURVES,
    POPULATION,
    ROWS,
    FEATURES,
    MODELS,
    LIMITS,
    MANIFEST,
]
"""The registry: the summary, the page, its Markdown and its JSON hold what stands here."""
