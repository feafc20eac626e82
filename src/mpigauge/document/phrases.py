"""Phrases for the factors of a cell in legends, titles and sentences: a row in WORDS for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.factors import BY_NAME, FACTORS, default_value
from mpigauge.plan.groups import ranks_in
from mpigauge.plan.patterns import known, patterns_with
from mpigauge.plan.round_robin import NamedPair
from mpigauge.rows.group import STATE
from mpigauge.units import counted, format_size
from mpigauge.vocabulary import DIFFERENT_HOSTS, ROTATING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from mpigauge.plan.factors import Factor
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Subject
    from mpigauge.rows.reasons import NotInState
    from mpigauge.vocabulary import Distance, Pairing, StateName

Factors = dict[str, str]
"""A phrase per factor, by name; none where there is nothing to say."""

PAIRINGS: Mapping[Pairing, str] = {
    "tournament": "all pairs, N/2 at a time",
    "serial": "all pairs, one at a time",
}
PAIR_DASH = " \N{EN DASH} "
"""Between the hosts of a pair."""

STARTS = {"common": "a common time", "barrier": "our own barrier", "mpi_barrier": "MPI_Barrier"}
"""How ranks start together."""


def _library(cell: Cell) -> str:
    return cell.label if cell.mpi == UNKNOWN else cell.library


def _buffers(cell: Cell) -> str:
    return "" if cell.buffers == default_value("buffers") else f"{cell.buffers} buffers"


def _root(cell: Cell) -> str:
    if not cell.root:
        return ""
    return "rotating root" if cell.root == ROTATING else f"root {cell.root}"


def _layout(cell: Cell) -> str:
    if not cell.block_bytes:
        return ""
    return f"blocks of {format_size(cell.block_bytes)}, every {format_size(cell.stride_bytes)}"


IN_HALVES = patterns_with(lambda pattern: pattern.in_halves)


def mode_name(pattern: Pattern | None, name: str) -> str:
    """Return a mode as text, with the number of calls of one that sends in parts: `halves (in 2 calls)`."""
    mode = None if pattern is None else pattern.mode(name)
    return name if mode is None or mode.parts < 2 else f"{name} (in {mode.parts} calls)"  # noqa: PLR2004 - parts


def _ranks(cell: Cell) -> str:
    """Return the number of ranks; how many of them work, where one that takes part has no partner."""
    if cell.pattern in IN_HALVES and (taking_part := len(ranks_in(cell, None))) % 2:
        return f"{taking_part - 1} of {counted(cell.ranks, 'rank')}"
    return counted(cell.ranks, "rank") if cell.ranks else ""


def _pair(cell: Cell) -> str:
    return PAIR_DASH.join(cell.pair.ends) if isinstance(cell.pair, NamedPair) else cell.pair


_SPECIAL: Mapping[str, Callable[[Cell], str]] = {
    "mpi": _library,
    "placement": lambda cell: "" if cell.placement == UNKNOWN else cell.placement,
    "ranks": _ranks,
    "buffers": _buffers,
    "op": lambda cell: f"{cell.op} of {cell.datatype}" if cell.datatype else "",
    "root": _root,
    "block_bytes": _layout,
    "partitions": lambda cell: counted(cell.partitions, "partition") if cell.partitions else "",
    "tests": lambda cell: f"{counted(cell.tests, 'call')} of MPI_Test" if cell.tests else "",
    "pair": _pair,
    "senders": lambda cell: counted(cell.senders, "sender") if cell.senders else "",
}
"""Phrases that are more than a value in a few words."""

_LAST = ("op", "root", "in_place", "window", "pair", "pairing")


def _phrase(factor: Factor) -> Callable[[Cell], str]:
    def said(cell: Cell) -> str:
        value = getattr(cell, factor.name)
        return factor.phrase.format(value) if value else ""

    return _SPECIAL.get(factor.name, said)


def _place(factor: Factor) -> tuple[int, int]:
    """Return where it is said: what is done, by which launches, how."""
    if factor.name in {"pattern", "mode"}:
        return 0, 0
    return (1, 0) if factor.job else (2, 1 + _LAST.index(factor.name) if factor.name in _LAST else 0)


WORDS: Mapping[str, Callable[[Cell], str]] = {
    factor.name: _phrase(factor) for factor in sorted(FACTORS, key=_place) if factor.phrase
}
"""The phrase of each factor, in the order in which they are said."""

SAID_WITH = {"mpi_version": "mpi", "label": "mpi", "datatype": "op", "stride_bytes": "block_bytes"}
"""Factors that another one's phrase contains; the size is a number of each row and has none."""

_PLAIN = [factor for factor in FACTORS if factor.phrase and factor.name not in _SPECIAL]

UNSAID = frozenset(
    {
        str(default_value("placement")),
        f"{default_value('op')} of {default_value('datatype')}",
        f"root {default_value('root')}",
        *(factor.phrase.format(factor.usual) for factor in _PLAIN if factor.usual and not factor.along),
    }
)
"""Phrases of usual values, which are left out where nothing else was measured."""

OF_JOB = tuple(name for name in WORDS if BY_NAME[name].job)
"""Factors by which launches of one plan differ."""

DETAILS = tuple(
    name
    for name in WORDS
    if name not in {"pattern", "mode"} and not BY_NAME[name].job and not BY_NAME[name].along
)
"""Factors by which curves of one pattern, mode and launch differ."""


def phrases_of(cell: Cell, names: Iterable[str] = WORDS) -> Factors:
    """Return the phrases of a cell by factor: all but its size, unless some are named."""
    phrases = {name: WORDS[name](cell) for name in names}
    return {name: phrase for name, phrase in phrases.items() if phrase}


def differs(name: str, values: Iterable[tuple[str, object]]) -> bool:
    """Return whether values of a factor differ: of one that not all patterns have, within a pattern.

    Args:
        values: Each with its pattern; None where nothing is known of it, as of imported numbers.
    """
    factor = BY_NAME.get(name)
    of_some = factor is not None and factor.has
    found: dict[str, set[object]] = {}
    for pattern, value in values:
        if value is not None or (factor is not None and factor.without):
            found.setdefault(pattern if of_some else "", set()).add(value)
    return any(len(mine) > 1 for mine in found.values())


def told(phrases: Factors, varied: Collection[str]) -> Factors:
    """Return phrases without those of usual values, but with these where the factor was varied.

    Args:
        varied: Factors that differ among what is told apart; see `differs`.
    """
    found = {}
    for name in dict.fromkeys((*WORDS, *phrases)):
        phrase = phrases.get(name, "")
        if not phrase and name in varied and _has(phrases.get("pattern", ""), name):
            phrase = BY_NAME[name].without
        if phrase and (phrase not in UNSAID or name in varied):
            found[name] = phrase
    if "transport" in found and found.get("placement") == default_value("placement"):
        del found["placement"]  # beside `tcp, h1,h2` it is `tcp` and `shm` that say it
    return found


def _has(pattern: str, name: str) -> bool:
    """Return whether a pattern of ours has a factor, so that no word of it means the usual value."""
    if name not in BY_NAME or pattern not in known():
        return False
    return bool(getattr(known()[pattern], BY_NAME[name].has, False))


# ---- State of the machine -----------------------------------------------------------------------


APART: Mapping[Distance, str] = {"line": "cores", "path": "hosts"}
"""Words for what is near or far, by what the distance was measured with."""


def state_name(of: Distance, state: StateName) -> str:
    """Return a state of the machine with what is near or far in it: `cores far`."""
    return f"{APART[of]} {state}"


def state_words(of: Subject) -> list[str]:
    """Return `cores far`, where a number is of one state of the machine among several; else nothing."""
    return [*state_phrase(of).values()]


def _distance(cell: Cell) -> Distance:
    """Return by what the distance of ranks is known: between hosts where no two ranks are on the same."""
    hosts = cell.placement.split(",")
    apart = cell.placement == DIFFERENT_HOSTS or 1 < len(hosts) == len({*hosts})
    return "path" if apart else "line"


def state_phrase(of: Subject) -> Factors:
    """Return the state of the machine by its name among factors; nothing where it had one only."""
    return {STATE: state_name(_distance(of.cell), of.state)} if of.state else {}


def state_suffix(of: Subject | None) -> str:
    """Return `, cores far`, which follows a name, where that is of one state among several."""
    return "".join(f", {said}" for said in state_words(of)) if of is not None else ""


def never_in_state(fact: NotInState) -> str:
    """Return why a cell has no number in the state that was asked for."""
    return f"never measured with {' '.join(state_words(fact.of))}"
