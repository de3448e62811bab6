"""Tables of alternatives: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import IntArray
from tippingpoint.data.frames import read_frame, read_vector
from tippingpoint.engine.dask import current_client
from tippingpoint.engine.oracle import PartitionedOracle
from tippingpoint.engine.table_partitions import count_samples, in_memory, table_on_cluster
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.table.reading import Alternatives, numbered, read_alternatives
from tippingpoint.results.origin import DataFingerprint, Origin, call_of
from tippingpoint.text import GIVEN_LOSS_NAME


@overload
def profile_table(
    table: Any, *, sample: str = "sample", loss: str = "loss", cost: str = "cost", weight: str | None = None, by: None = None
) -> Profile: ...


@overload
def profile_table(
    table: Any, *, sample: str = "sample", loss: str = "loss", cost: str = "cost", weight: str | None = None, by: str
) -> dict[str, Profile]: ...


def profile_table(
    table: Any,
    *,
    sample: str = "sample",
    loss: str = "loss",
    cost: str = "cost",
    weight: str | None = None,
    by: str | None = None,
) -> Profile | dict[str, Profile]:
    """The profile of a table of alternatives, or one a group of its lines; no model is needed.

    For paraphrases of prompts, corruptions of images, simulations, or a vendor's black box: run them, write down one line
    an alternative, and get the exact stability over what was tried.

    Parameters
    ----------
    table
        A pandas or polars frame, one line an alternative. The line of cost 0 is the sample as it is. Also a Parquet file or a
        list of frames, which are read into memory; a Dask frame stays on the current cluster, shuffled by sample.
    sample
        Column that says which sample a line belongs to.
    loss
        Column with the loss of the alternative.
    cost
        Column with what it costs to go there; it takes the place of the squared distance.
    weight
        Column with the weight of the sample (the same on all its lines). Where none is named, a column called "weight" is
        taken; without one, all samples weigh the same.
    by
        Column that tells several runs of the same samples apart, such as the model that was asked. The profiles then come as
        a dictionary, by the values of this column in the order of the table; `compare` takes it as it is.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> runs = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0, 1, 0], "cost": [0, 2, 0]})
    >>> tp.profile_table(runs).stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    1.0
    >>> both = pd.concat([runs.assign(model="small"), runs.assign(model="large", cost=2 * runs["cost"])])
    >>> profiles = tp.profile_table(both, by="model")
    >>> {name: profile.stability(0.5, theta1=1.0, theta2=float("inf")).value for name, profile in profiles.items()}
    {'small': 1.0, 'large': 2.0}
    """
    import narwhals as nw

    connected = current_client() if type(table).__module__.startswith("dask") else None
    if connected is not None:
        return _on_cluster(table, {"sample": sample, "loss": loss, "cost": cost}, weight, by, connected)
    table = in_memory(table, loss)
    frame = read_frame(table, "table")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"table is a {type(table).__name__}; give a pandas or polars frame, one line an alternative.")
    if weight is None and "weight" in frame.columns and "weight" not in (sample, loss, cost, by):
        weight = "weight"
    roles = {"sample": sample, "loss": loss, "cost": cost, "weight": weight, "by": by}
    alternatives = read_alternatives(frame, {role: name for role, name in roles.items() if name is not None})
    if by is None:
        alternatives.check_ungrouped()
        return _profile(alternatives, np.arange(len(alternatives.loss)))
    codes, groups = numbered(read_vector(frame[by].to_native(), f"table[{by!r}]"), by, "group")
    names = [str(group) for group in groups]
    if len(set(names)) < len(names):
        raise InputError(f"table[{by!r}] holds values that are written alike, such as 1 and '1'; write each in one way.")
    return {name: _profile(alternatives, np.flatnonzero(codes == k), name) for k, name in enumerate(names)}


def _on_cluster(table: Any, roles: dict[str, str], weight: str | None, by: str | None, client: Any) -> Profile:
    """The profile of a Dask frame, whose samples stay on the workers of a cluster."""
    if by is not None:
        raise UnsupportedError(f"by={by!r} takes a table in memory; pass table[table[{by!r}] == ...] of a Dask frame for each.")
    if weight is None and "weight" in table.columns and "weight" not in roles.values():
        weight = "weight"
    samples, held = table_on_cluster(table, roles if weight is None else {**roles, "weight": weight}, client)
    nobody = np.empty(0)
    return Profile(PartitionedOracle(samples), nobody, range(count_samples(samples)), GIVEN_LOSS_NAME, held)


def _profile(table: Alternatives, lines: IntArray, group: str | None = None) -> Profile:
    """The profile of these lines; `group` is what they have in common."""
    samples = table.of(lines, group)
    origin = _origin(table, lines, group)
    return Profile(samples.oracle, samples.base, samples.labels, GIVEN_LOSS_NAME, table.range, table.backend, origin=origin)


def _origin(table: Alternatives, lines: IntArray, group: str | None) -> Origin:
    """What these lines are, for a report to tell."""

    def contents() -> dict[str, Any]:
        names = np.array([str(label) for label in table.labels], dtype=object)
        held = {"sample": names[table.sample[lines]], "loss": table.loss[lines], "cost": table.cost[lines]}
        if table.weight is not None:
            held["weight"] = table.weight[lines]
        return held | {f"column:{name}": values[lines] for name, values in table.columns.items()}

    called = "a table of alternatives" if group is None else f"a table of alternatives, {group}"
    call = call_of("profile_table", "table", weight=table.roles.get("weight"), by=table.roles.get("by"))
    return Origin(called, "", None, DataFingerprint(contents), call)
