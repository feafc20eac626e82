"""Campaigns under a real Slurm: what they are asked, where they write, and how far they are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.result.reader import Result, load
from mpigauge.rows.failure_cause import ENDED_FROM_OUTSIDE
from tests.real.mpi.conftest import prefix
from tests.real.slurm.cluster import wait_until
from tests.real.slurm.conftest import MPIGAUGE

if TYPE_CHECKING:
    from tests.real.slurm.cluster import Cluster

FEW = ("--launches", "1", "--samples", "10")
SHORT = ("pingpong", "--sizes", "8", "--seed", "7", *FEW)
VISITS = ("pingpong", "--sizes", "1MiB:8MiB", "--seed", "7", "--precision", "0.001%")
"""Four cells of long visits."""

LONG = (*VISITS, "--launches", "2")
"""On a fast machine, too, most visits are left when the first three are seen."""

VISITS_BEFORE = 3


def script(cluster: Cluster, *words: str) -> None:
    """Writes job.sh."""
    cluster.out(*MPIGAUGE, "sbatch", "-o", "job.sh", *words)


def hosts(result: Result) -> list[tuple[str, ...]]:
    """Where the ranks of the launches were, one after the other."""
    return [tuple(rank.host for rank in launch.ranks_at) for launch in result.launches]


def so_far(path: Path) -> Result | None:
    """A result that is being written, once it has its first line."""
    return load(path) if path.exists() and b"\n" in path.read_bytes() else None


def log(number: str) -> str:
    """What a job said."""
    return Path(f"mpigauge-{number}.log").read_text(encoding="utf-8")


def is_over(path: Path) -> bool:
    """Whether a result has its last line."""
    result = so_far(path)
    return result is not None and bool(result.ends)


def begun(path: Path) -> bool:
    """Whether a result has some visits."""
    result = so_far(path)
    return result is not None and len(result.visits) >= VISITS_BEFORE


def under_way(cluster: Cluster, *options: str) -> tuple[str, Path]:
    """A campaign that has measured something and is not through; its job and its result."""
    script(cluster, *LONG, "--mpi", prefix("mpich"))
    number = cluster.submit(*options, "job.sh")
    path = Path(f"mpigauge-{number}.jsonl")
    wait_until(partial(begun, path), f"visits in {path}")
    assert not load(path).ends
    return number, path


def check_whole(path: Path) -> Result:
    """A result that lacks nothing, though it was interrupted."""
    result = load(path)
    # Slurm ends the step of a job that it queues again, and may tell us only then: that is no crash of ours.
    failures = [one for one in result.failures if not ENDED_FROM_OUTSIDE.search(one.words)]
    assert (result.ends[-1].reason, failures) == ("launches", [])
    assert {done.launch for done in result.done} == {1, 2}
    ids = [(visit.launch, visit.id) for visit in result.visits]
    assert len(ids) == len(set(ids))
    return result
