"""Partitions on the workers of a Dask cluster: the same answers, whoever holds them, and also when a worker is lost."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import tippingpoint as tp
from tippingpoint.engine.oracle import PartitionedOracle
from tippingpoint.results.stability import StabilityResult

ROWS, PARTITIONS = 400, 20
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
SIGN = np.where(X.to_numpy() @ [1.0, 0.5, -0.3] + RNG.normal(size=ROWS) > 0.0, 1, -1)
TABLE = X.assign(label=SIGN)
LINE = ([1.0, 0.5, -0.3], 0.1)
RISKS = {"zero_one": 0.45, "logistic": 0.8}

pytestmark = [
    # What distributed leaves open when a worker or a cluster ends is its own.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def half(rows: Any) -> Any:
    """A black box."""
    return np.where(np.asarray(rows)[:, 0] > 0.0, 1, -1)


def cluster(workers: int) -> LocalCluster:
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, memory_limit="512MiB", dashboard_address=":0")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(2) as started, Client(started, set_as_default=False) as made:
        yield made


@pytest.fixture(scope="module")
def lone() -> Iterator[Client]:
    with cluster(1) as started, Client(started, set_as_default=False) as made:
        yield made


def frame() -> Any:
    return dd.from_pandas(TABLE, npartitions=5)


def in_memory(loss: str, divergence: str = "kl") -> StabilityResult:
    return tp.stability(LINE, X, SIGN, RISKS[loss], loss=loss, divergence=divergence)


def asked(client: Client, loss: str, divergence: str = "kl") -> StabilityResult:
    return tp.stability(LINE, frame(), "label", RISKS[loss], loss=loss, divergence=divergence, client=client)


@pytest.mark.parametrize("memory", [0, 100 * 100, "1 GB"])
def test_what_workers_keep_changes_no_bit(client: Client, memory: Any) -> None:
    made = tp.profile(LINE, frame(), "label", loss="logistic", client=client, memory=memory)
    kept = [each is not None for each in made.oracle.samples._placed]  # type: ignore[attr-defined]
    assert (any(kept), all(kept)) == {0: (False, False), 100 * 100: (True, False), "1 GB": (True, True)}[memory]
    result = made.stability(RISKS["logistic"])
    assert numbers(result) == numbers(asked(client, "logistic"))
    assert result.heaviest(3)["row"].tolist() == asked(client, "logistic").heaviest(3)["row"].tolist()


def test_what_an_interrupt_leaves_is_brought_here(client: Client) -> None:
    made = tp.profile(half, frame(), "label", output="label", calls=40 * len(TABLE), client=client)
    whole = made.stability(0.6)
    left = PartitionedOracle(made.oracle.samples.ended())  # type: ignore[attr-defined]
    assert left.interrupted
    assert left.stopped
    again = replace(made, oracle=left).stability(0.6)
    assert (again.value, again.interrupted, whole.interrupted) == (whole.value, True, False)


def numbers(result: StabilityResult) -> tuple[float, ...]:
    return result.value, result.lower, result.current_risk, result.nats, result.effective_share, result.standard_error


@pytest.mark.parametrize("divergence", ["kl", "chi2", "cvar:0.4"])
@pytest.mark.parametrize("loss", RISKS)
def test_workers_tell_what_memory_does_and_their_number_changes_no_bit(
    client: Client, lone: Client, loss: str, divergence: str
) -> None:
    both, whole = asked(client, loss, divergence), in_memory(loss, divergence)
    assert both.value == pytest.approx(whole.value, rel=1e-12)
    assert both.lower == pytest.approx(whole.lower, rel=1e-12)
    assert both.exact == whole.exact
    np.testing.assert_array_equal(numbers(both), numbers(asked(lone, loss, divergence)))


def test_frames_arrays_and_parquet(client: Client, tmp_path: Path) -> None:
    whole = in_memory("logistic")
    TABLE.to_parquet(tmp_path / "t.parquet", row_group_size=37)
    chunks = ((150, 1, 249),)
    array, labels = da.from_array(X.to_numpy(), chunks=(chunks[0], 3)), da.from_array(SIGN, chunks=chunks)
    sources: list[tuple[Any, Any]] = [
        (tmp_path / "t.parquet", "label"),
        (array, labels),
        (frame()[["a", "b", "c"]], frame()["label"]),
    ]
    for data, y in sources:
        found = tp.stability(LINE, data, y, 0.8, loss="logistic", client=client)
        assert found.value == pytest.approx(whole.value, rel=1e-12)


@pytest.mark.parametrize("loss", RISKS)
def test_the_sensitive_distribution_is_a_frame_of_dask(client: Client, loss: str) -> None:
    found = asked(client, loss)
    q = found.sensitive
    assert isinstance(q, dd.DataFrame)
    here = client.compute(q).result()
    assert here["mass"].sum() == pytest.approx(1.0, rel=1e-12)
    assert here["mass"] @ here["loss"] == pytest.approx(RISKS[loss], rel=1e-9)
    assert list(here.columns) == list(q.columns)
    pd.testing.assert_frame_equal(found.heaviest(5), in_memory(loss).heaviest(5), check_dtype=False, rtol=1e-6)


def test_a_result_is_pickled(client: Client) -> None:
    found = asked(client, "zero_one")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301  # our own
    assert numbers(again) == numbers(found)
    with pytest.raises(tp.DetachedError):
        again.heaviest(3)


def test_a_worker_that_dies_costs_time_and_not_the_answer() -> None:
    """Between profile and question, and again in the middle of a question."""
    expected = in_memory("logistic").value
    with cluster(2) as started, Client(started, set_as_default=False) as client:

        def kill_one() -> None:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

        profile = tp.profile(LINE, frame(), "label", loss="logistic", client=client)
        kill_one()
        assert profile.stability(0.8).value == pytest.approx(expected, rel=1e-12)
        client.wait_for_workers(2, timeout=30)

        def later() -> None:
            time.sleep(0.1)
            kill_one()

        killer = threading.Thread(target=later)
        killer.start()
        found = [profile.stability(0.8, divergence=each).value for each in ("kl", "chi2", "kl")]
        killer.join()
        assert found[0] == pytest.approx(expected, rel=1e-12)
        assert found[2] == found[0]


@pytest.mark.parametrize("client_too", [True, False])
def test_a_cluster_that_is_gone(*, client_too: bool) -> None:
    with cluster(1) as started:
        client = Client(started, set_as_default=False)
        profile = tp.profile(LINE, frame(), "label", loss="logistic", client=client)
        if client_too:
            client.close()
    try:
        with pytest.raises(tp.ClusterError, match="the Dask cluster is gone") as raised:
            profile.stability(0.8)
        assert "\n" not in str(raised.value)
    finally:
        client.close()


class Stubborn:
    """A model that cannot be sent anywhere."""

    def predict(self, rows: Any) -> Any:
        return np.where(rows["a"] > 0.0, 1, -1)

    def __reduce__(self) -> Any:
        message = "this stays here"
        raise TypeError(message)


def test_a_model_that_cannot_be_sent(client: Client) -> None:
    with pytest.raises(tp.UnsupportedError, match="model=Stubborn cannot be sent to the workers") as raised:
        tp.profile(Stubborn(), frame(), "label", client=client, calls=4000)
    assert "this stays here" in str(raised.value)
    assert "\n" not in str(raised.value)


def short(rows: Any) -> Any:
    answers = np.where(np.asarray(rows["a"]) > 0.0, 1, -1)
    return answers[:-1] if (np.asarray(rows["a"]) == 99.0).any() and len(rows) == ROWS // PARTITIONS else answers


def test_a_model_that_answers_too_few_rows_of_a_partition(client: Client) -> None:
    table = TABLE.copy()
    table.loc[17 * ROWS // PARTITIONS, "a"] = 99.0
    with pytest.raises(tp.InputError, match="partition 17: "):
        tp.profile(short, dd.from_pandas(table, npartitions=PARTITIONS), "label", client=client, calls=4000)


def test_a_value_that_is_missing_is_named_with_its_partition_and_row(client: Client) -> None:
    table = TABLE.copy()
    table.loc[17 * ROWS // PARTITIONS + 3, "b"] = np.nan
    with pytest.raises(tp.InputError, match="row 3 of partition 17, 'b'] is missing"):
        tp.profile(LINE, dd.from_pandas(table, npartitions=PARTITIONS), "label", client=client)


def test_what_is_no_client() -> None:
    with pytest.raises(tp.InputError, match="is no Dask client"):
        tp.profile(LINE, frame(), "label", client="tcp://nowhere")
