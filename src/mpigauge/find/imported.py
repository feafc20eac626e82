"""What imported texts leave open: launches, the number of ranks, and what there is to compare."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

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
        joins = "; import --same makes launches of runs" if tables else ""
        return f"imported: {len(runs)} runs, no samples{joins}"
    if most == 1:
        return "imported: no samples, so no intervals"
    return f"imported: no samples; intervals over {most} launches of one command"


def nothing_alike(base: Sequence[Row], other: Sequence[Row]) -> str:
    """Return what to do where two results have nothing in common: of imported ones, what each has."""
    if not any(row.imported for row in (*base, *other)):
        return "measure both with one plan: mpigauge run --plan FILE"
    first, second = (_curves(rows) for rows in (base, other))
    return f"the one has {first}, the other {second}"


def _curves(rows: Sequence[Row]) -> str:
    named = dict.fromkeys(f"{row.cell.pattern} {row.cell.mode}" for row in rows)
    return " and ".join([*named][:2]) + (f" and {len(named) - 2} more" if len(named) > 2 else "")  # noqa: PLR2004


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
