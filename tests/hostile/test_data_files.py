"""Tables that commands read: from files only, no larger than their files can explain, and no slower than their size."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from refusals import refusal
from tippingpoint.cli import tables
from tippingpoint.cli.tables import read_table
from tippingpoint.data.frames import read_features

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}

TEXT = b"sample,loss,cost\na,0,0\na,1,2\nb,0,0\n"


def refusal_of(path: object) -> str:
    return str(refusal(lambda: read_table(str(path))))


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:9/a.csv",
        "https://example.org/a.parquet",
        "s3://bucket/a.csv",
        "file:///etc/passwd",
        "simplecache::x.csv",
    ],
)
def test_an_address_is_refused_and_nothing_is_fetched(address: str) -> None:
    assert "is an address, and nothing is fetched; download it" in refusal_of(address)


def test_packed_files_are_read(tmp_path: Path) -> None:
    plain = tmp_path / "runs.csv"
    plain.write_bytes(TEXT)
    expected = read_table(str(plain))
    for suffix, pack in PACKERS.items():
        (tmp_path / f"runs.csv{suffix}").write_bytes(pack(TEXT))
        pd.testing.assert_frame_equal(read_table(str(tmp_path / f"runs.csv{suffix}")), expected)
    with zipfile.ZipFile(tmp_path / "runs.csv.zip", "w") as archive:
        archive.writestr("runs.csv", TEXT)
    pd.testing.assert_frame_equal(read_table(str(tmp_path / "runs.csv.zip")), expected)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", TEXT)
    assert "holds 2 files; give an archive of one" in refusal_of(tmp_path / "two.zip")
    (tmp_path / "runs.csv.zst").write_bytes(b"?")
    assert "packed as .zst are not read" in refusal_of(tmp_path / "runs.csv.zst")


def test_a_packed_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FREE_BYTES", 2**20)
    bomb = b"sample,loss,cost\n" + b"a,0,0\n" * 10**6
    for suffix, pack in PACKERS.items():
        path = tmp_path / f"runs.csv{suffix}"
        path.write_bytes(pack(bomb))
        assert f"holds more than {2**20:,} bytes once it is unpacked" in refusal_of(path)
    with zipfile.ZipFile(tmp_path / "runs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("runs.csv", bomb)
    assert "holds more than" in refusal_of(tmp_path / "runs.zip")


def test_a_parquet_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.parquet"
    pd.DataFrame({"a": np.zeros(200_000)}).to_parquet(path)
    assert len(read_table(str(path))) == 200_000
    monkeypatch.setattr(tables, "FREE_CELLS", 1000)
    assert "says that it holds 200,000 cells" in refusal_of(path)


def test_directories_and_devices_are_refused_and_pipes_are_read(tmp_path: Path) -> None:
    assert "is a directory; give a file" in refusal_of(tmp_path)
    assert "is a device; give a file" in refusal_of("/dev/zero")
    assert "is no path" in refusal_of("a\0.csv")
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,), daemon=True)
    writer.start()
    assert len(read_table(str(pipe))) == 3
    writer.join(10.0)


class Counted(str):
    """Text that counts how often it is compared."""

    __slots__ = ()
    times = 0

    def __eq__(self, other: object) -> bool:
        type(self).times += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_many_categories_are_looked_at_once_each() -> None:
    names = [Counted(f"user {i}") for i in range(20_000)]
    frame = pd.DataFrame({"user": pd.Series(names, dtype=object), "age": np.arange(20_000.0)})
    Counted.times = 0
    with pytest.raises(tp.InputError, match="has 20000 categories, too many"):
        tp.stability(
            lambda rows: np.asarray(rows["age"]) - 9.0,
            frame,
            np.arange(20_000) % 2,
            0.6,
            space=tp.Space(categories={"user": names}),
        )
    assert Counted.times < 20 * len(names)


def test_a_category_that_is_listed_twice_or_is_none_is_refused() -> None:
    frame = pd.DataFrame({"job": ["a", "b"], "age": [1.0, 2.0]})
    for listed, part in ((["a", "b", "a"], "lists 'a' twice"), (["a", ["b"]], "which is no value of a column")):
        with pytest.raises(tp.InputError, match=part):
            tp.stability(lambda rows: rows["age"], frame, [0, 1], 0.6, space=tp.Space(categories={"job": listed}))


def test_switches_by_frequency_weigh_every_category_by_its_share() -> None:
    rng = np.random.default_rng(0)
    jobs = rng.choice(list("abcd"), 400, p=[0.5, 0.3, 0.15, 0.05])
    frame = pd.DataFrame({"job": jobs, "age": rng.normal(size=400)})
    space = tp.Space(switch={"job": "frequency"}).resolve(read_features(frame), np.full(400, 1.0 / 400.0))
    shares = pd.Series(jobs).value_counts(normalize=True)
    (menu,) = space.menus
    for k, job in enumerate("abcd"):
        assert menu.cost[(k + 1) % 4, k] == pytest.approx(-np.log(shares[job]))
