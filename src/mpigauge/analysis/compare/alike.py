"""Whether two results are of one machine, measured in one way: else their numbers tell of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.result.reader import Result


def differences(base: Result, other: Result) -> list[str]:
    """In what they differ; versions of the system and of libraries may, and are what is compared."""
    first, second = _facts(base), _facts(other)
    both = first.keys() & second.keys()
    return [
        f"{what} {first[what]}, {second[what]}"
        for what in first
        if what in both and first[what] != second[what]
    ]


def _facts(result: Result) -> Mapping[str, str]:
    return {name: value for name, value in _named(result) if value}


def _named(result: Result) -> Iterator[tuple[str, str]]:
    """What the way of measuring and the machine are."""
    campaign = result.campaign
    here = campaign.environment
    yield "mpigauge", f"{campaign.mpigauge}"
    yield "host", ",".join(host.name for host in campaign.plan.hosts) or here.host
    yield "processor", here.cpu
    yield "cores", str(here.cores)
    yield "clock", ",".join(sorted({launch.clock for launch in result.launches}))
