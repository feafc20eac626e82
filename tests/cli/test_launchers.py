"""Campaigns by launchers that only stand-ins are here for, and by one in the user's own words."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.allocations import MANAGERS
from mpigauge.campaign.launch.job import HOSTS_FILE
from mpigauge.result.reader import load
from tests.fakes import launchers
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from tests.conftest import Cli

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "1", "--seed", "7", "-q", "-o", "r.jsonl")
FLUX = {"FLUX_URI": "local:///tmp/flux/local-0"}
LSF = {"LSB_JOBID": "17", "LSB_DJOB_HOSTFILE": "hosts"}
PBS = {"PBS_JOBID": "17.server", "PBS_NODEFILE": "hosts"}


@pytest.fixture(autouse=True)
def _programs(openmpi: object, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-ins, before the library on PATH; and the machine file of a job with two slots a host.

    We are on its first host.
    """
    monkeypatch.setattr(platform, "node", lambda: "n1")
    for manager in MANAGERS:
        for name in manager.variables:
            monkeypatch.delenv(name, raising=False)
    launchers.install(machine / "launchers")
    monkeypatch.setenv("PATH", f"{machine / 'launchers'}{os.pathsep}{os.environ['PATH']}")
    Path("hosts").write_text("n1\nn1\nn2\nn2\nn3\nn3\nn4\nn4\n", encoding="ascii")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("launcher", "environ", "placement"),
    [
        ("flux", FLUX, "n1,n2"),
        ("flux", FLUX, "n3,n1,n3,n2"),
        ("flux", FLUX, "n2,n2"),
        ("pals", PBS, "n1,n2"),
        ("pals", PBS, "n4,n4,n2,n2,n3"),
        ("pals", PBS, "n2,n2"),
        ("jsrun", LSF, "n1,n2"),
        ("jsrun", LSF, "n1,n1,n2,n2"),
        ("start-ranks -n {ranks} -f {hostfile}", PBS, "n4,n1,n4"),
    ],
)
def test_ranks_are_where_they_were_sent(
    cli: Cli, launcher: str, environ: dict[str, str], placement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    done = cli(*RUN, "--launcher", launcher, "--placement", placement)
    assert done.status == 0, done.err
    (launch,) = load(Path("r.jsonl")).launches
    assert ",".join(place.host for place in launch.ranks_at) == placement
    files = [word for word in launch.command if HOSTS_FILE in word]
    assert bool(files) == ("-f" in launcher or (len(set(placement.split(","))) > 1 and launcher != "jsrun"))


def test_a_launcher_needs_its_scheduler(cli: Cli) -> None:
    for launcher, title in (("flux", "Flux"), ("jsrun", "LSF"), ("srun", "Slurm")):
        done = cli(*RUN, "--launcher", launcher)
        assert done.status == 3
        assert f"{launcher} needs a {title} allocation, and there is none here" in done.err


def test_a_dry_run_shows_words_and_hosts(cli: Cli) -> None:
    words = ("--hosts", "n1:2,n2:2", "--np", "4", "--check-hosts", "no", "--dry-run")
    done = cli(
        "run", "pingpong", "--sizes", "8", *words, "--launcher", "start-ranks -n {ranks} -f {hostfile}"
    )
    assert done.status == 0, done.err
    assert 'start-ranks -n 4 -f "$TMPDIR/hosts" ' in done.out
    assert "    $TMPDIR/hosts: n1 n2 n1 n2\n" in done.out


def test_hosts_that_do_not_answer_are_left_out_and_told(
    cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_HOSTS", "n1,n3")
    shell = write_program(machine / "shell", 'case "$1" in n2) exit 255 ;; esac\n', "#!/bin/sh\n")
    words = ("--hosts", "n1,n2,n3", "--remote-shell", shell)
    assert "host n2: cannot be reached" in cli(*RUN, *words).err
    done = cli(*[word for word in RUN if word != "-q"], *words, "--skip-dead")
    assert done.status == 0, done.err
    assert "1 host left out that did not answer: n2" in done.err
    plan = load(Path("r.jsonl")).campaign.plan
    assert [host.name for host in plan.hosts] == ["n1", "n3"]
    assert plan.hosts_skipped == ("n2",)


def test_a_copy_of_many_starts_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    done = cli(*RUN)
    assert done.status == 2
    assert "started mpigauge 4 times" in done.err
    assert not Path("r.jsonl").exists()
