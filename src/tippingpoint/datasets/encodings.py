"""The American Community Survey in columns: what every variable of the Census becomes, and what it says in words.

The encoding is that of the paper's experiments: 76 columns for income, 42 for public coverage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class Occupation(NamedTuple):
    """A group of occupations: the first two digits of the Census code, from and to; its coarse level; in words."""

    first: int
    last: int
    level: str
    words: str


OCCUPATIONS = {
    "MGR": Occupation(0, 4, "Lg", "managers"),
    "BUS": Occupation(5, 7, "Lg", "business"),
    "FIN": Occupation(8, 9, "Lg", "finance"),
    "CMM": Occupation(10, 12, "Semi", "computing and mathematics"),
    "ENG": Occupation(13, 15, "Semi", "engineering"),
    "SCI": Occupation(16, 19, "Semi", "science"),
    "CMS": Occupation(20, 20, "Semi", "community service"),
    "LGL": Occupation(21, 21, "Lg", "legal"),
    "EDU": Occupation(22, 25, "Lg", "education"),
    "ENT": Occupation(26, 29, "Lg", "entertainment"),
    "MED": Occupation(30, 35, "Semi", "medicine"),
    "HLS": Occupation(36, 36, "Semi", "health support"),
    "PRT": Occupation(37, 39, "Non", "protection"),
    "EAT": Occupation(40, 41, "Non", "food"),
    "CLN": Occupation(42, 42, "Non", "cleaning"),
    "PRS": Occupation(43, 46, "Semi", "personal care"),
    "SAL": Occupation(47, 49, "Semi", "sales"),
    "OFF": Occupation(50, 59, "Semi", "office"),
    "FFF": Occupation(60, 61, "Non", "farming, fishing, forestry"),
    "CON": Occupation(62, 67, "Non", "construction"),
    "EXT": Occupation(68, 69, "Non", "extraction"),
    "RPR": Occupation(70, 76, "Semi", "repair"),
    "PRD": Occupation(77, 89, "Semi", "production"),
    "TRN": Occupation(90, 97, "Non", "transport"),
    "MIL": Occupation(98, 98, "Non", "military"),
    "none": Occupation(99, 99, "Non", "none"),
}
"""Occupation groups; together they cover every code."""

LEFT_OUT = "LGL"
"""The occupation without a column of its own, so that there are 76."""

LEVELS = ("Lg", "Semi", "Non")
"""Coarse levels of occupation."""

RACES = {
    1: "White",
    2: "Black",
    3: "American Indian",
    4: "Alaska Native",
    5: "American Indian or Alaska Native, not specified",
    6: "Asian",
    7: "Pacific Islander",
    8: "other",
    9: "two or more",
}
"""What the codes of RAC1P mean."""

RELATIONSHIPS = (
    "reference person",
    "spouse",
    "child",
    "adopted child",
    "stepchild",
    "sibling",
    "parent",
    "grandchild",
    "parent-in-law",
    "child-in-law",
    "other relative",
    "boarder",
    "housemate",
    "unmarried partner",
    "foster child",
    "other nonrelative",
    "institution",
    "other group quarters",
)
"""What the codes 0, 1, … of RELP mean: to the person who owns or rents the home, or where there is none."""

WORKERS = (
    *("private firm", "non-profit", "local government", "state government", "federal government", "self-employed"),
    *("self-employed, incorporated", "unpaid in the family", "unemployed"),
)
"""What the codes 1, 2, … of COW mean."""

CITIZENSHIPS = ("born in the US", "born in US territories", "born abroad to Americans", "naturalised", "not a citizen")
"""What the codes 1, 2, … of CIT mean."""

EMPLOYMENTS = ("at work", "job, not at work", "unemployed", "armed forces", "armed forces, not at work", "not in labour force")
"""What the codes 1, 2, … of ESR mean; those under 16 have none, and are 0 in all six columns."""

CATEGORIES: Mapping[str, tuple[str, Mapping[int, str]]] = {
    "MAR": ("marital status", dict(enumerate(("married", "widowed", "divorced", "separated", "never married"), 1))),
    "RELP": ("relationship", dict(enumerate(RELATIONSHIPS))),
    "RAC1P": ("race", RACES),
    "COW": ("class of worker", dict(enumerate(WORKERS, 1))),
    "CIT": ("citizenship", dict(enumerate(CITIZENSHIPS, 1))),
    "ESR": ("employment", dict(enumerate(EMPLOYMENTS, 1))),
}
"""Variables that become one column a code, and what the codes mean."""

DEGREES = {21: "bachelor or more", 17: "GED or more", 22: "master or more"}
"""Codes of SCHL from which on an indicator is 1. 17 is the GED; the regular high-school diploma, 16, is not among them."""

NUMBERS = {
    "SEX": "sex",
    "AGEP": "age",
    "WKHP": "hours a week",
    "DIS": "disability",
    "ESP": "employment of parents",
    "MIG": "moved house",
    "MIL": "military service",
    "ANC": "ancestry",
    "NATIVITY": "nativity",
    "DEAR": "hearing difficulty",
    "DEYE": "vision difficulty",
    "DREM": "cognitive difficulty",
    "PINCP": "income in dollars",
    "FER": "gave birth within a year",
}
"""Variables that stay one column: numbers, and codes as the Census gives them (yes is 1, no is 2)."""

LEVEL = "OCCP_level"
"""The coarse level of the occupation, which is no variable of the Census but follows from OCCP."""

INCOME = ("SEX", "AGEP", "WKHP", "MAR", "RELP", "RAC1P", "COW", "OCCP", "SCHL", LEVEL)
"""What the 76 columns for income are made of, in their order."""

PUBCOV = (
    *("SEX", "AGEP", "DIS", "ESP", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM", "PINCP", "FER"),
    *("MAR", "RAC1P", "SCHL", "CIT", "ESR"),
)
"""What the 42 columns for public coverage are made of, in their order."""

ONE_HOT = ("MAR", "RELP", "RAC1P", "COW", "CIT", LEVEL)
"""Variables of whose columns exactly one is 1. Not OCCP, of which lawyers have none, nor ESR, of which the young have none."""

TOGETHER = {
    "marital status": ("MAR",),
    "relationship": ("RELP",),
    "race": ("RAC1P",),
    "class of worker": ("COW",),
    "occupation": ("OCCP", LEVEL),
    "education": ("SCHL",),
    "disability": ("DIS", "DEAR", "DEYE", "DREM"),
    "citizenship": ("NATIVITY", "CIT"),
    "employment": ("ESR",),
}
"""Variables that say the same thing together."""

NOT_APPLICABLE = ("ESP", "MIL", "ESR", "FER")
"""Variables that the Census leaves blank for some people, and folktables sets to 0."""

CODES: Mapping[str, Sequence[int]] = {
    **{name: range(min(words), max(words) + 1) for name, (_, words) in CATEGORIES.items()},
    "ESR": range(7),
    "OCCP": range(10_000),
    "SCHL": range(1, 25),
    "AGEP": range(100),
    "WKHP": range(1, 100),
    **dict.fromkeys(("SEX", "DIS", "NATIVITY", "DEAR", "DEYE", "DREM"), range(1, 3)),
    "ESP": range(9),
    "MIG": range(1, 4),
    "MIL": range(5),
    "ANC": (1, 2, 3, 4, 8),
    "FER": range(3),
    "LABEL": range(2),
}
"""Values that exist, after what does not apply is 0."""


def variables(parts: Sequence[str]) -> tuple[str, ...]:
    """The variables of the Census behind these parts."""
    return tuple(part for part in parts if part != LEVEL)


def labels(part: str) -> dict[str, str]:
    """The columns that a part becomes, and what each says."""
    if part in CATEGORIES:
        name, words = CATEGORIES[part]
        return {f"{part}_{code}": f"{name}: {word}" for code, word in words.items()}
    if part == "OCCP":
        return {f"OCCP_{name}": f"occupation: {job.words}" for name, job in OCCUPATIONS.items() if name != LEFT_OUT}
    if part == LEVEL:
        return {f"OCCP_{level}": f"occupation level: {level}" for level in LEVELS}
    if part == "SCHL":
        return {"SCHL": "education"} | {f"SCHL_{code}": f"education: {word}" for code, word in DEGREES.items()}
    return {part: NUMBERS[part]}


def numeric(parts: Sequence[str]) -> tuple[str, ...]:
    """The columns that hold numbers or codes."""
    return tuple(part for part in parts if part in NUMBERS or part == "SCHL")


def one_hot(parts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns of which exactly one is 1, by variable."""
    return {part: tuple(labels(part)) for part in parts if part in ONE_HOT}


def groups(parts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns that say the same thing together, by name."""
    found = {name: [part for part in members if part in parts] for name, members in TOGETHER.items()}
    return {name: tuple(column for part in members for column in labels(part)) for name, members in found.items() if members}


def encode(table: Any, parts: Sequence[str]) -> Any:
    """The columns of these parts as a pandas frame of floats, rows numbered from 0.

    Parameters
    ----------
    table
        A frame of variables of the Census, all codes of which exist.
    parts
        What to encode.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    for part in parts:
        columns |= dict(zip(labels(part), _values(table, part), strict=True))
    return pd.DataFrame({name: np.asarray(values, dtype=float) for name, values in columns.items()})


def _values(table: Any, part: str) -> list[Any]:
    """The values of every column that a part becomes."""
    if part in CATEGORIES:
        return [table[part] == code for code in CATEGORIES[part][1]]
    if part == "SCHL":
        return [table[part], *(table[part] >= code for code in DEGREES)]
    if part in NUMBERS:
        return [table[part]]
    jobs = table["OCCP"].to_numpy() // 100
    holds = {name: (jobs >= job.first) & (jobs <= job.last) for name, job in OCCUPATIONS.items()}
    if part == LEVEL:
        return [np.any([holds[name] for name, job in OCCUPATIONS.items() if job.level == level], axis=0) for level in LEVELS]
    return [member for name, member in holds.items() if name != LEFT_OUT]
