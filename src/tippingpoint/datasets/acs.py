"""The American Community Survey of 2018, as the paper's experiments encode it: income, and public health coverage."""

from __future__ import annotations

import os

from tippingpoint.datasets.census import ACS_INCOME, ACS_PUBCOV, YEAR, Question, read_people
from tippingpoint.datasets.encodings import encode, groups, labels, numeric, one_hot
from tippingpoint.datasets.task import Task


def acs_income(directory: str | os.PathLike[str], state: str = "CA", *, check: bool = True) -> Task:
    """Income of those who work, in 2018: does a person earn more than 50,000 dollars? 76 columns.

    Numbers are as the Census gives them; standardise the columns `numeric` as you see fit. Nothing is downloaded.

    Parameters
    ----------
    directory
        Where the people of the state are. Taken is the first of these, in the directory, its folder `acs` or folktables' own
        `2018/1-Year`: the Census' person file, as `psam_p06.csv` (or `.csv.gz`, or in `csv_pca.zip`), of which the people of
        the task are selected; the task of folktables, as `acs2018_income_ca.csv.gz` with a column LABEL; files of several
        states, `acs2018_income_other_states.csv.gz` and `acs2018_pums_14_small_states.csv.gz`.
    state
        Two letters.
    check
        Whether there must be as many people as in the task of 2018, where their number is known. False accepts what is
        there, such as a file of another year with the same codes.

    Returns
    -------
    Task
        Unpacks as `X, y`.

    Notes
    -----
    Who is in the task, as in folktables: over 16 years, an income over 100 dollars, hours of work, a weight of at least 1.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.datasets.acs_income("downloads")
    Traceback (most recent call last):
        ...
    tippingpoint.errors.InputError: directory='downloads' is not a directory; name the one that holds the files.
    """
    return _task("ACS Income", ACS_INCOME, directory, state, check=check)


def acs_pubcov(directory: str | os.PathLike[str], state: str = "CA", *, check: bool = True) -> Task:
    """Public health coverage of those with low incomes, in 2018: is a person covered? 42 columns.

    Parameters
    ----------
    directory, state, check
        As in `acs_income`; task files are `acs2018_pubcov_ca.csv.gz` and `acs2018_pubcov_other_states.csv.gz`.

    Returns
    -------
    Task
        Unpacks as `X, y`.

    Notes
    -----
    Who is in the task, as in folktables: under 65 years, an income of at most 30,000 dollars. What does not apply is 0.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.datasets.acs_pubcov("downloads")
    Traceback (most recent call last):
        ...
    tippingpoint.errors.InputError: directory='downloads' is not a directory; name the one that holds the files.
    """
    return _task("ACS Public Coverage", ACS_PUBCOV, directory, state, check=check)


def _task(name: str, question: Question, directory: str | os.PathLike[str], state: str, *, check: bool) -> Task:
    people, source = read_people(directory, question, state, check=check)
    parts = question.parts
    return Task(
        name=f"{name}, {state} {YEAR}",
        X=encode(people, parts),
        y=people["LABEL"].astype("int64").reset_index(drop=True),
        numeric=numeric(parts),
        one_hot=one_hot(parts),
        groups=groups(parts),
        labels={column: words for part in parts for column, words in labels(part).items()},
        source=source,
    )
