"""Attacks on what reads logs and what asks models: odd logs, files that are no stores, calls and judges that misbehave.

The big trial: ``python tests/hostile/trial.py``; `cases` of a kind are drawn by a seed.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import tempfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import tippingpoint as tp
from malformed import limited
from tippingpoint.cli import main
from tippingpoint.visible import is_hidden

Rng = np.random.Generator

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0.5,
        10**400,
        2**63,
        float("nan"),
        float("inf"),
        1e308,
        "",
        "x",
        "\ud800",
        "\x1b[2J",
        "\u202e",
        "x" * 5000,
    ),
    *([], {}, [[]], {"a": 1}, ["a", "b"], "9" * 5000),
)
"""Values that are put where others belong."""

SAMPLES = [{"sample": f"q{k}", "text": f"question number {k} of six", "target": "x"} for k in range(6)]
VARIATIONS = [tp.variations.Case("upper")]


def _pick(rng: Rng, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _harness(rng: Rng, folder: Path, task: str) -> Path:
    """A sample file, its values or its bytes spoiled or not."""
    lines = []
    for k in range(4):
        line: dict[str, Any] = {"doc_id": k, "doc": {"q": k}, "target": "0", "resps": [["."]], "filter": "none"}
        line |= {"metrics": ["acc"], "acc": float(rng.integers(2)), "filtered_resps": ["."], "doc_hash": str(k)}
        line |= {"arguments": {"gen_args_0": {"arg_0": f"{task} {k}"}}}
        if rng.random() < 0.15:
            line[_pick(rng, list(line))] = _pick(rng, ODD)
        lines.append(line)
    path = folder / f"samples_{task}_2026-01-31T10-00-00.jsonl"
    content = "".join(json.dumps(line) + "\n" for line in lines).encode()
    if rng.random() < 0.2:
        place = int(rng.integers(len(content)))
        content = (
            content[:place]
            if rng.random() < 0.5
            else content[:place] + bytes(rng.integers(0, 256, 9, dtype=np.uint8)) + content[place:]
        )
    if rng.random() < 0.15:
        path, content = path.with_name(f"{path.name}.gz"), gzip.compress(content)[: None if rng.random() < 0.7 else -9]
    path.write_bytes(content)
    return path


def logs(rng: Rng, folder: Path) -> str:
    """A folder of logs, read by the command: an answer, or one sentence."""
    for task in ("t", "t_b"):
        _harness(rng, folder, task)
    results = {"model_name": "m", "higher_is_better": {"t": {"acc": bool(rng.integers(2))}}}
    if rng.random() < 0.6:
        results[_pick(rng, list(results))] = _pick(rng, ODD)
    (folder / "results_2026-01-31T10-00-00.json").write_text(json.dumps(results))
    kind, odd = int(rng.integers(10)), folder / _pick(rng, ("x.json", "samples_z.jsonl", "z.eval", "z.csv.gz", "z.parquet"))
    given = [str(folder)]
    if kind == 0:
        os.mkfifo(odd)
    elif kind == 1:
        odd.symlink_to(_pick(rng, ("/dev/zero", "gone", odd.name, "/dev/null", "/")))
    elif kind == 2:
        odd.write_bytes(bytes(rng.integers(0, 256, 300, dtype=np.uint8)))
    elif kind == 3:
        with zipfile.ZipFile(folder / "z.eval", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", b" " * (70 * 2**20))
    elif kind == 4:
        odd = folder / "z.csv.gz"
        with gzip.open(odd, "wb", 1) as packed:
            packed.write(b"sample,loss,cost\n")
            for _ in range(260 if rng.random() < 0.3 else 1):
                packed.write(b"1,0,0\n" * (2**20 // 6))
    if kind in (1, 2, 4) or rng.random() < 0.1:
        given = [str(odd)]
    return _command("runs", *given, "--original", "t", *(["--metric", "acc"] if rng.random() < 0.5 else []))


def _command(*words: str) -> str:
    """What a command comes to, in a word, or what is wrong with that."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    said = err.getvalue()
    if code not in (0, 2):
        return f"exit code {code}: {said[:300]!r}"
    if any(is_hidden(letter) for letter in (out.getvalue() + said).replace("\n", "")):
        return f"something that is not seen: {said[:300]!r}"
    return "answered" if code == 0 else "refused" if said.count("\n") == 1 else f"more than one line: {said[:300]!r}"


def _collected(store: Path | None, ask: Any, **settings: Any) -> tp.Runs:
    given: dict[str, Any] = {"judge": lambda answer: float(str(answer) != "x"), "progress": False, "retries": 0, "backoff": 0.0}
    return tp.collect(SAMPLES, VARIATIONS, ask=ask, store=store, **(given | settings))


def _refusable(call: Callable[[], Any]) -> tuple[str, Any]:
    try:
        return "answered", call()
    except tp.TippingPointError as error:
        said = str(error)
        sound = "\n" not in said and not any(is_hidden(letter) for letter in said)
        return ("refused" if sound else f"no sentence: {said[:300]!r}"), None


def stores(rng: Rng, folder: Path) -> str:
    """A store that is damaged, tampered with or no store: it is mended, or refused and left as it is."""
    path = folder / "runs.jsonl"
    whole = _collected(path, {"m": str.lower})
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    kind = int(rng.integers(6))
    half = False
    if kind == 0:  # killed while it wrote
        path.write_bytes(content[: len(content) - int(rng.integers(1, len(lines[-1]) - 12))])
        half = True
    elif kind == 1:  # a value of another kind
        number = int(rng.integers(len(lines)))
        record = json.loads(lines[number])
        record[_pick(rng, list(record))] = _pick(rng, ODD)
        lines[number] = json.dumps(record).encode() + b"\n"
        path.write_bytes(b"".join(lines))
    elif kind == 2:  # bytes of somebody else's
        junk = bytes(rng.integers(0, 256, int(rng.integers(1, 200)), dtype=np.uint8))
        path.write_bytes(_pick(rng, (junk, junk + content, b"my notes\nlast line", b'{"a": 1}', content[1:], b"\n" + content)))
    elif kind == 3:  # changed in the middle
        place = int(rng.integers(len(content) - 1))
        path.write_bytes(content[:place] + bytes([content[place] ^ (1 << int(rng.integers(7)))]) + content[place + 1 :])
    elif kind == 4:  # no file
        path.unlink()
        (path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero"), lambda: path.symlink_to("gone"))[
            int(rng.integers(4))
        ]()
    regular = path.is_file()
    before = path.read_bytes() if regular else b""
    told, runs = _refusable(lambda: _collected(path, {"m": str.lower}))
    if told == "refused" and regular and path.read_bytes() != before:
        return "a file that was refused was changed"
    if told == "answered" and kind in (2, 4):
        return "a file that is no store was taken for one"
    if half and (told != "answered" or path.read_bytes() != content or not runs.table.equals(whole.table)):
        return "half a line was not mended"
    if told == "answered":
        after = path.read_bytes()
        again = _collected(path, {"m": str.lower})
        if not again.table.equals(runs.table) or path.read_bytes() != after:
            return "the same again is something else"
    return told


class Wordless(Exception):  # noqa: N818  # as a user might have it
    """An exception whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


RAISED = (KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError, Wordless, ValueError("\x1b[2J"), RecursionError)


def calls(rng: Rng, folder: Path) -> str:
    """Models and judges that raise, hang or return what nobody expects, with a store and without."""
    bad, judged_bad = int(rng.integers(12)), int(rng.integers(24))
    raised, odd, verdict = _pick(rng, RAISED), _pick(rng, (*ODD, "\udfff", {"\ud800": 1}, object())), _pick(rng, ODD)
    kind, count, judged = int(rng.integers(3)), 0, 0
    over = threading.Event()

    def plain(prompt: str) -> Any:
        nonlocal count
        count += 1
        if count - 1 != bad:
            return "x"
        if kind == 0:
            raise raised
        if kind == 1:
            over.wait(60)
        return odd

    async def later(prompt: str) -> Any:
        if kind == 1 and count == bad:
            await asyncio.sleep(60)
        return plain(prompt)

    def judge(answer: Any) -> Any:
        nonlocal judged
        judged += 1
        if judged - 1 != judged_bad:
            return 0.0
        if kind == 2:
            return verdict
        raise Wordless

    store = folder / "runs.jsonl" if rng.random() < 0.5 else None
    settings: dict[str, Any] = {"concurrency": int(rng.integers(1, 4)), "timeout": 0.15 if kind == 1 else None}
    ask = {"m": later if rng.random() < 0.5 else plain}
    try:
        told, runs = _refusable(lambda: _collected(store, ask, judge=judge, **settings))
    except KeyboardInterrupt:  # before there is any answer, as if somebody had pressed Ctrl-C
        return "refused" if kind == 0 and raised is KeyboardInterrupt and bad < settings["concurrency"] else "an interrupt"
    finally:
        over.set()
    if told != "answered":
        return told
    if not runs.interrupted and (runs.unasked or len(runs.table) != 12):
        return f"runs are not there: {len(runs.table)}"
    if any(is_hidden(letter) for letter in str(runs).replace("\n", "")):
        return "something that is not seen"
    runs.table.to_csv(folder / "table.csv")
    return "answered"


KINDS: dict[str, Callable[[Rng, Path], str]] = {"logs": logs, "stores": stores, "calls and judges": calls}


def trial(kind: str, count: int, seed: int) -> Counter[str]:
    """What came of so many cases of a kind; what hangs is one that failed."""
    outcomes: Counter[str] = Counter()
    for k in range(count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                with limited():
                    told = KINDS[kind](np.random.default_rng((seed, k)), Path(folder))
            except BaseException as error:  # noqa: BLE001  # whatever comes out is what is looked for
                told = f"{type(error).__name__} came out: {str(error)[:200]!r}"
        outcomes[told if told in ("answered", "refused") else f"case {k} of seed {seed}: {told}"] += 1
    return outcomes
