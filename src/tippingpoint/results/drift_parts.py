"""What a drift is made of: the class balance, what labels tell, single features, the two samples on a line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tippingpoint.core.arrays import FloatArray
from tippingpoint.json_numbers import decode
from tippingpoint.results.base import required


@dataclass(frozen=True)
class Balance:
    """The drift of score and label together, split: a new balance of the labels, and what happened within each of them.

    Attributes
    ----------
    labels
        `θ2` times the divergence of the shares of the labels: what no move can do.
    moving, reweighting
        Within the labels.
    """

    labels: float
    moving: float
    reweighting: float

    @property
    def total(self) -> float:
        """The three together."""
        return self.labels + self.moving + self.reweighting


@dataclass(frozen=True)
class Outcome:
    """What the labels of the current rows tell.

    Attributes
    ----------
    risk
        The mean loss of the current rows.
    used, used_error
        The stability of the reference at that risk, `R(risk)`: what it would have taken at least; and its standard error.
    ceiling
        The largest risk that any change of the reference of the size of the drift can reach: proved for these two samples.
    remaining, remaining_error
        The stability of the current rows at the threshold, and its standard error.
    balance
        Of classes, what their shares have to do with it; None for targets.
    """

    risk: float
    used: float
    used_error: float
    ceiling: float
    remaining: float
    remaining_error: float
    balance: Balance | None = None


@dataclass(frozen=True)
class FeatureDrift:
    """One feature, looked at alone.

    Attributes
    ----------
    name, kind
        Of the feature.
    drift, lower
        The cost of a plan that turns its distribution into the current one; and what every plan costs at least.
    moving
        The part of `drift` that is moving; the rest is reweighting.
    floor, p_value
        The mean drift of rows dealt out at random, and the share of these that are as large: at least one in the number of
        permutations plus one, and not corrected for the number of features.
    unseen_share, unseen
        Share of the current rows whose value the reference does not have, of features of finitely many; and some of these.
    risk_if_only
        The risk of the reference if only this feature had drifted, in this way: a number of the model, not of the current rows.
    stability
        What it takes to lift the risk to the threshold if only this feature may move, within its bounds.
    note
        What a number does not say, or why there is none.
    assumed
        Whether `drift` assumes a price for changes of category that have no declared one; `lower` never does.
    """

    name: str
    kind: str
    drift: float
    lower: float
    moving: float
    floor: float
    p_value: float
    unseen_share: float
    unseen: tuple[str, ...]
    risk_if_only: float
    stability: float
    note: str = ""
    assumed: bool = False


@dataclass(frozen=True)
class DriftEvidence:
    """The two samples on the line of the margin.

    Attributes
    ----------
    before, base
        Where the reference rows are, and their weights.
    weights, destinations
        Of the plan: what every reference row counts, and where it goes in the mean.
    after, masses
        Where the current rows are, and their weights.
    """

    before: FloatArray
    base: FloatArray
    weights: FloatArray
    destinations: FloatArray
    after: FloatArray
    masses: FloatArray


def restored_outcome(stored: Mapping[str, Any]) -> Outcome:
    """As JSON holds it."""
    names = ("risk", "used", "used_error", "ceiling", "remaining", "remaining_error")
    numbers: dict[str, Any] = {name: decode(required(stored, name)) for name in names}
    split = required(stored, "balance")
    parts = None if split is None else [decode(required(split, name)) for name in ("labels", "moving", "reweighting")]
    return Outcome(**numbers, balance=None if parts is None else Balance(*parts))


def restored_feature(stored: Mapping[str, Any]) -> FeatureDrift:
    """As JSON holds it."""
    held: dict[str, Any] = {name: required(stored, name) for name in ("name", "kind", "note")}
    held["assumed"] = bool(stored.get("assumed", False))
    names = ("drift", "lower", "moving", "floor", "p_value", "unseen_share", "risk_if_only", "stability")
    held |= {name: decode(required(stored, name)) for name in names}
    return FeatureDrift(**held, unseen=tuple(required(stored, "unseen")))


def by_importance(rows: Sequence[FeatureDrift], risk_before: float) -> tuple[FeatureDrift, ...]:
    """Those first whose drift alone would change the risk most; then by the size of the drift."""

    def key(each: FeatureDrift) -> tuple[float, float]:
        effect = abs(each.risk_if_only - risk_before)
        return (-effect if math.isfinite(effect) else 0.0, -each.drift if math.isfinite(each.drift) else 0.0)

    return tuple(sorted(rows, key=key))
