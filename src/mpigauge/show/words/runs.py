"""Runs of sizes with one verdict, in words: where, how many times as long, and by how much time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.verdict import MARGIN
from mpigauge.show.words.explain.parts import count, extra, span
from mpigauge.show.words.ratios import VERDICTS, times
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.explain.beside import Beside, Stretch


def runs_words(runs: Sequence[Stretch]) -> str:
    """All of a pair of curves."""
    return "; ".join(_run(run, len(runs) == 1) for run in runs)


def _run(run: Stretch, alone: bool) -> str:
    where = _where([one.bytes for one in run.at], alone)
    if run.verdict == "undecided":
        return f"{_undecided(run)} {where}"
    within = f"{100 * MARGIN:g} %"
    if run.verdict not in DIFFERENT:
        return f"{VERDICTS[run.verdict]} (within {within}) {where}"
    little = f", but by less than {within}" if all(one.small for one in run.at) else ""
    ends = dict.fromkeys((run.worst, run.at[-1]))
    return f"{VERDICTS[run.verdict]} {where}{little}: {' and '.join(map(_at, ends))}"


def _where(sizes: Sequence[int], alone: bool) -> str:
    if len(sizes) == 1:
        return f"at {span(sizes)}"
    return f"at all {len(sizes)} sizes" if alone else f"at {span(sizes)} ({count(len(sizes), 'size')})"


def _at(one: Beside) -> str:
    both = f"{units.format_time(one.other_s)} against {units.format_time(one.base_s)}"
    return f"{times(one.ratio)} as long at {units.format_size(one.bytes)}, {both}, {extra(one.extra_s)}"


def _undecided(run: Stretch) -> str:
    needed = [one.needed for one in run.at]
    known = [one for one in needed if one is not None]
    launches = min(one.ratio.launches for one in run.at)
    if len(known) < len(needed) or not known or max(known) <= launches:
        return VERDICTS["undecided"]
    return f"{VERDICTS['undecided']} (about {max(known)} launches would tell, not {launches})"
