"""A kernel plan as a file of its own: handed out to people whose launcher starts the kernel, and read again.

The kernel stops reading at the line `end`. What stands behind it is for whoever reads the journals later:
one line of JSON with the plan that the visits are from, and what the kernel said of their patterns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from mpigauge.errors import UsageError
from mpigauge.plan.cells import ROTATING
from mpigauge.plan.model import Cell, Pairs, Plan, Sync
from mpigauge.plan.patterns import KERNEL_VERSION, Pattern

_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)

HINT = "mpigauge kernel plan writes one; name that file, then the journals"
END = "end"


class Source(Struct, frozen=True, forbid_unknown_fields=True):
    """What a kernel plan was made from.

    Attributes:
        mpigauge: The version that made it.
    """

    mpigauge: str
    plan: Plan
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Handout:
    """A kernel plan that was read again.

    Attributes:
        cells: By visit; of no library yet.
    """

    path: Path
    source: Source
    ranks: int
    cells: Mapping[int, Cell]


def with_source(text: str, source: Source) -> str:
    """A kernel plan that can be read again."""
    return f"{text}{msgspec.json.encode(source).decode()}\n"


def read_handout(path: Path) -> Handout:
    """Reads a kernel plan that `with_source` has made.

    Raises:
        UsageError: It cannot be read or is none; names the file and the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", HINT) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not a plan of the kernel", HINT) from None
    if END not in lines or not lines[0].startswith("launch "):
        raise UsageError(f"{path}: is not a plan of the kernel", HINT)
    last = lines.index(END)
    source = _source(path, lines[last + 1 :])
    launch = _Line(path, 1, lines[0])
    if launch.number("version") != KERNEL_VERSION:
        raise UsageError(
            f"{path}: has version {launch.number('version')}, this mpigauge needs {KERNEL_VERSION}",
            "import it with the mpigauge that made it",
        )
    ranks = launch.number("ranks")
    cells = {}
    for number, text in enumerate(lines[1:last], start=2):
        line = _Line(path, number, text)
        cells[line.number("id")] = _cell(line, ranks, source)
    return Handout(path, source, ranks, cells)


def _source(path: Path, rest: Sequence[str]) -> Source:
    try:
        return msgspec.json.decode(rest[0] if rest else "", type=Source)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: the source line after `end` is missing or wrong: {error}", HINT) from None


class _Line:
    """The words of a line, by name."""

    def __init__(self, path: Path, number: int, text: str) -> None:
        self._where = f"{path}: line {number}"
        self._values = dict(word.partition("=")[::2] for word in text.split()[1:])

    def word(self, name: str, default: str | None = None) -> str:
        value = self._values.get(name, default)
        if value is None:
            raise UsageError(f"{self._where}: {name} is missing", HINT)
        return value

    def number(self, name: str, default: str | None = None) -> int:
        word = self.word(name, default)
        if not _NUMBER.fullmatch(word):
            raise UsageError(f"{self._where}: {name} is not a number", HINT)
        return int(word)

    def root(self) -> str:
        """A rank or "rotating"; empty if there is none."""
        word = self.word("root", "")
        return ROTATING if word == "-1" else str(self.number("root")) if word else ""

    def pair(self, ranks: int) -> str:
        word = self.word("pair", "")
        found = _PAIR.fullmatch(word)
        if word and (found is None or not int(found[1]) < int(found[2]) < ranks):
            raise UsageError(f"{self._where}: {word!r} is not a pair of {ranks} ranks", HINT)
        return word

    def sync(self) -> Sync | Literal[""]:
        word = self.word("sync", "")
        try:
            return msgspec.convert(word, Sync) if word else ""
        except msgspec.ValidationError:
            raise UsageError(f"{self._where}: {word!r} is not a way to start a collective", HINT) from None

    def pattern(self, patterns: Sequence[Pattern]) -> Pattern:
        name = self.word("pattern")
        found = next((pattern for pattern in patterns if pattern.name == name), None)
        if found is None:
            raise UsageError(f"{self._where}: the pattern {name!r} is not described", HINT)
        return found

    def mode(self, pattern: Pattern) -> str:
        name = self.word("mode")
        if pattern.mode(name) is None:
            raise UsageError(f"{self._where}: the mode {name!r} of {pattern.name} is not described", HINT)
        return name


def _cell(line: _Line, ranks: int, source: Source) -> Cell:
    pattern = line.pattern(source.patterns)
    pair = line.pair(ranks)
    return Cell(
        pattern=pattern.name,
        mode=line.mode(pattern),
        bytes=line.number("bytes"),
        ranks=ranks,
        mpi="",
        mpi_version="",
        buffers="cold" if line.number("pool_bytes") else "warm",
        window=line.number("window") if pattern.windowed else 0,
        sync=line.sync(),
        datatype=line.word("datatype", ""),
        op=line.word("op", ""),
        root=line.root(),
        in_place=line.word("in_place", "0") == "1",
        pair=pair,
        pairing=pairing_of(source.plan) if pair else "",
    )


def pairing_of(plan: Plan) -> Pairs:
    """How the pairs of a plan are measured: the same for all of them, or it is none to hand out."""
    return next((measure.pairs for measure in plan.measure if measure.pairs), "")
