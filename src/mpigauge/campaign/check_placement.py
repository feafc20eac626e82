"""Checking that the launcher has started each rank on the host that the plan asks for."""

import platform
from collections.abc import Sequence

from mpigauge.campaign.launch.preflight import is_here
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.hosts import short


def check_placement(asked: Sequence[str], found: Sequence[str]) -> None:
    """Compare the host asked for with the host that each rank reports.

    A host may report another name than the one that was asked for. But ranks meant for one host must be on
    one host, ranks meant for two on two, and none on a host that was meant for others.

    Args:
        asked: The host asked for, per rank; empty if all ranks are to run on this machine.
        found: The host that each rank reports.

    Raises:
        EnvironmentLacksError: A rank is on the wrong host; names the first one.
    """
    if not asked:
        _check_here(found)
        return
    asked = [short(host) for host in asked]
    place_of: dict[str, str] = {}
    meant_for: dict[str, str] = {}
    for rank, (meant, said) in enumerate(zip(asked, map(short, found), strict=True)):
        owner = meant_for.setdefault(said, meant)
        elsewhere = said != meant and said in asked
        if elsewhere or owner != meant or place_of.setdefault(meant, said) != said:
            others = f", like ranks meant for {owner}" if owner not in (meant, said) else ""
            raise EnvironmentLacksError(
                f"rank {rank} should be on {meant}, but is on {said}{others}",
                "does the launcher know these hosts? mpigauge run --dry-run shows its command",
            )


def _check_here(found: Sequence[str]) -> None:
    """Refuse ranks on other machines: a launcher may take hosts from a default file or a scheduler."""
    here = platform.node()
    for rank, said in enumerate(found):
        if short(said) != short(here) and not is_here(said):
            raise EnvironmentLacksError(
                f"rank {rank} should be on this machine, {here}, but is on {said}",
                "if that host is meant, name it: --hosts; else look for a default host file of the library",
            )
