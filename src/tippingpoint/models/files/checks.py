"""Whether a program of torch.export holds data only.

PyTorch unpickles parts of such a file, evaluates the sizes of tensors as Python, and calls functions by their names; so a file
can hold code. What a file may hold here is listed; anything else raises suspicion.
"""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

OPERATORS = re.compile(
    r"torch\.ops\.(aten|prims)\.(?!from_file\b)\w+\.\w+|_operator\.(getitem|add|sub|mul|floordiv|neg|le|lt|ge|gt|eq|ne)"
)
"""Functions that a graph may call: of tensors, without files, and of their sizes."""

SIZES = ("Symbol", "Integer", "Max", "Min", "Mod", "PythonMod", "FloorDiv", "CleanDiv", "Add", "Mul", "Pow")
"""Functions of which the size of a tensor may be made."""

ARITHMETIC = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load, ast.Name, ast.Constant, ast.keyword)
"""What else it may be made of."""

WORD = re.compile(r"[A-Za-z_]\w*")

CONTAINERS = (None, "builtins.tuple", "builtins.list", "builtins.dict")
"""What inputs and outputs may come in."""

PLAIN = re.compile(r"data/(weights|constants)/(weight|tensor)_\d+")
"""Parts that are numbers, read as such."""

KNOWN = re.compile(
    r"models/model\.json|archive_format|archive_version|byteorder|\.data/\w+|version|\.format_version|\.storage_alignment"
    r"|data/(weights|constants)/model_(weights|constants)_config\.json|data/sample_inputs/model\.pt|extra/.*"
)
"""Parts that are text or settings, or are looked into below."""


def suspicion(members: Mapping[str, bytes], graph: Any) -> str | None:
    """What of a program might be code; None where nothing is."""
    for name in members:
        if not (PLAIN.fullmatch(name) or KNOWN.fullmatch(name)):
            return f"holds {name!r}, which is not a part of a plain program"
    for name in ("weights", "constants"):
        config = json.loads(members.get(f"data/{name}/model_{name}_config.json", b"{}"))
        if any(found for key, found in _pairs(config) if key == "use_pickle"):
            return f"holds pickled {name}"
    samples = members.get("data/sample_inputs/model.pt")
    if samples is not None and not _only_tensors(samples):
        return "holds example inputs that are more than tensors"
    return next(filter(None, (_doubt(key, value) for key, value in _pairs(graph))), None)


def trains(graph: Any) -> bool:
    """Whether a layer of the program was exported in train mode."""
    return any(
        value.get("name") in ("train", "training") and value.get("arg") == {"as_bool": True} for value in _mappings(graph)
    )


def _doubt(key: str, value: Any) -> str | None:
    if key == "target" and isinstance(value, str) and not OPERATORS.fullmatch(value):
        return f"calls {value!r}"
    if key == "expr_str" and not _is_size(value):
        return f"has a size of {value!r}"
    if key in ("in_spec", "out_spec") and isinstance(value, str) and not _is_plain(value):
        return "takes or returns objects of its own"
    return None


def _only_tensors(data: bytes) -> bool:
    import torch

    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except Exception:  # noqa: BLE001  # whatever it is, it is not tensors
        return False
    return True


def _is_size(text: Any) -> bool:
    """Whether an expression is arithmetic of numbers and symbols."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, TypeError, ValueError):
        return False
    return all(_harmless(node) for node in ast.walk(tree))


def _harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in SIZES
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) or (isinstance(node.value, str) and bool(WORD.fullmatch(node.value)))
    return isinstance(node, ARITHMETIC)


def _is_plain(spec: str) -> bool:
    return all(found in CONTAINERS for key, found in _pairs(json.loads(spec)) if key == "type")


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping within, however deep."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _mappings(child)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key and its value, however deep."""
    for found in _mappings(value):
        yield from found.items()
