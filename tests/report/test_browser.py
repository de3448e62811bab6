"""The page in a real browser: what it computes is what Python computes, and it asks nobody for anything."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from browser import Browser
from real_data import real_data
from tippingpoint.api.profiles import Profile
from tippingpoint.core.divergences import divergence_named
from tippingpoint.core.dual import solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import sensitive_distribution
from tippingpoint.datasets import breast_cancer
from tippingpoint.report.embedding import embed
from tippingpoint.results.stability import StabilityResult
from tippingpoint.visible import visible

NUMBERS = ("value", "moved_share", "root_mean_square_move", "effective_share", "nats")
AGREE = 1e-6

READ = """
const read = (id) => ({ ...document.getElementById(`live-${id}`).dataset });
const told = () => ({ value: read("value"), excess: read("excess"), cost: read("cost"),
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
  all.push(told());
}
return all;
"""

SLIDE = """
const input = document.getElementById(arguments[0]);
input.value = arguments[1];
input.dispatchEvent(new Event("input"));
await settled();
return told();
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


def said(browser: Browser, script: str = "return told();", *arguments: Any) -> Any:
    """What a script returns that can read the page's numbers, and wait for them."""
    return browser.run(f"{READ}return (async (arguments) => {{{script}}})(arguments);", *arguments)


def tried(browser: Browser, risks: Sequence[float], settings: Sequence[tuple[float, float, str]], scale: float = 1.0) -> Any:
    """What the page says once its controls are set, for each of several settings."""
    written = [
        [repr(float(risk) * scale), *("∞" if math.isinf(price) else repr(price) for price in (theta1, theta2)), divergence]
        for risk in risks
        for theta1, theta2, divergence in settings
    ]
    answers = said(browser, TRY, written)
    for told, (risk, *others) in zip(answers, written, strict=True):
        assert told["complaint"] == ""
        assert number(told["value"]["risk"]) == pytest.approx(float(risk) / scale)
        assert [told["value"][name].replace("Infinity", "∞") for name in ("theta1", "theta2", "divergence")] == [
            other.removesuffix(".0") for other in others
        ]
    return answers


def number(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


def agrees(told: dict[str, Any], result: StabilityResult) -> None:
    assert told["value"]["status"] == result.status
    if result.status == "unreachable":
        assert told["value"]["value"] == "Infinity"
        assert "Out of reach" in told["words"]
        return
    for name in NUMBERS:
        assert number(told[name]["value"] if name == "value" else told[name]) == pytest.approx(
            getattr(result, name), rel=AGREE, abs=AGREE
        ), name
    for bar in ("excess", "cost"):
        for page, name in (("moving", "corruption"), ("reweighting", "reweighting")):
            assert number(told[bar][page]) == pytest.approx(getattr(result, f"{name}_{bar}"), rel=AGREE, abs=AGREE), (bar, name)
    value, lower = number(told["value"]["value"]), number(told["value"]["lower"])
    assert value * (1.0 - 1e-9) <= lower <= value


def asked(told: dict[str, Any]) -> dict[str, Any]:
    """The setting that the page says it answers."""
    value = told["value"]
    return {name: number(value[name]) for name in ("risk", "theta1", "theta2")} | {"divergence": value["divergence"]}


def demo(loss: str) -> Profile:
    x_train, x_test, y_train, y_test = train_test_split(*breast_cancer(), test_size=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x_train, y_train)
    return tp.profile(model, x_test, y_test, loss=loss, scale="std")


SETTINGS = [
    (1.0, 0.25, "kl"),
    (1.0, 0.25, "chi2"),
    (0.4, 0.4, "chi2"),
    (math.inf, 0.3, "kl"),
    (math.inf, 0.3, "chi2"),
    (0.3, math.inf, "kl"),
    (20.0, 0.01, "kl"),
]


@pytest.mark.parametrize(("loss", "risk", "further"), [("zero_one", 0.25, 0.6), ("logistic", math.log(2.0), 2.0)])
def test_the_demo_moves_with_its_controls(browser: Browser, tmp_path: Path, loss: str, risk: float, further: float) -> None:
    profile = demo(loss)
    result = profile.stability(risk, theta1=1.0, theta2=0.25)
    browser.open(result.report(tmp_path / "demo.html"))
    agrees(said(browser), result)
    scale = 100.0 if loss == "zero_one" else 1.0
    for told in tried(browser, (risk, further, 0.01), SETTINGS, scale):
        agrees(told, profile.stability(**asked(told)))


def test_sliders_the_reset_and_the_rows(browser: Browser, tmp_path: Path) -> None:
    profile = demo("zero_one")
    result = profile.stability(0.25, theta1=1.0, theta2=0.25)
    browser.open(result.report(tmp_path / "demo.html"))
    for slider, place in (
        ("risk-slider", 400),
        ("mix-slider", 0),
        ("mix-slider", 1000),
        ("mix-slider", 650),
        ("risk-slider", 0),
    ):
        told = said(browser, SLIDE, slider, place)
        agrees(told, profile.stability(**asked(told)))
    browser.run("document.getElementById('reset').click()")
    told = said(browser)
    agrees(told, result)
    weights = dict(zip(map(str, result.sensitive["row"]), result.sensitive["weight"], strict=True))
    assert len(told["rows"]) == 10
    for row, weight in told["rows"]:
        assert number(weight) == pytest.approx(weights[row], rel=AGREE)
    top = result.report_summary()["rows"]
    assert [row for row, _ in told["rows"]] == [top["labels"][each["stored"]] for each in top["top"]]
    price = "const price = document.getElementById('theta1'); price.value = 'cheap'; price.dispatchEvent(new Event('change'));"
    assert "positive number" in said(browser, f"{price} return told();")["complaint"]


def regression() -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(3)
    x, coef = rng.normal(size=(120, 4)), np.array([1.0, -0.5, 0.2, 0.0])
    return (coef * 0.8, 0.1), x, x @ coef + rng.normal(size=120), rng.uniform(0.2, 2.0, 120)


LOSSES = ("hinge", "squared_hinge", "squared", "absolute", "pinball:0.8", "epsilon_insensitive", "huber")


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_of_a_linear_score_has_its_closed_form(browser: Browser, tmp_path: Path, loss: str) -> None:
    model, x, y, weight = regression()
    y = np.where(y > 0.0, 1, -1) if "hinge" in loss else y
    profile = tp.profile(model, x, y, loss=loss, sample_weight=weight)
    result = profile.stability(1.5 * profile.risk, theta1=1.0, theta2=0.5, divergence="chi2")
    summary = result.report_summary()
    assert summary["live"]["profile"]["kind"] == "line"
    browser.open(result.report(tmp_path / "loss.html"))
    for told in tried(browser, (1.5 * profile.risk, 3.0 * profile.risk), SETTINGS[:6]):
        agrees(told, profile.stability(**asked(told)))


def test_a_table_is_settled_and_its_limits_are_the_same(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tries = [[(0.0, 0.1 * (i % 3)), *rng.exponential(size=(5, 2)).tolist()] for i in range(60)]
    lines = [(i, cost, loss, f"text {i}.{k}") for i, each in enumerate(tries) for k, (cost, loss) in enumerate(each)]
    profile = tp.profile_table(pd.DataFrame(lines, columns=["sample", "cost", "loss", "text"]))
    result = profile.stability(risk=1.0, theta1=1.0, theta2=1.0)
    summary = result.report_summary()
    assert summary["live"]["exact"]
    browser.open(result.report(tmp_path / "table.html"))
    largest = max(loss for _, _, loss, _ in lines)
    for told in tried(browser, (0.05, 1.0, 2.5, largest, largest + 1.0), SETTINGS):
        agrees(told, profile.stability(**asked(told)))


def test_a_ladder_agrees_with_its_twin_and_bounds_the_truth(browser: Browser, tmp_path: Path) -> None:
    model, x, y, _ = regression()
    space = tp.Space(lower=dict.fromkeys(("x0", "x1"), -3.0), upper=dict.fromkeys(("x0", "x1"), 3.0), outliers="keep")
    profile = tp.profile(model, x, np.where(y > 0.0, 1, -1), loss="logistic", space=space)
    result = profile.stability(1.5 * profile.risk, theta1=1.0, theta2=0.5)
    assert result.evidence is not None
    embedded = embed(result.evidence.oracle, "logistic", result.evidence.distribution.prices)
    assert embedded is not None
    assert not embedded.exact
    browser.open(result.report(tmp_path / "ladder.html"))
    own = said(browser)
    assert number(own["value"]["value"]) == pytest.approx(result.value, rel=1e-6)
    assert f"at most {embedded.places} places a row" in browser.run("return document.getElementById('live').textContent")
    for told in tried(browser, (1.2 * profile.risk, 2.0 * profile.risk), SETTINGS):
        setting = asked(told)
        held = {**setting, "divergence": divergence_named(setting["divergence"])}
        problem = Problem(embedded.responses, profile.base, **held)
        twin, value = sensitive_distribution(problem, solve(problem)), number(told["value"]["value"])
        assert value == pytest.approx(twin.total_cost, rel=AGREE)
        assert number(told["moved_share"]) == pytest.approx(twin.moved_share, abs=AGREE)
        assert value >= profile.stability(**setting).value * (1.0 - 1e-9)


def test_names_are_text_whatever_they_hold(browser: Browser, tmp_path: Path) -> None:
    model, x, y, _ = regression()
    names = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(1)>",
        "a \"quoted\" & 'named' | co*lumn",
        "Größe\u2028 \u2264 1",
    ]
    frame = pd.DataFrame(x, columns=names, index=[f'<b>row "{i}"</b>' for i in range(len(x))])
    result = tp.stability(model, frame, np.where(y > 0.0, "<i>yes</i>", "<b>no</b>"), 0.4, theta1=1.0, theta2=0.5)
    page = result.report(tmp_path / "names.html", model="<script>alert(2)</script>", data="a & b", title="<h1>hello</h1>")
    browser.open(page)
    shown = browser.run("return document.body.innerText")
    assert '<b>row "' in shown
    assert browser.run("return document.title") == "<h1>hello</h1>"
    assert browser.run("return document.scripts.length") == 2
    assert browser.run("return document.querySelectorAll('img, b, i').length") == 0
    cells = browser.run(
        "return [...document.querySelectorAll('#rows-shown details th[scope=row]')].map((cell) => cell.textContent)"
    )
    assert {visible(name) for name in names} <= set(cells)


def test_light_dark_print_and_a_page_without_scripts(browser: Browser, tmp_path: Path) -> None:
    page = demo("zero_one").stability(0.25, theta1=1.0, theta2=0.25).report(tmp_path / "demo.html")
    browser.open(page)
    colour = "return getComputedStyle(document.body).backgroundColor"
    shots, colours = list[int](), list[str]()
    for media, scheme, width in (("", "light", 1200), ("", "dark", 1200), ("print", "dark", 800), ("", "light", 390)):
        browser.emulate(media, scheme, width)
        colours.append(browser.run(colour))
        shots.append(browser.screenshot(tmp_path / f"{len(shots)}.png").stat().st_size)
        assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth"), (media, width)
        hidden = browser.run("return getComputedStyle(document.getElementById('controls')).display === 'none'")
        assert hidden is (media == "print")
    assert colours == ["rgb(247, 247, 245)", "rgb(20, 23, 26)", "rgb(255, 255, 255)", "rgb(247, 247, 245)"]
    assert min(shots) > 50_000
    browser.emulate()
    browser.run("document.getElementById('theme').click()")
    assert browser.run(colour) == "rgb(20, 23, 26)"
    unnamed = (
        "return [...document.querySelectorAll('input')].filter((input) => !input.labels.length && !input.ariaLabel).length"
    )
    assert browser.run(unnamed) == 0
    assert browser.run("return [...document.querySelectorAll('svg')].every((picture) => picture.getAttribute('aria-label'))")
    assert browser.run("return [...document.querySelectorAll('table')].every((table) => table.caption)")
    still = page.with_name("still.html")
    still.write_bytes(page.read_bytes())
    browser.scripts(on=False)
    try:
        browser.open(still)
        assert "0.03984" in browser.markup("#answer")
        assert " hidden" in browser.markup("#live").partition(">")[0], "what needs scripts is not shown"
    finally:
        browser.scripts(on=True)


def test_a_model_of_american_incomes(browser: Browser, tmp_path: Path) -> None:
    x, y = tp.datasets.acs_income(real_data("acs"), "DE")
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(x[2000:4000], y[2000:4000])
    profile = tp.profile(model, x[:2000], y[:2000], scale="std")
    result = profile.stability(0.4, theta1=1.0, theta2=0.25)
    page = result.report(tmp_path / "acs.html", model="Logistic regression", data="ACS income, Delaware 2018")
    assert page.stat().st_size < 2_000_000
    browser.open(page)
    agrees(said(browser), result)
    for told in tried(browser, (0.3, 0.75), SETTINGS, 100.0):
        agrees(told, profile.stability(**asked(told)))


CHARTS = "return [...document.querySelectorAll('main svg')].map((picture) => picture.getAttribute('aria-label'))"

CONTRAST = """
const channel = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const bright = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(channel)
  .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
return arguments[0].map((name) => {
  const made = document.createElement("span");
  made.className = `badge ${name}`;
  document.body.append(made);
  const { color, backgroundColor } = getComputedStyle(made);
  const [low, high] = [bright(color), bright(backgroundColor)].sort((a, b) => a - b);
  made.remove();
  return (high + 0.05) / (low + 0.05);
});
"""


def test_badges_follow_the_setting_and_can_be_read(browser: Browser, tmp_path: Path) -> None:
    model, x, y, _ = regression()
    space = tp.Space(lower=dict.fromkeys(("x0", "x1"), -3.0), upper=dict.fromkeys(("x0", "x1"), 3.0), outliers="keep")
    profile = tp.profile(model, x, np.where(y > 0.0, 1, -1), loss="logistic", space=space)
    result = profile.stability(1.5 * profile.risk, theta1=1.0, theta2=0.5)
    assert result.exact
    browser.open(result.report(tmp_path / "ladder.html"))
    standing = "return document.getElementById('live-standing').textContent"
    assert browser.run(standing) == "exact"
    for settings, known in (((1.0, 0.5, "chi2"), "upper bound only"), ((math.inf, 0.5, "kl"), "exact")):
        tried(browser, (1.4 * profile.risk,), [settings])
        assert browser.run(standing) == known
    kinds = ["exact", "two-sided", "upper-bound-only", "interrupted", "not-found", "passed", "failed"]
    for scheme in ("light", "dark"):
        browser.emulate(scheme=scheme)
        for kind, ratio in zip(kinds, browser.run(CONTRAST, kinds), strict=True):
            assert ratio >= 4.5, (scheme, kind, ratio)  # WCAG's AA for text
    browser.emulate()


def test_no_chart_is_there_twice_and_those_that_are_follow_the_setting(browser: Browser, tmp_path: Path) -> None:
    browser.open(demo("zero_one").stability(0.25, theta1=1.0, theta2=0.25).report(tmp_path / "demo.html"))
    labels = browser.run(CHARTS)
    assert len(set(labels)) == len(labels)
    assert {"Stability over thresholds", "Stability along the dial"} <= set(labels)
    still = browser.run("return document.getElementById('live-curve').innerHTML")
    said(browser, SLIDE, "mix-slider", 650)
    drawn = "return new Promise((done) => { const look = () => document.documentElement.dataset.drawn === 'anew' ? done(1) : "
    browser.run(drawn + "setTimeout(look, 20); look(); })")
    moved = browser.run(CHARTS)
    assert len(set(moved)) == len(moved) == len(labels)
    assert browser.run("return document.getElementById('live-curve').innerHTML") != still
    ends = browser.run(
        "return document.getElementById('live-dial').textContent + document.getElementById('mix-ends').textContent"
    )
    assert ends.count("reweighting alone (θ2 = 0.2)") == 2
    browser.run("document.getElementById('reset').click()")
    assert browser.run("return document.getElementById('live-curve').innerHTML") == still


def test_rows_read_the_same_with_and_without_scripts(browser: Browser, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"age": rng.integers(18, 70, 150), "rate": rng.normal(3.0, 1.0, 150).round(2)})
    x = x.assign(measured=rng.normal(size=150), married=rng.integers(0, 2, 150), member=rng.integers(0, 2, 150) > 0)
    y = np.where(0.05 * x["age"] - x["rate"] + rng.normal(size=150) > 0.0, 1, 0)
    model = ([0.05, -1.0, 0.3, 1.0, 0.5], -1.0)
    for space in (None, tp.Space.infer(x)):
        result = tp.stability(model, x, y, 0.6, scale="std", theta1=1.0, theta2=1.0, space=space)
        page = result.report(tmp_path / f"{space is None}.html")
        browser.open(page)
        read = "return [...document.querySelectorAll('#rows-shown tbody tr td:last-child')].map((cell) => cell.textContent)"
        alive = browser.run(read)
        parsed = f"const document = new DOMParser().parseFromString(arguments[0], 'text/html'); {read}"
        assert alive == browser.run(parsed, page.read_text(encoding="utf-8"))
        assert any("not a whole number" in told for told in alive) is (space is None)
