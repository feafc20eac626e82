"""What a lab was told to emulate and what was measured, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.explain.planted import PlantedRate
from mpigauge.show.words.comparisons import place_name
from mpigauge.show.words.explain.parts import DASH, extra, rate, signed_percent, subject, time

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.analysis.explain.planted import PlantedDelay


def sentence(fact: PlantedDelay | PlantedRate, varied: Collection[str]) -> str:
    """Planted, measured, and how far apart."""
    about = f"{subject(fact.cell, varied, (), fact.state)}: emulated network of a lab"
    said = _rate(fact) if isinstance(fact, PlantedRate) else _delay(fact)
    return f"{about}: {said}"


def _rate(fact: PlantedRate) -> str:
    best, planted = fact.best, fact.payload_bytes_per_s
    size = units.format_size(best.bytes)
    return (
        f"planted {rate(fact.link_bytes_per_s, wire=True)}, of which TCP leaves {rate(planted, wire=True)} to "
        f"messages; measured {rate(best.estimate, (best.low, best.high), wire=True)} in one direction at "
        f"{size}; error {_error(best.estimate, best.low, best.high, planted)}"
    )


def _delay(fact: PlantedDelay) -> str:
    size = units.format_size(fact.cell.bytes)
    measured = time(fact.measured_s, fact.low_s, fact.high_s)
    if fact.base is None:
        above = fact.measured_s - fact.planted_s
        return (
            f"planted {_planted(fact)}; measured {measured} for {size}; {extra(above)} "
            f"({_share(fact)}), the software of both hosts included"
        )
    error = _error(fact.measured_s, fact.low_s, fact.high_s, fact.planted_s)
    than = f"than {place_name(fact.base)}"
    if fact.between:
        return f"planted {_planted(fact)} more {than}; measured {measured} more for {size}; error {error}"
    return f"planted {_planted(fact)}; measured {measured} more {than} for {size}; error {error}"


def _planted(fact: PlantedDelay) -> str:
    whole = f"{units.format_time(fact.planted_s)} one way"
    if not fact.lanes_s:
        return whole
    delay, lanes = units.format_time(fact.delay_s), extra(fact.lanes_s)
    return f"{whole} ({delay} of delay, {lanes} on the wire)"


def _share(fact: PlantedDelay) -> str:
    return signed_percent(fact.measured_s / fact.planted_s - 1)


def _error(estimate: float, low: float | None, high: float | None, planted: float) -> str:
    said = signed_percent(estimate / planted - 1)
    if low is None or high is None:
        return said
    ends = (signed_percent(end / planted - 1) for end in (low, high))
    return f"{said} ({f' {DASH} '.join(ends)})"
