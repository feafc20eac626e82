"""The limits of our control groups: processors, memory, and how often they have throttled us.

Our own group may be nested in others, each with limits of its own: the narrowest counts. Version 2 has one
tree of groups, version 1 one per controller.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mpigauge.result.cpu_lists import ranges
from mpigauge.result.system_files import read

ROOT = Path("/sys/fs/cgroup")
OWN_GROUPS = "/proc/self/cgroup"
CPU_LISTS = ("cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus")
"""Files with the processors of a group, of version 2 and of version 1."""


def cpu_quota() -> float:
    """Return the CPU quota in processors; 0 if there is no limit."""
    quotas = [quota for folder in _folders("cpu") if (quota := _quota(folder))]
    return min(quotas, default=0.0)


def cpus() -> int | None:
    """Return how many processors the groups allow to run on; None if they say nothing."""
    lists = [
        next(filter(None, (read(folder / name) for name in CPU_LISTS)), "") for folder in _folders("cpuset")
    ]
    return min((count for text in lists if (count := sum(map(len, ranges(text))))), default=None)


def memory_left_bytes() -> int | None:
    """Return the bytes left to allocate, counting reclaimable memory as free; None without a limit."""
    limits = [bytes_ for folder in _folders("memory") if (bytes_ := _left(folder)) is not None]
    return min(limits, default=None)


def throttle_count() -> int:
    """Return how often our processes were throttled since the groups were made."""
    return sum(_number_in(read(folder / "cpu.stat"), "nr_throttled") for folder in _folders("cpu"))


def _quota(folder: Path) -> float:
    quota, _, period = read(folder / "cpu.max").partition(" ")
    if not quota:
        quota, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
    return int(quota) / int(period) if quota.isdecimal() and period.isdecimal() and int(period) else 0.0


def _left(folder: Path) -> int | None:
    limit, used = read(folder / "memory.max"), read(folder / "memory.current")
    if not limit:
        limit, used = read(folder / "memory.limit_in_bytes"), read(folder / "memory.usage_in_bytes")
    if not (limit.isdecimal() and used.isdecimal()):
        return None
    # Cached files count as used, too, but can be reclaimed.
    files = _number_in(read(folder / "memory.stat"), "(?:total_)?inactive_file")
    return max(0, int(limit) - max(0, int(used) - files))


def _number_in(text: str, name: str) -> int:
    match = re.findall(rf"^{name} (\d+)$", text, re.MULTILINE)
    return int(match[-1]) if match else 0


def _folders(controller: str) -> Iterator[Path]:
    """Return the folders of our group and of all its ancestors, as far as they can be seen.

    A container may see its own group as the root, but the path that the host has for it.
    """
    seen: set[Path] = set()
    for base, path in _trees(controller):
        inside = base if ".." in path.split("/") else base / path.lstrip("/")
        ancestors = {folder.resolve() for folder in (inside, *inside.parents) if folder.is_relative_to(base)}
        yield from ancestors - seen
        seen |= ancestors


def _trees(controller: str) -> Iterator[tuple[Path, str]]:
    """Yield the root of each tree that has a controller, and our path in it."""
    lines = [line.split(":", 2) for line in read(OWN_GROUPS).splitlines() if line.count(":") > 1]
    for _, controllers, path in lines:
        if not controllers:
            yield from ((base, path) for base in (ROOT, ROOT / "unified"))
        elif controller in controllers.split(","):
            yield ROOT / controllers, path
            yield ROOT / controller, path
    if not lines:
        yield ROOT, "/"
