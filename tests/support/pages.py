"""Pages of the documentation, run as a reader would run them.

A page is its fenced blocks, in their order, in an empty directory:

- `python` is run, all of a page in one namespace; a `text` block right below it is what it prints.
- `console` holds commands after `$ `, run by a shell, each with what it prints below it. `$?` is the code of the one before.
- `{code-block} LANGUAGE` with a `:caption:` is a file of that name.
- `shell` is how to install: lines of `pip install` and `make`, which `make release` runs.

In what is printed, a line `...` stands for any lines, numbers may differ by one in a hundred (versions of the libraries that
trained a model do that much), and so may the breaks of lines.

`python tests/support/pages.py docs/how-to/gate.md ...` runs pages and writes what they print into them.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"^(?P<ticks>`{3,}) *(?P<language>[^\n`]*)\n(?P<options>(?::[\w-]+:[^\n]*\n)*)\n?(?P<text>.*?)^(?P=ticks)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
CLOSE = 0.01
"""How far numbers may be from those shown, relative to them."""

ENVIRONMENT = {"COLUMNS": "80", "LINES": "40", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "1767225600"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language
        What stands behind the fence.
    caption
        The name of the file that it is, or nothing.
    text
        What is in it.
    span
        Where its text stands in the page.
    """

    language: str
    caption: str
    text: str
    span: tuple[int, int]


def site_pages() -> list[str]:
    """Every page that is written by hand, as the repository names it."""
    generated = {"_build", "tutorials", "generated"}
    found = sorted(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", *(path.as_posix() for path in found if not generated & set(path.parts))]


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    made = []
    for found in FENCE.finditer(page):
        caption = re.search(r":caption: *(.*)", found["options"])
        made.append(Block(found["language"].strip(), caption[1].strip() if caption else "", found["text"], found.span("text")))
    return made


@dataclass(frozen=True)
class Printed:
    """What a block says that something prints, and what it does print; the span is where the page says it."""

    shown: str
    printed: str
    span: tuple[int, int]


def run(page: str, name: str) -> Iterator[Printed]:
    """Run a page in the current directory."""
    names: dict[str, Any] = {"__name__": "page"}
    every = blocks(page)
    for block, below in zip(every, [*every[1:], None], strict=True):
        if block.language == "python":
            out = io.StringIO()
            padded = "\n" * page.count("\n", 0, block.span[0]) + block.text  # errors name the line of the page
            with contextlib.redirect_stdout(out):
                exec(compile(padded, name, "exec"), names)  # noqa: S102  # our own pages
            if below and below.language == "text" and re.fullmatch(r"\s*`*\s*`*text\s*", page[block.span[1] : below.span[0]]):
                yield Printed(below.text, out.getvalue(), below.span)
        elif block.language == "console":
            yield _session(block)
        elif block.caption:
            path = Path(block.caption)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")


def _session(block: Block) -> Printed:
    """A console block, with its commands run again: each is one line, or several that end in a backslash."""
    code, lines = 0, []
    for command in re.findall(r"^\$ ((?:.*\\\n)*.*)$", block.text, re.MULTILINE):
        done = subprocess.run(
            ["bash", "-c", f"(exit {code}); {command}"],  # noqa: S607  # the one on the path
            env={**os.environ, **ENVIRONMENT, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        code = done.returncode
        lines.append(f"$ {command}\n{done.stdout}")
    return Printed(block.text, "".join(lines), block.span)


def alike(shown: str, printed: str) -> bool:
    """Whether what is printed is what the page shows."""
    parts = [part.split() for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)]
    words = printed.split()
    if len(parts) == 1:
        return _same(parts[0], words)
    if not _same(parts[0], words[: len(parts[0])]):
        return False
    place = len(parts[0])
    for part in parts[1:-1]:
        starts = [k for k in range(place, len(words) - len(part) + 1) if _same(part, words[k : k + len(part)])]
        if not starts:
            return False
        place = starts[0] + len(part)
    last = len(words) - len(parts[-1])
    return last >= place and _same(parts[-1], words[last:])


def _same(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(shown: str, printed: str) -> bool:
    if shown == printed:
        return True
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=CLOSE) for a, b in pairs)


@contextlib.contextmanager
def empty_directory() -> Iterator[None]:
    """A directory to run a page in, with the environment that pages are run in."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        os.environ.update(ENVIRONMENT)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def rewritten(page: str, name: str) -> str:
    """The page with what it prints now; what is elided stays so where it is alike."""
    with empty_directory():
        printed = list(run(page, name))
    for each in reversed(printed):
        if not alike(each.shown, each.printed):
            text = "".join(f"{line.rstrip()}\n" for line in each.printed.strip("\n").splitlines())
            page = page[: each.span[0]] + text + page[each.span[1] :]
    return page


def main(paths: list[str]) -> None:
    """Run pages, and write what they print into them."""
    for path in paths:
        page = Path(path).read_text(encoding="utf-8")
        written = rewritten(page, path)
        Path(path).write_text(written, encoding="utf-8")
        print(f"{path}: {'rewritten' if written != page else 'as it was'}")


if __name__ == "__main__":
    main([str(Path(path).resolve()) for path in sys.argv[1:]])
