"""Every format, there and back: a model out of a file has the stability of the model that was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command, run
from workshop import Workshop


@pytest.fixture
def place(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run where the files are."""
    monkeypatch.chdir(workshop.home)
    return workshop.home


CALLS = 5000
"""Rows that a black box is asked about here."""

SEARCHED = ("--calls", str(CALLS))
LABELS = ("--classes", "no,yes")
TREE = ("--trust", "sklearn.tree._tree.Tree")

CASES: dict[str, tuple[str, str, tuple[str, ...], float]] = {
    "skops, linear": ("linear", "linear.skops", (), 1e-12),
    "skops, of a named type": ("forest", "forest.skops", TREE, 1e-12),
    "XGBoost, JSON": ("boosted", "boosted.json", LABELS, 1e-9),
    "XGBoost, UBJSON": ("boosted", "boosted.ubj", LABELS, 1e-9),
    "LightGBM, text": ("light", "light.txt", LABELS, 1e-9),
    "a pickle": ("forest", "forest.pkl", ("--trust-pickle",), 1e-12),
    "a compressed pickle": ("forest", "forest.joblib", ("--trust",), 1e-12),
    "ONNX, probabilities": ("function", "matrix.onnx", SEARCHED, 1e-3),
    "ONNX, a map of probabilities": ("function", "zipped.onnx", SEARCHED, 1e-3),
    "ONNX, one input a column": ("function", "columns.onnx", SEARCHED, 1e-3),
    "ONNX, other labels": ("function", "matrix.onnx", (*LABELS, *SEARCHED), 1e-3),
    "ONNX, trusted to run in this process": ("function", "matrix.onnx", ("--trust", *SEARCHED), 1e-3),
}
"""Which model, its file, the options, and how near the numbers have to be: a graph computes in float32."""


def original(workshop: Workshop, name: str, **settings: Any) -> tp.StabilityResult:
    model, y = workshop.models.get(name), workshop.y
    if name == "function":
        linear = workshop.models["linear"]
        return tp.stability(linear.predict_proba, workshop.x, y, 0.6, **settings)
    if name == "boosted":
        return tp.stability(model, workshop.x, (y == "yes").astype(int), 0.6, **settings)
    return tp.stability(model, workshop.x, y, 0.6, **settings)


@pytest.mark.parametrize("name", CASES)
def test_a_file_has_the_stability_of_what_was_saved(name: str, workshop: Workshop, cli: Command) -> None:
    model, path, options, tolerance = CASES[name]
    code, out, err = cli(
        "evaluate", "--model", path, "--data", "eval.csv", "--target", "y", "--risk", "0.6", *options, "--json", "-"
    )
    assert (code, err) == (0, "")
    result = tp.StabilityResult.from_json(out)
    expected = original(workshop, model, **({"calls": CALLS} if "--calls" in options else {}))
    assert result.current_risk == pytest.approx(expected.current_risk, abs=1e-12)
    assert result.value == pytest.approx(expected.value, rel=tolerance)
    assert result.exact == expected.exact
    assert 0.0 < result.value < np.inf


@pytest.mark.parametrize(
    ("model", "path"),
    [("boosted-amount", "boosted-amount.ubj"), ("light-amount", "light-amount.txt"), ("regression", "regression.onnx")],
)
def test_a_regressor_is_judged_by_squares_without_being_told(model: str, path: str, workshop: Workshop, cli: Command) -> None:
    graph = path.endswith(".onnx")
    question = ("--data", "amounts.csv", "--target", "y", "--risk", "4", *(SEARCHED if graph else ()), "--json", "-")
    code, out, err = cli("evaluate", "--model", path, *question)
    assert (code, err) == (0, "")
    kept = workshop.models[model]
    asked: dict[str, Any] = {"model": kept.predict, "calls": CALLS} if graph else {"model": kept}
    expected = tp.stability(X=workshop.x, y=workshop.amount, risk=4.0, loss="squared", **asked)
    result = tp.StabilityResult.from_json(out)
    assert result.loss == "squared"
    assert result.value == pytest.approx(expected.value, rel=1e-3)


def test_the_installed_command_evaluates_a_skops_file(workshop: Workshop) -> None:
    done = run("evaluate", "--model", "linear.skops", "--data", "eval.csv", "--target", "y", "--risk", "0.6", cwd=workshop.home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(original(workshop, "linear"))


def test_python_loads_them_too(workshop: Workshop) -> None:
    x, home = workshop.x, workshop.home
    light = tp.load_model(home / "light.txt", classes=["no", "yes"])
    assert light.predict(x).tolist() == workshop.models["light"].predict(x).tolist()
    backwards = light.predict_proba(x[["c", "b", "a"]])
    np.testing.assert_allclose(backwards, workshop.models["light"].predict_proba(x), rtol=1e-12)
    graph = tp.load_model(home / "columns.onnx", classes=["bad", "good"])
    assert set(graph.predict(x).tolist()) == {"bad", "good"}
    np.testing.assert_allclose(graph.predict_proba(x), workshop.models["linear"].predict_proba(x), atol=1e-5)
    np.testing.assert_allclose(graph.predict_proba(x.to_numpy()), graph.predict_proba(x), atol=1e-12)
    boosted = tp.load_model(home / "boosted.ubj")
    np.testing.assert_array_equal(boosted.predict_proba(x), workshop.models["boosted"].predict_proba(x))


def test_files_that_number_their_classes_fit_data_that_do(workshop: Workshop, cli: Command) -> None:
    for path in ("boosted.json", "light.txt"):
        question = ("--target", "y", "--risk", "0.6", "--json", "-")
        named = cli("evaluate", "--model", path, "--data", "eval.csv", *LABELS, *question)
        numbered = cli("evaluate", "--model", path, "--data", "numbered.csv", *question)
        assert (named[0], numbered[0]) == (0, 0)
        assert json.loads(named[1])["value"] == json.loads(numbered[1])["value"]


def test_models_of_several_formats_are_compared(workshop: Workshop, cli: Command) -> None:
    models = ("--model", "linear.skops", "--model", "tree=boosted.json", "--model", "light=light.txt")
    code, out, err = cli("compare", *models, "--data", "eval.csv", "--target", "y", "--risk", "0.6", *LABELS, "--json", "-")
    assert (code, err) == (0, "")
    values = {name: result["value"] for name, result in json.loads(out)["results"].items()}
    assert values["linear"] == pytest.approx(original(workshop, "linear").value, rel=1e-12)
    assert values["tree"] == pytest.approx(original(workshop, "boosted").value, rel=1e-9)


def test_raw_scores_of_a_graph_are_scores_and_labels_alone_are_labels(tmp_path: Path, workshop: Workshop) -> None:
    from onnx import TensorProto, helper, numpy_helper

    weight, bias = np.array([[3.0], [-2.0], [1.0]], np.float32), np.array([0.5], np.float32)
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 3])
    held = [numpy_helper.from_array(weight, "weight"), numpy_helper.from_array(bias, "bias")]
    nodes = [helper.make_node("Gemm", ["rows", "weight", "bias"], ["score"])]
    scores = helper.make_tensor_value_info("score", TensorProto.FLOAT, [None, 1])
    decided = helper.make_tensor_value_info("label", TensorProto.INT64, [None, 1])
    zero = numpy_helper.from_array(np.zeros(1, np.float32), "zero")
    more = [
        helper.make_node("Greater", ["score", "zero"], ["over"]),
        helper.make_node("Cast", ["over"], ["label"], to=TensorProto.INT64),
    ]
    opset = [helper.make_opsetid("", 17)]
    for name, graph in {
        "scores": helper.make_graph(nodes, "scores", [rows], [scores], held),
        "labels": helper.make_graph([*nodes, *more], "labels", [rows], [decided], [*held, zero]),
    }.items():
        (tmp_path / f"{name}.onnx").write_bytes(helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString())
    exact = tp.stability((weight[:, 0], 0.5), workshop.x, workshop.y, 0.7)
    graded = tp.stability(tp.load_model(tmp_path / "scores.onnx"), workshop.x, workshop.y, 0.7, calls=CALLS)
    assert exact.value <= graded.value * (1.0 + 1e-6)
    assert graded.value == pytest.approx(exact.value, rel=0.02)
    numbered = (workshop.y == "yes").astype(int)
    blunt = tp.stability(tp.load_model(tmp_path / "labels.onnx"), workshop.x, numbered, 0.7, calls=10 * CALLS)
    assert blunt.current_risk == pytest.approx(exact.current_risk)
    assert exact.value <= blunt.value * (1.0 + 1e-6)


BAD = {
    "labels that are not its own": (
        ("boosted.json", "eval.csv"),
        ("classes of boosted.json are 0, 1", "'no', 'yes'", "--classes no,yes"),
    ),
    "too many labels": (("light.txt", "eval.csv", "--classes", "a,b,c"), ("must name the 2 classes of light.txt",)),
    "labels for a regressor": (
        ("boosted-amount.ubj", "amounts.csv", "--classes", "a,b"),
        ("is a regressor", "leave classes out"),
    ),
    "an objective that is neither": (("rank.json", "amounts.csv"), ("objective 'rank:pairwise'", "module:factory")),
    "a type that nobody trusts": (
        ("forest.skops", "eval.csv"),
        ("'sklearn.tree._tree.Tree'", "--trust sklearn.tree._tree.Tree"),
    ),
    "trust for a type that is not there": (
        ("linear.skops", "eval.csv", "--trust", "os.system"),
        ("trust names 'os.system'", "holds none"),
    ),
    "a pickle without trust": (("forest.pkl", "eval.csv"), ("is a pickle", "runs whatever code", "--trust (", "skops")),
    "a compressed pickle without trust": (("forest.joblib", "eval.csv"), ("is a pickle", "--trust (")),
    "data without its columns": (("linear.skops", "few.csv"), ("few.csv has no column 'c'",)),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_a_sentence(name: str, workshop: Workshop, cli: Command) -> None:
    (path, data, *options), parts = BAD[name]
    pd.read_csv("eval.csv").drop(columns="c").to_csv("few.csv", index=False)
    code, out, err = cli("evaluate", "--model", path, "--data", data, "--target", "y", "--risk", "0.6", *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_a_pickle_that_cannot_be_unpickled_says_why(tmp_path: Path) -> None:
    import pickle

    (tmp_path / "gone.pkl").write_bytes(pickle.dumps(np.float64).replace(b"float64", b"floatXY"))
    with pytest.raises(tp.InputError, match=r"cannot be unpickled here \(.*; install what it was made with"):
        tp.load_model(tmp_path / "gone.pkl", trust_pickle=True)


def test_help_says_what_trusting_a_pickle_risks(cli: Command) -> None:
    shown = " ".join(cli("evaluate", "--help")[1].split())
    assert "loading it runs whatever code its author put into it" in shown


def test_of_several_files_one_that_needs_a_trusted_type_is_enough(workshop: Workshop, cli: Command) -> None:
    models = ("--model", "plain=linear.skops", "--model", "trees=forest.skops", "--data", "eval.csv", "--target", "y")
    question = ("--risk", "0.6", "--quiet")
    assert cli("compare", *models, *question, *TREE)[0] == 0
    code, _, err = cli("compare", *models, *question, "--trust", "sklearn.tree._tree.Tree,os.system")
    assert code == 2
    assert "'os.system', which none of the models needs" in err


def test_a_report_of_a_linear_model_beside_a_forest_takes_the_gap_of_the_forest(workshop: Workshop, cli: Command) -> None:
    models = ("--model", "plain=linear.skops", "--model", "trees=forest.skops", "--data", "eval.csv", "--target", "y", *TREE)
    code, _, err = cli("report", *models, "--risk", "0.6", "--gap", "0.01", "--report", "both.md", "--quiet")
    assert (code, err) == (0, "")
    assert "trees" in (workshop.home / "both.md").read_text(encoding="utf-8")
