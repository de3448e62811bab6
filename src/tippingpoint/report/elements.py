"""HTML, element by element: whatever is not markup already is text, and escaped; what would not be seen is made visible."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

from tippingpoint.visible import readable


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(value: Any) -> Markup:
    """A value as text of a page."""
    return value if isinstance(value, Markup) else Markup(html.escape(readable(value)))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. Children are text unless they are `Markup`; None is nothing, lists are their members.

    Attributes are named as Python can: `class_`, `aria_label`. True stands without a value, None and False for none.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    inside = "".join(escaped(child) for child in _flat(children))
    return Markup(f"<{name}{written}>{inside}</{name}>")


def void(name: str, /, **attributes: Any) -> Markup:
    """An element that holds nothing."""
    return Markup(f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}/>")


def table(caption: Any, head: Sequence[Any], rows: Iterable[Sequence[Any]], *, left: int = 1, class_: str = "") -> Markup:
    """A table with a caption; the first cell of a row names it, and the first `left` columns hold words."""
    titles = [tag("th", title, scope="col", class_=None if k < left else "number") for k, title in enumerate(head)]
    body = []
    for first, *others in rows:
        cells = [tag("td", cell, class_=None if k < left else "number") for k, cell in enumerate(others, start=1)]
        body.append(tag("tr", tag("th", first, scope="row"), cells))
    inside = tag("table", tag("caption", caption), tag("thead", tag("tr", titles)), tag("tbody", body), class_=class_ or None)
    return tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=str(caption))


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(readable(value))}"'


def _flat(children: Iterable[Any]) -> Iterable[Any]:
    for child in children:
        if isinstance(child, (list, tuple)):
            yield from _flat(child)
        elif child is not None:
            yield child
