"""What nccl-tests and rccl-tests say of a job: which collective it was, and how many ranks took part.

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
from mpigauge.importers.nccl.operation import GB, US
from mpigauge.importers.text import ends_of

UNNAMED = "unnamed"
ALL_REDUCE = "all_reduce"
SPREAD = {"all_gather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube"}
"""Whose size is of one block per rank."""

REDUCING = {ALL_REDUCE, "all_reduce_bias", "reduce", "reduce_scatter"}
MOVING = {"all_gather", "alltoall", "broadcast", "gather", "scatter"}
UNEVEN = "alltoallv"
"""Whose size is of blocks of different lengths."""

UNCHECKED_IN_PLACE = {"alltoall", UNEVEN, "sendrecv"}
"""What older versions do in place, too, and print a deviation of, but never count as wrong."""

_NAMES = {
    "all_reduce_bias": r"all[-_ ]?reduce[-_ ]?bias",
    ALL_REDUCE: r"all[-_ ]?reduce",
    "reduce_scatter": r"reduce[-_ ]?scatter",
    "all_gather": r"all[-_ ]?gather",
    UNEVEN: r"all[-_ ]?(?:to|2)[-_ ]?all[-_ ]?v",
    "alltoall": r"all[-_ ]?(?:to|2)[-_ ]?all",
    "sendrecv": r"send[-_ ]?recv",
    "broadcast": r"broadcast|(?<![a-z])bcast",
    "hypercube": r"hyper[-_ ]?cube",
    "reduce": r"(?<![a-z])reduce(?![a-z])",
    "gather": r"(?<![a-z])gather(?![a-z])",
    "scatter": r"(?<![a-z])scatter(?![a-z])",
}
_ANY = re.compile("|".join(f"({pattern})" for pattern in _NAMES.values()))
_PROGRAM = re.compile(r"([A-Za-z]\w*)_(?:perf|test)(?:_\w+)?(?:\.exe)?(?![\w/.])")

_WIDTHS = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "bfloat16"), 2),
    **dict.fromkeys(("int", "int32", "uint32", "float"), 4),
    **dict.fromkeys(("int64", "uint64", "double"), 8),
}
"""Bytes of an element by the name of its type."""

RANKS_MOST = 10**6
MOST_FACTOR = 2
"""That bus bandwidth over algbw stays below."""

SPARE = 1e-9
"""Of a quotient of rounded numbers."""


# ---- Which collective ------------------------------------------------------------------------------


def short(program: str) -> str:
    """Return the collective of a program: `all_reduce` of `./build/all_reduce_perf`."""
    name = PurePath(program).name.lower()
    unknown = re.sub(r"[^a-z0-9]+", "_", name.removesuffix("_perf")).strip("_") or "test"
    return named_by_file(name) or unknown


def named_by_command(command: str) -> str:
    """Return the collective that a command line runs; empty if it shows none, or several."""
    found = {short(match[1]) for match in _PROGRAM.finditer(command)}
    return found.pop() if len(found) == 1 else ""


def named_by_file(name: str) -> str:
    """Return the collective that the name of a file has in it; empty if it has none, or several."""
    found = {_name(match) for match in _ANY.finditer(name.lower())}
    return found.pop() if len(found) == 1 else ""


def _name(match: re.Match[str]) -> str:
    return list(_NAMES)[(match.lastindex or 1) - 1]


# ---- What rows prove -------------------------------------------------------------------------------


def blocks_of(size_bytes: int, count: int, datatype: str) -> int:
    """Return of how many blocks a size is; 0 if nothing says it."""
    block = count * _WIDTHS.get(datatype, 0)
    return size_bytes // block if block and not size_bytes % block else 0


@dataclass(slots=True)
class RatioBounds:
    """Between what a quotient of printed numbers lies in all rows; nowhere if rows contradict each other."""

    low: float = 0.0
    high: float = math.inf

    def narrow(self, over: tuple[float, float], under: tuple[float, float]) -> None:
        """Take a row into account, by the ends of both numbers."""
        low = max(self.low, over[0] / under[1])
        high = min(self.high, over[1] / under[0] if under[0] else math.inf)
        self.low, self.high = (low, high) if low <= high * (1 + SPARE) else (math.inf, 0.0)

    def has(self, value: float) -> bool:
        """Return whether it can be a number."""
        return self.low * (1 - SPARE) <= value <= self.high * (1 + SPARE)


@dataclass(slots=True)
class Proof:
    """What the rows of a table prove of its job.

    Attributes:
        counted: Rows by the number of blocks that their sizes are of.
        bus: Bus bandwidth over algbw.
        share: Algbw over size by time.
        ops: Operations that the rows name; "none" and blank are none.
        moves: Whether a row says that nothing is reduced.
        rooted: Whether a row names a root.
        in_bounds: Whether the program says below that no value is out of bounds.
        concluded: The program that is named below the table.
        told: The number of ranks that the library's own log names.
    """

    counted: Counter[int] = field(default_factory=Counter)
    bus: RatioBounds = field(default_factory=RatioBounds)
    share: RatioBounds = field(default_factory=RatioBounds)
    ops: set[str] = field(default_factory=set)
    moves: bool = False
    rooted: bool = False
    in_bounds: bool = False
    concluded: str = ""
    told: int = 0

    def count_blocks(self, blocks: int) -> None:
        """Take the size of a row into account."""
        if blocks > 0:
            self.counted[blocks] += 1

    def add(self, size: int, time: str, algbw: str, busbw: str, second_s: float = US) -> None:
        """Take the numbers of a row into account, as they are printed."""
        self.bus.narrow(ends_of(busbw), ends_of(algbw))
        low, high = (end * second_s * GB for end in ends_of(time))
        self.share.narrow(ends_of(algbw), (size / high, size / low if low else math.inf))

    @property
    def blocks(self) -> int:
        """Of how many blocks sizes are; 0 if unknown, or if rates contradict it.

        Before 2020, rates of all_gather and reduce_scatter were of all blocks but that of the rank itself, as
        those of hypercube are.
        """
        # Of a row that is torn it may be another.
        blocks = self.counted.most_common(1)[0][0] if self.counted else 0
        others = 1 - 1 / blocks if blocks else 0.0
        if blocks > 1 and not (self.bus.has(others) or (self.bus.has(1) and self.share.has(others))):
            return 0
        return blocks

    @property
    def all_reduces(self) -> bool:
        """Whether more passes each rank than the size: of all collectives this is true of one."""
        return 1 + SPARE < self.bus.low < MOST_FACTOR

    @property
    def name(self) -> str:
        """The collective, where rows are proof of one; empty if they are not."""
        if self.all_reduces:
            return ALL_REDUCE
        if not self.ops or self.moves:
            return ""
        return "reduce" if self.rooted else "reduce_scatter" if self.blocks > 1 else ""

    def ranks(self, name: str = "") -> range:
        """Return all numbers of ranks that the rows allow.

        Args:
            name: The collective, where it is known.
        """
        low, high = self.bus.low, self.bus.high
        if self.blocks > 1:
            return range(self.blocks, self.blocks + 1)
        if self.all_reduces or (name.startswith(ALL_REDUCE) and low <= high and low < MOST_FACTOR):
            return _ranks(2 / (2 - low), 2 / (2 - high) if high < MOST_FACTOR else math.inf)
        if low <= high < 1:
            return _ranks(1 / (1 - low), 1 / (1 - high))
        return range(1, RANKS_MOST)

    def allows(self, name: str) -> bool:
        """Return whether the rows can be of a collective."""
        if self.name:
            return self.name == name or (self.name == ALL_REDUCE and name.startswith(ALL_REDUCE))
        if self.blocks > 1 and name not in SPREAD:
            return False
        return not (self.moves and name in REDUCING) and not (self.ops and name in MOVING)


def _ranks(low: float, high: float) -> range:
    least = max(1, math.ceil(low - low * SPARE))
    return range(least, RANKS_MOST if high >= RANKS_MOST else math.floor(high + high * SPARE) + 1)


def collective(program: str, command: str, file_name: str, proof: Proof) -> str:
    """Return what a table is of: by its title, the command line, the file's name, and what rows prove."""
    for name in (program or proof.concluded, named_by_command(command)):
        if name:
            return short(name)
    name = named_by_file(file_name)
    if name and proof.allows(name):
        return name
    return proof.name or UNNAMED


# ---- How many ranks ----------------------------------------------------------------------------------


@dataclass(slots=True)
class NcclJob:
    """What a text says of the ranks of a job.

    Attributes:
        listed: Ranks that lines of devices name, with their groups: some may be cut.
        each: Ranks of a process, as the program says it; 0 if it does not.
        told: The number that the library's own log names; 0 if there is none.
    """

    listed: dict[int, str] = field(default_factory=dict)
    each: int = 0
    told: int = 0

    @property
    def group_count(self) -> int:
        """How many groups do the same at once."""
        return max(1, len(set(self.listed.values())))

    def ranks(self, name: str, proof: Proof, command: str, given: int) -> int:
        """Return how many took part; 0 if nothing says it, or what says it contradicts the rows.

        Args:
            name: The collective.
            proof: What the rows of the table allow.
            command: The command line above it.
            given: What the user says.
        """
        allowed = proof.ranks(name)
        if len(allowed) == 1 and allowed[0] >= self._listed():
            return allowed[0]
        ranks = self._said(command, given, proof.told)
        return ranks if ranks in allowed else 0

    def ran_alone(self, proof: Proof, command: str) -> bool:
        """Return whether rows prove that a process ran by itself, although it was one of several."""
        return ranks_of(command) > 1 and len(proof.ranks()) == 1 and proof.ranks()[0] == (self.each or 1)

    def _said(self, command: str, given: int, told: int) -> int:
        listed, started = self._listed(), ranks_of(command) * (self.each or _each(command))
        if told or self.told:
            return told or self.told
        if listed and ranks_of(command) > 1 and listed == self.each < started:
            return 0  # either lines of devices were cut, or each process ran alone
        if listed or started:
            return max(listed, started if self.group_count == 1 else 0)
        if command and not _is_launched(command) and (each := self.each or _each(command)) > 1:
            return each  # of one alone nothing says that it was all
        return given

    def _listed(self) -> int:
        if not self.listed:
            return 0
        if self.group_count > 1:
            return sum(group == self.listed[min(self.listed)] for group in self.listed.values())
        return max(max(self.listed) + 1, self.each)


def _each(command: str) -> int:
    """Ranks of a process by the options of the program."""
    options = command[match.end() :] if (match := _PROGRAM.search(command)) else ""
    return math.prod(
        int(found[1]) if (found := re.search(rf"\s(?:{name})[ =]*([0-9]{{1,4}})(?![\w.])", options)) else 1
        for name in ("-g|--ngpus", "-t|--nthreads")
    )


def _is_launched(command: str) -> bool:
    return any(PurePath(word).name in LAUNCHERS for word in command.split())
