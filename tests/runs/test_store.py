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
        ({"samples": 7}, "holds answers for other samples (6; now 7, or other texts, or another seed)"),
        ({"variations": [tp.variations.Case("title")]}, "holds answers for other variations of them ('case'; now 'case'"),
        ({"variations": []}, "holds answers for other variations of them ('case'; now "),
    ],
)
def test_a_store_of_something_else_is_refused(tmp_path: Path, settings: dict[str, Any], sentence: str) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    before = store.read_bytes()
    assert sentence in str(refusal(lambda: collected(store, **settings)))
    assert store.read_bytes() == before


def test_a_seed_is_part_of_what_was_asked(tmp_path: Path) -> None:
    store, typos = tmp_path / "runs.jsonl", [tp.variations.Typos(0.3)]
    collected(store, variations=typos)
    assert "or another seed" in str(refusal(lambda: collected(store, variations=typos, seed=1)))


def test_models_and_repeats_may_be_added(tmp_path: Path) -> None:
    store = tmp_path / "runs.jsonl"
    collected(store)
    runs = collected(store, ask={"m": str.lower, "n": str.upper}, repeats=2)
    assert "36 prompts sent; 12 answers were in the store" in runs.notes
    assert len(runs.table) == 48


def test_a_file_that_is_no_store_is_not_written_to(tmp_path: Path) -> None:
    for content in (b"a,b\n1,2\n", b'{"a": 1}\n', b"[]\n"):
        path = tmp_path / "data.csv"
        path.write_bytes(content)
        assert "line 1 is not that of a store of answers" in str(refusal(partial(collected, path)))
        assert path.read_bytes() == content


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
