"""The kernel under ASan and UBSan: all that it measures, all that it reads, and none of its errors.

What leaks is the library's. TSan has nothing to look for: the kernel has one thread, and ranks are processes.
"""

from __future__ import annotations

import subprocess
from random import Random
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result import journal
from tests.fuzz.mutate import text_changed
from tests.real.mpi.conftest import SANITIZED, SANITIZER_OPTIONS, prefix
from tests.real.mpi.launches import journal_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from mpigauge.plan.patterns import Pattern

pytestmark = [pytest.mark.mpi, pytest.mark.thorough]

TIMEOUT_S = 600.0
LIMITS = Limits(1e-5, 1e4, warmup_s=1e-3, pool_bytes=2**21)
"""The shortest visits that there can be."""

PAIR = 2
WRONG_PLANS = 10
SEED = 1


@pytest.fixture(scope="module")
def library() -> Library:
    return find.find(prefix("mpich"))


@pytest.fixture(scope="module")
def program(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kernel with both of them in it; what they find ends it."""
    built = tmp_path_factory.mktemp("sanitized") / "mpigauge-kernel"
    kernel.compile_to(built, library, *SANITIZED)
    return built


def planned(library: Library, ranks: int, *measures: Measure) -> tuple[list[PlannedVisit], Plan]:
    """One visit of each cell, and their plan."""
    description = kernel.describe(library)
    plan = Plan(measures, ranks=(ranks,), visits=1, rounds_min=1, rounds_max=2, seed=SEED)
    cells = cells_of(plan, description, library.name, library.version, "test").cells
    return visits_of(cells, plan, description, 1), plan


def all_of(pattern: Pattern, ranks: int) -> list[Measure]:
    """A pattern in every mode, with odd sizes, cold buffers and any root; of a pair, in more of them.

    More ranks than cores take long for each visit, and for every datatype and operation far too long.
    """
    many = ranks == PAIR
    sizes = "0,1,7,40,10000,100001" if many else "0,7,10001"
    found = [Measure(pattern.name, modes=("all",), sizes=sizes, window=16)]
    if not pattern.modes[0].binds_buffers:
        found.append(Measure(pattern.name, sizes="7,10000", buffers="cold", window=16))
    if pattern.rooted:
        found.append(Measure(pattern.name, sizes="41", roots=("rotating", ranks - 1)))
    if pattern.reduces and many:
        found.append(Measure(pattern.name, sizes="200", datatypes=("all",), ops=("all",)))
    if pattern.may_in_place:
        found.append(Measure(pattern.name, sizes="41", in_place=True))
    return found


def runs_whole(library: Library, program: Path, visits: list[PlannedVisit], plan: Plan) -> None:
    """Whether every visit comes to its end, with the right payload."""
    lines = journal_of(library, program, visits, plan, LIMITS, SANITIZER_OPTIONS, TIMEOUT_S)
    ended = {journal.VisitLine, journal.EagerLine, journal.BlockedLine, journal.SkipLine}
    assert sum(type(line) in ended for line in lines) == len(visits)
    assert not any(line.corrupt for line in lines if isinstance(line, journal.VisitLine))


@pytest.mark.parametrize("ranks", [PAIR, 4])
def test_they_find_nothing_in_any_pattern(library: Library, program: Path, ranks: int) -> None:
    patterns = [one for one in kernel.describe(library).patterns if one.min_ranks <= ranks]
    measures = [measure for pattern in patterns for measure in all_of(pattern, ranks)]
    runs_whole(library, program, *planned(library, ranks, *measures))


@pytest.mark.parametrize(("pairs", "ranks"), [("tournament", 5), ("serial", 3)])
def test_they_find_nothing_in_maps(library: Library, program: Path, pairs: str, ranks: int) -> None:
    names = ("pingpong", "crosscopy", "eager")
    measures = [Measure(name, sizes="8,10001", pairs=pairs) for name in names]  # type: ignore[arg-type]
    runs_whole(library, program, *planned(library, ranks, *measures))


def test_they_find_nothing_in_groups(library: Library, program: Path) -> None:
    """Of collectives and pairs, in another order, at once and alone; a rank of four is in two groups."""
    groups = ("2", "mod:2", "0,3+2,1")
    measures = [Measure(name, sizes="7,10001", groups=groups) for name in ("bcast", "allgather", "incast")]
    measures.append(Measure("allreduce", modes=("all",), sizes="40", groups=("2",), orders=("random:1",)))
    measures += [Measure(name, sizes="7", orders=("interleaved",)) for name in ("ring", "neighbours")]
    measures.append(Measure("multi-stream", sizes="7", senders=(1, "all"), window=4))
    runs_whole(library, program, *planned(library, 4, *measures))


def test_they_find_nothing_in_what_it_says_of_itself(library: Library, program: Path) -> None:
    assert started(library, program, "--describe").stdout


def test_they_find_nothing_in_reading_a_wrong_plan(library: Library, program: Path, tmp_path: Path) -> None:
    """Of one rank, which needs no launcher; a plan that cannot be followed gets a sentence."""
    visits, plan = planned(library, 1, Measure("memcpy", sizes="8,64"), Measure("barrier"))
    whole = kernel_plan(visits, plan, LIMITS, 1).encode()
    for seed in range(SEED, SEED + WRONG_PLANS):
        (tmp_path / "plan").write_bytes(text_changed(whole, Random(seed)))
        done = started(library, program, str(tmp_path / "plan"), str(tmp_path / "journal"))
        assert done.returncode == 0 or "mpigauge-kernel: " in done.stderr, (seed, done.stderr)


def started(library: Library, program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs the kernel as its only rank."""
    done = subprocess.run(
        [str(program), *words],
        env={**library.environ, **SANITIZER_OPTIONS},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert "Sanitizer" not in done.stderr, done.stderr
    assert "runtime error" not in done.stderr, done.stderr
    return done
