"""A result that somebody takes away while it is measured: the answer is of all that was measured."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mpigauge
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_ENVIRONMENT
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.result.records import Done
from tests.cli.journey import MEASURE, measured_visits

if TYPE_CHECKING:
    from mpigauge.result.records import Record
    from tests.conftest import Cli, Install

Fault = Callable[[Path], object]
FILE = Path("d/r.jsonl")


def replaced(path: Path) -> None:
    """By something that is no result."""
    path.unlink()
    path.write_text("theirs", encoding="utf-8")


FAULTS: dict[str, tuple[Fault, str]] = {
    "deleted": (Path.unlink, "d/r.jsonl"),
    "deleted with its folder": (lambda path: shutil.rmtree(path.parent), "d/r.jsonl"),
    "moved": (lambda path: path.rename("moved.jsonl"), "moved.jsonl"),
    "moved with its folder": (lambda path: path.parent.rename("moved"), "moved/r.jsonl"),
    "replaced": (replaced, "d/r-2.jsonl"),
    "cut": (lambda path: os.truncate(path, 0), "d/r.jsonl"),
}


@pytest.fixture
def at_the_end_of_launch(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Fault], None]:
    """Does something to the growing file, once."""

    def wanted(number: int, fault: Fault) -> None:
        append = writer.ResultFile.append

        left = [fault]

        def appended(self: writer.ResultFile, record: Record) -> None:
            if isinstance(record, Done) and record.launch == number and left:
                left.pop()(self.path)
            append(self, record)

        monkeypatch.setattr(writer.ResultFile, "append", appended)

    return wanted


@pytest.mark.thorough
@pytest.mark.parametrize("which", FAULTS)
def test_a_campaign_answers_with_all_that_was_measured(
    cli: Cli, fake_mpi: Install, at_the_end_of_launch: Callable[[int, Fault], None], which: str
) -> None:
    fake_mpi()
    whole = cli("run", *MEASURE, "-o", "whole.jsonl")
    fault, name = FAULTS[which]
    at_the_end_of_launch(2, fault)
    done = cli("run", *MEASURE, "-o", FILE)
    assert done.status == EXIT_DONE, done.err
    # How long the launches took is the machine's.
    lines, wanted = (re.sub(r"launches in \d+ s", "launches", one.out) for one in (done, whole))
    assert lines.replace(name, "whole.jsonl") == wanted
    assert f"result: {name}" in done.err
    assert done.err.count("while it grew") == 1
    result = load(Path(name))
    assert measured_visits(result) == measured_visits(load(Path("whole.jsonl")))
    assert [end.reason for end in result.ends] == ["launches"]


def test_it_is_packed_where_it_is_then(
    cli: Cli, fake_mpi: Install, at_the_end_of_launch: Callable[[int, Fault], None]
) -> None:
    fake_mpi()
    at_the_end_of_launch(2, Path.unlink)
    done = cli("run", *MEASURE)
    (path,) = Path("results").iterdir()
    assert (done.status, path.suffix) == (EXIT_DONE, ".gz")
    assert len(load(path).done) == 3


@pytest.fixture
def never_saved(monkeypatch: pytest.MonkeyPatch, at_the_end_of_launch: Callable[[int, Fault], None]) -> None:
    """A result that is deleted where there is no room to save it again."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer, "_save_again", full)
    at_the_end_of_launch(1, Path.unlink)


@pytest.mark.thorough
@pytest.mark.usefixtures("never_saved")
@pytest.mark.parametrize(
    "words", [("run", *MEASURE), ("map", "--np", "3", "--launches", "2")], ids=lambda words: str(words[0])
)
def test_what_cannot_be_saved_is_shown_and_is_a_lack_of_this_machine(
    cli: Cli, fake_mpi: Install, words: tuple[str, ...]
) -> None:
    fake_mpi()
    done = cli(*words, "-o", "r.jsonl")
    assert done.status == EXIT_ENVIRONMENT
    assert len(done.out.splitlines()) > 3
    assert "r.jsonl: was deleted while it grew" in done.err
    assert "result: r.jsonl" not in done.err
    assert not Path("r.jsonl").exists()


@pytest.mark.usefixtures("never_saved")
def test_a_script_has_the_numbers_all_the_same(fake_mpi: Install) -> None:
    fake_mpi()
    found = mpigauge.run("pingpong", sizes="8", launches=2, output="r.jsonl")
    assert found.rows()
    assert not Path("r.jsonl").exists()


@pytest.mark.thorough
def test_what_is_measured_again_answers_though_it_is_taken_away(
    cli: Cli, fake_mpi: Install, at_the_end_of_launch: Callable[[int, Fault], None]
) -> None:
    words = (
        "run",
        "pingpong",
        "memcpy",
        "--sizes",
        "8,64,512,4096",
        "--samples",
        "40",
        "-q",
        "--launches",
        "5",
    )
    mpis = (fake_mpi(latency_ns=10_000), fake_mpi("mpich", "5.0.2", latency_ns=15_000))
    both = [word for mpi in mpis for word in ("--mpi", mpi.mpicc)]
    assert cli(*words, *both, "-o", "both.jsonl").status == EXIT_DONE
    at_the_end_of_launch(1, replaced)
    done = cli("compare", "both.jsonl", "--remeasure", "-o", "again.jsonl")
    assert "result: again-2.jsonl" in done.err
    assert "replaced by another file" in done.err
    assert Path("again.jsonl").read_text(encoding="utf-8") == "theirs"
    assert len(load(Path("again-2.jsonl")).done) > 1
    assert done.status == EXIT_CHECK_FAILED
