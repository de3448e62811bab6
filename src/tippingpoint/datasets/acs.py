"""The American Community Survey, as the paper's experiments encode it: 76 columns for income."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tippingpoint.errors import InputError

INCOME = "acs2018_income_ca.csv.gz"
"""The ACSIncome task of California, 2018, with a 0/1 column LABEL."""

OCCUPATIONS = {
    "MGR": (0, 4),
    "BUS": (5, 7),
    "FIN": (8, 9),
    "CMM": (10, 12),
    "ENG": (13, 15),
    "SCI": (16, 19),
    "CMS": (20, 20),
    "LGL": (21, 21),
    "EDU": (22, 25),
    "ENT": (26, 29),
    "MED": (30, 35),
    "HLS": (36, 36),
    "PRT": (37, 39),
    "EAT": (40, 41),
    "CLN": (42, 42),
    "PRS": (43, 46),
    "SAL": (47, 49),
    "OFF": (50, 59),
    "FFF": (60, 61),
    "CON": (62, 67),
    "EXT": (68, 69),
    "RPR": (70, 76),
    "PRD": (77, 89),
    "TRN": (90, 97),
    "MIL": (98, 98),
    "none": (99, 99),
}
"""Occupation groups, by the first two digits of the Census code."""

LEFT_OUT = "LGL"
"""The occupation without a column of its own, so that there are 76."""

LEVELS = {
    "Lg": ("MGR", "BUS", "FIN", "LGL", "EDU", "ENT"),
    "Semi": ("CMM", "ENG", "SCI", "CMS", "MED", "HLS", "PRS", "SAL", "OFF", "RPR", "PRD"),
}
"""Coarse levels of occupation; all others are "Non"."""

ONE_HOT = {"MAR": range(1, 6), "RELP": range(18), "RAC1P": range(1, 10), "COW": range(1, 10)}
"""Columns that become one column a code."""

DEGREES = (21, 17, 22)
"""Years of schooling with an indicator of their own: bachelor, some college, master."""


def acs_income(directory: str | Path) -> tuple[Any, Any]:
    """Income of Californians in 2018: does a person earn more than 50,000 dollars? 89,958 people × 76 columns.

    Numbers are as the Census gives them; standardise SEX, AGEP, WKHP and SCHL as you see fit. Nothing is downloaded.

    Parameters
    ----------
    directory
        Where the file `acs2018_income_ca.csv.gz` is, or its folder `acs`.

    Returns
    -------
    X, y
        A pandas frame of floats and a series of 0 and 1.
    """
    import pandas as pd

    table = pd.read_csv(_found(directory, INCOME))
    missing = [name for name in ("SEX", "AGEP", "WKHP", "SCHL", "OCCP", "LABEL", *ONE_HOT) if name not in table]
    if missing:
        raise InputError(f"{INCOME} in {str(directory)!r} lacks the column {missing[0]!r}; it is not the ACSIncome task.")
    group = _occupations(table["OCCP"].to_numpy() // 100)
    columns: dict[str, Any] = {name: table[name] for name in ("SEX", "AGEP", "WKHP")}
    columns |= {f"{name}_{code}": table[name] == code for name, codes in ONE_HOT.items() for code in codes}
    columns |= {f"OCCP_{name}": group == name for name in OCCUPATIONS if name != LEFT_OUT}
    columns |= {"SCHL": table["SCHL"]} | {f"SCHL_{year}": table["SCHL"] >= year for year in DEGREES}
    levels = {name: np.isin(group, members) for name, members in LEVELS.items()}
    columns |= {f"OCCP_{name}": member for name, member in levels.items()}
    columns["OCCP_Non"] = ~np.logical_or.reduce(list(levels.values()))
    return pd.DataFrame({name: np.asarray(values, dtype=float) for name, values in columns.items()}), table["LABEL"]


def _found(directory: str | Path, name: str) -> Path:
    for folder in (Path(directory), Path(directory) / "acs"):
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        f"{str(directory)!r} holds no {name}, nor does its folder 'acs'; it is the folktables task ACSIncome of California 2018"
        " (github.com/socialfoundations/folktables), written as a CSV."
    )


def _occupations(codes: Any) -> Any:
    group = np.full(len(codes), "", dtype=object)
    for name, (first, last) in OCCUPATIONS.items():
        group[(codes >= first) & (codes <= last)] = name
    unknown = np.flatnonzero(group == "")
    if len(unknown):
        raise InputError(f"OCCP of row {unknown[0]} is {codes[unknown[0]]}.., which is no occupation group of the Census.")
    return group.astype(str)
