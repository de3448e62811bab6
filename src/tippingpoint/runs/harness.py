"""Sample files of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, one line per document and filter."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
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
    lines = list(json_lines(path, choice, dropped := Counter[str]()))
    kept = _filter(path, [str(record.get("filter", "none")) for _, record in lines], choice.filter)
    task, results = _task(path), _results(path)
    model = choice.model or _model(path, results)
    metrics = {name: None for _, record in lines for name in _metrics(record)}
    log = Log(str(path), [], dropped, higher_is_better=_directions(results, task, kept, metrics))
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
    answer = _answer(record)
    return Outcome(
        sample=record["doc_id"],
        variant=task,
        model=model,
        place=place,
        task=task,
        scores={name: record.get(name) for name in _metrics(record)},
        text=_prompt(record),
        answer=answer,
        target=record.get("target"),
        document=str(record["doc_hash"]) if record.get("doc_hash") else None,
        content=_digest(record.get("doc")),
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


def _metrics(record: dict[str, Any]) -> list[str]:
    """The names of the metrics of a line."""
    named = record.get("metrics")
    if isinstance(named, list) and named:
        return [name for name in named if isinstance(name, str) and name != "doc_id"]
    return [name for name, value in record.items() if isinstance(value, (int, float)) and name != "doc_id"]


def _task(path: Path) -> str:
    named = _named(path)
    return named["task"] if named else path.name.removesuffix(".gz").removesuffix(".jsonl")


def _named(path: Path) -> re.Match[str] | None:
    return NAME.fullmatch(path.name.removesuffix(".gz").removesuffix(".jsonl"))


def _results(path: Path) -> list[dict[str, Any]]:
    """The results files beside a sample file: the one of its date, or all if its name has no date."""
    named = _named(path)
    if named and named["date"]:
        beside = [path.with_name(f"results_{named['date']}.json")]
    else:
        beside = sorted(path.parent.glob("results*.json"))
    found = []
    for each in beside:
        if each.is_file():  # neither a pipe nor a device
            with suppress(ValueError, RecursionError):
                found.append(json.loads(each.read_text(encoding="utf-8")))
    return [each for each in found if isinstance(each, dict)]


def _directions(results: list[dict[str, Any]], task: str, filter_: str, metrics: Iterable[str]) -> dict[str, bool]:
    """Whether a higher value is better, by metric; without those of which the results files say nothing, or both."""
    told = {name: {each for document in results for each in _told(document, task, filter_, name)} for name in metrics}
    return {name: values.pop() for name, values in told.items() if len(values) == 1}


def _told(document: dict[str, Any], task: str, filter_: str, metric: str) -> Iterator[bool]:
    """What a results file says of a metric: in `higher_is_better`, by filter or not, else in the metrics of the task."""
    of_task = _entry(document.get("higher_is_better"), task)
    value = _entry(of_task, f"{metric},{filter_}")
    value = _entry(of_task, metric) if value is None else value
    value = _entry(value, filter_) if isinstance(value, dict) else value
    if isinstance(value, bool):
        yield value
        return
    listed_ = _entry(_entry(document.get("configs"), task), "metric_list")
    for each in listed_ if isinstance(listed_, list) else ():
        if _entry(each, "metric") == metric and isinstance(_entry(each, "higher_is_better"), bool):
            yield each["higher_is_better"]


def _entry(mapping: Any, name: str) -> Any:
    return mapping.get(name) if isinstance(mapping, dict) else None


def _model(path: Path, results: list[dict[str, Any]]) -> str:
    """The model that the results file of the same date names; else the folder, which the harness calls by the model."""
    named = _named(path)
    name = _entry(results[0], "model_name") if results and named and named["date"] else None
    return name if isinstance(name, str) and name else path.resolve().parent.name or "model"


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
