"""What the library says of itself, as parts of pages: what is exact, every command with its options, the keys of a TOML file.

None of it is written down a second time, so none of it can be out of date.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tippingpoint.cli.config import COMMAND_LINE_ONLY
from tippingpoint.cli.parsing import Parser
from tippingpoint.cli.running import command_line
from tippingpoint.core.divergences import DIVERGENCES
from tippingpoint.families.__main__ import declared
from tippingpoint.families.registry import FAMILIES
from tippingpoint.losses import LOSSES
from tippingpoint.results.base import Result
from tippingpoint.schemas import NAMES as SCHEMAS
from tippingpoint.schemas import schema_text


class Generated(SphinxDirective):
    """A part of a page that is Markdown from somewhere else."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(self.markdown())

    def markdown(self) -> str:
        raise NotImplementedError


class Capabilities(Generated):
    """`{capabilities}`: what is exact for whom, as families declare it."""

    def markdown(self) -> str:
        return declared()


class CommandOptions(Generated):
    """`{command} evaluate`: how a command is called, its options in groups, and what it says below them."""

    required_arguments: ClassVar[int] = 1

    def markdown(self) -> str:
        parser = command_line()[1][self.arguments[0]]
        parts = [f"```text\n{_usage(parser)}\n```"]
        positional, options, *groups = parser._action_groups  # noqa: SLF001  # argparse has no other list of them
        for group in (positional, *groups, options):
            listed = group._group_actions  # noqa: SLF001  # as above
            rows = [_row(action) for action in listed if action.help != argparse.SUPPRESS]
            if rows:
                title = {"options": "others", "positional arguments": "arguments"}.get(
                    str(group.title), str(group.title)
                )
                parts.append(
                    f"**{title.capitalize()}**\n\n| option | |\n|---|---|\n" + "\n".join(rows)
                )
        if parser.epilog:
            parts.append(f"```text\n{parser.epilog.strip()}\n```")
        return "\n\n".join(parts)


class ConfigKeys(Generated):
    """`{config-keys}`: every key of a TOML file, and the commands that have it."""

    def markdown(self) -> str:
        keys: dict[str, tuple[argparse.Action, list[str]]] = {}
        for name, parser in command_line()[1].items():
            if "--config" in parser.options():
                for option, action in parser.options().items():
                    if option not in COMMAND_LINE_ONLY:
                        keys.setdefault(option.lstrip("-"), (action, []))[1].append(name)
        rows = [
            f"| `{key}` | {_toml_value(action)} | {_escaped(action.help or '')} | {', '.join(commands)} |"
            for key, (action, commands) in keys.items()
        ]
        return "\n".join(["| key | value | meaning | commands |", "|---|---|---|---|", *rows])


class Registry(Generated):
    """`{registered} losses` or `divergences`: the names that the library knows, each with the first line of its docstring."""

    required_arguments: ClassVar[int] = 1

    def markdown(self) -> str:
        known: dict[str, dict[str, Any]] = {"losses": {**LOSSES}, "divergences": {**DIVERGENCES}}
        rows = [
            f"| `{name}` | {_escaped(_first_line(made))} |"
            for name, made in known[self.arguments[0]].items()
        ]
        return "\n".join(["| name | |", "|---|---|", *rows])


class Schema(Generated):
    """`{schema} result`: the parts of a JSON Schema of ours, each as a table of its keys."""

    required_arguments: ClassVar[int] = 1

    def markdown(self) -> str:
        schema = json.loads(schema_text(self.arguments[0]))
        parts = {self.arguments[0]: schema, **schema["$defs"]}
        return "\n\n".join(
            _schema_part(name, part, parts)
            for name, part in parts.items()
            if part.get("properties")
        )


class FamilyOptions(Generated):
    """`{family-options}`: the options of every family, for Python and, where there is one, for the command line."""

    def markdown(self) -> str:
        rows = [
            f"| `{name}=` | `--{name.replace('_', '-')}` | {family.name} | {_escaped(option.help)} |"
            for family in FAMILIES
            for name, option in family.options.offered().items()
        ]
        return "\n".join(
            ["| Python | command line | models | meaning |", "|---|---|---|---|", *rows]
        )


def _schema_part(name: str, part: dict[str, Any], parts: dict[str, Any]) -> str:
    shared = [each["$ref"].rpartition("/")[2] for each in part.get("allOf", ())]
    also = (
        f" Beside these keys it has those of *{parts[shared[0]]['title'].lower()}*."
        if shared
        else ""
    )
    rows = [
        f"| `{key}` | {_json_type(value, parts)} | {_escaped(value.get('description', ''))} |"
        for key, value in part["properties"].items()
    ]
    head = f"**{part.get('title', name)}.** {_escaped(part.get('description', ''))}{also}"
    return "\n".join([head, "", "| key | value | meaning |", "|---|---|---|", *rows])


def _json_type(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in value:
        return str(parts[value["$ref"].rpartition("/")[2]]["title"]).lower()
    if "const" in value or "enum" in value:
        return " or ".join(
            f"`{json.dumps(each)}`" for each in value.get("enum", [value.get("const")])
        )
    if "anyOf" in value or "oneOf" in value:
        return " or ".join(_json_type(each, parts) for each in value.get("anyOf") or value["oneOf"])
    kinds = (
        [value["type"]] if isinstance(value.get("type"), str) else value.get("type", ["anything"])
    )
    if kinds == ["array"]:
        return f"list of {_json_type(value['items'], parts)}" if value.get("items") else "list"
    if kinds == ["object"] and isinstance(value.get("additionalProperties"), dict):
        return f"by name: {_json_type(value['additionalProperties'], parts)}"
    words = {
        "string": "text",
        "integer": "whole number",
        "boolean": "true or false",
        "object": "keys and values",
        "array": "list",
    }
    return " or ".join(words.get(kind, kind) for kind in kinds)


def publish_schemas(app: Sphinx, error: Exception | None) -> None:
    """The schemas as files of the site."""
    if error is None and app.builder.format == "html":
        place = Path(app.outdir) / "schemas"
        place.mkdir(exist_ok=True)
        for name in SCHEMAS:
            (place / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


def _usage(parser: Parser) -> str:
    return parser.format_usage().removeprefix("usage: ").strip()


def _row(action: argparse.Action) -> str:
    value = action.metavar or (
        f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    )
    names = (
        ", ".join(f"`{name}`" for name in action.option_strings)
        or f"`{action.metavar or action.dest}`"
    )
    shown = f"{names} `{value}`" if value and action.option_strings and action.nargs != 0 else names
    wanted = " **Required.**" if action.required and action.option_strings else ""
    return f"| {shown} | {_escaped((action.help or '') % vars(action))}{wanted} |"


def _toml_value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return "true or false"
    if action.choices:
        return " or ".join(f'`"{each}"`' for each in action.choices)
    several = isinstance(action, argparse._AppendAction)  # noqa: SLF001  # what action="append" makes
    if action.nargs == "+":
        return "text, or a list"
    kind = getattr(action.type, "__name__", "text")
    word = {
        "number": "number",
        "numbers": "list of numbers",
        "count": "whole number",
        "seed": "whole number",
        "words": "list",
    }
    return "text, a list, or a table by name" if several else word.get(kind, "text")


def _first_line(made: Any) -> str:
    return (inspect.getdoc(made) or "").partition("\n\n")[0].replace("\n", " ")


MARKED = re.compile(r"(:math:`[^`]*`|`[^`]*`)")
"""Formulas and code of a docstring."""


def _escaped(text: str) -> str:
    """Text for a cell of a table: what looks like an option is code, and formulas and code stay what they are."""
    return "".join(_cell(part) for part in MARKED.split(" ".join(text.split())))


def _cell(part: str) -> str:
    if part.startswith(":math:"):
        return f"${part.removeprefix(':math:').strip('`')}$"
    if part.startswith("`"):
        return part.replace("|", "\\|")
    plain = re.sub(r"([|*_<>\[\]])", r"\\\1", part)
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", lambda found: f"`{found[1]}`", plain)


def without_fields(
    app: Sphinx,
    what: str,
    name: str,
    documented: Any,
    options: Any,
    signature: str | None,
    returned: str | None,
) -> tuple[str, None] | None:
    """Nobody makes an answer by hand: its fields are listed below its name, not in it."""
    return ("", None) if inspect.isclass(documented) and issubclass(documented, Result) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", without_fields)
    app.add_directive("capabilities", Capabilities)
    app.add_directive("command", CommandOptions)
    app.add_directive("config-keys", ConfigKeys)
    app.add_directive("registered", Registry)
    app.connect("build-finished", publish_schemas)
    app.add_directive("schema", Schema)
    app.add_directive("family-options", FamilyOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
