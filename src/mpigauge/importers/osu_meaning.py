"""What the numbers of OSU's tables are of: our measurement where it is the same, else one of their name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.importers.collected import TableMeaning
from mpigauge.importers.osu_heading import LATENCY, MESSAGES, MPI4PY, OVERALL, PURE, RATE
from mpigauge.plan.benchmarks import BY_OSU, WITHOUT_COMPUTATION
from mpigauge.plan.patterns import EVERY_PAIR, ONE, known

if TYPE_CHECKING:
    from mpigauge.importers.osu_heading import Title
    from mpigauge.plan.benchmarks import Counterpart
    from mpigauge.plan.patterns import Pattern

MEAN, OVER_RANKS, ESTIMATE = "mean", "mean over ranks", "as mpigauge printed it"
CALL = "in the call, mean over ranks, after an MPI_Barrier"
COUNTED = "as its program counts it"
STANDARD = "standard"
UNTITLED = "untitled"
"""What a table is called of which nothing says what it is."""

OF_PAIRS = ("multiple bandwidth / message rate",)
"""Titles of rates of several pairs of ranks that are busy at once."""

_BOTH = re.compile(r"\bbi-(?:directional|bandwidth)")
"""Titles of rates that count what goes there and back; mpi4py's ports count one direction."""

TIMES_OF_PAIRS = ("multi latency", "multi-pair latency")
"""Titles of times of several pairs: each of them has it, however many there are."""

_ONE_PAIR = re.compile(r"multi-(?:threaded|process)\b")

_KINDS = {
    RATE: "bandwidth",
    MESSAGES: "message_rate",
    LATENCY: "latency",
    OVERALL: "overlap",
    PURE: "overlap",
}


def twin_of(title: Title, factors: str) -> Counterpart | None:
    """Return what measures the same here; None if nothing does.

    Args:
        factors: How it was done beside the title: all that is said of it makes it another measurement.
    """
    return None if factors or not title.is_mpi_on_hosts else BY_OSU.get(title.name)


def agrees(title: Title, kind: str) -> bool:
    """Return whether a table of a title can have columns of this kind: RATE, LATENCY, OVERALL, ..."""
    twin = BY_OSU.get(title.name)
    if twin is None:
        return title.is_rate == (kind in {RATE, MESSAGES})
    return (kind == RATE) == twin.rate and (kind == OVERALL) == twin.hides


def ranks_of(title: Title) -> int:
    """Return how many ranks a program needs, no more and no fewer; 0 if any number will do."""
    twin = BY_OSU.get(title.name)
    if twin is not None:
        return known()[twin.pattern].active_ranks
    one_pair = title.one_sided or ("persistent" in title.name and title.is_rate)
    return 2 if (one_pair and "multi" not in title.name) or _ONE_PAIR.match(title.name) else 0


def own_meaning(twin: Counterpart, *, given: bool, averaged: bool, ranks: int) -> TableMeaning:
    """Return the meaning of a number that we measure, too.

    Args:
        given: Whether it is a number of ours, which was printed as OSU prints them.
        averaged: Whether the heading calls it an average: older versions print what rank 0 has seen.
        ranks: How many took part; 0 if nobody knows.
    """
    own = known()[twin.pattern]
    mode = own.mode(twin.mode)
    of_one = own.active_ranks or given
    return TableMeaning(
        twin.pattern,
        twin.mode,
        time_of=own.time_of if of_one else CALL if averaged or twin.hides else COUNTED,
        directions=mode.directions if mode else 1,
        sized=own.moves_bytes,
        rated=bool(of_one or ranks) or own.volumes.operation == ONE,
        windowed=twin.rate,
        overlaps=twin.hides,
    )


def foreign_meaning(title: Title, kind: str, factors: str, *, pairs: int, sized: bool) -> TableMeaning:
    """Return the meaning of a number that has a name of theirs.

    Args:
        kind: What its column has: RATE, MESSAGES, LATENCY, OVERALL or PURE.
        factors: Words that say how it was done.
        pairs: Of ranks that were busy at once; 0 if it is not said, or only one can be.
    """
    rates = kind in {RATE, MESSAGES}
    both = kind == RATE and title.suite != MPI4PY and _BOTH.search(title.name) is not None
    word = {OVERALL: "overall", PURE: "pure"}.get(kind, "")
    return TableMeaning(
        f"{title.foreign}_{_KINDS[kind]}" if title.name == UNTITLED else title.foreign,
        f"{factors} {word}".strip() or STANDARD,
        time_of=_time_of(rates=rates, pairs=pairs, all_together=kind == MESSAGES or title.name in OF_PAIRS),
        directions=2 if both else 1,
        operation=EVERY_PAIR if pairs or title.name in TIMES_OF_PAIRS else ONE,
        sized=sized,
        rated=rates,
        windowed=rates,
        overlaps=kind == OVERALL,
    )


def _time_of(*, rates: bool, pairs: int, all_together: bool) -> str:
    if not rates:
        return COUNTED
    if pairs:
        return "one message of each pair"
    return "one message, of all pairs together" if all_together else "one message"


def alone_mode(twin: Counterpart | None, overall: str) -> str:
    """Return the mode of the operation without the computation, beside that with it."""
    if twin is not None:
        return WITHOUT_COMPUTATION[twin]
    return f"{overall.removesuffix('overall')}pure"


def statistic_of(title: Title, *, given: bool, averaged: bool) -> str:
    """Return what a printed number is of all that were measured."""
    if given:
        return ESTIMATE
    twin = BY_OSU.get(title.name)
    own: Pattern | None = known().get(twin.pattern) if twin is not None else None
    return OVER_RANKS if averaged and own is not None and not own.active_ranks else MEAN
