"""ERM, adversarial training and tilted ERM, compared by their stability along the dial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.reproduce.claims import Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import SCALINGS, Setting, Split, split, stabilities, trained
from tippingpoint.reproduce.figure import Record, by_seed, numbers, over_seeds, picked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = {"mlp": "ERM", "at": "AT", "tilted": "tilted ERM"}
"""How each is trained, and what it is called."""

RISK = 3.0
"""The paper's threshold for the cross-entropy."""

LARGE_THETA1_MIX = 0.002
"""The setting of the dial at which theta1 is 100, the paper's infinity."""


def measure_trainings(seed: int, name: str, scaling: str, setting: Setting, *, halves: bool = False) -> list[Record]:
    """Stability of the three along the dial, with the accuracy and the knob of each."""
    drawn = split(setting.task(name), seed, setting, scaling, halves=halves)
    found: list[Record] = []
    for kind, method in METHODS.items():
        model = trained(kind, drawn.train, seed, setting)
        found += measure_model(seed, panel(name, scaling), method, model, drawn, setting)
    return found


def measure_model(seed: int, where: str, method: str, model: Any, drawn: Split, setting: Setting) -> list[Record]:
    """One model: its accuracy, its risk, its knob, and its stabilities with their standard errors."""
    results = stabilities(model, drawn.evaluate, RISK, setting.mixes)
    measured: dict[str, float] = {"accuracy": float(model.score(drawn.evaluate.x, drawn.evaluate.y))}
    measured["risk"] = next(iter(results.values())).current_risk
    if model.tuned is not None:
        measured[model.tuned] = getattr(model, model.tuned)
    found = numbers(seed, where, f"{method}: facts", measured)
    found += numbers(seed, where, method, {mix: result.value for mix, result in results.items()})
    errors = {mix: result.standard_error for mix, result in results.items()}
    return found + numbers(seed, where, f"{method}: standard error", errors)


def panel(name: str, scaling: str = SCALINGS[0]) -> str:
    """What the numbers of a data set and a scaling are called."""
    return f"{name} ({scaling})"


def mixes_of(table: Any, where: str) -> list[float]:
    """The settings of the dial that were measured."""
    return sorted({float(at) for at in picked(table, where, METHODS["mlp"])["at"]})


def draw_trainings(table: Any, where: str, ax: Axes) -> None:
    """A line a method, mean and standard deviation over the seeds."""
    from tippingpoint.plots import draw_lines

    mixes = mixes_of(table, where)
    series: dict[str, tuple[list[float], list[float], list[float]]] = {}
    for method in METHODS.values():
        means, deviations = over_seeds(table, where, method, mixes)
        low = [max(mean - deviation, 0.1 * mean) for mean, deviation in zip(means, deviations, strict=True)]
        series[method] = (means, low, [mean + deviation for mean, deviation in zip(means, deviations, strict=True)])
    draw_lines(mixes, series, "mix: reweighting only (0) to moving only (1)", f"stability, r = {RISK:g}", ax, log=True)


def claims_of_trainings(figure: str, table: Any, where: str) -> Sequence[Claim]:
    """Who is more stable, and where."""
    mixes = [mix for mix in mixes_of(table, where) if mix > 0.0]
    erm, at, tilted = ({mix: by_seed(table, where, method, mix) for mix in mixes} for method in METHODS.values())
    return [
        _better(figure, where, "AT is more stable than ERM at every setting with θ1 up to 100", at, erm, mixes),
        _better(figure, where, "tilted ERM is more stable than ERM at every setting with θ1 up to 100", tilted, erm, mixes),
        _better(figure, where, "AT is more stable than tilted ERM where data are corrupted (θ2 = ∞)", at, tilted, [1.0]),
        _better(
            figure,
            where,
            "tilted ERM is more stable than AT where sub-populations shift (θ1 = 100)",
            tilted,
            at,
            [LARGE_THETA1_MIX],
        ),
        _infinite(figure, table, where),
        _accuracies(figure, table, where),
    ]


def _infinite(figure: str, table: Any, where: str) -> Claim:
    """Whether θ1 = 100 gives nearly the stability of θ1 = ∞, at which nothing moves."""
    measured, holds = [], []
    for method in METHODS.values():
        never, almost = (by_seed(table, where, method, mix) for mix in (0.0, LARGE_THETA1_MIX))
        measured.append(f"{method} {spread(almost)} against {spread(never)}")
        holds.append(np.isfinite(never) & (abs(almost - never) <= 0.1 * never))
    return judged(
        figure,
        f"{where}: θ1 = 100 stands for ∞ (here: the stability is within a tenth of that at ∞, for all three)",
        "set so",
        "; ".join(measured),
        np.array(holds).all(axis=0),
    )


def _accuracies(figure: str, table: Any, where: str) -> Claim:
    """What the robust trainings cost in accuracy; the paper does not say."""
    every = [by_seed(table, where, f"{method}: facts", "accuracy") for method in METHODS.values()]
    knobs = [by_seed(table, where, f"{METHODS[kind]}: facts", knob) for kind, knob in (("at", "gamma"), ("tilted", "t"))]
    measured = ", ".join(
        f"{method} {spread(values, percentage)}" for method, values in zip(METHODS.values(), every, strict=True)
    )
    return judged(
        figure,
        f"{where}: the robust trainings keep the accuracy of ERM (within 2 points)",
        "not stated",
        f"{measured}; γ {spread(knobs[0])}, t {spread(knobs[1])}{_luck(table, where, knobs)}",
        (every[1] > every[0] - 0.02) & (every[2] > every[0] - 0.02),
    )


def _luck(table: Any, where: str, knobs: Sequence[Any]) -> str:
    """How the lead of AT over tilted ERM at θ2 = ∞ goes with the knobs that were selected; for three seeds or more."""
    from scipy.stats import spearmanr

    lead = np.log(by_seed(table, where, METHODS["at"], 1.0) / by_seed(table, where, METHODS["tilted"], 1.0))
    difference = knobs[0] - knobs[1]
    if len(lead) < 3 or np.ptp(difference) == 0.0 or not np.isfinite(lead).all():
        return ""
    return f"; rank correlation of γ - t with AT's lead at θ2 = ∞ {spearmanr(difference, lead).statistic:.2f}"


def _better(
    figure: str, where: str, claim: str, first: Mapping[float, Any], second: Mapping[float, Any], mixes: Sequence[float]
) -> Claim:
    """Whether the first is the larger at each of these settings; how much, where they differ least."""
    holds = np.array([first[mix] > second[mix] for mix in mixes]).all(axis=0)
    with np.errstate(invalid="ignore"):
        ratios = np.array([first[mix] / second[mix] for mix in mixes])
    if len(mixes) == 1:
        measured = f"{spread(first[mixes[0]])} against {spread(second[mixes[0]])}"
    else:
        closest = int(np.argmin(np.nanmedian(ratios, axis=1)))
        measured = (
            f"median ratio {np.nanmedian(ratios[closest]):.3g} to {np.nanmedian(ratios, axis=1).max():.3g} along the dial"
        )
    return judged(figure, f"{where}: {claim}", "yes", measured, holds)
