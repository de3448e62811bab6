"""Attributes that are computed once, without a lock.

Python 3.11 computes a `functools.cached_property` under a lock that all instances of a class share. If a process is forked
while another thread holds the lock, it waits forever.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing import Self  # which Python 3.10 does not have

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801  # it takes the place of one of that name
    """An attribute that is computed when it is first read. Threads that read it at once may all compute it."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | T:
        if instance is None:
            return self
        name, value = str(self.attrname), self.func(instance)
        held: T = instance.__dict__.setdefault(name, value)
        return held
