"""What `make release` refuses, and that each extra is tried; the release itself takes an hour, and is not part of the tests."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from tippingpoint.cli import doctor

WHEEL = Path(__file__).parent / "wheel"
ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(WHEEL))


PACKAGE = '"""A package."""\n__version__ = "1.2.0"\n'
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-18\n\n### Added\n- A thing.\n\n## [1.1.0] - 2026-01-01\n"
CITATION = "title: x\nversion: 1.2.0\n"


def test_a_version_that_all_agree_on_is_it() -> None:
    from release import check_versions

    assert check_versions(PACKAGE, CHANGELOG, CITATION) == "1.2.0"


DISAGREEING = {
    "another version": ((PACKAGE.replace("1.2.0", "1.3.0"), CHANGELOG, CITATION), "latest of CHANGELOG.md"),
    "no version": (("", CHANGELOG, CITATION), "no __version__"),
    "another citation": ((PACKAGE, CHANGELOG, "version: 1.1.0\n"), "CITATION.cff cites 1.1.0"),
    "no citation": ((PACKAGE, CHANGELOG, ""), "cites none"),
    "no date": ((PACKAGE, CHANGELOG.replace(" - 2026-11-18", ""), CITATION), "latest of CHANGELOG.md"),
    "no day": ((PACKAGE, CHANGELOG.replace("11-18", "13-18"), CITATION), "no day"),
    "changes that wait": (
        (PACKAGE, CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n- more\n"), CITATION),
        "not in 1.2.0: - more",
    ),
    "nowhere for the next": ((PACKAGE, CHANGELOG.replace("## [Unreleased]\n", ""), CITATION), "no heading"),
    "an older one on top": (
        (PACKAGE, CHANGELOG.replace("## [1.2.0]", "## [1.1.5] - 2026-10-10\n\n## [1.2.0]"), CITATION),
        "latest of CHANGELOG.md",
    ),
}


@pytest.mark.parametrize("case", DISAGREEING)
def test_versions_that_disagree_are_not_released(case: str) -> None:
    from release import NotReadyError, check_versions

    texts, why = DISAGREEING[case]
    with pytest.raises(NotReadyError, match=why):
        check_versions(*texts)


def test_what_is_written_now_agrees_on_everything_but_what_waits() -> None:
    from release import check_versions

    package, changelog, citation = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("src/tippingpoint/__init__.py", "CHANGELOG.md", "CITATION.cff")
    )
    before, _, after = changelog.partition("## [Unreleased]")
    settled = f"{before}## [Unreleased]\n\n## {after.partition(chr(10) + '## ')[2]}"
    assert check_versions(package, settled, citation)


def wheel(place: Path, content: bytes) -> Path:
    path = place / "a.whl"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("a/module.so", content)
        opened.writestr("a/other.py", b"")
    return path


def test_archives_that_name_a_folder_of_this_machine_are_not_released(tmp_path: Path) -> None:
    from release import NotReadyError, check_nameless

    check_nameless(wheel(tmp_path, b"\0/usr/lib\0"), [tmp_path])
    with pytest.raises(NotReadyError, match=r"a/module\.so in a\.whl names"):
        check_nameless(wheel(tmp_path, f"\0{tmp_path}/src\0".encode()), [tmp_path])
    owned = tmp_path / "a.tar.gz"
    with tarfile.open(owned, "w:gz") as opened:
        member = tarfile.TarInfo("a/b")
        member.uname = "somebody"
        opened.addfile(member)
    with pytest.raises(NotReadyError, match="somebody"):
        check_nameless(owned, [tmp_path])


def test_builds_that_differ_are_not_released(tmp_path: Path) -> None:
    from release import NotReadyError, check_same

    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one, other = wheel(tmp_path / "one", b"1"), wheel(tmp_path / "other", b"2")
    check_same(one, one)
    with pytest.raises(NotReadyError, match=r"differs in \['a/module\.so'\]"):
        check_same(one, other)


def test_each_extra_is_used_and_no_other() -> None:
    from extras import FOR_DEVELOPERS, extras
    from smoke_extra import USES

    assert set(extras()) == set(USES) == set(doctor.GIVES)
    assert FOR_DEVELOPERS == doctor.FOR_DEVELOPERS


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("extra", sorted(doctor.GIVES))
def test_each_extra_is_used_here_as_it_will_be_in_its_own_environment(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from extras import write_onnx
    from smoke_extra import USES

    if extra == "inspect":
        pytest.importorskip("inspect_ai", reason="hundreds of megabytes: developers do without, `make test-extras` does not")
    monkeypatch.chdir(tmp_path)
    for name in ("MLFLOW_ALLOW_FILE_STORE", "MLFLOW_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "true")  # which also puts back what was there
    if extra == "onnx":
        write_onnx(tmp_path / "model.onnx")
    USES[extra]()


def test_what_is_wanted_of_a_wheel_is_in_the_repository() -> None:
    from wheels import NEEDED, SOURCE, names

    assert set(NEEDED) <= names(SOURCE / "tippingpoint")
