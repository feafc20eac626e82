"""The cluster of hosts.py, as its user sees it from the head: commands, jobs, and a node that dies."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--pid")
TIMEOUT_S = 300.0
REVOKED_S = 2.0
ENDED = {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY"}


class Cluster:
    """A running cluster; use it in a `with`, after which nothing of it is left."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder = folder
        self.nodes = nodes

    def __enter__(self) -> Self:
        begin = ["unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc"]
        program = [sys.executable, str(HERE / "hosts.py"), str(self.folder), str(self.nodes)]
        self._first = subprocess.Popen(
            [*begin, *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._first.stdout is not None
        if self._first.stdout.readline() != "up\n":
            _, words = self._first.communicate()
            raise RuntimeError(f"the cluster did not come up: {words}")
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children").read_text(
            encoding="ascii"
        )
        self._head = children.split()[0]
        return self

    def __exit__(self, *exception: object) -> None:
        self._first.communicate("")

    # ---- Commands --------------------------------------------------------------------------------

    def words(self, *words: str) -> list[str]:
        """A command on the head."""
        return ["nsenter", f"--target={self._head}", *NAMESPACES, f"--wd={Path.cwd()}", "--", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command on the head, in the folder that we are in."""
        return subprocess.run(
            self.words(*words),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            env={**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf"},
        )

    def out(self, *words: str) -> str:
        """What a command says that must end well."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    # ---- Jobs ------------------------------------------------------------------------------------

    def submit(self, *words: str) -> str:
        """Hands a job to sbatch; its number."""
        return self.out("sbatch", "--parsable", *words).strip()

    def job(self, number: str) -> dict[str, str]:
        """What scontrol says of a job, or of the last task of an array."""
        lines = self.out("scontrol", "-o", "show", "job", number).splitlines()
        return dict(word.partition("=")[::2] for word in lines[-1].split())

    def state(self, number: str) -> str:
        """Of a job."""
        return self.job(number)["JobState"]

    def ended(self, number: str) -> dict[str, str]:
        """A job that is over."""
        wait_until(lambda: self.state(number) in ENDED, f"job {number} to end")
        return self.job(number)

    def begin_again(self, number: str, restarts: int = 1) -> None:
        """Starts a job that Slurm has put back into its queue, which would make it wait for minutes."""
        wait_until(lambda: self.job(number)["Restarts"] == str(restarts), f"job {number} to be queued again")
        # Nodes revoke what was granted up to this second, and refuse a job that begins again within it.
        time.sleep(REVOKED_S)

        def begun() -> bool:
            self.run("scontrol", "update", f"jobid={number}", "StartTime=now")
            return self.state(number) in {"RUNNING", *ENDED}

        wait_until(begun, f"job {number} to begin again", pause_s=0.5)

    # ---- Nodes -----------------------------------------------------------------------------------

    def kill(self, node: str) -> None:
        """Takes a node away, as a power failure does: Slurm's daemons there, and all that they started."""
        daemon = int((self.folder / f"slurmd.{node}.pid").read_text(encoding="ascii"))
        # Its processes have its host name; the numbers are those of the cluster.
        text = (
            "import os, signal, sys\n"
            f"ours = os.readlink('/proc/{daemon}/ns/uts')\n"
            "for name in filter(str.isdigit, os.listdir('/proc')):\n"
            "    try:\n"
            "        if os.readlink(f'/proc/{name}/ns/uts') == ours: os.kill(int(name), signal.SIGKILL)\n"
            "    except OSError: pass\n"
        )
        self.out(sys.executable, "-c", text)

    def revive(self, node: str) -> None:
        """Brings it back."""
        enter = ("nsenter", f"--net=/run/netns/{node}", "unshare", "--uts", "--ipc", "--mount")
        self.out(*enter, sys.executable, str(HERE / "hosts.py"), "--node", node, str(self.folder))
        wait_until(lambda: self.idle() == self.nodes, f"{node} to come back")

    def idle(self) -> int:
        """How many nodes wait for a job."""
        return int(self.out("sinfo", "-h", "-t", "idle", "-o", "%D").strip() or 0)


def wait_until(
    condition: Callable[[], bool], what: str, seconds: float = TIMEOUT_S, pause_s: float = 0.1
) -> None:
    """Waits for something, or says what did not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(pause_s)
