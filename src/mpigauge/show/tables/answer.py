"""The answer: one screen that says what communication costs here, how sure that is, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.analysis.answer import answers
from mpigauge.analysis.doubts import doubts_of
from mpigauge.show.document import Column, Document, Line, Table
from mpigauge.show.series import FILE, STATE, told_apart
from mpigauge.show.tables.records import result_record
from mpigauge.show.words import answer as words
from mpigauge.show.words.doubts import doubt_line
from mpigauge.show.words.factors import phrases_of
from mpigauge.show.words.foot import foot_of
from mpigauge.show.words.states import left_out_line, states_in_brief
from mpigauge.vocabulary import QUOTED_RATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.analysis.answer import Answer, Quote
    from mpigauge.analysis.doubts import Doubt
    from mpigauge.show.document import Units
    from mpigauge.show.query import Source
    from mpigauge.show.words.factors import Factors
    from mpigauge.vocabulary import QuotedAs

DOUBTS_MOST = 4
JOBS_MOST = 6
"""Side by side; of more, the tables tell."""

QUOTES_MOST = 12


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """One column of numbers: a job of a result."""

    source: Source
    answer: Answer


@dataclass(frozen=True, slots=True)
class Asked:
    """One line: a number of every job that has it."""

    heading: str
    quotes: tuple[Quote | None, ...]

    @property
    def first(self) -> Quote:
        """The first that there is."""
        return next(quote for quote in self.quotes if quote is not None)


def document(sources: Sequence[Source], chosen: Units, *, newest: bool = False) -> Document:
    """The answer of one result, or of several side by side.

    Args:
        newest: Whether the commands that come next find the result without its name.
    """
    told = [Told(source, answer) for source in sources for answer in answers(source.rows, source.patterns)]
    doubts = _doubts(sources, told)
    return Document(
        head=[*_head(sources, told), *_more_jobs(told)],
        tables=_tables(told[:JOBS_MOST], chosen),
        foot=[*doubts, *_blank(doubts), *_next(sources, newest=newest)],
        units=chosen,
        source="; ".join(words.machine_of(source.result) for source in sources),
        data=lambda: _data(sources, told),
        records=lambda: (record for one in told for record in records_of(one)),
    )


def _head(sources: Sequence[Source], told: Sequence[Told]) -> Iterator[str]:
    """Of each result two lines: where, and what was launched."""
    for source in sources:
        mine = [*{one.answer.job: one.answer for one in told if one.source is source}.values()]
        name = f"{source.name}: " if len(sources) > 1 else ""
        yield f"{name}{words.machine_of(source.result)}"
        yield words.campaign_of(source.result, mine)
        yield from [*states_in_brief(source.states, source.rows), *left_out_line(source.result)]


def _more_jobs(told: Sequence[Told]) -> list[str]:
    left = len(told) - JOBS_MOST
    return [f"and {left} more jobs: mpigauge show --all"] if left > 0 else []


# ---- The numbers ---------------------------------------------------------------------------------


def _tables(told: Sequence[Told], chosen: Units) -> list[Table]:
    lines = list(_lines(told))[:QUOTES_MOST]
    if not lines:
        return []
    first = Column("quantity", "", lambda line: line.heading, left=True, goes=None)
    columns = _alone(chosen) if len(told) == 1 else _beside(told)
    return [Table("", "", lines, [first, *columns])]


def _lines(told: Sequence[Told]) -> Iterator[Asked]:
    """Headings in the order of the first job that has them."""
    by_heading = [{words.heading(quote): quote for quote in one.answer.quotes} for one in told]
    for heading in dict.fromkeys(heading for mine in by_heading for heading in mine):
        yield Asked(heading, tuple(mine.get(heading) for mine in by_heading))


def _alone(chosen: Units) -> list[Column]:
    """Of one job: the number, how sure it is, and what stands beside it."""
    return [
        Column("value", "", _value, write=lambda line, asked: words.number(line.first, asked), goes=None),
        Column(
            "half_width",
            "",
            lambda line: words.half_width(line.first),
            "1",
            lambda line, _: _width(line.first),
            left=True,
            goes=2,
        ),
        Column(
            "detail",
            "",
            lambda line: words.detail(line.first, chosen),
            left=True,
            wraps=True,
            goes=None,
            tone=lambda _: "quiet",
        ),
    ]


def _beside(told: Sequence[Told]) -> list[Column]:
    """Of several jobs: a column each, headed by what tells it from the others."""
    return [_column(number, name) for number, name in enumerate(_names(told))]


def _column(number: int, name: str) -> Column:
    def value(line: Asked) -> float | None:
        quote = line.quotes[number]
        return None if quote is None else _number(quote)

    def write(line: Asked, chosen: Units) -> str:
        quote = line.quotes[number]
        if quote is None:
            return units.MISSING
        return f"{words.number(quote, chosen)} {_width(quote)}".rstrip()

    return Column(str(number), name, value, write=write, goes=100 - number)


def _names(told: Sequence[Told]) -> list[str]:
    return told_apart([_factors(one) for one in told])


def _factors(one: Told) -> Factors:
    state = {STATE: one.answer.state} if one.answer.state else {}
    return phrases_of(one.answer.quotes[0].row.cell, words.JOB) | state | {FILE: one.source.name}


def _value(line: Asked) -> float | None:
    return _number(line.first)


def _width(quote: Quote) -> str:
    width = words.half_width(quote)
    return "" if width is None else units.format_relative(width)


# ---- Doubts and what comes next ------------------------------------------------------------------


def _doubts(sources: Sequence[Source], told: Sequence[Told]) -> list[Line]:
    """The worst of each result."""
    found = []
    for source in sources:
        name = f"{source.name}: " if len(sources) > 1 else ""
        most = DOUBTS_MOST if len(told) == 1 else max(1, (DOUBTS_MOST - 1) // len(sources))
        shown = doubts_in(source, told)[:most]
        found += [Line(f"! {name}{doubt_line(doubt)}", "doubt") for doubt in shown]
    return found


def doubts_in(source: Source, told: Sequence[Told]) -> list[Doubt]:
    """All doubts about a result, the worst first."""
    quoted = {quote.row.cell for one in told if one.source is source for quote in one.answer.quotes}
    return doubts_of(source.result, source.rows, quoted)


def _blank(lines: Sequence[Line]) -> list[Line]:
    return [Line("")] if lines else []


def _next(sources: Sequence[Source], *, newest: bool) -> list[Line]:
    steps = list(words.next_steps([str(source.result.path) for source in sources], newest=newest))
    widest = max(len(what) for what, _ in steps)
    return [Line(f"{what:{widest}}  {command}", "quiet") for what, command in steps]


# ---- For programs --------------------------------------------------------------------------------


def _data(sources: Sequence[Source], told: Sequence[Told]) -> Mapping[str, Any]:
    """Of one result all that is said of it, with its answer; of several the answers alone."""
    answer = [record for one in told for record in records_of(one)]
    if len(sources) > 1:
        return {"answer": answer}
    (source,) = sources
    notes = [line.text for line in foot_of(source.result, source.rows, source.states)]
    whole = result_record(source.result, source.rows, notes, source.states)
    return {**whole, "answer": answer}


def records_of(told: Told) -> Iterator[dict[str, Any]]:
    """The numbers of a job in SI base units: docs/numbers.md."""
    for quote in told.answer.quotes:
        cell = quote.row.cell
        yield {
            "file": str(told.source.result.path),
            "quantity": quote.quoted_as,
            "pattern": cell.pattern,
            "mode": cell.mode,
            "bytes": cell.bytes,
            "mpi": cell.mpi,
            "mpi_version": cell.mpi_version,
            "transport": cell.transport,
            "placement": cell.placement,
            "ranks": cell.ranks,
            "state": quote.row.state,
            "value": _number(quote),
            "unit": UNITS.get(quote.quoted_as, "s"),
            "half_width": words.half_width(quote),
        }


UNITS: Mapping[QuotedAs, str] = {
    **dict.fromkeys(QUOTED_RATES, "B/s"),
    "message-rate": "1/s",
    "eager-limit": "B",
    "copies": "1",
}
"""Of what is no time."""


def _number(quote: Quote) -> float | None:
    row = quote.row
    match UNITS.get(quote.quoted_as):
        case "B/s":
            return row.rate_bytes_per_s
        case "1/s":
            return words.message_rate(row)
        case "B":
            return row.limit_bytes
        case "1":
            return quote.cost.least.estimate if quote.cost else None
    return row.time.estimate if row.time else None
