"""Nodes that share no folder for the kernel: each has a /dev/shm of its own, and the kernel comes to it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix
from tests.real.slurm.conftest import MPIGAUGE
from tests.real.slurm.jobs import SHORT, hosts, log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.real.slurm.cluster import Cluster

pytestmark = pytest.mark.slurm

STEP = "srun --nodes=2 --ntasks=2 --ntasks-per-node=1"
LOOK = 'find "$0" -type f -exec stat -c "%a %n" {} + -exec sha256sum {} + > kernels.$(uname -n)'


@pytest.fixture
def kernels(cluster: Cluster, tmp_path: Path) -> Iterator[str]:
    """A folder that is another one on each node."""
    path = f"/dev/shm/{tmp_path.name}"  # noqa: S108 - a file system of each node alone
    yield path
    cluster.ended(cluster.submit("--nodes=4", "--wrap", f"srun --ntasks-per-node=1 rm -rf {path}"))


def run(cluster: Cluster, kernels: str, *words: str, first: str = "true") -> str:
    """A job of two nodes that runs a campaign and looks at what is in the folder then; its number.

    Only the first node has the kernel.
    """
    built = kernel.build(find.find(prefix("mpich"))).parent
    put = f"mkdir -p {kernels} && cp -r {built} {kernels}"
    named = ["env", f"MPIGAUGE_KERNEL_DIR={kernels}", *MPIGAUGE, "run", *SHORT, "-o", "r.jsonl", *words]
    look = f"{STEP} sh -c {shlex.quote(LOOK)} {kernels}"
    line = f"{first}; {put}; {shlex.join(named)}; echo $? > status; {look}"
    options = ("--nodes=2", "--ntasks-per-node=1", "--output=mpigauge-%j.log")
    number = cluster.submit(*options, "--wrap", line)
    cluster.ended(number)
    return number


@pytest.mark.parametrize("launcher", ["auto", "srun"])
def test_nodes_are_given_the_kernel(cluster: Cluster, kernels: str, launcher: str) -> None:
    number = run(cluster, kernels, "--mpi", prefix("mpich"), "--launcher", launcher)
    assert Path("status").read_text(encoding="ascii") == "0\n", log(number)
    result = load(Path("r.jsonl"))
    (places,) = hosts(result)
    assert len(set(places)) == 2
    assert result.failures == []
    assert all(any(word.startswith(kernels) for word in launch.command) for launch in result.launches)
    found = [Path(f"kernels.{node}").read_text(encoding="ascii").split() for node in places]
    assert found[1][0] == "700"
    assert found[1][1:] == found[0][1:]


def test_a_node_that_it_cannot_be_put_on_is_named_before_anything_runs(
    cluster: Cluster, kernels: str
) -> None:
    only_one = f"{STEP} sh -c 'test $SLURM_PROCID = 0 || echo a file > {kernels}'"
    number = run(cluster, kernels, "--mpi", prefix("mpich"), first=only_one)
    assert Path("status").read_text(encoding="ascii") == "3\n", log(number)
    said = " ".join(log(number).split())
    assert "has no /dev/shm/" in said
    assert "and it cannot be put there: " in said
    assert "host node" in said
    assert not Path("r.jsonl").exists()
