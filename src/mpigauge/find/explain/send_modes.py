"""What a mode of sending costs: the handshake of a synchronous send, the copy of a buffered one."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.size_ratio import SizeRatio, by_size, size_ratios
from mpigauge.compare.two import names_of_modes
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.size_words import span
from mpigauge.find.phrases import in_one_line, known_time, time
from mpigauge.plan.patterns import default_mode
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.group import Subject, job_key
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row


@dataclass(frozen=True, slots=True)
class Handshake:
    """A mode that always waits for the receiver, against one that waits above the eager limit.

    Attributes:
        cell: The smallest message of the mode that waits.
        base: The same of the other.
        limit_bytes: The eager limit.
        small: The two at the largest size up to the limit at which they differ by most: the handshake.
        above: How many sizes above the limit both have.
        without: Of these, those at which the whole interval of the difference is below the handshake's, so
            that the other waits, too.
        slower: Of these, those at which the one that always waits is slower still.
    """

    cell: Cell
    base: Subject
    limit_bytes: int
    small: SizeRatio
    above: int
    without: int
    slower: int

    @property
    def weight(self) -> float:
        """More where it also tells whether the other waits."""
        return 1.0 + (self.without / self.above if self.above else 0.0)


@dataclass(frozen=True, slots=True)
class BufferCopy:
    """A mode that copies each message into a buffer first, against one that does not.

    Attributes:
        cell: The smallest message of the mode that copies.
        base: The same of the other.
        stick: The copy that it is measured by: one of `baselines.YARDSTICKS`.
        copies_low: What the mode takes beyond the other, in copies of the same size: the least of all sizes
            at which it is slower.
        copies_median: The middle of them.
        copies_high: The most of them.
        least_bytes: The smallest of these sizes.
        most_bytes: The largest.
    """

    cell: Cell
    base: Subject
    stick: str
    copies_low: float
    copies_median: float
    copies_high: float
    least_bytes: int
    most_bytes: int
    launches: int

    @property
    def weight(self) -> float:
        """The weight of a handshake alone."""
        return 1.0


def handshakes(evidence: Evidence) -> Iterator[Handshake]:
    """Yield what waiting for the receiver costs, for every job whose eager limit is known."""
    for base, other in _beside_usual(evidence, never_eager=True):
        limit = evidence.limits.get(base[0].cell.job)
        points = size_ratios(base, other, same_place=True, within=evidence.within)
        small = [one for one in points if limit is not None and one.bytes <= limit]
        if limit is None or not small or small[0].verdict != "slower" or small[0].low_s is None:
            continue
        above, handshake = [one for one in points if one.bytes > limit], small[0]
        without = [one for one in above if one.high_s is not None and one.high_s < (handshake.low_s or 0.0)]
        slower = [one for one in above if one.verdict == "slower"]
        yield Handshake(
            cell=other[0].cell,
            base=base[0].of,
            limit_bytes=limit,
            small=handshake,
            above=len(above),
            without=len(without),
            slower=len(slower),
        )


def buffer_copies(evidence: Evidence) -> Iterator[BufferCopy]:
    """Yield what copying into a buffer costs, in units of each copy that was measured beside it.

    Nothing where the mode that copies is faster at any size.
    """
    for base, other in _beside_usual(evidence, never_eager=False):
        rows = by_size(base)
        points = size_ratios(base, other, same_place=True, within=evidence.within)
        if any(one.verdict == "faster" for one in points):
            # A copy that is not in the way costs no copy: a mean over the other sizes would hide that.
            continue
        slower = [one for one in points if one.verdict == "slower"]
        for stick in sorted({name for row in base for name in row.ratios}):
            found = {
                one: _copies(one, rows[one.bytes], stick) for one in slower if stick in rows[one.bytes].ratios
            }
            if found:
                yield _buffer_copy((base[0], other[0]), stick, found)


def _copies(one: SizeRatio, row: Row, stick: str) -> float:
    """Return what the mode takes beyond the other, in copies: a copy takes the time over its ratio."""
    return one.extra_s * row.ratios[stick].estimate / one.base_s


def _buffer_copy(rows: tuple[Row, Row], stick: str, found: Mapping[SizeRatio, float]) -> BufferCopy:
    sizes = sorted(one.bytes for one in found)
    return BufferCopy(
        cell=rows[1].cell,
        base=rows[0].of,
        stick=stick,
        copies_low=min(found.values()),
        copies_median=median(found.values()),
        copies_high=max(found.values()),
        least_bytes=sizes[0],
        most_bytes=sizes[-1],
        launches=min(one.ratio.launches for one in found),
    )


def _beside_usual(evidence: Evidence, *, never_eager: bool) -> Iterator[tuple[Sequence[Row], Sequence[Row]]]:
    """Yield curves of modes that always wait, or that copy first, each after that of the usual mode."""
    curves = [curve for curve in evidence.curves("message") if evidence.mode_of(curve[0])]
    for curve in curves:
        mode = evidence.mode_of(curve[0])
        if mode is None or not (mode.never_eager if never_eager else mode.attaches_buffer):
            continue
        usual = default_mode(evidence.patterns[curve[0].cell.pattern])
        for base in curves:
            if base[0].cell.mode == usual and _like(base[0]) == _like(curve[0]):
                yield base, curve


def _like(row: Row) -> object:
    """Return what two modes of one pattern must have in common."""
    return row.cell.pattern, row.cell.buffers, row.cell.pair, *job_key(row)


# ---- Sentences -----------------------------------------------------------------------------------


def handshake_headline(fact: Handshake, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what the wait for the receiver costs, and whether the usual mode waits, too."""
    small = fact.small
    cost = known_time(small.beyond_s or small.extra_s, small.low_s, small.high_s, chosen)
    said = f"{subject(fact.base, varied, {'mode'})}: waiting for the receiver costs {cost}"
    _, usual = names_of_modes(fact.cell, fact.base.cell, ())
    waits = f"{usual} waits, too, above {units.format_size(fact.limit_bytes)}"
    return in_one_line([f"{said}; {waits}", said]) if fact.without else said


def handshake(fact: Handshake, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what the wait for the receiver costs, and whether the usual mode waits above the limit."""
    small, (mode, usual) = fact.small, names_of_modes(fact.cell, fact.base.cell, ())
    cost = time(small.beyond_s or small.extra_s, small.low_s, small.high_s, chosen)
    size, limit = units.format_size(small.bytes), units.format_size(fact.limit_bytes)
    about = subject(fact.base, varied, {"mode"})
    said = f"{about}: waiting for the receiver costs {cost} ({mode} against {usual}, {size})"
    if not fact.above:
        return f"{said}; no size above the eager limit of {limit} was measured"
    sizes = counted(fact.above, "size")
    if not fact.without:
        return f"{said}; above the eager limit of {limit} none of {sizes} tells whether {usual} waits, too"
    less = f"the difference is certainly less at {fact.without} of {sizes}"
    return f"{said}; above the eager limit of {limit} {less}: {usual} waits there, too"


def buffer_copy(fact: BufferCopy, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return what a copy into a buffer costs, in copies."""
    about = subject(fact.base, varied, {"mode"})
    stick = " ".join(YARDSTICKS[fact.stick])
    ends = units.span(*map(units.format_factor, (fact.copies_low, fact.copies_high)))
    mode, usual = names_of_modes(fact.cell, fact.base.cell, ())
    what = f"{about}: {mode} takes {units.format_factor(fact.copies_median)} copies longer than"
    where = span((fact.least_bytes, fact.most_bytes))
    at = "from" if fact.least_bytes < fact.most_bytes else "at"
    return f"{what} {usual} ({ends} {at} {where}, {stick})"
