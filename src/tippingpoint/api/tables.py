"""Tables of alternatives: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import IntArray
from tippingpoint.data.frames import read_frame
from tippingpoint.engine.dask import current_client
from tippingpoint.engine.oracle import PartitionedOracle
from tippingpoint.engine.table_partitions import count_samples, in_memory, table_on_cluster
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.table.missing import Missing, MissingRule
from tippingpoint.families.table.reading import Alternatives, numbered, read_alternatives
from tippingpoint.results.origin import DataFingerprint, Origin, call_of
from tippingpoint.text import GIVEN_LOSS_NAME

USUAL = ("weight", "variant", "repeat")
"""Roles whose columns need no naming where they are called that."""


@overload
def profile_table(
    table: Any,
    *,
    sample: str = "sample",
    loss: str = "loss",
    cost: str = "cost",
    weight: str | None = None,
    by: None = None,
    variant: str | None = None,
    repeat: str | None = None,
    group: str | None = None,
    missing: Missing = "bounds",
) -> Profile: ...


@overload
def profile_table(
    table: Any,
    *,
    sample: str = "sample",
    loss: str = "loss",
    cost: str = "cost",
    weight: str | None = None,
    by: str,
    variant: str | None = None,
    repeat: str | None = None,
    group: str | None = None,
    missing: Missing = "bounds",
) -> dict[str, Profile]: ...


def profile_table(
    table: Any,
    *,
    sample: str = "sample",
    loss: str = "loss",
    cost: str = "cost",
    weight: str | None = None,
    by: str | None = None,
    variant: str | None = None,
    repeat: str | None = None,
    group: str | None = None,
    missing: Missing = "bounds",
) -> Profile | dict[str, Profile]:
    """The profile of a table of alternatives, or one a group of its lines; no model is needed.

    For paraphrases of prompts, corruptions of images, simulations, or a vendor's black box: run them, write down one line
    an alternative, and get the exact stability over what was tried.

    With repeated runs, losses are their means. The worst of several noisy outcomes is so by luck in part, which makes the
    stability of the means too low on average. Results then also have `corrected`, the stability that infinitely many repeats
    would show, with `corrected_error`: intervals, verdicts and the bootstrap are of it.

    A check of it is `held_out`: alternatives and weights are chosen on some of the runs and priced on the others, in up to five
    parts that each are held out once. With losses `A` outside a part and `B` inside it, let `Q(ρ)` be the most sensitive
    distribution of `A` at the threshold `ρ`; `held_out` is what `Q(ρ)` costs, on average over the parts, at the `ρ` at which
    its risk by `B`, on average over the parts, is the threshold that was asked. It is too high on average, by what it costs
    to choose from fewer runs: the truth lies between `value` and `held_out`, on average.

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
    variant
        Column that says which alternative of its sample a line is; where none is named, one called "variant". Two lines of one
        alternative are then an error, unless `repeat` tells them apart.
    repeat
        Column that counts the runs of an alternative, as at a temperature above 0; where none is named, one called "repeat".
        Every run of an alternative has the same cost.
    group
        Column with what samples have in common, as the document that several questions are about. Standard errors, effective
        numbers, the bootstrap and comparisons then count groups, which are independent, and not samples.
    missing
        What a missing loss (NaN: a refusal, an answer that could not be read) counts as. "bounds": any loss, from 0 to 1, or
        from the least to the largest of the table where losses are not within 0 and 1; or `(least, largest)`. The result is
        bounded: `lower` is exact for the largest loss everywhere, `value` and `upper` for the least. "wrong": the largest
        loss; or a loss, as `2.5`. "drop": the line is left out, and a sample without an original with all of its lines, since
        nothing is known of where it stands.

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
    >>> gaps = runs.assign(loss=[0, float("nan"), 0])
    >>> result = tp.profile_table(gaps).stability(risk=0.5, theta1=1.0, theta2=float("inf"))
    >>> result.lower, result.value, result.standing.kind
    (1.0, inf, 'not found')
    """
    import narwhals as nw

    connected = current_client() if type(table).__module__.startswith("dask") else None
    if connected is not None:
        _refuse_on_cluster(table, {"variant": variant, "repeat": repeat, "group": group}, missing)
        return _on_cluster(table, {"sample": sample, "loss": loss, "cost": cost}, weight, by, connected)
    table = in_memory(table, loss)
    frame = read_frame(table, "table")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"table is a {type(table).__name__}; give a pandas or polars frame, one line an alternative.")
    named = {"weight": weight, "variant": variant, "repeat": repeat, "by": by, "group": group}
    roles = {"sample": sample, "loss": loss, "cost": cost, **{role: name for role, name in named.items() if name is not None}}
    for role in USUAL:
        if role not in roles and role in frame.columns and role not in roles.values():
            roles[role] = role
    alternatives = read_alternatives(frame, roles, MissingRule.read(missing))
    if by is None:
        alternatives.check_ungrouped()
        return _profile(alternatives, None)
    codes, groups = numbered(frame[by].to_native(), by, "group")
    names = [str(group) for group in groups]
    if len(set(names)) < len(names):
        raise InputError(f"table[{by!r}] holds values that are written alike, such as 1 and '1'; write each in one way.")
    return {name: _profile(alternatives, np.flatnonzero(codes == k), name) for k, name in enumerate(names)}


def _refuse_on_cluster(table: Any, columns: dict[str, str | None], missing: Missing) -> None:
    """What takes all lines of a sample to one place, and is not done on a cluster."""
    if columns["repeat"] is None and "repeat" in table.columns:
        columns = {**columns, "repeat": "repeat"}
    given = {name: value for name, value in {**columns, "missing": missing}.items() if value not in (None, "bounds")}
    if given:
        name, value = next(iter(given.items()))
        raise UnsupportedError(f"{name}={value!r} takes a table in memory; pass table.compute() of a Dask frame.")


def _on_cluster(table: Any, roles: dict[str, str], weight: str | None, by: str | None, client: Any) -> Profile:
    """The profile of a Dask frame, whose samples stay on the workers of a cluster."""
    if by is not None:
        raise UnsupportedError(f"by={by!r} takes a table in memory; pass table[table[{by!r}] == ...] of a Dask frame for each.")
    if weight is None and "weight" in table.columns and "weight" not in roles.values():
        weight = "weight"
    samples, held = table_on_cluster(table, roles if weight is None else {**roles, "weight": weight}, client)
    nobody = np.empty(0)
    return Profile(PartitionedOracle(samples), nobody, range(count_samples(samples)), GIVEN_LOSS_NAME, held)


def _profile(table: Alternatives, lines: IntArray | None, name: str | None = None) -> Profile:
    """The profile of these lines, or of all; `name` is what they have in common."""
    found = table.of(lines, name)
    return Profile(
        found.oracle,
        found.base,
        found.labels,
        GIVEN_LOSS_NAME,
        table.range,
        table.backend,
        origin=_origin(table, slice(None) if lines is None else lines, name),
        notes=found.notes,
        groups=found.groups,
        missing=found.missing,
    )


def _origin(table: Alternatives, lines: IntArray | slice, name: str | None) -> Origin:
    """What these lines are, for a report to tell."""

    def contents() -> dict[str, Any]:
        names = np.array([str(label) for label in table.labels], dtype=object)
        held = {"sample": names[table.sample[lines]], "loss": table.loss[lines], "cost": table.cost[lines]}
        beside = {"weight": table.weight, "repeat": table.repeat}
        held |= {role: values[lines] for role, values in beside.items() if values is not None}
        return held | {f"column:{name}": values[lines] for name, values in table.columns.items()}

    called = "a table of alternatives" if name is None else f"a table of alternatives, {name}"
    said = {role: table.roles.get(role) for role in ("weight", "by", "repeat", "group")}
    rule = None if table.missing is None else table.missing.written
    call = call_of("profile_table", "table", **said, missing=rule)
    return Origin(called, "", None, DataFingerprint(contents), call)
