"""Links of several rates and delays in one lab: what a campaign measures is what was planted."""

from __future__ import annotations

import subprocess
import sys
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.lab_truth import PlantedDelay, PlantedRate, planted
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from tests.real.lab.conftest import lab_environment
from tests.truth import check, truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

PLAN = """
title = "planted"
placements = ["h1,h2", "h1,h3", "h1,h4"]
launches = 2
sizes = "8,128KiB"
budget = "4min"

[lab]
hosts = 4
links = [
    {between = "h1-h2", rate = "10mbit", delay = "3ms"},
    {between = "h1-h3", rate = "30mbit", delay = "600us"},
    {between = "h1-h4", rate = "100mbit", delay = "50us"},
]

[[measure]]
pattern = "pingpong"
"""
PLACES = {"h1,h2", "h1,h3", "h1,h4"}

FRAMING = 0.02
RATE_LOST = 0.2
"""Of a rate: the delay of a message, what TCP waits in its beginning, and a busy machine."""

DELAY_SHARE = 0.1
HEADER_S = 2 * 64 * 8 / 10e6
"""A header of MPI of 64 B on both lanes of the slowest link."""

SOFTWARE_S = 100e-6
"""Of both hosts and the relay, of the fastest of many messages."""


def campaign(folder: Path) -> tuple[list[PlantedDelay | PlantedRate], float]:
    """What the fastest messages say of the links of a lab, and the share of visits that others disturbed."""
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    path = folder / "result.jsonl"
    path.unlink(missing_ok=True)
    words = [sys.executable, "-m", "mpigauge", "run", "--plan", "plan.toml", "-o", path.name, "-q"]
    environment = lab_environment(folder, "root")
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = load(path)
    cells = rows(result, "min")
    disturbed = [row.disturbed_share or 0.0 for row in cells if row.talks]
    return list(planted(Evidence(result, cells))), fmean(disturbed)


def missing(told: Sequence[PlantedDelay | PlantedRate]) -> Iterator[str]:
    """Links of which nothing is said, as a launch had no time for them."""
    for kind in (PlantedDelay, PlantedRate):
        unsaid = PLACES - {one.of.cell.placement for one in told if isinstance(one, kind)}
        yield from (f"{place}: no {kind.__name__}" for place in sorted(unsaid))


def judged(fact: PlantedDelay | PlantedRate) -> None:
    """Check what a busy machine may excuse."""
    where = fact.of.cell.placement
    if isinstance(fact, PlantedRate):
        share = fact.best.estimate / fact.payload_bytes_per_s
        check(f"{where}, rate found / planted", share, above=1 - RATE_LOST)
        return
    slack = DELAY_SHARE + (HEADER_S + SOFTWARE_S) / fact.planted_s
    ratio = fact.measured_s / fact.planted_s
    check(f"{where}, delay found / planted", ratio, above=1 - slack, below=1 + slack)


def impossible(fact: PlantedDelay | PlantedRate) -> bool:
    """Faster than the link, which nothing excuses."""
    if isinstance(fact, PlantedRate):
        return fact.best.estimate > (1 + FRAMING) * fact.payload_bytes_per_s
    return fact.base is None and fact.measured_s < fact.planted_s


@truth
def test_every_rate_and_delay_is_found_as_it_was_planted(folder: Path) -> None:
    told, disturbed = campaign(folder)
    print(f"others had the cores in {disturbed:.0%} of all visits")
    assert not [one for one in told if impossible(one)]
    assert not [*missing(told)]
    for one in told:
        judged(one)
