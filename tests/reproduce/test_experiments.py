"""Experiments: rows that do not overlap, columns scaled by the training rows, models as the paper trains them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.datasets import Task
from tippingpoint.reproduce.experiments import MIXES, SCALINGS, Setting, split, stabilities, trained

QUICK = Setting(None, quick=True)


def task(rows: int = 2500) -> Task:
    rng = np.random.default_rng(0)
    age, member = rng.normal(40.0, 10.0, rows), (rng.random(rows) < 0.1).astype(float)
    y = pd.Series((age + 10.0 * member + rng.normal(0.0, 5.0, rows) > 42.0).astype(int))
    return Task("people", pd.DataFrame({"age": age, "member": member, "never": np.zeros(rows)}), y, ("age",))


def test_parts_of_a_split_share_no_row_and_leave_none_out() -> None:
    people = task()
    drawn = split(people, 3, QUICK)
    parts = [drawn.train, drawn.evaluate, drawn.judge, drawn.rest]
    assert [len(part.x) for part in parts] == [500, 500, 1000, 500]
    assert sorted(index for part in parts for index in part.x.index) == list(range(2500))
    for part in parts:
        pd.testing.assert_frame_equal(part.raw, people.X.loc[part.x.index])
        assert part.y.equals(people.y.loc[part.x.index])
    assert list(split(people, 3, QUICK).train.x.index) == list(drawn.train.x.index)
    assert list(split(people, 4, QUICK).train.x.index) != list(drawn.train.x.index)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_columns_are_standardised_by_the_training_rows_alone(scaling: str) -> None:
    people = task()
    drawn = split(people, 0, QUICK, scaling)
    columns = ["age"] if scaling == "one-hot raw" else ["age", "member"]
    assert np.allclose(drawn.train.x[columns].mean(), 0.0)
    assert np.allclose(drawn.train.x[columns].std(ddof=0), 1.0)
    assert abs(float(drawn.rest.x["age"].mean())) > 1e-6, "the other rows had no say"
    assert (drawn.train.x["never"] == 0.0).all(), "a column that never varies stays as it is"
    if scaling == "one-hot raw":
        assert drawn.train.x["member"].equals(drawn.train.raw["member"])


def test_halves_train_on_one_and_judge_by_the_other() -> None:
    people = task(1001)
    drawn = split(people, 0, Setting(), halves=True)
    assert (len(drawn.train.x), len(drawn.evaluate.x)) == (500, 501)
    assert set(drawn.train.x.index).isdisjoint(drawn.judge.x.index)
    assert list(drawn.judge.x.index) == list(drawn.evaluate.x.index)


def test_the_dial_has_the_papers_infinity_and_a_real_one() -> None:
    assert MIXES[0] == 0.0
    assert 1.0 / (5.0 * MIXES[1]) == pytest.approx(100.0)
    assert MIXES[-1] == 1.0


def test_models_are_trained_as_their_names_say() -> None:
    drawn = split(task(), 0, QUICK)
    models = {kind: trained(kind, drawn.train, 0, QUICK) for kind in ("lr", "mlp", "at", "tilted")}
    assert hasattr(models["lr"], "coef_")
    assert not hasattr(models["mlp"], "coef_")
    assert models["at"].gamma in QUICK.grid
    assert models["tilted"].t in QUICK.grid
    assert min(model.score(drawn.judge.x, drawn.judge.y) for model in models.values()) > 0.8
    results = stabilities(models["mlp"], drawn.evaluate, 1.5, (0.0, 1.0))
    again = tp.stability(models["mlp"], drawn.evaluate.x, drawn.evaluate.y, 1.5, loss="cross_entropy", mix=0.0)
    assert results[0.0].value == pytest.approx(again.value)
    assert results[0.0].moved_share == 0.0
    assert results[1.0].effective_share == pytest.approx(1.0)


def test_a_figure_that_needs_data_says_which_and_how_to_name_them() -> None:
    with pytest.raises(tp.InputError, match=r"'income'.*--data DIR"):
        Setting().task("income")
