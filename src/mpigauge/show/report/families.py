"""Families of cells, each a section of a report: their cells, and the charts of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.patterns import default_mode, has_rates, is_point_to_point
from mpigauge.show.report import words
from mpigauge.show.report.curves import drawings, panels, unsized
from mpigauge.show.report.page import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.rows import Row
    from mpigauge.show.report.curves import ReportPanel
    from mpigauge.show.report.inputs import PageInputs
    from mpigauge.show.report.page import ReportTable


def latency(inputs: PageInputs) -> Section:
    """Return the section of one-way messages."""
    usual = _usual(inputs)

    def keep(pattern: Pattern, row: Row) -> bool:
        return is_point_to_point(pattern) and pattern.one_way and usual(pattern, row)

    return _section(inputs, "latency", _panels(inputs, "latency", keep))


def bandwidth(inputs: PageInputs) -> Section:
    """Return the section of transfer rates between two ranks."""
    usual = _usual(inputs)

    def keep(pattern: Pattern, row: Row) -> bool:
        return has_rates(pattern) and usual(pattern, row)

    return _section(inputs, "bandwidth", _panels(inputs, "bandwidth", keep, rates=True))


def modes(inputs: PageInputs) -> Section:
    """Return the section of all modes of patterns between two ranks that have several."""

    def times(pattern: Pattern, _: Row) -> bool:
        return is_point_to_point(pattern) and pattern.name in several

    def rates(pattern: Pattern, row: Row) -> bool:
        return times(pattern, row) and pattern.moves_bytes

    several = _with_modes(inputs)
    panels = [
        *_panels(inputs, "modes", times),
        *_panels(inputs, "modes-rate", rates, rates=True),
    ]
    return _section(inputs, "modes", panels)


def collectives(inputs: PageInputs) -> Section:
    """Return the section of collectives."""
    table = unsized(inputs.cells, inputs.query)
    panels = _panels(
        inputs,
        "collectives",
        lambda pattern, _: pattern.talks and not (is_point_to_point(pattern) or has_rates(pattern)),
    )
    return _section(inputs, "collectives", panels, [table] if table else [])


def memory(inputs: PageInputs) -> Section:
    """Return the section of copies and accesses in memory."""
    panels = [
        *_panels(inputs, "memory", lambda pattern, _: pattern.in_memory and pattern.moves_bytes, rates=True),
        *_panels(inputs, "memory-time", lambda pattern, _: pattern.in_memory and not pattern.moves_bytes),
    ]
    return _section(inputs, "memory", panels)


# ---- Which cells ---------------------------------------------------------------------------------


def _usual(inputs: PageInputs) -> Callable[[Pattern, Row], bool]:
    """Return a predicate for rows in the representative mode of their pattern, or any if it has none."""
    known = _modes(inputs)

    def usual(pattern: Pattern, row: Row) -> bool:
        first = default_mode(pattern)
        return first not in known.get(pattern.name, ()) or row.cell.mode == first

    return usual


def _with_modes(inputs: PageInputs) -> set[str]:
    """Return the patterns that were measured in several modes."""
    return {name for name, modes in _modes(inputs).items() if len(modes) > 1}


def _modes(inputs: PageInputs) -> dict[str, set[str]]:
    """Return the modes that have a time, by pattern."""
    known: dict[str, set[str]] = {}
    for source in inputs.sources:
        for row in source.rows:
            if row.time is not None:
                known.setdefault(row.cell.pattern, set()).add(row.cell.mode)
    return known


def _panels(
    inputs: PageInputs, name: str, keep: Callable[[Pattern, Row], bool], *, rates: bool = False
) -> list[ReportPanel]:
    return panels(name, inputs.query, inputs.by_state, keep, rates=rates)


def _section(
    inputs: PageInputs, name: str, panels: Iterable[ReportPanel], grids: Iterable[ReportTable] = ()
) -> Section:
    drawn = [*drawings(inputs.cells, inputs.query, _in_turn(inputs, name, [*panels]), inputs.ratios)]
    return Section(name, words.TITLES[name], charts=drawn, grids=[*grids])


def _in_turn(inputs: PageInputs, name: str, panels: Sequence[ReportPanel]) -> Iterator[ReportPanel]:
    """Yield panels, and say which one begins."""
    for number, panel in enumerate(panels, start=1):
        inputs.begins(f"page: {words.TITLES[name]}, figure {number} of {len(panels)}")
        yield panel
