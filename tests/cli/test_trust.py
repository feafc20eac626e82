"""Whose result it is: `resume` runs what its user has begun, and what a stranger's names only if told to."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign import trusted_results
from mpigauge.result.reader import load
from tests.cli.journey import MEASURE

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LIST = "home/.local/state/mpigauge/campaigns"


@pytest.fixture
def interrupted(cli: Cli, openmpi: FakeMpi) -> Path:
    """A result of this user that lacks its end."""
    path = Path("r.jsonl")
    assert cli("run", *MEASURE, "-o", str(path), "-q").status == 0
    *lines, end = path.read_bytes().splitlines(keepends=True)
    assert b'"type":"end"' in end
    path.write_bytes(b"".join(lines[:-2]))
    return path


def test_a_result_of_ours_goes_on_wherever_it_lies_now(cli: Cli, interrupted: Path) -> None:
    shutil.copy(interrupted, "copy.jsonl")
    assert cli("resume", "copy.jsonl").status == 0
    assert load(Path("copy.jsonl")).ends


def test_what_is_not_utf_8_around_us_keeps_a_result_ours(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder of somebody whose name was written down in Latin 1."""
    monkeypatch.setenv("SLURM_SUBMIT_DIR", os.fsdecode(b"/home/m\xfcller"))
    path = Path("r.jsonl")
    assert cli("run", *MEASURE, "-o", str(path)).status == 0
    assert load(path).campaign.environment.variables["SLURM_SUBMIT_DIR"] == r"/home/m\xfcller"
    assert cli("show", str(path)).status == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    assert cli("resume", str(path)).status == 0
    assert load(path).ends


@pytest.mark.parametrize("words", [("--env", b"WHO=m\xfcller"), ("--mpi-option", b"--m\xfcller")])
def test_what_a_campaign_could_not_go_on_with_is_refused(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, bytes]
) -> None:
    """The result would hold other words, and a launch after `resume` would be another than those before."""
    option, value = words
    done = cli("run", *MEASURE, "-o", "r.jsonl", option, os.fsdecode(value))
    assert done.status == 2
    assert "is not UTF-8" in done.err
    assert not Path("r.jsonl").exists()


def stranger(path: Path, **plan: object) -> None:
    """Makes a result somebody else's, with something more in its plan."""
    first, *others = path.read_bytes().splitlines(keepends=True)
    head = json.loads(first)
    head["plan"] |= plan
    path.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(others))


def test_a_strangers_result_says_what_it_would_run_and_runs_nothing(
    cli: Cli, interrupted: Path, tmp_path: Path
) -> None:
    shell = tmp_path / "shell"
    shell.write_text(f"#!/bin/sh\n: >{tmp_path}/pwned\nexit 1\n", encoding="ascii")
    shell.chmod(0o755)
    named = {"remote_shell": str(shell), "variables": {"LD_PRELOAD": "/opt/x.so"}, "mpi_options": ["--x"]}
    stranger(interrupted, hosts=[{"name": "node1", "slots": 2}], **named)
    before = interrupted.read_bytes()
    done = cli("resume", str(interrupted))
    assert done.status == 2
    for word in (
        "mpicc",
        "mpiexec",
        str(shell),
        "LD_PRELOAD=/opt/x.so",
        "options --x",
        "on node1",
        "--trust",
    ):
        assert word in done.err
    assert interrupted.read_bytes() == before
    assert not (tmp_path / "pwned").exists()
    assert cli("resume", "--trust", str(interrupted)).status == 3  # the shell reaches no host
    assert (tmp_path / "pwned").exists()


def test_every_program_of_a_strangers_result_is_named(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, mpiexec="/opt/mine/mpiexec", launcher="/opt/start -n {ranks}")
    first, *others = interrupted.read_bytes().splitlines(keepends=True)
    head = json.loads(first)
    head["libraries"][0] |= {"mpicc_options": ["-cc=/opt/cc"], "compiler": "/opt/mpicc_abi"}
    interrupted.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(others))
    said = cli("resume", str(interrupted)).err
    for word in ("/opt/mine/mpiexec", "/opt/start", "-cc=/opt/cc", "/opt/mpicc_abi"):
        assert word in said


def test_what_is_to_be_typed_is_for_a_shell(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    named = interrupted.rename("of node 1; ls.jsonl")
    assert f"mpigauge resume --trust '{named}'" in cli("resume", str(named)).err
    assert f"mpigauge show --all '{named}'" in cli("show", str(named)).out


def test_a_strangers_result_goes_on_if_it_is_trusted(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    assert cli("resume", str(interrupted)).status == 2
    assert cli("resume", "--trust", str(interrupted)).status == 0
    assert load(interrupted).ends


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_list_that_others_may_write_proves_nothing(
    cli: Cli, interrupted: Path, tmp_path: Path, mode: int
) -> None:
    (tmp_path / LIST).chmod(mode)
    assert cli("resume", str(interrupted)).status == 2


def test_the_list_is_ours_alone_and_has_no_names_in_it(interrupted: Path, tmp_path: Path) -> None:
    assert interrupted.exists()
    path = tmp_path / LIST
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert {len(line) for line in path.read_text(encoding="ascii").splitlines()} == {64}


def test_without_a_folder_of_states_a_campaign_runs_and_is_nobodys(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "states")  # the standard ignores what is not absolute
    assert cli("run", *MEASURE, "-o", "r.jsonl").status == 0
    assert not trusted_results.is_trusted(load(Path("r.jsonl")).campaign)
    assert not Path("states").exists()


# ---- Secrets -------------------------------------------------------------------------------------

SECRET = "hunter2"  # noqa: S105 - of nothing


@pytest.mark.parametrize("words", ["HF_TOKEN=hunter2", "PROXY=https://me:hunter2@proxy:3128"])
def test_what_may_be_a_secret_is_given_to_the_job_and_written_nowhere(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    assert cli("run", *MEASURE, "-o", "r.jsonl", "--env", words, "--env", "UCX_TLS=tcp").status == 0
    path = Path("r.jsonl")
    assert SECRET.encode() not in path.read_bytes()
    assert b'"UCX_TLS":"tcp"' in path.read_bytes()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    name, _, value = words.partition("=")
    done = cli("resume", str(path))
    assert done.status == 3
    assert f"export {name}=" in done.err
    monkeypatch.setenv(name, value)
    assert cli("resume", str(path)).status == 0
    assert SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("words", ["HF_TOKEN=hunter2,other", "PROXY=http://a/,https://me:hunter2@proxy:3128"])
@pytest.mark.parametrize("how", ["option", "plan"])
def test_what_may_be_a_secret_is_not_varied(cli: Cli, openmpi: FakeMpi, words: str, how: str) -> None:
    """Values that are varied tell cells apart, so that all that is shown has them."""
    name, _, values = words.partition("=")
    if how == "option":
        done = cli("run", *MEASURE, "-o", "r.jsonl", "--vary", words)
    else:
        measure = 'measure = [{ pattern = "pingpong" }]'
        plan = f"{measure}\n[vary]\n{name} = {json.dumps(values.split(','))}\n"
        Path("plan.toml").write_text(plan, encoding="utf-8")
        done = cli("run", "--plan", "plan.toml", "-o", "r.jsonl")
    assert done.status == 2
    assert f"{name} may be a secret" in done.err
    assert SECRET not in done.err
    assert not Path("r.jsonl").exists()
