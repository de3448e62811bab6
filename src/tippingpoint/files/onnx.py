"""ONNX graphs, run by onnxruntime: data only, but a graph may loop or ask for memory, so it runs in a child with limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.files.onnx_session import Session
from tippingpoint.files.protobuf import fields, packed
from tippingpoint.preprocessing.booster_estimators import checked_classes

BEGINS = re.compile(rb"\x08[\x01-\x20][\x12\x1a\x22\x28\x32\x3a\x42]")
"""How a graph begins: the version of the format, and then the next field of a model."""

KINDS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
"""Types of inputs, and what they are in NumPy."""

TEXT = "tensor(string)"
"""The type of text."""

LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)", "tensor(bool)")
"""Types of outputs that tell a class."""

PROBABILITY_TOLERANCE = 1e-4
"""How far from one the probabilities of a row in float32 may sum."""

GRAPH, NODE, ATTRIBUTE, NAME, INTEGERS, STRINGS = 7, 1, 5, 1, 8, 9
"""Fields of a model, a graph, a node and an attribute."""

WEIGHTS = {"model": {7: "graph", 25: "function"}, "graph": {1: "node", 5: "tensor"}, "function": {7: "node"}}
WEIGHTS |= {"node": {5: "attribute"}, "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph"}}
"""The fields of each message, by number, in which weights may lie, and what messages those are."""

LOCATION_FIELD = 14
"""Field of a tensor that says whether its numbers lie in another file."""


class OnnxGraph:
    """A graph that returns scores, or predictions: whichever, the loss and the data decide."""

    def __init__(self, session: Session, output: int, classes: list[Any] | None = None) -> None:
        self._session = session
        self._output = session.outputs[output].name
        self.by_position: bool = len(session.inputs) == 1
        """Whether columns have no names in the graph: one input takes them all."""
        self.text_columns: tuple[str, ...] = tuple(put.name for put in session.inputs if put.type == TEXT)
        """The columns that it takes as text."""
        if classes is not None:
            self.classes_ = classes

    def __call__(self, rows: Any) -> Any:
        """What the graph returns, one value or one row of scores for each."""
        values = self._outputs(rows, self._output)
        return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values

    def _outputs(self, rows: Any, output: str) -> Any:
        return self._session.run(output, self._fed(rows))

    def _fed(self, rows: Any) -> dict[str, Any]:
        first, *others = self._session.inputs
        if not others:
            return {first.name: np.ascontiguousarray(rows, dtype=KINDS[first.type])}
        columns = [rows[put.name] for put in self._session.inputs] if hasattr(rows, "columns") else np.asarray(rows).T
        return {
            put.name: np.asarray(column).astype(KINDS[put.type]).reshape((-1, 1) if put.axes == 2 else (-1,))
            for put, column in zip(self._session.inputs, columns, strict=True)
        }


class OnnxClassifier(OnnxGraph):
    """A graph that tells classes and how probable they are."""

    def __init__(self, session: Session, label: int, output: int, classes: list[Any] | None, *, renamed: bool) -> None:
        super().__init__(session, output, classes)
        self._label = session.outputs[label].name
        self._renamed = renamed

    def predict(self, rows: Any) -> Any:
        """The label of each row."""
        if self._renamed:
            return np.array([self.classes_[k] for k in self.predict_proba(rows).argmax(axis=1)])
        return self._outputs(rows, self._label)

    def predict_proba(self, rows: Any) -> Any:
        """One row of probabilities a sample."""
        scores = np.asarray(self(rows), dtype=float)
        wide = np.column_stack((1.0 - scores, scores)) if scores.ndim == 1 else scores
        if bool((wide < -PROBABILITY_TOLERANCE).any()) or bool((np.abs(wide.sum(axis=1) - 1.0) > PROBABILITY_TOLERANCE).any()):
            raise UnsupportedError(
                "the second output of the graph holds scores, not probabilities; convert the model so that it does"
            )
        return wide


def holds(content: Content) -> bool:
    """Whether it begins as a graph does."""
    return bool(BEGINS.match(content.head))


def load(content: Content, loading: Loading) -> Stored:
    """The graph: a classifier where it tells classes and probabilities, a function of rows where it returns one output."""
    path = content.path
    library("onnxruntime", "onnx", path)
    data = content.data
    with reading(path, FORMAT.name):
        if any(_elsewhere(tensor) for tensor in _tensors(memoryview(data))):
            raise UnsupportedError(f"{path} keeps weights in another file, which is not read; save it as one file.")
        session = Session(data, f"{path}, {FORMAT.name},", isolated=loading.trust is not True)
    inputs, outputs = session.inputs, session.outputs
    odd = next((put for put in inputs if put.type not in KINDS), None)
    if odd is not None:
        raise UnsupportedError(f"{path} takes {odd.name!r} as {odd.type}, which is not served; {', '.join(KINDS)} are.")
    features = tuple(put.name for put in inputs) if len(inputs) > 1 else None
    kinds = [put.type for put in outputs]
    labels = [k for k, kind in enumerate(kinds) if kind in LABELS]
    scored = [k for k, kind in enumerate(kinds) if kind not in LABELS]
    if len(labels) == len(scored) == 1:
        classes, given = _class_labels(data), loading.classes
        if given is not None:
            classes = checked_classes(path, given, len(given if classes is None else classes))
        return Stored(OnnxClassifier(session, labels[0], scored[0], classes, renamed=given is not None), features)
    if len(outputs) == 1:
        model = OnnxGraph(session, 0, list(loading.classes) if loading.classes is not None else None)
        if labels:
            if loading.classes is not None:
                raise InputError(f"{path} tells classes by name, without scores; leave classes out.")
            model.returns = "label"  # type: ignore[attr-defined]  # as functions say what they return
        return Stored(model, features)
    names = ", ".join(f"{put.name} ({put.type})" for put in outputs)
    raise UnsupportedError(f"{path} returns {names}; one output is served, or a label and the probabilities of the classes.")


def _class_labels(data: bytes) -> list[Any] | None:
    """The labels that a graph's classifiers name, where all name the same."""
    found: list[list[Any]] = []
    for _, graph in _within(memoryview(data), GRAPH):
        for _, node in _within(graph, NODE):
            for _, attribute in _within(node, ATTRIBUTE):
                parts = list(fields(attribute))
                name = next((bytes(value) for number, value in parts if number == NAME and not isinstance(value, int)), b"")
                if name.startswith(b"classlabels_"):
                    found.append(
                        [label for number, value in parts if number == INTEGERS for label in packed(value)]
                        + [bytes(value).decode() for number, value in parts if number == STRINGS and not isinstance(value, int)]
                    )
    return found[0] if found and all(labels == found[0] for labels in found) else None


def _tensors(data: memoryview) -> Iterator[memoryview]:
    """Every tensor that is stored in a model, in graphs within graphs too."""
    waiting = [(data, "model")]
    while waiting:
        message, kind = waiting.pop()
        if kind == "tensor":
            yield message
            continue
        for number, value in fields(message):
            if number in WEIGHTS[kind] and not isinstance(value, int):
                waiting.append((value, WEIGHTS[kind][number]))


def _elsewhere(tensor: memoryview) -> bool:
    return any(number == LOCATION_FIELD and value != 0 for number, value in fields(tensor))


def _within(message: memoryview, number: int) -> list[tuple[int, memoryview]]:
    return [(n, value) for n, value in fields(message) if n == number and not isinstance(value, int)]


FORMAT = Format("an ONNX graph", (".onnx",), ("classes", "trust"), holds, load)
