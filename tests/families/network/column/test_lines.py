"""Networks along one column: lines against the module itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from networks import COLUMN, FEATURES, NETS, ROOMS, all_lines, network, part
from tippingpoint.families.network.column import lines as lines_module
from tippingpoint.families.network.column.lines import Chain


@pytest.mark.parametrize("held", [lines_module.MAX_NUMBERS, 64])
@pytest.mark.parametrize("room", list(ROOMS))
@pytest.mark.parametrize("kind", list(NETS))
def test_lines_are_the_module_in_double_precision(kind: str, room: str, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MAX_NUMBERS", held)
    module, rng = network(1, kind, 3), np.random.default_rng(1)
    x = rng.normal(size=(40, FEATURES))
    low, high = (np.full(40, end) for end in ROOMS[room])
    low[3] = high[3] = 0.0
    lines = all_lines(module, x, COLUMN, low, high)
    begins = np.flatnonzero(np.diff(lines.sample, prepend=-1))
    assert lines.sample[begins].tolist() == list(range(40))
    np.testing.assert_array_equal(lines.start[begins], low)
    np.testing.assert_array_equal(lines.stop[np.append(begins[1:], len(lines.sample)) - 1], high)
    inner = np.setdiff1d(np.arange(len(lines.sample)), begins)
    np.testing.assert_array_equal(lines.start[inner], lines.stop[inner - 1])
    assert (lines.stop > lines.start)[(lines.sample != 3) & (lines.start != 0.0)].all()  # a point at 0 is who cannot go up
    assert np.bincount(lines.sample[lines.start == 0.0]).tolist() == [1] * 40
    for _ in range(30):
        share = rng.random(len(lines.sample))
        near, far = np.maximum(lines.start, -50.0), np.minimum(lines.stop, 50.0)
        step = np.where(
            near <= far, near + share * (far - near), np.where(lines.start < 0.0, lines.stop - 1.0, lines.start + 1.0)
        )
        moved = x[lines.sample]
        moved[:, COLUMN] += step
        with torch.no_grad():
            wanted = module(torch.from_numpy(moved)).numpy()
        np.testing.assert_allclose(lines.value + lines.slope * step[:, None], wanted, rtol=1e-10, atol=1e-10)


def test_breakpoints_that_differ_by_rounding_are_one() -> None:
    module = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 1)).double()
    scale = torch.linspace(0.1, 7.0, 40, dtype=torch.float64)
    with torch.no_grad():
        part(module, 0).weight[:, 0] = scale
        part(module, 0).bias[:] = -0.3 * scale
    room = np.full(1, math.inf)
    lines = all_lines(module, np.zeros((1, 1)), 0, -room, room)
    np.testing.assert_allclose(lines.start, [-math.inf, 0.0, 0.3], rtol=1e-14)


def test_many_units_and_layers_stay_within_what_may_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MAX_NUMBERS", 2**17)
    torch.manual_seed(0)
    deep = [nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)]
    module, x = nn.Sequential(*deep).double(), np.random.default_rng(0).normal(size=(20, 8))
    room = np.full(20, math.inf)
    chain = Chain.of(module, 8)
    assert isinstance(chain, Chain)
    parts = list(chain.along(chain.enter(x), 5, -room, room))
    assert max(len(part.sample) for part in parts) * 128 <= 2**17
    assert len(parts) > 5
    assert sum(len(part.sample) for part in parts) > 20 * 130


def followed(*layers: nn.Module) -> str:
    found = Chain.of(nn.Sequential(*layers).double(), 3)
    assert isinstance(found, str)
    return found


def test_what_is_not_made_of_lines_is_named() -> None:
    assert "Tanh" in followed(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)).split()
    assert ".eval()" in followed(nn.Linear(3, 2), nn.Dropout())
    assert ".eval()" in followed(nn.Linear(3, 2), nn.BatchNorm1d(2))
    assert ".eval()" in followed(nn.BatchNorm1d(3, track_running_stats=False).eval(), nn.Linear(3, 1))
    assert "takes 4 numbers, not 2" in followed(nn.Linear(3, 2), nn.Linear(4, 1))
    assert "mixes samples" in followed(nn.Flatten(0), nn.Linear(3, 1))
    hooked = nn.Linear(3, 1)
    hooked.register_forward_hook(lambda _module, _inputs, output: output * 2.0)
    assert "hooks" in followed(hooked)
    broken = nn.Linear(3, 1)
    nn.init.constant_(broken.weight, math.nan)
    assert "finite" in followed(broken)
