"""Whether a message moves while ranks compute: by itself, by the processor of one side, or in calls of MPI.

MPI lets a library wait for the next call (MPI 4.1, 2.9), so that none of this is a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import Measured
from mpigauge.find.phrases import in_one_line, subject
from mpigauge.rows.group import group
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import Mover

MOST = 0.8
"""A larger part of a message's time is hidden: it moves meanwhile."""

LEAST = 0.2
"""A smaller part is not."""

OPEN = 0.6
"""An interval as wide as the distance between the two tells neither."""


@dataclass(frozen=True, slots=True)
class Moving:
    """What moves a message of some size while ranks compute.

    Attributes:
        of: The message whose ranks all compute, or the first that was measured.
        mover: What moves it; "" if it is hidden in part, or that is not known.
        hidden: Part of its time that is hidden while both ranks compute; None if that was not measured.
        from_sender: While the sender alone does.
        from_receiver: While the receiver alone does.
        tested: While both do, with calls of MPI_Test.
        tests: How many of these.
        test_s: What each of them costs beside none, without a computation; None if that is not known.
    """

    of: Subject
    mover: Mover
    hidden: Measured | None
    from_sender: Measured | None
    from_receiver: Measured | None
    tested: Measured | None
    tests: int
    test_s: float | None
    launches: int
    cells: tuple[Cell, ...]

    @property
    def cell(self) -> Cell:
        """The message whose ranks all compute."""
        return self.of.cell

    @property
    def rests_on(self) -> frozenset[Cell]:
        """All modes."""
        return frozenset(self.cells)

    @property
    def weight(self) -> float:
        """Large messages, which take longest, before small ones."""
        return float(self.cell.bytes)


# ---- Found ---------------------------------------------------------------------------------------


def movings(evidence: Evidence) -> Iterator[Moving]:
    """Yield what moves the messages of each size, library and place."""
    rows = [row for row in evidence.rows if row.overlap is not None and _is_message(evidence, row)]
    for alike in group(rows, {"mode", "tests"}):
        usual = [row for row in alike if not _binds(evidence, row)]
        if usual and (fact := _moving(evidence, usual)) is not None:
            yield fact


def _is_message(evidence: Evidence, row: Row) -> bool:
    return evidence.patterns[row.cell.pattern].family == "message"


def _binds(evidence: Evidence, row: Row) -> bool:
    """Return whether its requests are persistent: their messages are told apart from the usual ones."""
    mode = evidence.mode_of(row)
    return mode is not None and mode.binds_buffers


def _moving(evidence: Evidence, rows: Sequence[Row]) -> Moving | None:
    sides = {side: _first(evidence, rows, side) for side in ("", "send", "receive")}
    tested = max((row for row in rows if row.cell.tests), key=lambda row: row.cell.tests, default=None)
    measured = [row for row in (*sides.values(), tested) if row is not None]
    if sides[""] is None and len(measured) <= 1:
        return None
    both, sender, receiver, testing = (_hidden(row) for row in (*sides.values(), tested))
    return Moving(
        measured[0].of,
        _mover(both, sender, receiver, testing),
        both,
        sender,
        receiver,
        testing,
        tested.cell.tests if tested is not None else 0,
        _test_s(sides[""], tested),
        min(len(row.time.by_launch) for row in measured if row.time is not None),
        tuple(row.cell for row in measured),
    )


def _first(evidence: Evidence, rows: Sequence[Row], side: str) -> Row | None:
    """Return the row whose ranks of a side compute, and make no other calls; None if it was not measured."""
    for row in rows:
        mode = evidence.mode_of(row)
        if mode is not None and mode.computing == side and not row.cell.tests:
            return row
    return None


def _hidden(row: Row | None) -> Measured | None:
    if row is None or row.overlap is None or row.time is None:
        return None
    return Measured(row.overlap.estimate, row.overlap.low, row.overlap.high, len(row.time.by_launch))


def _mover(
    both: Measured | None, sender: Measured | None, receiver: Measured | None, tested: Measured | None
) -> Mover:
    """Return what moves a message, given which part of its time is hidden from whom."""
    if _moves(both):
        return "itself"
    if _moves(sender) and _stays(receiver):
        return "receiver"
    if _moves(receiver) and _stays(sender):
        return "sender"
    if _stays(both) and _moves(tested):
        return "test"
    if _stays(both) and _stays(sender) and _stays(receiver) and _stays(tested):
        return "wait"
    return ""


def _is_told(part: Measured | None) -> bool:
    return part is not None and part.low is not None and part.high is not None and part.high - part.low < OPEN


def _moves(part: Measured | None) -> bool:
    return part is not None and _is_told(part) and part.estimate > MOST


def _stays(part: Measured | None) -> bool:
    return part is not None and _is_told(part) and part.estimate < LEAST


def _test_s(without: Row | None, tested: Row | None) -> float | None:
    """Return what a call of MPI_Test adds to the operation without a computation."""
    if without is None or tested is None or without.overlap is None or tested.overlap is None:
        return None
    return (tested.overlap.pure_s - without.overlap.pure_s) / tested.cell.tests


# ---- Sentences -----------------------------------------------------------------------------------

_WORDS: Mapping[Mover, str] = {
    "itself": "moves while both ranks compute",
    "receiver": "copied by the receiver",
    "sender": "moved by the sender",
    "test": "waits for a call of MPI",
    "wait": "moves when both wait for it",
    "": "hidden in part",
}


def headline(fact: Moving, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what moves a message while ranks compute."""
    del chosen
    about = f"{_about(fact, varied)}: {_WORDS[fact.mover]}"
    return in_one_line([f"{about}: {'; '.join(_parts(fact)[:most])}" for most in (3, 2, 1)] + [about])


def sentence(fact: Moving, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what moves a message, and how much of its time is hidden from whom."""
    said = f"{_about(fact, varied)}: {_WORDS[fact.mover]}: {'; '.join(_parts(fact))}"
    if fact.test_s is None:
        return said
    return f"{said}; each MPI_Test {units.format_time(max(fact.test_s, 0.0), chosen.time)}"


def _about(fact: Moving, varied: Collection[str]) -> str:
    return f"{subject(fact.of, {*varied}, {'mode', 'tests'})}, {units.format_size(fact.cell.bytes)}"


def _parts(fact: Moving) -> list[str]:
    """Return which part of its time is hidden from whom, those that tell the mover first."""
    said = {
        "sender": _hides(fact.from_sender, "hidden from a sender that computes"),
        "receiver": _hides(fact.from_receiver, "from a receiver"),
        "both": _hides(fact.hidden, "hidden while both compute"),
        "tested": _hides(fact.tested, f"with {counted(fact.tests, 'call')} of MPI_Test"),
    }
    first = ("sender", "receiver") if fact.mover in {"sender", "receiver"} else ("both", "tested")
    return [said[name] for name in dict.fromkeys((*first, *said)) if said[name]]


def _hides(part: Measured | None, where: str) -> str:
    if part is None:
        return ""
    return f"{where} {units.format_percent(part.estimate) if _is_told(part) else 'not known'}"
