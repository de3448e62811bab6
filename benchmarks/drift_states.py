"""Observed drifts of real data: California 2018 against other states, against 2015, and against itself.

Writes a line a shift to `docs/explanation/drift/states.csv`, from which the page beside it and its verdicts are made. Needs the
census files (`TIPPINGPOINT_DATA` or `../shared/data`); nothing is downloaded.

Run as `python benchmarks/drift_states.py`; `--quick` takes three states and 19 permutations, and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from tippingpoint.datasets import Task, acs_income, acs_pubcov

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "explanation" / "drift" / "states.csv"
PAGE = ROOT / "docs" / "explanation" / "drift-evidence.md"

STATES = (
    "TX",
    "NY",
    "FL",
    "PR",
    "LA",
    "MS",
    "CO",
    "DE",
    "HI",
    "ID",
    "ME",
    "MT",
    "NE",
    "NH",
    "NM",
    "ND",
    "RI",
    "SD",
    "VT",
    "WV",
    "WY",
)
ROWS = 20_000
"""Of the training data, the reference, and any other window at most."""

PRICES: dict[str, Any] = {"theta1": 0.4, "theta2": 0.4}
RISK = 0.30
RATIOS = (1.0, 10.0, 30.0, 100.0)
"""Of θ1 to θ2, at which ceilings are taken too."""

CALIFORNIA = 6
"""The Census' number of the state."""

Rows = tuple[pd.DataFrame, pd.Series]


@dataclass(frozen=True)
class Study:
    """A model, trained on rows of California that no window holds.

    Attributes
    ----------
    name
        Of data and model.
    model
        Fitted.
    reference, fresh
        Two windows of California 2018.
    others
        Windows by name, made when they are asked for.
    """

    name: str
    model: Any
    reference: Rows
    fresh: Rows
    load: Any
    earlier: Rows | None = None


def data_directory() -> Path:
    """Where the census files are."""
    return Path(os.environ.get("TIPPINGPOINT_DATA", ROOT.parent / "shared" / "data"))


def some(task: Task, rows: int, rng: np.random.Generator) -> Rows:
    """At most so many rows of a task, at random."""
    order = rng.permutation(len(task.y))[:rows]
    return task.X.iloc[order].reset_index(drop=True), task.y.iloc[order].reset_index(drop=True)


def in_2015(directory: Path) -> Task:
    """California 2015: the same codes in a file of another year."""
    people = pd.read_csv(directory / "acs" / "acs2015_pums_ca.csv.gz")
    with tempfile.TemporaryDirectory() as place:
        people.assign(ST=CALIFORNIA).to_csv(Path(place) / "psam_p06.csv", index=False)
        return acs_income(place, "CA", check=False)


def studies(directory: Path) -> Iterator[Study]:
    """Income by a linear model and by boosted trees, coverage by a linear model."""
    for name, load, make in (
        ("income, logistic", acs_income, _logistic),
        ("coverage, logistic", acs_pubcov, _logistic),
        ("income, boosting", acs_income, _boosting),
    ):
        rng = np.random.default_rng(0)
        x, y = some(load(directory, "CA"), 3 * ROWS, rng)
        rows = min(ROWS, len(y) // 3)
        parts = [
            (x.iloc[k * rows : (k + 1) * rows].reset_index(drop=True), y.iloc[k * rows : (k + 1) * rows].reset_index(drop=True))
            for k in range(3)
        ]
        model = make().fit(*parts[0])
        earlier = some(in_2015(directory), ROWS, rng) if name == "income, logistic" else None
        yield Study(name, model, parts[1], parts[2], load, earlier)


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _boosting() -> Any:
    return HistGradientBoostingClassifier(random_state=0)


def measured(study: Study, shift: str, before: Rows, after: Rows, permutations: int) -> dict[str, Any]:
    """One line of the table."""
    settings: dict[str, Any] = {"risk": RISK, "scale": "std", "features": False, **PRICES}
    found = tp.drift(study.model, before, after, permutations=permutations, assume="calibration", **settings)
    entropy = tp.drift(study.model, before, after, loss="cross_entropy", permutations=0, **{**settings, "risk": 2.0})
    unlabelled = tp.drift(study.model, before, (after[0], None), permutations=0, **settings)
    balance = found.balance
    assert balance is not None
    ceilings: dict[str, float | bool] = {}
    for ratio in RATIOS:
        priced = tp.drift(study.model, before, after, permutations=0, **{**settings, "theta1": 0.4 * ratio})
        ceilings |= {f"ceiling_{ratio:g}": priced.worst_risk, f"certified_{ratio:g}": priced.value < priced.tolerance}
    return {
        "study": study.name,
        "shift": shift,
        "rows": len(after[1]),
        "error_before": found.risk_before,
        "error_after": found.risk_after,
        "used": found.used,
        "drift": found.value,
        "lower": found.lower,
        "standard_error": found.standard_error,
        "floor": found.floor,
        "p_value": found.p_value,
        "labels": balance.labels,
        "with_labels": balance.total,
        "aligned_entropy": entropy.aligned,
        "entropy_after": entropy.risk_after,
        "entropy_ceiling": entropy.worst_risk,
        "ceiling": found.worst_risk,
        "tolerance": found.tolerance,
        "remaining": found.remaining,
        "expected_error": found.expected_risk,
        "score_drift": unlabelled.value,
        "unit": found.unit,
        **ceilings,
    }


def lines(study: Study, states: tuple[str, ...], permutations: int, directory: Path) -> Iterator[dict[str, Any]]:
    """All shifts of a study."""
    yield measured(study, "CA, fresh rows", study.reference, study.fresh, permutations)
    if study.earlier is not None:
        yield measured(study, "CA 2015 to 2018", study.earlier, study.reference, permutations)
    for state in states:
        rng = np.random.default_rng(1)
        yield measured(study, state, study.reference, some(study.load(directory, state), ROWS, rng), permutations)


def table(found: pd.DataFrame) -> str:
    """The shifts of the first study, as the page shows them."""
    head = [
        "shift",
        "error",
        "used",
        "drift ± se (floor)",
        "labels / with labels",
        "aligned, log loss",
        "ceiling",
        "R(30 %) left",
    ]
    rows = [_row(line) for line in found[found["study"] == "income, logistic"].to_dict("records")]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _row(line: Mapping[Any, Any]) -> list[str]:
    return [
        line["shift"],
        f"{100 * line['error_before']:.1f} → {100 * line['error_after']:.1f} %",
        f"{line['used']:.1g}",
        f"{line['drift']:.5f} ± {line['standard_error']:.5f} ({line['floor']:.5f})",
        f"{line['labels']:.4f} / {line['with_labels']:.4f}",
        f"{line['aligned_entropy']:.2f}",
        f"{100 * line['ceiling']:.1f} %",
        f"{line['remaining']:.5f} of {line['tolerance']:.5f}",
    ]


def verdicts(found: pd.DataFrame) -> str:
    """What the shifts say of what is claimed, one line each."""
    listed = [f"**The theorem held** in {len(found)} of {len(found)} shifts: {_theorem(found)}."]
    for study, lines in found.groupby("study", sort=False):
        states = lines[lines["shift"].isin(STATES)]
        rise = states["error_after"] - states["error_before"]
        rank = float(states["drift"].corr(rise, method="spearman"))
        easier = int((rise < 0.0).sum())
        listed.append(
            f"**{study}: drift is a size, not a damage.** Rank correlation of the drift with the rise of the error over"
            f" {len(states)} states: {rank:+.2f}; {easier} of them are easier than California."
        )
        width = {ratio: 100.0 * float((states[f"ceiling_{ratio:g}"] - states["error_after"]).mean()) for ratio in RATIOS}
        below = {ratio: int(states[f"certified_{ratio:g}"].sum()) for ratio in RATIOS}
        told = ", ".join(f"{width[ratio]:.1f} at θ1/θ2 = {ratio:g}" for ratio in RATIOS)
        certified = ", ".join(str(below[ratio]) for ratio in RATIOS)
        still = int((states["error_after"] < RISK).sum())
        listed.append(
            f"**{study}: the ceiling is safe and wide**, in the mean above the error by {told} points. A drift below R(30 %)"
            f" certified {certified} of {len(states)} states; {still} were below 30 %."
        )
        expected = states["expected_error"] - states["error_before"]
        miss, nothing = (100.0 * float(each.abs().mean()) for each in (states["expected_error"] - states["error_after"], rise))
        ranks = float(expected.corr(rise, method="spearman"))
        listed.append(
            f"**{study}: without labels**, the expected error misses by {miss:.1f} points in the mean, and no change by"
            f" {nothing:.1f}; its rank correlation with the rise is {ranks:+.2f}."
        )
    return "\n".join(f"- {line}" for line in listed)


def _theorem(found: pd.DataFrame) -> str:
    """That no drift was smaller than what was done to the model, nor a ceiling below it; an error where one is."""
    slack = 1.0 + 1e-9
    held = (
        (found["used"] <= found["drift"] * slack)
        & (found["error_after"] <= found["ceiling"] * slack)
        & (found["entropy_after"] <= found["entropy_ceiling"] * slack)
        & (found["lower"] <= found["with_labels"] * slack)
    )
    for ratio in RATIOS:
        held &= found["error_after"] <= found[f"ceiling_{ratio:g}"] * slack
    if not held.all():
        raise AssertionError(f"the theorem is violated by {found[~held][['study', 'shift']].to_dict('records')}")
    return (
        "what was done to the model never took more than the drift, by the error rate and by the log loss, at four price pairs"
    )


def write_page(found: pd.DataFrame) -> None:
    """Put the table and the verdicts into the page, between their marks."""
    text = PAGE.read_text(encoding="utf-8")
    for name, made in (("table", table(found)), ("verdicts", verdicts(found))):
        start, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        before, _, rest = text.partition(start)
        text = before + start + made + end + rest.partition(end)[2]
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true", help="write the page from the table that is there")
    options = parser.parse_args()
    if options.page:
        write_page(pd.read_csv(TABLE))
        return
    directory = data_directory()
    if not directory.is_dir():
        raise SystemExit(f"{directory} is not there; name the directory of the census files in TIPPINGPOINT_DATA.")
    warnings.simplefilter("ignore", tp.TippingPointWarning)
    states, permutations = (STATES[:3], 19) if options.quick else (STATES, 199)
    found = []
    for study in studies(directory):
        for line in lines(study, states, permutations, directory):
            found.append(line)
            shown = {
                name: f"{line[name]:.4g}"
                for name in ("error_before", "error_after", "used", "drift", "floor", "ceiling", "remaining")
            }
            print(study.name, line["shift"], *(f"{name} {value}" for name, value in shown.items()), flush=True)
    if not options.quick:
        pd.DataFrame(found).to_csv(TABLE, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
