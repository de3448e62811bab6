"""People in a table, cut into partitions, and what must come out the same of the parts and of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tippingpoint.api.cases import Case, prepared
from tippingpoint.engine.partitions import Partitions, partitions_of, run_here
from tippingpoint.engine.planning import Plan, plan
from tippingpoint.engine.preparing import Prepared, prepared_at
from tippingpoint.space.domain import Domain

ROWS = 240

CUTS: dict[str, tuple[int, ...]] = {
    "one": (0, ROWS),
    "several": (0, 70, 150, ROWS),
    "empty ones": (0, 0, 0, 90, 90, 91, ROWS, ROWS),
    "single rows": (0, 1, 2, 3, 200, 201, ROWS),
}

COLORS = ("color_red", "color_green", "color_blue")


def people(rows: int = ROWS) -> pd.DataFrame:
    """Numbers, whole numbers, some with gaps, text, ordered categories, truth values, a one-hot group; labels, sorted."""
    rng = np.random.default_rng(7)
    income = np.where(rng.random(rows) < 0.05, np.nan, rng.lognormal(3.0, 1.0, rows).round(2))
    hours = np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 60, rows).astype(float))
    color = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": income,
            "hours": hours,
            "level": rng.integers(1, 6, rows) * 2.0,
            "job": rng.choice(["cook", "clerk", "miner", "smith"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "grade": pd.Categorical(rng.choice(["low", "mid", "top"], rows), ["low", "mid", "top", "best"], ordered=True),
            "member": rng.random(rows) < 0.3,
            **{name: (color == k).astype(int) for k, name in enumerate(COLORS)},
            "weight": np.where(rng.random(rows) < 0.1, 0.0, rng.integers(1, 5, rows) / 2.0),
        }
    )
    score = 0.03 * frame["age"] + (frame["job"] == "cook") + rng.normal(size=rows)
    frame["label"] = np.where(score > 2.3, "yes", "no")
    return frame.sort_values("label", kind="stable", ignore_index=True)  # so that some partitions hold one class only


FEATURES = [name for name in people(3).columns if name not in ("label", "weight")]


def clerk(frame: pd.DataFrame) -> Any:
    """A pipeline that encodes categories and fills gaps, in front of a linear model."""
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "grade"]),
        (SimpleImputer(), ["income", "hours"]),
        remainder="passthrough",
    )
    return make_pipeline(steps, LogisticRegression(max_iter=2000)).fit(frame[FEATURES], frame["label"])


def cut(frame: pd.DataFrame, cuts: Sequence[int], backend: str = "pandas") -> list[Any]:
    """Runs of rows, each as a frame of its own."""
    every = [frame.iloc[first:last] for first, last in pairwise(cuts)]
    if backend == "pandas":
        return every
    whole = as_polars(frame)
    return [whole[first:last] for first, last in pairwise(cuts)]


def as_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """The same table; what is missing is null, and whole numbers with gaps stay whole numbers."""
    made = pl.from_pandas(frame.assign(grade=frame["grade"].astype(str)))
    return made.with_columns(pl.col("hours").cast(pl.Int64), grade=pl.col("grade").cast(pl.Enum(["low", "mid", "top", "best"])))


def planned(model: Any, partitions: Partitions | None, **settings: Any) -> Plan:
    """The plan; partitions must be such."""
    assert partitions is not None
    options = settings.pop("options", {})
    return plan(model, partitions, options, **settings)


def whole(model: Any, frame: Any, **settings: Any) -> Case:
    """The same model on the same rows in memory."""
    weight = frame["weight"] if settings.pop("weighted", False) else None
    names = [name for name in frame.columns if name not in ("label", "weight")]
    given = {"loss": None, "space": None, "scale": None, **settings}
    return prepared(model, frame[names], frame["label"], {}, sample_weight=weight, **given)


def oracles(model: Any, partitions: Partitions | None, made: Plan) -> list[Prepared]:
    assert partitions is not None
    return run_here(partitions)(prepared_at, model, made)


def of_frames(every: Sequence[Any], *, weighted: bool = False) -> Partitions:
    """Partitions of frames with labels and weights among their columns."""
    made = partitions_of(
        every if weighted else [_without_weight(each) for each in every], "label", "weight" if weighted else None
    )
    assert made is not None
    return made


def _without_weight(frame: Any) -> Any:
    return frame.drop(columns="weight") if isinstance(frame, pd.DataFrame) else frame.drop("weight")


def assert_same_domain(mine: Domain, whole_domain: Domain) -> None:
    """Two domains are the same, to rounding."""
    assert mine.names == whole_domain.names
    assert mine.unit == whole_domain.unit
    assert mine.groups == whole_domain.groups
    assert dict(mine.missing) == dict(whole_domain.missing)
    for name in ("price", "lower", "upper", "direction", "step"):
        np.testing.assert_allclose(getattr(mine, name), getattr(whole_domain, name), rtol=1e-12, err_msg=name)
    assert [menu.name for menu in mine.menus] == [menu.name for menu in whole_domain.menus]
    for own, other in zip(mine.menus, whole_domain.menus, strict=True):
        assert own.kind == other.kind
        for field in fields(own):
            if field.name not in ("name", "kind", "axis") and getattr(own, field.name) is not None:
                np.testing.assert_allclose(
                    getattr(own, field.name), getattr(other, field.name), rtol=1e-12, err_msg=f"{own.name}.{field.name}"
                )
        assert (own.axis is None, own.declared is None) == (other.axis is None, other.declared is None)
        if own.axis is not None and other.axis is not None:
            np.testing.assert_allclose(own.axis, other.axis)
