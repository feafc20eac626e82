"""Patterns of several pairs at once, where the ranks are one pair: what they measure then."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpigauge.plan.groups import most_senders
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern
from mpigauge.sequences import group_by

ARE_ONE, MORE_RANKS = "the ranks are one pair", "use --np 4 or more"


@dataclass(frozen=True, slots=True)
class OnePair:
    """Patterns of several pairs at once, all ranks of which are one pair.

    Attributes:
        alone: Their names, by that of the pattern that one pair of them is.
    """

    alone: Mapping[str, tuple[str, ...]]


def one_pair(cells: Iterable[Cell], patterns: Mapping[str, Pattern]) -> Iterator[OnePair]:
    """Yield which patterns of several pairs have ranks for one pair alone; nothing if there are none."""
    most: dict[str, int] = {}
    for cell in cells:
        pattern = patterns.get(cell.pattern)
        if pattern is not None and pattern.one_pair:
            most[cell.pattern] = max(most.get(cell.pattern, 0), most_senders(pattern, cell.ranks))
    of_one = [name for name, pairs in most.items() if pairs == 1]
    if of_one:
        by_alone = group_by(of_one, lambda name: patterns[name].one_pair)
        yield OnePair({alone: tuple(names) for alone, names in by_alone.items()})


def what_they_measure(fact: OnePair) -> str:
    """Return what the patterns measure with one pair: `multi-stream and incast measure what stream does`."""
    (first, names), *others = fact.alone.items()
    verb = "measures" if len(names) == 1 else "measure"
    same = [f"{in_words(mine)} what {alone} does" for alone, mine in others]
    return ", ".join([f"{in_words(names)} {verb} what {first} does", *same])


def in_words(names: Sequence[str]) -> str:
    """Return names as a sentence has them: `multi-stream, incast and outcast`."""
    *others, last = names
    return " and ".join(filter(None, [", ".join(others), last]))


def one_pair_sentence(cells: Iterable[Cell], patterns: Mapping[str, Pattern]) -> str:
    """Return what patterns of several pairs measure with one, and what to do; "" if there are more pairs."""
    said = (f"{ARE_ONE}: {what_they_measure(fact)}; {MORE_RANKS}" for fact in one_pair(cells, patterns))
    return next(said, "")
