"""What a lab was told to plant beside what was measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.reading import delay_s
from tests.cli.docs.recomputing.shown import rate_of, with_ends
from tests.cli.docs.recomputing.statistics_of import difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Row

PAYLOAD = 1448 / 1538
HEADERS = 90
LINK_RATES = {"kbit": 125.0, "mbit": 125e3, "gbit": 125e6}


class Way(NamedTuple):
    """What a lab puts between two hosts."""

    delay_s: float
    lanes: tuple[float, float]

    @property
    def link(self) -> float:
        """The rate of its slower lane."""
        return min((one for one in self.lanes if one), default=0.0)

    def lanes_s(self, size: int) -> float:
        """How long a packet is on both lanes."""
        return sum((HEADERS + size) / one for one in self.lanes if one)


def way_of(row: Row) -> Way | None:
    """Return the way from rank 0's host to that of rank 1, as the plan says; None on one host."""
    lab = row.result.campaign["plan"]["lab"] if row.result else None
    if not lab or row.placement == "same-host" or row.result is None:
        return None
    ends = [one["host"] for one in row.result.launch_of(row)["ranks_at"]][:2]
    ports = {one["host"]: one for one in lab["ports"]}
    none: dict[str, str] = {}
    link = next((one for one in lab["links"] if set(one["between"].split("-")) == set(ends)), none)
    up, down = (_rate(link.get("rate") or ports.get(end, {}).get("rate") or lab["rate"]) for end in ends)
    return Way(delay_s(lab, ends), (up, down))


def _rate(text: str) -> float:
    match = re.match(r"([\d.]+) ?([kmg]bit)", text)
    return float(match[1]) * LINK_RATES[match[2]] if match else 0.0


def planted(value: Mapping[str, Any], rows: Sequence[Row], curve: Sequence[Row]) -> dict[str, Any]:
    """Recompute a delay of the plan, or a rate, beside what was measured."""
    row, under = rows[0], rows[1] if len(rows) > 1 else None
    way = way_of(row)
    if way is None:
        return {}
    if "measured_s" not in value:
        best = max(curve, key=lambda one: one.bytes_per_time / one.seconds)
        rates = with_ends(rate_of(best, best.directions))
        link = {"link_bytes_per_s": way.link, "payload_bytes_per_s": way.link * PAYLOAD}
        return {**link, "best": {"bytes": best.bytes, **rates}, "launches": len(best.medians)}
    delay_s, lanes_s, own = way.delay_s, way.lanes_s(row.bytes), row.time
    if under is not None and (less := way_of(under)):
        delay_s, lanes_s = delay_s - less.delay_s, lanes_s - less.lanes_s(under.bytes)
    if under is not None:
        own = difference(row.times, under.times, (row.seconds, under.seconds), promised=0.01)
    ends = {"measured_s": own.estimate, "low_s": own.low, "high_s": own.high}
    launches = min(len(one.medians) for one in rows)
    return {"delay_s": delay_s, "lanes_s": lanes_s, **ends, "launches": launches}
