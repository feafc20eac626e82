"""The few numbers that answer for a whole result: which cells, by what patterns say of themselves."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.compare.session_sentences import count_of
from mpigauge.document.core_words import cores_of
from mpigauge.document.document import AUTOMATIC, DOT
from mpigauge.document.origin_words import host_of, names_replaced, processor_of
from mpigauge.document.phrases import DETAILS as CELL_DETAILS
from mpigauge.document.phrases import OF_JOB, SAID_WITH, UNSAID, WORDS, mode_name, phrases_of
from mpigauge.find.imported import launches_of
from mpigauge.find.memory_costs import CostInCopies, cost_of, curves_in_copies
from mpigauge.plan.factors import ALONG, BY_NAME, CURVE
from mpigauge.plan.patterns import PAIR_OF_RANKS, default_mode, known, times_alone
from mpigauge.result.files import as_argument, resume_command
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.estimate import Printed
from mpigauge.rows.group import STATE, Subject, each_state, group, subject_of
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.transport.proof import reports
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Number
from mpigauge.vocabulary import (
    QUOTED_ALONE,
    QUOTED_BY_MODE,
    QUOTED_BY_PATTERN,
    QUOTED_MESSAGES,
    QUOTED_RATES,
    QUOTED_TIMES,
    UNKNOWN,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mpigauge.document.document import Units
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.rows.machine.sessions import OverSessions
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import QuotedAs

QUOTED_BYTES = 8
"""The message whose time is quoted: one double; the nearest to it where it was not measured."""

BOTH_DIRECTIONS = 2

FEWEST_LAUNCHES = 3
"""Launches whose interval is quoted beside another number or in a sentence: that of two is nearly any."""

MAX_WAYS = 8
"""Most lines of one question where a pattern was measured in several ways."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A cell that answers one question.

    Attributes:
        pattern: What the cell is of.
        row: The cell; its time, rate or limit is the answer.
        largest: The cell of the largest message of the same curve, where that is another one.
        cost: Of `copies`: what a curve of messages costs in copies.
    """

    quoted_as: QuotedAs
    pattern: Pattern
    row: Row
    largest: Row | None = None
    cost: CostInCopies | None = None

    @property
    def of_largest(self) -> Quote | None:
        """Return the same of the largest message, where that is another one."""
        return None if self.largest is None else replace(self, row=self.largest, largest=None)

    @property
    def awaited(self) -> bool:
        """Whether a size that would rather be quoted is still to be measured; a latency names its size."""
        if self.quoted_as == "message-rate":
            return self.row.typical_awaited
        return self.row.best_awaited and self.quoted_as in (*QUOTED_RATES, "copies")

    @property
    def of_one_launch(self) -> bool:
        """Whether it rests on a single launch, so that nothing says how sure it is."""
        time = self.row.time
        return self.unit != "B" and time is not None and time.launches == 1 and not self.row.imported

    @property
    def is_known(self) -> bool:
        """Whether no interval is wider than the number itself; that of one launch has none."""
        return self.half_width is None or self.half_width <= 1

    @property
    def unit(self) -> str:
        """The SI unit of the value; 1 for a ratio."""
        return UNITS.get(self.quoted_as, "s")

    @property
    def value(self) -> float | None:
        """The number itself, in SI."""
        match self.unit:
            case "B/s":
                return self.row.rate_bytes_per_s
            case "1/s":
                return self.row.messages_per_s
            case "B":
                return self.row.limit_bytes
            case "1":
                return self.ratio.estimate if self.ratio else None
        return self.row.time.estimate if self.row.time else None

    @property
    def ratio(self) -> Ratio | None:
        """The ratio of a message to a copy of its size, where the quote is of copies."""
        return self.row.ratios[self.cost.name] if self.cost else None

    @property
    def low(self) -> float | None:
        """The lower end of its 95 % interval, in SI; None where there is none."""
        return self._ends[0]

    @property
    def high(self) -> float | None:
        """The upper end."""
        return self._ends[1]

    @property
    def _ends(self) -> tuple[float | None, float | None]:
        """Both ends of the interval, in SI; for a rate, those of its time the other way round."""
        if self.ratio is not None:
            return self.ratio.low, self.ratio.high
        time, value = self.row.time, self.value
        if self.unit == "B" or value is None or time is None or time.low is None or time.high is None:
            return None, None
        if self.unit == "s":
            return time.low, time.high
        return value * time.estimate / time.high, value * time.estimate / time.low if time.low > 0 else None

    @property
    def half_width(self) -> float | None:
        """The half-width of the 95 % interval over the value; None where there is no interval."""
        if self.ratio is not None:
            return self.ratio.half_width
        return self.row.time.half_width if self.row.time else None

    @property
    def is_uneven(self) -> bool:
        """Whether both ends of its interval must be seen."""
        return self.value is not None and Number(self.value, self.low, self.high).is_uneven

    @property
    def sessions(self) -> OverSessions | None:
        """Its time over sessions; None if the quote does not follow from a time."""
        return self.row.sessions if self.unit in UNITS_OF_TIMES else None

    @property
    def value_over_sessions(self) -> float | None:
        """The number over sessions, in SI."""
        if self.sessions is None or self.value is None or self.row.time is None:
            return None
        longer = self.sessions.time.estimate / self.row.time.estimate
        return self.value * longer if self.unit == "s" else self.value / longer


UNITS: Mapping[QuotedAs, str] = {
    **dict.fromkeys(QUOTED_RATES, "B/s"),
    **dict.fromkeys(QUOTED_MESSAGES, "1/s"),
    "eager-limit": "B",
    "copies": "1",
}
"""Of quotes that are not times."""

UNITS_OF_TIMES = ("s", "B/s", "1/s")
"""Of times, and of what follows from one."""


Like = tuple[object, ...]
"""The factors that cells in one line of an answer share: all but the job, without usual values."""

Preference = tuple[float, ...]
"""The smallest is quoted."""


class AnswerCandidate(NamedTuple):
    """A cell that could answer a question, and how well it would."""

    preference: Preference
    quote: Quote


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question with every cell of a job that could answer it.

    Attributes:
        name: What tells it from the other questions.
        way: The values of what was varied that it is asked of; empty if any may answer.
    """

    name: Like
    choices: Mapping[Like, AnswerCandidate]
    way: Like = ()

    @property
    def best(self) -> Quote:
        """The cell that answers it where nothing stands beside it."""
        return min(self.choices.values(), key=lambda choice: choice.preference).quote

    @property
    def of_messages(self) -> bool:
        """Whether it is about messages between two ranks."""
        return all(
            _is_message(choice.quote.pattern) and choice.quote.pattern.active_ranks == PAIR_OF_RANKS
            for choice in self.choices.values()
        )

    @property
    def of_plain_mode(self) -> Question:
        """Question about messages to cells in the usual mode alone, if there are any; else itself."""
        if self.name[0] not in QUOTED_BY_MODE:
            return self
        plain = {
            like: choice
            for like, choice in self.choices.items()
            if choice.quote.row.cell.mode == default_mode(choice.quote.pattern)
        }
        return replace(self, choices=plain or self.choices)

    def ways(self, factors: Collection[str]) -> dict[Like, Question]:
        """Return the same question for each way that could answer it: for the values of these factors."""
        ways = group_by(self.choices.items(), lambda choice: _values(choice[1].quote.row.cell, factors))
        return {way: Question((*self.name, *way), dict(choices), way) for way, choices in ways.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The quotes of one job, in the order in which they are read.

    Attributes:
        of: One of the numbers, in the state of the machine that all are of; None if that had one only, or
            one stands for it.
    """

    job: JobKey
    questions: tuple[Question, ...]
    of: Subject | None = None

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """The best cell for each question."""
        return tuple(question.best for question in self.questions)


@dataclass(frozen=True, slots=True, eq=False)
class QuoteLine:
    """A question that was asked of one or several jobs.

    Attributes:
        quotes: What each of them answers; None where it cannot.
        alike: Whether all quotes are of one curve and one size.
        modes: Whether the mode is to be said, since there are others of the same pattern.
        is_way: Whether it was asked of one way of several, which is then said.
        varied: Factors in which other cells of the same pattern differ, the mode aside.
        several_modes: Whether there are others of the same pattern, even if the mode is said beside.
    """

    quotes: tuple[Quote | None, ...]
    alike: bool
    modes: bool
    varied: frozenset[str] = frozenset()
    is_way: bool = False
    several_modes: bool = False

    @property
    def first(self) -> Quote:
        """The first that there is."""
        return next(quote for quote in self.quotes if quote is not None)


def answers(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> list[Answer]:
    """Return an answer for every job that has a number, in the order of the plan; the floor is no number.

    Args:
        patterns: Those of the result, by name.
    """
    jobs = group_by((row for row in rows if row.cell.pattern in patterns), lambda row: row.cell.job)
    found = [answer for job, mine in jobs.items() for answer in _in_each_state(job, mine, patterns)]
    return [one for one in found if one.questions]


def _in_each_state(job: JobKey, rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Answer]:
    """Yield one answer, or one per state that rows are of, each with the rows that have no state."""
    parts = each_state(rows)
    for mine in parts:
        yield Answer(job, tuple(_questions(mine, patterns)), subject_of(mine) if len(parts) > 1 else None)


def about_messages(answers: Sequence[Answer]) -> bool:
    """Return whether all that was measured is messages of two ranks: then several modes were varied."""
    asked = [
        question for one in answers for question in one.questions if question.name[0] not in QUOTED_ALONE
    ]
    return all(question.of_messages for question in asked)


def lines_of(answers: Sequence[Answer], room: int = 0) -> list[QuoteLine]:
    """Return every question that one of these jobs answers, in the order of the first that does.

    All are quoted at one size of one curve: of those that all of them have, the one that any of them would
    rather quote than any other, such as the best bandwidth. Without one that all have, each quotes its own,
    as far as the most of them do not agree.

    Args:
        room: How many lines there is room for: up to that, each way that was varied is asked for itself.
    """
    return lines_and_rest(answers, room)[0]


def lines_and_rest(answers: Sequence[Answer], room: int) -> tuple[list[QuoteLine], int]:
    """Return the lines of `lines_of`, and how many more there would be of ways beside those that have one."""
    questions = [question for one in answers for question in one.questions]
    choices = (choice for question in questions for choice in question.choices.values())
    cells = group_by((choice.quote.row.cell for choice in choices), lambda cell: cell.pattern)
    varied = {pattern: _varied_in(mine) for pattern, mine in cells.items()}
    fitting, rest = _fitting(answers, varied, room)
    asked = [{question.name: question for question in mine} for mine in fitting]
    return [_line([mine.get(name) for mine in asked], varied) for name in _names_of(fitting)], rest


Questions = list["Question"]
Varied = dict[str, frozenset[str]]
"""Factors in which the cells of each pattern differ."""


def _names_of(asked: Sequence[Questions]) -> dict[Like, None]:
    """Return the names of all questions, in their order."""
    return dict.fromkeys(question.name for mine in asked for question in mine)


def _fitting(answers: Sequence[Answer], varied: Varied, room: int) -> tuple[list[Questions], int]:
    """Return the questions of answers, those of ways where there is room for some, and of how many not."""
    asked = [[*one.questions] for one in answers]
    if not about_messages(answers):
        return _first_that_fits(((asked, (), most) for most in range(MAX_WAYS, 1, -1)), asked, varied, room)
    # Of many modes the first number has a row for each, the others are of the plain one: the best of many
    # curves is the luckiest.
    plain = [[question.of_plain_mode for question in mine] for mine in asked]
    leading = [name[0] for name in _names_of(asked) if name[0] in QUOTED_BY_MODE][:1]
    first_by_mode = [
        [question if question.name[0] in leading else question.of_plain_mode for question in mine]
        for mine in asked
    ]
    attempts = [
        (asked, QUOTED_BY_MODE, MAX_WAYS),
        (first_by_mode, leading, MAX_WAYS),
        *((plain, (), most) for most in range(MAX_WAYS, 1, -1)),
    ]
    return _first_that_fits(attempts, plain, varied, room)


def _first_that_fits(
    attempts: Iterable[tuple[Sequence[Questions], Collection[QuotedAs], int]],
    otherwise: list[Questions],
    varied: Varied,
    room: int,
) -> tuple[list[Questions], int]:
    """Return the first questions that there is room for, with those that are asked by mode, and the rest."""
    most_lines = 0
    for asked, by_mode, most in attempts:
        every = len(_names_of(_by_way(asked, varied, None, by_mode=by_mode)))
        most_lines = max(most_lines, every)
        found = _by_way(asked, varied, most, by_mode=by_mode)
        if len(_names_of(found)) <= room:
            return found, most_lines - len(_names_of(found))
    return otherwise, 0


def _by_way(
    asked: Sequence[Questions], varied: Varied, most: int | None, *, by_mode: Collection[QuotedAs]
) -> list[Questions]:
    """Return the questions of jobs, with one for each way, at most so many of each question.

    Args:
        most: None for all.
        by_mode: What is asked of messages between two ranks by mode, too.
    """
    ways = [[_ways_of(one, varied, by_mode) for one in mine] for mine in asked]
    every: dict[Like, dict[Like, None]] = {}
    for questions, mine in zip(asked, ways, strict=True):
        for question, each in zip(questions, mine, strict=True):
            every.setdefault(question.name, {}).update(dict.fromkeys(each))
    told = {
        name: _told(mine, most if most and name[0] in QUOTED_BY_PATTERN else len(mine))
        for name, mine in every.items()
    }
    return [
        [
            each[way]
            for question, each in zip(questions, mine, strict=True)
            for way in told[question.name]
            if way in each
        ]
        for questions, mine in zip(asked, ways, strict=True)
    ]


def _ways_of(question: Question, varied: Varied, by_mode: Collection[QuotedAs]) -> dict[Like, Question]:
    """Return a question by way: that of a pattern by all that was varied, one of messages by mode or not."""
    quoted_as, pattern = question.name[0], question.best.pattern.name
    if quoted_as in QUOTED_BY_PATTERN and varied[pattern]:
        return question.ways(varied[pattern])
    if quoted_as in by_mode:
        return question.ways({"mode"})
    return {(): question}


def _told(ways: Iterable[Like], most: int) -> list[Like]:
    """Return as many ways, in their order: first those that have values that no other has."""
    left, told, seen = [*ways], list[Like](), dict[object, set[object]]()
    order = {way: place for place, way in enumerate(left)}

    def known(way: Like) -> float:
        """Return how many values of a factor are told, of which the way has another one."""
        new = ((place, one) for place, one in enumerate(way) if one not in seen.get(place, ()))
        return min((len(seen.get(place, ())) for place, _ in new), default=math.inf)

    while left and len(told) < most:
        told.append(left.pop(left.index(min(left, key=known))))
        for place, one in enumerate(told[-1]):
            seen.setdefault(place, set()).add(one)
    return sorted(told, key=order.__getitem__)


def _varied_in(cells: Sequence[Cell]) -> frozenset[str]:
    """Return in what cells of one pattern differ: their job, their size and what follows aside."""
    differing = {name for name in ("mode", *TOLD_BESIDE) if _differ(cells, attrgetter(*_said_by(name)))}
    return frozenset(differing.difference(*(BY_NAME[name].brings for name in differing)))


def _differ(cells: Sequence[Cell], value: Callable[[Cell], object]) -> bool:
    """Return whether not all cells have one value."""
    usual = value(cells[0])
    return any(value(cell) != usual for cell in cells)


def _line(questions: Sequence[Question | None], varied: Mapping[str, frozenset[str]]) -> QuoteLine:
    """Return one question to all jobs.

    Args:
        varied: Factors in which the cells of a pattern differ.
    """
    known = [question for question in questions if question is not None]
    counts = Counter(like for question in known for like in question.choices)
    most = max(counts.values())
    shared = {like: _preferred(like, known) for like, count in counts.items() if count == most}
    wanted = min(shared, key=lambda like: shared[like])
    agreed = most > 1 or len(known) == 1
    quotes = tuple(
        None if one is None else one.choices[wanted].quote if agreed and wanted in one.choices else one.best
        for one in questions
    )
    differing = frozenset[str]().union(*(varied[quote.pattern.name] for quote in quotes if quote is not None))
    is_way = any(question.way for question in known)
    of_pattern = known[0].name[0] in QUOTED_BY_PATTERN
    modes = "mode" in differing
    said = modes and (len(questions) > 1 or is_way or of_pattern)
    return QuoteLine(quotes, most == len(known), said, differing - {"mode"}, is_way, modes)


def _values(cell: Cell, factors: Collection[str]) -> Like:
    """Return the values of these factors, and of those that are said with them."""
    names = [one for name in ("mode", *TOLD_BESIDE) if name in factors for one in _said_by(name)]
    return tuple((name, getattr(cell, name)) for name in names)


def _preferred(like: Like, questions: Iterable[Question]) -> Preference:
    """Return how much any of these questions would rather quote a cell; less is more."""
    return min(one.choices[like].preference for one in questions if like in one.choices)


def seconds_of(result: Result) -> float:
    """Return how long was measured: all sessions, and what one that runs or was killed has finished."""
    ended, launched = (sum(one.elapsed_s for one in list_) for list_ in (result.ends, result.done))
    return max(ended + _running_s(result), launched)


def _running_s(result: Result) -> float:
    """Return how long the launches took that began after the last session that has ended."""
    if not result.ends or not all(one.started for one in result.ends):
        return 0.0
    since_s = max(_moment_s(one.started) + one.elapsed_s for one in result.ends)
    # Moments are known to a second.
    later = {(one.number, one.job) for one in result.launches if _moment_s(one.started) > since_s + 1}
    return sum(one.elapsed_s for one in result.done if (one.launch, one.job) in later)


def _moment_s(started: str) -> float:
    """Return a time of a record in seconds of the epoch; 0 of what has none."""
    return datetime.fromisoformat(started).timestamp() if started else 0.0


# ---- Choosing ------------------------------------------------------------------------------------

Curve = tuple["Pattern", list["Row"]]

COMPARED = tuple(name for name in (*CURVE, "bytes", "window") if not BY_NAME[name].job)
"""Factors of a cell that are the same where jobs stand beside each other."""


def _like(cell: Cell) -> Like:
    """Return the factors of a cell without its job, and without usual values, which imports do not name."""
    said = ((name, getattr(cell, name)) for name in COMPARED)
    return tuple(pair for pair in said if pair[1] not in ("", BY_NAME[pair[0]].usual))


def _questions(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Question]:
    curves = _curves(rows, patterns)
    windows, others = _windows_and_others(curves)
    first, last = (windows, []) if len(windows) > len(others) else ([], windows)
    yield from _by_pattern(first)
    pairs = [curve for curve in curves if _is_of_a_pair(curve)]
    usual = sorted(pairs, key=_is_unusual)
    one_way = [curve for curve in usual if curve[0].one_way]
    yield from _asked("latency", one_way, _typical)
    own = [curve for curve in pairs if _has_own_line(curve)]
    if not one_way:
        yield from _by_pattern(own)
    # Messages behind entries, in blocks or in parts have lines of their own beside plain ones.
    plain = [curve for curve in pairs if not _has_own_line(curve) or _goes_both_ways(curve)]
    plain = plain if one_way else pairs
    yield from _asked("bandwidth", _with_rates(plain, lambda row: row.directions < BOTH_DIRECTIONS), _fastest)
    both = _with_rates(pairs, lambda row: row.directions >= BOTH_DIRECTIONS)
    yield from _asked("both-directions", both, _fastest)
    yield from _asked("message-rate", [curve for curve in usual if curve[0].windowed], _typical)
    if one_way:
        yield from _by_pattern([curve for curve in own if not _goes_both_ways(curve)])
    yield from _by_pattern([curve for curve in others if not _is_of_a_pair(curve)])
    yield from _by_pattern(last)
    yield from _by_pattern([curve for curve in curves if not (curve[0].talks or curve[0].in_memory)])
    if not any(pattern.talks for pattern, _ in curves):
        yield from _of_memory([curve for curve in curves if curve[0].in_memory])
    yield from _limits(rows, patterns)
    yield from _copies(rows, patterns)


def _is_unusual(curve: Curve) -> bool:
    """Return whether a curve is in another mode than the usual one: a text may have that first."""
    return curve[1][0].cell.mode != default_mode(curve[0])


def _windows_and_others(curves: Sequence[Curve]) -> tuple[list[Curve], list[Curve]]:
    """Return curves on the memory of others, as they are read, and the others that talk.

    First what the target has seen, then what one rank does on the memory of another, then what all do. What
    a target that computes makes of it is told in words, as long as there are others.
    """
    one_sided = [curve for curve in curves if curve[0].one_sided]
    windows = [curve for curve in one_sided if not _target_computes(curve)] or one_sided
    windows.sort(key=lambda curve: (not curve[0].one_way, curve[0].active_ranks != PAIR_OF_RANKS))
    return windows, [curve for curve in curves if curve[0].talks and not curve[0].one_sided]


def _target_computes(curve: Curve) -> bool:
    """Return whether the target of a curve computes meanwhile."""
    mode = curve[0].mode(curve[1][0].cell.mode)
    return mode is not None and mode.target_computes


def _is_of_a_pair(curve: Curve) -> bool:
    """Return whether a curve is of messages between two ranks."""
    return _is_message(curve[0]) and curve[0].active_ranks == PAIR_OF_RANKS


def _has_own_line(curve: Curve) -> bool:
    """Return whether a curve of a pair has a line of its own, as it is neither a latency nor a rate."""
    return not curve[0].windowed and not curve[0].one_way


def _goes_both_ways(curve: Curve) -> bool:
    """Return whether messages of a curve go in both directions at once, which has a line of its own."""
    return all(row.directions >= BOTH_DIRECTIONS for row in curve[1])


def _is_message(pattern: Pattern) -> bool:
    return pattern.talks and pattern.family == "message"


def _curves(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> list[Curve]:
    """Return rows with a time, by curve, from small to large: one of each size.

    Of several windows that with most messages in flight, of several pairs of ranks the median pair.
    """
    timed = (row for row in rows if row.time is not None and not patterns[row.cell.pattern].is_floor)
    sizes = [group_by(curve, lambda row: row.cell.bytes) for curve in group(timed, ALONG | {STATE})]
    curves = [[_middle(by_size[size]) for size in sorted(by_size)] for by_size in sizes]
    return [(patterns[curve[0].cell.pattern], curve) for curve in curves]


def _middle(rows: Sequence[Row]) -> Row:
    """Return the row of median time among those of the largest window."""
    most = max(row.cell.window for row in rows)
    widest = (row for row in rows if row.cell.window == most)
    ordered = sorted(widest, key=lambda row: row.time.estimate if row.time else 0.0)
    return ordered[(len(ordered) - 1) // 2]


def _asked(
    quoted_as: QuotedAs, curves: Sequence[Curve], prefer: Callable[[int, Row], Preference], *of: object
) -> Iterator[Question]:
    """Yield a question to all rows of these curves; none without any.

    Args:
        prefer: Of the place of a curve among these, and a row.
        of: What else tells the question from others.
    """
    choices: dict[Like, AnswerCandidate] = {}
    for place, (pattern, rows) in enumerate(curves):
        for row in rows:
            quote = Quote(quoted_as, pattern, row, _largest(row, rows))
            choices.setdefault(_like(row.cell), AnswerCandidate(prefer(place, row), quote))
    if choices:
        yield Question((quoted_as, *of), choices)


def _largest(row: Row, rows: Sequence[Row]) -> Row | None:
    return rows[-1] if rows[-1].cell.bytes > row.cell.bytes else None


def _typical(place: int, row: Row) -> Preference:
    """Prefer the curve that was asked for first, at the size of the latency."""
    return place, *_far_from_quoted(row.cell.bytes)


def latency_bytes(sizes: Iterable[int]) -> int:
    """Return the size whose time is called the latency: of these the nearest to 8 B, an empty one last."""
    return min(sizes, key=_far_from_quoted)


def _far_from_quoted(size: int) -> Preference:
    return size == 0, abs(size - QUOTED_BYTES)


def _fastest(_: int, row: Row) -> Preference:
    """Prefer the best rate of all curves: of those whose launches say how sure they are."""
    return not _is_sure(row), -(row.rate_bytes_per_s or 0.0)


def _is_sure(row: Row) -> bool:
    """Return whether enough launches, or those who printed it, say how sure a time is."""
    time = row.time
    if time is None or row.imported:
        return time is not None
    known = time.half_width is not None and time.half_width <= 1
    return known and time.launches >= FEWEST_LAUNCHES


def _smallest(_: int, row: Row) -> Preference:
    return (row.cell.bytes,)


def _with_rates(curves: Iterable[Curve], keep: Callable[[Row], bool] = lambda _: True) -> list[Curve]:
    """Return curves of the rows that have a rate and are kept; without curves that have none."""
    found = [
        (pattern, [row for row in rows if row.rate_bytes_per_s and keep(row)]) for pattern, rows in curves
    ]
    return [curve for curve in found if curve[1]]


def _by_pattern(curves: Sequence[Curve]) -> Iterator[Question]:
    """Ask how long operations take, each pattern once: the first way asked for that is the operation alone.

    Of what others have measured each mode is a pattern: buffers on a device are not those of the host.
    """
    found: dict[str, list[Curve]] = {}
    alone = {pattern.name for pattern, rows in curves if times_alone(pattern, rows[0].cell.mode)}
    for pattern, rows in curves:
        mode = rows[0].cell.mode
        if pattern.name in known():
            found.setdefault(pattern.name, []).append((pattern, rows))
        elif times_alone(pattern, mode) or pattern.name not in alone:
            found.setdefault(f"{pattern.name} {mode}", []).append((pattern, rows))
    for name, mine in found.items():
        mine.sort(key=_unlike_asked)
        yield from _of_a_pattern(name, mine)


def _unlike_asked(curve: Curve) -> Preference:
    """Prefer the operation alone, and what its pattern is about: not a whole message, but blocks."""
    pattern, mode = curve[0], curve[1][0].cell.mode
    own = pattern.mode(mode)
    whole = own is not None and (
        (pattern.strided and not own.strided) or (pattern.partitioned and not own.partitioned)
    )
    return not times_alone(pattern, mode), whole, *_few_send(curve)


def _few_send(curve: Curve) -> Preference:
    """Prefer the most senders: all of them are 0."""
    senders = curve[1][0].cell.senders
    return senders != 0, -senders


def _of_a_pattern(name: str, curves: Sequence[Curve]) -> Iterator[Question]:
    """Ask for a time; of many messages in flight the bandwidth of the largest, the rate of the smallest."""
    pattern = curves[0][0]
    if pattern.windowed and pattern.moves_bytes:
        yield from _asked("operation-bandwidth", curves, _fastest_of_first, name)
        yield from _asked("operation-message-rate", curves, _shortest, name)
    else:
        yield from _asked("operation", curves, _typical, name)


def _fastest_of_first(place: int, row: Row) -> Preference:
    """Prefer the best rate of the curve that was asked for first."""
    return place, *_fastest(place, row)


def _shortest(place: int, row: Row) -> Preference:
    """Prefer the smallest message that is not empty."""
    return place, not _is_sure(row), row.cell.bytes == 0, row.cell.bytes


def _of_memory(curves: Iterable[Curve]) -> Iterator[Question]:
    """Ask for the best rate of each curve, or its shortest time, where memory is all that was measured."""
    for curve in curves:
        pattern, rows = curve
        cell = rows[0].cell
        of = (pattern.name, cell.mode, cell.buffers, *_values(cell, TOLD_BESIDE))
        rated = _with_rates([curve]) if pattern.moves_bytes else []
        if rated:
            yield from _asked("memory-bandwidth", rated, _fastest, *of)
        else:
            yield from _asked("memory-time", [curve], _smallest, *of)


def _limits(rows: Iterable[Row], patterns: Mapping[str, Pattern]) -> Iterator[Question]:
    found = [row for row in rows if patterns[row.cell.pattern].probes and row.limit_bytes is not None]
    for row in found[:1]:
        quote = Quote("eager-limit", patterns[row.cell.pattern], row)
        yield Question(("eager-limit",), {(): AnswerCandidate((), quote)})


def _copies(rows: Sequence[Row], patterns: Mapping[str, Pattern]) -> Iterator[Question]:
    """Ask what messages cost in copies: the least of the first curve, in the first copy beside it."""
    choices: dict[Like, AnswerCandidate] = {}
    for place, (name, curve) in enumerate(curves_in_copies(rows)):
        cost = cost_of(curve, name)
        for row in curve:
            quote = Quote("copies", patterns[row.cell.pattern], row, cost=cost)
            choices.setdefault(
                (name, *_like(row.cell)), AnswerCandidate((place, row.ratios[name].estimate), quote)
            )
    if choices:
        yield Question(("copies",), choices)


# ---- Sentences -----------------------------------------------------------------------------------

MAX_DETAIL = 40
"""Letters beside a number, so that a line of 80 has room for all of it."""

AWAITED = "\N{HORIZONTAL ELLIPSIS}"
"""Sign in place of a number, as long as that of a better size may be measured."""

NOT_KNOWN = "not known"
"""Words in place of a number whose interval is wider than the number."""

ONE_LAUNCH = "1 launch"
"""Words in place of a half-width."""

# ---- Where and how -------------------------------------------------------------------------------


def machine_of(result: Result) -> str:
    """Return whose numbers they are: host and processor, and the day."""
    return DOT.join(filter(None, [_machine(result), result.campaign.started[:10]]))


def machine_of_sessions(results: Sequence[Result], sessions: int) -> str:
    """Return the machine of results that are sessions of each other, with their first and their last day."""
    days = sorted({day for result in results if (day := result.campaign.started[:10])})
    span = units.span(days[0], days[-1]) if days else ""
    return DOT.join(filter(None, [_machine(results[0]), span, count_of(sessions)]))


def _machine(result: Result) -> str:
    machine = measured_machine(result)
    virtual = "virtual" if machine.hypervisor else ""
    emulated = "emulated hosts" if result.campaign.plan.lab else ""
    kind = ", ".join(filter(None, [processor_of(machine), cores_of(machine), virtual, emulated]))
    title = "" if machine.host or result.launches else result.campaign.plan.title
    return DOT.join(filter(None, [host_of(result), kind, title, names_replaced(result)]))


def campaign_of(results: Sequence[Result], found: Sequence[Answer]) -> str:
    """Return what was launched: library, ranks and transport where there is one job; launches and their time.

    Args:
        results: One, or several that are sessions of each other.
        found: One answer of each job.
    """
    launches = sum(len({launch.number for launch in result.launches}) for result in results)
    several = len(found) > 1
    words = _places_of(results[0], found) if several else job_of(results[0], found[0]) if found else []
    jobs = f"{len(found)} jobs × " if several else ""
    if launches and (seconds := sum(map(seconds_of, results))):
        decided = all(result.ends and result.ends[-1].reason == "decided" for result in results)
        until = ", until it was decided" if decided else ""
        words.append(f"{jobs}{units.counted(launches, 'launch')} in {seconds:.0f} s{until}")
    elif several:
        words.append(f"{len(found)} jobs")
    if not launches and any(result.imported for result in results):
        words.append(launches_of(results))
    return DOT.join(words)


def _places_of(result: Result, found: Sequence[Answer]) -> list[str]:
    """Return the library of several jobs, if it is one, and where their ranks were, or how many they were."""
    libraries = {one.quotes[0].row.cell.library for one in found}
    library = libraries.pop() if len(libraries) == 1 else ""
    library = "" if library == UNKNOWN else library
    places = [*filter(None, (place_of(result, one.job) for one in found))]
    ranks = {one.job.ranks for one in found}
    alike = units.counted(ranks.pop(), "rank") if not places and len(ranks) == 1 and 0 not in ranks else ""
    return [*dict.fromkeys(filter(None, [library, alike, *places]))]


def place_of(result: Result, job: JobKey) -> str:
    """Return where the ranks of a job were: `2 ranks between n1 and n2`; empty if not on several nodes.

    Launches that were elsewhere, as after a resume in another allocation, leave no name to say.
    """
    places = {tuple(rank.host for rank in launch.ranks_at) for launch in result.launches if launch.job == job}
    if len(places) != 1:
        return ""
    ranks = places.pop()
    nodes = [*dict.fromkeys(ranks)]
    if len(nodes) < 2:  # noqa: PLR2004 - several
        return ""
    if len(ranks) == len(nodes) == 2:  # noqa: PLR2004 - a pair
        return f"2 ranks between {nodes[0]} and {nodes[1]}"
    return f"{len(ranks)} ranks on {len(nodes)} nodes"


def job_of(result: Result, one: Answer) -> list[str]:
    """Return a job as text: its library, ranks, placement and transport, proven or asked for."""
    phrases = phrases_of(one.quotes[0].row.cell, OF_JOB)
    if place := place_of(result, one.job):
        phrases.pop("placement", None)
        phrases["ranks"] = place
    said = reports(result.launches).get(one.job)
    words = [phrase for phrase in phrases.values() if phrase not in UNSAID]
    return [*words, *([" or ".join(said)] if said else [])]


# ---- Numbers -------------------------------------------------------------------------------------


def heading(line: QuoteLine) -> str:
    """Return what the number of one job is; that of the best of a curve has its size beside it."""
    quote = line.first
    named_by_size = quote.quoted_as in OF_A_PATTERN or (quote.quoted_as in QUOTED_TIMES and quote.row.sized)
    return ", ".join(filter(None, [*_called(line), _size(quote.row) if named_by_size else ""]))


def common_heading(line: QuoteLine) -> str:
    """Return what the numbers of several jobs are, with the size that they have in common."""
    quote = line.first
    if not line.alike and line.is_way:
        return ", ".join(filter(None, _called(line)))
    if not line.alike:
        return _own_heading(line) or _rated(quote, quote.pattern.name)
    size = _size(quote.row) if quote.row.sized and quote.quoted_as != "eager-limit" else ""
    return ", ".join(filter(None, [*_called(line), size]))


def _called(line: QuoteLine) -> Iterator[str]:
    """Yield the name of a number, and its mode where there are others."""
    quote, mode = line.first, line.first.row.cell.mode
    if own := _own_heading(line):
        yield own
        said = line.modes and quote.quoted_as in QUOTED_BY_MODE
        yield mode_name(quote.pattern, mode) if said else ""
    else:
        yield _rated(quote, _named(quote, mode_said=line.modes))
    if quote.quoted_as not in QUOTED_ALONE:
        yield from _told_beside(quote.row, line.varied)


def _own_heading(line: QuoteLine) -> str:
    """Return the heading of numbers that are not called by their pattern, such as `message / memcpy`."""
    heading = HEADINGS.get(line.first.quoted_as, "")
    copies = {YARDSTICKS[quote.cost.name][0] for quote in line.quotes if quote is not None and quote.cost}
    of, slash, _ = heading.rpartition(" / ")
    return f"{of}{slash}{copies.pop()}" if len(copies) == 1 else heading


TOLD_BESIDE = tuple(name for name in CELL_DETAILS if name != "buffers")
"""Factors that follow the name of a number; cold buffers are part of it."""


def _told_beside(row: Row, varied: Collection[str]) -> Iterator[str]:
    """Yield the phrases of what is not usual, and of what others of the same pattern differ in.

    What is usual is so in our programs; in those of others it may be something else.
    """
    cell = row.cell
    unusual = set() if row.imported else {name for name in TOLD_BESIDE if not _is_usual(cell, name)}
    told = unusual.difference(*(BY_NAME[name].brings for name in {*varied, *unusual})) | {*varied}
    yield from (WORDS[name](cell) or BY_NAME[name].without for name in TOLD_BESIDE if name in told)


def _is_usual(cell: Cell, name: str) -> bool:
    """Return whether a factor has its usual value, or none, and those that are said with it."""
    return all(getattr(cell, one) in (BY_NAME[one].usual, "") for one in _said_by(name))


@cache
def _said_by(name: str) -> tuple[str, ...]:
    """Return the factors that the phrase of one tells: itself, and those that are said with it."""
    return (name, *(one for one, by in SAID_WITH.items() if by == name))


def _rated(quote: Quote, named: str) -> str:
    """Return the name of an operation, and which rate of it is meant."""
    what = OF_A_PATTERN.get(quote.quoted_as, "")
    return named if named.endswith(what) else f"{named} {what}"


OF_A_PATTERN: Mapping[QuotedAs, str] = {
    "operation-bandwidth": "bandwidth",
    "operation-message-rate": "message rate",
}
"""Words for the rates of a pattern that is none of ours."""


HEADINGS: Mapping[QuotedAs, str] = {
    "latency": "latency",
    "bandwidth": "bandwidth",
    "both-directions": "both directions",
    "message-rate": "message rate",
    "eager-limit": "eager limit",
    "copies": "message / copy",
}
"""Of numbers that are not called by their pattern."""


def number(quote: Quote, chosen: Units) -> str:
    """Return the number itself as text; of launches that are far apart the least and the largest."""
    if quote.awaited:
        return AWAITED
    time = quote.row.time
    if isinstance(time, Printed) and time.far_apart and quote.unit in {"s", "B/s", "1/s"}:
        return _from_to(quote, time, chosen)
    return _centre(quote, chosen) if quote.is_known else NOT_KNOWN


def _centre(quote: Quote, chosen: Units) -> str:
    row = quote.row
    match quote.quoted_as:
        case quoted if quoted in QUOTED_RATES:
            return units.format_rate(row.rate_bytes_per_s, chosen.rate)
        case quoted if quoted in QUOTED_MESSAGES:
            return messages(quote.value)
        case "eager-limit":
            return f"{row.limit_bytes} B"
        case "copies":
            ratio = quote.ratio
            return _factor(units.format_factor(ratio.estimate)) if ratio else units.MISSING
    return units.format_time(row.time.estimate if row.time else None, chosen.time)


def _from_to(quote: Quote, time: Printed, chosen: Units) -> str:
    """Return the least and the largest number of launches that are far apart."""
    factors = [one / time.estimate for one in (min(time.by_launch.values()), max(time.by_launch.values()))]
    if quote.unit == "s":
        return " \N{EN DASH} ".join(units.format_time(time.estimate * one, chosen.time) for one in factors)
    values = [(quote.value or 0.0) / one for one in reversed(factors)]
    if quote.quoted_as in QUOTED_MESSAGES:
        return " \N{EN DASH} ".join(map(messages, values))
    return " \N{EN DASH} ".join(units.format_rate(one, chosen.rate) for one in values)


def width(quote: Quote, chosen: Units) -> str:
    """Return how sure the number is: of an uneven interval both ends."""
    known = quote.half_width
    if quote.awaited or not quote.is_known:
        return ""
    if known is None or (isinstance(quote.row.time, Printed) and quote.row.time.far_apart):
        return ONE_LAUNCH if quote.of_one_launch else ""
    return _ends_text(quote, chosen) if quote.is_uneven else units.format_relative(known)


def _ends_text(quote: Quote, chosen: Units) -> str:
    """Return both ends of an interval, in one unit."""
    match quote.unit:
        case "s":
            return units.interval_of_times(quote.low, quote.high, chosen.time)
        case "B/s":
            return units.interval_of_rates(quote.low, quote.high, chosen.rate)
        case "1/s":
            return units.interval(quote.low, quote.high, messages)
    return units.interval(quote.low, quote.high, units.format_factor)


def number_and_width(quote: Quote, chosen: Units) -> str:
    """Return the number with how sure it is; both ends in brackets, as in sentences."""
    text, sure = number(quote, chosen), width(quote, chosen)
    if sure and quote.is_uneven:
        return f"{text} ({sure})"
    return f"{text} {sure}".rstrip()


def beside(quote: Quote, line: QuoteLine, chosen: Units) -> str:
    """Return the number in a column of several, and how sure it is; with its size, if others have another."""
    mark = ALL_STATES if is_of_all_states(quote, line) else ""
    return " ".join(filter(None, [number_and_width(quote, chosen), _apart(quote, line), mark]))


ALL_STATES = "(all)"
"""Mark of a number of all states, which would be read as that of the state whose column it stands in."""

ALL_STATES_LINE = f"{ALL_STATES}: of all states together, since it is not known of each"


def is_of_all_states(quote: Quote, line: QuoteLine) -> bool:
    """Return whether a number is of all states of the machine, and so in the columns of several."""
    return sum(one is not None and one.row is quote.row for one in line.quotes) > 1


def _apart(quote: Quote, line: QuoteLine) -> str:
    """Return what a number is of that has nothing in common with those beside it."""
    if line.alike or not quote.row.sized:
        return ""
    cells = [one.row.cell for one in line.quotes if one is not None]
    several = len({(cell.pattern, cell.mode) for cell in cells}) > 1
    at = f"at {_size(quote.row)}"
    return f"{_named(quote)} {at}" if several else at


def over_sessions(quote: Quote, line: QuoteLine, chosen: Units) -> str:
    """Return the number over sessions, and how sure that is."""
    over, value = quote.sessions, quote.value_over_sessions
    if over is None or value is None:
        return units.MISSING
    match quote.unit:
        case "B/s":
            text = units.format_rate(value, chosen.rate)
        case "1/s":
            text = messages(value)
        case _:
            text = units.format_time(value, chosen.time)
    return " ".join(filter(None, [text, units.format_relative(over.time.half_width), _apart(quote, line)]))


def messages(per_s: float | None) -> str:
    """Return a rate of messages as text: `9.93 M/s`."""
    if per_s is None:
        return units.MISSING
    for scale, letter in ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s")):
        if per_s >= scale:
            return f"{units.format_significant(per_s / scale)}{letter}"
    return f"{units.format_significant(per_s)} /s"


def detail(quote: Quote, chosen: Units) -> str:
    """Return what stands beside the number: how it was measured, and the largest message if there is room."""
    if quote.awaited:
        return "other sizes are still to come"
    words = DETAILS[quote.quoted_as](quote, chosen)
    return words if len(words) <= MAX_DETAIL else words.partition(";")[0]


def numbers_shown(quote: Quote) -> list[Quote]:
    """Return all numbers of a line: its own, and that of the largest message where there is room for it."""
    largest, said = quote.of_largest, _largest_words(quote, AUTOMATIC)
    return [quote, *([largest] if largest and said and said in detail(quote, AUTOMATIC) else [])]


def _latency(quote: Quote, _: Units) -> str:
    return f"{_named(quote)}, one way"


def _rate(quote: Quote, chosen: Units) -> str:
    return "; ".join(filter(None, [f"{_named(quote)} at {_size(quote.row)}", _largest_words(quote, chosen)]))


def _largest_words(quote: Quote, chosen: Units) -> str:
    """Return what the largest message takes, or carries; empty where nothing says how sure that is."""
    largest = quote.of_largest
    if largest is None or not is_quotable(largest):
        return ""
    return f"{number_and_width(largest, chosen)} at {_size(largest.row)}"


def is_quotable(quote: Quote) -> bool:
    """Return whether a number may stand in a sentence, or beside another: its interval says how sure it is.

    Those of others are quoted as they were printed.
    """
    return _is_sure(quote.row) and quote.is_known


def _in_memory(quote: Quote, chosen: Units) -> str:
    return _rate(quote, chosen).removeprefix(f"{_named(quote)} ")


def _messages(quote: Quote, _: Units) -> str:
    return ", ".join(filter(None, [f"{_named(quote)} of {_size(quote.row)}", _in_flight(quote.row)]))


def timed_part(quote: Quote) -> str:
    """Return from when on the time of an operation is, where a part of it is over before; else nothing."""
    mode = quote.pattern.mode(quote.row.cell.mode)
    first = mode is not None and mode.computes_first
    return quote.pattern.time_of.partition(" until ")[0] if first else ""


def _in_flight(row: Row) -> str:
    """Return how many messages are in flight; empty where there is no window."""
    return f"{row.cell.window} in flight" if row.cell.window else ""


def _operation(quote: Quote, chosen: Units) -> str:
    known = quote.row.talks and quote.row.cell.ranks
    ranks = units.counted(quote.row.cell.ranks, "rank") if known else ""
    if part := timed_part(quote):
        ranks = part
    if known == 1:
        ranks += ": nothing was sent"
    # Our window is the usual one unless it is named; that of another program may be any.
    in_flight = _in_flight(quote.row) if quote.row.imported else ""
    how = ", ".join(filter(None, [ranks, in_flight]))
    return "; ".join(filter(None, [how, _largest_words(quote, chosen)]))


def _limit(_: Quote, __: Units) -> str:
    return "longer messages wait for the receiver"


def _copies_words(quote: Quote, _: Units) -> str:
    if quote.cost is None:
        return ""
    pattern, _mode = YARDSTICKS[quote.cost.name]
    # A message can be cheaper than a copy of what another core has just written.
    alone = known()[pattern].active_ranks == 1
    whence = "in one rank's memory" if alone else "from another core's cache"
    return f"at {_size(quote.row)}, {whence}"


DETAILS: Mapping[QuotedAs, Callable[[Quote, Units], str]] = {
    "latency": _latency,
    "bandwidth": _rate,
    "both-directions": _rate,
    "message-rate": _messages,
    "operation": _operation,
    "operation-bandwidth": _operation,
    "operation-message-rate": _operation,
    "memory-bandwidth": _in_memory,
    "memory-time": _operation,
    "eager-limit": _limit,
    "copies": _copies_words,
}
"""What stands beside each kind of number."""


def _factor(text: str) -> str:
    return f"{text}\N{MULTIPLICATION SIGN}"


def _named(quote: Quote, *, mode_said: bool = False) -> str:
    """Return the pattern; its mode where that is said or not the usual one, and buffers that are cold."""
    cell = quote.row.cell
    mode = "" if cell.mode == default_mode(quote.pattern) and not mode_said else cell.mode
    return " ".join(filter(None, [quote.pattern.name, mode, *phrases_of(cell, ["buffers"]).values()]))


def _size(row: Row) -> str:
    return units.format_size(row.cell.bytes)


# ---- What comes next -----------------------------------------------------------------------------


def next_steps(
    paths: Sequence[Path], more: str = "", *, newest: bool, measured: bool = True, varied: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what to do with these results, and the command for it; the newest of all needs no name.

    Args:
        more: What is left out, which all numbers have; empty if nothing is.
        measured: Whether anything was measured yet; else the first was ended before.
        varied: Whether something was found, of which the answer tells the first alone.
    """
    if not measured:
        yield "measure it", resume_command(paths[0])
        return
    of = "" if newest else "".join(f" {as_argument(path)}" for path in paths)
    if varied:
        yield "all findings", f"mpigauge explain{of}"
    every = "--all" if len(paths) == 1 else "--table times"
    yield more or "all numbers", f"mpigauge show {every}{of}"
    yield "figure", f"mpigauge plot{of}"
    if len(paths) == 1:
        yield "beside another", f"mpigauge show OTHER {as_argument(paths[0])}"
