"""Evaluation data in parts: Parquet files that are read by row groups, here or on a Dask cluster."""

from __future__ import annotations

import argparse
import glob
import logging
import re
import signal
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from tippingpoint.cached import cached_property
from tippingpoint.cli.dialects import dialect
from tippingpoint.cli.tables import ADDRESS, EXPANSION, FREE_CELLS, PARQUET
from tippingpoint.engine.parquet import parquet_columns, parquet_files, parquet_partitions, parquet_sizes, parquet_values
from tippingpoint.engine.partitions import Part, Partition, Partitions
from tippingpoint.errors import ClusterError, InputError
from tippingpoint.files.factories import modules_here, names_factory
from tippingpoint.foreign import why
from tippingpoint.preprocessing.categories import NativeCategories, as_trained

WHERE = ("workers", "cluster", "memory")
"""Options of where parts are worked on, and what is kept of them; each has the data read in parts."""

ALL_ROWS = ("report", "sensitive")
"""Options that write what is of the size of the data."""

ANSWER_SECONDS = 5
"""How long a scheduler has to answer."""

ENCRYPTED = ("tls", "wss")
"""Schemes of addresses whose connections are encrypted, and prove by certificates who is at the other end."""

CERTIFICATES = (
    "Set distributed.comm.tls in Dask's configuration, or the variables DASK_DISTRIBUTED__COMM__TLS__CA_FILE,"
    " DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY."
)
"""What an encrypted connection needs."""

SHOWN_VALUES = 1000
"""Distinct values of a column that are looked for: more are no classes, and no categories that anybody writes down."""


def in_parts(options: argparse.Namespace) -> bool:
    """Whether the data are read in parts: several files, a directory, a pattern, or any file where an option says so."""
    if options.data is None:
        return False
    several = not isinstance(options.data, str) or Path(options.data).is_dir() or _is_pattern(options.data)
    return several or any(getattr(options, name, None) is not None for name in WHERE)


def check_parts(options: argparse.Namespace) -> None:
    """Whether options about parts make sense, before the work begins."""
    given = [f"--{name}" for name in WHERE if getattr(options, name) is not None]
    if given and options.table is not None:
        raise InputError(f"{given[0]} has no meaning with --table; leave it out.")
    if not in_parts(options):
        return
    if options.workers is not None and options.cluster is not None:
        raise InputError("--workers starts a cluster and --cluster names one that runs; give one of the two.")
    for name in ALL_ROWS:
        if getattr(options, name, None) is not None:
            raise InputError(
                f"--{name} needs all rows in one place, and data in parts are not brought there; leave it out, or give one file"
                " with a sample of the rows."
            )


def refuse_parts(options: argparse.Namespace) -> None:
    """An error where data are several files for a command that needs all rows in one place."""
    if not isinstance(options.data, str):
        raise InputError(
            f"--data is {len(options.data)} files, and this command needs all rows in one place; give one, or ask evaluate or"
            " curve, which take data in parts."
        )


class PartedData:
    """Parquet files as what a command has to know of its data before anything is evaluated: their columns and values.

    Parameters
    ----------
    options
        Of the command.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.paths: list[str] = [options.data] if isinstance(options.data, str) else options.data
        paths = self.paths
        option = next((f"--{name}" for name in WHERE if getattr(options, name, None) is not None), None)
        for path in paths:
            if ADDRESS.match(path):
                raise InputError(f"{path} is an address, and nothing is fetched; download it, and give the file.")
        for path in paths:
            if Path(path).suffix.lower() in PARQUET or Path(path).is_dir() or _is_pattern(path):
                continue
            if option is None:
                raise InputError(f"--data {path}: several files are read where they are Parquet; put CSV files into one.")
            raise InputError(
                f"{option} is for data in parts, which Parquet files have, and {path} is none; write it as Parquet, or leave"
                f" {option} out."
            )
        described = dialect(options).given
        if described:
            raise InputError(f"{described[0]} is of CSV files, and the data are Parquet; leave it out.")

    @cached_property
    def files(self) -> list[str]:
        """All files, in order."""
        try:
            return [file for path in self.paths for file in parquet_files(path)]
        except InputError as error:
            raise InputError(re.sub(r"^X=(['\"])(.*?)\1", r"--data \2", str(error))) from None

    @cached_property
    def columns(self) -> list[str]:
        """Of the first file, which all others must have too."""
        return parquet_columns(self.files[0])

    def __getitem__(self, column: str) -> Any:
        """The distinct values of a column as a pandas series, or as many of them as are looked for."""
        import pandas as pd

        held: Any = None
        for values in (each for path in self.files for each in parquet_values(path, column)):
            held = values.drop_duplicates() if held is None else pd.concat([held, values]).drop_duplicates()
            if len(held) > SHOWN_VALUES:
                break
        return held

    def partitions(self, options: argparse.Namespace, used: Sequence[str], known: Mapping[str, NativeCategories]) -> Partitions:
        """The row groups, with the columns that a model takes, and categories as it was trained on."""
        self._check_sizes()
        found = parquet_partitions(self.files, options.target, options.weight, tuple(used))
        typed = [each for each in known.values() if each.by_column or each.nameless or each.text]
        if not typed:
            return found
        return TrainedPartitions(found, tuple(typed))

    def _check_sizes(self) -> None:
        """Refuse row groups that say of themselves that they would fill the memory."""
        for path in self.files:
            size = Path(path).stat().st_size
            limit = max(FREE_CELLS, EXPANSION * size)
            for group, cells in enumerate(parquet_sizes(path)):
                if cells > limit:
                    raise InputError(
                        f"{path} says that its row group {group} holds {cells:,} cells, and has {size:,} bytes; at most"
                        f" {limit:,} are read of a file of that size, so that none can fill the memory. Write it anew, in"
                        " smaller row groups."
                    )


@dataclass(frozen=True)
class Trained(Partition):
    """A partition whose columns of categories are of the type, and hold the values, that models were trained on."""

    number: int
    name: str
    partition: Partition
    known: tuple[NativeCategories, ...]

    def load(self) -> Part:
        return _as_trained(self.partition.load(), self.known)


class TrainedPartitions(Partitions):
    """All partitions as `Trained`, read in one pass as what they are made of."""

    def __init__(self, partitions: Partitions, known: tuple[NativeCategories, ...]) -> None:
        self._partitions = partitions
        self._known = known
        self.rows: tuple[int, ...] | None = partitions.rows
        self.notes: tuple[str, ...] = partitions.notes

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, number: int) -> Partition:
        each = self._partitions[number]
        return Trained(each.number, each.name, each, self._known)

    def names(self) -> list[str]:
        return self._partitions.names()

    def iterate(self, skip: Collection[int] = ()) -> Iterator[tuple[Partition, Part]]:
        for each, part in self._partitions.iterate(skip):
            yield self[each.number], _as_trained(part, self._known)
            del part  # before the next is loaded


def _as_trained(part: Part, known: Sequence[NativeCategories]) -> Part:
    x = part.x
    for each in known:
        x = as_trained(x, each)
    return replace(part, x=x)


@contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Any]:
    """The client of the cluster that the options name or ask for, while it is needed; None where they do neither."""
    if options.workers is None and options.cluster is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        option = "--workers" if options.cluster is None else "--cluster"
        raise InputError(f"{option} needs Dask, which is not installed; pip install 'tippingpoint[dask]'.") from None
    for name in ("distributed", "asyncio"):  # what matters of theirs comes back as an error
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.cluster is not None:
        _check_address(options.cluster)
        try:
            client = Client(options.cluster, timeout=ANSWER_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"--cluster {options.cluster}: no Dask scheduler answers there within {ANSWER_SECONDS} seconds ({why(error)});"
                " check the address, or start the cluster."
            ) from None
        with client:
            yield client
        return
    with ExitStack() as stack:
        if any(map(names_factory, options.model or ())):
            stack.enter_context(modules_here())  # workers find modules where this process does
        local = stack.enter_context(_local_cluster(options.workers))
        yield stack.enter_context(Client(local, set_as_default=False))


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """A cluster on this machine, of processes that leave Ctrl-C to this one."""
    from distributed import LocalCluster

    with ExitStack() as stack:
        try:
            with _interrupts_later():
                started = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=":0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
                local = stack.enter_context(started)
        except Exception as error:
            raise ClusterError(f"--workers {workers}: they do not start ({why(error)}); give fewer, or none.") from error
        yield local


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Ctrl-C waits in here; processes that are started meanwhile, and later by threads that are, never hear of it."""
    if not hasattr(signal, "pthread_sigmask") or threading.current_thread() is not threading.main_thread():
        yield
        return
    resource_tracker.ensure_running()  # which would let it through again in the thread that comes to need it first
    arrived: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))  # other threads may be told of it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
        if arrived:
            signal.raise_signal(signal.SIGINT)


def _check_address(address: str) -> None:
    """Whether Dask can make anything of an address."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, place = parse_address(address)
        get_backend(scheme)
        parse_host_port(place)
    except ValueError as error:
        raise InputError(
            f"--cluster {address} is no address ({why(error)}); give one as tcp://10.0.0.1:8786 or tls://10.0.0.1:8786."
        ) from None
    if scheme in ENCRYPTED:
        _check_certificates(address)


def _check_certificates(address: str) -> None:
    """Whether Dask's configuration holds what an encrypted connection needs."""
    from distributed.security import Security

    try:
        missing = Security().get_connection_args("client")["ssl_context"] is None
    except (OSError, ValueError) as error:  # files that are not there, or are no certificates
        raise InputError(f"--cluster {address}: the certificates cannot be read ({why(error)}). {CERTIFICATES}") from None
    if missing:
        raise InputError(f"--cluster {address} needs certificates, and Dask's configuration names none. {CERTIFICATES}")


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not Path(path).exists()


def parquet_among(path: str) -> list[str]:
    """The Parquet files that a directory or a pattern stands for; none for a file."""
    if not (Path(path).is_dir() or _is_pattern(path)):
        return []
    try:
        return parquet_files(path)
    except InputError:  # which is told where they are read
        return []
