"""A LightGBM model as numbers and names: read from its text with everything checked, and written anew."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tippingpoint.files.damage import Damage
from tippingpoint.files.lightgbm_trees import Trees, read_trees, written_trees

COUNTS = ("num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "tree_sizes")
"""What the header counts."""

HEADER = ("version", *COUNTS, "objective", "average_output", "feature_names", "monotone_constraints", "feature_infos")
"""All that any version says before the first tree."""

ENDS = ("end of trees", "end of parameters")
"""Lines after the last tree and the last parameter; a file without them was cut off."""

COUNT = re.compile(r"[0-9]{1,10}")
"""A number of things."""

OBJECTIVE = re.compile(r"[a-z_]{1,40}[0-9]?( [a-z_]{1,40}(:-?[0-9]{1,30}(\.[0-9]{1,30})?(e[-+]?[0-9]{1,3})?)?){0,20}")
"""An objective and its parameters."""

CATEGORY_CODES = re.compile(r"-?[0-9]{1,10}(:-?[0-9]{1,10})*")
"""What describes a column of categories: their codes. Numbers have a range, `[0:1]`; what no tree can use is "none"."""

RANGE, UNUSED_COLUMN = "[0:0]", "none"
"""What is written of columns of numbers, whose ranges nobody needs, and of those that are described in no known way."""

CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
"""Letters that are in no name."""

CATEGORIES = "pandas_categorical:"
"""What stands before the categories of pandas' columns, on the last line."""


@dataclass(frozen=True)
class Ensemble:
    """A LightGBM model.

    Attributes
    ----------
    trees
        What it adds up; tree i is of class i modulo `groups`.
    objective
        Its objective with parameters, as in the text; empty where it was trained on one of the user's.
    groups
        How many numbers it predicts a row.
    names, infos
        Its features, and what each holds: codes of categories, numbers, or nothing of use.
    average
        Whether it takes the mean over trees (a forest) and not their sum.
    categories
        Categories of pandas' columns, by column, in the order of their codes.
    """

    trees: Trees
    objective: str
    groups: int
    names: list[str]
    infos: list[str]
    average: bool
    categories: list[list[Any]] | None


def read_ensemble(data: bytes) -> Ensemble:
    """The model that a text is."""
    try:
        lines = data.decode("utf-8").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise Damage(f"byte {error.start} is not UTF-8") from None
    for line in ENDS:
        if line not in lines:
            raise Damage(f"it is without its line {line!r}")
    end = lines.index(ENDS[0])
    blocks = [at for at, line in enumerate(lines[:end]) if line.startswith("Tree=")]
    header = _header(lines[: blocks[0] if blocks else end])
    names, groups, objective = _names(header), _count(header, "num_class"), header.get("objective", "")
    if _count(header, "num_tree_per_iteration", groups) != groups or not 1 <= groups <= max(len(blocks), 1):
        raise Damage(f"it claims {groups} classes, but holds {len(blocks)} trees, with another number of them a round")
    if len(blocks) % groups:
        raise Damage(f"its {len(blocks)} trees do not make whole rounds of {groups} classes")
    _check_objective(objective, groups)
    bounds = [*blocks, end]
    trees = read_trees([lines[bounds[at] : bounds[at + 1]] for at in range(len(blocks))], len(names))
    average, categories = "average_output" in header, _categories(lines[end:], len(names))
    return Ensemble(trees, objective, groups, names, _infos(header), average, categories)


def written_ensemble(ensemble: Ensemble) -> str:
    """The text that LightGBM stores of a model, without what predictions do not need."""
    trees = written_trees(ensemble.trees)
    header = {
        "version": "v4",
        "num_class": ensemble.groups,
        "num_tree_per_iteration": ensemble.groups,
        "label_index": 0,
        "max_feature_idx": len(ensemble.names) - 1,
        **({"objective": ensemble.objective} if ensemble.objective else {}),
        "feature_names": " ".join(ensemble.names),
        "feature_infos": " ".join(ensemble.infos),
        "tree_sizes": " ".join(str(len(each)) for each in trees),
    }
    lines = ["tree", *(f"{name}={value}" for name, value in header.items()), *(["average_output"] if ensemble.average else [])]
    linear = f"parameters:\n[linear_tree: {int(ensemble.trees.linear is not None)}]\n\n{ENDS[1]}\n"
    categories = f"\n{CATEGORIES}{json.dumps(ensemble.categories)}\n"
    return "\n".join(lines) + "\n\n" + "".join(trees) + f"{ENDS[0]}\n\n" + linear + categories


def _header(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in filter(None, lines[1:]):
        name, _, value = line.partition("=")
        if name not in HEADER or name in found:
            raise Damage(f"its header has a line {line[:40]!r}, which is not known or occurs twice")
        found[name] = value
    return found


def _count(header: Mapping[str, str], name: str, otherwise: int | None = None) -> int:
    if name not in header and otherwise is not None:
        return otherwise
    if not COUNT.fullmatch(header.get(name, "")):
        raise Damage(f"its {name!r} is {header.get(name, 'missing')[:40]!r}, which is no count")
    return int(header[name])


def _names(header: Mapping[str, str]) -> list[str]:
    count = _count(header, "max_feature_idx") + 1
    names = header.get("feature_names", "").split(" ")
    if len(names) != count or len(header.get("feature_infos", "").split(" ")) != count:
        raise Damage(f"it names or describes another number of features than the {count} that it claims")
    if len(set(names)) < count or "" in names or any(CONTROLS.search(name) for name in names):
        raise Damage("two of its features have one name, or a name has letters that no name has")
    return names


def _infos(header: Mapping[str, str]) -> list[str]:
    """What every column holds, of which nothing but the codes of categories is kept."""
    given = header["feature_infos"].split(" ")
    return [info if CATEGORY_CODES.fullmatch(info) else RANGE if info.startswith("[") else UNUSED_COLUMN for info in given]


def _check_objective(objective: str, groups: int) -> None:
    """LightGBM believes the objective, and not the header, when it makes probabilities of that many numbers."""
    if objective and not OBJECTIVE.fullmatch(objective):
        raise Damage(f"its objective is {objective[:40]!r}")
    name, *parameters = objective.split(" ")
    claims = [each.partition(":")[2] for each in parameters if each.startswith("num_class")]
    several = name.startswith("multiclass")
    if objective and (several != (groups > 1) or claims != ([str(groups)] if several else [])):
        raise Damage(f"it has {groups} classes, but the objective {objective[:40]!r}")


def _categories(lines: list[str], features: int) -> list[list[Any]] | None:
    line = next((each for each in reversed(lines) if each), "")
    if not line.startswith(CATEGORIES):
        return None
    try:
        found = json.loads(line.removeprefix(CATEGORIES))
    except (ValueError, RecursionError):
        raise Damage("the categories of its columns on its last line are no JSON") from None
    if found is None:
        return None
    if not isinstance(found, list) or len(found) > features or not all(isinstance(each, list) for each in found):
        raise Damage(f"its last line does not list the categories of at most {features} columns")
    for each in found:
        if not set(map(type, each)) <= {str, int, float, bool, type(None)} or len(set(each)) < len(each):
            raise Damage("a column has a category twice, or one that is neither a text nor a number")
    return found
