"""Guidelines of performance: what an operation should not be slower than, and where it is.

    mock-up     the same result by other operations, measured as a mode of the pattern
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

from mpigauge.compare.cells import comparison_key
from mpigauge.compare.comparison import Compared
from mpigauge.compare.sides import matched_pair, paired_family, side_of
from mpigauge.plan.factors import SIZE
from mpigauge.plan.patterns import default_mode
from mpigauge.rows.group import row_key
from mpigauge.sequences import group_by
from mpigauge.stats.decision import Thresholds, decide
from mpigauge.stats.max_t import MIN_PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.sides import Side
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ComparisonVerdict, GuidelineKind, Verdict

USUAL = Thresholds()
MAX_PAIRS = 2000
"""Pairs of sizes of all curves; with more, each curve keeps fewer sizes, evenly spread."""


PAIRED_ALONG: Mapping[GuidelineKind, frozenset[str]] = {"monotony": SIZE, "ranks": frozenset({"ranks"})}
"""Guidelines that compare an operation with itself, and the factor in which both sides differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Checked(Compared):
    """An operation (the other of its pair) and what it should not be slower than (the base).

    Attributes:
        kind: The guideline.
        parts: Number of calls of the base, if it is a split.
    """

    kind: GuidelineKind = "mock-up"
    parts: int = 0

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: slower if the guideline is violated by more than starts and clocks may err."""
        if self.decision is None:
            return "undecided"
        if self.decision.verdict == "slower" and not self.exceeds_guard:
            return "undecided"
        return self.decision.verdict

    @property
    def passes(self) -> bool:
        """Return whether it is certainly not slower by as much as is allowed."""
        return self.decision is not None and self.decision.passes(USUAL.allow)

    @property
    def saved_s(self) -> tuple[float, float, float] | None:
        """Time saved by the base in each call, in seconds, with its family-wide 95 % interval."""
        time_s, decision = self.time_s, self.decision
        if time_s is None or decision is None:
            return None
        saved, low, high = (
            time_s * (1 - 1 / ratio) for ratio in (decision.estimate, decision.low, decision.high)
        )
        return saved, low, high

    @property
    def time_s(self) -> float | None:
        """Time of the operation, in seconds, in the launches that both have."""
        return self.pair.time_s(1)

    @property
    def against_s(self) -> float | None:
        """Time of the base, in seconds, in the same launches."""
        return self.pair.time_s(0)

    @property
    def guard_s(self) -> float:
        """Smallest difference that counts, in seconds: a step of the clock and the median skew of starts."""
        return max(_guard_s(self.pair.other), _guard_s(self.pair.base))

    @property
    def exceeds_guard(self) -> bool:
        """Return whether the difference is more than `guard_s`."""
        return self.saved_s is not None and abs(self.saved_s[0]) > self.guard_s


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """An operation for which there are several better ways.

    Attributes:
        ways: The faster ones, the fastest first.
        low: Lower bound of its time over that of its best mock-up, from the interval that holds for all
            mock-ups at once, so that choosing the best one adds no bias.
        high: Upper bound.
    """

    ways: tuple[Checked, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Guidelines:
    """All guidelines that were checked.

    Attributes:
        left_out: Sizes that were not compared, since there were too many.
    """

    checked: tuple[Checked, ...]
    left_out: int = 0

    @property
    def violated(self) -> tuple[Checked, ...]:
        """Violations; of those along sizes or ranks of one curve only that of the largest lower bound."""
        violations = [checked for checked in self.checked if checked.verdict == "slower"]
        worst: dict[Key, Checked] = {}
        for checked in violations:
            key = (checked.kind, *row_key(checked.pair.other, PAIRED_ALONG.get(checked.kind, ())))
            if checked.kind in PAIRED_ALONG and (key not in worst or _low(checked) > _low(worst[key])):
                worst[key] = checked
        return tuple(
            checked for checked in violations if checked.kind not in PAIRED_ALONG or checked in worst.values()
        )

    @property
    def open(self) -> tuple[Checked, ...]:
        """Guidelines that are neither violated nor certainly kept."""
        return tuple(
            checked for checked in self.checked if checked.verdict != "slower" and not checked.passes
        )

    @property
    def replaceable(self) -> bool:
        """Return whether anything was measured beside an operation that could replace it."""
        return any(checked.kind not in PAIRED_ALONG for checked in self.checked)

    @property
    def verdict(self) -> ComparisonVerdict:
        """Return slower if one is violated, same if all are certainly kept, else undecided."""
        if self.violated:
            return "slower"
        return "undecided" if self.open or not self.replaceable else "same"

    @property
    def best(self) -> tuple[Best, ...]:
        """Operations with several better ways."""
        ways = (
            checked for checked in self.checked if checked.kind == "mock-up" and checked.decision is not None
        )
        found = map(_best, group_by(ways, lambda checked: id(checked.pair.other)).values())
        return tuple(best for best in found if len(best.ways) > 1)


def check(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> Guidelines:
    """Return all guidelines that the rows of one result can test.

    Args:
        rows: In all states of the machine.
        patterns: By name, as the kernel described them.
    """
    curves = _curves(row for row in rows if _communicates(row, patterns))
    whole = [curve for curve in curves if _may_grow(curve[0].row, patterns)]
    sized = [_thinned(curve, _sizes_most(len(whole))) for curve in whole]
    known = {side.row.cell: side for curve in curves for side in curve}
    growing = (one for curve in sized for one in _monotony(curve))
    checked = _judged([*_mock_ups(known, patterns), *growing, *_of_more_ranks(known, patterns)])
    return Guidelines(tuple(checked), sum(map(len, whole)) - sum(map(len, sized)))


# ---- Pairs ---------------------------------------------------------------------------------------


def _communicates(row: Row, patterns: Mapping[str, Pattern]) -> bool:
    pattern = patterns.get(row.cell.pattern)
    return pattern is not None and pattern.talks


def _may_grow(row: Row, patterns: Mapping[str, Pattern]) -> bool:
    """Return whether a row belongs to a curve over sizes."""
    pattern = patterns[row.cell.pattern]
    return pattern.moves_bytes and not pattern.windowed and _is_own(row, pattern)


def _is_own(row: Row, pattern: Pattern) -> bool:
    """Return whether a row is of an operation itself and not of a mock-up."""
    mode = pattern.mode(row.cell.mode)
    return mode is None or not mode.instead_of or mode.name == default_mode(pattern)


def _curves(rows: Iterable[Row]) -> list[list[Side]]:
    """Return cells alike in all but their size, each curve from the smallest to the largest."""
    cells = group_by(rows, lambda row: row.cell).values()
    sides = sorted(map(side_of, cells), key=lambda side: side.bytes)
    return [*group_by(sides, lambda side: row_key(side.row, SIZE)).values()]


def _sizes_most(curves: int) -> int:
    """Return the sizes to test per curve: two at least, since fewer make no pair."""
    return max(2, (1 + math.isqrt(1 + 8 * MAX_PAIRS // max(curves, 1))) // 2)


def _thinned(curve: list[Side], most: int) -> list[Side]:
    if len(curve) <= most:
        return curve
    return [curve[at] for at in np.linspace(0, len(curve) - 1, most).round().astype(int)]


def _checked(base: Side, other: Side, kind: GuidelineKind, parts: int = 0) -> Checked:
    """Return a guideline that has no decision yet."""
    return Checked(matched_pair(base, other, same_place=kind != "ranks"), None, kind=kind, parts=parts)


def _mock_ups(known: Mapping[Cell, Side], patterns: Mapping[str, Pattern]) -> Iterator[Checked]:
    """Yield every mode that should not be faster than another, with that one."""
    for cell, side in known.items():
        mode = patterns[cell.pattern].mode(cell.mode)
        if mode is None or not mode.instead_of:
            continue
        replaced = known.get(cell_like(cell, mode=mode.instead_of))
        if replaced is not None:
            yield _checked(side, replaced, "split" if mode.parts else "mock-up", mode.parts)


def _monotony(curve: Sequence[Side]) -> Iterator[Checked]:
    """Yield every size with every larger one."""
    for small, large in combinations(curve, 2):
        if small.bytes < large.bytes:
            yield _checked(large, small, "monotony")


def _of_more_ranks(known: Mapping[Cell, Side], patterns: Mapping[str, Pattern]) -> Iterator[Checked]:
    """Yield every collective with itself on more ranks; never where ranks share cores."""

    def is_comparable(side: Side) -> bool:
        cell, pattern = side.row.cell, patterns[side.row.cell.pattern]
        collectives = pattern.family == "collective" and cell.ranks > 0
        return collectives and _is_own(side.row, pattern) and not _crowded(side)

    collectives = filter(is_comparable, known.values())
    for sides in group_by(collectives, lambda side: comparison_key(side.row.cell, "ranks")).values():
        for few, many in combinations(sorted(sides, key=lambda side: side.row.cell.ranks), 2):
            yield _checked(many, few, "ranks")


def _crowded(side: Side) -> bool:
    return any(row.crowded for row in side.by_state)


# ---- Decisions -----------------------------------------------------------------------------------


def _judged(family: Sequence[Checked]) -> list[Checked]:
    """Return guidelines judged as one family; those without common launches stay without a decision."""
    common = [checked for checked in family if len(checked.pair.common_launches) >= MIN_PAIRS]
    if not common:
        return list(family)
    decided = decide(paired_family([checked.pair for checked in common]), USUAL)
    decisions = {id(checked): decision for checked, decision in zip(common, decided, strict=True)}
    return [
        Checked(checked.pair, decisions.get(id(checked)), kind=checked.kind, parts=checked.parts)
        for checked in family
    ]


def _guard_s(row: Row) -> float:
    step_s = row.time.step * row.time.estimate if row.time is not None else 0.0
    return step_s + (row.start.skew_p50_s if row.start is not None else 0.0)


def _low(checked: Checked) -> float:
    return checked.decision.low if checked.decision is not None else 0.0


def _best(side: Sequence[Checked]) -> Best:
    """Return the better ways of one operation, with bounds on how many times as long as the best it takes."""
    ways = sorted((checked for checked in side if checked.verdict == "slower"), key=_low, reverse=True)
    decisions = [checked.decision for checked in side if checked.decision is not None]
    return Best(
        tuple(ways), max(checked.low for checked in decisions), max(checked.high for checked in decisions)
    )
