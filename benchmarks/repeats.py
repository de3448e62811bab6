"""Whether intervals of repeated answers cover, and verdicts between models are right, where the truth is known.

    python benchmarks/repeats.py            # all of it, about twelve minutes on one core
    python benchmarks/repeats.py --quick    # a tenth of the draws

A world gives every question a chance of a wrong answer, and another chance for some of its rewordings. Every draw takes new
questions and new answers. The truth is the stability of the chances themselves, of 60,000 questions. A false verdict is any
decided verdict between two models with the same truth. Standard errors of the percentages are about 2 with 100 draws.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import tippingpoint as tp

COSTS = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
QUESTION: dict[str, Any] = {"risk": 0.4, "theta1": 1.0, "theta2": 0.25}
LARGE = 60_000
"""Questions from which the truth is computed."""

PAIRS = ((2, 2), (2, 32), (4, 8), (8, 32))
Chances = np.ndarray[Any, np.dtype[Any]]
World = Callable[[int, np.random.Generator], Chances]


def reworded(plain: Chances, other: Chances, share: float, rng: np.random.Generator) -> Chances:
    """The chance of the question as it is for most wordings, and another one for some of them."""
    odd = (rng.random(other.shape) < share) & (COSTS > 0.0)
    return np.where(odd, other, plain[:, None])


def noisy(n: int, rng: np.random.Generator) -> Chances:
    """Most answers are drawn with a chance far from 0 and 1."""
    return reworded(rng.beta(0.4, 1.6, n), rng.beta(1.0, 1.0, (n, len(COSTS))), 0.2, rng)


def mostly_sure(n: int, rng: np.random.Generator) -> Chances:
    """Most answers are right or wrong whenever they are drawn."""
    return reworded(rng.beta(0.06, 0.24, n), rng.beta(0.18, 0.12, (n, len(COSTS))), 0.15, rng)


def unalike(n: int, rng: np.random.Generator) -> Chances:
    """Every wording of a question has a chance of its own, so that the worst of them is chosen by luck most often."""
    return rng.beta(0.6, 2.4, (n, len(COSTS)))


def sure(n: int, rng: np.random.Generator) -> Chances:
    """Every answer is right or wrong whenever it is drawn; the stability is about that of `noisy`."""
    return reworded((rng.random(n) < 0.15) * 1.0, (rng.random((n, len(COSTS))) < 0.5) * 1.0, 0.0292, rng)


def worse(chances: Chances, rng: np.random.Generator) -> Chances:
    """The same questions for a model that fails at a fifth more of the rewordings."""
    odd = (rng.random(chances.shape) < 0.2) & (COSTS > 0.0)
    return np.where(odd, rng.beta(1.5, 0.5, chances.shape), chances)


def table(losses: Chances) -> pd.DataFrame:
    """Losses by question, wording and repeat as a table of alternatives."""
    n, k, repeats = losses.shape
    lines = {"sample": np.repeat(np.arange(n), k * repeats), "variant": np.tile(np.repeat(np.arange(k), repeats), n)}
    lines |= {"repeat": np.tile(np.arange(repeats), n * k), "loss": losses.ravel()}
    return pd.DataFrame(lines).assign(cost=lambda held: COSTS[held["variant"]])


def truth(chances: Chances) -> float:
    """The stability without any noise."""
    return tp.profile_table(table(chances[:, :, None])).stability(**QUESTION).value


def asked(chances: Chances, counts: set[int], rng: np.random.Generator) -> dict[int, tp.StabilityResult]:
    """The results for the first few repeats of every answer."""
    answers = (rng.random((*chances.shape, max(counts))) < chances[:, :, None]) * 1.0
    return {count: tp.profile_table(table(answers[:, :, :count])).stability(**QUESTION) for count in sorted(counts)}


def decided(one: tp.StabilityResult, other: tp.StabilityResult) -> float:
    """1 or -1 if the first is called more or less stable than the other, 0 if that is undecided."""
    comparison = tp.Comparison({"other": other, "one": one})
    verdict = comparison.verdict("one")
    return math.copysign(1.0, comparison.pairs()[0][2]) if verdict.decided else 0.0


def simulate(world: World, n: int, draws: int, seed: int) -> tuple[dict[Any, float], Counter[Any]]:
    """How often intervals cover, values are off, and verdicts are decided; and of how many."""
    exact = truth(world(LARGE, np.random.default_rng(0)))
    found, of = defaultdict[Any, float](float), Counter[Any]()
    for draw in range(draws):
        rng = np.random.default_rng([seed, n, draw])
        chances = world(n, rng)
        first = asked(chances, {2, 4, 8, 32}, rng)
        second = asked(chances, {2, 8, 32}, rng)
        third = asked(worse(chances, rng), {2, 8, 32}, rng)
        for count, result in (*first.items(), *second.items()):
            if result.status != "attained":
                continue
            low, high = result.interval()
            of[count] += 1
            found["covered", count] += low <= exact <= high
            found["open", count] += math.isinf(high)
            found["value", count] += result.value / exact - 1.0
            found["corrected", count] += (result.corrected or math.nan) / exact - 1.0
            found["before", count] += abs(result.value - exact) <= 1.96 * result.standard_error
        for pair in PAIRS:
            of["pair", pair] += 1
            found["false", pair] += decided(first[pair[0]], second[pair[1]]) != 0.0
            found["before", pair] += _before(first[pair[0]], second[pair[1]])
            found["found", pair] += decided(first[pair[0]], third[pair[1]]) > 0.0
            found["reversed", pair] += decided(first[pair[0]], third[pair[1]]) < 0.0
    return found, of


def _before(one: tp.StabilityResult, other: tp.StabilityResult) -> bool:
    """Whether the difference of the values, which contain the noise, exceeds its sampling error alone."""
    effects = one.influence - other.influence
    error = float(np.sqrt(np.square(effects).sum() / (len(effects) - 1) / len(effects)))
    return abs(one.value - other.value) > 1.96 * error


def coverage_and_verdicts(draws: int, seed: int) -> None:
    for world in (noisy, mostly_sure, unalike):
        first = truth(world(LARGE, np.random.default_rng(0)))
        other = truth(worse(world(LARGE, np.random.default_rng(0)), np.random.default_rng(1)))
        print(f"\n{world.__name__}: the truth is {first:.4f}, and {other:.4f} of the model that is worse")
        print("| questions | repeats | value | corrected | interval covers | before | no upper end |")
        tables = {n: simulate(world, n, draws, seed) for n in (100, 400)}
        for n, (found, of) in tables.items():
            for count in (2, 4, 8, 32):
                rates = [found[name, count] / of[count] for name in ("value", "corrected", "covered", "before", "open")]
                cells = [f"{rates[0]:+.0%}", f"{rates[1]:+.0%}", *(f"{rate:.0%}" for rate in rates[2:])]
                print("| " + " | ".join([str(n), str(count), *cells]) + " |")
        print("| questions | repeats | false verdicts | before | the worse model is found | the better one is called worse |")
        for n, (found, of) in tables.items():
            for pair in PAIRS:
                rates = [found[name, pair] / of["pair", pair] for name in ("false", "before", "found", "reversed")]
                print("| " + " | ".join([str(n), f"{pair[0]} and {pair[1]}", *(f"{rate:.0%}" for rate in rates)]) + " |")


def different_noise(draws: int, seed: int) -> None:
    """Two models of about the same stability, one that draws its answers and one that does not."""
    truths = [truth(world(LARGE, np.random.default_rng(0))) for world in (noisy, sure)]
    print(f"\nnoisy against sure: the truths are {truths[0]:.4f} and {truths[1]:.4f}")
    print("| questions | repeats | false verdicts | before |")
    found = Counter[Any]()
    for draw in range(draws):
        rng = np.random.default_rng([seed + 4, draw])
        one, other = asked(noisy(400, rng), {2, 8}, rng), asked(sure(400, rng), {2, 8}, rng)
        for count in (2, 8):
            found[count] += decided(one[count], other[count]) != 0.0
            found["before", count] += _before(one[count], other[count])
    for count in (2, 8):
        print(f"| 400 | {count} and {count} | {found[count] / draws:.0%} | {found['before', count] / draws:.0%} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--seed", type=int, default=7, help="of the draws (default: 7)")
    options = parser.parse_args()
    number = 10 if options.quick else 100
    warnings.simplefilter("ignore", tp.SmallSampleWarning)
    coverage_and_verdicts(number, options.seed)
    different_noise(number, options.seed)
