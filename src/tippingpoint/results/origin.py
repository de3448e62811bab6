"""Where a result comes from: the model, the data, the call and the seed, with a fingerprint of whatever can honestly have one.

A fingerprint is a SHA-256 over contents: equal contents have the same, and no two others that anybody knows of do.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tippingpoint.core.arrays import blocks
from tippingpoint.data.seals import UNSHARED, Seal, kept
from tippingpoint.foreign import is_module

MAX_BYTES = 2**30
"""Bytes of a model beyond which its fingerprint would take longer than most evaluations."""

MAX_DEPTH = 200
"""Objects within objects that are followed; more of them is a model that refers to itself."""

BLOCK = 2**20
"""Bytes of a file that are read at once."""

ROWS = 2**16
"""Rows of a column that are hashed at once."""

VERSION_KEY = "_sklearn_version"
"""What scikit-learn adds to the state of an estimator; versions are named apart from the model."""


class DataFingerprint:
    """The SHA-256 over columns, worked out when it is first called for; pickled, it is the digest and not the data.

    Parameters
    ----------
    columns
        Returns names and values of what was read.
    seals
        Of what the user holds too: refused where it has changed.
    """

    def __init__(self, columns: Callable[[], Mapping[str, Any]], seals: Sequence[Seal] = ()) -> None:
        self._columns = columns
        self._seals = seals
        self._digest: str | None = None

    def __call__(self) -> str:
        if self._digest is None:
            for seal in self._seals:
                seal.check()
            self._digest = data_fingerprint(self._columns())
            self._columns, self._seals = dict, ()  # the data are not needed any more
        return self._digest

    def __reduce__(self) -> tuple[Callable[[str], DataFingerprint], tuple[str]]:
        return known_fingerprint, (self(),)


def known_fingerprint(digest: str) -> DataFingerprint:
    """A fingerprint that was worked out before."""
    made = DataFingerprint(dict)
    made._digest = digest  # noqa: SLF001  # its own
    return made


@dataclass(frozen=True)
class Origin:
    """What a result was made from.

    Attributes
    ----------
    model
        What the model is: the name of its class or function, of every step for a pipeline.
    package
        The package that its class comes from; empty where there is no model.
    model_fingerprint
        SHA-256 over its class and the values it holds (its code is not in it); None where it holds what cannot be listed.
    data_fingerprint
        Works out the SHA-256 over names, values, target and weights of what was read.
    call
        The call that made the profile, as Python; what has no short form is “…”.
    seed
        Of the search; None where nothing is drawn at random.
    space
        What may move, as Python; empty where nothing was said of it.
    """

    model: str
    package: str
    model_fingerprint: str | None
    data_fingerprint: DataFingerprint
    call: str
    seed: int | None = None
    space: str = ""


def origin_of(
    model: Any,
    columns: Mapping[str, Any],
    target: Any,
    weights: Any,
    given: Mapping[str, Any],
    seed: int | None = None,
    seal: Seal = UNSHARED,
) -> Origin:
    """The origin of a profile of a model on data.

    Parameters
    ----------
    model
        As the user gave it.
    columns, weights
        What was read: values of every feature by name, and the weight of every row.
    target
        Labels or targets, as the user gave them: few are copied, as the user may change them later, many are sealed.
    given
        Further arguments of `profile`.
    seed
        Of the search; None where nothing is drawn at random.
    seal
        Of the columns, where they are the user's own.
    """
    beside, seals = {"\x00weights": weights}, [seal]
    if target is not None:
        given_as = np.asarray(target.detach().cpu().numpy() if hasattr(target, "detach") else target)
        held, sealed = kept(given_as, "y")
        beside, seals = {"\x00target": held, **beside}, [seal, sealed]
    fingerprint = DataFingerprint(lambda: {**columns, **beside}, seals)
    call = call_of("profile", "model", "X", "y", **given)
    space = given.get("space")
    said = "" if space is None else written(space)
    return Origin(model_name(model), model_package(model), model_fingerprint(model), fingerprint, call, seed, said)


def model_name(model: Any) -> str:
    """What a model is: the name of its class or function, of every step for a pipeline."""
    if isinstance(model, (tuple, list)):
        return "coefficients and intercept"
    if model is None:
        return "no model: a loss of the features"
    if inspect.isroutine(model):
        return f"function {model.__name__}"
    steps = [type(step).__name__ for _, step in getattr(model, "steps", None) or ()]
    return f"{type(model).__name__}({', '.join(steps)})" if steps else type(model).__name__


def model_package(model: Any) -> str:
    """The package that a model's class comes from; of a pipeline, that of its last step."""
    steps = getattr(model, "steps", None)
    last = steps[-1][1] if steps else model
    return str(type(last).__module__ or "").partition(".")[0]


def model_fingerprint(model: Any) -> str | None:
    """SHA-256 over the class of a model and the values it holds; None for functions, and where something cannot be listed."""
    if model is None or inspect.isroutine(model):
        return None
    contents = _Contents()
    try:
        contents.add(model, 0)
    except Exception:  # noqa: BLE001  # whatever a class of the user's does when it is asked for its state
        return None
    return contents.hexdigest()


def file_fingerprint(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the bytes of a file, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def data_fingerprint(columns: Mapping[str, Any]) -> str:
    """SHA-256 over the names and values of columns, in their order; -0 is 0, and one missing value is like another."""
    digest = hashlib.sha256()
    for name, values in columns.items():
        held = np.asarray(values)
        digest.update(f"{name}\x00{len(held)}\x00".encode("utf-8", "surrogatepass"))
        if held.dtype.kind in "biuf":
            for rows in blocks(len(held), ROWS):
                numbers = held[rows].astype("<f8") + 0.0
                digest.update(np.where(np.isnan(numbers), np.nan, numbers).tobytes())
        else:
            digest.update(_joined(held.tolist()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _joined(values: list[Any]) -> str:
    try:
        return "\x00".join(values)
    except TypeError:  # not all of them are text
        return "\x00".join(map(str, values))


def call_of(function: str, *given: str, **settings: Any) -> str:
    """A call as Python; settings that are None are left out, and those without a short form are named by their kind."""
    arguments = [f"{name}={_short(value)}" for name, value in settings.items() if value is not None]
    return f"tippingpoint.{function}({', '.join([*given, *arguments])})"


def written(space: Any) -> str:
    """A space, or any other dataclass, as Python: its class and every field that is not at its default."""
    said = [f"{each.name}={_plain(getattr(space, each.name))}" for each in fields(space) if not _is_default(space, each)]
    return f"{type(space).__name__}({', '.join(said)})"


def _is_default(owner: Any, each: Field[Any]) -> bool:
    value = getattr(owner, each.name)
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return bool(type(value) is type(default) and value == default)


def _plain(value: Any) -> str:
    """A value as Python, with every number and array as Python's own."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_plain(key)}: {_plain(each)}' for key, each in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_plain, value))}]"
    return repr(value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value)


def _short(value: Any) -> str:
    if isinstance(value, (str, int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_short(each)}' for key, each in value.items())}}}"
    named = getattr(value, "__name__", None)
    return str(named) if inspect.isroutine(value) and named else f"{type(value).__name__}(…)"


class _Contents:
    """The digest of an object: its class and all it holds, in an order that depends on nothing else."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._bytes = 0

    def hexdigest(self) -> str:
        return self._digest.hexdigest()

    def add(self, value: Any, depth: int) -> None:
        """One more object; `TypeError` where it cannot be listed."""
        if depth > MAX_DEPTH:
            raise TypeError("it refers to itself")
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            self._put(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))
        elif isinstance(value, (bytes, bytearray)):
            self._put("bytes", bytes(value))
        elif isinstance(value, (np.ndarray, np.generic)):
            self._add_array(np.asarray(value), depth)
        elif isinstance(value, (list, tuple, Mapping, set, frozenset)):
            self._add_members(value, depth)
        elif inspect.isroutine(value) or isinstance(value, (type, np.ufunc)):
            self._add_name(value)
        elif is_module(value):
            self._add_module(value, depth)
        else:
            self._add_object(value, depth)

    def _apart(self, value: Any, depth: int) -> bytes:
        """The digest of a part whose place among others says nothing."""
        part = _Contents()
        part._bytes = self._bytes
        part.add(value, depth + 1)
        self._bytes = part._bytes
        return part._digest.digest()

    def _add_members(self, value: Any, depth: int) -> None:
        """A list in its order; what has none in one that depends on its members only."""
        if isinstance(value, (list, tuple)):
            self._put(type(value).__name__, str(len(value)).encode())
            for each in value:
                self.add(each, depth + 1)
            return
        members = value.items() if isinstance(value, Mapping) else value
        self._put(type(value).__name__, b"".join(sorted(self._apart(each, depth) for each in members)))

    def _add_array(self, values: np.ndarray[Any, Any], depth: int) -> None:
        self._put("array", f"{values.dtype.str}{values.shape}".encode())
        if values.dtype.names:  # field by field: what lies between fields is nobody's
            for name in values.dtype.names:
                self._add_array(values[name], depth + 1)
        elif values.dtype.hasobject:
            self.add(values.tolist(), depth + 1)
        else:
            self._put("values", np.ascontiguousarray(values).tobytes())

    def _add_name(self, value: Any) -> None:
        name = f"numpy.{value.__name__}" if isinstance(value, np.ufunc) else f"{value.__module__}.{value.__qualname__}"
        if "<" in name:  # a lambda or a local function: its name does not say what it does
            raise TypeError(f"{name} has no name of its own")
        self._put("name", name.encode())

    def _add_module(self, module: Any, depth: int) -> None:
        """A PyTorch module: its layers in words, and every weight."""
        torch = sys.modules["torch"]  # whoever made a module has imported it
        self._put("module", repr(module).encode())
        for name, tensor in module.state_dict().items():
            held = tensor.detach().cpu().contiguous()
            self._put(name, f"{held.dtype}{tuple(held.shape)}".encode())
            self.add(held.flatten().view(torch.uint8).numpy(), depth + 1)

    def _add_object(self, value: Any, depth: int) -> None:
        """Any other object, by what a pickle of it would hold."""
        reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            self._put("name", reduced.encode())
            return
        made, arguments, state, members, pairs = (*reduced, None, None, None)[:5]
        if isinstance(state, Mapping):
            state = {name: each for name, each in state.items() if name != VERSION_KEY}
        self.add(type(value), depth + 1)
        for part in (
            made,
            arguments,
            state,
            None if members is None else list(members),
            None if pairs is None else dict(pairs),
        ):
            self.add(part, depth + 1)

    def _put(self, kind: str, content: bytes) -> None:
        self._bytes += len(content)
        if self._bytes > MAX_BYTES:
            raise TypeError(f"it holds more than {MAX_BYTES} bytes")
        self._digest.update(f"{kind}\x00{len(content)}\x00".encode())
        self._digest.update(content)
