"""What the paper says, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

HEAD = ("figure", "claim", "paper", "measured", "holding", "seeds", "verdict")
"""The columns of a table of claims."""

THRESHOLD_TOLERANCE = 0.02
"""Relative distance from the threshold that counts as having arrived."""


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper against what was measured.

    Attributes
    ----------
    figure
        Where it was measured.
    claim
        What the paper says.
    paper
        The paper's number or direction.
    measured
        Ours, over the seeds.
    holding, seeds
        In how many of the seeds it holds.
    """

    figure: str
    claim: str
    paper: str
    measured: str
    holding: int
    seeds: int

    @property
    def verdict(self) -> str:
        """Holds, holds for some seeds, or does not."""
        if self.holding == self.seeds:
            return "holds"
        return f"holds for {self.holding} of {self.seeds} seeds" if self.holding else "does not hold"


def judged(figure: str, claim: str, paper: str, measured: str, holds: Any) -> Claim:
    """A claim, judged seed by seed."""
    every = [bool(seed) for seed in np.atleast_1d(holds)]
    return Claim(figure, claim, paper, measured, sum(every), len(every))


def tabulated(claims: Sequence[Claim]) -> Any:
    """One line a claim."""
    import pandas as pd

    return pd.DataFrame([{**asdict(claim), "verdict": claim.verdict} for claim in claims], columns=list(HEAD))


def rendered(table: Any, titles: Mapping[str, str], folder: str = "") -> str:
    """The figures and their claims in Markdown, as `docs/paper.md` shows them.

    Parameters
    ----------
    table
        Of claims.
    titles
        Of figures, by name.
    folder
        Where the pictures are, seen from the page.
    """
    columns = ("claim", "paper", "measured", "verdict")
    lines = []
    for figure, rows in table.groupby("figure", sort=False):
        title = titles[figure][0].upper() + titles[figure][1:]
        lines += [f"### {title}", "", f"![{title}]({folder}{figure}.png)", ""]
        lines += ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
        lines += [
            "| " + " | ".join(str(row[name]).replace("|", "\\|") for name in columns) + " |" for _, row in rows.iterrows()
        ]
        lines.append("")
    return "\n".join(lines)


def tally(table: Any) -> str:
    """How many claims hold, in a sentence."""
    verdicts = list(table["verdict"])
    whole, none = verdicts.count("holds"), verdicts.count("does not hold")
    return f"Of {len(verdicts)} claims {whole} hold, {len(verdicts) - whole - none} hold for some seeds, {none} do not hold."


def spread(values: Any, form: Callable[[float], str] | str = "{:.3g}") -> str:
    """Mean ± standard deviation over the seeds; what is infinite is counted apart."""
    every = np.asarray(values, dtype=float)
    finite = every[np.isfinite(every)]
    write = form.format if isinstance(form, str) else form
    if not len(finite):
        return "∞"
    middle = write(float(finite.mean()))
    deviation = f" ± {write(float(finite.std(ddof=1)))}" if len(finite) > 1 else ""
    beyond = f" (∞ in {len(every) - len(finite)} of {len(every)})" if len(finite) < len(every) else ""
    return middle + deviation + beyond


def percentage(share: float) -> str:
    """A share for reading, to a tenth of a percent."""
    return f"{100.0 * share:.1f} %"
