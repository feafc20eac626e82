"""Files that are read and written: what is none is refused at once, and nothing is read without end."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge import inputs
from mpigauge.errors import UsageError
from mpigauge.result.reader import Result, load
from tests.made import RECORDS, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Cli

HINT = "name a file"


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a named pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.fixture(params=NO_FILES)
def no_file(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str]:
    """Something that is no file, and what it is."""
    monkeypatch.chdir(tmp_path)
    NO_FILES[request.param](Path("it.jsonl"))
    return Path("it.jsonl"), request.param


def test_what_is_no_file_is_neither_read_nor_written(no_file: tuple[Path, str]) -> None:
    path, kind = no_file
    for refuse in (
        lambda: inputs.content_of(path, HINT),
        lambda: inputs.check_output(path),
        lambda: load(path),
    ):
        with pytest.raises(UsageError, match=f"it.jsonl: is {kind}, not a file"):
            refuse()


@pytest.mark.parametrize(
    "name", ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/full"]
)
def test_names_of_the_system_are_not_written_to(name: str) -> None:
    with pytest.raises(UsageError, match="not "):
        inputs.check_output(Path(name))


@pytest.mark.parametrize("name", ["new.csv", "no/such/folder/new.csv", "/dev/shm/new.csv", "x" * 300, "a\0b"])  # noqa: S108
def test_a_name_that_is_free_is_left_to_who_writes(name: str) -> None:
    inputs.check_output(Path(name))


@pytest.fixture
def given_pipe() -> Iterator[Callable[[bytes], Path]]:
    """Open pipes as a shell gives them for `<(…)`, with something written into them."""
    writers, readers = [], []

    def give(content: bytes) -> Path:
        reading, writing = os.pipe()

        def write() -> None:
            with os.fdopen(writing, "wb") as file:
                file.write(content)

        writers.append(threading.Thread(target=write))
        writers[-1].start()
        readers.append(reading)
        return Path(f"/dev/fd/{reading}")

    yield give
    for writer in writers:
        writer.join()
    for reading in readers:
        os.close(reading)


def test_a_pipe_that_was_given_open_is_read(given_pipe: Callable[[bytes], Path]) -> None:
    assert inputs.content_of(given_pipe(b"text"), HINT) == b"text"
    assert load(given_pipe(lines_of(*RECORDS))).visits == load_all().visits


def load_all() -> Result:
    """The same records from a file."""
    path = Path("plain.jsonl")
    path.write_bytes(lines_of(*RECORDS))
    return load(path)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("long").write_bytes(b"x" * 1025)
    assert len(inputs.content_of(Path("long"), HINT, 1025)) == 1025
    with pytest.raises(UsageError, match="long: is longer than 0 MiB"):
        inputs.content_of(Path("long"), HINT, 1024)


@pytest.mark.parametrize(("name", "words"), [("absent", "No such file"), ("a\0b", "null")])
def test_a_file_that_cannot_be_read_is_named_with_the_cause(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        inputs.content_of(Path(name), HINT)
    assert refused.value.hint == HINT


def test_line_ends_of_other_systems_are_ours() -> None:
    Path("text").write_bytes(b"a\r\nb\rc\n")
    assert inputs.text_of(Path("text"), HINT) == "a\nb\nc\n"


def test_a_line_of_a_result_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = lines_of(*RECORDS).splitlines(keepends=True)
    most_bytes = max(map(len, (first, *others)))
    monkeypatch.setattr("mpigauge.result.reader.LINE_MOST_BYTES", most_bytes)
    Path("r.jsonl").write_bytes(first + b"".join(others))
    assert not load(Path("r.jsonl")).damaged
    Path("r.jsonl").write_bytes(first + b"0" * (most_bytes + 1))
    with pytest.raises(UsageError, match="has a line of more than"):
        load(Path("r.jsonl"))


ASKING = (
    ("show", "it.jsonl"),
    ("resume", "it.jsonl"),
    ("compare", "it.jsonl", "it.jsonl"),
    ("run", "--dry-run", "--plan", "it.jsonl"),
    ("run", "--dry-run", "--hosts", "./it.jsonl"),
    ("import", "osu", "it.jsonl"),
    ("run", "pingpong", "-o", "it.jsonl"),
    ("run", "pingpong", "--dry-run", "-o", "it.jsonl"),
)


@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_a_named_pipe_is_a_wrong_name_for_every_verb(
    openmpi: object, cli: Cli, words: tuple[str, ...]
) -> None:
    """All verbs and options that take a file are tried by `tests.fuzz files`."""
    os.mkfifo("it.jsonl")
    done = cli(*words)
    assert (done.status, done.err.splitlines()[0]) == (2, "mpigauge: it.jsonl: is a named pipe, not a file")
