"""The names of categories that XGBoost stores since 3.1, by which it numbers those of other data as those it was trained on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage
from tippingpoint.files.documents import IntArray, Section

WIDTHS = {9: "i1", 10: "u1", 11: "i2", 12: "u2", 13: "i4", 14: "u4", 15: "i8", 16: "u8"}
"""Types of whole numbers that categories may be, by XGBoost's number of each."""


def read_names(section: Section, features: int) -> dict[str, Any]:
    """The document of them, checked, as XGBoost stores it; nothing where no column has any."""
    section.only(("enc", "feature_segments", "sorted_idx"))
    encoded = [Section(each, f"the names of the categories of feature {at}") for at, each in enumerate(section.items("enc"))]
    segments, order = section.integers("feature_segments"), section.integers("sorted_idx")
    if not encoded and not len(segments) and not len(order):
        return {}
    if len(encoded) != features or len(segments) != features + 1:
        raise Damage(f"it names the categories of {len(encoded)} features, where the model has {features}")
    columns = [_column(each) for each in encoded]
    bounds = np.concatenate(([0], np.cumsum([count for count, _ in columns])))
    if not np.array_equal(segments, bounds) or len(order) != bounds[-1]:
        raise Damage("the number of the names of categories differs from what it says of them")
    for at, (begin, end) in enumerate(pairwise(bounds)):
        if not np.array_equal(np.sort(order[begin:end]), np.arange(end - begin)):
            raise Damage(f"the order of the categories of feature {at} names one twice, or one that is not there")
    return {
        "enc": [document for _, document in columns],
        "feature_segments": segments.astype(np.int32),
        "sorted_idx": order.astype(np.int32),
    }


def _column(section: Section) -> tuple[int, dict[str, Any]]:
    """How many categories a column has, and the document of their names."""
    values = section.integers("values")
    if "offsets" in section:
        section.only(("offsets", "values"))
        offsets = section.integers("offsets")
        if not _increasing(offsets, len(values)) or (np.abs(values) > 255).any():
            raise Damage(f"{section.called} are no texts")
        return max(len(offsets) - 1, 0), {"offsets": offsets.astype(np.int32), "values": _bytes(values)}
    section.only(("type", "values"))
    width = WIDTHS.get(section.member("type")) if isinstance(section.member("type"), int) else None
    if width is None:
        raise Damage(f"{section.called} are of no known type")
    limits = np.iinfo(width)
    if len(values) and not (limits.min <= values.min() and values.max() <= limits.max):
        raise Damage(f"{section.called} hold a number that their type cannot")
    return len(values), {"type": section.member("type"), "values": values.tolist()}  # a list suits every type; an array, one


def _increasing(offsets: IntArray, end: int) -> bool:
    if not len(offsets):
        return end == 0
    return bool(offsets[0] == 0 and offsets[-1] == end and (np.diff(offsets) >= 0).all())


def _bytes(values: IntArray) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Bytes, as signed ones; files of some versions hold them unsigned."""
    return (values & 255).astype(np.uint8).view(np.int8)
