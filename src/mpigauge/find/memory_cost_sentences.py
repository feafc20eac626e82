"""Messages beside memory, in sentences: copies, software and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.finding import finding
from mpigauge.document.state_words import in_state
from mpigauge.find.memory_costs import CachesSeen, CostInCopies, SoftwareOverhead
from mpigauge.rows.baselines import YARDSTICKS

if TYPE_CHECKING:
    from mpigauge.document.finding import Finding
    from mpigauge.find.cache_levels import DifferentCache, Level
    from mpigauge.find.memory_costs import MemoryFact
    from mpigauge.rows.ratios import Ratio

_WHOLE_FROM = 10
_PARTS_OF_UNIT = 4
_BINARY_UNITS = (1, 2**10, 2**20, 2**30, 2**40)
_TIMES = "\N{MULTIPLICATION SIGN}"


def memory_finding(fact: MemoryFact) -> Finding:
    """What a fact about messages beside memory says."""
    match fact:
        case CostInCopies():
            return finding("cost-in-copies", fact, _cost(fact))
        case SoftwareOverhead():
            return finding("software-overhead", fact, _software(fact))
        case CachesSeen():
            return finding("caches-seen", fact, _caches(fact))


def _cost(fact: CostInCopies) -> str:
    cell = fact.cell
    certain = dict(fact.certain)
    froms = [_below(limit, size, certain[limit]) for limit, size in fact.below if size is not None]
    least = f"minimum {_factor(fact.least)} at {units.format_size(fact.least_bytes)}"
    stick = " ".join(YARDSTICKS[fact.name])
    what = f"{cell.pattern} {cell.mode} / {stick} ({cell.job.name}){in_state(fact.state)}"
    return f"{what}: {', '.join([*froms, least])}"


def _below(limit: float, size: int, certain: int | None) -> str:
    """From where on the intervals are below, and from where on perhaps."""
    if certain == size:
        return f"< {limit:g}{_TIMES} from {units.format_size(size)}"
    perhaps = f"perhaps from {units.format_size(size)}"
    if certain is None:
        return f"< {limit:g}{_TIMES} {perhaps}"
    return f"< {limit:g}{_TIMES} from {units.format_size(certain)}, {perhaps}"


def _factor(ratio: Ratio) -> str:
    text = f"{units.format_factor(ratio.estimate)}{_TIMES}"
    return units.with_interval(text, ratio.low, ratio.high, units.format_factor)


def _software(fact: SoftwareOverhead) -> str:
    cell = fact.cell
    size, job = units.format_size(cell.bytes), f"({cell.job.name}){in_state(fact.state)}"
    takes = f"{cell.pattern} {cell.mode} of {size} {job} takes {units.format_time(fact.message_s)}"
    line = units.format_time(fact.line_s)
    if not fact.overhead_s:
        return f"{takes}, no longer than a cache-line transfer ({line})"
    above = units.format_time(fact.overhead_s)
    above = units.with_interval(above, fact.low_s, fact.high_s, units.format_time)
    return f"{takes}, {above} above one cache-line transfer ({line})"


def _caches(fact: CachesSeen) -> str:
    levels = ", ".join(_level(level) for level in fact.levels)
    different = "".join(f"; {_difference(one)}" for one in fact.different)
    return f"cache levels seen ({fact.cell.job.name}): {levels}{different}"


def _level(level: Level) -> str:
    reach = "above" if level.capacity_bytes is None else f"up to {units.format_size(level.capacity_bytes)}"
    return f"{units.format_time(level.latency_s)} {reach}"


def _difference(one: DifferentCache) -> str:
    claim = f"the system claims {units.format_size(one.claimed_bytes)}"
    if one.seen_bytes is None:
        where = "not seen among" if one.within else "beyond"
        return f"L{one.level}: its end is {where} the working sets measured, {claim}"
    seen = f"L{one.level}: about {units.format_size(_rounded(one.seen_bytes))} seen, {claim}"
    if one.claimed_bytes > one.seen_bytes:
        return f"{seen} (common in virtual machines and with cache partitions)"
    return f"{seen} (two levels that are close together look like one)"


def _rounded(size_bytes: int) -> int:
    """What "about" can be said of: whole units from 10 on, quarters below."""
    unit = max((unit for unit in _BINARY_UNITS if unit <= size_bytes), default=1)
    part = unit if size_bytes >= _WHOLE_FROM * unit else max(1, unit // _PARTS_OF_UNIT)
    return round(size_bytes / part) * part
