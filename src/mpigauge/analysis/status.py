"""What became of each cell: ok, or what kept it from that, and why."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from mpigauge.analysis.estimate import Estimate
from mpigauge.plan.model import Cell
from mpigauge.result.reader import Result
from mpigauge.result.records import Eager
from mpigauge.vocabulary import STATUS_OF_FAILURE, Status


def troubles_of(result: Result) -> dict[Cell, tuple[Status, str]]:
    """The worst that happened to each cell: its state and a sentence."""
    troubles: dict[Cell, tuple[Status, str]] = {}
    for done in result.done:
        for cell in done.skipped:
            troubles[cell] = ("skipped", "there was no time for it within the budget")
    for failure in result.failures:
        if failure.cell is not None:
            reason = f"{failure.kind} in launch {failure.launch}: {telling_line(failure.words)}"
            troubles[failure.cell] = (STATUS_OF_FAILURE[failure.kind], reason)
    for blocked in result.blocked:
        kind = (
            "the eager limit is" if blocked.found else "no eager limit; the largest that completed alone was"
        )
        troubles[blocked.cell] = ("blocked", f"would deadlock: {kind} {blocked.limit_bytes} B")
    return troubles


def status_of(
    result: Result, cell: Cell, time: Estimate | None, trouble: tuple[Status, str] | None
) -> tuple[Status, str, int | None]:
    """State, reason and eager limit.

    What was measured is ok, whatever failed in other launches, unless its payload was corrupt.
    """
    limits = [eager for eager in result.eager if eager.cell == cell]
    if limits:
        return _eager_status(limits)
    if trouble is not None and (time is None or trouble[0] == "corrupt"):
        return *trouble, None
    printed = next((one for one in result.imported if one.cell == cell), None)
    if printed is not None:
        return "ok", f"imported{f', {printed.statistic}' if printed.statistic else ''}", None
    if time is None:
        return "skipped", _why_nothing(result), None
    # A launch without time for it says nothing about what the others measured; a failure does.
    return "ok", trouble[1] if trouble is not None and trouble[0] != "skipped" else "", None


def _why_nothing(result: Result) -> str:
    launch_failures = [failure for failure in result.failures if failure.cell is None]
    if launch_failures and not result.visits:
        return f"the launch failed: {telling_line(launch_failures[-1].words)}"
    return "the campaign ended before it"


def _eager_status(limits: Sequence[Eager]) -> tuple[Status, str, int | None]:
    """The limit that most launches found, or None with what was seen instead."""
    if not all(eager.control_held for eager in limits):
        return "failed", "MPI_Issend completed without a receiver: the probe cannot be trusted here", None
    found = Counter(eager.limit_bytes for eager in limits if eager.found)
    if found.total() * 2 <= len(limits):
        largest = max(eager.longer_bytes for eager in limits)
        return "ok", f"none found: messages up to {largest} B complete alone if one waits", None
    limit, times = found.most_common(1)[0]
    others = sorted(
        {f"{eager.limit_bytes} B" if eager.found else "none" for eager in limits} - {f"{limit} B"}
    )
    reason = f"in {times} of {len(limits)} launches; others found {', '.join(others)}" if others else ""
    return "ok", reason, limit


KERNELS = "mpigauge-kernel: rank"
OURS = "mpigauge: "
"""How lines begin that our kernel has said, and those that we add."""

CAUSE = re.compile("error(?! checking)|fatal|signal", re.IGNORECASE)
"""MPICH's report of itself has a line about its error checking."""

OF_LAUNCHER = re.compile(r"\[(proxy|mpiexec|prterun)\b")
"""How lines of a launcher about itself begin; what they say follows from the death of a rank."""

DEATH = re.compile(r"process rank \d+ .*on node|RUNNING AT|^Remote host:")
"""Open MPI and Hydra on a rank that died, Open MPI on a host; the line after it says of what."""


def telling_line(words: str) -> str:
    """Of a job's last words, what most likely says why, and on which host a rank died.

    That is what our kernel or we say, else the first error and the death, else the last line with letters.
    """
    lines = [line.strip(" =") for line in words.splitlines() if re.search("[A-Za-z]{3}", line)]
    if ours := next((line for line in lines if KERNELS in line or line.startswith(OURS)), ""):
        return ours.removeprefix(OURS)
    causes = [line for line in lines if CAUSE.search(line)]
    cause = next((line for line in causes if not OF_LAUNCHER.match(line)), "")
    death = _death(lines)
    if death and cause not in death:
        return f"{cause}; {death}"
    return death or cause or next(iter(causes or lines[-1:]), "the job said nothing")


def _death(lines: Sequence[str]) -> str:
    for line, after in pairwise([*lines, ""]):
        if DEATH.search(line):
            return " ".join(f"{line} {after}".split())
    return ""
