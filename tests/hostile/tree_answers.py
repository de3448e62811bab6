"""Small trees of every library against every cell they have, by the library's own predict and a dual solver of its own.

``python tests/hostile/tree_answers.py [COUNT [SEED]]`` compares COUNT answers and prints a table; the exit code is 1 if one is
wrong. A model is fitted once, and asked in several spaces. Nothing of tippingpoint is used for the truth: cuts come from the
library's own dump, losses from its predict, and the dual is solved by bisection.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import logsumexp

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]  # as pytest does

import tippingpoint as tp
from small_trees import LIBRARIES, LOSSES, Library, lead, of_error, of_lead

FloatArray = npt.NDArray[np.float64]

TRAINING = 60
MOST_PLACES = 6_000
"""Places of a model at most, all rows alike: models with more are not asked."""

SPACES = 3
"""In which a model is asked ..."""

DRAWS = 20
"""Of a space in which something moves, before the model is left."""

QUESTIONS, COSTS = 3, 2
"""... so many stabilities and worst risks each; once each feature alone."""

LEVELS = 5
"""Whole numbers and codes go from 0 up to this."""

STEP = 0.02
"""Of whole numbers with many values."""

CLOSE = 1e-6
"""Relative: what is taken for equal."""

SINGLE = 2e-5
"""The same of libraries that add in single precision."""

HALVINGS = 90
"""Of a price: then it is known to its last digit."""

FARTHEST = 1e9
"""Price beyond which only the largest risk is left, in units of the largest cost of a place."""

LEAST = 1e-200
"""A squared distance that is not zero."""

LEAST_COST = 1e-9
"""Below it the truth, which adds up numbers near one, is rounding."""

EXTREME = 1e20
"""A cost that is no ordinary number."""

ROUNDING = 1e-12
"""Relative: of risks at a price."""

DIVERGENCES = ("kl", "chi2", "cvar:0.4")
GOOD = "answered"


@dataclass(frozen=True)
class Cells:
    """The cells of a column: intervals with both ends, then what is missing if the library takes that.

    Attributes
    ----------
    name, kind
        Of the column; "number", "whole", or "category" if the library takes it as such.
    left, right
        `(K,)` ends of the intervals of numbers.
    gap
        Whether there is a cell of what is missing.
    """

    name: str
    kind: str
    left: FloatArray
    right: FloatArray
    gap: bool

    @property
    def places(self) -> FloatArray:
        """A value of every cell."""
        inside = np.where(np.isfinite(self.left), self.left, np.where(np.isfinite(self.right), self.right, 0.0))
        return np.append(inside, math.nan) if self.gap else inside

    def home(self, x: FloatArray) -> npt.NDArray[np.intp]:
        """The cells of values."""
        return np.where(np.isnan(x), len(self.left), np.searchsorted(self.right, x)).astype(np.intp)


@dataclass(frozen=True)
class Model:
    """A fitted model, rows to ask it about, and its cells.

    Attributes
    ----------
    library, task, estimator
        Of it.
    x, y, base
        The rows, their labels or targets, and their weights.
    cells
        By column.
    data
        The rows as the estimator takes them.
    told
        Of every combination of cells: the predictions, and the numbers that the library adds up.
    """

    library: Library
    task: str
    estimator: Any
    x: FloatArray
    y: Any
    base: FloatArray
    cells: tuple[Cells, ...]
    data: Any
    told: tuple[npt.NDArray[Any], FloatArray]

    def losses(self, loss: str) -> FloatArray:
        """`(n, places)` of every row, were it anywhere."""
        predicted, outputs = self.told
        rows, places = len(self.x), len(predicted)
        if self.task == "amount":
            return of_error(loss, (self.y[:, None] - predicted.astype(float)).ravel()).reshape(rows, places)
        if loss == "zero_one":
            return np.asarray(predicted[None, :] != self.y[:, None], dtype=float)
        own = np.repeat(np.searchsorted(self.estimator.classes_, self.y), places)
        ahead = lead(loss, np.tile(outputs, (rows, 1)), own, tells=self.library.tells)
        return of_lead(loss, ahead).reshape(rows, places)


@dataclass(frozen=True)
class Setting:
    """A space and a scale, and what every cell costs every row: by column `(n, cells)`, infinite where it may not go."""

    space: tp.Space
    scale: str
    costs: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Atoms:
    """The places of rows that matter, padded with places that nobody goes to.

    Attributes
    ----------
    loss, cost
        `(n, K)`; the first of every row costs nothing, and losses rise with costs.
    base
        Weights of the rows.
    """

    loss: FloatArray
    cost: FloatArray
    base: FloatArray

    @classmethod
    def of(cls, losses: FloatArray, costs: tuple[FloatArray, ...], base: FloatArray) -> Atoms:
        """From the losses of all places, and what each column pays for its cells."""
        kept = []
        for i, loss in enumerate(losses):
            total = costs[0][i]
            for cost in costs[1:]:
                total = np.add.outer(total, cost[i]).ravel()
            open_ = np.flatnonzero(np.isfinite(total))
            order = open_[np.lexsort((-loss[open_], total[open_]))]
            best = np.maximum.accumulate(np.r_[-math.inf, loss[order[:-1]]])
            worth = order[loss[order] > best]
            kept.append((loss[worth], total[worth]))
        most = max(len(loss) for loss, _ in kept)
        shape = len(kept), most
        loss, cost = np.zeros(shape), np.full(shape, math.inf)
        for i, (own, paid) in enumerate(kept):
            loss[i, : len(own)], cost[i, : len(own)] = own, paid
        return cls(loss, cost, base)

    def still(self) -> Atoms:
        """Where nothing moves that costs anything."""
        return Atoms(self.loss, np.where(self.cost > 0.0, math.inf, 0.0), self.base)

    @property
    def now(self) -> float:
        """The risk as it is."""
        return float(self.base @ self.loss[:, 0])

    @property
    def farthest(self) -> float:
        """A price beyond which only the largest risk is left."""
        return FARTHEST * max(1.0, float(self.cost[np.isfinite(self.cost)].max()))

    @property
    def highest(self) -> FloatArray:
        """The largest loss of every row."""
        return np.asarray(np.where(np.isfinite(self.cost), self.loss, -math.inf).max(axis=1))


@dataclass(frozen=True)
class Question:
    """Prices, and what is priced."""

    theta1: float
    theta2: float
    divergence: str

    @property
    def asked(self) -> dict[str, Any]:
        """As tippingpoint takes them."""
        return {"theta1": self.theta1, "theta2": self.theta2, "divergence": self.divergence}

    def largest(self, atoms: Atoms) -> float:
        """The largest risk that any perturbation reaches."""
        atoms = atoms.still() if math.isinf(self.theta1) else atoms
        if math.isinf(self.theta2):
            return float(atoms.base @ atoms.highest)
        if self.divergence.startswith("cvar"):
            return float(atoms.base @ (_tail(atoms.highest, atoms.base, _share(self.divergence)) * atoms.highest))
        return float(atoms.highest.max())

    def dual(self, atoms: Atoms, price: float) -> tuple[float, float]:
        r"""`Λ(h)`, the largest of `h·risk - cost`, and the risk there, at a price `h`."""
        theta1 = 1.0 if math.isinf(self.theta1) else self.theta1
        gains = price * atoms.loss - theta1 * atoms.cost
        best = gains.argmax(axis=1)
        gain = gains[np.arange(len(gains)), best]
        value, weights = _reweighted(gain, atoms.base, self.theta2, self.divergence)
        return value, float(atoms.base @ (weights * atoms.loss[np.arange(len(gains)), best]))

    def stability(self, atoms: Atoms, risk: float) -> float:
        """`max_h h·risk - Λ(h)`, by the sign of its slope."""
        if risk <= atoms.now:
            return 0.0
        atoms = atoms.still() if math.isinf(self.theta1) else atoms
        if risk > self.largest(atoms) * (1.0 + 1e-12):
            return math.inf
        low, high = _bracket(lambda h: self.dual(atoms, h)[1] < risk * (1.0 - ROUNDING), atoms.farthest)
        return max(0.0, *(h * risk - self.dual(atoms, h)[0] for h in (low, high)))

    def worst(self, atoms: Atoms, cost: float) -> float:
        """`min_h (cost + Λ(h)) / h`, by the sign of its slope; no more than the largest risk."""
        atoms = atoms.still() if math.isinf(self.theta1) else atoms
        largest = self.largest(atoms)
        if self.stability(atoms, largest) <= cost:
            return largest

        def rises(h: float) -> bool:
            value, risk = self.dual(atoms, h)
            return h * risk - value < cost

        low, high = _bracket(rises, atoms.farthest)
        found = ((cost + self.dual(atoms, h)[0]) / h for h in (low, high) if h > 0.0)
        return max(min(largest, *found), atoms.now)


def _bracket(below: Callable[[float], bool], farthest: float) -> tuple[float, float]:
    """The two neighbouring prices between which a condition ends to hold."""
    high = 1e-3
    while below(high) and high < farthest:
        high *= 4.0
    low = 0.25 * high if high > 1e-3 else 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def _share(divergence: str) -> float:
    return float(divergence.partition(":")[2])


def _tail(values: FloatArray, base: FloatArray, share: float) -> FloatArray:
    """Weights of the largest values that are this share of the whole."""
    order = np.argsort(-values, kind="stable")
    before = np.cumsum(base[order]) - base[order]
    weights = np.empty(len(values))
    weights[order] = np.clip(share - before, 0.0, base[order]) / (share * base[order])
    return weights


def _reweighted(gain: FloatArray, base: FloatArray, theta2: float, divergence: str) -> tuple[float, FloatArray]:
    """`max_w Σ p (w·gain - θ2·φ(w))` over weights whose mean is 1, and these."""
    if math.isinf(theta2):
        return float(base @ gain), np.ones(len(gain))
    top = float(gain.max())
    gain = gain - top  # so that what matters is small
    if divergence.startswith("cvar"):
        weights = _tail(gain, base, _share(divergence))
        return top + float(base @ (weights * gain)), weights
    if divergence == "kl":
        total = float(logsumexp(gain / theta2, b=base))
        return top + theta2 * total, np.exp(gain / theta2 - total)
    order = np.argsort(-gain, kind="stable")
    mass, sums = np.cumsum(base[order]), np.cumsum((base * gain)[order])
    # With the first k rows kept, Σ p w = 1 gives the shift; the right k is the last whose smallest weight is not negative.
    shift = (2.0 * theta2 * (1.0 - mass) - sums) / mass
    last = int(np.flatnonzero((gain[order] + shift) / (2.0 * theta2) + 1.0 > 0.0)[-1])
    weights = np.maximum((gain + shift[last]) / (2.0 * theta2) + 1.0, 0.0)
    return top + float(base @ (weights * gain - theta2 * np.square(weights - 1.0))), weights


# Models.


def fitted(seed: int) -> Model | None:
    """A model that a seed stands for; none if it has more places than are asked about."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(LIBRARIES)))
    library, task = LIBRARIES[name], str(rng.choice(list(LOSSES), p=[0.6, 0.15, 0.25]))
    rows = int(rng.integers(8, 20))
    kinds = _kinds(rng, library)
    training, x = _drawn(rng, library, kinds, TRAINING, seen=True), _drawn(rng, library, kinds, rows, seen=False)
    targets, y = (_targets(rng, library, task, each) for each in (training, x))
    if len(np.unique(targets)) < {"two": 2, "three": 3, "amount": 2}[task] or len(np.unique(y)) < 2:
        return None
    estimator = library.made(task, int(rng.integers(1, 5)), int(rng.integers(1, 4)))
    if name in ("forest", "extra trees"):
        estimator.set_params(max_features=None, n_jobs=1)
    as_taken = _taker(library, kinds)
    estimator.fit(as_taken(training), targets)
    if task != "amount" and not np.isin(y, estimator.classes_).all():
        return None
    cuts = CUTS[library.module](estimator, len(kinds))
    cells = tuple(_cells(f"x{j}", kind, cuts[j], gap=library.gaps) for j, kind in enumerate(kinds))
    if math.prod(len(each.places) for each in cells) > MOST_PLACES:
        return None
    every = np.stack([each.ravel() for each in np.meshgrid(*(each.places for each in cells), indexing="ij")], axis=1)
    taken = as_taken(every)
    told = np.ravel(estimator.predict(taken)), library.sums(task, estimator, taken)
    base = rng.exponential(size=rows) if rng.random() < 0.3 else np.ones(rows)
    return Model(library, task, estimator, x, y, base / base.sum(), cells, as_taken(x), told)


def _kinds(rng: np.random.Generator, library: Library) -> tuple[str, ...]:
    """One to three columns: numbers, fine whole numbers, numbers that are all equal, whole numbers, categories."""
    offered = ["number", "number", "fine", "flat", "whole"]
    if library.native:
        offered.append("category")
    return tuple(map(str, rng.choice(offered, int(rng.integers(1, 4)))))


def _drawn(rng: np.random.Generator, library: Library, kinds: tuple[str, ...], rows: int, *, seen: bool) -> FloatArray:
    """Values of the columns; some are missing if the library takes that.

    Fine steps keep off the multiples of a twentieth, where models cut: on a cut rounding would decide which cell a step is in.
    """
    columns = []
    for kind in kinds:
        numbers = np.round(rng.normal(size=rows), 1)
        if kind in ("whole", "category"):
            numbers = rng.integers(0, LEVELS, rows).astype(float)
        elif kind == "fine" and not seen:
            numbers = np.round(numbers / STEP) * STEP + 0.005
        elif kind == "flat":
            numbers = np.full(rows, 0.5)
        share = 0.3 if kind == "flat" else rng.choice([0.0, 0.2])
        gone = (rng.random(rows) < share) & library.gaps & (np.arange(rows) > 0)
        columns.append(np.where(gone, math.nan, numbers))
    return np.column_stack(columns)


def _targets(rng: np.random.Generator, library: Library, task: str, x: FloatArray) -> Any:
    """On which all columns, and what is missing, have a say."""
    held = np.where(np.isnan(x), 1.5, np.where(np.abs(x) >= 2.0, 0.5 * x - 1.0, x))
    amount = held.sum(axis=1) + 0.8 * held[:, 0] * held[:, -1] + 0.3 * rng.normal(size=len(x)) - 0.5 * x.shape[1]
    if task == "amount":
        return amount
    codes = np.digitize(amount, [0.0] if task == "two" else [-0.6, 0.6])
    return codes if library.numbered else np.array(["no", "yes", "zoo"])[codes]


def _taker(library: Library, kinds: tuple[str, ...]) -> Callable[[FloatArray], Any]:
    """From numbers to what the library takes: a table, if there are categories."""

    def taken(x: FloatArray) -> Any:
        if "category" not in kinds:
            return x
        frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])])
        for j in (j for j, kind in enumerate(kinds) if kind == "category"):
            codes = np.where(np.isnan(x[:, j]), -1.0, x[:, j]).astype(int)
            frame[f"x{j}"] = pd.Categorical.from_codes(codes.tolist(), categories=pd.Index(range(LEVELS)))
        return frame

    return taken


def _cells(name: str, kind: str, cuts: set[float], *, gap: bool) -> Cells:
    """Of a column that is cut after these numbers."""
    if kind == "category":
        levels = np.arange(float(LEVELS))
        return Cells(name, kind, levels, levels, gap)
    inside = np.array(sorted(cut for cut in cuts if math.isfinite(cut)), dtype=float)
    return Cells(name, kind, np.r_[-math.inf, np.nextafter(inside, math.inf)], np.r_[inside, math.inf], gap)


# Where libraries cut, by their own dumps: the last double that goes left.


def _last_single(threshold: float, *, level: bool) -> float:
    """The last double that a library which rounds to single precision sends left; `level` if the threshold itself goes left."""

    def passes(x: np.float32) -> bool:
        return float(x) <= threshold if level else float(x) < threshold

    near = np.float32(threshold)
    infinity = np.float32(np.inf)
    single = np.nextafter(near, infinity)
    while not passes(single):
        single = np.nextafter(single, -infinity)
    low, high = float(single), float(np.nextafter(single, infinity))
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if passes(np.float32(middle)) else (low, middle)
    return low


def _xgboost_cuts(estimator: Any, width: int) -> list[set[float]]:
    document = json.loads(bytes(estimator.get_booster().save_raw("json")))
    cuts: list[set[float]] = [set() for _ in range(width)]
    for tree in document["learner"]["gradient_booster"]["model"]["trees"]:
        for column, number, left, categorical in zip(
            tree["split_indices"], tree["split_conditions"], tree["left_children"], tree["split_type"], strict=True
        ):
            if left >= 0 and not categorical:
                cuts[column].add(_last_single(float(np.float32(number)), level=False))
    return cuts


def _lightgbm_cuts(estimator: Any, width: int) -> list[set[float]]:
    zero = float(np.float32(1e-35))  # numbers this small are zero to it
    cuts: list[set[float]] = [set() for _ in range(width)]

    def visit(node: dict[str, Any]) -> None:
        if "split_feature" not in node:
            return
        if node["decision_type"] == "<=":
            at = float(node["threshold"])
            near = (np.nextafter(-zero, -math.inf), -zero, zero) if abs(at) <= 2.0 * zero else ()
            cuts[node["split_feature"]].update(map(float, (at, *near)))
        visit(node["left_child"])
        visit(node["right_child"])

    for tree in estimator.booster_.dump_model()["tree_info"]:
        visit(tree["tree_structure"])
    return cuts


def _catboost_cuts(estimator: Any, width: int) -> list[set[float]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        estimator.save_model(str(path), format="json")
        document = json.loads(path.read_text(encoding="utf-8"))
    cuts: list[set[float]] = [set() for _ in range(width)]
    for column in document["features_info"]["float_features"]:
        for border in column.get("borders") or ():
            cuts[column["flat_feature_index"]].add(_last_single(float(np.float32(border)), level=True))
    return cuts


def _sklearn_cuts(estimator: Any, width: int) -> list[set[float]]:
    cuts: list[set[float]] = [set() for _ in range(width)]
    if hasattr(estimator, "_predictors"):
        encoder = estimator._preprocessor
        # A table with categories is put into another order: these first.
        parts = [np.arange(width)] if encoder is None else [np.flatnonzero(part) for *_, part in encoder.transformers_]
        order = np.concatenate(parts)
        for predictor in itertools.chain.from_iterable(estimator._predictors):
            for node in predictor.nodes:
                if not node["is_leaf"] and not node["is_categorical"]:
                    cuts[order[node["feature_idx"]]].add(float(node["num_threshold"]))
        return cuts
    for each in np.ravel(getattr(estimator, "estimators_", [estimator])):
        for column, number, left in zip(each.tree_.feature, each.tree_.threshold, each.tree_.children_left, strict=True):
            if left >= 0 and math.isfinite(number):
                cuts[column].add(_last_single(float(number), level=True))
    return cuts


CUTS: dict[str, Callable[[Any, int], list[set[float]]]] = {
    "xgboost": _xgboost_cuts,
    "lightgbm": _lightgbm_cuts,
    "catboost": _catboost_cuts,
    "sklearn.tree": _sklearn_cuts,
    "sklearn.ensemble": _sklearn_cuts,
}
"""By the module of the library."""


# Spaces.


def setting(rng: np.random.Generator, model: Model) -> Setting | None:
    """A space drawn at random, one feature of which moves at least, and what it makes of costs; none if no draw does."""
    scale = str(rng.choice(["raw", "raw", "raw", "std"]))
    for _ in range(DRAWS):
        said: dict[str, Any] = {}
        frozen: list[str] = []
        costs = tuple(
            _column(rng, cells, model.x[:, j], model.base, scale, said, frozen, gaps=model.library.gaps)
            for j, cells in enumerate(model.cells)
        )
        if any((np.isfinite(each) & (each > 0.0)).any() for each in costs):
            return Setting(tp.Space(frozen=frozen, outliers="keep", **said), scale, costs)
    return None


def _column(
    rng: np.random.Generator,
    cells: Cells,
    x: FloatArray,
    base: FloatArray,
    scale: str,
    said: dict[str, Any],
    frozen: list[str],
    *,
    gaps: bool,
) -> FloatArray:
    """What one column says in a space, and `(n, cells)` what that costs."""
    name, home = cells.name, cells.home(x)
    costs = np.full((len(x), len(cells.places)), math.inf)
    if rng.random() < 0.12:
        frozen.append(name)
    else:

        def say(argument: str, value: Any) -> Any:
            said.setdefault(argument, {})[name] = value
            return value

        price = say("price", float(rng.uniform(0.2, 3.0))) if rng.random() < 0.7 else 1.0
        for k, cost in enumerate(_moves(rng, cells, x, base, scale, price, say).T):
            costs[:, k] = cost
        if gaps and rng.random() < 0.45:
            costs[:, -1] = say("missing", float(rng.uniform(0.02, 0.8)))
        costs[np.isnan(x)] = math.inf
    costs[np.arange(len(x)), home] = 0.0
    return costs


def _moves(
    rng: np.random.Generator,
    cells: Cells,
    x: FloatArray,
    base: FloatArray,
    scale: str,
    price: float,
    say: Callable[[str, Any], Any],
) -> FloatArray:
    """`(n, K)` what it costs to move to a cell of numbers; rows whose value is missing get any number here."""
    choices = {"number": ["numeric"], "fine": ["numeric", "lattice"], "flat": ["numeric"], "category": ["categorical"]}
    kind = str(rng.choice(choices.get(cells.kind, ["numeric", "integer", "ordinal", "categorical"])))
    if kind == "categorical":
        return _switches(rng, cells, x, price, say)
    way = str(rng.choice(["", "", "up", "down"]))
    if way:
        say("direction", way)
    unit = _spread(x, base) if scale == "std" else 1.0
    low, high, targets = -math.inf, math.inf, None
    if kind == "numeric":
        low = say("lower", round(float(rng.uniform(-1.5, 0.2)), 2)) if rng.random() < 0.3 else low
        high = say("upper", round(float(rng.uniform(0.4, 2.5)), 2)) if rng.random() < 0.3 else high
    elif kind == "lattice":
        say("kind", "integer")
        say("step", STEP)
        low, high = say("lower", -8.0), say("upper", 8.0)
        targets = np.arange(-8.0 + 0.005, 8.0, STEP)
    elif kind == "integer":
        say("kind", "integer")
        low, high = say("lower", float(rng.integers(0, 2))), say("upper", float(rng.integers(2, LEVELS + 1)))
        targets = np.arange(low, high + 1.0)
    else:
        say("kind", "ordinal")
        say("categories", list(map(float, range(LEVELS))))
        targets = np.arange(float(LEVELS))
    least = x if way == "up" else np.fmin(low, x)
    most = x if way == "down" else np.fmax(high, x)
    rate = price / unit**2 if unit > 0.0 else math.inf
    if targets is None:
        first, last = np.maximum(cells.left, least[:, None]), np.minimum(cells.right, most[:, None])
        apart = np.square(np.clip(x[:, None], first, np.maximum(first, last)) - x[:, None])
        # The square of the distance to the next double may be rounded to zero, and is none.
        return np.where(first <= last, rate * np.maximum(apart, LEAST), math.inf)
    apart = np.square(targets - x[:, None])
    apart = np.where((targets >= least[:, None] - 1e-9) & (targets <= most[:, None] + 1e-9), apart, math.inf)
    best = np.full((len(x), len(cells.left)), math.inf)
    for k, target in zip(cells.home(targets), range(len(targets)), strict=True):
        best[:, k] = np.fmin(best[:, k], apart[:, target])
    return rate * best if math.isfinite(rate) else np.full_like(best, math.inf)


def _switches(
    rng: np.random.Generator, cells: Cells, x: FloatArray, price: float, say: Callable[[str, Any], Any]
) -> FloatArray:
    """Categories: every change at one price, or by a table in which some are not allowed."""
    table = np.ones((LEVELS, LEVELS))
    if cells.kind == "whole":
        say("kind", "categorical")
        say("categories", list(map(float, range(LEVELS))))
    if rng.random() < 0.5:
        table = np.where(rng.random((LEVELS, LEVELS)) < 0.7, rng.uniform(0.1, 1.5, (LEVELS, LEVELS)), math.inf)
        label: Callable[[int], Any] = float if cells.kind == "whole" else int
        named = {
            label(a): {label(b): float(table[a, b]) for b in range(LEVELS) if b != a and math.isfinite(table[a, b])}
            for a in range(LEVELS)
        }
        say("switch", named)
    own = np.nan_to_num(x).astype(int)
    best = np.full((len(x), len(cells.left)), math.inf)
    for level, k in enumerate(cells.home(np.arange(float(LEVELS)))):
        best[:, k] = np.minimum(best[:, k], price * table[own, level])
    return best


def _spread(x: FloatArray, base: FloatArray) -> float:
    """The standard deviation of what is not missing."""
    held = ~np.isnan(x)
    if not held.any() or np.ptp(x[held]) == 0.0:
        return 0.0
    mean = np.average(x[held], weights=base[held])
    return math.sqrt(np.average(np.square(x[held] - mean), weights=base[held]))


# Comparisons.


def compared(seed: int) -> Iterator[tuple[str, str, str]]:
    """Of every answer of a model in several spaces: what was asked, what came out, and what tries it again."""
    model = fitted(seed)
    if model is None:
        return
    rng = np.random.default_rng([seed, 1])
    for number in range(SPACES):
        drawn = setting(rng, model)
        if drawn is None:
            continue
        kind = LOSSES[model.task]
        served = [loss for loss in kind if not (model.library.tells and model.task == "three" and "hinge" in loss)]
        loss = str(rng.choice(served)) if rng.random() < 0.6 or model.task == "amount" else "zero_one"
        again = f"seed {seed}, space {number}, {loss}, {type(model.estimator).__name__}"
        yield from ((asked, outcome, f"{again}, {how}") for asked, outcome, how in _asked(rng, model, drawn, loss))


def _asked(rng: np.random.Generator, model: Model, drawn: Setting, loss: str) -> Iterator[tuple[str, str, str]]:
    losses = model.losses(loss)
    atoms = Atoms.of(losses, drawn.costs, model.base)
    close = SINGLE if model.library.single else CLOSE
    given: dict[str, Any] = {
        "loss": loss,
        "space": drawn.space,
        "scale": drawn.scale,
        "sample_weight": model.base,
        "gap": 0.0,
        "threads": 1,
        "progress": False,
    }
    profile = tp.profile(model.estimator, model.data, model.y, **given)
    for k in range(QUESTIONS):
        question = _question(rng)
        risk = _threshold(rng, question, atoms, loss)
        truth, largest = question.stability(atoms, risk), question.largest(atoms)
        how = f"risk={risk!r}, {question.asked}"
        found = _answer(profile.stability, risk, question, atoms)
        yield "stability", _of(found, _stability, truth, atoms.now, close), how
        yield "largest risk", _of(found, _largest, largest, close), how
        if k < COSTS:
            cost = float(rng.choice([0.01, 0.1, 0.5, 1.0, 3.0, 30.0])) * (truth if LEAST_COST < truth < math.inf else 1.0)
            how = f"cost={cost!r}, {question.asked}"
            found = _answer(profile.worst_risk, cost, question, atoms)
            yield "worst risk", _of(found, _worst, question.worst(atoms, cost), close), how
            yield "largest risk", _of(found, _largest, largest, close), how
    question = _question(rng)
    risk = _threshold(rng, question, atoms, loss)
    ranked = tp.feature_stability(model.estimator, model.data, model.y, risk, **question.asked, **given)
    for name, alone in ranked.results.items():
        costs = tuple(each if f"x{k}" == name else _still(model, k) for k, each in enumerate(drawn.costs))
        own = Atoms.of(losses, costs, model.base)
        how = f"{name}, risk={risk!r}, {question.asked}"
        yield "feature stability", _stability(alone, question.stability(own, risk), own.now, close), how


def _answer(ask: Callable[..., Any], number: float, question: Question, atoms: Atoms) -> Any:
    """What is answered, or in words why nothing is.

    CatBoost cuts at the largest number of single precision, which is 1e76 away: questions that need it may be refused.
    """
    try:
        return ask(number, **question.asked)
    except tp.NumericalError as failure:
        return GOOD if atoms.farthest > FARTHEST * EXTREME else f"NumericalError: {failure}"
    except Exception as failure:  # noqa: BLE001  # whatever it is, it is not an answer
        return f"{type(failure).__name__}: {failure}"


def _of(found: Any, check: Callable[..., str], *truth: float) -> str:
    """What is wrong with an answer."""
    return found if isinstance(found, str) else check(found, *truth)


def _still(model: Model, column: int) -> FloatArray:
    """What a column costs that does not move."""
    cells = model.cells[column]
    costs = np.full((len(model.x), len(cells.places)), math.inf)
    costs[np.arange(len(costs)), cells.home(model.x[:, column])] = 0.0
    return costs


def _question(rng: np.random.Generator) -> Question:
    kind = rng.random()
    theta1 = math.inf if kind < 0.08 else float(np.exp(rng.normal()))
    theta2 = math.inf if kind > 0.7 else float(np.exp(rng.normal() - 1.0))
    return Question(theta1, theta2, str(rng.choice(DIVERGENCES, p=[0.4, 0.4, 0.2])) if kind <= 0.7 else "kl")


def _threshold(rng: np.random.Generator, question: Question, atoms: Atoms, loss: str) -> float:
    """Mostly within reach, sometimes a little beyond it."""
    part = rng.uniform(0.02, 0.98) if rng.random() < 0.9 else 1.05
    risk = atoms.now + part * (question.largest(atoms) - atoms.now)
    return float(min(risk, 1.0)) if loss == "zero_one" else float(risk)


def _stability(found: tp.StabilityResult, truth: float, now: float, close: float) -> str:
    """ "answered", or what is wrong."""
    slack = close * truth + 1e-12 if math.isfinite(truth) else 0.0
    if abs(found.current_risk - now) > close * max(abs(now), 1e-9):
        return f"a risk of {found.current_risk!r} now instead of {now!r}"
    if found.lower > truth + slack:
        return f"a lower bound of {found.lower!r} above {truth!r}"
    if found.upper < truth - slack:
        return f"an upper bound of {found.upper!r} below {truth!r}"
    closed = found.lower == found.upper or found.upper - found.lower <= close * found.upper
    if found.exact and not (found.upper == truth or abs(found.upper - truth) <= slack):
        return f"{found.upper!r}, called exact, instead of {truth!r}"
    if not closed and found.ending not in ("rounding", None):
        return f"bounds {found.lower!r} and {found.upper!r} left apart by {found.ending}, around {truth!r}"
    return GOOD


def _worst(found: tp.WorstRisk, truth: float, close: float) -> str:
    slack = close * max(abs(truth), 1e-9)
    if found.value > truth + slack:
        return f"a risk of {found.value!r} above {truth!r}"
    if found.certified is not None and found.certified < truth - slack:
        return f"certified {found.certified!r} below {truth!r}"
    if found.exact and found.value < truth - slack:
        return f"{found.value!r}, called exact, instead of {truth!r}"
    return GOOD


def _largest(found: tp.StabilityResult | tp.WorstRisk, truth: float, close: float) -> str:
    """None if it is not proved; what is said has to be true."""
    said = found.largest_risk
    if said is None or abs(said - truth) <= close * max(abs(truth), 1e-9):
        return GOOD
    return f"a largest risk of {said!r} instead of {truth!r}"


@dataclass
class Tally:
    """What was compared, by what was asked."""

    tried: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def tally(count: int, seed: int, *, say: Callable[[str], None] = lambda _: None) -> Tally:
    """Compare answers until there are so many."""
    found = Tally()
    for each in itertools.count(1_000_000 * seed):
        if found.tried.total() >= count:
            return found
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes = list(compared(each))
        except Exception as failure:  # noqa: BLE001  # whatever it is, it is not an answer
            outcomes = [("an answer", f"{type(failure).__name__}: {failure}", f"seed {each}")]
        for asked, outcome, again in outcomes:
            found.tried[asked] += 1
            if outcome != GOOD:
                found.failed[asked] += 1
                found.examples.append(f"{asked}: {outcome} ({again})")
                say(found.examples[-1])
    raise AssertionError


def trial(count: int, seed: int) -> Counter[str]:
    """As `trial.py` counts."""
    found = tally(count, seed)
    outcomes: Counter[str] = Counter({GOOD: found.tried.total() - found.failed.total()})
    for asked, failed in found.failed.items():
        outcomes[next(example for example in found.examples if example.startswith(asked))] += failed
    return outcomes


def main(count: int, seed: int) -> int:
    """Print a table, and what is wrong above it."""
    began = time.monotonic()
    found = tally(count, seed, say=lambda example: print(f"WRONG {example}", file=sys.stderr, flush=True))
    seconds = time.monotonic() - began
    print("| asked | compared | wrong |\n|---|---|---|")
    for asked, tried in found.tried.items():
        print(f"| {asked} | {tried:,} | {found.failed[asked]:,} |")
    print(f"{found.tried.total():,} answers in {seconds:.0f} s, {found.tried.total() / seconds:.0f} a second")
    return 1 if found.failed else 0


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    sys.exit(main(numbers[0] if numbers else 1000, numbers[1] if len(numbers) > 1 else 0))
