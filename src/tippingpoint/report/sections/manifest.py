"""What a report was made from: date, model, data, command, seed, versions and settings, with fingerprints."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict

from tippingpoint.errors import InputError
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.markdown_text import table
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section
from tippingpoint.report.wording import Cells
from tippingpoint.results.origin import Origin, file_fingerprint
from tippingpoint.text import number

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
"""Whose versions may change the last digits of a number."""

CAPTION = "Model, data, settings and versions"

HEAD = ("what", "value")

NO_FINGERPRINT = "not fingerprinted"

EVERYTHING = "every feature, numbers freely: no space was given"
ALTERNATIVES = "each sample to its alternatives in the table"
"""What may move where nothing was said of it; of a table, whose distances are its costs, the alternatives are all there is."""

SHOWN_DIGITS = 12
"""Digits of a fingerprint where it stands beside a name."""


class Command(TypedDict):
    """The call, or the command line, that made the report."""

    kind: str
    text: str


class Fingerprint(TypedDict):
    """SHA-256, where there is one, and in words what it was taken of."""

    fingerprint: str | None
    of: str


class Model(Fingerprint):
    """The model."""

    name: str


class Data(TypedDict):
    """The data."""

    rows: int
    features: int
    fingerprint: str | None


class Made(TypedDict):
    """Everything that a report was made from."""

    date: str
    command: Command
    model: Model
    data: Data
    seed: str
    settings: dict[str, Any]
    space: str
    responses: str
    versions: dict[str, str]


class ManifestPart(TypedDict):
    """What the report was made from."""

    manifest: Made


class Manifest(Section[ManifestPart]):
    """What the report was made from."""

    name = "manifest"
    title = "What this was made from"

    def compute(self, material: Material) -> ManifestPart:
        from tippingpoint import __version__

        result, request, origin = material.result, material.request, material.evidence.origin
        command = request.command
        made: Made = {
            "date": request.date,
            "command": {"kind": "call" if command is None else "command line", "text": command or _call(result, origin)},
            "model": {
                "name": request.model or (origin.model if origin else "not told"),
                **_model_fingerprint(origin, request.model_file),
            },
            "data": {
                "rows": result["samples"],
                "features": len(material.places.before),
                "fingerprint": None if origin is None else origin.data_fingerprint(),
            },
            "seed": _seed(result, origin),
            "settings": {name: result[name] for name in ("risk", "theta1", "theta2", "divergence", "loss", "unit")},
            "space": origin.space if origin else "",
            "responses": result["lower_by"],
            "versions": {
                "tippingpoint": __version__,
                "python": platform.python_version(),
                **{name: metadata.version(name) for name in PACKAGES},
                **({} if origin is None or not origin.package else _version(origin.package)),
            },
        }
        return {"manifest": made}

    def html(self, part: ManifestPart, result: Mapping[str, Any]) -> Sequence[Any]:
        return [html_table(CAPTION, HEAD, _lines(part["manifest"]), left=2)]

    def markdown(self, part: ManifestPart, result: Mapping[str, Any]) -> Sequence[str]:
        return [table(HEAD, _lines(part["manifest"]))]


MANIFEST = Manifest()


def about(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the report is about, at its top: model and data with the beginning of their fingerprints, and the date."""
    made: Made = summary["manifest"]
    model = made["model"]["name"], made["model"]["fingerprint"]
    data = summary["data"] or f"{made['data']['rows']:,} rows", made["data"]["fingerprint"]
    named = [(name, f"{what} ({_beginning(digest)})") for name, (what, digest) in (("Model", model), ("Data", data))]
    return [*named, ("Date", summary["date"])]


def _lines(made: Made) -> Cells:
    """What a report was made from, line by line."""
    settings, model, data = made["settings"], made["model"], made["data"]
    return [
        ["date (UTC)", made["date"]],
        [made["command"]["kind"], made["command"]["text"]],
        ["model", model["name"]],
        [
            "fingerprint of the model",
            model["of"] if model["fingerprint"] is None else f"{model['fingerprint']} (SHA-256 of {model['of']})",
        ],
        ["rows", f"{data['rows']:,}"],
        ["features", f"{data['features']:,}"],
        [
            "fingerprint of the data",
            NO_FINGERPRINT
            if data["fingerprint"] is None
            else f"{data['fingerprint']} (SHA-256 of names, values, target and weights)",
        ],
        ["loss", settings["loss"]],
        ["threshold", number(settings["risk"], 12)],
        ["price of moving θ1", number(settings["theta1"], 12)],
        ["price of reweighting θ2", number(settings["theta2"], 12)],
        ["divergence", settings["divergence"]],
        ["distance in", settings["unit"]],
        ["what may move", made["space"] or (ALTERNATIVES if settings["unit"] == "cost" else EVERYTHING)],
        ["best responses", made["responses"]],
        ["seed", made["seed"]],
        *([name, version] for name, version in made["versions"].items()),
    ]


def _beginning(digest: str | None) -> str:
    return NO_FINGERPRINT if digest is None else f"SHA-256 {digest[:SHOWN_DIGITS]}…"


def _model_fingerprint(origin: Origin | None, file: str | os.PathLike[str] | None) -> Fingerprint:
    """SHA-256 of the file, else of the object in memory, and in words what it was taken of."""
    if file is not None:
        if not Path(file).is_file():
            raise InputError(f"model_file={str(file)!r} is not a file; give the one that the model was read from.")
        return {"fingerprint": file_fingerprint(file), "of": "the file it was read from"}
    if origin is None or origin.model_fingerprint is None:
        return {"fingerprint": None, "of": NO_FINGERPRINT}
    return {"fingerprint": origin.model_fingerprint, "of": "its class and the values it holds in memory"}


def _call(result: Mapping[str, Any], origin: Origin | None) -> str:
    """The call that gives the same result again."""
    question = ", ".join(f"{name}={_number(result[name])}" for name in ("risk", "theta1", "theta2"))
    return f"{'profile' if origin is None else origin.call}.stability({question}, divergence={result['divergence']!r})"


def _number(value: float) -> str:
    return repr(value) if abs(value) < float("inf") else f'float("{value}")'


def _seed(result: Mapping[str, Any], origin: Origin | None) -> str:
    if origin is None:
        return "not told"
    if origin.seed is None:
        return "none: nothing was drawn at random"
    return f"{origin.seed}; the number is proved, whatever was drawn" if result["exact"] else str(origin.seed)


def _version(package: str) -> dict[str, str]:
    """The version of the package that the model comes from, where it is one that was installed."""
    try:
        return {} if package == "tippingpoint" else {package: metadata.version(package)}
    except (metadata.PackageNotFoundError, ValueError):
        return {}
