"""Sample files of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, one line a document and filter."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, listed
from tippingpoint.runs.outcomes import Choice, Log, Outcome, Place, as_written, json_lines

NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+))?")
"""A sample file without its ending: the task, and when it was run."""

INVALID = "[invalid]"
"""What the harness's filters put where they find no answer."""


def is_harness(record: dict[str, Any]) -> bool:
    """Whether a line is one of a sample file."""
    return "doc_id" in record and "resps" in record


def read_harness(path: Path, choice: Choice) -> Log:
    """The outcomes of a sample file, of one filter; the task is their variant."""
    log = Log(str(path), [])
    lines = list(json_lines(path, choice, log.dropped))
    kept = _filter(path, [str(record.get("filter", "none")) for _, record in lines], choice.filter)
    task, model = _task(path), choice.model or _model(path)
    for number, record in lines:
        if str(record.get("filter", "none")) != kept:
            log.dropped[f"of the filter {record.get('filter')!r}, where {kept!r} is taken"] += 1
            continue
        place = Place(str(path), number)
        if not is_harness(record):
            raise InputError(f"{place} has no doc_id; it is no line of a sample file of lm-evaluation-harness: delete it.")
        with as_written(place, "a sample file of lm-evaluation-harness"):
            log.outcomes.append(_outcome(place, record, task, model))
    return log


def _outcome(place: Place, record: dict[str, Any], task: str, model: str) -> Outcome:
    names = record.get("metrics") or [name for name, value in record.items() if isinstance(value, (int, float))]
    answer = _answer(record)
    return Outcome(
        sample=record["doc_id"],
        variant=task,
        model=model,
        place=place,
        scores={name: record.get(name) for name in names if name != "doc_id"},
        text=_prompt(record),
        answer=answer,
        target=record.get("target"),
        document=record.get("doc_hash") or _digest(record.get("doc")),
        missing="the filter found no answer" if answer == INVALID else None,
    )


def _filter(path: Path, filters: list[str], wanted: str | None) -> str:
    """The filter whose lines are taken."""
    found = list(dict.fromkeys(filters))
    if wanted is None and len(found) == 1:
        return found[0]
    if wanted is None:
        raise InputError(f"{path} holds each document once for each of the filters {listed(found)}; say filter={found[0]!r}.")
    if wanted not in found:
        raise InputError(f"filter={wanted!r} is not in {path}; its filters are {listed(found)}.")
    return wanted


def _task(path: Path) -> str:
    named = NAME.fullmatch(path.name.removesuffix(".jsonl"))
    return named["task"] if named else path.stem


def _model(path: Path) -> str:
    """The model that the results file beside it names; else the folder, which the harness calls by the model."""
    named = NAME.fullmatch(path.name.removesuffix(".jsonl"))
    beside = path.with_name(f"results_{named['date']}.json") if named and named["date"] else None
    if beside is not None and beside.is_file():
        try:
            name = json.loads(beside.read_text(encoding="utf-8")).get("model_name")
        except (ValueError, AttributeError):
            name = None
        if isinstance(name, str) and name:
            return name
    return path.resolve().parent.name or "model"


def _prompt(record: dict[str, Any]) -> str | None:
    """The context that the model was given."""
    arguments = record.get("arguments")
    first = next(iter(arguments.values()), None) if isinstance(arguments, dict) else arguments[0] if arguments else None
    text = first.get("arg_0") if isinstance(first, dict) else first[0] if isinstance(first, (list, tuple)) and first else first
    return text if isinstance(text, str) else None


def _answer(record: dict[str, Any]) -> Any:
    """What was generated, after the filter; of a choice by likelihood, the continuation that is likeliest."""
    replies = record.get("filtered_resps") or []
    if not replies or not all(isinstance(each, list) and len(each) == 2 for each in replies):
        return replies[0] if replies else None
    try:
        best = max(range(len(replies)), key=lambda k: float(replies[k][0]))
        return str(list(record["arguments"].values())[best]["arg_1"]).strip()
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return None


def _digest(document: Any) -> str | None:
    if document is None:
        return None
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()
