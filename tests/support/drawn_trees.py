"""Small models, spaces, gaps and questions, drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from small_trees import AGES, HOT, LIBRARIES, LOSSES, SHADES, Library, Small, grown, people
from tippingpoint.core.arrays import FloatArray
from tippingpoint.space import Space
from tree_places import Feature, Number, OneHot, Steps, Switch
from tree_spaces import Setting

Said = dict[str, Any]
"""Arguments of a `Space`, by name; most of them by feature."""


@dataclass(frozen=True)
class Drawn:
    """A model, what it is judged by, a space, weights of the rows, and questions: parts of what moving can add, and prices."""

    small: Small
    loss: str
    setting: Setting
    base: FloatArray
    questions: tuple[Mapping[str, Any], ...]


def drawn(seed: int) -> Drawn:
    """What a seed stands for."""
    rng = np.random.default_rng(seed)
    library = str(rng.choice(list(LIBRARIES)))
    kind, task = LIBRARIES[library], str(rng.choice(list(LOSSES)))
    served = [loss for loss in LOSSES[task] if not (kind.tells and task == "three" and "hinge" in loss)]
    rows = int(rng.integers(3, 9))
    training, data = (people(n, int(rng.integers(1 << 30)), seen=n > rows) for n in (int(rng.integers(40, 200)), rows))
    data.loc[:1, "x"] = [-3.995, 4.005]  # of two classes at least
    if kind.gaps:
        training, data = (_gapped(rng, each) for each in (training, data))
    model = grown(kind, task, training, data, trees=int(rng.integers(1, 5)), depth=int(rng.integers(1, 4)))
    base = rng.exponential(size=rows)
    questions = tuple(_question(rng) for _ in range(3))
    return Drawn(model, str(rng.choice(served)), _setting(rng, kind), base / base.sum(), questions)


def _gapped(rng: np.random.Generator, data: pd.DataFrame) -> pd.DataFrame:
    """Some columns with gaps."""
    share = {name: rng.choice([0.0, 0.2]) for name in ("x", "z", "age")}
    gone = {name: (rng.random(len(data)) < each) & (np.arange(len(data)) > 1) for name, each in share.items()}
    return data.assign(**{name: data[name].mask(each) for name, each in gone.items()})


def _question(rng: np.random.Generator) -> Mapping[str, Any]:
    theta2 = math.inf if rng.random() < 0.3 else float(np.exp(rng.normal() - 1.0))
    return {
        "part": rng.uniform(0.05, 0.95),
        "theta1": float(np.exp(rng.normal())),
        "theta2": theta2,
        "divergence": str(rng.choice(["kl", "chi2", "cvar:0.4"])),
    }


def _setting(rng: np.random.Generator, kind: Library) -> Setting:
    """Every feature drawn by itself; one moves at least."""
    while True:
        said: Said = {}
        features = [
            *(_number(rng, kind, name, said) for name in ("x", "z")),
            _age(rng, kind, said),
            _shade(rng, kind, said),
        ]
        moving = [feature for feature in features if feature is not None]
        if moving:
            frozen = [name for name, each in zip(("x", "z", "age", "shade"), features, strict=True) if each is None]
            frozen = [column for name in frozen for column in (HOT if name == "shade" and not kind.native else (name,))]
            return Setting(Space(frozen=frozen, outliers="keep", **said), moving)


def _say(said: Said, argument: str, name: str, value: Any) -> Any:
    said.setdefault(argument, {})[name] = value
    return value


def _vanishing(rng: np.random.Generator, kind: Library, name: str, said: Said) -> float:
    may = kind.gaps and rng.random() < 0.3
    return float(_say(said, "missing", name, rng.uniform(0.1, 1.5))) if may else math.inf


def _price(rng: np.random.Generator, name: str, said: Said) -> float:
    return float(_say(said, "price", name, rng.uniform(0.2, 3.0)))


def _direction(rng: np.random.Generator, name: str, said: Said) -> int:
    way = int(rng.choice([0, 0, 1, -1]))
    if way:
        _say(said, "direction", name, "up" if way > 0 else "down")
    return way


def _number(rng: np.random.Generator, kind: Library, name: str, said: Said) -> Feature | None:
    if rng.random() < 0.15:
        return None
    low, high, step = -math.inf, math.inf, 0.0
    if rng.random() < 0.4:
        low, high = (float(_say(said, side, name, value)) for side, value in (("lower", -0.7), ("upper", 0.9)))
    elif rng.random() < 0.3:
        _say(said, "kind", name, "integer")
        low, high = (float(_say(said, side, name, value)) for side, value in (("lower", -6.0), ("upper", 6.0)))
        step = float(_say(said, "step", name, 0.02))
    return Number(
        name, _price(rng, name, said), low, high, _direction(rng, name, said), step, _vanishing(rng, kind, name, said)
    )


def _age(rng: np.random.Generator, kind: Library, said: Said) -> Feature | None:
    chosen = rng.choice(["numeric", "integer", "ordinal", "frozen"])
    if chosen == "frozen":
        return None
    price, direction, vanishing = _price(rng, "age", said), _direction(rng, "age", said), _vanishing(rng, kind, "age", said)
    if chosen == "numeric":
        return Number("age", price, direction=direction, vanishing=vanishing)
    _say(said, "kind", "age", chosen)
    if chosen == "ordinal":
        _say(said, "categories", "age", list(AGES))
    else:
        _say(said, "lower", "age", AGES[0])
        _say(said, "upper", "age", AGES[-1])
    return Steps("age", AGES, price, direction, vanishing)


def _shade(rng: np.random.Generator, kind: Library, said: Said) -> Feature | None:
    if rng.random() < 0.3:
        return None
    names = SHADES if kind.native else HOT
    if not kind.native:
        _say(said, "one_hot", "shade", HOT)
    price, table = _price(rng, "shade", said), None
    if rng.random() < 0.5:
        table = {a: {b: float(rng.uniform(0.1, 2.0)) for b in names if b != a and rng.random() < 0.7} for a in names}
        _say(said, "switch", "shade", table)
    if not kind.native:
        return OneHot(HOT, price, table)
    return Switch("shade", SHADES, price, table, _vanishing(rng, kind, "shade", said))
