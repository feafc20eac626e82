"""What stands above a table of the OSU Micro-Benchmarks: its title, and columns with their units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.units import RATE_UNITS, TIME_UNITS

if TYPE_CHECKING:
    from mpigauge.formats.text import Line

HINT = "OSU prints times as (us) and rates as MB/s: restore the heading, or leave the table out"

TITLE = re.compile(
    r"(?:# ?)?(?P<suite>OSU|OMB Python) MPI(?P<device>-[A-Za-z]+)?(?P<name>[ _][\w /()-]*?)"
    r" ?v(?P<version>[0-9][\w.-]*)"
)
LIKE_TITLE = re.compile(r"#\s*(?:OSU|OMB)\b")
LIKE_HEADING = re.compile(r"#\s*(?:Size\b|.*\(us\)|.*\(?MB/s\b|(?:Avg |Min |Max )?Latency\b)")

_TIMES = (
    r"(?:Avg |Min |Max )?Latency|Overall|Compute|Pure Comm\.?|Coll\. Init|MPI_Test|MPI_Wait"
    r"|(?:Min|Max|Avg) Comm\.?|P[0-9.]+ Tail Lat"
)
_RATES = r"Bandwidth|P[0-9.]+ Tail BW"
_BARE = "|".join(map(re.escape, RATE_UNITS))
_COLUMN = re.compile(
    rf"(?:(?P<time>{_TIMES}) ?\((?P<of_time>[^()\s]+)\)|(?P<rate>{_RATES}) ?\((?P<of_rate>[^()\s]+)\)"
    rf"|(?P<bare>{_BARE})(?=\s|$)|(?P<size>Size)(?: \(B\))?"
    r"|(?P<other>Messages/s|Iterations|Validation|Overlap\(%\)|Transmit Size))\s*"
)

SIZE, RATE, MESSAGES, VALIDATION = "Size", "Bandwidth", "Messages/s", "Validation"
LATENCY, OVERALL, PURE = "Latency", "Overall", "Pure Comm."


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        scale: Seconds or bytes per second in one of its unit; 1 where it has none.
    """

    name: str
    scale: float = 1.0


def columns_of(line: Line) -> list[Column]:
    """The columns of a heading; none if the line is a comment.

    Raises:
        UsageError: It is a heading with a column or unit that nobody knows.
    """
    text, at = line.text.removeprefix("#").strip(), 0
    found: list[Column] = []
    while at < len(text):
        match = _COLUMN.match(text, at)
        if match is None:
            if found or LIKE_HEADING.match(line.text):
                raise line.refused(f"the columns are not understood from {text[at:][:40]!r} on", HINT)
            return []
        found.append(_column(match, line))
        at = match.end()
    return found


def _column(match: re.Match[str], line: Line) -> Column:
    if match["time"]:
        return Column(_same(match["time"]), _scale(match["of_time"], TIME_UNITS, match["time"], line))
    if match["rate"] or match["bare"]:
        unit = match["bare"] or match["of_rate"]
        return Column(match["rate"] or RATE, _scale(unit, RATE_UNITS, match["rate"] or RATE, line))
    return Column(match["size"] or match["other"])


def _scale(unit: str, units: dict[str, float], name: str, line: Line) -> float:
    if unit not in units:
        raise line.refused(f"{name}: no unit is called {unit!r}", HINT)
    return units[unit]


def _same(name: str) -> str:
    """One name for what versions call otherwise."""
    return {"Avg Latency": LATENCY, "Pure Comm": PURE}.get(name, name)
