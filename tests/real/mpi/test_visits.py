"""What a visit has on real libraries: when its content is compared, and what its cards are asked."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import visits_of
from mpigauge.result import journal
from mpigauge.result.reader import load
from tests.real.mpi.launches import journal_of
from tests.thorough import rest
from tests.truth import check, truth
from tests.unit.kernel_launch import answers_of_slow_cell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from mpigauge.result.records import Visit
    from tests.real.mpi.conftest import Run

pytestmark = pytest.mark.mpi

TIMEOUT_S = 300.0
LIMITS = Limits(1e-5, 1e4, warmup_s=1e-3, pool_bytes=2**21)
"""The shortest visits that there can be."""

LIFESPAN_MS = 10
VISITS = 8
WHOLE = """
launches = 1
precision = 1e-4
[[measure]]
pattern = "pingpong"
sizes = "8,64KiB"
[[measure]]
pattern = "allreduce"
sizes = "8,64KiB"
[[measure]]
pattern = "memcpy"
sizes = "64KiB"
"""
"""No visit of it is left out: there is no budget, and nothing is so precise."""


def visits_of_cells(path: Path) -> dict[tuple[str, int], list[Visit]]:
    """The visits of the first launch, in their order, by pattern and size."""
    found = defaultdict(list)
    for visit in load(path).visits:
        if visit.launch == 1 and visit.cell.bytes:
            found[visit.cell.pattern, visit.cell.bytes].append(visit)
    return found


@pytest.fixture
def held_back_card(tmp_path: Path) -> tuple[str, ...]:
    """What starts a command on a machine with a card whose counters are held back."""
    classes = tmp_path / "class"
    shutil.copytree("/sys/class/net", classes / "net", symlinks=True)
    counters = classes / "infiniband" / "efa_0" / "ports" / "1" / "hw_counters"
    counters.mkdir(parents=True)
    for name, value in {"rx_bytes": 0, "tx_bytes": 0, "lifespan": LIFESPAN_MS}.items():
        (counters / name).write_text(f"{value}\n")
    words = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /sys/class && exec "$@"', str(classes))
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of our own")
    return words


@truth
def test_little_time_makes_few_samples_and_no_fewer_visits(library: Library) -> None:
    assert answers_of_slow_cell(library) == ["visit"] * 8


def test_the_first_visit_every_fourth_and_the_last_are_verified(mpigauge: Run, tmp_path: Path) -> None:
    """Short collectives are proved to travel where they are verified; all other messages, in every visit."""
    (tmp_path / "plan.toml").write_text(WHOLE)
    done = mpigauge("run", "--plan", "plan.toml", "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    for (pattern, size), visits in visits_of_cells(tmp_path / "r.jsonl").items():
        verified = [number for number, visit in enumerate(visits) if visit.verified]
        counted = [number for number, visit in enumerate(visits) if visit.net_calls > 0]
        assert verified == sorted({*range(0, len(visits), 4), len(visits) - 1})
        short = pattern == "allreduce" and size == 8
        assert counted == ([] if pattern == "memcpy" else verified if short else list(range(len(visits))))


def test_only_what_was_compared_is_said_to_be_verified(library: Library) -> None:
    """Every pattern and mode, with and without a byte."""
    description = kernel.describe(library)
    patterns = [pattern for pattern in description.patterns if not pattern.probes]
    measures = tuple(Measure(pattern.name, modes=("all",), sizes="0,64", window=2) for pattern in patterns)
    plan = Plan(measures, ranks=(2,), visits=1, rounds_min=1, rounds_max=2, seed=1)
    cells = cells_of(plan, description, library.name, library.version, "test").cells
    visits = visits_of(cells, plan, description, 1)
    lines = journal_of(library, kernel.build(library), visits, plan, LIMITS, {}, TIMEOUT_S)
    made = {line.visit: line for line in lines if isinstance(line, journal.VisitLine)}
    asked = {(visit.cell.pattern, visit.cell.mode) for visit in visits if visit.id in made}
    assert {(pattern.name, mode.name) for pattern in patterns for mode in pattern.modes} == asked
    for visit in visits:
        if visit.id in made:
            pattern = description.pattern(visit.cell.pattern, "")
            mode = pattern.mode(visit.cell.mode)
            compares = (
                mode is not None and mode.compares and (visit.cell.bytes > 0 or not pattern.moves_bytes)
            )
            assert made[visit.id].verified == compares, visit.cell
            assert not made[visit.id].corrupt


def test_a_cell_that_ends_early_is_verified_in_its_last_visit(mpigauge: Run, tmp_path: Path) -> None:
    words = ("pingpong", "allreduce", "--sizes", "8", "--samples", "40", "--launches", "1", "-o", "r.jsonl")
    done = mpigauge("run", *words)
    assert done.returncode == 0, done.stderr
    for visits in visits_of_cells(tmp_path / "r.jsonl").values():
        assert visits[0].verified
        assert visits[-1].verified


def test_a_card_that_holds_its_counters_back_is_asked_in_the_first_visit_of_a_cell_alone(
    mpigauge: Run, held_back_card: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(WHOLE)
    done = mpigauge("run", "--plan", "plan.toml", "-o", "r.jsonl", prefix=held_back_card)
    assert done.returncode == 0, done.stderr
    result = load(tmp_path / "r.jsonl")
    assert any("efa_0" in str(of_host) for launch in result.launches for of_host in launch.cards)
    for (pattern, _), visits in visits_of_cells(tmp_path / "r.jsonl").items():
        counted = [number for number, visit in enumerate(visits) if visit.net_calls > 0]
        assert counted == ([] if pattern == "memcpy" else [0])


@truth
@pytest.mark.parametrize("card", rest(["no card", "card that holds back"], ["card that holds back"]))
def test_no_cell_of_the_default_suite_has_fewer_than_four_visits(
    mpigauge: Run, request: pytest.FixtureRequest, tmp_path: Path, card: str
) -> None:
    """In the median launch: a launch's number is to be more than one moment of the machine."""
    prefix = () if card == "no card" else request.getfixturevalue("held_back_card")
    output = tmp_path / "r.jsonl"
    output.unlink(missing_ok=True)
    done = mpigauge("run", "-o", "r.jsonl", prefix=prefix)
    assert done.returncode == 0, done.stderr
    result = load(output)
    made: dict[object, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for visit in result.visits:
        made[visit.cell][visit.launch] += 1
    launches = range(1, max(launch.number for launch in result.launches) + 1)
    fewest = min(median(of_cell[number] for number in launches) for of_cell in made.values())
    check(f"visits of the cell with fewest, {card}", fewest, above=3.9)


@pytest.mark.thorough
def test_coarse_clocks_are_survived_and_their_cost_is_known(
    mpigauge: Run, coarse_clock: Callable[[int], dict[str, str]], tmp_path: Path
) -> None:
    """Single differences of a clock are 0 where its step is longer than two readings."""
    words = ("run", "allreduce", "--mode", "blocking,overlap", "--sizes", "8", "--launches", "1")
    for step_ns in (100, 1_000, 1_000_000):
        output = f"{step_ns}.jsonl"
        done = mpigauge(*words, "-o", output, environment=coarse_clock(step_ns))
        result = load(tmp_path / output)
        assert not result.failures, done.stderr
        assert {visit.cell.mode for visit in result.visits if visit.cell.bytes} == {"blocking", "overlap"}
        for place in result.launches[0].ranks_at:
            assert place.clock_step_ns == step_ns
            assert place.clock_cost_ns > 0
