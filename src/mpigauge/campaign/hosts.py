"""Hosts: which there are, whether they can be reached, and whether ranks landed where they were sent."""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from mpigauge.campaign.targets import Target
from mpigauge.errors import EnvironmentLacksError, UsageError, choose_from
from mpigauge.launch.lab import context
from mpigauge.launch.launchers import LAUNCHERS
from mpigauge.launch.preflight import faults
from mpigauge.launch.slurm import allocation
from mpigauge.plan.hosts import Host, ranks_of
from mpigauge.plan.model import Plan
from mpigauge.result import environment
from mpigauge.vocabulary import AUTO

HOSTS_NAMED = 16


def with_hosts(plan: Plan) -> Plan:
    """The plan with the hosts of the lab or the allocation that we are in, unless it names some.

    Raises:
        UsageError: It names a launcher that there is not.
        EnvironmentLacksError: It names one that does not work here.
    """
    if plan.launcher not in (AUTO, *LAUNCHERS):
        raise UsageError(
            f"no launcher is called {plan.launcher!r}", choose_from([AUTO, *LAUNCHERS], plan.launcher)
        )
    if plan.launcher == "srun" and allocation(os.environ) is None:
        raise EnvironmentLacksError(
            "srun needs a Slurm allocation, and there is none here",
            "get one with salloc, write a job script with mpigauge sbatch, or leave --launcher out",
        )
    return plan if plan.hosts else replace(plan, hosts=tuple(_hosts_here()))


def _hosts_here() -> Iterator[Host]:
    """A host of a lab has all our cores, since it shares them with the others."""
    if (lab := context.current()) is not None:
        yield from (Host(name, environment.cores_allowed()) for name in lab.names)
    elif (given := allocation(os.environ)) is not None:
        yield from (Host(node.name, node.tasks or node.cpus) for node in given.nodes)


def with_hosts_again(plan: Plan) -> Plan:
    """The plan of a campaign that goes on, in another allocation with the hosts of that one.

    Raises:
        EnvironmentLacksError: It places ranks on hosts by name, and they are not in this allocation.
    """
    here = allocation(os.environ)
    if here is None or not plan.hosts or {host.name for host in plan.hosts} <= {n.name for n in here.nodes}:
        return plan
    if any(ranks_of(placement) is not None for placement in plan.placements):
        names = ",".join(host.name for host in plan.hosts)
        raise EnvironmentLacksError(
            f"the result places ranks on hosts by name, but job {here.job} does not have all of {names}",
            f"ask Slurm for them: sbatch --nodelist={names}",
        )
    return with_hosts(replace(plan, hosts=()))


def check_reachable(plan: Plan, targets: Sequence[Target]) -> None:
    """Asks every host of the plan for the kernels, so that a name with a typing error costs no campaign.

    Raises:
        EnvironmentLacksError: Names a host that does not answer, or that lacks the kernel.
    """
    if fault := fault_of([host.name for host in plan.hosts], plan, targets):
        raise EnvironmentLacksError(fault, "check the name, and that passwordless login works")


def fault_of(hosts: Sequence[str], plan: Plan, targets: Sequence[Target]) -> str:
    """What is wrong with the first of these hosts that does not answer or lacks a kernel; empty if none is.

    Slurm knows its own hosts, and another launcher's shell may understand nothing but that launcher.
    """
    if allocation(os.environ) is not None:
        return ""
    programs = [target.program for target in targets]
    found = faults(sorted(set(hosts)), plan.remote_shell or "ssh", programs)
    for host, fault in found.items():
        others = ", ".join([other for other in found if other != host][:HOSTS_NAMED])
        return f"host {host}: {fault}" + (f" (also wrong: {others})" if others else "")
    return ""


def check_landed(asked: Sequence[str], found: Sequence[str]) -> None:
    """Holds where ranks were sent against where they say they are.

    A host may call itself otherwise than we do; but ranks sent to one host must be on one, those sent
    to two on two, and none on a host that was meant for another.

    Args:
        asked: The host of each rank; empty if all are to be on this machine.
        found: What each rank says.

    Raises:
        EnvironmentLacksError: Names the first rank that is elsewhere.
    """
    asked = [short(host) for host in asked] or ["this machine"] * len(found)
    place_of: dict[str, str] = {}
    meant_for: dict[str, str] = {}
    for rank, (meant, said) in enumerate(zip(asked, map(short, found), strict=True)):
        owner = meant_for.setdefault(said, meant)
        elsewhere = said != meant and said in asked
        if elsewhere or owner != meant or place_of.setdefault(meant, said) != said:
            others = f", like ranks meant for {owner}" if owner not in (meant, said) else ""
            raise EnvironmentLacksError(
                f"rank {rank} should be on {meant}, but is on {said}{others}",
                "does the launcher know these hosts? mpigauge run --dry-run shows its command",
            )


def short(host: str) -> str:
    """The first part of a name; an address is left whole."""
    return host if host.replace(".", "").isdigit() else host.partition(".")[0].lower()
