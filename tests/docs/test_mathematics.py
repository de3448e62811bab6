"""The page on the mathematics: its worked numbers are the library's, and its section numbers stay."""

from __future__ import annotations

import contextlib
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

import tippingpoint as tp
from tippingpoint.core.divergences import KL, ChiSquare
from tippingpoint.core.dual import solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response

PAGE = (Path(__file__).parents[2] / "docs" / "mathematics.md").read_text(encoding="utf-8")
SECTIONS = (
    "The problem",
    "Best responses",
    "Duality",
    "The search over one number",
    "The most sensitive distribution",
    "Best responses of a linear score",
    "Models that have to be searched",
    "Features",
    "Errors",
    "Corrections to the paper",
    "Laws",
    "Numerics",
    "Worked examples",
    "Observed drift",
)


class Still:
    """Samples that cannot move."""

    ceiling = math.inf

    def __init__(self, losses: list[float]) -> None:
        self.losses = np.array(losses)

    def respond(self, price: float) -> Response:
        return Response.staying(len(self.losses))

    def peak(self) -> Response:
        return Response.staying(len(self.losses))

    def escape(self, lift: float) -> Response:
        raise NotImplementedError


def test_sections_keep_the_numbers_that_docstrings_cite() -> None:
    found = re.findall(r"^## (\d+)\. (.+)$", PAGE, re.MULTILINE)
    assert [title for _, title in found] == list(SECTIONS)
    assert [int(number) for number, _ in found] == list(range(1, len(SECTIONS) + 1))
    assert len(re.findall(r"^\d+\. ", PAGE.split("## 10.")[1].split("## 11.")[0], re.MULTILINE)) == 10, "corrections"


def test_the_page_stays_within_its_lines_and_its_formulas_are_closed() -> None:
    assert max(map(len, PAGE.splitlines())) <= 128
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    assert prose.count("$$") % 2 == 0
    for display in re.findall(r"\$\$.*?\$\$", prose, re.DOTALL):
        assert not re.search(r"^\s*[-+*#>]", display, re.MULTILINE), "Markdown would read a list or a heading"
    for paragraph in re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL).split("\n\n"):
        assert paragraph.count("$") % 2 == 0, paragraph


def test_the_worked_examples_print_what_is_shown() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "mathematics.md", "exec"), {"__name__": "page"})  # noqa: S102  # our own page
    assert printed.getvalue() == shown


def test_example_a_by_hand() -> None:
    error, r, theta, n = 0.15, 0.4, 0.2, 20
    entropy = r * math.log(r / error) + (1 - r) * math.log((1 - r) / (1 - error))
    by_hand = {KL(): theta * entropy, ChiSquare(): theta * (r - error) ** 2 / (error * (1 - error))}
    for divergence, expected in by_hand.items():
        problem = Problem(Still([1.0] * 3 + [0.0] * 17), np.full(n, 1 / n), r, math.inf, theta, divergence)
        assert solve(problem).lower == pytest.approx(expected, rel=1e-10)
        assert f"{expected:.6f}" in PAGE
    assert f"{theta * (r - error) / math.sqrt(error * (1 - error) * (n - 1)):.6f}" in PAGE


def test_example_c_by_hand() -> None:
    profile = tp.profile(([1.0], 0.0), [[-1.0], [2.0], [-3.0], [4.0]], ["no", "yes", "no", "yes"])
    found = profile.stability(0.375, theta1=1.0, theta2=0.25)
    assert found.value == pytest.approx(3 / 8 + 0.25 * (3 / 8 * math.log(3 / 2) + 5 / 8 * math.log(5 / 6)), rel=1e-10)
    assert found.price == pytest.approx(1.0 + 0.25 * math.log(9 / 5), rel=1e-6)
    assert found.sensitive["weight"].tolist() == pytest.approx([1.5, 5 / 6, 5 / 6, 5 / 6])
    assert found.influence == pytest.approx(-0.25 * (found.sensitive["weight"].to_numpy() - 1.0))


def test_two_prices_that_enclose_the_root_bound_the_stability_as_proposition_6_says() -> None:
    losses = np.random.default_rng(0).exponential(size=30)
    problem = Problem(Still(losses.tolist()), np.full(30, 1 / 30), losses.mean() + 0.3, math.inf, 0.4, KL())
    left, right = problem.evaluate(0.01), problem.evaluate(1.0)
    a, b = -left.excess, right.excess
    assert min(a, b) > 0.0
    t = a / (a + b)
    upper = (1 - t) * left.cost + t * right.cost
    assert upper == pytest.approx((1 - t) * left.value + t * right.value + a * b / (a + b) * (1.0 - 0.01), rel=1e-9)
    assert max(left.value, right.value) <= solve(problem).lower * (1 + 1e-12)
    assert solve(problem).lower <= upper
