"""Random SIGKILLs of a campaign whose ranks srun starts: `python -m tests.real.slurm.soak [COUNT] [SEED]`.

The victim is mpigauge, srun, a rank, or the slurmstepd of the job's steps. After each blow no rank may be
left on any node, all visits that were in the file must still be there, and the next job goes on with it.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix
from tests.real.slurm.cluster import Cluster, wait_until
from tests.real.slurm.conftest import MPIGAUGE

NODES = 2
GONE_WITHIN_S = 200.0
"""A rank whose parent died before it could look has three minutes to come to its plan."""

VICTIMS = {
    "mpigauge": ("-f", "mpigauge (run|resume) "),
    "srun": ("-x", "srun"),
    "rank": ("-x", "mpigauge-kernel"),
    "slurmstepd": ("-f", r"slurmstepd: \[[0-9]+\.[0-9]+\]"),
}
MEASURE = ("pingpong", "exchange", "--sizes", "0:4KiB", "--launches", "3", "--seed", "7")


def words_for(result: Path) -> tuple[str, ...]:
    """What begins the campaign, or goes on with it."""
    if result.exists() and b"\n" in result.read_bytes():
        return ("resume", str(result))
    return ("run", *MEASURE, "--launcher", "srun", "--mpi", prefix("mpich"), "-o", str(result))


def visits_in(result: Path) -> set[tuple[int, int]]:
    """Launch and place of all visits of a file."""
    if not (result.exists() and b"\n" in result.read_bytes()):
        return set()
    return {(visit.launch, visit.id) for visit in load(result).visits}


def struck(cluster: Cluster, result: Path, whom: str, chance: random.Random) -> tuple[int, int]:
    """Visits lost and ranks left by one blow at a random moment."""
    before = visits_in(result)
    line = " ".join(f"'{word}'" for word in (*MPIGAUGE, *words_for(result)))
    job = cluster.submit(f"--nodes={NODES}", "--ntasks-per-node=1", "--output=log", "--wrap", line)
    wait_until(lambda: cluster.state(job) != "PENDING", "the job to begin")
    time.sleep(chance.uniform(0.5, 4.0))
    cluster.run("pkill", "-KILL", *VICTIMS[whom])
    time.sleep(chance.uniform(0.0, 0.5))
    cluster.run("scancel", "--signal=INT", "--batch", job)
    cluster.run("scancel", job)
    deadline = time.monotonic() + GONE_WITHIN_S
    while (
        left := cluster.run("pgrep", "-x", "mpigauge-kernel").stdout.split()
    ) and time.monotonic() < deadline:
        time.sleep(0.1)
    wait_until(lambda: cluster.idle() == NODES, "the nodes")
    return len(before - visits_in(result)), len(left)


def main() -> None:
    """Prints what was lost and left, by victim."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    chance = random.Random(sys.argv[2] if len(sys.argv) > 2 else "1")
    lost: Counter[str] = Counter()
    left: Counter[str] = Counter()
    times: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), NODES) as cluster:
        os.chdir(name)
        number = 0
        for blow in range(count):
            whom = list(VICTIMS)[blow % len(VICTIMS)]
            result = Path(f"r{number}.jsonl")
            visits, ranks = struck(cluster, result, whom, chance)
            lost[whom] += visits
            left[whom] += ranks
            times[whom] += 1
            over = visits_in(result) and load(result).ends
            number += bool(over and load(result).ends[-1].reason not in ("interrupted", "failed"))
        cluster.run("scancel", "--user=root")
    for whom in VICTIMS:
        print(f"| {whom}, srun | {times[whom]} | {lost[whom]} | {left[whom]} |")


if __name__ == "__main__":
    main()
