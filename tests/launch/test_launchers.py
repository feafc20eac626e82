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
COMMANDS = {
    "openmpi": (
        "/opt/mpi/bin/mpiexec -n 2 kernel - -",
        "/opt/mpi/bin/mpiexec -n 8 --allow-run-as-root --oversubscribe|a kernel|- -",
    ),
    "hydra": ("/opt/mpi/bin/mpiexec -n 2 kernel - -", "/opt/mpi/bin/mpiexec -n 8|a kernel|- -"),
}
"""For each launcher the words of MINIMAL and of FULL, a bar around the one word that holds a space."""


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


def test_a_job_is_oversubscribed_above_its_cores_only() -> None:
    assert not Job(Path("mpiexec"), 4, (), cores=4).oversubscribed
    assert Job(Path("mpiexec"), 5, (), cores=4).oversubscribed
