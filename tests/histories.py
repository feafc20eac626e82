"""Results of one plan over time, made by a law: a session a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from tests.made import LIBRARY, campaign, cell, launches_of, measured, result_of, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Record

FIRST = datetime(2026, 11, 1, 3, tzinfo=UTC)
SIZES = (8, 64, 512, 1024, 4096, 65536)
LAUNCHES = range(1, 4)
BASE_NS = 10_000


def records(
    number: int,
    factor: Callable[[Cell, int], float],
    *,
    mpi: str = "openmpi",
    version: str = "5.0.7",
    spread: float = 0.01,
    patterns: Sequence[str] = ("pingpong", "memcpy"),
    sizes: Sequence[int] = SIZES,
    **more: object,
) -> list[Record]:
    """The records of one session: cells share what its day does to them, and differ a little of their own.

    Args:
        more: Fields of all visits.
    """
    started = FIRST + timedelta(days=number)
    cells = [
        cell(pattern, size, "copy" if pattern == "memcpy" else "standard", mpi=mpi, mpi_version=version)
        for pattern in patterns
        for size in sizes
    ]
    chance = np.random.default_rng(number)
    day = {pattern: float(np.exp(spread * chance.normal())) for pattern in patterns}

    def samples_ns(of: Cell, _: int) -> list[int]:
        own = float(np.exp(spread / 4 * chance.normal()))
        return [round(2 * BASE_NS * day[of.pattern] * own * factor(of, number))] * 5

    head = replace(
        campaign(*cells), started=started.isoformat(), libraries=(replace(LIBRARY, version=version),)
    )
    launches = [
        replace(one, started=(started + timedelta(minutes=one.number)).isoformat())
        for one in launches_of(cells, LAUNCHES)
    ]
    return [head, *launches, *measured(cells, LAUNCHES, samples_ns, **more)]


def result(number: int, factor: Callable[[Cell, int], float], **more: object) -> Result:
    """One session in memory."""
    return result_of(*records(number, factor, **more))  # type: ignore[arg-type]


def folder(
    name: str, count: int, factor: Callable[[Cell, int], float], switch: int = 10**6, **more: object
) -> Path:
    """A folder with so many results; the library is another version from one of them on."""
    Path(name).mkdir(exist_ok=True)
    for number in range(count):
        version = "5.0.7" if number < switch else "5.0.8"
        made = records(number, factor, version=version, **more)  # type: ignore[arg-type]
        written(f"{name}/day{number:02}.jsonl", *made)
    return Path(name)


def usual(_: Cell, __: int) -> float:
    """Nothing changes."""
    return 1.0


def slower_from(
    place: int, by: float, upto: int = 10**9, *, patterns: Sequence[str] = ("pingpong",)
) -> Callable[[Cell, int], float]:
    """Sizes up to one take so many times as long from a session on."""
    return lambda of, number: by if number >= place and of.bytes <= upto and of.pattern in patterns else 1.0
