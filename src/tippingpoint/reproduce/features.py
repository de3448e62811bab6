"""Income and public coverage: the most sensitive features, and the worst racial group before and after interventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.datasets import RACES
from tippingpoint.reproduce.claims import Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import SCALINGS, Rows, Setting, Split, split, trained
from tippingpoint.reproduce.figure import Figure, Record, Tables, by_seed, numbers, picked
from tippingpoint.reproduce.sensitivities import (
    DECAY,
    MODELS,
    PENALISED,
    draw_features,
    labels_of,
    leaders,
    measure_features,
    most_sensitive,
    presence_claim,
    robustness_claim,
    scaled_panel,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "features"

TITLES = {"income": "Income", "pubcov": "public coverage"}

RACE = [f"RAC1P_{code}" for code in RACES]
"""The race columns."""

INDIAN = "RAC1P_3"
"""American Indian, the feature that the paper identifies."""

TARGETED, IDENTIFIED = "targeted AT (American Indian)", "targeted AT (identified)"

METHODS = ("LR", "MLP", "AT (all race columns)", TARGETED, IDENTIFIED)
"""Bars of the paper, and targeted AT on the race column that is the most sensitive on the evaluation rows."""

MIN_GROUP_SIZE = 50
"""People that a group needs for its accuracy to say anything."""

JUDGES = {
    "rows to judge by, every group": ("judge", 1),
    f"all other rows, groups of {MIN_GROUP_SIZE} or more": ("rest", MIN_GROUP_SIZE),
}
"""Rows on which the worst racial group is found, and how many people it needs: the paper's way, and one with less noise."""

LARGE_TRAINING_ROWS = 20_000
"""Rows of a training set that is large, to see what 2,000 cost."""

ACCURACIES = {"income": {"MLP": 0.82, "LR": 0.83}, "pubcov": {"MLP": 0.71, "LR": 0.67}}
"""Of the paper."""


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """Both data sets in both scalings; the interventions in the first."""
    found, labels = list[Record](), list[Record]()
    for name in TITLES:
        task = setting.task(name)
        if seed == 0:
            labels += labels_of(task, name)
        for scaling in SCALINGS:
            drawn = split(task, seed, setting, scaling)
            where = scaled_panel(name, scaling)
            models = {"LR": trained("lr", drawn.train, seed, setting), "MLP": trained("mlp", drawn.train, seed, setting)}
            penalised = trained("lr", drawn.train, seed, setting, weight_decay=DECAY)
            ranked = {model: measure_features(seed, where, model, fitted, drawn.evaluate) for model, fitted in models.items()}
            found += [record for records in ranked.values() for record in records]
            found += measure_features(seed, where, PENALISED, penalised, drawn.evaluate)
            if scaling == SCALINGS[0]:
                column = most_sensitive(ranked["MLP"], RACE)
                found += _intervened(seed, name, models, column, drawn, setting)
    return {"": found, "labels": labels}


def _intervened(seed: int, name: str, models: Mapping[str, Any], column: str, drawn: Split, setting: Setting) -> list[Record]:
    """Accuracies by race, before and after."""
    moving = dict(zip(METHODS[2:], (RACE, [INDIAN], [column]), strict=True))
    judged_by = {**models}
    for method, features in moving.items():
        same = method == IDENTIFIED and features == [INDIAN]
        judged_by[method] = judged_by[TARGETED] if same else trained("at", drawn.train, seed, setting, features=features)
    found = numbers(seed, f"{name} identified", "MLP", {"race code": float(column.removeprefix("RAC1P_"))})
    for method, model in judged_by.items():
        for where, rows in (("judge", drawn.judge), ("rest", drawn.rest)):
            found += _by_race(seed, f"{name} {where}", method, model, rows)
        if model.tuned is not None:
            found += numbers(seed, f"{name} knobs", method, {model.tuned: getattr(model, model.tuned)})
    large = Rows(
        drawn.rest.x.iloc[:LARGE_TRAINING_ROWS],
        drawn.rest.y.iloc[:LARGE_TRAINING_ROWS],
        drawn.rest.raw.iloc[:LARGE_TRAINING_ROWS],
    )
    for kind in ("lr", "mlp"):
        model = trained(kind, large, seed, setting)
        score = float(model.score(drawn.judge.x, drawn.judge.y))
        found += numbers(seed, f"{name} large", kind.upper(), {"accuracy": score})
    return found


def _by_race(seed: int, where: str, method: str, model: Any, rows: Rows) -> list[Record]:
    right = model.predict(rows.x) == rows.y.to_numpy()
    found = numbers(seed, where, method, {"all": float(right.mean())})
    for code, column in zip(RACES, RACE, strict=True):
        there = rows.raw[column].to_numpy() == 1.0
        if there.any():
            found += numbers(seed, where, method, {code: float(right[there].mean())})
            found += numbers(seed, where, "people", {code: float(there.sum())}) if method == METHODS[0] else []
    return found


def worst(table: Any, where: str, method: str, least: int = 1) -> Any:
    """Accuracy of the worst racial group that has enough people, a seed each."""
    accuracies, people = picked(table, where, method), picked(table, where, "people")
    both = accuracies.merge(people, on=["seed", "at"], suffixes=("", " people"))
    return both[both["value people"] >= least].groupby("seed")["value"].min().sort_index().to_numpy()


def draw(tables: Tables) -> Canvas:
    """A row a data set: the five most sensitive features of both models, and the worst racial group."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import draw_groups

    table, labels = tables[""], tables["labels"]
    figure, axes = plt.subplots(2, 3, figsize=(19.0, 8.4), layout="constrained", width_ratios=(1.0, 1.0, 1.7))
    for row, (name, title) in zip(axes, TITLES.items(), strict=True):
        for ax, model in zip(row, MODELS, strict=False):
            draw_features(table, labels, scaled_panel(name), name, model, ax)
            ax.set_title(f"{title}: {model}", fontsize="medium")
        series = {}
        for method in METHODS:
            values = [worst(table, f"{name} {where}", method, least) for where, least in JUDGES.values()]
            series[method] = ([v.mean() for v in values], [v.std(ddof=1) if len(v) > 1 else 0.0 for v in values])
        draw_groups([judge.replace(", ", ",\n") for judge in JUDGES], series, "accuracy of the worst racial group", row[2])
        row[2].set_title(f"{title}: worst racial group", fontsize="medium")
    return figure


def claims(tables: Tables) -> Sequence[Claim]:
    """What the paper says of this figure."""
    table, found = tables[""], list[Claim]()
    minority = [column for column in RACE if column != "RAC1P_1"]
    for name, title in TITLES.items():
        found += [_accuracy_claim(table, name, model) for model in MODELS]
        for scaling in SCALINGS:
            where = scaled_panel(name, scaling)
            less, more = ("LR", "MLP") if name == "income" else ("MLP", "LR")
            found.append(robustness_claim(NAME, table, where, less, more))
            leading = leaders(table, where, tables["labels"], name)
            indian, others = ("race: American Indian", INDIAN), ("any minority race column", minority)
            found.append(presence_claim(NAME, table, where, indian, others, leading))
        found += _worst_claims(table, name, title)
    return found


def _accuracy_claim(table: Any, name: str, model: str) -> Claim:
    measured, large = by_seed(table, f"{name} judge", model, "all"), by_seed(table, f"{name} large", model, "accuracy")
    paper = ACCURACIES[name][model]
    return judged(
        NAME,
        f"{name}: accuracy of {model} (holds: within 2 points)",
        f"{100 * paper:.0f} %",
        f"{spread(measured, percentage)}; trained on {LARGE_TRAINING_ROWS:,} rows {spread(large, percentage)}",
        abs(measured - paper) <= 0.02,
    )


def _worst_claims(table: Any, name: str, title: str) -> list[Claim]:
    found = []
    for judge, (rows, least) in JUDGES.items():
        where = f"{name} {rows}"
        every = {method: worst(table, where, method, least) for method in METHODS}
        whole = by_seed(table, where, "MLP", "all")
        found.append(
            judged(
                NAME,
                f"{title}, {judge}: MLP's worst racial group is far below all (5 points or more)",
                "82 % to 72 %" if name == "income" else "yes",
                f"{spread(whole, percentage)} to {spread(every['MLP'], percentage)}",
                whole - every["MLP"] >= 0.05,
            )
        )
        for method in (TARGETED, IDENTIFIED):
            others = np.max([every[other] for other in METHODS[:3]], axis=0)
            found.append(
                judged(
                    NAME,
                    f"{title}, {judge}: {method} has a better worst group than LR, MLP and AT",
                    "yes",
                    ", ".join(f"{other} {spread(every[other], percentage)}" for other in (*METHODS[:3], method)),
                    every[method] > others,
                )
            )
    return found


FIGURE = Figure(NAME, "Income and public coverage: features and the worst racial group", tuple(TITLES), measure, draw, claims)
