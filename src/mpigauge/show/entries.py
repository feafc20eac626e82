"""Entries of the columns of curves: values of rows, their texts, and constructors of similar columns."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import Column
from mpigauge.document.status_words import reason, says_status
from mpigauge.vocabulary import BROKEN

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.document.document import Tone, Units
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.rows.synchrony import Start

WARNINGS_IN_NOTES = 2
"""Most warnings in the notes of a row; more are below the table, with remedies."""

LAST_TO_COME = 50
"""Order in which columns are hidden on a narrow terminal: extra ones after the usual ones."""


def time_column(
    name: str,
    heading: str,
    about: str,
    get: Callable[[Timing], float | None],
    goes: int | None = LAST_TO_COME,
) -> Column:
    return Column(name, heading, lambda row: get(row.time) if row.time else None, "s", goes=goes, about=about)


def percentile_column(percent: int, least: int = 0) -> Column:
    """Return the column of a percentile of all samples, for rows with at least so many."""
    name = f"p{percent}"
    about = "percentile of all samples, interpolated" + (f"; needs {least} samples" if least else "")
    return time_column(name, name, about, attrgetter(name))


def start_column(
    name: str, heading: str, about: str, get: Callable[[Start], float | None], goes: int = LAST_TO_COME
) -> Column:
    return Column(
        name, heading, lambda row: get(row.start) if row.start else None, "s", goes=goes, about=about
    )


def share_column(
    name: str, heading: str, about: str, value: Callable[[Row], float | None], goes: int = LAST_TO_COME
) -> Column:
    return Column(
        name,
        heading,
        value,
        "1",
        lambda row, _: units.format_percent(value(row)),
        goes=goes,
        about=about,
    )


def ratio_column(name: str, heading: str, about: str) -> Column:
    return Column(
        name,
        heading,
        lambda row: row.ratios[name].estimate if name in row.ratios else None,
        "1",
        lambda row, _: ratio_text(row, name),
        about=about,
    )


def interval_of(row: Row, chosen: Units) -> str:
    return units.interval_of_times(row.time.low, row.time.high, chosen.time) if row.time else units.MISSING


def ranks_interval_of(row: Row, chosen: Units) -> str:
    time = row.time
    return units.interval_of_times(time.rank_low, time.rank_high, chosen.time) if time else units.MISSING


def half_width_of(row: Row, chosen: Units) -> str:
    """Return the relative half-width, without sign; both ends of an uneven interval."""
    if row.time is not None and row.time.is_uneven:
        return interval_of(row, chosen)
    return units.format_half_width(row.time.half_width if row.time else None)


def size_of(row: Row) -> int | None:
    """Return the size of messages; None for a barrier."""
    return row.cell.bytes if row.sized else None


def ratio_text(row: Row, name: str) -> str:
    ratio = row.ratios.get(name)
    if ratio is None:
        return units.MISSING
    return units.with_interval(
        units.format_factor(ratio.estimate), ratio.low, ratio.high, units.format_factor
    )


def notes_of(row: Row) -> str:
    """Return the status and reason of a row, and its first warnings."""
    from mpigauge.find.warning_sentences import WORDS, label  # noqa: PLC0415 - completion needs names alone

    state: list[str] = [] if row.status == "ok" or says_status(row) else [row.status]
    if row.limit_bytes is not None:
        state.append(f"limit {row.limit_bytes} B")
    warnings = [label(warning.kind) for warning in row.warnings if not WORDS[warning.kind].seen_elsewhere]
    return ", ".join(filter(None, [*state, reason(row), *warnings[:WARNINGS_IN_NOTES]]))


def tone_of(row: Row) -> Tone:
    return "bad" if row.status in BROKEN else "doubt"
