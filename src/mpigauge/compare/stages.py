"""Numbers that were measured again, beside what was first seen of them, which decides nothing any more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mpigauge.rows.group import cell_key

if TYPE_CHECKING:
    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.rows.group import Key

RELABELLED = frozenset({"label"})
"""What a second stage may call otherwise: two builds of one version that had no labels get some."""


def first_looks(fresh: Comparison, before: Comparison) -> dict[Compared, Compared]:
    """Of numbers of a second stage, the first stage's of the same; none where that cannot be told."""
    known = {_key(one): one for one in _all(before)}
    unlabelled = Counter(_key(one, RELABELLED) for one in known.values())
    alone = {_key(one, RELABELLED): one for one in known.values() if unlabelled[_key(one, RELABELLED)] == 1}
    found = {one: known.get(_key(one)) or alone.get(_key(one, RELABELLED)) for one in _all(fresh)}
    return {one: first for one, first in found.items() if first is not None}


def _all(shown: Comparison) -> tuple[Compared, ...]:
    return (*shown.cells, *shown.controls)


def _key(one: Compared, ignored: frozenset[str] = frozenset()) -> tuple[Key, Key]:
    """Of both sides; the state of the machine is that of its day."""
    return cell_key(one.pair.base.cell, ignored), cell_key(one.pair.other.cell, ignored)
