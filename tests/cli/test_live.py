"""What a terminal shows while a campaign runs: the answer grows, and leaves nothing but itself."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import sys
import termios
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli import status_of
from mpigauge.cli.screen.doing import doing
from mpigauge.cli.screen.live import LiveAnswer
from mpigauge.cli.screen.streams import note
from mpigauge.find import maps
from mpigauge.find.answer import AWAITED
from mpigauge.find.so_far import SoFar
from mpigauge.find.warning_sentences import sentence
from mpigauge.linkmap import table
from mpigauge.linkmap.linkmap import link_map
from mpigauge.result.reader import Result, load
from mpigauge.result.records import Launch, Visit
from mpigauge.rows.rows import rows
from mpigauge.show.formats import render
from tests.cli.maps import map_records, slower_host
from tests.made import RECORDS, SMALL, campaign, launch, result_of, visit, written
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.result.records import Record
    from mpigauge.rows.rows import Row
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

WIDTH, HEIGHT = 80, 30
RUN = ("run", "pingpong", "stream", "eager", "--sizes", "8,64KiB", "--launches", "3", "-o", "r.jsonl")


ALWAYS = 1e9
"""A share of the time that computing may take: however long it took the last time, it is its turn again."""


def watched(*words: str) -> tuple[int, Terminal]:
    """Runs a command line whose standard streams are one terminal; its exit status and the terminal."""
    statuses: list[int] = []
    screen = on_terminal(lambda: statuses.append(status_of([*words])))
    return statuses[0], screen


def on_terminal(work: Callable[[], None]) -> Terminal:
    """Works with standard streams that are one terminal; the terminal."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    pieces: list[bytes] = []
    reading = threading.Thread(target=lambda: pieces.extend(iter(lambda: _read(reader), b"")))
    reading.start()
    with pytest.MonkeyPatch.context() as patch, open(writer, "w", encoding="utf-8") as terminal:  # noqa: PTH123
        for name, value in {"COLUMNS": WIDTH, "LINES": HEIGHT, "TERM": "xterm"}.items():
            patch.setenv(name, str(value))
        patch.setattr(sys, "stdout", terminal)
        patch.setattr(sys, "stderr", terminal)
        work()
    reading.join()
    os.close(reader)
    screen = Terminal()
    screen.feed(b"".join(pieces).decode().replace("\r\n", "\n"))
    return screen


def _read(reader: int) -> bytes:
    """Linux ends a terminal whose last writer has gone with an error."""
    try:
        return os.read(reader, 65536)
    except OSError:
        return b""


def test_the_answer_grows_on_a_terminal(openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.1")
    monkeypatch.setattr("mpigauge.cli.screen.live.REFRESH_S", 0.0)
    monkeypatch.setattr("mpigauge.cli.screen.live.MAX_COMPUTING", ALWAYS)
    status, screen = watched(*RUN)
    assert status == 0
    # A number without an interval after one launch, with one after two; what is measured is named below it.
    latencies = [line for frame in screen.frames for line in frame.splitlines() if "latency, 8 B" in line]
    assert "\N{PLUS-MINUS SIGN}" not in latencies[0]
    assert "\N{PLUS-MINUS SIGN}" in latencies[-1]
    below = [frame.splitlines() for frame in screen.frames]
    assert any("launch 2" in line and "left" in line for lines in below for line in lines)
    assert any("pingpong standard 8 B, Open MPI" in line for lines in below for line in lines)
    assert any("2 launches in " in line for lines in below for line in lines)
    assert max(len(line) for lines in below for line in lines) <= WIDTH


@pytest.mark.parametrize(("share", "most"), [(ALWAYS, 100), (1e-9, 1)])
def test_numbers_are_computed_as_often_as_there_is_time_for_it(
    openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch, share: float, most: int
) -> None:
    """As of a campaign so large that computing takes long: then only before the first launch."""
    computed: list[SoFar] = []
    rows_so_far = SoFar.rows

    def counted(so_far: SoFar) -> list[Row]:
        computed.append(so_far)
        return rows_so_far(so_far)

    monkeypatch.setattr(SoFar, "rows", counted)
    monkeypatch.setattr("mpigauge.cli.screen.live.MAX_COMPUTING", share)
    watched("run", "pingpong", "--sizes", "8", "--launches", "3", "-o", "r.jsonl")
    assert min(most, 4) <= len(computed) <= most


def test_what_stays_is_the_answer_alone(openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.1")
    _, screen = watched(*RUN)
    left = [line.rstrip() for line in screen.rows if line.strip()]
    assert left[-1] == "result: r.jsonl"
    assert not any("left" in line or "measuring" in line for line in left)
    assert [line.split() for line in left[:-1]] == [
        line.split() for line in cli("show", "r.jsonl").out.splitlines() if line.strip()
    ]


def test_the_map_grows_on_a_terminal(little_noise: None, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It showed a bar until its end, and no number."""
    monkeypatch.setattr("mpigauge.cli.screen.live.REFRESH_S", 0.0)
    monkeypatch.setattr("mpigauge.cli.screen.live.FIRST_S", 0.0)
    monkeypatch.setattr("mpigauge.cli.screen.live.MAX_COMPUTING", ALWAYS)
    hosts = ("--hosts", "h1,h2,h3,h4", "--remote-shell", "/bin/true")
    status, screen = watched("map", *hosts, "--launches", "5", "-o", "m.jsonl")
    assert status == 0
    drawn = [frame for frame in screen.frames if "latency of 8 B, " in frame and " s left" in frame]
    assert any(AWAITED in frame for frame in drawn)
    assert AWAITED not in drawn[-1]
    said = ["nothing is slow" in frame for frame in drawn]
    assert (said[0], said[-1]) == (False, True)
    left = "\n".join(line.rstrip() for line in screen.rows)
    assert left.count("latency of 8 B, ") == 1
    assert "result: m.jsonl" in left


def test_ctrl_c_leaves_the_answer_so_far_and_says_what_to_do(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It erased all numbers, and named no way to see them again."""
    monkeypatch.setattr("mpigauge.cli.screen.live.MAX_COMPUTING", ALWAYS)
    launch_ends = LiveAnswer.launch_ends

    def then_ctrl_c(display: LiveAnswer, *of_launch: Any) -> None:
        launch_ends(display, *of_launch)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(LiveAnswer, "launch_ends", then_ctrl_c)
    status, screen = watched(*RUN)
    left = [line.rstrip() for line in screen.rows if line.strip()]
    assert status == 130
    assert any("latency, 8 B" in line for line in left)
    assert not any("at most" in line for line in left)
    assert left[-3].startswith("stopped by SIGINT (Ctrl-C); all finished visits are in r.jsonl")
    assert left[-2:] == [
        "  look at it:    mpigauge show r.jsonl",
        "  continue with: mpigauge resume r.jsonl",
    ]


def test_a_pipe_gets_a_line_a_launch(openmpi: FakeMpi, cli: Cli) -> None:
    done = cli(*RUN)
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "launch 1",
        "launch 2",
        "launch 3",
        "result",
    ]
    assert "\x1b" not in done.err + done.out


def test_a_default_result_is_compressed_once_it_is_complete(
    openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "2")
    (path,) = Path("results").iterdir()
    assert path.name.endswith(".jsonl.gz")
    assert done.err.splitlines()[-1] == f"result: {path}"
    assert cli("resume", path).status == 0
    assert "mpigauge show --all\n" in cli("show").out
    assert cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-o", "mine.jsonl").status == 0
    assert load(Path("mine.jsonl")).ends


# ---- Pages, folders and figures -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says", "last"),
    [
        (("report", "-o", "page.html"), ("page: section ", "figure 1 of "), "report: page.html"),
        (("plot", "--kind", "time", "-o", "time.png"), ("figure: time.png",), "figure: time.png"),
        (
            ("report", "--into", "F"),
            ("report.html (1 of ", "page: section ", "figures/time-84mm.pdf ("),
            "folder: F: ",
        ),
    ],
    ids=["page", "figure", "folder"],
)
def test_what_takes_seconds_says_what_it_does(
    machine: Path, words: tuple[str, ...], says: tuple[str, ...], last: str
) -> None:
    """A report took 18 s, and a folder more, without a sign of life."""
    verb, *options = words
    status, screen = watched(verb, str(written("r.jsonl", *RECORDS)), *options)
    assert status == 0
    drawn = [line for frame in screen.frames for line in frame.splitlines()]
    assert all(any(words in line for line in drawn) for words in says)
    left = [line for line in screen.rows if line.strip()]
    assert left[-1].startswith(last)
    assert not any(words in line for line in left[:-1] for words in says)


def test_a_pipe_is_told_what_was_made_alone(cli: Cli) -> None:
    path = written("r.jsonl", *RECORDS)
    assert cli("report", path, "-o", "page.html").err == "report: page.html\n"


def test_what_is_printed_meanwhile_stays_above_it() -> None:
    def work() -> None:
        with doing("reads") as begins:
            begins("writes")
            note("mpigauge: a file is left out")

    screen = on_terminal(work)
    assert any("writes" in line for frame in screen.frames for line in frame.splitlines())
    assert [line.strip() for line in screen.rows if line.strip()] == ["mpigauge: a file is left out"]


# ---- The map ------------------------------------------------------------------------------------


@pytest.mark.parametrize("launches", [1, 5])
def test_the_map_so_far_is_that_of_the_result_once_there_is_a_verdict(launches: int) -> None:
    head, *records = map_records(1, slower_host(2, 3.0))
    part = [one for one in records if getattr(one, "launch", getattr(one, "number", 0)) <= launches]
    result = result_of(head, *part)
    shown, whole = maps.progress(SoFar(result)), table.document(link_map(result))
    assert (shown.head, len(shown.tables)) == (whole.head, 2)
    assert shown.foot == (whole.foot[:1] if launches == 5 else [])
    assert bool(shown.foot) == (launches == 5)


def test_links_that_are_awaited_have_a_sign_of_their_own() -> None:
    head, *records = map_records(1)
    launches = [one for one in records if isinstance(one, Launch)]
    visits = [one for one in records if isinstance(one, Visit) and one.launch == 1]
    so_far = SoFar(result_of(head, *launches[:1], *visits[:2]))
    text = render(maps.progress(so_far), "text")
    assert text.count(AWAITED) == 2 * (4 + 6)
    assert "slow" not in text


def test_before_the_first_launch_nobody_knows_what_ranks_are_called() -> None:
    head, *_ = map_records(1)
    assert not maps.progress(SoFar(result_of(head))).tables


# ---- The numbers ---------------------------------------------------------------------------------


def begun(result: Result) -> SoFar:
    """A campaign of which nothing is measured yet."""
    return SoFar(Result(result.path, result.campaign))


@pytest.mark.parametrize("launches", [1, 2, 5, 6])
def test_numbers_of_few_launches_are_marked_as_in_the_result(launches: int) -> None:
    visits = [visit(number, 0, SMALL, [200 + number] * 9) for number in range(1, launches + 1)]
    result = result_of(campaign(SMALL), *map(launch, range(1, launches + 1)), *visits)
    (so_far,), (final,) = SoFar(result).rows(), rows(result)
    marks = [[one.kind for one in row.warnings if one.kind == "few-launches"] for row in (so_far, final)]
    assert marks[0] == marks[1] == (["few-launches"] if 2 <= launches < 6 else [])
    assert all(sentence(one) for one in so_far.warnings)


@pytest.mark.parametrize("whole", [True, False])
def test_numbers_so_far_are_those_of_the_result(measured: Path, whole: bool) -> None:
    result = load(measured)
    so_far = SoFar(result) if whole else begun(result)
    if not whole:
        records: list[Record] = [*result.launches, *result.visits, *result.eager]
        for record in records:
            so_far.take(record)
    known = {row.cell: row for row in rows(result)}
    found = so_far.rows()
    assert found
    for row in found:
        final = known[row.cell]
        assert row.limit_bytes == final.limit_bytes
        assert row.rate_bytes_per_s == final.rate_bytes_per_s
        if row.time is not None and final.time is not None:
            assert row.time.estimate == final.time.estimate
            assert (row.time.low, row.time.high) == (final.time.low, final.time.high)


def test_a_corrupt_visit_is_no_number() -> None:
    result = result_of(*RECORDS)
    so_far = begun(result)
    corrupt = [one for one in result.visits if one.corrupt]
    assert corrupt
    for one in corrupt:
        so_far.take(one)
    assert so_far.rows() == []
