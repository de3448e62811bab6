"""Repeated runs, groups and missing outcomes of tables: laws, brute force, and a simulation in which the truth is known."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import tippingpoint as tp
from tippingpoint.core.inference import standard_error
from tippingpoint.families.table.oracle import TableOracle

INF = math.inf
PRICES = ((1.0, 0.25), (0.5, INF), (INF, 0.5))
FloatArray = np.ndarray[Any, np.dtype[Any]]


def table(seed: int, n: int = 12, most: int = 4) -> pd.DataFrame:
    """Samples with an original and one to `most` alternatives each, in documents of two or three."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        for k in range(rng.integers(2, most + 2)):
            cost = 0.0 if k == 0 else round(float(rng.exponential()), 3)
            lines.append((f"s{i}", f"v{k}", f"d{i // 3 + i % 2}", cost, float(rng.random() < 0.35 + 0.1 * k)))
    return pd.DataFrame(lines, columns=["sample", "variant", "document", "cost", "loss"])


def repeated(lines: pd.DataFrame, losses: Any) -> pd.DataFrame:
    """Every line once for each column of losses."""
    runs = [lines.assign(repeat=k, loss=column) for k, column in enumerate(np.asarray(losses).T)]
    return pd.concat(runs, ignore_index=True)


def ask(given: Any, risk: float, theta1: float, theta2: float, **roles: Any) -> tp.StabilityResult:
    profile = tp.profile_table(given, by=None, **roles)
    return profile.stability(risk, theta1=theta1, theta2=theta2)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), prices=st.sampled_from(PRICES), runs=st.integers(2, 6))
def test_identical_runs_are_one_run_and_nothing_is_luck(seed: int, prices: tuple[float, float], runs: int) -> None:
    lines = table(seed)
    once = ask(lines, 0.7, *prices)
    again = ask(repeated(lines, np.repeat(lines[["loss"]].to_numpy(), runs, axis=1)), 0.7, *prices)
    assert again.value == pytest.approx(once.value, rel=1e-12)
    assert again.standard_error == pytest.approx(once.standard_error, rel=1e-9, nan_ok=True)
    if once.status == "unreachable":
        assert again.held_out is None
    else:
        assert again.held_out == pytest.approx(once.value, rel=1e-7, abs=1e-9)
        assert again.corrected == pytest.approx(once.value, rel=1e-7, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.integers(0, 100))
def test_the_order_of_lines_does_not_matter_for_what_is_held_out(seed: int, order: int) -> None:
    lines = table(seed, n=20)
    runs = repeated(lines, (np.random.default_rng(seed).random((len(lines), 4)) < 0.5) * 1.0)
    one, other = (ask(each, 0.65, 1.0, 0.5) for each in (runs, runs.sample(frac=1.0, random_state=order)))
    assert other.value == pytest.approx(one.value, rel=1e-11)
    assert other.held_out == pytest.approx(one.held_out, rel=1e-8)


def test_mean_losses_are_what_runs_amount_to() -> None:
    lines = table(3)
    losses = np.random.default_rng(0).random((len(lines), 3))
    means = lines.assign(loss=losses.mean(axis=1))
    for prices in PRICES:
        result = ask(repeated(lines, losses), 0.75, *prices)
        assert result.value == pytest.approx(ask(means, 0.75, *prices).value, rel=1e-11)
        assert "mean losses of the runs" in result.lower_by
        assert not any("run once" in note for note in result.notes)


def test_what_is_held_out_is_the_definition_worked_out_apart() -> None:
    """Two halves, each chosen on by the front door itself and priced by hand; the threshold between by bisection."""
    lines = table(7, n=40)
    losses = (np.random.default_rng(1).random((len(lines), 2)) < lines[["loss"]].to_numpy() * 0.8 + 0.1) * 1.0
    halves = [lines.assign(loss=losses[:, k]) for k in range(2)]
    priced = [each.set_index(["sample", "variant"])["loss"] for each in reversed(halves)]
    profiles = [tp.profile_table(half) for half in halves]

    def at(threshold: float) -> tuple[float, float]:
        costs, risks = [], []
        for profile, other in zip(profiles, priced, strict=True):
            found = profile.stability(min(threshold, 1.0 - 1e-9), theta1=1.0, theta2=0.25)
            q = found.sensitive
            keys = pd.MultiIndex.from_frame(q[["row", "variant"]])
            costs.append(found.value)
            risks.append(float((q["mass"].to_numpy() * other.loc[keys].to_numpy()).sum()))
        return float(np.mean(costs)), float(np.mean(risks))

    result = ask(repeated(lines, losses), 0.55, 1.0, 0.25)
    low, high = 0.3, 0.999
    assert at(low)[1] < 0.55 < at(high)[1]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle)[1] < 0.55 else (low, middle)
    assert result.held_out == pytest.approx(at(high)[0], rel=1e-6)
    assert result.held_out_difference == pytest.approx(at(high)[0] - result.value, rel=1e-5)


def world(seed: int, n: int = 250, k: int = 4) -> tuple[FloatArray, FloatArray]:
    """Chances of an error of every alternative, most of them near 0 or 1, and costs."""
    rng = np.random.default_rng(seed)
    cost = np.where(np.arange(k) == 0, 0.0, rng.uniform(0.1, 0.6, (n, k)).round(3))
    plain = rng.beta(0.2, 0.8, n)[:, None]
    return np.where((np.arange(k) > 0) & (rng.random((n, k)) < 0.15), rng.beta(0.6, 0.4, (n, k)), plain), cost


def of_world(losses: FloatArray, cost: FloatArray) -> pd.DataFrame:
    n, k = cost.shape
    lines = pd.DataFrame({"sample": np.repeat(range(n), k), "variant": np.tile(range(k), n), "cost": cost.ravel()})
    return lines.assign(loss=losses.ravel()) if losses.ndim == 2 else repeated(lines, losses.reshape(n * k, -1))


@pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.25)])
def test_the_naive_number_is_too_low_what_is_held_out_too_high_and_the_truth_between(prices: tuple[float, float]) -> None:
    """Eight runs of every alternative, drawn anew 24 times; the truth is the stability of the chances themselves."""
    chance, cost = world(0)
    truth = ask(of_world(chance, cost), 0.4, *prices).value
    rng, found = np.random.default_rng(1), []
    for _ in range(24):
        runs = of_world((rng.random((*chance.shape, 8)) < chance[:, :, None]) * 1.0, cost)
        result = ask(runs, 0.4, *prices)
        found.append((result.value, result.held_out, result.corrected))
    values = np.array(found)
    naive, held, corrected = values.mean(axis=0) / truth - 1.0
    error = values.std(axis=0, ddof=1) / math.sqrt(len(values)) / truth
    assert naive < -3.0 * error[0], "the worst of noisy outcomes is so by luck in part"
    assert held > 3.0 * error[1], "and what is chosen from fewer runs is chosen worse"
    assert abs(corrected) < 0.6 * min(-naive, held), "much of both is gone where they cancel"


def test_without_runs_noise_is_said_to_be_unknown() -> None:
    lines = table(1)
    result = ask(lines, 0.7, 1.0, 0.25)
    assert result.held_out is None
    assert math.isnan(result.held_out_difference)
    assert any("noise of the answers cannot be told from sensitivity" in note for note in result.notes)
    few = repeated(lines, lines[["loss"]].to_numpy() * np.ones(2))
    few = few[(few["sample"] != "s1") | (few["repeat"] == 0)]
    result = ask(few, 0.7, 1.0, 0.25)
    assert result.held_out is None
    assert any("some originals were run once" in note for note in result.notes)


def test_what_cannot_be_reached_on_held_out_runs_is_infinite_and_said() -> None:
    """A coin that nobody can choose: whoever came up wrong on one run is right on the other as often as not."""
    lines = pd.DataFrame({"sample": range(400), "variant": "x", "cost": 0.0})
    losses = (np.random.default_rng(0).random((400, 2)) < 0.5) * 1.0
    result = ask(repeated(lines, losses), 0.8, 1.0, 0.25)
    assert result.held_out == INF
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tp.SmallSampleWarning)
        assert result.interval()[1] == INF, "it may be out of reach without noise"
    assert "does not reach the threshold on the others" in " ".join(str(result).split())
    assert tp.StabilityResult.from_json(result.to_json()) == result


WORLD_COSTS = np.array([0.0, 0.1, 0.2, 0.3, 0.4])


def noisy_world(rng: np.random.Generator, n: int) -> FloatArray:
    """Chances of an error, most of them far from 0 and 1."""
    odd = (rng.random((n, 5)) < 0.2) & (WORLD_COSTS > 0.0)
    return np.where(odd, rng.random((n, 5)), rng.beta(0.4, 1.6, n)[:, None])


def answered(chance: FloatArray, repeats: int, rng: np.random.Generator) -> tp.StabilityResult:
    """The stability of answers drawn with these chances."""
    losses = (rng.random((*chance.shape, repeats)) < chance[:, :, None]) * 1.0
    return ask(of_world(losses, np.broadcast_to(WORLD_COSTS, chance.shape)), 0.4, 1.0, 0.25)


def by_hand(losses: FloatArray, cut: int) -> tuple[float, float, FloatArray]:
    """Both extrapolations of the dual for KL and equally many repeats, by a grid and golden sections; and the influence."""
    repeats = losses.shape[2]
    windows = [[(k * cut + step) % repeats for step in range(cut)] for k in range(-(-repeats // cut))]
    first = cut // 2
    whole = [(losses[:, :, window].mean(axis=2), 1.0) for window in windows]
    halves = [(losses[:, :, window[:first]].mean(axis=2), first / cut) for window in windows]
    halves += [(losses[:, :, window[first:]].mean(axis=2), 1.0 - first / cut) for window in windows]

    def tilted(parts: Any, price: float) -> FloatArray:
        """The mean over copies of every sample's `exp(V/θ2)`."""
        sums = sum(share * np.exp((price * loss - WORLD_COSTS).max(axis=1) / 0.25) for loss, share in parts)
        return np.asarray(sums / len(windows))

    def dual(parts: Any, price: float) -> float:
        return 0.4 * price - 0.25 * math.log(tilted(parts, price).mean())

    def extrapolated(price: float) -> float:
        return 2.0 * dual(whole, price) - dual(halves, price)

    def best(function: Any) -> float:
        found = minimize_scalar(lambda price: -function(price), bounds=(0.01, 1.5), method="bounded", options={"xatol": 1e-10})
        return float(found.x)

    one, other, both = (best(function) for function in (lambda h: dual(whole, h), lambda h: dual(halves, h), extrapolated))

    def effect(parts: Any, price: float) -> FloatArray:
        weights = tilted(parts, price)
        return np.asarray(-0.25 * (weights / weights.mean() - 1.0))

    lower = 2.0 * effect(whole, one) - effect(halves, other)
    upper = 2.0 * effect(whole, both) - effect(halves, both)
    return 2.0 * dual(whole, one) - dual(halves, other), extrapolated(both), 0.5 * (lower + upper)


@pytest.mark.parametrize(("repeats", "cut"), [(2, 2), (3, 3), (5, 5), (6, 2), (7, 4)])
def test_the_corrected_stability_is_that_of_its_formula(repeats: int, cut: int) -> None:
    rng = np.random.default_rng(repeats)
    losses = (rng.random((80, 5, repeats)) < noisy_world(rng, 80)[:, :, None]) * 1.0
    result = ask(of_world(losses, np.broadcast_to(WORLD_COSTS, (80, 5))), 0.4, 1.0, 0.25)
    found = result.evidence.corrected(cut) if result.evidence else None
    assert found is not None
    low, high, effects = by_hand(losses, cut)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-6)
    assert found.effects == pytest.approx(effects, abs=1e-4)
    assert low <= high
    if cut == repeats:
        assert result.value < low
        assert (result.corrected, result.corrected_spread) == pytest.approx((0.5 * (low + high), 0.5 * (high - low)), rel=1e-5)
        assert result.corrected_error == pytest.approx(float(np.std(effects, ddof=1)) / math.sqrt(80.0), rel=1e-4)


def test_one_model_with_few_and_with_many_repeats_is_not_less_stable() -> None:
    """By its value, the model that was asked twice is less stable in nearly every draw; and its interval never covers."""
    truth = ask(
        of_world(noisy_world(np.random.default_rng(9), 20_000), np.broadcast_to(WORLD_COSTS, (20_000, 5))), 0.4, 1.0, 0.25
    )
    wrong, naive, covered = 0, 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        chance = noisy_world(rng, 150)
        few, many = answered(chance, 2, rng), answered(chance, 32, rng)
        wrong += tp.Comparison({"many": many, "few": few}).verdict("few").decided
        error = standard_error(few.influence - many.influence, np.full(150, 1.0 / 150.0))
        naive += abs(few.value - many.value) > 1.96 * error
        low, high = few.interval()
        covered += low <= truth.value <= high
    assert naive >= 5
    assert wrong == 0
    assert covered >= 7


def test_a_worse_model_is_still_found() -> None:
    found = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        chance = noisy_world(rng, 150)
        worse = np.where((rng.random((150, 5)) < 0.5) & (WORLD_COSTS > 0.0), 0.9, chance)
        results = {"now": answered(chance, 8, rng), "next": answered(worse, 16, rng)}
        verdict = tp.Comparison(results).verdict("next")
        found += verdict.decided and verdict.sentence.startswith("'next' is less stable than 'now'")
    assert found == 3


def test_no_verdict_without_the_noise_of_both() -> None:
    rng = np.random.default_rng(0)
    chance = noisy_world(rng, 100)
    comparison = tp.Comparison({"once": answered(chance, 1, rng), "often": answered(chance, 4, rng)})
    verdict = comparison.verdict("often")
    assert not verdict.decided
    assert not verdict.significant
    assert "the noise of the answers of 'once' is not known" in verdict.sentence
    assert math.isnan(comparison.pairs()[0][3])
    both = tp.Comparison({"once": answered(chance, 1, rng), "again": answered(chance, 1, rng)})
    assert math.isfinite(both.pairs()[0][3]), "answers of one run each are compared as they are"


def test_a_comparison_of_repeats_is_stored_whole() -> None:
    rng = np.random.default_rng(1)
    chance = noisy_world(rng, 100)
    results = {"a": answered(chance, 6, rng), "b": answered(chance, 3, rng), "c": answered(chance, 1, rng)}
    comparison = tp.Comparison(results)
    back = tp.Comparison.from_json(comparison.to_json())
    assert str(back) == str(comparison)
    assert back.verdicts() == comparison.verdicts()
    rows = {row["model"]: row for row in comparison.to_dict()["differences"]}
    assert (rows["b"]["repeats"], rows["c"]["repeats"], rows["c"]["unknown"]) == (3, 0, ["c"])
    margin = rows["b"]["high"] - rows["b"]["difference"]
    assert margin == pytest.approx(1.959964 * rows["b"]["standard_error"] + rows["b"]["noise"], rel=1e-6)
    assert "from 3 repeats of both models" in str(comparison)
    for stored, own in zip(back.results.values(), results.values(), strict=True):
        assert stored.interval() == own.interval()


def test_the_bootstrap_of_repeats_is_of_the_corrected_stability() -> None:
    rng = np.random.default_rng(2)
    result = answered(noisy_world(rng, 120), 4, rng)
    drawn = result.bootstrap(120)
    assert drawn.corrected
    assert drawn.value == result.corrected
    assert drawn.standard_error == pytest.approx(result.corrected_error, rel=0.25), "the error is found in another way"
    assert str(drawn).startswith("Corrected stability")


def test_errors_of_corrected_stabilities_count_groups() -> None:
    """Every question three times over, with the same answers: the error stays that of the questions."""
    rng = np.random.default_rng(3)
    losses = (rng.random((70, 5, 4)) < noisy_world(rng, 70)[:, :, None]) * 1.0
    costs = np.broadcast_to(WORLD_COSTS, (70, 5))
    once = of_world(losses, costs)
    copies = pd.concat([once.assign(sample=once["sample"] + 1000 * k, document=once["sample"]) for k in range(3)])
    alone, grouped, plain = (
        ask(once, 0.4, 1.0, 0.25),
        ask(copies, 0.4, 1.0, 0.25, group="document"),
        ask(copies, 0.4, 1.0, 0.25),
    )
    assert grouped.corrected == pytest.approx(alone.corrected, rel=1e-8)
    assert grouped.corrected_error == pytest.approx(alone.corrected_error, rel=1e-6)
    assert alone.corrected_error is not None
    assert plain.corrected_error == pytest.approx(alone.corrected_error / math.sqrt(3.0), rel=0.02)


def test_outcomes_with_fewer_runs_stretch_the_correction_until_too_few_are_left() -> None:
    rng = np.random.default_rng(4)
    chance = noisy_world(rng, 120)
    losses = (rng.random((120, 5, 2)) < chance[:, :, None]) * 1.0
    lines = of_world(losses, np.broadcast_to(WORLD_COSTS, (120, 5)))
    whole = ask(lines, 0.4, 1.0, 0.25)
    some = ask(lines[(lines["repeat"] == 0) | (rng.random(len(lines)) < 0.9)], 0.4, 1.0, 0.25)
    assert some.held_out is None, "some originals were run once"
    assert some.corrected == pytest.approx(whole.corrected, rel=0.2)
    few = ask(lines[(lines["repeat"] == 0) | (rng.random(len(lines)) < 0.55)], 0.4, 1.0, 0.25)
    assert few.repeats == 2
    assert few.corrected is None
    assert few.interval()[1] == INF
    assert any("too few outcomes were run more than once" in note for note in few.notes)
    assert (
        "the noise of the answers of 'few' is not known" in tp.Comparison({"whole": whole, "few": few}).verdict("few").sentence
    )


def test_missing_outcomes_of_repeats_lower_the_lower_end() -> None:
    rng = np.random.default_rng(5)
    losses = (rng.random((120, 5, 4)) < noisy_world(rng, 120)[:, :, None]) * 1.0
    lines = of_world(losses, np.broadcast_to(WORLD_COSTS, (120, 5)))
    gaps = lines.assign(loss=lines["loss"].where(rng.random(len(lines)) > 0.02))
    result, wrong = ask(gaps, 0.5, 1.0, 0.25), ask(gaps, 0.5, 1.0, 0.25, missing="wrong")
    assert result.corrected is not None
    assert result.corrected_lower is not None
    assert result.corrected_lower == pytest.approx(wrong.corrected, rel=1e-8)
    assert result.corrected_lower < result.corrected
    assert result.interval()[0] < result.corrected_lower < result.corrected < result.interval()[1]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), prices=st.sampled_from(PRICES))
def test_groups_of_one_are_no_groups(seed: int, prices: tuple[float, float]) -> None:
    lines = table(seed)
    alone = ask(lines.assign(own=lines["sample"]), 0.7, *prices, group="own")
    plain = ask(lines.assign(own=lines["sample"]), 0.7, *prices)
    assert alone == plain
    if plain.status == "attained":
        np.testing.assert_array_equal(alone.bootstrap(5).values, plain.bootstrap(5).values)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), prices=st.sampled_from(PRICES))
def test_errors_of_groups_are_those_of_their_sums(seed: int, prices: tuple[float, float]) -> None:
    lines = table(seed, n=18)
    result, plain = ask(lines, 0.7, *prices, group="document"), ask(lines, 0.7, *prices)
    assert (result.value, result.lower) == (plain.value, plain.lower)
    if plain.status != "attained":
        return
    document = lines.groupby("sample", sort=False)["document"].first().to_numpy()
    sums = pd.Series(result.influence / 18.0).groupby(document).sum()
    share = pd.Series(np.full(18, 1.0 / 18.0)).groupby(document).sum()
    expected = math.sqrt((sums**2).sum() / (1.0 - (share**2).sum()))
    assert result.standard_error == pytest.approx(expected, rel=1e-9, abs=1e-12)
    mass = result.sensitive.groupby("document")["mass"].sum()
    assert result.effective_sample == pytest.approx(1.0 / (mass**2).sum(), rel=1e-9)
    assert result.groups == len(share)
    assert "effective groups" in " ".join(result.notes)


def test_copies_of_a_document_do_not_make_it_more_certain() -> None:
    """Five copies of every question: by samples the error shrinks, by groups it stays."""
    lines = table(5, n=60).drop(columns="document")
    copies = pd.concat([lines.assign(copy=lines["sample"] + f" {k}", document=lines["sample"]) for k in range(5)])
    copies = copies.drop(columns="sample").rename(columns={"copy": "sample"})
    once, by_samples, by_groups = (
        ask(lines, 0.6, 1.0, 0.25),
        ask(copies, 0.6, 1.0, 0.25),
        ask(copies, 0.6, 1.0, 0.25, group="document"),
    )
    assert by_groups.value == pytest.approx(once.value, rel=1e-10)
    assert by_groups.standard_error == pytest.approx(once.standard_error, rel=1e-9)
    assert by_groups.effective_sample == pytest.approx(once.effective_sample, rel=1e-9)
    assert by_samples.standard_error < 0.5 * once.standard_error
    drawn, alone = by_groups.bootstrap(300), by_samples.bootstrap(300)
    assert drawn.standard_error == pytest.approx(once.standard_error, rel=0.3)
    assert alone.standard_error < 0.6 * drawn.standard_error


def test_differences_of_models_are_of_groups_too() -> None:
    rng = np.random.default_rng(0)
    first = table(8, n=60)
    second = first.assign(loss=np.where(rng.random(len(first)) < 0.15, 1.0 - first["loss"], first["loss"]))
    both = {name: tp.profile_table(each, group="document") for name, each in (("a", first), ("b", second))}
    compared = tp.compare(both, risk=0.7, theta1=1.0, theta2=0.25)
    ((_, _, _, error, _, _),) = compared.pairs()
    apart = compared.results["b"].influence - compared.results["a"].influence
    codes = pd.factorize(first.groupby("sample", sort=False)["document"].first())[0]
    assert error == pytest.approx(standard_error(apart, np.full(60, 1.0 / 60.0), codes), rel=1e-9)
    assert error != pytest.approx(standard_error(apart, np.full(60, 1.0 / 60.0)), rel=1e-3)
    with pytest.raises(tp.InputError, match=r"'a' has its samples in groups, and 'b' has not; give group= for both"):
        tp.compare({"a": both["a"], "b": tp.profile_table(second)}, risk=0.7)
    moved = second.assign(document=second["document"].where(second["sample"] != "s4", "d9"))
    with pytest.raises(tp.InputError, match=r"the group of sample 's\d+' is one for '[ab]' and several for '[ab]'"):
        tp.compare({"a": both["a"], "b": tp.profile_table(moved, group="document")}, risk=0.7)
    fewer = second[second["sample"] != "s4"]
    with pytest.warns(tp.PairingWarning, match="59 of 60"):
        some = tp.compare({"a": both["a"], "b": tp.profile_table(fewer, group="document")}, risk=0.7, common=True)
    assert some.results["a"].groups == compared.results["a"].groups


def with_gaps(seed: int, gaps: int, n: int = 5) -> tuple[pd.DataFrame, list[int]]:
    lines = table(seed, n=n, most=2)
    gone = np.random.default_rng(seed).choice(len(lines), gaps, replace=False).tolist()
    return lines.assign(loss=lines["loss"].where(~lines.index.isin(gone))), gone


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), gaps=st.integers(1, 4), prices=st.sampled_from(PRICES), risk=st.floats(0.3, 0.95))
def test_bounds_enclose_every_filling_and_are_attained(seed: int, gaps: int, prices: tuple[float, float], risk: float) -> None:
    lines, gone = with_gaps(seed, gaps)
    bounded = ask(lines, risk, *prices)
    values = []
    for filling in itertools.product((0.0, 0.4, 1.0), repeat=gaps):
        filled = lines["loss"].copy()
        filled.iloc[gone] = filling
        values.append(ask(lines.assign(loss=filled), risk, *prices).value)
    assert bounded.lower == pytest.approx(min(values), rel=1e-9, abs=1e-12)
    assert bounded.upper == pytest.approx(max(values), rel=1e-9, abs=1e-12)
    assert bounded.value == bounded.upper
    assert bounded.missing == gaps
    if bounded.status == "attained":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tp.SmallSampleWarning)
            low, high = bounded.interval()
        assert low <= bounded.lower <= bounded.upper <= high
    assert bounded.exact == (min(values) == max(values) or max(values) < (1.0 + 1e-8) * min(values) < INF)
    assert any(note.startswith(f"{gaps} of {len(lines)} outcomes") for note in bounded.notes)
    wrong = ask(lines, risk, *prices, missing="wrong")
    assert wrong.value == pytest.approx(min(values), rel=1e-9, abs=1e-12)
    assert ask(lines, risk, *prices, missing=0.4).value == pytest.approx(
        ask(lines.fillna({"loss": 0.4}), risk, *prices).value, rel=1e-9, abs=1e-12
    )


def test_what_only_one_filling_reaches_is_not_found_and_never_exact() -> None:
    lines = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0.0, math.nan, 0.0], "cost": [0.0, 2.0, 0.0]})
    result = ask(lines, 0.5, 1.0, INF)
    assert (result.lower, result.value, result.upper) == (1.0, INF, INF)
    assert not result.exact
    assert result.standing.kind == "not found"
    assert "unknown" in str(result)
    assert tp.Gate(1.5).judge({"": result.summary}).outcome == "failed"
    never = ask(lines, 0.9, 1.0, INF)
    assert (never.lower, never.value, never.exact) == (INF, INF, True)


def test_a_missing_line_that_is_dropped_was_never_there() -> None:
    lines, gone = with_gaps(4, 3, n=12)
    without = lines.drop(index=gone)
    held = set(without.loc[without["cost"] == 0.0, "sample"])
    lost = set(lines["sample"]) - held
    kept = without[without["sample"].isin(held)]
    dropped = ask(lines, 0.7, 1.0, 0.25, missing="drop")
    assert dropped.value == pytest.approx(ask(kept, 0.7, 1.0, 0.25).value, rel=1e-12)
    assert dropped.samples == len(held)
    assert dropped.exact
    told = next(note for note in dropped.notes if "left out" in note)
    assert (f"{len(lost)} sample" in told) == bool(lost)


def test_an_original_that_is_missing_is_bounded_or_its_sample_goes() -> None:
    lines = pd.DataFrame({"sample": ["a", "a", "b", "b"], "cost": [0.0, 1.0, 0.0, 1.0], "loss": [math.nan, 1.0, 0.0, 1.0]})
    bounded = ask(lines, 0.5, 1.0, INF)
    assert (bounded.lower, bounded.value) == pytest.approx((0.0, 0.5))
    assert bounded.current_risk == 0.0
    assert any("1 of them of originals" in note and "between 0 and 0.5" in note for note in bounded.notes)
    assert bounded.standing.kind == "searched"
    assert "missing outcomes counted as the largest loss, 1" in bounded.lower_by
    dropped = ask(lines, 0.5, 1.0, INF, missing="drop")
    assert dropped.samples == 1
    assert any("1 sample without an original" in note for note in dropped.notes)
    with pytest.raises(tp.InputError, match="leaves no sample with its original"):
        ask(lines.assign(loss=[math.nan, 1.0] * 2), 0.5, 1.0, INF, missing="drop")


def test_bounds_of_losses_that_are_no_error_rates_are_those_of_the_table_or_as_given() -> None:
    lines, gone = with_gaps(2, 2)
    graded = lines.assign(loss=5.0 * lines["loss"])
    low, high = float(graded["loss"].min()), float(graded["loss"].max())
    bounded = ask(graded, 3.0, 1.0, 0.25)
    assert any(f"from {low:g} to {high:g}" in note for note in bounded.notes)
    wider = ask(graded, 3.0, 1.0, 0.25, missing=(-1, 9))
    assert wider.lower <= bounded.lower <= bounded.upper <= wider.upper
    for loss, end in ((-1.0, wider.upper), (9.0, wider.lower)):
        filled = graded["loss"].copy()
        filled.iloc[gone] = loss
        assert end == pytest.approx(ask(graded.assign(loss=filled), 3.0, 1.0, 0.25).value, rel=1e-9)


def test_missing_runs_are_filled_before_means_are_taken() -> None:
    lines = table(6)
    losses = (np.random.default_rng(2).random((len(lines), 4)) < 0.4) * 1.0
    runs = repeated(lines, losses)
    gone = runs.index[::7]
    gaps = runs.assign(loss=runs["loss"].where(~runs.index.isin(gone)))
    bounded = ask(gaps, 0.7, 1.0, 0.25)
    ends = [ask(gaps.fillna({"loss": end}), 0.7, 1.0, 0.25).value for end in (1.0, 0.0)]
    assert (bounded.lower, bounded.upper) == pytest.approx(tuple(ends), rel=1e-9)
    means = gaps.groupby(["sample", "variant"], sort=False)["loss"].mean().reset_index()
    merged = lines.drop(columns="loss").merge(means, on=["sample", "variant"])
    assert ask(gaps, 0.7, 1.0, 0.25, missing="drop").value == pytest.approx(ask(merged, 0.7, 1.0, 0.25).value, rel=1e-9)


def test_a_verdict_needs_bounds_that_do_not_overlap() -> None:
    steady = table(9, n=80).assign(loss=lambda t: (t["cost"] > 0.5) * 1.0)
    fragile = steady.assign(loss=lambda t: (t["cost"] > 0.1) * 1.0)
    prices: dict[str, Any] = {"risk": 0.4, "theta1": 1.0, "theta2": INF}
    assert tp.compare({"steady": steady, "fragile": fragile}, **prices).verdict("fragile").certified
    refused = steady.assign(loss=steady["loss"].where(steady["cost"] == 0.0))
    verdict = tp.compare({"steady": refused, "fragile": fragile}, **prices).verdict("fragile")
    assert not verdict.certified
    assert not verdict.decided
    assert "their bounds overlap" in verdict.sentence


def test_nothing_missing_changes_nothing_whatever_the_rule() -> None:
    lines = table(10)
    plain = ask(lines, 0.7, 1.0, 0.25)
    for rule in ("bounds", "wrong", "drop", 0.5, (0, 1)):
        assert ask(lines, 0.7, 1.0, 0.25, missing=rule) == plain
    null = lines.assign(loss=lines["loss"].astype("Float64"))
    null.loc[3, "loss"] = pd.NA
    assert ask(null, 0.7, 1.0, 0.25).missing == 1
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: [None if value is pd.NA else value for value in null[name]] for name in null.columns})
    assert ask(frame, 0.7, 1.0, 0.25).lower == ask(null, 0.7, 1.0, 0.25).lower


def test_a_variation_alone_is_the_table_without_the_others() -> None:
    lines = table(11, n=30).rename(columns={"variant": "variation"})
    ranked = tp.variation_stability(lines, 0.6, theta1=1.0, theta2=0.25)
    whole = ask(lines, 0.6, 1.0, 0.25)
    assert set(ranked) == {"v1", "v2", "v3", "v4"}
    for name, result in ranked.results.items():
        alone = lines[(lines["cost"] == 0.0) | (lines["variation"] == name)]
        assert result.value == pytest.approx(ask(alone, 0.6, 1.0, 0.25).value, rel=1e-12)
        assert result.value >= whole.value * (1.0 - 1e-12)
        assert set(ranked.result(name).sensitive["variation"]) <= {"v0", name}
    assert [r.value for r in ranked.results.values()] == sorted(r.value for r in ranked.results.values())
    assert ranked.limit == pytest.approx(ask(lines, 0.6, INF, 0.25).value, rel=1e-12)
    assert "by one variation" in str(ranked)
    assert list(ranked.to_frame().columns[:2]) == ["variation", "kind"]
    assert str(ranked.advice())
    again = tp.VariationStability.from_json(ranked.to_json())
    assert list(again.results) == list(ranked.results)
    with pytest.raises(tp.DetachedError, match=r"run variation_stability\(\) again"):
        again.result("v1")


def test_variations_of_gaps_are_bounded_each() -> None:
    lines, _ = with_gaps(12, 6, n=20)
    ranked = tp.variation_stability(lines, 0.6, theta1=1.0, theta2=0.25)
    for name, result in ranked.results.items():
        alone = lines[(lines["cost"] == 0.0) | (lines["variant"] == name)]
        ends = [ask(alone.fillna({"loss": end}), 0.6, 1.0, 0.25).value for end in (1.0, 0.0)]
        assert (result.lower, result.upper) == pytest.approx(tuple(ends), rel=1e-9)


def test_what_has_no_variations_is_refused_in_a_sentence() -> None:
    lines = table(1).drop(columns=["variant", "document"])
    with pytest.raises(tp.InputError, match="no column tells variations apart; name one, as variation='wording', of 'line'"):
        tp.variation_stability(lines, 0.6)
    with pytest.raises(tp.InputError, match="variation='kind' is no column of what varies"):
        tp.variation_stability(table(1), 0.6, variation="kind")
    many = pd.DataFrame({"sample": range(300), "variant": [f"x{i}" for i in range(300)], "loss": 1.0, "cost": 2.0})
    both = pd.concat([many.assign(loss=0.0, cost=0.0, variant="original"), many])
    with pytest.raises(tp.InputError, match="holds 300 values on lines of a cost"):
        tp.variation_stability(both, 0.5)
    with pytest.raises(tp.UnsupportedError, match="use feature_stability for a model on data"):
        tp.variation_stability(tp.profile(([1.0], 0.0), [[0.5], [-0.5]], [1, 0]), 0.5)
    with pytest.raises(tp.InputError, match=r"thetta1=1\.0 is not known"):
        tp.variation_stability(table(1), 0.6, thetta1=1.0)


def test_alternatives_that_do_not_pay_are_left_out_and_change_nothing() -> None:
    lines = table(13, n=30)
    oracle = tp.profile_table(lines).oracle
    assert isinstance(oracle, TableOracle)
    held = oracle.held_atoms()
    for price in (0.0, 0.3, 1.0, 4.0, INF):
        response = oracle.respond(price)
        for i, (_, own) in enumerate(lines.groupby("sample", sort=False)):
            now = float(own.loc[own["cost"] == 0.0, "loss"].iloc[0])
            lift = own["loss"] - now
            gain = lift if math.isinf(price) else price * lift - own["cost"]
            assert (response.lift[i] if math.isinf(price) else price * response.lift[i] - response.cost[i]) == pytest.approx(
                max(gain.max(), 0.0), abs=1e-12
            )
    assert len(held.lift) < len(lines)


@pytest.mark.parametrize("given", [{"repeat": "run"}, {"group": "document"}, {"missing": "drop"}, {"variant": "variant"}, {}])
def test_on_a_cluster_runs_groups_and_rules_are_refused(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    """Before anything is sent there; a column of runs too, which would be taken for alternatives."""
    frames = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("tippingpoint.api.tables.current_client", object)
    lines = table(1) if given else table(1).assign(repeat=0)
    with pytest.raises(tp.UnsupportedError, match=rf"{next(iter(given), 'repeat')}=.* takes a table in memory"):
        tp.profile_table(frames.from_pandas(lines, npartitions=2), by=None, **given)
