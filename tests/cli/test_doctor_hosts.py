"""`doctor --hosts`: whether all answer, start ranks and are set up alike, before anything is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

HOSTS = ("doctor", "--hosts", "h[1-4]")
ANSWERS = ("--remote-shell", "/bin/true")

Findings = list[tuple[str, str, str]]


def findings(cli: Cli, *words: str) -> Findings:
    """The last group: state, what and value."""
    done = cli(*HOSTS, *words, "--format", "json")
    assert done.err == ""
    found = json.loads(done.out)["findings"]
    names = [one["what"] for one in found]
    assert all(one["remedy"] for one in found if one["state"] in {"note", "lacks"})
    mine = found[names.index("hosts") :]
    assert (done.status == EXIT_ENVIRONMENT) == any(one["state"] == "lacks" for one in found)
    return [(one["state"], one["what"], one["value"]) for one in mine]


def test_hosts_that_are_alike(openmpi: FakeMpi, cli: Cli, tmp_path: Path) -> None:
    before = {*tmp_path.rglob("*.jsonl")}
    there, alike = findings(cli, *ANSWERS)
    assert (there[:2], alike[:2]) == (("ok", "hosts"), ("ok", "set up alike"))
    assert there[2].startswith("4, with a rank of Open MPI")
    assert there[2].endswith("on each: h1, h2, h3, h4")
    assert {*tmp_path.rglob("*.jsonl")} == before, "nothing is kept"


def test_what_differs_is_named(openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_RELEASES", "h3=6.2")
    _, kernel = findings(cli, *ANSWERS)
    assert kernel == ("note", "kernel release", "6.1 on 3 of 4, 6.2 on h3")
    shown = cli(*HOSTS, *ANSWERS).out
    assert "-> make them alike, or leave out h3" in shown


def test_a_host_that_does_not_answer(openmpi: FakeMpi, cli: Cli) -> None:
    ((state, _, value),) = findings(cli, "--remote-shell", "/bin/false")
    assert state == "lacks"
    assert value.startswith("host h1: cannot be reached")


def test_ranks_that_die_at_the_start(openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DEAD", "no route to h2")
    (found,) = findings(cli, *ANSWERS)
    state, what, value = found
    assert (state, what) == ("lacks", "hosts")
    assert value.startswith("nothing could be measured: ")
    assert value.endswith("no route to h2")


@pytest.mark.parametrize(
    ("trouble", "begins", "remedy"),
    [
        ("FAKE_HANG", "ranks have started", "look for a firewall"),
        ("FAKE_QUIT", "crash: ", "ranks must start on all of them"),
    ],
)
def test_ranks_that_start_and_do_not_reach_each_other(
    trouble: str,
    begins: str,
    remedy: str,
    openmpi: FakeMpi,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was `the job said nothing`, and that ranks must start, above the hosts they had started on."""
    monkeypatch.setattr("mpigauge.campaign.silence.MIN_SILENCE_S", 0.3)
    monkeypatch.setenv(trouble, "barrier:0")
    failed, there, *_ = findings(cli, *ANSWERS)
    assert (failed[0], there[0]) == ("lacks", "ok")
    assert failed[2].startswith(begins)
    assert f"-> {remedy}" in cli(*HOSTS, *ANSWERS).out


@pytest.mark.parametrize(
    "words",
    [
        ("--mpi", "openmpi"),
        ("--launcher", "srun"),
        ("--watch", "1s", "--hosts", "h1"),
        ("--hosts", "h1:x"),
        ("--hosts", ""),
    ],
)
def test_what_would_have_no_effect_is_refused(openmpi: FakeMpi, cli: Cli, words: tuple[str, ...]) -> None:
    done = cli("doctor", *words)
    assert (done.status, done.out) == (2, "")
