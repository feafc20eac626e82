"""Names of cells: for people, what tells one from the others; for programs, the same from run to run."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count
from typing import TYPE_CHECKING

from mpigauge.document.phrases import (
    SAID_WITH,
    UNSAID,
    WORDS,
    differs,
    phrases_of,
    state_suffix,
    told,
)
from mpigauge.document.plain_signs import printable
from mpigauge.document.size_words import UNSIZED
from mpigauge.plan.factors import BY_NAME, PLACE
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row

# ---- In sentences --------------------------------------------------------------------------------

ALWAYS = ("pattern",)
"""Said of every cell, whether others differ in it or not."""


def varied_among(cells: Iterable[Cell]) -> frozenset[str]:
    """Return factors in which cells differ; one that not all patterns have, within one of these."""
    every = [*cells]
    return frozenset(
        name for name in BY_NAME if differs(name, ((cell.pattern, getattr(cell, name)) for cell in every))
    )


def varied_in(rows: Iterable[Row]) -> frozenset[str]:
    """Return factors in which the cells that talk differ: those with times, or those that probed a limit."""
    talking = [row for row in rows if row.talks]
    timed = varied_among(row.cell for row in talking if row.time is not None)
    return timed | varied_among(row.cell for row in talking if row.limit_bytes is not None)


def subject(of: Subject, varied: Collection[str], without: Collection[str] = ()) -> str:
    """Return what a sentence is about: what tells a cell from the others of its result, but for its size.

    Args:
        varied: Factors in which cells of the result differ.
        without: Factors that the sentence speaks of itself.
    """
    said = (_phrased({*ALWAYS, *varied}) - _phrased(without)) & WORDS.keys()
    phrases = told(phrases_of(of.cell, said | {*ALWAYS}), said)
    phrases = {name: phrase for name, phrase in phrases.items() if name in said}
    what = " ".join(phrases.pop(name) for name in ("pattern", "mode") if name in phrases)
    return f"{', '.join([what, *phrases.values()] if what else phrases.values())}{state_suffix(of)}"


def sized_subject(
    of: Subject, varied: Collection[str], without: Collection[str] = (), sizes: str = ""
) -> str:
    """Return what a sentence is about, with its size: `put flush, 8 B`.

    Args:
        varied: Factors in which cells of the result differ.
        without: Factors that the sentence speaks of itself.
        sizes: Sizes to say, where it is about several; empty for that of the cell.
    """
    size = "" if of.cell.pattern in UNSIZED else sizes or format_size(of.cell.bytes)
    return ", ".join(filter(None, [subject(of, varied, without), size]))


def place_name(cell: Cell) -> str:
    """Return a place as columns are headed: `tcp h1,h2`; what is usual goes without saying."""
    phrases = phrases_of(cell, [name for name in WORDS if name in PLACE]).values()
    return " ".join(phrase for phrase in phrases if phrase not in UNSAID) or cell.placement


def _phrased(names: Collection[str]) -> set[str]:
    """Return the phrases that factors are said in: a library by its kind, version and label."""
    return {SAID_WITH.get(name, name) for name in names}


# ---- For other programs --------------------------------------------------------------------------


def names_of(found: Sequence[Subject], unsaid: Collection[str] = ()) -> list[str]:
    """Return names of cells, with the version of a library only where there are several of them.

    Args:
        unsaid: Factors to leave out.
    """
    versions = defaultdict(set)
    for one in found:
        versions[one.cell.mpi, one.cell.label].add(one.cell.mpi_version)
    return [_name(one, unsaid, versioned=len(versions[one.cell.mpi, one.cell.label]) > 1) for one in found]


def plain_phrases(cell: Cell, *, versioned: bool = True) -> Factors:
    """Return the phrases of a cell, with its library as plans and options call it, and its pair by ranks."""
    phrases = phrases_of(cell) | ({"pair": str(cell.pair)} if cell.pair else {})
    if "mpi" in phrases:
        phrases["mpi"] = " ".join(filter(None, [cell.label, cell.mpi, cell.mpi_version if versioned else ""]))
    return phrases


def _name(of: Subject, unsaid: Collection[str], *, versioned: bool) -> str:
    """`pingpong standard 8 B openmpi shm 2 ranks`: what goes without saying is not said."""
    phrases = plain_phrases(of.cell, versioned=versioned)
    size = [] if of.cell.pattern in UNSIZED else [format_size(of.cell.bytes)]
    first = [phrases.pop(name) for name in ("pattern", "mode") if name in phrases]
    rest = [phrase for name, phrase in phrases.items() if name not in unsaid and phrase not in UNSAID]
    state = [f"state {of.state}"] if of.state else []
    return printable(" ".join([*first, *size, *rest, *state]))


def duplicates_numbered(names: Sequence[str]) -> list[str]:
    """Return names with equal ones numbered, so that none replaces another.

    Only imported results have equal names.
    """
    kept: dict[str, None] = {}
    for name in names:
        counted = (f"{name} #{number}" for number in count(2))
        kept[next(candidate for candidate in chain([name], counted) if candidate not in kept)] = None
    return list(kept)
