"""Models of campaigns whose machine is known: errors of parameters, how often intervals hold, false breaks.

    python benchmarks/models.py [--campaigns 200]

Launches are simulated, none is made. Each line of the first table is a machine and a number of launches; of
the second, curves of one line, in which every break is a false one. The third has pairs of curves, as two
modes of one pattern are, whose breaks are looked for together and by each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from mpigauge.analysis.models.model import Model, model_of  # noqa: E402
from mpigauge.analysis.models.segments import cut  # noqa: E402
from mpigauge.analysis.models.together import cuts_together  # noqa: E402
from tests.unit.analysis.planted_models import ONE_LINE, Machine, sizes_to  # noqa: E402

MACHINES = {
    "noise of sizes 1 %": Machine(),
    "noise of launches 2 %": Machine(common=0.02, own=0.005),
    "lines fit within 2 %": Machine(misfit=0.02),
    "lines fit within 4 %": Machine(common=0.005, own=0.005, misfit=0.04),
}
LAUNCHES = (5, 10, 20)
NOISES = (0.01, 0.03, 0.1)
SIZES = (16, 24, 44)
LIMIT_BYTES = 4000
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
    found = model_of(machine.campaign(chance, launches))
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
                errors.append(abs(number.value / truth - 1))
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
        ways = [cut(one.sizes, one.logs) for one in curves], cuts_together(curves)
        for way, cuts in enumerate(ways):
            edges = [list(one.edges[1:-1]) for one in cuts]
            right[way] += sum(mine == truth for mine, truth in zip(edges, truths, strict=True))
            false[way] += sum(not {*mine} <= {*truth} for mine, truth in zip(edges, truths, strict=True))
    shares = [*(right / 2 / campaigns), *(false / 2 / campaigns)]
    return f"| {name} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"


def _jumping(limit: int, jump: float) -> Machine:
    segments = ((limit, 500e-9, 1 / 8e9), (np.inf, jump * 500e-9, jump / 8e9))
    return Machine(segments, common=0.0, own=0.02, sizes=sizes_to(2**20, 30))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=200)
    campaigns = parser.parse_args().campaigns
    print(
        "| machine | launches | breaks right | one too many | of them called found | "
        "error, median | 95 % of errors below | intervals hold |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, machine in MACHINES.items():
        for launches in LAUNCHES:
            print(f"| {name} {planted(machine, launches, campaigns)}", flush=True)
    print()
    print(f"| noise | {' | '.join(f'{count} sizes' for count in SIZES)} |")
    print("| ---: | " + " | ".join("---:" for _ in SIZES) + " |")
    for noise in NOISES:
        shares = [false_breaks(noise, count, 5 * campaigns) for count in SIZES]
        print(f"| {noise:.0%} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |", flush=True)
    print()
    print("| break in | by each, right | together, right | by each, false | together, false |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, jumps in PAIRS.items():
        print(in_pairs(name, jumps, 2 * campaigns), flush=True)


if __name__ == "__main__":
    main()
