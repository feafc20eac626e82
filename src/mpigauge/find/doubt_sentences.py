"""Doubts about a whole result, each in one short line; what to do stands below the full tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.lateness_words import consequence, is_useless
from mpigauge.find.damage import damage_lines
from mpigauge.find.disturbance_sentences import disturbance_line
from mpigauge.find.imported import unread_line
from mpigauge.find.steadiness_sentences import steadiness_words
from mpigauge.find.warning_sentences import ON_ONE_CORE, WORDS, beyond_launches, ranks_of, short
from mpigauge.plan.left_out import left_out_line
from mpigauge.units import format_relative, format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mpigauge.find.doubts import Doubt
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import WarningKind


def doubt_line(doubt: Doubt) -> str:
    """The one line of a doubt: what is the matter, a colon, and where."""
    if doubt.fact is not None:
        return disturbance_line(doubt.fact)
    return SENTENCES.get(doubt.kind, _warned)(doubt)


def _warned(doubt: Doubt) -> str:
    what = short(doubt.kind) if doubt.kind in WORDS else doubt.kind
    return f"{what}: {len(doubt.rows)} of {doubt.of} numbers, as {_cell(doubt.rows[0])}"


def _wide(doubt: Doubt) -> str:
    worst = doubt.rows[0]
    width = format_relative(worst.time.half_width if worst.time else None)
    beyond = f"wider than {format_relative(doubt.precision)}: {len(doubt.rows)} of {doubt.of} numbers"
    by_machine = [row.time for row in doubt.rows if row.time and _launches_agree(row.time, doubt.precision)]
    if not by_machine:
        return f"{beyond}, worst {width} at {_cell(worst)}"
    cause = beyond_launches(max(time.machine_half_width or 0.0 for time in by_machine))
    return f"{beyond}, worst {width}; {len(by_machine)} by {cause}"


def _launches_agree(time: Timing, precision: float) -> bool:
    return time.launches_half_width is not None and time.launches_half_width <= precision


def _shared_core(doubt: Doubt) -> str:
    """Which ranks, where, and the shortest remedy."""
    of = next((one.values for one in doubt.rows[0].warnings if one.kind == "shared-core"), {})
    if not of:
        return f"ranks share a core: {len(doubt.rows)} of {doubt.of} numbers"
    how = "bound to" if of["bound"] else "on"
    ranks = ranks_of(str(of["ranks"]), int(of["count"] or 0))
    if binding := str(of["binding"] or ""):
        remedy = f"unset {binding.partition('=')[0]}"
    else:
        remedy = "use --bind core" if of["bound"] else "use fewer ranks"
    return f"shared core: ranks {ranks} {how} CPU {of['cpus']}; {remedy}"


def _hardware_threads(doubt: Doubt) -> str:
    of = next((one.values for one in doubt.rows[0].warnings if one.kind == "hardware-threads"), {})
    count = int(of.get("count") or 2)
    what = f"{count} ranks on the hardware threads of fewer cores" if count > 2 else ON_ONE_CORE  # noqa: PLR2004
    return f"{what}: ranks {ranks_of(str(of['ranks']), count)} on CPU {of['cpus']}" if of else what


def _relay_late(doubt: Doubt) -> str:
    """What to do with numbers of late packets: of those that are of no use, or else of all."""
    of = {id(row): values for row in doubt.rows if (values := _values_of(row, "relay-late"))}
    if not of:
        return f"emulated network late: {len(doubt.rows)} of {doubt.of} numbers"
    useless = [row for row in doubt.rows if is_useless(**of[id(row)])]
    rows = useless or doubt.rows
    worst = max(rows, key=lambda row: of[id(row)]["share"])
    place = f", {worst.cell.placement}" if "," in worst.cell.placement else ""
    numbers = f"{len(rows)} of {doubt.of} numbers, as {_cell(worst)}{place}"
    return f"emulated network late: {consequence(**of[id(worst)], numbers=numbers)}"


def _values_of(row: Row, kind: WarningKind) -> dict[str, float]:
    values = next((one.values for one in row.warnings if one.kind == kind), {})
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


def _broken(doubt: Doubt) -> str:
    first = doubt.rows[0]
    return f"not measured: {len(doubt.rows)} of {doubt.of} cells, as {_cell(first)} ({first.status})"


def _not_reached(doubt: Doubt) -> str:
    return f"no time left: {len(doubt.rows)} of {doubt.of} cells, as {_cell(doubt.rows[0])}"


def _left_out(doubt: Doubt) -> str:
    return left_out_line(doubt.left_out, doubt.of)


def _damaged(doubt: Doubt) -> str:
    return "; ".join(damage_lines(doubt.lines, doubt.packed))


def _unread(doubt: Doubt) -> str:
    return unread_line(doubt.unread)


def _cut_short(_: Doubt) -> str:
    return "cut short: mpigauge resume continues it"


def _portable(doubt: Doubt) -> str:
    return f"{doubt.about} from PyPI may lack single-copy transfers, network drivers"


def _unsteady(doubt: Doubt) -> str:
    return f"unsteady machine: {steadiness_words(doubt.steadiness)}"


def _throttled(doubt: Doubt) -> str:
    return f"throttled {doubt.times} times: the job's CPU limit (cpu.max) stopped its ranks"


SENTENCES: Mapping[str, Callable[[Doubt], str]] = {
    "shared-core": _shared_core,
    "hardware-threads": _hardware_threads,
    "relay-late": _relay_late,
    "wide": _wide,
    "broken": _broken,
    "damaged": _damaged,
    "unread": _unread,
    "not-reached": _not_reached,
    "left-out": _left_out,
    "cut-short": _cut_short,
    "unsteady-machine": _unsteady,
    "throttled": _throttled,
    "portable-library": _portable,
}
"""Of the kinds that are more than a short phrase and a count."""


def _cell(row: Row) -> str:
    size = f" {format_size(row.cell.bytes)}" if row.sized else ""
    return f"{row.cell.pattern}{size}"
