"""Data sets: the encodings, and what a wrong directory gets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.datasets.acs import INCOME


def data_directory() -> Path:
    for place in (os.environ.get("TIPPINGPOINT_DATA"), Path(__file__).parents[2] / "shared" / "data"):
        if place and Path(place).is_dir():
            return Path(place)
    pytest.skip("the ACS files are not here: set TIPPINGPOINT_DATA")


def person(**given: int) -> dict[str, int]:
    known = {"SEX": 1, "AGEP": 40, "WKHP": 38, "MAR": 1, "RELP": 0, "RAC1P": 1, "COW": 1, "OCCP": 4110, "SCHL": 21, "LABEL": 1}
    return {**known, **given}


def test_income_has_76_columns_whose_groups_are_complete() -> None:
    x, y = tp.datasets.acs_income(data_directory())
    assert x.shape == (89_958, 76)
    assert float(y.mean()) == pytest.approx(0.4110, abs=5e-5)
    for prefix, codes in (("MAR", 5), ("RELP", 18), ("RAC1P", 9)):
        group = x[[name for name in x if name.startswith(f"{prefix}_")]]
        assert group.shape[1] == codes
        assert (group.sum(axis=1) == 1.0).all()
    assert (x[["OCCP_Lg", "OCCP_Semi", "OCCP_Non"]].sum(axis=1) == 1.0).all()
    assert set(np.unique(x.drop(columns=["SEX", "AGEP", "WKHP", "SCHL"]))) == {0.0, 1.0}


def test_a_person_is_encoded_as_the_codes_say(tmp_path: Path) -> None:
    pd.DataFrame([person(), person(OCCP=2100, RAC1P=3, SCHL=16)]).to_csv(tmp_path / INCOME, index=False)
    x, y = tp.datasets.acs_income(tmp_path)
    cook, lawyer = (set(x.columns[x.iloc[i] == 1.0]) for i in range(2))
    assert {"OCCP_EAT", "OCCP_Non", "RAC1P_1", "SCHL_21", "SCHL_17"} <= cook
    assert {"OCCP_Lg", "RAC1P_3"} <= lawyer
    assert not {name for name in lawyer if name.startswith("SCHL_") or name == "OCCP_LGL"}
    assert y.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rows", "culprit"), [([{"SEX": 1}], "AGEP"), ([person(OCCP=12_345)], "row 0"), ([person() | {"OCCP": -100}], "row 0")]
)
def test_a_file_that_is_not_the_task_is_refused(rows: list[dict[str, int]], culprit: str, tmp_path: Path) -> None:
    pd.DataFrame(rows).to_csv(tmp_path / INCOME, index=False)
    with pytest.raises(tp.InputError, match=culprit):
        tp.datasets.acs_income(tmp_path)


def test_a_directory_without_the_file_is_told_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(tp.InputError, match="folktables"):
        tp.datasets.acs_income(tmp_path)
