"""Code of the user's: models, losses and factories, whose failures become one sentence of ours."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tippingpoint.errors import TippingPointError

TOLD = 300
"""Letters of another's error that are passed on."""


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
    return textwrap.shorten(str(error), TOLD, placeholder=" …").rstrip(".") or type(error).__name__
