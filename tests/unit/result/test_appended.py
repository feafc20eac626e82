"""Results that others append to while they grow: no record is swallowed, theirs go, and it is told."""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import EnvironmentLacksError
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.result.records import Done
from tests.made import RECORDS, SMALL, launch, lines_of, visit

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.result.records import Record

PATH = Path("r.jsonl")
ALL = (*RECORDS, launch(3), visit(3, 0, SMALL, [205, 215]), RECORDS[-1])
LOOKALIKE = lines_of(visit(1, 7, SMALL, [1, 1, 1]))
THEIRS = {
    "a line": b"theirs\n",
    "no newline": b"theirs",
    "half a letter": b"\xc3",
    "blanks": b" \t",
    "an empty line": b"\n",
    "a record of another result": LOOKALIKE,
    "that without its newline": LOOKALIKE[:-1],
    "the beginning of a record": LOOKALIKE[:40],
    "a megabyte": b"x" * (1 << 20),
}
MOMENTS = {"first line": 0, "first launch": 1, "visit": 4, "end of a launch": 7, "end": len(ALL) - 1}
"""Records at which others append, by their place."""

KEPT_BYTES = {"in memory": writer.MAX_KEPT_BYTES, "too large for memory": 10}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=KEPT_BYTES)
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether all lines are in memory."""
    monkeypatch.setattr(writer, "MAX_KEPT_BYTES", KEPT_BYTES[request.param])
    return str(request.param)


def add(theirs: bytes, path: Path = PATH) -> None:
    """As `printf ... >> r.jsonl` does."""
    with path.open("ab") as file:
        file.write(theirs)


def ours_in(path: Path, records: tuple[Record, ...]) -> bytes:
    """The lines of a file that are ours, as they follow each other in it."""
    ours = lines_of(*records).splitlines(keepends=True)
    lines = (line.lstrip(b" \t") for line in path.read_bytes().splitlines(keepends=True))
    return b"".join(line for line in lines if line in ours)


class Racing:
    """A system in which others append at the moment of a write of ours, once.

    Args:
        number: Of the write.
        split: Whether the system takes the half of our line first, and theirs come behind that.
        fails: Whether it then says that the disk is full.
    """

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        number: int,
        theirs: bytes,
        *,
        split: bool = False,
        fails: bool = False,
    ) -> None:
        self._left, self._theirs, self._split, self._fails = number, theirs, split, fails
        self._write = os.write
        patch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        """What the system does, with theirs before or behind it."""
        self._left -= 1
        if self._left == -2 and self._fails:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self._left != -1:
            return self._write(descriptor, data)
        if not self._split:
            add(self._theirs)
            return self._write(descriptor, data)
        taken = self._write(descriptor, data[: len(data) // 2])
        add(self._theirs)
        return taken


def grown(at: int, theirs: bytes, told: list[str]) -> writer.ResultFile:
    """A result that others append to before a record, or behind the last; open.

    Whenever a record was written, all until then can be read.
    """
    file = writer.create(PATH)
    file.set_reporter(told.append)
    for number, record in enumerate(ALL):
        if number == at:
            add(theirs)
        file.append(record)
        assert ours_in(PATH, ALL) == lines_of(*ALL[: number + 1])
    if at == len(ALL):
        add(theirs)
    return file


@pytest.mark.parametrize("at", [*MOMENTS.values(), len(ALL)])
@pytest.mark.parametrize("theirs", THEIRS)
def test_what_others_append_between_records_is_told_and_goes(kept: str, theirs: str, at: int) -> None:
    told: list[str] = []
    grown(at, THEIRS[theirs], told).__exit__(None, None, None)
    assert PATH.read_bytes() == lines_of(*ALL), kept
    assert told == [
        "r.jsonl: was appended to while it grew; all of it, without that, is saved again under its name"
    ]


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("at", MOMENTS.values())
@pytest.mark.parametrize("theirs", THEIRS)
def test_what_others_append_while_a_record_is_written_swallows_it_not(
    kept: str, theirs: str, at: int, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    with monkeypatch.context() as patch:
        Racing(patch, at, THEIRS[theirs], split=split)
        file = grown(-1, b"", told)
    with file:
        assert PATH.read_bytes() == lines_of(*ALL), kept
    assert len(told) == 1


def test_a_record_that_is_torn_as_often_as_it_is_written_is_there_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write, told = os.write, list[str]()

    def torn(descriptor: int, data: bytes) -> int:
        taken = write(descriptor, data[: len(data) // 2 + 1])
        add(b"theirs")
        return taken

    with writer.create(PATH) as file:
        file.set_reporter(told.append)
        for record in ALL[:3]:
            file.append(record)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", torn)
            file.append(ALL[3])
        for record in ALL[4:]:
            file.append(record)
        assert PATH.read_bytes() == lines_of(*ALL)
    assert len(told) == 1
    assert "was appended to" in told[0]


def test_the_first_line_is_the_first_again_before_anything_is_measured(kept: str) -> None:
    """Else a kill in the first launch would leave what nobody takes for a result."""
    with writer.create(PATH) as file:
        add(b"theirs\n")
        file.append(ALL[0])
        assert PATH.read_bytes() == lines_of(ALL[0]), kept


def test_until_the_end_of_a_launch_theirs_stand_on_lines_of_their_own(kept: str) -> None:
    """No rank is disturbed by saving, and a kill loses nothing."""
    with writer.create(PATH) as file:
        for record in ALL[:3]:
            file.append(record)
        add(b"theirs")
        file.append(ALL[3])
        assert PATH.read_bytes() == lines_of(*ALL[:3]) + b"theirs\n" + lines_of(ALL[3]), kept
        assert load(PATH).damaged == [4]


# ---- Several things at once ----------------------------------------------------------------------


actions = st.one_of(
    st.just("record"),
    st.sampled_from(sorted(THEIRS)),
    st.floats(0, 1),
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(actions, max_size=30))
def test_whatever_others_append_and_cut_all_records_are_there_in_the_end(
    tmp_path_factory: pytest.TempPathFactory, done: list[str | float]
) -> None:
    """A number cuts the file to that share; all else is appended."""
    path, told, records = tmp_path_factory.mktemp("r") / "r.jsonl", list[str](), [ALL[0]]
    with writer.create(path) as file:
        file.set_reporter(told.append)
        file.append(ALL[0])
        for action in done:
            if action == "record":
                records.append(ALL[1 + len(records) % (len(ALL) - 1)])
                file.append(records[-1])
            elif isinstance(action, str):
                add(THEIRS[action], path)
            else:
                os.truncate(path, int(path.stat().st_size * action))
        is_changed = path.read_bytes() != lines_of(*records)
        count = len(told)
    assert path.read_bytes() == lines_of(*records)
    assert len(told) - count == is_changed
    assert count <= sum(isinstance(record, writer.SETTLED) for record in records)


def test_what_is_appended_twice_in_a_launch_is_told_once(kept: str) -> None:
    told: list[str] = []
    with writer.create(PATH) as file:
        file.set_reporter(told.append)
        for record in ALL:
            if not isinstance(record, writer.SETTLED):
                add(b"theirs")
            file.append(record)
        assert PATH.read_bytes() == lines_of(*ALL), kept
    launches = [record for record in ALL if isinstance(record, Done)]
    assert len(told) == len(launches) + 1  # the last launch ends with the campaign


@pytest.mark.parametrize(
    ("fault", "name", "words"),
    [
        (
            lambda path: path.rename("moved.jsonl"),
            "moved.jsonl",
            "moved.jsonl: was appended to while it grew",
        ),
        (Path.unlink, "r.jsonl", "r.jsonl: was appended to and deleted while it grew"),
        (lambda path: os.truncate(path, 20), "r.jsonl", "r.jsonl: was cut or overwritten while it grew"),
    ],
)
def test_what_is_appended_to_and_then_taken_away_is_saved_without_that(
    fault: Callable[[Path], object], name: str, words: str
) -> None:
    told: list[str] = []
    with grown(-1, b"", told) as file:
        add(b"theirs")
        fault(PATH)
        file.append(ALL[-1])
        assert file.path == Path(name)
        assert file.path.read_bytes() == lines_of(*ALL, ALL[-1])
    assert told[-1].startswith(words)


def test_a_large_result_that_is_cut_and_appended_to_keeps_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "MAX_KEPT_BYTES", 10)
    told: list[str] = []
    with writer.create(PATH) as file:
        file.set_reporter(told.append)
        for record in ALL[:5]:
            file.append(record)
        os.truncate(PATH, PATH.stat().st_size - 9)
        add(b"theirs")
        for record in ALL[5:]:
            file.append(record)
        assert "a part of it is lost" in file.lost
    assert len(told) == 1
    assert ours_in(PATH, ALL) == lines_of(*ALL[:4], *ALL[5:])


# ---- Where others may have a right to it ---------------------------------------------------------


def no_locks(*_: object) -> None:
    """What a file system without locks says."""
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def test_where_no_file_is_locked_what_others_append_is_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be of another mpigauge, which has ended since."""
    monkeypatch.setattr(fcntl, "flock", no_locks)
    told: list[str] = []
    one = writer.create(PATH)
    one.set_reporter(told.append)
    for record in ALL[:4]:
        one.append(record)
    with writer.reopen(PATH, PATH.stat().st_size) as other:
        other.append(ALL[-1])
    assert PATH.read_bytes() == lines_of(*ALL[:4], ALL[-1])
    with one:
        for record in ALL[4:]:
            one.append(record)
    assert one.path == Path("r-2.jsonl")
    assert one.path.read_bytes() == lines_of(*ALL)
    assert lines_of(*ALL[:4], ALL[-1]) in PATH.read_bytes()
    assert told == ["r.jsonl: was appended to while it grew; all of it, without that, is saved as r-2.jsonl"]


def test_two_that_write_one_file_at_once_have_one_each_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    one = writer.create(PATH)
    one.append(ALL[0])
    other = writer.reopen(PATH, PATH.stat().st_size)
    with one, other:
        for record in ALL[1:]:
            one.append(record)
            other.append(record)
    assert one.path != other.path
    for file in (one, other):
        assert file.path.read_bytes() == lines_of(*ALL)


@pytest.mark.parametrize("theirs", THEIRS)
def test_a_full_disk_cuts_off_nothing_of_others(theirs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = writer.create(PATH)
    for record in ALL[:4]:
        file.append(record)
    with monkeypatch.context() as patch:
        Racing(patch, 0, THEIRS[theirs], split=True, fails=True)
        patch.setattr(writer, "_save_again", full)
        with pytest.raises(EnvironmentLacksError, match="the disk is full"):
            file.append(ALL[4])
        assert PATH.read_bytes().startswith(lines_of(*ALL[:4]))
        assert PATH.read_bytes().endswith(THEIRS[theirs])
    with file:
        file.append(ALL[4])
        assert ours_in(PATH, ALL) == lines_of(*ALL[:5])
    assert PATH.read_bytes() == lines_of(*ALL[:5])


def full(*_: object, **__: object) -> None:
    """There is no room to save it again."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_where_it_cannot_be_saved_nothing_of_it_is_lost_and_it_stays_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not so in the folder of temporary files, which may be another machine's, or cleaned: it is whole."""
    told: list[str] = []
    save_as = writer._save_as

    def without_room(path: Path, content: Any, *, over: bool = False) -> Any:
        return save_as(path, content, over=over) if path.is_absolute() else full()

    with monkeypatch.context() as patch:
        patch.setattr(writer, "_save_as", without_room)
        file = grown(3, b"theirs", told)
        assert (file.lost, file.path) == ("", PATH)
        assert b"".join(file.content()) == lines_of(*ALL)
        assert ours_in(PATH, ALL) == lines_of(*ALL)
    (sentence,) = told
    assert sentence == (
        f"r.jsonl: was appended to while it grew, and cannot be saved: {os.strerror(errno.ENOSPC)}; "
        "this is tried again after each launch"
    )
    with file:
        pass
    assert PATH.read_bytes() == lines_of(*ALL)


# ---- While it is packed --------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["before it", "during it", "before the lines are removed"])
@pytest.mark.parametrize("theirs", THEIRS)
def test_what_is_appended_while_it_is_packed_is_told_and_not_in_it(
    kept: str, theirs: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, unlink, left, told = os.fsync, Path.unlink, [THEIRS[theirs]], list[str]()

    def synced(descriptor: int) -> None:
        if left and moment == "during it":
            add(left.pop())
        fsync(descriptor)

    def unlinked(path: Path, missing_ok: bool = False) -> None:
        if left and path == PATH:
            add(left.pop())
        unlink(path, missing_ok=missing_ok)

    with grown(-1, b"", told) as file:
        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "unlink", unlinked)
        if moment == "before it":
            add(left.pop())
        assert file.compress() == Path("r.jsonl.gz")
    assert gzip.decompress(Path("r.jsonl.gz").read_bytes()) == lines_of(*ALL), kept
    assert [one.name for one in Path().iterdir()] == ["r.jsonl.gz"]
    assert told == ["r.jsonl: was appended to; all of it, without that, is in r.jsonl.gz"]


def test_what_is_cut_while_it_is_packed_is_not_packed(kept: str) -> None:
    told: list[str] = []
    with grown(-1, b"", told) as file:
        os.truncate(PATH, 10)
        assert file.compress() == PATH, kept
    assert [one.name for one in Path().iterdir()] == ["r.jsonl"]
    assert len(told) == 1


def test_what_is_packed_where_no_file_is_locked_stays_if_others_append(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    told: list[str] = []
    with grown(-1, b"", told) as file:
        add(b"theirs")
        file.compress()
    assert gzip.decompress(Path("r.jsonl.gz").read_bytes()) == lines_of(*ALL)
    assert PATH.read_bytes() == lines_of(*ALL) + b"theirs"
    assert len(told) == 1
