"""The hosts of a campaign: which there are, and whether they can be reached and have the kernel."""

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from mpigauge.campaign.allocations import allocation, manager, named
from mpigauge.campaign.lab import context
from mpigauge.campaign.launch import custom_launcher
from mpigauge.campaign.launch.copy_kernel import copy_by_srun
from mpigauge.campaign.launch.inherited_env import check_not_a_rank
from mpigauge.campaign.launch.launchers import LAUNCHERS, can_place_in_turn, manager_of
from mpigauge.campaign.launch.preflight import faults, is_here
from mpigauge.campaign.targets import Target
from mpigauge.errors import EnvironmentLacksError, UsageError, choose_from
from mpigauge.plan.hosts import Host, placement_of, places_of, ranks_of, short
from mpigauge.plan.idle_nodes import idle_nodes_sentence
from mpigauge.plan.model import Plan
from mpigauge.plan.patterns import known
from mpigauge.result import environment
from mpigauge.vocabulary import AUTO

HOSTS_NAMED = 16

JOB_END_MARGIN_S = 30.0
"""Time reserved at the end of a scheduler's job, in which ranks end and the file is closed."""


def with_hosts(plan: Plan) -> Plan:
    """Return the plan with the hosts of the lab or allocation that we are in, unless it names hosts.

    Raises:
        UsageError: The launcher does not exist, or a launcher has started several of us.
        EnvironmentLacksError: The launcher does not work here, or no host answers.
    """
    check_not_a_rank(os.environ)
    _check_launcher(plan)
    names_hosts = bool(plan.hosts)
    plan = plan if names_hosts else _with_reaching_launcher(replace(plan, hosts=tuple(_available_hosts())))
    if custom_launcher.is_template(plan.launcher):
        custom_launcher.check_template(plan.launcher, hosts=bool(plan.hosts))
    plan = _without_dead(plan) if plan.skip_dead else plan
    return replace(plan if names_hosts else _with_all_ranks(plan), all_ranks=False)


def _with_reaching_launcher(plan: Plan) -> Plan:
    """Return the plan with the scheduler's own launcher where nothing else reaches the hosts of a job."""
    scheduler = manager(os.environ)
    chosen = plan.launcher != AUTO or plan.mpiexec or plan.mpi_options or plan.remote_shell
    if chosen or context.current() is not None or scheduler is None or scheduler.mpiexec_reaches:
        return plan
    return replace(plan, launcher=scheduler.name)


def _with_all_ranks(plan: Plan) -> Plan:
    """Return the plan with collectives over all ranks where an allocation has several hosts.

    Patterns of two ranks keep two, on the first two hosts.
    """
    ranks = sum(host.slots for host in plan.hosts)
    is_one_machine = context.current() is not None or len(plan.hosts) < 2  # noqa: PLR2004 - several
    if is_one_machine or not plan.all_ranks or plan.placements:
        return plan
    if not can_place_in_turn(plan.launcher) and ranks > len(plan.hosts):
        return plan
    measure = (
        replace(one, ranks=(ranks,)) if not one.ranks and _is_of_all_ranks(one.pattern) else one
        for one in plan.measure
    )
    return replace(plan, measure=tuple(measure))


def _is_of_all_ranks(name: str) -> bool:
    pattern = known().get(name)
    return pattern is not None and pattern.talks and not pattern.active_ranks


def _check_launcher(plan: Plan) -> None:
    name = plan.launcher
    if name not in (AUTO, *LAUNCHERS) and not custom_launcher.is_template(name):
        hint = choose_from([AUTO, *LAUNCHERS], name)
        raise UsageError(
            f"no launcher is called {name!r}", f'{hint}; or write its words: "{name} -n {{ranks}}"'
        )
    check_works_here(name)


def check_works_here(launcher: str) -> None:
    """Check that a launcher can start jobs here.

    Raises:
        EnvironmentLacksError: The launcher needs an allocation of its scheduler, and there is none.
    """
    needed, scheduler_here = manager_of(launcher), manager(os.environ)
    if needed and (scheduler_here is None or scheduler_here.name != needed):
        scheduler = named(needed)
        raise EnvironmentLacksError(
            f"{launcher} needs a {scheduler.title} allocation, and there is none here",
            f"get one with {scheduler.start_hint}, or use another --launcher",
        )


def _available_hosts() -> Iterator[Host]:
    """Yield the hosts of our lab or allocation; a lab's hosts share our cores, so each has all of them."""
    if (lab := context.current()) is not None:
        yield from (Host(name, environment.cores_allowed()) for name in lab.names)
    elif (found := allocation(os.environ)) is not None:
        yield from (Host(node.name, node.tasks or node.cpus) for node in found.nodes)


def allowed_s() -> float:
    """Return how long a session that begins now may last, in seconds; infinite without a limit of the job."""
    our_job = allocation(os.environ)
    return (
        math.inf if our_job is None or our_job.ends is None else our_job.ends - time.time() - JOB_END_MARGIN_S
    )


def idle_hosts_sentence(plan: Plan) -> str:
    """Return a warning where most nodes of our job are idle; "" elsewhere, and where hosts were chosen."""
    our_job = None if context.current() is not None else allocation(os.environ)
    if our_job is None or {host.name for host in plan.hosts} != our_job.names:
        return ""
    return idle_nodes_sentence(plan, len(plan.hosts))


def with_current_hosts(plan: Plan) -> Plan:
    """Return the plan of a resumed campaign, in another allocation with the hosts of that one.

    Raises:
        UsageError: The launcher does not exist, or a launcher has started several of us.
        EnvironmentLacksError: The plan places ranks on hosts by name that are not in this allocation, or the
            launcher does not work here.
    """
    check_not_a_rank(os.environ)
    _check_launcher(plan)
    our_job = allocation(os.environ)
    if our_job is None or not plan.hosts or {host.name for host in plan.hosts} <= our_job.names:
        return plan
    if _named_hosts(plan):
        names = ",".join(host.name for host in plan.hosts)
        raise EnvironmentLacksError(
            f"the result places ranks on hosts by name, but job {our_job.job} does not have all of {names}",
            f"ask the scheduler for them; Slurm: sbatch --nodelist={names}",
        )
    return with_hosts(replace(plan, hosts=()))


# ---- Are they there? -----------------------------------------------------------------------------


def check_reachable(plan: Plan, targets: Sequence[Target]) -> None:
    """Ask all hosts of the ranks for the kernels, so that a mistyped name shows before anything is measured.

    The kernels are copied to hosts that lack them because no folder is shared.

    Raises:
        EnvironmentLacksError: A host does not answer, or the kernel cannot be copied to it; names the host.
    """
    jobs = {cell.job for target in targets for cell in target.cells}
    hosts_of_jobs = (places_of(job.placement, plan.hosts, job.ranks, "the plan") for job in jobs)
    programs = list(dict.fromkeys(target.program for target in targets))
    faults_by_host = _faults(
        {host for of_job in hosts_of_jobs for host in of_job}, plan, programs, supplied=True
    )
    if fault := _fault_sentence(faults_by_host):
        raise EnvironmentLacksError(
            fault,
            "check the name, and that passwordless login works; --skip-dead leaves out hosts that do not "
            "answer, --check-hosts no asks none",
        )


def first_fault(hosts: Iterable[str], plan: Plan, targets: Sequence[Target]) -> str:
    """Return what is wrong with the first host that does not answer or lacks a kernel; "" if none."""
    return _fault_sentence(_faults(hosts, plan, [target.program for target in targets]))


def _fault_sentence(faults_by_host: Mapping[str, str]) -> str:
    for host, fault in faults_by_host.items():
        others = ", ".join([other for other in faults_by_host if other != host][:HOSTS_NAMED])
        return f"host {host}: {fault}" + (f" (also wrong: {others})" if others else "")
    return ""


def _faults(
    hosts: Iterable[str], plan: Plan, programs: Sequence[Path], *, supplied: bool = False
) -> dict[str, str]:
    """Return what is wrong with hosts, by name.

    A scheduler's own hosts are not asked by default, since ssh may not reach them.

    Args:
        supplied: Whether to copy programs to hosts that lack them.
    """
    if plan.check_hosts == "no":
        return {}
    our_job = allocation(os.environ)
    our_nodes = {short(name): name for name in our_job.names} if our_job is not None else {}
    others = [host for host in sorted(set(hosts)) if short(host) not in our_nodes]
    by_manager = our_job is not None and bool(manager_of(plan.launcher))
    if our_job is not None and by_manager and others:
        return dict.fromkeys(others, f"is none of job {our_job.job}, and {plan.launcher} reaches no others")
    ask_all = not by_manager and (plan.check_hosts != AUTO or not _mpiexec_reaches())
    asked = sorted(set(hosts)) if ask_all else others
    found = faults(asked, plan.remote_shell or "ssh", programs, supplied=supplied)
    if supplied and not ask_all:
        nodes = [our_nodes[short(host)] for host in sorted(set(hosts)) if short(host) in our_nodes]
        found |= _copy_by_scheduler(nodes, programs)
    return found


def _copy_by_scheduler(nodes: Sequence[str], programs: Sequence[Path]) -> dict[str, str]:
    """Copy kernels to nodes of our job if its scheduler can; return what is wrong with nodes, by name."""
    scheduler = manager(os.environ)
    if scheduler is None or scheduler.name != "slurm":
        return {}
    return copy_by_srun([node for node in nodes if not is_here(node)], programs)


def _mpiexec_reaches() -> bool:
    scheduler = manager(os.environ)
    return scheduler is not None and scheduler.mpiexec_reaches


def _without_dead(plan: Plan) -> Plan:
    """Return the plan without hosts that do not answer, except those that a placement names.

    Raises:
        UsageError: A placement names what is not among the hosts.
        EnvironmentLacksError: No host is left.
    """
    if plan.check_hosts == "no":
        raise UsageError("--skip-dead and --check-hosts no exclude each other", "leave one of them out")
    # Numbers of hosts would change when an earlier host is removed: use names.
    placements = tuple(placement_of(text, plan.hosts, "--placement") for text in plan.placements)
    plan = replace(plan, placements=placements)
    named = _named_hosts(plan)
    dead = _faults([host.name for host in plan.hosts if host.name not in named], plan, ())
    remaining = tuple(host for host in plan.hosts if host.name not in dead)
    if dead and not remaining:
        name, fault = next(iter(dead.items()))
        raise EnvironmentLacksError(f"host {name}: {fault}; no other host answers either", "check the names")
    return replace(plan, hosts=remaining, hosts_skipped=(*plan.hosts_skipped, *dead))


def _named_hosts(plan: Plan) -> set[str]:
    """Return the hosts that placements name."""
    lists = [placement for placement in plan.placements if ranks_of(placement) is not None]
    return {name.strip() for placement in lists for name in placement.split(",")}
