"""Jobs of PBS, LSF, Grid Engine and Flux, by the variables and files that their manuals tell of.

None of them runs here: these are stand-ins. Slurm does, in tests/real/slurm.
"""

from __future__ import annotations

import platform
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.campaign.allocations import MANAGERS, allocation, manager, this_machine
from mpigauge.campaign.allocations.allocation import Node
from mpigauge.errors import EnvironmentLacksError
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINES = "n1\nn1\nn2\n"
QUEUES = "n1 2 all.q@n1 UNDEFINED\nn2 1 all.q@n2 <NULL>\n"
NODES = (Node("n1", 2, 2), Node("n2", 1, 1))
BY_FILE = {
    "pbs": ("PBS_JOBID", "PBS_NODEFILE", LINES),
    "lsf": ("LSB_JOBID", "LSB_DJOB_HOSTFILE", LINES),
    "sge": ("JOB_ID", "PE_HOSTFILE", QUEUES),
}


def environ_of(name: str, folder: Path) -> dict[str, str]:
    """What the first process of a job has."""
    job, variable, text = BY_FILE[name]
    (folder / "hosts").write_text(text, encoding="ascii")
    return {job: "17.server", variable: str(folder / "hosts")}


def addresses(**known: str) -> Callable[..., list[tuple[Any, ...]]]:
    """A stand-in for getaddrinfo that knows these names alone."""

    def found(name: str, *_: object, **__: object) -> list[tuple[Any, ...]]:
        if name not in known:
            raise socket.gaierror
        family = socket.AF_INET6 if ":" in known[name] else socket.AF_INET
        return [(family, socket.SOCK_DGRAM, 17, "", (known[name], 0))]

    return found


@pytest.fixture(autouse=True)
def _first_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """We are where the first process of a job is."""
    monkeypatch.setattr(platform, "node", lambda: "n1")


def test_there_are_tests_of_all() -> None:
    assert {one.name for one in MANAGERS} == {*BY_FILE, "slurm", "flux"}


@pytest.mark.parametrize("name", BY_FILE)
def test_the_hosts_of_a_job_are_those_of_its_file(name: str, tmp_path: Path) -> None:
    environ = environ_of(name, tmp_path)
    found, scheduler = allocation(environ), manager(environ)
    assert found is not None
    assert scheduler is not None
    assert (scheduler.name, found.job, found.nodes, found.tasks) == (name, "17.server", NODES, 3)


@pytest.mark.parametrize("name", BY_FILE)
@pytest.mark.parametrize("here", ["n2.cluster.example", "N1"])
def test_a_host_of_a_job_may_be_called_by_a_longer_name(
    name: str, here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "node", lambda: here)
    assert allocation(environ_of(name, tmp_path)) is not None


@pytest.mark.parametrize("name", BY_FILE)
def test_a_host_of_a_job_may_be_called_by_the_name_of_an_interface(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "node", lambda: "vm")
    monkeypatch.setattr(socket, "getaddrinfo", addresses(n2="127.0.0.1"))
    assert allocation(environ_of(name, tmp_path)) is not None


@pytest.mark.parametrize("name", BY_FILE)
@pytest.mark.parametrize("known", [{}, {"n1": "192.0.2.1"}, {"n1": "2001:db8::1"}])
def test_variables_of_a_job_elsewhere_are_named_with_its_hosts(
    name: str, known: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left over in a copied environment, or in a container that was built in a job."""
    monkeypatch.setattr(platform, "node", lambda: "vm.example")
    monkeypatch.setattr(socket, "getaddrinfo", addresses(**known))
    with pytest.raises(EnvironmentLacksError) as caught:
        allocation(environ_of(name, tmp_path))
    assert caught.value.sentence == f"{BY_FILE[name][1]}: names n1,n2, this is vm"
    assert caught.value.hint.startswith("if this is no job, unset ")


def test_a_file_of_nodes_that_hydra_takes_without_a_job_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = environ_of("pbs", tmp_path)
    del environ["PBS_JOBID"]
    monkeypatch.setattr(platform, "node", lambda: "vm")
    monkeypatch.setattr(socket, "getaddrinfo", addresses())
    with pytest.raises(EnvironmentLacksError, match=r"^PBS_NODEFILE: names n1,n2, this is vm$"):
        allocation(environ)
    (tmp_path / "hosts").unlink()
    assert allocation(environ) is None


def test_names_that_nobody_answers_for_are_not_waited_for_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "node", lambda: "vm")
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    asked = []

    def nobody(name: str, *_: object, **__: object) -> None:
        asked.append(name)
        now[0] += 3.0
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    assert not this_machine.is_among([f"n{one}" for one in range(1000)])
    assert asked == ["n0", "n1"]


@pytest.mark.parametrize("name", BY_FILE)
def test_a_launcher_of_the_scheduler_starts_from_hosts_that_are_none_of_the_job(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on service nodes of Cray and on launch nodes of IBM."""
    monkeypatch.setattr(platform, "node", lambda: "launch1")
    monkeypatch.setattr(socket, "getaddrinfo", addresses())
    scheduler = manager(environ_of(name, tmp_path))
    assert scheduler is not None
    if scheduler.own_launcher:
        write_program(tmp_path / scheduler.own_launcher, "")
        assert allocation({**environ_of(name, tmp_path), "PATH": str(tmp_path)}) is not None


@pytest.mark.parametrize("name", BY_FILE)
def test_outside_of_a_job_there_is_none(name: str, tmp_path: Path) -> None:
    for variable in environ_of(name, tmp_path):
        environ = environ_of(name, tmp_path)
        del environ[variable]
        assert allocation(environ) is None


@pytest.mark.parametrize("name", BY_FILE)
@pytest.mark.parametrize("text", [None, "", "-oProxyCommand=x 1\n", "n1 slots=0\n"])
def test_a_file_that_is_none_is_named_with_its_variable(name: str, text: str | None, tmp_path: Path) -> None:
    environ = environ_of(name, tmp_path)
    if text is None:
        (tmp_path / "hosts").unlink()
    else:
        (tmp_path / "hosts").write_text(text, encoding="ascii")
    with pytest.raises(EnvironmentLacksError, match=f"^{BY_FILE[name][1]}: "):
        allocation(environ)


FLUX = """
import sys
assert sys.argv[1:] == ["resource", "list", "--states=up", "--no-header", "--format={{ncores}} {{nodelist}}"]
{answer}
"""


def flux(folder: Path, answer: str) -> dict[str, str]:
    """The environment of an instance whose flux does this."""
    write_program(folder / "flux", FLUX.format(answer=answer))
    return {"FLUX_URI": "local:///tmp/flux/local-0", "FLUX_ENCLOSING_ID": "f2", "PATH": str(folder)}


def test_an_instance_of_flux_is_asked(tmp_path: Path) -> None:
    environ = {**flux(tmp_path, 'print("16 n[1-4]")'), "SLURM_JOB_ID": "3", "SLURM_JOB_NODELIST": "n[1-9]"}
    found = allocation(environ)
    assert found is not None
    assert (found.job, found.nodes[0], len(found.nodes)) == ("f2", Node("n1", 4, 4), 4)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('sys.exit("flux-resource: ERROR: Unable to connect to Flux")', "Unable to connect to Flux"),
        ('print("")', "flux resource list: "),
        ('print("many n1")', "'many' is no number of cores"),
    ],
)
def test_an_instance_that_does_not_answer_is_told(answer: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        allocation(flux(tmp_path, answer))
    assert said in caught.value.sentence


def test_without_its_program_an_instance_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="no flux on PATH"):
        allocation({"FLUX_URI": "local:///x", "PATH": str(tmp_path)})
