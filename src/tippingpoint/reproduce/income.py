"""Income, MLP, r = 3.0: the excess risk split along the dial, convergence, and three trainings compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.reproduce.claims import THRESHOLD_TOLERANCE, Claim, judged, percentage, spread
from tippingpoint.reproduce.experiments import SCALINGS, Rows, Setting, split, stabilities, trained
from tippingpoint.reproduce.figure import DRAWN_SEED, Figure, Record, Tables, by_seed, numbers, over_seeds, picked, traced
from tippingpoint.reproduce.trainings import (
    LARGE_THETA1_MIX,
    METHODS,
    RISK,
    claims_of_trainings,
    draw_trainings,
    measure_model,
    mixes_of,
    panel,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAME = "income"

CONVERGENCE = (0.25, 0.5, 0.75)
"""Settings of the dial at which the paper's algorithm is watched."""

SCHEDULE: dict[str, Any] = {"learning_rate": 0.03, "price_rate": 0.1, "epochs": 200}
"""Of the paper's algorithm: rates found by hand, those that arrive in the fewest epochs (benchmarks/network.py)."""

REPEATS = 5
"""Searches of one model on one set of data, by other seeds."""


def measure(seed: int, setting: Setting) -> Mapping[str, list[Record]]:
    """Everything about one draw of the data."""
    drawn = split(setting.task("income"), seed, setting)
    models = {method: trained(kind, drawn.train, seed, setting) for kind, method in METHODS.items()}
    found: list[Record] = []
    for method, model in models.items():
        found += measure_model(seed, panel("income"), method, model, drawn, setting)
    erm = models[METHODS["mlp"]]
    results = stabilities(erm, drawn.evaluate, RISK, setting.mixes)
    found += numbers(seed, "excess", "moving", {mix: result.corruption_excess for mix, result in results.items()})
    found += numbers(seed, "excess", "reweighting", {mix: result.reweighting_excess for mix, result in results.items()})
    found += _converged(seed, erm, drawn.evaluate)
    if seed == DRAWN_SEED:
        found += _searched_again(erm, drawn.evaluate, setting)
    if not setting.quick:
        other = split(setting.task("income"), seed, setting, SCALINGS[1])
        for kind, method in METHODS.items():
            model = trained(kind, other.train, seed, setting)
            found += measure_model(seed, panel("income", SCALINGS[1]), method, model, other, setting)
    return {"": found}


def _converged(seed: int, model: Any, rows: Rows) -> list[Record]:
    """The risk by epoch of the paper's algorithm, the value it ends with, and ours; and the passes that each takes."""
    import tippingpoint as tp

    found: list[Record] = []
    for mix in CONVERGENCE:
        with _counted(model.as_module(), len(rows.x)) as paper_passes:
            paper = tp.stability(
                model, rows.x, rows.y, RISK, loss="cross_entropy", mix=mix, method="paper", progress=False, **SCHEDULE
            )
        with _counted(model.as_module(), len(rows.x)) as our_passes:
            ours = tp.stability(model, rows.x, rows.y, RISK, loss="cross_entropy", mix=mix, certify="none", progress=False)
        if seed == DRAWN_SEED:
            found += numbers(seed, "convergence", f"mix {mix:g}", dict(enumerate(paper.trace, start=1)))
        measured = {
            "end": paper.trace[-1],
            "paper": paper.value,
            "ours": ours.value,
            "paper passes": paper_passes(),
            "our passes": our_passes(),
        }
        found += numbers(seed, "convergence", f"mix {mix:g}: end", measured)
    return found


@contextmanager
def _counted(module: Any, samples: int) -> Iterator[Callable[[], float]]:
    """Counts the passes over the data that a module makes: rows that it sees, in multiples of the samples."""
    seen: list[int] = []
    hook = module.register_forward_hook(lambda _module, inputs, _outputs: seen.append(len(inputs[0])))
    try:
        yield lambda: sum(seen) / samples
    finally:
        hook.remove()


def _searched_again(model: Any, rows: Rows, setting: Setting) -> list[Record]:
    """The same model on the same data, searched from other random starts."""
    import tippingpoint as tp

    found: list[Record] = []
    for seed in range(REPEATS):
        profile = tp.profile(model, rows.x, rows.y, loss="cross_entropy", certify="none", seed=seed, progress=False)
        sweep = profile.tradeoff([mix for mix in setting.mixes if mix > 0.0], risk=RISK)
        found += numbers(seed, "same data", "ERM", dict(zip(sweep.at, (result.value for result in sweep), strict=True)))
    return found


def draw(tables: Tables) -> Canvas:
    """The three panels of the paper."""
    from matplotlib import pyplot as plt

    from tippingpoint.plots import draw_convergence, draw_split

    table = tables[""]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15.0, 3.9), layout="constrained", width_ratios=(1.4, 1.0, 1.0))
    mixes = mixes_of(table, panel("income"))
    moving, reweighting = (over_seeds(table, "excess", part, mixes) for part in ("moving", "reweighting"))
    draw_split(
        [f"{mix:g}" for mix in mixes],
        moving[0],
        reweighting[0],
        left,
        errors=(moving[1], reweighting[1]),
        xlabel="mix: reweighting only (0) to moving only (1)",
    )
    left.set_title("excess risk of ERM", fontsize="medium")
    traces = {f"mix {mix:g}": traced(table, "convergence", f"mix {mix:g}") for mix in CONVERGENCE}
    draw_convergence(traces, RISK, "epoch of the paper's algorithm", middle)
    middle.set_title("convergence", fontsize="medium")
    draw_trainings(table, panel("income"), right)
    right.set_title("three trainings", fontsize="medium")
    return figure


def claims(tables: Tables) -> Sequence[Claim]:
    """What the paper says of this figure."""
    table = tables[""]
    found = [_split_claim(table), *_convergence_claims(table), *claims_of_trainings(NAME, table, panel("income"))]
    if len(picked(table, panel("income", SCALINGS[1]))):
        found += claims_of_trainings(NAME, table, panel("income", SCALINGS[1]))
    return [*found, *_spread_claims(table)]


def _split_claim(table: Any) -> Claim:
    """Cheaper moving means more of the excess by moving; at θ1 = ∞ the threshold may be out of reach."""
    mixes = [mix for mix in mixes_of(table, panel("income")) if mix > 0.0]
    moving = np.array([by_seed(table, "excess", "moving", mix) for mix in mixes])
    whole = moving + np.array([by_seed(table, "excess", "reweighting", mix) for mix in mixes])
    shares = moving / whole
    measured = [
        f"{mix:g}: {percentage(float(shares[k].mean()))}"
        for k, mix in enumerate(mixes)
        if mix in (LARGE_THETA1_MIX, 0.1, 0.5, 0.9)
    ]
    return judged(
        NAME,
        "a smaller θ1 shifts the excess risk towards corruption, a smaller θ2 towards reweighting (the share of moving rises"
        " all along the dial)",
        "yes",
        "share of moving at mix " + ", ".join(measured),
        (np.diff(shares, axis=0) > -1e-9).all(axis=0),
    )


def _convergence_claims(table: Any) -> list[Claim]:
    found = []
    for mix in CONVERGENCE:
        ends, *measured = (
            by_seed(table, "convergence", f"mix {mix:g}: end", at)
            for at in ("end", "paper", "ours", "paper passes", "our passes")
        )
        epochs = len(traced(table, "convergence", f"mix {mix:g}"))
        found.append(
            judged(
                NAME,
                f"mix {mix:g}: the risk converges to the threshold 3",
                "yes",
                f"{spread(ends)} after {epochs} epochs, {measured[2].mean():.0f} passes over the data; the path takes"
                f" {measured[3].mean():.0f}, and finds a value {spread(1.0 - measured[1] / measured[0], percentage)} smaller",
                abs(ends - RISK) / RISK < THRESHOLD_TOLERANCE,
            )
        )
    return found


def _spread_claims(table: Any) -> list[Claim]:
    """Standard deviations over the seeds, relative to the mean, and those of the search alone."""
    where, method = panel("income"), METHODS["mlp"]
    mixes = [mix for mix in mixes_of(table, where) if mix > 0.0]
    means, deviations = over_seeds(table, where, method, mixes)
    _, again = over_seeds(table, "same data", method, mixes)
    relative = [deviation / mean for mean, deviation in zip(means, deviations, strict=True)]
    alone = max(a / mean for a, mean in zip(again, means, strict=True))
    return [
        judged(
            NAME,
            "ERM: the standard deviation over draws of the data grows as θ1 goes to infinity (here: it is larger at θ1 = 100"
            " than at any other finite θ1)",
            "yes",
            f"{deviations[0]:.3g} at θ1 = 100, {max(deviations[1:]):.3g} at most elsewhere (of the mean:"
            f" {percentage(relative[0])} and {percentage(max(relative[1:]))})",
            [deviations[0] > max(deviations[1:])],
        ),
        judged(
            NAME,
            "ERM: on fixed data the standard deviation (of the algorithm alone) is small",
            "yes",
            f"{alone:.0e} of the mean at most, against {percentage(min(relative))} at least over draws",
            [alone < min(relative)],
        ),
    ]


FIGURE = Figure(NAME, "Income: excess risk, convergence, three trainings", ("income",), measure, draw, claims)
