"""Tables by asking: what is asked, how often, in which order, what is kept, and what is said of the rest."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from refusals import refusal

v = tp.variations
SAMPLES = [{"sample": f"q{k}", "text": f"What is {k} plus {k}, please?", "target": str(2 * k)} for k in range(1, 13)]
VARIATIONS = [v.Case("upper"), v.Wrapper("You are a teacher. {text}"), v.Punctuation()]


def adds(prompt: str) -> str:
    """Right, unless it is shouted at or talked to as a teacher about large numbers."""
    number = int(next(word for word in prompt.split() if word.isdigit()))
    return "?" if prompt.isupper() or ("teacher" in prompt and number > 6) else str(2 * number)


def judge(answer: str, sample: dict[str, Any]) -> float:
    return float(answer != sample["target"])


def collected(samples: Any = SAMPLES, variations: Any = VARIATIONS, **settings: Any) -> tp.Runs:
    return tp.collect(samples, variations, **{"ask": adds, "judge": judge, "backoff": 0.0, **settings})


def test_every_sample_in_every_variant_with_its_loss_and_cost() -> None:
    runs = collected()
    assert len(runs.table) == 48
    lines = runs.table.set_index(["sample", "variant"])
    for k in range(1, 13):
        assert lines.loc[(f"q{k}", "original"), ["loss", "cost"]].tolist() == [0.0, 0.0]
        assert lines.loc[(f"q{k}", "case"), "loss"] == 1.0
        assert lines.loc[(f"q{k}", "case"), "cost"] == 4 / 6  # WHAT IS PLUS PLEASE? of six words
        assert lines.loc[(f"q{k}", "wrapper"), "loss"] == float(k > 6)
        assert lines.loc[(f"q{k}", "wrapper"), "cost"] == 4 / 10
        assert lines.loc[(f"q{k}", "punctuation"), "text"] == f"What is {k} plus {k} please"
        assert lines.loc[(f"q{k}", "punctuation"), "original"] == f"What is {k} plus {k}, please?"
    # The cheapest error of a sample: rewrapped for 0.4 where numbers are large, shouted at for 2/3 elsewhere.
    profile = runs.profile()
    assert isinstance(profile, tp.Profile)
    assert profile.stability(0.75, theta1=1.0, theta2=math.inf).value == pytest.approx((6 * 0.4 + 3 * 4 / 6) / 12)


def test_the_order_of_samples_changes_no_prompt_and_no_number() -> None:
    noisy = [v.Typos(0.2), v.WordSwap(0.3)]
    given = collected(SAMPLES, noisy, draws=2, judge=lambda _: 0.0, ask=len)
    turned = collected(SAMPLES[::-1], noisy, draws=2, judge=lambda _: 0.0, ask=len)
    keys = ["sample", "variant"]
    pd.testing.assert_frame_equal(
        given.table.sort_values(keys, ignore_index=True), turned.table.sort_values(keys, ignore_index=True)
    )
    assert set(given.table["variant"]) == {"original", "typos 1", "typos 2", "word swap 1", "word swap 2"}


def test_identical_prompts_are_asked_once_and_repeats_as_often_as_said() -> None:
    asked: Counter[str] = Counter()

    def counting(prompt: str) -> str:
        asked[prompt] += 1
        return adds(prompt)

    twice = [*SAMPLES, {**SAMPLES[0], "sample": "again"}]
    runs = collected(twice, [*VARIATIONS, v.Case("upper", name="shout")], ask=counting)
    assert set(asked.values()) == {1}
    assert len(runs.table) == 13 * 5
    assert sum(asked.values()) == 12 * 4
    assert f"{13 * 5 - 12 * 4} runs share the answer" in str(runs)
    asked.clear()
    three = collected(ask=counting, repeats=3)
    assert set(asked.values()) == {3}
    assert three.table.groupby(["sample", "variant"])["repeat"].apply(sorted).map(tuple).unique().tolist() == [(0, 1, 2)]


def test_what_a_variation_leaves_as_it_is_is_no_variant() -> None:
    runs = collected(variations=[v.Case("lower"), v.Separators("|", "-")])
    assert runs.dropped == {"of a variation that left a sample as it was": 12}
    assert "dropped" in str(runs)


def test_options_are_asked_about_as_they_are_shown() -> None:
    prompts: list[str] = []

    def first_option(prompt: str) -> str:
        prompts.append(prompt)
        return "A"

    def chosen(answer: str, sample: dict[str, Any]) -> float:
        return float(sample["options"]["ABC".index(answer)] != sample["target"])

    questions = [
        {"text": "The capital?", "options": ["Paris", "Lyon", "Nice"], "target": "Paris", "sample": k} for k in range(9)
    ]
    runs = tp.collect(questions, [v.OptionOrder()], ask=first_option, judge=chosen, cost={"option order": 1.0})
    assert prompts[0] == "The capital?\nA. Paris\nB. Lyon\nC. Nice"
    shown = runs.table[runs.table["variant"] == "option order"]
    assert shown["loss"].tolist() == [float("A. Paris" not in text) for text in shown["text"]]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("form", ["plain", "async"])
def test_plain_and_async_alone_and_in_batches_make_the_same_table(form: str, batch: int | None, concurrency: int) -> None:
    under_way = largest = 0
    lock = threading.Lock()

    def entered(step: int) -> None:
        nonlocal under_way, largest
        with lock:
            under_way += step
            largest = max(largest, under_way)

    def answer(given: Any) -> Any:
        return adds(given) if batch is None else [adds(prompt) for prompt in given]

    def plain(given: Any) -> Any:
        entered(1)
        time.sleep(0.002)
        entered(-1)
        return answer(given)

    async def later(given: Any) -> Any:
        entered(1)
        await asyncio.sleep(0.002)
        entered(-1)
        return answer(given)

    runs = collected(ask={"m": plain if form == "plain" else later}, batch=batch, concurrency=concurrency)
    pd.testing.assert_frame_equal(runs.table, collected(ask={"m": adds}).table)
    assert 1 <= largest <= concurrency
    assert concurrency == 1 or largest > 1


def test_async_models_are_asked_where_a_loop_is_running_already() -> None:
    async def later(prompt: str) -> str:
        return adds(prompt)

    async def notebook() -> tp.Runs:
        return collected(ask=later)

    assert len(asyncio.run(notebook()).table) == 48


def test_several_models() -> None:
    runs = collected(ask={"small": adds, "large": lambda prompt: adds(prompt.replace("teacher", "TEACHER"))})
    assert runs.models == ["small", "large"]
    profiles = runs.profile()
    assert isinstance(profiles, dict)
    small, large = (each.stability(0.5, theta1=1.0, theta2=math.inf).value for each in profiles.values())
    assert small == pytest.approx(6 * 0.4 / 12)
    assert large == pytest.approx(6 * (4 / 6) / 12)


class Flaky:
    """Fails the first times that it is asked about a prompt."""

    def __init__(self, times: int, only: str = "") -> None:
        self.times, self.only, self.asked = times, only, Counter[str]()

    def __call__(self, prompt: str) -> str:
        self.asked[prompt] += 1
        if self.only in prompt and self.asked[prompt] <= self.times:
            raise ConnectionError("busy")
        return adds(prompt)


def test_calls_that_fail_are_made_again() -> None:
    flaky = Flaky(2)
    runs = collected(ask=flaky, retries=2)
    assert not runs.missing
    assert set(flaky.asked.values()) == {3}
    assert f"{48 * 3} prompts sent" in str(runs)


def test_calls_that_fail_to_the_end_are_missing_with_their_error_and_asked_again_next_time(tmp_path: Path) -> None:
    flaky = Flaky(3, only="7")
    store = tmp_path / "runs.jsonl"
    runs = collected(ask={"m": flaky}, retries=1, store=store)
    gone = runs.table[runs.table["loss"].isna()]
    assert len(gone) == 4
    assert set(gone["sample"]) == {"q7"}
    assert runs.missing == {"ConnectionError: busy": 4}
    assert "missing     4 outcomes, 8.33% of the runs: 4 ConnectionError: busy" in str(runs)
    profile = runs.profile()
    assert isinstance(profile, tp.Profile)
    assert profile.stability(profile.risk + 0.2).missing == 4, "bounded from both sides"
    kept = collected(ask={"m": flaky}, store=store, failed="keep")
    assert kept.missing == runs.missing
    assert not collected(ask={"m": flaky}, store=store, retries=1).missing


def test_a_service_that_only_fails_is_not_asked_for_ever() -> None:
    asked = 0

    def broken(prompt: str) -> str:
        nonlocal asked
        asked += 1
        raise PermissionError("wrong key")

    runs = collected([f"number {k}" for k in range(400)], ask=broken, retries=0)
    assert asked == 20
    assert runs.unasked == 2 * 400 + 400 - 20  # no text has a mark to leave out
    assert "stopped after 20 prompts that all failed: PermissionError: wrong key" in runs.notes


def test_pauses_between_attempts_double(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(threading.Event, "wait", _recording(threading.Event.wait, pauses))
    collected(SAMPLES[:1], [], ask=Flaky(4), retries=4, backoff=0.001)
    assert [pause for pause in pauses if pause < 0.1] == [0.001, 0.002, 0.004, 0.008]


def _recording(real: Any, pauses: list[float]) -> Any:
    def wait(self: Any, timeout: float | None = None) -> bool:
        if timeout is not None:
            pauses.append(timeout)
        return bool(real(self, timeout))

    return wait


def test_a_rate_is_kept() -> None:
    """By what the limits say, not by a clock that others may hold up."""
    from tippingpoint.runs.asking import Limits

    limits = Limits(rate=50.0)
    waits = [limits.take(1) for _ in range(6)]
    assert all(wait is not None and wait <= k / 50.0 for k, wait in enumerate(waits))
    began = time.monotonic()
    collected(SAMPLES[:4], [], rate=100.0)
    assert time.monotonic() - began >= 3 / 100.0


@pytest.mark.parametrize("calls", [1, 7, 13, 30])
@pytest.mark.parametrize("batch", [None, 4])
def test_calls_are_never_exceeded_attempts_that_fail_included(calls: int, batch: int | None) -> None:
    sent = 0
    lock = threading.Lock()
    flaky = Flaky(1)

    def counting(given: Any) -> Any:
        nonlocal sent
        with lock:
            sent += 1 if batch is None else len(given)
        return flaky(given) if batch is None else [flaky(prompt) for prompt in given]

    runs = collected(ask=counting, calls=calls, batch=batch, concurrency=3, retries=1)
    assert sent <= calls
    assert sent == calls or batch is not None
    assert runs.unasked + len(runs.table) == 48
    assert "of all of them a stability is known by bounds only" in str(runs).replace("\n              ", " ")


def test_a_run_of_few_calls_goes_on_from_the_store(tmp_path: Path) -> None:
    store, asked = tmp_path / "runs.jsonl", list[str]()

    def counting(prompt: str) -> str:
        asked.append(prompt)
        return adds(prompt)

    for _ in range(5):
        runs = collected(ask={"m": counting}, store=store, calls=10)
    assert len(asked) == len(set(asked)) == 48
    pd.testing.assert_frame_equal(runs.table, collected(ask={"m": adds}).table)
    assert "8 prompts sent; 40 answers were in the store" in str(runs)


def test_a_judge_that_is_mended_judges_all_answers_anew_without_asking(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(ask={"m": adds}, store=store)

    def never(prompt: str) -> str:
        raise AssertionError("asked again")

    strict = collected(ask={"m": never}, store=store, judge=lambda _: 1.0)
    assert strict.table["loss"].mean() == 1.0


def test_an_interrupt_returns_what_was_asked_and_says_so(tmp_path: Path) -> None:
    store, asked = tmp_path / "runs.jsonl", 0

    def interrupted(prompt: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 20:
            raise KeyboardInterrupt
        return adds(prompt)

    runs = collected(ask={"m": interrupted}, store=store)
    assert runs.interrupted
    assert len(runs.table) == 19
    assert runs.unasked == 29
    assert "interrupted: what was asked by then is here" in str(runs)
    assert len(collected(ask={"m": adds}, store=store).table) == 48


def test_what_the_judge_cannot_tell_is_missing() -> None:
    runs = collected(judge=lambda answer: None if answer == "?" else math.nan if answer == "4" else 0.0)
    assert runs.missing == {"the judge could not tell": int(runs.table["answer"].isin(["?", "4"]).sum())}


def test_a_refusal_is_missing_and_not_asked_again(tmp_path: Path) -> None:
    store, asked = tmp_path / "runs.jsonl", list[str]()

    def refusing(prompt: str) -> str | None:
        asked.append(prompt)
        return None if prompt.isupper() else "0"

    for _ in range(2):
        assert collected(ask={"m": refusing}, store=store).missing == {"no answer": 12}
    assert len(asked) == 48


def test_models_share_a_budget_that_is_too_small_for_the_originals() -> None:
    runs = collected(ask={"small": adds, "large": adds}, calls=10)
    assert runs.table["model"].value_counts().to_dict() == {"small": 5, "large": 5}


def test_results_say_what_is_not_in_the_table() -> None:
    runs = collected(calls=30)
    profile = runs.profile()
    assert isinstance(profile, tp.Profile)
    result = profile.stability(0.5, theta1=1.0, theta2=math.inf)
    bound = "18 of the 48 runs that were planned: of all of them a stability is known by bounds only"
    assert f"not asked: {bound}" in result.notes
    assert "stopped at calls=30" in result.notes
    whole = collected().profile()
    assert isinstance(whole, tp.Profile)
    assert whole.stability(0.5, theta1=1.0, theta2=math.inf).value <= result.value


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        ("wrong", "judge returns 'wrong' for the answer '2' to 'original' of sample 'q1'; return a loss from 0"),
        (True, "judge returns True for the answer '2' to 'original' of sample 'q1', which could mean right or wrong"),
        (np.bool_(0), "which could mean right or wrong"),
        (7, "judge returns 7 for the answer '2' to 'original' of sample 'q1', outside [0, 1]"),
        (-0.1, "outside [0, 1]"),
        ([0.0], "judge returns [0.0]"),
    ],
)
def test_what_a_judge_may_not_say(tmp_path: Path, verdict: Any, sentence: str) -> None:
    store = tmp_path / "runs.jsonl"
    assert sentence in str(refusal(lambda: collected(judge=lambda _: verdict, store=store)))
    assert len(store.read_text().splitlines()) == 13  # the answers to the originals are not lost


def test_a_judge_that_always_fails_names_the_answer() -> None:
    def failing(answer: str) -> float:
        return 1 / 0

    assert "judge fails (division by zero) on the answer '2'" in str(refusal(lambda: collected(judge=failing)))


class Wordless(Exception):  # noqa: N818  # as a user might have it
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_a_judge_that_fails_on_one_answer_marks_it_and_goes_on() -> None:
    def judging(answer: str, sample: dict[str, Any]) -> float:
        if answer == "4":
            raise ValueError("\x1b[2J4?")
        if answer == "6":
            raise Wordless
        return judge(answer, sample)

    runs, whole = collected(judge=judging), collected()
    marked = whole.table["answer"].isin(["4", "6"])
    assert runs.missing == {
        "the judge fails: ValueError: \\x1b[2J4?": int((whole.table["answer"] == "4").sum()),
        "the judge fails: Wordless: Wordless, whose text cannot be read": int((whole.table["answer"] == "6").sum()),
    }
    pd.testing.assert_series_equal(runs.table["loss"][~marked], whole.table["loss"][~marked])
    assert runs.unasked == 0


def test_half_a_surrogate_pair_is_kept_and_readable_again(tmp_path: Path) -> None:
    store, judged = tmp_path / "runs.jsonl", list[str]()

    def odd(prompt: str) -> Any:
        return {"\ud800": ["\udfff", prompt]} if prompt.isupper() else f"\ud800{prompt}"

    def judging(answer: Any) -> float:
        judged.append(answer)
        return 0.0

    samples = [{"sample": "\udc80", "text": "what\ud800 is it", "topic": "\ud800"}, {"sample": "b", "text": "and it"}]
    for _ in range(2):
        runs = tp.collect(samples, [v.Case("upper")], ask={"\ud83d": odd}, judge=judging, store=store)
        assert runs.table["answer"].tolist() == [
            "\\ud800what\\ud800 is it",
            {"\\ud800": ["\\udfff", "WHAT\\ud800 IS IT"]},
            "\\ud800and it",
            {"\\ud800": ["\\udfff", "AND IT"]},
        ]
        assert runs.models == ["\\ud83d"]
        assert runs.table["topic"][0] == "\\ud800"
    assert judged[0] == judged[4] == "\ud800what\ud800 is it", "the judge sees the answer as it is"
    assert len(store.read_text().splitlines()) == 5


@pytest.mark.parametrize("form", ["plain", "async"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError, SystemExit, GeneratorExit, Wordless])
def test_whatever_a_call_raises_ends_that_call_and_nothing_else(form: str, error: type[BaseException]) -> None:
    asked = 0

    def plain(prompt: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise error
        return adds(prompt)

    async def later(prompt: str) -> str:
        return plain(prompt)

    runs = collected(ask=plain if form == "plain" else later, retries=0)
    assert runs.interrupted == (error is KeyboardInterrupt)
    assert asked == (3 if runs.interrupted else 48)
    if not runs.interrupted:
        assert sum(runs.missing.values()) == 1
        assert next(iter(runs.missing)).startswith(error.__name__)


def test_an_interrupt_in_a_task_of_the_users_own_ends_the_run() -> None:
    async def inner(prompt: str) -> str:
        if "3" in prompt:
            raise KeyboardInterrupt
        return adds(prompt)

    async def later(prompt: str) -> str:
        return await asyncio.create_task(inner(prompt))

    runs = collected(ask=later)
    assert runs.interrupted
    assert len(runs.table) == 2


@pytest.mark.parametrize("form", ["plain", "async", "stubborn", "batch"])
def test_a_call_that_takes_too_long_fails_and_holds_nothing_up(form: str) -> None:
    stuck = threading.Event()

    def plain(prompt: str) -> str:
        if prompt.isupper():
            stuck.wait(60)
        return adds(prompt)

    async def later(prompt: str) -> str:
        while prompt.isupper() and not stuck.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                if form == "async":
                    raise
        return adds(prompt)

    def batch(prompts: list[str]) -> list[str]:
        return [plain(prompt) for prompt in prompts]

    ask: Any = {"plain": plain, "batch": batch}.get(form, later)
    settings: dict[str, Any] = {"batch": 2} if form == "batch" else {}
    runs = collected(SAMPLES[:3], [v.Case("upper"), v.Punctuation()], ask=ask, retries=0, timeout=0.3, order="plan", **settings)
    stuck.set()
    late = runs.table["missing"] == "TimeoutError: no answer within 0.3 seconds"
    assert late[runs.table["variant"] == "case"].all()
    assert not late[runs.table["variant"] == "original"].any()
    assert form == "batch" or int(late.sum()) == 3


def test_a_coroutine_that_blocks_its_loop_is_refused_once_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tippingpoint.runs.asking.PATIENCE", 0.1)
    stuck = threading.Event()

    async def blocks(prompt: str) -> str:
        stuck.wait(60)
        return prompt

    refused = str(refusal(lambda: collected(ask=blocks, timeout=0.1)))
    stuck.set()
    assert (
        "blocks its event loop for more than timeout=0.1 seconds. Await inside it, or write it as a plain function." in refused
    )


STUCK = """
import asyncio, signal, time
import tippingpoint as tp

asked = 0

def interrupt(number, frame):
    print("interrupted", flush=True)
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)

def ask(prompt):
    global asked
    asked += 1
    if asked > 3:
        print("stuck", flush=True)
        time.sleep(300)
    return prompt

async def later(prompt):
    if asked >= 3:
        print("stuck", flush=True)
        await {wait}
    return ask(prompt)

runs = tp.collect([f"text {{k}}" for k in range(9)], [], ask={ask}, judge=lambda _: 0.0, progress=False)
print(runs.interrupted, len(runs.table), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX systems")
@pytest.mark.parametrize(
    ("ask", "wait"),
    [("ask", "None"), ("later", "asyncio.sleep(300)"), ("later", "asyncio.to_thread(time.sleep, 300)")],
)
def test_two_interrupts_end_a_run_whose_call_is_stuck(ask: str, wait: str) -> None:
    words = [sys.executable, "-c", STUCK.format(ask=ask, wait=wait)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        try:
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n"
                time.sleep(0.1)  # the first one is caught, and waits for what is under way
            told = process.communicate(timeout=30)[0]
        finally:
            process.kill()
    assert (process.returncode, told) == (0, "True 3\n")


async def coroutine(*given: Any) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"samples": []}, "samples is empty"),
        ({"samples": "one text"}, "samples=str must be a list"),
        ({"samples": [{"sample": 1, "text": "a"}, {"sample": 1, "text": "b"}]}, "samples holds 1 twice"),
        ({"samples": ["a", " "]}, "samples[1]: text=' ' must be some text"),
        ({"samples": [{"question": "a"}]}, "it needs one of 'text' and 'image'"),
        ({"variations": v.Typos()}, "variations="),
        ({"variations": ["typos"]}, "variations[0]='typos' is no variation"),
        ({"ask": {}}, "ask is empty"),
        ({"ask": {"m": "gpt"}}, "ask='gpt' of 'm' must be a function"),
        ({"ask": lambda _: object()}, "ask of 'model' returns object, which cannot be written down"),
        ({"ask": lambda _: ["a"], "batch": 5}, "returns 1 answers for 5 prompts"),
        ({"ask": lambda _: coroutine()}, "write it as async def"),
        ({"judge": coroutine}, "judge is asynchronous"),
        ({"judge": "exact"}, "judge='exact' must be a function"),
        ({"judge": lambda _, __, ___: 0.0}, "judge takes 3 arguments"),
        ({"calls": 0}, "calls=0 must be a whole number, 1 or more"),
        ({"concurrency": 1.5}, "concurrency=1.5 must be"),
        ({"rate": 0}, "rate=0 must be positive"),
        ({"timeout": 0}, "timeout=0 must be a number of seconds above 0"),
        ({"timeout": math.inf}, "timeout=inf must be a number of seconds above 0"),
        ({"name": ""}, "name='' must be the name of one model"),
        ({"name": "a", "ask": {"b": adds}}, "name='a' must be the name of one model, and ask names its models already"),
        ({"judge": lambda _: 10**400}, "outside [0, 1]"),
        ({"backoff": -1}, "backoff=-1 must be"),
        ({"order": "random"}, "order='random' is none of 'influence', 'plan'"),
        ({"failed": "drop"}, "failed='drop' is none of"),
        ({"question": {"threshold": 0.4}}, "question={'threshold': ...}: a question says risk"),
        ({"cost": {"case": 1.0}}, "cost has no price of 'wrapper'"),
        (
            {"cost": {"case": 0.0, "wrapper": 1.0, "punctuation": 1.0}},
            "the cost of 'case' of sample 'q1' is 0; only the original",
        ),
        ({"prompt": lambda sample: sample["question"]}, "prompt fails ('question')"),
        ({"prompt": lambda _: object()}, "a prompt is object"),
    ],
)
def test_what_cannot_be_collected_is_refused(settings: dict[str, Any], sentence: str) -> None:
    assert sentence in str(refusal(lambda: collected(**settings)))


def test_images_are_asked_about_and_cost_their_pixels(tmp_path: Path) -> None:
    pictures = {name: np.full((6, 6), value) for name, value in (("dark", 0.1), ("light", 0.45))}
    store = tmp_path / "runs.jsonl"
    runs = tp.collect(
        pictures,
        [v.Brightness(0.2), v.Noise(0.01)],
        ask={"eye": lambda image: "light" if image.mean() > 0.5 else "dark"},
        judge=lambda answer: float(answer != "dark"),
        store=store,
    )
    lines = runs.table.set_index(["sample", "variant"])
    assert lines["loss"].sum() == lines.loc[("light", "brightness"), "loss"] == 1.0
    assert lines.loc[("light", "brightness"), "cost"] == pytest.approx(0.04)
    assert "text" not in lines
    assert all("prompt" not in json.loads(line) for line in store.read_text().splitlines())


def test_the_prompt_may_be_made_from_all_of_a_sample() -> None:
    """An image and a question about it; the judge is given all of both."""
    pictures = [{"image": np.full((2, 2), k / 4), "question": "How light?", "target": k / 4} for k in range(4)]
    runs = tp.collect(
        pictures,
        [v.Brightness(0.2)],
        ask=lambda given: (given["question"], float(given["image"].mean())),
        judge=lambda answer, sample: float(abs(answer[1] - sample["target"]) > 0.1),
        prompt=lambda sample: {"question": sample["question"], "image": sample["image"]},
    )
    assert runs.table["loss"].tolist() == [0.0, 1.0] * 4
    assert runs.table["answer"][0] == ["How light?", 0.0]  # as JSON has it, from the store or not
    assert runs.table["cost"].tolist()[1::2] == pytest.approx([0.04] * 4)


def test_what_samples_say_of_themselves_becomes_a_column() -> None:
    frame = pd.DataFrame({"sample": ["a", "b"], "text": ["1 a", "2 b"], "topic": ["x", "y"], "weight": [1.0, 3.0]})
    runs = tp.collect(frame, [v.Case()], ask=lambda prompt: prompt, judge=lambda answer: float(answer == "2 b"))
    assert runs.table["topic"].tolist() == ["x", "x", "y", "y"]
    assert runs.profile().risk == 0.75  # type: ignore[union-attr]  # by its weight


def test_a_bar_tells_the_rate_and_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    def slow(prompt: str) -> str:
        time.sleep(0.05)
        return adds(prompt)

    collected(SAMPLES[:4], [v.Case()], ask=slow, progress=True)
    told = capsys.readouterr().err
    assert "asking" in told
    assert "8/8" in told
    assert "/s, left:" in told


@pytest.mark.parametrize("prices", [(1.0, math.inf), (1.0, 0.25), (0.4, 0.4)])
@pytest.mark.parametrize("repeats", [1, 2])
def test_what_was_never_asked_is_bounded_by_all_that_it_could_have_been(prices: tuple[float, float], repeats: int) -> None:
    """Whatever a model would have answered to the prompts that it was not asked, the stability of the whole lies between."""
    rng = np.random.default_rng(0)
    answers: dict[tuple[str, int], str] = {}

    def moody(prompt: str) -> str:
        return answers.setdefault((prompt, sum(key[0] == prompt for key in answers)), str(rng.integers(2)))

    def loss(answer: str) -> float:
        return float(answer)

    part = collected(ask={"m": moody}, judge=loss, calls=29 * repeats + 1, repeats=repeats)
    assert part.unasked == 19 * repeats - 1
    profile = part.profile()
    assert isinstance(profile, tp.Profile)
    risk = profile.risk + 0.2
    found = profile.stability(risk, theta1=prices[0], theta2=prices[1])
    assert not found.exact or found.gap <= 1e-9
    assert found.lower_by == "every run that was not asked, taken for an error"
    assert 0.0 <= found.lower <= found.upper
    waiting = part.waiting
    for draw in range(8):
        said = (
            np.ones(len(waiting)) if draw == 0 else (np.random.default_rng(draw).random(len(waiting)) < draw / 8).astype(float)
        )
        whole = pd.concat([part.table, waiting.assign(loss=said)])
        means = whole.groupby(["sample", "variant"], as_index=False)[["loss", "cost"]].mean()
        value = tp.profile_table(means).stability(risk, theta1=prices[0], theta2=prices[1]).value
        assert found.lower <= value * (1 + 1e-9) + 1e-12
        assert value <= found.upper * (1 + 1e-9)
        if draw == 0:
            assert found.lower == pytest.approx(value, abs=1e-9)


def test_a_part_passes_no_gate_that_its_lower_bound_does_not() -> None:
    runs = collected(calls=20)
    profile = runs.profile()
    assert isinstance(profile, tp.Profile)
    result = profile.stability(0.75, theta1=1.0, theta2=0.25)
    whole = collected().profile()
    assert isinstance(whole, tp.Profile)
    truth = whole.stability(0.75, theta1=1.0, theta2=0.25).value
    assert result.lower < truth < result.upper
    gate = tp.Gate(0.5 * (truth + min(result.upper, 2.0)))
    assert gate.judge({"m": result.summary}).outcome == "failed"


def test_an_interrupted_run_passes_no_gate() -> None:
    asked = 0

    def interrupted(prompt: str) -> str:
        nonlocal asked
        asked += 1
        if asked == 20:
            raise KeyboardInterrupt
        return adds(prompt)

    profile = collected(ask={"m": interrupted}).profile()
    assert isinstance(profile, tp.Profile)
    result = profile.stability(0.5, theta1=1.0, theta2=0.25)
    assert result.interrupted
    assert tp.Gate(1e-9).judge({"m": result.summary}).outcome == "interrupted"


def test_parts_can_be_compared_and_settle_nothing_that_is_not_proved() -> None:
    runs = collected(ask={"small": adds, "large": lambda prompt: adds(prompt.replace("teacher", "TEACHER"))}, calls=50)
    profiles = runs.profile()
    assert isinstance(profiles, dict)
    with pytest.warns(tp.PairingWarning, match="also one of what was tried"):
        comparison = tp.compare(profiles, risk=0.5, theta1=1.0, theta2=0.25)
    assert all(not result.exact for result in comparison.results.values())
    assert "exact" not in str(comparison)
