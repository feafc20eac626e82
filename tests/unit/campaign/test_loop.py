"""The loop of a campaign by itself: launches that a script ends, no process, no file of a kernel."""

from __future__ import annotations

import gc
import io
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from mpigauge.campaign import loop
from mpigauge.campaign.loop import MAX_SILENT_STARTS, MAX_STARTS, CampaignLoop
from mpigauge.campaign.targets import Target
from mpigauge.cli.screen.progress import NoProgress
from mpigauge.errors import JobError
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import replication_start_s
from mpigauge.result import writer
from mpigauge.result.reader import Result, load
from mpigauge.result.records import Failure
from tests.conftest import leave_memory
from tests.fakes.law import describe
from tests.made import LIBRARY, campaign, cell, launch, visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.campaign.job_run import RunContext
    from mpigauge.campaign.state import LaunchKey
    from mpigauge.plan.visit_order import PlannedVisit

DESCRIPTION = msgspec.convert(describe(), KernelDescription)
SMALL, LARGE = cell(size=8), cell(size=64)
OTHER = [cell(size=size, mpi="mpich", mpi_version="5.0.2") for size in (8, 64)]
PLAN = Plan((Measure("pingpong"),), launches_min=5, launches_max=8, visits=2, seed=7)


@dataclass
class Script:
    """What happens to launches, and what has happened.

    Attributes:
        spread: By how much launches differ.
        steady: The cells that take the same in all of them all the same.
        fails: Cells whose visits end the job.
        silent: Jobs, by library, that never begin.
        gone: Whether that is since a host of theirs is gone.
        lacks: What this machine lacks for them.
        stop_after: At this start somebody presses Ctrl-C.
        silent_cells: Cells that have no time in any launch.
        waits: The naps between launches, each in seconds.
        sleeps_s: How long the library sleeps in MPI_Init, which is half of each launch.
        frozen: Objects at each start that Python will not look through for what nobody needs.
        started: Each start: number, library and the visits that it was to make.
    """

    spread: float = 0.0
    steady: tuple[Cell, ...] = ()
    fails: tuple[Cell, ...] = ()
    silent: tuple[str, ...] = ()
    hanging: tuple[str, ...] = ()
    hangs_s: float = 0.0
    gone: bool = False
    lacks: str = ""
    stop_after: int = 1000
    silent_cells: tuple[Cell, ...] = ()
    waits: list[float] = field(default_factory=list)
    looks_at_memory: bool = False
    sleeps_s: float = 0.0
    frozen: list[int] = field(default_factory=list)
    started: list[tuple[int, str, list[PlannedVisit]]] = field(default_factory=list)

    def runs(self) -> list[tuple[int, str]]:
        """Number and library of each start."""
        return [(number, mpi) for number, mpi, _ in self.started]


@dataclass
class FakeRun:
    """Stands for one mpiexec: takes the visits in order, until one of them fails."""

    script: Script
    around: RunContext
    target: Target
    key: LaunchKey
    job: object
    visits: Sequence[PlannedVisit]
    text: str
    usual_start_s: float
    warmup_bytes: int
    began: bool = False
    reached_visits: bool = False
    ended: bool = False
    prelude_s: float = 0.01
    skipped: set[Cell] = field(default_factory=set)
    suspects: frozenset[int] = frozenset()
    options_found: tuple[str, ...] = ()
    died_warming_up: bool = False
    sleeps: bool = False
    name: str = "a job"

    @property
    def lacks(self) -> str:
        """What this machine lacks for it."""
        return self.script.lacks

    @property
    def host_gone(self) -> bool:
        """Whether a host of it does not answer any more."""
        return self.script.gone

    def run(self) -> None:
        """As the job would: records of what was measured, or of what failed."""
        number, mpi = self.key.number, self.key.job.mpi
        if self.script.looks_at_memory:
            self.script.frozen.append(gc.get_freeze_count())
        self.script.started.append((number, mpi, list(self.visits)))
        if len(self.script.started) >= self.script.stop_after:
            self.around.interruption.signal = 2
        if mpi in self.script.silent:
            self.around.state.append(Failure(number, "crash", "not found", None, None))
            return None
        self.began = True
        self.sleeps = self.script.sleeps_s > 0
        time.sleep(2 * self.script.sleeps_s)
        self.reached_visits = mpi not in self.script.hanging
        self.died_warming_up = not self.reached_visits
        self.around.state.append(msgspec.structs.replace(launch(number), job=self.key.job))
        if not self.reached_visits:
            time.sleep(self.script.hangs_s)
            self.around.state.append(Failure(number, "timeout", "in its warm-up", None, None))
            return None
        for planned in self.visits:
            if planned.cell in self.script.fails:
                return self._fail(planned)
            if planned.cell in self.script.silent_cells:
                continue
            effect = 1 if planned.cell in self.script.steady else 1 + self.script.spread * (number % 3)
            self.around.state.append(visit(number, planned.id, planned.cell, [round(1000 * effect)] * 20))
        self.ended = True
        return None

    def _fail(self, planned: PlannedVisit) -> None:
        self.around.state.append(Failure(self.key.number, "crash", "words", planned.id, planned.cell))


Run = Callable[..., tuple[str, Result]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a campaign by a script; gives why it ended, and its result. A file that is there goes on."""
    monkeypatch.setattr(loop, "job_of", lambda *_: SimpleNamespace(cores=2))

    def campaign_of(
        script: Script, plan: Plan = PLAN, cells: Sequence[Sequence[Cell]] = ((SMALL, LARGE),)
    ) -> tuple[str, Result]:
        monkeypatch.setattr(loop, "JobRun", lambda *words: FakeRun(script, *words))
        if not script.looks_at_memory:
            leave_memory(monkeypatch)
        library: Any = LIBRARY
        targets = [Target(library, Path("kernel"), DESCRIPTION, list(mine)) for mine in cells]
        path = tmp_path / "r.jsonl"
        before = load(path) if path.exists() else None
        clock = [1e9]

        def comes_within(seconds: float) -> bool:
            script.waits.append(seconds)
            clock[0] += seconds
            return False

        interruption: Any = SimpleNamespace(
            signal=None, arrives_within=comes_within, clear_wakeup=lambda: None, obey=lambda: None
        )
        with writer.reopen(path, path.stat().st_size) if before else writer.create(path) as file:
            if before is None:
                file.append(campaign(*(of for mine in cells for of in mine)))
            reason = CampaignLoop(
                plan, targets, file, NoProgress(io.StringIO()), interruption, before, lambda: clock[0]
            ).run()
        return reason, load(path)

    return campaign_of


BOTH = ((SMALL, LARGE), tuple(OTHER))


# ---- Order ---------------------------------------------------------------------------------------


def test_every_replication_is_one_launch_of_each_job_in_an_order_of_the_seed(run: Run) -> None:
    script = Script(spread=0.5)
    reason, result = run(script, cells=BOTH)
    assert reason == "launches"
    orders = [[mpi for n, mpi in script.runs() if n == number] for number in range(1, 9)]
    assert all(sorted(order) == ["mpich", "openmpi"] for order in orders)
    assert len({tuple(order) for order in orders}) == 2
    assert [n for n, _ in script.runs()] == sorted(n for n, _ in script.runs())
    assert {(done.launch, done.job.mpi) for done in result.done} == set(script.runs())


def test_visits_are_shuffled_anew_in_every_launch(run: Run) -> None:
    script = Script(spread=0.5)
    run(script)
    orders = [tuple(planned.cell for planned in visits) for _, _, visits in script.started]
    assert all(Counter(order) == Counter(orders[0]) for order in orders)
    assert len(set(orders)) > 1


@pytest.mark.thorough
def test_the_garbage_collector_does_not_run_while_ranks_are_timed(run: Run) -> None:
    script = Script(looks_at_memory=True)
    run(script)
    assert len(script.frozen) >= PLAN.launches_min
    assert min(script.frozen) > 1000
    assert gc.get_freeze_count() == 0
    gc.freeze()  # as all other tests have it


# ---- When it is enough ---------------------------------------------------------------------------


def test_equal_launches_are_enough_after_the_least_number(run: Run) -> None:
    reason, result = run(Script())
    assert (reason, len(result.launches)) == ("converged", PLAN.launches_min)
    assert result.ends[-1].reason == "converged"


def test_precise_cells_get_half_of_the_visits(run: Run) -> None:
    """One of two differs from launch to launch, so that the campaign goes on for it."""
    script = Script(spread=0.5, steady=(SMALL,))
    assert run(script)[0] == "launches"
    counts = [Counter(planned.cell for planned in visits) for _, _, visits in script.started]
    assert counts[:5] == [{SMALL: 2, LARGE: 2}] * 5
    assert counts[5:] == [{SMALL: 1, LARGE: 2}] * 3


@pytest.mark.parametrize(
    ("budget_s", "more"), [(0.85, r"makes \d more launch(es)? in this budget"), (None, "avoids")]
)
def test_a_sleep_of_every_launch_is_told_in_launches(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    budget_s: float | None,
    more: str,
) -> None:
    told: list[str] = []
    monkeypatch.setattr(NoProgress, "trouble", lambda _, sentence: told.append(sentence))
    monkeypatch.setattr(loop, "SLEEP_S", 0.1)
    run(Script(sleeps_s=0.1), msgspec.structs.replace(PLAN, budget_s=budget_s))
    (sentence,) = told
    assert sentence.startswith("each launch sleeps 1 s in MPI_Init, ")
    assert re.search(f"--env OMPI_MCA_btl=.ofi {more}$", sentence)


def test_a_spent_budget_ends_the_campaign(run: Run) -> None:
    plan = msgspec.structs.replace(PLAN, budget_s=1e-6)
    reason, result = run(Script(), plan)
    assert reason == "budget"
    assert len(result.launches) <= 1


def test_cells_without_an_interval_are_not_precise(run: Run) -> None:
    # Of three cells one never gives times: the two others are precise from the first interval on.
    lost = cell(size=1024)
    script = Script(silent_cells=(lost,))
    reason, result = run(script, cells=((SMALL, LARGE, lost),))
    assert reason == "launches"
    assert {one.launch for one in result.visits} == set(range(1, PLAN.launches_max + 1))


def test_launches_that_are_spread_over_time_wait_and_do_not_end_early(run: Run) -> None:
    waited: list[float] = []
    script = Script(waits=waited)
    plan = msgspec.structs.replace(PLAN, over_s=3600.0)
    reason, result = run(script, plan, BOTH)
    assert reason == "launches"
    assert len({one.launch for one in result.visits}) == PLAN.launches_max
    # One wait a replication, whose launches stay together.
    assert sum(waited) == pytest.approx(replication_start_s(plan, PLAN.launches_max, PLAN.launches_max))
    assert [number for number, _ in script.runs()] == [
        number for number in range(1, PLAN.launches_max + 1) for _ in BOTH
    ]
    assert all(end.elapsed_s < 60 for end in result.ends)


def test_a_signal_ends_the_campaign_before_the_next_job(run: Run) -> None:
    script = Script(spread=0.5, stop_after=3)
    reason, result = run(script, cells=BOTH)
    assert (reason, len(script.started)) == ("interrupted", 3)
    assert result.ends[-1].reason == "interrupted"


# ---- What fails ----------------------------------------------------------------------------------


def test_a_cell_that_fails_costs_only_itself_and_is_given_up_after_two_launches(run: Run) -> None:
    script = Script(spread=0.5, fails=(LARGE,))
    reason, result = run(script)
    assert reason == "launches"
    assert [failure.launch for failure in result.failures] == [1, 2]
    # Each failure is followed by another start of the same launch, for what is left.
    assert Counter(n for n, _ in script.runs()) == {1: 2, 2: 2, **dict.fromkeys(range(3, 9), 1)}
    assert {one.cell for one in result.visits} == {SMALL}
    assert Counter(one.launch for one in result.visits) == dict.fromkeys(range(1, 9), 2)


def test_what_this_machine_lacks_another_start_does_not_look_for(run: Run) -> None:
    script = Script(spread=0.5, silent=("mpich",), lacks="open files: 24 at most per process")
    run(script, cells=([SMALL, LARGE], OTHER))
    assert [mpi for _, mpi in script.runs()].count("mpich") == 1


def test_a_job_that_does_not_begin_is_given_up_and_the_other_goes_on(run: Run) -> None:
    script = Script(spread=0.5, silent=("mpich",))
    reason, result = run(script, cells=BOTH)
    assert reason == "launches"
    assert Counter(mpi for _, mpi in script.runs()) == {"mpich": MAX_SILENT_STARTS, "openmpi": 8}
    assert {one.cell.mpi for one in result.visits} == {"openmpi"}
    assert MAX_SILENT_STARTS < MAX_STARTS


def test_a_job_that_never_reaches_its_visits_is_given_up(run: Run) -> None:
    """It says its first line, and then hangs: in its warm-up, or while its clocks are compared."""
    script = Script(spread=0.5, hanging=("mpich",))
    reason, result = run(script, cells=BOTH)
    assert reason == "launches"
    assert Counter(mpi for _, mpi in script.runs()) == {"mpich": MAX_SILENT_STARTS, "openmpi": 8}
    assert {one.cell.mpi for one in result.visits} == {"openmpi"}


def test_no_part_of_a_launch_begins_when_the_budget_is_spent(run: Run, tmp_path: Path) -> None:
    script = Script(hanging=("openmpi",), hangs_s=0.9)
    with pytest.raises(JobError):
        run(script, plan=msgspec.structs.replace(PLAN, budget_s=0.8))
    assert len(script.runs()) == 1
    assert set(load(tmp_path / "r.jsonl").done[0].skipped) == {SMALL, LARGE}


def test_a_cell_that_failed_is_not_tried_again_in_its_launch_even_after_a_kill(
    run: Run, tmp_path: Path
) -> None:
    """As long as the campaign lives it is not, and a file that goes on must not forget."""
    run(Script(spread=0.5, fails=(LARGE,), stop_after=1))
    path = tmp_path / "r.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    failed = next(number for number, line in enumerate(lines) if b'"type":"failure"' in line)
    path.write_bytes(b"".join(lines[: failed + 1]))
    script = Script(spread=0.5, fails=(LARGE,))
    run(script)
    number, _, visits = script.started[0]
    assert number == 1
    assert LARGE not in {planned.cell for planned in visits}


def test_a_campaign_without_any_start_is_an_error_with_a_hint(run: Run, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no launch came as far as its first number: not found") as caught:
        run(Script(silent=("openmpi",)))
    assert caught.value.hint
    assert load(tmp_path / "r.jsonl").ends[-1].reason == "failed"


def test_a_failed_start_that_used_the_whole_budget_is_reported_as_a_failure(run: Run, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no launch came as far as its first number: in its warm-up") as caught:
        run(Script(hanging=("openmpi",), hangs_s=0.9), plan=msgspec.structs.replace(PLAN, budget_s=0.8))
    assert "--budget" not in caught.value.hint
    assert load(tmp_path / "r.jsonl").ends[-1].reason == "budget"


def test_a_signal_during_a_failed_start_is_reported_as_interrupted(run: Run) -> None:
    reason, _ = run(Script(silent=("openmpi",), stop_after=1))
    assert reason == "interrupted"


def test_a_host_that_is_gone_ends_its_job_at_once(run: Run) -> None:
    script = Script(silent=("openmpi",), gone=True)
    with pytest.raises(JobError):
        run(script)
    assert len(script.runs()) == 1


# ---- Going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [2, 3, 5, 6, 7, 9])
def test_a_resumed_campaign_measures_what_was_left(run: Run, tmp_path: Path, lines: int) -> None:
    path = tmp_path / "r.jsonl"
    _, whole = run(Script())
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    before = len(load(path).visits)
    script = Script()
    reason, again = run(script)
    assert reason == "converged"
    measured = [sorted((one.launch, one.id, one.cell) for one in of.visits) for of in (whole, again)]
    assert measured[0] == measured[1]
    assert sum(len(visits) for _, _, visits in script.started) == len(whole.visits) - before


def test_resuming_a_complete_campaign_starts_nothing(run: Run) -> None:
    run(Script())
    script = Script()
    assert run(script)[0] == "converged"
    assert script.started == []
