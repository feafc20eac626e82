"""The columns of a curve. USUAL_COLUMNS and EXTRA_COLUMNS are the one list of them.

To add one: a line in EXTRA_COLUMNS, and one in docs/numbers.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.show.document import Column
from mpigauge.show.words.status import reason
from mpigauge.show.words.warnings import WORDS
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.rows import Row
    from mpigauge.analysis.synchrony import Start
    from mpigauge.show.document import Tone, Units

WARNINGS_IN_NOTES = 2
"""More stand below the table, with what to do about them."""

FAR_APART = 1000.0
"""Ends of an interval whose ratio is more have a unit each."""

LAST_TO_COME, LAST_TO_GO = 50, 90
"""When a column leaves a narrow terminal: those asked for after the usual ones, the half-width last."""


def _time(
    name: str, heading: str, get: Callable[[Timing], float | None], goes: int | None = LAST_TO_COME
) -> Column:
    return Column(name, heading, lambda row: get(row.time) if row.time else None, "s", goes=goes)


def _start(name: str, heading: str, get: Callable[[Start], float | None], goes: int = LAST_TO_COME) -> Column:
    return Column(name, heading, lambda row: get(row.start) if row.start else None, "s", goes=goes)


def _share(name: str, heading: str, value: Callable[[Row], float | None], goes: int = LAST_TO_COME) -> Column:
    return Column(name, heading, value, "1", lambda row, _: units.format_percent(value(row)), goes=goes)


def _ratio(name: str, heading: str) -> Column:
    return Column(
        name,
        heading,
        lambda row: row.ratios[name].estimate if name in row.ratios else None,
        "1",
        lambda row, _: _ratio_text(row, name),
    )


def _interval(low: float | None, high: float | None, chosen: Units) -> str:
    """Both ends in one unit, or each in its own if they are so far apart that one unit suits neither."""
    if low is None or high is None:
        return units.MISSING
    if chosen.time == units.AUTO and high > FAR_APART * low:
        return f"{units.format_time(low)} \N{EN DASH} {units.format_time(high)}"
    unit = units.time_unit((low, high)) if chosen.time == units.AUTO else chosen.time
    ends = f"{units.format_time_in(low, unit)} \N{EN DASH} {units.format_time_in(high, unit)}"
    return f"{ends} {units.sign(unit)}"


def _between(row: Row, chosen: Units) -> str:
    return _interval(row.time.low, row.time.high, chosen) if row.time else units.MISSING


def _ranks_between(row: Row, chosen: Units) -> str:
    return _interval(row.time.rank_low, row.time.rank_high, chosen) if row.time else units.MISSING


def _size(row: Row) -> int | None:
    """Of a barrier there is none."""
    return row.cell.bytes if row.sized else None


def _ratio_text(row: Row, name: str) -> str:
    ratio = row.ratios.get(name)
    if ratio is None:
        return units.MISSING
    text = units.format_factor(ratio.estimate)
    if ratio.low is None or ratio.high is None:
        return text
    return f"{text} ({units.format_factor(ratio.low)} \N{EN DASH} {units.format_factor(ratio.high)})"


def _notes(row: Row) -> str:
    state: list[str] = [] if row.status == "ok" else [row.status]
    if row.limit_bytes is not None:
        state.append(f"limit {row.limit_bytes} B")
    warnings = [warning.kind for warning in row.warnings if not WORDS[warning.kind].seen_elsewhere]
    return ", ".join(filter(None, [*state, reason(row), *warnings[:WARNINGS_IN_NOTES]]))


def _message_rate(row: Row) -> float | None:
    if row.time is None or row.time.estimate <= 0:
        return None
    return row.directions / row.time.estimate


def _tone(row: Row) -> Tone:
    return "bad" if row.status in BROKEN else "doubt"


USUAL_COLUMNS = (
    Column("size", "size", _size, "B", goes=None),
    _time("time", "time", lambda t: t.estimate, goes=None),
    Column(
        "half_width",
        "\N{PLUS-MINUS SIGN}95 %",
        lambda row: row.time.half_width if row.time else None,
        "1",
        lambda row, _: units.format_half_width(row.time.half_width if row.time else None),
        goes=LAST_TO_GO,
    ),
    Column("interval", "95 % interval", lambda row: row.time and row.time.low, "s", _between, goes=8),
    Column(
        "ranks_interval",
        "nonparam. 95 %",
        lambda row: row.time and row.time.rank_low,
        "s",
        _ranks_between,
        goes=2,
    ),
    Column("rate", "bandwidth", lambda row: row.rate_bytes_per_s, "B/s", goes=9),
    Column("launches", "launches", lambda row: row.time and row.time.launches, "1", goes=3),
    Column("samples", "samples", lambda row: row.time and row.time.samples, "1", goes=1),
)
LATENCY = _time("time", "latency", lambda t: t.estimate, goes=None)
"""The time of what is a message one way."""

PAIR = Column("pair", "pair", lambda row: row.cell.pair)
"""Of cells that are a pair's, the first column."""

WINDOW = Column("window", "window", lambda row: row.cell.window, "1")
"""Of streams that were measured with several windows, the first column."""

NOTES = Column("notes", "notes", _notes, left=True, wraps=True, goes=None, tone=_tone)

EXTRA_COLUMNS = {
    column.name: column
    for column in (
        _time("mean", "mean", lambda t: t.mean),
        _time("stddev", "std. deviation", lambda t: t.stddev),
        _time("min", "minimum", lambda t: t.min),
        _time("p5", "p5", lambda t: t.p5),
        _time("p25", "p25", lambda t: t.p25),
        _time("p75", "p75", lambda t: t.p75),
        _time("p95", "p95", lambda t: t.p95),
        _time("p99", "p99", lambda t: t.p99),
        _time("max", "maximum", lambda t: t.max),
        Column("first", "first message", lambda row: row.first_s, "s"),
        Column("cpu", "CPU time", lambda row: row.cpu_s_per_op, "s"),
        _share("cpu_share", "CPU share", lambda row: row.cpu_share),
        _share("net_share", "on the network", lambda row: row.net_share),
        Column("bus", "bus bandwidth", lambda row: row.bus_bytes_per_s, "B/s"),
        _start("root", "at the root", lambda start: start.root_s, goes=5),
        _start("local", "median of ranks", lambda start: start.local_s, goes=4),
        _start("skew", "start skew", lambda start: start.skew_p50_s),
        _start("skew_p99", "skew p99", lambda start: start.skew_p99_s),
        _share("late", "late", lambda row: row.start.late_share if row.start else None),
        _share("overlap", "overlap", lambda row: row.overlap.estimate if row.overlap else None, goes=7),
        Column("pure", "without work", lambda row: row.overlap.pure_s if row.overlap else None, "s", goes=6),
        _ratio("kappa", "copies (kappa)"),
        _ratio("memcpy_ratio", "to memcpy"),
        _ratio("copy_ratio", "to copy -O3"),
        _ratio("copy_o0_ratio", "to copy -O0"),
        Column("advised_samples", "advised samples/launch", lambda row: row.advised_samples, "1"),
        Column(
            "message_rate",
            "messages/s",
            _message_rate,
            "1",
            lambda row, _: units.MISSING if _message_rate(row) is None else f"{_message_rate(row):.3g}",
            field="messages_per_s",
        ),
    )
}
"""Columns that are shown on request, by name."""
