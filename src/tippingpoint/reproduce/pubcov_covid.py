"""Public coverage and COVID-19, MLP, r = 3.0: three trainings compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tippingpoint.reproduce.claims import Claim
from tippingpoint.reproduce.experiments import Setting
from tippingpoint.reproduce.figure import Figure, Record, Tables
from tippingpoint.reproduce.trainings import claims_of_trainings, draw_trainings, measure_trainings, panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "pubcov-covid"

TITLES = {"pubcov": "public coverage", "covid": "COVID-19"}


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """Both data sets; COVID-19 is split in halves, as in the paper."""
    found = measure_trainings(seed, "pubcov", "one-hot raw", setting)
    return {"": found + measure_trainings(seed, "covid", "one-hot raw", setting, halves=True)}


def draw(tables: Tables) -> Canvas:
    """A panel a data set."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(TITLES), figsize=(9.4, 3.9), layout="constrained")
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        draw_trainings(tables[""], panel(name), ax)
        ax.set_title(title, fontsize="medium")
    return figure


def claims(tables: Tables) -> Sequence[Claim]:
    """The same as for Income."""
    return [claim for name in TITLES for claim in claims_of_trainings(NAME, tables[""], panel(name))]


FIGURE = Figure(NAME, "public coverage and COVID-19: three trainings", ("pubcov", "covid"), measure, draw, claims)
