"""Completion in a shell: asked in a real bash, and of the same words for the others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from commands import Command

COMMANDS = [
    "demo",
    "evaluate",
    "worst-risk",
    "features",
    "compare",
    "curve",
    "drift",
    "runs",
    "report",
    "reproduce",
    "completion",
    "doctor",
    "schema",
]


@pytest.fixture
def script(place: Path, cli: Command) -> Path:
    code, out, err = cli("completion", "bash")
    assert (code, err) == (0, "")
    (place / "complete.bash").write_text(out, encoding="utf-8")
    return place / "complete.bash"


def replies(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    state = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}"
    line = f"source {script}; {state}; _tippingpoint; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)  # noqa: S607
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("tippingpoint", ""), {*COMMANDS, "--help", "--version", "--debug"}),
        (("tippingpoint", "co"), {"compare", "completion"}),
        (("tippingpoint", "--debug", "cu"), {"curve"}),
        (("tippingpoint", "evaluate", "--the"), {"--theta1", "--theta2"}),
        (("tippingpoint", "evaluate", "--risk", "0.4", "--scale", ""), {"raw", "std", "mad", "iqr"}),
        (("tippingpoint", "compare", "--gate"), {"--gate-model"}),
        (("tippingpoint", "curve", "--gate"), set()),
        (("tippingpoint", "completion", ""), {"bash", "zsh", "fish"}),
        (("tippingpoint", "evaluate", "--data", ""), set()),
        (("tippingpoint", "reproduce", "--red"), {"--redraw"}),
    ],
)
def test_bash_offers_commands_options_and_choices(words: tuple[str, ...], offered: set[str], script: Path) -> None:
    assert set(replies(script, *words)) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_every_command_and_option(shell: str, cli: Command) -> None:
    code, out, _ = cli("completion", shell)
    assert code == 0
    for command in COMMANDS:
        assert command in out
    for option in ("theta1", "trust-pickle", "gate-model", "mixes", "redraw"):
        assert f"--{option}[" in out or f"-l {option} " in out
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n"], input=out, text=True, check=True)
