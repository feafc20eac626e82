"""Names of cells for other programs: stable from run to run, so that CI systems find them again."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain, count
from typing import TYPE_CHECKING

from mpigauge.document.phrases import UNSAID, phrases_of, state_words
from mpigauge.document.plain_signs import printable
from mpigauge.document.size_words import UNSIZED
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject


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
    return printable(" ".join([*first, *size, *rest, *state_words(of)]))


def duplicates_numbered(names: Sequence[str]) -> list[str]:
    """Return names with equal ones numbered, so that none replaces another.

    Only imported results have equal names.
    """
    kept: dict[str, None] = {}
    for name in names:
        counted = (f"{name} #{number}" for number in count(2))
        kept[next(candidate for candidate in chain([name], counted) if candidate not in kept)] = None
    return list(kept)
