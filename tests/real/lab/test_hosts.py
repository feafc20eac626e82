"""mpigauge between emulated hosts: placements, the truth of links, hosts that are not what they should be."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.result.reader import load
from tests.real.lab.test_links import LATE_COSTS
from tests.real.mpi.conftest import PREFIXES, prefix
from tests.real.states import of_main_state
from tests.thorough import rest
from tests.truth import check, truth

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

RATE_BYTES_PER_S = 100e6 / 8
DELAY_S = 200e-6
PAYLOAD_SHARE = 1448 / 1538
"""Of an Ethernet frame with preamble and gap, what TCP with time stamps carries for its user."""

LARGE, SMALL = 1 << 20, 8
ORDERS = ("h2,h1,h2", "h1,h2,h2,h1", "h2,h2")
"""From elsewhere, in blocks of several sizes, on one host that is not ours: no launcher does so by itself."""
HERE = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift
exec /bin/sh -c "$*"
"""
"""A remote shell that goes nowhere."""

Rows = dict[tuple[str, str, int], dict[str, Any]]


def run(lab: Lab, *words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """`mpigauge run` in a lab."""
    return lab(sys.executable, "-m", "mpigauge", "run", "-q", "-o", "r.jsonl", *words, options=options)


def rows(done: subprocess.CompletedProcess[str]) -> Rows:
    """What was measured, by transport, placement and size."""
    assert done.returncode == 0, done.stderr
    measured = of_main_state(json.loads(done.stdout))
    return {(row["transport"], row["placement"], row["bytes"]): row for row in measured if row["time_s"]}


@pytest.mark.parametrize("name", PREFIXES)
@truth
def test_placements_differ_as_their_ways_do(lab: Lab, folder: Path, name: str) -> None:
    """Between hosts a small message takes the delay and a large one the rate of the link.

    The fastest sample tells that: never faster than the link, and slower by what the library adds, and by
    packets that the relay itself says it brought too late.
    """
    (folder / "r.jsonl").unlink(missing_ok=True)
    words = ["pingpong", "--mpi", prefix(name), "--sizes", f"{SMALL},{LARGE}", "--format", "json"]
    words += ["--transport", "shm", "--transport", "tcp", "--placement", "same-host", "--placement", "1,3"]
    options = ("--hosts", "3", "--rate", "100mbit", "--delay", "200us")
    found = rows(run(lab, *words, "--launches", "1", options=options))
    assert {key[:2] for key in found} == {("shm", "same-host"), ("tcp", "same-host"), ("tcp", "h1,h3")}
    near, far = found["tcp", "same-host", SMALL], found["tcp", "h1,h3", SMALL]
    assert far["time_s"]["min"] > DELAY_S
    ratio = near["time_s"]["estimate"] / far["time_s"]["estimate"]
    check(f"{name}, 8 B within a host / between hosts", ratio, below=1)
    rate = LARGE / found["tcp", "h1,h3", LARGE]["time_s"]["min"]
    far_visits = [one for one in load(folder / "r.jsonl").visits if one.cell.placement == "h1,h3"]
    late = max(one.relay_late for one in far_visits if one.cell.bytes == LARGE)
    share = rate / (PAYLOAD_SHARE * RATE_BYTES_PER_S)
    check(f"{name}, 1 MiB between hosts / 100 Mbit/s", share, above=0.92 - LATE_COSTS * late, below=1.03)
    assert found["shm", "same-host", LARGE]["net_share"] < 0.01
    assert found["tcp", "h1,h3", LARGE]["net_share"] > 0.5
    places = {
        launch.job.placement: [rank.host for rank in launch.ranks_at]
        for launch in load(folder / "r.jsonl").launches
    }
    assert places == {"same-host": ["h1", "h1"], "h1,h3": ["h1", "h3"]}


@pytest.mark.parametrize("name", rest(PREFIXES, ["intelmpi"]))
def test_ranks_may_be_anywhere_and_the_first_one_elsewhere(lab: Lab, folder: Path, name: str) -> None:
    """The plan reaches rank 0 on a host that has no file of ours, and the order of the ranks is kept."""
    placements = [word for placement in ORDERS for word in ("--placement", placement)]
    words = [
        "pingpong",
        "--mpi",
        prefix(name),
        "--sizes",
        "8",
        "--launches",
        "1",
        "--samples",
        "1",
        *placements,
    ]
    done = run(lab, *words, options=("--delay", "100us"))
    assert done.returncode == 0, done.stderr
    launches = load(folder / "r.jsonl").launches
    assert sorted(launch.job.placement for launch in launches) == sorted(ORDERS)
    for launch in launches:
        assert ",".join(rank.host for rank in launch.ranks_at) == launch.job.placement


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("h1,h9", "host h9: cannot be reached: "),
        ("h1,no-such-host.invalid", "host no-such-host.invalid: cannot be reached: "),
    ],
)
def test_a_host_that_cannot_be_reached_is_named_before_anything_runs(
    lab: Lab, folder: Path, hosts: str, words: str
) -> None:
    done = run(lab, "pingpong", "--mpi", prefix("openmpi"), "--hosts", hosts)
    assert done.returncode == 3
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "r.jsonl").exists()


def test_the_doctor_looks_at_hosts_and_keeps_nothing(lab: Lab, folder: Path) -> None:
    done = lab(
        sys.executable,
        "-m",
        "mpigauge",
        "doctor",
        "--hosts",
        "h[1-3]",
        "--mpi",
        prefix("mpich"),
        options=("--hosts", "3"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3, with a rank of MPICH" in done.stdout
    assert "on each: h1, h2, h3" in done.stdout
    assert not [*folder.rglob("*.jsonl")]


def test_a_rank_that_lands_elsewhere_is_named(lab: Lab, folder: Path) -> None:
    shell = folder / "shell"
    shell.write_text(HERE, encoding="ascii")
    shell.chmod(0o755)
    done = run(lab, "pingpong", "--mpi", prefix("mpich"), "--sizes", "8", "--remote-shell", str(shell))
    assert done.returncode == 3, done.stderr
    assert "rank 1 should be on h2, but is on h1" in done.stderr


def test_a_list_that_names_one_host_is_no_network(lab: Lab) -> None:
    """Shared memory between ranks of one host is no false label, though the placement is a list."""
    words = ("pingpong", "--sizes", str(SMALL), "--hosts", "h1:2,h2:2", "--launches", "1", "--format", "json")
    found = rows(run(lab, *words, "--placement", "1,1", "--placement", "1,1,2", "--placement", "1,2"))
    assert {placement for _, placement, _ in found} == {"h1,h1", "h1,h1,h2", "h1,h2"}


def test_a_map_knows_the_lab_that_it_was_measured_in(lab: Lab, folder: Path) -> None:
    options = ("--hosts", "2", "--delay", "300us")
    words = (sys.executable, "-m", "mpigauge", "map", "--np", "2", "--sizes", "8", "--launches", "1")
    lab(*words, "-q", "-o", "m.jsonl", options=options)
    table = load(folder / "m.jsonl").campaign.plan.lab
    assert table is not None
    assert (table.hosts, table.delay) == (2, "300us")


KILLED = """
"$@" > said 2>&1 &
for again in $(seq 600); do grep -qs '"visit"' r.jsonl && break; sleep 0.1; done
ssh -n h2 'ls /dev/shm' > during
kill -9 $!
for again in $(seq 300); do ssh -n h2 'ls /dev/shm' | grep -q "$SEGMENT" || break; sleep 0.2; done
ssh -n h2 'ls /dev/shm' > after
"""


@pytest.mark.parametrize(("name", "segment"), [("mpich", "mpich_shm_"), ("openmpi", "sm_segment.")])
def test_a_killed_campaign_leaves_nothing_in_the_memory_of_other_hosts(
    lab: Lab, folder: Path, name: str, segment: str
) -> None:
    """Where nobody but a shell can remove it: the ranks there are killed, too."""
    words = ["pingpong", "--np", "4", "--hosts", "h1:2,h2:2", "--placement", "h1,h2,h1,h2"]
    words += ["--sizes", "8:64KiB", "--launches", "3", "--mpi", prefix(name), "-q", "-o", "r.jsonl"]
    mpigauge = (sys.executable, "-m", "mpigauge", "run", *words)
    done = lab("sh", "-c", KILLED, "sh", *mpigauge, options=("--hosts", "2"), env={"SEGMENT": segment})
    during, after = ((folder / when).read_text(encoding="ascii") for when in ("during", "after"))
    assert segment in during, (folder / "said").read_text(encoding="utf-8") + done.stderr
    assert segment not in after


OWN_KERNELS = """
mkdir /dev/shm/kernels && cp -r "$BUILT" /dev/shm/kernels
MPIGAUGE_KERNEL_DIR=/dev/shm/kernels "$@" > said 2>&1
for host in h1 h2; do
    ssh -n $host 'find /dev/shm/kernels -type f -exec stat -c "%a %n" {} + -exec sha256sum {} +' > on-$host
done
"""


@pytest.mark.parametrize("name", PREFIXES)
def test_a_host_that_has_another_disk_is_given_the_kernel(lab: Lab, folder: Path, name: str) -> None:
    words = ["pingpong", "--np", "2", "--sizes", "8", "--launches", "1", "--mpi", prefix(name), "-q"]
    mpigauge = (sys.executable, "-m", "mpigauge", "run", *words, "-o", "r.jsonl")
    built = kernel.build(find.find(prefix(name))).parent
    lab("sh", "-c", OWN_KERNELS, "sh", *mpigauge, options=("--hosts", "2"), env={"BUILT": str(built)})
    said = (folder / "said").read_text(encoding="utf-8")
    assert (folder / "r.jsonl").exists(), said
    (launch,) = load(folder / "r.jsonl").launches
    assert [rank.host for rank in launch.ranks_at] == ["h1", "h2"]
    here, there = ((folder / f"on-{host}").read_text(encoding="ascii").split() for host in ("h1", "h2"))
    assert there[0] == "700"
    assert there[1:] == here[1:]
