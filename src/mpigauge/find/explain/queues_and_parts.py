"""Cost of a queue in front of a message, of gaps between its blocks, and of partitions: ratios to none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.find.explain.evidence import is_informative
from mpigauge.find.phrases import in_one_line, known_times, subject
from mpigauge.plan.patterns import default_mode
from mpigauge.rows.group import group, subject_of
from mpigauge.rows.same_distance import like_ratio
from mpigauge.sequences import group_by
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Subject
    from mpigauge.rows.ratios import Ratio
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import PartFactor

ALIKE = 1.25
"""Costs of an entry that are further apart are not one cost."""


@dataclass(frozen=True, slots=True)
class PartStep:
    """A value of the factor.

    Attributes:
        number: Entries of the queue, bytes of a block, or partitions.
        stride_bytes: Distance from one block to the next; 0 where there are none.
        base_s: Time of what it is held against.
        ratio: How many times as long it takes.
    """

    number: int
    stride_bytes: int
    time_s: float
    base_s: float
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class PartCost:
    """One mode at one size, over the depth of a queue, the size of blocks, or the number of partitions.

    Attributes:
        factor: What its steps differ in.
        of: The first step.
        base: What it is held against: no queue, blocks that are copied by hand or one block, no partitions.
        steps: At least one, rising.
        entry_s: What each entry of a queue costs, where that is the same for all depths; else None.
        arrived: For partitions that were computed before the clock started: which part of the message had
            arrived when the last became ready, 1 less the ratio of the last step; None where that is not
            certain.
    """

    factor: PartFactor
    of: Subject
    base: Cell
    steps: tuple[PartStep, ...]
    entry_s: float | None
    arrived: float | None = None

    @property
    def rests_on(self) -> frozenset[Cell]:
        """All steps, with what each is held against."""
        places = [{self.factor: one.number, "stride_bytes": one.stride_bytes} for one in self.steps]
        bases = [replace(self.base, **of) for of in places] if self.base.block_bytes else [self.base]
        return frozenset([*(replace(self.cell, **of) for of in places), *bases])

    @property
    def cell(self) -> Cell:
        """The cell of the first step."""
        return self.of.cell

    @property
    def launches(self) -> int:
        """How many launches it rests on: the fewest of its steps."""
        return min(step.ratio.launches for step in self.steps)

    @property
    def weight(self) -> float:
        """How far the step that differs most is from what it is held against."""
        return max(abs(math.log10(step.ratio.estimate)) for step in self.steps)


def queues(evidence: Evidence) -> Iterator[PartCost]:
    """Yield what depths of a queue cost, each held against none, at the smallest size."""
    rows = _rows(evidence, lambda pattern: pattern.queues)
    found = (_cost("depth", alike, _of(alike, depth=0)) for alike in group(rows, {"depth"}))
    yield from _each(found, min)


def layouts(evidence: Evidence) -> Iterator[PartCost]:
    """Yield what blocks cost, held against those that are copied by hand, and these against one block."""
    found = []
    for alike in group(_rows(evidence, lambda of: of.strided), {"mode", "block_bytes", "stride_bytes"}):
        usual = default_mode(evidence.patterns[alike[0].cell.pattern])
        whole = [row for row in alike if row.cell.mode == usual and not row.cell.block_bytes]
        by_mode = group_by((row for row in alike if row.cell.block_bytes), lambda row: row.cell.mode)
        by_hand = [row for rows in by_mode.values() for row in rows if _is_by_hand(evidence, row)]
        for rows in by_mode.values():
            base = whole if _is_by_hand(evidence, rows[0]) else by_hand
            found.append(_cost("block_bytes", rows, base))
    yield from _each(found, max)


def partitions(evidence: Evidence) -> Iterator[PartCost]:
    """Yield what partitions cost, held against a message without, at the largest size."""
    found = []
    for alike in group(_rows(evidence, lambda of: of.partitioned), {"mode", "partitions"}):
        whole = _of(alike, partitions=0)
        by_mode = group_by((row for row in alike if row.cell.partitions), lambda row: row.cell.mode)
        costs = (_cost("partitions", rows, whole) for rows in by_mode.values())
        found += [cost and _with_arrived(cost, evidence) for cost in costs]
    yield from _each(found, max)


def _with_arrived(cost: PartCost, evidence: Evidence) -> PartCost:
    """Return a cost with the part of the message that had arrived before its last partition was ready."""
    mode = evidence.patterns[cost.cell.pattern].mode(cost.cell.mode)
    last = cost.steps[-1].ratio
    if mode is None or not mode.computes_first or last.verdict != "faster":
        return cost
    return replace_fields(cost, arrived=1 - last.estimate)


def _rows(evidence: Evidence, keep: Callable[[Pattern], bool]) -> list[Row]:
    """Return rows with a time of the patterns to keep."""
    curves = evidence.curves("message")
    return [row for curve in curves if keep(evidence.patterns[curve[0].cell.pattern]) for row in curve]


def _of(rows: Iterable[Row], **values: int) -> list[Row]:
    return [row for row in rows if all(getattr(row.cell, name) == value for name, value in values.items())]


def _is_by_hand(evidence: Evidence, row: Row) -> bool:
    mode = evidence.mode_of(row)
    return mode is not None and mode.by_hand


def _each(found: Iterable[PartCost | None], choose: Callable[[Iterable[int]], int]) -> Iterator[PartCost]:
    """Yield of each mode, library and place the costs at one size."""
    sizes = group_by(
        (one for one in found if one is not None),
        lambda one: (one.cell.pattern, one.cell.mode, one.cell.job, one.cell.buffers, one.cell.pair),
    )
    for costs in sizes.values():
        chosen = choose(one.cell.bytes for one in costs)
        yield from (one for one in costs if one.cell.bytes == chosen)


def _cost(factor: PartFactor, rows: Sequence[Row], bases: Sequence[Row]) -> PartCost | None:
    """Return what the rows cost over the base of each; None where no ratio says anything."""
    told: list[tuple[Row, Row, PartStep]] = []
    for row in sorted(rows, key=lambda row: (getattr(row.cell, factor), row.cell.stride_bytes)):
        base = next((one for one in bases if one is not row and _fits(one.cell, row.cell)), None)
        if base is None or base.time is None or row.time is None:
            continue
        ratio = like_ratio(row.time, base.time)
        if is_informative(ratio):
            number, stride = getattr(row.cell, factor), row.cell.stride_bytes
            told.append((row, base, PartStep(number, stride, row.time.estimate, base.time.estimate, ratio)))
    if not told:
        return None
    (first, base, _), steps = told[0], tuple(step for *_, step in told)
    return PartCost(
        factor=factor,
        of=subject_of([first, base]),
        base=base.cell,
        steps=steps,
        entry_s=_entry_s(steps) if factor == "depth" else None,
    )


def _fits(base: Cell, cell: Cell) -> bool:
    """Return whether a base has the blocks of a cell, or none."""
    return base.block_bytes in {0, cell.block_bytes} and base.stride_bytes in {0, cell.stride_bytes}


def _entry_s(steps: Sequence[PartStep]) -> float | None:
    """Return the time of an entry; None unless several depths are slower and agree in it."""
    slower = [step for step in steps if step.ratio.verdict == "slower"]
    if len(slower) < 2:  # noqa: PLR2004 - one slope shows no line
        return None
    ends = [(0, slower[0].base_s), *((step.number, step.time_s) for step in slower)]
    slopes = [(two[1] - one[1]) / (two[0] - one[0]) for one, two in pairwise(ends)]
    if min(slopes) <= 0 or max(slopes) > ALIKE * min(slopes):
        return None
    return (ends[-1][1] - ends[0][1]) / ends[-1][0]


# ---- Sentences -----------------------------------------------------------------------------------


def headline(fact: PartCost, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long the last step takes, or the one that differs most."""
    differing = [step for step in fact.steps if step.ratio.verdict in DIFFERENT]
    about, base = _about(fact, varied), _base(fact)
    if fact.arrived is not None:
        return f"{about}: {_arrived(fact.arrived, fact)}"
    if not differing:
        return f"{about}: no certain difference {_where(fact, fact.steps)} against {base}"
    most = max(differing, key=lambda step: abs(math.log(step.ratio.estimate)))
    where = _where(fact, [most])
    return in_one_line(
        f"{about}: {where} {known_times(most.ratio, interval=each)} as long as {base}"
        for each in (True, False)
    )


def sentence(fact: PartCost, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many times as long each step takes, and at which there is no difference."""
    about, base = _about(fact, varied), _base(fact)
    differing = [step for step in fact.steps if step.ratio.verdict in DIFFERENT]
    rest = [step for step in fact.steps if step not in differing]
    parts = [f"{_where(fact, [step])} {times_words(step.ratio)}" for step in differing]
    said = [f"{', '.join(parts)} as long as {base}"] if parts else []
    for verdict, words in (("same", "no difference"), ("undecided", "undecided")):
        if like := [step for step in rest if step.ratio.verdict == verdict]:
            said.append(
                f"{words} {_where(fact, like)}" if said else f"{words} {_where(fact, like)} to {base}"
            )
    if fact.arrived is not None:
        said.append(_arrived(fact.arrived, fact))
    if fact.entry_s is not None:
        said.append(f"{units.format_time(fact.entry_s, chosen.time)} for each entry")
    return f"{about}: {'; '.join(said)}"


def _arrived(part: float, fact: PartCost) -> str:
    last = counted(fact.steps[-1].number, "partition")
    return f"{units.format_percent(part)} had arrived when the last of {last} became ready"


def _about(fact: PartCost, varied: Collection[str]) -> str:
    about = subject(fact.of, {*varied, "mode"}, {fact.factor})
    return f"{about}, {units.format_size(fact.cell.bytes)}"


def _base(fact: PartCost) -> str:
    return "behind none" if fact.factor == "depth" else fact.base.mode


def _where(fact: PartCost, steps: Sequence[PartStep]) -> str:
    """Return at which values something is so: `in blocks of 8 B`, `behind a queue of 16 to 256`."""
    if fact.factor == "depth":
        return f"behind a queue of {_span([str(step.number) for step in steps])}"
    if fact.factor == "partitions":
        *others, last = steps
        numbers = [*(str(step.number) for step in others), counted(last.number, "partition")]
        return f"in {_span(numbers)}"
    every = {step.stride_bytes for step in steps if step.stride_bytes != 2 * step.number}
    strides = f", every {_span([*map(units.format_size, sorted(every))])}" if every else ""
    return f"in blocks of {_span([units.format_size(step.number) for step in steps])}{strides}"


def _span(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else units.span(values[0], values[-1])
