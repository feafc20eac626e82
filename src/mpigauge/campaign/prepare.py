"""Everything a campaign has to know before its first launch: plan, libraries, kernels, cells, its file."""

from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from mpigauge.campaign.hosts import check_reachable, with_hosts, with_hosts_again
from mpigauge.campaign.targets import Target, campaign_record, targets_again, targets_of
from mpigauge.errors import UsageError
from mpigauge.launch.lab import context
from mpigauge.plan.lab import Lab
from mpigauge.plan.model import Plan
from mpigauge.result import writer
from mpigauge.result.reader import Result
from mpigauge.result.writer import ResultFile


@dataclass(frozen=True, slots=True)
class Session:
    """What a campaign runs, and with what; nothing of it changes any more.

    Attributes:
        plan: With the lab and the hosts that it really has.
        targets: Libraries with their kernels, and the cells that each of them measures.
        before: What an earlier session has measured, if this one continues it.
    """

    plan: Plan
    targets: tuple[Target, ...]
    before: Result | None = None


def lab_to_enter(plan: Plan, where: str) -> Lab | None:
    """The lab that has to be made before a plan can be prepared; None if we are where it wants to run.

    Raises:
        UsageError: It wants another lab than the one that we are in.
    """
    here = context.current()
    if here is None:
        return plan.lab
    if plan.lab not in (None, here.table):
        raise UsageError(
            f"{where}: asks for a lab other than this one", "leave this lab: the plan makes its own"
        )
    return None


def located(plan: Plan) -> Plan:
    """The plan with the lab and the hosts that we are on, unless it names hosts itself.

    Raises:
        UsageError: It names a launcher that does not exist.
        EnvironmentLacksError: It names one that does not work here.
    """
    here = context.current()
    return with_hosts(plan if here is None else replace(plan, lab=here.table))


def prepare(plan: Plan, where: str) -> Session:
    """The session of a new campaign; nothing is launched or written yet.

    Args:
        where: What an error names: the plan file, or "the command line".

    Raises:
        UsageError: The plan asks for something impossible.
        EnvironmentLacksError: A library or a launcher is missing or does not work.
    """
    plan = located(plan)
    return Session(plan, tuple(targets_of(plan, where)))


def prepare_again(before: Result, where: str) -> Session:
    """The session that continues a campaign: the same libraries at their places, and the hosts of now.

    Raises:
        UsageError: We are in a lab, and the campaign was not.
        EnvironmentLacksError: A library is gone, or it is a different one now; or hosts are missing.
    """
    plan = before.campaign.plan
    if context.current() is not None and plan.lab is None:
        raise UsageError(f"{where}: was not started in a lab", "leave the lab to continue it")
    targets = targets_again(before.campaign)
    return Session(with_hosts_again(plan), tuple(targets), before)


def open_result(session: Session, output: Path | None, usual: Path) -> ResultFile:
    """The file that a session writes to: that of the campaign that it continues, or a new one.

    Every host is asked first, so that a campaign that cannot start leaves no file behind.

    Args:
        output: The name of a new file; None means `usual`, or the first free name beside it.

    Raises:
        UsageError: There is a file of this name already, or another process is writing it.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
    """
    check_reachable(session.plan, session.targets)
    if session.before is not None:
        return writer.reopen(session.before.path, session.before.size_bytes)
    file = writer.create(output) if output else writer.create_beside(usual)
    file.append(campaign_record(session.plan, session.targets))
    return file
