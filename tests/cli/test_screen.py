"""What a real terminal gets, and what a pipe gets: the program itself, on a pseudo-terminal of a width."""

from __future__ import annotations

import fcntl
import gzip
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from typing import TYPE_CHECKING

import click
import pytest
from rich.cells import cell_len

from mpigauge.cli import COMMANDS, main, mpigauge
from tests.cli.maps import mapped
from tests.made import (
    PATTERNS,
    RECORDS,
    campaign,
    cell,
    collective,
    in_states,
    launches_of,
    lines_of,
    measured,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
PROGRAM = (sys.executable, "-m", "mpigauge")
WIDTHS = (60, 80, 100, 120, 200)
ONE_SCREEN = 24


@pytest.fixture
def result(machine: Path) -> Path:
    """A result file."""
    path = machine / "work" / "r.jsonl"
    path.write_bytes(lines_of(*RECORDS))
    return path


def surroundings(**more: str) -> dict[str, str]:
    """Variables of a terminal with colours."""
    others = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")
    }
    return {**others, "TERM": "xterm-256color", **more}


def on_terminal(*words: object, width: int = 100, height: int = 40, **variables: str) -> str:
    """What the program writes to a terminal of this size; it runs in this process, which has all loaded."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    pieces: list[bytes] = []
    reading = threading.Thread(target=lambda: pieces.extend(iter(lambda: _read(reader), b"")))
    reading.start()
    _write_to(writer, words, surroundings(**variables))
    reading.join()
    os.close(reader)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def _write_to(descriptor: int, words: Sequence[object], environment: dict[str, str]) -> None:
    """Runs the program with this as its standard output, in this environment; closes it."""
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    mine = os.dup(1)
    with pytest.MonkeyPatch.context() as patch, open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        for name in [name for name in os.environ if name not in environment]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        os.dup2(descriptor, 1)
        os.close(descriptor)
        with open(1, "w", encoding=encoding, closefd=False) as out:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", nowhere)
            try:
                main([str(word) for word in words])
            except SystemExit:
                pass
            finally:
                out.flush()
                os.dup2(mine, 1)
                os.close(mine)


def _read(reader: int) -> bytes:
    """Linux ends a terminal whose last writer has gone with an error."""
    try:
        return os.read(reader, 65536)
    except OSError:
        return b""


def on_pipe(*words: object, **variables: str) -> bytes:
    """What it writes to a pipe."""
    reader, writer = os.pipe()
    pieces: list[bytes] = []
    reading = threading.Thread(target=lambda: pieces.extend(iter(lambda: _read(reader), b"")))
    reading.start()
    _write_to(writer, words, surroundings(**variables))
    reading.join()
    os.close(reader)
    return b"".join(pieces)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_fits_the_terminal(result: Path, width: int) -> None:
    text = on_terminal("show", "--all", result, width=width)
    assert ESCAPE.search(text)
    lines = ESCAPE.sub("", text).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert any("pingpong, standard" in line for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_the_answer_of_a_machine_of_several_states_is_one_screen(machine: Path, width: int) -> None:
    """However long the line of the states is, and however many patterns there are."""
    small = [cell("pingpong", 8), cell("stream", 8, "unidirectional", window=64), cell("memcpy", 2**20)]
    large = [cell("pingpong", 2**20), cell("exchange", 2**20, "nonblocking")]
    names = [one.name for one in PATTERNS if one.family == "collective" and one.moves_bytes]
    cells = [*small, *large, collective("barrier"), *(collective(name, 8) for name in names)]
    course = [["near", "near", "far", "far", "near-far", "near"]] * 4
    takes = {"near": 1, "far": 2}
    visits = in_states(cells, course, lambda of, state, n: [takes[state] * (300 + of.bytes + 30 * n)] * 4)
    # One that was never measured is a doubt more.
    every = [*cells, cell("eager", 2**22)]
    path = written("states.jsonl", campaign(*every), *launches_of(cells, range(1, 5)), *visits, RECORDS[-1])
    text = ESCAPE.sub("", on_terminal("show", path, width=width))
    assert "states: cores near" in text
    assert "mpigauge plot" in text
    assert len(text.splitlines()) <= ONE_SCREEN


@pytest.mark.parametrize(
    ("height", "width", "words", "shown"),
    [
        (16, 80, (), False),
        (60, 80, (), True),
        (60, 79, (), False),
        (60, 80, ("--no-chart",), False),
        (10, 80, ("--chart",), True),
    ],
)
def test_an_answer_has_a_chart_where_the_terminal_has_room(
    machine: Path, height: int, width: int, words: tuple[str, ...], *, shown: bool
) -> None:
    cells = [cell("pingpong", size) for size in (8, 512, 4096, 2**20)]
    visits = measured(cells, range(1, 7), lambda of, launch: [2000 + of.bytes // 4 + launch] * 4)
    path = written("curve.jsonl", campaign(*cells), *launches_of(cells, range(1, 7)), *visits, RECORDS[-1])
    text = ESCAPE.sub("", on_terminal("show", path, *words, width=width, height=height))
    assert ("latency over message size" in text) is shown
    if shown and not words:
        assert len(text.splitlines()) < height


def test_a_usual_answer_is_on_24_lines_with_its_finding_and_the_prompt(machine: Path) -> None:
    """The first sentence had scrolled away: the commands for what comes next make room for it."""
    cells = [cell("pingpong", size, mode) for size in (8, 2**20) for mode in ("standard", "nonblocking")]
    more = [collective(name, 8) for name in ("bcast", "allreduce", "gather", "scatter", "allgather")]
    every = [*cells, cell("exchange", 2**20, "nonblocking"), *more, cell("memcpy", 2**20)]
    visits = measured(every, range(1, 5), lambda of, launch: [2000 + of.bytes // 4 + launch] * 4)
    path = written("usual.jsonl", campaign(*every), *launches_of(every, range(1, 5)), *visits, RECORDS[-1])
    lines = ESCAPE.sub("", on_terminal("show", path, width=80, height=24)).splitlines()
    assert len(lines) <= 24 - len(("result: usual.jsonl", "$"))
    assert lines[0].startswith("a message of 8 B takes")
    assert sum("a message of 8 B takes" in line for line in lines) == 1
    assert any("mpigauge show --all" in line for line in lines)
    assert "mpigauge plot" in "".join(ESCAPE.sub("", on_terminal("show", path, width=80, height=40)))


PLACES = ({"transport": "shm"}, {"transport": "tcp"}, {"transport": "tcp", "placement": "h1,h2"})


@pytest.fixture
def compared(machine: Path) -> Path:
    """Two libraries in three places, in two modes."""
    cells = [
        cell("pingpong", size, mode, **library, **place)
        for library in ({}, {"mpi": "mpich", "mpi_version": "5.0.2"})
        for place in PLACES
        for mode in ("standard", "nonblocking")
        for size in (8, 4096, 2**20)
    ]
    takes = {of: 2000 + 37 * place for place, of in enumerate(cells)}
    visits = measured(cells, range(1, 6), lambda of, number: [takes[of] + of.bytes // 7 + number] * 4)
    return written("compared.jsonl", campaign(*cells), *launches_of(cells, range(1, 6)), *visits, RECORDS[-1])


@pytest.mark.parametrize("table", ["answer", "latency", "times", "rates", "summary"])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_column_of_numbers_that_are_compared_is_hidden(
    compared: Path, table: str, width: int, cli: Cli
) -> None:
    """They go on in blocks below, so that every number stands there as often as in the plain text."""
    plain = cli("show", compared, "--table", table).out
    text = ESCAPE.sub("", on_terminal("show", compared, "--table", table, width=width))
    assert "hidden" not in text
    assert max(map(cell_len, text.splitlines())) <= width
    numbers = re.compile(r"\d[\d.]* (?:ns|\N{MICRO SIGN}s|[MG]B/s) (?=[\N{PLUS-MINUS SIGN}(])")
    there = [" ".join(one.split()) for one in numbers.findall(plain)]
    assert len(there) > 11
    assert sorted(there) == sorted(" ".join(one.split()) for one in numbers.findall(text))


@pytest.mark.thorough
def test_the_program_itself_writes_the_same(result: Path) -> None:
    """As a process of its own, which the other tests do not start."""
    for variables in ({}, {"PYTHONIOENCODING": "ascii"}):
        words = [*PROGRAM, "show", str(result)]
        done = subprocess.run(words, capture_output=True, check=True, env=surroundings(**variables))
        assert done.stdout == on_pipe("show", result, **variables)
        assert done.stderr == b""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(words[0], words, surroundings())  # noqa: S606
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    text = b"".join(iter(lambda: _read(terminal), b"")).decode().replace("\r\n", "\n")
    os.waitpid(pid, 0)
    os.close(terminal)
    assert text == on_terminal("show", result, width=100)


def test_a_pipe_gets_the_plain_text_alone(result: Path, cli: Cli) -> None:
    plain = on_pipe("show", result).decode()
    assert plain == cli("show", result).out
    assert "\x1b" not in plain
    assert "hidden" not in plain


@pytest.mark.parametrize(
    ("words", "variables"),
    [(("--color", "never"), {}), ((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"})],
    ids=["never", "NO_COLOR", "dumb"],
)
def test_without_colours_there_is_no_code_of_any_kind(
    result: Path, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    assert on_terminal("show", result, *words, width=80, height=40, **variables) == ESCAPE.sub(
        "", on_terminal("show", result, width=80)
    )


def test_what_is_asked_for_on_the_command_line_goes_before_the_environment(result: Path) -> None:
    assert ESCAPE.search(on_terminal("show", result, "--color", "always", NO_COLOR="1"))


def test_on_a_pipe_colours_bring_no_limit_of_width(result: Path) -> None:
    text = on_pipe("show", result, "--color", "always", COLUMNS="50").decode()
    assert ESCAPE.search(text)
    assert max(map(len, ESCAPE.sub("", text).splitlines())) > 2 * 50
    assert "hidden" not in text


@pytest.mark.parametrize("form", ["markdown", "csv", "json"])
def test_other_forms_are_the_same_everywhere(result: Path, form: str) -> None:
    words = ("show", result, "--format", form, "--color", "always")
    assert on_terminal(*words, width=40) == on_pipe(*words).decode() == on_pipe(*words[:4]).decode()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_no_encoding_makes_it_crash(result: Path, encoding: str) -> None:
    for words in (
        ("show", result),
        ("show", result, "--format", "json"),
        ("show", result, "--color", "always"),
    ):
        assert on_pipe(*words, PYTHONIOENCODING=encoding)


@pytest.mark.thorough
def test_a_map_fits_the_terminal(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.05")
    monkeypatch.setenv("FAKE_SLOW", "2:3")
    plain = mapped(cli, "--np", 6, "-o", "map.jsonl").out
    for width in WIDTHS:
        check_map(plain, width)


def check_map(plain: str, width: int) -> None:
    """The map on a terminal of this width has all that it has in plain text."""
    text = ESCAPE.sub("", on_terminal("map", "map.jsonl", width=width))
    assert max(map(cell_len, text.splitlines())) <= width
    squeezed = re.sub(r"\s+", "", text)
    verdict = next(line for line in plain.splitlines() if line.startswith("slow host"))
    assert re.sub(r"\s+", "", verdict) in squeezed
    numbers = re.findall(
        r"(?<=\s)\d+(?:\.\d+)?(?=\s)", plain.partition("latency of 8 B, ns\n")[2].partition("\n\n")[0]
    )
    matrix = text.partition("latency of 8 B, ns\n")[2].partition("\n\n")[0]
    assert numbers
    assert all(number.strip() in matrix.split() for number in numbers)
    pairs = ESCAPE.sub("", on_terminal("map", "map.jsonl", "--pair", "h1,h2", "--pair", "h1,h3", width=width))
    assert max(map(cell_len, pairs.splitlines())) <= width
    assert ("columns hidden" in pairs) == ("ratios" not in pairs.partition("columns hidden")[0])


@pytest.mark.parametrize(
    "words", [("doctor",), ("list",), ("list", "mpis"), ("list", "plots"), ("list", "formats")]
)
def test_what_is_told_of_this_machine_fits_the_terminal(openmpi: FakeMpi, words: tuple[str, ...]) -> None:
    text = on_terminal(*words, width=60)
    assert text
    assert max(map(cell_len, ESCAPE.sub("", text).splitlines())) <= 60


def test_the_doctor_sums_up_on_a_terminal_and_on_a_pipe_begins_every_line_with_a_state(
    openmpi: FakeMpi,
) -> None:
    *_, last = ESCAPE.sub("", on_terminal("doctor", width=120)).splitlines()
    assert "ready to measure" in last
    plain = on_pipe("doctor").decode()
    tables = [line for line in plain.splitlines() if line.startswith("  ")]
    assert tables
    assert all(re.match(r" +(ok|info|note|lacks) | +-> ", line) for line in tables)


def test_every_verb_that_prints_text_takes_colour() -> None:
    with click.Context(mpigauge) as context:
        verbs = {name: mpigauge.get_command(context, name) for name in COMMANDS}
    options = {name: {opt for one in verb.params for opt in one.opts} for name, verb in verbs.items() if verb}
    assert {name for name, all_ in options.items() if "--format" in all_} == {
        name for name, all_ in options.items() if "--color" in all_
    }
    assert {"run", "resume", "show", "map", "list", "doctor"} <= {
        n for n, all_ in options.items() if "--color" in all_
    }


@pytest.mark.parametrize(("height", "times"), [(12, 2), (60, 1)])
def test_an_answer_that_scrolls_ends_in_its_first_sentence(result: Path, height: int, times: int) -> None:
    """What was found stood above the screen, and prompt and hints where one looks."""
    said = ESCAPE.sub("", on_terminal("show", result, height=height)).rstrip()
    first = said.splitlines()[0]
    assert said.count(first) == times
    assert said.endswith(first) == (times > 1)


def test_no_other_form_and_no_pipe_ends_so(result: Path, cli: Cli) -> None:
    first = cli("show", result).out.splitlines()[0]
    assert cli("show", result).out.count(first) == 1
    assert ESCAPE.sub("", on_terminal("show", result, "--all", height=12)).count(first) <= 1


@pytest.mark.parametrize("typed", ["r.jsonl.gz", "r.jsonl"])
def test_a_result_is_found_packed_or_not(result: Path, cli: Cli, typed: str) -> None:
    if typed == "r.jsonl":
        result.with_suffix(".jsonl.gz").write_bytes(gzip.compress(result.read_bytes()))
        result.unlink()
    for verb in ("show", "explain"):
        assert cli(verb, typed).status == 0
    assert "is complete" in cli("resume", typed).err
    assert cli("show", f"{'r' * 300}.jsonl").err.startswith("mpigauge: ")
    assert cli("show", "other.jsonl").err.startswith("mpigauge: other.jsonl: there is no such file")


def test_what_users_call_a_list_is_understood(cli: Cli) -> None:
    assert cli("list", "suites").out == cli("list", "plans").out
    assert "libraries" in cli("list", "nothing").err
