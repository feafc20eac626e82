"""Models of campaigns whose machine is known: errors of parameters, how often intervals hold, false breaks.

    python benchmarks/models.py [--campaigns 200] [--only lines,false] [--before DIR]

Launches are simulated, none is made. Each line of the first table is a machine and a number of launches; of
the second, curves of one line, in which every break is a false one. The third has pairs of curves, as two
modes of one pattern are, whose breaks are looked for together and by each. The fourth has breaks with few
sizes above them, the fifth eager limits that were probed, the sixth predictions of sizes beyond all others.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.stats.interval import Number

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from mpigauge.models.model import (  # noqa: E402
    Model,
    Points,
    joint_cuts,
    models_of,
)
from mpigauge.models.predict import predicted  # noqa: E402
from mpigauge.stats.limits import PROMISED  # noqa: E402
from mpigauge.stats.segments import cut  # noqa: E402
from tests.unit.models.planted_models import ONE_LINE, Machine, sizes_to  # noqa: E402

MACHINES = {
    "noise of sizes 1 %": Machine(),
    "noise of launches 2 %": Machine(common=0.02, own=0.005),
    "lines fit within 2 %": Machine(misfit=0.02),
    "lines fit within 4 %": Machine(common=0.005, own=0.005, misfit=0.04),
    "one launch of 20 × 1.5": Machine(odd=0.05),
}
LAUNCHES = (5, 10, 20)
NOISES = (0.01, 0.03, 0.1)
SIZES = (16, 24, 44)
LIMIT_BYTES = 4000
JUMPS = (1.1, 1.3, 2.0)
LIMITS = (1.0, 1.05, 1.3)
BEYOND = (1.5, 2, 4, 8, 32)
"""Sizes that are predicted, over the largest of those that were measured."""

PAIRS = {
    "both, × 1.1": (1.1, 1.1),
    "both, × 1.15": (1.15, 1.15),
    "both, × 1.3": (1.3, 1.3),
    "one, × 1.3": (1.3, 1.0),
    "one, × 2": (2.0, 1.0),
    "both, two sizes apart, × 1.15": (1.15, 1.15),
    "both, two sizes apart, × 1.3": (1.3, 1.3),
    "none": (1.0, 1.0),
}
"""By how much the times of each curve jump at the break."""


def modelled(machine: Machine, chance: np.random.Generator, launches: int) -> Model:
    """Of one campaign."""
    found = models_of([machine.campaign(chance, launches)])[0]
    if found is None:
        raise ValueError("a machine has four sizes or more")
    return found


def planted(machine: Machine, launches: int, campaigns: int) -> str:
    """A line of the first table."""
    chance = np.random.default_rng(1)
    right, extra, named, covered, errors = 0, 0, 0, [], []
    for _ in range(campaigns):
        model = modelled(machine, chance, launches)
        edges = list(model.cut.edges[1:-1])
        extra += len(edges) > len(machine.breaks)
        named += sum(one.kind == "found" for one in model.breaks) > len(machine.breaks)
        if edges != machine.breaks:
            continue
        right += 1
        for segment, (_, alpha, beta) in zip(model.segments, machine.segments, strict=True):
            for number, truth in ((segment.alpha, alpha), (segment.beta, beta)):
                covered.append((number.low or 0.0) <= truth <= (number.high or 0.0))
                errors.append(abs(number.estimate / truth - 1))
    shares = " | ".join(f"{100 * each / campaigns:.1f} %" for each in (right, extra, named))
    middle, far = (f"{100 * np.quantile(errors, share):.1f} %" for share in (0.5, 0.95))
    return f"| {launches} | {shares} | {middle} | {far} | {100 * np.mean(covered):.1f} % |"


def false_breaks(noise: float, count: int, campaigns: int) -> float:
    """Share of curves of one line that are given a break."""
    chance = np.random.default_rng(2)
    machine = Machine(segments=ONE_LINE, common=0.0, own=noise, sizes=sizes_to(2**23, count))
    campaigns_ = (machine.campaign(chance, 1) for _ in range(campaigns))
    return sum(cut(one.sizes, one.logs).count > 1 for one in campaigns_) / campaigns


def in_pairs(name: str, jumps: tuple[float, float], campaigns: int) -> str:
    """A line of the third table."""
    chance = np.random.default_rng(3)
    limits = (LIMIT_BYTES, 3 * LIMIT_BYTES if "apart" in name else LIMIT_BYTES)
    machines = [_jumping(limit, jump) for limit, jump in zip(limits, jumps, strict=True)]
    truths = [one.breaks if jump > 1 else [] for one, jump in zip(machines, jumps, strict=True)]
    right, false = np.zeros(2), np.zeros(2)
    for _ in range(campaigns):
        curves = [one.campaign(chance, 1) for one in machines]
        ways = [cut(one.sizes, one.logs) for one in curves], joint_cuts(curves)
        for way, cuts in enumerate(ways):
            edges = [list(one.edges[1:-1]) for one in cuts]
            right[way] += sum(mine == truth for mine, truth in zip(edges, truths, strict=True))
            false[way] += sum(not {*mine} <= {*truth} for mine, truth in zip(edges, truths, strict=True))
    shares = [*(right / 2 / campaigns), *(false / 2 / campaigns)]
    return f"| {name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"


def _jumping(limit: int, jump: float) -> Machine:
    segments = ((limit, 500e-9, 1 / 8e9), (np.inf, jump * 500e-9, jump / 8e9))
    return Machine(segments, common=0.0, own=0.02, sizes=sizes_to(2**20, 30))


def few_above(above: int, jump: float, noise: float, campaigns: int) -> str:
    """Shares of curves with just their break, and of those with a break where one size is disturbed."""
    chance, sizes = np.random.default_rng(4), sizes_to(2**23, 24)
    parts = ((sizes[-above] - 1, 1e-6, 1e-9), (np.inf, jump * 1e-6, jump * 1e-9))
    machine = Machine(parts, common=0.0, own=noise, sizes=sizes)
    found = [cut(one.sizes, one.logs).edges for one in _curves(machine, chance, campaigns)]
    right = sum(edges == (0, sizes.size - above, sizes.size) for edges in found)
    line, false = Machine(ONE_LINE, common=0.0, own=noise, sizes=sizes), 0
    for one in _curves(line, chance, campaigns):
        logs = one.logs.copy()
        logs[-above] += np.log(jump)
        false += cut(one.sizes, logs).count > 1
    return (
        f"| {above} | × {jump} | {noise:.0%} | {_percent(right, campaigns)} | {_percent(false, campaigns)} |"
    )


def _curves(machine: Machine, chance: np.random.Generator, campaigns: int) -> Iterator[Points]:
    return (machine.campaign(chance, 1) for _ in range(campaigns))


def _percent(share: float, of: float) -> str:
    return f"{100 * share / of:.1f} %" if of else "-"


def probed(jump: float, noise: float, campaigns: int) -> str:
    """How often a limit that was probed is a break."""
    chance, sizes = np.random.default_rng(5), sizes_to(2**23, 24)
    machine = Machine(
        ((LIMIT_BYTES, 1e-6, 1e-9), (np.inf, jump * 1e-6, jump * 1e-9)), common=0.0, own=noise, sizes=sizes
    )
    curves = (machine.campaign(chance, 1, (LIMIT_BYTES,)) for _ in range(campaigns))
    kept = sum(one.forced[0] in cut(one.sizes, one.logs, one.forced).edges for one in curves)
    return f"| × {jump} | {noise:.0%} | {_percent(kept, campaigns)} |"


def beyond(campaigns: int) -> list[str]:
    """Of each size: how many predictions have an interval, and how many of these hold the truth.

    Half of the machines go on as they were; in the others the rate falls by half beyond the largest size.
    """
    chance, sizes = np.random.default_rng(6), sizes_to(2**19, 24)
    given, held = np.zeros(len(BEYOND)), np.zeros(len(BEYOND))
    for number in range(campaigns):
        machine = Machine(((np.inf, 1e-6, 1e-9),), sizes=sizes)
        model = modelled(machine, chance, 10)
        for place, times in enumerate(BEYOND):
            told = predicted(model, int(times * sizes[-1]))
            truth = 1e-6 + 1e-9 * times * sizes[-1] * (1 + number % 2)
            if told.mean is not None and told.mean.low is not None:
                given[place] += 1
                held[place] += told.mean.holds(truth)
    shares = zip(BEYOND, given, held, strict=True)
    return [
        f"| {times} | {_percent(one, campaigns)} | {_percent(right, one)} |" for times, one, right in shares
    ]


def usual(machine: Machine, campaigns: int) -> str:
    """How often intervals of alpha, bandwidth, and predictions hold, of 10 launches of 24 sizes."""
    chance, held, count = np.random.default_rng(7), np.zeros(3), np.zeros(3)
    for _ in range(campaigns):
        model = models_of([replace(machine.campaign(chance, 10, (4016,)), **FLOOR)])[0]
        if model is None or len(model.segments) != len(machine.segments):
            continue
        for segment, (_, alpha, beta) in zip(model.segments, machine.segments, strict=True):
            held[:2] += [_holds(segment.alpha, alpha), _holds(segment.beta, beta)]
            count[:2] += 1
        for size in (3000, 100 * 1024, 8 * 2**20):
            told = predicted(model, size)
            truth = float(machine.times(np.array([size]))[0])
            held[2] += told.mean is not None and told.mean.holds(truth)
            count[2] += 1
    return " | ".join(f"{right:.0f} of {of:.0f}" for right, of in zip(held, count, strict=True))


def _holds(number: Number, truth: float) -> bool:
    return (number.low or 0.0) <= truth <= (number.high or 0.0)


FLOOR: dict[str, Any] = {"machine": PROMISED} if "machine" in Points.__dataclass_fields__ else {}
"""As in results; a version before had none."""

USUAL = {
    "one line": ((np.inf, 300e-9, 1 / 12e9),),
    "two lines": ((4016, 300e-9, 1 / 12e9), (np.inf, 900e-9, 1 / 9e9)),
}


# ---- Tables --------------------------------------------------------------------------------------


def _lines(campaigns: int) -> Iterator[str]:
    yield (
        "| machine | launches | breaks right | one too many | of them called found | "
        "error, median | 95 % of errors below | intervals hold |"
    )
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, machine in MACHINES.items():
        for launches in LAUNCHES:
            yield f"| {name} {planted(machine, launches, campaigns)}"


def _false(campaigns: int) -> Iterator[str]:
    yield f"| noise | {' | '.join(f'{count} sizes' for count in SIZES)} |"
    yield "| ---: | " + " | ".join("---:" for _ in SIZES) + " |"
    for noise in NOISES:
        shares = [false_breaks(noise, count, 5 * campaigns) for count in SIZES]
        yield f"| {noise:.0%} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"


def _pairs(campaigns: int) -> Iterator[str]:
    yield "| break in | by each, right | together, right | by each, false | together, false |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, jumps in PAIRS.items():
        yield in_pairs(name, jumps, 2 * campaigns)


def _few(campaigns: int) -> Iterator[str]:
    yield "| sizes above | jump | noise | break right | break of one disturbed size |"
    yield "| ---: | ---: | ---: | ---: | ---: |"
    for above in (3, 4):
        for jump in JUMPS:
            yield from (few_above(above, jump, noise, campaigns) for noise in NOISES[:2])


def _probed(campaigns: int) -> Iterator[str]:
    yield "| jump at a probed limit | noise | is a break |"
    yield "| ---: | ---: | ---: |"
    for jump in LIMITS:
        yield from (probed(jump, noise, campaigns) for noise in NOISES[:2])


def _beyond(campaigns: int) -> Iterator[str]:
    yield "| size over the largest | has an interval | of these hold |"
    yield "| ---: | ---: | ---: |"
    yield from beyond(campaigns)


def _usual(campaigns: int) -> Iterator[str]:
    yield "| machine | alpha | bandwidth | predictions |"
    yield "| --- | ---: | ---: | ---: |"
    sizes = np.array([0, *(2.0 ** np.arange(23))])
    for name, segments in USUAL.items():
        machine = Machine(segments, common=0.007, own=0.007, sizes=sizes)
        yield f"| {name} | {usual(machine, campaigns)} |"


TABLES = {
    "lines": _lines,
    "false": _false,
    "pairs": _pairs,
    "few": _few,
    "probed": _probed,
    "beyond": _beyond,
    "usual": _usual,
}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--only", default=",".join(TABLES), help=f"tables: {', '.join(TABLES)}")
    parser.add_argument("--before", type=Path, metavar="DIR", help="src of another version, first")
    asked = parser.parse_args()
    if asked.before:
        words = ["--campaigns", str(asked.campaigns), "--only", asked.only]
        print("before", flush=True)
        subprocess.run(
            [sys.executable, __file__, *words],
            env={**os.environ, "PYTHONPATH": str(asked.before.resolve())},
            check=True,
        )
        print("now", flush=True)
    for name in asked.only.split(","):
        for line in TABLES[name](asked.campaigns):
            print(line, flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
