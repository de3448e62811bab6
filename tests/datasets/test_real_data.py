"""The real data sets: who is in them, the same from whichever file they are read."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from real_data import real_data
from tippingpoint.datasets import census

FOURTEEN = "acs2018_pums_14_small_states.csv.gz"
LOADERS: dict[str, Callable[..., tp.datasets.Task]] = {"income": tp.datasets.acs_income, "pubcov": tp.datasets.acs_pubcov}


def data_directory() -> Path:
    return real_data("acs", "covid")


def test_income_of_california() -> None:
    task = tp.datasets.acs_income(data_directory())
    x, y = task
    assert x.shape == (89_958, 76)
    assert (x.dtypes == "float64").all()
    assert float(y.mean()) == pytest.approx(0.4110, abs=5e-5)
    assert task.numeric == ("SEX", "AGEP", "WKHP", "SCHL")
    assert set(np.unique(x.drop(columns=list(task.numeric)))) == {0.0, 1.0}
    assert {name: len(columns) for name, columns in task.one_hot.items()} == {
        "MAR": 5,
        "RELP": 18,
        "RAC1P": 9,
        "COW": 9,
        "OCCP_level": 3,
    }
    assert all((x[list(columns)].sum(axis=1) == 1.0).all() for columns in task.one_hot.values())
    assert "89,958 people, a random sample of 195,665" in task.source


def test_public_coverage_of_california() -> None:
    task = tp.datasets.acs_pubcov(data_directory())
    x, y = task
    assert x.shape == (55_392, 42)
    assert float(y.mean()) == pytest.approx(0.3685, abs=5e-5)
    assert set(np.unique(x.drop(columns=list(task.numeric)))) == {0.0, 1.0}
    assert all((x[list(columns)].sum(axis=1) == 1.0).all() for columns in task.one_hot.values())
    employed = x[[name for name in x if name.startswith("ESR_")]].sum(axis=1)
    assert set(x["AGEP"][employed == 0.0]) == {15.0}, "only the young have no employment, so ESR is not one-hot"
    native = x[["CIT_1", "CIT_2", "CIT_3"]].sum(axis=1)
    assert (native == (x["NATIVITY"] == 1.0)).all(), "why nativity and citizenship are one group"


def test_covid_19_in_brazil() -> None:
    task = tp.datasets.covid19_brazil(data_directory())
    x, y = task
    assert (x.shape, int(y.sum())) == ((6_882, 29), 3_254)
    assert list(x)[:3] + list(x)[-2:] == ["Sex_male", "Age", "Age_40", "Parda", "Indigena"]
    assert all((x[list(columns)].sum(axis=1) == 1.0).all() for columns in task.one_hot.values())
    edges = {"Age_40": (0, 40), "Age_40_50": (40, 50), "Age_50_60": (50, 60), "Age_60_70": (60, 70), "Age_70": (70, 200)}
    for band, (low, high) in edges.items():
        assert (x[band] == ((x["Age"] >= low) & (x["Age"] < high))).all()
    assert task.numeric == ("Age",)


@pytest.mark.parametrize(
    ("loader", "rows", "name"),
    [("income", 4_713, "psam_p10.csv"), ("pubcov", 2_871, "psam_p10.csv.gz"), ("income", 4_713, "csv_pde.zip")],
)
def test_delaware_is_the_same_from_its_own_file_as_from_the_file_of_14(
    loader: str, rows: int, name: str, tmp_path: Path
) -> None:
    home = data_directory()
    everyone = pd.read_csv(home / "acs" / FOURTEEN, dtype=str, keep_default_na=False)
    own = everyone[everyone["ST"] == "10"].assign(RT="P", SERIALNO=lambda t: [f"2018HU{i}" for i in range(len(t))], JWTR="")
    own = own[own.columns[::-1]]  # the Census has its own order of columns
    if name.endswith(".zip"):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ACS2018_PUMS_README.pdf", "not a table")
            archive.writestr("psam_p10.csv", own.to_csv(index=False))
    else:
        own.to_csv(tmp_path / name, index=False)
    task, other = LOADERS[loader](tmp_path, "DE"), LOADERS[loader](home, "DE")
    assert len(task.y) == rows
    pd.testing.assert_frame_equal(task.X, other.X)
    pd.testing.assert_series_equal(task.y, other.y)
    assert name in task.source
    assert FOURTEEN in other.source
    assert "all there are" in task.source


def test_the_counts_of_14_states_are_those_of_the_filters() -> None:
    people = pd.read_csv(data_directory() / "acs" / FOURTEEN)
    works = people.query("AGEP > 16 and PINCP > 100 and WKHP > 0 and PWGTP >= 1").groupby("ST").size()
    poor = people.query("AGEP < 65 and PINCP <= 30000").groupby("ST").size()
    for state in census.SMALL_STATES:
        assert census.ACS_INCOME.rows[state] == works[census.STATES[state]]
        assert census.ACS_PUBCOV.rows[state] == poor[census.STATES[state]]


@pytest.mark.parametrize("question", [census.ACS_INCOME, census.ACS_PUBCOV], ids=lambda question: question.name)
def test_the_counts_of_samples_are_those_of_their_files(question: census.Question) -> None:
    home = data_directory() / "acs"
    counts = pd.read_csv(home / f"{question.stem}_other_states.csv.gz", usecols=["STATE"])["STATE"].value_counts().to_dict()
    counts["CA"] = len(pd.read_csv(home / f"{question.stem}_ca.csv.gz", usecols=["LABEL"]))
    assert question.samples == counts


@pytest.mark.parametrize("state", ["CO", "PR"])
def test_other_states_are_read_out_of_their_common_file(state: str) -> None:
    home = data_directory()
    income, coverage = (LOADERS[loader](home, state) for loader in ("income", "pubcov"))
    assert (len(income.y), len(coverage.y)) == {"CO": (31_306, 7_017), "PR": (4_145, 5_949)}[state]
    assert ("all there are" if state == "CO" else "a random sample") in income.source
    table = pd.read_csv(home / "acs" / "acs2018_income_other_states.csv.gz").query(f"STATE == {state!r}")
    assert income.X["AGEP"].tolist() == table["AGEP"].tolist()
    assert income.y.tolist() == table["LABEL"].tolist()


def test_people_of_colorado_at_work_with_low_incomes_are_in_both_tasks() -> None:
    home = data_directory()
    income, coverage = (LOADERS[loader](home, "CO") for loader in ("income", "pubcov"))
    both = ["AGEP", "SEX", "SCHL", *(name for name in coverage.X if name.startswith(("MAR_", "RAC1P_")))]
    x = coverage.X
    sampled = x[(x["ESR_1"] == 1.0) & (x["AGEP"] > 16) & (x["PINCP"] > 100)].groupby(both).size()
    there = income.X[income.y == 0].groupby(both).size().reindex(sampled.index, fill_value=0)
    assert sampled.sum() > 3_000
    assert (sampled <= there).all(), "of ACSIncome all of Colorado is here"
