"""Checking that the launcher has started each rank on the host that the plan asks for."""

import platform
from collections.abc import Sequence

from mpigauge.campaign.launch.preflight import is_here
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.hosts import short


def check_placement(asked_hosts: Sequence[str], actual_hosts: Sequence[str]) -> None:
    """Compare the host asked for with the host that each rank reports.

    A host may report another name than the one that was asked for. But ranks meant for one host must be on
    one host, ranks meant for two on two, and none on a host that was meant for others.

    Args:
        asked_hosts: The host asked for, per rank; empty if all ranks are to run on this machine.
        actual_hosts: The host that each rank reports.

    Raises:
        EnvironmentLacksError: A rank is on the wrong host; names the first one.
    """
    if not asked_hosts:
        _check_here(actual_hosts)
        return
    asked_hosts = [short(host) for host in asked_hosts]
    actual_of: dict[str, str] = {}
    asked_of: dict[str, str] = {}
    for rank, (asked, actual) in enumerate(zip(asked_hosts, map(short, actual_hosts), strict=True)):
        owner = asked_of.setdefault(actual, asked)
        is_wrong = actual != asked and actual in asked_hosts
        if is_wrong or owner != asked or actual_of.setdefault(asked, actual) != actual:
            others = f", like ranks meant for {owner}" if owner not in (asked, actual) else ""
            raise EnvironmentLacksError(
                f"rank {rank} should be on {asked}, but is on {actual}{others}",
                "does the launcher know these hosts? mpigauge run --dry-run shows its command",
            )


def _check_here(actual_hosts: Sequence[str]) -> None:
    """Refuse ranks on other machines: a launcher may take hosts from a default file or a scheduler."""
    this_host = platform.node()
    for rank, actual in enumerate(actual_hosts):
        if short(actual) != short(this_host) and not is_here(actual):
            raise EnvironmentLacksError(
                f"rank {rank} should be on this machine, {this_host}, but is on {actual}",
                "if that host is meant, name it: --hosts; else look for a default host file of the library",
            )
