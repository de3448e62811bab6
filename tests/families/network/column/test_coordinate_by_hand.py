"""One column of networks so small that the answers can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import nn

from networks import all_lines, part
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import UnsupportedError
from tippingpoint.families.network.column.coordinate import coordinate_oracle, serves
from tippingpoint.families.network.column.lines import Lines
from tippingpoint.families.network.outputs import read_outputs
from tippingpoint.families.network.rises import Rise
from tippingpoint.losses import loss_named


def rises_of(y: FloatArray | IntArray, loss: str, outputs: int) -> Sequence[Rise]:
    return read_outputs(y, len(y), loss, outputs, None, torch.device("cpu")).rises


def test_only_who_has_the_steepest_side_escapes() -> None:
    """`relu(x) + 2·relu(-x)`, of which the first sample has both sides and the second the flatter one only."""
    module = nn.Sequential(nn.Linear(1, 2, bias=False), nn.ReLU(), nn.Linear(2, 1, bias=False)).double()
    with torch.no_grad():
        part(module, 0).weight[:, 0] = torch.tensor([1.0, -1.0])
        part(module, 2).weight[0] = torch.tensor([1.0, 2.0])
    x, room = np.zeros((2, 1)), np.full(2, math.inf)
    rises = rises_of(-np.ones(2), "squared", 1)
    lines = all_lines(module, x, 0, np.array([-math.inf, 0.0]), room)
    oracle = coordinate_oracle(x, 0, 0.7, [lines], rises, ["x"], "units")
    assert oracle.ceiling == 0.7 / 4.0
    escaped = oracle.escape(50.0)
    assert escaped.lift[0] >= 50.0
    assert escaped.cost[0] / escaped.lift[0] == pytest.approx(0.7 / 4.0, rel=1e-8)
    assert escaped.cost[1] == math.inf
    moved = oracle.points(oracle.ceiling, np.array([0, 1]), np.array([8.0, 0.0]))["x"]
    np.testing.assert_allclose(moved, [-1.0, 0.0], atol=1e-12)  # (1 + 2)² = 1 + 8


@pytest.mark.parametrize("outputs", [1, 2])
def test_weights_that_cancel_do_not_climb_to_infinity(outputs: int) -> None:
    """`0.1 + 0.2 - 0.3` is 6e-17: in the last layer, or between two classes."""
    module = nn.Sequential(nn.Linear(1, 3), nn.ReLU(), nn.Linear(3, outputs, bias=False)).double()
    with torch.no_grad():
        part(module, 0).weight[:, 0] = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
        part(module, 0).bias[:] = torch.tensor([0.0, 1.0, 0.0])
        part(module, 2).weight[:] = torch.tensor([[1.0, 1.0, -1.0]] if outputs == 1 else [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    x, room = np.zeros((1, 1)), np.full(1, math.inf)
    lines = all_lines(module, x, 0, np.zeros(1), room)
    y, name = (np.array([-1.0]), "absolute") if outputs == 1 else (np.array([0]), "hinge")
    rises = rises_of(y, name, outputs)
    oracle = coordinate_oracle(x, 0, 1.0, [lines], rises, ["x"], "units")
    assert oracle.losses[0] == 2.0
    assert oracle.peak().lift[0] == 0.0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_of_two_peaks_of_one_height_the_cheaper_counts(sign: float) -> None:
    """`|clip(x, 0, 1) - clip(-x/2, 0, 1)|` is 1 from 1 upwards and from -2 downwards."""
    module = nn.Sequential(nn.Linear(1, 2, bias=False), nn.Hardtanh(0.0, 1.0), nn.Linear(2, 1, bias=False)).double()
    with torch.no_grad():
        part(module, 0).weight[:, 0] = torch.tensor([1.0, -0.5])
        part(module, 2).weight[0] = sign * torch.tensor([1.0, -1.0])
    x, room = np.zeros((1, 1)), np.full(1, math.inf)
    rises = rises_of(np.zeros(1), "absolute", 1)
    peak = coordinate_oracle(x, 0, 1.0, [all_lines(module, x, 0, -room, room)], rises, ["x"], "units").peak()
    assert (peak.lift[0], peak.cost[0]) == (1.0, 1.0)


def test_two_sides_that_round_differently_meet_at_the_sample() -> None:
    value = np.array([[np.nextafter(0.3, 0.0)], [0.3]])
    lines = Lines(np.array([0, 0]), np.array([-1.0, 0.0]), np.array([0.0, 1.0]), value, np.array([[-1.0], [-1.0]]))
    rises = rises_of(np.array([0]), "hinge", 1)
    oracle = coordinate_oracle(np.zeros((1, 1)), 0, 0.7, [lines], rises, ["x"], "units")
    assert oracle.respond(0.0).slope[0] == pytest.approx(0.5 / 0.7)


def test_of_classes_that_tie_the_first_is_predicted() -> None:
    """Scores that end in a ReLU tie on whole stretches; along this column they are `relu(x)` and `relu(1 - x)`."""
    module = nn.Sequential(nn.Linear(1, 2), nn.ReLU()).double()
    with torch.no_grad():
        part(module, 0).weight[:, 0] = torch.tensor([1.0, -1.0])
        part(module, 0).bias[:] = torch.tensor([-1.0, -1.0])  # relu(x - 1) and relu(-x - 1): a tie between -1 and 1
    x, y, room = np.array([[-1.5], [1.5], [0.0], [0.0]]), np.array([1, 0, 0, 1]), np.full(4, math.inf)
    rises = rises_of(y, "zero_one", 2)
    lines = all_lines(module, x, 0, -room, room)
    oracle = coordinate_oracle(x, 0, 1.0, [lines], rises, ["x"], "units", margin=1e-6)
    assert oracle.losses.tolist() == [0.0, 0.0, 0.0, 1.0]  # a tie is the first class
    np.testing.assert_allclose(oracle.peak().cost, [0.25, 6.25, 1.0, 0.0], rtol=1e-12)
    moved = oracle.points(math.inf, np.arange(4), oracle.peak().lift)["x"]
    assert moved[0] == pytest.approx(-1.0, abs=1e-5)
    with torch.no_grad():
        predicted = module(torch.from_numpy(moved[:, None])).argmax(dim=1).numpy()
    assert (predicted != y).all()


def test_a_bound_on_the_boundary_is_an_error_for_the_second_class_only() -> None:
    """The score is `x`; at 0 the first class is predicted."""
    module, x = nn.Sequential(nn.Linear(1, 1)).double(), np.array([[1.0], [-1.0]])
    nn.init.ones_(part(module, 0).weight)
    nn.init.zeros_(part(module, 0).bias)
    lines = all_lines(module, x, 0, np.array([-1.0, -5.0]), np.array([5.0, 1.0]))
    oracle = coordinate_oracle(x, 0, 1.0, [lines], rises_of(np.array([1, 0]), "zero_one", 1), ["x"], "units")
    assert oracle.losses.tolist() == [0.0, 0.0]
    assert oracle.peak().lift.tolist() == [1.0, 0.0]
    assert oracle.peak().cost[0] == 1.0


def test_a_tie_that_only_rounding_breaks_is_a_tie() -> None:
    """`relu(w·x + b)` falls to the other class's 0, whatever the kink rounds to, and no farther."""
    module, x = nn.Sequential(nn.Linear(1, 2), nn.ReLU()).double(), np.random.default_rng(0).normal(size=(500, 1))
    with torch.no_grad():
        part(module, 0).weight[:, 0] = torch.tensor([0.7, 0.0], dtype=torch.float64)
        part(module, 0).bias[:] = torch.tensor([3.3, -1.0], dtype=torch.float64)
    room = np.full(500, math.inf)
    rises = rises_of(np.zeros(500, dtype=int), "zero_one", 2)
    oracle = coordinate_oracle(x, 0, 1.0, [all_lines(module, x, 0, -room, room)], rises, ["x"], "units")
    assert not oracle.peak().lift.any()


def test_a_margin_is_passed_on_the_side_of_the_nearest_error() -> None:
    """To the right the score crosses 0 at 1, slowly; to the left a little farther away, and steeply."""
    start, stop = np.array([-2.0, -0.9, 0.0, 0.5]), np.array([-0.9, 0.0, 0.5, 2.0])
    value, slope = np.array([-10.0 - 1e-3, -1.001, -1.001, -0.01]), np.array([-10.0, 0.0, 1.992, 0.01])
    lines = Lines(np.zeros(4, dtype=np.intp), start, stop, value[:, None], slope[:, None])
    rises = rises_of(np.array([0]), "zero_one", 1)
    oracle = coordinate_oracle(np.zeros((1, 1)), 0, 1.0, [lines], rises, ["x"], "units", margin=2e-3)
    assert oracle.peak().cost[0] == pytest.approx(1.0)
    assert oracle.points(math.inf, np.array([0]), np.ones(1))["x"][0] == pytest.approx(1.2)


def test_an_error_that_never_passes_the_margin_is_shown_where_it_is_deepest() -> None:
    """The score rises to a plateau of 1e-3, far below the margin, and past it far away."""
    start, stop = np.array([0.0, 1.0, 50.0]), np.array([1.0, 50.0, math.inf])
    value, slope = np.array([-0.999, 0.001, -49.999]), np.array([1.0, 0.0, 1.0])
    lines = Lines(np.zeros(3, dtype=np.intp), start, stop, value[:, None], slope[:, None])
    rises = rises_of(np.array([0]), "zero_one", 1)
    oracle = coordinate_oracle(np.zeros((1, 1)), 0, 1.0, [lines], rises, ["x"], "units", margin=0.1)
    assert oracle.peak().cost[0] == pytest.approx(0.999**2)
    assert oracle.points(math.inf, np.array([0]), np.ones(1))["x"][0] == 1.0


def test_a_smooth_maximum_of_several_classes_is_refused() -> None:
    index: IntArray = np.array([0, 1, 2])
    soft = rises_of(index, "logistic", 3)
    assert not serves(soft)
    assert not serves(())
    falls = Rise(loss_named("absolute"), np.ones((3, 2, 1)), np.zeros((3, 2)))  # so the largest is not the worst
    assert not serves((falls,))
    assert serves(rises_of(index, "hinge", 3))
    with pytest.raises(UnsupportedError, match="several outputs"):
        coordinate_oracle(np.zeros((3, 1)), 0, 1.0, [], soft, ["x"], "units")
