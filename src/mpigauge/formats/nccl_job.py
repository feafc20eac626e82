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

from mpigauge.formats.commands import LAUNCHERS, ranks_of
from mpigauge.formats.text import ends_of

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
_PROGRAM = re.compile(r"([A-Za-z]\w*)_(?:perf|test)(?![\w/.])")

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
    name = PurePath(program).name.lower().removesuffix("_perf")
    known = _ANY.fullmatch(name)
    return _name(known) if known else re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "test"


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
class Proof:
    """What the rows of a table prove of its job.

    Attributes:
        counted: Rows by the number of blocks that their sizes are of.
        low: The least that bus bandwidth over algbw can be.
        high: The most.
        ops: Operations that the rows name; "none" and blank are none.
        moves: Whether a row says that nothing is reduced.
        in_bounds: Whether the program says below that no value is out of bounds.
        concluded: The program that is named below the table.
        told: The number of ranks that the library's own log names.
    """

    counted: Counter[int] = field(default_factory=Counter)
    low: float = 0.0
    high: float = math.inf
    ops: set[str] = field(default_factory=set)
    moves: bool = False
    in_bounds: bool = False
    concluded: str = ""
    told: int = 0

    def count_blocks(self, blocks: int) -> None:
        """Take the size of a row into account."""
        if blocks > 0:
            self.counted[blocks] += 1

    @property
    def blocks(self) -> int:
        """Of how many blocks sizes are; 0 if unknown. A row that is torn may say something else."""
        return self.counted.most_common(1)[0][0] if self.counted else 0

    def add(self, algbw: str, busbw: str) -> None:
        """Take the two rates of a row into account; rows that contradict each other prove nothing."""
        slow, fast = ends_of(algbw)
        low, high = ends_of(busbw)
        low, high = max(self.low, low / fast), min(self.high, high / slow if slow else math.inf)
        self.low, self.high = (low, high) if low <= high * (1 + SPARE) else (math.inf, 0.0)

    @property
    def _is_whole(self) -> bool:
        return self.low <= self.high * (1 + SPARE)

    @property
    def all_reduces(self) -> bool:
        """Whether more passes each rank than the size: of all collectives this is true of one."""
        return self._is_whole and 1 + SPARE < self.low < MOST_FACTOR

    def ranks(self) -> range:
        """Return all numbers of ranks that the rows allow."""
        blocks = self.blocks
        if blocks > 1 and any(self.low <= factor <= self.high for factor in (1 - 1 / blocks, 1)):
            return range(blocks, blocks + 1)
        if self.all_reduces:
            return _ranks(2 / (2 - self.low), 2 / (2 - self.high) if self.high < MOST_FACTOR else math.inf)
        if self.high < 1 and self._is_whole:
            return _ranks(1 / (1 - self.low), 1 / (1 - self.high))
        return range(1, RANKS_MOST)

    def allows(self, name: str) -> bool:
        """Return whether the rows can be of a collective."""
        if self.all_reduces and not name.startswith(ALL_REDUCE):
            return False
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
    return ALL_REDUCE if proof.all_reduces else UNNAMED


# ---- How many ranks ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Job:
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

    def ranks(self, proof: Proof, command: str, given: int) -> int:
        """Return how many took part; 0 if nothing says it, or what says it contradicts the rows.

        Args:
            proof: What the rows of the table allow.
            command: The command line above it.
            given: What the user says.
        """
        allowed = proof.ranks()
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
        if command and not _is_launched(command):
            return self.each or _each(command)
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
        int(found[1]) if (found := re.search(rf"\s(?:{name})[ =]*([0-9]{{1,4}})(?=\s|\Z)", options)) else 1
        for name in ("-g|--ngpus", "-t|--nthreads")
    )


def _is_launched(command: str) -> bool:
    return any(PurePath(word).name in LAUNCHERS for word in command.split())
