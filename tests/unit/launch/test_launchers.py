"""Launchers are pure: a job becomes exactly these words."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.launch.launchers import LAUNCHERS, Job, command_of

MINIMAL = Job(Path("/opt/mpi/bin/mpiexec"), 2, ("kernel", "-", "-"), cores=2)
FULL = Job(
    Path("/opt/mpi/bin/mpiexec"),
    8,
    ("a kernel", "-", "-"),
    cores=4,
    as_root=True,
    environment={"I_MPI_ROOT": "/opt/mpi"},
)
SPREAD = Job(
    Path("/opt/mpi/bin/mpiexec"),
    4,
    ("kernel", "-", "-"),
    cores=4,
    environment={"UCX_TLS": "tcp", "OMPI_MCA_pml": "ob1"},
    inherited=("FI_PROVIDER", "PRTE_MCA_x"),
    hosts=("h1", "h1", "h2", "h1"),
    pmi="pmix",
)
MPIEXEC = "/opt/mpi/bin/mpiexec"
EXPORTS = "-x FI_PROVIDER -x UCX_TLS"
SRUN = "--input=0 --unbuffered --kill-on-bad-exit=1"
COMMANDS = {
    "openmpi": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8 --allow-run-as-root --oversubscribe|a kernel|- -",
        (
            f"{MPIEXEC} {EXPORTS} -n 2 --host h1:2 kernel - - : "
            f"{EXPORTS} -n 1 --host h2:1 kernel - - : {EXPORTS} -n 1 --host h1:1 kernel - -"
        ),
    ),
    "hydra": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8|a kernel|- -",
        f"{MPIEXEC} -hosts h1:2,h2:1,h1:1 -n 4 kernel - -",
    ),
    "intelmpi": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8|a kernel|- -",
        f"{MPIEXEC} -n 2 -host h1 kernel - - : -n 1 -host h2 kernel - - : -n 1 -host h1 kernel - -",
    ),
    "srun": (
        f"srun --mpi= --ntasks=2 {SRUN} kernel - -",
        f"srun --mpi= --ntasks=8 {SRUN} --overcommit|a kernel|- -",
        f"srun --mpi=pmix --ntasks=4 {SRUN} --distribution=arbitrary --nodelist=h1,h1,h2,h1 kernel - -",
    ),
}
"""For each launcher the words of MINIMAL, FULL and SPREAD, a bar around the one word that holds a space."""


def words(text: str) -> list[str]:
    """The words of a row."""
    before, *rest = text.split("|")
    return [*before.split(), *([rest[0], *rest[1].split()] if rest else [])]


def test_every_launcher_has_a_row() -> None:
    assert set(COMMANDS) == set(LAUNCHERS)
    assert all(launcher.name == name and launcher.about for name, launcher in LAUNCHERS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_becomes_these_words(name: str) -> None:
    assert command_of(MINIMAL, name) == words(COMMANDS[name][0])
    assert command_of(FULL, name) == words(COMMANDS[name][1])
    assert command_of(SPREAD, name) == words(COMMANDS[name][2])


def test_a_job_is_oversubscribed_above_its_cores_only() -> None:
    assert not Job(Path("mpiexec"), 4, (), cores=4).oversubscribed
    assert Job(Path("mpiexec"), 5, (), cores=4).oversubscribed
