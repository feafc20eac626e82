"""Guidelines of performance: what an operation should not be slower than, and where it is.

    mock-up     another way of giving the same, made of other operations and measured as a mode of the pattern
    split       the same operation called several times, each with a part of the bytes: measured as such, too
    monotony    the same operation with more bytes
    ranks       the same collective of more ranks

Both sides are of the same launches, or of launches of one number where their ranks differ. All that a result
can tell of is one family, so that of a library that keeps all guidelines any is called violated with 5 % at
most, however many there are.

Source: Hunold, Carpen-Amarie, Luebbe and Traeff, Automatic Verification of Self-Consistent MPI Performance
Guidelines, Euro-Par 2016; docs/method-comparison.md#comparison
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace as cell_like

from mpigauge.compare.comparison import Compared
from mpigauge.compare.sides import matched, paired_family, side_of
from mpigauge.plan.factors import SIZE
from mpigauge.plan.patterns import default_mode
from mpigauge.rows.group import cell_key, row_key
from mpigauge.sequences import group_by
from mpigauge.stats.decision import Thresholds, decide
from mpigauge.stats.max_t import PAIRS_LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.sides import Side
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ComparisonVerdict, GuidelineKind, Verdict

USUAL = Thresholds()
PAIRS_MOST = 2000
"""Of sizes of all curves; of more, each curve has so many sizes that lie evenly."""


PAIRED_ALONG: Mapping[GuidelineKind, frozenset[str]] = {"monotony": SIZE, "ranks": frozenset({"ranks"})}
"""Guidelines that hold an operation against itself, and in what both sides differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Compared):
    """An operation, and what it should not be slower than: the other of its pair, and the base.

    Attributes:
        kind: Which guideline says so.
        parts: Of a split, in how many calls the base is.
    """

    kind: GuidelineKind = "mock-up"
    parts: int = 0

    @property
    def verdict(self) -> Verdict:
        """Slower: the guideline is violated, by more than starts and clocks could be wrong by."""
        if self.decision is None:
            return "undecided"
        if self.decision.verdict == "slower" and not self.told_apart:
            return "undecided"
        return self.decision.verdict

    @property
    def passes(self) -> bool:
        """Whether it is certainly not slower by as much as is allowed."""
        return self.decision is not None and self.decision.passes(USUAL.allow)

    @property
    def saved_s(self) -> tuple[float, float, float] | None:
        """What the base saves in each call, and its interval for all of its family at once, at 95 %."""
        time_s, found = self.time_s, self.decision
        if time_s is None or found is None:
            return None
        saved, low, high = (time_s * (1 - 1 / ratio) for ratio in (found.ratio, found.low, found.high))
        return saved, low, high

    @property
    def time_s(self) -> float | None:
        """What the other takes, in the launches that both have."""
        return self.pair.time_s(1)

    @property
    def against_s(self) -> float | None:
        """What the base takes, in the same."""
        return self.pair.time_s(0)

    @property
    def guard_s(self) -> float:
        """A step of the clock and the median skew of starts: less is not told apart by it."""
        return max(_unsure_s(self.pair.other), _unsure_s(self.pair.base))

    @property
    def told_apart(self) -> bool:
        """Whether the difference is more than that."""
        return self.saved_s is not None and abs(self.saved_s[0]) > self.guard_s


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """An operation for which there are several better ways.

    Attributes:
        ways: Those that are faster, the fastest first.
        low: How many times as long as the best of all its mock-ups it takes at least: the lower end of the
            interval that holds for all of them at once, so that it is not too high by the choice.
        high: And at most.
    """

    ways: tuple[Checked, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Guidelines:
    """All that were checked.

    Attributes:
        left_out: Sizes that were not held against all others, since there were so many.
    """

    checked: tuple[Checked, ...]
    left_out: int = 0

    @property
    def violated(self) -> tuple[Checked, ...]:
        """All that are; of all pairs of sizes of a curve, or of numbers of ranks, the largest lower bound."""
        found = [one for one in self.checked if one.verdict == "slower"]
        worst: dict[Key, Checked] = {}
        for one in found:
            key = (one.kind, *row_key(one.pair.other, PAIRED_ALONG.get(one.kind, ())))
            if one.kind in PAIRED_ALONG and (key not in worst or _low(one) > _low(worst[key])):
                worst[key] = one
        return tuple(one for one in found if one.kind not in PAIRED_ALONG or one in worst.values())

    @property
    def open(self) -> tuple[Checked, ...]:
        """Neither violated nor certainly kept."""
        return tuple(one for one in self.checked if one.verdict != "slower" and not one.passes)

    @property
    def replaceable(self) -> bool:
        """Whether anything was measured beside something that could replace it."""
        return any(one.kind not in PAIRED_ALONG for one in self.checked)

    @property
    def verdict(self) -> ComparisonVerdict:
        """Slower: one is violated; same: all are certainly kept; undecided: not known, or nothing to know."""
        if self.violated:
            return "slower"
        return "undecided" if self.open or not self.replaceable else "same"

    @property
    def best(self) -> tuple[Best, ...]:
        """Of operations with several better ways."""
        ways = (one for one in self.checked if one.kind == "mock-up" and one.decision is not None)
        found = map(_best, group_by(ways, lambda one: id(one.pair.other)).values())
        return tuple(best for best in found if len(best.ways) > 1)


def check(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> Guidelines:
    """All guidelines that the rows of one result can tell of.

    Args:
        rows: In all states of the machine.
        patterns: By name, as the kernel described them.
    """
    curves = _curves(row for row in rows if _talks(row, patterns))
    whole = [curve for curve in curves if _may_grow(curve[0].row, patterns)]
    sized = [_thinned(curve, _sizes_most(len(whole))) for curve in whole]
    known = {side.row.cell: side for curve in curves for side in curve}
    growing = (one for curve in sized for one in _growing(curve))
    checked = _judged([*_replacing(known, patterns), *growing, *_of_more_ranks(known, patterns)])
    return Guidelines(tuple(checked), sum(map(len, whole)) - sum(map(len, sized)))


# ---- What is held against what -------------------------------------------------------------------


def _talks(row: Row, patterns: Mapping[str, Pattern]) -> bool:
    pattern = patterns.get(row.cell.pattern)
    return pattern is not None and pattern.talks


def _may_grow(row: Row, patterns: Mapping[str, Pattern]) -> bool:
    """Whether a row is of a curve over sizes."""
    pattern = patterns[row.cell.pattern]
    return pattern.moves_bytes and not pattern.windowed and _is_own(row, pattern)


def _is_own(row: Row, pattern: Pattern) -> bool:
    """Whether a row is of no mock-up: those are nobody's operations."""
    mode = pattern.mode(row.cell.mode)
    return mode is None or not mode.instead_of or mode.name == default_mode(pattern)


def _curves(rows: Iterable[Row]) -> list[list[Side]]:
    """Return cells alike in all but their size, each curve from the smallest to the largest."""
    cells = group_by(rows, lambda row: row.cell).values()
    sides = sorted(map(side_of, cells), key=lambda side: side.bytes)
    return [*group_by(sides, lambda side: row_key(side.row, SIZE)).values()]


def _sizes_most(curves: int) -> int:
    """Of each of so many curves: two at least, since fewer are no pair."""
    return max(2, (1 + math.isqrt(1 + 8 * PAIRS_MOST // max(curves, 1))) // 2)


def _thinned(curve: list[Side], most: int) -> list[Side]:
    if len(curve) <= most:
        return curve
    return [curve[at] for at in np.linspace(0, len(curve) - 1, most).round().astype(int)]


def _checked(base: Side, other: Side, kind: GuidelineKind, parts: int = 0) -> Checked:
    """Without a decision yet."""
    return Checked(matched(base, other, same_place=kind != "ranks"), None, kind=kind, parts=parts)


def _replacing(known: Mapping[Cell, Side], patterns: Mapping[str, Pattern]) -> Iterator[Checked]:
    """Every mode that should not be faster than another, beside that one."""
    for cell, side in known.items():
        mode = patterns[cell.pattern].mode(cell.mode)
        if mode is None or not mode.instead_of:
            continue
        replaced = known.get(cell_like(cell, mode=mode.instead_of))
        if replaced is not None:
            yield _checked(side, replaced, "split" if mode.parts else "mock-up", mode.parts)


def _growing(curve: Sequence[Side]) -> Iterator[Checked]:
    """Every size, and every larger one."""
    for small, large in combinations(curve, 2):
        if small.bytes < large.bytes:
            yield _checked(large, small, "monotony")


def _of_more_ranks(known: Mapping[Cell, Side], patterns: Mapping[str, Pattern]) -> Iterator[Checked]:
    """Every collective of some ranks, and of more; never where they share cores."""

    def is_told(side: Side) -> bool:
        cell, pattern = side.row.cell, patterns[side.row.cell.pattern]
        told = pattern.family == "collective" and cell.ranks > 0
        return told and _is_own(side.row, pattern) and not _crowded(side)

    told = filter(is_told, known.values())
    for sides in group_by(told, lambda side: cell_key(side.row.cell, {"ranks"})).values():
        for few, many in combinations(sorted(sides, key=lambda side: side.row.cell.ranks), 2):
            yield _checked(many, few, "ranks")


def _crowded(side: Side) -> bool:
    return any(row.crowded for row in side.parts)


# ---- What is said of it --------------------------------------------------------------------------


def _judged(family: Sequence[Checked]) -> list[Checked]:
    """All at once; what was not measured in the same launches stays without a decision."""
    mine = [one for one in family if len(one.pair.common) >= PAIRS_LEAST]
    if not mine:
        return list(family)
    decided = decide(paired_family([one.pair for one in mine]), USUAL)
    decisions = {id(one): decision for one, decision in zip(mine, decided, strict=True)}
    return [Checked(one.pair, decisions.get(id(one)), kind=one.kind, parts=one.parts) for one in family]


def _unsure_s(row: Row) -> float:
    step_s = row.time.step * row.time.estimate if row.time is not None else 0.0
    return step_s + (row.start.skew_p50_s if row.start is not None else 0.0)


def _low(one: Checked) -> float:
    return one.decision.low if one.decision is not None else 0.0


def _best(side: Sequence[Checked]) -> Best:
    """Of all mock-ups of one operation: it takes at least as long as any of its lower bounds says."""
    ways = sorted((one for one in side if one.verdict == "slower"), key=_low, reverse=True)
    decisions = [one.decision for one in side if one.decision is not None]
    return Best(tuple(ways), max(one.low for one in decisions), max(one.high for one in decisions))
