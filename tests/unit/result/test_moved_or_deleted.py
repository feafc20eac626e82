"""Results whose name or content others take away while they grow: it is told, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EnvironmentLacksError
from mpigauge.result import writer
from mpigauge.result.reader import load
from tests.made import RECORDS, launch, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.result.records import Record

WHOLE = lines_of(*RECORDS)
END = next(one for one in reversed(RECORDS) if isinstance(one, writer.SETTLED))
BEFORE: tuple[Record, ...] = RECORDS[: RECORDS.index(END)]
AFTER = (launch(3), END)


def delete(path: Path) -> None:
    """As cleaners of temporary folders do."""
    path.unlink()


def delete_folder(path: Path) -> None:
    """As `rm -r` and `git clean` do."""
    shutil.rmtree(path.parent)


def replace(path: Path) -> None:
    """As `mv other.jsonl r.jsonl` does."""
    (path.parent / "other").write_bytes(b"theirs")
    (path.parent / "other").replace(path)


def cut(path: Path) -> None:
    """As `: > r.jsonl` does."""
    os.truncate(path, 0)


def cut_in_the_middle(path: Path) -> None:
    """As a disk that is full elsewhere may."""
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path: Path) -> None:
    """As `cp other.jsonl r.jsonl` does, with something longer."""
    path.write_bytes(b"theirs\n" * 10_000)


def move(path: Path) -> None:
    """As `mv` does within a file system."""
    path.rename(path.parent / "moved.jsonl")


def move_folder(path: Path) -> None:
    """As `mv results old-results` does."""
    path.parent.rename(path.parent.with_name("moved"))


FAULTS: dict[Callable[[Path], None], tuple[str, str]] = {
    delete: ("d/r.jsonl", "was deleted while it grew; all of it is saved again under its name"),
    delete_folder: ("d/r.jsonl", "was deleted while it grew; all of it is saved again under its name"),
    replace: ("d/r-2.jsonl", "was replaced by another file while it grew; all of it is saved as d/r-2.jsonl"),
    cut: ("d/r.jsonl", "was cut or overwritten while it grew; all of it is saved again under its name"),
    cut_in_the_middle: ("d/r.jsonl", "was cut or overwritten while it grew"),
    overwrite: ("d/r.jsonl", "was cut or overwritten while it grew"),
    move: ("d/moved.jsonl", "was moved while it grew; the result goes on as d/moved.jsonl"),
    move_folder: ("moved/r.jsonl", "was moved while it grew; the result goes on as moved/r.jsonl"),
}
"""What is done to a result, what it is called then, and what is told."""

PATH = Path("d/r.jsonl")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def grown(fault: Callable[[Path], None], at: int, told: list[str]) -> writer.ResultFile:
    """A result that something is done to behind so many records; open, as it is after the last one."""
    file = writer.create(PATH)
    file.set_reporter(told.append)
    for number, record in enumerate([*BEFORE, *AFTER]):
        if number == at:
            fault(file.path)
        file.append(record)
    return file


@pytest.mark.parametrize("at", range(1, len(BEFORE) + 2))
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_is_lost_when_the_file_is_moved_deleted_or_overwritten(
    fault: Callable[[Path], None], at: int
) -> None:
    told: list[str] = []
    file = grown(fault, at, told)
    name, words = FAULTS[fault]
    assert (file.path, file.lost) == (Path(name), "")
    with file:
        assert file.path.read_bytes() == lines_of(*BEFORE, *AFTER)
    assert len(told) == 1
    assert told[0].startswith("d/r.jsonl: ")
    assert words in told[0]
    assert not list(Path().rglob("*.part"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_damage_done_twice_is_reported_twice(fault: Callable[[Path], None]) -> None:
    told: list[str] = []
    with grown(fault, 1, told) as file:
        if fault in (move, move_folder):  # which is at its new place already
            file.path.rename("elsewhere.jsonl")
        else:
            fault(file.path)
        file.append(END)
        assert file.path.read_bytes() == lines_of(*BEFORE, *AFTER, END)
    assert len(told) == 2


def test_compression_uses_what_was_written_even_if_the_name_is_anothers() -> None:
    told: list[str] = []
    with grown(lambda _: None, 1, told) as file:
        replace(PATH)
        assert file.compress() == Path("d/r.jsonl.gz")
    assert load(Path("d/r.jsonl.gz")).visits
    assert PATH.read_bytes() == b"theirs"


def test_a_result_too_large_for_memory_keeps_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "MAX_KEPT_BYTES", len(lines_of(*BEFORE[:1])) + 10)
    told: list[str] = []
    with grown(cut, len(BEFORE), told) as file:
        assert "a part of it is lost" in file.lost
        assert "what is left of it is saved" in told[0]
        result = load(file.path)
    assert result.launches
    assert not result.visits


def test_a_result_too_large_for_memory_is_copied_from_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "MAX_KEPT_BYTES", 10)
    with grown(delete, 2, []) as file:
        assert file.path.read_bytes() == lines_of(*BEFORE, *AFTER)


def test_without_room_it_goes_to_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def full(path: str | Path, flags: int, mode: int = 0o777) -> int:
        if str(path).startswith("d/.") and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", full)
    told: list[str] = []
    with grown(delete, 2, told) as file:
        assert file.path == tmp_path / "tmp" / "r.jsonl"
        assert file.path.read_bytes() == lines_of(*BEFORE, *AFTER)
    assert f"saved as {tmp_path / 'tmp' / 'r.jsonl'}" in told[0]


def test_a_failed_save_is_retried_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    told: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_save_again", full)
        file = grown(delete, 2, told)
        assert "was deleted while it grew, and cannot be saved: No space left on device" in file.lost
        assert load(file.path, file.content()).visits
        file.append(END)
    assert len(told) == 1
    with file:
        file.append(END)
        assert file.lost == ""
        assert file.path.read_bytes() == lines_of(*BEFORE, *AFTER, END, END)
    assert len(told) == 2


def test_a_name_of_a_deleted_file_on_nfs_does_not_count() -> None:
    def delete_on_nfs(path: Path) -> None:
        path.rename(path.with_name(".nfs000123"))

    with grown(delete_on_nfs, 2, []) as file:
        assert file.path == PATH
        assert PATH.read_bytes() == lines_of(*BEFORE, *AFTER)


def test_a_stale_nfs_file_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As NFS says where another host has deleted it."""
    stale: set[int] = set()

    def checked(function: Callable[..., object]) -> Callable[..., object]:
        def called(descriptor: int, *words: object) -> object:
            if descriptor in stale:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            return function(descriptor, *words)

        return called

    for name in ("write", "lseek", "fstat", "pread", "fsync"):
        monkeypatch.setattr(os, name, checked(getattr(os, name)))

    def vanish(path: Path) -> None:
        path.unlink()
        stale.add(file._descriptor)

    told: list[str] = []
    file = writer.create(PATH)
    file.set_reporter(told.append)
    for record in BEFORE:
        file.append(record)
    vanish(PATH)
    for record in AFTER:
        file.append(record)
    assert PATH.read_bytes() == lines_of(*BEFORE, *AFTER)
    assert len(told) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("saved", [True, False])
def test_a_failing_disk_is_reported_even_if_the_file_is_gone(
    monkeypatch: pytest.MonkeyPatch, number: int, saved: bool
) -> None:
    """Nobody is sent to a file that is not there."""

    def fails(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    file = writer.create(PATH)
    for record in BEFORE:
        file.append(record)
    PATH.unlink()
    monkeypatch.setattr(os, "write", fails)
    if not saved:
        monkeypatch.setattr(writer, "_save_again", fails)
    with pytest.raises(EnvironmentLacksError) as caught:
        file.append(launch(3))
    if saved:
        assert f"mpigauge resume {PATH}" in caught.value.hint
        assert PATH.read_bytes() == lines_of(*BEFORE)
    else:
        assert "was deleted while it grew, and cannot be saved" in caught.value.sentence
        assert "resume" not in caught.value.hint
