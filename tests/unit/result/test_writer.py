"""Writing results: every record a whole line, whatever happens between; nothing is overwritten."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
from pathlib import Path

import pytest
from msgspec.structs import replace

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.result import files, writer
from mpigauge.result.reader import load
from tests.made import RECORDS, SMALL, launch, lines_of, visit

WHOLE = lines_of(*RECORDS)


def test_appended_records_can_be_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "r.jsonl"
    with writer.create(path) as file:
        for number, record in enumerate(RECORDS, start=1):
            file.append(record)
            assert path.read_bytes() == lines_of(*RECORDS[:number])
    assert load(path).campaign == RECORDS[0]


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        writer.create(path)
    assert path.read_bytes() == b"mine"


def test_a_link_to_nothing_is_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.symlink_to("gone.jsonl")
    for refuse in (writer.create, writer.check_free):
        with pytest.raises(UsageError, match=r"is a link to gone\.jsonl, which is not there") as caught:
            refuse(path)
        assert caught.value.hint == f"name that file, or remove the link: rm {path}"


def test_an_existing_name_gets_a_number(tmp_path: Path) -> None:
    path = tmp_path / "host.example-1.jsonl"
    path.write_bytes(b"mine")
    files = [writer.create_numbered(path) for _ in range(3)]
    assert [file.path.name for file in files] == [f"host.example-1-{number}.jsonl" for number in (2, 3, 4)]
    assert path.read_bytes() == b"mine"
    with writer.create_numbered(tmp_path / "new" / "r.jsonl") as file:
        assert file.path == tmp_path / "new" / "r.jsonl"


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "r.jsonl", tmp_path / ("n" * 300)):
        for create in (writer.create, writer.create_numbered):
            with pytest.raises(EnvironmentLacksError, match="cannot be written") as caught:
                create(path)
            assert str(path) in caught.value.sentence


@pytest.mark.parametrize("torn", [0, 1, 50, 70_000])
def test_a_torn_last_line_is_cut_off(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE + b"x" * torn)
    with writer.reopen(path, path.stat().st_size) as file:
        file.append(launch(3))
    assert path.read_bytes() == WHOLE + lines_of(launch(3))


def test_a_file_without_a_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"x" * 200_000)
    writer.reopen(path, path.stat().st_size).__exit__(None, None, None)
    assert path.read_bytes() == b""


def test_only_one_process_may_write(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with writer.create(path) as file:
        file.append(RECORDS[0])
        with pytest.raises(UsageError, match="another mpigauge is writing"):
            writer.reopen(path, path.stat().st_size)
    with writer.reopen(path, path.stat().st_size) as file:
        file.append(launch(1))
    assert path.read_bytes() == lines_of(RECORDS[0], launch(1))


def test_a_missing_file_cannot_be_reopened(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="missing"):
        writer.reopen(tmp_path / "missing.jsonl", 0)


def test_a_mistyped_folder_makes_no_tree(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="there is no folder") as caught:
        writer.create(tmp_path / "mistyped" / "folder" / "r.jsonl")
    assert "mkdir -p" in caught.value.hint
    assert not (tmp_path / "mistyped").exists()


def test_the_resume_command_takes_a_name_that_looks_like_an_option() -> None:
    assert files.resume_command(Path("-x.jsonl")) == "mpigauge resume ./-x.jsonl"


def test_a_full_disk_keeps_whole_lines_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    large = visit(1, 0, SMALL, list(range(10**6, 10**6 + 2000)))
    with writer.create(path) as file:
        file.append(RECORDS[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(WHOLE) + 5000, limits[1]))
        try:
            with pytest.raises(EnvironmentLacksError, match="no file may grow so large") as caught:
                file.append(large)
            assert path.read_bytes() == lines_of(RECORDS[0])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        file.append(large)
    assert str(path) in caught.value.hint
    assert path.read_bytes() == lines_of(RECORDS[0], large)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_of_a_result_that_never_began_nobody_is_told_to_resume_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    path = tmp_path / "r.jsonl"
    with monkeypatch.context() as patch, writer.create(path) as file:
        patch.setattr(os, "write", full)
        with pytest.raises(EnvironmentLacksError) as caught:
            file.append(RECORDS[0])
    assert path.read_bytes() == b""
    assert "resume" not in caught.value.hint
    assert "measured before" not in caught.value.sentence
    with writer.create(path) as file:  # as under the same name again
        file.append(RECORDS[0])
    assert path.read_bytes() == lines_of(RECORDS[0])


# ---- File systems and names as they are ----------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_results_are_written_even_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As on Lustre without flock, and on NFS without its lock daemon."""

    def none_there(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", none_there)
    path = tmp_path / "r.jsonl"
    with writer.create(path) as file:
        assert not file.locked
        file.append(RECORDS[0])
    with writer.reopen(path, path.stat().st_size) as file:
        file.append(RECORDS[1])
    assert path.read_bytes() == lines_of(*RECORDS[:2])


def test_a_file_that_cannot_be_locked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", broken)
    with pytest.raises(EnvironmentLacksError, match="cannot be written: Input/output error"):
        writer.create(tmp_path / "r.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_utf_8_is_written_with_its_bytes(tmp_path: Path) -> None:
    """As names of files and values of variables may be."""
    name = b"/home/m\xfcller".decode("utf-8", "surrogateescape")
    one = launch(1)
    named = replace(one, command=(name,), variables={name: name})
    with writer.create(tmp_path / "r.jsonl") as file:
        file.append(RECORDS[0])
        file.append(named)
    (read,) = load(tmp_path / "r.jsonl").launches
    assert (read.command, read.variables) == ((r"/home/m\xfcller",), {r"/home/m\xfcller": r"/home/m\xfcller"})


@pytest.mark.parametrize("start", [b"", b'{"ty', lines_of(RECORDS[0])[:300]])
def test_a_file_without_a_complete_first_line_is_begun_again(tmp_path: Path, start: bytes) -> None:
    """Who made it was killed over its first line: nothing was measured."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(start)
    with writer.create(path) as file:
        file.append(RECORDS[0])
    assert path.read_bytes() == lines_of(RECORDS[0])


@pytest.mark.parametrize("start", [lines_of(RECORDS[0]), b"\n", b"[1, 2", b'{"type":"campaigns"'])
def test_a_file_that_may_be_anothers_is_not_begun_again(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(start)
    with pytest.raises(UsageError, match="exists already"):
        writer.create(path)
    assert path.read_bytes() == start


def test_a_file_that_another_process_begins_is_left_alone(tmp_path: Path) -> None:
    with writer.create(tmp_path / "r.jsonl"), pytest.raises(UsageError, match="another mpigauge is writing"):
        writer.create(tmp_path / "r.jsonl")


def test_a_file_that_has_grown_since_it_was_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(WHOLE)
    read = load(path)
    with writer.reopen(path, read.size_bytes) as file:
        file.append(launch(3))
    with pytest.raises(UsageError, match="another mpigauge has just continued it"):
        writer.reopen(path, read.size_bytes)
    assert path.read_bytes() == WHOLE + lines_of(launch(3))


def test_the_end_of_a_launch_is_flushed_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that dies loses no more than the launch that ran."""
    settled: list[int] = []
    written: list[object] = []
    monkeypatch.setattr(os, "fsync", lambda _: settled.append(len(written)))
    with writer.create(tmp_path / "r.jsonl") as file:
        for record in RECORDS:
            written.append(record)
            file.append(record)
    ends = [i for i, record in enumerate(RECORDS, start=1) if isinstance(record, writer.SETTLED)]
    assert settled == ends
    assert ends


def test_a_full_disk_that_shows_late_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on NFS, which may say so only when it is asked to keep what it took."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    done = next(record for record in RECORDS if isinstance(record, writer.SETTLED))
    with writer.create(tmp_path / "r.jsonl") as file:
        file.append(RECORDS[0])
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentLacksError, match="the disk is full"):
            file.append(done)
    assert (tmp_path / "r.jsonl").read_bytes() == lines_of(RECORDS[0])


def test_the_resume_command_is_quoted_for_a_shell(tmp_path: Path) -> None:
    path = tmp_path / "my results; rm x.jsonl"
    path.write_bytes(WHOLE)
    with pytest.raises(UsageError) as caught:
        writer.create(path)
    assert f"mpigauge resume '{path}'" in caught.value.hint
