"""The answer on one screen: what communication costs here, how certain that is, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.context import context_record, with_context
from mpigauge.document.document import Cases, Column, Document, Line, Measured, Table
from mpigauge.document.origin_words import source_of
from mpigauge.document.phrases import OF_JOB, phrases_of, state_phrase
from mpigauge.document.ratio_words import OF_LAUNCHES
from mpigauge.document.state_words import left_out_line, several_states_line, states_in_brief
from mpigauge.find import answer as words
from mpigauge.find.answer import answers, lines_of
from mpigauge.find.findings import MAX_DOUBTS, worst_doubts
from mpigauge.find.foot import foot_of
from mpigauge.find.headline import (
    FACTORS,
    headlines,
    ratio_cell,
    ratio_of,
    value_name,
    varied_of,
)
from mpigauge.find.imported import unknown_ranks
from mpigauge.find.missing import is_begun_only
from mpigauge.find.sessions import sessions_lines, sessions_records, spans
from mpigauge.linkmap.linkmap import is_map
from mpigauge.plan.factors import FACTORS as EVERY_FACTOR
from mpigauge.query.series import FILE, distinguishing_labels
from mpigauge.rows.group import state_in
from mpigauge.rows.machine.over_sessions import linked
from mpigauge.rows.machine.split import is_split, split_of
from mpigauge.sequences import group_by
from mpigauge.show.records import answer_records, flat_sessions, result_record
from mpigauge.show.text_chart import charts_of, drawn, not_drawn
from mpigauge.stats.interval import Number
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.vocabulary import QUOTED_BY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Tone, Units
    from mpigauge.document.phrases import Factors
    from mpigauge.find.answer import Answer, Quote, QuoteLine
    from mpigauge.find.headline import VariedFactors
    from mpigauge.query.query import Source
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.over_sessions import SessionIntervals
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Varied

CAPTION = "Key figures"
"""Title of a table that the lines above it describe."""

MAX_JOBS = 6
"""Most jobs side by side; beyond, see the tables."""

MAX_LINES, COLUMNS = 24, 80
"""Size of a screen, in lines and columns."""

MAX_VARIED_LINES = 40
"""Most lines where something was varied."""

BLANK_LINES, STEPS = 3, 3
"""Blank lines between head, numbers, doubts and what comes next, and usual lines of that."""

RATIO, HALF_WIDTH = "ratio", "half_width"

MAX_QUOTES, MAX_QUOTES_OF_MODES = 11, 16
MIN_QUOTES, MIN_QUOTES_IN_ROWS = 6, 3

HEADS, COLUMN, RATIOS = 26, 20, 11
"""Usual widths beside each other: of what heads rows, of a number with its interval, and of its ratio."""


MAX_COMPARED = 4
"""Most jobs side by side where a factor was varied at several values of others: the first values first."""


@dataclass(frozen=True, slots=True, eq=False)
class AnswerColumn:
    """Column of numbers: a job of a result."""

    source: Source
    answer: Answer


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """Columns of numbers in the order in which they are compared.

    Attributes:
        varied: What their campaign varied; None for several results, maps and campaigns that go on.
        count: How many jobs there are, shown or not.
        alike: How many of them at most differ in nothing but what was varied.
    """

    columns: Sequence[AnswerColumn]
    varied: VariedFactors | None = None
    count: int = 0
    alike: int = 1

    @property
    def factor(self) -> Varied | None:
        """The factor that the answer is about, if any."""
        return self.varied.first if self.varied is not None else None


def document(
    sources: Sequence[Source], chosen: Units, *, newest: bool = False, chart: bool = False
) -> Document:
    """Return the answer of one result, or of several side by side.

    Args:
        newest: Whether the suggested commands find the result without its name.
        chart: Whether text has time and bandwidth as a chart, where a curve has enough sizes.
    """
    every = [
        AnswerColumn(source, answer) for source in sources for answer in answers(source.rows, source.patterns)
    ]
    columns = _compared(sources, every)
    found = headlines(columns.varied, [one.answer for one in every], chosen) if columns.varied else []
    doubts = [*map(Line, sessions_lines(sources)), *_doubts(sources, len(every))]
    head = [*(one.text for one in found), *filter(None, _head(sources, every))]
    room = _numbers_that_fit(head, doubts, columns)
    lines, rest = words.lines_and_rest([column.answer for column in columns.columns], room)
    told = _fitting(lines, room)
    tables = _tables(columns, chosen, told)
    notes = [*_ratio_line(columns, tables), *_parts_lines(tables), *_all_states_line(tables)]
    tables = [replace(table, notes=[line.text for line in notes]) for table in tables]
    foot = [*notes, *doubts]
    more = _left_out(sources, columns, len(lines) - len(told) + rest)
    charts = charts_of(sources, columns.varied, chosen) if chart else []
    return Document(
        head=head,
        tables=tables,
        foot=foot,
        steps=_steps(sources, more, newest=newest, varied=any(one.is_finding for one in found)),
        units=chosen,
        source="; ".join(words.machine_of(source.result) for source in sources),
        machine="; ".join(dict.fromkeys(source_of(source.result) for source in sources)),
        data=lambda: _data(sources),
        records=lambda: chain.from_iterable(
            with_context(map(_flat, _records([source])), source.result, source.stat) for source in sources
        ),
        cases=lambda: [
            Cases(table, [*map(heading_of, table.rows)])
            for table in _tables(columns, chosen, told, rows=False)
        ],
        schema="show" if len(sources) == 1 else "answers",
        contexts=[context_record(source.result, source.stat) for source in sources],
        drawn=partial(drawn, charts, left_out=not_drawn(columns.varied)) if charts else None,
    )


def origins(sources: Sequence[Source]) -> list[str]:
    """Return where the numbers of an answer come from: machine, library, launches and states, a line each."""
    columns = [
        AnswerColumn(source, answer) for source in sources for answer in answers(source.rows, source.patterns)
    ]
    return [*filter(None, _head(sources, columns))]


def progress(source: Source, chosen: Units) -> Document:
    """Return the answer of a running campaign, without doubts: its numbers so far, and last what they say."""
    every = [AnswerColumn(source, answer) for answer in answers(source.rows, source.patterns)]
    columns, head = _compared([source], every), list(_head([source], every))
    found = headlines(columns.varied, [one.answer for one in every], chosen) if columns.varied else []
    room = _numbers_that_fit(head, [], columns)
    lines = lines_of([column.answer for column in columns.columns], room)
    return Document(
        head=head,
        tables=[*map(_steady, _tables(columns, chosen, _fitting(lines, room)))],
        foot=[Line(one.text, "title") for one in found],
        units=chosen,
    )


def _steady(table: Table) -> Table:
    """Return a table whose notes stay in their place while half-widths become shorter and longer."""

    def padded(column: Column) -> Column:
        def write(line: QuoteLine, chosen: Units) -> str:
            return column.text(line, chosen).ljust(len(words.ONE_LAUNCH))

        return replace(column, write=write) if column.name == HALF_WIDTH else column

    return replace(table, columns=[*map(padded, table.columns)])


def _compared(sources: Sequence[Source], columns: Sequence[AnswerColumn]) -> _Compared:
    """Return columns with those that are compared beside each other, as many as there is room for."""
    if len(sources) > 1 or is_map(sources[0].result):
        return _Compared(columns[:MAX_JOBS], count=len(columns))
    (source,) = sources
    varied = varied_of(source.result, source.rows, [column.answer for column in columns])
    if varied.first is None:
        return _Compared(_fitting_columns(columns, MAX_JOBS), varied, len(columns))
    factors = FACTORS[varied.first]
    groups = [*group_by(columns, lambda column: _without(column, factors)).values()]
    ordered = [column for group in groups for column in group]
    most = MAX_COMPARED if 1 < len(groups) < len(columns) else MAX_JOBS
    return _Compared(_fitting_columns(ordered, most), varied, len(columns), max(map(len, groups)))


def _fitting_columns(columns: Sequence[AnswerColumn], most: int) -> list[AnswerColumn]:
    """Return as many columns as fit; states of the machine of little time make way for what lasted."""

    def is_short(column: AnswerColumn) -> bool:
        of = column.answer.of
        return of is not None and split_of(column.source.result).is_short(of.state)

    if len(columns) <= most:
        return [*columns]
    return sorted(columns, key=is_short)[:most]


def _without(column: AnswerColumn, factors: Collection[str]) -> Key:
    """Return the job of a column without some factors, and the state of the machine that it is of."""
    job, of = column.answer.job, column.answer.of
    named = (factor.name for factor in EVERY_FACTOR if factor.job and factor.name not in factors)
    return (*(getattr(job, name) for name in named), state_in([of] if of is not None else []))


def _head(sources: Sequence[Source], columns: Sequence[AnswerColumn]) -> Iterator[str]:
    """Return two lines per result or per group of sessions: where it was measured, what was launched."""
    groups = {group.members[0]: group for group in spans(sources) if len(group.members) > 1}
    single = set(range(len(sources))) - {member for group in groups.values() for member in group.members}
    for number, source in enumerate(sources):
        name = f"{source.name}: " if len(sources) > 1 else ""
        if number in single:
            jobs = _jobs([source], columns)
            yield f"{name}{words.machine_of(source.result)}"
            yield words.campaign_of([source.result], jobs)
            yield from [
                *states_in_brief(source.result, source.rows),
                *left_out_line(source.result),
            ]
        elif number in groups:
            yield from _head_of_sessions(
                groups[number], [sources[member] for member in groups[number].members], columns
            )


def _head_of_sessions(
    spans: SessionIntervals, sources: Sequence[Source], columns: Sequence[AnswerColumn]
) -> Iterator[str]:
    """Return the head of results that are sessions of each other."""
    results = [source.result for source in sources]
    yield words.machine_of_sessions(results, spans.sessions)
    yield words.campaign_of(results, _jobs(sources, columns))
    yield from several_states_line([source.name for source in sources if is_split(source.result)])
    yield from left_out_line(*results)


def _jobs(sources: Sequence[Source], columns: Sequence[AnswerColumn]) -> list[Answer]:
    """Return one answer per job."""
    jobs: dict[object, Answer] = {}
    for column in columns:
        if column.source in sources:
            jobs.setdefault(column.answer.job, column.answer)
    return [*jobs.values()]


def _numbers_that_fit(head: Sequence[str], foot: Sequence[Line], compared: _Compared) -> int:
    """Return how many numbers fit on a screen; lines above may wrap, one is kept for a line that does, too.

    What was varied has more room, of which each job may need a line for each number.
    """
    above = sum(math.ceil(len(line) / COLUMNS) for line in head)
    columns, in_rows = len(compared.columns), _in_rows(compared)
    most = MAX_VARIED_LINES if compared.factor else MAX_LINES
    heading = columns > 1
    room = (most - above - len(foot) - BLANK_LINES - STEPS - 1 - heading) // (columns if in_rows else 1)
    most_quotes = MAX_QUOTES_OF_MODES if compared.factor == "mode" else MAX_QUOTES
    return max(MIN_QUOTES_IN_ROWS if in_rows else MIN_QUOTES, min(most_quotes, room))


def _left_out(sources: Sequence[Source], compared: _Compared, numbers: int) -> str:
    """Return how many columns and numbers are left out for lack of room; empty if none are."""
    is_single = len(sources) == 1
    counts = (
        (
            "job" if is_single and not is_split(sources[0].result) else "column",
            compared.count - len(compared.columns),
        ),
        ("number", numbers),
    )
    return " and ".join(units.counted(count, f"more {name}") for name, count in counts if count > 0)


# ---- The numbers ---------------------------------------------------------------------------------


def heading_of(line: QuoteLine) -> str:
    """Return the beginning of a line."""
    return words.heading(line) if len(line.quotes) == 1 else words.common_heading(line)


def _heading_of_modes(line: QuoteLine) -> str:
    """Return the beginning of a line beside which nothing else names the mode."""
    return words.common_heading(replace(line, modes=line.several_modes))


def _tables(
    compared: _Compared, chosen: Units, lines: Sequence[QuoteLine], *, rows: bool = True
) -> list[Table]:
    """Return the numbers as a table: a row for each question, or for each of its jobs.

    Args:
        rows: Whether jobs may have rows of their own, where there is no room for them side by side.
    """
    columns = compared.columns
    if not lines:
        return []
    if rows and _in_rows(compared):
        return [_table_of_jobs(compared, lines)]
    # Modes side by side have their sizes in the heads of their rows: nothing is left to say beside them.
    are_modes = compared.factor == "mode" and any(line.modes for line in lines)
    head = _heading_of_modes if are_modes else heading_of
    first = Column("quantity", "", head, left=True, goes=None)
    numbers = (
        _columns_of_one_job(chosen, compared.varied, lines)[: -1 if are_modes else None]
        if len(columns) == 1
        else [*_columns_of_jobs(compared, lines), *_sessions_columns(columns, lines)]
    )
    return [Table("", "", [*lines], [first, *numbers], caption=CAPTION)]


def _in_rows(compared: _Compared) -> bool:
    """Return whether jobs have rows: the values of what was varied have no room side by side."""
    if compared.factor is None or len(compared.columns) < 2:  # noqa: PLR2004 - beside each other
        return False
    longest = max(len(part) for name in _names(compared.columns) for part in name.split(", "))
    return HEADS + compared.alike * max(COLUMN, longest) + (compared.alike - 1) * RATIOS > COLUMNS


@dataclass(frozen=True, slots=True, eq=False)
class _JobRow:
    """The number of one job in answer to one question.

    Attributes:
        number: The place of the job among all.
        name: What distinguishes it from the others.
        leads: Whether it is the first with the question.
    """

    line: QuoteLine
    number: int
    name: str
    leads: bool

    @property
    def quote(self) -> Quote | None:
        """Number of the job; None if it has none."""
        return self.line.quotes[self.number]

    @property
    def quotes(self) -> tuple[Quote | None, ...]:
        """All numbers of the row, as a line of several jobs has them."""
        return (self.quote,)


def _table_of_jobs(compared: _Compared, lines: Sequence[QuoteLine]) -> Table:
    """Return a table with a row for each job that answers a question, the first value of the factor first."""
    heading, names = _heading_and_names(_names(compared.columns))
    rows: list[_JobRow] = []
    for line in lines:
        known = [number for number, quote in enumerate(line.quotes) if quote is not None]
        rows += [_JobRow(line, number, names[number], number == known[0]) for number in known]
    varied = compared.varied

    def ratio(row: _JobRow) -> Ratio | None:
        return ratio_of(varied, row.quote) if varied is not None else None

    def ratio_text(row: _JobRow, _: Units) -> str:
        found = ratio(row)
        return "" if found is None else ratio_cell(found, of_rates=row.line.first.unit != "s")

    return Table(
        "",
        "",
        rows,
        [
            Column(
                "quantity", "", lambda row: heading_of(row.line) if row.leads else "", left=True, goes=None
            ),
            Column("job", heading, lambda row: row.name, left=True, goes=None, tells=True),
            Column(
                "value",
                "",
                lambda row: row.quote and row.quote.value,
                write=lambda row, chosen: words.beside(row.quote, row.line, chosen),
                goes=None,
                tone=lambda row: _tone(row.quote),
                number=lambda row: _measured(row.quote) if row.line.alike else None,
            ),
            Column(
                RATIO,
                RATIO,
                lambda row: (found := ratio(row)) and found.estimate,
                "1",
                ratio_text,
                goes=None,
                joined=True,
            ),
        ],
        caption=CAPTION,
    )


def _heading_and_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """Return names with what stands above them: the variable, if they are values of one."""
    variables = {name.partition("=")[0] for name in names}
    if len(variables) == 1 and all("=" in name for name in names):
        return variables.pop(), [name.partition("=")[2] for name in names]
    return "", [*names]


def _fitting(lines: list[QuoteLine], room: int) -> list[QuoteLine]:
    """Return as many lines as fit on the screen: the last collectives are left out first."""
    beyond = len(lines) - room
    several = [line for line in lines if line.first.quoted_as in QUOTED_BY_PATTERN]
    gone = {id(line) for line in several[-beyond:]} if beyond > 0 else set()
    return [line for line in lines if id(line) not in gone]


def _columns_of_one_job(
    chosen: Units, varied: VariedFactors | None, lines: Sequence[QuoteLine]
) -> list[Column]:
    """Return the columns for one job: the number, its interval, its ratio, and how it was measured."""
    return [
        Column(
            "value",
            "",
            _value,
            write=lambda line, units: words.number(line.first, units),
            goes=None,
            tone=lambda line: _tone(line.first),
            number=lambda line: _measured(line.first, bare=True),
        ),
        Column(
            HALF_WIDTH,
            "",
            lambda line: line.first.half_width,
            "1",
            lambda line, units: words.width(line.first, units),
            left=True,
            goes=None,
            tone=lambda line: _tone(line.first),
        ),
        *_ratio_column(0, varied, lines),
        Column(
            "detail",
            "",
            lambda line: words.detail(line.first, chosen),
            left=True,
            wraps=True,
            goes=1,
            sheds=True,
            tone=lambda _: "quiet",
        ),
    ]


def _columns_of_jobs(compared: _Compared, lines: Sequence[QuoteLine]) -> Iterator[Column]:
    """Yield a column per job, headed by what distinguishes it from the others, and its ratio."""
    for number, name in enumerate(_names(compared.columns)):
        yield _column(number, name)
        yield from _ratio_column(number, compared.varied, lines)


def _ratio_column(number: int, varied: VariedFactors | None, lines: Sequence[QuoteLine]) -> Iterator[Column]:
    """Yield the ratios of a column to the first value of what was varied; nothing if there are none."""
    if varied is None:
        return
    known = varied

    def value(line: QuoteLine) -> float | None:
        found = ratio_of(known, line.quotes[number])
        return None if found is None else found.estimate

    def write(line: QuoteLine, _: Units) -> str:
        found = ratio_of(known, line.quotes[number])
        return "" if found is None else ratio_cell(found, of_rates=line.first.unit != "s")

    if any(value(line) is not None for line in lines):
        heading = RATIO if len(lines[0].quotes) > 1 else ""
        yield Column(f"ratio_{number}", heading, value, "1", write, goes=None, joined=True)


def _ratio_line(compared: _Compared, tables: Sequence[Table]) -> Iterator[Line]:
    """Yield what the ratios are to, and what they are formed of."""
    varied, factor = compared.varied, compared.factor
    if varied is None or factor is None:
        return
    shown = [quote for table in tables for row in table.rows for quote in row.quotes]
    bases = dict.fromkeys(
        value_name(factor, found.base.cell)
        for quote in shown
        if ratio_of(varied, quote) and quote and (found := varied.ratio(quote.row))
    )
    if bases:
        name = next(iter(bases)) if len(bases) == 1 else "the first"
        yield Line(f"{RATIO}: to {name} at the same size, {OF_LAUNCHES}", "quiet")
    ratios = [ratio for quote in shown if (ratio := ratio_of(varied, quote)) is not None]
    if few := [one for one in ratios if one.verdict == "undecided" and one.launches < LAUNCHES_OF_A_VERDICT]:
        count = units.counted(max(one.launches for one in few), "launch")
        yield Line(f"{count} instead of a ratio: a verdict takes {LAUNCHES_OF_A_VERDICT}", "quiet")


def _lines_in(table: Table) -> Iterator[QuoteLine]:
    """Yield the questions of a table, once or for each job."""
    for row in table.rows:
        yield row.line if isinstance(row, _JobRow) else row


def _parts_lines(tables: Sequence[Table]) -> Iterator[Line]:
    """Yield from when on times are that are a part of an operation, where nothing beside them says so."""
    bare = [table for table in tables if all(column.name != "detail" for column in table.columns)]
    quotes = [quote for table in bare for row in table.rows for quote in row.quotes if quote]
    parts = {quote.pattern.name: part for quote in quotes if (part := words.timed_part(quote))}
    yield from (Line(f"{name}: times are {part}", "quiet") for name, part in parts.items())


def _all_states_line(tables: Sequence[Table]) -> Iterator[Line]:
    lines: Iterable[QuoteLine] = (line for table in tables for line in _lines_in(table))
    if any(words.is_of_all_states(quote, line) for line in lines for quote in line.quotes if quote):
        yield Line(words.ALL_STATES_LINE, "quiet")


def _column(number: int, name: str) -> Column:
    def value(line: QuoteLine) -> float | None:
        quote = line.quotes[number]
        return None if quote is None else quote.value

    def write(line: QuoteLine, chosen: Units) -> str:
        quote = line.quotes[number]
        return units.MISSING if quote is None else words.beside(quote, line, chosen)

    def tone(line: QuoteLine) -> Tone:
        return _tone(line.quotes[number])

    def measured(line: QuoteLine) -> Measured | None:
        return _measured(line.quotes[number]) if line.alike else None

    return Column(str(number), name, value, write=write, goes=None, tone=tone, number=measured)


def _measured(quote: Quote | None, *, bare: bool = False) -> Measured | None:
    """Return a time or a rate with its interval; bare, where that has a column of its own."""
    if quote is None or quote.value is None or quote.unit not in {"s", "B/s"} or quote.awaited:
        return None
    ends = (None, None) if bare else (quote.low, quote.high)
    return Measured(Number(quote.value, *ends), "s" if quote.unit == "s" else "B/s")


def _tone(quote: Quote | None) -> Tone:
    """Return the tone of a number that lacks an interval or is not known yet."""
    return "quiet" if quote is not None and (quote.awaited or quote.of_one_launch) else ""


def _sessions_columns(columns: Sequence[AnswerColumn], lines: Sequence[QuoteLine]) -> Iterator[Column]:
    """Return what the next session may find: a column for all jobs that are sessions of each other."""
    known = zip(*([quote and quote.sessions for quote in line.quotes] for line in lines), strict=True)
    groups = linked([*known])
    factors = [
        _factors(columns[group[0]]) | {FILE: _files([columns[number] for number in group])}
        for group in groups
    ]
    for number, (group, name) in enumerate(zip(groups, distinguishing_labels(factors), strict=True)):
        yield _sessions_column(number, group, name)


def _files(columns: Sequence[AnswerColumn]) -> str:
    return " ".join(dict.fromkeys(column.source.name for column in columns))


def _sessions_column(number: int, group: Sequence[int], name: str) -> Column:
    def quote_of(line: QuoteLine) -> Quote | None:
        """Return the first quote with a time over sessions, which counts all quotes like it."""
        quotes = (line.quotes[place] for place in group)
        return next((quote for quote in quotes if quote is not None and quote.sessions), None)

    def value(line: QuoteLine) -> float | None:
        quote = quote_of(line)
        return None if quote is None else quote.value_over_sessions

    def write(line: QuoteLine, chosen: Units) -> str:
        quote = quote_of(line)
        return units.MISSING if quote is None else words.over_sessions(quote, line, chosen)

    heading = ", ".join(filter(None, [name, "over sessions"]))
    return Column(f"sessions_{number}", heading, value, write=write, goes=None)


def _names(columns: Sequence[AnswerColumn]) -> list[str]:
    """Return what distinguishes columns; of one that lacks what the others say, that it does."""
    labels = distinguishing_labels([_factors(column) for column in columns])
    return (
        [label or _lacking(column) for label, column in zip(labels, columns, strict=True)]
        if any(labels)
        else labels
    )


def _lacking(column: AnswerColumn) -> str:
    cell = column.answer.quotes[0].row.cell
    return "ranks unknown" if not cell.ranks else "" if cell.label else "no name"


def _factors(one: AnswerColumn) -> Factors:
    phrases = phrases_of(one.answer.quotes[0].row.cell, OF_JOB)
    if one.answer.of is not None:
        phrases |= state_phrase(one.answer.of)
    return phrases | {FILE: one.source.name}


def _value(line: QuoteLine) -> float | None:
    return line.first.value


# ---- Doubts and what comes next ------------------------------------------------------------------


def _doubts(sources: Sequence[Source], columns: int) -> list[Line]:
    """Return the worst doubts of each result.

    Args:
        columns: How many columns of numbers there are.
    """
    unknown = (
        unknown_ranks([(str(source.result.path), source.rows) for source in sources])
        if len(sources) > 1
        else ""
    )
    lines = [Line(f"! {unknown}", "doubt")] if unknown else []
    for source in sources:
        name = f"{source.name}: " if len(sources) > 1 else ""
        most = MAX_DOUBTS if columns == 1 else max(1, (MAX_DOUBTS - 1) // len(sources))
        lines += worst_doubts(source.result, source.rows, most, name)
    return lines[:MAX_DOUBTS]


def _steps(sources: Sequence[Source], more: str, *, newest: bool, varied: bool) -> list[Line]:
    paths = [source.result.path for source in sources]
    measured = not all(map(is_begun_only, (source.result for source in sources)))
    steps = list(words.next_steps(paths, more, newest=newest, measured=measured, varied=varied))
    widest = max(len(what) for what, _ in steps) + 1
    return [Line(f"{what + ':':{widest}}  {command}", "quiet") for what, command in steps]


# ---- For programs --------------------------------------------------------------------------------


def _records(sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Return the numbers of all results, each with its file."""
    for source in sources:
        for record in answer_records(source.result, source.rows):
            yield {"file": str(source.result.path), **record}


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return a line of CSV, with the time over sessions flattened."""
    return {name: value for name, value in record.items() if name != "sessions"} | flat_sessions(
        record["sessions"]
    )


def _data(sources: Sequence[Source]) -> Mapping[str, Any]:
    """Return all data of one result; of several their answers, and their sessions."""
    if len(sources) > 1:
        return {"answer": list(_records(sources)), "findings": list(sessions_records(sources))}
    (source,) = sources
    notes = [line.text for line in foot_of(source.result, source.rows)]
    return result_record(source.result, source.rows, notes, source.stat)
