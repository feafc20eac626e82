"""What programs and strangers print is searched in time that grows as its length does, whatever it is."""

from __future__ import annotations

import contextlib
import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.failure_remedies import REMEDIES
from mpigauge.errors import MpigaugeError
from mpigauge.importers.reading import _any_mark, _marks, read_any
from mpigauge.importers.unknown_format import _BEGINNING, MARKS, guess_program
from mpigauge.mpi import environments
from mpigauge.mpi.configuration import LINES
from mpigauge.mpi.kinds import KINDS, MpiKind
from mpigauge.mpi.wrapper import explain_failure
from mpigauge.result.home_paths import BEGIN, END
from mpigauge.rows.failure_cause import telling_line
from mpigauge.vocabulary import REASON_MOST
from tests.patterns import HOSTILE, Used, attacks, in_calls, in_globals

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_FOREIGN = {
    "show.report.pictures": "figures that matplotlib has drawn",
    "dependencies": "requirements of our own package",
    "cli.verbs.manual": "our own help",
}
"""Modules whose regular expressions see nothing that others have written, and what they see."""

USED_AS = {
    "find.settings.CHOICES": "fullmatch",
    "importers.ucx._SHAPES": "fullmatch",
    "mpi.transport_report._PROVIDER": "match",
    "mpi.transport_report._TUNING": "match",
    "mpi.transport_report._NETMOD": "match",
}
"""Methods that no call shows, as the regular expression is handed on."""

OF_WORDS = {
    "campaign.failure_remedies: re.search(self.pattern, line, re.IGNORECASE)": [
        one.pattern for one in REMEDIES
    ],
    "campaign.trusted_results: re.search(f'{re.escape(path)}(?![\\\\w.-])', words)": [r"/a(?![\w.-])"],
    "importers.command_lines: re.search(f'\\\\$\\\\{{?{loop[1]}\\\\b', body)": [r"\$\{?i\b"],
    "importers.nccl.job: re.search(f'\\\\s(?:{name})[ =]*([0-9]{{1,4}})(?![\\\\w.])', options)": [
        r"\s(?:-g|--ngpus)[ =]*([0-9]{1,4})(?![\w.])"
    ],
    "importers.reading: re.compile(f'(?<![\\\\w#/.-])(?:{marks})')": [_any_mark().pattern],
    "importers.reading: re.compile(reader.mark)": [one.pattern for one in _marks().values()],
    "importers.text: re.compile(''.join((_token(token, loose=loose, last=at == last) for at, token in "
    "enumerate(tokens))))": [r"\[[ \t]+[\w.+-]+:[0-9.+-]+\][ \t]*"],
    "importers.text: re.compile(f'[ \\\\t]{{1,{len(prefix)}}}')": [r"[ \t]{1,240}"],
    "importers.text: re.compile(f'(?<=\\\\S){shape}')": [r"(?<=\S)\[[0-9.+-]+,[0-9.+-]+\]<stdout>:"],
    "importers.unknown_format: re.compile(mark.replace('^', _BEGINNING), re.MULTILINE)": [
        f"(?m){mark.replace('^', _BEGINNING)}" for mark in MARKS.values()
    ],
    "mpi.configuration: re.search(f'^{beginning}(.*)$', output, re.MULTILINE)": [
        f"(?m)^{one}(.*)$" for one in LINES.values()
    ],
    "mpi.environments: re.search(f'{FAILURE}|replacing \"{re.escape(word)}[\"/.]', said)": [
        rf'{environments.FAILURE}|replacing "a["/.]'
    ],
    "mpi.environments: re.search(cause, line)": list(environments.CAUSES),
    "mpi.environments: re.search(words, why)": list(environments.HINTS),
    "mpi.kinds: re.match(kind.version_pattern, library_string)": [one.version_pattern for one in KINDS],
    "plan.model: re.compile(str(meta.extra_json_schema['pattern']))": [],  # in the types themselves
    "query.series: re.search(f'(?<![\\\\w.]){re.escape(word)}(?![\\\\w.])', name)": [r"(?<![\w.])a(?![\w.])"],
    "result.control_groups: re.findall(f'^{name} (\\\\d+)$', text, re.MULTILINE)": [
        r"(?m)^nr_throttled (\d+)$"
    ],
    "result.environment: re.search(f'^{key}:\\\\s+(\\\\d+) kB', read('/proc/meminfo'), re.MULTILINE)": [
        r"(?m)^MemTotal:\s+(\d+) kB"
    ],
    "result.home_paths: re.compile(f'({BEGIN})(?:{spelled}){END}')": [
        rf"({BEGIN})(?:/home/ann|/data/ann){END}"
    ],
    "result.source_tree: re.search(f'^([0-9a-f]{{40}}) {re.escape(name)}$', read(shared / 'packed-refs'), "
    "re.MULTILINE)": [r"(?m)^([0-9a-f]{40}) main$"],
}
"""Calls with words that are made as they run, and what these words can be; one that is new stands nowhere."""

MATCHED = ("mpi.kinds", "importers.reading", "importers.text")
"""Modules that look for these at the begin of a text alone, and for marks of formats in 640 signs of it."""

NOISE_S = 0.0012
"""Times above it tell something, since a text of so many characters is searched in a hundredth of it."""

CLEAR_S = 0.05
"""Times above it are judged."""

LONG_S = 0.3
"""Times of a megabyte above it are judged."""

FEW = 22
"""Repetitions that take exponential time long enough to be seen, and end."""

LENGTHS = (250, 2000, 8000)
LONGEST = 2**19
MOST_GROWTH = 2.5


def used() -> list[Used]:
    """Every regular expression that sees what others have written."""
    made = [
        Used(where.partition(":")[0], re.compile(pattern), "match" if where.startswith(MATCHED) else "search")
        for where, patterns in OF_WORDS.items()
        for pattern in patterns
    ]
    found = [*in_globals(), *in_calls()[0], *made]
    distinct = {
        (one.pattern, USED_AS.get(one.where, one.method)): one
        for one in found
        if not one.where.startswith(tuple(NOT_FOREIGN))
    }
    return [Used(one.where, pattern, method) for (pattern, method), one in distinct.items()]


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def growth(run: Callable[[int], Callable[[], object]], first: int = LENGTHS[0]) -> float:
    """By what the time of a text is multiplied when it is twice as long; 0 where it is too short to tell.

    Lengths are doubled until the time is clear, so that a text that takes too long is tried at few lengths.
    """
    length = first
    taken_s = seconds(run(length))
    for longer in (one for one in LENGTHS if one > first):
        if taken_s > NOISE_S:
            break
        length, taken_s = longer, seconds(run(longer))
    if taken_s <= NOISE_S:
        return 0.0
    factor = 0.0
    while taken_s < CLEAR_S and length < LONGEST:
        length *= 2
        taken_s, before_s = seconds(run(length)), taken_s
        factor = taken_s / before_s
        if factor < MOST_GROWTH:
            return 0.0
    for _ in range(3):  # a moment in which others had the processor is no growth
        factor = min(factor, seconds(run(2 * length)) / seconds(run(length)))
        if factor < MOST_GROWTH:
            return 0.0
    return factor


def slow_for(one: Used) -> str:
    """The text for which a regular expression takes more than linear time; empty if there is none."""
    for before, piece in attacks(one.pattern):
        for behind in ("", "\0!"):

            def made(
                length: int, before: str = before, piece: str = piece, behind: str = behind
            ) -> Callable[[], None]:
                text = before + piece * max(1, length // len(piece)) + behind
                return lambda: one.run(text)

            exponential = seconds(made(FEW * len(piece))) > CLEAR_S
            if exponential or (factor := growth(made)) > MOST_GROWTH:
                times = "ever" if exponential else f"{factor:.1f} times as long for twice the length"
                return f"{one}: {before!r} + {piece!r} * N + {behind!r} takes {times}"
    return ""


def test_no_regular_expression_is_forgotten() -> None:
    assert not {*in_calls()[1]} - {*OF_WORDS}


def test_what_sees_nothing_foreign_is_there() -> None:
    modules = {one.where.rpartition(".")[0] for one in (*in_globals(),)} | {
        one.where.partition(":")[0] for one in in_calls()[0]
    }
    assert set(NOT_FOREIGN) <= modules


def test_a_regular_expression_that_takes_quadratic_time_is_found() -> None:
    for pattern, method in (
        (r".*?[.:](?=\s|$)", "findall"),
        (r"x.*y", "search"),
        (r"\s+$", "sub"),
        (r"(a+)+b", "match"),
    ):
        assert slow_for(Used("here", re.compile(pattern), method)), pattern


def test_every_regular_expression_takes_linear_time() -> None:
    slow = list(filter(None, map(slow_for, used())))
    assert not slow, "\n".join(slow)


@pytest.mark.thorough
@pytest.mark.parametrize("piece", HOSTILE[:12])
def test_a_line_of_a_megabyte_takes_twice_as_long_as_half_of_it(piece: str) -> None:
    half, whole = (piece * (length // len(piece)) for length in (2**19, 2**20))

    def times_as_long(one: Used) -> float:
        return seconds(partial(one.run, whole)) / max(seconds(partial(one.run, half)), NOISE_S)

    read = [one for one in used() if not one.where.startswith(MATCHED)]  # which are given no such line
    long = [one for one in read if seconds(partial(one.run, whole)) > LONG_S]
    slow = [str(one) for one in long if all(times_as_long(one) > MOST_GROWTH for _ in range(3))]
    assert not slow


# ---- Whole texts -----------------------------------------------------------------------------------


HEADS = (
    "",
    "mpigauge-kernel: rank 1: MPI_Send(",
    "error stack:\n",
    "-" * 80 + "\n",
    "# OSU MPI Latency Test v7.4\n",
)
"""Beginnings after which lines are read otherwise."""

OF_LAUNCHERS = ("ORTE_ERROR_LOG ", "] *** STEP ", "export a=1\n", "a \\\n", "mpirun ", "a.b: rank 1: ")


def texts(piece: str, length: int) -> list[str]:
    """Texts of one line, and of lines of 4 kB, behind each of HEADS."""
    long = piece * (length // len(piece))
    lines = "\n".join(long[at : at + 4096] for at in range(0, length, 4096))
    return [head + body for head in HEADS for body in (long, lines)]


def assert_linear(run: Callable[[str], object], kilobytes: int = 64) -> None:
    """Check of hostile texts that twice the length takes no more than about twice the time."""
    for piece in (
        *HOSTILE,
        "ORTE_ERROR_LOG ",
        "] *** STEP ",
        "export a=1\n",
        "a \\\n",
        "mpirun ",
        "a.b: rank 1: ",
    ):
        for kind in range(2 * len(HEADS)):

            def made(length: int, kind: int = kind, piece: str = piece) -> Callable[[], object]:
                text = texts(piece, length)[kind]
                return lambda: run(text)

            assert growth(made, kilobytes << 8) < MOST_GROWTH, (piece, kind)


def quietly(run: Callable[[], object]) -> None:
    """Do what may refuse a text."""
    with contextlib.suppress(MpigaugeError):
        run()


def test_the_reason_of_a_dead_job_is_found_in_linear_time_and_is_short() -> None:
    assert_linear(telling_line)
    assert all(len(telling_line(text)) <= REASON_MOST for piece in HOSTILE for text in texts(piece, 20_000))


def test_words_of_compilers_and_modules_are_read_in_linear_time() -> None:
    assert_linear(lambda text: explain_failure(Path("mpicc"), 1, text))
    assert_linear(environments._cause)
    assert len(environments._cause("ERROR: " + "a " * 10**5)) <= REASON_MOST
    assert len(explain_failure(Path("mpicc"), 1, "error: " + "a " * 10**5)[0]) <= REASON_MOST + 80


def report(kind: MpiKind, text: str) -> str:
    """What a library reports of its transports."""
    return kind.parse_report(text.splitlines())


def test_reports_of_transports_are_read_in_linear_time() -> None:
    for kind in KINDS:
        assert_linear(partial(report, kind))


def test_texts_of_other_programs_are_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"

    def read(text: str) -> None:
        path.write_text(text)
        quietly(lambda: read_any(path))
        guess_program(text)

    assert_linear(read, 32)


ONE_TABLE = "# OSU MPI Latency Test v7.4\n# Size    Latency (us)\n8    1.00\n"


def times_longer(run: Callable[[str], object], made: Callable[[int], str], length: int) -> float:
    """How many times as long it takes to do something with twice the text, at best."""
    half, whole = made(length), made(2 * length)
    return min(seconds(lambda: run(whole)) / seconds(lambda: run(half)) for _ in range(3))


def prose_and_titles(length: int) -> str:
    """Many lines of prose, and below them titles of two formats in turn."""
    titles = "# OSU MPI Latency Test v7.4\n#  Intel(R) MPI Benchmarks 2021.3, MPI-1 part\n"
    return "prose\n" * length + titles * length


def tables_of_many_subjects(length: int) -> str:
    """Tables of one row, each of a subject of its own and below a setting of its own."""
    return "".join(
        f"export V{at}=1\n" + ONE_TABLE.replace("Latency Test", f"Foreign{at} Latency Test")
        for at in range(length)
    )


def columns_of_many_subjects(length: int) -> str:
    """One file of rccl-tests with a row for each of many subjects."""
    heading = "numCycle,collective,ranks,size,type,redop,inplace,time,algbw,busbw,wrong\n"
    return heading + "".join(
        f"0,all{at}_perf,2,1024,float,sum,0,1.00,1.024,1.024,0\n" for at in range(length)
    )


def settings_and_continuations(length: int) -> str:
    """Lines of a script that each go on on the next one, above a table."""
    return "mpirun -np 2 \\\n" * length + ONE_TABLE


def empty_lines(length: int) -> str:
    """Empty lines above a table."""
    return "\n" * length + ONE_TABLE


@pytest.mark.parametrize(
    ("made", "length"),
    [
        (prose_and_titles, 1000),
        (tables_of_many_subjects, 500),
        (columns_of_many_subjects, 500),
        (settings_and_continuations, 1000),
        (empty_lines, 50_000),
    ],
)
def test_a_text_with_twice_as_many_lines_takes_twice_as_long(
    tmp_path: Path, made: Callable[[int], str], length: int
) -> None:
    path = tmp_path / "text.txt"

    def read(text: str) -> None:
        path.write_text(text)
        quietly(lambda: read_any(path))

    assert times_longer(read, made, length) < MOST_GROWTH
