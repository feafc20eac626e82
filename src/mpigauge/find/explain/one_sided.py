"""One-sided operations: what the target sees and when, whether it is needed, and what synchronising costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import sized_subject, subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import listed
from mpigauge.find.explain.evidence import (
    clock_steps_of,
    is_informative,
    launches_of,
    of_one_launch,
    ratio_of_rows,
)
from mpigauge.find.phrases import in_one_line, in_times, known_time, known_times, time
from mpigauge.plan.factors import default_value
from mpigauge.plan.patterns import known, patterns_with
from mpigauge.rows.baselines import MESSAGES
from mpigauge.rows.group import STATE, Subject, group, job_key
from mpigauge.rows.ratios import judged_together
from mpigauge.sequences import group_by
from mpigauge.stats.interval import is_known
from mpigauge.vocabulary import DIFFERENT, MADE_BY_MPI, SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio

NOTIFIED = patterns_with(lambda pattern: pattern.one_sided and pattern.one_way)
"""Patterns whose time is until the target has seen the data."""

OPERATIONS = patterns_with(
    lambda pattern: (
        pattern.one_sided
        and pattern.active_ranks > 0
        and not (pattern.one_way or pattern.windowed or pattern.sampled.single)
    )
)
"""Patterns of single operations of one rank on the memory of another, or of their synchronisation alone."""

EMPTY = patterns_with(lambda pattern: pattern.one_sided and not any(pattern.volumes.wire))
"""Patterns of synchronisation without an operation."""

CONTENDED = patterns_with(lambda pattern: pattern.one_sided and pattern.starts_together)
"""Patterns in which all ranks work on the memory of one."""


@dataclass(frozen=True, slots=True)
class Notified:
    """A put that the target has seen, beside a message of its size.

    Attributes:
        of: The put.
        time_s: Until the target has seen the data.
        low_s: Lower end of its 95 % interval.
        high_s: Its upper end.
        message: The message; None if none of this size was measured in the same launches.
        ratio: How many times as long as the message it takes, launch by launch.
    """

    of: Subject
    time_s: float
    low_s: float | None
    high_s: float | None
    message: Subject | None
    ratio: Ratio | None
    launches: int

    @property
    def weight(self) -> float:
        """The usual mode and window before others, small before large."""
        usual = self.of.cell.mode == _first_mode(self.of.cell) and self.of.cell.rma_window == default_value(
            "rma_window"
        )
        return (10.0 if usual else 1.0) / (1 + math.log2(1 + self.of.cell.bytes))


@dataclass(frozen=True, slots=True)
class NeedOfTarget:
    """Whether operations into windows need their target to enter MPI, alike in all kinds that are named.

    Attributes:
        of: The first of them, in any state of the machine.
        windows: The kinds of windows of which it holds, in the order of the plan.
        sizes: The sizes in bytes of which it holds, rising.
        needing: Operations that wait until the target enters MPI, by their names.
        alone: Operations that do not.
        varying: Operations that do in some launches and not in others.
        while_s: What the first of them takes while its target computes.
        low_s: Lower end of its 95 % interval.
        high_s: Its upper end.
        cells: All cells.
    """

    of: Subject
    windows: tuple[str, ...]
    sizes: tuple[int, ...]
    needing: tuple[str, ...]
    alone: tuple[str, ...]
    varying: tuple[str, ...]
    while_s: float
    low_s: float | None
    high_s: float | None
    launches: int
    cells: tuple[Cell, ...]

    @property
    def weight(self) -> float:
        """More where the target is needed."""
        return 2.0 * len(self.needing) + 3.0 * len(self.varying) + 0.5 * len(self.alone)


@dataclass(frozen=True, slots=True)
class EmptyEpoch:
    """Synchronisation without an operation, beside the same with one.

    Attributes:
        ratio: How many times as long as the operation with its synchronisation it takes.
    """

    of: Subject
    time_s: float
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class Beside:
    """One way of doing a one-sided operation, beside another.

    Attributes:
        of: The other way.
        base: The usual one.
        ratio: How many times as long the other takes.
        of_s: Its time.
        base_s: That of the usual one.
        empty: Of a way of synchronising, an epoch of it without an operation; None if none was measured.
    """

    of: Subject
    base: Subject
    ratio: Ratio
    of_s: float
    base_s: float
    empty: EmptyEpoch | None = None


@dataclass(frozen=True, slots=True)
class OwnCopy:
    """A put that is a copy within memory that both ranks share.

    Attributes:
        of: The put.
        base: The copy of the same size.
        ratio: How many times as long as the copy it takes.
    """

    of: Subject
    base: Subject
    ratio: Ratio

    @property
    def weight(self) -> float:
        """More for larger ones."""
        return math.log2(1 + self.of.cell.bytes)


# ---- Found ---------------------------------------------------------------------------------------


def notified(evidence: Evidence) -> Iterator[Notified]:
    """Yield each put that the target has seen, beside the usual message of its size in the same launches."""
    rows = _timed(evidence)
    for row in rows:
        if row.cell.pattern not in NOTIFIED or row.time is None:
            continue
        message = next((one for one in rows if _is_usual_message(one) and _goes_with(one, row)), None)
        ratio = ratio_of_rows(row, message) if message is not None else None
        yield Notified(
            row.of,
            row.time.estimate,
            row.time.low,
            row.time.high,
            message.of if message is not None and ratio is not None else None,
            ratio,
            len(row.time.by_launch),
        )


def progresses(evidence: Evidence) -> Iterator[NeedOfTarget]:
    """Yield which operations need a target that computes, in any state of the machine.

    Kinds of windows and sizes of which the same holds are told together.
    """
    judged = [row for row in _timed(evidence) if row.progress is not None]
    for alike in group(judged, {"mode", "bytes", "rma_window", STATE}):
        needs = {
            of: tuple((mode, _needs(one)) for mode, one in group_by(mine, lambda row: row.cell.mode).items())
            for of, mine in group_by(alike, _window_and_size).items()
        }
        sizes = group_by(sorted(needs), lambda of: (of[0], needs[of]))  # noqa: B023 - used at once
        windows = group_by(sizes, lambda one: (one[1], *(size for _, size in sizes[one])))  # noqa: B023
        for together in windows.values():
            told = {of for one in together for of in sizes[one]}
            yield _need([row for row in alike if _window_and_size(row) in told], dict(together[0][1]))


def _window_and_size(row: Row) -> tuple[str, int]:
    return row.cell.rma_window, row.cell.bytes


def _needs(rows: Iterable[Row]) -> bool | None:
    """Return whether an operation needs its target in all states of the machine; None if that varies."""
    found = {row.progress.needs_target for row in rows if row.progress is not None}
    return found.pop() if len(found) == 1 else None


def _need(rows: Sequence[Row], needs: Mapping[str, bool | None]) -> NeedOfTarget:
    """Return the fact of rows of which the same holds."""
    needing, alone, varying = (
        tuple(mode for mode, need in needs.items() if need is kind) for kind in (True, False, None)
    )
    first = next((row for row in rows if row.cell.mode in needing), rows[0])
    taken = (first.time.estimate, first.time.low, first.time.high) if first.time else (0.0, None, None)
    return NeedOfTarget(
        Subject(first.cell),
        tuple(dict.fromkeys(row.cell.rma_window for row in rows)),
        tuple(sorted({row.cell.bytes for row in rows})),
        needing,
        alone,
        varying,
        *taken,
        launches=min(row.progress.launches for row in rows if row.progress),
        cells=tuple(row.cell for row in rows),
    )


def synchronisations(evidence: Evidence) -> Iterator[Beside]:
    """Yield each way of synchronising an operation that differs from the usual one."""
    found = _different(
        evidence,
        (
            (usual, other)
            for usual, other in _pairs(evidence, "mode")
            if usual.cell.mode == _first_mode(usual.cell)
            and any(evidence.patterns[usual.cell.pattern].volumes.wire)
        ),
    )
    rows = {(row.cell, row.of.state): row for row in _timed(evidence)}
    empty = [row for row in rows.values() if row.cell.pattern in EMPTY]
    for one in found:
        yield replace(one, empty=_empty(rows[one.of], empty))


def _empty(row: Row, epochs: Iterable[Row]) -> EmptyEpoch | None:
    """Return the synchronisation of an operation without it; None if it was not measured."""
    alike = (one for one in epochs if one.cell.mode == row.cell.mode and of_one_launch(one, row))
    epoch = next((one for one in alike if one.cell.rma_window == row.cell.rma_window), None)
    ratio = ratio_of_rows(epoch, row) if epoch is not None else None
    if epoch is None or epoch.time is None or ratio is None:
        return None
    return EmptyEpoch(epoch.of, epoch.time.estimate, ratio)


def window_kinds(evidence: Evidence) -> Iterator[Beside]:
    """Yield operations into windows of other kinds that differ from those into the usual kind."""
    yield from _different(
        evidence,
        (pair for pair in _pairs(evidence, "rma_window") if _is_usual_window(pair[0].cell)),
    )


def contended(evidence: Evidence) -> Iterator[Beside]:
    """Yield operations of all ranks on one word that differ from the same operation of one rank alone."""
    rows = _timed(evidence)
    yield from _different(
        evidence,
        (
            (alone, row)
            for row in rows
            if row.cell.pattern in CONTENDED
            for alone in rows
            if alone.cell.pattern == row.cell.mode
            and alone.cell.mode == _first_mode(alone.cell)
            and alone.cell.rma_window == row.cell.rma_window
            and _goes_with(alone, row)
        ),
    )


def own_copies(evidence: Evidence) -> Iterator[OwnCopy]:
    """Yield the largest operation of each pattern that is a copy within memory shared by both ranks.

    Only where MPI has made that memory, on one host, and the time is about that of a copy.
    """
    rows = _timed(evidence)
    copies = [row for row in rows if evidence.patterns[row.cell.pattern].in_memory]
    found: dict[tuple[object, ...], OwnCopy] = {}
    for row in sorted(rows, key=lambda one: one.cell.bytes):
        pattern = evidence.patterns[row.cell.pattern]
        if row.cell.pattern not in OPERATIONS or pattern.reduces or not _is_in_shared_memory(row):
            continue
        if row.cell.bytes < LARGE or row.cell.mode != _first_mode(row.cell):
            continue
        copy = next((one for one in copies if _is_plain_copy(evidence, one) and _goes_with(one, row)), None)
        ratio = ratio_of_rows(row, copy) if copy is not None else None
        if copy is not None and ratio is not None and _LEAST_COPY < ratio.estimate < _MOST_COPY:
            found[(row.cell.pattern, row.cell.rma_window, *job_key(row))] = OwnCopy(row.of, copy.of, ratio)
    yield from found.values()


PAIR = 2
"""Ranks of an operation of one rank on the memory of another: the first ones of the job."""

LARGE = 32 * 1024
"""From this size on the time of a copy says what it is."""

_LEAST_COPY, _MOST_COPY = 0.5, 2.0


def _is_plain_copy(evidence: Evidence, row: Row) -> bool:
    mode = evidence.mode_of(row)
    return mode is not None and mode.baseline == "memcpy_ratio"


def _is_in_shared_memory(row: Row) -> bool:
    """Return whether ranks of one host share the memory of the window: MPI has made it."""
    placement = row.cell.placement
    together = placement == SAME_HOST or ("," in placement and len({*placement.split(",")[:PAIR]}) == 1)
    return row.cell.rma_window in MADE_BY_MPI and together


def _timed(evidence: Evidence) -> list[Row]:
    return [row for row in evidence.rows if row.time is not None and row.cell.pattern in evidence.patterns]


def _first_mode(cell: Cell) -> str:
    own = known().get(cell.pattern)
    return own.modes[0].name if own is not None else cell.mode


def _is_usual_window(cell: Cell) -> bool:
    return cell.rma_window == default_value("rma_window")


def _is_usual_message(row: Row) -> bool:
    return row.cell.pattern in MESSAGES and row.cell.mode == _first_mode(row.cell)


def _goes_with(one: Row, other: Row) -> bool:
    """Return whether two rows are of one size, of the same launches and of one state of the machine."""
    same = one.cell.bytes == other.cell.bytes and one.cell.buffers == other.cell.buffers
    return same and of_one_launch(one, other)


def _pairs(evidence: Evidence, name: str) -> Iterator[tuple[Row, Row]]:
    """Yield operations that differ in one factor alone."""
    rows = [row for row in _timed(evidence) if row.cell.pattern in OPERATIONS]
    for mine in group_by(rows, lambda row: _but(row, name)).values():
        for usual in mine:
            yield from ((usual, other) for other in mine if other is not usual)


def _but(row: Row, name: str) -> tuple[object, ...]:
    factors = ("pattern", "mode", "bytes", "rma_window", "datatype", "op", "buffers", "pair")
    return (*(getattr(row.cell, one) for one in factors if one != name), *job_key(row))


def _different(evidence: Evidence, pairs: Iterable[tuple[Row, Row]]) -> Iterator[Beside]:
    """Yield the pairs of a usual and another way that differ, as a comparison by what they differ in says.

    Those that no comparison holds are judged together.
    """
    sides = [(base, other, both) for base, other in pairs if (both := launches_of(other, base)) is not None]
    known = [evidence.within.ratio(other, base) for base, other, _ in sides]
    alone = judged_together(
        [both for *_, both in sides], [clock_steps_of(other, base) for base, other, _ in sides]
    )
    for (base, other, _), mine, by_itself in zip(sides, known, alone, strict=True):
        ratio = mine or by_itself
        if is_informative(ratio) and ratio.verdict in DIFFERENT and base.time and other.time:
            yield Beside(other.of, base.of, ratio, other.time.estimate, base.time.estimate)


# ---- Sentences -----------------------------------------------------------------------------------


def notified_headline(fact: Notified, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line when the target has seen a put, and how many messages that is."""
    said = f"{sized_subject(fact.of, varied)}: seen by the target after"
    alone = time(fact.time_s, chosen=chosen)
    ends = [known_time(fact.time_s, fact.low_s, fact.high_s, chosen) if fact.low_s else alone, alone]
    if fact.ratio is None or not is_known(fact.ratio.low, fact.ratio.high):
        return in_one_line(f"{said} {end}" for end in ends)
    times = known_times(fact.ratio)
    paired = ", launch by launch" if fact.ratio.paired else ""
    return in_one_line(
        [
            *(f"{said} {end}, {times} as long as a message{paired}" for end in ends),
            f"{said} {ends[0]}, {times} as long as a message",
            f"{said} {ends[1]}, {times} as long as a message",
            f"{said} {ends[0]}",
        ]
    )


def notified_sentence(fact: Notified, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return when the target has seen a put, and how many messages that is."""
    said = f"{sized_subject(fact.of, varied)}: seen by the target after"
    took = time(fact.time_s, fact.low_s, fact.high_s, chosen)
    if fact.ratio is None or fact.message is None:
        return f"{said} {took}"
    message = f"a message ({fact.message.cell.pattern}, one way)"
    return f"{said} {took}, {times_words(fact.ratio)} as long as {message}"


FUNCTIONS = {
    "allocate": "MPI_Win_allocate",
    "create": "MPI_Win_create",
    "dynamic": "MPI_Win_create_dynamic",
    "shared": "MPI_Win_allocate_shared",
}
"""Function of MPI that makes a kind of window."""


def progress_headline(fact: NeedOfTarget, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line whether operations wait until their target enters MPI."""
    about = subject(fact.of, varied, {"mode", "rma_window"})
    sizes = f", {listed(fact.sizes)}" if any(fact.sizes) else ""
    kinds = [FUNCTIONS.get(one, "another kind") for one in fact.windows]
    *more, last = kinds
    windows = f"windows of {', '.join(more)} and {last}" if more else f"a window of {last}"
    where = f"{about}{sizes}: in {windows}"
    if fact.needing:
        return f"{where} {_doing(fact.needing, 'wait')} until the target enters MPI"
    if fact.varying:
        return f"{where} {_doing(fact.varying, 'wait')} for the target in some launches, not in all"
    return f"{where} {_doing(fact.alone, 'complete')} while the target computes"


def _doing(names: Sequence[str], verb: str) -> str:
    """Return `put and get wait`, or `put waits`."""
    if len(names) == 1:
        return f"{names[0]} {verb}s"
    return f"{', '.join(names[:-1])} and {names[-1]} {verb}"


def progress_sentence(fact: NeedOfTarget, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return whether operations wait until their target enters MPI, and how long one took."""
    said = progress_headline(fact, varied, chosen)
    mode, took = fact.of.cell.mode, known_time(fact.while_s, fact.low_s, fact.high_s, chosen)
    taken = (
        f"{mode} took {took} while it computed"
        if is_known(fact.low_s, fact.high_s)
        else f"how long {mode} took while it computed is not known"
    )
    kept = f"; {_doing(fact.alone, 'complete')} without it" if fact.needing and fact.alone else ""
    return f"{said}{kept}; {taken}"


def synchronisation_headline(fact: Beside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what a way of synchronising costs beside the usual one."""
    about = f"{sized_subject(fact.base, varied, {'mode'})}: {fact.of.cell.mode} takes"
    more = f"; an empty epoch {units.format_time(fact.empty.time_s, chosen.time)}" if fact.empty else ""
    return _in_line(about, fact, f"as {fact.base.cell.mode}", chosen, more)


def window_headline(fact: Beside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what another kind of window costs."""
    about = sized_subject(fact.base, varied, {"rma_window"})
    kind, usual = (FUNCTIONS.get(one.rma_window, one.rma_window) for one in (fact.of.cell, fact.base.cell))
    return _in_line(f"{about}: window of {kind}:", fact, f"as of {usual}", chosen)


def contended_headline(fact: Beside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what contention costs."""
    about = sized_subject(fact.base, varied, {"mode", "ranks"})
    return _in_line(f"{about}: {fact.of.cell.ranks} ranks on one word take", fact, "as one alone", chosen)


def _in_line(about: str, fact: Beside, beside: str, chosen: Units, more: str = "") -> str:
    """Return a ratio in one line, with its interval, both times and more if there is room."""
    of, base = (units.format_time(each, chosen.time) for each in (fact.of_s, fact.base_s))
    as_long, took = f"as long {beside}", f"{of} against {base}"
    return in_times(about, fact.ratio, f"{as_long}, {took}{more}", f"{as_long}, {took}", as_long)


def beside_sentence(fact: Beside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return both times of two ways, and their ratio."""
    other, base = (units.format_time(each, chosen.time) for each in (fact.of_s, fact.base_s))
    names = sized_subject(fact.of, _AMONG | {*varied})
    against = subject(fact.base, _AMONG | {*varied})
    said = f"{names}: {times_words(fact.ratio)} as long as {against}, {other} against {base}"
    if fact.empty is None:
        return said
    epoch = units.format_time(fact.empty.time_s, chosen.time)
    return f"{said}; an empty epoch of {fact.of.cell.mode} {epoch}, {times_words(fact.empty.ratio)} as long"


_AMONG = frozenset({"mode", "rma_window"})


def own_copy(fact: OwnCopy, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return that an operation is a copy that rank 0 makes in memory which it shares with the target."""
    about = sized_subject(fact.of, varied)
    times = f"{known_times(fact.ratio, interval=False)} as long as {fact.base.cell.pattern}"
    copies = (
        "a copy in memory that rank 0 shares with its target",
        "a copy in memory shared with the target",
    )
    return in_one_line(f"{about}: {copy}: {times}" for copy in copies)
