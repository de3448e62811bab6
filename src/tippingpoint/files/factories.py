"""Models that code builds, `module:factory`, with the weights of a state dict that is loaded as weights only."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, TippingPointError
from tippingpoint.files.archives import packed, unpacked
from tippingpoint.files.base import Content, Loading, Stored, check_version, library, short_reason
from tippingpoint.files.skops import named_columns
from tippingpoint.foreign import guarded, why

FACTORY_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
"""What names a factory."""

TAKES = ("classes", "state")
"""What of `Loading` has an effect on a factory."""


def names_factory(text: str) -> bool:
    """Whether this is `module:factory`, and no file."""
    return bool(FACTORY_NAME.fullmatch(text)) and not Path(text).exists()


def build(name: str, loading: Loading) -> Stored:
    """What the factory returns, with the weights in `state` where there are any."""
    module, _, attribute = name.partition(":")
    try:
        with modules_here():
            factory = reduce(getattr, attribute.split("."), importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise InputError(f"{name}: there is no module {error.name!r}; install it, or run where it is.") from error
    except AttributeError as error:
        raise InputError(f"{name}: {short_reason(error)}; name a function of the module that returns the model.") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a sys.exit of the module's too
        raise InputError(f"{name}: importing {module} fails ({_reason(error)}); it must import without arguments.") from error
    if not callable(factory):
        raise InputError(f"{name} is a {type(factory).__name__}; name a function without arguments that returns the model.")
    try:
        model = factory()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{name}() fails ({_reason(error)}); it must return the model, without arguments.") from error
    if loading.state is not None:
        _restore(name, model, loading.state)
    if loading.classes is not None and hasattr(model, "classes_"):
        raise InputError(f"{name} returns a {type(model).__name__}, which names its classes itself; leave classes out.")
    return Stored(model, named_columns(model), {} if loading.classes is None else {"classes": list(loading.classes)})


def _restore(name: str, model: Any, state: str) -> None:
    torch = library("torch", "torch", state)
    if not isinstance(model, torch.nn.Module):
        raise InputError(
            f"state={state!r} goes into a PyTorch module, but {name} returns a {type(model).__name__}; leave it out."
        )
    content = Content(state)
    if not content.holds("data.pkl"):
        raise InputError(
            f"{state} is {content.looks}, not the weights of a module; torch.save(module.state_dict(), ...) writes them."
        )
    check_version(torch, MIN_VERSION, state)
    try:
        weights = torch.load(packed(unpacked(content)), map_location="cpu", weights_only=True)
    except (KeyboardInterrupt, TippingPointError):
        raise
    except BaseException as error:
        raise InputError(
            f"{state} holds more than weights, which is not loaded; torch.save(module.state_dict(), ...) writes what is."
        ) from error
    if not isinstance(weights, Mapping):
        raise InputError(f"{state} holds a {type(weights).__name__}; torch.save(module.state_dict(), ...) writes a state dict.")
    try:
        model.load_state_dict(weights)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(
            f"{state} does not fit what {name} returns ({why(error)}); give the weights of that module."
        ) from error
    with guarded(lambda reason: InputError(f"{name} returns a module whose eval() fails ({reason}); mend it.")):
        model.eval()


MIN_VERSION = (2, 6)
"""The first version of PyTorch that loads weights without known ways to run code (CVE-2025-32434)."""


def _reason(error: BaseException) -> str:
    """The kind of an error and what it says; of a `sys.exit`, that it is one."""
    return why(error) if isinstance(error, SystemExit) else short_reason(error)


@contextmanager
def modules_here() -> Iterator[None]:
    """Modules beside the user are found, as `python -m` finds them."""
    here = os.getcwd()  # noqa: PTH109  # sys.path holds text
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
