"""The kernel, unchanged, on a machine whose truth is known: SimGrid's SMPI simulates every message.

    python benchmarks/simgrid.py

It takes smpicc and smpirun (Debian: libsimgrid-dev), builds the kernel with that smpicc, and runs plans of
`mpigauge kernel plan` on a platform that has two protocols: 2 us and 5 GB/s up to 64 KiB, 6 us and 10 GB/s from
there on, each message with an envelope of 16 B. Then collectives whose algorithm SimGrid is told by name. Times are
simulated, so it does not matter what else the machine does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from mpigauge.analysis.models.algorithms import algorithms_of
from mpigauge.analysis.models.collectives import behaviours_of
from mpigauge.analysis.models.model import model_of
from mpigauge.analysis.models.points import points_of
from mpigauge.analysis.rows import Row, rows
from mpigauge.plan.patterns import known
from mpigauge.result.reader import load

ROOT = Path(__file__).parents[1]
KERNEL = ROOT / "src" / "mpigauge" / "kernel"
LAUNCHES = 3
RANKS = (2, 4, 8, 16)
ENVELOPE = 16
BREAK = 65536
TRUTH = ((2e-6 + ENVELOPE / 5e9, 5e9), (6e-6 + ENVELOPE / 10e9, 10e9))
"""Latency of 0 B and bandwidth of each segment."""

SIZES = "8,512,4KiB,32KiB,512KiB"
"""Of collectives."""

COLLECTIVES = {
    "bcast": ("binomial_tree", "flattree", "scatter_LR_allgather"),
    "allreduce": ("rdb", "lr", "rab_rdb"),
    "alltoall": ("pair", "bruck"),
}
"""Of each, the algorithms of SimGrid that are asked for."""

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<config>
<prop id="smpi/wtime" value="1e-9"/> <prop id="smpi/simulate-computation" value="no"/>
<prop id="smpi/test" value="1e-7"/> <prop id="smpi/iprobe" value="1e-7"/>
<prop id="smpi/send-is-detached-thresh" value="65536"/> <prop id="smpi/async-small-thresh" value="65536"/>
<prop id="network/TCP-gamma" value="0"/> <prop id="network/crosstraffic" value="0"/>
<prop id="smpi/lat-factor" value="0:1;65551:3"/> <prop id="smpi/bw-factor" value="0:0.5;65551:1"/>
</config>
<zone id="z" routing="Full">
{hosts}
{links}
{routes}
</zone>
</platform>
"""


def platform(count: int) -> str:
    """So many hosts, with a link of its own between any two, so that messages do not meet."""
    pairs = [(one, other) for one in range(count) for other in range(one + 1, count)]
    link = '<link id="l{}-{}" bandwidth="10GBps" latency="2us" sharing_policy="SPLITDUPLEX"/>'
    route = '<route src="h{0}" dst="h{1}"><link_ctn id="l{0}-{1}" direction="UP"/></route>'
    return PLATFORM.format(
        hosts="\n".join(f'<host id="h{number}" speed="10Gf"/>' for number in range(count)),
        links="\n".join(link.format(*pair) for pair in pairs),
        routes="\n".join(route.format(*pair) for pair in pairs),
    )


def run(folder: Path, *words: object) -> str:
    """Its standard output."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}{done.stdout}")
    return done.stdout


def mpigauge(folder: Path, *words: object) -> str:
    return run(folder, sys.executable, "-m", "mpigauge", *words)


def simulated(folder: Path, name: str, ranks: int, words: tuple[str, ...], *options: str) -> Path:
    """The result of a plan."""
    plan, journals = folder / f"{name}-{ranks}.txt", []
    plan.write_text(mpigauge(folder, "kernel", "plan", *words, "--np", ranks, "--samples", 20, "--seed", 1))
    for launch in range(1, LAUNCHES + 1):
        journals.append(f"{name}-{ranks}.{launch}")
        smpirun = ("smpirun", "-np", ranks, "-platform", "p.xml", "-hostfile", "hosts")
        run(folder, *smpirun, "--log=root.thresh:error", *options, "./kernel", plan.name, journals[-1])
    path = folder / f"{name}-{ranks}.jsonl"
    mpigauge(folder, "import", "journal", plan.name, *journals, "-o", path.name)
    return path


def messages(folder: Path) -> None:
    """Segments against the platform."""
    for words in (("pingpong",), ("pingpong", "eager")):
        path = simulated(folder, "-".join(words), 2, (*words, "--sizes", "auto:4MiB"))
        (curve,) = json.loads(mpigauge(folder, "model", path.name, "--format", "json"))["curves"]
        print(f"\n{' and '.join(words)}: {len(curve['sizes'])} sizes, misfit {curve['misfit']:.5%}")
        for one, (alpha, rate) in zip(curve["segments"], TRUTH, strict=True):
            latency, bandwidth = one["alpha_s"]["value"], one["bandwidth_bytes_per_s"]["value"]
            print(
                f"  alpha {latency * 1e6:.4f} us, {latency / alpha - 1:+.4%} off; "
                f"bandwidth {bandwidth / 1e9:.4f} GB/s, {bandwidth / rate - 1:+.4%} off"
            )
        for one in curve["breaks"]:
            print(
                f"  break from {one['above_bytes']} B to {one['upto_bytes']} B, {one['kind']}; true {BREAK} B"
            )


def times_of(path: Path, pattern: str) -> list[Row]:
    return [row for row in rows(load(path)) if row.cell.pattern == pattern and row.time is not None]


def collectives(folder: Path) -> None:
    """Names that SimGrid was told against those that the model finds."""
    path = simulated(folder, "messages", 2, ("pingpong", "--sizes", "auto:16MiB"))
    model = model_of(points_of(times_of(path, "pingpong"), [BREAK - 1]))
    for pattern, algorithms in COLLECTIVES.items():
        for algorithm in algorithms:
            curves = {}
            for ranks in RANKS:
                option = f"--cfg=smpi/{pattern}:{algorithm}"
                path = simulated(folder, f"{pattern}-{algorithm}", ranks, (pattern, "--sizes", SIZES), option)
                curves[ranks] = {row.cell.bytes: row.time.estimate for row in times_of(path, pattern)}
            for one in behaviours_of(curves, [0], model, algorithms_of(known()[pattern], None)):
                likes = [f"{like.algorithm} {like.error:.1%}" for like in one.likes]
                print(
                    f"{pattern} {algorithm}: {', '.join(likes)}; factor {one.likes[0].factor.value:.3f}",
                    flush=True,
                )


def main() -> None:
    """Prints what was found beside what is true."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.xml").write_text(platform(max(RANKS)))
        (folder / "hosts").write_text("".join(f"h{number}\n" for number in range(max(RANKS))))
        sources = sorted(KERNEL.rglob("*.c"))
        run(folder, "smpicc", "-O2", "-std=gnu11", f"-I{KERNEL}", *sources, "-lm", "-o", "kernel")
        messages(folder)
        collectives(folder)


if __name__ == "__main__":
    main()
