"""MLflow: a local store holds the numbers, what was asked, and the page."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

import tippingpoint as tp

X, Y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["no", "no", "yes", "yes"]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    while mlflow.active_run() is not None:
        mlflow.end_run()


def result(theta1: float, theta2: float) -> tp.StabilityResult:
    return tp.stability(([1.0, 0.1], -1.5), X, Y, 0.5, theta1=theta1, theta2=theta2)


def test_numbers_settings_and_page_are_in_the_store(store: Any, tmp_path: Path) -> None:
    found = result(theta1=1.0, theta2=math.inf)
    run = store.get_run(found.log_mlflow(model="a line", data="four rows"))
    assert run.data.metrics["stability.value"] == found.value
    assert run.data.metrics["stability.lower"] == found.lower
    assert run.data.metrics["stability.risk"] == 0.5
    assert run.data.tags["stability.theta2"] == "inf"
    assert run.data.tags["stability.exact"] == "True"
    page = store.artifacts.download_artifacts(run_id=run.info.run_id, artifact_path="stability.html", dst_path=str(tmp_path))
    assert "four rows" in Path(page).read_text(encoding="utf-8")


def test_several_results_share_the_run_that_is_active_and_it_stays_so(store: Any) -> None:
    with store.start_run() as run:
        first = result(theta1=1.0, theta2=math.inf).log_mlflow(prefix="moving", report=False)
        second = result(theta1=1.0, theta2=0.25).log_mlflow(prefix="both", report=False)
        assert store.active_run() is not None
    assert first == second == run.info.run_id
    metrics = store.get_run(first).data.metrics
    assert metrics["moving.value"] > metrics["both.value"]
    assert not store.MlflowClient().list_artifacts(first)


def test_what_is_infinite_is_a_tag_and_a_new_run_ends(store: Any) -> None:
    run = store.get_run(result(theta1=math.inf, theta2=1.0).log_mlflow(report=False))
    assert "stability.value" not in run.data.metrics
    assert run.data.tags["stability.value"] == "inf"
    assert run.data.tags["stability.status"] == "unreachable"
    assert store.active_run() is None


def test_what_cannot_be_logged_is_said_in_a_sentence(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = result(theta1=1.0, theta2=1.0)
    with pytest.raises(tp.InputError, match="prefix='' must be a word"):
        found.log_mlflow(prefix="")
    with pytest.raises(tp.InputError, match="title is for the report"):
        found.log_mlflow(report=False, title="t")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(tp.UnsupportedError, match=r"tippingpoint\[mlflow\]"):
        found.log_mlflow()
