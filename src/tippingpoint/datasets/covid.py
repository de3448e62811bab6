"""COVID-19 in Brazilian hospitals: who dies, from age, sex, symptoms, other illnesses and ethnicity."""

from __future__ import annotations

import os

import numpy as np

from tippingpoint.datasets.reading import check_codes, find, read_columns
from tippingpoint.datasets.task import Task
from tippingpoint.errors import InputError, listed

NAMES = ("brazil_covid_6882.csv.gz", "brazil_covid_6882.csv", "data_for_cox_regression_in_hospital_mortality.csv")
"""What the file may be called: here, and by its authors."""

FOLDERS = ("covid", "data")
"""Folders that are looked into; the authors keep it in the second."""

HOME = "github.com/ioanabica/COVID-19-Brazil"
"""Where the authors publish it."""

EXPECTED = f"{NAMES[-1]} of {HOME}"

ROWS, DEATHS = 6882, 3254
"""How many patients there are, and how many of them died."""

OUTCOME = "is_dead"

BANDS = {
    "Age_40": "under 40",
    "Age_40_50": "40 to 49",
    "Age_50_60": "50 to 59",
    "Age_60_70": "60 to 69",
    "Age_70": "70 or more",
}
"""Age bands; every patient is in one."""

SYMPTOMS = {
    "Fever": "fever",
    "Cough": "cough",
    "Sore_throat": "sore throat",
    "Shortness_of_breath": "shortness of breath",
    "Respiratory_discomfort": "respiratory discomfort",
    "SPO2": "oxygen saturation below 95 %",
    "Dihareea": "diarrhoea",
    "Vomitting": "vomiting",
}
"""Symptoms, spelt as the authors do; unknown is 0."""

COMORBIDITIES = {
    "Cardiovascular": "cardiovascular disease",
    "Asthma": "asthma",
    "Diabetis": "diabetes",
    "Pulmonary": "pulmonary disease",
    "Immunosuppresion": "immunosuppression",
    "Obesity": "obesity",
    "Liver": "liver disease",
    "Neurologic": "neurologic disease",
    "Renal": "renal disease",
}
"""Other illnesses, likewise."""

ETHNICITIES = {
    "Branca": "White (Branca)",
    "Preta": "Black (Preta)",
    "Amarela": "East Asian (Amarela)",
    "Parda": "mixed (Parda)",
    "Indigena": "Indigenous (Indígena)",
}
"""Ethnicities, of which every patient has one."""

ONE_HOT = {"Age_band": tuple(BANDS), "Ethnicity": tuple(ETHNICITIES)}
"""Columns of which exactly one is 1."""

LABELS = {
    "Sex_male": "sex: male",
    "Age": "age",
    **{column: f"age: {words}" for column, words in BANDS.items()},
    **SYMPTOMS,
    **COMORBIDITIES,
    **{column: f"ethnicity: {words}" for column, words in ETHNICITIES.items()},
}
"""The 29 features, in their order, and what each says."""


def covid19_brazil(directory: str | os.PathLike[str], *, check: bool = True) -> Task:
    """COVID-19 patients in Brazilian hospitals until May 2020: does a patient die? 6,882 patients × 29 columns.

    Parameters
    ----------
    directory
        Where `brazil_covid_6882.csv.gz` is, or its folder `covid`; or the authors' own file,
        `data_for_cox_regression_in_hospital_mortality.csv`. Nothing is downloaded.
    check
        Whether there must be 6,882 patients of whom 3,254 died; False accepts what is there.

    Returns
    -------
    Task
        Unpacks as `X, y`.

    References
    ----------
    Baqui, Bica, Marra, Ercole, van der Schaar, "Ethnic and regional variations in hospital mortality from COVID-19 in Brazil",
    Lancet Global Health 2020.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.datasets.covid19_brazil("downloads")
    Traceback (most recent call last):
        ...
    tippingpoint.errors.InputError: directory='downloads' is not a directory; name the one that holds the files.
    """
    path = find(directory, FOLDERS, NAMES)
    if path is None:
        raise InputError(
            f"directory={str(directory)!r} holds no {NAMES[0]}, nor do its folders {listed(FOLDERS)}: put {EXPECTED} there,"
            " under either name; nothing is downloaded."
        )
    table = read_columns(path, [OUTCOME, *LABELS], expected=EXPECTED)
    found = (len(table), int((table[OUTCOME] == 1).sum()))
    if check and found != (ROWS, DEATHS):
        raise InputError(
            f"{str(path)!r} has {found[0]:,} patients of whom {found[1]:,} died, not {ROWS:,} and {DEATHS:,}: it is incomplete,"
            f" or of another day; get {EXPECTED} again, or accept it with check=False."
        )
    binary = [name for name in (OUTCOME, *LABELS) if name != "Age"]
    check_codes(table, dict.fromkeys(binary, range(2)), path, EXPECTED)
    for group, columns in ONE_HOT.items():
        astray = np.flatnonzero(table[list(columns)].sum(axis=1) != 1)
        if len(astray):
            raise InputError(
                f"row {astray[0]} in {str(path)!r} is not one-hot in {group}: exactly one of {listed(columns)} must be 1; mend"
                " the row, or get the file again."
            )
    coverage = "all there are" if check else "a number that was not checked"
    return Task(
        name="COVID-19 Brazil",
        X=table[list(LABELS)].astype(float),
        y=table[OUTCOME].astype("int64"),
        numeric=("Age",),
        one_hot=dict(ONE_HOT),
        groups={
            "age": ("Age", *BANDS),
            "symptoms": tuple(SYMPTOMS),
            "comorbidities": tuple(COMORBIDITIES),
            "ethnicity": tuple(ETHNICITIES),
        },
        labels=dict(LABELS),
        source=f"SIVEP-Gripe of 4 May 2020, as prepared by Baqui et al., from {path.name}: {found[0]:,} patients, {coverage}.",
    )
