"""Pages of the repository that are pages of the site too: their text is there once, and links between them hold in both.

A page whose only line includes a file of the repository becomes that file. In every page a relative link that leads to such a
file leads to its page instead, and one that leads to any other file outside the site becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).parents[2]
INCLUDED = re.compile(r"\A```\{include\} (?P<path>\S+)\n```\s*\Z")
LINK = re.compile(
    r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>(?![a-z]+:|#|/)[^)\s#]+)(?P<anchor>#[^)\s]*)?\)"
)
UNSEARCHED = ("CHANGELOG.md", "CONTRIBUTING.md")
"""They hold every word there is, and answer nobody's question."""

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def pages_of_files() -> dict[str, str]:
    """The page of the site that shows each file of the repository."""
    pages = {}
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        included = INCLUDED.match(path.read_text(encoding="utf-8"))
        shown = f"{posixpath.dirname(name)}/{included['path']}" if included else f"{name}.md"
        pages[posixpath.normpath(f"docs/{shown}")] = name
    return pages


def relinked(text: str, file: str, pages: dict[str, str]) -> str:
    """The text of a file of the repository with its relative links as the site has them."""

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), found["target"]))
        if target in pages:
            return f"[{found['text']}](/{pages[target]}.md{found['anchor'] or ''})"
        return found[0] if target.startswith("docs/") else found["text"]

    parts = FENCED.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def read_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """What Sphinx is to read for a page."""
    if not (ROOT / "docs" / f"{docname}.md").exists():
        return
    pages: dict[str, str] = app.config["pages_of_files"]
    file = next(file for file, name in pages.items() if name == docname)
    text = (ROOT / file).read_text(encoding="utf-8") if INCLUDED.match(source[0]) else source[0]
    if not file.startswith("docs/"):
        app.env.note_dependency(str(ROOT / file))
    if file in UNSEARCHED:
        text = f"---\nnosearch: true\n---\n{text}"
    source[0] = relinked(text, file, pages)


def find_pages(app: Sphinx, config: Config) -> None:
    """Once, before any page is read."""
    config["pages_of_files"] = pages_of_files()


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("pages_of_files", {}, "")
    app.connect("config-inited", find_pages)
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
