"""Stand-ins for launchers that cannot be had here: they take the words that manuals list, and no others.

Each starts the program of rank 0 as the fake mpiexec does, and tells it how many ranks there are and on which
hosts the manual says that they would be. What a real one does beyond that, nobody has seen here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

START = """
import os, sys

def options(words, valued, flags=()):
    found = {}
    while words[0].startswith("-"):
        name, sign, value = words.pop(0).partition("=")
        if name not in (*valued, *flags):
            sys.exit("unknown option " + name)
        found[name] = value if sign or name in flags else words.pop(0)
    return found

def lines(path):
    return open(path).read().split()

def start(program, ranks, hosts):
    assert len(hosts) == ranks, hosts
    os.environ.update(FAKE_RANKS=str(ranks), FAKE_HOSTS=",".join(hosts))
    os.execv(program[0], program)
"""

FLUX = """
assert "FLUX_URI" in os.environ
if sys.argv[1:3] == ["resource", "list"]:
    print("8 n[1-4]")
    sys.exit()
assert sys.argv[1] == "run"
words = sys.argv[2:]
given = options(words, ["--ntasks", "--nodes", "--requires", "--input", "--taskmap"], ["--unbuffered"])
assert given["--input"] == "0"
ranks = int(given["--ntasks"])
hosts = given["--requires"].removeprefix("hosts:").split(",")
assert len(hosts) == int(given["--nodes"])
if "--taskmap" in given:  # the list is used again if there are fewer lines than tasks
    named = lines(given["--taskmap"].removeprefix("hostfile:"))
    assert set(named) == set(hosts)
    hosts = named
start(words, ranks, [hosts[rank % len(hosts)] for rank in range(ranks)])
"""

PALS = """
words = sys.argv[1:]
given = options(words, ["-n", "--ppn", "--hosts", "--hostfile"])
ranks, each = int(given["-n"]), int(given["--ppn"])
hosts = lines(given["--hostfile"]) if "--hostfile" in given else given["--hosts"].split(",")
start(words, ranks, [host for host in hosts for _ in range(each)][:ranks])
"""

JSRUN = """
words = sys.argv[1:]
sets = ["--nrs", "--tasks_per_rs", "--cpu_per_rs", "--rs_per_host", "--launch_distribution"]
given = options(words, sets)
assert (given["--tasks_per_rs"], given["--launch_distribution"]) == ("1", "packed")
ranks, each = int(given["--nrs"]), int(given["--rs_per_host"])
hosts = list(dict.fromkeys(lines(os.environ["LSB_DJOB_HOSTFILE"])))
start(words, ranks, [host for host in hosts for _ in range(each)][:ranks])
"""

OWN = """
words = sys.argv[1:]
given = options(words, ["-n", "-f"])
start(words, int(given["-n"]), lines(given["-f"]))
"""

STAND_INS = {"flux": FLUX, "mpiexec": PALS, "jsrun": JSRUN, "start-ranks": OWN}


def install(folder: Path) -> None:
    """Writes them all into a folder."""
    for name, text in STAND_INS.items():
        write_program(folder / name, START + text)


SRUN = """
words = sys.argv[1:]
valued = ["--mpi", "--ntasks", "--nodes", "--nodelist", "--input", "--kill-on-bad-exit"]
given = options(words, valued, ["--unbuffered", "--overcommit"])
ranks = int(given["--ntasks"])
if ranks > 1 and "--overcommit" not in given:
    sys.exit("srun: error: Unable to create step for job 17: More processors requested than permitted")
start(words, ranks, [given["--nodelist"]] * ranks)
"""
"""Of a job with one processor; whatever it is told beside, its tasks are on one node."""


def install_srun(folder: Path) -> None:
    """Writes the stand-in of Slurm's, which the tests of Slurm have themselves."""
    write_program(folder / "srun", START + SRUN)


def put_srun_first(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """An srun on PATH, for what asks only whether there is one: not every machine has Slurm's."""
    install_srun(folder)
    patch.setenv("PATH", str(folder), prepend=os.pathsep)
