"""What the hardware says of the states of a machine: whether the ranks shared a core or a cache in them.

It can tell where ranks were bound to one processor each, and to others from launch to launch. It knows
nothing of what a hypervisor moves, and of ranks that are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.result.cpu_lists import is_number, ranges
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.split import split_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch
    from mpigauge.vocabulary import Nearness, StateName

CORE = "core"
"""The group of processors that are threads of one core; the others are of the last cache that some share."""


def nearness_of(result: Result) -> Mapping[StateName, Nearness]:
    """Return what all visits of a state have in common; states of which that is not one thing are left out.

    Nothing at all if it is the same in all states: then it is not what makes them.
    """
    groups, split = measured_machine(result).cpu_groups, split_of(result)
    seats = {(one.number, one.job): _nearness(_cpus(one), groups) for one in result.launches}
    found: dict[StateName, set[Nearness | None]] = {}
    for visit in result.visits:
        if visit.line_ns and (name := split.of(visit)) is not None:
            found.setdefault(name, set()).add(seats.get((visit.launch, visit.cell.job)))
    told = {name: near for name, all_ in found.items() if len(all_) == 1 and (near := next(iter(all_)))}
    return told if len(set(told.values())) > 1 else {}


def _cpus(launch: Launch) -> Sequence[int]:
    """Return the processor of each rank; none if a rank had several, or if they were on several hosts."""
    places = launch.ranks_at
    if len({place.host for place in places}) != 1 or not all(is_number(place.cpus) for place in places):
        return ()
    return [int(place.cpus) for place in places]


def _nearness(cpus: Sequence[int], groups: Mapping[str, Iterable[str]]) -> Nearness | None:
    """Return what the ranks share."""
    shared = {name: [ranges(text) for text in texts] for name, texts in groups.items()}
    if len(cpus) < 2 or CORE not in shared:  # noqa: PLR2004 - a pair
        return None
    if _share(cpus, shared.pop(CORE)):
        return "core"
    caches = next(iter(shared.values()), None)
    if caches is None:
        return None
    return "cache" if _share(cpus, caches) else "apart"


def _share(cpus: Sequence[int], groups: Sequence[Sequence[range]]) -> bool:
    """Return whether all are in one group; groups have no processor in common."""
    return any(all(any(cpu in part for part in group) for cpu in cpus) for group in groups)
