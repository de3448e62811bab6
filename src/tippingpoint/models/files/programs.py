"""Programs of torch.export: modules without their Python code, checked before PyTorch, which would trust them, loads them."""

from __future__ import annotations

import inspect
import json
import logging
import warnings
import zipfile
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.models.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.models.files.checks import suspicion, trains
from tippingpoint.models.files.pickles import RISK


def holds(content: Content) -> bool:
    """Whether it is an archive that says it holds a program, new or old."""
    return content.holds("archive_format") or content.holds("serialized_exported_program.json")


def load(content: Content, loading: Loading) -> Stored:
    """The program as a module."""
    path = content.path
    torch = library("torch", "torch", path)
    if not content.holds("models/model.json"):
        raise InputError(f"{path} holds no exported program of PyTorch 2.8 or newer; save it anew with torch.export.save.")
    if len({name.partition("/")[0] for name in content.members}) > 1 or len(set(content.members)) < len(content.members):
        raise InputError(f"{path} holds several parts of one name, so that nobody can tell which counts; save it anew.")
    with zipfile.ZipFile(path) as archive, reading(path, FORMAT.name):
        members = {name.partition("/")[2]: archive.read(name) for name in content.members}
        graph = json.loads(members["models/model.json"])
        doubt = None if loading.trust_pickle else suspicion(members, graph)
    if doubt is not None:
        raise InputError(f"{path} {doubt}, and {RISK}: --trust-pickle (trust_pickle=True in Python).")
    if trains(graph):
        raise InputError(f"{path} was exported in train mode, so its loss is not a fixed function; call .eval(), then export.")
    log = logging.getLogger("torch.export")
    level, log.level = log.level, logging.CRITICAL  # what goes wrong is said below
    try:
        with reading(path, FORMAT.name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(path)
            module = _module(program)
    finally:
        log.level = level
    _check_input(path, program)
    return Stored(module, None, {} if loading.classes is None else {"classes": list(loading.classes)})


def _module(program: Any) -> Any:
    """The module, without the code that checks its inputs: that comes out of the file as text."""
    quiet = "check_guards" in inspect.signature(program.module).parameters
    return program.module(check_guards=False) if quiet else program.module()


def _check_input(path: Any, program: Any) -> None:
    taken = [node for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
    if len(taken) != 1:
        raise InputError(f"{path} takes {len(taken)} inputs; a program of one, with a row for each sample, is served.")
    rows = taken[0].meta["val"].shape[0]
    if isinstance(rows, int):
        raise InputError(
            f"{path} was exported for exactly {rows} row(s) at once; export it for any number, with"
            " dynamic_shapes=({0: torch.export.Dim('rows')},)."
        )


FORMAT = Format("a program of torch.export", (".pt2",), ("classes", "trust_pickle"), holds, load)
