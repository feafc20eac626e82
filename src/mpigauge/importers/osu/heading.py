"""Lines above a table of the OSU Micro-Benchmarks: title, columns with their units, and factors.

Source: their versions 2.1 to 7.4 in C, Java and Python, and the ports in mpi4py's folder `demo`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.plan.benchmarks import normalised_title
from mpigauge.units import RATE_UNITS, TIME_UNITS, counted, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.importers.text import TextLine

HINT = "OSU prints times as (us) and rates as MB/s: restore the heading, or leave the table out"

# ---- Titles ----------------------------------------------------------------------------------------

MPI4PY = "mpi4py"
"""Suite of the titles `# MPI Latency Test` that the ports in mpi4py's folder `demo` print."""

_TITLE = re.compile(
    r"(?:# ?)?(?P<suite>OSU|OMB Python|OMB-Py) (?P<words>[A-Za-z][\w+/ ().-]*?\bTest(?: Persistent)?)"
    r"(?: \(?(?:v|[Vv]ersion )(?P<version>[0-9][\w.+-]*)\)?)?(?P<remark> ?[-\u2013\u2014(,:;#<].*)?"
)
_OF_MPI4PY = re.compile(r"# ?(?P<words>MPI [A-Za-z][\w -]*\bTest)")
_SUBJECT = re.compile(
    r"(?P<subject>MPI|OpenSHMEM|UPC\+\+|UPC|[A-Z]*CCL)(?P<device>-[A-Za-z]+)?(?P<name>[ _].*)"
)
_LIKE_TITLE = re.compile(r"#\s*(?:OSU|OMB)[ -]\s*(?:MPI|Python|Py|OpenSHMEM|UPC|[A-Z]*CCL)\b")
_SUITES = {"OSU": "osu", MPI4PY: "mpi4py"}
_SUBJECTS = {"MPI": "", "OpenSHMEM": "oshm", "UPC++": "upcxx"}
_FOREIGN = {
    "multiple bandwidth / message rate": "mbw_mr",
    "multi latency": "multi_lat",
    "multi-pair latency": "multi_lat",
}
"""Programs whose title does not contain their name."""


@dataclass(frozen=True, slots=True)
class Title:
    """Title of a table.

    Attributes:
        suite: OSU, OMB Python or MPI4PY.
        subject: What communicates: MPI, OpenSHMEM, UPC, NCCL; empty where the title does not say it.
        device: Of the buffers, such as CUDA or ROCM; empty for the memory of hosts.
        name: What is measured, in the form of `benchmarks.normalised_title`.
        one_sided: Whether it is a function of MPI, as in `OSU MPI_Put Latency Test`.
        version: Version of the suite; empty if unknown.
        text: Whole title, as results name it.
    """

    suite: str
    subject: str
    device: str
    name: str
    one_sided: bool = False
    version: str = ""
    text: str = ""

    @property
    def is_mpi_on_hosts(self) -> bool:
        """Return whether it is of an OSU program in C that sends from and to host memory by MPI."""
        return self.suite == "OSU" and self.subject == "MPI" and not self.device

    @property
    def is_rate(self) -> bool:
        """Return whether its program prints rates."""
        return any(word in self.name for word in ("bandwidth", "message rate", "bw fan"))

    @property
    def foreign(self) -> str:
        """Pattern name of a measurement that is not ours."""
        device = self.device.lower()
        words = [_SUITES.get(self.suite, "omb_python")]
        if self.subject == "MPI":
            words += [device, "mpi" if self.one_sided else ""]
        else:
            java = "" if self.subject or self.version else "java"
            words += [_SUBJECTS.get(self.subject, self.subject.lower()) or java, device]
        words.append(_FOREIGN.get(self.name) or re.sub(r"[^a-z0-9]+", "_", self.name).strip("_"))
        return "_".join(filter(None, words))

    def on_device(self, device: str) -> Title:
        """Return the title that its program prints if buffers are in device memory."""
        return replace(self, device=device)

    def renamed(self, program: str) -> Title:
        """Return the title that a program should have but does not: it prints that of another."""
        return replace(self, name=program.removeprefix("osu_").replace("_", " "))


def title_of(line: TextLine) -> Title | None:
    """Return the title in a line; None if it is none.

    Raises:
        LineError: It begins like one.
    """
    text = " ".join(line.text.split())
    match = _TITLE.fullmatch(text)
    # Without its sign it is a title only if it ends with a version: prose names these programs, too.
    if match is not None and (text.startswith("#") or (match["version"] and not match["remark"])):
        return make_title(match["suite"], match["words"], match["version"] or "")
    if match := _OF_MPI4PY.fullmatch(text):
        return make_title(MPI4PY, match["words"])
    if _LIKE_TITLE.match(text):
        raise line.refused("the title of the table is not understood", "restore it, or leave the table out")
    return None


def make_title(suite: str, words: str, version: str = "") -> Title:
    """Return a title of these words, such as `MPI-CUDA Latency Test`."""
    match = _SUBJECT.fullmatch(words)
    subject, device, name = match.groups() if match else ("", None, words)
    one_sided = name.startswith("_")
    text = f"{suite} {words}{f' v{version}' if version else ''}".removeprefix(f"{MPI4PY} MPI ")
    text = f"{MPI4PY} {text}" if suite == MPI4PY else text
    spoken = normalised_title(name.replace("_", " ") if one_sided else name)
    spoken = spoken.replace("bidirectional", "bi-directional")
    return Title(suite, subject, (device or "-")[1:], spoken, one_sided, version, text)


# ---- Columns ---------------------------------------------------------------------------------------

_TIMES = (
    r"(?:Avg|Min|Max)?\.? ?Latency|Lat (?:Avg|Min|Max)|Overall|Compute|Pure Comm\.?|Coll\. Init"
    r"|MPI_Test|MPI_Wait|(?:Min|Max|Avg) Comm\.?|(?:Wait|Init) avg|P[0-9.]+ Tail Lat"
)
_RATES = r"(?:Bi-)?Bandwidth|P[0-9.]+ Tail BW"
_RATE_UNITS = {**RATE_UNITS, "MillionBytes/s": 1e6}
"""Units of rates, with MB/s as version 2 writes it for one-sided functions."""

_UNIT = r"[^()\[\]\s]+"
_BARE = "|".join(map(re.escape, _RATE_UNITS))
_COLUMN = re.compile(
    rf"(?P<again>Bandwidth \[Gb/s\])|(?P<time>{_TIMES}) ?[(\[](?P<of_time>{_UNIT})[)\]]"
    rf"|(?P<rate>{_RATES}) ?[(\[](?P<of_rate>{_UNIT})[)\]]|(?P<bare>{_BARE})(?=\s|\Z)"
    r"|(?P<size>Size)(?: ?[(\[](?:B|[Bb]ytes)[)\]])?(?=\s|\Z)"
    r"|(?P<other>Messages/s|Iterations|Validation|Overlap\(%\)|Transmit Size|Operation|Million ops/s)"
)
_LIKE_HEADING = re.compile(
    r"# ?(?:Size\b|(?:(?:Avg |Min |Max )?Latency|Bandwidth|Overall)(?: ?[(\[]|\Z)|MB/s\b)"
)

_COLUMN_WITH_UNIT = re.compile(rf"(?:{_TIMES}|{_RATES}) ?[(\[](?:us|MB/s)[)\]]|Size\s.*(?:Messages|MB)/s")

SIZE, RATE, MESSAGES, VALIDATION = "Size", "Bandwidth", "Messages/s", "Validation"
LATENCY, OVERALL, PURE = "Latency", "Overall", "Pure Comm."
TRANSMITTED, OPERATION = "Transmit Size", "Operation"
_SYNONYMS = {
    "Avg Latency": LATENCY,
    "Avg. Latency": LATENCY,
    "Lat Avg": LATENCY,
    "Pure Comm": PURE,
    "Bi-Bandwidth": RATE,
}
"""Common names of columns that versions call otherwise."""


@dataclass(frozen=True, slots=True)
class OsuColumn:
    """Column of a table.

    Attributes:
        scale: Seconds or bytes per second of its unit; 1 where it has none.
        averaged: Whether its heading calls it an average.
        bracketed: Whether its unit is in square brackets, as Java and mpi4py print it.
    """

    name: str
    scale: float = 1.0
    averaged: bool = False
    bracketed: bool = False


def has_unit_of_column(line: TextLine) -> bool:
    """Return whether a line names a column with its unit, as a damaged heading does."""
    return _COLUMN_WITH_UNIT.search(line.text) is not None


def columns_of(line: TextLine) -> list[OsuColumn]:
    """Return the columns of a heading; none if the line is no heading.

    Raises:
        LineError: It is a heading with a column or unit that nobody knows.
    """
    marked = line.text.startswith("#")
    text, at = " ".join(line.text.removeprefix("#").split()), 0
    found: list[OsuColumn] = []
    while at < len(text):
        match = _COLUMN.match(text, at)
        if match is None:
            if marked and (found or _LIKE_HEADING.match(" ".join(line.text.split()))):
                raise line.refused(f"the columns are not understood from {text[at:][:40]!r} on", HINT)
            return []
        found.append(_column(match, line))
        at = match.end() + (text[match.end() : match.end() + 1] == " ")
    return found


def has_column(columns: list[OsuColumn], name: str) -> bool:
    """Return whether there is a column of this name."""
    return any(column.name == name for column in columns)


def _column(match: re.Match[str], line: TextLine) -> OsuColumn:
    if match["again"]:
        return OsuColumn(match["again"])
    bracketed = "[" in match[0]
    if name := match["time"]:
        scale = _scale(match["of_time"], TIME_UNITS, name, line)
        return OsuColumn(_SYNONYMS.get(name, name), scale, "Avg" in name, bracketed)
    if match["rate"] or match["bare"]:
        name = match["rate"] or RATE
        unit = match["bare"] or match["of_rate"]
        return OsuColumn(
            _SYNONYMS.get(name, name), _scale(unit, _RATE_UNITS, name, line), bracketed=bracketed
        )
    return OsuColumn(match["size"] or match["other"])


def _scale(unit: str, units: Mapping[str, float], name: str, line: TextLine) -> float:
    if unit not in units:
        raise line.refused(f"{name}: no unit is called {unit!r}", HINT)
    return units[unit]


# ---- Factors -----------------------------------------------------------------------------------------

_REMOTE = re.compile(r"# (Window creation|Synchronization): (\w+)")
_BUFFERS = re.compile(
    r"# (?:Send Buffer|Rank 0 Memory) on \w+ \((D|H|M|MD|MH)\) and (?:Receive Buffer|Rank 1 Memory) on"
    r" \w+ \((D|H|M|MD|MH)\)"
)
_NUMBERS = re.compile(
    r"# Number of (?:(Sender|Receiver) (threads)|forked (processes) in (sender|receiver)): ([0-9]{1,7})"
)
_PARTITIONS = re.compile(r"# Partitions: ([0-9]{1,7})")
_PLACES = {"D": "device", "H": "host", "M": "managed", "MD": "managed_device", "MH": "managed_host"}


@dataclass(frozen=True, slots=True)
class Factors:
    """Conditions that lines above a table state, beside its title and columns.

    Attributes:
        window: Function that made the window of a one-sided test.
        synchronization: Synchronisation of the window.
        buffers: Memory of the sender's and the receiver's buffers, as in device-host.
        threads: Threads of sender and receiver.
        processes: Processes that sender and receiver have forked.
        partitions: Partitions of a message.
    """

    window: str = ""
    synchronization: str = ""
    buffers: str = ""
    threads: tuple[int, int] = (0, 0)
    processes: tuple[int, int] = (0, 0)
    partitions: int = 0

    @property
    def words(self) -> str:
        """Words for the mode of a cell; empty if there are none."""
        return " ".join(
            filter(
                None,
                (
                    self.window,
                    self.synchronization,
                    self.buffers,
                    _sides_text(self.threads, "thread"),
                    _sides_text(self.processes, "process"),
                    counted(self.partitions, "partition") if self.partitions else "",
                ),
            )
        )

    def with_buffers(self, buffers: str) -> Factors:
        """Return the factors with other buffer places."""
        return replace(self, buffers=buffers)

    def restricted_to(self, title: Title) -> Factors:
        """Return the factors without threads and processes that a table of this title cannot have."""
        return replace(
            self,
            threads=self.threads if "threaded" in title.name else (0, 0),
            processes=self.processes if "process" in title.name else (0, 0),
        )

    def with_line(self, line: TextLine) -> Factors | None:
        """Return the factors with those of a line; None if the line states none."""
        text = " ".join(line.text.split())
        if match := _NUMBERS.match(text):
            return self._with_number(match)
        if match := _REMOTE.match(text):
            if match[1] == "Synchronization":
                return replace(self, synchronization=match[2])
            return replace(self, window=match[2])
        if match := _BUFFERS.match(text):
            return self.with_buffers(buffer_places(match[1], match[2]))
        match = _PARTITIONS.match(text)
        return replace(self, partitions=int(match[1])) if match else None

    def _with_number(self, match: re.Match[str]) -> Factors:
        sends, count = (match[1] or match[4]).lower() == "sender", int(match[5])
        if match[2]:
            return replace(self, threads=_with_count(self.threads, count, sends=sends))
        return replace(self, processes=_with_count(self.processes, count, sends=sends))

    @property
    def above_title(self) -> Factors:
        """Factors that are printed above the title of their table."""
        return Factors(threads=self.threads, processes=self.processes)


def buffer_places(first: str, second: str) -> str:
    """Return the places of buffers by their letters, D, H, M, MD or MH: `device-host`."""
    return f"{_PLACES[first]}-{_PLACES[second]}"


def _with_count(counts: tuple[int, int], count: int, *, sends: bool) -> tuple[int, int]:
    sender, receiver = counts
    return (count, receiver) if sends else (sender, count)


def _sides_text(counts: tuple[int, int], noun: str) -> str:
    """Return the counts of sender and receiver in words: `16 threads`, `1 to 16 threads`."""
    sender, receiver = counts
    if not sender or not receiver or sender == receiver:
        count = sender or receiver
        return counted(count, noun) if count else ""
    return f"{sender} to {receiver} {plural(noun)}"
