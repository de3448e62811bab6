"""Tree ensembles: how fast both bounds close, and nearest errors beside HiGHS and veritas.

On the ACS Income data (ten columns of the Census, 2,000 rows to train and 2,000 to evaluate; looked for in TIPPINGPOINT_DATA
and in ../shared/data) and on scikit-learn's breast cancer (half and half); distances in standard deviations of the rows to
train. `lattice` is `tp.Space.infer(X)`, where whole numbers stay whole; in `continuous` every number may become any other.

- `errors`: 0/1 loss lifted to 40 %, θ1 = 1, θ2 = 0.25;
- `losses`: cross-entropy lifted by 0.3, θ1 = θ2 = 0.4;
- `worst`: the largest risk that the cost of both questions reaches, beside the stability that it is the inverse of;
- `nearest`: the nearest error of every row that is right, proved, within a second a row;
- `highs`: the same of a few rows, by HiGHS: a plain program (`plain_programs.py`) where both are told how far the nearest error
  is and have to prove it, and our own fall-back for want of kernels where both know the nearest row of another class only;
- `veritas`: the same of some rows beside veritas, whose radius is of another norm;
- `compare`: `tp.compare` of three boosters.

All on one thread, in seconds of the processor, so that others on the machine do not count: to check data and to read models is
among them, to import libraries is not. Run as `python benchmarks/trees.py`, or with the names of parts; `--quick` takes fewer
rows.
"""

from __future__ import annotations

import argparse
import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from threadpoolctl import threadpool_limits

import tippingpoint as tp
from plain_programs import nearest_error
from tippingpoint.families.trees.search.milp_search import MilpSearcher
from tree_problems import BOOSTERS, FORESTS, Data, Nearest, Rows, acs, breast_cancer, fitted, in_float32, model, timed

RISK, PAPER = 0.4, {"theta1": 1.0, "theta2": 0.25}
MORE, EQUAL = 0.3, {"theta1": 0.4, "theta2": 0.4}
"""By how much the cross-entropy is lifted, and at what prices."""

TIMES = 3.0
"""How many times as long as the stability a worst risk may take."""

A_ROW = 1.0
"""Seconds for a nearest error ..."""

CLOCK = 3.0
"""... and as many times that by the clock, on a machine that is shared."""

BOOSTED, FORESTED = 20, 6
"""Rows that HiGHS is given ..."""

PATIENCE = 10.0
"""... and seconds for each, by the clock."""

TIE = 1e-5
"""What HiGHS is to tell from a tie of a forest: scores are about a hundredth apart."""

STEPS = 10
"""Of veritas' bisection: to a thousandth of the radius it begins with."""

Row = tuple[str, ...]


@dataclass(frozen=True)
class Aim:
    """What a line is held to: a gap, in percent, within seconds."""

    gap: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.gap:g} % in {self.seconds:g} s"


def show(title: str, head: str, rows: list[Row]) -> None:
    """A table whose columns are as wide as they need to be."""
    named = tuple(head.split("|"))
    table = [tuple(map(str.strip, row)) for row in (named, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    print(f"\n{title}")
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


def met(reached: bool) -> str:  # noqa: FBT001
    return "met" if reached else "MISSED"


def asked(data: Data, estimator: Any, space: Any, loss: str, aim: Aim) -> Row:
    """One question of a model, from reading it to both bounds."""
    settings: dict[str, Any] = {"space": space, "scale": data.scale, "loss": loss, "threads": 1}
    reading, profile = timed(lambda: tp.profile(estimator, data.x, data.y, gap=aim.gap / 100.0, **settings))
    if loss == "zero_one":
        seconds, result = timed(lambda: profile.stability(RISK, **PAPER))
    else:
        seconds, result = timed(lambda: profile.stability(profile.risk + MORE, **EQUAL))
    reached = 100.0 * result.gap <= aim.gap and reading + seconds <= aim.seconds
    bounds = (f"{result.lower:.4g}", f"{result.upper:.4g}", f"{100.0 * result.gap:.3f} %")
    return (*bounds, f"{reading:.2f}", f"{seconds:.2f}", str(aim), met(reached))


def questions(title: str, loss: str, everything: list[Data], aims: dict[tuple[str, ...], Aim]) -> None:
    rows = list[Row]()
    for data in everything:
        for names, aim in aims.items():
            for name, estimator in fitted(data, names):
                for kind, space in data.spaces.items():
                    rows.append((data.name, name, kind, *asked(data, estimator, space, loss, aim)))
    head = "data | model | space | lower | upper | gap | profile, s | question, s | target |"
    show(title, head, rows)


def errors(everything: list[Data], *, quick: bool) -> None:
    title = "0/1 loss lifted to 40 %, theta1 = 1, theta2 = 0.25"
    questions(title, "zero_one", everything, {BOOSTERS: Aim(0.1, 2.0), FORESTS: Aim(0.1, 5.0)})


def losses(everything: list[Data], *, quick: bool) -> None:
    title = "cross-entropy lifted by 0.3, theta1 = theta2 = 0.4"
    questions(title, "cross_entropy", everything, {BOOSTERS: Aim(0.1, 5.0), FORESTS: Aim(0.5, 60.0)})


def worst(everything: list[Data], *, quick: bool) -> None:
    rows = list[Row]()
    for data in everything:
        for name, estimator in fitted(data, (*BOOSTERS, *FORESTS)):
            for loss, prices in (("zero_one", PAPER), ("cross_entropy", EQUAL)):
                rows.append((data.name, name, loss, *inverse(data, estimator, loss, prices)))
    head = "data | model | loss | risk asked | risk reached | stability, s | worst risk, s | times | target |"
    show("the worst risk at the cost of a threshold", head, rows)


def inverse(data: Data, estimator: Any, loss: str, prices: dict[str, Any]) -> Row:
    """A stability, and the worst risk at its cost, each asked of a profile that knows nothing yet."""
    space = next(iter(data.spaces.values()))
    settings: dict[str, Any] = {"space": space, "scale": data.scale, "loss": loss, "threads": 1}
    one, other = (tp.profile(estimator, data.x, data.y, **settings) for _ in range(2))
    risk = RISK if loss == "zero_one" else one.risk + MORE
    first, result = timed(lambda: one.stability(risk, **prices))
    second, found = timed(lambda: other.worst_risk(result.value, **prices))
    times = second / first
    numbers = (f"{risk:.6g}", f"{found.value:.6g}", f"{first:.2f}", f"{second:.2f}", f"{times:.2f}")
    return (*numbers, f"{TIMES:g} times", met(times <= TIMES))


def nearest(everything: list[Data], *, quick: bool) -> None:
    rows = list[Row]()
    for data in everything:
        for name, estimator in fitted(data, BOOSTERS):
            for kind, space in data.spaces.items():
                asking = Rows(estimator, data, space)
                chosen = asking.some(100 if quick else len(asking.right))
                found = [asking.search(asking.task.searcher, i, CLOCK * A_ROW) for i in chosen]
                taken = 1e3 * np.array([each.seconds for each in found])
                share = 100.0 * float(np.mean([each.exact and each.seconds <= A_ROW for each in found]))
                times = (taken.mean(), np.median(taken), np.quantile(taken, 0.99), taken.max())
                figures = (f"{len(found)}", f"{share:.1f} %", *(f"{number:.1f}" for number in times))
                rows.append((data.name, name, kind, *figures, "99 %", met(share >= 99.0)))
    head = "data | model | space | rows | exact | ms, mean | median | 99 % | worst | target |"
    show(f"nearest errors of rows that are right, proved within {A_ROW:g} s a row", head, rows)


def highs(everything: list[Data], *, quick: bool) -> None:
    rows = list[Row]()
    for data in everything:
        kind, space = next(iter(data.spaces.items()))
        for name, estimator in fitted(data, (*BOOSTERS, *FORESTS)):
            boosting = name in BOOSTERS
            asking, target = Rows(estimator, data, space), 20.0 if boosting else 10.0
            kernels, fall_back = asking.task.searcher, without_kernels(asking)
            found = list[tuple[Nearest, ...]]()
            for i in asking.some(2 if quick else BOOSTED if boosting else FORESTED):
                ours, theirs = (asking.search(each, i, PATIENCE) for each in (kernels, fall_back))
                plain = nearest_error(asking.task, i, ours.distance, PATIENCE, 0.0 if boosting else TIE)
                told = asking.search(kernels, i, PATIENCE, ours.distance)
                found.append((told, Nearest(int(i), plain.distance, plain.seconds, plain.finished), ours, theirs))
            told_ours, told_theirs, own, others = (list(column) for column in zip(*found, strict=True))
            both = (*side_by_side(told_ours, told_theirs), *side_by_side(own, others))
            differ = max(apart(told_ours, told_theirs), apart(own, others))
            reached = ratio(told_ours, told_theirs) >= target
            rows.append((data.name, name, kind, f"{len(found)}", *both, f"{differ:.0e}", f"{target:g}x", met(reached)))
    columns = "told: ours, ms | HiGHS | ratio | not told: ours, ms | fall-back | ratio"
    head = f"data | model | space | rows | {columns} | differ by | target |"
    title = f"the same by HiGHS, up to {PATIENCE:g} s a row"
    show(f"{title} (* some rows were not finished; ratios are of those that either finished)", head, rows)


def without_kernels(asking: Rows) -> MilpSearcher:
    task, cells = asking.task, asking.task.partition
    made = MilpSearcher(cells.forest, cells.rows, task.sides, cells.base, task.losses)
    made.search(asking.right[:1], np.zeros(1), np.array([-1e-12]), 0, PATIENCE)  # it makes what all rows need
    return made


def in_ms(found: list[Nearest]) -> str:
    """Of a row, on average; some may not have been finished."""
    mean = 1e3 * float(np.mean([each.seconds for each in found]))
    return f"{mean:.{1 if mean < 1000.0 else 0}f}{'' if all(each.exact for each in found) else '*'}"


def ratio(ours: list[Nearest], theirs: list[Nearest]) -> float:
    """How many times as long others take for all rows that either finished."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.exact or b.exact]
    return sum(b.seconds for _, b in pairs) / sum(a.seconds for a, _ in pairs)


def side_by_side(ours: list[Nearest], theirs: list[Nearest]) -> Row:
    return in_ms(ours), in_ms(theirs), f"{ratio(ours, theirs):.0f}x"


def apart(ours: list[Nearest], theirs: list[Nearest]) -> float:
    """By how much distances differ at most, relatively, of rows that both proved."""
    pairs = [(a.distance, b.distance) for a, b in zip(ours, theirs, strict=True) if a.exact and b.exact]
    return max((abs(a - b) / max(a, 1e-300) for a, b in pairs), default=0.0)


def veritas(everything: list[Data], *, quick: bool) -> None:
    """Ours is the Euclidean distance, exactly; theirs the largest change of any column, to a thousandth of where it begins."""
    try:
        from veritas import get_addtree
    except ModuleNotFoundError:
        print("\nveritas is not installed: pip install dtai-veritas (Python 3.11 or newer)")
        return
    rows = list[Row]()
    for data in map(in_float32, everything):
        for name in (BOOSTERS[0], BOOSTERS[1], *FORESTS):
            estimator = model(name).fit(data.x_train, data.y_train)
            asking, trees = Rows(estimator, data, None), get_addtree(estimator, silent=True)
            otherwise = (trees.eval(data.x.to_numpy()).ravel() > 0.0) != np.asarray(estimator.predict(data.x))
            few = [i for i in asking.some(5 if quick else 100 if name in BOOSTERS else 20) if not otherwise[i]]
            ours = [asking.search(asking.task.searcher, i, PATIENCE) for i in few]
            sides = {False: trees, True: trees.negate_leaf_values()}  # each positive where a row of the class is an error
            theirs = [radius(asking, estimator, data, each, sides[bool(data.y[each.row])]) for each in ours]
            exact, closed = np.mean([each.exact for each in ours]), np.mean([each.narrow for each in theirs])
            taken = [1e3 * np.array([each.seconds for each in found]) for found in (ours, theirs)]
            times = [f"{times.mean():.1f}, {np.median(times):.1f}, {times.max():.0f}" for times in taken]
            odd = (
                f"{taken[1].mean() / taken[0].mean():.1f}x",
                f"{sum(not each.agrees for each in theirs)}",
                f"{int(otherwise.sum())}",
            )
            figures = (f"{len(few)}", times[0], f"{100.0 * exact:.0f} %", times[1], f"{100.0 * closed:.0f} %", *odd)
            rows.append((data.name, name, *figures))
    head = "data | model | rows | ours, ms: mean, median, worst | exact | veritas | closed | ratio | contradict | misread"
    title = (
        "beside veritas: Euclidean distance, and largest change of a column (no target; HistGradientBoosting it cannot read)"
    )
    show(title, head, rows)


@dataclass(frozen=True)
class Radius:
    """What veritas says of a row: in which seconds, whether it closed as far as it can, and whether it agrees with us."""

    seconds: float
    narrow: bool
    agrees: bool


def radius(asking: Rows, estimator: Any, data: Data, ours: Nearest, trees: Any) -> Radius:
    """By bisection from the nearest row of another class on; no change is longer in its largest column than in all."""
    from veritas import VeritasRobustnessSearch

    here, start = data.x.to_numpy()[ours.row], float(np.abs(asking.apart(ours.row)).max(axis=1).min()) * (1.0 + 1e-6)
    made = list[Any]()

    def search() -> tuple[float, float, float]:
        made.append(VeritasRobustnessSearch(here, start, None, trees, num_steps=STEPS, max_time=PATIENCE, silent=True))
        return made[0].search()  # type: ignore[no-any-return]

    seconds, (_, lower, upper) = timed(search)
    examples = pd.DataFrame(np.reshape(made[0].generated_examples, (-1, len(here))), columns=data.x.columns)
    wrong = examples[np.asarray(estimator.predict(examples)) != data.y[ours.row]] if len(examples) else examples
    apart = np.sqrt(np.square(wrong.to_numpy() - here).sum(axis=1)).min(initial=np.inf)
    distance = float(np.sqrt(ours.distance))
    agrees = lower <= distance * (1.0 + 1e-6) and (not ours.exact or distance <= apart * (1.0 + 1e-6))
    return Radius(seconds, upper - lower <= 2.0 * start / 2**STEPS, bool(agrees))


def compare(everything: list[Data], *, quick: bool) -> None:
    data, rows = everything[0], list[Row]()
    boosters = {f"depth {k}": GradientBoostingClassifier(max_depth=k, random_state=0) for k in (2, 3, 4)}
    depths = {name: booster.fit(data.x_train, data.y_train) for name, booster in boosters.items()}
    for names, models in ((", ".join(BOOSTERS), dict(fitted(data, BOOSTERS))), ("GradientBoosting, depths 2, 3, 4", depths)):
        for kind, space in data.spaces.items():
            settings: dict[str, Any] = {"space": space, "scale": data.scale, "threads": 1, **PAPER}
            seconds, found = timed(lambda: tp.compare(models, data.x, data.y, RISK, **settings))  # noqa: B023
            widest = 100.0 * max(result.gap for result in found.results.values())
            rows.append((data.name, names, kind, f"{seconds:.2f}", f"{widest:.3f} %", "10 s", met(seconds <= 10.0)))
    show("tp.compare of three boosters, 0/1 loss lifted to 40 %", "data | models | space | seconds | gap | target |", rows)


PARTS = {part.__name__: part for part in (errors, losses, worst, nearest, highs, veritas, compare)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="300 rows, and fewer of them one by one")
    options = parser.parse_args()
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    libraries = ("numpy", "scipy", "scikit-learn", "xgboost-cpu", "lightgbm")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in libraries))
    with threadpool_limits(1):
        everything = [acs(300 if options.quick else 2000), breast_cancer()]
        _, small = next(fitted(everything[1], FORESTS))
        asked(everything[1], small, None, "zero_one", Aim(50.0, 1.0))  # imports what all need
        for name in options.parts or PARTS:
            PARTS[name](everything, quick=options.quick)


if __name__ == "__main__":
    main()
