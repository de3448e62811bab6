"""Kills, interrupts, full disks, closed streams: files are whole or as they were, and what is said is one line."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from commands import COMMAND, Command, interrupted, run
from tippingpoint import writing
from tippingpoint.errors import OutputError
from tippingpoint.writing import write_file, write_files

ASKED = ("evaluate", "--config", "run.toml")

VENDOR = """
import os

def loud():
    print("at building")
    os.write(1, b"from compiled code\\n")
    os.system("echo from a child")
    def score(rows):
        print('{"not": "the answer"}')
        return rows['age'] - 0.5 * rows['dose']
    return score

def leaves():
    raise SystemExit(0)

def slow():
    import time
    print("begun", flush=True)
    time.sleep(60)
"""

WRITER = """
import sys
from pathlib import Path
import pandas as pd
import tippingpoint as tp
from tippingpoint.report import RENDERINGS
runs = pd.DataFrame({"sample": [0, 0, 1, 1], "loss": [0.0, 1.0, 0.0, 1.0], "cost": [0.0, 1.0, 0.0, 2.0]})
result, suffix = tp.profile_table(runs).stability(0.4), Path(sys.argv[1]).suffix
text = " " * 20_000_000 + RENDERINGS[suffix](result.report_summary())
type(result).report_summary, RENDERINGS[suffix] = lambda self, **told: {}, lambda told: text
result.report(sys.argv[1])
print("ready", flush=True)
while True:
    result.report(sys.argv[1])
"""
"""Writes a report over and over; it is long, so that a kill hits the writing and not the rendering."""

OF_TABLE = ("evaluate", "--model", "vendor:loud", "--data", "few.csv", "--target", "y", "--risk", "0.4", "--calls", "400")


@pytest.fixture
def place(place: Path) -> Path:
    (place / "vendor.py").write_text(VENDOR, encoding="utf-8")
    return place


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def litter(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.startswith(writing.PREFIX)]


def test_a_kill_leaves_a_whole_report_and_the_next_run_tidies_up(tmp_path: Path) -> None:
    target, dice = tmp_path / "report.html", np.random.default_rng(0)
    for _ in range(int(os.environ.get("TIPPINGPOINT_KILLS", "10"))):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(dice.uniform(0.0, 0.2))
        child.kill()
        child.communicate()
        assert target.read_text(encoding="utf-8").endswith("</html>\n")
    write_file(target, "next")
    assert names(tmp_path) == [target.name]


def test_a_report_that_finds_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("old", encoding="utf-8")
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n{WRITER}"
    done = subprocess.run([sys.executable, "-c", limited, str(target)], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        "report.html cannot be written: File too large; make room, or write elsewhere."
    )
    assert target.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["report.html"]


def test_dead_files_are_swept_and_those_of_a_living_run_are_not(tmp_path: Path) -> None:
    dead, alive = (tmp_path / f"{writing.PREFIX}{name}{writing.SUFFIX}" for name in ("dead", "alive"))
    dead.touch()
    handle = os.open(alive, os.O_CREAT | os.O_RDWR)
    try:
        assert writing._lock(handle)
        write_file(tmp_path / "a", "x")
        assert litter(tmp_path) == [alive.name]
    finally:
        os.close(handle)
    write_file(tmp_path / "a", "y")
    assert litter(tmp_path) == []


def test_where_nothing_can_be_locked_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "fcntl", None)
    old, young = (tmp_path / f"{writing.PREFIX}{name}{writing.SUFFIX}" for name in ("old", "young"))
    old.touch()
    young.touch()
    os.utime(old, (0, 0))
    write_file(tmp_path / "a", "x")
    assert litter(tmp_path) == [young.name]
    assert (tmp_path / "a").read_text() == "x"


def test_writers_of_one_file_all_succeed_with_one_whole_file(tmp_path: Path) -> None:
    target, contents, failed = tmp_path / "shared", [str(k) * 200_000 for k in range(4)], []

    def work(content: str) -> None:
        for _ in range(25):
            try:
                write_file(target, content)
            except OSError as error:
                failed.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if target.exists():
            assert target.read_text() in contents
    assert failed == []
    assert names(tmp_path) == ["shared"]


def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 250 + ".json")
    write_file(target, "x")
    assert target.read_text() == "x"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_that_was_there_is_kept(mode: int, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.touch()
    target.chmod(mode)
    write_file(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_new_file_is_as_any_other_programs(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "report.md", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "report.md").stat().st_mode) == 0o640


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.md"
    link.symlink_to("there/real.md")
    for text in ("first", "second"):
        write_file(link, text)
        assert link.is_symlink()
        assert (tmp_path / "there" / "real.md").read_text() == text


@pytest.mark.parametrize("fails", ["write", "fsync", "replace"])
def test_what_fails_on_the_way_leaves_all_as_it_was(fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "b").write_text("old")
    monkeypatch.setattr(Path if fails == "replace" else os, fails, full)
    with pytest.raises(OutputError, match=r"a cannot be written: No space left on device; make room, or write elsewhere\."):
        write_files({tmp_path / "a": "new", tmp_path / "b": "new"})
    monkeypatch.undo()
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "old"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "is not a file"),
        ("no/such", "No such file"),
        ("n" * 300, "File name too long"),
        ("a\0b", "NUL"),
        ("loop", "link"),
    ],
)
def test_where_nothing_can_be_written_is_a_sentence(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(tp.TippingPointError, match=said):
        write_file(tmp_path / name, "x")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)], capture_output=True, check=False)  # noqa: S607
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)  # noqa: S607


def test_a_full_disk_leaves_the_old_report_and_no_other(small_disk: Path, place: Path) -> None:
    (small_disk / "page.html").write_text("old", encoding="utf-8")
    done = run(*ASKED, "--report", str(small_disk / "page.html"), "--json", str(small_disk / "out.json"), cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("page.html cannot be written: No space left on device; make room, or write elsewhere.\n")
    assert names(small_disk) == ["page.html"]
    assert (small_disk / "page.html").read_text(encoding="utf-8") == "old"


def test_a_limit_of_the_size_of_files_is_a_sentence(place: Path) -> None:
    done = subprocess.run(
        [COMMAND, *ASKED, "--report", "page.html"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tippingpoint: page.html cannot be written: File too large; make room, or write elsewhere.\n"
    assert not (place / "page.html").exists()
    assert litter(place) == []


@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        ("> /dev/full", 2, "the answer cannot be printed: No space left on device"),
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("--risk x 2>/dev/full", 2, ""),
        ("--risk x 2>&-", 2, ""),
        ("<&- >&- 2>&-", 0, ""),
        ("--json /dev/full", 2, "is not a file"),
    ],
)
def test_streams_that_are_full_or_closed(redirected: str, code: int, said: str, place: Path) -> None:
    line = f"unset PYTHONUNBUFFERED; {COMMAND} {' '.join(ASKED)} {redirected}"
    done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False)  # noqa: S607
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == (1 if said else 0)


def test_help_that_finds_no_room_is_a_sentence(place: Path) -> None:
    line = f"unset PYTHONUNBUFFERED; {COMMAND} --help > /dev/full"
    done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False)  # noqa: S607
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_model_that_prints_spoils_no_answer(place: Path, cli: Command) -> None:
    done = run(*OF_TABLE, "--output", "score", "--json", "-", cwd=place)
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema"] == "tippingpoint.stability/1"
    for printed in ("at building", "from compiled code", "from a child", '{"not"'):
        assert printed in done.stderr
    assert run(*OF_TABLE, "--output", "score", "--quiet", cwd=place).stdout == ""
    code, out, err = cli(*OF_TABLE, "--output", "score", "--json", "-")
    assert (code, out) == (0, done.stdout)
    assert "at building" in err


def test_a_model_cannot_end_the_command_as_if_all_were_well(cli: Command) -> None:
    code, out, err = cli(*OF_TABLE, "--fail-below", "9", "--model", "vendor:leaves", "--model", "vendor:leaves")
    assert (code, out) == (2, "")
    code, out, err = cli(*(word.replace("loud", "leaves") for word in OF_TABLE))
    assert (code, out) == (2, "")
    assert "it ends the program, by sys.exit(0)" in err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            MemoryError("Unable to allocate 7 GiB"),
            "there is not enough memory for this (Unable to allocate 7 GiB); give fewer rows",
        ),
        (MemoryError(), "there is not enough memory for this; give fewer rows"),
        (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error; check the files and the disk."),
    ],
)
def test_a_machine_that_is_not_up_to_it_is_a_sentence_and_code_2(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, cli: Command
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("tippingpoint.cli.evaluate.profile", broken)
    code, out, err = cli(*ASKED)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('data = "a\\u0000b"', "holds the character NUL"),
        ("x = " + "[" * 20_000, "nested too deeply"),
        ('report = "a\\u0000b.html"', "holds the character NUL"),
    ],
)
def test_a_configuration_that_no_machine_can_follow_is_a_sentence(text: str, said: str, place: Path, cli: Command) -> None:
    (place / "odd.toml").write_text(text, encoding="utf-8")
    code, out, err = cli("evaluate", "--config", "odd.toml", "--model", "model.json", "--target", "y", "--risk", "0.4")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", ""), "has no column ''"),
        (("--weight", ""), "has no column ''"),
        (("--config", "a\0b"), "holds the character NUL"),
        (("--sensitive", "loop"), "loop cannot be written"),
        (("--config", "digits.toml"), "digits.toml is not TOML"),
    ],
)
def test_what_malformed_inputs_found_once_is_a_sentence(words: tuple[str, ...], said: str, place: Path, cli: Command) -> None:
    (place / "loop").symlink_to("loop")
    (place / "digits.toml").write_text(f"risk = {'9' * 5000}", encoding="utf-8")
    code, out, err = cli(*ASKED, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize("module", ["tippingpoint.cli", "numpy", "scipy", "tippingpoint.cli.parsing", "pandas"])
def test_an_interrupt_while_modules_are_imported_is_quiet(module: str, place: Path) -> None:
    words = [sys.executable, "-X", "importtime", "-m", "tippingpoint", *ASKED]
    code, _, err = interrupted(*words, cwd=place, ready=lambda line: line.split("|")[-1].strip() == module, wait=0.01)
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (code, told) in ((130, ["tippingpoint: interrupted."]), (0, []))


@pytest.mark.parametrize("wait", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_while_a_command_works_is_quiet(wait: float, times: int, place: Path) -> None:
    words = [str(COMMAND), *(word.replace("loud", "slow") for word in OF_TABLE)]
    ended = interrupted(*words, cwd=place, ready=lambda line: "begun" in line, wait=wait, times=times)
    assert (ended.code, ended.err) == (130, "tippingpoint: interrupted.\n")


def test_a_second_interrupt_ends_what_will_not_hear_the_first(place: Path) -> None:
    (place / "vendor.py").write_text(
        "def deaf():\n    import time\n    print('begun', flush=True)\n    while True:\n"
        "        try:\n            time.sleep(60)\n        except KeyboardInterrupt:\n            pass\n",
        encoding="utf-8",
    )
    words = [str(COMMAND), *(word.replace("loud", "deaf") for word in OF_TABLE)]
    ended = interrupted(*words, cwd=place, ready=lambda line: "begun" in line, wait=0.05, times=2)
    assert (ended.code, ended.err) == (130, "tippingpoint: interrupted.\n")


def test_a_background_job_that_ignores_interrupts_goes_on_ignoring_them(place: Path) -> None:
    line = f"trap '' INT; {COMMAND} {' '.join(ASKED)} --quiet & sleep 0.4; kill -INT $!; wait $!"
    done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True, check=False)  # noqa: S607
    assert (done.returncode, done.stderr) == (0, "")
