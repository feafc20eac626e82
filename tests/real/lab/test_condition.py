"""The condition of a visit between emulated hosts: the way that its messages go."""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

DELAY_NS = 1e6


@truth
def test_the_way_between_hosts_takes_what_the_smallest_message_does(lab: Lab, folder: Path) -> None:
    (folder / "r.jsonl").unlink(missing_ok=True)
    words = ["pingpong", "--mpi", prefix("mpich"), "--sizes", "8", "--launches", "1", "--samples", "80"]
    run = [sys.executable, "-m", "mpigauge", "run", "-q", "-o", "r.jsonl", *words, "--format", "json"]
    done = lab(*run, "--placement", "1,2", options=("--hosts", "2", "--delay", "1ms"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]
    visits = [visit for visit in load(folder / "r.jsonl").visits if visit.cell.pattern == "pingpong"]
    assert visits
    for visit in visits:
        assert not visit.line_ns
        assert min(visit.path_ns) > DELAY_NS
        assert visit.retransmits >= 0
    ratios = [median(visit.samples_ns) / visit.ops / median(visit.path_ns) for visit in visits]
    check("8 B message / way of the condition", median(ratios), above=0.8, below=1.25)
