"""`doctor --watch`: what two ranks see of the machine, what one process sees, and what nobody can."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.doctor.watch_table import summary, watch_findings
from mpigauge.result import environment
from mpigauge.rows.machine.watch import watched_alone, watched_by_ranks
from tests.cli.journey import catches_sigterm
from tests.made import cell, visit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LINE = cell("cacheline", 64)


def watched(cli: Cli) -> dict[str, Any]:
    done = cli("doctor", "--watch", "1s", "--format", "json")
    assert done.status == 0, done.err
    return json.loads(done.out)  # type: ignore[no-any-return]


@pytest.mark.thorough
def test_two_ranks_see_how_far_cores_are(openmpi: FakeMpi, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "cores_allowed", lambda: 2)
    monkeypatch.setenv("FAKE_STATES", "near:40:1:0.03,far:245:1:0.03")
    whole = watched(cli)
    assert whole["alone"] == ""
    assert [state["name"] for state in whole["watched"]["states"]] == ["near", "far"]
    found = {one["what"]: one for one in whole["findings"]}
    assert found["other work"]["state"] == "ok"
    assert "it changes" in found["distance of cores"]["value"]
    assert found["distance of cores"]["remedy"]


@pytest.mark.thorough
def test_one_process_says_what_it_cannot_know(machine: Path, cli: Cli) -> None:
    whole = watched(cli)
    assert whole["alone"]
    assert whole["watched"]["looks"] > 10
    assert whole["watched"]["line_s"] is None
    distance = next(one for one in whole["findings"] if one["what"] == "distance of cores")
    assert distance["value"].startswith("not known: ")


def stopped_by(number: int, after_s: float) -> tuple[int, str, str]:
    """Status, output and errors of a watch that somebody ends once it listens to signals."""
    command = [sys.executable, "-m", "mpigauge", "doctor", "--watch", "60s", "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not catches_sigterm(process.pid):
            time.sleep(0.01)
        time.sleep(after_s)
        process.send_signal(number)
        out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after_s", [0.0, 0.3])
def test_a_signal_ends_it_with_what_was_seen(machine: Path, number: int, after_s: float) -> None:
    status, out, err = stopped_by(number, after_s)
    assert (status, err) == (128 + number, "")
    assert json.loads(out)["watched"]["seconds"] < 60


@pytest.mark.thorough
@pytest.mark.needs("two cores")
@pytest.mark.parametrize("after_s", [0.0, 0.8])
def test_a_signal_ends_ranks_too(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, after_s: float) -> None:
    monkeypatch.setenv("FAKE_NAP_S", "0.01")
    status, out, err = stopped_by(signal.SIGINT, after_s)
    assert (status, err) == (128 + signal.SIGINT, "")
    assert json.loads(out)["watched"]["seconds"] < 60


@pytest.mark.parametrize("duration", ["0s", "2h", "soon"])
def test_it_is_neither_instant_nor_endless(machine: Path, cli: Cli, duration: str) -> None:
    assert cli("doctor", "--watch", duration).status == 2


def test_time_that_was_lost_is_counted() -> None:
    visits = [
        visit(1, number, LINE, [200], wait_ns=wait_ns, steal_ns=0, moves=1, alu_ns=[2000.0, 2200.0])
        for number, wait_ns in enumerate([0, 0, 0, 50_000_000])
    ]
    seen = watched_by_ranks(visits, 1.0, 2)
    assert (seen.looks, seen.disturbed_share, seen.moves) == (4, 0.25, 4)
    # 50 ms of four times 100 ms.
    assert seen.lost_share == pytest.approx(0.125)
    assert seen.slowdown == pytest.approx(1.1)
    assert seen.line_s is None
    assert seen.shared_share is None


def test_looks_of_shared_cores_are_counted() -> None:
    """A machine on which another hardware thread works is not quiet, even if no rank ever waits."""
    visits = [
        visit(
            1, number, LINE, [200], wait_ns=0, switches=0, alu_ns=[2000.0, 2000.0], issue_ns=[1000.0, wide_ns]
        )
        for number, wide_ns in enumerate([1000.0, 1010.0, 1020.0, 1600.0])
    ]
    seen = watched_by_ranks(visits, 1.0, 2)
    assert (seen.disturbed_share, seen.shared_share) == (0, 0.25)
    assert seen.shared_slowdown == pytest.approx(1.6)
    assert summary(seen).endswith("busy")
    (found,) = (one for one in watch_findings(seen, cores=2, no_ranks="") if one.what == "cores")
    assert "25 % of the looks" in found.value
    quiet = watched_by_ranks(visits[:3], 1.0, 2)
    assert quiet.shared_share == 0
    assert summary(quiet).endswith("quiet")


def test_of_no_look_nothing_is_known() -> None:
    for seen in (watched_by_ranks([], 1.0, 2), watched_alone([], 1.0, 0.0, 2)):
        assert (seen.looks, seen.disturbed_share, seen.slowdown, seen.line_s) == (0, None, None, None)


def test_stalls_of_one_process_are_what_goes_beyond_its_own_work() -> None:
    """Nine pieces of work of ten take 100 us, one waits for 900 us more: half of the time is lost."""
    work_ns = np.full(1000, 100_000)
    work_ns[::10] += 900_000
    seen = watched_alone(work_ns.tolist(), 0.2, 0.1, 2)
    assert seen.disturbed_share == pytest.approx(0.1)
    assert seen.lost_share == pytest.approx(90 / 190)
    assert seen.stolen_share == pytest.approx(0.25)


@pytest.mark.parametrize(("typed", "watched"), [((), "10s"), (("1min",), "1min")])
def test_without_a_time_it_watches_for_ten_seconds(
    machine: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], watched: str
) -> None:
    seen: list[str] = []

    def watch(duration: str, form: str) -> int:
        seen.append(duration)
        return 0

    monkeypatch.setattr("mpigauge.cli.verbs.doctor._watch", watch)
    assert cli("doctor", "--watch", *typed).status == 0
    assert seen == [watched]
