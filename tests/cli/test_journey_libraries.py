"""Libraries that are not to be had here: stand-ins that say and take what their documentation says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_ENVIRONMENT, EXIT_USAGE
from mpigauge.result.reader import load
from tests.fakes.mpi import SHELL, write_program

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "1", "--seed", "7", "-q")
STRANGERS = {
    "mvapich": "3.0",
    "parastation": "5.10.0-1",
    "spectrum": "10.3.1.03",
    "fujitsu": "4.0.0",
    "mpt": "2.23",
    "fancy-mpi": "1.2",
}
SRUN = """
while [ "${1#-}" != "$1" ]; do case "$1" in --ntasks=*) FAKE_RANKS=${1#*=} ;; esac; shift; done
export FAKE_RANKS
exec "$@"
"""
"""As srun starts one rank of two, for whoever needs no more."""


@pytest.fixture(params=STRANGERS.items(), ids=lambda one: one[0])
def stranger(request: pytest.FixtureRequest, fake_mpi: Install) -> FakeMpi:
    """A library that no test has ever run on."""
    return fake_mpi(*request.param)


def test_it_is_measured_under_its_own_name(cli: Cli, stranger: FakeMpi) -> None:
    done = cli(*RUN, "--mpi", stranger.mpicc, "--format", "json", "-o", "r.jsonl")
    assert done.status == EXIT_DONE, done.err
    rows = json.loads(done.out)["rows"]
    found = {(row["mpi"], row["mpi_version"], row["status"]) for row in rows}
    assert found == {(stranger.kind, stranger.version, "ok")}


def test_its_campaign_can_be_continued(cli: Cli, stranger: FakeMpi, machine: Path) -> None:
    assert cli(*RUN, "-o", "r.jsonl").status == EXIT_DONE
    cut = machine / "work" / "cut.jsonl"
    lines = (machine / "work" / "r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    cut.write_text(lines[0], encoding="utf-8")
    done = cli("resume", cut, "-q", "--format", "json")
    assert done.status == EXIT_DONE, done.err
    assert json.loads(done.out)["rows"][0]["mpi"] == stranger.kind


@pytest.mark.parametrize(
    "words", [("--transport", "tcp"), ("--bind", "core"), ("--transport", "auto", "--transport", "shm")]
)
def test_nothing_is_claimed_that_nobody_knows(cli: Cli, stranger: FakeMpi, words: tuple[str, ...]) -> None:
    done = cli(*RUN, *words, "-o", "r.jsonl")
    assert done.status == EXIT_USAGE
    assert "is not known to mpigauge" in done.err
    assert "--env NAME=VALUE" in done.err
    assert not list((stranger.prefix.parents[1] / "work").iterdir())


def test_another_kind_at_run_time_is_refused(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_mpi("fancy-mpi", "1.2")
    monkeypatch.setenv("FAKE_LIBRARY", "Other MPI 1.2")
    done = cli(*RUN, "-o", "r.jsonl")
    assert done.status == EXIT_ENVIRONMENT
    assert "built for Fancy MPI 1.2, but the job ran on Other MPI 1.2" in done.err


# ---- What starts them ----------------------------------------------------------------------------


def test_cray_needs_no_mpiexec_where_slurm_is(
    cli: Cli, fake_mpi: Install, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = fake_mpi("cray-mpich", "8.1.28.15")
    write_program(fake.bin / "srun", SRUN, SHELL)
    done = cli(*RUN, "-o", "r.jsonl")
    assert done.status == EXIT_ENVIRONMENT
    assert "srun needs a Slurm allocation" in done.err
    assert not (machine / "work" / "r.jsonl").exists()
    for name, value in {"ID": "17", "NODELIST": "node1", "CPUS_PER_NODE": "2"}.items():
        monkeypatch.setenv(f"SLURM_JOB_{name}", value)
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2")
    monkeypatch.setenv("FAKE_HOSTS", "node1,node1")
    assert cli(*RUN, "-o", "r.jsonl").status == EXIT_DONE
    command = load(machine / "work" / "r.jsonl").launches[0].command
    assert command[:2] == ("srun", "--mpi=cray_shasta")


def test_without_an_mpiexec_the_ways_out_are_named(cli: Cli, fake_mpi: Install) -> None:
    fake = fake_mpi()
    (fake.bin / "mpiexec").unlink()
    for words in (RUN, (*RUN, "--dry-run")):
        done = cli(*words)
        assert done.status == EXIT_ENVIRONMENT
        assert f"{fake.mpicc}: has no mpiexec beside it" in done.err
        assert "--mpiexec PATH or --launcher NAME" in done.err
    assert cli("kernel", "path").status == cli("kernel", "plan", "pingpong").status == EXIT_DONE


@pytest.mark.parametrize("by_name", [False, True])
def test_the_mpiexec_may_be_anywhere(
    cli: Cli, fake_mpi: Install, machine: Path, monkeypatch: pytest.MonkeyPatch, *, by_name: bool
) -> None:
    fake = fake_mpi("mpich", "4.3.2")
    elsewhere = machine / "elsewhere"
    elsewhere.mkdir()
    moved = (fake.bin / "mpiexec").rename(elsewhere / "mpiexec.hydra")
    if by_name:
        monkeypatch.setenv("PATH", f"{fake.bin}:{elsewhere}")
    words = (*RUN, "--mpiexec", moved.name if by_name else moved, "-o", "r.jsonl")
    assert cli(*words).status == EXIT_DONE
    result = load(machine / "work" / "r.jsonl")
    assert result.launches[0].command[0] == str(moved) == result.campaign.libraries[0].mpiexec


def test_a_plan_may_name_it(cli: Cli, fake_mpi: Install, machine: Path) -> None:
    fake = fake_mpi("mpich", "4.3.2")
    moved = (fake.bin / "mpiexec").rename(machine / "launch")
    plan = f'mpiexec = "{moved}"\nlaunches = 1\nsizes = "8"\n[[measure]]\npattern = "pingpong"\n'
    (machine / "work" / "plan.toml").write_text(plan, encoding="utf-8")
    done = cli("run", "--plan", "plan.toml", "--dry-run")
    assert done.status == EXIT_DONE, done.err
    assert f"{moved} -n 2 " in done.out


def test_one_mpiexec_is_for_one_library(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi("mpich", "4.3.2")
    fake = fake_mpi("openmpi")
    both = (*RUN, "--mpi", "mpich", "--mpi", "openmpi", "--mpiexec", fake.bin / "mpiexec")
    assert "one mpiexec cannot start 2 libraries" in cli(*both).err
    assert "is not a program" in cli(*RUN, "--mpiexec", "/nonsense").err


# ---- What else may have been meant ---------------------------------------------------------------


@pytest.mark.parametrize("words", [("--dry-run",), ("-o", "r.jsonl")], ids=["before", "while"])
def test_another_library_than_the_one_that_is_loaded_is_not_measured_silently(
    cli: Cli, openmpi: FakeMpi, machine: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    broken = write_program(machine / "module" / "mpicc", 'echo "icx: command not found" >&2; exit 127', SHELL)
    monkeypatch.setenv("PATH", f"{broken.parent}:{openmpi.bin}")
    done = cli(*RUN, *words)
    assert done.status == EXIT_DONE
    (line,) = [line for line in (done.out + done.err).splitlines() if "does not work" in line]
    assert f"{broken} does not work (" in line
    assert "icx: command not found" in line
    assert f"measuring Open MPI 5.0.11 of {openmpi.prefix}" in line


def test_a_library_that_is_named_is_measured_without_a_word(
    cli: Cli, openmpi: FakeMpi, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fake_mpi("mpich", "5.0.2")
    monkeypatch.setenv("PATH", f"{openmpi.bin}:{other.bin}")
    assert "MPICH 5.0.2 is behind it" in cli(*RUN, "--dry-run").out
    assert "behind" not in cli(*RUN, "--dry-run", "--mpi", openmpi.mpicc).out
