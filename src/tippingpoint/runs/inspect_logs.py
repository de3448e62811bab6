"""Logs of Inspect, `.eval` and `.json`: by its own reader (extra `inspect`); JSON also without."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.files.archives import check_size, packed, unpacked
from tippingpoint.files.base import Content, reading
from tippingpoint.runs.outcomes import Choice, Log, Outcome, Place, as_written, short
from tippingpoint.visible import visible

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
"""Inspect's letters for correct, partially correct and incorrect; N, no answer, is a missing outcome here."""

NO_ANSWER = "N"
ATTACHMENT = "attachment://"
BEFORE_ANSWER = ("system", "user")
"""Roles of messages that are the prompt."""


def is_inspect(record: Any) -> bool:
    """Whether a JSON document is a log of Inspect."""
    return isinstance(record, dict) and isinstance(record.get("eval"), dict) and "task" in record["eval"]


def read_inspect(path: Path, choice: Choice) -> Log:
    """The outcomes of a log; the task is their variant, epochs are repeats."""
    document = load(path)
    if not is_inspect(document):
        raise InputError(f"{path} is no log of Inspect; give the .eval or .json file that it wrote.")
    log = Log(str(path), [])
    held, model = document["eval"], choice.model or str(document["eval"].get("model") or "model")
    samples = document.get("samples") or []
    if not samples or not isinstance(samples, list):
        raise InputError(f"{path} holds no samples; run the evaluation with log_samples on.")
    if document.get("status") not in (None, "success"):
        log.notes.append(
            f"{path} says of itself that it ended with {document['status']!r}; {len(samples)} of its samples are there"
        )
    graded: dict[str, bool] = {}
    for each in samples:
        with as_written(Place(str(path)), "a log of Inspect"):
            log.outcomes.append(_outcome(path, each, str(held["task"]), model))
            for name, value in _values(each):
                graded[name] = graded.get(name, True) and (isinstance(value, bool) or value in (*GRADES, NO_ANSWER, None))
    log.higher_is_better = {name: True for name, all_grades in graded.items() if all_grades}  # a number may mean anything
    return log


def _outcome(path: Path, sample: dict[str, Any], task: str, model: str) -> Outcome:
    error, scores = sample.get("error") or {}, _scores(path, sample)
    missing = str(error.get("message") or "an error") if error else None if scores else "no score"
    return Outcome(
        sample=sample.get("id"),
        variant=task,
        model=model,
        place=Place(str(path)),
        repeat=int(sample.get("epoch") or 1) - 1,
        task=task,
        scores=scores,
        text=_prompt(sample),
        answer=_answer(sample),
        target=sample.get("target"),
        missing=missing,
    )


def load(path: Path) -> Any:
    """The log as a document; `.eval` needs Inspect's own reader, JSON is read by it if it is installed."""
    archive = zipfile.is_zipfile(path)
    if archive:
        with reading(visible(path), "a log of Inspect"):
            check_size(Content(path))
    try:
        from inspect_ai.log import read_eval_log
    except ImportError:
        if path.suffix != ".json":
            raise InputError(
                f"{visible(path)}: reading .eval logs needs Inspect; pip install 'tippingpoint[inspect]', or write it as .json"
                " with inspect log convert."
            ) from None
        return load_json(path)
    with TemporaryDirectory() as folder, reading(visible(path), "a log of Inspect"):
        if archive:  # what we unpacked within limits: Inspect's reader has none, and believes no size that is declared
            whole = Path(folder) / "log.eval"
            whole.write_bytes(packed(unpacked(Content(path))).getbuffer())
            path = whole
        return read_eval_log(str(path), resolve_attachments=True).model_dump(mode="json")


def load_json(path: Path) -> Any:
    """A JSON log by Python's own reader."""
    content = path.read_bytes()
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", content.count(b"\n") + 1)
        raise InputError(
            f"{path}, line {line}: not JSON, perhaps cut off ({getattr(error, 'msg', 'nested too deeply')}); run the evaluation"
            " again, or give the other logs alone."
        ) from None


def _values(sample: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values by the name of the scorer; of a scorer that gives several, by scorer/key."""
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            yield from ((f"{scorer}/{key}", each) for key, each in value.items())
        else:
            yield scorer, value


def _scores(path: Path, sample: dict[str, Any]) -> dict[str, Any]:
    """Scores as numbers, where they are grades."""
    found: dict[str, Any] = {}
    for name, value in _values(sample):
        if isinstance(value, list):
            raise InputError(
                f"{visible(path)}: the score {name!r} of sample {short(sample.get('id'))} is a list; give another metric, or a"
                " table."
            )
        found[name] = _grade(value)
    return found


def _grade(value: Any) -> Any:
    if isinstance(value, str):
        return None if value == NO_ANSWER else GRADES.get(value, value)
    return value


def _prompt(sample: dict[str, Any]) -> str | None:
    """What was said before the model first answered; where messages are not there, the input."""
    messages = sample.get("messages") or []
    if not messages:
        messages = sample["input"] if isinstance(sample.get("input"), list) else []
    spoken = []
    for each in messages:
        if each.get("role") not in BEFORE_ANSWER:
            break
        spoken.append(_content(each.get("content"), sample))
    if spoken:
        return "\n".join(spoken)
    return sample["input"] if isinstance(sample.get("input"), str) else None


def _content(content: Any, sample: dict[str, Any]) -> str:
    """The text of a message; one that was stored apart is looked up."""
    if isinstance(content, list):
        return "\n".join(_content(part.get("text", ""), sample) for part in content if isinstance(part, dict))
    text = str(content)
    if text.startswith(ATTACHMENT):
        return str((sample.get("attachments") or {}).get(text.removeprefix(ATTACHMENT), text))
    return text


def _answer(sample: dict[str, Any]) -> Any:
    choices = (sample.get("output") or {}).get("choices") or []
    return _content((choices[0].get("message") or {}).get("content", ""), sample) if choices else None
