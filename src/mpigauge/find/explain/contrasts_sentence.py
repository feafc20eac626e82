"""What differs in one thing, in sentences: runs of sizes, with ratios and absolute times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import WORDS
from mpigauge.find.comparison_sentences import USUALLY, place_name
from mpigauge.find.explain.contrasts import BUILD, TWICE
from mpigauge.find.phrases import EMULATED, subject
from mpigauge.find.size_runs import WITHIN, runs_words
from mpigauge.plan.factors import PLACE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.contrasts import ByLimit, Contrast
    from mpigauge.plan.model import Cell

NO_LIMIT = "none found"


def sentence(fact: Contrast, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Which is faster, where, and by how much."""
    name = name_of(fact.factors)
    about = subject(fact.base, varied, fact.factors, fact.state)
    said = "; ".join([runs_words(fact.runs, fact.base, chosen), *_more(fact)])
    return f"{about}: {name(fact.other)} against {name(fact.base)}: {said}"


def name_of(factors: frozenset[str]) -> Callable[[Cell], str]:
    """How two cells that differ in these factors alone are told from each other."""
    if factors == PLACE:
        return place_name
    if factors == BUILD:
        return lambda cell: cell.library
    (factor,) = factors
    return lambda cell: WORDS[factor](cell) or USUALLY


def _more(fact: Contrast) -> Iterator[str]:
    """What follows from all sizes together."""
    if fact.twice_from is not None:
        largest = units.format_size(fact.points[-1].bytes)
        yield f"by a factor of {TWICE:g} or more from {units.format_size(fact.twice_from)} to {largest}"
    if fact.by_limit is not None:
        yield _limits(fact.by_limit)
    if fact.emulated:
        yield EMULATED


def _limits(fact: ByLimit) -> str:
    base, other = (
        NO_LIMIT if limit is None else units.format_size(limit) for limit in (fact.base, fact.other)
    )
    beyond = f"beyond {WITHIN} " if fact.small_elsewhere else ""
    said = f"{beyond}they differ between their eager limits alone ({other} against {base})"
    if fact.least_trips is None or fact.most_trips is None:
        return f"{said}: one waits for the receiver there, the other does not"
    least, most = map(units.format_factor, (fact.least_trips, fact.most_trips))
    trips = units.span(least, most, f" {units.DASH} ")
    return f"{said}: the wait for the receiver, {trips} round trips of the smallest message"
