"""Checks of `mpigauge doctor --hosts`: whether all hosts answer, start ranks and are set up alike."""

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
    from mpigauge.result.records import Failure

WHERE = "mpigauge doctor --hosts"
HOSTS, ALIKE = "hosts", "set up alike"
RANKS_FAIL = "ranks must start on all of them: mpigauge run --np 2 between two of them narrows it down"
RANKS_HANG = "ranks have started, and a barrier of them did not end"
FIND_THE_PAIR = "look for a firewall, or a network card that only some have; mpigauge map names the pair"
NO_ANSWER = "they did not answer: check their names, and that passwordless login works"
MAKE_ALIKE = "compare nothing across them, or make them alike"


def host_findings(
    observer: Observer, interruption: Interruption, mpi: str | None, **place: Any
) -> list[DoctorFinding]:
    """Start a rank on each host; return findings from what the ranks report.

    Args:
        observer: Follows the launch.
        place: Options on where and how jobs run.

    Raises:
        UsageError: The options are wrong.
    """
    from mpigauge.campaign.probe_run import probe_hosts

    plan = _plan(mpi, **place)
    try:
        result = probe_hosts(plan, WHERE, observer, interruption)
    except (EnvironmentLacksError, JobError) as error:
        return [DoctorFinding("lacks", HOSTS, error.sentence, error.hint)]
    return [*_launch_findings(result), *(_difference_findings(result) if result.launches else ())]


def _plan(mpi: str | None, **place: Any) -> Plan:
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Asked, plan_of
    from mpigauge.plan.source import new_seed

    file = Asked(title=WHERE, measure=(Measure("barrier"),))
    over = Asked(mpi=(mpi,) if mpi else (), **place)
    return plan_of(file, over, new_seed(), WHERE)


def _launch_findings(result: Result) -> Iterator[DoctorFinding]:
    """Return whether ranks have started on all hosts."""
    if skipped := result.campaign.plan.hosts_skipped:
        yield DoctorFinding("note", HOSTS, f"left out: {words.names(skipped)}", NO_ANSWER)
    # The same may have happened twice.
    yield from dict.fromkeys(_failure_finding(one, began=bool(result.launches)) for one in result.failures)
    if not result.launches:
        return
    launch = result.launches[0]
    hosts = sorted({machine.host for machine in launch.machines})
    library = library_name(launch.job.mpi, launch.job.mpi_version, launch.job.label)
    yield DoctorFinding("ok", HOSTS, f"{len(hosts)}, with a rank of {library} on each: {words.names(hosts)}")


def _failure_finding(failure: Failure, *, began: bool) -> DoctorFinding:
    from mpigauge.campaign.failure_remedies import cause_of

    if began and failure.kind == "timeout":
        return DoctorFinding("lacks", HOSTS, RANKS_HANG, FIND_THE_PAIR)
    return DoctorFinding("lacks", HOSTS, f"{failure.kind}: {cause_of(failure).line}", RANKS_FAIL)


def _difference_findings(result: Result) -> Iterator[DoctorFinding]:
    """Return a finding per fact in which hosts differ."""
    from mpigauge.linkmap.hosts_differ import hosts_differ

    if result.campaign.plan.lab is not None:
        yield DoctorFinding("info", ALIKE, "emulated on one machine")
        return
    differences = hosts_differ(result)
    for difference in differences:
        remedy = (
            f"make them alike, or leave out {words.names(difference.outliers)}"
            if difference.outliers
            else MAKE_ALIKE
        )
        yield DoctorFinding("note", words.fact_words(difference), words.values_words(difference), remedy)
    if not differences and len(result.campaign.plan.hosts) > 1:
        yield DoctorFinding("ok", ALIKE, "in " + ", ".join(dict.fromkeys(words.FACTS.values())))
