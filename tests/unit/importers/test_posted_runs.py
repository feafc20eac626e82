"""The same tables twice in a post: what stands between them tells runs apart, or counts launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge import importers
from mpigauge.result.records import Imported
from tests.printed import records_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.records import Record

COMMAND = "$ mpirun -np 2 -host node07,node08 osu_latency"


def latency(time: str) -> str:
    return f"# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8    {time}\n1024    31.54"


def bandwidth(rate: str) -> str:
    return f"# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n1024    {rate}"


NCCL = """#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
#  (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)
  1048576  262144  float  sum  -1  {}  0  {}  0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : {}
#"""
FIRST, SECOND = latency("20.44"), latency("24.32")


def runs(records: list[Record]) -> list[tuple[str, int]]:
    """Label and launch of each table, as its first number has them."""
    found: dict[tuple[str, str, str, int], None] = {}
    for one in records:
        if isinstance(one, Imported) and one.cell.mode != "in-place":
            found[one.cell.pattern, one.cell.mode, one.cell.label, one.launch] = None
    return [(label, launch) for _, _, label, launch in found]


def of(path: Path, text: str) -> list[tuple[str, int]]:
    return runs(records_of(path, text))


BETWEEN = {
    "prose": ("openmpi-1.7.3:", "openmpi-1.6.5:", ["openmpi-1.7.3", "openmpi-1.6.5"]),
    "heading": ("### with UCX 1.12", "### with UCX 1.15", ["UCX-1.12", "UCX-1.15"]),
    "title": ("# UCX 1.12", "# UCX 1.15", ["UCX-1.12", "UCX-1.15"]),
    "before": ("Before the upgrade of the kernel:", "After the upgrade of the kernel:", ["Before", "After"]),
    "switch": ("NUMA balancing on:", "NUMA balancing off:", ["on", "off"]),
    "ruled": ("===== MPICH =====", "===== Open MPI =====", ["MPICH", "Open-MPI"]),
    "bold": ("**2 GPUs, PIX**", "**2 GPUs, SYS**", ["PIX", "SYS"]),
    "speed": ("25 GbE:", "100 GbE:", ["run-25", "run-100"]),
    "spack": ("$ spack load openmpi@4.1.5", "$ spack load openmpi@5.0.3", ["openmpi-4.1.5", "openmpi-5.0.3"]),
    "source": ("$ source /opt/2021/vars.sh", "$ source /opt/2024/vars.sh", ["opt-2021", "opt-2024"]),
    "conda": ("$ conda activate mpich", "$ conda activate openmpi", ["mpich", "openmpi"]),
    "folder": ("$ cd ../build-4.0", "$ cd ../build-4.1", ["build-4.0", "build-4.1"]),
    "host": ("$ ssh node1", "$ ssh node2", ["node1", "node2"]),
    "other command": ("$ numactl --hardware", "$ lscpu", ["numactl-hardware", "lscpu"]),
    "unset": ("$ unset UCX_TLS", "$ setenv UCX_TLS tcp", ["unset-UCX_TLS", "setenv-UCX_TLS-tcp"]),
    "root": (
        "# echo 0 > /proc/sys/kernel/numa_balancing",
        "# echo 1 > /proc/sys/kernel/numa_balancing",
        ["numa_balancing-0", "numa_balancing-1"],
    ),
    "variable": ("GPUS=0,1,4,6", "GPUS=0,1,2,3", ["GPUS-0-1-4-6", "GPUS-0-1-2-3"]),
    "script": ("思源一号上的结果:", "π2.0上的结果:", ["思源一号上的结果", "π2.0上的结果"]),
    "accents": ("Mit Änderung:", "Ohne Änderung:", ["Mit", "Ohne"]),
    "nothing": ("", "Now with hugepages:", ["run-1", "Now-with-hugepages"]),
}


@pytest.mark.parametrize(("first", "second", "labels"), BETWEEN.values(), ids=BETWEEN)
@pytest.mark.parametrize("command", [f"{COMMAND}\n", ""], ids=["with command", "without"])
def test_other_text_makes_runs_with_its_names(
    tmp_path: Path, first: str, second: str, labels: list[str], command: str
) -> None:
    text = f"{first}\n\n{command}{FIRST}\n\n{second}\n\n{command}{SECOND}\n"
    assert of(tmp_path / "t", text) == [(label, 1) for label in labels]


COUNTED = {
    "blank lines": ("", "\n\n"),
    "run": ("Run 1:", "Run 2:"),
    "iteration": ("--- iteration 1 of 2 ---", "--- iteration 2 of 2 ---"),
    "once more": ("", "once more, the 2nd time"),
    "date": ("Thu Nov 28 20:25:29 UTC 2026", "Thu Nov 28 20:26:01 UTC 2026"),
    "day": ("2026-11-28 09:00:12", "2026-11-29 09:00:11"),
    "took": ("", "real    0m7.045s\nuser    0m0.077s\nsys     0m0.026s\n"),
    "fence": ("```", "```\n\n```bash"),
    "process": ("[node07:1234] 1 more process sent help", "[node07:1290] 1 more process sent help"),
    "process of NCCL": ("n1:1234:1240 [0] NCCL INFO NET/Socket", "n1:5678:5690 [0] NCCL INFO NET/Socket"),
    "job": (
        "Starting at Thu Nov 28 20:25:29 UTC 2026 on n1\n[1718000.123] [n1:99:0] ucp.c:12 UCX WARN none",
        "Starting at Fri Nov 29 06:00:00 UTC 2026 on n1\n[1719000.456] [n1:77:0] ucp.c:12 UCX WARN none",
    ),
    "banner": ("Loading site defaults ...", "Loading site defaults ..."),
}


@pytest.mark.parametrize(("first", "second"), COUNTED.values(), ids=COUNTED)
def test_what_counts_or_is_printed_each_time_makes_launches(tmp_path: Path, first: str, second: str) -> None:
    text = f"{first}\n{COMMAND}\n{FIRST}\n{second}\n{COMMAND}\n{SECOND}\n"
    assert of(tmp_path / "t", text) == [("", 1), ("", 2)]


def test_repetitions_that_are_counted_need_no_command(tmp_path: Path) -> None:
    assert of(tmp_path / "t", f"Run 1:\n{FIRST}\nRun 2:\n{SECOND}\n") == [("", 1), ("", 2)]
    assert of(tmp_path / "t", f"{FIRST}\n{SECOND}\n") == [("run-1", 1), ("run-2", 1)]


POSTS = {
    # Two versions, two programs each: the heading of a run is above its first table alone.
    "two programs": (
        (
            f"openmpi-1.7.3:\n{COMMAND}\n{FIRST}\n$ mpirun -np 2 osu_bw\n{bandwidth('203.25')}\n"
            f"openmpi-1.6.5:\n{COMMAND}\n{SECOND}\n$ mpirun -np 2 osu_bw\n{bandwidth('233.35')}\n"
        ),
        ["openmpi-1.7.3", "openmpi-1.7.3", "openmpi-1.6.5", "openmpi-1.6.5"],
    ),
    # Each program has a line of its own, too, which is the same in both runs.
    "captions of programs": (
        (
            f"## MVAPICH2-GDR\nlatency\n{FIRST}\nbandwidth\n{bandwidth('203.25')}\n"
            f"## Open MPI\nlatency\n{SECOND}\nbandwidth\n{bandwidth('233.35')}\n"
        ),
        ["MVAPICH2-GDR", "MVAPICH2-GDR", "Open-MPI", "Open-MPI"],
    ),
    # Programs first, then what was compared.
    "programs above runs": (
        (
            f"## latency\n### eth0\n{COMMAND}\n{FIRST}\n### ib0\n{COMMAND}\n{SECOND}\n"
            f"## bandwidth\n### eth0\n{bandwidth('203.25')}\n### ib0\n{bandwidth('233.35')}\n"
        ),
        ["eth0", "ib0", "eth0", "ib0"],
    ),
    "a table that one run alone has": (
        f"qib to qib:\n{FIRST}\n{bandwidth('203.25')}\nmlx4 to mlx4:\n{SECOND}\n",
        ["qib-to-qib", "qib-to-qib", "mlx4-to-mlx4"],
    ),
    "a table under a heading of its own": (
        f"# old\n{FIRST}\n# new\n{SECOND}\n# something else\n{bandwidth('203.25')}\n",
        ["old", "new", ""],
    ),
    # There and back: numbers of the first setting are launches of it.
    "alternating": (
        "".join(
            f"$ export UCX_TLS={tls}\n{COMMAND}\n{latency(time)}\n"
            for tls, time in (("rc", "20.44"), ("tcp", "31.10"), ("rc", "20.50"), ("tcp", "31.40"))
        ),
        [("UCX_TLS-rc", 1), ("UCX_TLS-tcp", 1), ("UCX_TLS-rc", 2), ("UCX_TLS-tcp", 2)],
    ),
    "launches of two runs": (
        f"stock kernel\n{COMMAND}\n{FIRST}\n{COMMAND}\n{FIRST}\npatched kernel\n{COMMAND}\n{SECOND}\n",
        [("stock", 1), ("stock", 2), ("patched", 1)],
    ),
    # What is said of all runs first has their names, too.
    "announced": (
        f"I compared\nshm:\nand\ntcp:\n\nshm:\n{COMMAND}\n{FIRST}\ntcp:\n{COMMAND}\n{SECOND}\n",
        ["shm", "tcp"],
    ),
    # Settings within settings: the second `pinned` is of another library than the first.
    "nested": (
        "".join(
            f"{library}{pinning}\n{COMMAND}\n{latency(time)}\n"
            for library, pinning, time in (
                ("HPC-X 2.15\n", "pinned:", "20.44"),
                ("", "not pinned:", "31.10"),
                ("HPC-X 2.19\n", "pinned:", "10.50"),
                ("", "not pinned:", "11.40"),
            )
        ),
        ["run-1", "run-2", "run-3", "run-4"],
    ),
    "an issue with details": (
        "I see a regression:\n"
        + "".join(
            f"## {version}\n\n<details><summary>all</summary>\n\n```console\n{COMMAND}\n{latency(time)}\n"
            "```\n\n</details>\n\nReproduces on every node.\n\n"
            for version, time in (("v1.14.1", "20.44"), ("v1.15.0", "31.10"))
        ),
        ["v1.14.1", "v1.15.0"],
    ),
    "another kernel in a preamble": (
        "".join(
            f"{COMMAND}\n# Date : Fri Jul 17 23:{minute}:46 2015\n# Release : {kernel}\n{latency(time)}\n"
            for minute, kernel, time in ((16, "5.14.0", "20.44"), (18, "6.1.0", "31.10"))
        ),
        ["Release-5.14.0", "Release-6.1.0"],
    ),
    "another prompt": (
        f"[ann@login1 old]{COMMAND}\n{FIRST}\n[ann@login1 new]{COMMAND}\n{SECOND}\n",
        ["old", "new"],
    ),
    "another program version": (
        f"{COMMAND}\n{FIRST}\n{COMMAND}\n{SECOND.replace('v5.9', 'v7.4')}\n",
        ["v5.9", "v7.4"],
    ),
    "a tool in front": (
        (
            f"The first result\n$ mpirun ./osu_latency\n{FIRST}\n"
            f"And the result of the same test, profiled\n$ perf-report mpirun ./osu_latency\n{SECOND}\n"
        ),
        ["mpirun", "perf-report"],
    ),
    "a variable in front": (
        f"{COMMAND}\n{FIRST}\n{COMMAND.replace('mpirun', 'UCX_TLS=tcp mpirun')}\n{SECOND}\n",
        ["mpirun", "UCX_TLS-tcp"],
    ),
    "footers of nccl-tests": (
        "".join(
            f"{heading}\n$ ./build/all_reduce_perf -b 1M -g 2\n{NCCL.format(row, row, busbw)}\n"
            for heading, row, busbw in (
                ("P2P enabled:", "100.0   10.49   10.49", "10.49"),
                ("P2P disabled in the BIOS:", "400.0    2.62    2.62", "2.62"),
            )
        ),
        ["enabled", "disabled-in-the-BIOS"],
    ),
    "footers of nccl-tests twice": (
        "".join(
            f"$ ./build/all_reduce_perf -b 1M -g 2\n{NCCL.format(row, row, busbw)}\n"
            for row, busbw in (("100.0   10.49   10.49", "10.49"), ("102.0   10.28   10.28", "10.28"))
        ),
        [("", 1), ("", 2)],
    ),
    "a loop over two programs": (
        "".join(
            f"== latency\n{COMMAND}\n{latency(time)}\n== bandwidth\n$ mpirun osu_bw\n{bandwidth(rate)}\n"
            for time, rate in (("20.44", "203.25"), ("20.50", "204.15"))
        ),
        [("", 1), ("", 1), ("", 2), ("", 2)],
    ),
    "a command in two lines": (
        "".join(
            f"mpirun -np 2 \\\n   -x UCX_TLS={tls} \\\n   ./osu_latency\n{latency('20.44')}\n"
            for tls in ("rc", "tcp")
        ),
        ["UCX_TLS-rc", "UCX_TLS-tcp"],
    ),
    "a sentence longer than a label": (
        (
            f"Results of the old switch firmware with adaptive routing enabled\n{FIRST}\n"
            f"Numbers after we went back to deterministic routing everywhere\n{SECOND}\n"
        ),
        ["Results-of-the-old-switch", "Numbers-after-we-went-back-to"],
    ),
}


@pytest.mark.parametrize(("text", "expected"), POSTS.values(), ids=POSTS)
def test_posts_are_read_as_people_mean_them(
    tmp_path: Path, text: str, expected: list[str | tuple[str, int]]
) -> None:
    found = of(tmp_path / "t", text)
    assert found == [one if isinstance(one, tuple) else (one, 1) for one in expected]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("old/osu.txt", "new/osu.txt"), ["old", "new"]),
        (("a/x/osu.log", "b/x/osu.log"), ["a", "b"]),
        (("before.txt", "after.txt"), ["before", "after"]),
    ],
)
def test_files_are_runs_by_the_shortest_path_that_differs(
    tmp_path: Path, names: tuple[str, str], labels: list[str]
) -> None:
    for name, table in zip(names, (FIRST, SECOND), strict=True):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{COMMAND}\n{table}\n", encoding="ascii")
    paths = [tmp_path / name for name in names]
    assert runs(importers.read("osu", paths)) == [(label, 1) for label in labels]
    assert runs(importers.read("osu", paths, same=True)) == [("", 1), ("", 2)]
