"""What failing disks and killed networks cost: visits lost, processes left, files that cannot be continued.

    python benchmarks/soak.py --mpi PREFIX [--mpi ...] [--relays 20] [--disks 50] [--seed 1]

Campaigns of real libraries on emulated hosts lose the relay of their network, by SIGKILL at random moments,
and are continued until they are through. Then writes, fsync, flock and ftruncate of result files fail, from a
random call on, by a preloaded library. After each blow all visits that were in the file must still be there,
no process of the campaign may be left, and the file must go on: all three are to be 0. Kills of mpigauge, its
janitor, launchers and ranks: `python -m tests.real.kills`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.campaign.launch.process_tree import descendants, is_zombie
from mpigauge.errors import MpigaugeError
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from mpigauge.plan.model import JobKey

HERE = Path(__file__).parent
CALLS = {"write": (errno.ENOSPC, errno.EIO, errno.EDQUOT), "fsync": (errno.EIO, errno.ENOSPC)}
CALLS |= {"flock": (errno.ENOSYS, errno.ENOLCK), "ftruncate": (errno.EIO,)}
MEASURE = ("pingpong", "exchange", "--sizes", "0:4KiB", "--launches", "3", "--seed", "7")
GONE_WITHIN_S = 15.0
ENDS_WITHIN_S = 120.0
LATEST_S = 2.5
LAB = ("lab", "--hosts", "2", "--delay", "20us", "--", sys.executable, "-m", "mpigauge")
RELAY = "mpigauge-lab-re"


@dataclass
class Tally:
    """Outcomes of the campaigns of one library and kind of failure."""

    blows: int = 0
    lost: int = 0
    left: int = 0
    stuck: int = 0
    tracebacks: int = 0
    statuses: Counter[int] = field(default_factory=Counter)


class Soak:
    """A campaign that is struck again and again, and begun anew when it is through."""

    def __init__(self, folder: Path, mpi: str, chance: random.Random, wrapper: tuple[str, ...] = ()) -> None:
        self._wrapper = wrapper
        self._folder = folder
        self._mpi = mpi
        self._chance = chance
        self._number = 0
        self._known: set[tuple[int, int, JobKey]] = set()
        self._path = folder / "r0.jsonl"

    def start(self, **environment: str) -> subprocess.Popen[str]:
        """Begin the campaign, or resume it; its processes are found by a variable."""
        can_resume = self._path.exists() and b"\n" in self._path.read_bytes()
        if (
            can_resume
            and load(self._path).ends[-1:]
            and load(self._path).ends[-1].reason not in ("interrupted", "failed")
        ):
            self._number, self._known, can_resume = self._number + 1, set(), False
            self._path = self._folder / f"r{self._number}.jsonl"
        words = (
            ("resume", str(self._path))
            if can_resume
            else (*self._wrapper, "run", *MEASURE, "-o", str(self._path), "--mpi", self._mpi)
        )
        return subprocess.Popen(
            [sys.executable, "-m", "mpigauge", *words],
            cwd=self._folder,
            env={**os.environ, "SOAK": str(self._folder), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill_relay(self) -> Tally:
        """Send one SIGKILL at a random moment."""
        process = self.start()
        time.sleep(self._chance.uniform(0.3, LATEST_S))
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self._chance.choice(_relays(process.pid)), signal.SIGKILL)
        time.sleep(self._chance.uniform(0.0, 0.5))
        process.send_signal(signal.SIGINT)
        return self._judged(process)

    def disk(self, preload: Path) -> Tally:
        """Make the disk fail from a random call on."""
        call = self._chance.choice(list(CALLS))
        orders = {"FAIL_CALL": call, "FAIL_ERRNO": str(self._chance.choice(CALLS[call]))}
        orders["FAIL_AFTER"] = str(self._chance.randint(0, {"write": 60, "fsync": 3}.get(call, 0)))
        if self._chance.random() < 0.5:
            orders["FAIL_PART"] = "1"
        return self._judged(self.start(LD_PRELOAD=str(preload), **orders))

    def _judged(self, process: subprocess.Popen[str]) -> Tally:
        """Return what a failure has cost."""
        tally = Tally(blows=1)
        try:
            _, output = process.communicate(timeout=ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, output = process.communicate()
            tally.stuck = 1
        tally.tracebacks = output.count("Traceback")
        tally.statuses[process.returncode] += 1
        tally.left = len(self._left())
        tally.lost = self._lost()
        return tally

    def _left(self) -> list[int]:
        deadline = time.monotonic() + GONE_WITHIN_S
        while (left := _marked(self._folder)) and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    def _lost(self) -> int:
        """Return the number of visits lost since the failure: all, if the file cannot be read."""
        if not self._path.exists() or b"\n" not in self._path.read_bytes():
            return len(self._known)
        try:
            visits = load(self._path).visits
        except MpigaugeError:
            return max(1, len(self._known))
        now = {(visit.launch, visit.id, visit.cell.job) for visit in visits}
        lost = len(self._known - now)
        self._known = now
        return lost


def _relays(pid: int) -> list[int]:
    return [child for child in descendants(pid) if not is_zombie(child) and RELAY in _name(child)]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _marked(folder: Path) -> list[int]:
    """Return the living processes that a campaign in this folder has started, without janitors."""
    mark = f"SOAK={folder}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0") and not is_zombie(int(entry.name)):
                found.append(int(entry.name))
    return found


def _preload(folder: Path) -> Path:
    output = folder / "failing_disk.so"
    words = [
        "cc",
        "-D_GNU_SOURCE",
        "-O2",
        "-fPIC",
        "-shared",
        "-o",
        str(output),
        str(HERE / "failing_disk.c"),
    ]
    subprocess.run([*words, "-ldl"], check=True)
    return output


def _row(name: str, tallies: list[Tally]) -> str:
    statuses = sum((tally.statuses for tally in tallies), Counter[int]())
    sums = [
        sum(getattr(tally, key) for tally in tallies)
        for key in ("blows", "lost", "left", "stuck", "tracebacks")
    ]
    status_counts = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
    return f"| {name} | {' | '.join(map(str, sums))} | {status_counts} |"


def main() -> None:
    """Print a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--relays", type=int, default=20)
    parser.add_argument("--disks", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpi", action="append", required=True)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)  # noqa: S311 - not for secrets
    print("| blow | times | finished visits lost | processes left | stuck | tracebacks | exit statuses |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="mpigauge-soak-") as name:
        soaks = {}
        for mpi in arguments.mpi:
            folder = Path(name) / Path(mpi).name.replace(".", "_")
            folder.mkdir()
            soaks[mpi] = Soak(folder, mpi, chance)
        for mpi in arguments.mpi[:1] if arguments.relays else ():
            folder = Path(name) / "lab"
            folder.mkdir()
            lab = Soak(folder, mpi, chance, LAB)
            print(_row("relay of a lab", [lab.kill_relay() for _ in range(arguments.relays)]), flush=True)
            soaks["lab"] = lab
        preload = _preload(Path(name))
        for mpi, soak in soaks.items():
            times = max(1, arguments.disks // len(soaks))
            print(_row(f"disk, {Path(mpi).name}", [soak.disk(preload) for _ in range(times)]), flush=True)
        for mpi, soak in soaks.items():
            done = soak.start()
            _, output = done.communicate(timeout=3 * ENDS_WITHIN_S)
            print(f"{Path(mpi).name}: the last campaign goes on to its end with status {done.returncode}")
            if done.returncode:
                print(output)


if __name__ == "__main__":
    main()
