"""What `mpigauge doctor --hosts` finds: whether all of them answer, start ranks, and are set up alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.doctor.table import DoctorFinding
from mpigauge.errors import EnvironmentLacksError, JobError
from mpigauge.linkmap import hosts_differ as words
from mpigauge.plan.library_names import library_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.plan.model import Plan
    from mpigauge.result.reader import Result

WHERE = "mpigauge doctor --hosts"
HOSTS, ALIKE = "hosts", "set up alike"
RANKS_FAIL = "ranks must start on all of them: mpigauge run --np 2 between two of them narrows it down"
DEAD = "they did not answer: check their names, and that passwordless login works"
MAKE_ALIKE = "compare nothing across them, or make them alike"


def of_hosts(
    observer: Observer, interruption: Interruption, mpi: str | None, **place: Any
) -> list[DoctorFinding]:
    """Start a rank on each host; return what it has told of them.

    Args:
        observer: Is told the course of it.
        place: What the options say of where jobs run.

    Raises:
        UsageError: The options are wrong.
    """
    from mpigauge.campaign.probe_run import look_at_hosts

    plan = _plan(mpi, **place)
    try:
        seen = look_at_hosts(plan, WHERE, observer, interruption)
    except (EnvironmentLacksError, JobError) as error:
        return [DoctorFinding("lacks", HOSTS, error.sentence, error.hint)]
    return [*_of_launch(seen), *(_of_differences(seen) if seen.launches else ())]


def _plan(mpi: str | None, **place: Any) -> Plan:
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Options, PlanFile, with_options
    from mpigauge.plan.source import new_seed

    file = PlanFile(title=WHERE, measure=(Measure("barrier"),))
    options = Options(mpi=(mpi,) if mpi else (), **place)
    return with_options(file, options, new_seed(), WHERE)


def _of_launch(seen: Result) -> Iterator[DoctorFinding]:
    """Return whether ranks have started on all hosts."""
    from mpigauge.campaign.failure_remedies import cause_of

    if skipped := seen.campaign.plan.hosts_skipped:
        yield DoctorFinding("note", HOSTS, f"left out: {words.names(skipped)}", DEAD)
    for failure in seen.failures:
        yield DoctorFinding("lacks", HOSTS, cause_of(failure).line, RANKS_FAIL)
    if not seen.launches:
        return
    launch = seen.launches[0]
    there = sorted({machine.host for machine in launch.machines})
    library = library_name(launch.job.mpi, launch.job.mpi_version, launch.job.label)
    yield DoctorFinding("ok", HOSTS, f"{len(there)}, with a rank of {library} on each: {words.names(there)}")


def _of_differences(seen: Result) -> Iterator[DoctorFinding]:
    """Return in what hosts are not alike."""
    from mpigauge.linkmap.hosts_differ import hosts_differ

    if seen.campaign.plan.lab is not None:
        yield DoctorFinding("info", ALIKE, "emulated on one machine")
        return
    found = hosts_differ(seen)
    for one in found:
        remedy = f"make them alike, or leave out {words.names(one.outliers)}" if one.outliers else MAKE_ALIKE
        yield DoctorFinding("note", words.fact_words(one), words.values_words(one), remedy)
    if not found and len(seen.campaign.plan.hosts) > 1:
        yield DoctorFinding("ok", ALIKE, "in " + ", ".join(dict.fromkeys(words.FACTS.values())))
