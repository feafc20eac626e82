"""Families of cells, each a section of a report: which cells, and what is drawn of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.patterns import between_two, has_rates, usual_mode
from mpigauge.show.report import words
from mpigauge.show.report.curves import drawings, panels, unsized
from mpigauge.show.report.page import Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.rows import Row
    from mpigauge.show.report.curves import ReportPanel
    from mpigauge.show.report.given import Given
    from mpigauge.show.report.page import ReportTable


def latency(given: Given) -> Section:
    """Messages one way."""
    usual = _usual(given)

    def keep(pattern: Pattern, row: Row) -> bool:
        return between_two(pattern) and pattern.one_way and usual(pattern, row)

    return _section(given, "latency", _panels(given, "latency", keep))


def bandwidth(given: Given) -> Section:
    """Bytes between two ranks."""
    usual = _usual(given)

    def keep(pattern: Pattern, row: Row) -> bool:
        return has_rates(pattern) and usual(pattern, row)

    return _section(given, "bandwidth", _panels(given, "bandwidth", keep, rates=True))


def modes(given: Given) -> Section:
    """All modes of what two ranks do, where there are several."""

    def times(pattern: Pattern, _: Row) -> bool:
        return between_two(pattern) and pattern.name in several

    def rates(pattern: Pattern, row: Row) -> bool:
        return times(pattern, row) and pattern.moves_bytes

    several = _with_modes(given)
    found = [
        *_panels(given, "modes", times),
        *_panels(given, "modes-rate", rates, rates=True),
    ]
    return _section(given, "modes", found)


def collectives(given: Given) -> Section:
    """What all ranks do together."""
    table = unsized(given.cells, given.query)
    found = _panels(
        given, "collectives", lambda one, _: one.talks and not (between_two(one) or has_rates(one))
    )
    return _section(given, "collectives", found, [table] if table else [])


def memory(given: Given) -> Section:
    """Copies and accesses."""
    found = [
        *_panels(given, "memory", lambda one, _: one.in_memory and one.moves_bytes, rates=True),
        *_panels(given, "memory-time", lambda one, _: one.in_memory and not one.moves_bytes),
    ]
    return _section(given, "memory", found)


# ---- Which cells ---------------------------------------------------------------------------------


def _usual(given: Given) -> Callable[[Pattern, Row], bool]:
    """Return a test whether a row is of the mode that stands for its pattern, or of any where none is."""
    known = _modes(given)

    def usual(pattern: Pattern, row: Row) -> bool:
        first = usual_mode(pattern)
        return first not in known.get(pattern.name, ()) or row.cell.mode == first

    return usual


def _with_modes(given: Given) -> set[str]:
    """Return the patterns that were measured in several modes."""
    return {name for name, modes in _modes(given).items() if len(modes) > 1}


def _modes(given: Given) -> dict[str, set[str]]:
    """Return the modes that have a time, by pattern."""
    known: dict[str, set[str]] = {}
    for source in given.sources:
        for row in source.rows:
            if row.time is not None:
                known.setdefault(row.cell.pattern, set()).add(row.cell.mode)
    return known


def _panels(
    given: Given, name: str, keep: Callable[[Pattern, Row], bool], *, rates: bool = False
) -> list[ReportPanel]:
    return panels(name, given.query, given.each, keep, rates=rates)


def _section(
    given: Given, name: str, found: Iterable[ReportPanel], grids: Iterable[ReportTable] = ()
) -> Section:
    drawn = [*drawings(given.cells, given.query, [*found])]
    return Section(name, words.TITLES[name], charts=drawn, grids=[*grids])
