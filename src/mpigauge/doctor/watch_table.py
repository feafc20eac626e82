"""Findings of a machine that was watched for a while, as a document: one table, and a summary line."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.doctor.table import DoctorFinding, columns_of, lines_of
from mpigauge.document.document import Document, Line, Table
from mpigauge.document.state_words import distances
from mpigauge.rows.machine.speeds import STEADY
from mpigauge.rows.machine.steadiness import MAX_SHARED, MAX_STOLEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.rows.machine.watch import Watched


QUIET_SHARE = 0.01
"""Share of disturbed readings below which a machine is quiet."""


def watch_findings(watched: Watched, *, cores: int, no_ranks: str) -> Iterator[DoctorFinding]:
    """Return all findings of a watch.

    Args:
        cores: Number of processors that we may run on.
        no_ranks: Why no ranks could be launched; empty if they were.
    """
    yield _others(watched)
    yield from _stolen(watched)
    yield from _speed(watched)
    yield from _cores(watched)
    yield _distance(watched, cores=cores, no_ranks=no_ranks)


def _others(watched: Watched) -> DoctorFinding:
    if watched.disturbed_share is None or watched.lost_share is None:
        return DoctorFinding("note", "other work", "not known: this system does not count how long one waits")
    share, lost = units.format_percent(watched.disturbed_share), units.format_percent(watched.lost_share)
    value = f"{share} of {watched.looks} looks were disturbed, {lost} of the time was lost"
    if watched.disturbed_share <= QUIET_SHARE:
        return DoctorFinding("ok", "other work", value)
    return DoctorFinding(
        "note", "other work", value, "wait for what else runs here, or show results with --only quiet"
    )


def _stolen(watched: Watched) -> Iterator[DoctorFinding]:
    if watched.stolen_share is None:
        return
    value = f"{units.format_percent(watched.stolen_share)} of the time"
    if watched.stolen_share <= MAX_STOLEN:
        yield DoctorFinding("ok", "stolen", value)
    else:
        yield DoctorFinding(
            "note", "stolen", value, "the hypervisor gives it to others: measure at another hour"
        )


def _speed(watched: Watched) -> Iterator[DoctorFinding]:
    if watched.slowdown is None:
        return
    value = f"one of twenty looks took {units.format_factor(watched.slowdown)} times the least, or more"
    if watched.slowdown <= STEADY:
        yield DoctorFinding("ok", "speed", f"steady: {value}")
        return
    remedy = "frequencies change: fix them where you can"
    if watched.usual_share is not None:
        value = f"the usual one in {units.format_percent(watched.usual_share)} of the looks; {value}"
        remedy = f"{remedy}, or show results with --only quiet"
    yield DoctorFinding("note", "speed", value, remedy)


def _cores(watched: Watched) -> Iterator[DoctorFinding]:
    """Return whether the other hardware threads of the cores were busy, too."""
    if watched.shared_share is None:
        return
    if not _shares_cores(watched):
        yield DoctorFinding("ok", "cores", "whole: no other hardware thread used them")
        return
    times = f", which makes arithmetic {units.format_factor(watched.shared_slowdown or 1.0)} times as slow"
    value = (
        f"shared with another hardware thread in {units.format_percent(watched.shared_share)} of the looks"
    )
    remedy = "keep a core's other threads idle; in a virtual machine: show results with --only quiet, too"
    yield DoctorFinding("note", "cores", value + times, remedy)


def _shares_cores(watched: Watched) -> bool:
    return watched.shared_share is not None and watched.shared_share > MAX_SHARED


def _distance(watched: Watched, *, cores: int, no_ranks: str) -> DoctorFinding:
    """Return how far apart cores were, and whether that has changed."""
    if watched.line_s is None:
        why = "with one core there is none" if cores == 1 else no_ranks or "no two ranks were on one host"
        return DoctorFinding("note", "distance of cores", f"not known: {why}")
    if not watched.states:
        value = f"one state: a cache line takes {units.format_time(watched.line_s)} from core to core"
        return DoctorFinding("ok", "distance of cores", value)
    return DoctorFinding(
        "note",
        "distance of cores",
        f"it changes: a cache line takes {', '.join(distances(watched.states))}",
        "small messages change with it: mpigauge gives a number for each state",
    )


def summary(watched: Watched) -> str:
    """Return the whole in one line."""
    disturbed = watched.disturbed_share is not None and watched.disturbed_share > QUIET_SHARE
    words = ["busy" if disturbed or _shares_cores(watched) else "quiet"]
    words += [f"in {len(watched.states)} states"] if watched.states else []
    return f"watched for {watched.seconds:.0f} s: {', '.join(words)}"


def document(watched: Watched, *, cores: int, no_ranks: str) -> Document:
    """Return all findings of a watch as a document for people and programs.

    Args:
        cores: Number of processors that we may run on.
        no_ranks: Why no ranks could be launched; empty if they were.
    """
    findings = [*watch_findings(watched, cores=cores, no_ranks=no_ranks)]
    quiet = all(finding.state == "ok" for finding in findings)
    return Document(
        tables=[Table("this machine now", "", [*lines_of(findings)], columns_of(findings))],
        foot=[Line(summary(watched), "good" if quiet else "doubt")],
        data=lambda: {"findings": [*map(asdict, findings)], "watched": asdict(watched), "alone": no_ranks},
        records=lambda: map(asdict, findings),
    )
