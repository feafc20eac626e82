"""One cluster for all tests here, and MPI libraries that know how to live in it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from tests.real.mpi.conftest import prefix
from tests.real.slurm.cluster import Cluster, wait_until
from tests.thorough import rest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = 4
MPIGAUGE = (sys.executable, "-m", "mpigauge")


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of four nodes."""
    with Cluster(tmp_path_factory.mktemp("cluster"), NODES) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster with no job in it; we are in an empty folder that all nodes see.

    All nodes wait for a job, so that the first ones are given out first.
    """
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    wait_until(lambda: running.idle() == running.nodes, "the nodes to be idle")
    yield running
    running.run("scancel", "--user=root", "--signal=KILL", "--full")
    running.run("scancel", "--user=root")


@pytest.fixture(params=rest(["openmpi", "mpich", "intelmpi"], ["openmpi"]))
def mpi(request: pytest.FixtureRequest) -> str:
    """What --mpi takes for each library."""
    return prefix(request.param)
