"""What the doctor finds in a system: causes of bad numbers are notes, what is not known is not praised."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest

from mpigauge import room
from mpigauge.campaign.launch import single_copies
from mpigauge.doctor import system as doctor_system
from mpigauge.doctor.this_machine import setting_findings
from mpigauge.document.core_words import cores_allowed
from mpigauge.mpi import find
from mpigauge.result import interfaces, system_limits
from mpigauge.result.provenance import Environment

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi

QUIET = Environment(
    cores=8,
    cores_online=8,
    cpu="made",
    numa_nodes=2,
    clock_source="tsc",
    governor="performance",
    caches={"L1 Data": 32768},
)


@pytest.fixture(autouse=True)
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without anything: no cards, no limits, an idle processor."""
    monkeypatch.setattr(interfaces, "NET", tmp_path / "net")
    monkeypatch.setattr(interfaces, "RDMA", tmp_path / "infiniband")
    monkeypatch.setattr(system_limits, "PTRACE_SCOPE", str(tmp_path / "ptrace_scope"))
    monkeypatch.setattr(single_copies, "refusal", lambda: "")
    monkeypatch.setattr(system_limits, "shared_memory_bytes", lambda: 2**30)
    monkeypatch.setattr(system_limits, "shared_memory_free_bytes", lambda: 2**30)
    monkeypatch.setattr(system_limits, "locked_memory_bytes", lambda: 8 * 2**20)
    monkeypatch.setattr(system_limits, "open_files", lambda: 1024)
    monkeypatch.setattr(system_limits, "processes", lambda: 4096)
    monkeypatch.setattr("mpigauge.result.environment.load_average", lambda: 0.5)
    return tmp_path


def put(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


def found(machine: Environment = QUIET) -> dict[str, tuple[str, str]]:
    """State and value by what it is about."""
    every = [*doctor_system.machine_findings(machine), *doctor_system.disturbance_findings(machine)]
    assert all(one.remedy for one in every if one.state == "note")
    return {one.what: (one.state, one.value) for one in every}


def test_a_quiet_machine_has_nothing_to_note() -> None:
    said = found()
    assert {state for state, _ in said.values()} == {"ok", "info"}
    assert said["cores"] == ("ok", "8 cores, made, 2 NUMA nodes")
    assert said["load"] == ("ok", "0.50 of 8 cores")
    assert said["network"] == ("info", "nothing that is up")


def test_what_is_not_known_is_not_called_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_copies, "refusal", lambda: None)
    said = found(Environment(cores=2, cores_online=2, numa_nodes=1))
    unknown = ("frequency governor", "caches", "clock source", "single copies (CMA)")
    assert {said[what][0] for what in unknown} == {"info"}
    assert "1 NUMA node" in said["cores"][1]
    assert "(s)" not in said["cores"][1]


@pytest.mark.parametrize(
    ("scope", "state"), [("0", "ok"), ("1", "info"), ("2", "note"), ("3", "note"), ("?", "ok")]
)
def test_who_may_read_another_rank(system: Path, scope: str, state: str) -> None:
    (system / "ptrace_scope").write_text(scope, encoding="ascii")
    assert found()["single copies (CMA)"][0] == state


@pytest.mark.parametrize("scope", ["", "0", "1"])
def test_a_sandbox_that_keeps_ranks_apart_is_noted_whatever_ptrace_scope_says(
    system: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    (system / "ptrace_scope").write_text(scope, encoding="ascii")
    monkeypatch.setattr(single_copies, "refusal", lambda: "Function not implemented")
    assert found()["single copies (CMA)"] == ("note", "forbidden: Function not implemented")


@pytest.mark.parametrize(("size", "state"), [(None, "note"), (64 * 2**20, "note"), (2**30, "ok")])
def test_shared_memory_may_be_small(monkeypatch: pytest.MonkeyPatch, size: int | None, state: str) -> None:
    monkeypatch.setattr(system_limits, "shared_memory_bytes", lambda: size)
    assert found()[system_limits.SHARED_MEMORY][0] == state


def test_a_shared_memory_that_is_full_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_limits, "shared_memory_free_bytes", lambda: 3 * 2**20 + 4096)
    assert found()[system_limits.SHARED_MEMORY] == ("note", "3 MiB free of 1 GiB")


@pytest.mark.parametrize(("limit", "remedy"), [("mpirun", "--bind-to none"), ("affinity", "taskset")])
def test_cores_that_are_not_allowed_are_told_with_what_keeps_us_from_them(limit: str, remedy: str) -> None:
    machine = Environment(cpu="made", cores=1, cores_online=2, cores_limit=limit, numa_nodes=1)
    (cores,) = [one for one in doctor_system.machine_findings(machine) if one.what == "cores"]
    assert cores.value.startswith(cores_allowed(1, 2, limit))
    assert remedy in cores.remedy


def test_threads_and_quotas_are_told_where_there_are_some() -> None:
    said = found(Environment(cores=2, cores_online=8, cpu_quota=2.5, smt="on", numa_nodes=1))
    assert said["SMT"][0] == "info"
    assert said["CPU quota"] == ("note", "2.5 processors' worth of time")
    assert not {"SMT", "CPU quota"} & set(found())


def test_interfaces_that_work_are_named_with_speed_and_mtu(system: Path) -> None:
    put(system / "net" / "eth0", operstate="up", speed=10000, mtu=9000)
    put(system / "net" / "eth1", operstate="down", speed=-1, mtu=1500)
    put(system / "net" / "lo", operstate="unknown", mtu=65536)
    put(system / "net" / "veth", operstate="up", speed=-1, mtu=1500)
    said = found()
    assert said["network"] == ("ok", "eth0 10.0 Gbit/s MTU 9000, veth MTU 1500")
    assert "locked memory" not in said


@pytest.mark.parametrize(("limit", "noted"), [(8 * 2**20, True), (None, False)])
def test_cards_need_locked_memory(
    system: Path, monkeypatch: pytest.MonkeyPatch, limit: int | None, noted: bool
) -> None:
    put(system / "infiniband" / "mlx5_0" / "ports" / "1", state="4: ACTIVE", rate="100 Gb/sec (4X EDR)")
    put(system / "infiniband" / "mlx5_1" / "ports" / "1", state="1: DOWN", rate="10 Gb/sec (4X SDR)")
    monkeypatch.setattr(system_limits, "locked_memory_bytes", lambda: limit)
    said = found()
    assert said["network"] == ("ok", "mlx5_0:1 100 Gb/sec (4X EDR)")
    assert ("locked memory" in said) is noted


@pytest.mark.parametrize(("limit", "noted"), [(256, True), (1024, False), (None, False)])
def test_few_connections_are_noted(monkeypatch: pytest.MonkeyPatch, limit: int | None, noted: bool) -> None:
    monkeypatch.setattr(system_limits, "open_files", lambda: limit)
    assert ("open files" in found()) is noted


def test_the_limits_of_this_machine_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    limits = (system_limits.locked_memory_bytes(), system_limits.open_files(), system_limits.ptrace_scope())
    assert all(one is None or one >= 0 for one in limits)


def test_few_processes_are_noted_for_whom_they_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.result.environment.user_is_root", lambda: False)
    for limit, noted in ((None, False), (4096, False), (64, True)):
        monkeypatch.setattr(system_limits, "processes", lambda limit=limit: limit)
        assert ("processes" in found()) == noted
    monkeypatch.setattr("mpigauge.result.environment.user_is_root", lambda: True)
    assert "processes" not in found()


def test_temporary_files_go_where_they_can_be_written(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(system)])
    monkeypatch.setenv("TMPDIR", str(system))
    monkeypatch.setattr(room, "room_in", lambda _: (2**30, 1000))
    assert found()["temporary files"] == ("ok", str(system))
    for left in ((8192, 1000), (2**30, 3)):
        monkeypatch.setattr(room, "room_in", lambda _, left=left: left)
        assert found()["temporary files"][0] == "note"
    monkeypatch.setenv("TMPDIR", "/nowhere")
    state, value = found()["temporary files"]
    assert (state, value) == ("note", f"{system}, since TMPDIR cannot be written: /nowhere")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere"])
    assert found()["temporary files"][0] == "lacks"


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("mpich", "HYDRA_LAUNCHER", "HYDRA_LAUNCHER=x (how jobs start)"),
        ("mpich", "HYDRA_HOST_FILE", "HYDRA_HOST_FILE=x (how jobs start)"),
        ("mpich", "HYDRA_RMK", "HYDRA_RMK=x (how jobs start)"),
        ("intelmpi", "I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP=x (how jobs start)"),
        ("openmpi", "PRTE_MCA_plm_ssh_agent", "PRTE_MCA_plm_ssh_agent=x (how jobs start)"),
        ("intelmpi", "I_MPI_FABRICS", "I_MPI_FABRICS=x (the transport)"),
        ("mpich", "I_MPI_FABRICS", "none set"),
        ("openmpi", "HYDRA_LAUNCHER", "none set"),
        ("mpich", "PRTE_MCA_plm_ssh_agent", "none set"),
        ("openmpi", "OMPI_FC", "OMPI_FC (no known effect)"),
    ],
)
def test_variables_are_told_by_what_the_libraries_here_do_with_them(
    fake_mpi: Install, kind: str, name: str, said: str
) -> None:
    library = find.find(str(fake_mpi(kind).mpicc))
    about = setting_findings(Environment(variables={name: "x"}), [library])
    assert [one.value for one in about if one.what == "MPI variables"] == [said]


def test_variables_of_libraries_that_are_not_here_have_no_effect_here(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MV2_USE_SHARED_MEM", "0")
    monkeypatch.setattr(find, "find_all", lambda: ([find.find(str(openmpi.mpicc))], []))
    assert "MV2_USE_SHARED_MEM (read by no library here)" in " ".join(cli("doctor").out.split())
