"""What a lab was told to emulate and what was measured, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.comparison_sentences import place_name
from mpigauge.find.explain.lab_truth import PlantedRate
from mpigauge.find.phrases import extra, rate, signed_percent, subject, time, wire_rate

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.document.document import Units
    from mpigauge.find.explain.lab_truth import PlantedDelay


SOFTWARE = "in which is the software of both hosts and of the relay"
RELAY = "in which is the work of the relay"


def sentence(fact: PlantedDelay | PlantedRate, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Planted, measured, and how far apart."""
    about = f"{subject(fact.cell, varied, (), fact.state)}: emulated network of a lab"
    said = _rate(fact, chosen) if isinstance(fact, PlantedRate) else _delay(fact, chosen)
    return f"{about}: {said}"


def _rate(fact: PlantedRate, chosen: Units) -> str:
    best, planted = fact.best, fact.payload_bytes_per_s
    most = f"{wire_rate(fact.link_bytes_per_s)}, of which TCP leaves {rate(planted, chosen=chosen)}"
    measured = rate(best.estimate, (best.low, best.high), chosen)
    where = f"{units.format_size(best.bytes)}{', where it still rises' if fact.rising else ''}"
    error = _error(best.estimate, best.low, best.high, planted)
    return f"planted {most}; measured {measured} in one direction at {where}; error {error}"


def _delay(fact: PlantedDelay, chosen: Units) -> str:
    size = units.format_size(fact.cell.bytes)
    measured = time(fact.measured_s, fact.low_s, fact.high_s, chosen)
    planted = f"planted one way {_planted(fact, chosen)}"
    if fact.base is None:
        above = f"{extra(fact.measured_s - fact.planted_s, chosen)} ({_share(fact)})"
        return (
            f"planted one way {_planted(fact, chosen)}; measured {measured} for {size}; {above}, {SOFTWARE}"
        )
    error = _error(fact.measured_s, fact.low_s, fact.high_s, fact.planted_s)
    than = f"more than {place_name(fact.base)}"
    if fact.between:
        more = _planted(fact, chosen, than)
        return f"planted one way {more}; measured {measured} more for {size}; error {error}"
    return f"{planted}; measured {measured} {than} for {size}; error {error}, {RELAY}"


def _planted(fact: PlantedDelay, chosen: Units, than: str = "") -> str:
    whole = " ".join(filter(None, (units.format_time(fact.planted_s, chosen.time), than)))
    if not fact.lanes_s:
        return whole
    parts = [f"{units.format_time(fact.delay_s, chosen.time)} of delay"] if fact.delay_s else []
    wire = f"{extra(fact.lanes_s, chosen)} on the wire without the header of MPI"
    return f"{whole} ({', '.join([*parts, wire])})"


def _share(fact: PlantedDelay) -> str:
    return signed_percent(fact.measured_s / fact.planted_s - 1)


def _error(estimate: float, low: float | None, high: float | None, planted: float) -> str:

    def write(measured: float) -> str:
        return signed_percent(measured / planted - 1)

    return units.with_interval(write(estimate), low, high, write)
