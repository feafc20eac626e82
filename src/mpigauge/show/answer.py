"""The answer: one screen that says what communication costs here, how sure that is, and what comes next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.context import context_record, traced
from mpigauge.document.document import Cases, Column, Document, Line, Table
from mpigauge.document.phrases import OF_JOB, phrases_of, state_phrase
from mpigauge.document.state_words import left_out_line, several_states_line, states_in_brief
from mpigauge.find import answer as words
from mpigauge.find.answer import answers, by_mode, lines_of
from mpigauge.find.doubts import doubt_line, doubts_of
from mpigauge.find.foot import foot_of
from mpigauge.find.imported import unknown_ranks
from mpigauge.find.sessions import sessions_lines, sessions_records, spans
from mpigauge.query.series import FILE, told_apart
from mpigauge.rows.machine.over_sessions import linked
from mpigauge.rows.machine.split import is_split
from mpigauge.show.records import answer_records, flat_sessions, result_record
from mpigauge.vocabulary import QUOTED_BY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Tone, Units
    from mpigauge.document.phrases import Factors
    from mpigauge.find.answer import Answer, Quote, QuoteLine
    from mpigauge.find.doubts import Doubt
    from mpigauge.query.query import Source
    from mpigauge.rows.machine.over_sessions import Spans

DOUBTS_MOST = 4
JOBS_MOST = 6
"""Side by side; of more, the tables tell."""

LINES_MOST, COLUMNS = 24, 80
"""Of a screen."""

BLANK_LINES = 2
"""Above and below the numbers."""

QUOTES_MOST = 11
QUOTES_LEAST = 6


@dataclass(frozen=True, slots=True, eq=False)
class AnswerColumn:
    """One column of numbers: a job of a result."""

    source: Source
    answer: Answer


def document(sources: Sequence[Source], chosen: Units, *, newest: bool = False) -> Document:
    """The answer of one result, or of several side by side.

    Args:
        newest: Whether the commands that come next find the result without its name.
    """
    told = [
        AnswerColumn(source, answer) for source in sources for answer in answers(source.rows, source.patterns)
    ]
    doubts = [*map(Line, sessions_lines(sources)), *_doubts(sources, told)]
    head = [*filter(None, _head(sources, told))]
    foot = [*doubts, *_blank(doubts), *_next(sources, newest=newest)]
    room = _room(head, foot, told)
    tables = _tables(told[:JOBS_MOST], chosen, room)
    return Document(
        head=[*head, *_left_out(sources, told, room)],
        tables=tables,
        foot=foot,
        units=chosen,
        source="; ".join(words.machine_of(source.result) for source in sources),
        data=lambda: _data(sources),
        records=lambda: chain.from_iterable(
            traced(map(_flat, _records([source])), source.result, source.stat) for source in sources
        ),
        cases=lambda: [Cases(table, [*map(heading_of, table.rows)]) for table in tables],
        schema="show" if len(sources) == 1 else "answers",
        contexts=[context_record(source.result, source.stat) for source in sources],
    )


def progress(source: Source, chosen: Units) -> Document:
    """The same of a campaign that goes on: its numbers so far, without doubts."""
    told = [AnswerColumn(source, answer) for answer in answers(source.rows, source.patterns)]
    head = list(_head([source], told))
    return Document(head=head, tables=_tables(told[:JOBS_MOST], chosen, _room(head, [], told)), units=chosen)


def _head(sources: Sequence[Source], told: Sequence[AnswerColumn]) -> Iterator[str]:
    """Of each result two lines, of all that are sessions of each other too: where, and what was launched."""
    together = {one.members[0]: one for one in spans(sources) if len(one.members) > 1}
    alone = set(range(len(sources))) - {member for one in together.values() for member in one.members}
    for number, source in enumerate(sources):
        name = f"{source.name}: " if len(sources) > 1 else ""
        if number in alone:
            mine = _jobs([source], told)
            yield f"{name}{words.machine_of(source.result)}"
            yield words.campaign_of([source.result], mine)
            yield from [
                *states_in_brief(source.result, source.rows),
                *left_out_line(source.result),
            ]
        elif number in together:
            yield from _head_of_sessions(
                together[number], [sources[one] for one in together[number].members], told
            )


def _head_of_sessions(spans: Spans, sources: Sequence[Source], told: Sequence[AnswerColumn]) -> Iterator[str]:
    """Of results that are sessions of each other."""
    results = [source.result for source in sources]
    yield words.machine_of_sessions(results, spans.sessions)
    yield words.campaign_of(results, _jobs(sources, told))
    yield from several_states_line([source.name for source in sources if is_split(source.result)])
    yield from left_out_line(*results)


def _jobs(sources: Sequence[Source], told: Sequence[AnswerColumn]) -> list[Answer]:
    """One answer of each of their jobs."""
    found: dict[object, Answer] = {}
    for one in told:
        if one.source in sources:
            found.setdefault(one.answer.job, one.answer)
    return [*found.values()]


def _room(head: Sequence[str], foot: Sequence[Line], told: Sequence[AnswerColumn]) -> int:
    """For how many numbers a screen has room: lines above may wrap; one is for what there is no room for."""
    above = sum(math.ceil(len(line) / COLUMNS) for line in head)
    heading = len(told) > 1
    return max(QUOTES_LEAST, min(QUOTES_MOST, LINES_MOST - above - heading - len(foot) - BLANK_LINES - 1))


def _left_out(sources: Sequence[Source], told: Sequence[AnswerColumn], room: int) -> list[str]:
    """How much there is no room for, and what has it."""
    lines = _lines(told[:JOBS_MOST], room)
    alone = len(sources) == 1
    counts = (
        ("job" if alone else "column", len(told) - JOBS_MOST),
        ("number", len(lines) - len(_fitting(lines, room))),
    )
    more = " and ".join(units.counted(count, f"more {name}") for name, count in counts if count > 0)
    return [f"{more}: mpigauge show {'--all' if alone else '--table times'}"] if more else []


# ---- The numbers ---------------------------------------------------------------------------------


def heading_of(line: QuoteLine) -> str:
    """What stands at the beginning of a line."""
    return words.heading(line) if len(line.quotes) == 1 else words.common_heading(line)


def _tables(told: Sequence[AnswerColumn], chosen: Units, room: int) -> list[Table]:
    lines = _lines(told, room)
    if not lines:
        return []
    first = Column("quantity", "", heading_of, left=True, goes=None)
    columns = _alone(chosen) if len(told) == 1 else [*_beside(told), *_over_sessions(told, lines)]
    return [Table("", "", _fitting(lines, room), [first, *columns])]


def _lines(told: Sequence[AnswerColumn], room: int) -> list[QuoteLine]:
    """One for each mode where these are what was measured, and there is room for them."""
    found = [one.answer for one in told]
    lines = lines_of(by_mode(found))
    return lines if len(lines) <= room else lines_of(found)


def _fitting(lines: list[QuoteLine], room: int) -> list[QuoteLine]:
    """As many as the screen has room for: the last operations of all ranks go first."""
    beyond = len(lines) - room
    several = [line for line in lines if line.first.quoted_as in QUOTED_BY_PATTERN]
    gone = {id(line) for line in several[-beyond:]} if beyond > 0 else set()
    return [line for line in lines if id(line) not in gone]


def _alone(chosen: Units) -> list[Column]:
    """Of one job: the number, how sure it is, and what stands beside it."""
    return [
        Column(
            "value",
            "",
            _value,
            write=lambda line, asked: words.number(line.first, asked),
            goes=None,
            tone=lambda line: _tone(line.first),
        ),
        Column(
            "half_width",
            "",
            lambda line: line.first.half_width,
            "1",
            lambda line, _: words.width(line.first),
            left=True,
            goes=2,
            tone=lambda line: _tone(line.first),
        ),
        Column(
            "detail",
            "",
            lambda line: words.detail(line.first, chosen),
            left=True,
            wraps=True,
            goes=3,
            tone=lambda _: "quiet",
        ),
    ]


def _beside(told: Sequence[AnswerColumn]) -> list[Column]:
    """Of several jobs: a column each, headed by what tells it from the others."""
    return [_column(number, name) for number, name in enumerate(_names(told))]


def _column(number: int, name: str) -> Column:
    def value(line: QuoteLine) -> float | None:
        quote = line.quotes[number]
        return None if quote is None else quote.value

    def write(line: QuoteLine, chosen: Units) -> str:
        quote = line.quotes[number]
        return units.MISSING if quote is None else words.beside(quote, line, chosen)

    def tone(line: QuoteLine) -> Tone:
        return _tone(line.quotes[number])

    return Column(str(number), name, value, write=write, goes=None, tone=tone)


def _tone(quote: Quote | None) -> Tone:
    """Return how a number looks that nothing says how sure it is of, or that is not known yet."""
    return "quiet" if quote is not None and (quote.awaited or quote.of_one_launch) else ""


def _over_sessions(told: Sequence[AnswerColumn], lines: Sequence[QuoteLine]) -> Iterator[Column]:
    """What the next session may find: a column for all jobs that are sessions of each other."""
    known = zip(*([quote and quote.sessions for quote in line.quotes] for line in lines), strict=True)
    groups = linked([*known])
    factors = [_factors(told[group[0]]) | {FILE: _files([told[one] for one in group])} for group in groups]
    for number, (group, name) in enumerate(zip(groups, told_apart(factors), strict=True)):
        yield _sessions_column(number, group, name)


def _files(told: Sequence[AnswerColumn]) -> str:
    return " ".join(dict.fromkeys(one.source.name for one in told))


def _sessions_column(number: int, group: Sequence[int], name: str) -> Column:
    def quote_of(line: QuoteLine) -> Quote | None:
        """The first that has a time over sessions: where quotes are alike, that of all of them."""
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


def _names(told: Sequence[AnswerColumn]) -> list[str]:
    return told_apart([_factors(one) for one in told])


def _factors(one: AnswerColumn) -> Factors:
    phrases = phrases_of(one.answer.quotes[0].row.cell, OF_JOB)
    if one.answer.of is not None:
        phrases |= state_phrase(one.answer.of)
    return phrases | {FILE: one.source.name}


def _value(line: QuoteLine) -> float | None:
    return line.first.value


# ---- Doubts and what comes next ------------------------------------------------------------------


def _doubts(sources: Sequence[Source], told: Sequence[AnswerColumn]) -> list[Line]:
    """The worst of each result."""
    unknown = unknown_ranks([(str(one.result.path), one.rows) for one in sources]) if len(sources) > 1 else ""
    found = [Line(f"! {unknown}", "doubt")] if unknown else []
    for source in sources:
        name = f"{source.name}: " if len(sources) > 1 else ""
        most = DOUBTS_MOST if len(told) == 1 else max(1, (DOUBTS_MOST - 1) // len(sources))
        shown = doubts_in(source, told)[:most]
        found += [Line(f"! {name}{doubt_line(doubt)}", "doubt") for doubt in shown]
    return found[:DOUBTS_MOST]


def doubts_in(source: Source, told: Sequence[AnswerColumn]) -> list[Doubt]:
    """All doubts about a result, the worst first."""
    quoted = {quote.row.cell for one in told if one.source is source for quote in one.answer.quotes}
    return doubts_of(source.result, source.rows, quoted)


def _blank(lines: Sequence[Line]) -> list[Line]:
    return [Line("")] if lines else []


def _next(sources: Sequence[Source], *, newest: bool) -> list[Line]:
    steps = list(words.next_steps([str(source.result.path) for source in sources], newest=newest))
    widest = max(len(what) for what, _ in steps) + 1
    return [Line(f"{what + ':':{widest}}  {command}", "quiet") for what, command in steps]


# ---- For programs --------------------------------------------------------------------------------


def _records(sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """The numbers of all results, each with its file."""
    for source in sources:
        for record in answer_records(source.result, source.rows):
            yield {"file": str(source.result.path), **record}


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A line of CSV: what is over sessions on one level."""
    return {name: value for name, value in record.items() if name != "sessions"} | flat_sessions(
        record["sessions"]
    )


def _data(sources: Sequence[Source]) -> Mapping[str, Any]:
    """Of one result all that is said of it; of several the answers, and their sessions."""
    if len(sources) > 1:
        return {"answer": list(_records(sources)), "findings": list(sessions_records(sources))}
    (source,) = sources
    notes = [line.text for line in foot_of(source.result, source.rows)]
    return result_record(source.result, source.rows, notes, source.stat)
