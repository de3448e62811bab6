"""Results in pickles, copies and other processes: the same numbers, and the sensitive distribution where it can be."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from torch import nn

import tippingpoint as tp
from tippingpoint.json_numbers import write_json
from tippingpoint.results.evidence import Recorded

ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def data() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", "dose", "site"])
    return x, np.where(x["age"] + 0.5 * rng.normal(size=60) > 0.0, "yes", "no")


def linear() -> tp.Profile:
    x, y = data()
    return tp.profile(LogisticRegression().fit(x, y), x, y)


def table() -> tp.Profile:
    rng = np.random.default_rng(1)
    lines = [(f"s{i}", int(k > 0 and rng.random() < 0.6), k, f"text {i}-{k}") for i in range(40) for k in range(3)]
    return tp.profile_table(pd.DataFrame(lines, columns=["sample", "loss", "cost", "text"]))


def forest() -> tp.Profile:
    x, y = data()
    model = RandomForestClassifier(5, random_state=0).fit(x, y)
    return tp.profile(model, x, y, progress=False)


def network() -> tp.Profile:
    x, y = data()
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    return tp.profile(module, x, (y == "yes").astype(int), progress=False, restarts=1)


def function() -> tp.Profile:
    x, y = data()
    return tp.profile(
        lambda rows: np.where(np.asarray(rows)[:, 0] > 0.1, "yes", "no"), x, y, calls=2000, progress=False, output="label"
    )


def own_loss() -> tp.Profile:
    x, y = data()
    torch.manual_seed(0)
    module = nn.Linear(3, 1).double()
    return tp.profile(module, x, (y == "yes").astype(float), loss=lambda o, t: (o[:, 0] - t) ** 2, progress=False, restarts=1)


FAMILIES: dict[str, Callable[[], tp.Profile]] = {
    "linear": linear,
    "table": table,
    "forest": forest,
    "network": network,
    "function": function,
    "loss of one's own": own_loss,
}


def asked(profile: tp.Profile) -> tp.StabilityResult:
    return profile.stability(profile.risk + 0.5 * (profile.reach - profile.risk), **ASKED)


@cache
def profiled(family: str) -> tp.Profile:
    return FAMILIES[family]()


@cache
def result(family: str) -> tp.StabilityResult:
    return asked(profiled(family))


def evaluate(family: str) -> tp.StabilityResult:
    """What another process works out and sends back."""
    return asked(FAMILIES[family]())


def through_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # our own


def check_same(ours: tp.StabilityResult, theirs: tp.StabilityResult) -> None:
    """Equal bit for bit, with the same sensitive distribution."""
    assert ours.to_json() == theirs.to_json()
    assert str(ours) == str(theirs)
    pd.testing.assert_frame_equal(ours.sensitive, theirs.sensitive, check_exact=True)
    assert ours.influence.tobytes() == theirs.influence.tobytes()


def resampled(found: tp.StabilityResult) -> bytes:
    """Stabilities of data drawn again, which take best responses at many prices."""
    return bytes(np.asarray(found.bootstrap(5).values).tobytes())


def check_evidence(ours: tp.StabilityResult, theirs: tp.StabilityResult) -> None:
    """What needs the best responses works too, or says why not."""
    assert theirs.evidence is not None
    if isinstance(theirs.evidence.source, Recorded):
        with pytest.raises(tp.DetachedError, match=r"was pickled, and its model cannot be \(.+\).*run stability\(\) again"):
            theirs.bootstrap(5)
    else:
        assert resampled(ours) == resampled(theirs)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_result_survives_a_pickle_with_its_sensitive_distribution(family: str) -> None:
    back = through_pickle(result(family))
    check_same(result(family), back)
    check_evidence(result(family), back)
    again = through_pickle(back)
    check_same(result(family), again)
    assert type(again.evidence.source) is type(back.evidence.source)


@pytest.mark.parametrize("family", ["linear", "table", "forest", "function"])
def test_best_responses_that_hold_no_code_survive_whole(family: str) -> None:
    back = through_pickle(result(family))
    assert back.evidence.oracle.exact == result(family).evidence.oracle.exact  # type: ignore[union-attr]
    assert resampled(back) == resampled(result(family))


@pytest.mark.parametrize("family", ["linear", "forest"])
def test_a_pickled_result_writes_the_same_report(family: str) -> None:
    ours, theirs = (each.report_summary(date="2026-01-31") for each in (result(family), through_pickle(result(family))))
    assert write_json(ours) == write_json(theirs)


def test_a_result_without_its_best_responses_says_why_it_writes_no_report() -> None:
    with pytest.raises(tp.DetachedError, match="its model cannot be"):
        through_pickle(result("loss of one's own")).report_summary()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_result_is_as_good_as_the_result(family: str, copied: Callable[[Any], Any]) -> None:
    theirs = copied(result(family))
    assert theirs is not result(family)
    check_same(result(family), theirs)
    assert resampled(theirs) == resampled(result(family))


def test_what_was_worked_out_before_is_not_pickled_too() -> None:
    fresh = asked(profiled("linear"))
    size = len(pickle.dumps(fresh))
    _ = fresh.sensitive
    assert len(pickle.dumps(fresh)) == size


def test_the_results_of_a_sweep_share_what_they_were_found_by() -> None:
    profile = profiled("linear")
    back = through_pickle(profile.curve([0.3, 0.5]))
    assert back.results[0].evidence.oracle is back.results[1].evidence.oracle


@pytest.mark.parametrize("family", ["linear", "table", "forest", "network"])
def test_joblib_brings_results_from_other_processes(family: str) -> None:
    ours = result(family)
    for theirs in joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(evaluate)(family) for _ in range(2)):
        check_same(ours, theirs)
        check_evidence(ours, theirs)


def test_a_pool_of_processes_brings_and_takes_results() -> None:
    families = ["linear", "table", "forest", "network"]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for family, theirs in zip(families, pool.map(evaluate, families), strict=True):
            check_same(result(family), theirs)
            check_evidence(result(family), theirs)
        assert pool.submit(str, result("linear")).result() == str(result("linear"))


def test_sweeps_comparisons_verdicts_advice_and_bootstraps_survive_too() -> None:
    compared = compared_models()
    back = through_pickle(compared)
    assert str(back) == str(compared)
    assert back.verdict("two") == compared.verdict("two")
    assert back.verdict("one", "two") == compared.verdict("one", "two"), "also against others than the first"
    sweep = profiled("linear").curve([0.3, 0.5], **ASKED)
    assert [r.to_json() for r in through_pickle(sweep)] == [r.to_json() for r in sweep]
    drawn = result("linear").bootstrap(10)
    assert through_pickle(drawn).to_json() == drawn.to_json()
    for small in (compared.verdict("two"), result("linear").advice()):
        assert through_pickle(small) == small
        assert copy.deepcopy(small) == small
    for each in (compared, sweep, drawn):
        assert copy.deepcopy(each).to_json() == each.to_json()


def compared_models() -> tp.Comparison:
    x, y = data()
    models = {"one": LogisticRegression().fit(x, y), "two": LogisticRegression(C=0.001).fit(x, y)}
    return tp.compare(models, x, y, 0.6, **ASKED)


@pytest.mark.parametrize("family", ["linear", "forest"])
def test_a_pickled_ranking_works_features_out_again(family: str) -> None:
    x, y = data()
    model = LogisticRegression().fit(x, y) if family == "linear" else RandomForestClassifier(3, random_state=0).fit(x, y)
    ranked = tp.feature_stability(model, x, y, 0.6, **ASKED)
    back = through_pickle(ranked)
    assert back.to_json() == ranked.to_json()
    assert str(back) == str(ranked)
    check_same(ranked.result("age"), back.result("age"))
    check_same(ranked.result("age"), copy.deepcopy(ranked).result("age"))


def test_a_pickled_ranking_of_a_model_that_cannot_be_says_so() -> None:
    x, y = data()
    ranked = tp.feature_stability(
        lambda rows: np.where(np.asarray(rows)[:, 0] > 0.1, "yes", "no"), x, y, 0.6, calls=3000, output="label", **ASKED
    )
    back = through_pickle(ranked)
    assert back.to_json() == ranked.to_json()
    with pytest.raises(tp.DetachedError, match=r"was pickled, and its model cannot be \(.+\); run feature_stability\(\) again"):
        back.result("age")
    assert ranked.result("age").value == ranked["age"].value
    for copied in (copy.copy, copy.deepcopy):
        assert copied(ranked).result("age").value == ranked["age"].value, "no copy loses what a pickle does"


def test_a_result_of_a_ranking_says_who_works_out_the_rest() -> None:
    x, y = data()
    ranked = tp.feature_stability(LogisticRegression().fit(x, y), x, y, 0.6, **ASKED)
    with pytest.raises(tp.DetachedError, match=r"one of a ranking.*result\(name\)"):
        _ = ranked["age"].sensitive


@pytest.mark.parametrize("family", ["linear", "table", "forest", "function"])
def test_a_profile_survives_a_pickle(family: str) -> None:
    back = through_pickle(profiled(family))
    check_same(result(family), asked(back))
    check_same(result(family), asked(copy.deepcopy(profiled(family))))


def test_a_profile_that_cannot_be_pickled_says_so() -> None:
    with pytest.raises(tp.UnsupportedError, match=r"cannot be pickled, as its model cannot \(.+\); pickle its results"):
        pickle.dumps(profiled("loss of one's own"))
    for copied in (copy.copy, copy.deepcopy):
        check_same(result("loss of one's own"), asked(copied(profiled("loss of one's own"))))


def test_results_are_frozen_before_and_after() -> None:
    for each in (result("linear"), through_pickle(result("linear")), copy.deepcopy(result("linear"))):
        with pytest.raises(AttributeError):
            each.value = 0.0  # type: ignore[misc]


def test_a_frame_of_polars_comes_back_as_one() -> None:
    polars = pytest.importorskip("polars")
    x, y = data()
    found = tp.stability(LogisticRegression().fit(x, y), polars.DataFrame(x.to_dict("list")), y, 0.6, **ASKED)
    assert through_pickle(found).sensitive.equals(found.sensitive)


def test_a_pickle_knows_the_fingerprint_of_the_data_and_not_the_data() -> None:
    origin = profiled("linear").origin
    assert origin is not None
    back = through_pickle(origin)
    assert back.data_fingerprint() == origin.data_fingerprint()
    assert len(pickle.dumps(origin)) < 1000
