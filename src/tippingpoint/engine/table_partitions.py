"""Tables of alternatives beyond memory: on a cluster shuffled so that each sample is whole in one partition, otherwise read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.blocks import InMemory
from tippingpoint.data.frames import read_frame
from tippingpoint.engine.dask import Cluster, ClusterSamples, on_cluster
from tippingpoint.engine.partitions import Listed, named, partitions_of
from tippingpoint.engine.placed import Placed
from tippingpoint.errors import InputError
from tippingpoint.families.table.reading import TableSamples, read_alternatives


@dataclass(frozen=True)
class TablePart:
    """The samples of one partition of a table; None where it is empty."""

    samples: TableSamples | None
    range: tuple[float, float]

    @property
    def weight(self) -> float:
        return 0.0 if self.samples is None else self.samples.whole


def in_memory(table: Any, loss: str) -> Any:
    """The frame of a table that comes as Parquet files, a list of frames or an iterator of them; any other as it is."""
    import narwhals as nw

    if isinstance(read_frame(table, "table"), nw.DataFrame):
        return table
    found = partitions_of(table, loss)
    if found is None:
        return table
    frames = []
    for _, part in found.iterate():
        if part.rows:
            frame, losses = nw.from_native(part.x, eager_only=True), nw.from_native(part.y, series_only=True)
            frames.append(frame.with_columns(losses.alias(loss)))
    if not frames:
        raise InputError("the table is empty; give one line an alternative.")
    return nw.concat(frames, how="vertical").to_native()


def table_on_cluster(table: Any, roles: Mapping[str, str], client: Any) -> tuple[ClusterSamples, tuple[float, float]]:
    """The samples of a Dask frame, placed on the workers of a cluster, and the range of their losses."""
    columns = [str(name) for name in table.columns]
    if roles["sample"] not in columns:  # what else is missing, the lines say
        raise InputError(f"the table has no column {roles['sample']!r} for the sample; its columns are {columns!r}.")
    cluster = Cluster(client, Listed(()))
    with on_cluster():
        rows = client.compute(table.shuffle(on=roles["sample"]).to_delayed())
        parts = [client.submit(_read, number, each, dict(roles), pure=False) for number, each in enumerate(rows)]
        facts = cluster.collected([client.submit(_facts, each, pure=False) for each in parts])
        whole = sum(weight for weight, _ in facts)
        placed = [client.submit(_place, number, each, whole, pure=False) for number, each in enumerate(parts)]
    if not whole:
        raise InputError("the table is empty; give one line an alternative.")
    nothing = cluster.sent(None, "nothing")
    ranges = [held for weight, held in facts if weight]
    whole_range = min(low for low, _ in ranges), max(high for _, high in ranges)
    return ClusterSamples(cluster, nothing, nothing, placed, here=None), whole_range


def _read(number: int, frame: Any, roles: Mapping[str, str]) -> TablePart:
    with named(f"partition {number} of the table, shuffled by sample"):
        if not len(frame):
            return TablePart(None, (0.0, 1.0))
        alternatives = read_alternatives(read_frame(frame.reset_index(drop=True), "table"), roles)
        return TablePart(alternatives.of(), alternatives.range)


def _facts(part: TablePart) -> tuple[float, tuple[float, float]]:
    return part.weight, part.range


def _place(number: int, part: TablePart, whole: float) -> Placed:
    if part.samples is None:
        return Placed(number, None, np.empty(0), None, range(0), (), 1)
    oracle, base = part.samples.oracle, part.samples.base * (part.weight / whole)
    return Placed(number, oracle, base, oracle, part.samples.labels, (), 1)


def count_samples(samples: ClusterSamples) -> int:
    """How many there are."""
    return int(sum(samples.each(_count)))


def _count(placed: Placed) -> int:
    held: InMemory | None = placed.samples
    return 0 if held is None else len(held.base)
