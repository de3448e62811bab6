"""Pictures from plain numbers: what is drawn is what was given, where it was asked for, and in words."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.transforms import BboxBase

from pictures import bars, cloud, line, quiet, ticks, words
from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.plots import (
    PALETTE,
    draw_convergence,
    draw_groups,
    draw_lines,
    draw_ranking,
    draw_result,
    draw_sensitive,
    draw_split,
    draw_weights,
    save_figure,
)
from tippingpoint.results.boundary import decision

__all__ = ["quiet"]

INF, NAN = math.inf, math.nan
BEFORE = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]])
AFTER = np.array([[0.0, 0.0], [1.5, 0.5], [2.0, 1.0], [3.0, 2.0], [2.5, 2.5]])
ROWS = np.array([0, 1, 2, 3, 3])
WEIGHTS = np.array([1.0, 4.0, 0.5, 2.0, 0.0])
SUMMARY: dict[str, Any] = {
    "status": "attained",
    "loss": "zero_one",
    "value": 0.5,
    "lower": 0.5,
    "upper": 0.5,
    "exact": True,
    "interrupted": False,
    "standard_error": 0.02,
    "current_risk": 0.1,
    "risk": 0.4,
    "largest_risk": 1.0,
    "corruption_excess": 0.25,
    "reweighting_excess": 0.05,
    "theta1": 1.0,
    "theta2": 0.25,
    "divergence": "kl",
}

DRAWN: dict[str, Callable[[Axes | None], Axes]] = {
    "sensitive": lambda ax: draw_sensitive(
        BEFORE, AFTER, ROWS, WEIGHTS, list("abaab"), ("age", "pay"), lambda z: z[:, 0] - 1, ax
    ),
    "lines": lambda ax: draw_lines([0, 1], {"lr": ([1, 2], [0.1, 0.2]), "svm": [2, 1]}, "mix", "stability", ax),
    "split": lambda ax: draw_split(["a", "b"], [0.1, 0.2], [0.2, 0.1], ax, errors=([0.01, 0.02], [0.02, 0.01])),
    "ranking": lambda ax: draw_ranking(["age", "sex"], [0.2, 0.1], [0.01, 0.02], ["number", "category"], 0.3, ax),
    "convergence": lambda ax: draw_convergence({"paper": [0.1, 0.3, 0.4]}, 0.4, ax=ax),
    "groups": lambda ax: draw_groups(
        ["young", "old"], {"before": [0.8, 0.9], "after": ([0.6, 0.5], [0.1, 0.1])}, "accuracy", ax
    ),
    "weights": lambda ax: draw_weights([1.0, 3.0, 0.5], ax=ax),
    "result": lambda ax: draw_result(SUMMARY, ax),
}

SIZES = [(2.8, 2.2), (5.4, 3.6)]
"""Inches of a figure: of a narrow column, and the usual ones."""


# Wherever it is drawn


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_where_it_is_asked_for(name: str) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert DRAWN[name](left) is left
    assert left.has_data()
    assert not right.has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", DRAWN)
def test_without_axes_a_picture_makes_a_figure_of_its_own(name: str) -> None:
    plt.figure()
    ax = DRAWN[name](None)
    assert len(plt.get_fignums()) == 2
    assert plt.gcf() is ax.figure
    ax.figure.canvas.draw()  # warnings, of letters or layouts that do not fit, are errors here


@pytest.mark.parametrize("name", DRAWN)
def test_every_axis_says_what_it_shows(name: str) -> None:
    ax = DRAWN[name](None)
    assert ax.get_xlabel() or ticks(ax, "x")
    assert ax.get_ylabel() or ticks(ax, "y")


def legend_of(ax: Axes) -> BboxBase:
    """Where the legend of a picture that has been drawn is."""
    legend = ax.get_legend()
    assert legend is not None
    return legend.get_window_extent()


def bars_of(ax: Axes) -> list[BboxBase]:
    """Where its bars are."""
    return [patch.get_window_extent() for container in ax.containers for patch in getattr(container, "patches", [])]


@pytest.mark.parametrize(
    ("name", "size"), [(name, size) for name in DRAWN for size in SIZES if name != "result" or size == SIZES[-1]]
)
def test_words_stay_inside_the_figure(name: str, size: tuple[float, float]) -> None:  # a headline needs its width
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    ax = DRAWN[name](axes)
    figure.canvas.draw()
    box, page = legend_of(ax), figure.bbox
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1 + 1
    assert box.y1 <= page.y1 + 1


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["split", "groups"])
def test_legends_stand_above_upright_bars(name: str, size: tuple[float, float]) -> None:
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    ax = DRAWN[name](axes)
    figure.canvas.draw()
    boxes = bars_of(ax)
    assert boxes
    assert all(bar.y1 <= legend_of(ax).y0 + 3 for bar in boxes)


@pytest.mark.parametrize("size", SIZES)
def test_the_legend_of_a_ranking_covers_no_bar(size: tuple[float, float]) -> None:
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    ax = DRAWN["ranking"](axes)
    figure.canvas.draw()
    boxes = bars_of(ax)
    assert boxes
    assert not any(bar.overlaps(legend_of(ax)) for bar in boxes)


@pytest.mark.parametrize("name", DRAWN)
def test_without_matplotlib_a_sentence_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plt.figure()  # as an earlier test may have left one: it is closed once matplotlib is back, which closing needs
    with monkeypatch.context() as without:
        for module in [module for module in sys.modules if module.partition(".")[0] == "matplotlib"]:
            without.setitem(sys.modules, module, None)
        with pytest.raises(UnsupportedError, match=r"pip install 'tippingpoint\[plot\]'"):
            DRAWN[name](None)


def contrast(one: FloatArray, other: FloatArray) -> float:
    """Ratio of the luminances of two colours, by the Web Content Accessibility Guidelines."""
    return float((max(one, other) + 0.05) / (min(one, other) + 0.05))


def luminance(colour: str) -> Any:
    channels = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_colours_are_seen_on_white() -> None:
    assert len(set(PALETTE)) == len(PALETTE) == 7
    for colour in PALETTE:
        assert contrast(luminance(colour), luminance("#FFFFFF")) > 2.0


# The most sensitive distribution


def test_dots_are_where_samples_go_and_as_large_as_they_weigh() -> None:
    ax = draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, ["no", "yes", "no", "yes", "no"], ("age", "pay"))
    shadows, even = cloud(ax, "as they were")
    np.testing.assert_array_equal(shadows, BEFORE)
    drawn = {tuple(place): area for kind in ("no", "yes") for place, area in zip(*cloud(ax, kind), strict=True)}
    assert drawn == pytest.approx({tuple(z): even[0] * w for z, w in zip(AFTER, WEIGHTS, strict=True)})
    np.testing.assert_array_equal(cloud(ax, "yes")[0], AFTER[[1, 3]])  # the larger first, so that none is hidden
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "pay")
    assert words(ax) == ["as they were", "no", "yes", "weight 1", "weight 4"]


def test_lines_join_what_moved_and_weighs_something_to_where_it_was() -> None:
    ax = draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS)
    (joined,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    expected = [[BEFORE[1], AFTER[1]], [BEFORE[3], AFTER[3]]]
    np.testing.assert_array_equal(joined.get_segments(), expected)
    assert words(ax) == ["as they were", "as they go", "weight 1", "weight 4"]


def test_a_huge_weight_is_capped_and_a_crowd_is_small() -> None:
    areas = cloud(draw_sensitive(BEFORE, BEFORE, range(4), [1.0, 16.0, 17.0, 1e9]), "as they go")[1]
    np.testing.assert_allclose(np.sort(areas) / areas.min(), [1.0, 16.0, 16.0, 16.0])
    many = np.random.default_rng(0).normal(size=(1000, 2))
    crowded = cloud(draw_sensitive(many, many, np.arange(1000), np.ones(1000)), "as they go")[1]
    assert (crowded < areas.min()).all()


def test_a_large_crowd_makes_no_large_file(tmp_path: Path) -> None:
    many = np.random.default_rng(0).normal(size=(6000, 2))
    ax = draw_sensitive(many, many, np.arange(6000), np.ones(6000), np.arange(6000) % 2)
    assert all(path.stat().st_size < 300_000 for path in save_figure(ax.figure, tmp_path / "crowd", dpi=60))


def test_the_boundary_is_the_zero_of_its_function() -> None:
    ax = draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, boundary=lambda z: z[:, 0] ** 2 + z[:, 1] ** 2 - 4.0)
    (contour,) = [c for c in ax.collections if c.get_label() == "" or type(c).__name__ == "QuadContourSet"]
    path = contour.get_paths()[0].vertices
    np.testing.assert_allclose(np.hypot(*np.asarray(path).T), 2.0, atol=2e-3)
    assert "decision boundary" in words(ax)


def test_a_boundary_out_of_sight_is_not_in_the_legend() -> None:
    assert "decision boundary" not in words(draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, boundary=lambda z: z[:, 0] + 99.0))


def test_categories_are_named_along_their_axis() -> None:
    ax = draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, ticks=(["a", "b", "c", "d"], None))
    assert ticks(ax, "x") == ["a", "b", "c", "d"]
    assert ax.get_xlim() == (-0.5, 3.5)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"before": BEFORE[:, :1]}, "before has shape"),
        ({"after": [["a", "b"]] * 5}, "after must be numbers"),
        ({"after": np.empty((0, 2)), "rows": np.empty(0, dtype=int), "weights": []}, "after has no points"),
        ({"rows": [0, 1, 2, 3, 4]}, "rows goes from 0 to 4, but before has 4"),
        ({"rows": [0.0] * 5}, "rows has shape"),
        ({"weights": [1.0]}, "weights has shape"),
        ({"groups": ["a"]}, "groups has 1 labels but after has 5"),
        ({"boundary": lambda z: z}, r"boundary\(points\) has shape"),
    ],
)
def test_what_cannot_be_drawn_as_a_cloud_is_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw_sensitive(**{"before": BEFORE, "after": AFTER, "rows": ROWS, "weights": WEIGHTS, **given})


def test_too_many_groups_are_told() -> None:
    with pytest.raises(InputError, match="12 different labels; at most 7"):
        draw_sensitive(np.ones((12, 2)), np.ones((12, 2)), range(12), np.ones(12), np.arange(12))


def test_pictures_that_share_their_limits_show_the_samples_of_all() -> None:
    _, (left, right) = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax, shift in ((left, 0.0), (right, 10.0)):
        draw_sensitive(BEFORE + shift, BEFORE + shift, range(4), np.ones(4), ax=ax, legend="axes" if ax is left else "none")
    for limits in (left.get_xlim(), left.get_ylim()):
        assert limits[0] < 0.0
        assert limits[1] > 13.0
    assert words(left) == ["as they were", "as they go"]
    assert words(right) == []
    assert left.get_ylim()[1] > 15.0  # the second leaves the room that the first has made for its legend


def test_one_picture_explains_for_all_below_the_figure() -> None:
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, ax=left, legend="none")
    draw_sensitive(BEFORE, AFTER, ROWS, WEIGHTS, boundary=lambda z: z[:, 0] - 1.0, ax=right, legend="figure")
    assert words(left) == words(right) == []
    (legend,) = figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told == ["as they were", "as they go", "weight 1", "weight 4", "decision boundary"]
    figure.canvas.draw()
    assert legend.get_window_extent().y1 <= left.get_window_extent().y0


# Weights


def test_the_curve_of_weights_is_the_share_of_the_most_weighted() -> None:
    weights, base = np.array([0.5, 2.0, 1.0, 0.0]), np.array([0.4, 0.3, 0.2, 0.1])
    ax = draw_weights(weights, base)
    share = weights / (base @ weights)
    expected = [[0.0, 0.0], [0.3, 0.3 * share[1]], [0.5, 0.3 * share[1] + 0.2 * share[2]], [0.9, 1.0], [1.0, 1.0]]
    np.testing.assert_allclose(line(ax, f"weights up to {share[1]:.3g}"), expected, atol=1e-15)
    effective = 1.0 / float(base @ share**2)
    np.testing.assert_allclose(line(ax, f"effective share {100 * effective:.3g}%")[1], [effective, 1.0])


@pytest.mark.parametrize("weights", [[], [1.0, NAN], [-1.0, 2.0], [0.0, 0.0]])
def test_weights_that_are_none_are_told(weights: list[float]) -> None:
    with pytest.raises(InputError, match="weights must be finite"):
        draw_weights(weights)


# Lines


def test_lines_and_bands_are_the_numbers_given() -> None:
    at = [0.0, 0.5, 1.0]
    ax = draw_lines(at, {"lr": ([1, 2, 3], [0.1, 0.2, 0.3]), "svm": ([2, 2, 2], [1, 1, 1], [4, 5, 6])}, "mix", "stability")
    np.testing.assert_array_equal(line(ax, "lr"), np.column_stack([at, [1, 2, 3]]))
    bands = [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, PolyCollection)]
    assert {(0.0, 0.9), (0.5, 2.2), (1.0, 2.7)} <= {(x, round(y, 9)) for x, y in np.asarray(bands[0])}
    assert {(0.0, 1.0), (0.5, 5.0), (1.0, 6.0)} <= set(map(tuple, np.asarray(bands[1])))
    assert words(ax) == ["lr", "svm"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mix", "stability")


def test_two_numbers_are_two_values_and_not_a_mean_with_its_spread() -> None:
    ax = draw_lines([0, 1], {"lr": (1.0, 2.0)}, "mix", "stability")
    np.testing.assert_array_equal(line(ax, "lr"), [[0, 1], [1, 2]])
    assert not words(ax)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("points", [5, 60])
def test_gaps_are_left_and_infinity_is_said(points: int, log: bool) -> None:  # noqa: FBT001  # a case
    at, values = np.arange(points, dtype=float), np.ones(points)
    values[1], values[3:] = NAN, INF
    ax = draw_lines(at, {"lr": (values, 0.5 * values)}, "x", "y", log=log)
    drawn = line(ax, "lr")[:, 1]
    np.testing.assert_array_equal(np.isfinite(drawn), np.isfinite(values))
    signs = [float(text.get_position()[0]) for text in ax.texts if text.get_text() == "∞"]
    assert signs == ([3.0, 4.0] if points == 5 else [3.0])
    (stroke,) = ax.get_lines()
    assert list(stroke.get_markevery()) == [0, 2]  # type: ignore[arg-type]  # a point without neighbours is seen
    assert ax.get_xlim()[0] <= 0.0
    assert ax.get_xlim()[1] >= points - 1
    ax.figure.canvas.draw()


def test_nothing_but_infinity_can_be_drawn() -> None:
    ax = draw_lines([0.1, 0.2], {"lr": [INF, INF]}, "risk", "stability")
    assert [text.get_text() for text in ax.texts] == ["∞", "∞"]
    ax.figure.canvas.draw()


def test_lower_bounds_are_dotted_in_the_colour_of_their_line() -> None:
    ax = draw_lines([0, 1], {"lr": [1, 2], "net": [3, 4]}, "x", "y", floors={"net": [2.5, INF]})
    (stroke,) = [drawn for drawn in ax.get_lines() if drawn.get_linestyle() == ":"]
    assert stroke.get_color() == next(drawn for drawn in ax.get_lines() if drawn.get_label() == "net").get_color()
    np.testing.assert_array_equal(stroke.get_ydata(), [2.5, NAN])
    assert words(ax) == ["lr", "net", "certified lower bound"]


def test_more_lines_than_colours_are_told_apart_by_stroke() -> None:
    ax = draw_lines([0, 1], {f"m{k}": [k, k] for k in range(10)}, "x", "y")
    looks = {(drawn.get_color(), str(drawn.get_linestyle()), str(drawn._dash_pattern)) for drawn in ax.get_lines()}  # type: ignore[attr-defined]
    assert len(looks) == 10


@pytest.mark.parametrize(
    ("series", "told"),
    [
        ({}, "series is empty"),
        ({"lr": [1, 2, 3]}, r"series\['lr'\] has shape \(3,\); give 2 numbers"),
        ({"lr": ["a", "b"]}, "must be"),
    ],
)
def test_lines_that_do_not_fit_are_told(series: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw_lines([0, 1], series, "x", "y")


def test_convergence_counts_epochs_from_one_and_dashes_the_threshold() -> None:
    ax = draw_convergence({"paper": [0.1, 0.3, 0.35], "other": [0.4]}, 0.4)
    np.testing.assert_array_equal(line(ax, "paper"), [[1, 0.1], [2, 0.3], [3, 0.35]])
    np.testing.assert_array_equal(line(ax, "other"), [[1, 0.4]])
    (dashed,) = [drawn for drawn in ax.get_lines() if drawn.get_label() == "threshold 0.4"]
    assert list(dashed.get_ydata()) == [0.4, 0.4]  # type: ignore[arg-type]  # an array
    assert dashed.get_linestyle() == "--"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "risk")


@pytest.mark.parametrize("traces", [{}, {"path": ()}])
def test_convergence_without_epochs_is_told(traces: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="traces holds no epoch"):
        draw_convergence(traces)


# Bars


def test_the_two_parts_of_the_excess_are_stacked() -> None:
    ax = draw_split([0.0, 0.25, "own"], [0.1, 0.2, NAN], [0.3, 0.2, NAN], errors=([0.01] * 3, [0.02] * 3), xlabel="mix")
    moving, weighing = bars(ax, "moving samples"), bars(ax, "reweighting them")
    assert [(low, high) for _, low, _, high in moving[:2]] == [(0.0, 0.1), (0.0, 0.2)]
    np.testing.assert_allclose([(low, high) for _, low, _, high in weighing[:2]], [(0.1, 0.3), (0.2, 0.2)])
    assert ticks(ax, "x") == ["0", "0.25", "own"]
    assert words(ax) == ["moving samples", "reweighting them"]
    segments = [segment for c in ax.collections if isinstance(c, LineCollection) for segment in c.get_segments()]
    ends = [np.asarray(segment)[:, 1] for segment in segments if len(segment)]
    np.testing.assert_allclose(ends, [[0.09, 0.11], [0.19, 0.21], [0.38, 0.42], [0.38, 0.42]])


def test_a_part_below_zero_goes_down_from_zero() -> None:
    assert bars(draw_split(["a"], [0.3], [-0.1]), "reweighting them")[0][1::2] == (0.0, -0.1)


def test_many_settings_are_named_only_now_and_then() -> None:
    ax = draw_split(np.linspace(0, 1, 41), np.ones(41), np.ones(41))
    assert len(ticks(ax, "x")) <= 12
    assert ticks(ax, "x")[:2] == ["0", "0.1"]
    assert [float(k) for k in ax.get_xticks()[:2]] == [0.0, 4.0]


def test_long_names_are_written_aslant() -> None:
    ax = draw_groups([f"a rather long name {k}" for k in range(4)], {"lr": [1, 2, 3, 4]}, "accuracy")
    assert {text.get_rotation() for text in ax.get_xticklabels()} == {30.0}


def test_a_ranking_has_the_most_sensitive_on_top() -> None:
    ax = draw_ranking(["age", "sex", "pay", "job"], [0.3, 0.1, INF, 0.2], [0.01, NAN, NAN, 0.02], limit=0.35)
    assert ticks(ax, "y") == ["sex", "job", "age", "pay"]
    (drawn,) = [c for c in ax.containers if hasattr(c, "patches")]
    lengths = {round(b.get_y() + b.get_height() / 2): b.get_width() for b in drawn.patches}
    assert lengths == {0: 0.1, 1: 0.2, 2: 0.3}
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row is the upper one
    np.testing.assert_array_equal(line(ax, "reweighting alone")[:, 0], [0.35, 0.35])
    (dashed,) = [drawn for drawn in ax.get_lines() if drawn.get_label() == "reweighting alone"]
    assert dashed.get_linestyle() == "--"
    assert [(text.get_text(), text.get_position()[1]) for text in ax.texts] == [("∞", 3.0)]
    assert words(ax) == ["reweighting alone"]
    assert ax.get_xlim()[0] == 0.0


def test_error_bars_of_a_ranking_are_around_their_bars() -> None:
    ax = draw_ranking(["age", "sex"], [0.3, 0.1], [0.01, 0.02])
    segments = [segment for c in ax.collections if isinstance(c, LineCollection) for segment in c.get_segments()]
    np.testing.assert_allclose(segments, [[[0.29, 1.0], [0.31, 1.0]], [[0.08, 0.0], [0.12, 0.0]]])


def test_a_ranking_may_begin_with_the_largest_and_colours_kinds() -> None:
    ax = draw_ranking(["a", "b", "c"], [1, 3, 2], kinds=["number", "category", "number"], limit=INF, largest_first=True)
    assert ticks(ax, "y") == ["b", "c", "a"]
    assert words(ax) == ["number", "category"]
    assert [width for _, _, width, _ in bars(ax, "number")] == [1.0, 2.0]
    assert [width for _, _, width, _ in bars(ax, "category")] == [3.0]


def test_one_kind_needs_no_legend() -> None:
    assert words(draw_ranking(["a", "b"], [1, 2], kinds=["number", "number"])) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"names": [], "values": []}, "names is empty"),
        ({"values": [1.0]}, r"values has shape \(1,\); give 2 numbers"),
        ({"errors": [1.0]}, "errors has shape"),
        ({"kinds": ["a"]}, "kinds has 1 values but there are 2 names"),
        ({"names": list("abcdefgh"), "values": range(8), "kinds": list("abcdefgh")}, "at most 7 kinds"),
    ],
)
def test_a_ranking_that_does_not_fit_is_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw_ranking(**{"names": ["a", "b"], "values": [1.0, 2.0], **given})


def test_groups_stand_side_by_side_with_their_error_bars() -> None:
    ax = draw_groups(["young", "old"], {"before": [0.8, 0.9], "after": ([0.6, 0.5], [0.1, 0.2])}, "accuracy", xlabel="age")
    before, after = bars(ax, "before"), bars(ax, "after")
    assert [height for *_, height in before] == [0.8, 0.9]
    assert [height for *_, height in after] == [0.6, 0.5]
    for (x, _, width, _), (right, *_), place in zip(before, after, (0, 1), strict=True):
        assert x + width <= right
        assert x < place < right + width
    (whiskers,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    np.testing.assert_allclose([segment[:, 1] for segment in whiskers.get_segments()], [[0.5, 0.7], [0.3, 0.7]])
    assert ticks(ax, "x") == ["young", "old"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "accuracy")


def test_no_bar_a_group_is_told() -> None:
    with pytest.raises(InputError, match="series is empty"):
        draw_groups(["a"], {}, "accuracy")


# A result at a glance


def spans(ax: Axes) -> dict[str, tuple[float, float]]:
    """Where the bar of each step begins and ends."""
    drawn = [c.patches[0] for c in ax.containers]  # type: ignore[attr-defined]  # bars
    names = ticks(ax, "y")
    return {name: (round(b.get_x(), 9), round(b.get_x() + b.get_width(), 9)) for name, b in zip(names, drawn, strict=True)}


def test_the_risk_goes_in_steps_from_now_to_the_threshold() -> None:
    ax = draw_result(SUMMARY)
    assert spans(ax) == {"risk now": (0.0, 0.1), "moving samples": (0.1, 0.35), "reweighting them": (0.35, 0.4)}
    np.testing.assert_array_equal(line(ax, "threshold 40%")[:, 0], [0.4, 0.4])
    assert [text.get_text() for text in ax.texts] == ["10%", "+25%", "+5%"]
    title = " ".join(ax.get_title(loc="left").split())
    assert title == "Stability 0.5: what it takes to lift the error rate from 10% to 40%. exact; standard error 0.02"
    assert ax.get_xlabel() == "error rate"


def test_what_is_out_of_reach_is_shown_as_far_as_it_goes() -> None:
    out = {
        **SUMMARY,
        "status": "unreachable",
        "value": INF,
        "lower": INF,
        "upper": INF,
        "standard_error": NAN,
        "largest_risk": 0.3,
    }
    ax = draw_result(out)
    assert spans(ax) == {"risk now": (0.0, 0.1), "largest in reach": (0.1, 0.3)}
    assert "Stability ∞" in ax.get_title(loc="left")
    assert ax.get_xlim()[1] > 0.4
    unproved = {"exact": False, "lower": 0.2, "status": "not_found", "largest_risk": None, "largest_risk_found": 0.3}
    assert spans(draw_result({**out, **unproved})) == {"risk now": (0.0, 0.1), "largest found": (0.1, 0.3)}
    assert spans(draw_result({**out, "largest_risk": None})) == {"risk now": (0.0, 0.1)}


def test_what_is_reached_already_needs_no_steps() -> None:
    ax = draw_result({**SUMMARY, "status": "already", "risk": 0.05, "value": 0.0, "standard_error": NAN})
    assert spans(ax) == {"risk now": (0.0, 0.1)}
    np.testing.assert_array_equal(line(ax, "threshold 5%")[:, 0], [0.05, 0.05])


def test_losses_below_zero_are_drawn_to_the_left() -> None:
    below = {**SUMMARY, "loss": "mean loss", "current_risk": -1.0, "risk": -0.7}
    ax = draw_result(below)
    assert spans(ax)["risk now"] == (0.0, -1.0)
    assert ax.get_xlim()[0] < -1.0
    assert ax.get_xlabel() == "mean loss"


def test_what_may_not_change_is_said() -> None:
    assert ticks(draw_result({**SUMMARY, "theta1": INF}), "y")[1] == "moving samples\n(not allowed)"
    assert ticks(draw_result({**SUMMARY, "theta2": INF}), "y")[2] == "reweighting them\n(not allowed)"


def test_an_upper_bound_is_called_one() -> None:
    assert (
        draw_result({**SUMMARY, "exact": False, "lower": 0.0})
        .get_title(loc="left")
        .endswith("an upper bound; standard error 0.02")
    )
    assert "certified ≥ 0.4" in draw_result({**SUMMARY, "exact": False, "lower": 0.4}).get_title(loc="left")
    stopped = draw_result({**SUMMARY, "exact": False, "lower": 0.4, "interrupted": True}).get_title(loc="left")
    assert "an upper bound, interrupted" in stopped
    assert "certified" not in stopped


# Boundaries


def test_every_kind_of_model_decides_alike() -> None:
    class Scores:
        def decision_function(self, x: FloatArray) -> FloatArray:
            return np.asarray(x[:, 0] - 1.0)

    class Shares:
        classes_ = ("no", "yes")

        def predict_proba(self, x: FloatArray) -> FloatArray:
            yes = np.clip(x[:, 0] / 2.0, 0.0, 1.0)
            return np.column_stack([1.0 - yes, yes])

    class Labels:
        def predict(self, x: FloatArray) -> list[str]:
            return ["yes" if value > 1.0 else "no" for value in x[:, 0]]

    x = np.array([[0.2, 0.0], [0.9, 0.0], [1.1, 0.0], [1.8, 0.0]])
    for model in (
        Scores(),
        Shares(),
        Labels(),
        ([1.0, 0.0], -1.0),
        lambda z: z[:, 0] - 1.0,
        lambda z: np.column_stack([z[:, 0], z[:, 0] ** 2]),
    ):
        np.testing.assert_array_equal(np.sign(decision(model)(x)), [-1, -1, 1, 1])


def test_more_than_two_classes_have_no_single_boundary() -> None:
    class Three:
        classes_ = (0, 1, 2)

    for model in (Three(), lambda z: np.ones((len(z), 3))):
        with pytest.raises(UnsupportedError, match="between two"):
            decision(model)(np.zeros((2, 2)))

    class Numbers:
        def predict(self, x: FloatArray) -> FloatArray:
            return x[:, 0]

    with pytest.raises(UnsupportedError, match="predicts 3 different values"):
        decision(Numbers())(np.arange(6.0).reshape(3, 2))
    with pytest.raises(InputError, match="model is a str"):
        decision("lr")


# Files


@pytest.mark.parametrize("name", DRAWN)
def test_equal_pictures_are_equal_files(name: str, tmp_path: Path) -> None:
    files = [save_figure(DRAWN[name](None).figure, tmp_path / turn, dpi=60) for turn in ("one.v1", "two")]
    assert [path.name for pair in files for path in pair] == ["one.v1.png", "one.v1.svg", "two.png", "two.svg"]
    for first, second in zip(*files, strict=True):
        assert first.read_bytes() == second.read_bytes()
    png, svg = files[0]
    assert b"Software" not in png.read_bytes()
    assert b"dc:date" not in svg.read_bytes()
    assert png.stat().st_size < 30_000


def test_a_file_shows_what_the_figure_shows(tmp_path: Path) -> None:
    ax = draw_split(["a"], [0.1], [0.2])
    png, _ = save_figure(ax.figure, tmp_path / "split", dpi=100)
    pixels = plt.imread(png)[..., :3]
    assert pixels.shape[:2] == (360, 540)
    for colour in (PALETTE[0], PALETTE[1]):
        wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
        assert (np.abs(pixels - wanted).max(axis=2) < 0.02).mean() > 0.05


@pytest.mark.parametrize(("name", "told"), [("a.png", "ends in '.png'"), ("none/a", "folder that does not exist")])
def test_a_path_that_cannot_be_written_is_told(name: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        save_figure(plt.figure(), tmp_path / name)
