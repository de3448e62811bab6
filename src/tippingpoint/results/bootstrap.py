"""The bootstrap: what the stability would have been, had other samples been drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.inference import LEVEL, check_level, length
from tippingpoint.results.base import Result


@dataclass(frozen=True, repr=False)
class Bootstrap(Result):
    """Stabilities of resampled data.

    Attributes
    ----------
    values
        One stability a replicate; `inf` where the resampled data cannot reach the threshold.
    value
        The stability of the data themselves.
    corrected
        Whether both are without the noise of repeats: the `corrected` of a table of repeated outcomes.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> bootstrap = profile.stability(risk=0.5, theta1=1.0, theta2=0.25).bootstrap(100)
    >>> bootstrap.value, len(bootstrap.values)
    (0.125, 100)
    >>> low, high = bootstrap.interval(0.9)
    >>> low <= bootstrap.value <= high
    True
    """

    values: FloatArray
    value: float
    corrected: bool = False

    SCHEMA: ClassVar[str] = "tippingpoint.bootstrap/1"

    @property
    def standard_error(self) -> float:
        """The spread of the replicates that reach the threshold; not a number where fewer than two do."""
        finite = self.values[np.isfinite(self.values)]
        if len(finite) < 2:
            return math.nan
        return length(finite - np.mean(finite)) / math.sqrt(len(finite) - 1)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Percentile interval. It does not contain the bias that few repeats leave: `StabilityResult.interval` does."""
        check_level(level)
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(self.values, [tail, 1.0 - tail], method="inverted_cdf")
        return float(low), float(high)

    def __repr__(self) -> str:
        return f"Bootstrap(value={self.value!r}, standard_error={self.standard_error!r}, replicates={len(self.values)})"

    def __str__(self) -> str:
        low, high = self.interval()
        beyond = int(np.isinf(self.values).sum())
        what = "Corrected stability" if self.corrected else "Stability"
        rows = [
            f"{what} {self.value:.4g}, and of {len(self.values):,} samples drawn from the data with replacement:",
            f"  standard error  {self.standard_error:.2g}",
            f"  interval        {low:.4g} to {high:.4g} (95%, percentiles)",
        ]
        if self.corrected:
            rows.append("  note            without the bias that few repeats leave; interval() of the result contains it")
        if beyond:
            rows.append(f"  out of reach    {beyond:,} of them cannot reach the threshold; they count as inf, not in the error")
        return "\n".join(rows)
