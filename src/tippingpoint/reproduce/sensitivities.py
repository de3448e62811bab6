"""The stability of every feature, for the models of the paper: 0/1 loss, r = 40 %, θ1 = 1, θ2 = 0.25."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.datasets import Task
from tippingpoint.reproduce.claims import Claim, judged, spread
from tippingpoint.reproduce.experiments import SCALINGS, Rows
from tippingpoint.reproduce.figure import Record, by_seed, numbers, picked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION: dict[str, Any] = {"risk": 0.4, "theta1": 1.0, "theta2": 0.25}
"""The paper's question."""

WIDTH = 34
"""Letters of a line of a label."""

TOP = 5
"""Features that the paper shows."""

LEADERS = 3
"""Of the features that lead most often, how many a table names."""

FIRST_GROUPS = {"income": "race", "pubcov": "race", "covid": "age"}
"""The group of features that the paper speaks of has the first colour."""

MODELS = ("MLP", "LR")
"""The models that the paper shows."""

PENALISED = "LR, penalised"
"""A logistic regression with weight decay, beside the paper's, which has none that is stated."""

DECAY = 0.01
"""Its weight decay."""


def measure_features(seed: int, where: str, model: str, fitted: Any, rows: Rows) -> list[Record]:
    """The stability of every feature, and what reweighting alone costs."""
    import tippingpoint as tp

    ranked = tp.feature_stability(fitted, rows.x, rows.y, loss="zero_one", **QUESTION)
    found = numbers(seed, where, model, {name: result.value for name, result in ranked.results.items()})
    return found + numbers(seed, where, f"{model}: limit", {"limit": ranked.limit})


def most_sensitive(found: Sequence[Record], among: Sequence[str]) -> str:
    """The feature of least stability among some."""
    return str(min((record for record in found if record["at"] in among), key=lambda record: record["value"])["at"])


def labels_of(task: Task, name: str) -> list[Record]:
    """What the columns of a data set say, and the group that each belongs to."""
    owner = {column: group for group, columns in task.groups.items() for column in columns}
    return [
        {"data": name, "feature": column, "label": task.labels.get(column, column), "group": owner.get(column, "other")}
        for column in task.X.columns
    ]


def values_of(table: Any, where: str, model: str) -> Any:
    """Stabilities: a row a seed, a column a feature."""
    return picked(table, where, model).pivot_table(index="seed", columns="at", values="value")


def tops(table: Any, where: str, model: str) -> dict[int, list[str]]:
    """The most sensitive features of every seed."""
    values = values_of(table, where, model)
    return {int(seed): list(row.sort_values(kind="stable").index[:TOP]) for seed, row in values.iterrows()}


def draw_features(table: Any, labels: Any, where: str, name: str, model: str, ax: Axes) -> None:
    """The features of least mean stability, how often each is among the first five, and the spread over the seeds."""
    from tippingpoint.plots import draw_ranking

    values, first = values_of(table, where, model), tops(table, where, model)
    shown = values.mean().sort_values(kind="stable").index[:TOP]
    known = labels[labels["data"] == name].set_index("feature")
    often = {feature: sum(feature in top for top in first.values()) for feature in shown}
    draw_ranking(
        [textwrap.fill(f"{known.loc[feature, 'label']} ({often[feature]}/{len(first)})", WIDTH) for feature in shown],
        values[shown].mean().to_numpy(),
        values[shown].std(ddof=1).fillna(0.0).to_numpy(),
        [str(known.loc[feature, "group"]) for feature in shown],
        float(by_seed(table, where, f"{model}: limit", "limit").mean()),
        ax,
        palette=sorted(set(known["group"]), key=lambda group: (group != FIRST_GROUPS.get(name), group)),
    )


def robustness_claim(figure: str, table: Any, where: str, less: str, more: str) -> Claim:
    """Whether the five most sensitive features of one model are more stable than those of the other."""
    first, second = (np.sort(values_of(table, where, model).to_numpy(), axis=1)[:, :TOP].mean(axis=1) for model in (less, more))
    return judged(
        figure,
        f"{where}: {less} is less sensitive to its features than {more} (mean stability of the five most sensitive)",
        "yes",
        f"{spread(first)} against {spread(second)}",
        first > second,
    )


def presence_claim(
    figure: str, table: Any, where: str, feature: tuple[str, str], others: tuple[str, Sequence[str]], leading: str
) -> Claim:
    """Whether a feature is among the five most sensitive of both models; beside it, how often others are, and who leads.

    `feature` and `others` are what they are called, and the column or columns that they are.
    """
    called, columns = feature
    there = {model: _among(table, where, model, [columns]) for model in (*MODELS, PENALISED)}
    instead = {model: _among(table, where, model, others[1]) for model in MODELS}
    seeds = len(there[MODELS[0]])
    return judged(
        figure,
        f"{where}: {called} is among the five most sensitive features of both models",
        "yes",
        f"{_counted(there)} of {seeds}; {others[0]}: {_counted(instead)}; most often there: {leading}",
        np.array([there[model] for model in MODELS]).all(axis=0),
    )


def _among(table: Any, where: str, model: str, columns: Sequence[str]) -> list[bool]:
    """Whether any of these is among the first, seed by seed."""
    return [bool(set(columns) & set(top)) for _, top in sorted(tops(table, where, model).items())]


def _counted(there: Mapping[str, Sequence[bool]]) -> str:
    return ", ".join(f"{model} {sum(held)}" for model, held in there.items())


def leaders(table: Any, where: str, labels: Any, name: str) -> str:
    """The features that lead most often, both models together, for reading."""
    first = [feature for model in MODELS for top in tops(table, where, model).values() for feature in top]
    known = labels[labels["data"] == name].set_index("feature")["label"]
    counts = sorted({feature: first.count(feature) for feature in first}.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{known[feature]} ({count})" for feature, count in counts[:LEADERS])


def scaled_panel(name: str, scaling: str = SCALINGS[0]) -> str:
    """What the rankings of a data set in a scaling are called."""
    return f"{name} features ({scaling})"
