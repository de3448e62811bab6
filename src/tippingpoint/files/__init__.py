"""Model files, safely: told apart by what they hold; what can run code of the file's has to be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.files import checkpoints, factories, lightgbm, linear, onnx, pickles, programs, skops, xgboost
from tippingpoint.files.base import Content, Format, Loading, Stored

FORMATS: tuple[Format, ...] = tuple(
    module.FORMAT for module in (skops, programs, checkpoints, xgboost, lightgbm, onnx, pickles, linear)
)
"""The registry: a new format is a module with a `FORMAT`, and a place here; of two that serve a file, the first."""


def load_model(
    path: str | Path,
    *,
    classes: Sequence[Any] | None = None,
    state: str | None = None,
    trust: bool | Sequence[str] = False,
    trust_pickle: bool = False,
) -> Any:
    """A model out of a file, for `profile`, `stability` and the others.

    Parameters
    ----------
    path
        A skops file, an XGBoost model (JSON or UBJSON), a LightGBM model (text), an ONNX graph, a program of torch.export, a
        linear model as JSON (`{"coef": [...], "intercept": ...}`), or `"module:factory"`: a function without arguments that
        returns the model. What a file holds decides; an ending that says otherwise is an error.
    classes
        Labels in the order of the model's outputs, for files that number them. (A module has no labels; pass those to
        `stability`.)
    state
        Weights of the module that a factory returns, a file by `torch.save(module.state_dict(), ...)`.
    trust
        Whether you trust whoever wrote the file. Pickles and programs of torch.export need that: loading them runs whatever
        code their author put into them, with your rights. A trusted ONNX graph runs in this process, without limits. Of a skops
        file you may also name the types that it may hold beyond those that skops knows to be harmless.
    trust_pickle
        The same as `trust=True`, by its older name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tippingpoint as tp
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place, "model.json")
    ...     _ = path.write_text('{"coef": [1.0], "intercept": -1.5, "classes": ["no", "yes"]}')
    ...     model = tp.load_model(path)
    >>> tp.stability(model, [[0.0], [3.0]], ["no", "yes"], risk=0.5, theta1=1.0, theta2=float("inf")).value
    1.125
    """
    stored = read_model(str(path), Loading(classes, state, trust_pickle or trusted_types(trust)))
    if stored.search:
        raise InputError("the model has no labels of its own; pass classes=... to stability(), not to load_model().")
    return stored.model


def trusted_types(trust: Any) -> bool | tuple[str, ...]:
    """Whether the file as a whole is trusted, or which of its types are."""
    if isinstance(trust, bool):
        return trust
    if isinstance(trust, str) or not all(isinstance(name, str) for name in trust):
        raise InputError(f"trust={trust!r} must be True, or a list of the types that are trusted.")
    return tuple(trust)


def read_model(path: str, loading: Loading) -> Stored:
    """The same, with the names of its columns and the options that go with it; what has no effect is an error."""
    takes = takes_of(path)
    for name in loading.given:
        if name not in takes:
            raise InputError(f"{name.replace('_', '-')} has no effect on {path}, {_called(path)}; leave it out.")
    if factories.names_factory(path):
        return factories.build(path, loading)
    content = Content(path)
    return recognised(content).load(content, loading)


def takes_of(path: str) -> tuple[str, ...]:
    """What of `Loading` has an effect on this model."""
    return factories.TAKES if factories.names_factory(path) else recognised(Content(path)).takes


def recognised(content: Content) -> Format:
    """The format of a file, by its content; an ending that promises another is an error."""
    found = next((each for each in FORMATS if each.holds(content)), None)
    suffix = content.path.suffix.lower()
    promised = [each for each in FORMATS if suffix in each.suffixes]
    held = content.looks if found is None else found.name
    if promised and found not in promised:
        names = " or ".join(each.name for each in promised)
        raise InputError(
            f"{content.path} ends in {suffix}, as {names} does, but holds {held}; see how it was saved, and name it after that."
        )
    if found is None:
        known = ", ".join(each.name for each in FORMATS if each is not checkpoints.FORMAT)
        raise InputError(
            f"{content.path} holds {held}, which is no model that is known; these are: {known}, or module:factory."
        )
    return found


def _called(path: str) -> str:
    return "a factory" if factories.names_factory(path) else recognised(Content(path)).name
