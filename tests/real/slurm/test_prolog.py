"""The node check of examples/integrations as the Prolog of a real Slurm."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find, kernel
from tests.places import EXAMPLES, ROOT
from tests.real.mpi.conftest import prefix
from tests.real.slurm.cluster import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.real.slurm.cluster import Cluster

pytestmark = pytest.mark.slurm

CHECK = EXAMPLES / "integrations" / "slurm" / "node-check.sh"
NODE = "node1"
LIMITS = "BatchStartTimeout=200\n"
MAX_JOBS = 3
"""Of a node that is too busy to be judged, the check keeps nothing, and lets the job begin."""


@pytest.fixture
def prolog(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes the check, with an expectation, the Prolog of the cluster; the folder that it writes to."""
    conf = cluster.folder / "slurm.conf"
    before = conf.read_text(encoding="ascii")

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def install(expectation: str) -> Path:
        python = f"exec env PYTHONPATH={ROOT / 'src'} {shlex.quote(sys.executable)} -m mpigauge"
        lines = {
            "MPIGAUGE": write("mpigauge", f'#!/bin/sh\n{python} "$@"\n'),
            "MPI": prefix("mpich"),
            "EXPECT": write("node.toml", f'[expect]\nnode = "{expectation}"\n'),
            "FOLDER": tmp_path / "kept",
            "BUDGET": "100s",
            "LIMIT_S": 150,
        }
        text = CHECK.read_text(encoding="utf-8").splitlines()
        heads = [line.partition("=")[0] for line in text]
        for name, value in lines.items():
            text[heads.index(name)] = f"{name}={value}"
        script = write("node-check", "\n".join([*text, ""]))
        conf.write_text(f"{before}Prolog={script}\n{LIMITS}", encoding="ascii")
        cluster.out("scontrol", "reconfigure")
        return tmp_path / "kept"

    yield install
    conf.write_text(before, encoding="ascii")
    cluster.run("scancel", "--user=root")
    cluster.out("scontrol", "reconfigure")
    cluster.run("scontrol", "update", f"nodename={NODE}", "state=resume")
    wait_until(lambda: cluster.idle() == cluster.nodes, "the nodes")


def node(cluster: Cluster) -> str:
    """What scontrol says of the node."""
    return cluster.out("scontrol", "-o", "show", "node", NODE)


def run_a_job(cluster: Cluster) -> None:
    """One that the check lets begin."""
    job = cluster.submit(f"--nodelist={NODE}", "--output=said", "--wrap", "hostname")
    wait_until(lambda: cluster.state(job) == "COMPLETED", "the job to end", seconds=240)
    assert Path("said").read_text(encoding="utf-8") == f"{NODE}\n"


def test_a_job_begins_on_a_node_that_is_as_it_should_be(
    cluster: Cluster, prolog: Callable[[str], Path]
) -> None:
    kept = prolog("pingpong 8B latency < 1s")
    for _ in range(MAX_JOBS):
        run_a_job(cluster)
        if (kept / f"{NODE}.jsonl").exists():
            break
    assert list((kept / "cache").iterdir())
    assert (kept / f"{NODE}.jsonl").stat().st_size
    assert "DRAIN" not in node(cluster)


def test_a_slow_node_is_drained_and_its_job_waits(cluster: Cluster, prolog: Callable[[str], Path]) -> None:
    kept = prolog("pingpong 8B latency < 1ns")
    built = kernel.build(find.find(prefix("mpich"))).parent
    shutil.copytree(built, kept / "cache" / "mpigauge" / "kernels" / built.name)
    job = cluster.submit(f"--nodelist={NODE}", "--output=said", "--wrap", "hostname")
    wait_until(lambda: "DRAIN" in node(cluster), "the node to be drained", seconds=240)
    assert "Reason=Prolog error" in node(cluster)
    wait_until(lambda: cluster.state(job) == "PENDING", "the job to be queued again")
    said = Path("said")
    assert not said.exists() or NODE not in said.read_text(encoding="utf-8").splitlines()
