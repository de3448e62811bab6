"""The store of answers: killed at any moment, cut off, damaged, of something else, used twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tippingpoint as tp
from refusals import refusal

PROGRAM = """
import sys, time, threading
import tippingpoint as tp

log = open(sys.argv[2], "a", buffering=1)
lock = threading.Lock()

def ask(prompt):
    with lock:
        log.write(prompt + "\\n")
    time.sleep(0.005)
    return prompt[::-1]

runs = tp.collect(
    [f"question {k} of many" for k in range(40)],
    [tp.variations.Case("upper"), tp.variations.Typos(0.2)],
    ask={"m": ask}, judge=lambda answer: 0.5, store=sys.argv[1], concurrency=3,
)
runs.table.to_json(sys.argv[3], orient="records", lines=True)
"""


def collected(store: Path, samples: int = 6, **settings: Any) -> tp.Runs:
    given: dict[str, Any] = {"variations": [tp.variations.Case("upper")], "judge": lambda _: 0.0, "ask": {"m": str.lower}}
    given |= settings
    return tp.collect([f"question {k}" for k in range(samples)], store=store, **given)


def test_kill_9_loses_the_calls_that_were_under_way_and_no_more(tmp_path: Path) -> None:
    store, asked, table = (tmp_path / name for name in ("runs.jsonl", "asked.txt", "table.jsonl"))
    words = [sys.executable, "-c", PROGRAM, str(store), str(asked), str(table)]
    kept = kills = 0
    while True:
        process = subprocess.Popen(words)
        wanted = kept + 30
        while process.poll() is None and (not store.exists() or len(store.read_bytes().splitlines()) < wanted):
            time.sleep(0.002)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = len([line for line in store.read_bytes().splitlines()[1:] if line.endswith(b"}")])
        assert now >= wanted - 1
        kept = now
        kills += 1
    assert process.returncode == 0
    assert kills >= 2
    prompts = asked.read_text().splitlines()
    lines = [json.loads(line) for line in table.read_text().splitlines()]
    assert len(lines) == 120
    assert all(line["answer"] == line["text"][::-1] for line in lines)
    assert len(set(prompts)) == 120
    # At most three calls were under way at each kill; one more answer may have come between being asked and being written.
    assert len(prompts) - 120 <= 3 * kills
    answers = [json.loads(line)["prompt"] for line in store.read_text().splitlines()[1:]]
    assert len(answers) == len(set(answers)) == 120


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX systems")
def test_ctrl_c_ends_the_asking_and_keeps_what_there_is(tmp_path: Path) -> None:
    store, asked, table = (tmp_path / name for name in ("runs.jsonl", "asked.txt", "table.jsonl"))
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(store), str(asked), str(table)])
    while not store.exists() or len(store.read_bytes().splitlines()) < 30:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 0
    lines = table.read_text().splitlines()
    assert 29 <= len(lines) < 120
    assert len(lines) == len(store.read_bytes().splitlines()) - 1 == len(asked.read_text().splitlines())


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_last_line_that_was_cut_off_is_mended_and_said(tmp_path: Path, cut: int) -> None:
    store = tmp_path / "runs.jsonl"
    whole = collected(store)
    content = store.read_bytes()
    store.write_bytes(content[:-cut])
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return prompt.lower()

    runs = collected(store, ask={"m": ask})
    assert runs.table.equals(whole.table)
    assert store.read_bytes() == content
    assert len(asked) == (cut > 1)
    assert any("line 13 of" in note and "cut off in the middle, and is taken off" in note for note in runs.notes) == (cut > 1)


def test_damage_in_the_middle_is_an_error_that_names_the_line_and_changes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    lines = store.read_bytes().splitlines(keepends=True)
    for damage in (b"", b"{}\n", b'{"model": "m", "ke\n', b"[1]\n", b"null\n"):
        broken = b"".join([*lines[:4], damage or lines[4][:20] + b"\n", *lines[5:]])
        store.write_bytes(broken)
        assert f"{store}, line 5 is damaged in the middle of the file; nothing was changed" in str(
            refusal(lambda: collected(store))
        )
        assert store.read_bytes() == broken
    store.write_bytes(b"".join([*lines[:4], *lines[5:]]))
    assert len(collected(store).table) == 12


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"variations": [tp.variations.Case("title")]},
            "holds another text for 'case' of sample '0': other samples, variations,",
        ),
        ({"prompt": lambda sample: f"Q: {sample['text']}"}, "holds another text for 'original' of sample '0'"),
    ],
)
def test_a_store_of_something_else_is_refused(tmp_path: Path, settings: dict[str, Any], sentence: str) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    before = store.read_bytes()
    assert sentence in str(refusal(lambda: collected(store, **settings)))
    assert store.read_bytes() == before


def test_a_store_that_answers_none_of_the_prompts_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    before = store.read_bytes()
    others = {f"q{k}": f"something else {k}" for k in range(3)}
    answered = refusal(lambda: tp.collect(others, [], ask={"m": str}, judge=lambda _: 0.0, store=store))
    assert "holds 12 answers, and none to these prompts" in str(answered)
    assert store.read_bytes() == before


def test_a_seed_is_part_of_what_was_asked(tmp_path: Path) -> None:
    store, typos = tmp_path / "runs.jsonl", [tp.variations.Typos(0.3)]
    collected(store, variations=typos)
    assert "prompt= or seed=" in str(refusal(lambda: collected(store, variations=typos, seed=1)))


def test_samples_and_variations_may_be_added_and_left_out(tmp_path: Path) -> None:
    store, asked = tmp_path / "runs.jsonl", list[str]()

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return prompt.lower()

    both = [tp.variations.Case("upper"), tp.variations.Wrapper("Please: {text}")]
    collected(store, ask={"m": ask})
    grown = collected(store, samples=9, variations=both, ask={"m": ask})
    assert len(asked) == len(set(asked)) == 27
    assert "15 prompts sent; 12 answers were in the store" in grown.notes
    assert grown.table.equals(collected(tmp_path / "new.jsonl", samples=9, variations=both).table)
    part = collected(store, samples=2, ask={"m": ask})
    assert len(asked) == 27
    assert len(part.table) == 4
    assert "23 answers in the store are to prompts that are not asked here" in part.notes


def test_a_store_of_the_first_format_is_read_and_extended(tmp_path: Path) -> None:
    """Its first line described samples, whatever that says now, and its answers have no names of samples."""
    store = tmp_path / "runs.jsonl"
    collected(store)
    lines = [json.loads(line) for line in store.read_text().splitlines()[1:]]
    old = [{name: value for name, value in line.items() if name not in ("sample", "variant")} for line in lines]
    for samples in ({"count": 6, "sha256": "0"}, 5, None):
        head = {"format": "tippingpoint.runs/1", "samples": samples}
        store.write_text("".join(json.dumps(line) + "\n" for line in [head, *old]))
        runs = collected(store, samples=7)
        assert "2 prompts sent; 12 answers were in the store" in runs.notes


def test_a_prompt_that_fails_for_good_leaves_a_finished_run_as_it_was(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"

    def ask(prompt: str) -> str:
        if prompt.isupper():
            raise PermissionError("content filter")
        return prompt

    runs = [collected(store, samples=25, ask={"m": ask}, retries=0) for _ in range(3)]
    for again in runs:
        assert again.table.equals(runs[0].table)
        assert again.unasked == 0
        assert again.missing == {"PermissionError: content filter": 25}
    assert "20 prompts sent; 25 answers were in the store; 25 prompts had failed before" in runs[2].notes
    assert len(store.read_bytes().splitlines()) == 51, "the same error is not written again"


def nameless() -> dict[str, Any]:
    """Models that share their names with others."""

    class Model:
        def __call__(self, prompt: str) -> str:
            return prompt

        def ask(self, prompt: str) -> str:
            return prompt

    def closure(suffix: str) -> Any:
        def ask(prompt: str) -> str:
            return prompt + suffix

        return ask

    def listed(prompt: str, *, options: list[str] = []) -> str:  # noqa: B006  # a default that has no text of its own
        return prompt + "".join(options)

    return {
        "listed": listed,
        "<lambda>": lambda prompt: prompt,
        "partial": partial(str.replace, "a", "b"),
        "Model": Model(),
        "ask": Model().ask,
        "closure": closure("!"),
    }


@pytest.mark.parametrize("kind", list(nameless()))
def test_a_model_without_a_name_of_its_own_needs_one_in_a_store(tmp_path: Path, kind: str) -> None:
    store, ask = tmp_path / "runs.jsonl", nameless()[kind]
    shown = "ask" if kind == "closure" else kind
    assert str(refusal(lambda: collected(store, ask=ask))).startswith(f"ask={shown} has no name of its own, and the store")
    assert not store.exists()
    if kind != "partial":  # which takes another argument
        assert collected(store, ask=ask, name="large").models == ["large"]
        assert len(collected(store, ask=ask, name="small", calls=12).table) == 12, "asked, not taken from the other"


def test_another_default_of_a_keyword_makes_another_function(tmp_path: Path) -> None:
    def small(prompt: str, *, model: str = "small") -> str:
        return model

    def large(prompt: str, *, model: str = "large") -> str:
        return model

    large.__name__ = large.__qualname__ = small.__name__
    store = tmp_path / "runs.jsonl"
    assert set(collected(store, ask=small).table["answer"]) == {"small"}
    assert "is another function than the one whose answers are in store=" in str(refusal(lambda: collected(store, ask=large)))


def test_another_function_of_the_same_name_gets_no_answers_of_the_first(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    code = "def ask(prompt):\n    return client(prompt, '{}') if prompt not in {{'a', 'b', 'c'}} else ''"
    models = []
    for name in ("large", "large", "small"):
        space: dict[str, Any] = {"client": lambda _, model: model}
        exec(code.format(name), space)  # noqa: S102  # as a notebook runs a cell again
        models.append(space["ask"])
    for same in models[:2]:
        assert set(collected(store, ask=same).table["answer"]) == {"large"}
    before = store.read_bytes()
    refused = str(refusal(lambda: collected(store, ask=models[2])))
    assert "ask=ask is another function than the one whose answers are in store=" in refused
    assert "Set name='ask' if they answer the same, or another name to ask again." in refused
    assert store.read_bytes() == before
    assert set(collected(store, ask=models[2], name="ask").table["answer"]) == {"large"}, "as the user says"
    assert set(collected(store, ask=models[2], name="small").table["answer"]) == {"small"}


def test_models_and_repeats_may_be_added(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    runs = collected(store, ask={"m": str.lower, "n": str.upper}, repeats=2)
    assert "36 prompts sent; 12 answers were in the store" in runs.notes
    assert len(runs.table) == 48


FOREIGN = {
    "CSV": b"a,b\n1,2\n",
    "JSON": b'{"a": 1}\n',
    "list": b"[]\n",
    "no end of line": b"first line\nlast line, no newline at its end",
    "one line": b"one line, no newline: my only copy",
    "half a JSON line": b'{"a": 1}\n{"b": 2',
    "blank": b"\n\n",
    "spaces": b"   ",
    "zeros": b"\0" * 100,
    "begins alike": b'{"format": "tippingpoint.other/1"',
    "other format": b'{"format": "tippingpoint.runs/99"}\n{"model": "m", "key',
    "beginning of one": b'{"for',
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_no_store_is_not_written_to(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(FOREIGN[kind])
    before = path.stat()
    assert "is not a store: line 1 is not that of a store of answers" in str(refusal(partial(collected, path)))
    assert path.read_bytes() == FOREIGN[kind]
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_what_follows_a_store_is_not_cut_off_unless_it_is_half_an_answer(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    content = store.read_bytes()
    for end in (b"my notes", b'{"sample": 3', b"\0\0\0", b"[1]", b"3"):
        store.write_bytes(content + end)
        assert "line 14 is damaged" in str(refusal(lambda: collected(store)))
        assert store.read_bytes() == content + end


def test_an_empty_file_and_a_first_line_that_was_cut_off_become_a_store(tmp_path: Path) -> None:
    for begun in (b"", b'{"format": "tippingpoint.runs/2', b'{"format": "tippingpoint.runs/1", "samples": {"cou'):
        store = tmp_path / "runs.jsonl"
        store.write_bytes(begun)
        collected(store)
        assert store.read_bytes().splitlines()[0] == b'{"format": "tippingpoint.runs/2"}'
        assert "12 answers were in the store" in str(collected(store))


@pytest.mark.skipif(os.name != "posix", reason="of POSIX systems")
def test_what_is_no_file_is_no_store(tmp_path: Path) -> None:
    pipe, gone, zero = tmp_path / "pipe", tmp_path / "gone", tmp_path / "zero"
    os.mkfifo(pipe)
    gone.symlink_to(tmp_path / "nothing")
    zero.symlink_to("/dev/zero")
    for path, kind in ((pipe, "pipe"), (tmp_path, "directory"), (zero, "device"), (Path("/dev/null"), "device")):
        assert f"is a {kind}; give the name of a file" in str(refusal(partial(collected, path)))
    with pytest.raises(tp.OutputError, match="it is a link to nothing"):
        collected(gone)
    assert not (tmp_path / "nothing").exists()
    assert "is no path" in str(refusal(lambda: collected(Path("a\0b"))))
    assert "is no path" in str(refusal(lambda: collected(5)))  # type: ignore[arg-type]
    store, link = tmp_path / "runs.jsonl", tmp_path / "link"
    collected(store)
    link.symlink_to(store)
    assert "12 answers were in the store" in str(collected(link)), "a link to a store is one"


@pytest.mark.parametrize(
    "record",
    [
        '{"model": "m", "key": "k", "repeat": 1e999}',
        '{"model": "m", "key": "k", "repeat": -1}',
        '{"model": "m", "key": "k", "repeat": true}',
        '{"model": ["m"], "key": "k", "repeat": 0}',
        '{"model": "m", "key": {}, "repeat": 0}',
        '{"model": "m", "key": "k", "repeat": 0, "error": {"a": 1}}',
    ],
)
def test_a_line_of_other_kinds_of_values_is_damaged(tmp_path: Path, record: str) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    with store.open("a") as file:
        file.write(record + "\n")
    assert "line 14 is damaged" in str(refusal(lambda: collected(store)))


def test_nothing_in_a_store_moves_a_terminal(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    lines[1] = {**{name: lines[1][name] for name in ("model", "key", "repeat")}, "error": "\x1b[2J\u202e"}
    store.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert collected(store, failed="keep").missing == {"\\x1b[2J\\u202e": 1}
    lines[1] = {**lines[2], "variant": "\x1b[2J", "sample": "\x1b[1m", "key": "k"}
    store.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "\x1b" not in str(collected(store))


@pytest.mark.skipif(os.name != "posix", reason="files are locked on POSIX systems only")
def test_a_store_in_use_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"

    def ask(prompt: str) -> str:
        return str(refusal(lambda: collected(store)))

    runs = collected(store, samples=1, ask={"m": ask}, variations=[])
    assert "is in use by another run" in runs.table["answer"][0]


def test_a_store_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(tp.OutputError, match=r"cannot be written: No such file or directory; check the path\."):
        collected(tmp_path / "nowhere" / "runs.jsonl")
