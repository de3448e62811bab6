"""Look at a built site: every link and file of it is there, and nothing of it is fetched from elsewhere.

python docs/check_site.py docs/_build/html
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
"""What a browser fetches without being asked."""

NOT_FETCHED = {"canonical", "search", "index", "next", "prev", "author", "copyright", "help"}
"""Relations of `link` that name a page and fetch nothing."""


class Page(HTMLParser):
    """The names and the references of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.references: list[tuple[str, bool]] = []  # where to, and whether it is fetched
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if given.get(name)}
        for name in ("href", "src", "data"):
            if given.get(name) and (name != "data" or tag == "object"):
                fetched = (tag, name) in LOADED and not NOT_FETCHED & set(
                    given.get("rel", "").split()
                )
                self.references.append((given[name], fetched))


def faults(site: Path) -> Iterable[str]:
    """What is wrong, a sentence each."""
    pages = {
        path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    for path, page in pages.items():
        here = path.relative_to(site)
        if ":math:`" in path.read_text(encoding="utf-8"):
            yield f"{here} shows the markup of a formula, not the formula."
        for reference, fetched in page.references:
            parts = urlsplit(reference)
            if parts.scheme == "data" or (
                parts.scheme in {"http", "https", "mailto"} and not fetched
            ):
                continue
            if parts.scheme or parts.netloc:
                yield f"{here} fetches {reference}."
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{here} leads to {reference}, which is not there."
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].names
            ):
                yield f"{here} leads to {reference}, and that page has no such place."


def main(site: str) -> int:
    """Print what is wrong, and say whether anything is."""
    found = sorted(set(faults(Path(site).resolve())))
    print(*found, sep="\n")
    print(f"{len(list(Path(site).rglob('*.html')))} pages, {len(found)} faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
