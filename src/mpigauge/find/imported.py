"""What imported texts leave open: launches, the number of ranks, and what there is to compare."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.importers.text_between import numbers_runs

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

SAME = "; import --same makes launches of runs"

OF_COLUMNS = "table_"
"""What names of patterns begin with that are of the columns of somebody's own table, each of them a run."""


def launches_of(results: Sequence[Result]) -> str:
    """Return what intervals of imported times are over, if there are any."""
    most = max((one.launch for result in results for one in result.imported), default=1)
    labelled = [one for result in results for one in result.imported if one.cell.label]
    runs = {one.cell.label for one in labelled}
    if most == 1 and len(runs) > 1:
        # Columns of one table cannot be joined: their numbers stand in one line.
        of_line = defaultdict[str, set[str]](set)
        for one in labelled:
            of_line[one.source].add(one.cell.label)
        tables = any(
            not one.cell.pattern.startswith(OF_COLUMNS) and len(of_line[one.source]) == 1 for one in labelled
        )
        return f"imported: {len(runs)} runs, no samples{SAME if tables and _only_count(runs) else ''}"
    if most == 1:
        return "imported: no samples, so no intervals"
    return f"imported: no samples; intervals over {most} launches of one command"


def _only_count(labels: Collection[str]) -> bool:
    """Return whether runs may be launches of one: the names that they have say no more than which."""
    return all(numbers_runs(label) for label in labels if label)


def cells_cut_short(result: Result) -> frozenset[Cell]:
    """Return the cells, without size, of tables that a line has ended: what stands below it may be better."""
    cells = defaultdict[tuple[str, int], set["Cell"]](set)
    for one in result.imported:
        cells[_place(one.source)].add(with_fields(one.cell, bytes=0))
    places = sorted(cells)
    ended = set["Cell"]()
    for unread in result.unread:
        file, line = _place(unread.source)
        before = bisect_left(places, (file, line)) - 1
        if before >= 0 and places[before][0] == file:
            ended |= cells[places[before]]
    return frozenset(ended)


def _place(source: str) -> tuple[str, int]:
    """Return the file and the line that a record is from; line 0 if it has none."""
    file, _, line = source.rpartition(": line ")
    return file, int(line) if line.isdigit() else 0


def nothing_alike(base: Sequence[Row], other: Sequence[Row]) -> str:
    """Return what to do where two results have nothing in common: of imported ones, what each has."""
    if not any(row.imported for row in (*base, *other)):
        return "measure both with one plan: mpigauge run --plan FILE"
    first, second = ({_curve(row.cell) for row in rows} for rows in (base, other))
    shared = first & second
    if not shared:
        return f"the one has {_some(first)}, the other {_some(second)}"
    for name in ("label", "ranks", "placement", "bytes"):
        mine, theirs = (
            {str(getattr(row.cell, name)) for row in rows if _curve(row.cell) in shared}
            for rows in (base, other)
        )
        if not mine & theirs:
            same = SAME if name == "label" and _only_count(mine | theirs) else ""
            return f"they differ in {name}: the one has {_some(mine)}, the other {_some(theirs)}{same}"
    return f"both have {_some(shared)}, of other ranks, runs or sizes: mpigauge show --all"


def _curve(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}"


def _some(names: Collection[str]) -> str:
    """Return the first two names, and how many more there are."""
    first = sorted(names)
    return " and ".join(one or "none" for one in first[:2]) + (
        f" and {len(first) - 2} more" if len(first) > 2 else ""  # noqa: PLR2004 - those that are named
    )


def unknown_ranks(sides: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """Return that some of several results do not say how many ranks took part; empty if all do.

    Args:
        sides: Of each result its file and rows.
    """
    files = [
        PurePath(file).name
        for file, rows in sides
        if any(row.imported and not row.cell.ranks for row in rows)
    ]
    if not files:
        return ""
    who = "none of them says" if len(files) == len(sides) else f"{', '.join(files)} does not say"
    return f"ranks unknown: {who} how many took part; mpigauge import --np N does"
