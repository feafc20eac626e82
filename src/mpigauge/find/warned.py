"""Warnings of a whole result, a line each: neighbouring sizes are folded, what a launch did is said once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.document import Line
from mpigauge.document.phrases import unusual
from mpigauge.find.warning_sentences import beyond_launches, label, sentence
from mpigauge.plan.factors import SIZE
from mpigauge.rows.group import cell_key, group_cells
from mpigauge.rows.odd_launches import odd_launches, unexplained
from mpigauge.rows.rows import warnings_of
from mpigauge.sequences import consecutive, runs
from mpigauge.units import (
    DASH,
    counted,
    format_duration,
    format_factor,
    format_percent,
    format_relative,
    format_size,
)
from mpigauge.vocabulary import NOTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.document import Tone
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.odd_launches import OddLaunch
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import Warning  # noqa: A004 - read as warnings.Warning
    from mpigauge.vocabulary import WarningKind

CURVES_MOST = 3
"""Curves that are named with their sizes; of more, how many."""


MEASURES: dict[WarningKind, tuple[str, Callable[[float], str]]] = {
    "clock-step": ("share", format_percent),
    "outlier-launches": ("factor", lambda factor: f"{format_factor(factor)} times"),
    "drift": ("factor", lambda factor: f"{format_factor(factor)} times"),
    "tail": ("ratio", lambda ratio: f"{format_factor(ratio)} times"),
    "skewed": ("share", format_percent),
    "late-starts": ("share", format_percent),
    "clock-error": ("share", format_percent),
    "clock-share": ("share", format_percent),
    "relay-late": ("share", format_percent),
    "wide": ("half_width", format_relative),
}
"""The value by which cells of a kind are ranked, and how it is written; of others the first cell counts."""


def doubt_lines(result: Result, rows: Sequence[Row]) -> Iterator[Line]:
    """All warnings, in the order of their kinds."""
    odd = odd_launches(result, rows)
    alone = unexplained(rows, odd)
    for kind, found in warnings_of(rows).items():
        tone: Tone = "" if kind in NOTES else "doubt"
        if kind == "outlier-launches":
            yield from (Line(f"{label(kind)}: {_odd(one)}", tone) for one in odd)
            found = [(cell, warning) for cell, warning in found if cell in alone]  # noqa: PLW2901 - the rest
        if found:
            yield Line(f"{label(kind)}: {_line(rows, kind, found)}", tone)


def _odd(one: OddLaunch) -> str:
    """What a launch did as a whole."""
    reach = f"{format_factor(one.least)} to {format_factor(one.most)}"
    where = f"in {len(one.cells)} of {one.measured} cells ({reach})"
    when = "" if one.begin_s is None else f", {format_duration(one.begin_s)} after the start"
    return (
        f"launch {one.number} of {one.job.name} took {format_factor(one.factor)} times as long as usual "
        f"{where}{when}"
    )


def _line(rows: Sequence[Row], kind: WarningKind, found: Sequence[tuple[Cell, Warning]]) -> str:
    """Where it is so, from least to most, and the sentence of the worst cell."""
    if kind == "launches-in-time":
        return f"all cells: {sentence(found[0][1])}"
    cell, worst = max(found, key=lambda one: _rank(one[1]))
    where = _where(rows, [mine for mine, _ in found])
    if len(found) == 1:
        return f"{where}: {sentence(worst)}"
    machine = [warning for _, warning in found if _by_machine(warning)]
    widths = [float(one.values["machine_half_width"] or 0) for one in machine]
    alone = f", {len(machine)} by {beyond_launches(max(widths))} alone" if machine else ""
    counts = f"{len(found)} cells{_reach(kind, found)}{alone}"
    return f"{where} ({counts}); {_name(rows, cell)}: {sentence(worst)}"


def _rank(warning: Warning) -> tuple[bool, float]:
    """How bad it is; what more launches help comes first, and a factor is as bad as its inverse."""
    helps = not _by_machine(warning)
    name, _ = MEASURES.get(warning.kind, ("", str))
    value = warning.values.get(name)
    if not isinstance(value, int | float):
        return helps, 0.0
    return helps, max(value, 1 / value) if name == "factor" and value > 0 else float(value)


def _by_machine(warning: Warning) -> bool:
    """Whether it is of an interval that its launches alone would not make too wide."""
    values = warning.values
    return warning.kind == "wide" and float(values["launches_half_width"] or 0) <= float(
        values["precision"] or 0
    )


def _reach(kind: WarningKind, found: Iterable[tuple[Cell, Warning]]) -> str:
    if kind not in MEASURES:
        return ""
    name, write = MEASURES[kind]
    known = [value for _, one in found if isinstance(value := one.values.get(name), int | float)]
    low, high = (write(end) for end in (min(known, default=0.0), max(known, default=0.0)))
    return "" if low == high else f", {low} to {high}"


# ---- Cells ---------------------------------------------------------------------------------------


def _where(rows: Sequence[Row], cells: Iterable[Cell]) -> str:
    """Curves with the sizes at which it is so: `pingpong standard 8-64 KiB; exchange blocking 8 B`."""
    curves = group_cells(cells, SIZE)
    named = [_named(rows, mine[0], _sizes(rows, mine)) for mine in curves[:CURVES_MOST]]
    more = len(curves) - CURVES_MOST
    return "; ".join([*named, *([counted(more, "more curve")] if more > 0 else [])])


def _name(rows: Sequence[Row], cell: Cell) -> str:
    return _named(rows, cell, _sizes(rows, [cell]))


def _named(rows: Sequence[Row], cell: Cell, sizes: str) -> str:
    """Pattern, mode and sizes; library and ranks where a result has several."""
    several = len({row.cell.job for row in rows}) > 1
    return ", ".join(
        [
            f"{cell.pattern} {cell.mode} {sizes}".rstrip(),
            *unusual(cell),
            *([cell.job.name] if several else []),
        ]
    )


def _sizes(rows: Sequence[Row], cells: Sequence[Cell]) -> str:
    """In rising order, neighbours of the curve as a range; empty where sizes mean nothing."""
    mine = cell_key(cells[0], SIZE)
    curve = [row for row in rows if cell_key(row.cell, SIZE) == mine]
    if not any(row.sized for row in curve):
        return ""
    known = sorted({row.cell.bytes for row in curve})
    places = sorted({known.index(cell.bytes) for cell in cells})
    found = runs(places, consecutive)
    return ", ".join(_range(known[run[0]], known[run[-1]]) for run in found)


def _range(least: int, most: int) -> str:
    """`8 B`, `8-64 KiB`, `512 B-64 KiB`."""
    low, high = format_size(least), format_size(most)
    if least == most:
        return low
    number, unit = low.split()
    return f"{number if high.endswith(f' {unit}') else low}{DASH}{high}"
