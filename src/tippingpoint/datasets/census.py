"""The tasks of folktables, from files of the Census or of folktables: who is in them, and how many there must be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tippingpoint.datasets.encodings import CODES, INCOME, NOT_APPLICABLE, PUBCOV, variables
from tippingpoint.datasets.reading import check_codes, find, read_columns
from tippingpoint.errors import InputError, listed

YEAR = 2018
"""The year of the survey: codes and counts are its."""

FOLDERS = ("acs", f"{YEAR}/1-Year")
"""Folders that are looked into; folktables keeps the Census' files in the second."""

CENSUS = f"https://www2.census.gov/programs-surveys/acs/data/pums/{YEAR}/1-Year/"
"""Where the Census publishes the person files."""

FOLKTABLES = "github.com/socialfoundations/folktables"
"""Where the tasks are defined."""

# fmt: off
STATES = {
    "AL": 1, "AK": 2, "AZ": 4, "AR": 5, "CA": 6, "CO": 8, "CT": 9, "DE": 10, "DC": 11, "FL": 12, "GA": 13, "HI": 15, "ID": 16,
    "IL": 17, "IN": 18, "IA": 19, "KS": 20, "KY": 21, "LA": 22, "ME": 23, "MD": 24, "MA": 25, "MI": 26, "MN": 27, "MS": 28,
    "MO": 29, "MT": 30, "NE": 31, "NV": 32, "NH": 33, "NJ": 34, "NM": 35, "NY": 36, "NC": 37, "ND": 38, "OH": 39, "OK": 40,
    "OR": 41, "PA": 42, "RI": 44, "SC": 45, "SD": 46, "TN": 47, "TX": 48, "UT": 49, "VT": 50, "VA": 51, "WA": 53, "WV": 54,
    "WI": 55, "WY": 56, "PR": 72,
}
"""The Census' number of every state."""

SAMPLED_STATE = "CA"
"""The state of which a sample has a task file of its own."""

SMALL_STATES = ("DE", "HI", "ID", "ME", "MT", "NE", "NH", "NM", "ND", "RI", "SD", "VT", "WV", "WY")
"""States of the file of 14, in the order of the counts below."""

OTHER_STATES = ("TX", "NY", "FL", "PR", "LA", "MS", "CO")
"""States of the task files of other states, in the order of the counts below."""

INCOME_ROWS = (4713, 7731, 8265, 7002, 5463, 10785, 7966, 8711, 4455, 5712, 4899, 3767, 8103, 3064)
PUBCOV_ROWS = (2871, 4660, 5937, 4513, 3519, 6332, 4251, 7693, 2263, 3325, 2852, 2069, 7136, 1896)
INCOME_SAMPLES = (62433, 47486, 45543, 4145, 9486, 6095, 31306)
PUBCOV_SAMPLES = (39533, 26989, 28472, 5949, 6708, 4691, 7017)
# fmt: on


@dataclass(frozen=True)
class Question:
    """A task of folktables: who is asked about, and what.

    Attributes
    ----------
    name
        What folktables calls it.
    stem
        How the names of its files begin.
    parts
        What its columns are made of.
    needs
        Variables of the Census that select people and tell their outcome.
    selects, label
        Who is in the task, and whose outcome is 1.
    rows
        People in the task, by state, where known.
    samples
        Those of them in the task files that are samples, by state.
    """

    name: str
    stem: str
    parts: Sequence[str]
    needs: Sequence[str]
    selects: Callable[[Any], Any]
    label: Callable[[Any], Any]
    rows: Mapping[str, int]
    samples: Mapping[str, int]


ACS_INCOME = Question(
    name="ACSIncome",
    stem=f"acs{YEAR}_income",
    parts=INCOME,
    needs=("AGEP", "PINCP", "WKHP", "PWGTP"),
    selects=lambda people: (people.AGEP > 16) & (people.PINCP > 100) & (people.WKHP > 0) & (people.PWGTP >= 1),
    label=lambda people: people.PINCP > 50_000,
    rows={"CA": 195_665, "CO": 31_306, **dict(zip(SMALL_STATES, INCOME_ROWS, strict=True))},
    samples={"CA": 89_958, **dict(zip(OTHER_STATES, INCOME_SAMPLES, strict=True))},
)
"""Does a person who works earn more than 50,000 dollars?"""

ACS_PUBCOV = Question(
    name="ACSPublicCoverage",
    stem=f"acs{YEAR}_pubcov",
    parts=PUBCOV,
    needs=("AGEP", "PINCP", "PUBCOV"),
    selects=lambda people: (people.AGEP < 65) & (people.PINCP <= 30_000),
    label=lambda people: people.PUBCOV == 1,
    rows={"CA": 138_554, **dict(zip(SMALL_STATES, PUBCOV_ROWS, strict=True))},
    samples={"CA": 55_392, **dict(zip(OTHER_STATES, PUBCOV_SAMPLES, strict=True))},
)
"""Is a person of low income under 65 covered by public health insurance?"""


@dataclass(frozen=True)
class File:
    """A file that people of a state may be in.

    Attributes
    ----------
    name
        What it is called.
    raw
        Whether it holds everyone, as the Census publishes them; otherwise only those of the task, with a column LABEL.
    by, value
        Column that says the state of a person, and what it says; a file of folktables for one state has none.
    shared
        Whether it holds other states too.
    counts
        How many people of the task it may have; where none are given, that is not known.
    """

    name: str
    raw: bool
    by: str | None = None
    value: str | int = ""
    shared: bool = False
    counts: tuple[int, ...] = ()


def read_people(directory: str | os.PathLike[str], question: Question, state: str, *, check: bool) -> tuple[Any, str]:
    """The people of a task: their variables and LABEL, every code of which exists; and where they come from.

    Parameters
    ----------
    directory
        Where the files are.
    question
        Which task.
    state
        Which state, by its two letters.
    check
        Whether there must be as many people as the task has.
    """
    if not isinstance(state, str) or state not in STATES:
        raise InputError(f"state={state!r} is not known; use two letters, one of {listed(STATES, len(STATES))}.")
    files = {file.name: file for file in _files(question, state)}
    path = find(directory, FOLDERS, list(files))
    if path is None:
        raise InputError(_how_to_get(directory, question, state))
    file = files[path.name]
    people, expected = _selected(path, file, question, state)
    if check and file.counts and len(people) not in file.counts:
        should = " or ".join(f"{count:,}" for count in file.counts)
        raise InputError(
            f"{str(path)!r} has {len(people):,} people of {state} for {question.name}, not {should}: it is incomplete, or of"
            f" another year than {YEAR}; get it again, or accept it with check=False."
        )
    people = people.fillna(dict.fromkeys([name for name in NOT_APPLICABLE if name in people], 0))
    check_codes(people, CODES, path, expected)
    return people, _source(path, len(people), question, state, checked=check and bool(file.counts))


def _files(question: Question, state: str) -> Iterator[File]:
    """Files that people of the state may be in, the most complete first."""
    own, number = f"{question.stem}_{state.lower()}", STATES[state]
    whole = (question.rows[state],) if state in question.rows else ()
    sample = (question.samples[state],) if state in question.samples else ()
    for name in (_member(state), f"{_member(state)}.gz", f"csv_p{state.lower()}.zip"):
        yield File(name, raw=True, by="ST", value=number, counts=whole)
    for name in (f"{own}.csv.gz", f"{own}.csv"):
        yield File(name, raw=False, counts=(*whole, *sample) if state == SAMPLED_STATE else whole)
    if state in OTHER_STATES:
        yield File(f"{question.stem}_other_states.csv.gz", raw=False, by="STATE", value=state, shared=True, counts=sample)
    if state in SMALL_STATES:
        name = f"acs{YEAR}_pums_14_small_states.csv.gz"
        yield File(name, raw=True, by="ST", value=number, shared=True, counts=whole)


def _member(state: str) -> str:
    """What the Census calls the person file of a state, inside an archive and out of it."""
    return f"psam_p{STATES[state]:02}.csv"


def _selected(path: Path, file: File, question: Question, state: str) -> tuple[Any, str]:
    """The people of the task in a file, and what the file should be."""
    features = variables(question.parts)
    by = () if file.by is None else (file.by,)
    if file.raw:
        expected = f"a person file of the Census, {YEAR} 1-Year"
        numbers = dict.fromkeys((*features, *question.needs, *by))
        people = read_columns(path, list(numbers), member=_member(state), expected=expected)
    else:
        expected = f"the task {question.name} of folktables, {YEAR}"
        people = read_columns(path, [*features, "LABEL"], by, expected=expected)
    if file.by is not None:
        elsewhere = people[file.by] != file.value
        if elsewhere.any() and not file.shared:
            first = int(elsewhere.to_numpy().argmax())
            raise InputError(
                f"{str(path)!r} should hold people of {state} ({file.by} {file.value}), but {file.by} of row {first} is"
                f" {people[file.by].iloc[first]}; name the file as the Census does."
            )
        people = people[~elsewhere]
    if file.raw:
        people = people[question.selects(people)]
        people = people.assign(LABEL=question.label(people).astype(int))
    if not len(people):
        raise InputError(f"{str(path)!r} has nobody of {state} for {question.name}; it should be {expected}.")
    return people[[*features, "LABEL"]], expected


def _source(path: Path, found: int, question: Question, state: str, *, checked: bool) -> str:
    whole = question.rows.get(state)
    if not checked:
        coverage = "a number that was not checked"
    elif found == whole:
        coverage = "all there are"
    else:
        coverage = "a random sample" if whole is None else f"a random sample of {whole:,}"
    return f"{question.name} of {state}, {YEAR}, from {path.name}: {found:,} people, {coverage}."


def _how_to_get(directory: str | os.PathLike[str], question: Question, state: str) -> str:
    others = "".join(f", or {file.name}" for file in _files(question, state) if file.shared)
    return (
        f"directory={str(directory)!r} holds no people of {state}, nor do its folders {listed(FOLDERS)}: put"
        f" csv_p{state.lower()}.zip of {CENSUS} there (or {_member(state)} out of it), or the task {question.name} of"
        f" folktables ({FOLKTABLES}), with a column LABEL, as {question.stem}_{state.lower()}.csv.gz{others}; nothing is"
        " downloaded."
    )
