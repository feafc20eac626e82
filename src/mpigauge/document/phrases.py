"""What the factors of a cell are called in legends, titles and sentences: a row in WORDS for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.factors import BY_NAME, usual
from mpigauge.plan.round_robin import NamedPair
from mpigauge.rows.group import STATE
from mpigauge.units import counted
from mpigauge.vocabulary import AUTO, ROTATING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.vocabulary import Pairing

Factors = dict[str, str]
"""What something is of: a phrase per factor, by name; none where there is nothing to say."""

PAIRINGS: Mapping[Pairing, str] = {
    "tournament": "all pairs, N/2 at a time",
    "serial": "all pairs, one at a time",
}
PAIR_DASH = " \N{EN DASH} "
"""Between the hosts of a pair."""

STARTS = {"common": "a common time", "barrier": "our own barrier", "mpi_barrier": "MPI_Barrier"}
"""What ranks start together by."""


def _library(cell: Cell) -> str:
    return cell.label if cell.mpi == UNKNOWN else cell.library


def _buffers(cell: Cell) -> str:
    return "" if cell.buffers == usual("buffers") else f"{cell.buffers} buffers"


def _root(cell: Cell) -> str:
    if not cell.root:
        return ""
    return "rotating root" if cell.root == ROTATING else f"root {cell.root}"


def _pair(cell: Cell) -> str:
    return PAIR_DASH.join(cell.pair.ends) if isinstance(cell.pair, NamedPair) else cell.pair


WORDS: Mapping[str, Callable[[Cell], str]] = {
    "pattern": lambda cell: cell.pattern,
    "mode": lambda cell: cell.mode,
    "mpi": _library,
    "setting": lambda cell: cell.setting,
    "arm": lambda cell: cell.arm,
    "transport": lambda cell: cell.transport,
    "placement": lambda cell: "" if cell.placement == UNKNOWN else cell.placement,
    "ranks": lambda cell: counted(cell.ranks, "rank") if cell.ranks else "",
    "buffers": _buffers,
    "sync": lambda cell: f"{cell.sync} start" if cell.sync else "",
    "op": lambda cell: f"{cell.op} of {cell.datatype}" if cell.datatype else "",
    "root": _root,
    "in_place": lambda cell: "in place" if cell.in_place else "",
    "window": lambda cell: f"window {cell.window}" if cell.window else "",
    "pair": _pair,
    "pairing": lambda cell: cell.pairing,
}
"""In the order in which they are said."""

SAID_WITH = {"mpi_version": "mpi", "label": "mpi", "datatype": "op"}
"""Factors that are said together with another; the size is a number of each row and not said here."""

UNSAID = frozenset(
    {
        AUTO,
        str(usual("placement")),
        f"{usual('op')} of {usual('datatype')}",
        f"root {usual('root')}",
        f"{usual('sync')} start",
    }
)
"""What goes without saying."""

OF_JOB = tuple(name for name in WORDS if BY_NAME[name].job)
"""What tells launches of one plan from each other."""

DETAILS = tuple(
    name
    for name in WORDS
    if name not in {"pattern", "mode"} and not BY_NAME[name].job and not BY_NAME[name].along
)
"""What tells curves of one pattern, mode and launch from each other."""


def phrases_of(cell: Cell, names: Iterable[str] = WORDS) -> Factors:
    """The phrases of a cell by factor; all but its size, unless some are named."""
    found = {name: WORDS[name](cell) for name in names}
    return {name: phrase for name, phrase in found.items() if phrase}


def unusual(cell: Cell) -> list[str]:
    """What else tells a cell from others of its pattern and mode, without what goes without saying."""
    return [phrase for phrase in phrases_of(cell, ("pair", *DETAILS)).values() if phrase not in UNSAID]


def state_words(of: Subject) -> list[str]:
    """Return `state far`, where a number is of one state of the machine among several; else nothing."""
    return [f"state {of.state}"] if of.state else []


def state_phrase(of: Subject) -> Factors:
    """Return the state of the machine by its name among factors; nothing where it had one only."""
    return {STATE: of.state} if of.state else {}
