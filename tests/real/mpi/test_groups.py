"""Groups of ranks on real libraries: in any order, several at once, and what the kernel refuses."""

from __future__ import annotations

import subprocess
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.launchers import command_of
from mpigauge.mpi import find, kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result import journal
from tests.real.mpi.conftest import prefix, usually
from tests.real.mpi.launches import job_of, journal_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

TIMEOUT_S = 300.0
LIMITS = Limits(1e-3, 1e4, warmup_s=1e-3)
ORDERS = ("natural", "interleaved", "random:5")


def planned(library: Library, ranks: int, *measures: Measure) -> tuple[list[PlannedVisit], Plan]:
    """The visits of a launch that are of groups, or of all ranks, and their plan."""
    plan = Plan(measures, ranks=(ranks,), visits=2, rounds_min=1, rounds_max=10, seed=3)
    description = kernel.describe(library)
    cells = cells_of(plan, description, library.name, library.version, "test").cells
    return visits_of(cells, plan, description, 1), plan


def lines_of(library: Library, visits: list[PlannedVisit], plan: Plan) -> list[journal.Line]:
    return journal_of(library, kernel.build(library), visits, plan, LIMITS, {}, TIMEOUT_S)


def measures_of(library: Library, ranks: int) -> list[Measure]:
    """Every pattern of all ranks in other orders, with fewer senders, and collectives in groups at once."""
    patterns = [one for one in kernel.describe(library).patterns if one.of_all and one.min_ranks <= ranks]
    measures = [Measure(one.name, sizes="8,10000", orders=ORDERS, window=4) for one in patterns]
    measures += [
        Measure(one.name, sizes="64", senders=(1, "all"), window=4) for one in patterns if one.senders
    ]
    if ranks > 3:
        together = [one for one in patterns if one.in_groups]
        measures += [
            Measure(one.name, modes=("all",), sizes="8", groups=("2",), window=4) for one in together
        ]
        measures += [Measure(one.name, sizes="10000", groups=("mod:2",), window=4) for one in together]
        measures += [
            Measure(one.name, sizes="41", groups=("2",), roots=("rotating", 1))
            for one in together
            if one.rooted
        ]
    return measures


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_pattern_is_right_in_groups_of_any_order(library: Library, ranks: int) -> None:
    visits, plan = planned(library, ranks, *measures_of(library, ranks))
    lines = lines_of(library, visits, plan)
    done = [line for line in lines if isinstance(line, journal.VisitLine)]
    assert [line.corrupt for line in done if line.corrupt] == []
    ended = {line.visit for line in done} | {
        line.skip for line in lines if isinstance(line, journal.SkipLine)
    }
    ended |= {line.blocked for line in lines if isinstance(line, journal.BlockedLine)}
    assert ended == {visit.id for visit in visits}
    assert {v.cell for v in visits} - {
        v.cell for v in visits if v.id in {line.visit for line in done}
    } == set()


def test_groups_at_once_have_as_many_rounds_and_begin_together(library: Library) -> None:
    visits, plan = planned(library, 4, Measure("allreduce", sizes="8", groups=("2",)))
    lines = lines_of(library, visits, plan)
    done = {line.visit: line for line in lines if isinstance(line, journal.VisitLine)}
    at_once = [visit for visit in visits if visit.cell.groups and visit.id in done]
    assert at_once
    for _, step in groupby(at_once, key=lambda visit: visit.step):
        one, other = (done[visit.id] for visit in step)
        assert len(one.samples_ns) == len(other.samples_ns)
        assert one.batch == other.batch
        assert max(one.at_ns, other.at_ns) < min(one.at_ns + one.elapsed_ns, other.at_ns + other.elapsed_ns)


@pytest.mark.parametrize(("groups", "refused"), [("mod:2", False), ("2", True)])
def test_whether_a_group_is_on_one_host_is_asked_of_its_own_ranks(
    shim: Callable[[Library], dict[str, str]], groups: str, refused: bool
) -> None:
    """Hosts in turn: those of a group of every second rank are one, of neighbours two."""
    library = find.find(prefix("openmpi"))
    visits, plan = planned(library, 4, Measure("win_create", modes=("shared",), groups=(groups,)))
    environment = shim(library) | {"SHIM_HOSTS": "2"}
    lines = journal_of(library, kernel.build(library), visits, plan, LIMITS, environment, TIMEOUT_S)
    in_groups = {visit.id for visit in visits if visit.cell.group}
    measured = in_groups & {line.visit for line in lines if isinstance(line, journal.VisitLine)}
    reasons = {line.reason for line in lines if isinstance(line, journal.RefusedLine)}
    assert bool(measured) != refused
    assert any("they are on different hosts" in reason for reason in reasons) or not refused


@usually("openmpi")
def test_more_steps_of_several_groups_than_communicators_are_kept_for(library: Library) -> None:
    steps = range(70)
    cells = f"visits_per_cell=1 rounds_min=1 rounds_max=2 precision_ppm=10000 cell_ns={10**6}"
    text = f"launch version=2 ranks=4 cores=2 {cells} deadline_ns={10**12} warmup_ns=1000\n"
    changes = library.environment_for(crowded=True).items()
    crowded = {name: value for name, value in changes if value is not None}
    text += "".join(f"group id={2 * i} ranks=0,1\ngroup id={2 * i + 1} ranks=2,3\n" for i in steps)
    for number in range(2 * len(steps)):
        of = f"pattern=barrier mode=blocking bytes=0 group={number} step={number // 2}"
        text += f"visit id={number} cell={number} {of}\n"
    done = subprocess.run(
        command_of(job_of(library, kernel.build(library), 4), library.kind.launcher).words,
        input=(text + "end\n").encode(),
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
        env={**library.environ, **crowded},
    )
    lines = map(journal.parse, done.stdout.splitlines())
    made = [line.visit for line in lines if isinstance(line, journal.VisitLine)]
    assert (done.returncode, sorted(made)) == (0, [*range(2 * len(steps))]), done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ranks=0,1", "ranks=0,0", "plan line 2: rank 0 is in the group twice"),
        ("ranks=0,1", "ranks=0-2", "plan line 2: this job has no rank 2"),
        ("ranks=0,1", "ranks=1", "plan line 2: a group has two ranks or more"),
        ("ranks=0,1", "ranks=0;1", "plan line 2: ';1' is no list of ranks"),
        ("ranks=0,1", "ranks=1-0", "plan line 2: a range of ranks goes upwards"),
        ("group=0", "group=7", "plan line 3: no line before it has a group 7"),
        (" step=1", "", "plan line 3: a pair or group needs a step"),
        ("group=0", "group=0 pair=0-1", "plan line 3: a visit is of a pair or of a group"),
    ],
)
def test_a_wrong_group_is_named_by_its_line(old: str, new: str, words: str) -> None:
    library = find.find(prefix("mpich"))  # whatever the library: it is said before the first message
    text = (
        "launch version=2 ranks=2 cores=2 visits_per_cell=1 rounds_min=1 rounds_max=2 precision_ppm=10000 "
        "cell_ns=1000000 deadline_ns=60000000000 warmup_ns=1000\ngroup id=0 ranks=0,1\n"
        "visit id=0 cell=0 pattern=bcast mode=blocking bytes=8 group=0 step=1\nend\n"
    )
    assert old in text
    done = subprocess.run(
        command_of(job_of(library, kernel.build(library), 2), library.kind.launcher).words,
        input=text.replace(old, new).encode(),
        capture_output=True,
        check=False,
        timeout=TIMEOUT_S,
        env=library.environ,
    )
    assert done.returncode != 0
    assert words in done.stderr.decode()
