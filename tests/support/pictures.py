"""What tests of pictures share: nothing is shown, no setting is changed, and what was drawn is read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from tippingpoint.core.arrays import FloatArray

mpl.use("Agg")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No picture is shown, and the user's settings stay as they are."""

    def shown(*_: Any, **__: Any) -> None:
        raise AssertionError("a picture was shown behind the user's back")

    monkeypatch.setattr(plt, "show", shown)
    monkeypatch.setattr("matplotlib.figure.Figure.show", shown)
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def words(ax: Axes) -> list[str]:
    """What the legend says."""
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def cloud(ax: Axes, label: str) -> tuple[FloatArray, FloatArray]:
    """Places and areas of the dots of a name."""
    (found,) = [c for c in ax.collections if isinstance(c, PathCollection) and c.get_label() == label]
    return np.asarray(found.get_offsets()), np.asarray(found.get_sizes())


def line(ax: Axes, label: str) -> FloatArray:
    """The points of the line of a name."""
    (found,) = [drawn for drawn in ax.get_lines() if drawn.get_label() == label]
    return np.asarray(found.get_xydata())


def bars(ax: Axes, label: str) -> list[tuple[float, float, float, float]]:
    """Left, lower, width and height of the bars of a name."""
    (found,) = [c for c in ax.containers if c.get_label() == label]
    return [(b.get_x(), b.get_y(), b.get_width(), b.get_height()) for b in found.patches]  # type: ignore[attr-defined]  # bars


def ticks(ax: Axes, along: str) -> list[str]:
    """What the axis names."""
    return [text.get_text() for text in (ax.get_xticklabels() if along == "x" else ax.get_yticklabels())]
