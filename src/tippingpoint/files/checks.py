"""Whether a program of torch.export is a plain one.

PyTorch unpickles parts of such a file, evaluates the sizes of tensors as Python, calls functions by their names, and writes
names into code that it runs; so a file can hold code in many places. What a plain program may hold is listed here; anything
else raises suspicion. This is a second line: no list can be known to be whole, so the author has to be trusted first.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import math
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

LONGEST_SIZE = 1000
"""Letters of the longest size."""

LARGEST_SIZE = 2**63
"""The largest number in a size, as PyTorch counts."""

HIGHEST_POWER = 8
"""The highest power of a symbol in a size; numbers are not raised to powers there, so that none takes for ever to write out."""

WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

NAME = re.compile(r"\w*(\.\w+)*", re.ASCII)
"""What tensors, parameters, arguments and modules are called: words with dots between them."""

TEXT = re.compile(r"[\w ,.>+-]*", re.ASCII)
"""Text that an operator takes, as the equation of einsum, and versions: nothing that ends a string of Python."""

FREE_TEXT = ("as_string", "torch_version")
"""Keys of such text."""

IDENTIFIERS = ("name", "forward_arg_names")
"""Keys whose words become variables of generated code."""

CONTAINERS = (None, "builtins.tuple", "builtins.list", "builtins.dict")
"""What inputs and outputs may come in."""

NUMBER_PARTS = re.compile(r"data/(weights|constants)/(weight|tensor)_\d+")
"""Parts that are numbers, read as such."""

KNOWN = re.compile(
    r"models/model\.json|archive_format|archive_version|byteorder|\.data/\w+|version|\.format_version|\.storage_alignment"
    r"|data/(weights|constants)/model_(weights|constants)_config\.json|data/sample_inputs/model\.pt|extra/.*"
)
"""Parts that are text or settings, or are looked into below."""

REMARKS: Mapping[str, Any] = {"metadata": {}, "guards_code": []}
"""What a program says of its origin and its inputs, as text that nobody needs here; and what stands in its place."""


def suspicion(members: Mapping[str, bytes], graph: Any) -> str | None:
    """What of a program might be code, or fill the memory; None where nothing is."""
    for name in members:
        if not (NUMBER_PARTS.fullmatch(name) or KNOWN.fullmatch(name)):
            return f"holds {name!r}, which is not a part of a plain program"
    for name in ("weights", "constants"):
        config = json.loads(members.get(f"data/{name}/model_{name}_config.json", b"{}"))
        doubt = next(filter(None, (_stored_doubt(name, key, value, members) for key, value in _pairs(config))), None)
        if doubt is not None:
            return doubt
    samples = members.get("data/sample_inputs/model.pt")
    if samples is not None and not _only_tensors(samples):
        return "holds example inputs that are more than tensors"
    return next(filter(None, (_doubt(key, value) for key, value in _pairs(without_remarks(graph)))), None)


def trains(graph: Any) -> bool:
    """Whether a layer of the program was exported in train mode."""
    return any(
        value.get("name") in ("train", "training") and value.get("arg") == {"as_bool": True} for value in _mappings(graph)
    )


def without_remarks(graph: Any) -> Any:
    """The program without the text that it carries along."""
    if isinstance(graph, dict):
        return {key: REMARKS[key] if key in REMARKS else without_remarks(value) for key, value in graph.items()}
    return [without_remarks(value) for value in graph] if isinstance(graph, list) else graph


def _stored_doubt(kind: str, key: str, value: Any, members: Mapping[str, bytes]) -> str | None:
    """Of the tensors that are stored: none is pickled, each has a name and no more numbers than bytes."""
    if key == "use_pickle" and value:
        return f"holds pickled {kind}"
    if not NAME.fullmatch(key):
        return f"names {_shown(key)}"
    if isinstance(value, dict) and "path_name" in value:
        bytes_ = len(members.get(f"data/{kind}/{value['path_name']}", b""))
        sizes = [size.get("as_int") for size in value.get("tensor_meta", {}).get("sizes", [])]
        if not all(isinstance(size, int) and size >= 0 for size in sizes) or math.prod(sizes) > bytes_:
            return f"has {_shown(key)} of a size that its {bytes_:,} bytes cannot hold"
    return None


def _doubt(key: str, value: Any) -> str | None:
    if not NAME.fullmatch(key):
        return f"names {_shown(key)}"
    if key == "target":
        return None if isinstance(value, str) and OPERATORS.fullmatch(value) else f"calls {_shown(value)}"
    if key == "expr_str":
        return None if _is_size(value) else f"has a size of {_shown(value)}"
    if key in ("in_spec", "out_spec"):
        return None if value in (None, "") or _is_plain(value) else "takes or returns objects of its own"
    words = list(_texts(value))
    allowed = TEXT if key in FREE_TEXT else NAME
    odd = next((word for word in words if not allowed.fullmatch(word)), None)
    if odd is None and key in IDENTIFIERS:
        odd = next((word for word in words if not word.isidentifier() or keyword.iskeyword(word)), None)
    return None if odd is None else f"names {_shown(odd)}"


def _shown(value: Any) -> str:
    """The beginning of what is odd."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_LETTERS else f"{text[:MAX_SHOWN_LETTERS]}…"


MAX_SHOWN_LETTERS = 60
"""Letters that are shown of it."""


def _only_tensors(data: bytes) -> bool:
    import torch

    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except Exception:  # noqa: BLE001  # whatever it is, it is not tensors
        return False
    return True


def _is_size(text: Any) -> bool:
    """Whether an expression is arithmetic of numbers and symbols, and short work."""
    if not isinstance(text, str) or len(text) > LONGEST_SIZE:
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_harmless(node) for node in ast.walk(tree))


def _harmless(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        return name in SIZES and (name != "Pow" or (len(node.args) == 2 and _is_small_power(*node.args)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _is_small_power(node.left, node.right)
    if isinstance(node, (ast.LShift, ast.MatMult)):
        return False
    return _is_small(node.value) if isinstance(node, ast.Constant) else isinstance(node, ARITHMETIC)


def _is_small(value: Any) -> bool:
    """Whether a constant is the name of a symbol, or a number that PyTorch can count to."""
    if isinstance(value, str):
        return bool(WORD.fullmatch(value))
    return isinstance(value, (int, float)) and abs(value) <= LARGEST_SIZE


def _is_small_power(base: ast.AST, power: ast.AST) -> bool:
    """Whether a symbol, and no number, is raised to a small power."""
    if isinstance(power, ast.Call) and len(power.args) == 1:  # Integer(2)
        power = power.args[0]
    symbol = isinstance(base, ast.Name) or (
        isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "Symbol"
    )
    return symbol and isinstance(power, ast.Constant) and isinstance(power.value, int) and 0 <= power.value <= HIGHEST_POWER


def _is_plain(spec: Any) -> bool:
    """Whether inputs or outputs come in containers of Python's own, under names."""
    if not isinstance(spec, str):
        return False
    for key, value in _pairs(json.loads(spec)):
        if key == "type" and value not in CONTAINERS:
            return False
        if key == "context" and value is not None and not _only_names(json.loads(value) if isinstance(value, str) else value):
            return False
    return True


def _only_names(value: Any) -> bool:
    if isinstance(value, str):
        return bool(NAME.fullmatch(value))
    if isinstance(value, list):
        return all(map(_only_names, value))
    return value is None or isinstance(value, (bool, int))


def _texts(value: Any) -> Iterator[str]:
    """The text that stands under a key, alone or in lists; what is under keys further down is looked at there."""
    if isinstance(value, str):
        yield value
    for child in value if isinstance(value, list) else ():
        yield from _texts(child)


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
