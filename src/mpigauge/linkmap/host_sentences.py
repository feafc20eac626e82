"""What hosts differ in, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.linkmap.hosts_differ import HostDifference, Value
    from mpigauge.linkmap.linkmap import LinkMap

FACTS: Mapping[str, str] = {
    "cpu": "processor",
    "kernel": "kernel release",
    "cache_bytes": "largest cache",
    "memory_bytes": "memory",
    "microcode": "microcode",
    "online": "processors online",
    "governor": "frequency governor",
    "clock_source": "clock source",
    "cards": "network cards",
    "speed": "speed",
    "mtu": "MTU",
    "driver": "driver",
    "firmware": "firmware",
}
"""What facts are called."""

NOT_SAID = "not visible"
NAMES_SHOWN, LINES_SHOWN = 6, 5


def fact_words(one: HostDifference) -> str:
    """Return what differs: "MTU of eth0"."""
    return f"{FACTS[one.fact]} of {one.card}" if one.card else FACTS[one.fact]


def value_words(one: HostDifference, value: Value) -> str:
    """Return a value as a person reads it."""
    if not value:
        return "none" if one.fact == "cards" else NOT_SAID
    return units.format_size(value) if isinstance(value, int) else value


def names(hosts: Sequence[str]) -> str:
    """Return names of hosts, as many as a line has room for."""
    more = len(hosts) - NAMES_SHOWN
    return ", ".join(hosts) if more <= 1 else f"{', '.join(hosts[:NAMES_SHOWN])} and {more} more"


def values_words(one: HostDifference) -> str:
    """Return which hosts have which value: "9000 on 15 of 16, 1500 on h3"."""
    total = sum(len(hosts) for _, hosts in one.values)
    said = []
    for place, (value, hosts) in enumerate(one.values):
        where = f"{len(hosts)} of {total}" if place == 0 and one.usual is not None else names(hosts)
        said.append(f"{value_words(one, value)} on {where}")
    return ", ".join(said)


def sentence(one: HostDifference) -> str:
    """Return "hosts differ: MTU of eth0: 9000 on 15 of 16, 1500 on h3"."""
    return f"hosts differ: {fact_words(one)}: {values_words(one)}"


def lines(shown: LinkMap) -> Iterator[str]:
    """Yield the differences of a map's hosts; first those in which a slow host differs from most."""
    blamed = (*shown.verdict.hosts, *shown.verdict.links)
    slow = {name.partition(":")[0] for one in blamed for name in one.names}
    found = sorted(shown.differences, key=lambda one: not slow & {*one.outliers})
    yield from map(sentence, found[:LINES_SHOWN])
    if len(found) > LINES_SHOWN:
        yield f"hosts differ: {len(found) - LINES_SHOWN} more: --format json"
