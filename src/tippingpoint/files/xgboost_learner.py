"""An XGBoost model as numbers and names: read from a parsed document with everything checked, and written anew."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage, Unserved
from tippingpoint.files.documents import FloatArray, IntArray, Section, plain
from tippingpoint.files.xgboost_categories import read_names
from tippingpoint.files.xgboost_trees import Trees, read_trees, written_trees

VERSION = [2, 0, 0]
"""The version of the documents that are written, which all that are supported read."""

MAX_FEATURES = 2**20
"""Columns of a model that does not name them; for each, predicting takes memory whether or not a tree asks it."""

ATTRIBUTES = {"best_iteration": re.compile(r"[0-9]{1,9}"), "best_score": re.compile(r"[-+.0-9a-z]{1,40}")}
"""Attributes on which predictions may depend, and how they look."""

NUMBER = re.compile(r"[-+]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,4})?")
"""A number in a text."""

MAX_FLOAT32 = float(np.finfo(np.float32).max)
"""The largest number that XGBoost keeps."""

SETTING = re.compile(rf"{NUMBER.pattern}|\[{NUMBER.pattern}( ?, ?{NUMBER.pattern}){{0,999}}\]")
"""A parameter of an objective: a number, or a list of quantiles; at an empty text XGBoost reads what is before it in memory."""

SECTION = re.compile(r"[a-z_]{1,40}")
"""The name of a parameter, or of a section of them."""

NUMERIC = ("binary:", "multi:", "reg:", "count:")
"""How objectives begin whose parameters are numbers; the others are not served."""

NAME = re.compile(r"[a-z]{1,20}:[a-z_]{1,40}|[a-z]{1,20}")
"""The name of an objective."""

KINDS = ("float", "int", "i", "q", "c")
"""Types of features."""


@dataclass(frozen=True)
class Rounds:
    """Trees, and how they make rounds.

    Attributes
    ----------
    trees
        All of them.
    group
        The class or the target that each tree adds to.
    bounds
        Where each round begins among the trees, and where the last ends.
    parallel
        Trees a round and group: more than one in forests.
    weights
        What the leaves of each tree are multiplied by, where that differs (`dart`).
    names
        The document of the names of categories.
    """

    trees: Trees
    group: IntArray
    bounds: IntArray
    parallel: int
    weights: FloatArray | None
    names: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.bounds) - 1


@dataclass(frozen=True)
class Line:
    """A linear booster: weights feature by feature, group by group, and the biases."""

    weights: FloatArray
    rounds: int


@dataclass(frozen=True)
class Learner:
    """An XGBoost model.

    Attributes
    ----------
    booster
        What it adds up.
    objective
        Its objective.
    settings
        Parameters of that, by their section.
    features
        How many columns it takes.
    names, kinds
        Their names and their types, or none.
    classes, targets
        How many it was trained on; 0 classes where there is one output.
    base
        What every sum begins with, as it is stored: on the scale of predictions; a number, or a list of them, one a group.
    attributes
        Those on which predictions depend.
    """

    booster: Rounds | Line
    objective: str
    settings: Mapping[str, Mapping[str, str]]
    features: int
    names: list[str]
    kinds: list[str]
    classes: int
    targets: int
    base: str
    attributes: Mapping[str, str]


def read_learner(document: Any) -> Learner:
    """The model that a parsed document is."""
    learner = Section(document, "the document").section("learner")
    param = learner.section("learner_model_param")
    features, classes, targets = param.count("num_feature"), param.count("num_class"), param.count("num_target", 1)
    names, kinds = learner.texts("feature_names"), learner.texts("feature_types")
    _check_features(features, names, kinds)
    objective = learner.section("objective")
    base, count = _base(param.member("base_score"))
    groups = max(classes, targets, 1)
    if count not in (1, groups) or (classes > 1 and targets > 1) or targets < 1:
        raise Damage(f"it has {classes} classes, {targets} targets and {count} base scores, which do not go together")
    booster = _booster(learner.section("gradient_booster"), features, groups, count)
    return Learner(
        booster,
        _objective(objective, classes),
        _settings(objective, classes) if objective.text("name").startswith(NUMERIC) else {},
        features,
        names,
        kinds,
        classes,
        targets,
        base,
        _attributes(learner.section("attributes"), booster),
    )


def written_learner(learner: Learner) -> dict[str, Any]:
    """The document that XGBoost stores of a model."""
    return {
        "version": VERSION,
        "learner": {
            "attributes": dict(learner.attributes),
            "feature_names": learner.names,
            "feature_types": learner.kinds,
            "gradient_booster": _written_booster(learner),
            "learner_model_param": {
                "base_score": learner.base,
                "boost_from_average": "1",
                "num_class": str(learner.classes),
                "num_feature": str(learner.features),
                "num_target": str(learner.targets),
            },
            "objective": {"name": learner.objective, **learner.settings},
        },
    }


def _written_booster(learner: Learner) -> dict[str, Any]:
    booster = learner.booster
    if isinstance(booster, Line):
        return {"name": "gblinear", "model": {"weights": booster.weights, "boosted_rounds": booster.rounds}}
    model = {
        "gbtree_model_param": {"num_parallel_tree": str(booster.parallel), "num_trees": str(len(booster.trees))},
        "iteration_indptr": booster.bounds.tolist(),
        "tree_info": booster.group.tolist(),
        "trees": written_trees(booster.trees, learner.features),
        **({"cats": booster.names} if booster.names else {}),
    }
    trees = {"name": "gbtree", "model": model}
    if booster.weights is None:
        return trees
    return {"name": "dart", "gbtree": trees, "weight_drop": booster.weights.tolist()}


def _check_features(features: int, names: list[str], kinds: list[str]) -> None:
    for called, found in (("names", names), ("types", kinds)):
        if found and len(found) != features:
            raise Damage(f"it has {len(found)} {called} of features, where it claims {features} features")
    if len(set(names)) < len(names):
        raise Damage("two of its features have one name")
    if not set(kinds) <= set(KINDS):
        raise Damage("it has a feature of a type that is not known")
    if not features:
        raise Damage("it claims to have no features")
    if not names and features > MAX_FEATURES:
        raise Unserved(f"of {features} features without names, where {MAX_FEATURES} are the most that are served")


def _base(stored: Any) -> tuple[str, int]:
    """The base score as text, and how many it holds."""
    text = json.dumps(stored) if isinstance(stored, list | float | int) else plain(stored, "'base_score'")
    listed = text.startswith("[")
    tokens = [token.strip() for token in (text.strip("[]") if listed else text).split(",")]
    numbers = all(NUMBER.fullmatch(token) and abs(float(token)) <= MAX_FLOAT32 for token in tokens)
    if not numbers or (len(tokens) > 1 and not listed):
        raise Damage(f"its 'base_score' is {text[:40]!r}, which is no number")
    return (f"[{','.join(tokens)}]" if listed else text), len(tokens)


def _objective(section: Section, classes: int) -> str:
    name = section.text("name")
    if not NAME.fullmatch(name):
        raise Damage(f"its objective is called {name[:40]!r}")
    if (name.startswith("multi:") and classes < 1) or (name.startswith("binary:") and classes > 1):
        raise Damage(f"it has the objective {name!r} for {classes} classes")
    return name


def _settings(section: Section, classes: int) -> dict[str, dict[str, str]]:
    """The parameters of an objective."""
    found: dict[str, dict[str, str]] = {}
    for part in section.names:
        if part == "name":
            continue
        inner = section.section(part)
        found[part] = {name: inner.text(name) for name in inner.names}
        named = all(SECTION.fullmatch(name) for name in (part, *inner.names))
        if not named or not all(SETTING.fullmatch(value) for value in found[part].values()):
            raise Damage(f"{part[:40]!r} of its objective holds a parameter that is no number")
    softmax = found.get("softmax_multiclass_param", {})
    if "num_class" in softmax and softmax["num_class"] != str(classes):
        raise Damage(f"its objective is for {softmax['num_class'][:20]!r} classes, where it has {classes}")
    return found


def _attributes(section: Section, booster: Rounds | Line) -> dict[str, str]:
    kept = {name: section.text(name) for name in section.names if name in ATTRIBUTES}
    for name, value in kept.items():
        if not ATTRIBUTES[name].fullmatch(value):
            raise Damage(f"its attribute {name!r} is {value[:40]!r}, which is no number")
    if isinstance(booster, Rounds) and int(kept.get("best_iteration", "0")) >= max(len(booster), 1):
        raise Damage(f"its best round is number {kept['best_iteration']} of {len(booster)}, counted from 0")
    return kept


def _booster(section: Section, features: int, groups: int, bases: int) -> Rounds | Line:
    name = section.text("name")
    if name == "gblinear":
        model = section.section("model")
        weights = model.numbers("weights")
        if len(weights) != (features + 1) * groups or not np.isfinite(weights).all():
            raise Damage(
                f"it has {len(weights)} weights or some that are not finite, for {features} features and {groups} outputs"
            )
        rounds = model.member("boosted_rounds") if "boosted_rounds" in model else 0
        if type(rounds) is not int or not 0 <= rounds < 2**31:
            raise Damage("its number of rounds is no count")
        return Line(weights, rounds)
    if name not in ("gbtree", "dart"):
        raise Damage(f"its booster is called {name[:40]!r}")
    holder = section.section("gbtree") if name == "dart" else section
    return _rounds(holder.section("model"), section if name == "dart" else None, features, groups, bases)


def _rounds(model: Section, dart: Section | None, features: int, groups: int, bases: int) -> Rounds:
    model.only(("cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees", "weight_drop"))
    param, documents = model.section("gbtree_model_param"), model.items("trees")
    count, group = len(documents), model.integers("tree_info")
    if param.count("num_trees") != count or len(group) != count:
        raise Damage(f"it holds {count} trees, but claims {param.count('num_trees')} and tells the class of {len(group)}")
    if groups > max(count, bases, 1):
        raise Damage(f"it claims {groups} outputs, but holds {count} trees")
    if ((group < 0) | (group >= groups)).any():
        raise Damage(f"it has a tree for an output outside its {groups}")
    parallel = param.count("num_parallel_tree", 1) if count else 1
    if not 1 <= parallel <= max(1, count // groups):
        raise Damage(f"it claims {parallel} trees a round and output, but holds {count}")
    layer = parallel * (int(group.max(initial=0)) + 1)
    bounds = model.integers("iteration_indptr", range(0, count + 1, layer))
    if not len(bounds) or bounds[0] != 0 or bounds[-1] != count or (np.diff(bounds) <= 0).any():
        raise Damage(f"its rounds do not divide its {count} trees")
    ids = [Section(each, f"tree {at}").member("id") for at, each in enumerate(documents)]
    if ids != list(range(count)):
        documents = _in_order(documents, ids)
    holder = dart if dart is not None else model
    weights = holder.numbers("weight_drop") if "weight_drop" in holder else None
    if weights is None and dart is not None:
        raise Damage("it has no weights of its trees, though it is a dart booster")
    if weights is not None and (len(weights) != count or not np.isfinite(weights).all()):
        raise Damage(f"it has {len(weights)} weights of trees or some that are not finite, for {count} trees")
    names = read_names(model.section("cats"), features) if "cats" in model else {}
    return Rounds(read_trees(documents, features), group, bounds, parallel, weights, names)


def _in_order(documents: list[Any], ids: list[Any]) -> list[Any]:
    """Trees by their numbers, which is where XGBoost puts them."""
    if not all(type(each) is int for each in ids) or sorted(ids) != list(range(len(ids))):
        raise Damage(f"its {len(ids)} trees are not numbered from 0 on, each once")
    return [document for _, document in sorted(zip(ids, documents, strict=True), key=lambda pair: int(pair[0]))]
