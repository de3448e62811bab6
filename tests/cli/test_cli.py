"""The installed command, as a person runs it."""

from __future__ import annotations

import json
import math
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import COMMAND, MODEL, Command, patients, run, succeed


def runs() -> pd.DataFrame:
    """Paraphrases of prompts: the prompt itself, and three others at a cost."""
    rng = np.random.default_rng(1)
    sample, wording = np.repeat(np.arange(80), 4), np.tile(np.arange(4), 80)
    return pd.DataFrame(
        {
            "sample": [f"prompt {i}" for i in sample],
            "loss": (rng.random(320) < np.where(wording == 0, 0.15, 0.5)) * 1.0,
            "cost": np.where(wording == 0, 0.0, rng.gamma(2.0, size=320).round(6)),
            "heft": sample % 3,
            "wording": [f"p{k}" for k in wording],
        }
    )


COEF = (np.array([1.0, -0.5]), 0.1)
LINEAR = ("evaluate", "--linear", "model.json", "--data", "eval.csv", "--target", "y")
TABLE = ("evaluate", "--table", "runs.csv")


@pytest.fixture
def place(place: Path) -> Path:
    runs().to_csv(place / "runs.csv", index=False)
    return place


@pytest.fixture
def printed(cli: Command) -> Callable[..., str]:
    """What a command prints that succeeds without complaint."""

    def out(*arguments: str) -> str:
        output = cli(*arguments)
        assert (output.code, output.err) == (0, "")
        return output.out

    return out


def test_the_command_is_installed_beside_the_interpreter() -> None:
    assert COMMAND.exists()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demo shows; it leaves its report behind, and nothing else."""
    place = tmp_path_factory.mktemp("demo")
    shown = succeed("demo", cwd=place)
    assert [file.name for file in place.iterdir()] == ["tippingpoint-report.html"]
    page = (place / "tippingpoint-report.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "logistic regression" in page
    return shown.replace(place.as_uri(), "file://HERE")


def test_demo_shows_both_losses_and_the_five_heaviest_rows_of_each(demo: str) -> None:
    first, second = demo.split("logistic:")
    for part, risk in ((first, "error rate"), (second, "logistic risk")):
        assert f"what it takes to lift the {risk} from" in part
        assert "exact" in part
        assert "5 heaviest rows" in part
        numbered = [line for line in part.splitlines() if len(cells := line.split("│")) > 2 and cells[1].strip().isdigit()]
        weights = [float(line.split("│")[2]) for line in numbered]
        assert len(weights) >= 5
        assert weights[:5] == sorted(weights[:5], reverse=True)
        assert max(weights) == weights[0] > 1.0


def test_demo_shows_a_row_once_though_it_is_split(demo: str) -> None:
    for table in demo.split("┏")[1:]:
        rows = [line.split("│")[1].strip() for line in table.splitlines() if line.startswith("│")]
        heaviest = [row for row in rows if row.isdecimal()][:5]
        assert len(set(heaviest)) == len(heaviest)


def test_demo_tells_the_same_to_the_last_byte_when_run_again(demo: str, tmp_path: Path) -> None:
    assert succeed("demo", "--seed", "0", cwd=tmp_path).replace(tmp_path.as_uri(), "file://HERE") == demo


def test_demo_says_how_to_open_its_report(demo: str) -> None:
    line = re.search(r"The report is in tippingpoint-report\.html\. Open it in a browser: (.*)", demo)
    assert line is not None
    assert line[1].endswith("tippingpoint-report.html, or file://HERE/tippingpoint-report.html")


def test_demo_leaves_nothing_behind_where_that_is_asked(demo: str, printed: Callable[..., str], place: Path) -> None:
    before = set(place.iterdir())
    shown = printed("demo", "--no-report")
    assert set(place.iterdir()) == before
    assert "The report is in" not in shown
    assert shown.splitlines()[0] == demo.splitlines()[0]


def test_evaluate_of_a_table_prints_what_python_prints(place: Path) -> None:
    shown = succeed(*TABLE, "--risk", "0.4", cwd=place)
    assert shown.strip() == str(tp.profile_table(runs()).stability(0.4))


def test_evaluate_of_a_linear_model_prints_what_python_prints(place: Path) -> None:
    data = patients()
    shown = succeed(*LINEAR, "--risk", "0.4", "--theta1", "1", "--theta2", "0.25", cwd=place)
    model = tp.LinearModel.of(*COEF, classes=["healthy", "ill"], features=["age", "dose"])
    assert shown.strip() == str(tp.stability(model, data[["age", "dose"]], data["y"], 0.4, theta1=1.0, theta2=0.25))


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((), {}),
        (("--mix", "0.2"), {"mix": 0.2}),
        (("--mix", "0.2", "--budget", "2"), {"mix": 0.2, "budget": 2.0}),
        (("--theta1", "inf", "--theta2", "0.3"), {"theta1": math.inf, "theta2": 0.3}),
        (("--theta1", "0.3", "--theta2", "inf"), {"theta1": 0.3, "theta2": math.inf}),
        (("--divergence", "chi2"), {"divergence": "chi2"}),
        (("--divergence", "cvar:0.3"), {"divergence": "cvar:0.3"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_prices_and_divergences_mean_what_they_mean_in_python(
    options: tuple[str, ...], settings: dict[str, Any], printed: Callable[..., str]
) -> None:
    result = tp.StabilityResult.from_json(printed(*TABLE, "--risk", "0.55", *options, "--json", "-"))
    assert result.to_dict() == tp.profile_table(runs()).stability(0.55, **settings).to_dict()


def test_a_forbidden_move_and_a_worst_share_reach_the_installed_command(place: Path) -> None:
    question = ("--risk", "0.2", "--theta1", "inf", "--theta2", "1", "--divergence", "cvar:0.3", "--weight", "heft")
    shown = succeed(*TABLE, *question, cwd=place)
    expected = tp.profile_table(runs(), weight="heft").stability(0.2, theta1=math.inf, theta2=1.0, divergence="cvar:0.3")
    assert shown.strip() == str(expected)
    assert "cvar:0.3" in shown


def test_options_of_a_linear_model_mean_what_they_mean_in_python(printed: Callable[..., str]) -> None:
    data = patients()
    options = ("--loss", "logistic", "--scale", "std", "--weight", "heft", "--frozen", "dose", "--risk", "1.1")
    result = tp.StabilityResult.from_json(printed(*LINEAR, *options, "--json", "-"))
    model = tp.LinearModel.of(*COEF, classes=["healthy", "ill"])
    expected = tp.stability(
        model,
        data[["age", "dose"]],
        data["y"],
        1.1,
        loss="logistic",
        scale="std",
        sample_weight=data["heft"],
        space=tp.Space(frozen=["dose"]),
    )
    assert result.value == pytest.approx(expected.value, rel=1e-12)
    assert (result.unit, result.samples, result.loss) == ("standard deviations", int(data["heft"].gt(0).sum()), "logistic")


def test_a_model_without_names_takes_all_columns_but_target_and_weight(place: Path, printed: Callable[..., str]) -> None:
    patients().drop(columns="ward").to_csv(place / "eval.csv", index=False)
    (place / "model.json").write_text(json.dumps({"coef": [1.0, -0.5], "intercept": 0.1}), encoding="utf-8")
    result = tp.StabilityResult.from_json(printed(*LINEAR, "--weight", "heft", "--risk", "0.5", "--json", "-"))
    data = patients()
    expected = tp.stability(COEF, data[["age", "dose"]], data["y"], 0.5, sample_weight=data["heft"])
    assert result.value == pytest.approx(expected.value, rel=1e-12)


def test_a_regression_is_a_model_without_classes_and_a_loss_for_targets(place: Path, printed: Callable[..., str]) -> None:
    data = patients()
    data["y"] = data["age"] - data["dose"]
    data.to_csv(place / "eval.csv", index=False)
    plain = {key: MODEL[key] for key in ("coef", "intercept", "features")}
    (place / "model.json").write_text(json.dumps(plain), encoding="utf-8")
    result = tp.StabilityResult.from_json(printed(*LINEAR, "--loss", "pinball:0.9", "--risk", "0.8", "--json", "-"))
    expected = tp.stability(COEF, data[["age", "dose"]], data["y"], 0.8, loss="pinball:0.9")
    assert result.loss == "pinball:0.9"
    assert result.value == pytest.approx(expected.value, rel=1e-9)


def test_json_goes_to_a_file_beside_the_text_or_instead_of_it(place: Path) -> None:
    shown = succeed(*TABLE, "--risk", "0.4", "--json", "out.json", cwd=place)
    stored = tp.StabilityResult.from_json((place / "out.json").read_text(encoding="utf-8"))
    assert shown.strip() == str(stored) == str(tp.profile_table(runs()).stability(0.4))
    printed = succeed(*TABLE, "--risk", "0.4", "--json", "-", cwd=place)
    assert printed == (place / "out.json").read_text(encoding="utf-8"), "nothing but JSON is printed"
    assert json.loads(printed)["schema"] == "tippingpoint.stability/1"
    assert not (place / "-").exists()


def test_quiet_prints_nothing_and_writes_all_the_same(place: Path, printed: Callable[..., str]) -> None:
    before = [file.name for file in place.iterdir()]
    assert not printed(*TABLE, "--risk", "0.4", "--quiet", "--json", "out.json", "--sensitive", "out.csv")
    assert (place / "out.json").stat().st_size
    assert (place / "out.csv").stat().st_size
    assert {file.name for file in place.iterdir()} == {*before, "out.json", "out.csv"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_files_written_are_as_readable_as_any_other(place: Path, printed: Callable[..., str]) -> None:
    printed(*TABLE, "--risk", "0.4", "--json", "out.json")
    (place / "plain").touch()
    assert stat.S_IMODE((place / "out.json").stat().st_mode) == stat.S_IMODE((place / "plain").stat().st_mode)


def test_a_result_written_over_a_link_goes_where_the_link_points(place: Path, printed: Callable[..., str]) -> None:
    (place / "store").mkdir()
    (place / "store" / "kept.json").write_text("old", encoding="utf-8")
    (place / "out.json").symlink_to(place / "store" / "kept.json")
    printed(*TABLE, "--risk", "0.4", "--json", "out.json", "--quiet")
    assert (place / "out.json").is_symlink()
    assert json.loads((place / "store" / "kept.json").read_text(encoding="utf-8"))["risk"] == 0.4


def test_the_sensitive_distribution_is_written_as_csv_that_adds_up(place: Path) -> None:
    succeed(*TABLE, "--risk", "0.4", "--weight", "heft", "--sensitive", "q.csv", cwd=place)
    q, table = pd.read_csv(place / "q.csv"), runs()
    heft = table.groupby("sample")["heft"].first()
    mass = q["row"].map(heft / heft.sum()) * q["share"] * q["weight"]
    assert mass.sum() == pytest.approx(1.0, rel=1e-9)
    assert (mass * q["loss"]).sum() == pytest.approx(0.4, rel=1e-9)
    assert set(q["row"]) == set(heft[heft > 0].index)
    lines = table.set_index(["sample", "wording"])
    for atom in q.to_dict("records"):
        assert lines.loc[(atom["row"], atom["wording"]), "cost"] == pytest.approx(atom["cost"], abs=1e-12)


def test_other_columns_of_a_table_may_be_named(place: Path, printed: Callable[..., str]) -> None:
    runs().rename(columns={"sample": "id", "loss": "harm", "cost": "edits"}).to_csv(place / "runs.csv", index=False)
    named = ("--sample-column", "id", "--loss-column", "harm", "--cost-column", "edits")
    shown = printed(*TABLE, *named, "--risk", "0.4")
    assert shown.strip() == str(tp.profile_table(runs()).stability(0.4))


def test_uneven_columns_warn_in_a_sentence_and_a_scale_silences_it(place: Path) -> None:
    data = patients()
    data["age"] *= 1e4
    data.to_csv(place / "eval.csv", index=False)
    done = run(*LINEAR, "--risk", "0.6", cwd=place)
    assert done.returncode == 0
    assert done.stderr.startswith("tippingpoint: warning: ")
    assert done.stderr.count("\n") == 1
    assert "'age'" in done.stderr
    assert "scale='std'" in done.stderr
    succeed(*LINEAR, "--risk", "0.6", "--scale", "std", cwd=place)


def test_help_lists_the_commands_and_gives_examples_that_work(place: Path, printed: Callable[..., str]) -> None:
    listed = succeed("--help", cwd=place)
    for command in ("demo", "evaluate"):
        assert f"\n    {command} " in listed
    shown = succeed("evaluate", "--help", cwd=place)
    *examples, gated = [line.split()[1:] for line in shown.splitlines() if line.strip().startswith("tippingpoint evaluate")]
    assert len(examples) == 3
    for example in examples[:2]:  # the last is of files in parts, which `test_partitions.py` makes
        assert printed(*example).startswith("Stability")
    assert run(*gated, cwd=place).returncode == 1, "this model is below the example's gate"


def test_version_is_the_packages(place: Path) -> None:
    assert succeed("--version", cwd=place).split() == ["tippingpoint", tp.__version__]


def test_python_m_is_the_same_command(place: Path) -> None:
    module = [sys.executable, "-m", "tippingpoint", *TABLE, "--risk", "0.4"]
    shown = subprocess.run(module, cwd=place, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert shown.strip() == str(tp.profile_table(runs()).stability(0.4))
    failed = subprocess.run([*module, "--theta1", "1"], cwd=place, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith("tippingpoint: theta2 is missing")


def test_a_bad_command_ends_with_code_2_and_one_sentence_without_a_traceback(place: Path) -> None:
    done = run(*TABLE, "--risk", "0.4", "--theta1", "-1", "--theta2", "1", "--json", "out.json", cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tippingpoint: theta1=-1 must be positive; float('inf') forbids that kind of change.\n"
    assert not (place / "out.json").exists()
    usage = run("evaluate", "--table", "runs.csv", cwd=place)
    assert usage.returncode == 2
    assert usage.stderr == "tippingpoint: the following arguments are required: --risk; see tippingpoint evaluate --help.\n"


@pytest.mark.parametrize("command", [(*TABLE, "--risk", "0.4"), ("demo",)], ids=["evaluate", "demo"])
def test_a_terminal_without_greek_letters_is_served_all_the_same(command: tuple[str, ...], place: Path) -> None:
    shown = succeed(*command, cwd=place, PYTHONIOENCODING="ascii")
    assert "Stability" in shown
    assert shown.isascii()
