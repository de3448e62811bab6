"""Code of the user's: models, losses and factories, whose failures become one sentence of ours; which models are modules."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tippingpoint.errors import TippingPointError

STACK = re.compile(r"\s*(Stack trace:|Traceback \(most recent call last\):|\[bt\] \()")
"""Where another's error, of compiled code above all, goes on with the calls that led to it: nothing that a user can mend."""

PLACE = re.compile(r"^\s*(\[\d\d:\d\d:\d\d\]\s*)?(/\S+:\d+:\s*)?")
"""The time, and the line of source, with which compiled code begins."""

MESSAGE_LENGTH = 300
"""Letters of another's error that are passed on."""


def is_module(model: Any) -> bool:
    """Whether a model is a PyTorch module; PyTorch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def is_of(model: Any, library: str, *names: str) -> bool:
    """Whether a model is of one of these classes of a library, which is not imported to find out."""
    kinds = tuple(getattr(sys.modules.get(library), name, None) for name in names)
    return any(kind is not None and isinstance(model, kind) for kind in kinds)


@contextmanager
def guarded(sentence: Callable[[str], TippingPointError]) -> Iterator[None]:
    """Whatever the code inside raises, `sys.exit` too, as the error that `sentence` makes of the reason.

    Only who stops the program from outside is let through.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise sentence(why(error)) from error


def why(error: BaseException) -> str:
    """In words: what another's error says, without a full stop."""
    if isinstance(error, SystemExit):
        return f"it ends the program, by sys.exit({error.code!r})"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # its own code, which may fail like any other
        return f"{type(error).__name__}, whose text cannot be read"
    message = PLACE.sub("", STACK.split(text, maxsplit=1)[0])
    return textwrap.shorten(message, MESSAGE_LENGTH, placeholder=" …").rstrip(".") or type(error).__name__
