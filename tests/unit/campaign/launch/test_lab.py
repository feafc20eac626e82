"""A lab where none can be made, and the words that it hands to others; nothing is started here."""

from __future__ import annotations

import errno
import signal
import struct
from typing import TYPE_CHECKING

import msgspec
import pytest

from mpigauge.campaign.lab import context, counters, host, init, network, start
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.plan.lab import Lab, Link, Port, topology
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Cli

LAB = Lab(3, "100mbit", "20us", (Link("h1-h2", rate="1mbit"),), (Port("h3", rate="none"),))


@pytest.mark.parametrize("missing", ["ip", "tc", "cc"])
def test_a_missing_program_is_named(
    machine: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    def which(name: str, path: str = "") -> str | None:
        return None if name == missing or name in {"gcc", "clang"} else f"/usr/bin/{name}"

    monkeypatch.setattr("shutil.which", which)
    done = cli("lab", "--", "true")
    assert done.status == 3
    assert "a lab needs" in done.err
    assert {"cc": "C compiler"}.get(missing, f"the program {missing}") in done.err
    assert "install" in done.err


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(EnvironmentLacksError, match="needs Linux, and this is macOS"):
        start.check_platform()


def test_the_relay_is_told_of_every_lane_and_route() -> None:
    whole = topology(LAB, "here")
    lines = network.relay_words(LAB, whole).splitlines()
    assert lines[0] == "hosts 3"
    assert lines[-1] == "end"
    assert [line for line in lines if line.startswith("lane")] == [f"lane {rate!r}" for rate in whole.lanes]
    assert "route 1 3 0 5 20000" in lines
    assert sum(line.startswith("route") for line in lines) == 6


def test_queues_have_the_rates_of_the_lanes_that_they_feed() -> None:
    whole = topology(LAB, "here")
    port, cable, slow = (network.queue_words(whole, number).splitlines() for number in (1, 2, 3))
    assert any("classid 1:ff htb rate 12500000bps" in line for line in port)
    assert any("classid 1:2 htb rate 125000bps" in line for line in port)
    assert any("dst 10.77.0.1/32 flowid 1:1" in line for line in cable)
    assert slow == []


def test_launchers_find_the_hosts_and_the_users_own_binding_stays() -> None:
    outside = {"PATH": "/bin", "I_MPI_PIN": "on", "SLURM_NODELIST": "n[1-3]", "HYDRA_LAUNCHER": "slurm"}
    made = init.environment(outside)
    assert made["PATH"].endswith(":/bin")
    assert (made["I_MPI_PIN"], made["HYDRA_LAUNCHER"]) == ("on", "ssh")
    assert made["PRTE_MCA_hwloc_default_binding_policy"] == "none"
    assert "SLURM_NODELIST" not in made


def test_outside_a_lab_there_is_none_and_a_wrong_variable_is_named(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert context.current() is None
    (machine / "file").write_text("{}", encoding="ascii")
    for word in (machine / "file", machine / "nothing"):
        monkeypatch.setenv(context.VARIABLE, str(word))
        with pytest.raises(UsageError, match="does not describe a lab"):
            context.current()


def test_inside_the_lab_is_read_from_its_file(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "counters").write_bytes(struct.pack("=4Q", 200, 3, 1, 70_000))
    said = context.CurrentLab((context.LabHost("h1", "10.77.0.1"),), "/x/ssh", str(machine / "counters"), LAB)
    (machine / "lab.json").write_bytes(msgspec.json.encode(said))
    monkeypatch.setenv(context.VARIABLE, str(machine / "lab.json"))
    here = context.current()
    assert here is not None
    assert (here.names, here.table) == (("h1",), LAB)
    assert here.counters() == counters.Counters(200, 3, 1, 70e-6)
    assert here.counters().late_share == pytest.approx(0.015)
    assert here.counters().since(here.counters()).forwarded == 0


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """A function that runs commands of `ip`, which a script stands for; what is wrong with them."""

    def run(script: str) -> str:
        program = write_program(tmp_path / "ip", script, "#!/bin/sh\n")
        monkeypatch.setattr(host, "program", lambda _: str(program))
        with pytest.raises(EnvironmentLacksError) as caught:
            host.ip("link set eth0 up\n")
        return caught.value.sentence

    return run


def test_what_a_program_says_of_its_commands_is_told(batch: Callable[[str], str]) -> None:
    assert batch('read -r words < "$2"; echo "no: $words" >&2; exit 1') == "ip: no: link set eth0 up"


def test_a_program_that_does_not_end_is_told_with_how_long(
    batch: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "IP_TIMEOUT_S", 1)
    assert batch("while :; do sleep 1; done") == "ip: has not ended after 1 s"


@pytest.mark.parametrize(
    ("status", "how", "hint"),
    [
        (-signal.SIGKILL, "SIGKILL", "lack of memory"),
        (-signal.SIGSEGV, "SIGSEGV", "report it"),
        (1, "status 1", "report it"),
    ],
)
def test_a_relay_that_died_is_reported_where_that_was_its_own_fault(status: int, how: str, hint: str) -> None:
    error = init._relay_died(status)
    assert error.sentence == f"the relay of the lab died ({how})"
    assert hint in error.hint


# ---- Users ---------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[str, str]]]:
    """A function that maps the users of a process, and gives what the system was told of it and took.

    The system refuses what its caller has no right to: as many lines as one has users, and a second map.
    """

    def mapped(user: int, *refused: str) -> list[tuple[str, str]]:
        taken: list[tuple[str, str]] = []

        def tell(_: int, name: str, words: str) -> None:
            alone = words == f"0 {user} 1"
            if (name in refused and not alone) or EVERYTHING in refused or name in dict(taken):
                raise PermissionError(errno.EPERM, "Operation not permitted")
            taken.append((name, words))

        for name in ("geteuid", "getegid"):
            monkeypatch.setattr(f"os.{name}", lambda: user)
        monkeypatch.setattr(start, "_identity_map", lambda _: ALL)
        monkeypatch.setattr(start, "_write_map", tell)
        start._map_users(1)
        return taken

    return mapped


EVERYTHING = "everything"
ALL = "0 0 4294967295\n"


@pytest.mark.parametrize(
    ("refused", "maps"),
    [
        ((), [("uid_map", ALL), ("gid_map", ALL)]),
        (("gid_map",), [("uid_map", ALL), ("setgroups", "deny"), ("gid_map", "0 0 1")]),
        (("uid_map",), [("uid_map", "0 0 1"), ("gid_map", ALL)]),
        (("uid_map", "gid_map"), [("uid_map", "0 0 1"), ("setgroups", "deny"), ("gid_map", "0 0 1")]),
    ],
    ids=["all", "no groups", "no users", "neither"],
)
def test_root_keeps_ids_as_its_container_permits(
    told: Callable[..., list[tuple[str, str]]], refused: tuple[str, ...], maps: list[tuple[str, str]]
) -> None:
    assert told(0, *refused) == maps


def test_a_user_is_root_alone(told: Callable[..., list[tuple[str, str]]]) -> None:
    assert told(1000) == [("uid_map", "0 1000 1"), ("setgroups", "deny"), ("gid_map", "0 1000 1")]


@pytest.mark.parametrize(("user", "words"), [(0, "--cap-add SETUID"), (1000, "allow user namespaces")])
def test_a_failed_user_map_is_reported_with_a_hint(
    told: Callable[..., list[tuple[str, str]]], user: int, words: str
) -> None:
    with pytest.raises(EnvironmentLacksError, match="users cannot be mapped: Operation not perm") as caught:
        told(user, EVERYTHING)
    assert words in caught.value.hint
