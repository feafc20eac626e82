"""Does `mpigauge map` name the link that is slow, also in some launches only, and nobody else? Simulated.

    python benchmarks/links.py [MAPS] [--before DIR]

A map has two sizes; one of them is made up here, launch by launch, and judged by the rule of the map with the
share of the error rate that it has there. Noise is of the logarithm of a launch's median. Which launches a
flaky link or host is slow in is drawn for each map. `--before DIR` judges the same maps by the `src` of
another version, too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mpigauge.linkmap.slow_links import ERROR_RATE, FACTOR, blame, groups_of

Values = npt.NDArray[np.float64]
Random = np.random.Generator
Noise = Callable[[Random, int, int], Values]
"""Function that returns noise, shape ``(launches, hosts, hosts)``; only what is above the diagonal counts."""

Structure = Callable[[Random, int], Values]
"""Function that returns fixed differences of links, shape ``(hosts, hosts)``."""

MAPS = 40
SIZES_OF_MAP = 2
LINK, HOST, TWO_LINKS = ((1, 2),), ((2, 2),), ((1, 2), (0, 3))
"""Culprits: a link has two ends, a host is twice its own."""


# ---- What a network does by itself ---------------------------------------------------------------


def normal(deviation: float) -> Noise:
    """Return noise of launches with a normal distribution."""
    return lambda random, launches, hosts: random.normal(0, deviation, (launches, hosts, hosts))


def exponential(random: Random, launches: int, hosts: int) -> Values:
    """Return noise of launches that are late by 10 % in the mean."""
    return random.exponential(0.1, (launches, hosts, hosts))


def heavy(random: Random, launches: int, hosts: int) -> Values:
    """Return noise of Student's t with two degrees of freedom, which has no variance."""
    return 0.05 * random.standard_t(2, (launches, hosts, hosts))


def bursts_of_links(random: Random, launches: int, hosts: int) -> Values:
    """Return noise in which one link in twenty takes twice as long in a launch."""
    struck = random.random((launches, hosts, hosts)) < 0.05
    return normal(0.03)(random, launches, hosts) + np.where(struck, np.log(2), 0)


def bursts_of_hosts(random: Random, launches: int, hosts: int) -> Values:
    """Return noise in which one host in ten takes twice as long in a launch, with all others."""
    struck = np.where(random.random((launches, hosts)) < 0.1, np.log(2), 0)
    return normal(0.03)(random, launches, hosts) + struck[:, :, None] + struck[:, None, :]


def uniform(_: Random, hosts: int) -> Values:
    """Return a network of equal links."""
    return np.zeros((hosts, hosts))


def racks(_: Random, hosts: int) -> Values:
    """Return a network of two switches."""
    return _between(np.arange(hosts) % 2, 1.8)


def tiers(far: float, near: float) -> Structure:
    """Return a network of three levels of switches."""

    def structure(_: Random, hosts: int) -> Values:
        number = np.arange(hosts)
        outer, inner = _between(number // 4, far), _between(number // 2, near)
        return np.where(outer > 0, outer, inner)

    return structure


def unequal_hosts(random: Random, hosts: int) -> Values:
    """Return a network in which three hosts in ten are of another kind, 20 % slower."""
    slower = np.where(random.random(hosts) < 0.3, np.log(1.2), 0)
    return slower[:, None] + slower[None, :]


def unequal_links(random: Random, hosts: int) -> Values:
    """Return a network whose links differ by 10 %."""
    return random.normal(0, 0.1, (hosts, hosts))


def _between(groups: npt.NDArray[np.signedinteger], factor: float) -> Values:
    return np.where(groups[:, None] != groups[None, :], np.log(factor), 0.0)


USUAL = normal(0.05)


# ---- Maps ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """Maps of one kind.

    Attributes:
        shapes: Hosts and launches, of so many maps each.
        culprits: Links or hosts that are slow; none in a healthy network.
        factor: Factor by which they are slower.
        slow: Launches in which it does; None for all.
    """

    name: str
    shapes: tuple[tuple[int, int], ...]
    noise: Noise = USUAL
    structure: Structure = uniform
    culprits: tuple[tuple[int, int], ...] = ()
    factor: float = 1.0
    slow: int | None = None

    def maps(self, count: int) -> list[Values]:
        """Return maps: logarithms of times, as `blame` takes them."""
        random = np.random.default_rng(31)
        return [self._map(random, *shape) for shape in self.shapes for _ in range(count)]

    def _map(self, random: Random, hosts: int, launches: int) -> Values:
        logs = self.structure(random, hosts) + self.noise(random, launches, hosts)
        for culprit in self.culprits:
            struck = random.permutation(launches)[: self.slow]
            ends = sorted(culprit)
            for other in range(hosts) if ends[0] == ends[1] else ends[1:]:
                i, j = sorted((ends[0], other))
                logs[struck, i, j] += np.log(self.factor)
        logs = np.triu(logs, 1)
        logs = logs + np.swapaxes(logs, 1, 2)
        logs[:, np.arange(hosts), np.arange(hosts)] = np.nan
        return logs


FLAT = ((4, 5), (4, 10), (8, 5), (8, 10))
WIDE = ((6, 5), (12, 5))
HEALTHY = (
    World("healthy: normal, 5 %", FLAT),
    World("healthy: normal, 15 %", FLAT, normal(0.15)),
    World("healthy: exponential, 10 %", FLAT, exponential),
    World("healthy: Student's t of 2, 5 %", FLAT, heavy),
    World("healthy: bursts of links", FLAT, bursts_of_links),
    World("healthy: bursts of hosts", FLAT, bursts_of_hosts),
)
UNEQUAL = (
    World("two racks, × 1.8", WIDE, structure=racks),
    World("three tiers, × 1.3 and 1.9", WIDE, structure=tiers(1.9, 1.3)),
    World("three tiers, × 1.1 and 1.2", WIDE, structure=tiers(1.2, 1.1)),
    World("hosts × 1.2", WIDE, structure=unequal_hosts),
    World("links that differ by 10 %", WIDE, structure=unequal_links),
)
PERMANENT = tuple(
    World(f"{name}, {launches} launches", ((6, launches),), culprits=culprits, factor=factor)
    for name, culprits, factor in (
        ("link × 1.2, less than is asked", LINK, 1.2),
        ("link × 1.3", LINK, 1.3),
        ("link × 1.5", LINK, 1.5),
        ("host × 1.2, less than is asked", HOST, 1.2),
        ("host × 1.3", HOST, 1.3),
        ("two links × 2", TWO_LINKS, 2.0),
    )
    for launches in (5, 10)
)
FLAKY = tuple(
    World(f"{name} × 3 in {slow} of {launches}", ((hosts, launches),), culprits=who, factor=3.0, slow=slow)
    for name, who, hosts in (("link", LINK, 6), ("host", HOST, 8), ("two links", TWO_LINKS, 12))
    for slow, launches in ((1, 10), (2, 10), (3, 10), (4, 10), (5, 10), (2, 5), (3, 5))
)
WORLDS = (*HEALTHY, *UNEQUAL, *PERMANENT, *FLAKY)


# ---- What is said of them ------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Number of maps of a world by finding.

    Attributes:
        slow: Have anything called slow.
        named: Have the culprits called slow and nothing else.
        others: Have anything else called slow.
        open: Are undecided: nothing is called slow, but something may be.
    """

    maps: int
    slow: int
    named: int
    others: int
    open: int


def judged(world: World, count: int = MAPS) -> Found:
    """Return the findings of the rule in so many maps of each shape."""
    slow = named = others = undecided = 0
    maps = world.maps(count)
    for logs in maps:
        hosts = logs.shape[1]
        tests = SIZES_OF_MAP * hosts * (hosts + 1) // 2
        one = blame(logs, groups_of(logs), FACTOR, ERROR_RATE / tests)
        blamed = {*one.links, *((host, host) for host in one.hosts)}
        slow += bool(blamed)
        named += bool(blamed) and blamed == {*world.culprits}
        others += not blamed <= {*world.culprits}
        needed = one.launches_needed or math.inf
        undecided += not blamed and (bool(one.suspects) or needed > len(logs))
    return Found(len(maps), slow, named, others, undecided)


def lines(count: int) -> list[tuple[str, Found]]:
    """Return the rows of the table."""
    return [(world.name, judged(world, count)) for world in WORLDS]


def of_version(sources: Path, count: int) -> list[tuple[str, Found]]:
    """Return the rows by the sources of another version.

    Raises:
        subprocess.CalledProcessError: They cannot judge.
    """
    done = subprocess.run(
        [sys.executable, __file__, str(count), "--json"],
        env={**os.environ, "PYTHONPATH": str(sources)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [(name, Found(**found)) for name, found in json.loads(done.stdout)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="maps of made-up networks, judged")
    parser.add_argument("maps", nargs="?", type=int, default=MAPS, help="of each shape")
    parser.add_argument("--before", type=Path, metavar="DIR", help="src of another version, beside this one")
    parser.add_argument("--json", action="store_true", help="for the other version")
    arguments = parser.parse_args()
    if arguments.json:
        print(json.dumps([(name, vars(found)) for name, found in lines(arguments.maps)]))
        return
    before = dict(of_version(arguments.before, arguments.maps)) if arguments.before else {}
    print("| network | version | maps | anything slow | the culprit alone | others slow | undecided |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, found in lines(arguments.maps):
        for version, one in (*([("before", before[name])] if before else []), ("now", found)):
            counts = f"{one.slow} | {one.named} | {one.others} | {one.open}"
            print(f"| {name} | {version} | {one.maps} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
