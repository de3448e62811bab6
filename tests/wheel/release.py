"""A release, made and tried: `make release`. What is good ends in `dist/`, with its checksums; nothing is uploaded.

1. Everything is committed, and version, changelog and citation say the same.
2. Sdist and wheel are built twice, from the commit, in folders of different names: the bytes are the same.
3. Metadata and contents are what they must be, and name nothing of this machine.
4. The wheel is installed into fresh environments: without extras, with each of them, and with all, where the README runs.

`--only-build` ends after the third, for those who change how it is built.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

from extras import extras, try_all
from wheels import ROOT, build, can_compile, check_contents

DIST = ROOT / "dist"
SUMS = "SHA256SUMS"
SITES = ("one", "another-and-a-longer-name")
"""Folders that a release is built in."""


class NotReadyError(Exception):
    """Why nothing is released."""


def git(*words: str) -> bytes:
    """What git says of the repository."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S607  # whichever is there


def check_committed() -> None:
    """Nothing is built that is not in the commit."""
    changed = git("status", "--porcelain").decode()
    if changed:
        raise NotReadyError(f"these files are not as committed; commit them, or put them away:\n{changed.rstrip()}")


def version_of(text: str) -> str:
    """The version in the text of `__init__.py`."""
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise NotReadyError("src/tippingpoint/__init__.py names no __version__.")
    return found[1]


def check_versions(package: str, changelog: str, citation: str) -> str:
    """The version, if all three texts agree on it, and the changelog has nothing that is not in it yet."""
    version = version_of(package)
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    dated = [heading for heading in headings if heading != "[Unreleased]"]
    found = re.fullmatch(r"\[([^\]]+)\] - (\d{4}-\d{2}-\d{2})", dated[0] if dated else "")
    if found is None or found[1] != version:
        raise NotReadyError(f"the version is {version}, and the latest of CHANGELOG.md is {dated[:1]}.")
    try:
        dt.date.fromisoformat(found[2])
    except ValueError:
        raise NotReadyError(f"CHANGELOG.md dates {version} to {found[2]}, which is no day.") from None
    if headings[:1] != ["[Unreleased]"]:
        raise NotReadyError("CHANGELOG.md has no heading [Unreleased] above all others.")
    waiting = changelog.partition("## [Unreleased]")[2].partition("\n## ")[0].strip()
    if waiting:
        raise NotReadyError(f"CHANGELOG.md has changes that are not in {version}: {waiting.splitlines()[0]}")
    cited = re.search(r"^version: (.*)$", citation, re.MULTILINE)
    if cited is None or cited[1] != version:
        raise NotReadyError(f"the version is {version}, and CITATION.cff cites {cited[1] if cited else 'none'}.")
    return version


def check_tag(version: str) -> None:
    """Where the version has a tag, it is this commit's."""
    tag = f"v{version}"
    if tag in git("tag", "--list").decode().split() and git("rev-list", "-n1", tag) != git("rev-list", "-n1", "HEAD"):
        raise NotReadyError(f"the tag {tag} is on another commit; a version is released once.")


def build_at(site: Path, clock: str) -> tuple[Path, Path]:
    """Sdist and wheel of the commit, built in this folder."""
    tree = site / "tree"
    tree.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as archive:
        archive.extractall(tree, filter="data")
    return build(tree, site / "dist", SOURCE_DATE_EPOCH=clock)


def check_same(one: Path, other: Path) -> None:
    """Two files are the same; if not, in which of the files inside they differ."""
    if one.read_bytes() == other.read_bytes():
        print(f"  {one.name}: the same bytes twice, SHA-256 {digest(one)[:16]}…")
        return
    first, second = dict(members(one)), dict(members(other))
    differ = sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
    raise NotReadyError(f"{one.name} is not the same when it is built again; it differs in {differ or 'its order or dates'}.")


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The files in a wheel or an sdist."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            yield from ((name, opened.read(name)) for name in opened.namelist())
        return
    with tarfile.open(archive) as opened:
        for member in opened:
            file = opened.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def check_nameless(archive: Path, places: list[Path]) -> None:
    """Nothing in an archive names a folder of this machine, or whoever built it."""
    for name, content in members(archive):
        for place in places:
            if str(place).encode() in content:
                raise NotReadyError(f"{name} in {archive.name} names {place}.")
    if archive.suffix != ".whl":
        with tarfile.open(archive) as opened:
            owners = {(member.uname, member.gname) for member in opened} - {("", "")}
        if owners - {("root", "root")}:
            raise NotReadyError(f"{archive.name} names its owners: {sorted(owners)}.")


def check_metadata(wheel: Path, version: str) -> None:
    """What an index shows of us; `twine check` says whether it can."""
    texts = {name: content.decode() for name, content in members(wheel) if name.endswith(".dist-info/METADATA")}
    (text,) = texts.values()
    told = Parser().parsestr(text)
    expected = {"Name": "tippingpoint", "Version": version, "License-Expression": "BSD-3-Clause", "Requires-Python": ">=3.10"}
    for field, value in expected.items():
        if told[field] != value:
            raise NotReadyError(f"the wheel's {field} is {told[field]!r}, not {value!r}.")
    if not set(extras()) <= set(told.get_all("Provides-Extra", [])):
        raise NotReadyError("the wheel lacks extras.")


def digest(path: Path) -> str:
    """SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def publish(*files: Path) -> None:
    """Put what is good into `dist/`, in the place of what was there, with its checksums as `sha256sum --check` reads them."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for file in files:
        shutil.copy(file, DIST)
    (DIST / SUMS).write_text("".join(f"{digest(file)}  {file.name}\n" for file in sorted(files)), encoding="utf-8")
    print(f"  dist: {', '.join(sorted(path.name for path in DIST.iterdir()))}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-build", action="store_true", help="build and check, but install nothing and leave dist/ alone")
    given, began = parser.parse_args(), time.monotonic()
    try:
        check_committed()
        texts = (ROOT / name for name in ("src/tippingpoint/__init__.py", "CHANGELOG.md", "CITATION.cff"))
        version = check_versions(*(path.read_text(encoding="utf-8") for path in texts))
        check_tag(version)
        clock = git("log", "-1", "--format=%ct").decode().strip()
        with tempfile.TemporaryDirectory(prefix="tippingpoint-release-") as name:
            away = Path(name)
            (sdist, wheel), again = (build_at(away / site, clock) for site in SITES)
            for one, other in zip((sdist, wheel), again, strict=True):
                check_same(one, other)
                check_nameless(one, [away, ROOT, Path.home(), Path(sys.prefix), Path(tempfile.gettempdir()) / "build-env-"])
            check_contents(sdist, wheel, compiled=can_compile())
            check_metadata(wheel, version)
            subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)], check=True)
            if given.only_build:
                return 0
            try_all(wheel, extras(), readme=True)
            publish(sdist, wheel)
    except NotReadyError as error:
        print(f"not released: {error}", file=sys.stderr)
        return 1
    print(f"  tippingpoint {version} is ready, after {(time.monotonic() - began) / 60:.0f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
