"""What formats of model files have in common: a file looked into, what a loader may be given, what comes out."""

from __future__ import annotations

import io
import re
import stat
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tippingpoint.cached import cached_property
from tippingpoint.errors import InputError, TippingPointError, UnsupportedError, listed

HEAD = 4096
"""Bytes at the start of a file by which formats are told apart."""

RISK = (
    "loading it runs whatever code its author put into it, with your rights; do that only for files that you or someone"
    " you trust wrote"
)
"""What trusting a file risks."""

MAX_FILE_BYTES = 2 * 2**30
"""Bytes of the largest file that is read as a model."""

MAX_REASON = 200
"""Letters of another library's error that are passed on; some print a stack."""

ZIP = b"PK\x03\x04"
"""How a zip archive begins."""

OTHERS = {
    b"\x89HDF": "an HDF5 file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a gzip archive",
    b"\x93NUMPY": "a NumPy array",
    b"%PDF": "a PDF",
    b"\x7fELF": "a program",
}
"""Beginnings of files that people mistake for models, and what they are."""


@dataclass(frozen=True)
class Loading:
    """How to load a model.

    Attributes
    ----------
    classes
        Labels in the order of the model's outputs, where the file numbers them or does not store them.
    state
        File with the weights of the module that a factory builds.
    trust
        Whether whoever wrote the file is trusted, so that code of its own may run as it is loaded; or the types that a skops
        file may hold beyond those that skops knows to be harmless.
    """

    classes: Sequence[Any] | None = None
    state: str | None = None
    trust: bool | Sequence[str] = False

    @property
    def given(self) -> list[str]:
        """The names of what was given."""
        return [name for name in ("classes", "state", "trust") if getattr(self, name)]

    def check_trust(self, path: object, kind: str) -> None:
        """Refuse what can run code unless its author is trusted."""
        if isinstance(self.trust, bool):
            if not self.trust:
                raise InputError(f"{path} is {kind}: {RISK}; --trust (trust=True in Python) does so.")
        else:
            raise InputError(
                f"trust={listed(self.trust)} names types, as skops files have them; {path} is {kind}, which is trusted as a"
                " whole or not at all: --trust (trust=True in Python)."
            )


@dataclass(frozen=True)
class Stored:
    """A model out of a file.

    Attributes
    ----------
    model
        What the front door takes.
    features
        The columns that it takes, in their order, where the file names them.
    search
        Options that go with it: the labels of a module, which holds none.
    spaces_lost
        Whether spaces in the names of columns are underscores there, as LightGBM keeps them.
    """

    model: Any
    features: tuple[str, ...] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    spaces_lost: bool = False


class Content:
    """A file, looked into but not loaded.

    It is read once: what was looked into is what is loaded, whatever becomes of the file meanwhile.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        try:
            kind = self.path.stat()
        except ValueError as error:
            raise InputError(f"{str(path)!r} is no path ({error}); give a model file, or module:factory.") from None
        if stat.S_ISDIR(kind.st_mode):
            raise InputError(f"{self.path} is a directory; give a model file, or module:factory.")
        if not stat.S_ISREG(kind.st_mode):
            raise InputError(f"{self.path} is a device or a pipe; give a model file, or module:factory.")
        if kind.st_size > MAX_FILE_BYTES:
            raise InputError(
                f"{self.path} holds {kind.st_size:,} bytes, more than the {MAX_FILE_BYTES:,} that are read of a model; give it"
                " as module:factory."
            )
        with self.path.open("rb") as file:
            self.head: bytes = file.read(HEAD)

    @cached_property
    def data(self) -> bytes:
        """All of it."""
        return self.path.read_bytes()

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Names of what a zip archive holds; nothing where it is none, or is cut off."""
        if not self.head.startswith(ZIP):
            return ()
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                return tuple(archive.namelist())
        except Exception:  # noqa: BLE001  # a damaged directory raises many kinds
            return ()

    def holds(self, name: str) -> bool:
        """Whether a zip archive holds this, at its top or in one directory."""
        return any(member == name or member.partition("/")[2] == name for member in self.members)

    @property
    def looks(self) -> str:
        """What it is, where it is no model that is served."""
        if not self.head:
            return "nothing"
        if self.head.startswith(ZIP):
            if not self.members:
                return "a damaged or cut-off zip archive"
            return "TorchScript" if self.holds("constants.pkl") else "a zip archive of something else"
        for begins, kind in OTHERS.items():
            if self.head.startswith(begins):
                return kind
        try:
            self.head.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start < len(self.head) - 3:  # the last letter may be cut in two
                return "bytes of no kind that is known"
        return "bytes of no kind that is known" if b"\x00" in self.head else "some other text"


@dataclass(frozen=True)
class Format:
    """A format of model files.

    Attributes
    ----------
    name
        What such a file is called in a sentence.
    suffixes
        Endings that promise it.
    takes
        What of `Loading` has an effect on it.
    holds
        Whether a file is one, by its content.
    load
        The model in it.
    """

    name: str
    suffixes: tuple[str, ...]
    takes: tuple[str, ...]
    holds: Callable[[Content], bool]
    load: Callable[[Content, Loading], Stored]


def library(name: str, extra: str, path: object) -> Any:
    """A library that a format needs, imported."""
    try:
        return import_module(name)
    except ImportError:
        top = name.partition(".")[0]
        raise InputError(f"{path} needs {top}, which is not installed; pip install 'tippingpoint[{extra}]'.") from None


def check_version(module: Any, oldest: tuple[int, int], subject: object) -> None:
    """Refuse a library of a version that a crafted file can make run code."""
    found = tuple(int(part) for part in re.findall(r"\d+", module.__version__)[:2])
    if found < oldest:
        name, safe = module.__name__, ".".join(map(str, oldest))
        raise UnsupportedError(
            f"{subject}: {name} {module.__version__} can be made to run code by a crafted file; pip install '{name}>={safe}'."
        )


@contextmanager
def reading(path: object, kind: str) -> Iterator[None]:
    """Another library's error, whatever it is, as a sentence about the file."""
    try:
        yield
    except (TippingPointError, OSError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # a sys.exit of code that the file brings too
        raise InputError(
            f"{path} cannot be read as {kind} ({short_reason(error)}); it is damaged, cut off, or of another version: save it"
            " again."
        ) from error


def short_reason(error: BaseException) -> str:
    """The first line of another library's error, and its type where that says more."""
    lines = str(error).strip().splitlines()
    first = textwrap.shorten(lines[0], MAX_REASON, placeholder=" …").rstrip(".:; ") if lines else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
