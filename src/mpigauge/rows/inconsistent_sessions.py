"""Cells that were measured before and after a campaign went on elsewhere, or with other programs."""

from collections.abc import Iterable, Mapping

from mpigauge.plan.model import Cell
from mpigauge.result.reader import Result
from mpigauge.result.records import Resumed


def mixed_cells(result: Result) -> Mapping[Cell, str]:
    """Return in what sessions differ, for each cell that was measured in several unlike ones."""
    return {cell: ", ".join(_differs(result, numbers)) for cell, numbers in result.mixed.items()}


def _differs(result: Result, numbers: Iterable[int]) -> Iterable[str]:
    """Return each thing once, in the order in which the sessions came."""
    return dict.fromkeys(what for number in sorted(numbers) for what in _what(result.resumed[number]))


def _what(resumed: Resumed) -> tuple[str, ...]:
    """Return in what a session differs; hosts of an allocation may be others without anybody being asked."""
    return tuple(one.what for one in resumed.differs) or ("hosts",)
