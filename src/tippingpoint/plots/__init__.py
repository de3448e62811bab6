"""Pictures, drawn from plain numbers on an `Axes` given or made; nothing is shown, and no setting of matplotlib is changed."""

from tippingpoint.plots.bars import draw_groups, draw_ranking, draw_split
from tippingpoint.plots.canvas import PALETTE, save_figure
from tippingpoint.plots.clouds import draw_sensitive, draw_weights
from tippingpoint.plots.drift import draw_drift, draw_feature_drifts, draw_windows
from tippingpoint.plots.glance import draw_result
from tippingpoint.plots.lines import draw_convergence, draw_lines

__all__ = [
    "PALETTE",
    "draw_convergence",
    "draw_drift",
    "draw_feature_drifts",
    "draw_groups",
    "draw_lines",
    "draw_ranking",
    "draw_result",
    "draw_sensitive",
    "draw_split",
    "draw_weights",
    "draw_windows",
    "save_figure",
]
