"""Networks that fail in the middle of a search keep what was found; those that work in place leave the data alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tippingpoint as tp
from boxes import PRICES, WORTH, data, raising


def network(then: Callable[[Any], Any], rows: int) -> nn.Module:
    seen = 0

    class Failing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 1)
            with torch.no_grad():
                self.layer.weight.copy_(torch.tensor(WORTH)[None])
                self.layer.bias.zero_()

        def forward(self, given: Any) -> Any:
            nonlocal seen
            seen += len(given)
            found = torch.tanh(self.layer(given))
            return found if seen <= rows else then(found)

    return Failing().eval()


NETWORKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raises": (raising(RuntimeError("the device is gone")), "the device is gone"),
    "ends the program": (lambda _: sys.exit(0), "sys.exit(0)"),
    "shortens": (lambda found: found[:-1], "returns shape"),
    "returns nothing": (lambda _: None, "NoneType"),
    "is not a number": (lambda found: found * float("nan"), "not a number"),
}


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize(("loss", "risk"), [("zero_one", 0.35), ("logistic", 0.7)])
def test_what_was_found_before_a_network_fails_is_kept(kind: str, loss: str, risk: float) -> None:
    x, y = data()
    then, told = NETWORKS[kind]
    result = tp.stability(network(then, 3000), x, y, risk, loss=loss, certify="none", **PRICES)
    assert "the model failed" in result.notes[0]
    assert told in result.notes[0]
    full = tp.stability(network(then, 10**9), x, y, risk, loss=loss, certify="none", **PRICES)
    assert full.value * 0.99 <= result.value < np.inf
    with pytest.raises(tp.InputError):
        tp.stability(network(then, 0), x, y, risk, loss=loss, **PRICES)


def test_the_published_algorithm_keeps_its_last_epoch() -> None:
    x, y = data()
    failing = network(raising(RuntimeError("the device is gone")), 30_000)
    result = tp.stability(failing, x, y, 0.7, loss="logistic", method="paper", **PRICES)
    assert "the device is gone" in result.notes[0]
    assert 0 < len(result.trace) < 200


def test_a_network_that_works_in_place_is_a_network_like_any_other() -> None:
    x, y = data()
    modules = []
    for inplace in (False, True):
        torch.manual_seed(0)
        modules.append(nn.Sequential(nn.LeakyReLU(0.1, inplace=inplace), nn.Linear(3, 1)).double().eval())
    for space in (None, tp.Space(kind={"x0": "integer"})):
        given = x.round() if space is not None else x
        kept = given.copy()
        wanted, found = (tp.stability(module, given, y, 0.6, space=space, **PRICES) for module in modules)
        assert (found.lower, found.value) == pytest.approx((wanted.lower, wanted.value), rel=1e-9)
        assert found.lower > 0.0, "the layers are known"
        assert np.array_equal(given, kept)


def test_repeats_are_for_black_boxes() -> None:
    x, y = data()
    module = network(raising(RuntimeError()), 10**9)
    with pytest.raises(tp.InputError, match="repeats=5 is an option of black boxes; this is a network"):
        tp.profile(module, x, y, repeats=5)
    both = tp.compare({"network": module, "box": lambda rows: rows @ WORTH}, x, y, 0.35, repeats=2, **PRICES)
    assert any("repeats=2" in note for note in both.results["box"].notes)
