"""`tippingpoint completion`: a script that completes commands and options, made from the commands themselves."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.cli.parsing import Parser, command
from tippingpoint.cli.streams import print_answer

EPILOG = """examples:
  eval "$(tippingpoint completion bash)"                                        # in ~/.bashrc
  eval "$(tippingpoint completion zsh)"                                         # in ~/.zshrc, after compinit
  tippingpoint completion fish > ~/.config/fish/completions/tippingpoint.fish
"""

GENERAL = ("--help", "--version", "--debug")
"""Options in front of a command."""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "completion", "a script that completes commands and options in your shell", EPILOG)
    parser.add_argument("shell", choices=tuple(SHELLS), help="which shell")
    parser.set_defaults(run=lambda options: print_answer(options, SHELLS[options.shell](commands.choices).rstrip("\n")))


def _bash(parsers: Mapping[str, Parser]) -> str:
    """For bash: options after a dash, choices where there are any, files elsewhere."""
    choices = [
        f'        "{name} {option}") words="{_joined(action)}" ;;'
        for name, parser in parsers.items()
        for option, action in parser.options().items()
        if action.choices
    ]
    options = [f'            {name}) words="{" ".join(parser.options())}" ;;' for name, parser in parsers.items()]
    places = [
        f'            {name}) words="{_joined(action)}" ;;'
        for name, parser in parsers.items()
        for action in parser.arguments()
        if action.choices
    ]
    return "\n".join(
        [
            "_tippingpoint() {",
            '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" name="" words="" word',
            '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            f'        case "$word" in {"|".join(parsers)}) name="$word"; break ;; esac',
            "    done",
            '    case "$name $prev" in',
            *choices,
            "    esac",
            '    if [[ -z "$words" && -z "$name" ]]; then',
            f'        words="{" ".join([*parsers, *GENERAL])}"',
            '    elif [[ -z "$words" && "$cur" == -* ]]; then',
            '        case "$name" in',
            *options,
            "        esac",
            '    elif [[ -z "$words" && "$prev" != -* ]]; then',
            '        case "$name" in',
            *places,
            "        esac",
            "    fi",
            '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "}",
            "complete -o default -F _tippingpoint tippingpoint",
            "",
        ]
    )


def _zsh(parsers: Mapping[str, Parser]) -> str:
    """For zsh: the same, with what each means."""
    lines = ["#compdef tippingpoint", "_tippingpoint() {", "    local -a names=("]
    lines += [f"        '{name}:{_plain(parser.description)}'" for name, parser in parsers.items()]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then",
        f"        _describe command names; compadd -- {' '.join(GENERAL)}; return",
        "    fi",
        "    shift words; (( CURRENT-- ))",
        '    case "$words[1]" in',
    ]
    for name, parser in parsers.items():
        specs = [f"'{'*' if _repeats(a) else ''}{o}[{_plain(a.help)}]{_value(a)}'" for o, a in parser.options().items()]
        specs += [f"'*:{a.metavar or a.dest}:{_values(a)}'" for a in parser.arguments()]
        lines += [f"        {name}) _arguments \\", *(f"            {spec} \\" for spec in specs), "            ;;"]
    return "\n".join([*lines, "    esac", "}", "compdef _tippingpoint tippingpoint", ""])


def _fish(parsers: Mapping[str, Parser]) -> str:
    """For fish."""
    lines = []
    for name, parser in parsers.items():
        lines.append(f"complete -c tippingpoint -n __fish_use_subcommand -f -a {name} -d '{_plain(parser.description)}'")
        seen = f"complete -c tippingpoint -n '__fish_seen_subcommand_from {name}'"
        for option, action in parser.options().items():
            takes = "" if action.nargs == 0 else f" -x -a '{_joined(action)}'" if action.choices else " -r"
            lines.append(f"{seen} -l {option.lstrip('-')}{takes} -d '{_plain(action.help)}'")
        lines += [f"{seen} -f -a '{_joined(action)}'" for action in parser.arguments() if action.choices]
    return "\n".join([*lines, ""])


def _joined(action: argparse.Action) -> str:
    return " ".join(map(str, action.choices or ()))


def _repeats(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction)  # noqa: SLF001  # what action="append" makes


def _value(action: argparse.Action) -> str:
    """What comes after an option, for zsh."""
    return "" if action.nargs == 0 else f":{_plain(str(action.metavar or action.dest))}:{_values(action)}"


def _values(action: argparse.Action) -> str:
    return f"({_joined(action)})" if action.choices else "_files"


def _plain(text: str | None) -> str:
    """A description without what a shell would read as something else."""
    return "".join(letter for letter in text or "" if letter not in "'[]:\\`$\"")


SHELLS: Mapping[str, Callable[[Mapping[str, Parser]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""The registry: a new shell is a function, and a line here."""
