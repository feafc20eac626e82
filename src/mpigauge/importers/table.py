"""Tables that people write: a column of sizes, and one of times or rates per run; Markdown, HTML or CSV.

Who wrote the numbers into it is not known: it is read where a heading, a caption or the line above names
their unit, as times or rates of what that line calls it. Each column is a run with its heading as label.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers import MAX_FACTORS, SIZE_HEADING
from mpigauge.importers.collector import Collector, LineParser, TableMeaning, cell_of
from mpigauge.importers.run_labels import MAX_LABEL, label_of
from mpigauge.importers.text import is_whole, number, number_hint
from mpigauge.importers.unknown_format import columns_example
from mpigauge.plan.benchmarks import normalised_title
from mpigauge.units import RATE_UNITS, TIME_UNITS, parse_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.text import LineError, TextLine

_MICRO = ("us", "usec", "usecs", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s", "microseconds")
TIMES = {
    **dict.fromkeys(_MICRO, TIME_UNITS["us"]),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), TIME_UNITS["ns"]),
    **dict.fromkeys(("ms", "msec", "milliseconds"), TIME_UNITS["ms"]),
    **dict.fromkeys(("s", "sec", "seconds"), TIME_UNITS["s"]),
}
RATES = {
    **RATE_UNITS,
    "MBps": RATE_UNITS["MB/s"],
    "GBps": RATE_UNITS["GB/s"],
    **dict.fromkeys(("Mb/s", "Mbps"), RATE_UNITS["Mbit/s"]),
    **dict.fromkeys(("Gb/s", "Gbps"), RATE_UNITS["Gbit/s"]),
    "MB/S": RATE_UNITS["MB/s"],
    "GB/S": RATE_UNITS["GB/s"],
}
"""Units as people write them. MB/sec is not one: perftest prints it for 2^20 bytes, others for 10^6."""

_ANY = "|".join(map(re.escape, sorted({*TIMES, *RATES}, key=len, reverse=True)))
_UNIT = re.compile(
    rf"[(\[]\s*(?:in\s+)?(?P<closed>{_ANY})\s*[)\]]"
    rf"|(?:(?<=\s)in\s+|[,_]\s*|(?<!\s)\s+)(?P<bare>(?!s\b){_ANY})(?=\s*(?:[:.]\s*)?\Z)"
)
_SIZE = re.compile(
    rf"(?:(?P<of>(?:osu|imb|ib|fi)_\w+)[ _])?{SIZE_HEADING}"
    r"\s*(?:[(\[]\s*(?:in\s+)?(?P<unit>[A-Za-z]+)\s*[)\]]|[ _]?in[ _]bytes|[ _](?:bytes|b))?"
    r"|[(\[](?P<alone>[KMG]?i?B|bytes)[)\]]",
    re.IGNORECASE,
)
_RANKS = re.compile(r"(?:#|n|num[_ ]?|mpi[_ ]?|number of )?(?:ranks|np|procs|processes|tasks)", re.IGNORECASE)
_INDEX = re.compile(r"(?:index|row|unnamed: 0)?", re.IGNORECASE)
_TWO_MEANINGS = re.compile(r"(?i)\bM(?:B|bytes?)/sec\b|\bMbytes?/s\b")
_BYTES = {"b": "B", "byte": "B", "bytes": "B", "kib": "KiB", "mib": "MiB", "gib": "GiB"}
_RULES, _DASHES = frozenset(" \t|:+-="), frozenset("-=")
"""Characters of a rule below a heading, and those of which it has at least one."""

_VALUE = re.compile(
    r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,2})?|[0-9]{1,3}(?: [0-9]{3})+(?:\.[0-9]+)?)"
    rf"(?:\s*(?P<unit>{_ANY}))?",
    re.ASCII,
)
_RATIO = re.compile(r"[+-]?[0-9][0-9.,]*\s*[x\N{MULTIPLICATION SIGN}%]")
_WHOLE = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,18}", re.ASCII)
_MEASURED = re.compile(
    r"(?i)(?<![a-z])(?:latency|lat|time|bandwidth|bw|throughput|rate|avg\.?|average|mean)(?![a-z])"
)
_QUANTITY = re.compile(rf"(?i)(?P<program>\b(?:osu|imb|ib|fi)_\w+)|{_MEASURED.pattern.removeprefix('(?i)')}")
_MEAN = re.compile(r"(?i)\b(?:avg|average|mean)\b")
_BOTH_WAYS = re.compile(r"(?i)\bbi-?dir|\bbibw\b")
_NO_RUN = re.compile(
    r"(?i)%|\N{INCREMENT}|\N{GREEK CAPITAL LETTER DELTA}|(?<![A-Za-z0-9])(?:min|max|minimum|maximum"
    r"|std|stddev|sd|dev|deviation|variance|error|err|ci|p[0-9]+|percentile|iter\w*|rep\w*|count|samples|speed-?up|ratio|diff\w*|delta|change"
    r"|improve\w*|gain|factor|validation|status|notes?|comment)(?![A-Za-z0-9])"
)
_CAPTION = re.compile(r"#+\s|\*\*|__|.*:\s*\Z|<")
_TAG = re.compile(r"<[^>]{0,200}>")
_BOLD = re.compile(r"(?<![\w.,*`])[*`]+|[*`]+(?![\w.,*`])")
"""Markdown's emphasis, never in the middle of a word."""

_VERSION = re.compile(r"\bv?[0-9]+\.[0-9][\w.]*")

BAR, HTML = "|", "<"
NOTHING = frozenset({"", "-", "\N{EN DASH}", "\N{EM DASH}", "n/a", "na", "nan", "none"})
DELIMITERS = ",;\t"
MAX_NAME, MAX_FIELD = 60, 400
CAPTION_LINES = 3
"""Lines above a heading that may be its caption."""

EXAMPLE = "as in 'time (us)' or 'rate (MB/s)'"
COMPLETE = "correct the line, or delete it"


@dataclass(frozen=True, slots=True)
class _Run:
    """Column of numbers.

    Attributes:
        at: Index in a row.
        unit: Unit of its numbers; empty if each has its own.
    """

    at: int
    name: str
    unit: str


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        delimiter: Separator of its fields; "" outside a table.
        line: Its heading.
        caption: Text of a row with one field, or of a line above.
        factors: Columns before that of sizes, and those behind it that tell its rows apart, by their index.
        named_by: Columns behind the sizes whose words are the label of a row.
        names: Its headings.
        mixed: Whether it has times and rates.
        has_rows: Whether a row was read.
        labels: Labels of its runs, by their columns and words.
    """

    delimiter: str = ""
    line: TextLine | None = None
    caption: str = ""
    factors: dict[int, str] = field(default_factory=dict)
    named_by: tuple[int, ...] = ()
    size_at: int = 0
    size_name: str = ""
    size_unit: str = ""
    runs: list[_Run] = field(default_factory=list)
    names: Sequence[str] = ()
    mixed: bool = False
    has_rows: bool = False
    labels: dict[tuple[str, ...], str] = field(default_factory=dict)


class Parser(LineParser):
    """Parser of tables that people write."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()
        self._above: list[str] = []
        self._page: list[TextLine] = []

    def take(self, line: TextLine) -> None:
        """Read a line: of a page, until its table ends; a heading, a caption or a row.

        Raises:
            LineError: It is a heading that does not say the unit, or no row.
        """
        text = line.text.strip(" >")
        if self._page or text.lower().startswith("<table"):
            self._page.append(line)
            if "</table" in text.lower():
                self._take_page()
        elif self._table.delimiter and self._table.delimiter in line.text:
            fields = _fields(line.text, self._table.delimiter)
            self._line_inside(line, fields)
        else:
            self._line_outside(line, text)

    def end_table(self) -> None:
        """Read no row until the next heading."""
        self._table, self._page = _Table(), []

    def finish(self) -> None:
        """Read a page whose table does not end.

        Raises:
            LineError: A line of it cannot be read.
        """
        if self._page:
            self._take_page()

    def _line_inside(self, line: TextLine, fields: Sequence[str]) -> None:
        """Read a line of a table: the units below its heading, another heading, or a row."""
        table = self._table
        units = [] if table.has_rows or table.line is None else _units_below(fields, table.names)
        if table.line is not None and units:
            self._above = [table.caption] if table.caption else []
            self._heading(table.line, units, table.delimiter)
        elif _size_at(fields) is not None:
            self._heading(line, fields, table.delimiter)
        else:
            self._row(line, fields)

    def _line_outside(self, line: TextLine, text: str) -> None:
        """Read a line outside tables: a heading begins one, other lines may be a caption."""
        self._table = _Table()
        delimiter = _delimiter(text)
        fields = _fields(text, delimiter) if delimiter else []
        if fields and _size_at(fields) is not None:
            self._heading(line, fields, delimiter)
        elif not _is_ruled(text):
            self._note(_fields(text, BAR) if text.startswith(BAR) else [text])

    def _note(self, fields: Sequence[str]) -> None:
        """Keep a line as a caption, or the only field of a row; a row of another table is none."""
        stated = [one for one in fields if one and len(one) <= MAX_FIELD]
        if len(stated) == 1:
            self._above = [*self._above, *stated][-CAPTION_LINES:]
        elif stated:
            self._above = []

    def _take_page(self) -> None:
        """Read the tables of a piece of HTML.

        Raises:
            LineError: A row cannot be read.
        """
        lines, self._page = self._page, []
        page = _Page()
        page.feed("\n".join(line.text for line in lines))
        self._above = [*self._above, page.caption] if page.caption else self._above
        for at, fields in page.rows:
            if not fields:
                continue
            line = lines[at - 1]
            if self._table.runs or _size_at(fields) is not None:
                self._table.delimiter = HTML
                self._line_inside(line, fields)
            else:
                self._note(fields)
        self._table = _Table()

    def _heading(self, line: TextLine, fields: Sequence[str], delimiter: str) -> None:
        """Begin a table.

        Raises:
            LineError: It has no column of numbers, or its unit has two meanings.
        """
        above, self._above = self._above, []
        at = _size_at(fields) or 0
        size = _SIZE.fullmatch(fields[at])
        stated = next((_without_emphasis(one) for one in reversed(above) if _is_caption(one)), "")
        caption = stated or (size["of"] if size and size["of"] else "")
        unit = (size["unit"] or size["alone"] or "B") if size else "B"
        self.collector.begin_table(caption or "a table", line)
        factors = dict(enumerate(fields[:at]))
        self._table = _Table(delimiter, line, caption, factors, size_at=at, names=fields)
        self._table.size_name = fields[at]
        self._table.size_unit = _BYTES.get(unit.lower(), unit)
        self._table.runs = runs = _runs(line, fields, at, caption)
        self._table.mixed = len({run.unit in RATES for run in runs if run.unit}) > 1
        behind = [
            place
            for place, name in enumerate(fields)
            if place > at and name and not _NO_RUN.search(name) and place not in {run.at for run in runs}
        ]
        if behind and delimiter != HTML:
            self._tell_apart(line, fields, behind)

    def _tell_apart(self, heading: TextLine, fields: Sequence[str], behind: Sequence[int]) -> None:
        """Add columns behind the sizes to what names a row: ranks, and those without which rows are alike.

        Args:
            behind: Columns that may tell rows apart: those that are neither times nor statistics of them.
        """
        table, rows = self._table, list[list[str]]()
        for line in self.collector.below(heading):
            words = _fields(line.text, table.delimiter) if table.delimiter in line.text else []
            if not words or _size_at(words) is not None:
                break
            if len(words) == len(table.names) and not all(map(_is_ruled, words)):
                rows.append(words)
        table.factors |= {at: fields[at] for at in behind if _RANKS.fullmatch(fields[at])}
        wordy, counts = list[int](), list[int]()
        for at in behind:
            values = {row[at] for row in rows}
            if at not in table.factors and 1 < len(values) <= len(rows) // 2:
                (counts if all(map(_VALUE.fullmatch, values)) else wordy).append(at)
        for at in (*wordy, *counts):
            named = [*table.factors, *table.named_by, table.size_at]
            if len({tuple(row[place] for place in named) for row in rows}) == len(rows):
                break
            if at in wordy:
                table.named_by += (at,)
            else:
                table.factors[at] = fields[at]

    def _row(self, line: TextLine, fields: Sequence[str]) -> None:
        """Read the numbers of one size.

        Raises:
            LineError: It has no size, or another field is no number, or nobody says its unit.
        """
        table = self._table
        if all(not one or _is_ruled(one) for one in fields) or not table.runs:
            return
        table.has_rows = True
        if any(fields[len(table.names) :]):
            raise line.refused(f"has {len(fields)} fields below {len(table.names)} headings", COMPLETE)
        at = table.size_at
        size_bytes = _size_bytes(line, fields[at] if at < len(fields) else "", table.size_unit)
        mode, ranks = self._factors(fields)
        if table.line is not None and not any(run.unit or _has_unit(run, fields) for run in table.runs):
            raise _no_unit(table.line, table.size_name, table.runs[0].name)
        values = [
            (run, *_value(line, fields[run.at], run.unit)) for run in table.runs if run.at < len(fields)
        ]
        for run, word, unit in values:
            if not word or not unit or (unit in RATES and not size_bytes):
                continue
            meaning, time_s = _meaning(table, run, unit, mode), float(word)
            time_s = (
                time_s * TIMES[unit]
                if unit in TIMES
                else _time_from_rate(meaning, size_bytes, time_s * RATES[unit])
            )
            statistic = "mean" if _MEAN.search(f"{table.caption} {run.name}") else ""
            label = self._label_of_row(_label(run.name), fields)
            cell = cell_of(meaning, size_bytes, ranks, label=label)
            self.collector.add_time(meaning, cell, time_s, statistic, line, printed=word)

    def _factors(self, fields: Sequence[str]) -> tuple[str, int]:
        """Return the mode and number of ranks that the columns before that of sizes give."""
        mode, ranks = [], self.collector.ranks
        for at, name in self._table.factors.items():
            word = fields[at] if at < len(fields) else ""
            if _RANKS.fullmatch(name) and is_whole(word):
                ranks = int(word)
            elif word and not (_INDEX.fullmatch(name) and is_whole(word)):
                mode.append(f"{name} {word}".strip())
        return " ".join(mode) or "standard", ranks

    def _label_of_row(self, column: str, fields: Sequence[str]) -> str:
        """Return the label of a number, by its column and by the words of its row that name the run."""
        labels = self._table.labels
        key = (column, *(fields[at] for at in self._table.named_by if at < len(fields)))
        if key not in labels:
            whole = label_of(text := "-".join(filter(None, key)))
            if len(text) > MAX_LABEL:
                # Cut, it may be that of another run.
                number = f"-{len(labels) + 1}"
                whole = f"{whole[: MAX_LABEL - len(number)].rstrip('-._+')}{number}"
            labels[key] = whole
        return labels[key]


class _Page(HTMLParser):
    """Rows of the tables in a piece of HTML, each with its line in the piece, from 1."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[int, list[str]]] = []
        self.caption = ""
        self._into = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - so it is called
        """Begin a row, a field or a caption."""
        self._into = ""
        if tag == "tr":
            self.rows.append((self.getpos()[0], []))
        elif tag in ("td", "th") and self.rows:
            self.rows[-1] = (self.getpos()[0], [*self.rows[-1][1], ""])
            self._into = tag
        elif tag == "caption":
            self._into = tag

    def handle_endtag(self, tag: str) -> None:
        """End a field or a caption."""
        if tag == self._into:
            self._into = ""

    def handle_data(self, data: str) -> None:
        """Add to what a field or the caption says."""
        if self._into == "caption":
            self.caption = f"{self.caption} {data}".strip()
        elif self._into and self.rows:
            *before, last = self.rows[-1][1]
            self.rows[-1] = (self.rows[-1][0], [*before, f"{last} {' '.join(data.split())}".strip()])


# ---- Fields --------------------------------------------------------------------------------------


def _size_at(fields: Sequence[str]) -> int | None:
    """Return the place of the column of sizes in a heading, behind few factors; None if it is none."""
    at = next((at for at, name in enumerate(fields[:-1][: MAX_FACTORS + 1]) if _SIZE.fullmatch(name)), None)
    if at is None or any(one[:1].isdigit() for one in fields[:at]):
        return None
    # The first column may have no name: in a CSV it is an index, in Markdown it says what its rows are.
    return at if all(fields[1:at]) else None


def _units_below(fields: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the headings with the units of the line below them; none if it is not a line of units."""
    units = [re.sub(r"[\s()\[\]]", "", one) for one in fields]
    if len(fields) != len(names) or not any(one in TIMES or one in RATES for one in units):
        return []
    if any(one and one not in TIMES and one not in RATES and one.lower() not in _BYTES for one in units):
        return []
    return [f"{name} ({unit})" if unit else name for name, unit in zip(names, units, strict=True)]


def _is_ruled(text: str) -> bool:
    """Return whether a line or field is a rule: dashes and separators."""
    signs = set(text)
    return signs <= _RULES and not signs.isdisjoint(_DASHES)


def _is_caption(text: str) -> bool:
    """Return whether a line says what the numbers below it are: it names a unit, or is a heading."""
    return _UNIT.search(text) is not None or (
        _CAPTION.match(text) is not None and _MEASURED.search(text) is not None
    )


def _delimiter(text: str) -> str:
    """Return the delimiter of the fields of a line; empty if it has none."""
    return next((sign for sign in (BAR, *DELIMITERS) if sign in text), "")


def _fields(text: str, delimiter: str) -> list[str]:
    """Return the fields of a line, without the emphasis of Markdown and HTML."""
    if delimiter == BAR:
        words = text.strip(" >").removeprefix(BAR).removesuffix(BAR).split(BAR)
    else:
        try:
            words = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            return []
    return [_without_emphasis(word) for word in words]


def _without_emphasis(text: str) -> str:
    """Return a field without emphasis; longer fields than a caption are cut."""
    return " ".join(_BOLD.sub("", _TAG.sub(" ", text[:MAX_FIELD])).strip(" #").split())


def _size_bytes(line: TextLine, word: str, unit: str) -> int:
    """Return a size, in the unit of its column or its own.

    Raises:
        LineError: It is none, or its unit means two things.
    """
    try:
        return parse_size(f"{word.replace(',', '')} {unit}" if _WHOLE.fullmatch(word) else word)
    except UsageError as error:
        raise line.refused(error.sentence, error.hint) from None


def _value(line: TextLine, word: str, unit: str) -> tuple[str, str]:
    """Return a number and its unit, if it has one; an empty number if the field says that there is none.

    Args:
        unit: Unit of the column, if it has one.

    Raises:
        LineError: It is neither, or of another quantity than its column.
    """
    if word.lower() in NOTHING or _RATIO.fullmatch(word):
        return "", unit
    match = _VALUE.fullmatch(number(word))
    if match is None:
        two = ": the comma may be one of thousands or a decimal point" if _WHOLE.fullmatch(word) else ""
        raise line.refused(f"{word!r} is not a number{two}", number_hint(word, COMPLETE))
    own = match["unit"] or unit
    if unit and (own in RATES) != (unit in RATES):
        raise line.refused(f"{word!r} is not in {unit}, as its column is", COMPLETE)
    return match["number"].replace(" ", ""), own


# ---- Columns -------------------------------------------------------------------------------------


def _runs(line: TextLine, fields: Sequence[str], size_at: int, caption: str) -> list[_Run]:
    """Return the columns of a heading that are runs: if some name a unit, only those.

    Raises:
        LineError: There is none, or two are alike, or a unit has two meanings.
    """
    stated = _UNIT.search(caption)
    named = [
        (at, name) for at, name in enumerate(fields) if at > size_at and name and not _NO_RUN.search(name)
    ]
    own = [_Run(at, name, _word(match)) for at, name in named if (match := _UNIT.search(name))]
    runs = own or [_Run(at, name, _word(stated) if stated else "") for at, name in named]
    if not runs:
        raise line.refused("has no column of times or rates", f"write a unit into its heading, {EXAMPLE}")
    if not runs[0].unit and any(_TWO_MEANINGS.search(one) for one in (caption, *fields)):
        raise line.refused("its MB may be 10^6 or 2^20 bytes", "write MB/s or MiB/s into the heading")
    alike = Counter((_label(run.name), run.unit in RATES) for run in runs)
    if max(alike.values()) > 1:
        raise line.refused("two columns are of the same run", "give each column a heading of its own")
    return runs


def _word(unit: re.Match[str]) -> str:
    return unit["closed"] or unit["bare"]


def _has_unit(run: _Run, fields: Sequence[str]) -> bool:
    """Return whether the number of a run has a unit of its own."""
    match = _VALUE.fullmatch(number(fields[run.at])) if run.at < len(fields) else None
    return match is not None and match["unit"] is not None


def _no_unit(line: TextLine, size: str, name: str) -> LineError:
    """Return the error for a table that does not say its unit."""
    how = f"write it there, {EXAMPLE}, or say it in another file:"
    return line.refused(
        f"does not say the unit of {name!r}", f"{how}\n{columns_example(line.file, size, name)}"
    )


def _meaning(table: _Table, run: _Run, unit: str, mode: str) -> TableMeaning:
    """Return the meaning of a number of a run."""
    rate = unit in RATES
    return TableMeaning(
        _pattern(table.caption, rate=rate, mixed=table.mixed),
        mode,
        time_of="one message, by its rate" if rate else "as the table says",
        directions=2 if rate and _BOTH_WAYS.search(f"{table.caption} {run.name}") else 1,
        windowed=rate,
    )


def _time_from_rate(meaning: TableMeaning, size_bytes: int, rate_bytes_per_s: float) -> float:
    """Return the time of one message; 0 if the rate is 0."""
    return meaning.directions * size_bytes / rate_bytes_per_s if rate_bytes_per_s else 0.0


def _pattern(caption: str, *, rate: bool, mixed: bool) -> str:
    """Return the pattern that a table measures, by its caption."""
    kind = "bandwidth" if rate else "latency"
    text = normalised_title(_VERSION.sub(" ", _UNIT.sub(" ", caption)))
    words = re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:MAX_NAME].strip("_") or kind
    return f"table_{words}_{kind}" if mixed and words != kind else f"table_{words}"


def _label(name: str) -> str:
    """Return the label of a run: its heading without unit and quantity, in characters that labels allow."""
    return label_of(_QUANTITY.sub(lambda found: found["program"] or " ", _UNIT.sub(" ", name)))
