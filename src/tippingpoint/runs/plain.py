"""Tables of runs that anybody wrote: CSV, JSON lines, Parquet or a frame, with columns of any name."""

from __future__ import annotations

import csv
import gzip
import math
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from tippingpoint.data.frames import read_frame
from tippingpoint.errors import InputError, listed
from tippingpoint.runs.outcomes import COLUMNS, ORIGINAL, Choice, Log, Outcome, Place, as_number, json_lines

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
ROLES = tuple(name for name in COLUMNS if name not in ("original", "missing"))
"""What a column can be, apart from what is worked out."""

ONE_MODEL = "model"
"""What a model is called that no column names."""


def read_plain(source: Any, choice: Choice) -> Log:
    """The outcomes of a table: one line an alternative."""
    log = Log("table" if not isinstance(source, Path) else str(source), [])
    records, lines = _records(source, choice, log.dropped)
    if not records:
        raise InputError(f"{log.path} holds no line; give one line an alternative.")
    roles = _roles(log.path, list(records[0]), choice)
    for line, record in zip(lines, records, strict=True):
        log.outcomes.append(_outcome(Place(log.path, line), record, roles, choice))
    return log


def _records(source: Any, choice: Choice, dropped: Counter[str]) -> tuple[list[dict[str, Any]], list[int | None]]:
    """Lines as dictionaries, and their numbers in the file."""
    import narwhals as nw
    import pandas as pd

    if isinstance(source, Path):
        if source.suffix in JSON_LINES:
            numbered = list(json_lines(source, choice, dropped))
            return [record for _, record in numbered], [number for number, _ in numbered]
        if source.suffix in PARQUET:
            return _frame_records(_parquet(source))
        try:
            frame = pd.read_csv(source)
        except (ValueError, OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise InputError(f"{source} cannot be read as CSV ({' '.join(str(error).split())}); check the file.") from None
        records, _ = _frame_records(frame)
        lines = _csv_lines(source)
        return records, [*lines] if len(lines) == len(records) else [None] * len(records)
    frame = read_frame(source, "runs")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"runs is a {type(source).__name__}; give files of logs, or a frame with one line an alternative.")
    return _frame_records(frame.to_native())


def _parquet(source: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(source)
    except ImportError:
        raise InputError(
            f"{source}: reading Parquet needs pyarrow; pip install 'tippingpoint[parquet]', or give CSV."
        ) from None
    except ValueError as error:
        raise InputError(f"{source} cannot be read as Parquet ({' '.join(str(error).split())}); check the file.") from None


def _frame_records(frame: Any) -> tuple[list[dict[str, Any]], list[int | None]]:
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    columns = {str(name): whole[name].to_list() for name in whole.columns}
    count = len(whole)
    return [{name: values[i] for name, values in columns.items()} for i in range(count)], [None] * count


def _csv_lines(path: Path) -> list[int | None]:
    """On which line of the file each row begins: texts may hold breaks of lines."""
    lines: list[int | None] = []
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        begins = 1
        for cells in reader:
            if cells:
                lines.append(begins)
            begins = reader.line_num + 1
    return lines[1:]


def _roles(path: str, names: list[str], choice: Choice) -> dict[str, str]:
    """The column of each role: as the user says, else the one of that name."""
    unknown = [role for role in choice.columns if role not in (*ROLES, "metric")]
    if unknown:
        raise InputError(f"columns={{{unknown[0]!r}: ...}}: a column can be {', '.join((*ROLES, 'metric'))}.")
    for role, name in choice.columns.items():
        if name not in names:
            raise InputError(f"{path} has no column {name!r} for the {role}; its columns are {listed(names)}.")
    roles = {role: role for role in ROLES if role in names} | dict(choice.columns)
    if "metric" in roles and choice.metric is None:
        roles["score"] = roles["metric"]
    elif choice.metric is not None:
        if choice.metric not in names:
            raise InputError(f"{path} has no column {choice.metric!r} for the metric; its columns are {listed(names)}.")
        roles["score"] = choice.metric
    if "score" in roles:
        roles.pop("loss", None)
    if "sample" not in roles or not {"loss", "score"} & set(roles):
        lacking = "sample" if "sample" not in roles else "loss"
        also = ", or a metric of which 1 is best, as metric='correct'" if lacking == "loss" else ""
        raise InputError(
            f"{path} has no column for the {lacking}; its columns are {listed(names)}: say columns={{{lacking!r}: ...}}{also}."
        )
    return roles


def _outcome(place: Place, record: dict[str, Any], roles: dict[str, str], choice: Choice) -> Outcome:
    def held(role: str) -> Any:
        value = record.get(roles[role]) if role in roles else None
        return None if isinstance(value, float) and math.isnan(value) else value

    sample = held("sample")
    if sample is None:
        raise InputError(f"{place}: the sample is missing; every line needs its own.")
    cost = _number(place, "cost", held("cost"), needed="cost" in roles)
    repeat = _number(place, "repeat", held("repeat"), needed="repeat" in roles)
    loss = held("loss")
    score = held("score")
    used = set(roles.values())
    return Outcome(
        sample=sample,
        variant=str(held("variant")) if held("variant") is not None else (ORIGINAL if cost == 0.0 else ""),
        model=choice.model or (str(held("model")) if held("model") is not None else ONE_MODEL),
        place=place,
        repeat=int(repeat or 0),
        scores={roles["score"]: score} if "score" in roles else {},
        loss=_number(place, "loss", loss, needed=False),
        cost=cost,
        text=held("text"),
        answer=held("answer"),
        variation=held("variation"),
        missing=None if "score" in roles or loss is not None else "no loss in the table",
        extra={name: value for name, value in record.items() if name not in used and name not in COLUMNS},
    )


def _number(place: Place, role: str, value: Any, *, needed: bool) -> float | None:
    number = as_number(value)
    if number is None and (needed or value is not None):
        raise InputError(
            f"{place}: {role}={value!r} must be a number{'' if role != 'loss' else ', or nothing where it is missing'}."
        )
    if role == "cost" and number is not None and number < 0.0:
        raise InputError(f"{place}: cost={number:g} is below 0; costs must be 0 (the original) or more.")
    return number
