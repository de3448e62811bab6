"""What a report was made from: date, model, data, command, seed and versions, with fingerprints that mean something."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import tippingpoint as tp
from commands import Command
from tippingpoint.errors import InputError
from tippingpoint.report import render_markdown, render_page
from tippingpoint.results.origin import model_fingerprint, model_name

SETTINGS: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def rows() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=["a", "b", "c"])
    return x, np.where(x["a"] + 0.5 * x["b"] + rng.normal(scale=0.5, size=80) > 0.0, "yes", "no")


def made_from(model: Any, x: Any, y: Any, **told: Any) -> dict[str, Any]:
    found: dict[str, Any] = tp.stability(model, x, y, 0.5, **SETTINGS).report_summary(**told)["manifest"]
    return found


def test_the_three_forms_tell_it_all(cli: Command) -> None:
    words = "report --model model.json --data eval.csv --target y --risk 0.4 --fail-below 0.001 --quiet --report page"
    for suffix in ("html", "md", "json"):
        assert cli(*f"{words}.{suffix}".split())[0] == 0
    page, text = (Path(f"page.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "md"))
    told = json.loads(Path("page.json").read_text(encoding="utf-8"))["manifest"]
    assert told["command"] == {"kind": "command line", "text": f"tippingpoint {words}.json"}
    assert told["model"]["name"] == "model.json"
    assert told["model"]["fingerprint"] == hashlib.sha256(Path("model.json").read_bytes()).hexdigest()
    assert told["seed"] == "none: nothing was drawn at random"
    assert told["versions"]["scikit-learn"] == sklearn.__version__
    facts = [told["date"], told["model"]["fingerprint"], told["data"]["fingerprint"], told["seed"], sklearn.__version__]
    for fact in (*facts, "tippingpoint report --model model.json --data eval.csv --target y --risk 0.4 --fail-below 0.001"):
        assert fact in page, fact
        assert fact in text.replace("\\", ""), fact


def test_a_call_from_python_is_told_as_one_could_repeat_it() -> None:
    x, y = rows()
    model = LogisticRegression().fit(x, y)
    told = tp.stability(model, x, y, 0.5, loss="logistic", scale="std", **SETTINGS).report_summary()["manifest"]
    again = told["command"]["text"]
    assert again == (
        "tippingpoint.profile(model, X, y, loss='logistic', scale='std')"
        ".stability(risk=0.5, theta1=1.0, theta2=0.25, divergence='kl')"
    )
    names = {"tippingpoint": tp, "model": model, "X": x, "y": y}
    assert eval(again, names).value == tp.stability(model, x, y, 0.5, loss="logistic", scale="std", **SETTINGS).value  # noqa: S307
    assert told["model"]["name"] == "LogisticRegression"


def test_the_date_can_be_fixed_and_is_today_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows()
    result = tp.stability(([1.0, 0.5, 0.0], 0.0), x, y, 0.5)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    days = (dt.datetime.now(dt.timezone.utc).date().isoformat() for _ in range(2))
    before = next(days)
    assert before <= result.report_summary()["date"] <= next(days)
    for day in ("2026-01-31", dt.date(2026, 1, 31), dt.datetime(2026, 1, 31, 23, 59, tzinfo=dt.timezone.utc)):
        assert result.report_summary(date=day)["date"] == "2026-01-31"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert result.report_summary()["date"] == "1970-01-02"
    assert "1970-01-02" in result.report(tmp_path / "page.md").read_text(encoding="utf-8")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "tomorrow")
    with pytest.raises(InputError, match="SOURCE_DATE_EPOCH='tomorrow' in the environment must be whole seconds"):
        result.report_summary()


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"date": "31.1.2026"}, "date='31.1.2026' is no day of a calendar"),
        ({"date": 20260131}, "date=20260131 must be a date"),
        ({"model_file": "nowhere.json"}, "model_file='nowhere.json' is not a file"),
        ({"command": 3}, "command=3 must be a few words"),
    ],
)
def test_what_cannot_be_told_is_said_in_a_sentence(told: dict[str, Any], said: str) -> None:
    x, y = rows()
    with pytest.raises(InputError, match=said):
        tp.stability(([1.0, 0.5, 0.0], 0.0), x, y, 0.5).report_summary(**told)


def test_the_fingerprint_of_the_data_is_theirs_and_not_the_models() -> None:
    x, y = rows()
    one = made_from(([1.0, 0.5, 0.0], 0.0), x, y)["data"]["fingerprint"]
    assert made_from(LogisticRegression().fit(x, y), x.copy(), list(y))["data"]["fingerprint"] == one
    moved = x.copy()
    moved["b"] = moved["b"] + np.where(np.arange(len(x)) == 7, 0.01, 0.0)
    flipped = y.copy()
    flipped[7] = {"yes": "no", "no": "yes"}[y[7]]
    others = [(moved, y), (x, flipped), (x.rename(columns={"c": "d"}), y), (x[1:], y[1:])]
    prints = [made_from(([1.0, 0.5, 0.0], 0.0), *each)["data"]["fingerprint"] for each in others]
    assert len({one, *prints}) == 5


def test_the_fingerprint_is_of_the_target_that_was_read() -> None:
    x, y = rows()
    target = y.copy()
    result = tp.stability(([1.0, 0.5, 0.0], 0.0), x, target, 0.5)
    target[:] = "yes"
    told = made_from(([1.0, 0.5, 0.0], 0.0), x, y)["data"]["fingerprint"]
    assert result.report_summary()["manifest"]["data"]["fingerprint"] == told


def test_a_table_is_fingerprinted_line_by_line() -> None:
    runs = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0, 1, 0], "cost": [0.0, 2.0, 0.0]})
    dearer = runs.assign(cost=[0.0, 3.0, 0.0])
    told = [tp.profile_table(each).stability(0.5).report_summary()["manifest"] for each in (runs, runs.copy(), dearer)]
    one, same, other = (each["data"]["fingerprint"] for each in told)
    assert one == same != other
    assert told[0]["model"] == {"name": "a table of alternatives", "fingerprint": None, "of": "not fingerprinted"}


MODELS = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(FunctionTransformer(np.abs), LogisticRegression()),
    RandomForestClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=model_name)
def test_a_model_in_memory_is_known_by_what_it_holds(model: Any) -> None:
    x, y = rows()
    one = model_fingerprint(clone(model).fit(x, y))
    assert one is not None
    fitted = clone(model).fit(x, y)
    assert model_fingerprint(fitted) == one
    assert model_fingerprint(pickle.loads(pickle.dumps(fitted))) == one  # noqa: S301
    assert model_fingerprint(clone(model).fit(x * 2.0 + 1.0, y)) != one


def test_a_network_is_known_by_its_weights() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    one = model_fingerprint(net)
    assert one is not None
    assert model_fingerprint(pickle.loads(pickle.dumps(net))) == one  # noqa: S301
    with torch.no_grad():
        net[0].bias += 1e-6
    assert model_fingerprint(net) != one


class Vendor:
    """A model whose state cannot be listed."""

    def __init__(self) -> None:
        self.answer: Callable[[Any], Any] = lambda x: (np.asarray(x)[:, 0] > 0.0).astype(int)

    def predict(self, x: Any) -> Any:
        return self.answer(x)


def test_what_cannot_be_fingerprinted_says_so_with_the_name_of_its_class() -> None:
    x, y = rows()
    result = tp.stability(Vendor(), x, (y == "yes").astype(int), 0.5, **SETTINGS, calls=3000, seed=7)
    summary = result.report_summary()
    assert summary["manifest"]["model"] == {"name": "Vendor", "fingerprint": None, "of": "not fingerprinted"}
    assert summary["manifest"]["seed"] == "7"
    for told in (render_page(summary), render_markdown(summary)):
        assert "Vendor (not fingerprinted)" in told
    loop: list[Any] = []
    loop.append(loop)
    assert model_fingerprint(loop) is None
    assert model_fingerprint(len) is None


def test_the_seed_is_the_one_used_where_none_is_given() -> None:
    x, y = rows()
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(x, y).predict
    told = tp.stability(model, x, y, 0.5, **SETTINGS, calls=3000).report_summary()["manifest"]
    assert told["seed"] == "0"
    assert "sklearn" not in told["versions"]  # told under the name that it is installed by


def test_a_model_built_by_a_factory_is_known_by_the_file_of_its_weights(
    place: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(place))
    Path("vendor.py").write_text("from torch import nn\ndef build():\n    return nn.Sequential(nn.Linear(2, 1))\n")
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict(), "weights.pt")
    frame = pd.read_csv("eval.csv")[["age", "dose", "y"]]
    frame.assign(y=(frame["y"] == "ill").astype(int)).to_csv("eval.csv", index=False)
    asked = ("--data", "eval.csv", "--target", "y", "--risk", "0.9", "--quiet", "--report", "page.json")
    code, _, complaint = cli("evaluate", "--model", "vendor:build", "--state", "weights.pt", *asked)
    assert code == 0, complaint
    told = json.loads(Path("page.json").read_text(encoding="utf-8"))["manifest"]["model"]
    assert told["fingerprint"] == hashlib.sha256(Path("weights.pt").read_bytes()).hexdigest()


def test_what_may_move_is_written_out() -> None:
    x = pd.DataFrame({"age": [20, 30, 40, 50], "dose": [0.0, 1.0, 2.0, 3.0]})
    space = tp.Space(frozen=["age"], price={"dose": np.float64(5.0)}, kind={"age": "integer"})
    result = tp.stability(([0.0, 1.0], -1.5), x, [0, 0, 1, 1], 0.5, space=space, scale="raw", **SETTINGS)
    made = result.report_summary()["manifest"]
    assert made["space"] == "Space(frozen=['age'], price={'dose': 5.0}, kind={'age': 'integer'})"
    assert eval(made["space"], {"Space": tp.Space}) == space  # noqa: S307  # what we wrote
    assert made["space"] in render_markdown(result.report_summary()).replace("\\", "")


def test_where_no_space_was_given_the_report_says_what_that_means() -> None:
    x, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    free = tp.stability(([1.0], -1.5), x, y, 0.5, **SETTINGS).report_summary()
    assert free["manifest"]["space"] == ""
    assert "every feature, numbers freely: no space was given" in render_markdown(free)
    runs = pd.DataFrame({"sample": [1, 1, 2], "cost": [0.0, 0.3, 0.0], "loss": [0, 1, 0]})
    told = tp.profile_table(runs).stability(0.4).report_summary()
    assert "each sample to its alternatives in the table" in render_markdown(told)
