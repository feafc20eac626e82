"""The columns of the table for people. USUAL_COLUMNS and EXTRA_COLUMNS are the one list of them.

To add one: a line in EXTRA_COLUMNS, and one in docs/numbers.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.show.words.status import reason
from mpigauge.show.words.warnings import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.rows import Row
    from mpigauge.analysis.synchrony import Start

WARNINGS_IN_NOTES = 2
"""More stand below the table, with what to do about them."""

FAR_APART = 1000.0
"""Ends of an interval whose ratio is more have a unit each."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table for people.

    Attributes:
        name: What users ask for it by.
        heading: What stands above it.
        text: A row's entry; the second argument holds the units asked for.
        left: Whether its words begin below each other.
    """

    name: str
    heading: str
    text: Callable[[Any, Units], str]
    left: bool = False


@dataclass(frozen=True, slots=True)
class Units:
    """What times and rates are printed in."""

    time: str = units.AUTO
    rate: str = units.AUTO


def _time(get: Callable[[Timing], float | None]) -> Callable[[Row, Units], str]:
    return lambda row, chosen: units.format_time(get(row.time) if row.time else None, chosen.time)


def _start(get: Callable[[Start], float | None]) -> Callable[[Row, Units], str]:
    return lambda row, chosen: units.format_time(get(row.start) if row.start else None, chosen.time)


def _interval(low: float | None, high: float | None, chosen: Units) -> str:
    """Both ends in one unit, or each in its own if they are so far apart that one unit suits neither."""
    if low is None or high is None:
        return units.MISSING
    if chosen.time == units.AUTO and high > FAR_APART * low:
        return f"{units.format_time(low)} \N{EN DASH} {units.format_time(high)}"
    unit = units.time_unit((low, high)) if chosen.time == units.AUTO else chosen.time
    ends = f"{units.format_time_in(low, unit)} \N{EN DASH} {units.format_time_in(high, unit)}"
    return f"{ends} {units.format_time(1.0, unit).rpartition(' ')[2]}"


def _between(row: Row, chosen: Units) -> str:
    return _interval(row.time.low, row.time.high, chosen) if row.time else units.MISSING


def _ranks_between(row: Row, chosen: Units) -> str:
    return _interval(row.time.rank_low, row.time.rank_high, chosen) if row.time else units.MISSING


def _size(row: Row) -> str:
    """Of a barrier there is none."""
    return units.format_size(row.cell.bytes) if row.sized else units.MISSING


def _ratio(name: str) -> Callable[[Row, Units], str]:
    return lambda row, _: _ratio_text(row, name)


def _ratio_text(row: Row, name: str) -> str:
    ratio = row.ratios.get(name)
    if ratio is None:
        return units.MISSING
    text = units.format_factor(ratio.estimate)
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} ({units.format_factor(ratio.low)} \N{EN DASH} {units.format_factor(ratio.high)})"


def _notes(row: Row, _: Units) -> str:
    state: list[str] = [] if row.status == "ok" else [row.status]
    if row.limit_bytes is not None:
        state.append(f"limit {row.limit_bytes} B")
    warnings = [warning.kind for warning in row.warnings if not WORDS[warning.kind].seen_elsewhere]
    return ", ".join(filter(None, [*state, reason(row), *warnings[:WARNINGS_IN_NOTES]]))


USUAL_COLUMNS = (
    Column("size", "size", lambda row, _: _size(row)),
    Column("time", "time", _time(lambda t: t.estimate)),
    Column(
        "half_width",
        "\N{PLUS-MINUS SIGN}",
        lambda r, _: units.format_half_width(r.time.half_width if r.time else None),
    ),
    Column("interval", "95 % interval", _between),
    Column("ranks_interval", "by ranks", _ranks_between),
    Column("rate", "rate", lambda row, chosen: units.format_rate(row.rate_bytes_per_s, chosen.rate)),
    Column("launches", "launches", lambda row, _: str(row.time.launches) if row.time else units.MISSING),
    Column("samples", "samples", lambda row, _: str(row.time.samples) if row.time else units.MISSING),
)
PAIR = Column("pair", "pair", lambda row, _: row.cell.pair)
"""Of cells that are a pair's, the first column."""

WINDOW = Column("window", "under way", lambda row, _: str(row.cell.window))
"""Of streams that were measured with several windows, the first column."""

NOTES = Column("notes", "notes", _notes, left=True)

EXTRA_COLUMNS = {
    column.name: column
    for column in (
        Column("mean", "mean", _time(lambda t: t.mean)),
        Column("stddev", "std. deviation", _time(lambda t: t.stddev)),
        Column("min", "minimum", _time(lambda t: t.min)),
        Column("p5", "p5", _time(lambda t: t.p5)),
        Column("p25", "p25", _time(lambda t: t.p25)),
        Column("p75", "p75", _time(lambda t: t.p75)),
        Column("p95", "p95", _time(lambda t: t.p95)),
        Column("p99", "p99", _time(lambda t: t.p99)),
        Column("max", "maximum", _time(lambda t: t.max)),
        Column("first", "first message", lambda row, chosen: units.format_time(row.first_s, chosen.time)),
        Column("cpu", "CPU time", lambda row, chosen: units.format_time(row.cpu_s_per_op, chosen.time)),
        Column("cpu_share", "CPU share", lambda row, _: units.format_percent(row.cpu_share)),
        Column("net_share", "on the network", lambda row, _: units.format_percent(row.net_share)),
        Column("bus", "bus rate", lambda row, chosen: units.format_rate(row.bus_bytes_per_s, chosen.rate)),
        Column("root", "at the root", _start(lambda start: start.root_s)),
        Column("local", "median of ranks", _start(lambda start: start.local_s)),
        Column("skew", "start skew", _start(lambda start: start.skew_p50_s)),
        Column("skew_p99", "skew p99", _start(lambda start: start.skew_p99_s)),
        Column(
            "late", "late", lambda row, _: units.format_percent(row.start.late_share if row.start else None)
        ),
        Column(
            "overlap",
            "overlap",
            lambda row, _: units.format_percent(row.overlap.estimate if row.overlap else None),
        ),
        Column(
            "pure",
            "without work",
            lambda row, chosen: units.format_time(row.overlap.pure_s if row.overlap else None, chosen.time),
        ),
        Column("kappa", "copies (kappa)", _ratio("kappa")),
        Column("memcpy_ratio", "to memcpy", _ratio("memcpy_ratio")),
        Column("copy_ratio", "to copy -O3", _ratio("copy_ratio")),
        Column("copy_o0_ratio", "to copy -O0", _ratio("copy_o0_ratio")),
        Column(
            "advised_samples",
            "advised samples/launch",
            lambda row, _: units.MISSING if row.advised_samples is None else str(row.advised_samples),
        ),
        Column("message_rate", "messages/s", lambda row, _: _message_rate(row)),
    )
}
"""Columns that are shown on request, by name."""


def _message_rate(row: Row) -> str:
    if row.time is None or row.time.estimate <= 0:
        return units.MISSING
    return f"{row.directions / row.time.estimate:.3g}"
