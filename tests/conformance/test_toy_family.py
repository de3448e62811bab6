"""The recipe "Add a family", step by step: models that say one class up to a value of a column, and the other beyond it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from examples import Data, data, divergences, example
from laws import brute_force, envelope_theorem, moving_alone, points_fed_back, two_sided
from tippingpoint.cli import main
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.responses import Response
from tippingpoint.data.vectors import read_labels
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.capabilities import Capability, table
from tippingpoint.families.options import Options, on_command_line
from tippingpoint.families.registry import FAMILIES
from tippingpoint.losses import LOSSES, loss_named
from tippingpoint.space.domain import Domain


@dataclass(frozen=True)
class Cut:
    """What a user has: 1 where a column is above a value, 0 elsewhere."""

    column: str
    at: float

    def label(self, rows: pd.DataFrame) -> Any:
        return (rows[self.column] > self.at).to_numpy(dtype=int)


# Step 1, an oracle: the best response of every sample at every price, and where it goes.


class CutOracle(Oracle):
    """The nearest error of a cut: on the other side of it, along its own column."""

    exact = True
    certificate = "closed form: one cut"
    ceiling = math.inf

    def __init__(self, x: FloatArray, j: int, at: float, y: IntArray, domain: Domain, overshoot: float) -> None:
        self.unit = domain.unit
        self._x, self._names, self._j = x, domain.names, j
        self._wrong = (x[:, j] > at).astype(int) != y
        # Up to the cut itself is 0: who is to be read so goes onto it, who is to be read as 1 just beyond.
        self._to = np.where(x[:, j] > at, at, at + overshoot)
        column = np.array([j])
        low, high = (bound[:, 0] for bound in domain.bounds(x, column))
        can = math.isfinite(domain.price[j]) & (low <= self._to) & (self._to <= high)
        price = domain.price[j] if math.isfinite(domain.price[j]) else 1.0
        self._cost = np.where(self._wrong, 0.0, np.where(can, price * np.square(at - x[:, j]), math.inf))

    @property
    def losses(self) -> FloatArray:
        return np.asarray(self._wrong, dtype=float)

    def respond(self, price: float) -> Response:
        goes = ~self._wrong & (self._cost < price)
        return Response(goes.astype(float), np.where(goes, self._cost, 0.0), np.zeros(len(goes)))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        moved = self._x[rows]
        moved[:, self._j] = np.where(lift > 0.0, self._to[rows], moved[:, self._j])
        return dict(zip(self._names, moved.T, strict=True))


# Step 2, options: a frozen dataclass, each field with its default, how the command line offers it, where it does, and what is
# wrong with a value in one sentence.


@dataclass(frozen=True)
class CutOptions(Options):
    """How far beyond the cut samples are shown."""

    overshoot: float = field(default=1e-9, metadata=on_command_line("of cuts: how far beyond", kind="number", metavar="LENGTH"))

    def check(self, given: Mapping[str, Any]) -> None:
        if not (isinstance(self.overshoot, Real) and 0.0 < self.overshoot < 1.0):
            raise InputError(f"overshoot={self.overshoot!r} must be a number between 0 and 1.")


# Step 3, a judgement: the model on data, which builds the oracle of any space.


class CutJudgement(Judgement):
    """A cut on data, judged by the 0/1 loss."""

    label, range = "zero_one", (0.0, 1.0)

    def __init__(self, cut: Cut, subject: Subject, options: CutOptions) -> None:
        self._cut, self._features, self._options = cut, subject.features, options
        self._y = read_labels(subject.y, "y", len(subject.features.x)).astype(np.intp)

    def oracle(self, domain: Domain) -> Oracle:
        if domain.mixed:
            raise UnsupportedError("a cut moves numbers only; leave categories and whole numbers out of the space.")
        j = self._features.names.index(self._cut.column)
        return CutOracle(self._features.x, j, self._cut.at, self._y, domain, self._options.overshoot)


# Step 4, the family: what it is called, its options, what it declares, and how it knows its models.


class CutFamily(Family):
    """Models that are one cut."""

    name = "cuts"
    one = "a cut"
    options = CutOptions
    capabilities = (Capability("cut", ("zero_one",), ("numbers", "bounds", "one feature"), "exact", "the cut itself"),)

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        if not isinstance(subject.model, Cut):
            return None
        if subject.loss is not None and not loss_named(subject.loss).needs_crossing:
            return Refusal("only the 0/1 loss of a cut is known")
        return CutJudgement(subject.model, subject, CutOptions.read(given))


# Step 5, a place in the registry: in families/registry.py; here for one test.


@pytest.fixture
def family() -> Iterator[Family]:
    cuts = CutFamily()
    FAMILIES.insert(0, cuts)
    yield cuts
    FAMILIES.remove(cuts)


# Step 6, an example of every capability in tests/conformance/examples.py: then every law is a test of the family.


def given(kind: Any = "numbers") -> tuple[Cut, Data, Any]:
    rows = data(kind)
    cut = Cut("a", 0.2)
    noise = np.random.default_rng(1).random(len(rows.pool)) < 0.15
    return cut, rows, np.where(noise, 1 - cut.label(rows.pool), cut.label(rows.pool))


@pytest.mark.parametrize("kind", CutFamily.capabilities[0].kinds)
@pytest.mark.usefixtures("family")
def test_every_law_holds_of_a_new_family(kind: str) -> None:
    cut, rows, y = given(kind)

    def signed(places: pd.DataFrame) -> FloatArray:
        return np.where(cut.label(places) > 0, 1.0, -1.0)

    trial = example(cut, signed, "zero_one", rows, y, overshoot=1e-8)
    assert trial.case.family.name == "cuts"
    envelope_theorem(trial)
    points_fed_back(trial)
    brute_force(trial)
    moving_alone(trial, "exact")
    for divergence in divergences():
        two_sided(trial, divergence, "exact")


@pytest.mark.usefixtures("family")
def test_it_comes_out_of_every_front_door_and_of_reports(tmp_path: Path) -> None:
    cut, rows, y = given()
    x = rows.pool
    prices: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
    result = tp.stability(cut, x, y, 0.4, overshoot=1e-6, **prices)
    assert result.exact
    assert "closed form: one cut" in str(result)
    ranked = tp.feature_stability(cut, x, y, 0.4, **prices)
    assert list(ranked) == ["a", "b"], "the column of the cut is the sensitive one"
    assert ranked["a"].value == result.value
    assert ranked["b"].value == pytest.approx(ranked.limit), "the other has no effect"
    linear = ([1.0, 0.0], -0.2)
    compared = tp.compare({"cut": cut, "line": linear}, x, y, 0.4, **prices)
    here, there = (compared.results[name].value for name in ("cut", "line"))
    assert here == pytest.approx(there, rel=1e-9), "the same model, served by two families"
    page = result.report(tmp_path / "cut.html", features=ranked, comparison=compared).read_text(encoding="utf-8")
    assert "closed form: one cut" in page
    summary = json.loads(result.report(tmp_path / "cut.json").read_text(encoding="utf-8"))
    assert "closed form: one cut" in json.dumps(summary)


@pytest.mark.usefixtures("family")
def test_its_option_is_known_checked_suggested_and_refused_elsewhere() -> None:
    cut, rows, y = given()
    with pytest.raises(InputError, match=r"overshoot=-1 must be a number between 0 and 1\."):
        tp.stability(cut, rows.pool, y, 0.4, overshoot=-1)
    with pytest.raises(InputError, match=r"overshot=0.1 is not known to stability; did you mean overshoot, an option of"):
        tp.stability(cut, rows.pool, y, 0.4, overshot=0.1)
    with pytest.raises(InputError, match=r"overshoot=0.1 is an option of a search \(of cuts\); this model needs none"):
        tp.stability(([1.0, 0.0], 0.0), rows.pool, y, 0.4, overshoot=0.1)
    with pytest.raises(InputError, match=r"calls=10 is an option of black boxes; this is a cut, whose options are overshoot"):
        tp.stability(cut, rows.pool, y, 0.4, calls=10)


@pytest.mark.usefixtures("family")
def test_its_option_can_be_given_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cut, rows, y = given()
    monkeypatch.setitem(sys.modules, "cuts_of_mine", SimpleNamespace(make=lambda: cut))
    rows.pool.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    where = tmp_path / "sensitive.csv"
    words = ["evaluate", "--model", "cuts_of_mine:make", "--data", str(tmp_path / "rows.csv"), "--target", "y", "--risk", "0.4"]
    assert main([*words, "--quiet", "--sensitive", str(where), "--overshoot", "0.125"]) == 0
    moved = pd.read_csv(where)["a"]
    assert np.isclose(moved, cut.at + 0.125, rtol=0.0, atol=1e-12).any(), "shown as far beyond the cut as the option says"
    capsys.readouterr()
    assert main([*words, "--overshoot", "far"]) == 2
    assert "argument --overshoot: 'far' is not a number" in capsys.readouterr().err
    assert main([*words, "--overshoot", "2"]) == 2
    assert "overshoot=2.0 must be a number between 0 and 1." in capsys.readouterr().err
    assert main([*words, "--calls", "1000"]) == 2
    assert "calls=1000 is an option of black boxes; this is a cut" in capsys.readouterr().err
    assert main(["evaluate", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "how to search (cuts, networks, tree ensembles and black boxes only):" in shown
    assert "--overshoot LENGTH of cuts: how far beyond" in shown
    assert shown.count("--seed SEED of what is drawn") == 1, "the option of two families stands once"


@pytest.mark.usefixtures("family")
def test_its_refusals_are_sentences_and_those_of_all_families_are_told_where_nobody_serves() -> None:
    cut, rows, y = given()
    with pytest.raises(InputError) as nobody:
        tp.stability(cut, rows.pool, y, 0.4, loss="hinge")
    assert "cuts: only the 0/1 loss of a cut is known" in str(nobody.value)
    assert "black boxes: Cut has none of predict" in str(nobody.value)
    words = data("categories")
    with pytest.raises(UnsupportedError, match="a cut moves numbers only"):
        tp.stability(Cut("g0", 0.5), words.pool, np.arange(len(words.pool)) % 2, 0.6, space=words.space)
    with pytest.raises(UnsupportedError, match="takes no missing values"):
        tp.stability(cut, rows.pool, y, 0.4, space=tp.Space(missing={"a": 1.0}))


def test_it_has_a_line_in_the_table_of_what_is_exact(family: Family) -> None:
    shown = table([(family.name, family.capabilities)], LOSSES)
    assert "| cut | zero_one | numbers, bounds, one feature | **exact** | the cut itself |" in shown


def test_without_a_place_in_the_registry_nobody_knows_it() -> None:
    cut, rows, y = given()
    with pytest.raises(InputError, match="is not served by any family"):
        tp.stability(cut, rows.pool, y, 0.4)
