"""Data in several Parquet files: the same answers as of one, here or on a cluster; and one sentence where that cannot be."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")

from commands import COMMAND, Command, patients, run  # where Parquet can be written

QUESTION = ("--model", "model.json", "--target", "y", "--risk", "0.4")
WEIGHTED = (*QUESTION, "--weight", "heft", "--json", "-")


@pytest.fixture
def place(place: Path) -> Path:
    """The patients also in a file of several row groups, and in a directory of two files, one of which has more columns."""
    data = patients()
    data.to_parquet(place / "one.parquet", row_group_size=30)
    (place / "big").mkdir()
    data[:50].to_parquet(place / "big" / "a.parquet", row_group_size=20)
    data[50:].assign(more=1.0).to_parquet(place / "big" / "b.parquet", row_group_size=40)
    return place


def numbers(text: str) -> dict[str, float]:
    return {name: value for name, value in json.loads(text).items() if isinstance(value, float)}


def same(one: str, other: str) -> None:
    assert numbers(one).keys() == numbers(other).keys()
    for name, value in numbers(one).items():
        assert value == pytest.approx(numbers(other)[name], rel=1e-9), name


SPELLINGS = {
    "several files": ("big/a.parquet", "big/b.parquet"),
    "a directory": ("big",),
    "a pattern": ("big/*.parquet",),
    "one file by row groups": ("one.parquet", "--memory", "1 GB"),
    "next to no memory": ("big", "--memory", "1"),
    "one thread": ("big", "--threads", "1"),
}


@pytest.mark.parametrize("how", SPELLINGS)
def test_data_in_parts_have_the_answer_of_one_file(how: str, cli: Command) -> None:
    whole = cli("evaluate", *WEIGHTED, "--data", "one.parquet")
    parts = cli("evaluate", *WEIGHTED, "--data", *SPELLINGS[how])
    assert (parts.code, parts.err) == (whole.code, whole.err) == (0, "")
    same(parts.out, whole.out)


def test_one_parquet_file_is_read_whole_unless_an_option_says_otherwise(place: Path, cli: Command) -> None:
    code, _, err = cli("evaluate", *QUESTION, "--data", "one.parquet", "--sensitive", "q.csv")
    assert (code, err) == (0, "")
    assert len(pd.read_csv(place / "q.csv")) >= len(patients())


def test_a_gate_judges_data_in_parts(cli: Command) -> None:
    assert cli("evaluate", *QUESTION, "--data", "big", "--fail-below", "0.001").code == 0
    assert cli("evaluate", *QUESTION, "--data", "big", "--fail-below", "10").code == 1


def test_a_curve_and_a_configuration_take_parts(place: Path, cli: Command) -> None:
    (place / "parts.toml").write_text(
        'model = "model.json"\ndata = ["big/a.parquet", "big/b.parquet"]\ntarget = "y"\nthreads = 2\nmemory = "1 MB"\n',
        encoding="utf-8",
    )
    whole = cli("curve", *QUESTION[:4], "--data", "one.parquet", "--risks", "0.3,0.4", "--json", "-")
    parts = cli("curve", "--config", "parts.toml", "--risks", "0.3,0.4", "--json", "-")
    assert (parts.code, parts.err) == (0, "")
    one, other = (json.loads(each.out)["results"] for each in (whole, parts))
    assert [each["value"] for each in other] == pytest.approx([each["value"] for each in one])


def test_classes_weights_and_costs_are_read_as_of_one_file(place: Path, cli: Command) -> None:
    (place / "nameless.json").write_text(
        json.dumps({"coef": [1.0, -0.5], "intercept": 0.1, "features": ["age", "dose"]}), encoding="utf-8"
    )
    words = ("--model", "nameless.json", "--target", "y", "--risk", "0.4", "--classes", "healthy,ill", "--frozen", "dose")
    whole, parts = (cli("evaluate", *words, "--json", "-", "--data", data) for data in ("one.parquet", "big"))
    assert (parts.code, parts.err) == (0, "")
    same(parts.out, whole.out)


def test_categories_are_those_that_a_booster_was_trained_on(place: Path, cli: Command) -> None:
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"kind": rng.choice(["red", "green", "blue"], 90), "age": rng.normal(size=90).round(3)})
    y = ((x["kind"] == "red") ^ (x["age"] > 0.0)).astype(int)
    trained = x.assign(kind=pd.Categorical(x["kind"], ["red", "green", "blue"]))
    model = xgboost.XGBClassifier(n_estimators=4, max_depth=2, enable_categorical=True, n_jobs=1).fit(trained, y)
    model.save_model(place / "booster.json")
    (place / "kinds").mkdir()
    x.assign(y=y)[:40].query("kind != 'blue'").to_parquet(place / "kinds" / "a.parquet")  # text, and not of all kinds
    x.assign(y=y)[40:].to_parquet(place / "kinds" / "b.parquet")
    pd.concat(map(pd.read_parquet, sorted((place / "kinds").iterdir()))).to_parquet(place / "kinds.parquet", index=False)
    words = ("--model", "booster.json", "--target", "y", "--risk", "0.5", "--theta1", "1", "--theta2", "0.25", "--json", "-")
    whole, parts = (json.loads(cli("evaluate", *words, "--data", data).out) for data in ("kinds.parquet", "kinds"))
    assert parts["value"] == pytest.approx(whole["value"], rel=2e-3)  # both to the gap of proofs
    assert parts["current_risk"] == pytest.approx(whole["current_risk"])


REFUSED = {
    "both": (("--workers", "2", "--cluster", "tcp://127.0.0.1:9"), "give one of the two"),
    "no workers": (("--workers", "0"), "'0' is not a whole number, 1 or more"),
    "no address": (("--cluster", "nonsense"), "--cluster nonsense is no address"),
    "a scheme that nobody knows": (("--cluster", "http://nowhere:1"), "is no address (unknown address scheme"),
    "no size": (("--memory", "much"), "memory='much' must be a number of bytes"),
    "a report": (("--report", "r.html"), "--report needs all rows in one place"),
    "the sensitive distribution": (("--sensitive", "q.csv"), "--sensitive needs all rows in one place"),
    "an inferred space": (("--space", "infer"), "inferred from all rows at once"),
    "how CSV is written": (("--sep", ";"), "--sep is of CSV files"),
    "no target": (("--target", "nobody"), "big/a.parquet has no column 'nobody'"),
    "its own data": (("--json", "big/b.parquet"), "would overwrite --data big/b.parquet"),
    "CSV": (("--data", "eval.csv", "--workers", "2"), "eval.csv is none; write it as Parquet, or leave --workers out"),
    "CSV and memory": (("--data", "eval.csv", "--memory", "1 GB"), "leave --memory out"),
    "CSV files": (("--data", "eval.csv", "few.csv"), "several files are read where they are Parquet"),
    "nothing matches": (("--data", "gone/*.parquet"), "--data gone/*.parquet matches no file"),
    "nothing there": (("--data", "gone.parquet", "--memory", "1 GB"), "--data gone.parquet does not exist"),
    "an address": (("--data", "https://x.example/a.parquet", "--memory", "1 GB"), "nothing is fetched"),
    "no Parquet": (("--data", "broken.parquet", "big"), "broken.parquet cannot be read as Parquet"),
    "an empty directory": (("--data", "empty"), "--data empty is a directory without Parquet files"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_one_sentence(case: str, place: Path, cli: Command) -> None:
    words, part = REFUSED[case]
    if "--workers" in words or "--cluster" in words:
        pytest.importorskip("distributed")
    (place / "broken.parquet").write_text("PAR1 and no more", encoding="utf-8")
    (place / "empty").mkdir()
    before = sorted(place.rglob("*"))
    data = () if "--data" in words else ("--data", "big")
    code, out, err = cli("evaluate", *QUESTION, *data, *words)
    assert (code, out) == (2, "")
    assert part in err
    assert err.startswith("tippingpoint: ")
    assert err.count("\n") == 1
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize("command", ["features", "compare", "report"])
def test_commands_that_need_all_rows_say_so(command: str, cli: Command) -> None:
    more = ("--model", "b=next.json", "--report", "r.html")
    words = (*QUESTION, *({"features": (), "compare": more[:2], "report": more[2:]}[command]))
    code, _, err = cli(command, *words, "--data", "big/a.parquet", "big/b.parquet")
    assert code == 2
    assert "this command needs all rows in one place" in err


def test_a_row_group_that_would_fill_the_memory_is_refused(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tippingpoint.cli.partitions.FREE_CELLS", 10)
    monkeypatch.setattr("tippingpoint.cli.partitions.EXPANSION", 0)
    code, _, err = cli("evaluate", *QUESTION, "--data", "big")
    assert code == 2
    assert "says that its row group 0 holds 100 cells" in err


NO_FILES = {
    "a link to nothing": "odd/b.parquet is a link to nothing",
    "a link to itself": "odd/b.parquet is not readable (Too many levels of symbolic links)",
    "a link to a device": "odd/b.parquet is a device",
    "a pipe": "odd/b.parquet is a pipe",
}


@pytest.mark.parametrize("data", ["odd", "odd/*.parquet", "odd/**"])
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_found_and_is_no_file_is_not_passed_over(kind: str, data: str, place: Path, cli: Command) -> None:
    (place / "odd").mkdir()
    patients().to_parquet(place / "odd" / "a.parquet")
    odd = place / "odd" / "b.parquet"
    targets = {"a link to nothing": "gone.parquet", "a link to itself": "b.parquet", "a link to a device": "/dev/zero"}
    if kind in targets:
        odd.symlink_to(targets[kind])
    else:
        os.mkfifo(odd)
    code, out, err = cli("evaluate", *QUESTION, "--data", data)
    assert (code, out) == (2, "")
    assert err.startswith(f"tippingpoint: --data {data}: {NO_FILES[kind]}")


def test_a_directory_that_a_pattern_matches_is_not_passed_over(place: Path, cli: Command) -> None:
    (place / "big" / "c.parquet").mkdir()
    patients()[:9].to_parquet(place / "big" / "c.parquet" / "part.parquet")
    code, _, err = cli("evaluate", *QUESTION, "--data", "big/*.parquet")
    assert code == 2
    assert "big/c.parquet is a directory. Name files only." in err
    below = [cli("evaluate", *WEIGHTED, "--data", data) for data in ("big", "big/**/*.parquet")]
    assert numbers(below[0].out) == numbers(below[1].out)
    assert json.loads(below[0].out)["samples"] == sum(int((each["heft"] > 0).sum()) for each in (patients(), patients()[:9]))
    (place / "big" / "more").symlink_to(place / "big" / "c.parquet", target_is_directory=True)
    assert "is a link to a directory, which is not followed" in cli("evaluate", *QUESTION, "--data", "big").err


def test_a_link_to_a_directory_that_is_gone_is_not_passed_over_by_a_pattern(place: Path, cli: Command) -> None:
    (place / "bigger").symlink_to("gone")
    code, out, err = cli("evaluate", *QUESTION, "--data", "big*/*.parquet")
    assert (code, out) == (2, "")
    assert err.startswith("tippingpoint: --data big*/*.parquet: bigger is a link to nothing.")


def test_without_dask_the_extra_is_named(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    code, _, err = cli("evaluate", *QUESTION, "--data", "big", "--workers", "2")
    assert code == 2
    assert "--workers needs Dask, which is not installed; pip install 'tippingpoint[dask]'" in err


def test_workers_of_our_own_give_the_same_answer_also_for_models_beside_us(place: Path) -> None:
    pytest.importorskip("distributed")
    (place / "mine.py").write_text(
        "import numpy as np\n\n\nclass Model:\n    def predict(self, X):\n"
        "        return np.where(np.asarray(X)[:, 0] > 0.0, 'ill', 'healthy')\n\n\ndef make():\n    return Model()\n",
        encoding="utf-8",
    )
    data = patients()[["age", "dose", "y"]]
    data.to_parquet(place / "two.parquet", row_group_size=40)
    words = ("evaluate", "--model", "mine:make", "--target", "y", "--risk", "0.5", "--calls", "1200", "--json", "-")
    here = run(*words, "--data", "two.parquet", "--memory", "1 GB", cwd=place)
    there = run(*words, "--data", "two.parquet", "--workers", "2", cwd=place)
    assert (there.returncode, there.stderr) == (0, "")
    assert numbers(there.stdout) == numbers(here.stdout)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster that runs."""
    distributed = pytest.importorskip("distributed")
    settings: dict[str, Any] = {"processes": False, "protocol": "tcp://", "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **settings) as cluster:
        yield cluster.scheduler_address


def test_a_cluster_that_runs_is_used_and_left_running(scheduler: str, place: Path) -> None:
    whole = run("evaluate", *WEIGHTED, "--data", "one.parquet", cwd=place)
    parts = run("evaluate", *WEIGHTED, "--data", "big", "--cluster", scheduler, cwd=place)
    assert (parts.returncode, parts.stderr) == (0, "")
    same(parts.stdout, whole.stdout)
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 2


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({}, "--cluster tls://127.0.0.1:9 needs certificates, and Dask's configuration names none."),
        ({"CA_FILE": "gone.pem", "CLIENT__CERT": "gone.pem"}, "the certificates cannot be read (No such file or directory)."),
    ],
)
def test_an_encrypted_address_needs_certificates(place: Path, files: dict[str, str], sentence: str) -> None:
    pytest.importorskip("distributed")
    names = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": path for name, path in files.items()}
    found = run("evaluate", *WEIGHTED, "--data", "big", "--cluster", "tls://127.0.0.1:9", cwd=place, **names)
    assert (found.returncode, found.stdout) == (2, "")
    assert sentence in found.stderr.replace("[Errno 2] ", "")
    assert "Set distributed.comm.tls in Dask's configuration" in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")
def test_a_cluster_with_certificates_is_used(place: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    both, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    made = (
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-keyout",
        key,
        "-out",
        both,
    )
    subprocess.run([str(shutil.which("openssl")), *made], check=True, capture_output=True)
    roles = {
        f"tls_{role}_{what}": path
        for role in ("client", "scheduler", "worker")
        for what, path in (("cert", both), ("key", key))
    }
    security = distributed.Security(tls_ca_file=both, require_encryption=True, **roles)
    settings: dict[str, Any] = {"processes": False, "protocol": "tls://", "security": security, "dashboard_address": ":0"}
    names = {"CA_FILE": both, "CLIENT__CERT": both, "CLIENT__KEY": key}
    env = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": path for name, path in names.items()}
    whole = run("evaluate", *WEIGHTED, "--data", "one.parquet", cwd=place)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **settings) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        parts = run("evaluate", *WEIGHTED, "--data", "big", "--cluster", address, cwd=place, **env)
    assert (parts.returncode, parts.stderr) == (0, "")
    same(parts.stdout, whole.stdout)


def test_nobody_at_the_address_is_one_sentence(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tippingpoint.cli.partitions.ANSWER_SECONDS", 1)
    code, out, err = cli("evaluate", *QUESTION, "--data", "big", "--cluster", "tcp://127.0.0.1:9")
    assert (code, out) == (2, "")
    assert "--cluster tcp://127.0.0.1:9: no Dask scheduler answers there within 1 seconds" in err
    assert err.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="of process groups")
def test_ctrl_c_ends_the_command_and_its_workers(place: Path) -> None:
    pytest.importorskip("distributed")
    (place / "slow.py").write_text(
        "import time\nimport numpy as np\n\n\nclass Model:\n    def predict(self, X):\n        time.sleep(0.2)\n"
        "        return np.where(np.asarray(X)[:, 0] > 0.0, 'ill', 'healthy')\n\n\ndef make():\n    return Model()\n",
        encoding="utf-8",
    )
    patients()[["age", "dose", "y"]].to_parquet(place / "two.parquet", row_group_size=20)
    words = ("evaluate", "--model", "slow:make", "--target", "y", "--risk", "0.6", "--data", "two.parquet", "--workers", "2")
    child = subprocess.Popen(
        [str(COMMAND), *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    time.sleep(6.0)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    out, err = child.communicate(timeout=60)  # pipes are closed once the last of them is gone
    assert (child.returncode, out, err) == (130, "", "tippingpoint: interrupted.\n")
