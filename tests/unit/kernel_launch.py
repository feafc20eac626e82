"""One launch of a kernel, the fake or the real one: the visits that it is told, and the lines it says."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.mpi import kernel
from mpigauge.result import journal
from mpigauge.result.environment import cores_allowed, user_is_root

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library

LAUNCH = (
    "launch version=2 ranks={ranks} cores=2 visits_per_cell=4 rounds_min=30 rounds_max=100 "
    "precision_ppm=10000 cell_ns=20000000 deadline_ns=60000000000 warmup_ns=1000000"
)

Line = dict[str, Any]


def journal_of(library: Library, text: str, ranks: int = 2) -> list[Line]:
    """The lines of a launch that is told this."""
    job = Job(
        library.mpiexec,
        ranks,
        (str(kernel.build(library)), "-", "-"),
        cores_allowed(),
        as_root=user_is_root(),
        environment=library.environment,
    )
    done = subprocess.run(
        command_of(job, library.kind.launcher).words,
        input=text.encode(),
        capture_output=True,
        check=True,
        timeout=120,
        env=library.environ,
    )
    lines = done.stdout.splitlines()
    assert all(journal.parse(line) for line in lines)
    return [json.loads(line) for line in lines]


def plan_of(*visits: str, ranks: int = 2) -> str:
    """A plan of these visits, given as "PATTERN MODE BYTES more=words"; each is a cell of its own."""
    lines = []
    for number, (pattern, mode, size, *more) in enumerate(visit.split() for visit in visits):
        words = " ".join({"window": "window=4", **{word.partition("=")[0]: word for word in more}}.values())
        lines.append(
            f"visit id={number} cell={number} pattern={pattern} mode={mode} bytes={size} pool_bytes=0 {words}"
        )
    return "\n".join([LAUNCH.format(ranks=ranks), *lines, "end", ""])


def answers_of_slow_cell(library: Library) -> list[str]:
    """What becomes of eight visits of a cell whose time is used up by the first of them."""
    visit = "cell=0 pattern=pingpong mode=standard bytes=67108864 pool_bytes=0 window=4"
    launch = LAUNCH.format(ranks=2).replace("visits_per_cell=4", "visits_per_cell=8")
    launch = launch.replace("cell_ns=20000000", "cell_ns=400000000")
    lines = journal_of(library, "\n".join([launch, *(f"visit id={n} {visit}" for n in range(8)), "end", ""]))
    return [word for line in lines for word in ("visit", "skip") if word in line]


def visits_in(lines: list[Line]) -> dict[int, Line]:
    """The lines of visits that were measured, by number."""
    return {line["visit"]: line for line in lines if "visit" in line}
