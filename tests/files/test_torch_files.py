"""PyTorch's files: programs that hold data only, state dicts as weights only, and factories."""

from __future__ import annotations

import json
import logging
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tippingpoint as tp
from commands import Command
from workshop import Bomb, Workshop

FACTORY = """
from torch import nn


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4, 1))


def narrow():
    return nn.Linear(2, 1)


def vendor():
    return lambda rows: rows["a"]


def fitted():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit([[0.0], [1.0]], [0, 1])


def broken():
    raise RuntimeError("no licence")


number = 3
"""


@pytest.fixture(scope="module")
def net() -> nn.Module:
    torch.manual_seed(1)
    first, last = nn.Linear(3, 4), nn.Linear(4, 1)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[2.0, 0.3, 0.1], [-1.0, 0.5, 0.2], [0.1, 1.0, -1.0], [0.5, -0.3, 0.9]]))
        last.weight.copy_(torch.tensor([[2.0, -1.5, 0.3, 0.2]]))
        last.bias.copy_(torch.tensor([-0.2]))
    return nn.Sequential(first, nn.ReLU(), nn.Dropout(0.2), last).eval()


@pytest.fixture
def place(tmp_path: Path, net: nn.Module, workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the program, the weights and the factory, and in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factory.py").write_text(FACTORY, encoding="utf-8")
    (tmp_path / "eval.csv").write_bytes((workshop.home / "eval.csv").read_bytes())
    torch.save(net.state_dict(), tmp_path / "net.pt")
    (tmp_path / "net.pt2").write_bytes(exported(net, workshop.home / "net.pt2"))
    monkeypatch.delitem(__import__("sys").modules, "factory", raising=False)
    return tmp_path


def exported(module: nn.Module, path: Path, **settings: Any) -> bytes:
    """A program for any number of rows; made once."""
    if not path.exists():
        dynamic = {"dynamic_shapes": ({0: torch.export.Dim("rows")},), **settings}
        logging.getLogger("torch").setLevel(logging.ERROR)
        torch.export.save(torch.export.export(module, (torch.randn(4, 3),), **dynamic), path)
    return path.read_bytes()


QUESTION = ("--data", "eval.csv", "--target", "y", "--risk", "0.7", "--json", "-")


def test_a_program_has_the_stability_of_its_module(place: Path, net: nn.Module, workshop: Workshop, cli: Command) -> None:
    code, out, err = cli("evaluate", "--model", "net.pt2", "--trust", "--classes", "no,yes", *QUESTION)
    assert (code, err) == (0, "")
    result = tp.StabilityResult.from_json(out)
    expected = tp.stability(net, workshop.x, workshop.y, 0.7)
    assert result.current_risk == pytest.approx(expected.current_risk)
    assert expected.lower <= result.value * (1.0 + 1e-6)
    assert result.value == pytest.approx(expected.value, rel=0.02)


def test_the_labels_of_a_program_are_in_the_order_that_is_said(place: Path, cli: Command) -> None:
    backwards = cli("evaluate", "--model", "net.pt2", "--trust", "--classes", "yes,no", *QUESTION)[1]
    forwards = cli("evaluate", "--model", "net.pt2", "--trust", *QUESTION)[1]
    assert json.loads(backwards)["current_risk"] == pytest.approx(1.0 - json.loads(forwards)["current_risk"])


def test_a_factory_with_weights_is_the_module_in_eval_mode(
    place: Path, net: nn.Module, workshop: Workshop, cli: Command
) -> None:
    searched = ("--method", "exact", "--seed", "3", "--certify", "none")
    code, out, err = cli("evaluate", "--model", "factory:net", "--state", "net.pt", *QUESTION, *searched)
    assert (code, err) == (0, "")
    expected = tp.stability(net, workshop.x, workshop.y, 0.7, method="exact", seed=3, certify="none")
    assert tp.StabilityResult.from_json(out).value == expected.value


def test_states_of_compared_factories_are_named(place: Path, net: nn.Module, workshop: Workshop, cli: Command) -> None:
    torch.save({name: -value if name.startswith("3") else value for name, value in net.state_dict().items()}, "other.pt")
    models = ("--model", "one=factory:net", "--model", "two=factory:net", "--state", "one=net.pt", "--state", "two=other.pt")
    code, out, err = cli("compare", *models, *QUESTION, "--certify", "none")
    assert (code, err) == (0, "")
    risks = [result["current_risk"] for result in json.loads(out)["results"].values()]
    assert risks[0] == pytest.approx(1.0 - risks[1])


BAD = {
    "no such module": (("gone:net",), "there is no module 'gone'; install it, or run where it is"),
    "no such function": (("factory:gone",), "has no attribute 'gone'"),
    "no function": (("factory:number",), "factory:number is a int; name a function"),
    "a function that fails": (("factory:broken",), r"factory:broken\(\) fails \(RuntimeError: no licence\)"),
    "weights for no module": (("factory:vendor", "net.pt"), "goes into a PyTorch module"),
    "weights of another module": (("factory:narrow", "net.pt"), "net.pt does not fit what factory:narrow returns"),
    "no weights": (("factory:net", "eval.csv"), "eval.csv is some other text, not the weights"),
    "a whole module as weights": (("factory:net", "whole.pt"), "whole.pt holds more than weights, which is not loaded"),
    "weights that are a tensor": (("factory:net", "tensor.pt"), "tensor.pt holds a Tensor"),
    "weights alone": (("net.pt",), "lacks the code of its module; give that too, as --model module:factory"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_a_sentence(name: str, place: Path, net: nn.Module) -> None:
    torch.save(net, place / "whole.pt")
    torch.save(torch.ones(3), place / "tensor.pt")
    (model, *state), part = BAD[name]
    with pytest.raises(tp.InputError, match=part) as caught:
        tp.load_model(model, state=state[0] if state else None)
    assert "\n" not in str(caught.value)


def test_labels_of_a_module_belong_to_the_question(place: Path) -> None:
    with pytest.raises(tp.InputError, match=r"pass classes=\.\.\. to stability\(\)"):
        tp.load_model("factory:net", classes=["no", "yes"])
    with pytest.raises(tp.InputError, match=r"pass classes=\.\.\. to stability\(\)"):
        tp.load_model("factory:vendor", classes=["no", "yes"])
    with pytest.raises(tp.InputError, match="returns a LogisticRegression, which names its classes itself; leave classes out"):
        tp.load_model("factory:fitted", classes=["no", "yes"])


def rewritten(path: Path, change: Callable[[str, bytes], bytes], **more: bytes) -> None:
    """An archive with some parts changed, and more of them."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    top = next(iter(parts)).partition("/")[0]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, change(name.partition("/")[2], content))
        for name, content in more.items():
            archive.writestr(f"{top}/{name}", content)


def pickled() -> bytes:
    import io

    buffer = io.BytesIO()
    torch.save(((Bomb(),), {}), buffer)
    return buffer.getvalue()


def in_graph(pattern: str, replacement: str) -> Callable[[str, bytes], bytes]:
    def change(name: str, content: bytes) -> bytes:
        if name != "models/model.json":
            return content
        changed, times = re.subn(pattern, replacement, content.decode())
        assert times, "the program has what is to be changed"
        return changed.encode()

    return change


ATTACKS: dict[str, tuple[Callable[[str, bytes], bytes], str]] = {
    "a pickle as example inputs": (
        lambda name, content: pickled() if name == "data/sample_inputs/model.pt" else content,
        "example inputs that are more than tensors",
    ),
    "pickled weights": (
        lambda _, content: content.replace(b'"use_pickle": false', b'"use_pickle": true').replace(
            b'"use_pickle":false', b'"use_pickle":true'
        ),
        "holds pickled weights",
    ),
    "a function of its own": (in_graph(r"torch\.ops\.aten\.relu\.default", "torch.hub.load"), r"calls 'torch\.hub\.load'"),
    "a file to be made": (
        in_graph(r"torch\.ops\.aten\.relu\.default", "torch.ops.aten.from_file.default"),
        "calls 'torch.ops.aten.from_file",
    ),
    "a size that is code": (
        in_graph(r"Symbol\('\w+', positive=True, integer=True\)", "__import__('os').mkdir('exploded')"),
        "has a size of",
    ),
    "a size that is another function": (
        in_graph(r"Symbol\('\w+', positive=True, integer=True\)", "exec(3)"),
        "has a size of 'exec",
    ),
    "objects of its own": (in_graph(r"builtins\.tuple", "collections.defaultdict"), "objects of its own"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_program_that_might_hold_code_is_refused_and_nothing_runs(name: str, place: Path) -> None:
    change, part = ATTACKS[name]
    rewritten(place / "net.pt2", change)
    with pytest.raises(tp.InputError, match=part) as caught:
        tp.load_model("net.pt2", trust=True)
    assert "it is not loaded, trusted or not" in str(caught.value)
    assert not (place / "exploded").exists()


@pytest.mark.parametrize("part", ["data/constants/custom_obj_0", "data/aotinductor/model/x.so", "data/weights/model.pt"])
def test_parts_that_a_plain_program_does_not_have_are_refused(part: str, place: Path) -> None:
    rewritten(place / "net.pt2", lambda _, content: content, **{part: b"?"})
    with pytest.raises(tp.InputError, match="which is not a part of a plain program"):
        tp.load_model("net.pt2", trust=True)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused(place: Path) -> None:
    rewritten(place / "net.pt2", lambda _, content: content, **{"models/model.json": b"{}"})
    with pytest.raises(tp.InputError, match="several parts of one name"):
        tp.load_model("net.pt2", trust=True)


def test_a_program_of_an_older_pytorch_is_told_so(place: Path) -> None:
    with zipfile.ZipFile(place / "old.pt2", "w") as archive:
        archive.writestr("serialized_exported_program.json", "{}")
    with pytest.raises(tp.InputError, match=r"no exported program of PyTorch 2\.8 or newer"):
        tp.load_model("old.pt2", trust=True)


def test_a_program_for_one_size_of_batch_says_how_to_export_it(place: Path, net: nn.Module) -> None:
    exported(net, place / "fixed.pt2", dynamic_shapes=None)
    with pytest.raises(tp.InputError, match=r"exactly 4 row\(s\) at once; export it for any number"):
        tp.load_model("fixed.pt2", trust=True)


def test_a_program_exported_in_train_mode_is_refused(place: Path) -> None:
    exported(nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5), nn.Linear(2, 1)).train(), place / "train.pt2")
    with pytest.raises(tp.InputError, match=r"exported in train mode.*call \.eval\(\), then export"):
        tp.load_model("train.pt2", trust=True)


def test_a_program_that_is_cut_off_says_so(place: Path) -> None:
    whole = (place / "net.pt2").read_bytes()
    (place / "net.pt2").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(tp.InputError, match="cut-off zip archive"):
        tp.load_model("net.pt2", trust=True)


def test_without_pytorch_a_program_and_weights_name_what_brings_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(
        tp.InputError, match=r"net.pt2 needs torch, which is not installed; pip install 'tippingpoint\[torch\]'"
    ):
        tp.load_model("net.pt2", trust=True)
