"""What differs in one thing, in sentences: runs of sizes, with ratios and absolute times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.explain.contrasts import LIBRARY, PLACE, TWICE
from mpigauge.analysis.verdict import MARGIN
from mpigauge.show.words.comparisons import VERDICTS, place_name, times
from mpigauge.show.words.explain.parts import count, extra, span, subject
from mpigauge.show.words.factors import WORDS
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mpigauge.analysis.explain.beside import Beside, Stretch
    from mpigauge.analysis.explain.contrasts import Contrast
    from mpigauge.plan.model import Cell

USUALLY = "usual setting"


def sentence(fact: Contrast, varied: Collection[str]) -> str:
    """Which is faster, where, and by how much."""
    name = name_of(fact.factors)
    about = subject(fact.base, varied, fact.factors, fact.state)
    runs = "; ".join(_run(run, fact) for run in fact.runs)
    return f"{about}: {name(fact.other)} against {name(fact.base)}: {'; '.join([runs, *_more(fact)])}"


def name_of(factors: frozenset[str]) -> Callable[[Cell], str]:
    """How two cells that differ in these factors alone are told from each other."""
    if factors == PLACE:
        return place_name
    if factors == LIBRARY:
        return lambda cell: cell.library
    (factor,) = factors
    return lambda cell: WORDS[factor](cell) or USUALLY


def _run(run: Stretch, fact: Contrast) -> str:
    where = _where(run, fact)
    if run.verdict not in DIFFERENT:
        return f"{_undecided(run) if run.verdict == 'undecided' else _same()} {where}"
    little = f", but by less than {_margin()}" if all(one.small for one in run.at) else ""
    ends = dict.fromkeys((run.worst, run.at[-1]) if len(run.at) > 1 else run.at)
    return f"{VERDICTS[run.verdict]} {where}{little}: {', '.join(map(_at, ends))}"


def _where(run: Stretch, fact: Contrast) -> str:
    total = len(fact.points)
    if len(run.at) == total:
        return f"at {span([run.at[0].bytes])}" if total == 1 else f"at all {total} sizes"
    sizes = [one.bytes for one in run.at]
    many = f" ({count(len(sizes), 'size')})" if len(sizes) > 1 else ""
    return f"at {span(sizes)}{many}"


def _at(one: Beside) -> str:
    both = f"{units.format_time(one.other_s)} for {units.format_time(one.base_s)}"
    return f"{times(one.ratio)} at {units.format_size(one.bytes)}, {both} ({extra(one.extra_s)})"


def _same() -> str:
    return f"{VERDICTS['same']} (within {_margin()})"


def _undecided(run: Stretch) -> str:
    needed = [one.needed for one in run.at]
    known = [one for one in needed if one is not None]
    launches = min(one.ratio.launches for one in run.at)
    if len(known) < len(needed) or not known or max(known) <= launches:
        return VERDICTS["undecided"]
    return f"{VERDICTS['undecided']} (about {max(known)} launches would tell, not {launches})"


def _margin() -> str:
    return units.format_percent(MARGIN)


def _more(fact: Contrast) -> Iterator[str]:
    """What follows from all sizes together."""
    if fact.twice_from is not None:
        largest = units.format_size(fact.points[-1].bytes)
        yield f"by a factor of {TWICE:g} or more from {units.format_size(fact.twice_from)} to {largest}"
    if fact.limits is not None:
        base, other = (units.format_size(limit) for limit in fact.limits)
        yield (
            f"it differs only between the eager limits of both ({other} against {base}): one waits for the "
            "receiver there, the other does not"
        )
    if fact.emulated:
        yield "over the emulated network of a lab"
