"""Maps of hosts that let everybody in, and what JSON says of one; and maps of several days by a law."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Measure
from tests.made import LIBRARY, PLACE, campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from tests.conftest import Cli, Done

HOSTS = "h1,h2,h3,h4,h5,h6"


def mapped(cli: Cli, *words: object, hosts: str = HOSTS) -> Done:
    """A map of hosts that let everybody in."""
    return cli("map", "--hosts", hosts, "--remote-shell", "/bin/true", *words)


def whole(done: Done) -> dict[str, Any]:
    """What JSON says."""
    said: dict[str, Any] = json.loads(done.out)
    return said


FIRST = datetime(2026, 11, 1, 3, tzinfo=UTC)
LAUNCHES = range(1, 6)
ONE_WAY_NS = {8: 40_000, 2**20: 9_000_000}


def map_records(
    number: int,
    factor: Callable[[str, int], float] = lambda _, __: 1.0,
    *,
    hosts: int = 4,
    spread: float = 0.01,
    label: str = "",
    version: str = "5.0.7",
    latencies_us: Mapping[str, Sequence[float]] | None = None,
    **more: object,
) -> list[Record]:
    """A map of hosts h1, h2 … that was made on a day, by a law: its links differ a little each day.

    Args:
        factor: How many times as long a pair of ranks ("0-2") takes at a size.
        spread: Standard deviation of a link's time from day to day.
        latencies_us: One-way times of 8 B of each pair, launch by launch, instead of the law.
        more: Fields of all visits.
    """
    started = FIRST + timedelta(days=number)
    names = [f"h{rank + 1}" for rank in range(hosts)]
    cells = [
        cell(
            size=size,
            ranks=hosts,
            placement="different-hosts",
            pair=f"{i}-{j}",
            pairing="tournament",
            label=label,
            mpi_version=version,
        )
        for size in ONE_WAY_NS
        for i, j in combinations(range(hosts), 2)
    ]
    chance = np.random.default_rng(number)
    days = {of: float(np.exp(spread * chance.normal())) for of in cells}

    numbers = LAUNCHES if latencies_us is None else range(1, 1 + max(map(len, latencies_us.values())))

    def samples_ns(of: Cell, launch: int) -> list[int]:
        if latencies_us is not None and of.bytes == min(ONE_WAY_NS):
            return [round(2000 * latencies_us[of.pair][launch - 1])] * 5
        own = float(np.exp(0.01 * chance.normal())) * days[of] * factor(of.pair, of.bytes)
        return [round(2 * ONE_WAY_NS[of.bytes] * own)] * 5

    head = campaign(*cells, title="link map")
    plan = replace(
        head.plan,
        measure=(Measure("pingpong", sizes="8,1MiB", pairs="tournament"),),
        hosts=tuple(Host(name) for name in names),
        ranks=(hosts,),
    )
    head = replace(
        head,
        started=started.isoformat(),
        plan=plan,
        libraries=(replace(LIBRARY, version=version, label=label),),
    )
    launches = [
        replace(
            one,
            started=(started + timedelta(minutes=one.number)).isoformat(),
            ranks_at=tuple(replace(PLACE, host=name) for name in names),
        )
        for one in launches_of(cells, numbers)
    ]
    return [head, *launches, *measured(cells, numbers, samples_ns, **more)]


def maps_before(count: int, **more: Any) -> None:
    """Maps of so many days in results/."""
    Path("results").mkdir(exist_ok=True)
    for number in range(count):
        written(f"results/map{number:02}.jsonl", *map_records(number, **more))


def slower_host(rank: int, by: float) -> Callable[[str, int], float]:
    """All links of a rank take so many times as long."""
    return lambda pair, _: by if str(rank) in pair.split("-") else 1.0
