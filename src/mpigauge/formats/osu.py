"""Text of the OSU Micro-Benchmarks, versions 5 to 7: times, rates, overlap, failed validation.

Of the numbers of a row one is kept, the mean; MB are 10^6 bytes. Source: their own output and README.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.formats.collected import Collected, LineParser, Meaning, cell_of, given_by
from mpigauge.formats.osu_heading import (
    HINT,
    LATENCY,
    LIKE_TITLE,
    MESSAGES,
    OVERALL,
    PURE,
    RATE,
    SIZE,
    TITLE,
    VALIDATION,
    Column,
    columns_of,
)
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
from mpigauge.plan.benchmarks import BY_OSU, DATATYPES, OWN, WITHOUT_COMPUTATION, plain
from mpigauge.plan.patterns import EVERY_PAIR, ONE, known
from mpigauge.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.formats.text import Line
    from mpigauge.plan.model import Cell

MEAN, OVER_RANKS, ESTIMATE = "mean", "mean over ranks", "as mpigauge printed it"
CALL = "in the call, mean over ranks, after an MPI_Barrier"
PAIRS = re.compile(r"# \[ pairs: ([0-9]{1,7}) \]")
WINDOW = re.compile(r".*window size: ([0-9]{1,7})\b")
VARIED = re.compile(r"# \[ pairs: [0-9]+ \] \[ window size: varied \]")
DATATYPE = re.compile(r"# Datatype: (\w+)\.?")
REMOTE = re.compile(r"# (Window creation|Synchronization): (\w+)")
MISNAMING = ("7.1", "7.2", "7.3")
"""Versions that print the datatype below the heading, and each further heading as one of latencies."""

FAILED = ("Fail", "failed")
"""What stands below Validation of data that was wrong; atomic operations have the second word."""

INIT = re.compile(r"nprocs: (\d+), min: [\d.]+ (\w+), max: [\d.]+ (\w+), avg: ([\d.]+) (\w+)", re.ASCII)
USUAL_TYPE = "MPI_CHAR"
OPERATION = "sum"
"""Of all its reductions; no option changes it."""

OURS = {theirs: ours for ours, theirs in DATATYPES.items()}
FOREIGN = {
    "multiple bandwidth / message rate": "mbw_mr",
    "multi latency": "multi_lat",
    "multi-pair latency": "multi_lat",
}
"""Programs whose title does not have their name."""

OF_PAIRS = frozenset(FOREIGN.values())
"""Programs in which several pairs of ranks are busy at once."""


@dataclass(slots=True)
class _Table:
    """What is known of the table that is read.

    Attributes:
        name: Its title without "OSU MPI", as `plain` makes it.
        foreign: What comes before its name where the measurement is not ours.
        misnames: Whether its program calls rates a latency above the second datatype.
        given: All its factors but sizes, if the text is ours.
        remote: How the window of a one-sided benchmark was made and synchronised, by what is said of it.
        rates: The columns of the first heading, if it has a rate.
        digits: Behind the point, of each column that is read.
        begun: Whether a row was read below the last heading.
        ended: Whether a line that was no row ended it.
    """

    name: str
    foreign: str
    misnames: bool = False
    columns: list[Column] = field(default_factory=list)
    pairs: int = 0
    window: int = 0
    given: Cell | None = None
    datatype: str = ""
    remote: dict[str, str] = field(default_factory=dict)
    rates: list[Column] = field(default_factory=list)
    digits: dict[str, int] = field(default_factory=dict)
    largest: int = -1
    begun: bool = False
    ended: bool = False


class Parser(LineParser):
    """Reads what OSU's programs have printed, with anything of a launcher between and after."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._table: _Table | None = None

    def take(self, line: Line) -> None:
        """Read a line.

        Raises:
            LineError: A title, heading or row is not understood.
        """
        self._table = _next(line, self._table, self.found)

    def end_table(self) -> None:
        """Leave the table: rows below are read under the next heading or title alone."""
        if self._table is not None:
            self._table.columns, self._table.ended = [], True


def _next(line: Line, table: _Table | None, found: Collected) -> _Table | None:
    """The table after a line."""
    if title := TITLE.fullmatch(line.text):
        found.begin(f"{title['suite']} MPI{title['device'] or ''}{title['name']} v{title['version']}", line)
        return _table(title)
    if LIKE_TITLE.match(line.text):
        raise line.refused("the title of the table is not understood", "restore it, or leave the table out")
    if table is None:
        return None
    if line.text.startswith("#"):
        _comment(line, table)
    elif match := INIT.match(line.text):
        _init(match, table, found, line)
    elif line.words and line.words[0][0].isdigit():
        _row(line, table, found)
    elif is_headless_row(line.words, len(table.columns)):
        raise line.refused(f"{line.words[0][:40]!r} is no size", "complete the row")
    return table


def _table(title: re.Match[str]) -> _Table:
    name = plain(title["name"].replace("_", " ") if title["name"].startswith("_") else title["name"])
    device = (title["device"] or "").lower().replace("-", "")
    prefix = "osu" if title["suite"] == "OSU" else "omb_python"
    one_sided = title["name"].startswith("_")
    foreign = "_".join(filter(None, (prefix, device, "mpi" if one_sided else "")))
    return _Table(name, foreign, misnames=title["version"].startswith(MISNAMING))


def _comment(line: Line, table: _Table) -> None:
    """A line that says more of a table, or what its columns are."""
    if VARIED.match(line.text):
        raise line.refused(
            "several window sizes are one table, which is not read", "run osu_mbw_mr without -V"
        )
    if match := PAIRS.match(line.text):
        table.pairs = int(match[1])
    if match := WINDOW.match(line.text):
        table.window = int(match[1])
    if (given := given_by(line)) is not None:
        table.given = given
    if match := REMOTE.match(line.text):
        table.remote[match[1]] = match[2]
    if match := DATATYPE.fullmatch(line.text):
        _datatype(match[1], table)
    elif columns := _columns(line):
        _heading(line, columns, table)


def _datatype(name: str, table: _Table) -> None:
    """A datatype: named below the heading or above it, and by each thread."""
    if name != table.datatype and (table.datatype or table.begun):
        table.columns, table.largest, table.begun = [], -1, False
    table.datatype = name


def _heading(line: Line, columns: list[Column], table: _Table) -> None:
    """What the columns are."""
    if table.misnames and table.rates and not _has(columns, RATE):
        columns = table.rates
    if table.begun or (table.columns and columns != table.columns):
        raise line.refused("a second heading, and no title above it", "restore the title of the table")
    if _has(columns, RATE):
        table.rates = columns
    table.columns, table.ended = columns, False


def _has(columns: Sequence[Column], name: str) -> bool:
    return any(column.name == name for column in columns)


def _columns(line: Line) -> list[Column]:
    return [] if line.text.startswith(OWN) else columns_of(line)


def _init(match: re.Match[str], table: _Table, found: Collected, line: Line) -> None:
    """The one line of osu_init."""
    ranks, *units, avg, unit = match.groups()
    if {*units, unit} - {unit} or unit not in TIME_UNITS:
        raise line.refused(f"no unit is called {unit!r}, or there are several", HINT)
    if table.name != "init":
        raise line.refused("times of MPI_Init, and no title above it", "restore the title of the table")
    meaning = Meaning("osu_init", time_of="MPI_Init, mean over ranks", sized=False)
    found.take(meaning, cell_of(meaning, 0, int(ranks)), float(avg) * TIME_UNITS[unit], OVER_RANKS, line)


def _row(line: Line, table: _Table, found: Collected) -> None:
    """A row; what only begins like one is something that a launcher or library has said."""
    names = [column.name for column in table.columns]
    words = without_note(line.words, len(names))
    if not names:
        if begins_row(words) and not table.ended:
            raise line.refused("numbers without a heading that says what they are", HINT)
        return
    if len(words) != len(names):
        if begins_row(words) or SIZE not in names:
            raise line.refused(unlike(words, names), "complete the row")
        return
    row = dict(zip(names, words, strict=True))
    _check_size(line, table, row)
    _check_digits(line, table, row)
    table.begun = True
    for meaning, cell, time_s in _times(line, table, row, found):
        if row.get(VALIDATION) in FAILED:
            found.fail(meaning, cell, "corrupt", "Validation: Fail", line)
        else:
            found.take(meaning, cell, time_s, _statistic(table, meaning), line)


def _statistic(table: _Table, meaning: Meaning) -> str:
    own = known().get(meaning.pattern)
    if table.given is not None:
        return ESTIMATE
    return OVER_RANKS if own is not None and not own.active_ranks else MEAN


def _check_size(line: Line, table: _Table, row: dict[str, str]) -> None:
    """Sizes grow from row to row: one that does not is of another table, or damaged."""
    if SIZE not in row:
        return
    if not is_whole(row[SIZE]):
        raise line.refused(f"{row[SIZE]!r} is no size", "complete the row")
    size = int(row[SIZE])
    if size <= table.largest:
        raise line.refused(f"the size {size} comes after {table.largest}", "put each table below its title")
    table.largest = size


def _check_digits(line: Line, table: _Table, row: dict[str, str]) -> None:
    """All numbers of a column have as many digits: one that has fewer was cut off."""
    for name in (LATENCY, RATE, MESSAGES, OVERALL, PURE):
        if name not in row:
            continue
        digits = decimals_of(row[name])
        if not digits or table.digits.setdefault(name, digits) != digits:
            raise line.refused(
                f"{name}: {row[name]!r} is not a whole number of this column", "complete the row"
            )


# ---- What the numbers are of ---------------------------------------------------------------------


def _times(
    line: Line, table: _Table, row: dict[str, str], found: Collected
) -> list[tuple[Meaning, Cell, float]]:
    """Of a row its time, or that with a computation and that without."""
    scales = {column.name: column.scale for column in table.columns}
    size = int(row.get(SIZE, 0))
    kinds = [name for name in (LATENCY, RATE, OVERALL) if name in row]
    if len(kinds) != 1 or (OVERALL in row) != (PURE in row):
        raise line.refused("its heading has no time or rate that is known", HINT)
    meaning = _meaning(line, table, kinds[0], found.ranks)
    if kinds[0] == RATE:
        return [_found(found, table, meaning, size, _time_of_rate(line, table, row, meaning, scales[RATE]))]
    first = _found(found, table, meaning, size, float(row[kinds[0]]) * scales[kinds[0]])
    if kinds[0] == LATENCY:
        return [first]
    alone = meaning.alone(_alone(table))
    return [first, _found(found, table, alone, size, float(row[PURE]) * scales[PURE])]


def _found(
    found: Collected, table: _Table, meaning: Meaning, size: int, time_s: float
) -> tuple[Meaning, Cell, float]:
    own = known().get(meaning.pattern)
    ranks = 2 * table.pairs or (own.active_ranks if own else 0) or found.ranks
    reduces = own is not None and own.reduces
    more: dict[str, str] = {}
    if table.datatype and (reduces or table.datatype != USUAL_TYPE):
        more = {"datatype": OURS.get(table.datatype, table.datatype), "op": OPERATION if reduces else ""}
    return meaning, cell_of(meaning, size, ranks, table.given, window=table.window, **more), time_s


def _time_of_rate(
    line: Line, table: _Table, row: dict[str, str], meaning: Meaning, bytes_per_s: float
) -> float:
    """Of one message: what it moves over the rate, or by the count of messages, which is more exact."""
    moved = int(row[SIZE]) * meaning.directions * max(table.pairs, 1)
    if MESSAGES in row:
        rate, count = ends_of(row[RATE]), ends_of(row[MESSAGES])
        per_message = int(row[SIZE]) / bytes_per_s
        if not agree(rate, (count[0] * per_message, count[1] * per_message)):
            raise line.refused("its rates in bytes and in messages contradict each other", HINT)
        count_per_s = float(row[MESSAGES])
        return max(table.pairs, 1) / count_per_s if count_per_s else 0.0
    rate_bytes_per_s = float(row[RATE]) * bytes_per_s
    return moved / rate_bytes_per_s if rate_bytes_per_s else 0.0


def _alone(table: _Table) -> str:
    """The mode of the time without computation."""
    twin = BY_OSU.get(table.name) if table.foreign == "osu" else None
    return WITHOUT_COMPUTATION[twin] if twin is not None else "pure"


def _meaning(line: Line, table: _Table, kind: str, ranks: int) -> Meaning:
    """Ours where it is the same measurement, else one that has their name."""
    twin = BY_OSU.get(table.name) if table.foreign == "osu" else None
    if twin is None:
        return _foreign(table, kind)
    own = known()[twin.pattern]
    if (kind == RATE) != twin.rate or (kind == OVERALL) != twin.hides:
        raise line.refused(
            "its columns are not those of the title above it", "restore the title of the table"
        )
    mode = own.mode(twin.mode)
    return Meaning(
        twin.pattern,
        twin.mode,
        time_of=own.time_of if own.active_ranks or table.given else CALL,
        directions=mode.directions if mode else 1,
        sized=own.moves_bytes,
        rated=bool(own.active_ranks or table.given or ranks) or own.volumes.operation == ONE,
        windowed=twin.rate,
        overlaps=twin.hides,
    )


def _foreign(table: _Table, kind: str) -> Meaning:
    name = FOREIGN.get(table.name) or re.sub(r"[^a-z0-9]+", "_", table.name).strip("_")
    both = kind == RATE and "bi-directional" in table.name
    return Meaning(
        f"{table.foreign}_{name}",
        _foreign_mode(table, kind),
        time_of=_foreign_time(table, kind),
        directions=2 if both else 1,
        operation=EVERY_PAIR if table.pairs or name in OF_PAIRS else ONE,
        sized=any(column.name == SIZE for column in table.columns),
        rated=kind == RATE,
        windowed=kind == RATE,
        overlaps=kind == OVERALL,
    )


def _foreign_mode(table: _Table, kind: str) -> str:
    """How it was done: what its text says, the window first."""
    remote = " ".join(table.remote[said] for said in sorted(table.remote, reverse=True))
    return remote or ("overall" if kind == OVERALL else "standard")


def _foreign_time(table: _Table, kind: str) -> str:
    if kind != RATE:
        return "as its program counts it"
    return "one message of each pair" if table.pairs else "one message"
