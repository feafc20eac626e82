"""Whether ranks landed where they were sent."""

import platform
from collections.abc import Sequence

from mpigauge.campaign.launch.preflight import is_here
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.hosts import short


def check_landed(asked: Sequence[str], found: Sequence[str]) -> None:
    """Holds where ranks were sent against where they say they are.

    A host may call itself otherwise than we do; but ranks sent to one host must be on one, those sent
    to two on two, and none on a host that was meant for another.

    Args:
        asked: The host of each rank; empty if all are to be on this machine.
        found: What each rank says.

    Raises:
        EnvironmentLacksError: Names the first rank that is elsewhere.
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
    """A launcher may know of hosts by itself: by a default host file, or from a scheduler."""
    here = platform.node()
    for rank, said in enumerate(found):
        if short(said) != short(here) and not is_here(said):
            raise EnvironmentLacksError(
                f"rank {rank} should be on this machine, {here}, but is on {said}",
                "if that host is meant, name it: --hosts; else look for a default host file of the library",
            )
