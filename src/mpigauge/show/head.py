"""Head of every table: who measured what, where and how (docs/method.md#what-is-recorded)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.core_words import cores_of
from mpigauge.document.document import DOT
from mpigauge.document.origin_words import names_replaced
from mpigauge.document.state_words import left_out_line
from mpigauge.rows.machine.machines import is_elsewhere, measured_machine
from mpigauge.rows.machine.sessions import sessions_of, spread_s
from mpigauge.rows.synchrony import clock_states

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.lab import Lab
    from mpigauge.result.reader import Result
    from mpigauge.rows.synchrony import ClockState


def head_of(result: Result) -> list[str]:
    """Return the lines above every table (docs/method.md#what-is-recorded)."""
    campaign = result.campaign
    machine = measured_machine(result)
    title = campaign.plan.title or "mpigauge"
    processor = ", ".join(filter(None, [machine.cpu, cores_of(machine)]))
    replaced = names_replaced(result)
    lines = [DOT.join(filter(None, [title, machine.host, processor, campaign.started, replaced]))]
    if is_elsewhere(result):
        lines.append(f"started from {campaign.environment.host}, where no rank ran")
    if campaign.plan.hosts:
        lines.append(f"hosts: {', '.join(f'{host.name} ({host.slots})' for host in campaign.plan.hosts)}")
    if campaign.plan.lab is not None:
        lines.append(f"emulated hosts, all on this machine: {'; '.join(lab_words(campaign.plan.lab))}")
    if result.launches:
        firsts = {launch.job: launch for launch in reversed(result.launches)}.values()
        cost_ns = max((rank.clock_cost_ns for launch in firsts for rank in launch.ranks_at), default=None)
        numbers = len({launch.number for launch in result.launches})
        order = f"{numbers} launches{_when(result)}, random order, seed {campaign.plan.seed}"
        clock = " and ".join(dict.fromkeys(launch.clock for launch in result.launches))
        clock += "" if cost_ns is None else f", {cost_ns} ns per clock read"
        lines.append(DOT.join([order, clock, "95 % intervals across launches"]))
    lines += _common_kernel(result)
    # A single rank has no other clock to agree with.
    if clocks := [clock for clock in result.clocks if clock.job.ranks > 1]:
        lines.append(_clocks(clock_states(clocks).values()))
    return [*lines, *left_out_line(result)]


def _when(result: Result) -> str:
    """Return the period over which launches were spread, and the number of sessions."""
    over_s = spread_s(result.launches, result.done)
    sessions = len(sessions_of(result.launches))
    several = f", in {sessions} sessions" if sessions > 1 else ""
    return f" over {units.format_duration(over_s)}{several}" if over_s >= 1 else ""


def lab_words(lab: Lab) -> Iterable[str]:
    """Return the network of a lab, and the hosts and links that differ."""
    yield f"rate {lab.rate}, delay {lab.delay}"
    different = [(link.between, link.rate, link.delay) for link in lab.links]
    different += [(port.host, port.rate, port.delay) for port in lab.ports]
    for name, rate, delay in different:
        values = [f"rate {rate}" if rate else "", f"delay {delay}" if delay else ""]
        yield f"{name} {', '.join(filter(None, values))}"


def _common_kernel(result: Result) -> Iterable[str]:
    """Return who built the kernel, if all libraries ran the same one."""
    for built_by in sorted({launch.built_by for launch in result.launches} - {""}):
        yield f"one kernel for all libraries, built by {built_by} for the ABI of MPI 5 (libmpi_abi.so.1)"


def _clocks(states: Iterable[ClockState]) -> str:
    """Return how well the ranks' clocks agreed in the worst job."""
    worst = max(states, key=lambda state: (not state.shared, state.bound_s))
    bound = units.format_time(worst.bound_s)
    if worst.shared:
        return f"collectives: one shared clock, verified to {bound}"
    error = units.format_time(worst.error_s)
    return f"collectives: clocks of the hosts synchronised, off by up to {error}, certainly below {bound}"
