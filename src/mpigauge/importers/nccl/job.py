"""Collective and number of ranks of a job of nccl-tests or rccl-tests.

Few texts name the collective, and lines of devices are often cut. Both follow from the numbers, too: a size
is that of one block or of one block per rank, and bus bandwidth is algbw times 2 (p - 1) / p for all-reduce,
times (p - 1) / p where each rank has a block of its own, and algbw itself for all others.
Source: doc/PERFORMANCE.md and src/*.cu of nccl-tests 2.0 to 2.19.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath

from mpigauge.importers.command_lines import LAUNCHERS, ranks_of
from mpigauge.importers.nccl.operation import GB, PLACES, US
from mpigauge.importers.text import rounding_range

UNNAMED = "unnamed"
ALL_REDUCE, ALL_TO_ALL = "all_reduce", "alltoall"
ONE_BLOCK_PER_RANK = {"all_gather", "reduce_scatter", ALL_TO_ALL, "gather", "scatter", "hypercube"}
"""Collectives whose size is that of one block per rank."""

REDUCING = {ALL_REDUCE, "all_reduce_bias", "reduce", "reduce_scatter"}
MOVING = {"all_gather", ALL_TO_ALL, "broadcast", "gather", "scatter"}
UNEVEN_BLOCKS = "alltoallv"
"""Collective with blocks of different lengths."""

UNCHECKED_IN_PLACE = {ALL_TO_ALL, UNEVEN_BLOCKS, "sendrecv"}
"""Collectives for which older versions print a deviation in place, but never count it as wrong."""

_NAMES = {
    "all_reduce_bias": r"all[-_ ]?reduce[-_ ]?bias",
    ALL_REDUCE: r"all[-_ ]?reduce",
    "reduce_scatter": r"reduce[-_ ]?scatter",
    "all_gather": r"all[-_ ]?gather",
    UNEVEN_BLOCKS: r"all[-_ ]?(?:to|2)[-_ ]?all[-_ ]?v",
    ALL_TO_ALL: r"all[-_ ]?(?:to|2)[-_ ]?all",
    "sendrecv": r"send[-_ ]?recv",
    "broadcast": r"broadcast|(?<![a-z])bcast",
    "hypercube": r"hyper[-_ ]?cube",
    "reduce": r"(?<![a-z])reduce(?![a-z])",
    "gather": r"(?<![a-z])gather(?![a-z])",
    "scatter": r"(?<![a-z])scatter(?![a-z])",
}
_ANY = re.compile("|".join(f"({pattern})" for pattern in _NAMES.values()))
_PROGRAM = re.compile(
    r"(?<!\w)[^\WA-Za-z]*+(?=\w++(?:\.exe)?+(?![\w/.]))([A-Za-z]\w*)_(?:perf|test)(?:_\w+|\b)(?:\.exe)?"
)

_WIDTHS = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16"), 2),
    **dict.fromkeys(("int", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("int64", "uint64", "double"), 8),
}
"""Bytes of an element by the name of its type."""

MAX_RANKS = 10**6
MAX_FACTOR = 2
"""Upper bound of bus bandwidth over algbw."""

ROUNDING_TOLERANCE = 1e-9
"""Relative tolerance of a quotient of rounded numbers."""


# ---- Which collective ------------------------------------------------------------------------------


def collective_of(program: str) -> str:
    """Return the collective of a program: `all_reduce` of `./build/all_reduce_perf`."""
    name = PurePath(program).name.lower()
    unknown = re.sub(r"[^a-z0-9]+", "_", name.removesuffix("_perf")).strip("_") or "test"
    return named_by_file(name) or unknown


def named_by_command(command: str) -> str:
    """Return the collective that a command line runs; empty if it shows none, or several."""
    found = {collective_of(match[1]) for match in _PROGRAM.finditer(command)}
    return found.pop() if len(found) == 1 else ""


def named_by_file(name: str) -> str:
    """Return the collective that a file name contains; empty if it contains none, or several."""
    found = {_name(match) for match in _ANY.finditer(name.lower())}
    return found.pop() if len(found) == 1 else ""


def _name(match: re.Match[str]) -> str:
    return list(_NAMES)[(match.lastindex or 1) - 1]


# ---- What rows prove -------------------------------------------------------------------------------


def blocks_of(size_bytes: int, count: int, datatype: str) -> int:
    """Return the number of blocks of a size; 0 if unknown."""
    block = count * _WIDTHS.get(datatype, 0)
    return size_bytes // block if block and not size_bytes % block else 0


@dataclass(slots=True)
class RatioBounds:
    """Bounds of a quotient of printed numbers over all rows; empty range if rows contradict each other."""

    low: float = 0.0
    high: float = math.inf

    def narrow(self, over: tuple[float, float], under: tuple[float, float]) -> None:
        """Narrow the bounds by a row, given the rounding ranges of both numbers."""
        low = max(self.low, over[0] / under[1])
        high = min(self.high, over[1] / under[0] if under[0] else math.inf)
        self.low, self.high = (low, high) if low <= high * (1 + ROUNDING_TOLERANCE) else (math.inf, 0.0)

    def has(self, value: float) -> bool:
        """Return whether a number lies within the bounds."""
        return self.low * (1 - ROUNDING_TOLERANCE) <= value <= self.high * (1 + ROUNDING_TOLERANCE)


@dataclass(slots=True)
class Proof:
    """Evidence of the rows of a table about their job.

    Attributes:
        counted: Number of rows, by the number of blocks of their sizes.
        bus: Bounds of bus bandwidth over algbw.
        share: Bounds of algbw over size by time.
        ops: Operations that the rows name, without "none" and blanks.
        moves: Whether a row says that nothing is reduced.
        rooted: Whether a row names a root.
        in_bounds: Whether the program prints below that no value is out of bounds.
        unchecked: Whether the program did not check the data of a place in any row, by place.
        concluded: Program that is named below the table.
        logged_ranks: Number of ranks in the library's own log; 0 if there is none.
    """

    counted: Counter[int] = field(default_factory=Counter)
    bus: RatioBounds = field(default_factory=RatioBounds)
    share: RatioBounds = field(default_factory=RatioBounds)
    ops: set[str] = field(default_factory=set)
    moves: bool = False
    rooted: bool = False
    in_bounds: bool = False
    unchecked: dict[str, bool] = field(default_factory=dict)
    concluded: str = ""
    logged_ranks: int = 0

    def count_blocks(self, blocks: int) -> None:
        """Count the blocks of a row's size."""
        if blocks > 0:
            self.counted[blocks] += 1

    def add(self, size: int, time: str, algbw: str, busbw: str, second_s: float = US) -> None:
        """Add the numbers of a row, as printed."""
        self.bus.narrow(rounding_range(busbw), rounding_range(algbw))
        low, high = (end * second_s * GB for end in rounding_range(time))
        self.share.narrow(rounding_range(algbw), (size / high, size / low if low else math.inf))

    @property
    def blocks(self) -> int:
        """Number of blocks of the sizes; 0 if unknown, or if rates contradict it.

        Before 2020, rates of all_gather and reduce_scatter were of all blocks but that of the rank itself, as
        those of hypercube are.
        """
        # The most frequent number: that of a damaged row may be another.
        blocks = self.counted.most_common(1)[0][0] if self.counted else 0
        others = 1 - 1 / blocks if blocks else 0.0
        if blocks > 1 and not (self.bus.has(others) or (self.bus.has(1) and self.share.has(others))):
            return 0
        return blocks

    @property
    def all_reduces(self) -> bool:
        """Return whether each rank moves more than the size, which is true of all-reduce alone."""
        return 1 + ROUNDING_TOLERANCE < self.bus.low < MAX_FACTOR

    @property
    def name(self) -> str:
        """Collective that the rows prove; empty if they prove none."""
        if self.all_reduces:
            return ALL_REDUCE
        if not self.ops or self.moves:
            # Of those with a block per rank, its data in place alone are never checked.
            in_place_alone = [self.unchecked.get(place) for place in PLACES] == [False, True]
            return ALL_TO_ALL if in_place_alone and self.blocks > 1 and not self.rooted else ""
        return "reduce" if self.rooted else "reduce_scatter" if self.blocks > 1 else ""

    def ranks(self, name: str = "") -> range:
        """Return the numbers of ranks that the rows allow.

        Args:
            name: Collective, where it is known.
        """
        low, high = self.bus.low, self.bus.high
        if self.blocks > 1:
            return range(self.blocks, self.blocks + 1)
        if self.all_reduces or (name.startswith(ALL_REDUCE) and low <= high and low < MAX_FACTOR):
            return _ranks(2 / (2 - low), 2 / (2 - high) if high < MAX_FACTOR else math.inf)
        if low <= high < 1:
            return _ranks(1 / (1 - low), 1 / (1 - high))
        return range(1, MAX_RANKS)

    def allows(self, name: str) -> bool:
        """Return whether the rows can be of a collective."""
        if self.name:
            return self.name == name or (self.name == ALL_REDUCE and name.startswith(ALL_REDUCE))
        if self.blocks > 1 and name not in ONE_BLOCK_PER_RANK:
            return False
        return not (self.moves and name in REDUCING) and not (self.ops and name in MOVING)


def _ranks(low: float, high: float) -> range:
    least = max(1, math.ceil(low - low * ROUNDING_TOLERANCE))
    return range(least, MAX_RANKS if high >= MAX_RANKS else math.floor(high + high * ROUNDING_TOLERANCE) + 1)


def collective(program: str, command: str, file_name: str, proof: Proof) -> str:
    """Return the collective of a table: by its title, the command line, the file name, and its rows."""
    for name in (program or proof.concluded, named_by_command(command)):
        if name:
            return collective_of(name)
    name = named_by_file(file_name)
    if name and proof.allows(name):
        return name
    return proof.name or UNNAMED


# ---- How many ranks ----------------------------------------------------------------------------------


@dataclass(slots=True)
class NcclJob:
    """Facts about the ranks of a job that a text states.

    Attributes:
        listed: Ranks in lines of devices, with their groups; some lines may be missing.
        ranks_per_process: Ranks per process as the program prints it; 0 if it does not.
        logged_ranks: Number of ranks in the library's own log, above the table; 0 if there is none.
    """

    listed: dict[int, str] = field(default_factory=dict)
    ranks_per_process: int = 0
    logged_ranks: int = 0

    @property
    def group_count(self) -> int:
        """Number of groups that run the same operation at once."""
        return max(1, len(set(self.listed.values())))

    def ranks(self, name: str, proof: Proof, command: str, user_ranks: int) -> int:
        """Return the number of ranks; 0 if nothing states it, or the rows contradict it.

        Args:
            name: Collective.
            proof: Evidence of the rows of the table.
            command: Command line above the table.
            user_ranks: Number of ranks that the user states.
        """
        allowed = proof.ranks(name)
        if len(allowed) == 1 and allowed[0] >= self._listed():
            return allowed[0]
        ranks = self._stated_ranks(command, user_ranks, proof.logged_ranks)
        return ranks if ranks in allowed else 0

    def ran_alone(self, proof: Proof, command: str) -> bool:
        """Return whether rows prove that a process ran by itself, although it was one of several."""
        return (
            ranks_of(command) > 1
            and len(proof.ranks()) == 1
            and proof.ranks()[0] == (self.ranks_per_process or 1)
        )

    def _stated_ranks(self, command: str, user_ranks: int, logged_ranks: int) -> int:
        listed, started = (
            self._listed(),
            ranks_of(command) * (self.ranks_per_process or _ranks_per_process(command)),
        )
        if logged_ranks or self.logged_ranks:
            return logged_ranks or self.logged_ranks
        if listed and ranks_of(command) > 1 and listed == self.ranks_per_process < started:
            return 0  # either lines of devices are missing, or each process ran alone
        if listed or started:
            return max(listed, started if self.group_count == 1 else 0)
        if (
            command
            and not _is_launched(command)
            and (ranks_per_process := self.ranks_per_process or _ranks_per_process(command)) > 1
        ):
            return ranks_per_process  # a single rank may be one of several processes
        return user_ranks

    def _listed(self) -> int:
        if not self.listed:
            return 0
        if self.group_count > 1:
            return sum(group == self.listed[min(self.listed)] for group in self.listed.values())
        return max(max(self.listed) + 1, self.ranks_per_process)


def _ranks_per_process(command: str) -> int:
    """Return the ranks per process by the options of the program."""
    options = command[match.end() :] if (match := _PROGRAM.search(command)) else ""
    return math.prod(
        int(found[1]) if (found := re.search(rf"\s(?:{name})[ =]*([0-9]{{1,4}})(?![\w.])", options)) else 1
        for name in ("-g|--ngpus", "-t|--nthreads")
    )


def _is_launched(command: str) -> bool:
    return any(PurePath(word).name in LAUNCHERS for word in command.split())
