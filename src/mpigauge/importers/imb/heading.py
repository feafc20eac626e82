"""Titles and headings of the Intel MPI Benchmarks, and the names of their columns.

Source: IMB_g_info.c, IMB_output.c, imb_p2p.c, MT_benchmark.h and halo_benchmark.h of versions 2018 to
2021.11, and output.c of the PALLAS MPI Benchmarks 2.2, from which versions 2 and 3 differ in the title alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.importers.collector import factors_in_comment

if TYPE_CHECKING:
    from mpigauge.importers.text import TextLine
    from mpigauge.plan.model import Cell

HINT = "IMB prints times as t[usec] and rates as Mbytes/sec: restore the heading, or leave the table out"

_MAKER = r"(?:Intel ?(?:\(R\)|®)|PALLAS) MPI Benchmark(?:s| Suite)"
_SUITE = re.compile(rf"#?\s*({_MAKER} [^,]+),\s*((?:MPI-|IMB-)?(\w+)(?: part(?:\b|(?=n#)))?)(.*)")
_NAME = r"[A-Za-z][\w-]*"
_TITLE = re.compile(rf"# Benchmarking\s+(Multi-)?({_NAME})\s*(?:\(\s*([0-9]+(?: x [0-9]+)+)\s*\))?", re.ASCII)
_HALO = re.compile(
    rf"# Benchmarking\s+({_NAME}) "
    r"\(processes: ([0-9]{1,7}); threads: ([0-9]{1,6}); dimensions: ([0-9])\)",
    re.ASCII,
)
_LIKE_TITLE = re.compile(r"# Benchmarking(?: +\S+){0,3}")
"""Beginning of a title; longer lines are headings of a document."""

_PROCESSES = re.compile(r"#? *(?:\( *)?#processes = ([0-9]{1,7})\b(?: *\(threads: ([0-9]{1,6})\))?")
_GROUPS = re.compile(r"# \( ?([0-9]{1,7}) groups? of ([0-9]{1,7}) processes each")
_MEMBERS = re.compile(r"# Group\s+([0-9]{1,7})\s*:\s*([0-9][0-9 ]*)")
_WINDOW = re.compile(r"# window_size = ([0-9]{1,6})\b")
_KIND = re.compile(r"#\s+MODE:\s*([A-Za-z-]+)")
_FACT = re.compile(
    r"# (Machine|System|Release|MPI_Datatype for reductions|MPI_Op)\s*:\s*(\S(?:(?!# System).)*)"
)
"""Facts about the machine and reductions; versions 2 have no line end between machine and system."""

_PROGRAM = re.compile(r"\b(?:IMB|PMB)-(MPI1|EXT|IO|NBC|RMA|P2P|MT|MPI4)\b(-GPU\b)?")
_BUFFERS = re.compile(r"\s-mem_alloc_type[ =]+([a-z]{1,12})\b")
_LEAST = re.compile(r"\s-npmin[ =]+([0-9]{1,7})\b")

PARTS = {"1": "mpi1", "2": "ext", "4": "mpi4"}
"""Parts of IMB by the number in a title: that of IMB-EXT is `MPI-2 part`."""

SCALES = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
"""Seconds by the unit in brackets behind the name of a time."""

_COLUMN = re.compile(
    r"(t(?:_(?:min|max|avg|ovrl|pure|CPU))?)\[(\w+)\]|#?(bytes|repetitions)|"
    r"(Group|defects|Mbytes/sec|Msg/sec)|(overlap)\[%\]",
    re.ASCII,
)
_LIKE_COLUMN = re.compile(r"[\w#]*[\[(][\w%/]+[\])]|\w+/s(?:ec)?|defects", re.ASCII)
BYTES, CALLS, GROUP, DEFECTS, RATE, MESSAGES = (
    *("bytes", "repetitions", "Group", "defects", "Mbytes/sec", "Msg/sec"),
)
_ONLY_IN_HEADINGS = frozenset({"#bytes", "#repetitions"})


@dataclass(frozen=True, slots=True)
class Suite:
    """Program that printed a text.

    Attributes:
        title: Title as printed; empty if only its command line is there.
        part: Part, by a name of `PARTS` or else in small letters; empty if unknown.
        gpu: Whether its buffers may be in the memory of a GPU.
        buffers: Kind of buffers that its command line asks for; empty if unknown.
    """

    title: str = ""
    part: str = ""
    gpu: bool = False
    buffers: str = ""


@dataclass(slots=True)
class TitleFacts:
    """Facts above the heading of a table.

    Attributes:
        multi: Whether groups of processes were busy at the same time.
        ranks: Ranks of one group, where there are several.
        grid: Arrangement of the processes.
        dimensions: Dimensions of a halo, whose table has no heading; 0 for any other.
        kind: Mode of completion: transfers one by one, or together.
        members: Ranks of each group.
        own_factors: All factors but size, if mpigauge has written the text.
    """

    name: str = ""
    multi: bool = False
    ranks: int = 0
    threads: int = 0
    groups: int = 0
    window: int = 0
    grid: str = ""
    dimensions: int = 0
    kind: str = ""
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)
    own_factors: Cell | None = None

    def note(self, line: TextLine) -> bool:
        """Take a fact about the table below; return whether the line states one.

        Raises:
            LineError: The factors of a table of ours are damaged.
        """
        text = line.text
        if match := _PROCESSES.match(text):
            self.ranks, self.threads = int(match[1]), int(match[2] or 0)
        elif match := _GROUPS.match(text):
            self.groups, self.ranks = int(match[1]), int(match[2])
        elif match := _MEMBERS.fullmatch(text):
            self.members[int(match[1])] = tuple(map(int, match[2].split()))
        elif match := _WINDOW.match(text):
            self.window = int(match[1])
        elif match := _KIND.match(text):
            self.kind = match[1].lower()
        elif (own_factors := factors_in_comment(line)) is not None:
            self.own_factors = own_factors
        else:
            return False
        return True


def suite_of(text: str) -> Suite | None:
    """Return the program that a title names; None if the line is none."""
    match = _SUITE.match(text)
    if match is None:
        return None
    more = match[4].partition("#")[0].strip().removeprefix("n").strip()
    title = " ".join(f"{match[1].rstrip()}, {match[2]} {more}".split())
    return Suite(title, PARTS.get(match[3], match[3].lower()), "(GPU)" in match[4])


def program_of(text: str, suite: Suite) -> Suite | None:
    """Return the program that a command line runs; None if the line runs none of IMB's.

    Args:
        suite: Program of the title above.
    """
    program, buffers = _PROGRAM.search(text), _BUFFERS.search(text)
    if program is None and buffers is None:
        return None
    part, gpu = (program[1].lower(), bool(program[2])) if program else (suite.part, suite.gpu)
    same = part == suite.part
    return Suite(
        suite.title if same else "", part, gpu or (same and suite.gpu), buffers[1] if buffers else ""
    )


def facts_of(text: str) -> dict[str, str]:
    """Return the facts that a line states about the machine and the reductions."""
    return {match[1]: match[2].rstrip() for match in _FACT.finditer(text)}


def title_of(line: TextLine) -> TitleFacts | None:
    """Return the facts that the title of a table states; None if the line is no title.

    Raises:
        LineError: It is not what IMB prints.
    """
    if match := _HALO.fullmatch(line.text):
        ranks, threads, dimensions = map(int, match.groups()[1:])
        return TitleFacts(match[1], ranks=ranks, threads=threads, dimensions=dimensions)
    if match := _TITLE.fullmatch(line.text):
        return TitleFacts(match[2], bool(match[1]), grid=(match[3] or "").replace(" ", ""))
    if _LIKE_TITLE.fullmatch(line.text):
        raise line.refused("the title is not understood", "restore it, or leave the table out")
    return None


def first_rank_count(command: str) -> int:
    """Return the number of ranks that an IMB command begins with; IMB then doubles it."""
    found = _LEAST.search(command)
    return int(found[1]) if found else 2


Columns = dict[str, float | None]
"""Names of columns, with the seconds of their unit; None for a column that is no time."""


def columns_of(line: TextLine) -> Columns | None:
    """Return the columns of a heading; None if the line is none.

    Raises:
        LineError: A column or a unit is not known.
    """
    words = line.words
    known = sum(_COLUMN.fullmatch(word) is not None for word in words)
    if line.text.startswith("# ") or not (_ONLY_IN_HEADINGS.intersection(words) or known == len(words) > 1):
        return None
    return _columns(line)


def more_columns(line: TextLine, columns_so_far: Columns) -> Columns | None:
    """Return the columns of a heading that continues on this line; None if it does not.

    Args:
        columns_so_far: Columns of the line above.

    Raises:
        LineError: A column is there twice, or not known.
    """
    words = line.words
    if not words or not all(_LIKE_COLUMN.fullmatch(word) for word in words):
        return None
    more = _columns(line)
    return None if {BYTES, CALLS, GROUP, *columns_so_far} & {*more} else columns_so_far | more


def _columns(line: TextLine) -> Columns:
    found: Columns = {}
    for word in line.words:
        match = _COLUMN.fullmatch(word)
        if match is None or (match[1] and match[2] not in SCALES):
            raise line.refused(f"the column {word[:40]!r} is not understood", HINT)
        name = next(filter(None, (match[1], *match.groups()[2:])))
        if name in found:
            raise line.refused(f"the column {word[:40]!r} is there twice", HINT)
        found[name] = SCALES[match[2]] if match[1] else None
    return found
