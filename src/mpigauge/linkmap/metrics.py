"""A link map as metrics: its verdict and what is slow, for a collector that follows it from day to day.

A gauge per pair would be thousands of series: JSON and CSV have them.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, get_args

from mpigauge.document.document import Metric
from mpigauge.linkmap.verdict import latency_of, rate_of
from mpigauge.vocabulary import MapVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Sized

    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.verdict import MeasuredLink, SlowElement


def metrics_of(shown: LinkMap) -> list[Metric]:
    """Return what a map says: its verdict, what is slow and how much, what failed, and what is usual."""
    verdict, failed = shown.verdict, [link for link in shown.links if link.trouble]
    states = [({"verdict": word}, float(word == verdict.word)) for word in get_args(MapVerdict)]
    return [
        Metric("mpigauge_map_verdict", "Verdict on the map: 1 for the one that it is.", states),
        _number("hosts_slow", "Hosts that are slow, always or in some launches.", verdict.hosts),
        _number("links_slow", "Links that are slow by themselves, likewise.", verdict.links),
        _number("links_failed", "Links that crashed, hung or delivered a wrong payload.", failed),
        Metric(
            "mpigauge_map_host_slowdown_ratio",
            "Time of a slow host's links over what is usual.",
            [({"host": one.names[0], **_flaky(one)}, one.factor) for one in verdict.hosts],
        ),
        Metric(
            "mpigauge_map_link_slowdown_ratio",
            "Time of a slow link over what is usual.",
            [(_ends(one.names) | _flaky(one), one.factor) for one in verdict.links],
        ),
        Metric(
            "mpigauge_map_link_failed", "A link that failed.", [(_ends(link.names), 1.0) for link in failed]
        ),
        Metric(
            "mpigauge_map_latency_seconds",
            "Median of the one-way times of all links.",
            _usual(shown, shown.latency_bytes, latency_of),
        ),
        Metric(
            "mpigauge_map_bandwidth_bytes_per_second",
            "Median of the bandwidths of all links.",
            _usual(shown, shown.rate_bytes, rate_of),
        ),
        Metric("mpigauge_map_launches", "Launches that the map is of.", [({}, float(shown.launches))]),
    ]


def pair_metrics(links: Sequence[MeasuredLink]) -> list[Metric]:
    """Return the times of some pairs by size."""
    times = [
        (_ends(link.names) | {"bytes": str(row.cell.bytes)}, row.time.estimate)
        for link in links
        for row in link.rows
        if row.time
    ]
    return [Metric("mpigauge_map_pair_latency_seconds", "One-way time between two of the map.", times)]


def _number(name: str, about: str, found: Sized) -> Metric:
    return Metric(f"mpigauge_map_{name}", about, [({}, float(len(found)))])


def _ends(names: Sequence[str]) -> dict[str, str]:
    return {"host": names[0], "peer": names[1]}


def _flaky(slow: SlowElement) -> dict[str, str]:
    return {"flaky": str(slow.flaky).lower()}


def _usual(
    shown: LinkMap, size_bytes: int | None, value_of: Callable[[MeasuredLink], float | None]
) -> list[tuple[dict[str, str], float]]:
    """Return the median over links of a quantity, with its size; nothing where no link has it."""
    values = [value for value in map(value_of, shown.links) if value is not None]
    return [({"bytes": str(size_bytes)}, median(values))] if values and size_bytes is not None else []
