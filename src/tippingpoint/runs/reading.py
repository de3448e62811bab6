"""`read_runs`: logs of evaluations, and tables, joined into one table of alternatives."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, listed
from tippingpoint.files.archives import FREE_BYTES
from tippingpoint.runs.harness import is_harness, read_harness
from tippingpoint.runs.inspect_logs import is_inspect, read_inspect
from tippingpoint.runs.joining import join
from tippingpoint.runs.outcomes import Choice, Log, check_regular, encodable, short
from tippingpoint.runs.plain import JSON_LINES, PARQUET, read_plain
from tippingpoint.runs.runs import Runs
from tippingpoint.unpacking import unpacked_stream
from tippingpoint.visible import visible

TABLES = (".csv", ".gz", ".tsv", *PARQUET)
"""Endings of files that are tables."""

LOGS = ("samples_*.jsonl", "samples_*.jsonl.gz", "*.eval", "*.json")
"""What is looked for in a folder."""


def read_runs(
    logs: Any,
    *,
    original: str | None = None,
    metric: str | None = None,
    cost: Any = None,
    model: str | None = None,
    filter: str | None = None,  # noqa: A002  # what lm-evaluation-harness calls it
    columns: Mapping[str, str] | None = None,
    repeats: bool = False,
    match: str = "documents",
    damaged: str = "refuse",
    higher_is_better: bool | None = None,
) -> Runs:
    r"""A table of alternatives from logs of evaluations: the same samples, asked in several wordings, by one model or several.

    Parameters
    ----------
    logs
        Sample files of lm-evaluation-harness (`samples_*.jsonl`), logs of Inspect (`.eval`, `.json`), or tables (CSV, JSON
        lines, Parquet, a frame): a path, a folder, or a list of these. The variant of a log is its task. A dictionary says
        it otherwise: `{"original": path, "polite": [path, path]}`. Several tasks of one variant are parts of one benchmark,
        such as those of MMLU; their samples are told apart by task. Packed files are read within limits.
    original
        The variant that is the sample as it is. Where it is not said: the one called "original", or the task whose name
        begins those of all others (`arc`, `arc_polite`); in a table with costs, that of cost 0.
    metric
        Which metric makes the loss; the first that lies between 0 and 1 if it is not given. The loss is `1 - metric`, or the
        metric itself if lower is better. Of Inspect it is a scorer, or scorer/key; of a table, a column of which 1 is best.
    cost
        What a variant costs: "words" (the share of words edited, the default where texts are known), "formats", one of
        `tp.costs`, prices by variant, as `{"polite": 0.2}`, or a function of the two texts.
    model
        What the model is called, where the logs do not say or say it wrongly.
    filter
        Which filter of lm-evaluation-harness, where a file has several.
    columns
        Columns of a table by what they are, as `{"sample": "id", "loss": "error"}`; those of the right name are found.
    repeats
        Whether several logs of one variant and model are repeated runs; refused otherwise. Epochs of Inspect are repeats.
    match
        "documents": samples of the same id must be about the same document (`doc_hash`, or the document itself). If a log
        holds the documents in another order, they are matched by document, with a note; a log of other documents is refused.
        "ids": samples are the same if their ids are. Use it if the documents themselves were varied.
    damaged
        What to do about a last line that was cut off: "refuse", or "drop" and count it.
    higher_is_better
        Whether a higher value of the metric is better. By default it is read from the results file beside the sample files
        of lm-evaluation-harness; if the logs do not say it, it is assumed, with a note.

    Returns
    -------
    Runs
        The table; printed, it says what was left out and why, and what is missing. A reply in which the filter of the harness
        found no answer, Inspect's grade N and a run that failed are missing outcomes, not errors of the model.

    Examples
    --------
    >>> import json, pathlib, tempfile, tippingpoint as tp
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for task, right in (("sums", [1.0, 1.0]), ("sums_polite", [1.0, 0.0])):
    ...     lines = [
    ...         {"doc_id": k, "arguments": [[task.replace("_", " please ") + f" {k}", ""]], "resps": [["4"]], "acc": right[k]}
    ...         for k in range(2)
    ...     ]
    ...     written = (folder / f"samples_{task}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    >>> runs = tp.read_runs(folder, model="small")
    >>> runs.table[["sample", "variant", "loss", "cost"]].values.tolist()
    [[0, 'sums', 0.0, 0.0], [0, 'sums_polite', 0.0, 0.5], [1, 'sums', 0.0, 0.0], [1, 'sums_polite', 1.0, 0.5]]
    """
    if damaged not in ("refuse", "drop"):
        raise InputError(f"damaged={damaged!r} is neither 'refuse' nor 'drop'; use one of them.")
    if match not in ("documents", "ids"):
        raise InputError(f"match={match!r} is neither 'documents' nor 'ids'; use one of them.")
    if higher_is_better is not None and not isinstance(higher_is_better, bool):
        raise InputError(f"higher_is_better={short(higher_is_better)} must be True or False.")
    choice = Choice(metric, filter, model, dict(columns or {}), damaged)
    read = [_named(variant, _read(source, choice)) for variant, source in _sources(logs)]
    _check_use(read, choice)
    table, base, dropped, loss, priced, notes = join(
        read,
        original=original,
        metric=metric,
        cost=cost,
        repeats=repeats,
        by_id=match == "ids",
        higher_is_better=higher_is_better,
    )
    return Runs(table, encodable(base), dict(dropped), 0, loss, priced, tuple(notes))


def _sources(logs: Any) -> list[tuple[str | None, Any]]:
    """What is to be read, with the variant that the user says it is."""
    found: list[tuple[str | None, Any]] = []
    if isinstance(logs, Mapping):
        for variant, given in logs.items():
            for each in given if isinstance(given, (list, tuple)) else [given]:
                found += [(str(variant), source) for source in _expanded(each)]
    else:
        found = [(None, source) for each in (logs if isinstance(logs, (list, tuple)) else [logs]) for source in _expanded(each)]
    if not found:
        raise InputError(f"logs={short(logs)} holds nothing to read; give files of logs.")
    return found


def _expanded(given: Any) -> list[Any]:
    """A file, the logs in a folder, or a table as it is."""
    if not isinstance(given, (str, Path)):
        return [given]
    if not str(given):
        raise InputError("logs='' is an empty path. Name a log, a folder of logs, or a table.")
    path = Path(given)
    try:
        folder = path.is_dir()
    except (OSError, ValueError):  # a path that no system has
        folder = False
    if not folder:
        check_regular(path)
        return [path]
    named = sorted(each for pattern in LOGS for each in path.rglob(pattern))
    for each in named:
        if not each.is_dir():
            check_regular(each)  # never left out in silence: a log that is missing changes the answer
    found = [each for each in named if each.is_file() and (each.suffix != ".json" or _is_log(each))]
    if not found:
        raise InputError(f"{visible(path)} holds no log; in a folder, {', '.join(LOGS)} are looked for.")
    return found


def _is_log(path: Path) -> bool:
    """Whether a JSON file in a folder is a log of Inspect; results of other tools lie there too."""
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return b'"eval"' in head and b'"task"' in head


def _read(source: Any, choice: Choice) -> Log:
    """A log, by whoever reads its kind: what is in a file decides, not its name alone."""
    if not isinstance(source, Path):
        return read_plain(source, choice)
    suffix = source.suffix.lower()
    if suffix == ".eval" or zipfile.is_zipfile(source):
        return read_inspect(source, choice)
    if _is_json_lines(source.name):
        return read_harness(source, choice) if _first_is_harness(source) else read_plain(source, choice)
    if suffix == ".json":
        return read_inspect(source, choice)
    if suffix in TABLES:
        return read_plain(source, choice)
    raise InputError(f"{visible(source)} is no log that is known by its ending; give .jsonl, .eval, .json, .csv or .parquet.")


def _is_json_lines(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(JSON_LINES)


def _first_is_harness(path: Path) -> bool:
    try:
        with unpacked_stream(str(path), ".gz", FREE_BYTES) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
        record = json.loads(first)
    except InputError:
        raise
    except (ValueError, RecursionError, EOFError, zlib.error, gzip.BadGzipFile):
        return path.name.startswith("samples_")
    return isinstance(record, dict) and is_harness(record) and not is_inspect(record)


def _named(variant: str | None, log: Log) -> Log:
    if variant is not None:
        for each in log.outcomes:
            each.variant = variant
    return log


def _check_use(logs: list[Log], choice: Choice) -> None:
    """Refuse a choice that nothing was chosen by."""
    plain = [log.path for log in logs if any(each.extra or not each.scores for each in log.outcomes)]
    if choice.columns and not plain and all(not log.path.endswith(TABLES) for log in logs):
        raise InputError(f"columns={choice.columns!r} is of tables, and {listed([log.path for log in logs], 2)} are logs.")
    harness = [log.path for log in logs if log.higher_is_better is not None and _is_json_lines(log.path)]
    if choice.filter is not None and not harness:
        raise InputError(f"filter={choice.filter!r} is of sample files of lm-evaluation-harness; leave it out.")
