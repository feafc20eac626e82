"""Campaigns that are killed at random moments: `python -m tests.real.kills [--kills N] [--seed N]`.

The victim is mpigauge, its janitor, its launcher, a rank, two of them, or all at once, with each of the
libraries that the Makefile installs. After each blow the campaign is continued, which is the next start of
mpigauge; then every visit of before must be in the file, byte for byte, and nothing of the job may be left:
no process, no file of its library, no folder. Printed is a table of what was lost and left, and in brackets
what there still was before the next start.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.campaign.lab import linux
from mpigauge.campaign.launch import leftovers
from mpigauge.campaign.launch.process_tree import descendants_of
from tests.real.mpi.conftest import prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIBRARIES = ("openmpi", "mpich", "intelmpi")
VICTIMS = (
    "mpigauge",
    "janitor",
    "launcher",
    "rank",
    "mpigauge+janitor",
    "mpigauge+launcher",
    "janitor+launcher",
    "all",
)
KILLS = 200
WORDS = ("pingpong", "allreduce", "--sizes", "8,1KiB", "--budget", "2s", "-q")
MARK = "MPIGAUGE_TEST_KILLS"
FIRST_S = (0.0, 2.5)
"""When the blow falls, after the victim was first there."""

SETTLE_S = 6.0
ENDS_S = 90.0
KERNEL = "mpigauge-kernel"


@dataclass(slots=True)
class Blow:
    """What one kill did.

    Attributes:
        hit: How many processes were killed; 0 if the campaign had ended before.
        lost: Finished visits that are not in the file any more, or twice.
        left: Processes, files and folders after the next start.
        before_start: The same before it.
        wrong: What else went wrong, in words.
    """

    library: str
    victim: str
    hit: int = 0
    lost: int = 0
    left: list[str] = field(default_factory=list)
    before_start: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Trial:
    """One campaign, killed and continued, in a folder of its own."""

    def __init__(self, folder: Path, library: str, victim: str, chance: random.Random) -> None:
        self.blow = Blow(library, victim)
        self._folder = folder
        self._chance = chance
        self._result = folder / "r.jsonl"
        self._temporary = folder / "tmp"
        self._temporary.mkdir(parents=True)
        self._mark = uuid.uuid4().hex
        self._before = leftovers.library_files()

    def run(self) -> Blow:
        """Do all of it."""
        started = self._start("run", *WORDS, "--mpi", prefix(self.blow.library), "-o", str(self._result))
        if self._strike(started):
            self._end(started)
            self._look(self.blow.before_start)
            self._go_on(_bytes(self._result))
            self._look(self.blow.left)
        else:
            self._end(started)
        return self.blow

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "mpigauge", *words],
            env={**os.environ, "TMPDIR": str(self._temporary), MARK: self._mark},
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def _strike(self, started: subprocess.Popen[bytes]) -> bool:
        """Kill the victims at a random moment; whether they were there."""
        wait_until(lambda: bool(_of(started.pid, "janitor")) or started.poll() is not None, ENDS_S)
        moment = time.monotonic() + self._chance.uniform(*FIRST_S)
        while started.poll() is None:
            time.sleep(max(0.0, moment - time.monotonic()) or 0.005)
            victims = self._victims(started.pid)
            if victims and started.poll() is None:
                leftovers.send(signal.SIGKILL, victims)
                self.blow.hit = len(victims)
                return True
        return False

    def _victims(self, pid: int) -> list[int]:
        if self.blow.victim == "all":
            return [pid, *descendants_of(pid)[0]]
        found = [_of(pid, name) for name in self.blow.victim.split("+")]
        return [self._chance.choice(one) for one in found] if all(found) else []

    def _end(self, started: subprocess.Popen[bytes]) -> None:
        try:
            _, said = started.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            self.blow.wrong.append(f"goes on {ENDS_S:.0f} s after the blow")
            started.kill()
            _, said = started.communicate()
        if b"Traceback" in said:
            self.blow.wrong.append(said.decode(errors="replace")[-500:])

    def _go_on(self, before: bytes) -> None:
        """Continue the campaign, or begin another where there is no file that could be."""
        words = ["resume", "-q", str(self._result)]
        if b"\n" not in before:
            self._result.unlink(missing_ok=True)
            words = ["run", *WORDS, "--mpi", prefix(self.blow.library), "-o", str(self._result)]
        again = self._start(*words)
        self._end(again)
        if again.returncode not in (0, 1) and not _is_complete(before):
            self.blow.wrong.append(f"{words[0]} ended with status {again.returncode}")
        whole = before[: before.rfind(b"\n") + 1]
        after = _bytes(self._result)
        visits = list(_visits(after))
        lost = set(_visits(whole)) - set(visits) if after.startswith(whole) else set(_visits(whole))
        self.blow.lost = len(lost) + len(visits) - len(set(visits))

    def _look(self, found: list[str]) -> None:
        """Note what is there of the job, after a while in which it may end."""
        wait_until(lambda: not self._there(), SETTLE_S)
        found.extend(self._there())

    def _there(self) -> list[str]:
        word = f"{MARK}={self._mark}".encode()
        numbers = (path.name for path in Path("/proc").iterdir() if path.name.isdigit())
        processes = [number for number in numbers if word in leftovers.environment_of(number)]
        folders = [path.name for path in self._temporary.iterdir()]
        files = leftovers.left_behind(self._before)
        return [*(f"process {_name(pid)}" for pid in processes), *sorted(files), *folders]


def _of(pid: int, name: str) -> list[int]:
    """Return the processes of a campaign that are called so here."""
    if name == "mpigauge":
        return [pid]
    below = descendants_of(pid)[0]
    names = {one: _kind(one) for one in below}
    if name == "launcher":
        return [one for one in below if names[one] == "launcher"][:1] if "rank" in names.values() else []
    return [one for one in below if names[one] == name]


def _kind(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    if any(word.endswith(b"leftovers.py") for word in words):
        return "janitor"
    if words[0].endswith(KERNEL.encode()):
        return "rank" if b"--describe" not in words else ""
    return "launcher" if any(word.endswith(KERNEL.encode()) for word in words) else ""


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return pid


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _visits(text: bytes) -> Iterator[tuple[int, int, str]]:
    for line in text.split(b"\n")[:-1]:
        record = json.loads(line)
        if record["type"] == "visit":
            yield record["launch"], record["id"], json.dumps(record["cell"], sort_keys=True)


def _is_complete(text: bytes) -> bool:
    last = text.rstrip(b"\n").rpartition(b"\n")[2]
    return b'"type":"end"' in last


def wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait for something for at most so long; whether it came."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def blows(
    kills: int,
    seed: int,
    victims: Sequence[str] = VICTIMS,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Blow]:
    """So many campaigns, killed; what each blow did."""
    chance = random.Random(seed)
    made = 0
    while made < kills:
        library, victim = LIBRARIES[made % len(LIBRARIES)], chance.choice(victims)
        folder = Path(tempfile.mkdtemp(prefix="kills-"))
        try:
            blow = Trial(folder, library, victim, chance).run()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if blow.hit:
            made += 1
            tell(f"{made}: {library}, {victim}: {blow.lost} lost, left {blow.left}, {blow.wrong}")
            yield blow


def table(done: Sequence[Blow]) -> Iterator[str]:
    """The lines of the table."""
    heads = "".join(f"{head:>10}" for head in ("processes", "files", "folders"))
    yield f"{'victim':<18} {'kills':>5} {'lost':>5} {heads} {'wrong':>6}"
    for victim in (*VICTIMS, "together"):
        of = [blow for blow in done if victim in (blow.victim, "together")]
        after, before = _counted([b.left for b in of]), _counted([b.before_start for b in of])
        left = "".join(f"{f'{after[s]} ({before[s]})':>10}" for s in ("process", "file", "folder"))
        wrong = sum(len(blow.wrong) for blow in of)
        yield f"{victim:<18} {len(of):>5} {sum(blow.lost for blow in of):>5} {left} {wrong:>6}"


def _counted(lists: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(_sort(word) for words in lists for word in words)


def _sort(word: str) -> str:
    return "process" if word.startswith("process ") else "file" if word.startswith("/") else "folder"


def _apart() -> None:
    """Give this process folders of its own where libraries leave files, so that none of others is counted."""
    with contextlib.suppress(OSError):
        linux.unshare(linux.NEW_MOUNTS)
        linux.mount("none", "/", None, linux.RECURSIVE_PRIVATE)
        for folder in ("/dev/shm", "/tmp"):  # noqa: S108
            linux.mount("tmpfs", folder, "tmpfs", 0, "mode=1777")


def main() -> None:
    """Print the table; the status is 1 if anything was lost or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--victim", action="append", choices=VICTIMS, help="only these")
    options = parser.parse_args()
    _apart()
    victims = options.victim or VICTIMS
    done = list(
        blows(options.kills, options.seed, victims, lambda line: print(line, file=sys.stderr, flush=True))
    )
    print("\n".join(table(done)))
    sys.exit(any(blow.lost or blow.left or blow.wrong for blow in done))


if __name__ == "__main__":
    main()
