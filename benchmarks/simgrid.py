"""The kernel, unchanged, on a machine whose truth is known: SimGrid's SMPI simulates every message.

    python benchmarks/simgrid.py

It takes smpicc and smpirun (Debian: libsimgrid-dev), builds the kernel with that smpicc, and runs plans of
`mpigauge kernel plan` on a platform that has two protocols: 2 us and 5 GB/s below 64 KiB, 6 us and 10 GB/s
from there on, each message with an envelope of 16 B. Times are simulated, so it does not matter what else the
machine does. On a second platform the calls that send and receive take time, too: what LogGP calls
overheads. Collectives are not among them: ranks that wait for a common start read the simulated clock all
the time, which takes minutes for each launch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNEL = ROOT / "src" / "mpigauge" / "kernel"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
LAUNCHES = 3
ENVELOPE = 16
BREAK = 65536
TRUTH = ((2e-6 + ENVELOPE / 5e9, 5e9), (6e-6 + ENVELOPE / 10e9, 10e9))
"""Latency of 0 B and bandwidth of each segment."""

SENDING, RECEIVING = (5e-7, 2e-10), (3e-7, 1e-10)
"""Costs of the platform with overheads: seconds per call, and per byte."""

OVERHEAD_SIZES = "0,1,8,64,1000,8000,60000"

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
<zone id="z" routing="Full"> <host id="h0" speed="10Gf"/> <host id="h1" speed="10Gf"/>
<link id="l" bandwidth="10GBps" latency="2us" sharing_policy="SPLITDUPLEX"/>
<route src="h0" dst="h1"><link_ctn id="l" direction="UP"/></route>
</zone>
</platform>
"""


def run(folder: Path, *words: object) -> str:
    """Run a program; return its standard output."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}{done.stdout}")
    return done.stdout


def mpigauge(folder: Path, *words: object) -> str:
    return run(folder, sys.executable, "-m", "mpigauge", *words)


def simulated(folder: Path, name: str, words: tuple[str, ...]) -> Path:
    """Return the result of a plan."""
    plan, journals = folder / f"{name}.txt", []
    plan.write_text(mpigauge(folder, "kernel", "plan", *words, "--samples", 20, "--seed", 1))
    for launch in range(1, LAUNCHES + 1):
        journals.append(f"{name}.{launch}")
        smpirun = ("smpirun", "-np", 2, "-platform", "p.xml", "-hostfile", "hosts")
        run(folder, *smpirun, "--log=root.thresh:error", "./kernel", plan.name, journals[-1])
    path = folder / f"{name}.jsonl"
    mpigauge(folder, "import", "journal", plan.name, *journals, "-o", path.name)
    return path


def messages(folder: Path) -> None:
    """Compare segments with the platform."""
    for words in (("pingpong",), ("pingpong", "eager")):
        path = simulated(folder, "-".join(words), (*words, "--sizes", "auto:4MiB"))
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


def overheads(folder: Path) -> None:
    """Compare o_s, o_r and L with a platform whose calls take time."""
    props = {"os": SENDING, "ois": SENDING, "or": RECEIVING}
    lines = "".join(f'<prop id="smpi/{name}" value="0:{of[0]}:{of[1]}"/>' for name, of in props.items())
    (folder / "p.xml").write_text(PLATFORM.replace("</config>", f"{lines}</config>"))
    path = simulated(
        folder,
        "overheads",
        ("pingpong", "send-overhead", "recv-overhead", "stream", "--sizes", OVERHEAD_SIZES),
    )
    (place,) = json.loads(mpigauge(folder, "model", path.name, "--format", "json"))["overheads"]
    print("\noverheads, gap and latency, and how far they are off")
    for one in place["sizes"]:
        size = one["bytes"]
        send = SENDING[0] + SENDING[1] * size  # longer than a message is on the wire, so also the gap
        way = TRUTH[0][0] + size / TRUTH[0][1]
        truths = {"send": send, "receive": RECEIVING[0] + RECEIVING[1] * size, "gap": send, "latency": way}
        known = {name: one[f"{name}_s"] for name in truths if one[f"{name}_s"]}
        words = [
            f"{name} {of['value'] * 1e6:.4f} us, {of['value'] / truths[name] - 1:+.3%}"
            for name, of in known.items()
        ]
        print(f"  {size} B: {'; '.join(words)}")


def main() -> None:
    """Print the findings beside the truth."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.xml").write_text(PLATFORM)
        (folder / "hosts").write_text("h0\nh1\n")
        sources = sorted(KERNEL.rglob("*.c"))
        run(folder, "smpicc", "-O2", "-std=gnu11", f"-I{KERNEL}", *sources, "-lm", "-o", "kernel")
        messages(folder)
        overheads(folder)


if __name__ == "__main__":
    main()
