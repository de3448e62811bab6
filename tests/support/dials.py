"""The controls of a report's page, set and read from Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from browser import Browser
from tippingpoint.results.stability import StabilityResult

NUMBERS = ("value", "moved_share", "root_mean_square_move", "effective_share", "nats")
AGREE = 1e-6

READ = """
const read = (id) => ({ ...document.getElementById(`live-${id}`).dataset });
const shown = () => ({ value: read("value"), excess: read("excess"), cost: read("cost"),
  moved_share: read("moved_share").value, root_mean_square_move: read("root_mean_square_move").value,
  effective_share: read("effective_share").value, nats: read("nats").value,
  rows: [...document.querySelectorAll("#rows-shown tr[data-weight]")].map((row) => [row.cells[0].innerText,
    row.dataset.weight]),
  words: document.getElementById("live-words").textContent, complaint: document.getElementById("complaint").textContent });
const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
"""

TRY = """
const put = (id, value) => { const input = document.getElementById(id); input.value = value; return input; };
const all = [];
for (const [risk, theta1, theta2, divergence] of arguments[0]) {
  put("theta1", theta1);
  put("theta2", theta2).dispatchEvent(new Event("change"));
  const choice = document.querySelector(`[name=divergence][value=${divergence}]`);
  choice.checked = true;
  choice.dispatchEvent(new Event("change"));
  put("risk", risk).dispatchEvent(new Event("change"));
  await settled();
  all.push(shown());
}
return all;
"""

SLIDE = """
const input = document.getElementById(arguments[0]);
input.value = arguments[1];
input.dispatchEvent(new Event("input"));
await settled();
return shown();
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    """Every page that a test opens says nothing on the console, and asks the network for nothing."""
    browser.complaints()
    yield
    assert browser.complaints() == []


def run(browser: Browser, script: str = "return shown();", *arguments: Any) -> Any:
    """What a script returns that can read the page's numbers, and wait for them."""
    return browser.run(f"{READ}return (async (arguments) => {{{script}}})(arguments);", *arguments)


def tried(browser: Browser, risks: Sequence[float], settings: Sequence[tuple[float, float, str]], scale: float = 1.0) -> Any:
    """What the page says once its controls are set, for each of several settings."""
    written = [
        [repr(float(risk) * scale), *("∞" if math.isinf(price) else repr(price) for price in (theta1, theta2)), divergence]
        for risk in risks
        for theta1, theta2, divergence in settings
    ]
    answers = run(browser, TRY, written)
    for shown, (risk, *others) in zip(answers, written, strict=True):
        assert shown["complaint"] == ""
        assert number(shown["value"]["risk"]) == pytest.approx(float(risk) / scale)
        assert [shown["value"][name].replace("Infinity", "∞") for name in ("theta1", "theta2", "divergence")] == [
            other.removesuffix(".0") for other in others
        ]
    return answers


def number(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


def agrees(shown: dict[str, Any], result: StabilityResult) -> None:
    assert shown["value"]["status"] == result.status
    if result.status in ("unreachable", "not_found"):
        assert shown["value"]["value"] == "Infinity"
        assert ("Out of reach" if result.status == "unreachable" else "No change was found") in shown["words"]
        return
    for name in NUMBERS:
        assert number(shown[name]["value"] if name == "value" else shown[name]) == pytest.approx(
            getattr(result, name), rel=AGREE, abs=AGREE
        ), name
    for bar in ("excess", "cost"):
        for page, name in (("moving", "corruption"), ("reweighting", "reweighting")):
            assert number(shown[bar][page]) == pytest.approx(getattr(result, f"{name}_{bar}"), rel=AGREE, abs=AGREE), (
                bar,
                name,
            )
    value, lower = number(shown["value"]["value"]), number(shown["value"]["lower"])
    assert value * (1.0 - 1e-9) <= lower <= value


def setting_of(shown: dict[str, Any]) -> dict[str, Any]:
    """The setting that the page says it answers."""
    value = shown["value"]
    return {name: number(value[name]) for name in ("risk", "theta1", "theta2")} | {"divergence": value["divergence"]}


COSTS = """
const put = (id, value) => { const input = document.getElementById(id); input.value = value; return input; };
const all = [];
for (const [cost, theta1, theta2, divergence] of arguments[0]) {
  put("theta1", theta1);
  put("theta2", theta2).dispatchEvent(new Event("change"));
  const choice = document.querySelector(`[name=divergence][value=${divergence}]`);
  choice.checked = true;
  choice.dispatchEvent(new Event("change"));
  await settled();
  put("cost", cost).dispatchEvent(new Event("input"));
  all.push({ ...document.getElementById("live-worst").dataset, words: document.getElementById("worst-words").textContent,
    standing: document.getElementById("worst-standing").textContent,
    complaint: document.getElementById("cost-complaint").textContent });
}
return all;
"""


def worst_tried(browser: Browser, costs: Sequence[float], settings: Sequence[tuple[float, float, str]]) -> Any:
    """What the page says of the worst risk, for each of several costs in each of several settings, with what was asked."""
    asked = [(cost, *setting) for cost in costs for setting in settings]
    written = [
        [repr(float(cost)), *("∞" if math.isinf(price) else repr(price) for price in (theta1, theta2)), divergence]
        for cost, theta1, theta2, divergence in asked
    ]
    return list(zip(asked, run(browser, COSTS, written), strict=True))
