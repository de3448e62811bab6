"""The site as `make docs` builds it, but for the tutorials, which are not run here; and in a browser."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browser import Browser

ROOT = Path(__file__).parents[2]
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "benchmarks/README.md")
PHONE, DESK = 390, 1400
PAGES = ("index.html", "start/reading-a-result.html", "how-to/choose-prices.html", "mathematics.html", "reference/json.html")

SEARCHED = "return [...document.querySelectorAll('#search-results ul.search li a')].map(link => link.getAttribute('href'))"
OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"
COLOUR = "return getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, as the build writes among its sources."""
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(
        ROOT / "docs", place / "docs", ignore=shutil.ignore_patterns("_build", "tutorials", "generated", "__pycache__")
    )
    for name in FILES:
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / name, place / name)
    words = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "docs", "html"]
    built = subprocess.run(
        words, cwd=place, env={**os.environ, "MPLBACKEND": "agg"}, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return place / "html"


def test_every_link_and_file_is_there_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    words = [sys.executable, str(ROOT / "docs" / "check_site.py"), str(site)]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    (site / "astray.html").write_text("<a href='nowhere.html'>x</a><script src='https://elsewhere.example/x.js'></script>")
    try:
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    finally:
        (site / "astray.html").unlink()
    assert done.returncode == 1
    assert "astray.html leads to nowhere.html, which is not there." in done.stdout
    assert "astray.html fetches https://elsewhere.example/x.js." in done.stdout


def test_the_schemas_are_published(site: Path) -> None:
    for name in ("result", "report", "doctor"):
        published = (site / "schemas" / f"{name}.schema.json").read_bytes()
        assert published == (ROOT / "src" / "tippingpoint" / "schemas" / f"{name}.schema.json").read_bytes()


class Quiet(SimpleHTTPRequestHandler):
    """A server that keeps its requests to itself."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name of the standard library
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("XGBoost lower bound", "how-to/tree-ensembles.html"),
        ("lower bound xgboost", "explanation/what-is-exact.html"),
        ("theta1", "how-to/choose-prices.html"),
        ("interrupted gate", "how-to/gate-a-build.html"),
        ("StabilityResult", "reference/generated/tippingpoint.StabilityResult.html"),
    ],
)
def test_a_search_finds_the_answer(window: Browser, address: str, words: str, page: str) -> None:
    window.open(f"{address}/search.html?q={words.replace(' ', '+')}")
    found: list[str] = []
    for _ in range(100):  # a page's summary after the other
        now = [link.partition("#")[0].partition("?")[0] for link in window.run(SEARCHED)]
        if now and now == found:
            break
        found = now
        time.sleep(0.2)
    assert page in found[:6]


@pytest.mark.parametrize("page", PAGES)
def test_pages_fit_a_phone_and_are_dark_where_that_is_wanted(window: Browser, address: str, page: str) -> None:
    colours = set()
    for width, scheme in ((PHONE, "light"), (DESK, "dark")):
        window.emulate(scheme=scheme, width=width, height=900)
        window.open(f"{address}/{page}")
        assert window.run(OVERFLOW) <= 0, f"{page} is wider than {width}"
        colours.add(window.run(COLOUR))
    assert len(colours) == 2
    assert [each for each in window.complaints() if "127.0.0.1" not in each] == []
