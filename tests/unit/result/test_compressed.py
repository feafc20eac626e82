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


def packed(path: Path) -> Path:
    """Compresses a file as a campaign does in the end: what it is called then."""
    with writer.reopen(path, path.stat().st_size) as file:
        return file.compress()


def test_a_complete_result_is_compressed_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    assert packed(path) == tmp_path / "r.jsonl.gz"
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
    assert packed(path) == path
    assert path.read_bytes() == WHOLE
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_compressed_result_grows_under_its_plain_name_and_is_never_overwritten(tmp_path: Path) -> None:
    asked = tmp_path / "r.jsonl.gz"
    with writer.create(asked) as file:
        assert file.path == tmp_path / "r.jsonl"
        for record in RECORDS:
            file.append(record)
        file.compress()
    with pytest.raises(UsageError, match="exists already"):
        writer.create(asked)
    with writer.create_numbered(tmp_path / "r.jsonl") as file:
        assert file.path == tmp_path / "r-2.jsonl"


def test_a_compressed_result_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    with writer.reopen(packed(path), len(WHOLE)) as file:
        assert file.path == path
        file.append(RECORDS[1])
    assert path.read_bytes() == WHOLE + lines_of(RECORDS[1])
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_compressed_result_is_decompressed_by_one_process(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    compressed = packed(path)
    with compressed.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another mpigauge"):
            writer.reopen(compressed, len(WHOLE))
    assert gzip.decompress(compressed.read_bytes()) == WHOLE


# ---- Two files of one result ---------------------------------------------------------------------


def pair_of(folder: Path, *, more: bytes = b"") -> tuple[Path, Path]:
    """A result compressed, and another file where its lines would be."""
    plain = folder / "r.jsonl"
    plain.write_bytes(WHOLE)
    compressed = packed(plain)
    plain.write_bytes(WHOLE + more)
    return compressed, plain


def test_a_file_of_the_plain_name_is_not_overwritten(tmp_path: Path) -> None:
    """As after `gunzip -k`, and hours more that were measured since."""
    compressed, plain = pair_of(tmp_path, more=lines_of(launch(3)))
    with pytest.raises(UsageError, match="exists already") as caught:
        writer.reopen(compressed, len(WHOLE))
    assert f"mpigauge resume {plain}" in caught.value.hint
    assert plain.read_bytes() == WHOLE + lines_of(launch(3))
    assert gzip.decompress(compressed.read_bytes()) == WHOLE
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.jsonl", "r.jsonl.gz"]


def test_a_result_that_is_complete_overwrites_no_compressed_one(tmp_path: Path) -> None:
    compressed, plain = pair_of(tmp_path, more=lines_of(launch(3)))
    assert packed(plain) == plain
    assert plain.read_bytes() == WHOLE + lines_of(launch(3))
    assert gzip.decompress(compressed.read_bytes()) == WHOLE


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_hard_links_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As on FAT and some of FUSE."""

    def none_there(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", none_there)
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    with writer.reopen(packed(path), len(WHOLE)) as file:
        assert [one.name for one in tmp_path.iterdir()] == [file.path.name]
    assert path.read_bytes() == WHOLE
    compressed, plain = pair_of(tmp_path)
    with pytest.raises(UsageError, match="exists already"):
        writer.reopen(compressed, len(WHOLE))
    assert plain.exists()


def test_a_compressed_result_goes_when_its_lines_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    compressed = packed(path)
    there: list[tuple[int, bool]] = []
    monkeypatch.setattr(os, "fsync", lambda file: there.append((os.fstat(file).st_size, compressed.exists())))
    writer.reopen(compressed, len(WHOLE)).__exit__(None, None, None)
    assert (len(WHOLE), True) in there
    assert not compressed.exists()


def test_no_room_to_unpack_leaves_the_compressed_result_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    compressed = packed(path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(EnvironmentLacksError, match="the disk is full") as caught:
        writer.reopen(compressed, len(WHOLE))
    assert str(compressed) in caught.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl.gz"]
    assert gzip.decompress(compressed.read_bytes()) == WHOLE


# ---- Others, and damage --------------------------------------------------------------------------


def test_no_foreign_link_is_followed(tmp_path: Path) -> None:
    """The name of the part was known to everybody for as long as the campaign lasted."""
    path, victim = tmp_path / "r.jsonl", tmp_path / "victim"
    victim.write_bytes(b"precious")
    path.write_bytes(WHOLE)
    for name in ("r.jsonl.gz.part", "r.jsonl.part"):
        (tmp_path / name).symlink_to(victim)
    compressed = packed(path)
    assert not compressed.is_symlink()
    assert gzip.decompress(compressed.read_bytes()) == WHOLE
    writer.reopen(compressed, len(WHOLE)).__exit__(None, None, None)
    assert path.read_bytes() == WHOLE
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["r.jsonl.gz", "r.jsonl"])
def test_a_damaged_result_is_continued_and_the_original_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    damaged = gzip.compress(WHOLE, mtime=0)[:-40]
    path.write_bytes(damaged)
    result = load(path)
    kept = WHOLE[: WHOLE.rindex(b"\n", 0, result.size_bytes) + 1]
    told: list[str] = []
    with writer.reopen(path, result.size_bytes) as file:
        file.set_reporter(told.append)
        file.append(RECORDS[1])
        assert file.path == tmp_path / "r.jsonl"
    assert file.path.read_bytes() == kept + lines_of(RECORDS[1])
    assert (tmp_path / f"{name}.damaged").read_bytes() == damaged
    (sentence,) = told
    assert f"goes on as {tmp_path / 'r.jsonl'}, it is kept as {tmp_path / name}.damaged" in sentence
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.jsonl", f"{name}.damaged"]


def test_a_damaged_result_that_cannot_be_continued_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.gz"
    damaged = gzip.compress(WHOLE)[:-40]
    path.write_bytes(damaged)
    (tmp_path / "r.jsonl").write_bytes(b"theirs")
    with pytest.raises(UsageError, match="exists already"):
        writer.reopen(path, load(path).size_bytes)
    assert path.read_bytes() == damaged
    assert sorted(one.name for one in tmp_path.iterdir()) == ["r.jsonl", "r.jsonl.gz"]


def test_a_compressed_result_of_another_name_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(gzip.compress(WHOLE))
    with writer.reopen(path, len(WHOLE)) as file:
        file.append(RECORDS[1])
    assert path.read_bytes() == WHOLE + lines_of(RECORDS[1])
    assert [one.name for one in tmp_path.iterdir()] == ["r.jsonl"]
