"""Fifty faults of disks and of people, each at a moment of its own: no visit that was finished is lost."""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_ENVIRONMENT
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.result.records import Visit
from tests.cli.journey import EVERY_VISIT, MEASURE, measured_visits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from _pytest.mark.structures import ParameterSet

    from mpigauge.result.records import Record
    from tests.conftest import Cli, Done, Install

FOLDER = Path("d")
FILE = FOLDER / "r.jsonl"
SEEDS = range(5)

DISKS = {
    "no room": errno.ENOSPC,
    "no quota": errno.EDQUOT,
    "broken": errno.EIO,
    "read only": errno.EROFS,
}
"""What a disk says from some byte on."""


def replaced(path: Path) -> None:
    """By a file of somebody else."""
    path.unlink()
    path.write_bytes(b"theirs")


PEOPLE: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "folder deleted": lambda path: shutil.rmtree(path.parent),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 3),
    "replaced": replaced,
    "overwritten": lambda path: path.write_bytes(b"theirs\n" * 5000),
    "moved": lambda path: path.rename("moved.jsonl"),
}
"""What is done to a growing file."""


def cases(kinds: Iterable[str]) -> list[ParameterSet]:
    """Each kind with each seed; the first is tried every day."""
    pairs = itertools.product(kinds, SEEDS)
    return [
        pytest.param(*pair, marks=[pytest.mark.thorough] if number else [])
        for number, pair in enumerate(pairs)
    ]


class Disk:
    """Where the result is: writes and reads go through, until it has taken so many bytes."""

    def __init__(self, patch: pytest.MonkeyPatch, most_bytes: int, number: int) -> None:
        self._left_bytes, self._number = most_bytes, number
        self._write, self._fsync = os.write, os.fsync
        self._folder = str(FOLDER.absolute())
        patch.setattr(os, "write", self.write)
        patch.setattr(os, "fsync", self.fsync)

    def _is_here(self, descriptor: int) -> bool:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink()).startswith(self._folder)

    def write(self, descriptor: int, data: bytes) -> int:
        """As much as there is room for, then what is wrong."""
        if not self._is_here(descriptor):
            return self._write(descriptor, data)
        if self._left_bytes <= 0:
            raise OSError(self._number, os.strerror(self._number))
        taken = self._write(descriptor, data[: self._left_bytes])
        self._left_bytes -= taken
        return taken

    def fsync(self, descriptor: int) -> None:
        """Says late what is wrong, as network file systems do."""
        if self._is_here(descriptor) and self._left_bytes <= 0:
            raise OSError(self._number, os.strerror(self._number))
        self._fsync(descriptor)


@pytest.fixture(autouse=True)
def finished(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, list[int]]]:
    """Every visit that was written down: launch, number, samples."""
    found: list[tuple[int, int, list[int]]] = []
    append = writer.ResultFile.append

    def appended(self: writer.ResultFile, record: Record) -> None:
        append(self, record)
        if isinstance(record, Visit):
            found.append((record.launch, record.id, [*record.samples_ns]))

    monkeypatch.setattr(writer.ResultFile, "append", appended)
    monkeypatch.setenv("FAKE_JITTER", EVERY_VISIT["FAKE_JITTER"])
    return found


def file_of(done: Done) -> Path:
    """Where it says that the result is."""
    named = re.findall(r"(?:result: |mpigauge resume )(\S+)$", done.err, re.MULTILINE)
    return Path(named[-1])


def in_file(path: Path) -> list[tuple[int, int, list[int]]]:
    """The visits of a file as `finished` has them."""
    return [(visit.launch, visit.id, [*visit.samples_ns]) for visit in load(path).visits]


def whole(cli: Cli, finished: list[tuple[int, int, list[int]]]) -> tuple[Path, int]:
    """A campaign that nothing happens to, and how long its file is."""
    path = Path("whole.jsonl")
    assert cli("run", *MEASURE, "-o", path).status == EXIT_DONE
    finished.clear()
    return path, path.stat().st_size


def expect_none_lost(
    finished: list[tuple[int, int, list[int]]], path: Path, record: Callable[[str, object], None]
) -> None:
    """All visits that were finished are in the file; how many these are goes into the report."""
    there = in_file(path)
    lost = [one for one in finished if one not in there]
    record("finished, lost", (len(finished), len(lost)))
    assert lost == []


@pytest.mark.parametrize(("kind", "seed"), cases(DISKS))
def test_what_a_disk_does_loses_no_finished_visit(
    cli: Cli,
    fake_mpi: Install,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    finished: list[tuple[int, int, list[int]]],
    kind: str,
    seed: int,
) -> None:
    fake_mpi()
    path, size_bytes = whole(cli, finished)
    first_bytes = path.read_bytes().index(b"\n") + 1
    with monkeypatch.context() as patch:
        Disk(patch, Random(f"{kind} {seed}").randrange(first_bytes, size_bytes), DISKS[kind])
        done = cli("run", *MEASURE, "-o", FILE)
    assert done.status == EXIT_ENVIRONMENT
    assert f"mpigauge resume {FILE}" in done.err
    expect_none_lost(finished, FILE, record_property)
    assert cli("resume", FILE).status == EXIT_DONE
    expect_none_lost(finished, FILE, record_property)
    made = [one[:2] for one in in_file(FILE)]
    assert len(made) == len(set(made))
    assert {one[:2] for one in in_file(path)} <= set(made)


@pytest.mark.parametrize(("kind", "seed"), cases(PEOPLE))
def test_what_people_do_loses_no_finished_visit(
    cli: Cli,
    fake_mpi: Install,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    finished: list[tuple[int, int, list[int]]],
    kind: str,
    seed: int,
) -> None:
    fake_mpi()
    path, _ = whole(cli, finished)
    records = len(path.read_bytes().splitlines())
    at, append, count = Random(f"{kind} {seed}").randrange(2, records), writer.ResultFile.append, 0

    def appended(self: writer.ResultFile, record: Record) -> None:
        nonlocal count
        count += 1
        if count == at:
            PEOPLE[kind](self.path)
        append(self, record)

    monkeypatch.setattr(writer.ResultFile, "append", appended)
    done = cli("run", *MEASURE, "-o", FILE)
    assert done.status == EXIT_DONE, done.err
    assert done.err.count("while it grew") == 1
    expect_none_lost(finished, file_of(done), record_property)
    assert measured_visits(load(file_of(done))) == measured_visits(load(path))
