"""A message in units of copies of its size: where it falls below some, and the least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.finding import finding
from mpigauge.document.size_words import crossed_between
from mpigauge.find.explain.evidence import is_informative
from mpigauge.find.memory_costs import LIMITS, cost_of, curves_in_copies
from mpigauge.find.phrases import EMULATED, fitting, headed
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.group import OfCell, Subject, job_key
from mpigauge.stats.interval import is_known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.document.finding import Finding
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
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
class Below:
    """The sizes around the least at which a message costs less than so many copies; all were measured.

    Attributes:
        above_bytes: The last size before them, at which it costs as much or more.
        from_bytes: The first size that was measured to cost less, by its estimate.
        upto_bytes: The last one.
        rises_bytes: The first size behind them; None if there is none.
        certain_bytes: The first size from which on all do with their whole interval.
        certain_upto_bytes: The last of these.
    """

    copies: float
    above_bytes: int
    from_bytes: int
    upto_bytes: int
    rises_bytes: int | None
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
    """Yield where a curve is below each limit around its least, if it was above before."""
    sizes = [int(size) for size in bands.sizes_bytes]
    for limit in LIMITS:
        begin, end = _run(bands.estimates, least, limit)
        certain, surely = _run(bands.highs, least, limit)
        if bands.highs[least] < limit and begin > 0:
            yield Below(
                copies=limit,
                above_bytes=sizes[begin - 1],
                from_bytes=sizes[begin],
                upto_bytes=sizes[end],
                rises_bytes=sizes[end + 1] if end + 1 < len(sizes) else None,
                certain_bytes=sizes[certain],
                certain_upto_bytes=sizes[surely],
            )


def _run(values: Values, least: int, limit: float) -> tuple[int, int]:
    """Return the first and last places around one, that one included, whose values are below."""
    above = np.flatnonzero(~(values < limit))
    before, after = above[above < least], above[above > least]
    return int(max(before, default=-1)) + 1, int(min(after, default=len(values))) - 1


# ---- Sentence ------------------------------------------------------------------------------------

PIPELINED = "less than one copy: a message is pipelined in pieces, or this copy is not optimised"


def headline(fact: Copies, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how many copies a message costs, the least, and where it falls below ten and two."""
    about, parts = _about(fact, varied), _parts(fact)
    return headed(about, "; ".join(parts[: fitting(about, parts)]))


def sentence(fact: Copies, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many copies a message costs, the least, where it falls below ten and two, and the times."""
    return headed(_about(fact, varied), "; ".join([*_parts(fact), *_more(fact, chosen)]))


def cost_findings(rows: Sequence[Row], varied: Collection[str]) -> Iterator[Finding]:
    """Yield the cost of every curve of messages in each copy that was measured beside it.

    Args:
        varied: Factors in which cells of the result differ.
    """
    for name, curve in curves_in_copies(rows):
        timed = [row for row in curve if row.time is not None]
        if told := [row for row in timed if is_informative(row.ratios[name])] or timed:
            text = headline(_copies(name, told, {}, emulated=False), varied)
            yield finding("cost-in-copies", cost_of(curve, name), text)


def _about(fact: Copies, varied: Collection[str]) -> str:
    stick = " ".join(YARDSTICKS[fact.name]).removesuffix(" standard")
    return f"{subject(fact.of, varied)} / {stick}"


def _parts(fact: Copies) -> list[str]:
    least = [f"least {_copies_of(fact.least)}"] if fact.least.bytes != fact.first.bytes else []
    return [_copies_of(fact.first), *least, *_below_limit(fact)]


def _copies_of(one: InCopies) -> str:
    where, ratio = f"at {units.format_size(one.bytes)}", one.ratio
    if not is_known(ratio.low, ratio.high):
        return f"not known how many copies {where}"
    text = f"{units.format_factor(ratio.estimate)} copies"
    return f"{units.with_interval(text, ratio.low, ratio.high, units.format_factor)} {where}"


def _more(fact: Copies, chosen: Units) -> Iterator[str]:
    """Yield what follows the number of copies: the times, and why there may be less than one."""
    ends = dict.fromkeys((fact.first, fact.least))
    yield ", ".join(_times(one, chosen) for one in ends)
    if fact.least.ratio.high is not None and fact.least.ratio.high < 1:
        yield PIPELINED
    if fact.emulated:
        yield EMULATED


def _times(one: InCopies, chosen: Units) -> str:
    copied = f" for {units.format_time(one.copy_s, chosen.time)}" if one.copy_s is not None else ""
    return f"{units.format_time(one.message_s, chosen.time)}{copied} at {units.format_size(one.bytes)}"


def _below_limit(fact: Copies) -> Iterator[str]:
    """Yield between which of the measured sizes it falls below each limit."""
    for one in fact.below:
        begin = crossed_between(one.above_bytes, one.from_bytes)
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
