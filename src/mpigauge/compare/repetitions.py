"""Runs of imported results that are repetitions: their names only count, as `run1` and `run2` do.

`import osu run1.txt run2.txt -o before.jsonl` keeps two runs, since nothing says that they are the same. Held
against another such result, they are what that result was asked to be compared with: its launches.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.importers.text_between import numbers_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result


def with_repetitions(results: Sequence[Result]) -> list[Result]:
    """Return two results with their runs as launches, if they share no cell only since runs have names."""
    if len(results) != 2 or not all(map(_is_imported, results)):  # noqa: PLR2004 - two that are compared
        return [*results]
    cells = [set(result.campaign.cells) for result in results]
    joined = [_joined(result) for result in results]
    alike = set(joined[0].campaign.cells) & set(joined[1].campaign.cells)
    return joined if alike and not cells[0] & cells[1] else [*results]


def _is_imported(result: Result) -> bool:
    return bool(result.imported) and not result.visits


def _joined(result: Result) -> Result:
    """Return a result whose runs are launches; the same if their names do more than count."""
    if not all(numbers_runs(cell.label) for cell in result.campaign.cells):
        return result
    places = dict.fromkeys((one.cell.label, one.launch) for one in result.imported)
    numbers = {place: number for number, place in enumerate(places, start=1)}
    libraries = {(one.name, one.version): with_fields(one, label="") for one in result.campaign.libraries}
    campaign = with_fields(
        result.campaign,
        cells=tuple(dict.fromkeys(map(_unlabelled, result.campaign.cells))),
        libraries=tuple(libraries.values()),
    )
    return replace(
        result,
        campaign=campaign,
        imported=[
            with_fields(one, cell=_unlabelled(one.cell), launch=numbers[one.cell.label, one.launch])
            for one in result.imported
        ],
        failures=[
            with_fields(one, cell=_unlabelled(one.cell)) if one.cell is not None else one
            for one in result.failures
        ],
    )


def _unlabelled(cell: Cell) -> Cell:
    return with_fields(cell, label="")
