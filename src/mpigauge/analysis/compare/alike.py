"""Whether two results are of one machine, measured in one way: else their numbers tell of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.result.reader import Result


def differences(base: Result, other: Result) -> list[str]:
    """In what they differ; versions of the system and of libraries may, and are what is compared.

    Of imported numbers no machine is known, and whoever imported them has not measured them.
    """
    return apart(*({**_instrument(one), **machine_of(one)} for one in (base, other)))


def _instrument(result: Result) -> dict[str, str]:
    """The version that measured it, if one did."""
    return {} if result.imported and not result.launches else {"mpigauge": result.campaign.mpigauge}


def apart(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """What both know and is not the same, with both values."""
    return [f"{what} {first[what]}, {second[what]}" for what in changed(first, second)]


def changed(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """The names of what both know and is not the same."""
    return [what for what in first if what in second and first[what] != second[what]]


def machine_of(result: Result) -> dict[str, str]:
    """What a machine is, and the clock that it was measured by; without what is not known."""
    return {name: value for name, value in _named(result) if value}


def _named(result: Result) -> Iterator[tuple[str, str]]:
    campaign = result.campaign
    here = campaign.environment
    yield "host", ",".join(host.name for host in campaign.plan.hosts) or here.host
    yield "processor", here.cpu
    yield "cores", str(here.cores or "")
    yield "clock", ",".join(sorted({launch.clock for launch in result.launches}))
