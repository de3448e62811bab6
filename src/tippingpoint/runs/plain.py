"""Tables of runs that anybody wrote: CSV, JSON lines, Parquet or a frame, with columns of any name."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from tippingpoint.data.frames import read_frame
from tippingpoint.errors import InputError, listed
from tippingpoint.runs.outcomes import COLUMNS, ORIGINAL, Choice, Log, Outcome, Place, as_number, json_lines, short
from tippingpoint.unpacking import EXPANSION, FREE_BYTES, check_cells, unpacked_stream
from tippingpoint.visible import visible

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson")
ROLES = tuple(name for name in COLUMNS if name not in ("original", "missing"))
"""What a column can be, apart from what is worked out."""

FREE_CELLS = 2**22
"""Cells that a packed table of any size may hold: a row takes about a kilobyte here."""

MOST_REPEATS = 2**31
"""Numbers of repeats are below this."""

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
        if source.name.lower().removesuffix(".gz").endswith(JSON_LINES):
            numbered = list(json_lines(source, choice, dropped))
            return [record for _, record in numbered], [number for number, _ in numbered]
        if source.suffix.lower() in PARQUET:
            return _frame_records(_parquet(source))
        separator = "\t" if source.name.lower().removesuffix(".gz").endswith(".tsv") else ","
        with _reading(source, "CSV"), _opened(source) as file:
            frame = pd.read_csv(file, sep=separator)
            _check_cells(source, frame.size)
        records, _ = _frame_records(frame)
        with _reading(source, "CSV"), _opened(source) as file:
            lines = _csv_lines(file, separator)
        return records, [*lines] if len(lines) == len(records) else [None] * len(records)
    frame = read_frame(source, "runs")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"runs is a {type(source).__name__}; give files of logs, or a frame with one line an alternative.")
    return _frame_records(frame.to_native())


@contextmanager
def _reading(source: Path, kind: str) -> Iterator[None]:
    """Another library's error as a sentence about the file."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = short(" ".join(str(error).split()), shown=str)
        raise InputError(f"{visible(source)} cannot be read as {kind} ({reason}); check the file.") from None


@contextmanager
def _opened(source: Path) -> Iterator[IO[bytes]]:
    """A CSV file; one that is packed, unpacked within limits."""
    suffix = source.suffix.lower()
    if suffix == ".gz":
        with unpacked_stream(str(source), suffix, FREE_BYTES) as stream:
            yield stream
        return
    with source.open("rb") as file:
        yield file


def _check_cells(source: Path, cells: int) -> None:
    """Refuse a packed file of so many cells that their rows would fill the memory."""
    size = source.stat().st_size
    if cells > max(FREE_CELLS, size):
        raise InputError(
            f"{visible(source)} holds {cells:,} cells in {size:,} bytes. At most {max(FREE_CELLS, size):,} are read from a file"
            " of that size, so that none can fill the memory. Unpack it, or split it."
        )


def _parquet(source: Path) -> Any:
    import pandas as pd

    try:
        from pyarrow import parquet, types
    except ImportError:
        raise InputError(
            f"{visible(source)}: reading Parquet needs pyarrow; pip install 'tippingpoint[parquet]', or give CSV."
        ) from None
    with _reading(source, "Parquet"), source.open("rb") as file:
        check_cells(visible(source), source.stat().st_size, file, FREE_CELLS, 1.0)
        schema = parquet.read_schema(file)
        file.seek(0)
        texts = [field.name for field in schema if types.is_string(field.type) or types.is_large_string(field.type)]
        # A text that stands once in the file may stand in a million rows; these are counted before they are made.
        table = parquet.read_table(file, read_dictionary=texts)
        whole, size = sum(_text_bytes(table.column(k)) for k in range(table.num_columns)), source.stat().st_size
        limit = max(FREE_BYTES, EXPANSION * size)
        if whole > limit:
            raise InputError(
                f"{visible(source)} holds {whole:,} bytes of text once it is unpacked, in {size:,}. At most {limit:,} are read"
                " from a file of that size, so that none can fill the memory. Split it."
            )
        frame = table.to_pandas()
        for k, kind in enumerate(frame.dtypes):
            if kind == "category":
                held = frame.iloc[:, k].cat
                values = np.array([*held.categories, None], dtype=object)[held.codes]  # the last of them is what is missing
                frame.isetitem(k, pd.Series(values, frame.index, dtype=object))
    return frame


def _text_bytes(column: Any) -> int:
    """How many bytes the texts of a column of a dictionary take, each counted as often as it stands there."""
    from pyarrow import compute, types

    if not types.is_dictionary(column.type):
        return 0
    total = 0
    for chunk in column.chunks:
        if types.is_string(chunk.dictionary.type) or types.is_large_string(chunk.dictionary.type):
            lengths = compute.binary_length(chunk.dictionary)
            counts = np.bincount(chunk.indices.drop_null().to_numpy(), minlength=len(lengths))
            total += int(counts @ lengths.fill_null(0).to_numpy().astype(np.int64))
    return total


def _frame_records(frame: Any) -> tuple[list[dict[str, Any]], list[int | None]]:
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    columns = {str(name): whole[name].to_list() for name in whole.columns}
    count = len(whole)
    return [{name: values[i] for name, values in columns.items()} for i in range(count)], [None] * count


def _csv_lines(file: IO[bytes], separator: str) -> list[int | None]:
    """On which line of the file each row begins: texts may hold breaks of lines."""
    lines: list[int | None] = []
    with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
        reader = csv.reader(text, delimiter=separator)
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
            f"{place}: {role}={short(value)} must be a number{'' if role != 'loss' else ', or nothing where it is missing'}."
        )
    if role == "repeat" and number is not None and not (0 <= number < MOST_REPEATS and number.is_integer()):
        raise InputError(f"{place}: repeat={short(value)} must be a whole number, 0 or more.")
    if role == "cost" and number is not None and number < 0.0:
        raise InputError(f"{place}: cost={number:g} is below 0; costs must be 0 (the original) or more.")
    return number
