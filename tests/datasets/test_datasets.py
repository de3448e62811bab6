"""Data sets: who is in them, how they are encoded, what a Space knows of them, and what a wrong file gets."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import tippingpoint as tp
from tippingpoint.datasets import covid, encodings

PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
INCOME_CA, PUBCOV_CA = "acs2018_income_ca.csv.gz", "acs2018_pubcov_ca.csv.gz"
LOADERS: dict[str, Callable[..., tp.datasets.Task]] = {"income": tp.datasets.acs_income, "pubcov": tp.datasets.acs_pubcov}


def person(**given: Any) -> dict[str, Any]:
    """A cook of 40 years, of both tasks' variables; income and weight as the Census gives them."""
    known = {"SEX": 1, "AGEP": 40, "WKHP": 38, "MAR": 1, "RELP": 0, "RAC1P": 1, "COW": 1, "OCCP": 4110, "SCHL": 21, "LABEL": 1}
    known |= {"DIS": 2, "ESP": 0, "MIG": 1, "MIL": 4, "ANC": 1, "NATIVITY": 1, "DEAR": 2, "DEYE": 2, "DREM": 2, "FER": 0}
    return {**known, "CIT": 1, "ESR": 1, "PINCP": 20_000, "PWGTP": 3, "PUBCOV": 1, "ST": 6, **given}


def patient(**given: Any) -> dict[str, Any]:
    return {**dict.fromkeys(covid.LABELS, 0), "Age": 75, "Age_70": 1, "Parda": 1, "is_dead": 1, **given}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """The directory of a file of these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    return path.parent


def crowd(directory: Path, name: str = INCOME_CA, people: int = 300) -> Path:
    """A file of people drawn at random, of every code that the tasks know."""
    rng = np.random.default_rng(0)
    drawn = {column: rng.choice(np.asarray(codes), people) for column, codes in encodings.CODES.items()}
    table = pd.DataFrame(drawn).assign(PINCP=rng.normal(15_000.0, 5_000.0, people).round())
    table["LABEL"] = (table["AGEP"] + 20 * (table["RAC1P"] == 1) - table["SEX"] + rng.normal(0, 20, people) > 55).astype(int)
    table.to_csv(directory / name, index=False)
    return directory


def ones(task: tp.datasets.Task, row: int = 0) -> set[str]:
    """The 0/1 columns in which a row has a 1."""
    binary = task.X.drop(columns=list(task.numeric))
    assert set(np.unique(binary)) <= {0.0, 1.0}
    return set(binary.columns[binary.iloc[row] == 1.0])


# Encodings, by hand


def test_a_cook_and_a_lawyer_are_encoded_as_the_codes_say(tmp_path: Path) -> None:
    lawyer = person(OCCP=2100, RAC1P=3, SCHL=16, MAR=5, RELP=17, COW=9, SEX=2, AGEP=17, WKHP=1, LABEL=0)
    written(tmp_path / INCOME_CA, person(), lawyer)
    task = tp.datasets.acs_income(tmp_path, check=False)
    assert ones(task) == {"MAR_1", "RELP_0", "RAC1P_1", "COW_1", "OCCP_EAT", "OCCP_Non", "SCHL_21", "SCHL_17"}
    assert ones(task, 1) == {"MAR_5", "RELP_17", "RAC1P_3", "COW_9", "OCCP_Lg"}
    assert task.X[list(task.numeric)].to_numpy().tolist() == [[1, 40, 38, 21], [2, 17, 1, 16]]
    assert task.y.tolist() == [1, 0]
    assert "not checked" in task.source


def test_a_pupil_and_an_immigrant_are_encoded_as_the_codes_say(tmp_path: Path) -> None:
    pupil = person(AGEP=15, ESR=0, ESP=3, MIL=0, SCHL=12, MAR=5, LABEL=0)
    immigrant = person(AGEP=64, CIT=5, NATIVITY=2, ESR=6, RAC1P=6, SCHL=22, FER=2, PINCP=-500, ANC=8)
    written(tmp_path / PUBCOV_CA, pupil, immigrant)
    task = tp.datasets.acs_pubcov(tmp_path, check=False)
    assert ones(task) == {"MAR_5", "RAC1P_1", "CIT_1"}
    assert ones(task, 1) == {"MAR_1", "RAC1P_6", "CIT_5", "ESR_6", "SCHL_17", "SCHL_21", "SCHL_22"}
    assert task.X.loc[0, ["ESP", "MIL", "FER", "PINCP"]].tolist() == [3, 0, 0, 20_000]
    assert task.X.loc[1, ["NATIVITY", "FER", "PINCP", "ANC"]].tolist() == [2, 2, -500, 8]


@pytest.mark.parametrize(
    ("code", "columns"),
    [
        (10, {"OCCP_MGR", "OCCP_Lg"}),
        (499, {"OCCP_MGR", "OCCP_Lg"}),
        (500, {"OCCP_BUS", "OCCP_Lg"}),
        (2100, {"OCCP_Lg"}),
        (3603, {"OCCP_HLS", "OCCP_Semi"}),
        (3700, {"OCCP_PRT", "OCCP_Non"}),
        (9830, {"OCCP_MIL", "OCCP_Non"}),
        (9920, {"OCCP_none", "OCCP_Non"}),
    ],
)
def test_occupations_go_by_the_first_two_digits(code: int, columns: set[str], tmp_path: Path) -> None:
    task = tp.datasets.acs_income(written(tmp_path / INCOME_CA, person(OCCP=code)), check=False)
    assert {name for name in ones(task) if name.startswith("OCCP")} == columns


def test_every_occupation_belongs_to_one_group_and_level() -> None:
    covered = [code for job in encodings.OCCUPATIONS.values() for code in range(job.first, job.last + 1)]
    assert covered == list(range(100))
    levels = {level: {name for name, job in encodings.OCCUPATIONS.items() if job.level == level} for level in ("Lg", "Semi")}
    assert levels["Lg"] == {"MGR", "BUS", "FIN", "LGL", "EDU", "ENT"}
    assert levels["Semi"] == {"CMM", "ENG", "SCI", "CMS", "MED", "HLS", "PRS", "SAL", "OFF", "RPR", "PRD"}


def test_who_is_in_the_income_task(tmp_path: Path) -> None:
    edges: list[tuple[dict[str, Any], int | None]] = [
        ({"AGEP": 16}, None),
        ({"AGEP": 17}, 0),
        ({"PINCP": 100}, None),
        ({"PINCP": 101}, 0),
        ({"PINCP": 50_000}, 0),
        ({"PINCP": 50_001}, 1),
        ({"PINCP": None}, None),
        ({"WKHP": None}, None),
        ({"WKHP": 0}, None),
        ({"PWGTP": 0}, None),
        ({"PWGTP": 1}, 0),
    ]
    rows = [{**person(RELP=k, **given), "LABEL": 7} for k, (given, _) in enumerate(edges)]
    task = tp.datasets.acs_income(written(tmp_path / "psam_p06.csv", *rows), check=False)
    found = [next(int(name.split("_")[1]) for name in ones(task, i) if name.startswith("RELP")) for i in range(len(task.y))]
    assert dict(zip(found, task.y, strict=True)) == {k: label for k, (_, label) in enumerate(edges) if label is not None}


def test_who_is_in_the_task_of_public_coverage(tmp_path: Path) -> None:
    rows = [
        person(AGEP=64),
        person(AGEP=65),
        person(AGEP=30, PINCP=30_000, PUBCOV=2),
        person(AGEP=31, PINCP=30_001),
        person(AGEP=14, PINCP=None),
        person(AGEP=15, ESP=None, MIL=None, ESR=None, FER=None),
    ]
    task = tp.datasets.acs_pubcov(written(tmp_path / "2018" / "1-Year" / "psam_p06.csv", *rows).parents[1], check=False)
    assert task.X["AGEP"].tolist() == [64, 30, 15]
    assert task.y.tolist() == [1, 0, 1]
    assert task.X.iloc[2][["ESP", "MIL", "FER"]].tolist() == [0, 0, 0], "what does not apply is 0"
    assert not {name for name in ones(task, 2) if name.startswith("ESR")}


def test_the_file_of_the_census_comes_before_the_task_file(tmp_path: Path) -> None:
    written(tmp_path / INCOME_CA, person(), person())
    written(tmp_path / "acs" / "psam_p06.csv", person())
    assert len(tp.datasets.acs_income(tmp_path, check=False).y) == 1


def test_labels_that_are_booleans_are_0_and_1(tmp_path: Path) -> None:
    written(tmp_path / INCOME_CA, person(LABEL=True), person(LABEL=False))
    assert tp.datasets.acs_income(tmp_path, check=False).y.tolist() == [1, 0]


# What a task knows


def test_two_clouds_are_where_they_should_be_and_the_same_for_a_seed() -> None:
    x, y = tp.datasets.toy()
    assert y.tolist() == [0] * 100 + [1] * 100
    pd.testing.assert_frame_equal(x, tp.datasets.toy(seed=0).X)
    assert not np.allclose(x, tp.datasets.toy(seed=1).X)
    x, y = tp.datasets.toy(seed=3, samples=20_000)
    for outcome, centre in ((0, 2.0), (1, -1.0)):
        cloud = x[y == outcome]
        np.testing.assert_allclose(cloud.mean(), centre, atol=0.04)
        np.testing.assert_allclose(np.cov(cloud.T), np.eye(2), atol=0.04)


@pytest.mark.parametrize("loader", LOADERS)
def test_groups_are_of_columns_that_exist_and_no_column_is_in_two(loader: str, tmp_path: Path) -> None:
    name = {"income": INCOME_CA, "pubcov": PUBCOV_CA}[loader]
    task = LOADERS[loader](crowd(tmp_path, name), check=False)
    assert list(task.labels) == list(task.X)
    assert len(set(task.labels.values())) == len(task.labels), "every column says something else"
    for groups in (task.groups, task.one_hot):
        members = [column for columns in groups.values() for column in columns]
        assert len(members) == len(set(members))
        assert set(members) <= set(task.X)
    if loader == "pubcov":
        assert task.groups["citizenship"] == ("NATIVITY", "CIT_1", "CIT_2", "CIT_3", "CIT_4", "CIT_5")
        assert task.groups["disability"] == ("DIS", "DEAR", "DEYE", "DREM")
    alone = set(task.X) - {column for columns in task.groups.values() for column in columns}
    assert alone <= set(task.numeric), "every indicator belongs to a group"
    assert task.labels["RAC1P_3"] == f"race: {tp.datasets.RACES[3]}" == "race: American Indian"


def test_groups_can_be_asked_about_as_numbers_and_as_categories(tmp_path: Path) -> None:
    task = tp.datasets.acs_income(crowd(tmp_path), check=False)
    x, y = task.X.copy(), task.y
    x[list(task.numeric)] = (x[list(task.numeric)] - x[list(task.numeric)].mean()) / x[list(task.numeric)].std()
    model = LogisticRegression(C=1e3, max_iter=5000).fit(x, y)
    asked: dict[str, Any] = {"scale": "raw", **PAPER}

    def values(features: Any, space: tp.Space) -> dict[str, float]:
        found = tp.feature_stability(model, x, y, 0.4, features=features, space=space, **asked)
        return {name: found[name].value for name in found}

    races = task.groups["race"]
    free = values(["race", "occupation", *races], task.space())
    own = values({"r": races}, tp.Space())
    assert free["race"] == pytest.approx(own["r"], rel=1e-12)
    assert free["race"] < min(free[name] for name in races), "nine columns are more freedom than one"
    switched = values(["race", "RAC1P", "occupation"], task.space(one_hot=True))
    assert switched["race"] == switched["RAC1P"] != pytest.approx(free["race"], rel=1e-3)
    cheap = task.space(one_hot=True, movable=["RAC1P"], price={"RAC1P": 1e-3})
    q = tp.stability(model, x, y, 0.4, space=cheap, **asked).sensitive
    assert (q["cost"] > 0).any()
    assert set(np.unique(q[list(races)])) == {0.0, 1.0}
    assert (q[list(races)].sum(axis=1) == 1.0).all()


def test_what_is_said_of_a_space_is_kept(tmp_path: Path) -> None:
    task = tp.datasets.covid19_brazil(written(tmp_path / covid.NAMES[1], patient()), check=False)
    space = task.space(one_hot=True, frozen=["Sex_male"], groups={"lungs": ["Asthma"]})
    assert space.frozen == ("Sex_male",)
    assert set(space.groups) == {*task.groups, "lungs"}
    assert space.groups["age"] == ("Age", "Age_band")
    assert task.space().groups["age"] == ("Age", *covid.BANDS)
    with pytest.raises(tp.InputError, match="'colour' is nothing that a Space has"):
        task.space(colour="red")
    with pytest.raises(tp.InputError, match="one_hot='yes' must be True or False"):
        task.space(one_hot="yes")  # type: ignore[arg-type]


def test_a_task_is_told_in_a_few_lines(tmp_path: Path) -> None:
    task = tp.datasets.acs_income(crowd(tmp_path), check=False)
    told = str(task)
    assert repr(task) == told
    assert told.startswith("ACS Income, CA 2018: 300 rows × 76 columns, y = 1 in ")
    assert "occupation (28)" in told
    assert max(map(len, told.splitlines())) < 80
    assert len(told.splitlines()) < 10
    assert "one-hot" not in str(tp.datasets.toy())


# Files and arguments that are wrong


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        ({"RAC1P": 12}, "RAC1P of row 1 .* is 12; its codes are 1 to 9"),
        ({"MAR": 0}, "MAR of row 1 .* is 0; its codes are 1 to 5"),
        ({"RELP": 18}, "RELP of row 1 .* is 18"),
        ({"OCCP": 12_345}, "OCCP of row 1 .* is 12345"),
        ({"OCCP": -100}, "OCCP of row 1 .* is -100"),
        ({"SCHL": 2.5}, "SCHL of row 1 .* is 2.5"),
        ({"COW": None}, "COW of row 1 .* is missing"),
        ({"LABEL": 2}, "LABEL of row 1 .* is 2; its codes are 0 to 1"),
        ({"SEX": "male"}, "SEX of row 1 .* is 'male', which is no number"),
    ],
)
def test_a_code_that_does_not_exist_is_refused(given: dict[str, Any], culprit: str, tmp_path: Path) -> None:
    written(tmp_path / INCOME_CA, person(), person(**given))
    with pytest.raises(tp.InputError, match=culprit):
        tp.datasets.acs_income(tmp_path, check=False)


def test_a_row_is_counted_as_in_the_file_of_the_census(tmp_path: Path) -> None:
    written(tmp_path / "psam_p06.csv", person(), person(AGEP=80), person(ANC=5), person())
    with pytest.raises(tp.InputError, match=r"ANC of row 2 .* is 5; its codes are 1, 2, 3, 4, 8; .* person file of the Census"):
        tp.datasets.acs_pubcov(tmp_path, check=False)


@pytest.mark.parametrize(
    ("name", "lost"), [(INCOME_CA, "LABEL"), (INCOME_CA, "AGEP"), ("psam_p06.csv", "PWGTP"), ("psam_p06.csv", "ST")]
)
def test_a_file_that_lacks_a_column_is_refused(name: str, lost: str, tmp_path: Path) -> None:
    written(tmp_path / name, {key: value for key, value in person().items() if key != lost})
    with pytest.raises(tp.InputError, match=f"lacks the column '{lost}'; it should be"):
        tp.datasets.acs_income(tmp_path, check=False)


@pytest.mark.parametrize(
    ("name", "state", "should"),
    [
        (INCOME_CA, "CA", "1 people of CA for ACSIncome, not 195,665 or 89,958"),
        ("psam_p06.csv", "CA", "not 195,665: "),
        ("acs2018_income_de.csv", "DE", "not 4,713: "),
        ("acs2018_income_other_states.csv.gz", "TX", "not 62,433: "),
    ],
)
def test_a_file_of_another_size_is_refused_unless_it_is_accepted(name: str, state: str, should: str, tmp_path: Path) -> None:
    written(tmp_path / name, person(STATE=state))
    with pytest.raises(tp.InputError, match=f"{should}.*incomplete, or of another year than 2018.*check=False"):
        tp.datasets.acs_income(tmp_path, state)
    assert len(tp.datasets.acs_income(tmp_path, state, check=False).y) == 1


def test_where_the_count_is_not_known_the_source_says_so(tmp_path: Path) -> None:
    written(tmp_path / "psam_p48.csv", person(ST=48))
    assert "a number that was not checked" in tp.datasets.acs_income(tmp_path, "TX").source
    (tmp_path / "psam_p48.csv").unlink()
    written(tmp_path / "acs2018_income_tx.csv", person(), person())
    assert "2 people" in tp.datasets.acs_income(tmp_path, "TX").source, "the count of a sample is not that of any file of Texas"


def test_people_of_another_state_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "psam_p06.csv", person(), person(ST=48))
    with pytest.raises(tp.InputError, match=r"should hold people of CA \(ST 6\), but ST of row 1 is 48"):
        tp.datasets.acs_income(tmp_path, check=False)
    written(tmp_path / "acs2018_income_other_states.csv.gz", person(STATE="NY"))
    with pytest.raises(tp.InputError, match="has nobody of TX for ACSIncome"):
        tp.datasets.acs_income(tmp_path, "TX", check=False)


def test_a_damaged_file_is_told_as_such(tmp_path: Path) -> None:
    whole = gzip.compress(pd.DataFrame([person()] * 500).to_csv(index=False).encode())
    (tmp_path / INCOME_CA).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(tp.InputError, match=r"cannot be read .*get it again"):
        tp.datasets.acs_income(tmp_path)
    with zipfile.ZipFile(tmp_path / "csv_pca.zip", "w") as archive:
        archive.writestr("psam_h06.csv", "a,b")
    with pytest.raises(tp.InputError, match=r"psam_p06\.csv"):
        tp.datasets.acs_income(tmp_path)


@pytest.mark.parametrize(
    ("load", "told"),
    [
        (tp.datasets.acs_income, r"csv_pca\.zip of https://www2\.census\.gov.*folktables.*acs2018_income_ca\.csv\.gz; nothing"),
        (lambda place: tp.datasets.acs_income(place, "DE"), r"psam_p10\.csv.*acs2018_pums_14_small_states\.csv\.gz; nothing"),
        (lambda place: tp.datasets.acs_pubcov(place, "TX"), r"psam_p48\.csv.*acs2018_pubcov_other_states\.csv\.gz; nothing"),
        (tp.datasets.covid19_brazil, r"github\.com/ioanabica/COVID-19-Brazil.*nothing is downloaded"),
        (lambda place: tp.datasets.acs_income(place / "no"), "is not a directory"),
        (lambda _: tp.datasets.covid19_brazil(None), "directory=None must be a path"),  # type: ignore[arg-type]
        (lambda place: tp.datasets.acs_income(place, "XX"), "state='XX' is not known; use two letters, one of 'AL'"),
        (lambda place: tp.datasets.acs_income(place, 6), "state=6 is not known"),  # type: ignore[arg-type]
        (lambda _: tp.datasets.toy(samples=0), "samples=0 must be a whole number, at least 1"),
        (lambda _: tp.datasets.toy(seed=-1), "seed=-1 must be a whole number, at least 0"),
        (lambda _: tp.datasets.toy(seed=0.5), "seed=0.5 must be a whole number"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_found_is_told_with_a_remedy(load: Callable[[Path], Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match=told):
        load(tmp_path)


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        ({"Fever": 2}, "Fever of row 1 .* is 2; its codes are 0 to 1"),
        ({"Age": None}, "Age of row 1 .* is missing"),
        ({"Parda": 0}, "row 1 .* is not one-hot in Ethnicity"),
        ({"Age_40": 1}, "row 1 .* is not one-hot in Age_band"),
    ],
)
def test_patients_who_cannot_be_are_refused(given: dict[str, Any], culprit: str, tmp_path: Path) -> None:
    home = written(tmp_path / "data" / covid.NAMES[-1], patient(), patient(**given)).parent
    with pytest.raises(tp.InputError, match="has 2 patients of whom 2 died, not 6,882 and 3,254"):
        tp.datasets.covid19_brazil(home)
    with pytest.raises(tp.InputError, match=culprit):
        tp.datasets.covid19_brazil(home, check=False)


def test_as_many_patients_of_whom_another_number_died_are_refused(tmp_path: Path) -> None:
    written(tmp_path / covid.NAMES[0], *([patient()] * 6_882))
    with pytest.raises(tp.InputError, match=r"has 6,882 patients of whom 6,882 died, not 6,882 and 3,254: .*check=False"):
        tp.datasets.covid19_brazil(tmp_path)
