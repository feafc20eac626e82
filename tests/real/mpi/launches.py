"""One launch of a real kernel, without a campaign around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.plan.kernel_plan import Limits, kernel_plan, parts_of
from mpigauge.result import environment, journal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from mpigauge.plan.model import Plan
    from mpigauge.plan.visit_order import PlannedVisit


def job_of(library: Library, program: Path, ranks: int) -> Job:
    """Ranks of the kernel that read their plan from standard input."""
    cores = environment.cores_allowed()
    return Job(library.mpiexec, ranks, (str(program), "-", "-"), cores, environment.user_is_root())


def journal_of(
    library: Library,
    program: Path,
    visits: list[PlannedVisit],
    plan: Plan,
    limits: Limits,
    variables: Mapping[str, str],
    timeout_s: float,
) -> list[journal.Line]:
    """The lines of a launch that must come to its end."""
    cores = environment.cores_allowed()
    ranks = visits[0].cell.ranks
    job = job_of(library, program, ranks)
    parts = parts_of(kernel_plan(visits, plan, limits, cores))
    changes = {**library.environment_for(crowded=ranks > cores), **variables}
    lines: list[journal.Line] = []
    with RunningJob(command_of(job, library.kind.launcher).words, changes, parts) as running:
        for text in running.lines(lambda: timeout_s):
            if (line := journal.parse(text)) is not None:
                lines.append(line)
            if isinstance(line, journal.ReadyLine):
                running.feed()
    assert lines, running.last_words
    assert isinstance(lines[-1], journal.EndLine), running.last_words
    return lines
