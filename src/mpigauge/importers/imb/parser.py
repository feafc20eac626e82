"""Text of the Intel MPI Benchmarks, of all parts and versions, and of the PALLAS benchmarks before them.

Times are in microseconds. Rates are checked against them, by MB of 10^6 bytes or those of 2^20 that many
before 2018 print; where there are rates alone, times follow from the count of messages, which needs no unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.importers.collector import Collector, LineParser, TableMeaning, cell_of
from mpigauge.importers.command_lines import ranks_of
from mpigauge.importers.imb.heading import (
    BYTES,
    CALLS,
    DEFECTS,
    GROUP,
    HINT,
    MESSAGES,
    RATE,
    Columns,
    Suite,
    TitleFacts,
    columns_of,
    facts_of,
    first_rank_count,
    more_columns,
    program_of,
    suite_of,
    title_of,
)
from mpigauge.importers.imb.meaning import (
    HALO,
    MT,
    P2P,
    TIMES,
    ImbKind,
    halo_kind,
    is_exact,
    kind_of,
    meanings_of,
    messages_of,
    moved_of,
    name_above,
    statistic_of,
)
from mpigauge.importers.text import (
    TextLine,
    agree,
    column_mismatch,
    decimals,
    has_exponent,
    is_headless_row,
    is_number,
    is_whole,
    number,
    number_hint,
    rounding_range,
    without_note,
)
from mpigauge.plan.benchmarks import DATATYPES
from mpigauge.plan.patterns import known
from mpigauge.plan.strings import SHORT_MOST
from mpigauge.result.provenance import Environment

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import FailureKind

FAILURE_WORDS: dict[str, FailureKind] = {
    "time-out.": "timeout",
    "out-of-mem.": "refused",
    "int-overflow": "refused",
}
"""Words in place of numbers, and the failure that each means."""

MEGA = (10**6, 2**20)
HALO_ROW = re.compile(
    r"([0-9]{1,18})\(x([0-9]{1,3})\)\(bytes\) ([0-9.e+-]{1,20})\(usec\) ([0-9.e+-]{1,20})\(Mb/s\)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class _Table:
    """Table below its heading.

    Attributes:
        ranks: Number of ranks; 0 if unknown.
        meanings: Meanings of a row, each with its column.
        wrapped: Columns on the second line of a wrapped heading, and so of each row.
    """

    kind: ImbKind
    ranks: int
    meanings: list[tuple[TableMeaning, str]]
    wrapped: int = 0

    @property
    def columns(self) -> Columns:
        """Names of the columns, with the seconds of their unit."""
        return self.kind.columns


class Parser(LineParser):
    """Parser of the output of IMB; rows without numbers become failures of their cells.

    What stands above a heading is noted until the heading comes. Where no title does, the lines between the
    table before and the heading may name what is below it.
    """

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._suite = Suite()
        self._facts = dict[str, str]()
        self._above = TitleFacts()
        self._nearby_lines = list[str]()
        self._has_read_above = False
        self._table: _Table | None = None
        self._heading_may_continue = False
        self._first_half: TextLine | None = None
        self._ended = False
        self._program_started = True

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: A title, heading or row is not understood.
        """
        words = line.words
        if not words:
            return
        if self._first_half is not None and self._table is not None:
            half, self._first_half = self._first_half, None
            if len(words) == self._table.wrapped and all(map(is_number, map(number, words))):
                self._row(TextLine(half.file, half.number, f"{half.text} {line.text}"))
                return
            self.collector.add_unread(
                half.refused(column_mismatch(half.words, len(self._table.columns)), "complete the row")
            )
            self.end_table()
        if _count_in(words[0]) is not None:
            self._heading_may_continue = False
            self._row(line)
        elif self._heading_may_continue and self._continues_heading(line):
            self._heading_may_continue = False
        elif (columns := columns_of(line)) is not None:
            self._heading(columns, line)
        elif not self._title(line):
            self._note(line)

    def end_table(self) -> None:
        """Leave the table: rows are read again below the next heading or title."""
        self._table, self._above, self._ended = None, TitleFacts(), True
        self._first_half = None

    def finish(self) -> None:
        """Take the facts about the machine.

        Raises:
            LineError: The last row is not whole.
        """
        system = " ".join(self._facts[name] for name in ("System", "Machine") if name in self._facts)
        if system:
            release = self._facts.get("Release", "")
            self.collector.environment = Environment(system=system[:SHORT_MOST], kernel=release[:SHORT_MOST])
        if self._first_half is not None and self._table is not None:
            why = column_mismatch(self._first_half.words, len(self._table.columns))
            raise self._first_half.refused(why, "complete the row")

    # ---- What stands above -----------------------------------------------------------------------

    def _title(self, line: TextLine) -> bool:
        """Read a title of a program or table; return whether the line is one."""
        if suite := suite_of(line.text):
            self._suite, self._above, self._nearby_lines, self._has_read_above = suite, TitleFacts(), [], True
            self._table, self._ended, self._program_started = None, False, True
            return True
        if (above := title_of(line)) is None:
            return False
        self._read_lines_above(line)
        self._above, self._table, self._ended = above, None, False
        if above.dimensions:
            self._begin(halo_kind(above), line)
        return True

    def _read_lines_above(self, line: TextLine) -> None:
        """Read the lines above the first title or heading, which this parser was not given."""
        if not self._has_read_above:
            self._has_read_above = True
            for above in self.collector.above(line):
                if above.words and _count_in(above.words[0]) is None:
                    self._note(above)

    def _note(self, line: TextLine) -> None:
        """Keep what a line states that is neither title nor heading nor row."""
        if self._table is not None and self._table.kind.part == HALO and (row := HALO_ROW.match(line.text)):
            _take_halo(line, row, self._table, self.collector)
        elif self._table is not None and is_headless_row(line.words, len(self._table.columns)):
            raise line.refused(f"{line.words[0][:40]!r} is no size", "complete the row")
        elif self._above.note(line):
            if self._above.kind and not self._above.name and self._table is not None:
                self._above = replace(self._table.kind.above, kind=self._above.kind)
        elif facts := facts_of(line.text):
            self._facts |= facts
        else:
            self._suite = program_of(line.text, self._suite) or self._suite
            self._nearby_lines.append(line.text)

    # ---- Headings and rows -----------------------------------------------------------------------

    def _heading(self, columns: Columns, line: TextLine) -> None:
        """Read a heading."""
        self._read_lines_above(line)
        if not self._above.name:
            self._above.name = name_above(self._nearby_lines)
        self._begin(kind_of(self._suite, self._above, columns), line)
        self._heading_may_continue = True

    def _begin(self, kind: ImbKind, line: TextLine) -> None:
        """Begin a table; one command prints many."""
        what = kind.part, kind.name, kind.above.ranks, kind.words
        self.collector.begin_table(self._suite.title, line, what=what, new=self._program_started)
        self._table, self._program_started = _table(kind, self.collector), False
        self._above, self._nearby_lines, self._ended = TitleFacts(), [], False

    def _continues_heading(self, line: TextLine) -> bool:
        """Read the rest of a heading that a mail or page has wrapped; return whether the line is that."""
        if self._table is None or (columns := more_columns(line, self._table.columns)) is None:
            return False
        whole = _table(kind_of(self._suite, self._table.kind.above, columns), self.collector)
        if [name for _, name in whole.meanings] != [name for _, name in self._table.meanings]:
            raise line.refused("the heading is broken before its times", HINT)
        self._table = replace(whole, wrapped=len(columns) - len(self._table.columns))
        return True

    def _row(self, line: TextLine) -> None:
        """Read a row; a longer line that begins like one is a message of a launcher or library."""
        table, words = self._table, line.words
        failure_word = next(
            (word for word in FAILURE_WORDS if any(one.startswith(word) for one in words)), ""
        )
        if table is None or not table.columns:
            if not self._ended and (failure_word or _begins_row(words)):
                raise line.refused("numbers without a heading that says what they are", HINT)
            return
        if failure_word:
            _take_failure(line, table, FAILURE_WORDS[failure_word], self._facts, self.collector)
            return
        words = without_note(words, len(table.columns))
        if len(words) == len(table.columns):
            _take_row(line, dict(zip(table.columns, words, strict=True)), table, self._facts, self.collector)
        elif table.wrapped and len(words) == len(table.columns) - table.wrapped:
            self._first_half = line
        elif _begins_row(words):
            raise line.refused(column_mismatch(words, len(table.columns)), "complete the row")


def _table(kind: ImbKind, collector: Collector) -> _Table:
    meanings = meanings_of(kind)
    own = known().get(meanings[0][0].pattern) if meanings else None
    ranks = kind.above.ranks or (own.active_ranks if own else 0) or _ranks_started(kind, collector)
    return _Table(kind, ranks, meanings)


def _ranks_started(kind: ImbKind, collector: Collector) -> int:
    """Return the ranks that the command line or the user names; with many ranks, IMB begins with two."""
    started = ranks_of(collector.command)
    whole_job = kind.part in {P2P, MT} or started <= first_rank_count(collector.command)
    return collector.ranks if whole_job else collector.given_ranks


def _take_row(
    line: TextLine, words: dict[str, str], table: _Table, facts: dict[str, str], collector: Collector
) -> None:
    """Take the numbers of a row.

    Raises:
        LineError: They cannot be those of such a row.
    """
    counts = {name: _count_in(words[name]) for name in (BYTES, CALLS, GROUP) if name in words}
    if None in counts.values():
        raise line.refused("sizes, repetitions and groups are whole numbers", "complete the row")
    if not table.meanings:
        raise line.refused("its heading has no time or rate that is known", HINT)
    row = {name: number(word, whole=name == MESSAGES) for name, word in words.items()}
    for meaning, name in table.meanings:
        time_s, rated = _time(line, row, counts.get(BYTES) or 0, table, meaning, name)
        cell = _cell(meaning, table, facts, counts.get(BYTES) or 0, counts.get(GROUP))
        if row.get(DEFECTS, "").strip("0."):
            collector.add_failure(meaning, cell, "corrupt", f"defects: {row[DEFECTS]}", line)
        else:
            taken = meaning if rated else replace(meaning, rated=False)
            collector.add_time(taken, cell, time_s, statistic_of(table.kind, name), line, printed=row[name])


def _take_failure(
    line: TextLine, table: _Table, kind: FailureKind, facts: dict[str, str], collector: Collector
) -> None:
    """Take a row that says why it has no numbers.

    Raises:
        LineError: It does not say of what.
    """
    place = 1 if GROUP in table.columns else 0
    numbers = [_count_in(word) for word in line.words[: place + 1]]
    if len(numbers) <= place or None in numbers:
        raise line.refused("the size of what was not measured is not there", "complete the row")
    if not table.meanings:
        raise line.refused("its heading has no time or rate that is known", HINT)
    size = numbers[place] or 0 if BYTES in table.columns else 0
    for meaning, _ in table.meanings:
        cell = _cell(meaning, table, facts, size, numbers[0] if place else None)
        collector.add_failure(meaning, cell, kind, line.text.strip(), line)


def _take_halo(line: TextLine, row: re.Match[str], table: _Table, collector: Collector) -> None:
    """Take a row of IMB-HALO, which has no columns: size, messages, time over all ranks, rate."""
    size, count = int(row[1]), int(row[2])
    try:
        time_us, rate = float(row[3]), float(row[4])
    except ValueError:
        raise line.refused("has a time or a rate that is no number", "complete the row") from None
    if not time_us or not agree((rate, rate), (size * count / time_us,) * 2):
        raise line.refused("its time and its rate contradict each other", "one of them is damaged")
    ((meaning, name),) = table.meanings
    cell = cell_of(meaning, size, table.ranks, None)
    statistic, taken = statistic_of(table.kind, name), replace(meaning, directions=count)
    collector.add_time(taken, cell, time_us * 1e-6, statistic, line, printed=row[3])


def _cell(meaning: TableMeaning, table: _Table, facts: dict[str, str], size: int, group: int | None) -> Cell:
    above = table.kind.above
    own = known().get(meaning.pattern)
    more = {}
    if own is not None and own.reduces:
        datatype, op = (facts.get(name, "") for name in ("MPI_Datatype for reductions", "MPI_Op"))
        ours = {theirs: name for name, theirs in DATATYPES.items()}
        more = {"datatype": ours.get(datatype, datatype), "op": op.removeprefix("MPI_").lower()}
    if own is not None and own.one_sided:
        more = {"rma_window": "create"}
    if group is None or not above.multi:
        return cell_of(meaning, size, table.ranks, above.own_factors, **more)
    if table.kind.in_pairs and (members := above.members.get(group)):
        ranks = 1 + max(rank for ranks in above.members.values() for rank in ranks)
        pair = {"pair": f"{members[0]}-{members[1]}", "pairing": "tournament"}
        return cell_of(meaning, size, ranks, None, **more, **pair)
    return cell_of(meaning.with_mode(f"{meaning.mode} group {group}"), size, table.ranks, None, **more)


# ---- Numbers ---------------------------------------------------------------------------------------


def _count_in(word: str) -> int | None:
    """Return a count, which may have thousands commas; None if the word is none."""
    plain = number(word, whole=True)
    return int(plain) if is_whole(plain) else None


def _begins_row(words: list[str]) -> bool:
    """Return whether a line that begins with a count can only be a row, whole or damaged."""
    return len(words) == 1 or any(map(str.isdigit, words[1]))


def _time(
    line: TextLine, row: dict[str, str], size: int, table: _Table, meaning: TableMeaning, name: str
) -> tuple[float, bool]:
    """Return seconds, from a consistent time or from the message rate, and whether a rate follows.

    Raises:
        LineError: It is no time, or its row contradicts it.
    """
    if name not in TIMES:
        return _time_of_messages(line, row, size, meaning), meaning.rated
    scale = table.columns[name]
    last = name == [*table.columns][-1]
    whole = decimals(row[name]) or has_exponent(row[name]) or (not last and is_number(row[name]))
    if scale is None or not whole:
        raise line.refused(f"{name}: {row[name][:40]!r} is not a time", number_hint(row[name]))
    _check_order(line, row)
    low, high = (end * scale for end in rounding_range(row[name]))
    if MESSAGES in row:
        _check_messages(line, row, size, table, (low, high))
    moved = moved_of(table.kind, table.ranks) * size
    if RATE not in row or not moved:
        return float(row[name]) * scale, meaning.rated
    fits = _rate_fits(line, row, (moved / high, moved / low if low else float("inf")))
    if not fits and is_exact(table.kind):
        raise line.refused("its time and its rate contradict each other", "one of them is damaged")
    return float(row[name]) * scale, fits and meaning.rated


def _check_order(line: TextLine, row: dict[str, str]) -> None:
    """Refuse a mean that is not between minimum and maximum: a column is missing or misnamed.

    Raises:
        LineError: It is.
    """
    ordered = [row[name] for name in ("t_min", "t_avg", "t_max") if is_number(row.get(name, ""))]
    ends = [rounding_range(word) for word in ordered]
    if any(less[0] > more[1] for less, more in pairwise(ends)):
        raise line.refused("its least, mean and largest time are in no such order", "restore its columns")


def _check_messages(
    line: TextLine, row: dict[str, str], size: int, table: _Table, time_s: tuple[float, float]
) -> None:
    """Refuse a time or rate that contradicts the messages per second.

    Raises:
        LineError: One of the three contradicts the others.
    """
    if not is_whole(row[MESSAGES]):
        raise line.refused(f"{MESSAGES}: {row[MESSAGES][:40]!r} is not a count", "complete the row")
    low, high = max(0.0, float(row[MESSAGES]) - 1), float(row[MESSAGES]) + 1
    if RATE in row and table.kind.part != MT and not _rate_fits(line, row, (low * size, high * size)):
        raise line.refused("its rate and its messages contradict each other", "one of them is damaged")
    most = messages_of(table.kind, table.ranks)
    least = most / table.ranks if table.kind.part == P2P and most else most
    if most and not agree((low * time_s[0], high * time_s[1]), (least, most)):
        raise line.refused("its time and its messages contradict each other", "one of them is damaged")


def _time_of_messages(line: TextLine, row: dict[str, str], size: int, meaning: TableMeaning) -> float:
    if not (is_whole(row[MESSAGES]) or decimals(row[MESSAGES])):
        raise line.refused(f"{MESSAGES}: {row[MESSAGES][:40]!r} is not a number", "complete the row")
    low, high = rounding_range(row[MESSAGES])
    if RATE in row and size and not _rate_fits(line, row, (low * size, high * size)):
        raise line.refused("its rate and its messages contradict each other", "one of them is damaged")
    count_per_s = float(row[MESSAGES])
    return meaning.directions / count_per_s if count_per_s else 0.0


def _rate_fits(line: TextLine, row: dict[str, str], bytes_per_s: tuple[float, float]) -> bool:
    """Return whether the rate of a row can be this one, in MB of any version."""
    if not is_number(row[RATE]):
        raise line.refused(f"{RATE}: {row[RATE][:40]!r} is not a rate", number_hint(row[RATE]))
    low, high = rounding_range(row[RATE])
    return any(agree((low * mega, high * mega), bytes_per_s) for mega in MEGA)
