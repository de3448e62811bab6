"""Crafted model files: nothing of theirs runs, nothing crashes, hangs or fills the memory; a sentence says what is wrong."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from torch import nn

import tippingpoint as tp
from refusals import refusal
from tippingpoint.files import isolated, natives
from tippingpoint.files.archives import FREE_BYTES

FLOAT, INTEGER, TRUTH = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal_of(path: str, **loading: Any) -> str:
    return str(refusal(lambda: tp.load_model(path, **loading)))


# Programs of torch.export


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The parts of an honest program."""
    path = tmp_path_factory.mktemp("program") / "net.pt2"
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(module, (torch.randn(4, 3),), dynamic_shapes=({0: torch.export.Dim("rows")},))
        torch.export.save(exported, path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path: Path, parts: dict[str, bytes], change: Callable[[str], str] = str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            text = change(part.decode()).encode() if name.endswith("models/model.json") else part
            archive.writestr(name, text)


CODE = "__import__('os').mkdir('ran')"

CRAFTED: dict[str, tuple[str, str]] = {
    "an input that is an assignment": ('"input"', json.dumps(f"bias={CODE}")),
    "an input that is a keyword": ('"input"', '"lambda"'),
    "an input in another script": ('"input"', json.dumps("ⅰnput")),
    "a parameter that closes a string": ('"0.weight"', json.dumps(f'0"), {CODE}, ("')),
    "a parameter of two lines": ('"0.weight"', json.dumps(f"0.weight\n{CODE}")),
    "an argument with a default": ('"forward_arg_names": ["input"]', json.dumps({"forward_arg_names": [f"x={CODE}"]})[1:-1]),
    "a node that is a call": ('"name": "relu"', json.dumps({"name": CODE})[1:-1]),
    "a tensor that is a call": ('"relu": {', f"{json.dumps(CODE)}: {{"),
    "a module that is a call": ('"fqn": "0"', json.dumps({"fqn": CODE})[1:-1]),
    "a size without end": ("Symbol('", "9**9**9**9 + Symbol('"),
    "a size that is shifted": ("Symbol('", "(1 << 99999999) + Symbol('"),
    "a size of many digits": ("Symbol('", "9" * 900 + " + Symbol('"),
    "a size that is long": ("Symbol('", "1 + " * 5000 + "Symbol('"),
    "a power of a power": ("Symbol('", "Pow(Pow(9, 8), 8) + Symbol('"),
    "a version with a quote": ('"torch_version": "', '"torch_version": "\\"'),
}


@pytest.mark.parametrize("name", CRAFTED)
@pytest.mark.parametrize("trust", [False, True])
def test_a_crafted_program_is_refused_trusted_or_not(
    name: str,
    trust: bool,  # noqa: FBT001
    place: Path,
    program: dict[str, bytes],
) -> None:
    old, new = CRAFTED[name]

    def changed(text: str) -> str:
        assert old in text, "the program has what is changed"
        return text.replace(old, new)

    written(place / "net.pt2", program, changed)
    assert ("not loaded, trusted or not" if trust else "runs whatever code") in refusal_of("net.pt2", trust=trust)
    assert not (place / "ran").exists()


def test_an_honest_program_needs_trust_and_says_what_it_risks(place: Path, program: dict[str, bytes]) -> None:
    written(place / "net.pt2", program)
    assert "runs whatever code its author put into it, with your rights" in refusal_of("net.pt2")
    assert "trusted as a whole or not at all" in refusal_of("net.pt2", trust=["torch.nn.Linear"])
    assert tp.load_model("net.pt2", trust=True)(torch.ones(2, 3)).shape == (2, 1)
    assert tp.load_model("net.pt2", trust_pickle=True)(torch.ones(2, 3)).shape == (2, 1), "the older name"


def test_what_a_program_says_of_itself_never_reaches_pytorch(
    place: Path, program: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[bytes] = []
    kept = torch.export.load

    def load(archive: Any) -> Any:
        reached.append(archive.getvalue())
        return kept(archive)

    def remarked(text: str) -> str:
        graph = json.loads(text)
        graph["guards_code"] = [CODE]
        for node in graph["graph_module"]["graph"]["nodes"]:
            node["metadata"]["stack_trace"] = f"\n{CODE}\n"
        return json.dumps(graph)

    written(place / "net.pt2", program, remarked)
    monkeypatch.setattr(torch.export, "load", load)
    assert tp.load_model("net.pt2", trust=True)(torch.ones(2, 3)).shape == (2, 1)
    assert len(reached) == 1
    assert b"mkdir" not in reached[0]
    assert b"mkdir" in (place / "net.pt2").read_bytes()


def test_weights_are_no_larger_than_their_bytes(place: Path, program: dict[str, bytes]) -> None:
    name = next(name for name in program if name.endswith("model_weights_config.json"))
    config = program[name].replace(b'"sizes": [{"as_int": 4}, {"as_int": 3}]', b'"sizes": [{"as_int": 400000000000}]')
    assert config != program[name]
    written(place / "net.pt2", {**program, name: config})
    assert "of a size that its 48 bytes cannot hold" in refusal_of("net.pt2", trust=True)


# Archives


def inflated(path: Path, parts: dict[str, bytes], name: str, size: int) -> None:
    """An archive with one more part, of many zeros in few bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, part in parts.items():
            archive.writestr(each, part)
        with archive.open(name, "w") as stream:
            for _ in range(size // 2**20):
                stream.write(bytes(2**20))


@pytest.fixture(scope="module")
def estimators() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = (x.sum(axis=1) > 0.0).astype(int)
    models = {
        "forest": RandomForestClassifier(3, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=3),
        "vectors": SVC(),
        "neighbours": KNeighborsClassifier(algorithm="brute"),
    }
    return {name: model.fit(x, y) for name, model in models.items()}


def skops_parts(model: Any) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(
    place: Path, program: dict[str, bytes], estimators: dict[str, Any]
) -> None:
    inflated(place / "net.pt2", program, "net/data/weights/weight_99", 2 * FREE_BYTES)
    assert (place / "net.pt2").stat().st_size < FREE_BYTES // 100
    assert f"at most {FREE_BYTES:,} are read" in refusal_of("net.pt2", trust=True)
    inflated(place / "model.skops", skops_parts(estimators["vectors"]), "big.npy", 2 * FREE_BYTES)
    assert f"at most {FREE_BYTES:,} are read" in refusal_of("model.skops")
    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(3)}, buffer)
    with zipfile.ZipFile(buffer) as archive:
        saved = {name: archive.read(name) for name in archive.namelist()}
    inflated(place / "weights.pt", saved, "archive/data/9", 2 * FREE_BYTES)
    (place / "vendor.py").write_text("from torch import nn\nnet = lambda: nn.Linear(3, 1)\n", encoding="utf-8")
    assert f"at most {FREE_BYTES:,} are read" in refusal_of("vendor:net", state="weights.pt")


def test_an_archive_within_an_archive_is_looked_into(place: Path, estimators: dict[str, Any]) -> None:
    inner = place / "inner.npz"
    inflated(inner, {}, "data.npy", 2 * FREE_BYTES)
    with zipfile.ZipFile(place / "model.skops", "w") as archive:
        for name, part in {**skops_parts(estimators["vectors"]), "sparse.npz": inner.read_bytes()}.items():
            archive.writestr(name, part)
    assert "are read of a file of" in refusal_of("model.skops")


def test_a_part_that_lies_about_its_size_is_unpacked_no_further(place: Path, estimators: dict[str, Any]) -> None:
    inflated(place / "model.skops", skops_parts(estimators["vectors"]), "big.npy", 2 * FREE_BYTES)
    data = bytearray((place / "model.skops").read_bytes())
    for at in range(len(data)):  # both places where the size stands
        if data[at : at + 4] == (2 * FREE_BYTES).to_bytes(4, "little"):
            data[at : at + 4] = (1000).to_bytes(4, "little")
    (place / "model.skops").write_bytes(data)
    assert "cannot be read as a skops file" in refusal_of("model.skops")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused(place: Path, estimators: dict[str, Any]) -> None:
    parts = skops_parts(estimators["vectors"])
    with zipfile.ZipFile(place / "model.skops", "w") as archive:
        for name, part in [*parts.items(), ("schema.json", b"{}")]:
            archive.writestr(name, part)
    assert "several parts of one name" in refusal_of("model.skops")


# Estimators whose compiled code follows what the file says


def node(change: Callable[[Any], None], model: Any) -> Any:
    """A forest whose first tree was changed, as only a crafted file can."""
    tree = model.estimators_[0].tree_
    state = tree.__getstate__()
    change(state["nodes"])
    tree.__setstate__(state)
    return model


def set_left(index: int, value: int) -> Callable[[Any], None]:
    def change(nodes: Any) -> None:
        nodes["left_child"][index] = value

    return change


def set_feature(nodes: Any) -> None:
    nodes["feature"][0] = 999999


TREES: dict[str, tuple[Callable[[Any], None], str]] = {
    "a child far away": (set_left(0, 10**7), "point outside of it"),
    "a child that is the root": (set_left(0, 0), "point outside of it"),
    "a child that is missing": (set_left(0, -1), "node of one child"),
    "a feature that is not there": (set_feature, "a feature beyond its 3"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_points_elsewhere_is_refused(name: str, place: Path, estimators: dict[str, Any]) -> None:
    import copy

    change, part = TREES[name]
    skops.io.dump(node(change, copy.deepcopy(estimators["forest"])), "model.skops")
    assert part in refusal_of("model.skops", trust=["sklearn.tree._tree.Tree"])


def test_a_ring_of_nodes_is_refused(place: Path, estimators: dict[str, Any]) -> None:
    import copy

    def ring(nodes: Any) -> None:
        nodes["left_child"][nodes["left_child"][0]] = nodes["right_child"][0]

    skops.io.dump(node(ring, copy.deepcopy(estimators["forest"])), "model.skops")
    assert "holds a tree" in refusal_of("model.skops", trust=["sklearn.tree._tree.Tree"])


def test_boosted_trees_and_support_vectors_are_looked_at(estimators: dict[str, Any]) -> None:
    import copy

    for name in ("forest", "boosting", "vectors", "neighbours"):
        assert natives.flaw(estimators[name]) is None, name
    boosting = copy.deepcopy(estimators["boosting"])
    boosting._predictors[0][0].nodes["left"][0] = 10**6
    assert natives.flaw(boosting) == "holds a tree whose nodes point outside of it"
    vectors = copy.deepcopy(estimators["vectors"])
    vectors._n_support = vectors._n_support * 1000
    assert natives.flaw({"deep": [vectors]}) == "holds support vectors that their counts do not fit"


def test_an_estimator_of_other_compiled_code_is_tried_in_a_child_first(
    place: Path, estimators: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    kept = isolated.Child.ask

    def ask(self: Any, message: Any) -> Any:
        asked.append(self._subject)
        return kept(self, message)

    monkeypatch.setattr(isolated.Child, "ask", ask)
    for name in ("neighbours", "forest"):
        skops.io.dump(estimators[name], f"{name}.skops")
    tp.load_model("neighbours.skops", trust=skops.io.get_untrusted_types(file="neighbours.skops"))
    tp.load_model("forest.skops", trust=skops.io.get_untrusted_types(file="forest.skops"))
    assert asked == ["neighbours.skops"]


# Graphs


def graph(place: Path, nodes: list[Any], held: list[Any] | None = None) -> str:
    rows = helper.make_tensor_value_info("rows", FLOAT, [None, 3])
    scores = helper.make_tensor_value_info("score", FLOAT, [None, 3])
    made = helper.make_graph(nodes, "crafted", [rows], [scores], held or [])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    (place / "model.onnx").write_bytes(model.SerializeToString())
    return "model.onnx"


def test_a_graph_that_never_ends_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [
        helper.make_tensor_value_info("i", INTEGER, []),
        helper.make_tensor_value_info("c", TRUTH, []),
        helper.make_tensor_value_info("v", FLOAT, None),
    ]
    results = [helper.make_tensor_value_info("again", TRUTH, []), helper.make_tensor_value_info("next", FLOAT, None)]
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["again"]), helper.make_node("Sin", ["v"], ["next"])], "body", ports, results
    )
    held = [numpy_helper.from_array(np.array(2**62), "times"), numpy_helper.from_array(np.ones((), bool), "go")]
    model = tp.load_model(graph(place, [helper.make_node("Loop", ["times", "go", "rows"], ["score"], body=body)], held))
    monkeypatch.setattr(isolated, "SECONDS", 1.0)
    with pytest.raises(tp.InputError, match="takes longer than 1 seconds for one answer"):
        model(np.ones((2, 3)))
    with pytest.raises(tp.InputError, match=r"model\.onnx"):
        model(np.ones((2, 3)))


def test_a_graph_that_asks_for_too_much_memory_is_refused_it(place: Path) -> None:
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["zero"], keepdims=0),
        helper.make_node("Add", ["rows", "zero"], ["score"]),
    ]
    path = graph(place, nodes, [numpy_helper.from_array(np.array([50000, 50000, 2]), "shape")])
    with pytest.raises(tp.InputError, match="4 GiB"):
        tp.load_model(path)(np.ones((2, 3)))


def test_weights_in_another_file_are_not_read(place: Path) -> None:
    weights = numpy_helper.from_array(np.ones((3, 3), np.float32), "weights")
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="/etc/passwd")
    path = graph(place, [helper.make_node("MatMul", ["rows", "weights"], ["score"])], [weights])
    assert "keeps weights in another file, which is not read" in refusal_of(path)
    assert "keeps weights in another file" in refusal_of(path, trust=True)


def test_a_child_finds_the_package_where_the_parent_did(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["", *(path for path in sys.path if path != isolated.HOME)])
    path = graph(place, [helper.make_node("Sin", ["rows"], ["score"])])
    np.testing.assert_allclose(tp.load_model(path)(np.ones((2, 3))), np.sin(np.ones((2, 3))), rtol=1e-6)


def test_a_child_that_dies_is_told_and_its_parent_lives(place: Path) -> None:
    child = isolated.Child("tippingpoint.files.onnx_session:answer", "the file")
    child._process.kill()
    with pytest.raises(tp.InputError, match="the file crashes the process that it runs in"):
        child.ask({"graph": np.zeros(3, np.uint8)})


# Files that are none


def test_devices_pipes_and_paths_with_nul_are_no_models(place: Path) -> None:
    os.mkfifo("pipe")
    assert "is a device or a pipe" in refusal_of("pipe")
    assert "is a device or a pipe" in refusal_of("/dev/zero")
    assert "is no path" in refusal_of("a\0b")


def test_json_that_is_too_deep_is_a_sentence(place: Path) -> None:
    (place / "model.json").write_text('{"coef": ' + "[" * 100_000, encoding="utf-8")
    assert "is not JSON" in refusal_of("model.json")
    (place / "model.json").write_text('{"coef": [' + "9" * 5000 + "]}", encoding="utf-8")
    assert "is not JSON" in refusal_of("model.json")


@pytest.mark.parametrize(("library", "version"), [("skops", "0.14.0"), ("torch", "2.5.1+cpu")])
def test_a_library_that_files_can_subvert_is_refused(
    library: str, version: str, place: Path, estimators: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{library}.__version__", version)
    skops.io.dump(estimators["vectors"], "model.skops")
    torch.save({"weight": torch.ones(1, 3), "bias": torch.ones(1)}, "weights.pt")
    (place / "vendor.py").write_text("from torch import nn\nnet = lambda: nn.Linear(3, 1)\n", encoding="utf-8")
    asked = refusal_of("model.skops") if library == "skops" else refusal_of("vendor:net", state="weights.pt")
    assert f"{library} {version} can be made to run code by a crafted file" in asked


class Leaving:
    """Ends the program where it is unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return sys.exit, (0,)


def test_a_pickle_that_ends_the_program_is_an_error(place: Path) -> None:
    import pickle

    (place / "model.pkl").write_bytes(pickle.dumps(Leaving()))
    assert "it ends the program, by sys.exit(0)" in refusal_of("model.pkl", trust=True)
