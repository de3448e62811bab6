"""The profile of a model on data in partitions: Dask collections, Parquet files, iterators of frames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.engine.dask import Cluster, check_client, cluster_samples, current_client
from tippingpoint.engine.oracle import PartitionedOracle
from tippingpoint.engine.partitions import Partitions, partitions_of
from tippingpoint.engine.planning import plan
from tippingpoint.engine.samples import LocalSamples, PartitionedSamples
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.base import Family
from tippingpoint.families.registry import FAMILIES
from tippingpoint.processors import free_memory, threads_of
from tippingpoint.space import Space
from tippingpoint.space.scaling import Scale

MEMORY_SHARE = 0.5
"""Part of the free memory that what is kept of partitions may take, where nobody says how much."""

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def in_partitions(X: Any, y: Any, sample_weight: Any, client: Any, memory: Any) -> Partitions | None:  # noqa: N803  # as users know it
    """The partitions of data that are not in memory as one table; None for those that are, which have no use for the others."""
    found = partitions_of(X, y, sample_weight)
    for name, value in (("client", client), ("memory", memory)):
        if found is None and value is not None:
            raise InputError(
                f"{name}={value!r} is for data in partitions; X is in memory, so leave it out, or pass a Dask collection, a"
                " Parquet path or an iterator of frames."
            )
    return found


def refuse_partitions(X: Any, y: Any, door: str) -> None:  # noqa: N803  # as users know it
    """An error where a question is asked of partitions that needs all rows in one place."""
    if partitions_of(X, y) is not None:
        raise UnsupportedError(
            f"{door} takes data in memory; ask tippingpoint.profile(...) or stability(...) of data in partitions, model by"
            " model, or pass a sample of the rows as a frame."
        )


def profile_of(
    model: Any,
    partitions: Partitions,
    options: Mapping[str, Any],
    *,
    loss: Any,
    space: Space | None,
    scale: Scale | None,
    client: Any,
    memory: Any,
) -> tuple[Profile, Family]:
    """The profile of a model on partitions, and the family that serves it."""
    threads = threads_of(options.get("threads"))
    connected = current_client() if client is None else check_client(client)
    budget = None if memory is None else read_memory(memory)
    samples: PartitionedSamples
    if connected is None:
        made = plan(model, partitions, options, loss=loss, space=space, scale=scale)
        free = int(MEMORY_SHARE * free_memory()) if budget is None else budget
        samples = LocalSamples(model, made, partitions, threads, free, progress=options.get("progress"))
    else:
        cluster = Cluster(connected, partitions)
        made = plan(model, partitions, options, loss=loss, space=space, scale=scale, run=cluster.run())
        samples = cluster_samples(model, made, cluster, budget, progress=options.get("progress"))
    family = next(each for each in FAMILIES if each.name == made.family)
    oracle = PartitionedOracle(samples)
    rows = range(sum(made.rows))
    nothing = np.empty(0)
    profile = Profile(
        oracle,
        nothing,
        rows,
        made.label,
        made.range,
        made.backend,
        made.columns,
        notes=made.notes,
        threads=threads,
        domain=made.domain,
    )
    return profile, family


def read_memory(given: Any) -> int:
    """Bytes, given as a number or as "500 MB"."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", str(given))
    if found is None or isinstance(given, bool) or found[2].lower() not in UNITS:
        raise InputError(f"memory={given!r} must be a number of bytes, or a size such as '500 MB'.")
    return int(float(found[1]) * UNITS[found[2].lower()])
