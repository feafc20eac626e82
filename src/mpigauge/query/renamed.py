"""Placements under other names, so that results align that call the same place differently."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.errors import UsageError, choose_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.query.query import Source


def renamings(texts: Sequence[str]) -> dict[str, str]:
    """Return `OLD=NEW` texts as a mapping of placements to their new names.

    Raises:
        UsageError: One of them has no sign, nothing on a side of it, or an old name that another has, too.
    """
    names: dict[str, str] = {}
    for text in texts:
        old, _, new = (part.strip() for part in text.partition("="))
        if not (old and new):
            raise UsageError(f"--rename: {text!r} renames nothing", 'write --rename "two hosts=h1,h3"')
        if old in names:
            raise UsageError(f"--rename: {old!r} has two new names", "leave one of them out")
        names[old] = new
    return names


def renamed(sources: Sequence[Source], texts: Sequence[str]) -> list[Source]:
    """Return sources with renamed placements; what was measured, and where, stays as it is.

    Raises:
        UsageError: No result has a placement of the old name, or one would have two cells in one.
    """
    names = renamings(texts)
    placements = sorted({row.cell.placement for source in sources for row in source.rows})
    for old in names:
        if old not in placements:
            raise UsageError(f"--rename: no result has a placement {old!r}", choose_from(placements, old))
    return [_renamed(source, names) for source in sources] if names else [*sources]


def _renamed(source: Source, names: Mapping[str, str]) -> Source:
    cells: dict[Cell, Cell] = {row.cell: _cell(row.cell, names) for row in source.rows}
    if len({*cells.values()}) < len(cells):
        raise UsageError(
            f"--rename: {source.result.path} would have two placements of one name: {_duplicate(cells)}",
            "give each placement a name of its own",
        )
    limits: dict[JobKey, int] = {
        with_fields(job, placement=names.get(job.placement, job.placement)): limit
        for job, limit in source.limits.items()
    }
    return replace(
        source,
        rows=[replace(row, cell=cells[row.cell]) for row in source.rows],
        visits={_cell(cell, names): visits for cell, visits in source.visits.items()},
        limits=limits,
        windows=frozenset(_cell(cell, names) for cell in source.windows),
    )


def _duplicate(cells: Mapping[Cell, Cell]) -> str:
    """Return the new name that several placements would have."""
    count = Counter(cells.values())
    return next(new.placement for new in cells.values() if count[new] > 1)


def _cell(cell: Cell, names: Mapping[str, str]) -> Cell:
    new = names.get(cell.placement, cell.placement)
    return cell if new == cell.placement else with_fields(cell, placement=new)
