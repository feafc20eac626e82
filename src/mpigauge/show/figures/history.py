"""Figure of a plan over time: cells in every session, when they changed, and what to expect next."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import dates as mdates

from mpigauge import units
from mpigauge.compare import sentences as compare_sentences
from mpigauge.compare.history import sentences as words
from mpigauge.compare.history.history import MIN_SESSIONS, history_of
from mpigauge.compare.history.session import in_time_order, session_of
from mpigauge.compare.history.table import ranked
from mpigauge.compare.session_sentences import switches
from mpigauge.query.kinds import maker
from mpigauge.show.figures import MAKERS, lines, style
from mpigauge.show.selected import selected
from mpigauge.stats.decision import Thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mpigauge.compare.history.history import History
    from mpigauge.compare.history.sentences import HistoryLine
    from mpigauge.query.query import Query
    from mpigauge.stats.percentiles import Values

MAX_PANELS = 5
"""Most cells; those that changed most come first."""

PANEL_INCHES = 1.25
NOTE = "dots: sessions, odd ones hollow; lines: between changes; band: where the last was expected (95 %)"


@maker(MAKERS, "history")
def history_figure(query: Query) -> Figure:
    """Draw a panel per cell, the worst of each curve, on a common axis of time."""
    sources = selected(query)
    sessions, _ = in_time_order(session_of(source.result, source.rows) for source in sources)
    if not any(row.time for source in sources for row in source.rows):
        raise query.lacks("nothing that it shows was measured")
    if len(sessions) < MIN_SESSIONS:
        raise query.lacks(f"{len(sessions)} of {MIN_SESSIONS} results at different times")
    shown = history_of(sessions, Thresholds())
    tracks = [track for track in ranked(shown) if len(track.track.curve.sessions) > 1][:MAX_PANELS]
    if not tracks:
        raise query.lacks("no cell was measured in two of the results")
    whole = style.paper(PANEL_INCHES * len(tracks) + 0.5)
    panels = np.ravel(whole.subplots(len(tracks), 1, sharex=True))
    for number, (axes, track) in enumerate(zip(panels, tracks, strict=True)):
        _panel(axes, number, shown, track, query.units.time)
    locator: Any = mdates.AutoDateLocator  # without types
    ticks = locator()
    writer: Any = mdates.ConciseDateFormatter
    panels[-1].xaxis.set_major_locator(ticks)
    panels[-1].xaxis.set_major_formatter(writer(ticks))
    whole.supxlabel(NOTE, **style.SMALL)
    return whole


def _panel(axes: Any, number: int, shown: History, track_line: HistoryLine, unit: str) -> None:
    curve, cell = track_line.track.curve, track_line.worst
    logs = curve.logs[:, cell]
    measured = np.flatnonzero(np.isfinite(logs)).tolist()
    scale, name = _unit(np.exp(logs[measured]), unit)
    number_of: Any = mdates.date2num
    days = [number_of(datetime.fromtimestamp(session.begun_s, UTC)) for session in shown.sessions]
    colour = style.BLUE
    times = np.exp(logs) / scale
    (dots,) = axes.plot(
        [days[at] for at in measured], times[measured], linestyle="none", marker="o", color=colour, zorder=3
    )
    dots.set_gid(f"points-{number}")
    odd = [at for at in measured if track_line.track.odd[at, cell]]
    axes.plot([days[at] for at in odd], times[odd], "o", color=colour, markerfacecolor="white", zorder=4)
    _band(axes, number, days, track_line, scale)
    changes = [change for change in track_line.track.changes if cell in change.cells]
    begins = [0, *(change.place for change in changes)]
    drifts = [False, *(change.drifts for change in changes)]
    for begin, end, drift in zip(begins, [*begins[1:], len(logs)], drifts, strict=True):
        segment = [at for at in measured if begin <= at < end and at not in odd]
        line = np.polynomial.Polynomial.fit(segment, logs[segment], 1 if drift else 0)
        ends = np.exp([line(segment[0]), line(segment[-1])]) / scale
        axes.plot([days[segment[0]], days[segment[-1]]], ends, color=colour, linewidth=1.0)
    for change in track_line.track.changes:
        if cell in change.cells:
            what = compare_sentences.MACHINE if change.machine else switches(change.switches)
            factor = f"{units.format_factor(change.cells[cell].estimate)} times as long"
            factor += " in all" if change.drifts else ""
            label = ", ".join(filter(None, [factor, what]))
            lines.mark(axes, days[change.place], f"change-{number}-{change.place}", label, lines.MARK_DASHES)
    of = words.name(track_line, compare_sentences.CellNaming())
    _set_up(axes, times[measured], f"{of} {_size(track_line)}".strip(), name)


def _size(track_line: HistoryLine) -> str:
    curve = track_line.track.curve
    row = curve.row(track_line.worst, len(curve.logs))
    return units.format_size(row.cell.bytes) if row.sized else ""


def _unit(times: Values, unit: str) -> tuple[float, str]:
    """Return the unit of an axis in seconds, and its name."""
    unit = units.time_unit(times) if unit == units.AUTO else unit
    return units.TIME_UNITS[unit], units.unit_symbol(unit)


def _band(axes: Any, number: int, days: Sequence[float], track_line: HistoryLine, scale: float) -> None:
    """Draw where the last session was expected, over the sessions that predict it."""
    base = track_line.track.base
    if base is None or track_line.worst not in base.cells:
        return
    low, high = (ends[base.cells.index(track_line.worst)] / scale for ends in base.said.band())
    span = [days[base.begins[base.cells.index(track_line.worst)]], days[-1]]
    band = axes.fill_between(span, low, high, color=style.BLUE, alpha=0.15, linewidth=0)
    band.set_gid(f"band-{number}")


def _set_up(axes: Any, times: Values, title: str, unit: str) -> None:
    low, high = axes.dataLim.intervaly
    room = max(0.15 * (high - low), 0.01 * float(np.max(times)))
    axes.set_ylim(low - room, high + room)
    axes.set_ylabel(f"time ({unit})")
    axes.set_title(title, loc="left")
