"""Tables of alternatives: against linear programs, against the definition itself, and as people write them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tippingpoint as tp
from commands import Command
from problems import primal_by_cvxpy
from tippingpoint.core.divergences import divergence_named

INF = math.inf


def random_table(seed: int, n: int = 12, most: int = 5) -> pd.DataFrame:
    """Samples with one to `most` lines each, the first of cost 0, and a weight for each sample."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        weight = float(rng.integers(1, 4))
        for k in range(rng.integers(1, most + 1)):
            cost = 0.0 if k == 0 else float(rng.exponential())
            lines.append((f"s{i}", float(rng.exponential()), cost, weight, f"s{i} as {k}"))
    return pd.DataFrame(lines, columns=["sample", "loss", "cost", "heft", "note"])


def between(table: pd.DataFrame, share: float, weight: str | None = None) -> float:
    """A risk between the present one and the largest that moving reaches."""
    samples = table.groupby("sample", sort=False)
    weights = samples[weight].first() if weight else samples["loss"].size() * 0 + 1
    now = np.average(table[table["cost"] == 0.0].groupby("sample", sort=False)["loss"].first(), weights=weights)
    return float((1.0 - share) * now + share * np.average(samples["loss"].max(), weights=weights))


def by_linear_program(table: pd.DataFrame, risk: float, theta1: float, weight: str | None, cap: float | None = None) -> float:
    """The least cost over masses of the lines; without a cap every sample keeps its mass, with one it may have `1/cap`."""
    codes, labels = pd.factorize(table["sample"])
    first = table.groupby(codes)[weight].first().to_numpy() if weight else np.ones(len(labels))
    base = (first / first.sum())[codes]
    member = (codes == np.arange(len(labels))[:, None]).astype(float)
    loss, cost = table["loss"].to_numpy(), table["cost"].to_numpy()
    above: list[Any] = [-base * loss]
    limit = [-risk]
    if cap is None:
        same, mass = member, np.ones(len(labels))
    else:
        same, mass = base[None, :], np.ones(1)
        above.extend(member)
        limit.extend([1.0 / cap] * len(labels))
    found = linprog(theta1 * base * cost, A_ub=np.array(above), b_ub=limit, A_eq=same, b_eq=mass, method="highs")
    assert found.status in (0, 2), found.message
    return INF if found.fun is None else float(found.fun)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000), share=st.floats(0.05, 0.95), n=st.integers(1, 15), weight=st.sampled_from([None, "heft"]))
def test_moving_only_is_the_linear_program_over_the_lines(seed: int, share: float, n: int, weight: str | None) -> None:
    table = random_table(seed, n)
    risk = between(table, share, weight)
    result = tp.profile_table(table, weight=weight).stability(risk, theta1=0.7, theta2=INF)
    assert result.value == pytest.approx(by_linear_program(table, risk, 0.7, weight), rel=1e-7, abs=1e-9)
    assert result.gap <= 1e-9


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 100_000), share=st.floats(0.3, 1.3), kappa=st.floats(0.2, 1.0))
def test_the_worst_share_is_the_linear_program_with_a_cap(seed: int, share: float, kappa: float) -> None:
    table = random_table(seed)
    risk = between(table, share)
    result = tp.profile_table(table).stability(risk, theta1=0.7, theta2=1.0, divergence=tp.CVaR(kappa))
    assert result.value == pytest.approx(by_linear_program(table, risk, 0.7, None, kappa), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize(("theta1", "theta2"), [(1.0, 0.25), (0.2, 2.0), (INF, 0.5)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_price_on_weights_is_the_definition_minimised_directly(
    divergence: str, theta1: float, theta2: float, seed: int
) -> None:
    table = random_table(seed)
    samples = list(table.groupby("sample", sort=False))
    width = max(len(lines) for _, lines in samples)
    # A sample of few lines repeats its original; that adds nothing to choose from.
    loss, cost = (
        np.array([np.pad(lines[c], (0, width - len(lines)), constant_values=lines[c].iloc[0]) for _, lines in samples])
        for c in ("loss", "cost")
    )
    heft = np.array([lines["heft"].iloc[0] for _, lines in samples])
    risk = between(table, 0.4, "heft")
    result = tp.profile_table(table, weight="heft").stability(risk, theta1=theta1, theta2=theta2, divergence=divergence)
    direct = primal_by_cvxpy(loss, cost, heft / heft.sum(), risk, theta1, theta2, divergence_named(divergence))
    assert result.value == pytest.approx(direct, rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter(seed: int, order: Any) -> None:
    table = random_table(seed)
    places = list(range(len(table)))
    order.shuffle(places)
    shuffled = table.iloc[places]
    risk = between(table, 0.5, "heft")
    for divergence, theta1, theta2 in (("kl", 1.0, 0.25), ("chi2", INF, 1.0), ("kl", 1.0, INF)):
        asked: dict[str, Any] = {"divergence": divergence, "theta1": theta1, "theta2": theta2}
        one, other = (tp.profile_table(t, weight="heft").stability(risk, **asked) for t in (table, shuffled))
        assert one.value == pytest.approx(other.value, rel=1e-11)
        assert set(one.sensitive["row"]) == set(other.sensitive["row"])


def test_alternatives_that_are_never_best_change_nothing() -> None:
    table = random_table(4)
    more = []
    for sample, lines in table.groupby("sample", sort=False):
        cheap, dear = lines.iloc[0], lines.sort_values("loss").iloc[-1]
        middle = (cheap["loss"] + dear["loss"]) / 2.0
        more += [
            (sample, cheap["loss"] - 0.5, 0.3, "less loss for more cost"),
            (sample, dear["loss"], dear["cost"] + 0.1, "the same loss for more cost"),
            (sample, middle, (cheap["cost"] + dear["cost"]) / 2.0 + 0.01, "above the chord"),
            (sample, cheap["loss"], 0.0, "the original again"),
        ]
    longer = pd.concat([table, pd.DataFrame(more, columns=["sample", "loss", "cost", "note"])], ignore_index=True)
    for share in (0.2, 0.5, 0.9):
        for theta1, theta2 in ((1.0, 0.25), (0.3, INF), (INF, 1.0)):
            one, other = (
                tp.profile_table(t).stability(between(table, share), theta1=theta1, theta2=theta2) for t in (table, longer)
            )
            assert one.value == pytest.approx(other.value, rel=1e-11)


def test_a_better_alternative_makes_it_less_stable() -> None:
    table = random_table(5)
    better = pd.concat([table, table[table["cost"] == 0.0].assign(loss=9.0, cost=0.01)], ignore_index=True)
    risk = between(table, 0.5)
    assert tp.profile_table(better).stability(risk).value < tp.profile_table(table).stability(risk).value


def told_by(lines: pd.DataFrame, sensitive: pd.DataFrame) -> None:
    """Every atom is a line of the table, with all of that line's columns."""
    keyed = lines.set_index("note")
    for atom in sensitive.to_dict("records"):
        line = keyed.loc[atom["note"]]
        assert (line["sample"], line["heft"]) == (atom["row"], atom["heft"])
        assert (line["loss"], line["cost"]) == pytest.approx((atom["loss"], atom["cost"]), abs=1e-12)


def test_the_chosen_lines_are_shown_with_all_their_columns() -> None:
    table = random_table(6)
    result = tp.profile_table(table).stability(between(table, 0.6), theta1=0.3, theta2=0.5)
    assert result.sensitive["cost"].gt(0.0).any()
    told_by(table, result.sensitive)
    split = tp.profile_table(table).stability(between(table, 0.6), theta1=0.3, theta2=INF).sensitive
    told_by(table, split)
    assert split["row"].duplicated().sum() == 1, "one sample is split between two of its lines"


def test_polars_in_gives_polars_out_with_the_same_numbers() -> None:
    polars = pytest.importorskip("polars")
    table = random_table(6)
    frame = polars.DataFrame({name: table[name].to_list() for name in table.columns})
    risk = between(table, 0.6)
    ours, theirs = (tp.profile_table(t).stability(risk, theta1=0.3, theta2=INF) for t in (frame, table))
    assert ours == theirs
    assert isinstance(ours.sensitive, polars.DataFrame)
    assert ours.sensitive["note"].to_list() == theirs.sensitive["note"].tolist()
    told_by(table, pd.DataFrame(ours.sensitive.to_dict(as_series=False)))


def test_without_further_columns_the_line_itself_is_named() -> None:
    table = random_table(7)[["sample", "loss", "cost"]]
    q = tp.profile_table(table).stability(between(table, 0.6), theta1=0.3, theta2=INF).sensitive
    lines = table.iloc[q["line"]]
    np.testing.assert_allclose(q["loss"], lines["loss"], rtol=1e-12)
    np.testing.assert_allclose(q["cost"], lines["cost"], rtol=1e-12)
    assert q["row"].tolist() == lines["sample"].tolist()


def test_a_further_column_with_one_of_our_names_keeps_both() -> None:
    table = random_table(8).rename(columns={"note": "share"})
    q = tp.profile_table(table).stability(between(table, 0.5)).sensitive
    assert q.columns.is_unique
    assert {"share", "feature:share"} <= set(q.columns)
    assert np.average(q["weight"], weights=q["share"]) == pytest.approx(1.0, rel=1e-9)


def test_a_column_called_weight_is_the_weight() -> None:
    table = random_table(8)
    risk = between(table, 0.5)
    named = tp.profile_table(table.rename(columns={"heft": "weight"})).stability(risk)
    assert named.value == tp.profile_table(table, weight="heft").stability(risk).value
    with pytest.raises(tp.InputError, match="weight"):
        tp.profile_table(table.rename(columns={"heft": "weight"}).assign(weight=-1.0))


def test_weight_two_is_the_sample_twice_and_weight_zero_the_sample_dropped() -> None:
    table = random_table(9)
    table["heft"] = pd.factorize(table["sample"])[0] % 3
    twice = table[table["heft"] == 2].assign(sample=lambda t: t["sample"] + " again")
    plain = pd.concat([table[table["heft"] > 0], twice], ignore_index=True)
    risk = between(plain, 0.5)
    for theta1, theta2 in ((1.0, 0.25), (0.3, INF), (INF, 1.0)):
        weighted = tp.profile_table(table, weight="heft").stability(risk, theta1=theta1, theta2=theta2)
        repeated = tp.profile_table(plain).stability(risk, theta1=theta1, theta2=theta2)
        assert weighted.value == pytest.approx(repeated.value, rel=1e-10)
        assert set(weighted.sensitive["row"]) == set(table.loc[table["heft"] > 0, "sample"])


@pytest.mark.parametrize("ids", ["words", "numbers", "dates", "mixed"])
def test_samples_may_be_named_by_anything(ids: str) -> None:
    table = random_table(10)
    codes = pd.factorize(table["sample"])[0]
    names: dict[str, list[Any]] = {
        "words": [f"prompt {c}" for c in codes],
        "numbers": [float(1000 - c) for c in codes],
        "dates": [pd.Timestamp("2024-01-01") + pd.Timedelta(days=int(c)) for c in codes],
        "mixed": [c if c % 2 else f"p{c}" for c in codes.tolist()],
    }
    renamed = table.assign(sample=pd.Series(names[ids]))
    result = tp.profile_table(renamed).stability(between(table, 0.5))
    assert result.value == tp.profile_table(table).stability(between(table, 0.5)).value
    assert set(result.sensitive["row"]) == set(names[ids])


def test_columns_may_have_other_names_and_losses_any_sign() -> None:
    table = random_table(11).rename(columns={"sample": "prompt", "loss": "toxicity", "cost": "edit"})
    result = tp.profile_table(table, sample="prompt", loss="toxicity", cost="edit").stability(1.5)
    assert result.value == tp.profile_table(random_table(11)).stability(1.5).value
    shifted = table.assign(toxicity=table["toxicity"] - 10.0)
    lower = tp.profile_table(shifted, sample="prompt", loss="toxicity", cost="edit").stability(1.5 - 10.0)
    assert lower.value == pytest.approx(result.value, rel=1e-9)


def test_one_sample_of_two_lines_is_solved_by_hand() -> None:
    table = pd.DataFrame({"sample": ["only"] * 2, "loss": [0.0, 2.0], "cost": [0.0, 3.0]})
    result = tp.profile_table(table).stability(0.5, theta1=2.0, theta2=1.0)
    assert result.value == pytest.approx(0.25 * 3.0 * 2.0, rel=1e-12)
    assert result.sensitive["share"].tolist() == pytest.approx([0.75, 0.25])
    assert tp.profile_table(table).stability(2.5).status == "unreachable"
    assert tp.profile_table(table).stability(2.0, theta1=2.0, theta2=1.0).value == pytest.approx(6.0, rel=1e-12)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_through_the_command_line_is_the_frame(kind: str, place: Path, cli: Command) -> None:
    table = random_table(12).round(6)  # so few digits survive every reader of CSV
    file = place / f"runs.{kind}"
    if kind == "csv":
        table.to_csv(file, index=False)
    else:
        pytest.importorskip("pyarrow")
        table.to_parquet(file)
    asked = ["--risk", "1.6", "--theta1", "0.5", "--theta2", "0.25", "--divergence", "chi2", "--weight", "heft"]
    code, out, _ = cli("evaluate", "--table", file.name, *asked, "--json", "-")
    assert code == 0
    wanted = tp.profile_table(table, weight="heft").stability(1.6, theta1=0.5, theta2=0.25, divergence="chi2")
    assert tp.StabilityResult.from_json(out) == wanted


def test_the_text_that_is_no_number_is_named_not_the_numbers_beside_it() -> None:
    runs = pd.DataFrame({"sample": ["a", "a"], "cost": [0.0, 1.0], "loss": ["0", "x"]})
    with pytest.raises(tp.InputError, match="not numbers, such as 'x'"):
        tp.profile_table(runs)
