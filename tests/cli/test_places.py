"""A launcher that counts fewer places than we do is told to count more, once for all launches of a job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "3", "--seed", "7", "-o", "r.jsonl")
AGAIN = "its launcher counts fewer places than ranks; started again with"


@pytest.fixture(autouse=True)
def one_slot(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher sees one core with two hardware threads where the system lists two processors."""
    monkeypatch.setenv("FAKE_SLOTS", "1")
    monkeypatch.setattr("mpigauge.result.environment.cores_allowed", lambda: 2)
    monkeypatch.setattr("mpigauge.result.environment.physical_cores_allowed", lambda: 2)
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})


def test_a_job_without_slots_is_started_again_and_measures(cli: Cli) -> None:
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert done.err.count(f"{AGAIN} --use-hwthread-cpus") == 1
    result = load(Path("r.jsonl"))
    assert result.failures == []
    assert [launch.options_found for launch in result.launches] == [("--use-hwthread-cpus",)] * 3
    assert all("--use-hwthread-cpus" in launch.command for launch in result.launches)
    assert not any("OMPI_MCA_mpi_yield_when_idle" in launch.variables for launch in result.launches)


def test_a_campaign_that_goes_on_has_the_options_at_once(cli: Cli) -> None:
    assert cli(*RUN).status == 0
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    second = [number for number, line in enumerate(lines) if line.startswith('{"type":"launch"')][1]
    Path("r.jsonl").write_text("".join(lines[:second]), encoding="utf-8")
    done = cli("resume", "r.jsonl")
    assert done.status == 0, done.err
    assert AGAIN not in done.err
    assert [launch.options_found for launch in load(Path("r.jsonl")).launches] == [
        ("--use-hwthread-cpus",)
    ] * 3


def test_what_still_has_too_few_slots_is_allowed_more_without_giving_way(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0})
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert [line.rpartition(AGAIN)[2].strip() for line in done.err.splitlines() if AGAIN in line] == [
        "--use-hwthread-cpus",
        "--oversubscribe",
    ]
    for launch in load(Path("r.jsonl")).launches:
        assert launch.options_found == ("--oversubscribe",)
        assert launch.variables["OMPI_MCA_mpi_yield_when_idle"] == "0"


def test_cores_that_the_system_tells_to_be_too_few_need_no_second_start(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mpigauge.result.environment.physical_cores_allowed", lambda: 1)
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert AGAIN not in done.err
    for launch in load(Path("r.jsonl")).launches:
        assert launch.options_found == ()
        assert "--use-hwthread-cpus" in launch.command
