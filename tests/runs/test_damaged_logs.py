"""Logs with bits changed, parts dropped, values of other kinds: read, or refused in one sentence; never anything else."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

import tippingpoint as tp

LOGS = Path(__file__).parent / "logs"
HARNESS = sorted((LOGS / "harness" / "dummy-small").glob("samples_capitals*"))
INSPECT = sorted((LOGS / "inspect" / "json").glob("*.json"))
ODD: list[Any] = [None, 3, -1.5, "", "x", [], {}, [1], {"a": 1}, True, 1e308, "attachment://no"]


def told(call: Any) -> None:
    """Read, or refused in one sentence."""
    try:
        runs = call()
    except tp.InputError as error:
        said = str(error)
    else:
        said = str(runs).partition("\n")[0]
        assert "; the original is " in said
    assert "\n" not in said
    assert said.endswith(".")


def damaged(content: bytes, rng: random.Random) -> bytes:
    kind, place = rng.randrange(4), rng.randrange(len(content))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]
    end = min(len(content), place + rng.randrange(1, 200))
    return content[:place] + content[end:] if kind == 2 else content[:end] + content[place:]


@pytest.mark.parametrize("logs", [HARNESS, INSPECT], ids=["harness", "inspect"])
def test_bytes_that_were_changed(tmp_path: Path, logs: list[Path]) -> None:
    rng = random.Random(0)  # noqa: S311  # damage is no secret
    for path in logs:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for _ in range(80):
        path = rng.choice(logs)
        (tmp_path / path.name).write_bytes(damaged(path.read_bytes(), rng))
        told(lambda: tp.read_runs([tmp_path / each.name for each in logs]))
        (tmp_path / path.name).write_bytes(path.read_bytes())


def places(document: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a document could be changed."""
    inside = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [prefix, *(found for key, value in inside for found in places(value, (*prefix, key)))] if prefix else [
        found for key, value in inside for found in places(value, (key,))
    ]  # fmt: skip


def replaced(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    inside = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return changed


def test_values_of_other_kinds_in_a_sample_file(tmp_path: Path) -> None:
    rng, path = random.Random(1), HARNESS[0]  # noqa: S311  # as above
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    where = tmp_path / path.name
    for _ in range(120):
        place = rng.choice(places(lines))
        changed = replaced(lines, place, rng.choice(ODD))
        where.write_text("".join(json.dumps(line) + "\n" for line in changed), encoding="utf-8")
        told(lambda: tp.read_runs([where, *HARNESS[1:]], original="capitals"))


def test_values_of_other_kinds_in_a_log_of_inspect(tmp_path: Path) -> None:
    rng, path = random.Random(2), INSPECT[0]  # noqa: S311  # as above
    log = json.loads(path.read_text(encoding="utf-8"))
    where = tmp_path / path.name
    read = [place for place in places(log) if place[0] in ("eval", "samples", "status")]
    for _ in range(120):
        where.write_text(json.dumps(replaced(log, rng.choice(read), rng.choice(ODD))), encoding="utf-8")
        told(lambda: tp.read_runs([where, *INSPECT[1:]]))


def test_values_of_other_kinds_in_a_table(tmp_path: Path) -> None:
    rng = random.Random(3)  # noqa: S311  # as above
    names = ("sample", "variant", "model", "loss", "cost", "repeat", "text", "target")
    where = tmp_path / "runs.jsonl"
    for _ in range(120):
        lines = [
            {"sample": i, "variant": k, "model": "m", "loss": 0, "cost": float(k == "b"), "repeat": 0, "text": f"{i}{k}"}
            for i in range(2)
            for k in "ab"
        ]
        lines[rng.randrange(4)][rng.choice(names)] = rng.choice(ODD)
        where.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        told(lambda: tp.read_runs(where))
        told(lambda: tp.read_runs(where, cost="words", original="a"))


def test_a_fingerprint_that_is_a_list_is_one(tmp_path: Path) -> None:
    where = tmp_path / HARNESS[0].name
    lines = [json.loads(line) for line in HARNESS[0].read_text(encoding="utf-8").splitlines()]
    where.write_text("".join(json.dumps({**line, "doc_hash": ["a", {}]}) + "\n" for line in lines), encoding="utf-8")
    told(lambda: tp.read_runs([where, *HARNESS[1:]], original="capitals"))
