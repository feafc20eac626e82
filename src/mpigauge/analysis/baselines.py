"""Communication measured by memory: what a message costs in copies of the same size.

Source: docs/method.md#messages-in-units-of-copies
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.analysis.cache_levels import below_from, cache_levels, differing_claims, paired_ratio
from mpigauge.plan.patterns import baselines, patterns_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.cache_levels import Ratio
    from mpigauge.analysis.percentiles import Values
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell, JobKey

MESSAGES = patterns_with(lambda pattern: pattern.one_way and pattern.talks)
"""Patterns whose time is that of one message one way."""

YARDSTICKS = baselines()
"""What one-way times are divided by: name of the ratio to pattern and mode."""

LINES = patterns_with(lambda pattern: pattern.one_way and pattern.in_memory)
"""Patterns whose time is that of handing over one cache line."""

CHASES = patterns_with(lambda pattern: pattern.spans_bytes)
"""Patterns whose time is that of one load from a working set."""

LIMITS = (10.0, 2.0)

Medians = dict[int, float]


def medians_of(launches: Mapping[int, Sequence[Values]]) -> Medians:
    """The median of each launch, by its number."""
    return {number: float(np.median(np.concatenate(visits))) for number, visits in launches.items()}


def ratios_of(medians: Mapping[Cell, Medians]) -> dict[Cell, dict[str, Ratio]]:
    """Every message's time over that of copies of its size, paired by launch."""
    sticks: dict[tuple[object, ...], Medians] = {
        (c.pattern, c.mode, c.bytes, c.job): mine for c, mine in medians.items() if c.buffers == "warm"
    }
    found: dict[Cell, dict[str, Ratio]] = {}
    for cell, mine in medians.items():
        if cell.pattern not in MESSAGES:
            continue
        for name, (pattern, mode) in YARDSTICKS.items():
            under = sticks.get((pattern, mode, cell.bytes, cell.job))
            ratio = paired_ratio(mine, under) if under else None
            if ratio is not None:
                found.setdefault(cell, {})[name] = ratio
    return found


# ---- Sentences -----------------------------------------------------------------------------------


def statements(rows: Sequence[Row], claimed: Mapping[str, int]) -> Iterator[str]:
    """What the yardsticks say of a result, in sentences.

    Args:
        claimed: Caches as the system tells them, name to bytes.
    """
    yield from _ratios(rows)
    yield from _floors(rows)
    yield from _caches(rows, claimed)


def _ratios(rows: Iterable[Row]) -> Iterator[str]:
    curves: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.ratios:
            curves[row.cell.pattern, row.cell.mode, row.cell.buffers, row.cell.job].append(row)
    for curve in curves.values():
        for name, (pattern, mode) in YARDSTICKS.items():
            mine = [row for row in curve if name in row.ratios and row.cell.bytes > 0]
            if mine:
                yield _ratio_sentence(sorted(mine, key=lambda r: r.cell.bytes), name, f"{pattern} {mode}")


def _ratio_sentence(curve: list[Row], name: str, stick: str) -> str:
    cell = curve[0].cell
    sizes = [row.cell.bytes for row in curve]
    ratios = [row.ratios[name].estimate for row in curve]
    least = min(zip(ratios, sizes, strict=True))
    froms = [
        f"below {limit:g} from {units.format_size(size)}"
        for limit in LIMITS
        if (size := below_from(sizes, ratios, limit)) is not None
    ]
    words = [*froms, f"least {units.format_factor(least[0])} at {units.format_size(least[1])}"]
    return f"{cell.pattern} {cell.mode} in units of {stick} ({cell.job.name}): {', '.join(words)}"


def _floors(rows: Sequence[Row]) -> Iterator[str]:
    """How far the smallest message is above what the hardware needs."""
    lines = {row.cell.job: row for row in rows if row.cell.pattern in LINES and row.time}
    for row in _smallest_messages(rows):
        line = lines.get(row.cell.job)
        if line is None or line.time is None or row.time is None:
            continue
        cell, message_s, line_s = row.cell, row.time.estimate, line.time.estimate
        what = f"{cell.pattern} {cell.mode} of {units.format_size(cell.bytes)} ({cell.job.name})"
        if message_s <= line_s:
            yield f"{what} takes {units.format_time(message_s)}, no longer than handing over one cache line"
            continue
        yield (
            f"{what} takes {units.format_time(message_s)}, handing over one cache line "
            f"{units.format_time(line_s)}: {units.format_time(message_s - line_s)} are software"
        )


def _smallest_messages(rows: Iterable[Row]) -> Iterable[Row]:
    smallest: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row.cell.pattern in MESSAGES and row.time is not None:
            key = (row.cell.mode, row.cell.buffers, row.cell.job)
            if key not in smallest or row.cell.bytes < smallest[key].cell.bytes:
                smallest[key] = row
    return smallest.values()


def _caches(rows: Iterable[Row], claimed: Mapping[str, int]) -> Iterator[str]:
    jobs: dict[JobKey, list[Row]] = defaultdict(list)
    for row in rows:
        if row.cell.pattern in CHASES and row.time is not None:
            jobs[row.cell.job].append(row)
    for mine in jobs.values():
        mine.sort(key=lambda row: row.cell.bytes)
        levels = cache_levels(
            [row.cell.bytes for row in mine], [row.time.estimate for row in mine if row.time is not None]
        )
        seen = [
            f"{units.format_time(level.latency_s)} "
            + (f"up to {units.format_size(level.capacity_bytes)}" if level.capacity_bytes else "above")
            for level in levels
        ]
        if seen:
            yield f"memory as {mine[0].cell.job.name}, sees it: a load takes {', '.join(seen)}"
            yield from differing_claims(levels, claimed)
