"""The stability of every variation of a table: its alternatives are allowed, and no others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tippingpoint.api.features import OF_RANKING
from tippingpoint.api.prices import resolve_prices
from tippingpoint.api.profiles import Profile
from tippingpoint.api.settings import Settings
from tippingpoint.api.tables import profile_table
from tippingpoint.errors import InputError, UnsupportedError, listed
from tippingpoint.families.table.oracle import TableOracle
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.variations import VariationStability

COLUMNS = ("variation", "variant")
"""What the column is called that tells variations apart, the likelier first."""

MAX_VARIATIONS = 200
"""Values beyond which a column tells no kinds of change apart, but single ones."""


def variation_stability(table: Any, risk: float, *, variation: str | None = None, **settings: Any) -> VariationStability:
    """The stability if samples may only go to alternatives of one variation, for each of them; as `feature_stability`.

    Parameters
    ----------
    table
        A table of alternatives, or its profile, of `profile_table`.
    risk
        The threshold, as in `Profile.stability`.
    variation
        Column that says which variation an alternative is; where none is named, one called "variation", or else "variant".
        What it holds on lines of cost 0 does not matter.
    settings
        Prices and divergence, as in `Profile.stability`.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> lines = [("a", "as it is", 0, 0), ("a", "typo", 1, 1), ("b", "as it is", 0, 0), ("b", "formal", 2, 1)]
    >>> runs = pd.DataFrame(lines, columns=["sample", "variation", "cost", "loss"])
    >>> ranked = tp.variation_stability(runs, risk=0.25, theta1=1.0, theta2=float("inf"))
    >>> [(name, result.value, result.lower) for name, result in ranked.results.items()]
    [('typo', 0.25, 0.25), ('formal', 0.5, 0.5)]
    """
    question = Settings.read(settings, "Profile.stability").question
    profile = table if isinstance(table, Profile) else profile_table(table)
    oracle = profile.oracle
    if not isinstance(oracle, TableOracle):
        raise UnsupportedError("variations are of tables of alternatives in memory; use feature_stability for a model on data.")
    column = _column(oracle, variation)
    single = _SingleVariations(profile, oracle, column, _named(oracle, column), risk, question)
    found, reach = dict[str, StabilityResult](), dict[str, float]()
    for name in single.names:
        alone = single.profile(name)
        found[name], reach[name] = alone.stability(risk, **question).without_evidence(OF_RANKING), alone.reach
    in_order = dict(sorted(found.items(), key=lambda item: (item[1].value, -reach[item[0]])))
    kinds, reaches = dict.fromkeys(in_order, column), {name: reach[name] for name in in_order}
    limit, proved = _limit(profile, risk, question), oracle.exact
    return VariationStability(in_order, limit, kinds, reaches, profile.backend, single, reach_proved=proved)


@dataclass(frozen=True)
class _SingleVariations:
    """What it takes to work out the stability of one variation, by its name."""

    whole: Profile
    oracle: TableOracle
    column: str
    names: Mapping[str, Any]
    risk: float
    question: Mapping[str, Any]

    def profile(self, name: str) -> Profile:
        return replace(self.whole, oracle=self.oracle.only(self.column, self.names[name]))

    def __call__(self, name: str) -> StabilityResult:
        return self.profile(name).stability(self.risk, **self.question)


def variation_column(profile: Profile) -> str | None:
    """The column of a table that tells variations apart, where one is called so and holds few values."""
    oracle = profile.oracle
    if not isinstance(oracle, TableOracle):
        return None
    return next((name for name in COLUMNS if 0 < len(oracle.values(name) or ()) <= MAX_VARIATIONS), None)


def _column(oracle: TableOracle, wanted: str | None) -> str:
    if wanted is None:
        wanted = next((name for name in COLUMNS if name in oracle.columns), None)
    if wanted not in oracle.columns:
        told = "no column tells variations apart" if wanted is None else f"variation={wanted!r} is no column of what varies"
        raise InputError(f"{told}; name one, as variation='wording', of {listed(oracle.columns)}.")
    return wanted


def _named(oracle: TableOracle, column: str) -> dict[str, Any]:
    """The variations by what they are called."""
    values = [value for value in oracle.values(column) or [] if value is not None and value == value]  # noqa: PLR0124  # NaN
    if not 0 < len(values) <= MAX_VARIATIONS:
        raise InputError(
            f"variation={column!r} holds {len(values):,} values on lines of a cost; give a column of 1 to {MAX_VARIATIONS}"
            " kinds of change."
        )
    names = {str(value): value for value in values}
    if len(names) < len(values):
        raise InputError(f"table[{column!r}] holds values that are written alike, such as 1 and '1'; write each in one way.")
    return names


def _limit(profile: Profile, risk: float, question: Mapping[str, Any]) -> float:
    """What reweighting alone costs."""
    theta1, theta2, mix, budget = (question.get(name) for name in ("theta1", "theta2", "mix", "budget"))
    _, theta2 = resolve_prices(theta1, theta2, mix, budget)
    if math.isinf(theta2):
        return math.inf
    return profile.stability(risk, theta1=math.inf, theta2=theta2, divergence=question.get("divergence", "kl")).value
