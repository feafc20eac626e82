"""Tables of all curves of a result, with what must be known of it above and below."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.cell_names import names_of
from mpigauge.document.columnar import columns_of
from mpigauge.document.context import context_record, with_context
from mpigauge.document.document import DOT, Cases, Document, Table
from mpigauge.document.phrases import DETAILS, PAIRINGS, STARTS, phrases_of, state_phrase
from mpigauge.find.foot import foot_of
from mpigauge.plan.factors import ALONG, default_value
from mpigauge.plan.round_robin import pair_ranks
from mpigauge.rows.group import group, in_one_state
from mpigauge.show.columns import EXTRA_COLUMNS, LATENCY, NOTES, PAIR, USUAL_COLUMNS, WINDOW
from mpigauge.show.head import head_of
from mpigauge.show.records import flat_record, result_record
from mpigauge.show.schema import kinds_of_rows
from mpigauge.vocabulary import AUTO, SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.document import Column, Units
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.rows.synchrony import Start

TITLE = ("mpi", "transport", "ranks", "placement", *(name for name in DETAILS if name != "pairing"))
"""Factors in the title of a curve after its pattern and mode."""


def document(
    result: Result,
    rows: Sequence[Row],
    columns: Sequence[str],
    chosen: Units,
    stat: str = "median",
) -> Document:
    """Return the curves of rows as a document, with what must be known of the result above and below.

    Args:
        columns: Names of EXTRA_COLUMNS to add to the usual ones.
        stat: Statistic that represents a launch in the rows.
    """
    foot = foot_of(result, rows)

    def records() -> list[dict[str, Any]]:
        return [*with_context(map(flat_record, rows), result, stat)]

    tables = _tables(result, rows, columns)
    return Document(
        head=head_of(result),
        tables=tables,
        foot=foot,
        units=chosen,
        data=lambda: result_record(result, rows, [line.text for line in foot], stat),
        records=records,
        cases=lambda: _cases(tables),
        schema="show",
        contexts=[context_record(result, stat)],
        sparse=True,
        pieces=lambda: [columns_of(records(), kinds_of_rows())],
    )


def _cases(tables: Sequence[Table]) -> list[Cases]:
    """Return cases whose names lack table titles, which contain the version of a library."""
    names = iter(names_of([row.of for table in tables for row in table.rows]))
    return [Cases(replace(table, title=""), [*islice(names, len(table.rows))]) for table in tables]


def _place(row: Row) -> tuple[object, ...]:
    """Return the row's place in the table of its curve."""
    return row.cell.bytes, pair_ranks(row.cell.pair) if row.cell.pair else (0, 0)


def _tables(result: Result, rows: Sequence[Row], columns: Sequence[str]) -> list[Table]:
    """Return curves in the order of the plan; the instrument's floor and probes have none."""
    patterns = {
        pattern.name: pattern
        for pattern in result.campaign.patterns
        if not pattern.probes and not pattern.is_floor
    }
    shown = [row for row in rows if row.cell.pattern in patterns]
    with_placement = len({row.cell.placement for row in shown}) > 1
    with_state = not in_one_state(shown)
    return [
        _table(
            sorted(curve, key=_place), patterns, columns, with_placement=with_placement, with_state=with_state
        )
        for curve in group(shown, ALONG)
    ]


def _columns(rows: Sequence[Row], pattern: Pattern, extra: Sequence[str]) -> list[Column]:
    """Return the usual columns, those for this kind of curve, and extra ones, which are never hidden."""
    own = ["root", "local"] if any(row.start for row in rows) else []
    own += ["overlap", "pure"] if any(row.overlap for row in rows) else []
    more = {name: EXTRA_COLUMNS[name] for name in own}
    more |= {name: replace(EXTRA_COLUMNS[name], goes=None) for name in extra}
    first = [PAIR] if any(row.cell.pair for row in rows) else []
    places = {(row.cell.bytes, row.cell.pair) for row in rows}
    first += [WINDOW] if len({(*_place(row), row.cell.window) for row in rows}) > len(places) else []
    latency = pattern.one_way and pattern.talks
    rated = any(row.rate_bytes_per_s is not None for row in rows)
    common = [
        LATENCY if latency and column.name == LATENCY.name else column
        for column in USUAL_COLUMNS
        if rated or column.name != "rate"
    ]
    return [*first, *common, *more.values(), NOTES]


def _table(
    rows: list[Row],
    patterns: Mapping[str, Pattern],
    extra: Sequence[str],
    *,
    with_placement: bool,
    with_state: bool,
) -> Table:
    """Return the table of one curve.

    Args:
        with_placement: Whether there are several placements, so that each curve names its own.
        with_state: Whether there are several states of the machine, so that each curve names its own.
    """
    cell, pattern = rows[0].cell, patterns[rows[0].cell.pattern]
    words = _title(cell, with_placement=with_placement)
    words += state_phrase(rows[0].of).values() if with_state else []
    if any(row.oversubscribed for row in rows):
        words.append("oversubscribed")
    return Table(DOT.join(words), _about(rows, pattern), rows, _columns(rows, pattern, extra), time=_time)


def _time(row: Row) -> Timing | None:
    return row.time


def _about(rows: Sequence[Row], pattern: Pattern) -> str:
    """Return the meaning of a row: what its time is of, and how its samples were taken."""
    about = [f"time: {pattern.time_of_mode(rows[0].cell.mode)}"]
    batches = sorted({row.batch for row in rows if row.batch})
    if batches and batches[-1] > 1:
        about.append(f"each sample averages {_ends(batches)} back-to-back calls")
    if rows[0].directions > 1:
        about.append("bandwidth: both directions")
    if len(windows := sorted({row.cell.window for row in rows})) > 1 or windows[0]:
        about.append(f"{_ends(windows)} messages in flight")
    if rows[0].cell.sync and (starts := [row.start for row in rows if row.start]):
        about.append(_together(rows[0].cell, starts))
    return "; ".join(about)


def _title(cell: Cell, *, with_placement: bool) -> list[str]:
    """Return the title of a curve; how its ranks start is told below if it is the usual way."""
    unsaid = {AUTO, f"{default_value('sync')} start", "" if with_placement else SAME_HOST}
    phrases = [phrase for phrase in phrases_of(cell, TITLE).values() if phrase not in unsaid]
    return [f"{cell.pattern}, {cell.mode}", *phrases, *([PAIRINGS[cell.pairing]] if cell.pairing else [])]


def _together(cell: Cell, starts: Sequence[Start]) -> str:
    """Return how the ranks of a curve started together (docs/method.md#what-is-recorded)."""
    typical = max(start.skew_p50_s for start in starts)
    worst = max(start.skew_p99_s for start in starts)
    late = max(start.late_share for start in starts)
    skew = f"within {units.format_time(typical)} (median), {units.format_time(worst)} (p99)"
    tardy = f", up to {units.format_percent(late)} of rounds late" if late else ""
    return f"ranks start by {STARTS[cell.sync]}, {skew}{tardy}"


def _ends(values: Sequence[int]) -> str:
    return units.span(str(values[0]), str(values[-1]))
