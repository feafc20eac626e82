"""One kernel for all libraries: who builds it, whose folder the loader looks into, and who cannot run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi

MEASURE = ("run", "pingpong", "--sizes", "8", "--launches", "2", "--abi", "-q")


@pytest.fixture
def two(fake_mpi: Install) -> tuple[FakeMpi, FakeMpi]:
    """MPICH, which can build for the ABI, and Intel MPI, which can only run it; and one without."""
    fake_mpi("openmpi", "5.0.11")
    return (
        fake_mpi("intelmpi", "2021.18.1", abi=True, latency_ns=100),
        fake_mpi("mpich", "5.0.2", abi=True, latency_ns=200),
    )


@pytest.mark.thorough
def test_one_kernel_runs_on_every_library_that_has_the_abi(cli: Cli, two: tuple[FakeMpi, FakeMpi]) -> None:
    done = cli(*MEASURE, "--format", "json", "-o", "r.jsonl")
    assert done.status == 0, done.err
    rows = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    times = {row["mpi"]: row["time_s"]["estimate"] for row in rows}
    assert times["mpich"] > times["intelmpi"]
    result = load(Path("r.jsonl"))
    assert result.campaign.plan.abi
    assert len({library.kernel for library in result.campaign.libraries}) == 1
    for library in result.campaign.libraries:
        assert library.built_by == "mpich==5.0.2"
        assert library.compiler == str(two[1].bin / "mpicc_abi")
    folders = {fake.kind: str(fake.prefix / "lib") for fake in two}
    for launch in result.launches:
        assert launch.built_by == "mpich==5.0.2"
        assert launch.variables["LD_LIBRARY_PATH"] == folders[launch.job.mpi]
    head = cli("show", "--all", "r.jsonl").out.partition("\n\n")[0]
    assert "one kernel for all libraries, built by mpich==5.0.2" in head


def test_without_it_every_library_has_a_kernel_of_its_own(cli: Cli, two: tuple[FakeMpi, FakeMpi]) -> None:
    words = [word for word in MEASURE if word != "--abi"]
    assert cli(*words, "--mpi", "mpich", "--mpi", "intelmpi", "-o", "r.jsonl").status == 0
    result = load(Path("r.jsonl"))
    assert len({library.kernel for library in result.campaign.libraries}) == 2
    assert {launch.built_by for launch in result.launches} == {""}
    assert "one kernel" not in cli("show", "--all", "r.jsonl").out


def test_a_plan_file_may_ask_for_it(cli: Cli, two: tuple[FakeMpi, FakeMpi]) -> None:
    Path("plan.toml").write_text(
        'abi = true\nmpi = ["intelmpi"]\n[[measure]]\npattern = "pingpong"\nsizes = "8"\n', encoding="utf-8"
    )
    assert cli("run", "--plan", "plan.toml", "--launches", "1", "-o", "r.jsonl").status == 0
    (launch,) = load(Path("r.jsonl")).launches
    assert (launch.job.mpi, launch.built_by) == ("intelmpi", "mpich==5.0.2")


def test_a_library_without_the_abi_is_refused_by_name(cli: Cli, two: tuple[FakeMpi, FakeMpi]) -> None:
    done = cli(*MEASURE, "--mpi", "mpich", "--mpi", "openmpi", "-o", "r.jsonl")
    assert done.status == 3
    assert "Open MPI 5.0.11" in done.err
    assert "has no libmpi_abi.so.1" in done.err
    assert not Path("r.jsonl").exists()


def test_without_a_compiler_or_a_library_it_says_what_would_do(
    cli: Cli, openmpi: FakeMpi, fake_mpi: Install
) -> None:
    nothing = cli(*MEASURE)
    assert nothing.status == 3
    assert "no library here has libmpi_abi.so.1" in nothing.err
    fake_mpi("intelmpi", "2021.18.1", abi=True)
    no_compiler = cli(*MEASURE)
    assert no_compiler.status == 3
    assert "no library here has mpicc_abi" in no_compiler.err
    assert "mpigauge mpi add mpich" in no_compiler.err


@pytest.mark.thorough
def test_the_users_own_folders_come_after_the_librarys(
    cli: Cli, two: tuple[FakeMpi, FakeMpi], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(two[1].prefix / "lib"))
    assert cli(*MEASURE, "--mpi", "intelmpi", "-o", "r.jsonl").status == 0
    for launch in load(Path("r.jsonl")).launches:
        assert launch.variables["LD_LIBRARY_PATH"] == f"{two[0].prefix}/lib:{two[1].prefix}/lib"
        assert launch.library.startswith("Intel(R) MPI Library")


def test_a_job_on_another_library_is_refused(cli: Cli, two: tuple[FakeMpi, FakeMpi]) -> None:
    """The user's --env goes before ours, so that the loader finds the other library."""
    done = cli(*MEASURE, "--mpi", "intelmpi", "--env", f"LD_LIBRARY_PATH={two[1].prefix}/lib")
    assert done.status == 3
    assert "ran on MPICH 5.0.2" in done.err


@pytest.mark.thorough
def test_a_result_goes_on_with_the_kernel_that_it_was_begun_with(
    cli: Cli, two: tuple[FakeMpi, FakeMpi]
) -> None:
    assert cli(*MEASURE, "-o", "r.jsonl").status == 0
    lines = Path("r.jsonl").read_bytes().splitlines(keepends=True)
    first = b"".join(lines[:6])
    Path("r.jsonl").write_bytes(first)
    assert cli("resume", "r.jsonl").status == 0
    result = load(Path("r.jsonl"))
    assert {launch.built_by for launch in result.launches} == {"mpich==5.0.2"}
    assert {done.job.mpi for done in result.done} == {"mpich", "intelmpi"}
    assert len(result.done) == 4
    Path("r.jsonl").write_bytes(first)
    (two[1].bin / "mpicc_abi").unlink()
    gone = cli("resume", "r.jsonl")
    assert gone.status == 3
    assert "mpicc_abi" in gone.err
    assert Path("r.jsonl").read_bytes() == first
