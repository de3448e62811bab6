"""What a section of a report is: it computes its part of the summary, and renders that as HTML and as Markdown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, cast

from tippingpoint.report.elements import Markup, tag
from tippingpoint.report.material import Material, Part


class Section(ABC, Generic[Part]):
    """A section: one file of `tippingpoint.report.sections`, and a line of `SECTIONS` there.

    `compute` alone computes; `html` and `markdown` say what its part holds, in the same words.
    """

    name: ClassVar[str]
    """Of the element on the page, and of links to it."""

    title: ClassVar[str]
    """The heading."""

    titled: ClassVar[bool] = True
    """Whether the page shows the heading; if not, it is there for screen readers."""

    needs_scripts: ClassVar[bool] = False
    """Whether the section is hidden until a script of the page shows it."""

    script: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Words and numbers that the page's script shares with the section, by name."""

    @abstractmethod
    def compute(self, material: Material) -> Part:
        """The section's part of the summary."""

    @abstractmethod
    def html(self, part: Part, result: Mapping[str, Any]) -> Sequence[Any] | None:
        """What stands below the heading on the page; None for no section. `result` is the summary of the result."""

    @abstractmethod
    def markdown(self, part: Part, result: Mapping[str, Any]) -> Sequence[str] | None:
        """The same as blocks of Markdown; None for no section."""

    def heading(self, part: Part) -> str:
        """The heading, of a part."""
        return self.title

    def render_html(self, summary: Mapping[str, Any]) -> Markup | None:
        """The element of the page, from the whole summary; None where there is nothing to say."""
        children = self.html(cast("Part", summary), summary["result"])
        if children is None:
            return None
        return tag(
            "section",
            tag("h2", self.heading(cast("Part", summary)), id=f"{self.name}-title", class_=None if self.titled else "hidden"),
            *children,
            id=self.name,
            aria_labelledby=f"{self.name}-title",
            hidden=self.needs_scripts,
        )

    def render_markdown(self, summary: Mapping[str, Any]) -> list[str]:
        """The blocks of Markdown, from the whole summary; none where there is nothing to say."""
        blocks = self.markdown(cast("Part", summary), summary["result"])
        return [] if blocks is None else [f"## {self.heading(cast('Part', summary))}", *blocks]


def lead(text: str) -> Markup:
    """What a section is about, below its heading."""
    return tag("p", text, class_="lead")


def figure(picture: Markup, *caption: Any, id_: str | None = None) -> Markup:
    """A picture and what it shows; a script may draw another picture in the place named."""
    return tag("figure", tag("div", picture, id=id_, class_="chart"), tag("figcaption", *caption))
