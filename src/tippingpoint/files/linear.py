"""Linear models written as JSON: `{"coef": [0.5, 1.2], "intercept": 0.1, "features": ["a", "b"], "classes": ["no", "yes"]}`."""

from __future__ import annotations

from dataclasses import replace

from tippingpoint.errors import InputError
from tippingpoint.families.linear.recognise import LinearModel
from tippingpoint.files.base import Content, Format, Loading, Stored
from tippingpoint.files.damage import Damage
from tippingpoint.files.documents import json_of

KEYS = ("classes", "coef", "features", "intercept")
"""What such a file may hold; the coefficients must be there."""


def holds(content: Content) -> bool:
    """Whether it begins as JSON does; what begins as a booster is asked for before."""
    return content.head.lstrip()[:1] in (b"{", b"[") and b"\x00" not in content.head


def load(content: Content, loading: Loading) -> Stored:
    """The model, and the features its coefficients belong to, where it names them."""
    path = content.path
    try:
        stored = json_of(content.data)
    except (Damage, ValueError) as error:
        raise InputError(f'{path} is not JSON ({error}); write {{"coef": [...], "intercept": ...}}.') from None
    if not isinstance(stored, dict) or "coef" not in stored:
        raise InputError(f'{path} has no "coef"; write {{"coef": [...], "intercept": ...}}.')
    odd = sorted(set(stored) - set(KEYS))
    if odd:
        raise InputError(f"{path} has {odd[0]!r}, which is not known; it may hold {', '.join(KEYS)}.")
    if loading.classes is not None and stored.get("classes") not in (None, list(loading.classes)):
        raise InputError(f"{path} names its classes itself, {stored['classes']!r}; leave classes out.")
    model = LinearModel.of(stored["coef"], stored.get("intercept", 0.0), loading.classes or stored.get("classes"))
    features = stored.get("features")
    width = model.coef.shape[1]
    if features is not None and not (
        isinstance(features, list) and all(isinstance(name, str) for name in features) and len(set(features)) == width
    ):
        raise InputError(f'{path}: "features" must list {width} different names, one for each coefficient.')
    if features is None:
        return Stored(model)
    return Stored(replace(model, features=tuple(features)), tuple(features))


FORMAT = Format("a linear model as JSON", (".json",), ("classes",), holds, load)
