"""Cost of a queue in front of a message, of gaps between its blocks, and of partitions: ratios to none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge import units
from mpigauge.compare.two import ON_AVERAGE, VERDICT_NEEDS
from mpigauge.document.cell_names import sized_subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import VERDICTS, times_words
from mpigauge.find.explain.evidence import is_informative
from mpigauge.find.phrases import in_one_line, known_times, share
from mpigauge.plan.patterns import default_mode
from mpigauge.rows.group import group, subject_of
from mpigauge.rows.same_distance import like_ratio
from mpigauge.sequences import consecutive, group_by, runs
from mpigauge.stats.interval import Number, is_known
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.units import counted, plural
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
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
        entry_mean_s: What an entry costs on average of the deepest queue, where that is the slowest and they
            do not all cost the same; else None.
        hidden: For partitions that were computed before the clock started: which part of the time of the
            base was over when the last became ready, 1 less the ratio of the last step; None where that is
            not known.
    """

    factor: PartFactor
    of: Subject
    base: Cell
    steps: tuple[PartStep, ...]
    entry_s: float | None
    hidden: Number | None = None
    entry_mean_s: float | None = None

    @property
    def rests_on(self) -> frozenset[Cell]:
        """All steps, with what each is held against."""
        places = [{self.factor: one.number, "stride_bytes": one.stride_bytes} for one in self.steps]
        bases = [replace(self.base, **of) for of in places] if self.base.block_bytes else [self.base]
        return frozenset([*(replace(self.of.cell, **of) for of in places), *bases])

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
    """Yield what partitions cost, held against a message without, or with the fewest, at the largest size."""
    found = []
    for alike in group(_rows(evidence, lambda of: of.partitioned), {"mode", "partitions"}):
        whole = _of(alike, partitions=0)
        by_mode = group_by((row for row in alike if row.cell.partitions), lambda row: row.cell.mode)
        for rows in by_mode.values():
            bases = whole or _of(rows, partitions=min(row.cell.partitions for row in rows))
            cost = _cost("partitions", [row for row in rows if row not in bases], bases)
            found.append(cost and _with_hidden(cost, evidence))
    yield from _each(found, max)


def _with_hidden(cost: PartCost, evidence: Evidence) -> PartCost:
    """Return a cost with the part of the time of its base that was over when the last part was ready."""
    mode = evidence.patterns[cost.of.cell.pattern].mode(cost.of.cell.mode)
    last = cost.steps[-1]
    if mode is None or not mode.computes_first or not _differs(last):
        return cost
    rest = _rest(last.ratio)
    return replace_fields(cost, hidden=rest) if is_known(rest.low, rest.high) else cost


def _rest(ratio: Ratio) -> Number:
    """Return 1 less a ratio, with its interval."""
    low, high = (None if end is None else 1 - end for end in (ratio.high, ratio.low))
    return Number(1 - ratio.estimate, low, high, ratio.launches)


def _rows(evidence: Evidence, keep: Callable[[Pattern], bool]) -> list[Row]:
    """Return rows with a time of the patterns to keep."""
    curves = evidence.curves("message")
    return [row for curve in curves if keep(evidence.patterns[curve[0].cell.pattern]) for row in curve]


def _of(rows: Iterable[Row], **values: int) -> list[Row]:
    return [row for row in rows if all(getattr(row.cell, name) == value for name, value in values.items())]


def _is_by_hand(evidence: Evidence, row: Row) -> bool:
    mode = evidence.mode_of(row)
    return mode is not None and mode.by_hand


_OF_CURVE = ("pattern", "mode", "job", "buffers", "pair")


def _each(found: Iterable[PartCost | None], choose: Callable[[Iterable[int]], int]) -> Iterator[PartCost]:
    """Yield of each mode, library and place the costs at one size."""
    sizes = group_by(
        (one for one in found if one is not None),
        lambda one: tuple(getattr(one.of.cell, name) for name in _OF_CURVE),
    )
    for costs in sizes.values():
        chosen = choose(one.of.cell.bytes for one in costs)
        yield from (one for one in costs if one.of.cell.bytes == chosen)


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
        entry_s=(each_s := _entry_s(steps) if factor == "depth" else None),
        entry_mean_s=_entry_mean_s(steps) if factor == "depth" and each_s is None else None,
    )


def _fits(base: Cell, cell: Cell) -> bool:
    """Return whether a base has the blocks of a cell, or none."""
    return base.block_bytes in {0, cell.block_bytes} and base.stride_bytes in {0, cell.stride_bytes}


def _entry_mean_s(steps: Sequence[PartStep]) -> float | None:
    """Return the time of an entry of the deepest queue on average; None unless that is the slowest."""
    deepest = steps[-1]
    if deepest.ratio.verdict != "slower" or _most(steps) is not deepest:
        return None
    return (deepest.time_s - deepest.base_s) / deepest.number


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


def headline(fact: PartCost, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long the last step takes, or the one that differs most."""
    about = _about(fact, varied)
    if fact.hidden is not None:
        parts = (fact.hidden, replace_fields(fact.hidden, low=None, high=None))
        said = [f"{about}: {_hidden(part, fact)}" for part in parts]
        return in_one_line([*(f"{one}, {_both_times(fact, chosen)}" for one in said), *said])
    differing = [step for step in fact.steps if _differs(step)]
    if not differing:
        return f"{about}: {_alike(fact)}"
    if (most := _most(fact.steps)) is None:
        return f"{about}: {_where(fact, differing)} {_against(fact)}: how many times as long is not known"
    said = [
        f"{about}: {_where(fact, [most])} it takes {known_times(most.ratio, interval=each)} {_as_long(fact)}"
        for each in (True, False)
    ]
    entry = "".join(f"; {text}" for text in _entry(fact, chosen))
    return in_one_line([f"{said[0]}{_needs([most])}{entry}", *(f"{one}{entry}" for one in said), *said])


def sentence(fact: PartCost, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many times as long each step takes, and at which there is no difference."""
    differing = [step for step in fact.steps if _differs(step)]
    parts = [f"{_where(fact, [step])} {times_words(step.ratio)}" for step in differing]
    said = [f"{', '.join(parts)} {_as_long(fact)}{_needs(differing)}"] if parts else []
    for verdict in (one for one in VERDICTS if one not in DIFFERENT):
        if like := [step for step in fact.steps if step.ratio.verdict == verdict and step not in differing]:
            where, word = _where(fact, like), VERDICTS[verdict]
            said.append(f"{word} {where}" if said else f"{where} {_against(fact)}: {word}")
    if fact.hidden is not None:
        said.append(f"{_hidden(fact.hidden, fact)}, {_both_times(fact, chosen)}")
    return f"{_about(fact, varied)}: {'; '.join([*said, *_entry(fact, chosen)])}"


def _differs(step: PartStep) -> bool:
    """Return whether a step has a number to be said: few launches leave the word open, not always that."""
    ratio = step.ratio
    return ratio.verdict in DIFFERENT or (ratio.verdict == "undecided" and ratio.excludes_one)


def _alike(fact: PartCost) -> str:
    """Return the word of steps that do not differ, or of which nobody can tell."""
    words = {step.ratio.verdict for step in fact.steps}
    word = VERDICTS[words.pop()] if len(words) == 1 else "no certain difference"
    return f"{_where(fact, fact.steps)} {_against(fact)}: {word}"


def _needs(steps: Sequence[PartStep]) -> str:
    """Return what is missing for a verdict on steps of few launches; nothing if there is one."""
    few = any(step.ratio.launches < LAUNCHES_OF_A_VERDICT for step in steps)
    return f"; {VERDICT_NEEDS}" if few else ""


def _most(steps: Sequence[PartStep]) -> PartStep | None:
    """Return the step that differs most, of those of which it is known by how much; None without any."""
    known = (step for step in steps if _differs(step) and is_known(step.ratio.low, step.ratio.high))
    return max(known, key=lambda step: abs(math.log(step.ratio.estimate)), default=None)


def _entry(fact: PartCost, chosen: Units) -> Iterator[str]:
    """Yield what an entry of a queue costs: each the same, or on average."""
    if fact.entry_s is not None:
        yield f"{units.format_time(fact.entry_s, chosen.time)} for each entry"
    elif fact.entry_mean_s is not None:
        yield f"{ON_AVERAGE}{units.format_time(fact.entry_mean_s, chosen.time)} per entry"


def _hidden(part: Number, fact: PartCost) -> str:
    last = counted(fact.steps[-1].number, "partition")
    return f"{share(part)} of {_base(fact)}'s time was over when the last of {last} became ready"


def _both_times(fact: PartCost, chosen: Units) -> str:
    """Return the time of the last step instead of that of its base."""
    last = fact.steps[-1]
    of, base = (units.format_time(each, chosen.time) for each in (last.time_s, last.base_s))
    return f"{of} instead of {base}"


def _base(fact: PartCost) -> str:
    """Return the name of what the steps are held against."""
    if fact.factor == "depth":
        return "none"
    return counted(fact.base.partitions, "partition") if fact.base.partitions else fact.base.mode


def _about(fact: PartCost, varied: Collection[str]) -> str:
    return sized_subject(fact.of, {*varied, "mode"}, {fact.factor})


def _as_long(fact: PartCost) -> str:
    where = {"depth": "behind ", "partitions": "in " if fact.base.partitions else ""}.get(fact.factor, "")
    return f"as long as {where}{_base(fact)}"


def _against(fact: PartCost) -> str:
    return f"against {_base(fact)}"


def _where(fact: PartCost, steps: Sequence[PartStep]) -> str:
    """Return at which values something is so: `in blocks of 8 B`, `behind 16 to 256 entries`."""
    if fact.factor != "block_bytes":
        of, noun = ("behind", "entry") if fact.factor == "depth" else ("in", "partition")
        return f"{of} {_numbers(fact, steps)} {noun if steps[-1].number == 1 else plural(noun)}"
    every = {step.stride_bytes for step in steps if step.stride_bytes != 2 * step.number}
    strides = f", every {_span([*map(units.format_size, sorted(every))])}" if every else ""
    return f"in blocks of {_numbers(fact, steps)}{strides}"


def _numbers(fact: PartCost, steps: Sequence[PartStep]) -> str:
    """Return the values of steps: those that are neighbours from the first to the last of them."""
    write = units.format_size if fact.factor == "block_bytes" else str
    places = runs([fact.steps.index(step) for step in steps], consecutive)
    return " and ".join(_span([write(fact.steps[place].number) for place in run]) for run in places)


def _span(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else units.span(values[0], values[-1])
