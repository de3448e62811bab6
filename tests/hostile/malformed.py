"""Malformed command lines and files, drawn by a seed, and what the command makes of each.

The big trial: `PYTHONPATH=tests/support python tests/hostile/malformed.py 2000`, with a seed after it for another one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from commands import MODEL, NEXT, furnish, patients
from oddities import CELLS, FLAGS, NAMES, SCALARS, SOUND, SPACES, VALUES, VENDOR
from tippingpoint.cli import main
from tippingpoint.visible import is_hidden

ALLOWED = (0, 1, 2, 130)
"""Exit codes that a malformed input may have."""

PATIENCE = 20
"""Seconds after which a case counts as one that hangs."""

Rng = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A command line, and the files that were changed for it."""

    words: tuple[str, ...]
    spoiled: dict[str, bytes]


@dataclass(frozen=True)
class Outcome:
    """What became of a case; `fault` in words where that must not be."""

    case: Case
    code: int | None
    complaint: str
    seconds: float
    fault: str


def drawn(rng: Rng) -> Case:
    """A case."""
    words = list(SOUND[rng.integers(len(SOUND))])
    spoiled: dict[str, bytes] = {}
    for _ in range(rng.integers(1, 4)):
        SPOILERS[rng.integers(len(SPOILERS))](rng, words, spoiled)
    return Case(tuple(words), spoiled)


def _pick(rng: Rng, values: Any) -> Any:
    return values[rng.integers(len(values))]


def _replace(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    places = [k for k in range(1, len(words)) if words[k - 1] in VALUES]
    if places:
        k = _pick(rng, places)
        words[k] = _pick(rng, VALUES[words[k - 1]])


def _add(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    option = _pick(rng, list(VALUES))
    words += [option, _pick(rng, VALUES[option])]


def _flag(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    words.insert(int(rng.integers(len(words) + 1)), _pick(rng, FLAGS))


def _drop(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    if words:
        words.pop(int(rng.integers(len(words))))


def _repeat(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    if words:
        k = int(rng.integers(len(words)))
        words[k:k] = words[k : k + 2]


def _csv(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    name = _pick(rng, ("eval.csv", "runs.csv"))
    frame = (patients() if name == "eval.csv" else runs()).astype(object)
    kind = rng.integers(9)
    if kind == 0:
        frame.iloc[int(rng.integers(len(frame))), int(rng.integers(frame.shape[1]))] = _pick(rng, CELLS)
    elif kind == 1:
        frame[frame.columns[int(rng.integers(frame.shape[1]))]] = _pick(rng, CELLS)
    elif kind == 2:
        frame = frame.head(int(rng.integers(3)))
    elif kind == 3:
        frame = frame.rename(columns={_pick(rng, frame.columns): "SPOILED"})
    elif kind == 4:
        frame = frame.drop(columns=_pick(rng, frame.columns))
    text = frame.to_csv(index=False).replace("SPOILED", _pick(rng, NAMES)).encode("utf-8", "surrogatepass")
    if kind == 5:
        text = text.replace(b",", _pick(rng, (b";", b"\t", b"", b",,", b"\0")))
    elif kind == 6:
        text = text[: int(rng.integers(len(text)))]
    elif kind == 7:
        text = _junk(rng)
    elif kind == 8:
        text = text.decode().encode(_pick(rng, ("utf-16", "utf-8-sig", "utf-32")))
    spoiled[name] = text


def _json(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    name = _pick(rng, ("model.json", "next.json"))
    model: Any = dict(MODEL if name == "model.json" else NEXT)
    kind = rng.integers(6)
    if kind == 0:
        model[_pick(rng, list(model))] = _pick(rng, SCALARS)
    elif kind == 1:
        del model[_pick(rng, list(model))]
    elif kind == 2:
        model[_pick(rng, NAMES)] = _pick(rng, SCALARS)
    elif kind == 3:
        model = _pick(rng, SCALARS)
    text = json.dumps(model).encode("utf-8", "backslashreplace")
    if kind == 4:
        text = text[: int(rng.integers(len(text)))]
    elif kind == 5:
        text = _pick(
            rng, (b"[" * 100_000, b'{"coef":' * 20_000, _junk(rng), b"\xef\xbb\xbf" + text, b"nul", b"\0", b"1e999", b'"')
        )
    spoiled[name] = text


def _toml(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    key = _pick(rng, [option.lstrip("-") for option in VALUES])
    value = _pick(
        rng,
        (
            "0",
            "-1",
            "nan",
            "inf",
            "true",
            "[]",
            "{}",
            "[1, 2]",
            "['a', 'b']",
            "{a = 1}",
            "'x'",
            '"a\\u0000b"',
            '"\\u202e"',
            "1979-05-27",
        ),
    )
    text = f'model = "model.json"\ndata = "eval.csv"\ntarget = "y"\nrisk = 0.4\n{key} = {value}\n'
    broken = (
        "[" * 20_000,
        "x = " + "[" * 20_000,
        "x = " + "{a=" * 5_000,
        "risk",
        "= 1",
        "a = 1\na = 2",
        "\ufeffrisk = 1",
        "risk = 1e999999",
        "x = 9" + "9" * 5000,
    )
    deep = ("a" + ".a" * 5_000 + " = 1", "[" + "a." * 3000 + "a]\nrisk = 1")
    kind = rng.integers(4)
    spoiled["run.toml"] = text.encode() if kind < 2 else _pick(rng, (*broken, *deep)).encode() if kind == 2 else _junk(rng)


def _space(rng: Rng, words: list[str], spoiled: dict[str, bytes]) -> None:
    spoiled["space.toml"] = _pick(rng, SPACES).encode()


def _junk(rng: Rng) -> bytes:
    return bytes(rng.integers(0, 256, int(rng.integers(0, 400)), dtype=np.uint8))


SPOILERS: tuple[Callable[[Rng, list[str], dict[str, bytes]], None], ...] = (
    *(_replace, _replace, _replace, _add, _add, _add, _flag, _drop, _repeat, _csv, _csv, _json, _json, _toml, _space),
)


def runs() -> pd.DataFrame:
    """A small table of alternatives."""
    rng = np.random.default_rng(1)
    sample, wording = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
    loss = (rng.random(60) < np.where(wording == 0, 0.15, 0.5)) * 1.0
    return pd.DataFrame(
        {"sample": sample, "loss": loss, "cost": np.where(wording == 0, 0.0, 1.0 + wording), "wording": wording}
    )


def lay_out(place: Path) -> None:
    """Files for the commands, sound ones and odd ones."""
    furnish(place)
    runs().to_csv(place / "runs.csv", index=False)
    (place / "vendor.py").write_text(VENDOR, encoding="utf-8")
    (place / "space.toml").write_text("frozen = ['dose']\n", encoding="utf-8")
    (place / "junk.bin").write_bytes(bytes(range(256)))
    (place / "empty").touch()
    for folder in ("folder", "read"):
        (place / folder).mkdir(exist_ok=True)
    if not (place / "loop").is_symlink():
        (place / "loop").symlink_to("loop")


def _expired(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("it hangs")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise what hangs."""
    before = signal.signal(signal.SIGALRM, _expired)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(case: Case) -> Outcome:
    """Run a case in the current directory, which is laid out."""
    for name in ("eval.csv", "runs.csv", "model.json", "next.json", "run.toml", "space.toml"):
        Path(name).unlink(missing_ok=True)
    lay_out(Path())
    for name, content in case.spoiled.items():
        Path(name).write_bytes(content)
    sys.modules.pop("vendor", None)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code, fault, began = None, "", time.monotonic()
    try:
        with limited(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("default")
            code = main(list(case.words))
    except BaseException as error:  # noqa: BLE001  # whatever comes out is what is looked for
        fault = f"{type(error).__name__} came out of the command: {error}"
    for stream in (out, err):
        stream.flush()
    said, complaint = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
    return Outcome(case, code, complaint, time.monotonic() - began, fault or _judged(case, code, said, complaint))


def _judged(case: Case, code: int | None, said: str, complaint: str) -> str:
    """What is wrong with the end of a command, if anything."""
    lines = [line for line in complaint.splitlines() if not line.startswith(("tippingpoint: warning", "gate:", '{"not"'))]
    lines = [line for line in lines if not line.endswith("as it seems to be written.")]  # of the file, before the error
    printed = code in (0, 1) and case.words[-2:] == ("--json", "-")
    faults = {
        f"exit code {code}": code not in ALLOWED,
        "no sentence of ours": code == 2 and not (lines and lines[-1].startswith("tippingpoint: ")),
        "something that is not seen": any(is_hidden(letter) for letter in complaint.replace("\n", "")),
        "it hangs": "it hangs" in complaint,
        "more than one line": len(lines) > 1,
        "something else than JSON": printed and not said.startswith("{"),
    }
    return "; ".join(fault for fault, there in faults.items() if there)


def trial(count: int, seed: int = 0) -> list[Outcome]:
    """What became of many cases, each in the same folder."""
    home, data = Path.cwd(), os.environ.pop("TIPPINGPOINT_DATA", None)  # nothing is reproduced by mistake
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        path = list(sys.path)
        try:
            return [outcome(drawn(np.random.default_rng((seed, k)))) for k in range(count)]
        finally:
            os.chdir(home)
            sys.path[:] = path
            if data is not None:
                os.environ["TIPPINGPOINT_DATA"] = data


def _report(outcomes: list[Outcome]) -> None:
    codes = {code: sum(each.code == code for each in outcomes) for code in sorted({each.code for each in outcomes}, key=str)}
    failed = [each for each in outcomes if each.fault]
    print(f"tried {len(outcomes)}, survived {len(outcomes) - len(failed)}, failed {len(failed)}; by exit code {codes}")
    print(f"slowest {max(each.seconds for each in outcomes):.1f} s")
    for each in failed:
        told = {name: content[:120] for name, content in each.case.spoiled.items()}
        print(f"\n{each.fault}\n  {[word[:60] for word in each.case.words]}\n  {told}\n  {each.complaint[-400:]!r}")


if __name__ == "__main__":
    _report(trial(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
