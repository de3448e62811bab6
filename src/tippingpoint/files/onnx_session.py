"""An onnxruntime session behind messages of arrays: in this process, or in a child with limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.files.isolated import Child, Message

LOG_LEVEL = 4
"""onnxruntime's level of logging at which only what is fatal is said."""


@dataclass(frozen=True)
class Port:
    """An input or output of a graph: its name, onnxruntime's name of its type, and how many axes it has."""

    name: str
    type: str
    axes: int


class Session:
    """A graph that is asked by name.

    Parameters
    ----------
    graph
        The bytes of the file.
    subject
        What it is, as errors call it.
    isolated
        Whether it runs in a child with limits.
    """

    def __init__(self, graph: bytes, subject: str, *, isolated: bool) -> None:
        self._ask: Callable[[Message], Message] = Child(f"{__name__}:answer", subject).ask if isolated else _Graph().answer
        opened = json.loads(bytes(self._ask({"graph": np.frombuffer(graph, np.uint8)})["ports"]))
        self.inputs: tuple[Port, ...] = tuple(Port(*each) for each in opened["inputs"])
        self.outputs: tuple[Port, ...] = tuple(Port(*each) for each in opened["outputs"])

    def run(self, output: str, feed: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        """One output for these inputs, in the order of the graph's."""
        message = {f"input:{k}": _plain(feed[port.name]) for k, port in enumerate(self.inputs)}
        return self._ask({"output": np.array(output), **message})["values"]


class _Graph:
    """The session itself, once its graph has come."""

    def __init__(self) -> None:
        self._session: Any = None

    def answer(self, message: Message) -> Message:
        """Open a graph, or run the one that is open."""
        if "graph" in message:
            return self._opened(message["graph"].tobytes())
        feed = {port.name: _fed(message[f"input:{k}"]) for k, port in enumerate(self._session.get_inputs())}
        (found,) = self._session.run([message["output"].item()], feed)
        if not isinstance(found, np.ndarray):  # a map of classes to probabilities a row
            found = np.array([[row[k] for k in sorted(row)] for row in found])
        return {"values": _plain(found)}

    def _opened(self, graph: bytes) -> Message:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = LOG_LEVEL
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        ports = {
            "inputs": [[put.name, put.type, len(put.shape or ())] for put in self._session.get_inputs()],
            "outputs": [[put.name, put.type, len(put.shape or ())] for put in self._session.get_outputs()],
        }
        return {"ports": np.frombuffer(json.dumps(ports).encode(), np.uint8)}


_GRAPH = _Graph()
"""The only graph of a child."""


def answer(message: Message) -> Message:
    """What a child answers."""
    return _GRAPH.answer(message)


def _plain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text as NumPy's own, which needs no pickle."""
    return values.astype(str) if values.dtype == object else values


def _fed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text as onnxruntime takes it."""
    return values.astype(object) if values.dtype.kind == "U" else values
