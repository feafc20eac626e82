"""Meanings of OSU's tables: our own where the measurement is the same, else a foreign one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.importers.collector import TableMeaning
from mpigauge.importers.osu.heading import LATENCY, MESSAGES, MPI4PY, OVERALL, PURE, RATE
from mpigauge.plan.benchmarks import BY_OSU, OF_ALL_PAIRS, ONE_SIDED_OF_OSU, WITHOUT_COMPUTATION
from mpigauge.plan.patterns import EVERY_PAIR, ONE, known
from mpigauge.vocabulary import RMA_WINDOWS

if TYPE_CHECKING:
    from mpigauge.importers.osu.heading import Title
    from mpigauge.plan.benchmarks import Counterpart
    from mpigauge.plan.patterns import Pattern

MEAN, OVER_RANKS, ESTIMATE = "mean", "mean over ranks", "as mpigauge printed it"
CALL = "in the call, mean over ranks, after an MPI_Barrier"
COUNTED = "as its program counts it"
STANDARD = "standard"
UNTITLED = "untitled"
"""Name of a table whose kind nothing says."""

OF_PAIRS = ("multiple bandwidth / message rate",)
"""Titles of rates of several pairs of ranks that are busy at once."""

_BOTH = re.compile(r"\bbi-(?:directional|bandwidth)")
"""Titles of rates that count what goes there and back; mpi4py's ports count one direction."""

TIMES_OF_PAIRS = ("multi latency", "multi-pair latency")
"""Titles of times of several pairs: each pair takes that long, however many there are."""

_WINDOW_AND_SYNC = re.compile(rf"MPI_Win_({'|'.join(RMA_WINDOWS)}) (MPI_Win_\w+)")

_ONE_PAIR = re.compile(r"multi-(?:threaded|process)\b")

_KINDS = {
    RATE: "bandwidth",
    MESSAGES: "message_rate",
    LATENCY: "latency",
    OVERALL: "overlap",
    PURE: "overlap",
}


def own_benchmark(title: Title, factors: str) -> Counterpart | None:
    """Return our benchmark that measures the same; None if there is none.

    Args:
        factors: Conditions beside the title: any makes it another measurement.
    """
    if not title.is_mpi_on_hosts:
        return None
    if not title.one_sided:
        return None if factors else BY_OSU.get(title.name)
    match = _WINDOW_AND_SYNC.fullmatch(factors)
    return ONE_SIDED_OF_OSU.get((title.name, match[2])) if match else None


def rma_window_of(factors: str) -> str:
    """Return the kind of window of a one-sided measurement; empty if it is none of ours."""
    match = _WINDOW_AND_SYNC.fullmatch(factors)
    return match[1] if match else ""


def may_have_column(title: Title, kind: str) -> bool:
    """Return whether a table of this title can have columns of this kind: RATE, LATENCY, OVERALL, ..."""
    benchmark = BY_OSU.get(title.name)
    if benchmark is None:
        return title.is_rate == (kind in {RATE, MESSAGES})
    return (kind == RATE) == benchmark.rate and (kind == OVERALL) == benchmark.hides


def ranks_of(title: Title) -> int:
    """Return the exact number of ranks that a program needs; 0 if any number will do."""
    benchmark = BY_OSU.get(title.name)
    if benchmark is not None:
        return known()[benchmark.pattern].active_ranks
    one_pair = title.one_sided or ("persistent" in title.name and title.is_rate)
    return 2 if (one_pair and "multi" not in title.name) or _ONE_PAIR.match(title.name) else 0


def own_meaning(benchmark: Counterpart, *, is_own_text: bool, averaged: bool, ranks: int) -> TableMeaning:
    """Return the meaning of a number that mpigauge measures, too.

    Args:
        is_own_text: Whether mpigauge measured the number and printed it as OSU does.
        averaged: Whether the heading calls it an average: older versions print the time of rank 0.
        ranks: Number of ranks that took part; 0 if unknown.
    """
    own = known()[benchmark.pattern]
    mode = own.mode(benchmark.mode)
    of_rank_0 = own.active_ranks or is_own_text
    in_call = CALL if averaged or benchmark.hides else COUNTED
    return TableMeaning(
        benchmark.pattern,
        benchmark.mode,
        time_of=own.time_of_mode(benchmark.mode) if of_rank_0 else benchmark.time_of or in_call,
        directions=mode.directions if mode else 1,
        operation=own.volumes.operation if own.family == "message" else ONE,
        sized=own.moves_bytes,
        rated=bool(of_rank_0 or ranks) or own.volumes.operation == ONE,
        windowed=benchmark.rate,
        overlaps=benchmark.hides,
    )


def foreign_meaning(title: Title, kind: str, factors: str, *, pairs: int, sized: bool) -> TableMeaning:
    """Return the meaning of a number that keeps OSU's name.

    Args:
        kind: Kind of its column: RATE, MESSAGES, LATENCY, OVERALL or PURE.
        factors: Conditions, in words.
        pairs: Pairs of ranks that were busy at once; 0 if unknown, or if there can be only one.
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
    return OF_ALL_PAIRS if all_together else "one message"


def pure_mode(benchmark: Counterpart | None, overall: str) -> str:
    """Return the mode of the operation alone, where another mode overlaps it with a computation."""
    if benchmark is not None:
        return WITHOUT_COMPUTATION[benchmark]
    return f"{overall.removesuffix('overall')}pure"


def statistic_of(title: Title, *, is_own_text: bool, averaged: bool) -> str:
    """Return the statistic of a printed number."""
    if is_own_text:
        return ESTIMATE
    benchmark = BY_OSU.get(title.name)
    own: Pattern | None = known().get(benchmark.pattern) if benchmark is not None else None
    return OVER_RANKS if averaged and own is not None and not own.active_ranks else MEAN
