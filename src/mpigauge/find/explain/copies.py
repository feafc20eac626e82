"""A message in units of copies of its size: the most, where it falls below some, and the least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import at_sizes, is_informative
from mpigauge.find.memory_costs import LIMITS, curves_in_copies
from mpigauge.find.phrases import EMULATED, subject
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.group import OfCell, Subject, job_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.ratios import Ratio
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values

    Sticks = Mapping[tuple[object, ...], Row]


@dataclass(frozen=True, slots=True)
class InCopies:
    """A message of one size beside a copy of it; copy_s is None where that has no row of its own."""

    bytes: int
    ratio: Ratio
    message_s: float
    copy_s: float | None


@dataclass(frozen=True, slots=True)
class Crossing:
    """The size at which a curve crosses a limit, between the sizes measured.

    Attributes:
        bytes: By the estimates; None if these do not cross it.
        low_bytes: The smaller end of what the intervals leave open; None if that is beyond the sizes.
        high_bytes: The larger end; None if that is.
    """

    bytes: float | None
    low_bytes: float | None
    high_bytes: float | None


@dataclass(frozen=True, slots=True)
class Below:
    """The sizes around the least at which a message costs less than so many copies.

    Attributes:
        begin: From where on.
        end: Up to where; None if that is the largest size, by whole intervals.
        from_bytes: The first size that was measured to cost less, by its estimate.
        upto_bytes: The last one.
        certain_bytes: The first size from which on all do with their whole interval.
        certain_upto_bytes: The last of these.
    """

    copies: float
    begin: Crossing
    end: Crossing | None
    from_bytes: int
    upto_bytes: int
    certain_bytes: int
    certain_upto_bytes: int


@dataclass(frozen=True, slots=True)
class Copies:
    """The cost of a curve of messages in one kind of copy.

    Attributes:
        of: The smallest message.
        name: Of the ratio: one of `baselines.YARDSTICKS`.
        first: At the smallest size.
        below: Of `memory_costs.LIMITS` those that it falls below, with the whole interval of the least.
        never: The largest of them that it falls below at no size, by all intervals; None if there is none.
        least: The size with the smallest ratio.
        largest_bytes: Up to which it was measured.
        emulated: Whether the network is that of a lab.
    """

    of: Subject
    name: str
    first: InCopies
    below: tuple[Below, ...]
    never: float | None
    least: InCopies
    largest_bytes: int
    emulated: bool

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.of.cell

    @property
    def rests_on(self) -> frozenset[Cell]:
        """The smallest message, and the one that costs fewest copies."""
        return at_sizes([self.cell], (self.first.bytes, self.least.bytes))

    @property
    def launches(self) -> int:
        """How many launches it rests on."""
        return min(self.first.ratio.launches, self.least.ratio.launches)

    @property
    def weight(self) -> float:
        """Copies between the cores of the ranks come first, then who falls below most."""
        return len(YARDSTICKS) - list(YARDSTICKS).index(self.name) + len(self.below) / 10


def copies(evidence: Evidence) -> Iterator[Copies]:
    """Yield every curve of messages in every kind of copy that was measured with it."""
    sticks: Sticks = {(*_key(row), row.cell.pattern, row.cell.mode): row for row in evidence.rows}
    for name, curve in curves_in_copies(evidence.rows):
        told = [row for row in curve if is_informative(row.ratios[name])]
        if len(told) > 1:
            yield _copies(name, told, sticks, emulated=evidence.emulated)


def _copies(name: str, curve: Sequence[Row], sticks: Sticks, *, emulated: bool) -> Copies:
    ratios = [row.ratios[name] for row in curve]
    least = min(range(len(curve)), key=lambda place: ratios[place].estimate)
    bands = _bands(curve, ratios)
    never = [limit for limit in LIMITS if bands.lows.min() > limit]
    return Copies(
        of=curve[0].of,
        name=name,
        first=_in_copies(curve[0], name, sticks),
        below=tuple(_below(bands, least)),
        never=max(never, default=None),
        least=_in_copies(curve[least], name, sticks),
        largest_bytes=curve[-1].cell.bytes,
        emulated=emulated and "," in curve[0].cell.placement,
    )


class _Bands(NamedTuple):
    """Ratios against size, each of shape (sizes,)."""

    sizes_bytes: Values
    estimates: Values
    lows: Values
    highs: Values


def _bands(curve: Sequence[Row], ratios: Sequence[Ratio]) -> _Bands:
    """Return the ratios of a curve and their intervals against size; all of them have one."""
    sizes = np.array([float(row.cell.bytes) for row in curve])
    columns = ([getattr(ratio, name) for ratio in ratios] for name in ("estimate", "low", "high"))
    return _Bands(sizes, *(np.array(column, dtype=float) for column in columns))


def _in_copies(row: Row, name: str, sticks: Sticks) -> InCopies:
    assert row.time is not None  # noqa: S101 - it has a ratio
    keys = (_key(row), _key(Subject(row.cell)))
    stick = next((sticks[key] for one in keys if (key := (*one, *YARDSTICKS[name])) in sticks), None)
    copy_s = stick.time.estimate if stick is not None and stick.time is not None else None
    return InCopies(row.cell.bytes, row.ratios[name], row.time.estimate, copy_s)


def _key(row: OfCell) -> tuple[object, ...]:
    return row.cell.bytes, *job_key(row)


def _below(bands: _Bands, least: int) -> Iterator[Below]:
    """Yield where a curve is below each limit around its least: from the left down to it, from the right."""
    left, right = slice(None, least + 1), slice(None, least - 1 if least else None, -1)
    for limit in LIMITS:
        begin = _crossing(bands, left, limit)
        if bands.highs[least] < limit and begin.bytes is not None:
            end = _crossing(bands, right, limit)
            # The upper ends rise above it first.
            rises = Crossing(end.bytes, end.high_bytes, end.low_bytes)
            yield Below(
                limit, begin, rises if end.high_bytes is not None else None, *_measured(bands, least, limit)
            )


def _measured(bands: _Bands, least: int, limit: float) -> tuple[int, int, int, int]:
    """Return the first and last sizes around the least that are below, and those that are for certain."""
    sizes = [int(size) for size in bands.sizes_bytes]
    begin, end = _run(bands.estimates, least, limit)
    certain, surely = _run(bands.highs, least, limit)
    return sizes[begin], sizes[end], sizes[certain], sizes[surely]


def _run(values: Values, least: int, limit: float) -> tuple[int, int]:
    """Return the first and last places around one, that one included, whose values are below."""
    above = np.flatnonzero(~(values < limit))
    before, after = above[above < least], above[above > least]
    return int(max(before, default=-1)) + 1, int(min(after, default=len(values))) - 1


def _crossing(bands: _Bands, part: slice, limit: float) -> Crossing:
    ends = (bands.estimates, bands.lows, bands.highs)
    return Crossing(*(crossing(bands.sizes_bytes[part], values[part], limit) for values in ends))


def crossing(sizes_bytes: Values, values: Values, limit: float) -> float | None:
    """Return where values begin to stay below a limit: straight lines between the logarithms of both.

    Args:
        sizes_bytes: Above 0, rising or falling, shape ``(sizes,)``.
        values: Above 0, of the same shape.

    Returns:
        In bytes; None if the last is not below, or all are.
    """
    steps = list(pairwise(zip(sizes_bytes.tolist(), values.tolist(), strict=True)))
    for (size, above), (next_size, below) in reversed(steps):
        if not below < limit:
            return None
        if above >= limit:
            logs = np.log([below, above])
            return float(np.exp(np.interp(math.log(limit), logs, np.log([next_size, size]))))
    return None


# ---- Sentence ------------------------------------------------------------------------------------

PIPELINED = "less than one copy: a message is pipelined in pieces, or this copy is not optimised"


def sentence(fact: Copies, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many copies a message costs, where it falls below ten and two, and the least."""
    about = f"{subject(fact.of, varied)} / {' '.join(YARDSTICKS[fact.name])}"
    said = [_at(fact.first, chosen), *_below_limit(fact)]
    if fact.least != fact.first:
        said.append(f"least {_at(fact.least, chosen)}")
    if fact.least.ratio.high is not None and fact.least.ratio.high < 1:
        said.append(PIPELINED)
    if fact.emulated:
        said.append(EMULATED)
    return f"{about}: {'; '.join(said)}"


def _at(one: InCopies, chosen: Units) -> str:
    ratio = one.ratio
    copies = f"{units.format_factor(ratio.estimate)} copies"
    copies = units.with_interval(copies, ratio.low, ratio.high, units.format_factor)
    copied = f" for {units.format_time(one.copy_s, chosen.time)}" if one.copy_s is not None else ""
    both = f"{units.format_time(one.message_s, chosen.time)}{copied}"
    return f"{copies} at {units.format_size(one.bytes)}, {both}"


def _below_limit(fact: Copies) -> Iterator[str]:
    """Yield from which of the measured sizes on it is below, as tables have it."""
    for one in fact.below:
        begin = f"from {units.format_size(one.from_bytes)}"
        end = f" up to {units.format_size(one.upto_bytes)}" if one.upto_bytes < fact.largest_bytes else ""
        certain = [
            f"from {units.format_size(one.certain_bytes)}" if one.certain_bytes > one.from_bytes else "",
            f"up to {units.format_size(one.certain_upto_bytes)}"
            if one.certain_upto_bytes < one.upto_bytes
            else "",
        ]
        surely = f" (for certain {' '.join(filter(None, certain))})" if any(certain) else ""
        yield f"below {one.copies:g} {begin}{surely}{end}"
    if fact.never is not None:
        yield f"below {fact.never:g} at no size up to {units.format_size(fact.largest_bytes)}"
