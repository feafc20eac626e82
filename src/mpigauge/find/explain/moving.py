"""Whether a message moves while ranks compute: by itself, by the processor of one side, or in calls of MPI.

MPI lets a library wait for the next call (MPI 4.1, 2.9), so that none of this is a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, get_args

from mpigauge import units
from mpigauge.compare.two import VERDICT_NEEDS
from mpigauge.document.cell_names import sized_subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import WORDS, phrases_of
from mpigauge.find.explain.contrasts import BUILD
from mpigauge.find.fact import weight_of
from mpigauge.find.phrases import in_one_line, share
from mpigauge.plan.factors import PLACE
from mpigauge.rows.group import STATE, each_state, group
from mpigauge.stats.interval import Number
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.units import counted
from mpigauge.vocabulary import OverheadOf

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

HOW = frozenset({"mode", "tests"})
"""Factors in which messages beside the same computation, or beside none, differ."""

ONE_OF_TWO = [name for name in WORDS if name in {"setting", *BUILD, *PLACE}]
"""Factors that are told of one of two messages, if they differ in them."""

SIDES: Mapping[OverheadOf, str] = {"": "", "send": "sender", "receive": "receiver"}


@dataclass(frozen=True, slots=True)
class Moving:
    """Mover of a message of some size while ranks compute, and the parts of its time that are hidden.

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
    hidden: Number | None
    from_sender: Number | None
    from_receiver: Number | None
    tested: Number | None
    tests: int
    test_s: float | None
    launches: int
    cells: tuple[Cell, ...]

    @property
    def weight(self) -> float:
        """Large messages, which take longest, before small ones."""
        return float(self.of.cell.bytes)


@dataclass(frozen=True, slots=True)
class HiddenBeside:
    """Parts of a message's time that are hidden with one setting, library or place, and with another.

    Attributes:
        of: The message with the first.
        other: The message with the other.
        side: The side that computes alone; "" if both do.
        hidden: With the first.
        beside: With the other, so far from it that their intervals do not meet.
        alone_s: What the message takes without a computation, with the first: progress may have its price.
        other_alone_s: With the other.
    """

    of: Subject
    other: Subject
    side: OverheadOf
    hidden: Number
    beside: Number
    alone_s: float
    other_alone_s: float

    @property
    def weight(self) -> float:
        """How far apart they are; large messages before small ones."""
        return self.of.cell.bytes * abs(self.beside.estimate - self.hidden.estimate)


# ---- Found ---------------------------------------------------------------------------------------


def movings(evidence: Evidence) -> Iterator[Moving]:
    """Yield what moves the messages of each size, library and place."""
    for alike in group(_messages(evidence), HOW):
        if (fact := _moving(evidence, alike)) is not None:
            yield fact


def hidden_beside(evidence: Evidence) -> Iterator[HiddenBeside]:
    """Yield each setting, library and place that hides another part of a message than the first does."""
    for factors in (frozenset({"setting"}), BUILD, PLACE):
        alike = group(_messages(evidence), {*factors, *HOW, STATE})
        for rows in (mine for all_states in alike for mine in each_state(all_states)):
            first, *others = group(rows, {*HOW, STATE})
            pairs = ([*_pairs(evidence, first, mine)] for mine in others)
            yield from (max(found, key=weight_of) for found in pairs if found)


def _pairs(evidence: Evidence, rows: Sequence[Row], others: Sequence[Row]) -> Iterator[HiddenBeside]:
    """Yield what differs, of the same ranks that compute with as many calls of MPI_Test."""
    for row, other in product(rows, others):
        mode, hidden, beside = evidence.mode_of(row), _hidden(row), _hidden(other)
        if hidden is None or beside is None or mode is None or row.overlap is None or other.overlap is None:
            continue
        if (row.cell.mode, row.cell.tests) == (other.cell.mode, other.cell.tests) and _differ(hidden, beside):
            alone = row.overlap.pure_s, other.overlap.pure_s
            yield HiddenBeside(row.of, other.of, mode.computing, hidden, beside, *alone)


def _differ(one: Number, other: Number) -> bool:
    if not (_is_told(one) and _is_told(other)):
        return False
    low, high = sorted((one, other), key=lambda part: part.estimate)
    return low.high is not None and high.low is not None and low.high < high.low


def _messages(evidence: Evidence) -> list[Row]:
    """Return the rows of messages beside a computation, without persistent requests."""
    return [
        row
        for row in evidence.rows
        if row.time is not None
        and row.overlap is not None
        and evidence.patterns[row.cell.pattern].family == "message"
        and (mode := evidence.mode_of(row)) is not None
        and not mode.binds_buffers
    ]


def _moving(evidence: Evidence, rows: Sequence[Row]) -> Moving | None:
    sides = {side: _first(evidence, rows, side) for side in get_args(OverheadOf)}
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


def _hidden(row: Row | None) -> Number | None:
    if row is None or row.overlap is None or row.time is None:
        return None
    return Number(*row.overlap.ends, len(row.time.by_launch))


def _mover(
    both: Number | None, sender: Number | None, receiver: Number | None, tested: Number | None
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


def _is_told(part: Number | None) -> bool:
    """Return whether a part is known well enough to be told: as a verdict, from as many launches."""
    if part is None or part.low is None or part.high is None or part.launches < LAUNCHES_OF_A_VERDICT:
        return False
    return part.high - part.low < OPEN


def _moves(part: Number | None) -> bool:
    return part is not None and _is_told(part) and part.estimate > MOST


def _stays(part: Number | None) -> bool:
    return part is not None and _is_told(part) and part.estimate < LEAST


def _test_s(without: Row | None, tested: Row | None) -> float | None:
    """Return what a call of MPI_Test adds to the operation without a computation."""
    if without is None or tested is None or without.overlap is None or tested.overlap is None:
        return None
    return (tested.overlap.pure_s - without.overlap.pure_s) / tested.cell.tests


# ---- Sentences -----------------------------------------------------------------------------------


def headline(fact: Moving, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line what moves a message while ranks compute, and which part of its time that hides."""
    about = f"{_about(fact, varied)}: "
    first, *more = _parts(fact, interval=False)
    return in_one_line([f"{about}{'; '.join([first, *more[:most]])}" for most in (len(more), 1, 0)])


def sentence(fact: Moving, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what moves a message, how much of its time is hidden from whom, and what MPI_Test costs."""
    parts = _parts(fact, interval=True)
    if fact.test_s is not None and fact.test_s > 0:
        parts.append(f"each MPI_Test takes {units.format_time(fact.test_s, chosen.time)}")
    return f"{_about(fact, varied)}: {'; '.join(parts)}"


def beside(fact: HiddenBeside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return which part is hidden with the first of two and with the other, and what each takes alone."""
    phrases = [phrases_of(of.cell, ONE_OF_TWO) for of in (fact.of, fact.other)]
    first, other = (
        " ".join(phrase for name, phrase in mine.items() if theirs.get(name) != phrase)
        for mine, theirs in (phrases, phrases[::-1])
    )
    said = {name for mine in phrases for name in mine} | HOW
    who = f"while the {SIDES[fact.side]} computes" if fact.side else "while both compute"
    tests = f" with {counted(fact.of.cell.tests, 'call')} of MPI_Test" if fact.of.cell.tests else ""
    return (
        f"{sized_subject(fact.of, varied, said)}: {who}{tests} "
        f"{share(fact.hidden)} of {units.format_time(fact.alone_s, chosen.time)} is hidden with {first}, "
        f"{share(fact.beside)} of {units.format_time(fact.other_alone_s, chosen.time)} with {other}"
    )


def _about(fact: Moving, varied: Collection[str]) -> str:
    return sized_subject(fact.of, varied, {"mode", "tests"})


def _parts(fact: Moving, *, interval: bool) -> list[str]:
    """Return what moves it with the parts that show it, then what else was measured and is known."""

    def hidden(part: Number | None) -> str:
        if part is None or not _is_told(part):
            return ""
        return share(part) if interval else units.format_percent(part.estimate)

    both, sender, receiver, tested = map(
        hidden, (fact.hidden, fact.from_sender, fact.from_receiver, fact.tested)
    )
    of_both = f"while both compute {both} is hidden" if both else ""
    with_tests = f"with {counted(fact.tests, 'call')} of MPI_Test {tested}" if tested else ""
    no_help = f"MPI_Test does not help ({tested})" if _stays(fact.tested) else with_tests
    sides = [
        f"{part} from a {side} that computes"
        for side, part in (("sender", sender), ("receiver", receiver))
        if part
    ]
    in_both = ", ".join(filter(None, [of_both, with_tests]))
    first, more = {
        "receiver": (f"copied by the receiver: {_from_both(fact, sender, receiver)}", [no_help, of_both]),
        "sender": (f"moved by the sender: {_from_both(fact, sender, receiver)}", [no_help, of_both]),
        "itself": (f"moves while both ranks compute: {both} is hidden", []),
        "test": (f"moves in calls of MPI: {in_both}", sides),
        "wait": (f"moves in the call that waits for it: {in_both}", sides),
        "": (_from_both(fact, sender, receiver), [no_help, of_both])
        if sender and receiver
        else (in_both, sides),
    }[fact.mover]
    why = f" ({VERDICT_NEEDS})" if fact.launches < LAUNCHES_OF_A_VERDICT else ""
    return [*filter(None, [first, *more])] or [f"how much of it is hidden is not known{why}"]


def _from_both(fact: Moving, sender: str, receiver: str) -> str:
    """Return from whom it is hidden, first the sender, unless it moves the message; with these parts."""
    words = _word(fact.from_sender), _word(fact.from_receiver)
    if words[0] == words[1]:
        return f"{words[0]} from a sender or a receiver that computes ({sender}, {receiver})"
    if fact.mover == "sender":
        return f"hidden from a receiver that computes ({receiver}), not from a sender ({sender})"
    other = words[1].replace("not hidden", "not")
    return f"{words[0]} from a sender that computes ({sender}), {other} from a receiver ({receiver})"


def _word(part: Number | None) -> str:
    """Return whether a part of the time is hidden, in words."""
    return "hidden" if _moves(part) else "not hidden" if _stays(part) else "hidden in part"
