"""CPU time of ranks that communicate, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import VERDICTS, times
from mpigauge.document.state_words import in_state
from mpigauge.find.comparison_sentences import place_name
from mpigauge.find.phrases import share
from mpigauge.plan.factors import PLACE
from mpigauge.rows.ratios import verdict_of
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.document.document import Units
    from mpigauge.find.explain.waiting import CoreTime, Waiting
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import Family

OPERATIONS: dict[Family, str] = {"message": "point-to-point", "collective": "collectives"}


def sentence(fact: Waiting, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """How much of the cores' time the ranks of each library use."""
    (cell, *others), (first, *rest) = fact.cells, fact.times
    keeps = f"{cell.library} keeps {share(first.share)} of the core time that there is for them busy"
    compared = "".join(f"; {_against(*one)}" for one in zip(others, rest, strict=True))
    many = f" (median of {counted(first.cells, 'cell')})"
    return f"{_about(fact, varied)}: {keeps}{many}{compared}"


def _about(fact: Waiting, varied: Collection[str]) -> str:
    cell = fact.cells[0]
    cores = f"{counted(fact.ranks, 'rank')} on {counted(fact.cores, 'core')}"
    relay = " that the relay of the lab uses, too" if fact.relayed else ""
    place = place_name(cell) if PLACE & set(varied) else ""
    what = OPERATIONS.get(fact.family, fact.family)
    return f"{', '.join(filter(None, (what, place, cell.setting, cores)))}{relay}{in_state(fact.state)}"


def _against(cell: Cell, one: CoreTime) -> str:
    said = f"{cell.library} {share(one.share)}"
    if one.ratio is None or one.ratio.low is None:
        return said
    if verdict_of(one.ratio) not in DIFFERENT:
        return f"{said}, {VERDICTS[verdict_of(one.ratio)]}"
    return f"{said}, {times(one.ratio)} as much"
