"""Runs of sizes with one verdict, in words: where, how many times as long, and by how much time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import VERDICTS, times, verdict_words
from mpigauge.find.phrases import at_size, every_size, extra, span
from mpigauge.sequences import runs as in_runs
from mpigauge.stats.decision import MARGIN
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.compare.size_ratio import Beside, Stretch
    from mpigauge.document.document import Units
    from mpigauge.plan.model import Cell

WITHIN = f"{100 * MARGIN:g} %"


def runs_words(runs: Sequence[Stretch], cell: Cell, chosen: Units = AUTOMATIC) -> str:
    """All of a pair of curves; between sizes that differ, what does not is told together.

    Args:
        cell: One of either, for what has no size.
    """
    total = sum(len(run.at) for run in runs)
    together = in_runs(runs, lambda one, two: DIFFERENT.isdisjoint({one.verdict, two.verdict}))
    said = (
        _differing(mine[0], total, cell, chosen)
        if mine[0].verdict in DIFFERENT
        else _alike(mine, total, cell)
        for mine in together
    )
    return "; ".join(said)


def _differing(run: Stretch, total: int, cell: Cell, chosen: Units) -> str:
    ends = dict.fromkeys((run.worst, max(run.at, key=lambda one: abs(one.extra_s))))
    where = _where([one.bytes for one in run.at], total, cell)
    return f"{VERDICTS[run.verdict]}{where}: {' and '.join(_at(one, cell, chosen) for one in ends)}"


def _alike(runs: Sequence[Stretch], total: int, cell: Cell) -> str:
    """Neighbouring sizes that do not differ, or of which nobody can tell."""
    open_, same = [
        [one for run in runs if (run.verdict == "undecided") == is_open for one in run.at]
        for is_open in (True, False)
    ]
    sizes = [one.bytes for run in runs for one in run.at]
    words = [(_undecided(open_), open_), (verdict_words("same"), same)]
    (fewer, few), (more, many) = sorted(words, key=lambda one: len(one[1]))
    if not few:
        return f"{more}{_where(sizes, total, cell)}"
    among = "" if len(sizes) == total else f" ({span(sizes)})"
    rest = at_size(cell, few[0].bytes) if len(few) == 1 else " at the others"
    return f"{more} at {len(many)} of {len(sizes)} sizes{among}, {fewer}{rest}"


def _where(sizes: Sequence[int], total: int, cell: Cell) -> str:
    if len(sizes) == 1:
        return at_size(cell, sizes[0])
    if len(sizes) == total:
        return f" at {every_size(total)}"
    return f" at {span(sizes)} ({counted(len(sizes), 'size')})"


def _at(one: Beside, cell: Cell, chosen: Units) -> str:
    other, base = (units.format_time(each, chosen.time) for each in (one.other_s, one.base_s))
    longer = f"{times(one.ratio)} as long{at_size(cell, one.bytes)}"
    return f"{longer}, {other} against {base}, {extra(one.extra_s, chosen)}"


def _undecided(points: Sequence[Beside]) -> str:
    """The word, and after how many launches it would be another, if that is known of all."""
    needed = [one.ratio.needed for one in points]
    most = max((one for one in needed if one is not None), default=0)
    launches = min((one.ratio.launches for one in points), default=0)
    if None in needed or most <= launches:
        return VERDICTS["undecided"]
    return f"{VERDICTS['undecided']} (about {most} launches would tell, not {launches})"
