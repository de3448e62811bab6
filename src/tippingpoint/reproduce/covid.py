"""COVID-19: the most sensitive features; accuracy and macro F1 by age, before and after a model for every age group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.reproduce.claims import Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import SCALINGS, Rows, Setting, split, trained
from tippingpoint.reproduce.figure import Figure, Record, Tables, by_seed, numbers, over_seeds
from tippingpoint.reproduce.sensitivities import (
    DECAY,
    MODELS,
    PENALISED,
    draw_features,
    labels_of,
    leaders,
    measure_features,
    presence_claim,
    robustness_claim,
    scaled_panel,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "covid"

AGES = {"< 40": (0.0, 40.0), "40 to 70": (40.0, 70.0), "≥ 70": (70.0, np.inf)}
"""Age groups, the first age included and the last not."""

BEFORE, AFTER = "one LR", "an LR for every age group"

SCORES = ("accuracy", "macro F1")


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """Rankings in both scalings; age groups in the first."""
    task = setting.task("covid")
    found: list[Record] = []
    for scaling in SCALINGS:
        drawn = split(task, seed, setting, scaling, halves=True)
        where = scaled_panel("covid", scaling)
        one = trained("lr", drawn.train, seed, setting)
        models = {"LR": one, "MLP": trained("mlp", drawn.train, seed, setting)}
        models[PENALISED] = trained("lr", drawn.train, seed, setting, weight_decay=DECAY)
        for model, fitted in models.items():
            found += measure_features(seed, where, model, fitted, drawn.evaluate)
            score = float(fitted.score(drawn.judge.x, drawn.judge.y))
            found += numbers(seed, where, f"{model}: facts", {"accuracy": score})
        if scaling == SCALINGS[0]:
            for age, band in AGES.items():
                train, judge = (_aged(rows, band) for rows in (drawn.train, drawn.judge))
                own = trained("lr", train, seed, setting)
                found += _scored(seed, BEFORE, age, one, judge) + _scored(seed, AFTER, age, own, judge)
                found += numbers(seed, "deaths", "share", {age: float(judge.y.mean())})
    return {"": found, "labels": labels_of(task, "covid") if seed == 0 else []}


def _aged(rows: Rows, band: tuple[float, float]) -> Rows:
    there = (rows.raw["Age"] >= band[0]).to_numpy() & (rows.raw["Age"] < band[1]).to_numpy()
    return Rows(rows.x[there], rows.y[there], rows.raw[there])


def _scored(seed: int, series: str, age: str, model: Any, rows: Rows) -> list[Record]:
    from sklearn.metrics import f1_score

    predicted = model.predict(rows.x)
    both = (float((predicted == rows.y).mean()), float(f1_score(rows.y, predicted, average="macro", zero_division=0.0)))
    return [record for score, value in zip(SCORES, both, strict=True) for record in numbers(seed, score, series, {age: value})]


def draw(tables: Tables) -> Canvas:
    """The five most sensitive features of both models; accuracy and macro F1 by age."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import draw_groups

    table, labels = tables[""], tables["labels"]
    figure, axes = plt.subplots(2, 2, figsize=(11.5, 7.2), layout="constrained")
    for ax, model in zip(axes[:, 0], MODELS, strict=True):
        draw_features(table, labels, scaled_panel("covid"), "covid", model, ax)
        ax.set_title(f"COVID-19: {model}", fontsize="medium")
    for ax, score in zip(axes[:, 1], SCORES, strict=True):
        series = {name: over_seeds(table, score, name, list(AGES)) for name in (BEFORE, AFTER)}
        draw_groups(list(AGES), series, score, ax, xlabel="age")
    return figure


def claims(tables: Tables) -> Sequence[Claim]:
    """What the paper says of this figure."""
    table, found = tables[""], list[Claim]()
    ages = ["Age", *(name for name in tables["labels"]["feature"] if str(name).startswith("Age_"))]
    for scaling in SCALINGS:
        where = scaled_panel("covid", scaling)
        found.append(robustness_claim(NAME, table, where, "LR", "MLP"))
        leading = leaders(table, where, tables["labels"], "covid")
        found.append(presence_claim(NAME, table, where, ("age", "Age"), ("age or an age band", ages), leading))
    young, middle, old = AGES
    accuracy, score = ({age: by_seed(table, what, BEFORE, age) for age in AGES} for what in SCORES)
    own = {age: by_seed(table, "macro F1", AFTER, age) for age in AGES}
    for age in (young, old):
        found.append(
            judged(
                NAME,
                f"one LR, age {age}: accuracy is high (above that of {middle}) but macro F1 is low (below its accuracy by 10"
                " points or more)",
                "yes",
                f"accuracy {spread(accuracy[age], percentage)} (age {middle}: {spread(accuracy[middle], percentage)}), macro F1"
                f" {spread(score[age], percentage)}",
                (accuracy[age] > accuracy[middle]) & (accuracy[age] - score[age] >= 0.1),
            )
        )
        found.append(
            judged(
                NAME,
                f"an LR for every age group improves macro F1 at age {age}",
                "substantially",
                f"{spread(score[age], percentage)} to {spread(own[age], percentage)}",
                own[age] > score[age],
            )
        )
    return found


FIGURE = Figure(NAME, "COVID-19: features and age groups", ("covid",), measure, draw, claims)
