"""What was seen of a machine that was watched, in words: a line for each thing, with its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.doctor.table import DoctorFinding
from mpigauge.rows.machine.speeds import STEADY
from mpigauge.rows.machine.steadiness import SHARED_MOST, STOLEN_MOST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.rows.machine.watch import Watched

QUIET_SHARE = 0.01
"""Of the looks, disturbed: less is a quiet machine."""


def findings_of(seen: Watched, *, cores: int, alone: str) -> Iterator[DoctorFinding]:
    """All that was seen.

    Args:
        cores: Processors that we may run on.
        alone: Why no ranks could be launched; empty if they were.
    """
    yield _others(seen)
    yield from _stolen(seen)
    yield from _speed(seen)
    yield from _cores(seen)
    yield _distance(seen, cores=cores, alone=alone)


def _others(seen: Watched) -> DoctorFinding:
    if seen.disturbed_share is None or seen.lost_share is None:
        return DoctorFinding("note", "other work", "not known: this system does not count how long one waits")
    share, lost = units.format_percent(seen.disturbed_share), units.format_percent(seen.lost_share)
    value = f"{share} of {seen.looks} looks were disturbed, {lost} of the time was lost"
    if seen.disturbed_share <= QUIET_SHARE:
        return DoctorFinding("ok", "other work", value)
    return DoctorFinding(
        "note", "other work", value, "wait for what else runs here, or show results with --only quiet"
    )


def _stolen(seen: Watched) -> Iterator[DoctorFinding]:
    if seen.stolen_share is None:
        return
    value = f"{units.format_percent(seen.stolen_share)} of the time"
    if seen.stolen_share <= STOLEN_MOST:
        yield DoctorFinding("ok", "stolen", value)
    else:
        yield DoctorFinding(
            "note", "stolen", value, "the hypervisor gives it to others: measure at another hour"
        )


def _speed(seen: Watched) -> Iterator[DoctorFinding]:
    if seen.slowdown is None:
        return
    value = f"one of twenty looks took {units.format_factor(seen.slowdown)} times the least, or more"
    if seen.slowdown <= STEADY:
        yield DoctorFinding("ok", "speed", f"steady: {value}")
        return
    remedy = "frequencies change: fix them where you can"
    if seen.usual_share is not None:
        value = f"the usual one in {units.format_percent(seen.usual_share)} of the looks; {value}"
        remedy = f"{remedy}, or show results with --only quiet"
    yield DoctorFinding("note", "speed", value, remedy)


def _cores(seen: Watched) -> Iterator[DoctorFinding]:
    """Whether the other hardware threads of the cores did something, too."""
    if seen.shared_share is None:
        return
    if not _shares_cores(seen):
        yield DoctorFinding("ok", "cores", "whole: no other hardware thread used them")
        return
    times = f", which makes arithmetic {units.format_factor(seen.shared_slowdown or 1.0)} times as slow"
    value = f"shared with another hardware thread in {units.format_percent(seen.shared_share)} of the looks"
    remedy = "keep a core's other threads idle; in a virtual machine: show results with --only quiet, too"
    yield DoctorFinding("note", "cores", value + times, remedy)


def _shares_cores(seen: Watched) -> bool:
    return seen.shared_share is not None and seen.shared_share > SHARED_MOST


def _distance(seen: Watched, *, cores: int, alone: str) -> DoctorFinding:
    """How far apart cores were, and whether that has changed."""
    if seen.line_s is None:
        why = "with one core there is none" if cores == 1 else alone or "no two ranks were on one host"
        return DoctorFinding("note", "distance of cores", f"not known: {why}")
    if not seen.states:
        value = f"one state: a cache line takes {units.format_time(seen.line_s)} from core to core"
        return DoctorFinding("ok", "distance of cores", value)
    each = [
        f"{state.name} {units.format_time(state.handover_s)} ({units.format_percent(state.time_share)}, "
        f"{units.counted(state.episodes, 'time')})"
        for state in seen.states
    ]
    return DoctorFinding(
        "note",
        "distance of cores",
        f"it changes: a cache line takes {', '.join(each)}",
        "small messages change with it: mpigauge gives a number for each state",
    )


def summary(seen: Watched) -> str:
    """The whole in one line."""
    disturbed = seen.disturbed_share is not None and seen.disturbed_share > QUIET_SHARE
    words = ["busy" if disturbed or _shares_cores(seen) else "quiet"]
    words += [f"in {len(seen.states)} states"] if seen.states else []
    return f"watched for {seen.seconds:.0f} s: {', '.join(words)}"
