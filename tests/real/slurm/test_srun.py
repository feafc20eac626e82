"""Campaigns whose ranks srun starts: a job of theirs ends when it should, and takes its ranks with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find
from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix, shim
from tests.real.slurm.cluster import wait_until
from tests.real.slurm.conftest import MPIGAUGE
from tests.real.slurm.jobs import VISITS, begun, check_whole, log
from tests.thorough import rest

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.mpi.library import Library
    from tests.real.slurm.cluster import Cluster

pytestmark = pytest.mark.slurm
__all__ = ["shim"]

BY_SRUN = ("--launcher", "srun", "--launches")
GONE_WITHIN_S = 120.0


def ranks(cluster: Cluster) -> list[str]:
    """The kernels that run on any node."""
    return cluster.run("pgrep", "-x", "mpigauge-kernel").stdout.split()


def submit(cluster: Cluster, *words: str, environment: dict[str, str] | None = None) -> str:
    """A job of two nodes that runs a campaign and then sleeps, so that only we end what is left."""
    named = [f"{name}={value}" for name, value in (environment or {}).items()]
    line = " ".join(["env", *named, *MPIGAUGE, *words])
    options = ("--nodes=2", "--ntasks-per-node=1", "--output=mpigauge-%j.log", "--requeue")
    return cluster.submit(*options, "--wrap", f"{line}; echo status $? >status; sleep 600")


@pytest.mark.parametrize("name", rest(["mpich", "openmpi"], ["mpich"]))  # a step of each plugin
def test_a_hang_costs_its_cell_and_leaves_no_rank(
    cluster: Cluster, name: str, shim: Callable[[Library], dict[str, str]]
) -> None:
    preloaded = shim(find.find(prefix(name))) | {"SHIM_ACTION": "hang", "SHIM_BYTES": "1024"}
    words = (
        "run",
        "pingpong",
        "--sizes",
        "8,1024,2048",
        "--seed",
        "7",
        "--mpi",
        prefix(name),
        "-o",
        "r.jsonl",
    )
    number = submit(cluster, *words, *BY_SRUN, "1", environment=preloaded)
    wait_until(Path("status").exists, "the campaign to end", 120)
    assert not ranks(cluster), log(number)
    assert Path("status").read_text(encoding="ascii") == "status 1\n", log(number)
    result = load(Path("r.jsonl"))
    assert {f.kind for f in result.failures} == {"timeout"}
    assert {f.cell.bytes for f in result.failures if f.cell} == {1024}
    made = {(v.cell.bytes, v.launch) for v in result.visits if v.cell.pattern == "pingpong"}
    assert made == {(8, 1), (2048, 1)}


def long_campaign(cluster: Cluster, name: str) -> str:
    """A job whose campaign has measured something and is not through."""
    number = submit(cluster, "run", *VISITS, "--mpi", prefix(name), "-o", "r.jsonl", *BY_SRUN, "2")
    wait_until(partial(begun, Path("r.jsonl")), "visits in r.jsonl")
    assert ranks(cluster)
    return number


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intelmpi"])
def test_a_killed_mpigauge_takes_its_ranks_along(cluster: Cluster, name: str) -> None:
    long_campaign(cluster, name)
    cluster.out("pkill", "-KILL", "-f", "mpigauge run pingpong")
    wait_until(lambda: not ranks(cluster), "ranks to end", GONE_WITHIN_S)


def test_a_killed_srun_costs_what_ran_and_the_campaign_goes_on(cluster: Cluster) -> None:
    number = long_campaign(cluster, "mpich")
    cluster.out("pkill", "-KILL", "-x", "srun")
    wait_until(Path("status").exists, "the campaign to end", 120)
    assert not ranks(cluster)
    result = load(Path("r.jsonl"))
    assert result.ends[-1].reason in {"launches", "budget"}, log(number)
    assert {failure.kind for failure in result.failures} == {"crash"}


def test_a_signal_ends_the_step(cluster: Cluster) -> None:
    number = long_campaign(cluster, "mpich")
    cluster.out("pkill", "-INT", "-f", "mpigauge run pingpong")
    wait_until(Path("status").exists, "the campaign to end", 60)
    assert not ranks(cluster), log(number)
    assert Path("status").read_text(encoding="ascii") == "status 130\n"
    assert cluster.out("squeue", "--steps", "--noheader", "--format=%j").split() in ([], ["batch"])


@pytest.mark.thorough
def test_a_job_that_is_queued_again_leaves_no_rank_and_goes_on(cluster: Cluster) -> None:
    cluster.out(*MPIGAUGE, "sbatch", "-o", "job.sh", *VISITS, "--mpi", prefix("mpich"), *BY_SRUN, "2")
    number = cluster.submit("job.sh")
    path = Path(f"mpigauge-{number}.jsonl")
    wait_until(partial(begun, path), f"visits in {path}")
    cluster.out("scontrol", "requeue", number)
    wait_until(lambda: not ranks(cluster), "ranks to end")
    cluster.begin_again(number)
    assert cluster.ended(number)["JobState"] == "COMPLETED", log(number)
    check_whole(path)
