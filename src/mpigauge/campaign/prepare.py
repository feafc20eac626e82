"""Preparing a campaign before its first launch: plan, libraries, kernels, cells and result file."""

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from mpigauge import units
from mpigauge.campaign import resume_check, trusted_results
from mpigauge.campaign.control import check_compares, with_control_arm
from mpigauge.campaign.hosts import check_reachable, with_current_hosts, with_hosts
from mpigauge.campaign.jobs import check_startable
from mpigauge.campaign.lab import context
from mpigauge.campaign.launch.job import check_temporary_folder
from mpigauge.campaign.targets import Target, campaign_record, targets_of, targets_of_campaign
from mpigauge.dependencies import check_system
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.mpi.environments import arguments_of, names_environment
from mpigauge.mpi.kernel import Waited
from mpigauge.plan.lab import Lab
from mpigauge.plan.model import Plan, by_job
from mpigauge.result import environment, writer
from mpigauge.result.home_paths import expanded, shortened
from mpigauge.result.reader import Result
from mpigauge.result.records import Campaign, Resumed
from mpigauge.result.writer import ResultFile, is_utf8

MAX_JOBS_BUDGETED = 8
"""The default budget is per job; more jobs than these share the budget of these."""


@dataclass(frozen=True, slots=True)
class PreparedCampaign:
    """The complete input of a session.

    Attributes:
        plan: The plan, with the lab and the hosts that it runs on.
        targets: Libraries with their kernels, and the cells that each of them measures.
        before: The result of earlier sessions that this one continues; None for a new campaign.
        resumed: Record of what differs from the earlier session; None if nothing does.
        time_of_jobs: How the default budget grows with the jobs, in words; "" for one job, or the user's own.
    """

    plan: Plan
    targets: tuple[Target, ...]
    before: Result | None = None
    resumed: Resumed | None = None
    time_of_jobs: str = ""


def lab_to_enter(plan: Plan, where: str) -> Lab | None:
    """Return the lab to start before a plan can be prepared; None if we are where it is to run.

    Raises:
        UsageError: We are in another lab than the plan's.
    """
    current_lab = context.current()
    if current_lab is None:
        return plan.lab
    if plan.lab not in (None, current_lab.table):
        raise UsageError(
            f"{where}: asks for a lab other than this one", "leave this lab: the plan makes its own"
        )
    return None


def with_lab_and_hosts(plan: Plan) -> Plan:
    """Return the plan with the lab and the hosts that we are on, unless it names hosts itself.

    Raises:
        UsageError: The launcher does not exist.
        EnvironmentLacksError: The launcher does not work here.
    """
    current_lab = context.current()
    return with_hosts(plan if current_lab is None else replace(plan, lab=current_lab.table))


def prepare(
    plan: Plan, where: str, *, per_job: bool = False, waited: Waited = nullcontext
) -> PreparedCampaign:
    """Prepare a new campaign; nothing is launched or written yet.

    Args:
        where: What an error names: the plan file, or "the command line".
        per_job: Whether the plan's budget is per job, so that several jobs have several times as much, up
            to eight times.
        waited: Is entered while a kernel is compiled.

    Raises:
        UsageError: The plan asks for something impossible.
        EnvironmentLacksError: This system is not Linux, a library or a launcher is missing or does not work,
            or temporary files cannot be written.
    """
    check_system()
    plan = _with_home(plan)
    check_recordable(plan, where)
    check_temporary_folder("a job")  # compilers need one, too, with a worse message
    plan = with_lab_and_hosts(plan)
    targets = targets_of(plan, where, waited=waited)
    check_compares(plan, targets, where)
    plan, targets = with_control_arm(plan, targets, where)
    check_startable(plan, targets)
    of_one = plan.budget_s if per_job else None
    if of_one is None:
        return PreparedCampaign(plan, tuple(targets))
    jobs = sum(len(by_job(target.cells)) for target in targets)
    whole = replace(plan, budget_s=of_one * max(1, min(jobs, MAX_JOBS_BUDGETED)))
    return PreparedCampaign(
        whole, tuple(targets), time_of_jobs=_budget_of_jobs(jobs, of_one, whole.budget_s or of_one)
    )


def _budget_of_jobs(jobs: int, of_one_s: float, whole_s: float) -> str:
    """Return how much time several jobs have, in words; "" for one job."""
    if jobs == 1:
        return ""
    each = f"{units.format_duration(of_one_s)} per job"
    most = "" if jobs <= MAX_JOBS_BUDGETED else f", of at most {MAX_JOBS_BUDGETED}"
    return f"{jobs} jobs, {each}{most}: at most {units.format_duration(whole_s)}"


def check_recordable(plan: Plan, where: str) -> None:
    """Refuse a plan that a result could not hold as it is, or that would publish a secret.

    Varied values are part of every table, and a resumed campaign uses the words that its result has.

    Raises:
        UsageError: A varied value or an argument of a script may be a secret, or a word is not UTF-8.
    """
    for word in (*plan.variables, *plan.variables.values(), *plan.mpi_options):
        if not is_utf8(word):
            raise UsageError(
                f"{where}: {word!r} is not UTF-8, as all is that a result holds",
                "write it in UTF-8, or set variables by the environment of mpigauge: export NAME=VALUE",
            )
    for name, values in plan.vary.items():
        if any(environment.without_secrets({name: value})[name] == environment.HIDDEN for value in values):
            raise UsageError(
                f"{where}: {name} may be a secret, and values that are varied stand in the result",
                f"set it for all launches, which records no value of it: --env {name}=VALUE",
            )

    for name in filter(names_environment, plan.mpi):
        words = arguments_of(name)
        if environment.words_without_secrets(words) != words:
            raise UsageError(
                f"{where}: a word of {name.partition(':')[0]}: may be a secret, and stands in the result",
                "let the script read it from a file or a variable",
            )


def prepare_resumed(before: Result, where: str, *, anyway: bool = False) -> PreparedCampaign:
    """Prepare to resume a campaign: the same libraries at their paths, and the current hosts.

    Args:
        anyway: Whether to go on although its numbers are then from two machines, kernels or programs.

    Raises:
        UsageError: We are in a lab, and the campaign was not.
        EnvironmentLacksError: This system is not Linux; a library is gone or has changed; hosts are missing;
            or the machine, the kernel or this program is another one.
    """
    check_system()
    check_temporary_folder("a job")
    plan = with_hidden_variables(_with_home(before.campaign.plan), where)
    if context.current() is not None and plan.lab is None:
        raise UsageError(f"{where}: was not started in a lab", "leave the lab to continue it")
    targets = tuple(targets_of_campaign(before.campaign))
    plan = with_current_hosts(plan)
    check_startable(plan, targets)
    return PreparedCampaign(
        plan, targets, before, resume_check.resume_record(before, plan, targets, anyway=anyway)
    )


def _with_home(plan: Plan) -> Plan:
    """Return the plan with the home for ~, as it is given to programs.

    A result has ~ for the home, so a ~ that was typed has to mean it from the beginning. Values that are
    varied keep it: they stand in cells, which have one name in every session.
    """
    variables = environment.with_home(plan.variables)
    return replace(expanded(plan), variables=variables, vary=shortened(plan.vary))


def with_hidden_variables(plan: Plan, where: str) -> Plan:
    """Return the plan with the variables that results hide, as our own environment has them.

    Raises:
        EnvironmentLacksError: Our environment lacks one.
    """
    if any(environment.HIDDEN in word for word in (plan.launcher, plan.remote_shell, *plan.mpi_options)):
        raise EnvironmentLacksError(
            f"{where}: was started with words of a launcher that are not recorded, since they may be secrets",
            "start a new result with them: mpigauge run",
        )
    hidden = [name for name, value in plan.variables.items() if value == environment.HIDDEN]
    for name in hidden:
        # A stranger may ask for any: what nobody takes for a secret would be in the result.
        if name not in os.environ or not environment.may_be_secret(name, os.environ[name]):
            raise EnvironmentLacksError(
                f"{where}: was started with --env {name}, which is not recorded, since it may be a secret",
                f"set it as it was: export {name}=...",
            )
    return replace(plan, variables=plan.variables | {name: os.environ[name] for name in hidden})


def open_result(
    session: PreparedCampaign, output: Path | None, default: Path, *, kept: bool = True
) -> ResultFile:
    """Open the file that a session writes to: that of the campaign that it continues, or a new one.

    All hosts are checked first, so that a campaign that cannot start leaves no file behind.

    Args:
        output: The name of a new file; None means `default`, or the first free name like it.
        kept: Whether the file is to outlive this process.

    Raises:
        UsageError: The file exists already, another process is writing it, or it would be lost with its lab.
        EnvironmentLacksError: A host cannot be reached, or the file cannot be written.
    """
    if kept and context.current() is not None:
        check_outlives_lab(session.before.path if session.before else output or default)
    check_reachable(session.plan, session.targets)
    if session.before is not None:
        before = session.before
        file = writer.reopen(before.path, before.size_bytes, [*before.damaged, *before.obsolete])
        if session.resumed is not None:
            file.append(session.resumed)
        return file
    campaign = campaign_record(session.plan, session.targets)
    check_readable(campaign)
    file = writer.create(output) if output else writer.create_numbered(default)
    file.append(campaign)
    trusted_results.remember(campaign)
    return file


def check_readable(campaign: Campaign) -> None:
    """Refuse a campaign whose record nobody could read again, before anything is measured.

    Raises:
        UsageError: A word of it is longer than words of results are; says which.
    """
    try:
        msgspec.json.decode(writer.line_of(campaign), type=Campaign)
    except msgspec.ValidationError as error:
        raise UsageError(f"no result can hold this campaign: {error}", "shorten that word") from None


def check_outlives_lab(path: Path) -> None:
    """Refuse a path whose file would be lost with the lab.

    Raises:
        UsageError: The path is in the shared memory of an emulated host.
    """
    if context.is_of_one_host(path):
        raise UsageError(
            f"{path}: would be lost: a host of a lab has a {context.SHARED_MEMORY} of its own, which is gone "
            "with the lab",
            "choose another folder",
        )
