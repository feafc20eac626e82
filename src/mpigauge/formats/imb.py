"""Text of the Intel MPI Benchmarks: parts MPI-1, NBC, P2P and RMA, groups of -multi, rows without numbers.

Times are in microseconds. Rates are checked against them, by MB of 10^6 bytes or those of 2^20 that old
versions printed; where there are rates alone, times follow from the count of messages, which needs no unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.formats.collected import Collected, LineParser, Meaning, cell_of, given_by
from mpigauge.formats.imb_meaning import TIMES, meanings_of, moved_bytes
from mpigauge.formats.text import (
    agree,
    begins_row,
    decimals_of,
    ends_of,
    is_headless_row,
    is_whole,
    unlike,
    without_note,
)
from mpigauge.plan.benchmarks import DATATYPES
from mpigauge.plan.patterns import known
from mpigauge.result.surroundings import Environment

if TYPE_CHECKING:
    from mpigauge.formats.text import Line
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import FailureKind

HINT = "IMB prints times as t[usec] and rates as Mbytes/sec: restore the heading, or leave the table out"

SUITE = re.compile(r"#\s+(Intel ?\(R\) MPI Benchmarks [\w. ]+?), (?:MPI-?)?(\w+) part.*", re.ASCII)
LIKE_SUITE = re.compile(r"#\s+Intel ?\(R\) MPI Benchmarks")
TITLE = re.compile(r"# Benchmarking\s+(Multi-)?([A-Za-z][\w-]*)\s*", re.ASCII)
LIKE_TITLE = re.compile(r"#\s*Benchmarking")
PROCESSES = re.compile(r"# #processes = ([0-9]{1,7})\b(?: *\(threads: ([0-9]{1,6})\))?.*")
GROUPS = re.compile(r"# \( ?([0-9]{1,7}) groups? of ([0-9]{1,7}) processes each.*")
MEMBERS = re.compile(r"# Group\s+([0-9]{1,7})\s*:\s*([0-9 ]+)")
KIND = re.compile(r"#\s+MODE:\s*([A-Za-z-]+)")
FACT = re.compile(r"# (Machine|System|Release|MPI_Datatype for reductions|MPI_Op)\s*:\s*(\S.*)")

SCALES = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
"""Seconds in what stands in brackets behind the name of a time."""

COLUMN = re.compile(
    r"(t(?:_\w+)?)\[(\w+)\]|(#?bytes|#repetitions|Group|defects)|(overlap)\[%\]|(Mbytes/sec|Msg/sec)"
)
BYTES, CALLS, GROUP, DEFECTS, RATE, MESSAGES = (
    *("#bytes", "#repetitions", "Group", "defects", "Mbytes/sec", "Msg/sec"),
)
WITHOUT: dict[str, FailureKind] = {
    "time-out.": "timeout",
    "out-of-mem.": "refused",
    "int-overflow": "refused",
}
"""What stands in the place of numbers, and what that is."""

MEGA = (10**6, 2**20)


@dataclass(slots=True)
class _Table:
    """What is known of the table that is read.

    Attributes:
        ranks: Of one group, where there are several.
        columns: Their names, with seconds in one of their unit; None for what is no time.
        members: The ranks of each group.
        ended: Whether a line that was no row ended it.
        given: All its factors but sizes, if the text is ours.
    """

    part: str
    name: str
    multi: bool
    ranks: int = 0
    threads: str = ""
    kind: str = ""
    given: Cell | None = None
    columns: dict[str, float | None] = field(default_factory=dict)
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    ended: bool = False


@dataclass(slots=True)
class _Text:
    """A file as far as it is read."""

    found: Collected
    part: str = "1"
    title: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    table: _Table | None = None


class Parser(LineParser):
    """Reads what IMB has printed; rows without numbers become failures of their cells."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._text = _Text(found)

    def take(self, line: Line) -> None:
        """Read a line.

        Raises:
            LineError: A title, heading or row is not understood.
        """
        _next(line, self._text)

    def end_table(self) -> None:
        """Leave the table: rows below are read under the next heading or title alone."""
        if self._text.table is not None:
            self._text.table.columns, self._text.table.ended = {}, True

    def finish(self) -> None:
        """Say what the text says of the machine."""
        facts = self._text.facts
        system = " ".join(facts[name] for name in ("System", "Machine") if name in facts)
        if system:
            self._text.found.environment = Environment(system=system, kernel=facts.get("Release", ""))


def _next(line: Line, text: _Text) -> None:
    """What another line says."""
    if match := SUITE.fullmatch(line.text):
        text.part, text.table = match[2], None
        text.title = f"{match[1]}, MPI-{match[2]} part"
    elif match := TITLE.fullmatch(line.text):
        text.table = _Table(text.part, match[2], bool(match[1]))
        text.found.begin(text.title, line)
    elif LIKE_TITLE.match(line.text) or LIKE_SUITE.match(line.text):
        raise line.refused("the title is not understood", "restore it, or leave the table out")
    elif match := FACT.fullmatch(line.text):
        text.facts[match[1]] = match[2].strip()
    elif text.table is not None:
        _in_table(line, text.table, text)


def _in_table(line: Line, table: _Table, text: _Text) -> None:
    """A line below a title."""
    words = line.words
    if match := PROCESSES.fullmatch(line.text):
        table.ranks, table.threads = int(match[1]), match[2] or ""
    elif match := GROUPS.fullmatch(line.text):
        table.ranks = int(match[2])
    elif match := MEMBERS.fullmatch(line.text):
        table.members[int(match[1])] = tuple(map(int, match[2].split()))
    elif (given := given_by(line)) is not None:
        table.given = given
    elif match := KIND.match(line.text):
        table.kind, table.columns = match[1].lower(), {}
    elif words and words[0] in {BYTES, CALLS, GROUP} and not line.text.startswith("# "):
        table.columns, table.ended = _columns(line), False
    elif any(word.startswith(("t[", "t_")) or word == RATE for word in words):
        raise line.refused("the columns are not understood", HINT)
    elif words and is_whole(words[0]):
        _row(line, table, text)
    elif is_headless_row(words, len(table.columns)):
        raise line.refused(f"{words[0][:40]!r} is no size", "complete the row")


def _columns(line: Line) -> dict[str, float | None]:
    """The columns of a heading, with seconds in one of their unit."""
    found: dict[str, float | None] = {}
    for word in line.words:
        match = COLUMN.fullmatch(word)
        if match is None or (match[1] and match[2] not in SCALES) or (match[1] or word) in found:
            raise line.refused(f"the column {word[:40]!r} is not understood", HINT)
        found[match[1] or word] = SCALES[match[2]] if match[1] else None
    return found


def _row(line: Line, table: _Table, text: _Text) -> None:
    """A row; what only begins like one is something that a launcher or library has said."""
    words = without_note(line.words, len(table.columns))
    if without := next((word for word in WITHOUT if any(one.startswith(word) for one in words)), ""):
        _without(line, table, text, without)
        return
    if not table.columns or not table.ranks:
        if begins_row(words) and not table.ended:
            raise line.refused("numbers without a heading that says what they are", HINT)
        return
    if len(words) != len(table.columns):
        if begins_row(words):
            raise line.refused(unlike(words, table.columns), "complete the row")
        return
    row = dict(zip(table.columns, words, strict=True))
    if not all(is_whole(row[name]) for name in (BYTES, CALLS, GROUP) if name in row):
        raise line.refused("sizes, repetitions and groups are whole numbers", "complete the row")
    for meaning, name in _meanings(line, table):
        cell = _cell(meaning, table, text, int(row.get(BYTES, 0)), row.get(GROUP))
        if row.get(DEFECTS, "").strip("0."):
            text.found.fail(meaning, cell, "corrupt", f"defects: {row[DEFECTS]}", line)
        else:
            time_s = _time(line, table, row, meaning, name)
            text.found.take(meaning, cell, time_s, _statistic(table, name), line)


def _without(line: Line, table: _Table, text: _Text, what: str) -> None:
    """A row that says why it has no numbers."""
    numbers = [word for word in line.words if is_whole(word)]
    place = 1 if GROUP in table.columns else 0
    if BYTES in table.columns and not is_whole([*line.words, "", ""][place]):
        raise line.refused("the size of what was not measured is not there", "complete the row")
    if not table.columns or not table.ranks:
        raise line.refused("a row without a heading that says what it is of", HINT)
    size = int(numbers[place]) if BYTES in table.columns else 0
    for meaning, _ in _meanings(line, table):
        cell = _cell(meaning, table, text, size, numbers[0] if place else None)
        text.found.fail(meaning, cell, WITHOUT[what], line.text.strip(), line)


def _statistic(table: _Table, column: str) -> str:
    if table.given is not None:
        return "as mpigauge printed it"
    return {"t_max": "mean of the slowest rank", "t_avg": "mean over ranks"}.get(column, "mean")


def _meanings(line: Line, table: _Table) -> list[tuple[Meaning, str]]:
    """What a row of the table gives, each with the column that has it."""
    name = f"multi_{table.name}" if table.multi and not _in_pairs(table) else table.name
    found = meanings_of(table.part, name, table.ranks, tuple(table.columns))
    if not found:
        raise line.refused("its heading has no time or rate that is known", HINT)
    mode = " ".join(filter(None, (table.kind, table.threads and f"{table.threads} threads")))
    return [(meaning.with_mode(mode) if mode else meaning, column) for meaning, column in found]


def _in_pairs(table: _Table) -> bool:
    """Whether its groups are what we call pairs: two ranks each, all of them at once."""
    pairs = [len(group) == 2 and group[0] < group[1] for group in table.members.values()]  # noqa: PLR2004
    return bool(pairs) and all(pairs) and GROUP in table.columns


def _cell(meaning: Meaning, table: _Table, text: _Text, size: int, group: str | None) -> Cell:
    own = known().get(meaning.pattern)
    more = {}
    if own is not None and own.reduces:
        datatype, op = (text.facts.get(name, "") for name in ("MPI_Datatype for reductions", "MPI_Op"))
        ours = {theirs: name for name, theirs in DATATYPES.items()}
        more = {"datatype": ours.get(datatype, datatype), "op": op.removeprefix("MPI_").lower()}
    if group is None:
        return cell_of(meaning, size, table.ranks, table.given, **more)
    members = table.members.get(int(group), ())
    if _in_pairs(table) and members:
        ranks = 1 + max(rank for ranks in table.members.values() for rank in ranks)
        pair = {"pair": f"{members[0]}-{members[1]}", "pairing": "tournament"}
        return cell_of(meaning, size, ranks, None, **more, **pair)
    return cell_of(meaning.with_mode(f"{meaning.mode} group {group}"), size, table.ranks, None, **more)


def _time(line: Line, table: _Table, row: dict[str, str], meaning: Meaning, name: str) -> float:
    """Seconds, by a time that its rate does not contradict, or by the count of messages."""
    size = int(row.get(BYTES, 0))
    if name not in TIMES:
        return _time_of_messages(line, row, meaning, size)
    scale = table.columns[name]
    if scale is None or not decimals_of(row[name]):
        raise line.refused(f"{name}: {row[name][:40]!r} is not a time", "complete the row")
    moved = moved_bytes(table.name, size)
    if RATE in row and moved:
        low, high = (end * scale for end in ends_of(row[name]))
        _check(line, row, (moved / high, moved / low if low else float("inf")))
    return float(row[name]) * scale


def _time_of_messages(line: Line, row: dict[str, str], meaning: Meaning, size: int) -> float:
    if not (is_whole(row[MESSAGES]) or decimals_of(row[MESSAGES])):
        raise line.refused(f"{MESSAGES}: {row[MESSAGES][:40]!r} is not a number", "complete the row")
    if RATE in row and size:
        low, high = ends_of(row[MESSAGES])
        _check(line, row, (low * size, high * size))
    count_per_s = float(row[MESSAGES])
    return meaning.directions / count_per_s if count_per_s else 0.0


def _check(line: Line, row: dict[str, str], bytes_per_s: tuple[float, float]) -> None:
    """A rate that its time contradicts has another unit, or one of the two is damaged."""
    if not decimals_of(row[RATE]):
        raise line.refused(f"{RATE}: {row[RATE][:40]!r} is not a rate", "complete the row")
    low, high = ends_of(row[RATE])
    if not any(agree((low * mega, high * mega), bytes_per_s) for mega in MEGA):
        raise line.refused("its time and its rate contradict each other", "one of them is damaged")
