"""Which runs are made first: what a limited budget finds, against the same budget in any order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from real_data import real_data
from tippingpoint.core.divergences import divergence_named
from tippingpoint.runs.ordering import Question, State, error_chance, expected_gain

KL = divergence_named("kl")


def made_up(seed: int, samples: int = 150, variants: int = 8) -> pd.DataFrame:
    """Samples that differ in how hard they are, variants that differ in how much they harm."""
    rng = np.random.default_rng(seed)
    hard, harm = rng.normal(0.0, 1.5, samples), np.concatenate(([0.0], rng.uniform(0.0, 2.0, variants)))
    cost = np.concatenate(([0.0], rng.uniform(0.05, 0.6, variants)))
    wrong = rng.random((samples, variants + 1)) < 1.0 / (1.0 + np.exp(2.0 - hard[:, None] - harm[None, :]))
    i, k = np.indices(wrong.shape).reshape(2, -1)
    scale = rng.uniform(0.5, 1.5, samples)
    return pd.DataFrame({"sample": i, "variant": k, "cost": cost[k] * scale[i], "loss": wrong.reshape(-1).astype(float)})


def asked_about(table: pd.DataFrame, budget: int, question: Question, seed: int | None) -> float:
    """The stability after so many runs beyond the originals: by expected gain, or in a random order."""
    s, k, cost, loss = (table[name].to_numpy() for name in ("sample", "variant", "cost", "loss"))
    known = k == 0
    order = np.random.default_rng(seed).permutation(np.flatnonzero(~known)) if seed is not None else None
    for done in range(0, budget, max(1, budget // 15)):
        count = min(max(1, budget // 15), budget - done)
        waiting = np.flatnonzero(~known)
        if order is not None:
            chosen = order[done : done + count]
        else:
            gain = expected_gain(State(s, k, cost, np.where(known, loss, math.nan), known), question)
            chosen = waiting[np.argsort(-gain[waiting], kind="stable")][:count]
        known[chosen] = True
    return stability(table[known], question)


def stability(table: pd.DataFrame, question: Question) -> float:
    assert question.risk is not None
    profile = tp.profile_table(table[["sample", "cost", "loss"]])
    return profile.stability(question.risk, theta1=question.theta1, theta2=question.theta2).value


@pytest.mark.parametrize("prices", [(1.0, 0.25), (1.0, math.inf), (0.4, 0.4)])
def test_a_quarter_of_the_runs_gets_nearer_to_the_whole_than_any_random_quarter(prices: tuple[float, float]) -> None:
    nearer = []
    for trial in range(3):
        table = made_up(trial)
        now = table[table["variant"] == 0]["loss"].mean()
        question = Question(float(now) + 0.25, *prices, KL)
        whole = stability(table, question)
        budget = int((table["variant"] > 0).sum() / 4)
        chosen = asked_about(table, budget, question, None)
        by_chance = [asked_about(table, budget, question, seed) for seed in range(4)]
        assert whole <= chosen * (1 + 1e-9)  # fewer alternatives: an upper bound
        nearer.append((chosen - whole) / (np.mean(by_chance) - whole))
    assert max(nearer) < 0.5
    assert np.mean(nearer) < 0.25


def test_real_answers_of_real_models() -> None:
    answers = pd.read_csv(real_data("llm/clinical_prompts.csv.gz") / "llm" / "clinical_prompts.csv.gz")
    for model in answers["model"].unique():
        lines = answers[answers["model"] == model]
        names = {"original": 0, **{name: k for k, name in enumerate(("formal", "simplified", "roleplay", "direct"), 1)}}
        table = pd.DataFrame(
            {
                "sample": pd.factorize(lines["sample"])[0],
                "variant": lines["variant"].map(names),
                "cost": lines["word_edit_norm"],
                "loss": 1.0 - lines["correct"],
            }
        )
        now = table[table["variant"] == 0]["loss"].mean()
        question = Question(float(now) + 0.15, 0.4, 0.4, KL)
        whole, budget = stability(table, question), int(0.25 * 4 * table["sample"].nunique())
        chosen, by_chance = (asked_about(table, budget, question, seed) for seed in (None, 0))
        assert whole <= chosen * (1 + 1e-9)
        assert chosen - whole < 0.25 * (by_chance - whole)


def test_collect_spends_its_calls_there() -> None:
    """The whole way: a limited number of calls by influence against the same in the order of the plan."""
    table = made_up(5, samples=80, variants=5)
    held = table.set_index(["sample", "variant"])
    names = [f"v{k}" for k in range(6)]
    variations = [tp.variations.Function(lambda text, name=name: f"{text} {name}", name=name) for name in names[1:]]

    losses, costs = held["loss"].to_dict(), held["cost"].to_dict()

    def judge(answer: str, sample: dict[str, Any]) -> float:
        variant = sample["variant"]
        return float(losses[sample["sample"], names.index(variant) if variant in names else 0])

    prices = {name: float(costs[0, k]) for k, name in enumerate(names) if k}
    now = table[table["variant"] == 0]["loss"].mean()
    question: dict[str, Any] = {"risk": float(now) + 0.2, "theta1": 1.0, "theta2": 0.25}

    def found(order: str, calls: int) -> float:
        runs = tp.collect(
            {i: f"question {i}" for i in range(80)},
            variations,
            ask=lambda prompt: prompt,
            judge=judge,
            cost=prices,
            calls=calls,
            order=order,
            question=question,
        )
        profile = runs.profile()
        assert isinstance(profile, tp.Profile)
        return profile.stability(**question).value

    whole = found("plan", 480)
    chosen, planned = found("influence", 180), found("plan", 180)
    assert whole <= chosen <= planned
    assert chosen - whole < 0.5 * (planned - whole)


def test_the_gain_is_minus_the_slope_of_the_stability() -> None:
    """One run not made: let it be an error for a small part of its sample, and see by how much the stability falls."""
    table = made_up(3, samples=60, variants=2)
    table["cost"] = table["variant"].map({0: 0.0, 1: 0.3, 2: 0.5})  # so that one run more or less changes no price
    s, k, cost, loss = (table[name].to_numpy() for name in ("sample", "variant", "cost", "loss"))
    risk = float(np.maximum(loss[k == 0], loss[k == 1]).mean()) + 0.05
    question, share, seen = Question(risk, 1.0, math.inf, KL), 1e-3, 0
    for i in np.flatnonzero(k == 1):
        asked = np.arange(len(s)) != i
        state = State(s, k, cost, np.where(asked, loss, math.nan), asked)
        gain = expected_gain(state, question)
        assert (gain[asked] == 0.0).all()
        parts = pd.concat(
            [
                table[asked].assign(weight=np.where(s[asked] == s[i], 1.0 - share, 1.0)),
                table[s == s[i]].assign(sample="part", loss=np.where(asked[s == s[i]], loss[s == s[i]], 1.0), weight=share),
            ]
        )
        fall = (
            stability(table[asked], question)
            - tp.profile_table(parts.drop(columns="variant")).stability(risk, theta1=1.0, theta2=math.inf).value
        )
        assert gain[i] / error_chance(state)[i] == pytest.approx(fall / share, abs=1e-9)
        seen += gain[i] > 0.0
    assert seen > 10


def test_what_cannot_move_the_stability_has_no_gain() -> None:
    sample, variant = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    cost, loss = np.array([0.0, 0.5, 0.0, 0.5]), np.array([1.0, math.nan, 0.0, math.nan])
    asked = np.array([True, False, True, False])
    state = State(sample, variant, cost, loss, asked)
    gain = expected_gain(state, Question(0.8, 1.0, 1.0, KL))
    assert gain[1] == 0.0  # it errs already
    assert gain[3] > 0.0
    assert not expected_gain(state, Question(0.8, math.inf, 1.0, KL)).any()  # nothing may move
    assert not expected_gain(State(sample, variant, cost, loss, np.zeros(4, dtype=bool)), Question(None, 1.0, 1.0, KL)).any()


def test_chances_follow_the_variant_and_the_sample() -> None:
    table = made_up(1)
    s, k, cost, loss = (table[name].to_numpy() for name in ("sample", "variant", "cost", "loss"))
    known = np.random.default_rng(0).random(len(s)) < 0.5
    chance = error_chance(State(s, k, cost, np.where(known, loss, math.nan), known))
    assert ((chance > 0.0) & (chance < 1.0)).all()
    hidden = ~known & (k > 0)
    assert chance[hidden].mean() == pytest.approx(loss[hidden].mean(), abs=0.06)
    assert np.corrcoef(chance[hidden], loss[hidden])[0, 1] > 0.3
