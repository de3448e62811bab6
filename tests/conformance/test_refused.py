"""What no family serves is refused in one sentence that says what to do, whoever is asked."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from examples import EXAMPLES, Cell, cells, trial
from tippingpoint.api.settings import OF_ALL
from tippingpoint.errors import InputError, TippingPointError
from tippingpoint.families.base import Family
from tippingpoint.families.capabilities import SpaceKind
from tippingpoint.families.registry import FAMILIES
from tippingpoint.losses import LOSSES, loss_named
from trials import ModelTrial

WITH_OPTIONS = [(family, option) for family in FAMILIES for option in family.options.names()]
OF_MODELS = [family for family in FAMILIES if family.name != "tables of alternatives"]


def some(family: Family, kind: SpaceKind = "numbers", task: str = "classification") -> ModelTrial:
    """An example of a family in a kind of space, under a loss for a task."""
    for cell in cells():
        of_task = cell.loss in LOSSES and loss_named(cell.loss).task == task
        if cell.family == family.name and cell.kind == kind and of_task:
            found = trial(cell)
            assert isinstance(found, ModelTrial)
            return found
    raise LookupError(f"{family.name} declare nothing of {kind}, {task}")


def refused(model: Any, x: Any, y: Any, kind: type[TippingPointError] = InputError, **settings: Any) -> str:
    """What the user reads: one sentence."""
    with pytest.raises(kind) as error:
        tp.stability(model, x, y, **{"risk": 0.9, **settings})
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence[-1] in ".?"
    return sentence


@pytest.mark.parametrize(
    ("family", "option"), WITH_OPTIONS, ids=[f"{family.name}: {option}" for family, option in WITH_OPTIONS]
)
def test_an_option_that_is_misspelt_is_named(family: Family, option: str) -> None:
    example = some(family)
    misspelt: dict[str, Any] = {option + option[-1]: 1}
    sentence = refused(example.model, example.X, example.y, **misspelt)
    assert f"did you mean {option}, an option of " in sentence
    assert family.name in sentence


@pytest.mark.parametrize("family", OF_MODELS, ids=[family.name for family in OF_MODELS])
def test_an_option_of_others_is_refused_and_whose_it_is(family: Family) -> None:
    example = some(family)
    own = set(family.options.names())
    others = {option: each for each, option in WITH_OPTIONS if option not in own and option not in OF_ALL}
    assert others
    for option, other in others.items():
        settings = {**example.options, option: 1, "loss": example.loss}
        sentence = refused(example.model, example.X, example.y, **settings)
        assert other.name in sentence
        assert "leave it out" in sentence


@pytest.mark.parametrize("family", OF_MODELS, ids=[family.name for family in OF_MODELS])
def test_a_loss_for_another_task_is_refused(family: Family) -> None:
    example = some(family, task="regression")
    # A regressor's targets are no classes: whoever serves it says so.
    sentence = refused(example.model, example.X, example.y, TippingPointError, loss="hinge", **example.options)
    assert re.search(r"\bloss='hinge'|\by\b", sentence), sentence
    with pytest.raises(InputError, match=r"loss='hing' is not known; use one of zero_one, hinge"):
        tp.stability(example.model, example.X, example.y, 0.9, loss="hing", **example.options)


@pytest.mark.parametrize("family", OF_MODELS, ids=[family.name for family in OF_MODELS])
def test_values_that_may_go_missing_are_served_or_refused(family: Family) -> None:
    example = some(family)
    settings = {**example.options, "loss": example.loss, "space": tp.Space(missing={"a": 0.5})}
    if family.name == "black boxes":  # whatever it makes of what is missing, it can be asked
        assert tp.stability(example.model, example.X, example.y, 0.9, **settings).interrupted, "this one makes no number of it"
    else:
        assert "missing['a']" in refused(example.model, example.X, example.y, **settings)
    gap = example.X.copy()
    gap.loc[0, "a"] = np.nan
    given = {**example.options, "loss": example.loss}
    refused(example.model, gap, example.y, TippingPointError, **given)


def test_a_table_is_shown_to_its_own_door() -> None:
    runs = pd.DataFrame({"sample": [0, 0], "cost": [0.0, 1.0], "loss": [0.0, 1.0]})
    assert "pass it to tippingpoint.profile_table" in refused(runs, np.zeros((2, 1)), [0, 1])


def test_a_capability_without_an_example_is_told_what_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell("nobody", next(cells()).capability, "given", "numbers")
    monkeypatch.setattr("examples.EXAMPLES", dict(EXAMPLES))
    with pytest.raises(AssertionError, match="add EXAMPLES"):
        trial(cell)
