"""Times of other programs as they are read, and the result that they become."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace as with_fields

from mpigauge.errors import UsageError
from mpigauge.formats import recognised
from mpigauge.formats.printed import content_of
from mpigauge.plan.benchmarks import OWN_CELL
from mpigauge.plan.model import Cell, Measure, Plan, check_words
from mpigauge.plan.patterns import ONE, Mode, Pattern, Sampling, Terms, Volumes, known
from mpigauge.result.checked import NUMBER_MOST
from mpigauge.result.records import End, Failure, Imported, Record, campaign_of
from mpigauge.result.surroundings import LibraryRecord
from mpigauge.vocabulary import IMPORTED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mpigauge.formats.printed import Line
    from mpigauge.result.surroundings import Environment
    from mpigauge.vocabulary import FailureKind

_UNNAMED = {"ranks": 0, "mpi": UNKNOWN, "mpi_version": ""}
LAUNCH = 1
"""What is imported was one launch, of which nothing is known."""

TITLES_MOST = 2
TOO_SHORT = "is printed as 0: smaller than its last digit"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the numbers of a table are of.

    Attributes:
        pattern: Our name, or that of the other program for what we do not measure.
        time_of: What one time is.
        directions: How many times its size a message moves; 2 doubles the rate.
        operation: Bytes of an operation, for patterns that are not ours.
        rated: Whether a rate makes sense: not where it depends on ranks that nobody names.
        windowed: Whether its numbers are rates of many messages in flight.
        overlaps: Whether its time has a computation in it.
    """

    pattern: str
    mode: str = "standard"
    time_of: str = ""
    directions: int = 1
    operation: Terms = ONE
    sized: bool = True
    rated: bool = True
    windowed: bool = False
    overlaps: bool = False

    def with_mode(self, mode: str) -> Meaning:
        """The same, done otherwise."""
        return replace(self, mode=mode)

    def alone(self, mode: str) -> Meaning:
        """The operation without the computation."""
        return replace(self, mode=mode, overlaps=False)


class Collected:
    """Times and failures by cell.

    Attributes:
        form: The format that is read, by its name in `formats.READERS`.
        titles: Of what was read, in its order.
    """

    def __init__(self, form: str) -> None:
        self.form = form
        self.titles: dict[str, None] = {}
        self._records: list[Imported | Failure] = []
        self._places: dict[Cell, str] = {}
        self._meanings: dict[Cell, Meaning] = {}

    def take(self, meaning: Meaning, cell: Cell, time_s: float, statistic: str, line: Line) -> None:
        """A time; one that is printed as 0 is too short to be known, and no number.

        Raises:
            UsageError: The same cell was read before; or no result can have it, or the time.
        """
        if math.isnan(time_s) or time_s > NUMBER_MOST:
            raise line.refused("has a time that is not a number", "correct the line, or delete it")
        if time_s <= 0:
            self.fail(meaning, cell, "refused", TOO_SHORT, line)
            return
        self._enter(meaning, cell, line)
        self._records.append(Imported(cell, time_s, None, statistic, line.where))

    def fail(self, meaning: Meaning, cell: Cell, kind: FailureKind, words: str, line: Line) -> None:
        """A cell without a number, and why it has none.

        Raises:
            UsageError: The same cell was read before.
        """
        self._enter(meaning, cell, line)
        self._records.append(Failure(LAUNCH, kind, words, None, cell))

    def _enter(self, meaning: Meaning, cell: Cell, line: Line) -> None:
        if wrong := _wrong(cell):
            raise line.refused(f"no result can have this: {wrong}", "correct the line, or delete it")
        if cell in self._places:
            raise line.refused(
                f"measures the same cell as {self._places[cell]}",
                "put each run into a file of its own: mpigauge show first.txt second.txt --table times",
            )
        self._places[cell] = line.where
        self._meanings[cell] = meaning

    def records(self, paths: Iterable[Path], environment: Environment | None = None) -> list[Record]:
        """A result.

        Raises:
            UsageError: There is no number in one of the files.
        """
        given = {where.rpartition(": ")[0] for where in self._places.values()}
        for path in paths:
            if str(path) not in given:
                raise self._nothing(path)
        cells = tuple(self._places)
        patterns = dict.fromkeys(cell.pattern for cell in cells)
        libraries = dict.fromkeys((cell.mpi, cell.mpi_version, cell.label) for cell in cells)
        campaign = campaign_of(
            Plan(tuple(map(Measure, patterns)), title=self._title),
            (LibraryRecord(mpi, version, origin=IMPORTED, label=label) for mpi, version, label in libraries),
            map(self._pattern, patterns),
            cells,
            environment=environment,
        )
        return [campaign, *self._records, End(IMPORTED, 0.0, "")]

    def _nothing(self, path: Path) -> UsageError:
        """What there is to say of a file that gives no number."""
        other = recognised(content_of(path))
        if other is None or other == self.form:
            return UsageError(f"{path}: has no number in it", "it must have a heading and rows below it")
        name = shlex.quote(str(path))
        return UsageError(
            f"{path}: is of the format {other}, not {self.form}", f"mpigauge import {other} {name}"
        )

    @property
    def _title(self) -> str:
        names = list(self.titles)
        return ", ".join(names) if len(names) <= TITLES_MOST else f"{names[0]} and {len(names) - 1} more"

    def _pattern(self, name: str) -> Pattern:
        """What is known of a pattern: of ours its kind and volumes, never how samples are taken."""
        meanings = [meaning for cell, meaning in self._meanings.items() if cell.pattern == name]
        first, own = meanings[0], known().get(name)
        modes = {one.mode: _mode(one) for one in meanings}
        sized = any(one.sized for one in meanings)
        rated = all(one.rated for one in meanings)
        bare = Pattern(
            name=name,
            about=self._title,
            time_of=first.time_of,
            sampling=IMPORTED,
            min_ranks=1,
            active_ranks=own.active_ranks if own else 0,
            windowed=first.windowed,
            moves_bytes=sized and rated,
            modes=tuple(modes.values()),
            spans_bytes=sized and not rated,
            volumes=Volumes(operation=first.operation),
        )
        if own is None:
            return bare
        kept = {"volumes": own.volumes, "bus": own.bus} if rated else {}
        return with_fields(
            bare, family=own.family, one_way=own.one_way, reduces=own.reduces, sampled=Sampling(), **kept
        )


def _mode(meaning: Meaning) -> Mode:
    return Mode(meaning.mode, "", meaning.directions, False, False, False, overlaps=meaning.overlaps)


def cell_of(meaning: Meaning, size_bytes: int, ranks: int, given: Cell | None = None, **more: Any) -> Cell:
    """A cell of which nobody says with which library, and where its ranks were.

    Args:
        given: All other factors, where the text is one that we have written.
    """
    if given is not None:
        return with_fields(given, pattern=meaning.pattern, mode=meaning.mode, bytes=size_bytes)
    return Cell(
        pattern=meaning.pattern,
        mode=meaning.mode,
        bytes=size_bytes,
        ranks=ranks,
        mpi=UNKNOWN,
        mpi_version="",
        placement=UNKNOWN,
        **more,
    )


def _wrong(cell: Cell) -> str:
    """What a result could be written with, and not be read again; empty if nothing is."""
    try:
        check_words(msgspec.convert(msgspec.to_builtins(cell), Cell))
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def given_by(line: Line) -> Cell | None:
    """The factors that a comment of ours names; None if the line is none.

    Raises:
        UsageError: They are damaged.
    """
    if not line.text.startswith(OWN_CELL):
        return None
    try:
        named = msgspec.json.decode(line.text.removeprefix(OWN_CELL), type=dict[str, Any])
        cell = msgspec.convert({**_UNNAMED, **named, "pattern": "", "mode": "", "bytes": 0}, Cell)
        check_words(cell)
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        why = str(error).splitlines()[0][:100]
        raise line.refused(f"the factors of the table are damaged: {why}", "delete the line") from None
    return cell
