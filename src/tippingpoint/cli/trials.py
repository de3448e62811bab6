"""Whether what is installed can be imported: tried in processes of their own, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tippingpoint.processors import usable_cores

SECONDS = 120.0
"""How long an import may take: the largest libraries, from a disk far away, take a minute."""

MAX_AT_ONCE = 4
"""Imports that are tried side by side: each may hold some hundred megabytes."""

MAX_REASON = 200
"""Letters of another library's error."""

UNTOLD = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
"""Settings of a child: to see whether a library works is no use of it, and nobody is told of one."""

MARK = "tippingpoint-trial:"
"""What the line begins with that a child answers by; libraries print too."""

PROGRAM = f"""
import importlib, json, os, sys
name, sys.path[:] = sys.argv[1], sys.argv[2:]
try:
    module = importlib.import_module(name)
    top = sys.modules[name.partition(".")[0]]
    version = module.version() if name.endswith("._kernels") else getattr(top, "__version__", None)
    answer = {{"version": None if version is None else str(version)}}
except BaseException as error:
    lines = str(error).strip().splitlines()
    missing = isinstance(error, ModuleNotFoundError) and error.name == name
    answer = {{"error": type(error).__name__ + (": " + lines[0] if lines else ""), "missing": missing}}
print("\\n{MARK}" + json.dumps(answer), flush=True)
os._exit(0)
"""
"""The child's: modules come from where the parent's come from. What a library does at the end of a process is not tried."""


@dataclass(frozen=True)
class Trial:
    """What came of an import.

    Attributes
    ----------
    version
        What the module says of itself; None where it says nothing.
    error
        Why it failed, in a line; None where it did not.
    missing
        Whether it failed because there is no such module.
    """

    version: str | None = None
    error: str | None = None
    missing: bool = False


def tried(modules: Mapping[str, str]) -> dict[str, Trial]:
    """What comes of importing each of these modules, by the same keys; several at a time."""
    with ThreadPoolExecutor(min(usable_cores(), MAX_AT_ONCE)) as pool:
        return dict(zip(modules, pool.map(try_import, modules.values()), strict=True))


def try_import(module: str, seconds: float = SECONDS) -> Trial:
    """What comes of importing a module in a process of its own: that one may crash, hang or print."""
    words = [sys.executable, "-c", PROGRAM, module, *(place or str(Path.cwd()) for place in sys.path)]
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env={**os.environ, **UNTOLD},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(error=f"its import did not end within {seconds:g} seconds")
    except OSError as error:
        return Trial(error=f"its import cannot be tried: {error.strerror or error}")
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    answers = [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]
    if not answers:
        return Trial(error=f"its import ended the whole process ({_ending(done.returncode)})")
    answer = json.loads(answers[-1])
    reason = answer.get("error")
    short = None if reason is None else textwrap.shorten(reason, MAX_REASON, placeholder=" …")
    return Trial(answer.get("version"), short, answer.get("missing", False))


def _ending(code: int) -> str:
    """How a process ended, in a word: by the name of its signal, where it was one."""
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"
