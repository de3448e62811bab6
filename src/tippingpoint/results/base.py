"""What all results have in common: they are frozen, and copied, pickled and stored as JSON alike."""

from __future__ import annotations

import copy
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.json_numbers import decode, decode_all, encode, read_json, write_json

if TYPE_CHECKING:
    from typing_extensions import Self


class Result(ABC):
    """A frozen dataclass of numbers and words, and of what it takes to work out more.

    Copies and pickles hold its fields, and nothing that was worked out from them.
    """

    SCHEMA: ClassVar[str]
    """Name and version of the JSON that it is stored as."""

    LIVE: ClassVar[tuple[str, ...]] = ()
    """Fields that need the model and the data: JSON holds none of them, and a copy shares them."""

    def to_dict(self) -> dict[str, Any]:
        """Every number and word of the result, with the schema's name; infinities and NaN as the strings JSON lacks."""
        return {"schema": self.SCHEMA, **encode(self._stored())}

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as text."""
        return write_json(self.to_dict(), indent)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """A result as it was stored: all of its numbers and words, and no data to work out more from."""
        if not isinstance(stored, Mapping) or stored.get("schema") != cls.SCHEMA:
            found = stored.get("schema") if isinstance(stored, Mapping) else type(stored).__name__
            raise InputError(
                f"this is not a stored result of schema {cls.SCHEMA!r} (found {found!r}); write one with to_json()."
            )
        return cls._restored(stored)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`."""
        return cls.from_dict(read_json(text))

    def _stored(self) -> dict[str, Any]:
        """What JSON holds, before numbers are encoded."""
        return {name: value for name, value in self._fields().items() if name not in self.LIVE}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Self:
        """The inverse of `_stored`, of what was read; fields that earlier versions did not have are at their defaults."""
        kinds, values = get_type_hints(cls), {}
        for each in fields(cls):  # type: ignore[arg-type]  # every result is a dataclass
            if each.name in cls.LIVE:
                continue
            if each.name in stored:
                values[each.name] = READERS.get(kinds[each.name], _as_it_is)(stored[each.name])
            elif each.default is MISSING and each.default_factory is MISSING:
                required(stored, each.name)
        return cls(**values)

    def _fields(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]  # as above

    def __getstate__(self) -> dict[str, Any]:
        return self._fields()

    def __copy__(self) -> Self:
        return replace(self)  # type: ignore[type-var]  # as above

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = object.__new__(type(self))
        for name, value in self._fields().items():
            copied = value if name in self.LIVE else copy.deepcopy(value, memo)
            object.__setattr__(made, name, copied)  # frozen for everybody else
        return made


def required(stored: Mapping[str, Any], name: str) -> Any:
    """A part of what was stored that has to be there."""
    if name not in stored:
        raise InputError(f"the stored result lacks {name!r}; write it anew with to_json().")
    return stored[name]


def _as_it_is(stored: Any) -> Any:
    return stored


def _if_known(stored: Any) -> float | None:
    return None if stored is None else decode(stored)


def _words(stored: Any) -> tuple[str, ...]:
    return tuple(stored or ())


def _array(stored: Any) -> FloatArray:
    return np.array(decode_all(stored))


READERS: dict[Any, Callable[[Any], Any]] = {
    float: decode,
    float | None: _if_known,
    tuple[float, ...]: decode_all,
    tuple[str, ...]: _words,
    FloatArray: _array,
}
"""How fields of these types are read; others are as JSON has them."""
