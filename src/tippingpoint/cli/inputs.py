"""What a command is about: models, evaluation data, and how they are to be judged, as the options say."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tippingpoint.api.settings import OF_ALL, QUESTION
from tippingpoint.cli.dialects import dialect
from tippingpoint.cli.options import LOADING, search_options
from tippingpoint.cli.parsing import as_values
from tippingpoint.cli.partitions import PartedData, in_parts, refuse_parts
from tippingpoint.cli.spaces import read_space
from tippingpoint.cli.tables import read_table, with_text
from tippingpoint.data.labels import check_labels
from tippingpoint.errors import InputError, listed
from tippingpoint.files import linear, read_model, recognised, skops, takes_of
from tippingpoint.files.base import Content, Loading, Stored
from tippingpoint.preprocessing.categories import NativeCategories, as_trained, as_written
from tippingpoint.preprocessing.encoders import encoded_columns, known_categories


@dataclass(frozen=True)
class Inputs:
    """Models on data.

    Attributes
    ----------
    models, paths
        By name, the first is the reference; and where each comes from.
    x, y
        The features that the models take, and the target.
    settings
        Loss, weights, space, scale and options of the search: keyword arguments of the front door.
    stored, columns
        The models as they were stored, and the columns of the data that they take.
    """

    models: Mapping[str, Any]
    paths: Mapping[str, str]
    x: Any
    y: Any
    settings: Mapping[str, Any]
    stored: Mapping[str, Stored]
    columns: tuple[str, ...]

    @property
    def model(self) -> Any:
        """The only one, or the reference."""
        return next(iter(self.models.values()))

    @property
    def path(self) -> str:
        """Where that comes from."""
        return next(iter(self.paths.values()))

    def window(self, options: argparse.Namespace, path: str) -> tuple[Any, Any, Any, Any]:
        """Another file of the same columns: features, target (None where it has no such column), weights, and the whole."""
        data = read_table(path, dialect(options))
        for column in (*self.columns, *([] if options.weight is None else [options.weight])):
            if column not in data.columns:
                raise InputError(f"{path} has no column {column!r}; its columns are [{listed(data.columns)}].")
        y = data[options.target] if options.target in data.columns else None
        if y is not None:
            _check_target(y)
        weight = None if options.weight is None else data[options.weight]
        return _as_trained(data[list(self.columns)], self.stored, path, options), y, weight, data


def question_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The prices and the divergence: keyword arguments of a profile's questions."""
    return {name: getattr(options, name) for name in QUESTION}


def read_inputs(options: argparse.Namespace, *, several: bool = False, parts: bool = False) -> Inputs:
    """The models and the data that the options name; `parts`, whether these may be read in parts."""
    source = "--linear" if getattr(options, "linear", None) else "--model"
    for needed in ("data", "target"):
        if getattr(options, needed) is None:
            raise InputError(f"{source} needs --{needed}; see tippingpoint --help.")
    paths = _paths(options, several=several)
    if not parts:
        refuse_parts(options)
    parted = PartedData(options) if parts and in_parts(options) else None
    data: Any = read_table(options.data, dialect(options)) if parted is None else parted
    for column in (options.target, options.weight):
        if column is not None:
            _check_column(options, data, column)
    if parted is None:
        _check_target(data[options.target])
    stored = _stored(options, paths, data)
    used = _columns(options, stored, data)
    if parted is None:
        x, y = _as_trained(data[used], stored, options.data, options), data[options.target]
        weight = data[options.weight] if options.weight is not None else None
    else:
        x, y, weight = parted.partitions(options, used, _known(stored, used)), None, None
    search = {name: getattr(options, name) for name in (*search_options(), *OF_ALL) if getattr(options, name) is not None}
    for each in stored.values():
        search.update(each.search)
    settings = {
        "loss": options.loss,
        "sample_weight": weight,
        "space": read_space(options.space, options.frozen, x if parted is None else parted, _encoded(stored, used)),
        "scale": options.scale,
        **search,
    }
    if parted is not None and options.memory is not None:
        settings["memory"] = options.memory
    return Inputs({name: each.model for name, each in stored.items()}, paths, x, y, settings, stored, tuple(used))


def _paths(options: argparse.Namespace, *, several: bool) -> dict[str, str]:
    """The files of the models, by name."""
    if getattr(options, "linear", None):
        return {"model": options.linear}
    given: list[str] = options.model
    if not several:
        if len(given) > 1:
            raise InputError(f"--model is given {len(given)} times; one is evaluated at a time, compare takes several.")
        return {"model": given[0]}
    return named(given, "--model")


def named(given: list[str], option: str) -> dict[str, str]:
    """`name=path` as a mapping; a path alone is named by its stem."""
    paths: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals:
            name, path = Path(text).stem, text
        if name in paths or not name or not path:
            raise InputError(
                f"{option} {text}: each needs a name of its own, as {option} loose=a.skops {option} strict=b.skops."
            )
        paths[name] = path
    return paths


def _trusted(types: Sequence[str], paths: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Which of the types that the user trusts each skops file needs; of several, one that needs a type is enough."""
    if len(paths) < 2:
        return {}
    needed = {name: skops.untrusted(Content(path)) for name, path in paths.items()}
    for type_ in types:
        if not any(type_ in each for each in needed.values()):
            raise InputError(f"--trust names {type_!r}, which none of the models needs; leave it out.")
    return {name: tuple(type_ for type_ in types if type_ in each) for name, each in needed.items()}


def _stored(options: argparse.Namespace, paths: Mapping[str, str], data: Any) -> dict[str, Stored]:
    """The models, each loaded with what of the options has an effect on it; what has none on any is an error."""
    states = _states(options, paths)
    given = Loading(
        None if options.classes is None else tuple(as_values(options.classes, data[options.target])),
        next(iter(states.values()), None),
        options.trust or False,
    )
    if getattr(options, "linear", None):
        for name in given.given:
            if name != "classes":
                raise InputError(f"--{name.replace('_', '-')} has no meaning with --linear; leave it out.")
        return {"model": linear.load(Content(options.linear), given)}
    takes = {name: takes_of(path) for name, path in paths.items()}
    for option in given.given:
        if not any(option in each for each in takes.values()):
            what = paths["model"] if list(paths) == ["model"] else "any of the models"
            raise InputError(f"--{option.replace('_', '-')} has no effect on {what}; leave it out.")
    typed = {name: path for name, path in paths.items() if "trust" in takes[name] and recognised(Content(path)) is skops.FORMAT}
    trusted = {} if isinstance(given.trust, bool) else _trusted(given.trust, typed)
    stored = {}
    for name, path in paths.items():
        own = {option: getattr(given, option) for option in LOADING if option in takes[name] and option != "state"}
        if name in trusted:
            own["trust"] = trusted[name]
        stored[name] = read_model(path, Loading(state=states.get(name), **own))
        if "classes" in takes[name]:
            _check_labels(path, stored[name].model, data, options.target)
    return stored


def _states(options: argparse.Namespace, paths: Mapping[str, str]) -> dict[str, str]:
    """The file with the weights of each model that a factory builds."""
    if not options.state:
        return {}
    if list(paths) == ["model"]:
        if len(options.state) > 1:
            raise InputError(f"--state is given {len(options.state)} times; one file has the weights of the model.")
        return {"model": options.state[0]}
    states = named(options.state, "--state")
    for name in states:
        if name not in paths:
            raise InputError(f"--state {name}={states[name]} is of no model; they are {listed(paths)}.")
    return states


def _check_labels(path: str, model: Any, data: Any, column: str) -> None:
    """Where a file numbers its classes, the data must do so too, or the user says which is which."""
    stored = getattr(model, "classes_", None)
    if stored is None:
        return
    classes = np.asarray(stored).tolist()
    found = sorted(data[column].dropna().unique().tolist(), key=str)
    if not set(found) <= set(classes):
        example = ",".join(map(str, found)) if len(found) == len(classes) else "no,yes"
        raise InputError(
            f"the classes of {path} are {listed(classes)}, but {column} holds {listed(found)}; say which is which, in the order"
            f" of the model's, as --classes {example}."
        )


def _columns(options: argparse.Namespace, stored: Mapping[str, Stored], data: Any) -> list[str]:
    """The columns that the models take: those that they name, or all but the target and the weight."""
    named = {
        name: as_written(each.features, data.columns) if each.spaces_lost else each.features
        for name, each in stored.items()
        if each.features is not None
    }
    features = next(iter(named.values()), None)
    for name, each in named.items():
        if each != features:
            raise InputError(
                f"the model {name!r} takes other columns than {next(iter(named))!r}; compare models of the same ones."
            )
    for column in features or ():
        _check_column(options, data, column)
    roles = {"--target": options.target, "--weight": options.weight}
    for option, column in roles.items():
        if column is not None and (column in (features or ()) or list(roles.values()).count(column) > 1):
            raise InputError(f"{option} {column} is used twice; the target, the weight and the features are different columns.")
    return list(features) if features else [c for c in data.columns if c not in roles.values()]


def _as_trained(x: Any, stored: Mapping[str, Stored], path: str, options: argparse.Namespace) -> Any:
    """The features, with categories of the type and values that the models were trained on; a file holds text or numbers."""
    known = _known(stored, list(x.columns)).values()
    text = {name: each.by_column.get(name, ()) for each in known for name in each.text}
    x = with_text(x, path, dialect(options), text)
    for each in known:
        x = as_trained(x, each)
    return x


def _encoded(stored: Mapping[str, Stored], columns: list[str]) -> set[str]:
    """The columns that some model reads as categories."""
    return {name for each in stored.values() for name in encoded_columns(each.model, columns)}


def _known(stored: Mapping[str, Stored], columns: list[str]) -> dict[str, NativeCategories]:
    """The categories that each model knows; of several, the same."""
    known = {name: known_categories(each.model, columns) for name, each in stored.items()}
    first = next(iter(known))
    for name, each in known.items():
        for column in sorted(each.by_column.keys() & known[first].by_column.keys()):
            typed = column in each.typed & known[first].typed
            differs = each.by_column[column] != known[first].by_column[column]
            if (typed and differs) or (column in each.text) != (column in known[first].text):
                raise InputError(
                    f"the model {name!r} knows other categories of {column!r} than {first!r}; compare models that were trained"
                    " on the same ones."
                )
    return known


def _check_target(labels: Any) -> None:
    """Refuse labels that are lists or structures, before anybody counts them."""
    if labels.dtype == object:
        check_labels(labels, "y")


def _check_column(options: argparse.Namespace, data: Any, column: str) -> None:
    if column not in data.columns:
        path = data.files[0] if isinstance(data, PartedData) else options.data
        raise InputError(f"{path} has no column {column!r}; its columns are [{listed(data.columns)}].")
