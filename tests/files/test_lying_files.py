"""Files that are not what their names say, are cut off, or hold something else; and libraries that are not there."""

from __future__ import annotations

import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tippingpoint as tp
from workshop import Bomb, Workshop


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["model.json", "model.onnx", "model.skops", "model.ubj", "model.pt2", "model.pt"])
@pytest.mark.parametrize("trust", [False, True])
def test_a_pickle_under_another_name_is_refused_and_never_runs(name: str, trust: bool, place: Path) -> None:  # noqa: FBT001
    (place / name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(tp.InputError, match=rf"{name} ends in .*but holds a pickle|has no effect") as caught:
        tp.load_model(name, trust_pickle=trust)
    assert str(caught.value).endswith(".")
    assert not (place / "exploded").exists()


def test_the_bomb_would_go_off(place: Path) -> None:
    (place / "model.pkl").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(tp.InputError, match="is a pickle"):
        tp.load_model("model.pkl")
    assert not (place / "exploded").exists()
    tp.load_model("model.pkl", trust_pickle=True)
    assert (place / "exploded").exists()


@pytest.mark.parametrize(
    ("original", "name", "holds"),
    [
        ("boosted.json", "model.onnx", "an XGBoost model"),
        ("boosted.ubj", "model.skops", "an XGBoost model"),
        ("matrix.onnx", "model.json", "an ONNX graph"),
        ("linear.skops", "model.pt2", "a skops file"),
        ("linear.skops", "model.pkl", "a skops file"),
        ("light.txt", "model.json", "a LightGBM model as text"),
        ("eval.csv", "model.onnx", "some other text"),
        ("forest.joblib", "model.skops", "a pickle"),
    ],
)
def test_a_model_under_the_name_of_another_is_refused(
    original: str, name: str, holds: str, place: Path, workshop: Workshop
) -> None:
    (place / name).write_bytes((workshop.home / original).read_bytes())
    with pytest.raises(tp.InputError, match=rf"{name} ends in \.\w+, as .* does, but holds {holds}; see how it was saved"):
        tp.load_model(name)


@pytest.mark.parametrize("original", ["boosted.json", "boosted.ubj", "matrix.onnx", "light.txt", "linear.skops"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_file_that_is_cut_off_says_so(original: str, share: float, place: Path, workshop: Workshop) -> None:
    whole = (workshop.home / original).read_bytes()
    (place / original).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(tp.InputError, match=rf"{original}.*(cut off|cut-off).*") as caught:
        tp.load_model(original)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("original", ["boosted.json", "boosted.ubj", "matrix.onnx", "light.txt", "linear.skops"])
def test_what_a_file_holds_decides_where_its_name_says_nothing(original: str, place: Path, workshop: Workshop) -> None:
    (place / "model").write_bytes((workshop.home / original).read_bytes())
    assert hasattr(tp.load_model("model"), "predict")


OTHERS = {
    "nothing": (b"", "holds nothing"),
    "text": (b"<html><body>404 Not Found</body></html>", "holds some other text"),
    "bytes": (b"\xfe\xff\x00\x01" * 10, "holds bytes of no kind"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(20), "holds an HDF5 file"),
    "Parquet": (b"PAR1" + bytes(20), "holds a Parquet file"),
    "half a zip": (b"PK\x03\x04" + bytes(30), "holds a damaged or cut-off zip"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_model_is_told_by_what_it_is(name: str, place: Path) -> None:
    content, part = OTHERS[name]
    (place / "model").write_bytes(content)
    with pytest.raises(tp.InputError, match=part) as caught:
        tp.load_model("model")
    assert "a skops file" in str(caught.value)


@pytest.mark.parametrize(
    ("member", "part"),
    [
        ("readme.txt", "a zip archive of something else"),
        ("net/constants.pkl", "TorchScript"),
        ("net/data.pkl", "is a PyTorch checkpoint, which lacks the code"),
    ],
)
def test_archives_of_something_else_are_told_apart(member: str, part: str, place: Path) -> None:
    with zipfile.ZipFile(place / "model.zip", "w") as archive:
        archive.writestr(member, b"something")
    with pytest.raises(tp.InputError, match=part):
        tp.load_model("model.zip")


def test_a_directory_and_a_path_to_nowhere_are_no_models(place: Path) -> None:
    with pytest.raises(tp.InputError, match="is a directory; give a model file"):
        tp.load_model(place)
    with pytest.raises(FileNotFoundError):
        tp.load_model("gone.skops")


@pytest.mark.parametrize(
    ("path", "package", "extra"),
    [
        ("linear.skops", "skops.io", "skops"),
        ("matrix.onnx", "onnxruntime", "onnx"),
        ("boosted.json", "xgboost", "xgboost"),
        ("boosted.ubj", "xgboost", "xgboost"),
        ("light.txt", "lightgbm", "lightgbm"),
    ],
)
def test_a_library_that_is_missing_is_named_with_the_command_that_brings_it(
    path: str, package: str, extra: str, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        tp.InputError, match=rf"{path} needs \w+, which is not installed; pip install 'tippingpoint\[{extra}\]'\.$"
    ):
        tp.load_model(workshop.home / path)


def test_scores_in_place_of_probabilities_are_refused(place: Path, workshop: Workshop) -> None:
    from onnx import TensorProto, helper, numpy_helper

    held = [numpy_helper.from_array(np.array([[3.0, -3.0], [-2.0, 2.0], [1.0, -1.0]], np.float32), "weight")]
    nodes = [
        helper.make_node("MatMul", ["rows", "weight"], ["score"]),
        helper.make_node("ArgMax", ["score"], ["label"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "scores",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 3])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("score", TensorProto.FLOAT, [None, 2]),
        ],
        held,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (place / "scores.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(tp.InputError, match="holds scores, not probabilities"):
        tp.stability(tp.load_model("scores.onnx"), workshop.x, (workshop.y == "yes").astype(int), 0.6, calls=2000)
