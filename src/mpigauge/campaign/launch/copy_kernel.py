"""Copying the kernel to other hosts that share no folder, to the path that it has here.

There, as here, it is a program in a cache: in a folder that nobody else may write to, and used again by the
next campaign. A copy gets its name only when it is complete; an existing file stays, since it may be running.
"""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from mpigauge.campaign.launch.inherited_env import launcher_environment
from mpigauge.campaign.launch.job import FOLDER, temporary_folder, write_files
from mpigauge.plan.hosts import expand_nodelist
from mpigauge.programs import which

REFUSED = 100
"""Exit status of the scripts if the kernel is not there at the end; shells use 1, 2 and 126 up, ssh 255."""

NOT_OURS = "belongs to another user, or others may write to it or to its folder"

STEP_WAIT_S = 60.0
MAX_STEP_MINUTES = 1
END_WAIT_S = 5.0
"""How long a hung step may take to end after SIGTERM."""

SLURM_PREFIXES = ("srun: ", "slurmstepd: ")
"""Beginnings of lines that are Slurm's and not our script's."""

SHELL_FUNCTIONS = (
    'no() { echo "$1" >&2; exit 100; }; '
    'need() { command -v "$1" > /dev/null || no "there is no program $1"; }; '
    'mine() { [ -O "$1" ] || [ -n "$(find -H "$1" -prune -user 0)" ]; }; '
    'shut() { [ -n "$(find -H "$1" -prune "(" -perm -020 -o -perm -002 ")" -o -print)" ]; }; '
    'ours() { [ -x "$2" ] && mine "$1" && shut "$1" && mine "$2" && shut "$2"; }; '
    "need find; "
)
"""Shell functions of both scripts; where a check cannot be made, it fails."""

CHECK_SCRIPT = f'{SHELL_FUNCTIONS}ours "$1" "$2" || {{ [ -e "$2" ] && no "$2: {NOT_OURS}"; exit 100; }}'
"""Shell script for another host that checks whether its kernel may be run; $1 is the folder, $2 the path."""

COPY_SCRIPT = (
    f'{SHELL_FUNCTIONS}ours "$1" "$2" && exit 0; '
    "need sha256sum; umask 077; "
    'mkdir -p "$1" && { mine "$1" || no "$1: belongs to another user"; } && chmod go-w "$1" || exit 100; '
    'new="$1/.new-$(uname -n)-$$"; '
    'gone() { rm -f "$new"; }; '
    'trap "exit 100" 1 2 15; trap gone 0; '
    'cat > "$new" && chmod 700 "$new" || exit 100; '
    '[ "$(sha256sum < "$new")" = "$3  -" ] || no "$2: did not arrive whole"; '
    'ln "$new" "$2" 2> /dev/null || [ -e "$2" ] || mv "$new" "$2"; '
    'ours "$1" "$2" || no "$2: belongs to another user, or cannot be run"'
)
"""Shell script for another host that writes its input as the kernel; $1 folder, $2 path, $3 SHA-256 digest.

One line without an apostrophe or an exclamation mark, so that any login shell passes it on to `sh`. The new
file gets its name by a link: a host that has changed a folder on NFS reads it again, and so finds a kernel
there that its cache would have hidden for a minute.
"""


def check_command(program: Path) -> list[str]:
    """Return the command for another host that checks whether it has a program that is safe to run."""
    return ["sh", "-c", CHECK_SCRIPT, "sh", str(program.parent), str(program)]


def copy_command(program: Path) -> list[str]:
    """Return the command for another host that writes the program, its standard input."""
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    return ["sh", "-c", COPY_SCRIPT, "sh", str(program.parent), str(program), digest]


def copy_by_srun(nodes: Sequence[str], programs: Iterable[Path]) -> dict[str, str]:
    """Copy programs to nodes of our Slurm job that lack them, by one step on all of them.

    Returns:
        What is wrong with nodes, by name; empty if no step can start, as the launcher may copy programs.

    Raises:
        EnvironmentLacksError: There is no temporary folder.
    """
    srun = which("srun")
    if srun is None or not nodes:
        return {}
    folder = temporary_folder("a step")
    try:
        names = "".join(f"{node}\n" for node in nodes)
        (hosts,) = write_files([f"{FOLDER}/nodes"], {"nodes": names}, folder)
        faults: dict[str, str] = {}
        for program in programs:
            faults = _step(srun, hosts, len(nodes), program) | faults
        return faults
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _step(srun: str, hosts: str, count: int, program: Path) -> dict[str, str]:
    step = [srun, f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1", f"--nodelist={hosts}"]
    step += ["--mpi=none", "--cpu-bind=none", "--input=all", "--kill-on-bad-exit=0", "--wait=0", "--quiet"]
    step += [f"--time={MAX_STEP_MINUTES}"]  # ends the step if srun is lost
    try:
        with program.open("rb") as file, _started([*step, *copy_command(program)], file) as process:
            output = _output_of(process)
    except OSError:
        return {}
    return _refusals(output, process.returncode, program)


@contextlib.contextmanager
def _started(command: Sequence[str], source: IO[bytes]) -> Iterator[subprocess.Popen[str]]:
    """Run a step; it is over at the end of the context, also if it hangs or we are interrupted."""
    process = subprocess.Popen(
        command,
        stdin=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to handle
        # Otherwise it would wait for other steps of the job on these nodes.
        env={**launcher_environment(os.environ), "SLURM_OVERLAP": "1"},
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()  # and is not read: what has left the group may keep it open


def _output_of(process: subprocess.Popen[str]) -> str:
    """Return the output of a step; a hung one gets SIGTERM, since a killed srun leaves its step running."""
    for wait_s in (STEP_WAIT_S, END_WAIT_S):
        try:
            return process.communicate(timeout=wait_s)[1]
        except subprocess.TimeoutExpired:
            process.terminate()
    return ""


_REFUSAL = re.compile(
    rf"^srun: error: ([^\s:]+): tasks? [^:]*: Exited with exit code {REFUSED}$", re.MULTILINE
)


def _refusals(output: str, status: int, program: Path) -> dict[str, str]:
    """Return the nodes on which the script failed, as srun says, with the first line of the script's output.

    If tasks end differently, srun's status is that of one of them, which may have been killed.
    """
    nodes = [node for match in _REFUSAL.finditer(output) for node in expand_nodelist(match[1])]
    own = [line for line in output.splitlines() if line.strip() and not line.startswith(SLURM_PREFIXES)]
    why = own[0] if own else f"status {REFUSED}"
    return dict.fromkeys(
        nodes or (["of the job"] if status == REFUSED else []), refusal_sentence(program, why)
    )


def refusal_sentence(program: Path, why: str) -> str:
    """Return the sentence on a host that the program could not be copied to."""
    return f"has no {program}, and it cannot be put there: {why}"
