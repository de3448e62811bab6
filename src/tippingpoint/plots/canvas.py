"""What every picture shares: where it is drawn, its colours, its words, and how it is written to files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.writing import write_files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Corner = Literal["best", "upper right", "lower right"]
"""Where a legend may be."""

Along = Literal["x", "y"]
"""An axis."""

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito, told apart by the colour-blind; their yellow, too pale for a white page, is left out."""

MOVING, REWEIGHTING = PALETTE[1], PALETTE[0]
"""Colour of what comes from moving samples, and of what comes from reweighting them."""

INK, SHADE, SHADOW = "#333333", "#767676", "#BDBDBD"
"""Greys: for lines that bear meaning, for words beside them (legible on white), for what lies behind."""

DASHES = (0, (4, 3))
"""Stroke of thresholds and limits."""

SIZE = (5.4, 3.6)
"""Inches of a new picture."""

LEGEND_COLUMNS = 3
"""Entries of a legend in one line at most."""

HANDLE, LETTER, LINE, GAP = 0.45, 0.066, 0.2, 0.08
"""Inches of a legend in letters of ten points: of a mark, of a letter, between lines, below the last."""

TICKS = 12
"""Settings named along an axis at most."""

MAX_LEVEL_LETTERS = 40
"""Letters along an axis from which on they are written aslant."""

COLOURS = 256
"""Shades that a PNG has at most; the eye sees no more in these pictures, and the file is a third as large."""

SALT = "tippingpoint"
"""What the names inside an SVG are made from; by chance, if it is left to matplotlib."""


def axes_on(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """The axes given, or those of a new figure; the two sides that hold no numbers are left open."""
    if ax is None:
        try:
            from matplotlib import pyplot as plt
        except ImportError:
            raise UnsupportedError("pictures need matplotlib; pip install 'tippingpoint[plot]'.") from None
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def save_figure(figure: Figure | SubFigure, path: str | os.PathLike[str], dpi: float = 150.0) -> tuple[Path, Path]:
    """The picture as `path.png` and `path.svg`, both or none; equal pictures are equal bytes.

    Parameters
    ----------
    figure
        What to write, such as `ax.figure`.
    path
        Where, without a suffix; the folder must be there.
    dpi
        Dots an inch, of the PNG.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from PIL import Image

    if not isinstance(figure, Figure):
        raise InputError(f"figure is a {type(figure).__name__}; give a whole figure, as ax.figure is one.")
    given = Path(path)
    if given.suffix.lower() in (".png", ".svg"):
        raise InputError(f"path={str(path)!r} ends in {given.suffix!r}; leave that out: a PNG and an SVG are both written.")
    if not given.parent.is_dir():
        raise InputError(f"path={str(path)!r} is in a folder that does not exist; make {str(given.parent)!r} first.")
    png, svg = (given.with_name(f"{given.name}.{kind}") for kind in ("png", "svg"))
    drawn, small, lines = BytesIO(), BytesIO(), BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi, transparent=False)
    few = Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(small, format="png", optimize=True, dpi=(dpi, dpi))
    with rc_context({"svg.hashsalt": SALT, "svg.fonttype": "path"}):
        figure.savefig(lines, format="svg", metadata={"Date": None, "Creator": None})
    write_files({png: small.getvalue(), svg: lines.getvalue()})
    return png, svg


def read_values(values: Any, name: str, length: int | None = None) -> FloatArray:
    """Numbers of one dimension, infinite or missing ones among them."""
    try:
        read = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}={values!r} must be numbers.") from None
    if read.ndim != 1 or (length is not None and len(read) != length):
        wanted = "a vector" if length is None else f"{length} numbers"
        raise InputError(f"{name} has shape {read.shape}; give {wanted}.")
    return read


def read_band(values: Any, name: str, length: int) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """A line and its band: values alone, `(mean, spread)` or `(mean, lower, upper)`."""
    if isinstance(values, tuple) and len(values) in (2, 3) and all(np.ndim(part) == 1 for part in values):
        middle, *rest = (read_values(part, name, length) for part in values)
        if len(rest) == 2:
            return middle, rest[0], rest[1]
        with np.errstate(invalid="ignore"):  # an infinite spread around what is infinite
            return middle, middle - rest[0], middle + rest[0]
    return read_values(values, name, length), None, None


def name_settings(ax: Axes, labels: Sequence[str], along: Along = "x") -> None:
    """Settings along an axis at 0, 1, …: all of them, or every so many that they stay legible."""
    axis = ax.xaxis if along == "x" else ax.yaxis
    step = -(-len(labels) // TICKS)
    shown = [str(label) for label in labels[::step]]
    axis.set_ticks(range(0, len(labels), step), shown)
    if along == "x" and sum(max(map(len, label.split("\n"))) for label in shown) > MAX_LEVEL_LETTERS:
        for text in axis.get_ticklabels():
            text.set(rotation=30, horizontalalignment="right", rotation_mode="anchor")


def dash(ax: Axes, at: float, label: str, *, upright: bool = False) -> None:
    """A dashed line at a value, named in the legend."""
    (ax.axvline if upright else ax.axhline)(at, color=INK, linestyle=DASHES, linewidth=1.2, zorder=1.5, label=label)


def explain(ax: Axes, place: Corner = "best", *, abreast: int = 1, handles: Sequence[Any] | None = None) -> None:
    """The legend on a pale ground, by default where it covers least."""
    shown = entries(ax) if handles is None else list(handles)
    ax.legend(
        handles=shown,
        loc=place,
        ncols=abreast,
        fontsize="small",
        framealpha=0.85,
        edgecolor="none",
        borderpad=0.2,
        labelspacing=0.35,
        handlelength=1.6,
    )


def entries(ax: Axes) -> list[Any]:
    """What the legend has to name."""
    return ax.get_legend_handles_labels()[0]


def explain_above(ax: Axes) -> None:
    """The legend above what is drawn, in room made for it."""
    handles = entries(ax)
    explain(ax, "upper right", abreast=make_room(ax, [str(handle.get_label()) for handle in handles]), handles=handles)


def make_room(ax: Axes, labels: Sequence[str]) -> int:
    """Room for a legend above what is drawn, inside the picture, where a title does not meet it; how many entries abreast."""
    from matplotlib import rcParams

    if not labels:
        return 1
    width, height = (length / ax.figure.dpi for length in ax.bbox.size)
    scale = float(rcParams["font.size"]) / 10.0
    wide = [scale * (HANDLE + LETTER * len(label)) for label in labels]
    abreast = next((k for k in range(LEGEND_COLUMNS, 1, -1) if sum(max(c, default=0.0) for c in _columns(wide, k)) < width), 1)
    part = min(scale * (LINE * -(-len(labels) // abreast) + GAP) / height, 0.5)
    low, high = ax.get_ylim()  # from the lower edge to the upper, whichever is the larger number
    ax.set_ylim(low, low + (high - low) / (1.0 - part))
    return abreast


def _columns(entries: list[float], count: int) -> list[list[float]]:
    """Entries in columns, as a legend fills them: one after the other, the first ones longer."""
    return [part.tolist() for part in np.array_split(np.array(entries), count)]


def colour(k: int) -> str:
    """The colour of the k-th of several things; after the last, the first again."""
    return PALETTE[k % len(PALETTE)]
