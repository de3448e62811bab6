"""Programs of torch.export: PyTorch turns them into Python code and runs it, so their author has to be trusted.

What a plain program cannot hold is refused all the same, and PyTorch never sees the file: it gets an archive that we wrote, of
the parts that were looked at.
"""

from __future__ import annotations

import inspect
import json
import logging
import warnings
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.files.archives import packed, unpacked
from tippingpoint.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.files.checks import suspicion, trains, without_remarks

GRAPH = "models/model.json"
"""The part that holds the program."""


def holds(content: Content) -> bool:
    """Whether it is an archive that says it holds a program, new or old."""
    return content.holds("archive_format") or content.holds("serialized_exported_program.json")


def load(content: Content, loading: Loading) -> Stored:
    """The program as a module."""
    path = content.path
    loading.check_trust(path, "a program of torch.export, which PyTorch turns into Python code")
    torch = library("torch", "torch", path)
    if not content.holds(GRAPH):
        raise InputError(f"{path} holds no exported program of PyTorch 2.8 or newer; save it anew with torch.export.save.")
    with reading(path, FORMAT.name):
        parts = unpacked(content)
        tops = {name.partition("/")[0] for name in parts}
        members = {name.partition("/")[2]: part for name, part in parts.items()}
        graph = json.loads(members[GRAPH])
        doubt = "holds parts under several names" if len(tops) > 1 else suspicion(members, graph)
    if doubt is not None:
        raise InputError(
            f"{path} {doubt}, as no plain program does; it is not loaded, trusted or not. Give the module as module:factory."
        )
    if trains(graph):
        raise InputError(f"{path} was exported in train mode, so its loss is not a fixed function; call .eval(), then export.")
    members[GRAPH] = json.dumps(without_remarks(graph)).encode()
    log = logging.getLogger("torch.export")
    level, log.level = log.level, logging.CRITICAL  # what goes wrong is said below
    try:
        with reading(path, FORMAT.name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.load(packed({f"program/{name}": part for name, part in members.items()}))
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


FORMAT = Format("a program of torch.export", (".pt2",), ("classes", "trust"), holds, load)
