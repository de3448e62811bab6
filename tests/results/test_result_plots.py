"""Results draw themselves: what they hold is what is seen, in the user's own words and units."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from torch import from_numpy, manual_seed, nn

import tippingpoint as tp
from pictures import bars, cloud, line, quiet, ticks, words
from tippingpoint.core.arrays import FloatArray
from tippingpoint.results.evidence import Places

__all__ = ["quiet"]

INF = math.inf
COEF, INTERCEPT = np.array([1.0, -0.5, 0.25]), 0.1
MODEL = (COEF, INTERCEPT)
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def data(n: int = 80, seed: int = 5) -> tuple[FloatArray, Any]:
    """Features and labels that the model predicts with some errors."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, np.where(x @ COEF + INTERCEPT + rng.normal(scale=0.8, size=n) > 0.0, "yes", "no")


def result(risk: float = 0.5, **settings: Any) -> tp.StabilityResult:
    x, y = data()
    return tp.stability(MODEL, x, y, risk, **{**PRICES, **settings})


def places(found: tp.StabilityResult) -> Places:
    assert found.evidence is not None
    return found.evidence.places()


def people(n: int = 80) -> tuple[pd.DataFrame, Any]:
    """A table with numbers, a category and a boolean, and labels that are not quite a function of it."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.lognormal(10.0, 0.5, n).round(),
            "job": rng.choice(["cook", "clerk", "smith"], n),
            "married": rng.random(n) < 0.5,
        }
    )
    score = table["age"] / 20 + table["pay"] / 30000 + (table["job"] == "cook") + rng.normal(scale=0.5, size=n)
    return table, np.where(score > 3.5, "yes", "no")


def pipeline(table: Any, y: Any) -> Any:
    columns = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "pay"]), remainder="passthrough")
    return make_pipeline(columns, LogisticRegression()).fit(table, y)


def network() -> nn.Module:
    manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).eval()


# Every picture goes where it is asked to


def ranking() -> tp.FeatureStability:
    x, y = data()
    return tp.feature_stability(MODEL, x, y, 0.5, **PRICES)


def sweep(**settings: Any) -> tp.Sweep:
    x, y = data()
    return tp.profile(MODEL, x, y).tradeoff([0.0, 0.5, 1.0], risk=0.5, **settings)


def comparison() -> tp.Comparison:
    x, y = data()
    return tp.compare({"good": MODEL, "bad": ([0.2, 1.0, 1.0], 0.0)}, x, y, 0.6, **PRICES)


DRAWN: dict[str, Callable[[Axes | None], Axes]] = {
    "plot": lambda ax: result().plot(ax),
    "sensitive": lambda ax: result().plot_sensitive(ax=ax),
    "weights": lambda ax: result().plot_weights(ax),
    "sweep": lambda ax: sweep().plot(ax),
    "excess": lambda ax: sweep().plot_excess(ax),
    "features": lambda ax: ranking().plot(ax=ax),
    "comparison": lambda ax: comparison().plot(ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_result_is_drawn_on_the_axes_given_or_on_its_own(name: str) -> None:
    plt.close("all")  # what other tests left
    _, given = plt.subplots()
    assert DRAWN[name](given) is given
    assert len(plt.get_fignums()) == 1
    fresh = DRAWN[name](None)
    assert len(plt.get_fignums()) == 2
    fresh.figure.canvas.draw()
    assert (fresh.get_xlabel(), fresh.get_ylabel()) == (given.get_xlabel(), given.get_ylabel())


def test_printing_and_importing_never_touch_matplotlib() -> None:
    script = (
        "import sys, tippingpoint as tp\n"
        "from tippingpoint import plots\n"
        "x, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]\n"
        "found = tp.stability(([1.0], -1.5), x, y, 0.5)\n"
        "print(found, found._repr_html_(), found.sensitive, found.to_json())\n"
        "print(tp.feature_stability(([1.0], -1.5), x, y, 0.5))\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0


# A result


def test_a_result_shows_its_excess_in_steps() -> None:
    found = result()
    ax = found.plot()
    widths = [c.patches[0].get_width() for c in ax.containers]  # type: ignore[attr-defined]  # bars
    np.testing.assert_allclose(widths, [found.current_risk, found.corruption_excess, found.reweighting_excess])
    assert " ".join(ax.get_title(loc="left").split()).startswith(str(found).splitlines()[0])


def test_a_result_from_json_shows_its_numbers_but_has_no_samples() -> None:
    stored = tp.StabilityResult.from_json(result().to_json())
    assert stored.plot().has_data()
    for draw in (stored.plot_sensitive, stored.plot_weights):
        with pytest.raises(tp.DetachedError, match="read from JSON"):
            draw()


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_dots_are_the_sensitive_distribution(kind: str) -> None:
    x, y = data()
    names = ["x0", "x1", "x2"] if kind == "numpy" else ["age", "pay", "row"]
    given = x if kind == "numpy" else (pd.DataFrame if kind == "pandas" else pl.DataFrame)(dict(zip(names, x.T, strict=True)))
    found = tp.stability(MODEL, given, y, 0.5, **PRICES)
    ax = found.plot_sensitive([names[2], names[0]], labels=y)
    q = pd.DataFrame({column: np.asarray(found.sensitive[column]) for column in found.sensitive.columns})
    last = "feature:row" if kind != "numpy" else "x2"
    expected = q[[last, names[0]]].to_numpy()
    (unit,) = set(cloud(ax, "as they were")[1])
    for label in ("yes", "no"):
        dots, areas = cloud(ax, label)
        mine = y[q["row"].to_numpy()] == label
        order = np.lexsort(dots.T)
        wanted = np.lexsort(expected[mine].T)
        np.testing.assert_array_equal(dots[order], expected[mine][wanted])
        np.testing.assert_allclose(areas[order], unit * (q["weight"] * q["share"])[mine].to_numpy()[wanted])
    np.testing.assert_array_equal(cloud(ax, "as they were")[0], x[:, [2, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == (names[2], names[0])


def test_only_what_moves_is_joined_to_where_it_was() -> None:
    found = result()
    ax = found.plot_sensitive(["x0", "x1"])
    (joined,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    q = found.sensitive
    assert len(joined.get_segments()) == int(((q["cost"] > 0.0) & (q["weight"] > 0.0)).sum()) > 0


def test_the_two_features_that_move_most_are_chosen() -> None:
    x, y = data()
    wide = pd.DataFrame(x * [1.0, 100.0, 1.0], columns=["a", "b", "c"])
    still = tp.stability((COEF / [1.0, 100.0, 1.0], INTERCEPT), wide, y, 0.5, scale="std", **PRICES)
    assert places(still).most_moved() == ("a", "b")  # by their standard deviations, and not by their units
    frozen = tp.stability(MODEL, wide, y, 0.5, space=tp.Space(frozen=["a"]), scale="std", **PRICES)
    assert places(frozen).most_moved() == ("b", "c")
    table, labels = people()
    model = pipeline(table, labels)
    profile = tp.profile(model, table, labels, space=tp.Space(movable=["job"]))
    only = profile.stability(0.5 * (profile.risk + profile.reach), theta1=1.0, theta2=INF)
    assert "job" in places(only).most_moved()


def test_where_nothing_moves_the_features_whose_means_shift_are_chosen() -> None:
    x, y = data(200)
    found = tp.stability(MODEL, x, y, 0.7, theta1=INF, theta2=0.25)
    weight = found.sensitive["weight"].to_numpy()
    shift = np.abs((weight[:, None] * x).mean(axis=0) - x.mean(axis=0)) / x.std(axis=0)
    assert set(places(found).most_moved()) == {f"x{k}" for k in np.argsort(-shift)[:2]}
    assert not [c for c in found.plot_sensitive().collections if isinstance(c, LineCollection)]


def models() -> dict[str, tuple[Any, Any, Any, dict[str, Any]]]:
    """A model, data, labels and settings for every oracle there is."""
    x, y = data()
    table, labels = people()
    numbers = x @ COEF
    three = np.digitize(x[:, 0], [-0.5, 0.5])
    own = tp.PiecewiseLinear([1.0, -0.5], [0.0, 0.0], "regression")
    bent: Any = LinearRegression().fit(x, numbers)
    return {
        "zero_one": (MODEL, x, y, {}),
        "logistic": (MODEL, x, y, {"loss": "logistic", "risk": 1.2}),
        "hinge": (MODEL, x, y, {"loss": "hinge", "risk": 1.5}),
        "squared": (bent, x, numbers, {"loss": "squared", "risk": 0.5}),
        "pieces": (bent, x, numbers, {"loss": own, "risk": 0.5}),
        "classes": (LogisticRegression().fit(x, three), x, three, {}),
        "bounded": (MODEL, x, y, {"space": tp.Space(lower=-2.0, upper=2.0, outliers="keep")}),
        "categories": (pipeline(table, labels), table, labels, {"scale": "std"}),
        "tree": (DecisionTreeClassifier(max_depth=3).fit(x, y), x, y, {}),
        "network": (network(), x, (x[:, 0] > 0.0).astype(int), {"risk": 0.7}),
    }


@pytest.mark.parametrize("name", models())
def test_shadows_are_where_samples_are_whoever_searches(name: str) -> None:
    model, given, y, settings = models()[name]
    found = tp.stability(model, given, y, **{"risk": 0.6, **PRICES, **settings})
    numbers = places(found)._numbers
    frame = given if isinstance(given, pd.DataFrame) else pd.DataFrame(given, columns=["x0", "x1", "x2"])
    for feature, (column, before, after) in numbers.items():
        own = frame[feature].map(column.categories.index) if column.holds == "category" else frame[feature]
        np.testing.assert_array_equal(before, own.to_numpy(dtype=float))
        shown = found.sensitive.sort_index()[feature]
        told = shown.map(column.categories.index) if column.holds == "category" else shown
        order = np.argsort(places(found).distribution.sample, kind="stable")
        np.testing.assert_array_equal(after[order], told.to_numpy(dtype=float))
    found.plot_sensitive().figure.canvas.draw()


def test_rows_without_weight_have_no_shadow() -> None:
    x, y = data()
    weight = np.arange(80) % 2
    found = tp.stability(MODEL, x, y, 0.5, sample_weight=weight, **PRICES)
    ax = found.plot_sensitive(["x0", "x1"], labels=y[weight > 0])
    np.testing.assert_array_equal(cloud(ax, "as they were")[0], x[weight > 0, :2])
    with pytest.raises(tp.InputError, match="labels has 80 values but 40 rows have positive weight"):
        found.plot_sensitive(labels=y)


def test_categories_are_named_and_their_samples_kept_apart() -> None:
    table, y = people()
    found = tp.stability(pipeline(table, y), table, y, 0.5, scale="std", **PRICES)
    ax = found.plot_sensitive(["job", "age"])
    assert ticks(ax, "x") == ["clerk", "cook", "smith"]
    shadows = cloud(ax, "as they were")[0]
    np.testing.assert_array_equal(np.round(shadows[:, 0]), table["job"].map(["clerk", "cook", "smith"].index))
    np.testing.assert_array_equal(shadows[:, 1], table["age"])
    assert len(np.unique(shadows[:, 0])) == len(shadows)


def test_tables_of_words_can_be_drawn() -> None:
    runs = pd.DataFrame(
        {"sample": list("aabcc"), "loss": [0, 1, 0, 0, 1], "cost": [0, 2, 0, 0, 1], "text": ["hi", "ho", "hey", "yo", "hm"]}
    )
    found = tp.profile_table(runs.assign(length=[2, 2, 3, 2, 2])).stability(0.5, theta1=1.0, theta2=0.3)
    ax = found.plot_sensitive()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("text", "length")
    assert ticks(ax, "x") == ["hey", "hi", "hm", "yo"]  # what is nowhere is not named
    with pytest.raises(tp.UnsupportedError, match="the samples have 1 feature"):
        tp.profile_table(runs).stability(0.5, theta1=1.0, theta2=0.3).plot_sensitive()


# The boundary


def contour(ax: Axes) -> FloatArray:
    (found,) = [c for c in ax.collections if type(c).__name__ == "QuadContourSet"]
    vertices = np.asarray(found.get_paths()[0].vertices)
    inside = (vertices[:, 0] > ax.get_xlim()[0]) & (vertices[:, 0] < ax.get_xlim()[1])
    return np.asarray(vertices[inside])


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_the_boundary_has_the_other_features_at_their_medians(kind: str) -> None:
    x, y = data()
    given = x if kind == "numpy" else (pd.DataFrame if kind == "pandas" else pl.DataFrame)(dict(zip("abc", x.T, strict=True)))
    model = LogisticRegression().fit(given, y)
    names = ["x0", "x1"] if kind == "numpy" else ["a", "b"]
    ax = tp.stability(model, given, y, 0.5, **PRICES).plot_sensitive(names, model=model)
    line = contour(ax)
    score = line @ model.coef_[0, :2] + model.coef_[0, 2] * np.median(x[:, 2]) + model.intercept_[0]
    np.testing.assert_allclose(score, 0.0, atol=1e-9)
    assert "decision boundary" in words(ax)


def test_the_boundary_of_a_pipeline_with_categories_is_its_own() -> None:
    table, y = people()
    model = pipeline(table, y)
    found = tp.stability(model, table, y, 0.5, scale="std", **PRICES)
    line = contour(found.plot_sensitive(["age", "pay"], model=model))
    own = pd.DataFrame({"age": line[:, 0], "pay": line[:, 1]}).assign(
        job=table["job"].mode()[0], married=table["married"].mode()[0]
    )
    np.testing.assert_allclose(model.decision_function(own[list(table)]), 0.0, atol=1e-6)
    assert len(contour(found.plot_sensitive(["job", "age"], model=model))) > 2


def test_a_module_a_tuple_and_a_function_have_boundaries_too() -> None:
    x, _ = data()
    y = (x[:, 0] > 0.0).astype(int)
    module = nn.Sequential(nn.Linear(2, 1)).eval()
    weight, bias = (p.detach().double().numpy().ravel() for p in module.parameters())
    found = tp.stability(module, x[:, :2], y, 0.7, **PRICES)
    for model in (module, (weight, bias[0]), lambda z: z @ weight + bias):
        np.testing.assert_allclose(contour(found.plot_sensitive(model=model)) @ weight + bias, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("features", "told"),
    [
        (3, "must be the names of two features"),
        (["x0"], "must be the names of two features"),
        ("x0", "must be the names of two features"),
        (["x0", "x0"], "must be the names of two features"),
        (["x0", "age"], "features names 'age', which is not a feature; these are: 'x0', 'x1', 'x2'"),
    ],
)
def test_features_that_cannot_be_drawn_are_told(features: Any, told: str) -> None:
    with pytest.raises(tp.InputError, match=told):
        result().plot_sensitive(features)


# Weights and convergence


def test_the_weights_have_the_effective_share_of_the_result() -> None:
    found = result()
    drawn = line(found.plot_weights(), f"effective share {100 * found.effective_share:.3g}%")
    np.testing.assert_allclose(drawn[1], [found.effective_share, 1.0])


def test_out_of_reach_there_is_no_distribution_but_a_picture_of_how_far() -> None:
    x, _ = data()
    found = tp.stability(MODEL, x, np.where(x @ COEF + INTERCEPT > 0.0, 1, -1), 0.5, theta1=INF, theta2=0.2)
    assert found.status == "unreachable"
    assert "Stability ∞" in found.plot().get_title(loc="left")
    for draw in (found.plot_sensitive, found.plot_weights):
        with pytest.raises(tp.InputError, match=r"no distribution reaches risk=0.5"):
            draw()


def test_what_is_reached_already_stays_where_it_is() -> None:
    found = result(0.05)
    assert found.status == "already"
    ax = found.plot_sensitive()
    np.testing.assert_array_equal(cloud(ax, "as they go")[0], cloud(ax, "as they were")[0])
    np.testing.assert_allclose(line(found.plot_weights(), "effective share 100%")[1], [1.0, 1.0])
    assert found.plot().get_title(loc="left").startswith("Stability 0")


def test_convergence_is_the_trace_of_the_search() -> None:
    x, _ = data(30)
    y = (x[:, 0] > 0.0).astype(int)
    paper = tp.stability(network(), x, y, 0.7, method="paper", epochs=5, **PRICES)
    assert len(paper.trace) == 5
    for found in (paper, result()):
        ax = found.plot_convergence()
        np.testing.assert_array_equal(line(ax, "risk"), np.column_stack([range(1, len(found.trace) + 1), found.trace]))
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("step of the search", "error rate")
        assert f"threshold {found.risk}" in words(ax)
    with pytest.raises(tp.InputError, match="no way to go where the status is 'already'"):
        result(0.05).plot_convergence()


# Sweeps, rankings, comparisons


def test_a_sweep_is_drawn_with_its_band() -> None:
    swept = sweep()
    ax = swept.plot()
    value, error = (np.array([getattr(r, name) for r in swept]) for name in ("value", "standard_error"))
    np.testing.assert_array_equal(line(ax, "stability"), np.column_stack([swept.at, value]))
    (band,) = [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, PolyCollection)]
    corners = {(x, round(y, 9)) for x, y in np.asarray(band)}
    edges = zip(swept.at, value, error, strict=True)
    assert {(x, round(max(v + s * 1.959963984540054 * e, 0.0), 9)) for x, v, e in edges for s in (-1, 1)} <= corners
    assert ax.get_xlabel() == "mix (0: reweighting only, 1: moving only)"
    assert ax.get_ylabel() == "stability"


def test_a_curve_has_gaps_where_no_risk_is_reached() -> None:
    x, _ = data()
    y = np.where(x @ COEF + INTERCEPT > 0.0, 1, -1)
    y[:10] *= -1
    curve = tp.profile(MODEL, x, y).curve([0.2, 0.5, 0.9], theta1=INF, theta2=0.2, divergence="cvar:0.5")
    assert [r.status for r in curve] == ["already", "unreachable", "unreachable"]
    ax = curve.plot()
    signs = [text.get_position()[0] for text in ax.texts if text.get_text() == "∞"]
    assert signs == [r.risk for r in curve if math.isinf(r.value)]
    assert ax.get_xlabel() == "threshold (error rate)"
    heights = [height for *_, height in bars(curve.plot_excess(), "reweighting them")]
    assert [math.isnan(height) for height in heights] == [math.isinf(r.value) for r in curve]


def test_a_sweep_of_a_search_shows_what_is_certified() -> None:
    x, _ = data(40)
    y = network()(from_numpy(x).float()).argmax(dim=1).numpy()
    curve = tp.profile(network(), x, y).curve([0.3, 0.5], **PRICES)
    assert all(0.0 < r.lower < r.upper for r in curve)
    ax = curve.plot()
    np.testing.assert_array_equal(line(ax, "certified lower bound")[:, 1], [r.lower for r in curve])
    assert ax.get_ylabel() == "stability (upper bound)"


def test_the_excess_of_a_sweep_is_split() -> None:
    swept = sweep()
    ax = swept.plot_excess()
    moving, weighing = bars(ax, "moving samples"), bars(ax, "reweighting them")
    np.testing.assert_allclose([height for *_, height in moving], [r.corruption_excess for r in swept])
    np.testing.assert_allclose([height for *_, height in weighing], [r.reweighting_excess for r in swept])
    np.testing.assert_allclose([low + height for _, low, _, height in weighing], [r.risk - r.current_risk for r in swept])
    assert ticks(ax, "x") == ["0", "0.5", "1"]
    assert ax.get_ylabel() == "excess error rate"


def test_features_are_drawn_in_their_order_up_to_the_limit() -> None:
    found = ranking()
    ax = found.plot()
    assert ticks(ax, "y") == list(found)
    (drawn,) = [c for c in ax.containers if hasattr(c, "patches")]
    assert [b.get_width() for b in drawn.patches] == [found[name].value for name in found]
    np.testing.assert_array_equal(line(ax, "reweighting alone")[:, 0], [found.limit] * 2)
    segments = [s for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    halves = [(segment[1][0] - segment[0][0]) / 2 for segment in segments]
    np.testing.assert_allclose(halves, [1.959963984540054 * found[name].standard_error for name in found])
    assert ticks(found.plot(most=2), "y") == list(found)[:2]
    with pytest.raises(tp.InputError, match="most=0"):
        found.plot(most=0)


def test_kinds_of_features_are_told_by_colour_and_nothing_to_rank_is_said() -> None:
    table, y = people()
    model = pipeline(table, y)
    ax = tp.feature_stability(model, table, y, 0.4, scale="std", **PRICES).plot()
    assert set(words(ax)) == {"reweighting alone", "numeric", "categorical"}
    with pytest.raises(tp.InputError, match="risk=0 is reached whatever moves"):
        tp.feature_stability(model, table, y, 0.0, scale="std", **PRICES).plot()


def test_models_are_compared_the_most_stable_on_top() -> None:
    compared = comparison()
    ax = compared.plot()
    ranked = sorted(compared.results, key=lambda name: -compared.results[name].value)
    assert ticks(ax, "y") == ranked
    (drawn,) = [c for c in ax.containers if hasattr(c, "patches")]
    by_row = sorted(drawn.patches, key=lambda b: float(b.get_y()))
    assert [b.get_width() for b in by_row] == [compared.results[name].value for name in ranked]


def test_the_users_own_style_is_kept() -> None:
    with mpl.rc_context({"font.size": 6.0, "axes.facecolor": "0.9"}):
        ax = result().plot_sensitive()
        assert ax.xaxis.label.get_fontsize() == 6.0
        assert ax.get_facecolor() == (0.9, 0.9, 0.9, 1.0)
