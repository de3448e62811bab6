"""Units of features, and what a space forbids."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from front import COEF, INTERCEPT, MODEL, PRICES, data


def test_scale_std_is_what_rescaling_by_hand_gives() -> None:
    x, y = data()
    wide = x * [1.0, 50.0, 0.02]
    coef = COEF / [1.0, 50.0, 0.02]
    weights = np.random.default_rng(0).random(len(y))
    mean = np.average(wide, axis=0, weights=weights)
    spread = np.sqrt(np.average((wide - mean) ** 2, axis=0, weights=weights))
    ours = tp.stability((coef, INTERCEPT), wide, y, 0.5, sample_weight=weights, scale="std", **PRICES)
    hand = tp.stability((coef * spread, INTERCEPT), wide / spread, y, 0.5, sample_weight=weights, scale="raw", **PRICES)
    assert ours.value == pytest.approx(hand.value, rel=1e-10)
    assert ours.unit == "standard deviations"
    for name, width in zip(("x0", "x1", "x2"), spread, strict=True):
        np.testing.assert_allclose(ours.sensitive[name] / width, hand.sensitive[name], rtol=1e-7, atol=1e-9)


def test_uneven_columns_warn_once_and_a_choice_of_scale_silences_it() -> None:
    x, y = data()
    uneven = pd.DataFrame(x * [1.0, 1e3, 1.0], columns=["age", "income", "dose"])
    model = (COEF / [1.0, 1e3, 1.0], INTERCEPT)
    with pytest.warns(tp.ScaleWarning, match="'income' is .* times as far as one of .*pass scale='std'") as caught:
        tp.profile(model, uneven, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__, "it points at the caller"
    with pytest.warns(tp.ScaleWarning) as caught:
        tp.stability(model, uneven, y, 0.5)
    assert caught[0].filename == __file__, "through the other door too"
    tp.profile(model, uneven, y, scale="raw")
    tp.profile(model, uneven, y, scale="std")
    tp.profile(model, uneven, y, space=tp.Space(price={"income": 1e-6}))
    tp.profile(model, uneven, y, space=tp.Space(frozen=["income"]))
    tp.profile(model, x * [1.0, 50.0, 1.0], y)


def test_a_constant_column_neither_warns_nor_moves_in_standard_deviations() -> None:
    x, y = data()
    flat = np.column_stack([x, np.full(len(y), 1e9)])
    result = tp.stability((np.append(COEF, 1e-12), INTERCEPT), flat, y, 0.5, scale="std", **PRICES)
    assert (result.sensitive["x3"] == 1e9).all()
    tp.profile((np.append(COEF, 0.0), INTERCEPT), flat, y)


def test_a_price_is_the_unit_of_its_column() -> None:
    x, y = data()
    priced = tp.stability(MODEL, x, y, 0.5, space=tp.Space(price=[4.0, 9.0, 0.25]), **PRICES)
    units = np.array([2.0, 3.0, 0.5])
    assert priced.value == pytest.approx(tp.stability((COEF / units, INTERCEPT), x * units, y, 0.5, **PRICES).value, rel=1e-10)
    by_name = tp.stability(MODEL, x, y, 0.5, space=tp.Space(price={"x0": 4.0, "x1": 9.0, "x2": 0.25}), **PRICES)
    assert by_name == priced
    q = priced.sensitive
    step = q[["x0", "x1", "x2"]].to_numpy() - x[q["row"]]
    np.testing.assert_allclose(np.square(step) @ [4.0, 9.0, 0.25], q["cost"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
@pytest.mark.parametrize("space", [tp.Space(frozen=["x0"]), tp.Space(movable=["x1", "x2"])], ids=["frozen", "movable"])
def test_frozen_columns_stay_and_the_rest_pays_for_them(loss: str, space: tp.Space) -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y, loss=loss, space=space)
    result = profile.stability(profile.risk + 0.3, **PRICES)
    assert (result.sensitive["x0"] == x[result.sensitive["row"], 0]).all()
    without = x[:, 1:]
    offset = x[:, 0] * COEF[0]
    hand = np.column_stack([without, offset])  # the frozen part as a column of its own, too dear to move
    dear = tp.Space(price=[1.0, 1.0, 1e14])
    same = tp.profile((np.append(COEF[1:], 1.0), INTERCEPT), hand, y, loss=loss, space=dear, scale="raw")
    assert result.value == pytest.approx(same.stability(profile.risk + 0.3, **PRICES).value, rel=1e-9)
    assert result.value > tp.stability(MODEL, x, y, profile.risk + 0.3, loss=loss, **PRICES).value


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
def test_moved_points_stay_within_their_bounds_and_have_the_loss_that_is_told(loss: str) -> None:
    x, y = data()
    x = np.clip(x, -1.5, 1.5)
    space = tp.Space(lower={"x0": -1.5, "x1": -1.6}, upper={"x0": 1.5, "x2": 1.75})
    profile = tp.profile(MODEL, x, y, loss=loss, space=space)
    result = profile.stability(profile.risk + 0.4, theta1=0.2, theta2=2.0)
    q = result.sensitive
    points = q[["x0", "x1", "x2"]].to_numpy()
    slack = 1e-12
    assert (points[:, 0] >= -1.5 - slack).all()
    assert (points[:, 0] <= 1.5 + slack).all()
    assert (points[:, 1] >= -1.6 - slack).all()
    assert (points[:, 2] <= 1.75 + slack).all()
    assert np.isclose(np.abs(points[:, 0]), 1.5).any(), "some bound is met, or this tests nothing"
    margin = (points @ COEF + INTERCEPT) * y[q["row"]]
    told = {"zero_one": margin <= 0.0, "hinge": np.maximum(1.0 - margin, 0.0), "logistic": np.logaddexp(0.0, -margin)}
    np.testing.assert_allclose(q["loss"], told[loss], rtol=1e-9)
    np.testing.assert_allclose(np.square(points - x[q["row"]]).sum(axis=1), q["cost"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "squared_hinge", "logistic"])
def test_more_freedom_never_makes_a_model_more_stable(loss: str) -> None:
    x, y = data(80)
    x = np.clip(x, -2.0, 2.0)
    chain = [
        tp.Space(),
        tp.Space(lower=-4.0, upper=4.0),
        tp.Space(lower=-2.0, upper=2.0),
        tp.Space(lower=-2.0, upper=2.0, price=2.0),
        tp.Space(lower=-2.0, upper=2.0, price=2.0, frozen=["x0"]),
        tp.Space(lower=-2.0, upper=2.0, price=2.0, movable=["x2"]),
        tp.Space(movable=[]),
    ]
    values = [tp.stability(MODEL, x, y, 0.6, loss=loss, space=space, theta1=0.3, theta2=0.5).value for space in chain]
    for freer, tighter in itertools.pairwise(values):
        assert freer <= tighter * (1.0 + 1e-12)
    assert values[0] < values[-1]


def test_columns_named_by_numbers_can_be_named_in_a_space() -> None:
    x, y = data()
    frame = pd.DataFrame(x)
    by_number = tp.stability(MODEL, frame, y, 0.5, space=tp.Space(movable=frame.columns[1:]), **PRICES)  # type: ignore[arg-type]
    assert by_number.value == tp.stability(MODEL, x, y, 0.5, space=tp.Space(frozen=["x0"]), **PRICES).value


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((2, 2, 2), r"X\[:, 1, 0, 1\] \('x5'\) is .* one of X\[:, .*\] \('x\d'\); .* each pixel in its own"),
        ((4, 2), r"X\[:, 2, 1\] \('x5'\) is .* one of X\[:, .*\] \('x\d'\); .* each coordinate in its own"),
    ],
    ids=["images", "sequences"],
)
def test_arrays_of_more_dimensions_are_spoken_of_by_place(shape: tuple[int, ...], words: str) -> None:
    nn = pytest.importorskip("torch.nn")
    x = np.random.default_rng(0).random((30, *shape))
    net, y = nn.Sequential(nn.Flatten(), nn.Linear(8, 1)).eval(), np.arange(30) % 2
    uneven, odd, equal = x.copy(), x.copy(), x.copy()
    uneven.reshape(30, -1)[:, 5] *= 1e4
    odd.reshape(30, -1)[7, 5] = np.nan
    equal.reshape(30, -1)[:20, 5] = 0.5
    place = ", ".join(map(str, np.unravel_index(5, shape)))
    with pytest.warns(tp.ScaleWarning, match=words):
        tp.profile(net, uneven, y)
    tp.profile(net, uneven, y, scale="std")
    for given, settings, said in (
        (odd, {}, f"X[7, {place}]=nan: every value must be finite"),
        (x, {"space": tp.Space(upper={"x5": 0.1})}, f", {place}]="),
        (equal, {"scale": "iqr"}, f"the interquartile ranges of X[:, {place}] ('x5') are 0"),
    ):
        with pytest.raises(tp.InputError) as caught:
            tp.profile(net, given, y, **settings)
        assert said in str(caught.value)
