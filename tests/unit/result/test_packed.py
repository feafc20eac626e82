"""Results are compressed when they are complete, and unpacked to go on: the whole of them, or nothing."""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.result import writer
from mpigauge.result.reader import load
from tests.made import RECORDS, launch, lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.reader import Result

WHOLE = lines_of(*RECORDS)


def test_a_complete_result_is_compressed_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    assert writer.packed(path) == tmp_path / "r.jsonl.gz"
    assert gzip.decompress((tmp_path / "r.jsonl.gz").read_bytes()) == WHOLE
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl.gz"]
    assert load(tmp_path / "r.jsonl.gz").visits == load_of(WHOLE, tmp_path).visits


def load_of(text: bytes, folder: Path) -> Result:
    """The same as plain lines."""
    (folder / "plain.jsonl").write_bytes(text)
    return load(folder / "plain.jsonl")


def test_what_prevents_compressing_leaves_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert writer.packed(path) == path
    assert path.read_bytes() == WHOLE
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_compressed_result_grows_under_its_plain_name_and_is_never_overwritten(tmp_path: Path) -> None:
    asked = tmp_path / "r.jsonl.gz"
    with writer.create(asked) as file:
        assert file.path == tmp_path / "r.jsonl"
        for record in RECORDS:
            file.append(record)
    writer.packed(file.path)
    with pytest.raises(UsageError, match="exists already"):
        writer.create(asked)
    with writer.create_beside(tmp_path / "r.jsonl") as file:
        assert file.path == tmp_path / "r-2.jsonl"


def test_a_compressed_result_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    with writer.reopen(writer.packed(path), len(WHOLE)) as file:
        assert file.path == path
        file.append(RECORDS[1])
    assert path.read_bytes() == WHOLE + lines_of(RECORDS[1])
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_compressed_result_is_unpacked_by_one(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    packed = writer.packed(path)
    with packed.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another mpigauge is writing"):
            writer.reopen(packed, len(WHOLE))
    assert gzip.decompress(packed.read_bytes()) == WHOLE


# ---- Two files of one result ---------------------------------------------------------------------


def pair_of(folder: Path, *, more: bytes = b"") -> tuple[Path, Path]:
    """A result compressed, and another file where its lines would be."""
    plain = folder / "r.jsonl"
    plain.write_bytes(WHOLE)
    packed = writer.packed(plain)
    plain.write_bytes(WHOLE + more)
    return packed, plain


def test_what_is_beside_a_compressed_result_is_not_overwritten(tmp_path: Path) -> None:
    """As after `gunzip -k`, and hours more that were measured since."""
    packed, plain = pair_of(tmp_path, more=lines_of(launch(3)))
    with pytest.raises(UsageError, match="exists already") as caught:
        writer.reopen(packed, len(WHOLE))
    assert f"mpigauge resume {plain}" in caught.value.hint
    assert plain.read_bytes() == WHOLE + lines_of(launch(3))
    assert gzip.decompress(packed.read_bytes()) == WHOLE
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.jsonl", "r.jsonl.gz"]


def test_a_result_that_is_complete_overwrites_no_compressed_one(tmp_path: Path) -> None:
    packed, plain = pair_of(tmp_path, more=lines_of(launch(3)))
    assert writer.packed(plain) == plain
    assert plain.read_bytes() == WHOLE + lines_of(launch(3))
    assert gzip.decompress(packed.read_bytes()) == WHOLE


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_second_names_packs_and_unpacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As on FAT and some of FUSE."""

    def none_there(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", none_there)
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    with writer.reopen(writer.packed(path), len(WHOLE)) as file:
        assert [one.name for one in tmp_path.iterdir()] == [file.path.name]
    assert path.read_bytes() == WHOLE
    packed, plain = pair_of(tmp_path)
    with pytest.raises(UsageError, match="exists already"):
        writer.reopen(packed, len(WHOLE))
    assert plain.exists()


def test_a_compressed_result_goes_when_its_lines_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    packed = writer.packed(path)
    there: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "fsync", lambda file: there.append((os.fstat(file).st_size, packed.exists())))
    writer.reopen(packed, len(WHOLE)).__exit__(None, None, None)
    assert (len(WHOLE), True) in there
    assert not packed.exists()


def test_no_room_to_unpack_leaves_the_compressed_result_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    packed = writer.packed(path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(EnvironmentLacksError, match="the disk is full") as caught:
        writer.reopen(packed, len(WHOLE))
    assert str(packed) in caught.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl.gz"]
    assert gzip.decompress(packed.read_bytes()) == WHOLE
