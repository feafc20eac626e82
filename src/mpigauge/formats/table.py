"""Tables that people make: a column of sizes, and one of times or rates for each run; Markdown, HTML or CSV.

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
from mpigauge.formats.collected import Collected, LineParser, Meaning, cell_of
from mpigauge.formats.runs import label_of
from mpigauge.formats.text import number
from mpigauge.formats.unread import columns_example
from mpigauge.plan.benchmarks import plain
from mpigauge.units import RATE_UNITS, TIME_UNITS, parse_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.formats.text import Line

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
}
"""Units as people write them. MB/sec is not one: perftest prints it for 2^20 bytes, others for 10^6."""

_ANY = "|".join(map(re.escape, sorted({*TIMES, *RATES}, key=len, reverse=True)))
_UNIT = re.compile(
    rf"[(\[]\s*(?:in\s+)?(?P<closed>{_ANY})\s*[)\]]"
    rf"|(?:(?<=\s)in\s+|[,_ ]\s*)(?P<bare>(?!s\b){_ANY})(?=\s*[:.]?\s*\Z)"
)
_SIZE = re.compile(
    r"(?:(?:msg|message|buffer|data|transfer)[ _]?)?(?:sizes?|len(?:gth)?|bytes)"
    r"\s*(?:[(\[]\s*(?:in\s+)?(?P<unit>[A-Za-z]+)\s*[)\]]|[ _]?in[ _]bytes)?",
    re.IGNORECASE,
)
_BYTES = {"b": "B", "byte": "B", "bytes": "B", "kib": "KiB", "mib": "MiB", "gib": "GiB"}
_RULED = re.compile(r"[\s|:+-]*[-=][\s|:+=-]*")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,18}", re.ASCII)
_MEASURED = re.compile(
    r"(?i)(?<![a-z])(?:latency|lat|time|bandwidth|bw|throughput|rate|avg\.?|average|mean)(?![a-z])"
)
_MEAN = re.compile(r"(?i)\b(?:avg|average|mean)\b")
_BOTH_WAYS = re.compile(r"(?i)\bbi-?dir|\bbibw\b")
_NO_RUN = re.compile(
    r"(?i)%|\N{INCREMENT}|\N{GREEK CAPITAL LETTER DELTA}|\b(?:min|max|minimum|maximum"
    r"|std|stddev|sd|dev|deviation|variance|error|err|ci|p[0-9]+|percentile|iter\w*|rep\w*|count|samples|speed-?up|ratio|diff\w*|delta|change"
    r"|improve\w*|gain|factor|validation|status|notes?|comment)\b"
)
_CAPTION = re.compile(r"#+\s|\*\*|__|.*:\s*\Z|<")
_TAG = re.compile(r"<[^>]{0,200}>")
_BOLD = re.compile(r"(?<![\w.,*`])[*`]+|[*`]+(?![\w.,*`])")
"""What Markdown marks words with, never in the middle of one."""

_VERSION = re.compile(r"\bv?[0-9]+\.[0-9][\w.]*")

BAR, HTML = "|", "<"
NOTHING = frozenset({"", "-", "\N{EN DASH}", "\N{EM DASH}", "n/a", "na", "nan", "none"})
DELIMITERS = ",;\t"
NAME_MOST = 60
FROM_ABOVE = 3
"""Lines above a heading that may say what its numbers are."""

EXAMPLE = "as in 'time (us)' or 'rate (MB/s)'"
COMPLETE = "correct the line, or delete it"


@dataclass(frozen=True, slots=True)
class _Column:
    """A run.

    Attributes:
        at: Its place in a row.
        scale: Seconds or bytes per second in one of its unit.
        rate: Whether that is a rate.
    """

    at: int
    meaning: Meaning
    label: str
    scale: float
    rate: bool
    statistic: str


@dataclass(slots=True)
class _Table:
    """What is known of the table that is read.

    Attributes:
        delimiter: What parts its fields; "" outside of a table.
        caption: What a row with one field, or the line above, says.
        size_unit: Of the column of sizes.
    """

    delimiter: str = ""
    columns: list[_Column] = field(default_factory=list)
    size_unit: str = ""
    width: int = 0


class Parser(LineParser):
    """Reads tables that people made."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._table = _Table()
        self._above: list[str] = []
        self._page: list[Line] = []

    def take(self, line: Line) -> None:
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
            if _is_size(fields[0]):
                self._heading(line, fields, self._table.delimiter)
            else:
                self._row(line, fields)
        else:
            self._outside(line, text)

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

    def _outside(self, line: Line, text: str) -> None:
        """Read a line that is in no table: a heading begins one, and others may say what is below them."""
        self._table = _Table()
        delimiter = _delimiter(text)
        if delimiter and _is_size((fields := _fields(text, delimiter))[0]):
            self._heading(line, fields, delimiter)
        elif not _RULED.fullmatch(text):
            self._say(_fields(text, BAR) if text.startswith(BAR) else [text])

    def _say(self, fields: Sequence[str]) -> None:
        """Keep what a line says, or the one field of a row; a row of another table says nothing."""
        said = [one for one in fields if one]
        if len(said) == 1:
            self._above = [*self._above, *said][-FROM_ABOVE:]
        elif said:
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
            if _is_size(fields[0]):
                self._heading(line, fields, HTML)
            elif self._table.columns:
                self._row(line, fields)
            else:
                self._say(fields)
        self._table = _Table()

    def _heading(self, line: Line, fields: Sequence[str], delimiter: str) -> None:
        """Begin a table.

        Raises:
            LineError: Nobody says what unit its numbers have, or two columns have one name.
        """
        above, self._above = self._above, []
        caption = next((one for one in reversed(above) if _is_caption(one)), "")
        size = _SIZE.fullmatch(fields[0])
        unit = (size["unit"] if size else "") or "B"
        self.found.begin(_bare(caption) or "a table", line)
        self._table = _Table(delimiter, [], _BYTES.get(unit.lower(), unit), len(fields))
        self._table.columns = _columns(line, fields, _bare(caption))

    def _row(self, line: Line, fields: Sequence[str]) -> None:
        """Read the numbers of one size.

        Raises:
            LineError: Its first field is no size, or another one no number.
        """
        table = self._table
        if all(not one or _RULED.fullmatch(one) for one in fields) or not table.columns:
            return
        if len(fields) > table.width and any(fields[table.width :]):
            raise line.refused(f"has {len(fields)} fields below {table.width} headings", COMPLETE)
        size_bytes = _size_bytes(line, fields[0], table.size_unit)
        words = {
            column.at: _value(line, fields[column.at]) for column in table.columns if column.at < len(fields)
        }
        for column in table.columns:
            if not (word := words.get(column.at)) or (column.rate and not size_bytes):
                continue
            time_s = float(word) * column.scale
            if column.rate:
                time_s = column.meaning.directions * size_bytes / time_s if time_s else 0.0
            cell = cell_of(column.meaning, size_bytes, self.found.ranks, label=column.label)
            self.found.take(column.meaning, cell, time_s, column.statistic, line, printed=word)


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


def _is_size(text: str) -> bool:
    return _SIZE.fullmatch(text) is not None


def _is_caption(text: str) -> bool:
    """Return whether a line says what the numbers below it are: it names their unit, or is a heading."""
    return _UNIT.search(text) is not None or (
        _CAPTION.match(text) is not None and _MEASURED.search(text) is not None
    )


def _delimiter(text: str) -> str:
    """Return what parts the fields of a line; empty if nothing does."""
    return next((sign for sign in (BAR, *DELIMITERS) if sign in text), "")


def _fields(text: str, delimiter: str) -> list[str]:
    """Return the fields of a line, without what Markdown and HTML make bold with."""
    if delimiter == BAR:
        words = text.strip(" >").removeprefix(BAR).removesuffix(BAR).split(BAR)
    else:
        words = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [""])
    return [_bare(word) for word in words]


def _bare(text: str) -> str:
    return " ".join(_BOLD.sub("", _TAG.sub(" ", text)).strip(" #").split())


def _size_bytes(line: Line, word: str, unit: str) -> int:
    """Return a size, in the unit of its column or its own.

    Raises:
        LineError: It is none, or its unit means two things.
    """
    try:
        return parse_size(f"{word.replace(',', '')} {unit}" if _WHOLE.fullmatch(word) else word)
    except UsageError as error:
        raise line.refused(error.sentence, error.hint) from None


def _value(line: Line, word: str) -> str:
    """Return a number; empty if the field says that there is none.

    Raises:
        LineError: It is neither.
    """
    if word.lower() in NOTHING:
        return ""
    text = number(word)
    if not _NUMBER.fullmatch(text):
        two = ": the comma may be one of thousands or a decimal point" if _WHOLE.fullmatch(word) else ""
        raise line.refused(f"{word!r} is not a number{two}", COMPLETE)
    return text


# ---- Columns -------------------------------------------------------------------------------------


def _columns(line: Line, fields: Sequence[str], caption: str) -> list[_Column]:
    """Return the runs of a heading.

    Raises:
        LineError: Nobody says the unit of one, or two have one name.
    """
    runs = [(at, name) for at, name in enumerate(fields) if at and name and not _NO_RUN.search(name)]
    own = [(at, name) for at, name in runs if _UNIT.search(name)]
    said = _UNIT.search(caption)
    if not runs:
        raise line.refused("has no column of times or rates", f"write a unit into its heading, {EXAMPLE}")
    if not own and said is None:
        how = f"write it there, {EXAMPLE}, or say it in another file:"
        raise line.refused(
            f"does not say the unit of {runs[0][1]!r}",
            f"{how}\n{columns_example(line.file, fields[0], runs[0][1])}",
        )
    chosen = [(at, name, _UNIT.search(name) or said) for at, name in (own or runs)]
    rates = {_word(unit) in RATES for *_, unit in chosen}
    found = [_column(at, name, _word(unit), caption, mixed=len(rates) > 1) for at, name, unit in chosen]
    alike = Counter((column.meaning.pattern, column.label) for column in found)
    if max(alike.values()) > 1:
        raise line.refused("two columns are of the same run", "give each column a heading of its own")
    return found


def _word(unit: re.Match[str] | None) -> str:
    return (unit["closed"] or unit["bare"]) if unit else ""


def _column(at: int, name: str, unit: str, caption: str, *, mixed: bool) -> _Column:
    """Return a run.

    Args:
        mixed: Whether times and rates stand in one table.
    """
    rate, said = unit in RATES, f"{caption} {name}"
    meaning = Meaning(
        _pattern(caption, rate=rate, mixed=mixed),
        time_of="one message, by its rate" if rate else "as the table says",
        directions=2 if rate and _BOTH_WAYS.search(said) else 1,
        windowed=rate,
    )
    scale = RATES[unit] if rate else TIMES[unit]
    return _Column(at, meaning, _label(name), scale, rate, "mean" if _MEAN.search(said) else "")


def _pattern(caption: str, *, rate: bool, mixed: bool) -> str:
    """Return the name of what a table measures, by its caption."""
    kind = "bandwidth" if rate else "latency"
    text = plain(_VERSION.sub(" ", _UNIT.sub(" ", caption)))
    words = re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:NAME_MOST].strip("_") or kind
    return f"table_{words}_{kind}" if mixed and words != kind else f"table_{words}"


def _label(name: str) -> str:
    """Return the label of a run: its heading without unit and quantity, in the letters of a label."""
    return label_of(_MEASURED.sub(" ", _UNIT.sub(" ", name)))
