"""What a kind of finding is: where it stands among others, how it is found, and all that is said of it.

A kind is one `FindingKind`, in the file of its topic, beside its facts and its words. `find.findings.KINDS`
is the one list of them, which lines with `!`, the foot of tables, JSON and `explain` are taken from.
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.document.cell_names import sized_subject, varied_among
from mpigauge.document.finding import Finding
from mpigauge.errors import UsageError
from mpigauge.find.answer import UNITS_OF_TIMES, answers, lines_of, numbers_shown
from mpigauge.plan.patterns import FLOORS
from mpigauge.rows.beyond_chance import beyond_chance
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine.split import split_of, with_split
from mpigauge.rows.machine.steadiness import at_usual_speed, only_quiet
from mpigauge.rows.odd_launches import odd_launches
from mpigauge.rows.rows import rows
from mpigauge.stats.limits import ENOUGH_LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.find.answer import Answer, Quote
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.group import Subject
    from mpigauge.rows.odd_launches import OddLaunch
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import WarningKind

FindingSeverity = Literal["wrong", "missing", "by factors", "usual", "harmless", "note", "fact"]
"""How bad a finding is: numbers are wrong; they are not there; they change by factors; their intervals are
wide; no reading of a number changes whose interval is narrow; what it says stands beside the number already;
nothing is doubtful."""

DOUBTFUL: frozenset[FindingSeverity] = frozenset(
    {"wrong", "missing", "by factors", "usual", "harmless", "note"}
)

QUIET_HELPS = "quiet helps"
"""Name under which a result keeps whether it does."""

SPEEDS_MATTER = "speeds matter"
"""Likewise whether the clock speeds of the cores moved its numbers."""

MAX_LETTERS = 78
"""Of a line of a screen, without the mark before it."""

MAX_LINES = 16
"""Most lines of numbers of the first screen."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a finding by their roles, of which a sentence or a line has those that its reader can use.

    Attributes:
        fact: What was found, with its numbers.
        consequence: What it means for the numbers.
        remedy: What to do.
        so: The consequence in a few words, for a line of a screen; empty if it is short.
        do: Likewise the remedy.
    """

    fact: str
    consequence: str = ""
    remedy: str = ""
    so: str = ""
    do: str = ""

    @property
    def text(self) -> str:
        """The whole sentence."""
        return ": ".join(filter(None, [self.fact, "; ".join(filter(None, [self.consequence, self.remedy]))]))

    @property
    def line(self) -> str:
        """A line of a screen, with the consequence and the remedy in few words."""
        advice = ": ".join(filter(None, [self.so or self.consequence, self.do or self.remedy]))
        return "; ".join(filter(None, [self.fact, advice]))

    @property
    def told(self) -> Words:
        """Fact and consequence, for who reads a report: a remedy is for who measures."""
        return replace(self, remedy="", do="")


@dataclass(frozen=True)
class About:
    """A result with its rows, and what several kinds of findings ask of them.

    Attributes:
        controls: Rows of control arms, which are for comparisons alone.
    """

    result: Result
    rows: Sequence[Row]
    controls: Sequence[Row] = ()

    @cached_property
    def quoted(self) -> frozenset[Cell]:
        """Return the cells that answer for the result on the first screen."""
        return frozenset(quote.row.cell for one in self._answers for quote in one.quotes)

    @cached_property
    def _answers(self) -> Sequence[Answer]:
        patterns = {pattern.name: pattern for pattern in self.result.campaign.patterns}
        return answers(self.rows, patterns)

    @cached_property
    def shown(self) -> Sequence[Quote]:
        """Return the numbers that the first screen quotes."""
        return [quote for one in self._answers for line in one.quotes for quote in numbers_shown(line)]

    @cached_property
    def times_shown(self) -> frozenset[Subject]:
        """Return of what the first screen has a time, or a rate of one: of the best, or of each way."""
        ways = (quote for line in lines_of(self._answers, MAX_LINES) for quote in line.quotes if quote)
        quotes = (*self.shown, *ways)
        return frozenset(quote.row.of for quote in quotes if quote.unit in UNITS_OF_TIMES)

    @cached_property
    def quiet_helps(self) -> bool:
        """Return whether each number that the screen quotes stays on a quiet machine, and is surer.

        It does with enough launches and a narrower interval: the remedy itself is tried.
        """
        before = {(quote.row.of, quote.quoted_as): quote for quote in self.shown if quote.half_width}
        known = self.result.memo.setdefault(QUIET_HELPS, {})
        key = len(self.result.visits), *((of, quote.half_width) for of, quote in before.items())
        if key not in known:
            known[key] = bool(before) and _quiet_helps(self.result, [*before.values()])
        return bool(known[key])

    @cached_property
    def speeds_matter(self) -> bool:
        """Return whether a number on the screen leaves its interval without visits at other clock speeds."""
        times = ((quote.row.of, quote.row.time) for quote in self.shown)
        before = {of: time for of, time in times if isinstance(time, Estimate)}
        known = self.result.memo.setdefault(SPEEDS_MATTER, {})
        key = len(self.result.visits), *before
        if key not in known:
            known[key] = _speeds_matter(self.result, before)
        return bool(known[key])

    @cached_property
    def varied(self) -> frozenset[str]:
        """Return the factors in which the cells differ, with and without times; the floor is none of them."""
        return varied_among(row.cell for row in self.rows if row.cell.pattern not in FLOORS)

    @cached_property
    def numbers(self) -> tuple[Row, ...]:
        """Return rows with a time that tables show: the floor of the instrument is none of them."""
        return tuple(row for row in self.rows if row.time is not None and row.cell.pattern not in FLOORS)

    @cached_property
    def odd(self) -> Sequence[OddLaunch]:
        """Return launches that were unusual as a whole."""
        return odd_launches(self.result, self.rows)

    @cached_property
    def beyond_chance(self) -> frozenset[WarningKind]:
        """Return kinds of warnings that the numbers have more often than by chance."""
        return beyond_chance(self.numbers, [row.cell in self.quoted for row in self.numbers])


def _quiet_helps(result: Result, quotes: Sequence[Quote]) -> bool:
    """Return whether numbers of all visits keep enough launches in quiet ones, and get narrower intervals."""
    if result.left_out:
        return False
    try:
        left = only_quiet(result)
    except UsageError:
        return False
    launches: dict[Cell, set[int]] = {quote.row.cell: set() for quote in quotes}
    for visit in left.visits:
        if visit.cell in launches:
            launches[visit.cell].add(visit.launch)
    # Times of all cells take long, and mostly this says that they need not be computed.
    if min(map(len, launches.values())) < ENOUGH_LAUNCHES:
        return False
    after = {row.of: row for row in rows(left, choice="all") if row.time}
    return all(quote.row.of in after and _is_surer(after[quote.row.of], quote) for quote in quotes)


def _speeds_matter(result: Result, before: Mapping[Subject, Estimate]) -> bool:
    """Return whether one of several times is outside its interval without visits at other clock speeds."""
    cells = {of.cell for of in before}
    left = at_usual_speed(result)
    # Times of all cells take long.
    few = with_split(
        replace(left, visits=[visit for visit in left.visits if visit.cell in cells]), split_of(result)
    )
    after = {row.of: row.time for row in rows(few, choice="all") if row.time is not None}
    return any(
        time.low is not None and time.high is not None and not time.low <= after[of].estimate <= time.high
        for of, time in before.items()
        if of in after
    )


def _is_surer(row: Row, than: Quote) -> bool:
    """Return whether the number of a row has enough launches, and a narrower interval than it had."""
    if row.time is None or row.time.launches < ENOUGH_LAUNCHES:
        return False
    if than.cost and than.cost.name not in row.ratios:
        return False
    now, before = dataclasses.replace(than, row=row).half_width, than.half_width
    return now is not None and before is not None and now < before


@dataclass(frozen=True, slots=True)
class CellsFound:
    """Cells that have something in common: a warning, or that they have no number.

    Attributes:
        rows: The one that stands for all of them first.
        of: How many cells could have it.
        quoted: Whether one of them is among the numbers that answer for the result.
        on_screen: Whether there are more of them than chance gives.
        precision: The relative half-width that was asked for.
        varied: Factors in which cells of the result differ.
        shown: Those whose time, or a rate of it, the first screen has.
    """

    rows: tuple[Row, ...]
    of: int
    quoted: bool = False
    on_screen: bool = True
    precision: float = 0.0
    varied: frozenset[str] = frozenset()
    shown: tuple[Row, ...] = ()

    def name(self, row: Row) -> str:
        """Return the name of a cell among all of the result."""
        return sized_subject(row.of, self.varied)

    def examples(self, row: Row) -> tuple[str, ...]:
        """Return how a cell is named as an example, as long as there is room for."""
        return f", e.g. {self.name(row)}", f", e.g. {sized_subject(row.of, ())}", ""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of findings.

    Attributes:
        name: Of its findings in JSON.
        find: Yields its facts.
        words: What is said of a fact: the sentence, its consequence and its remedy.
        lines: What a line of a screen says of a fact, the one that says most first: the first that fits is
            shown; None, or nothing, for what is said below tables only.
        below: What stands at the foot of tables; None for the sentence.
        told: Findings of JSON; None for one with the fields of the fact as its value.
    """

    name: str
    severity: FindingSeverity
    find: Callable[[About], Iterable[Any]]
    words: Callable[[Any], Words]
    lines: Callable[[Any], Iterator[Words]] | None = None
    below: Callable[[About, Any], Iterator[Words]] | None = None
    told: Callable[[About, Any], Iterator[Finding]] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A finding about a result, in whatever length it is wanted.

    Attributes:
        place: Of its kind among all kinds.
    """

    about: About
    of: FindingKind
    fact: Any
    place: int = 0

    @property
    def kind(self) -> str:
        """Its name in JSON."""
        return self.of.name

    @property
    def rows(self) -> tuple[Row, ...]:
        """The cells that have it; none if it is about the result as a whole."""
        return self.fact.rows if isinstance(self.fact, CellsFound) else ()

    @property
    def on_screen(self) -> bool:
        """Whether it has a line on a screen: what is no chance."""
        return bool(self.line) and (not isinstance(self.fact, CellsFound) or self.fact.on_screen)

    @property
    def rank(self) -> tuple[int, bool, bool, bool, float]:
        """The smaller, the worse: wrong, missing, then what is quoted, by factors, widespread."""
        first = {"wrong": self.place, "missing": 1_000}.get(self.of.severity, 1_001)
        cells = self.fact if isinstance(self.fact, CellsFound) else None
        return (
            first,
            self.of.severity == "harmless",
            cells is not None and not cells.quoted,
            self.of.severity != "by factors",
            -(len(cells.rows) / cells.of if cells and cells.of else 1.0),
        )

    @property
    def line(self) -> str:
        """One line of a screen, without its mark; empty if it has none."""
        return fitting(words.line for words in self.of.lines(self.fact)) if self.of.lines else ""

    @property
    def told_line(self) -> str:
        """One line for who reads a report, without a remedy; empty if it has none."""
        return fitting(words.told.line for words in self.of.lines(self.fact)) if self.of.lines else ""

    def below(self) -> Iterator[Words]:
        """Return what stands at the foot of tables."""
        return self.of.below(self.about, self.fact) if self.of.below else iter([self.of.words(self.fact)])

    @property
    def text(self) -> str:
        """The whole sentence."""
        return self.of.words(self.fact).text

    def told(self) -> Iterator[Finding]:
        """Return it as findings of JSON."""
        if self.of.told:
            return self.of.told(self.about, self.fact)
        return iter([finding_in(self.of.name, self.of.words(self.fact), asdict(self.fact))])


def finding_in(
    kind: str, words: Words, value: dict[str, Any], cells: tuple[Cell, ...] = (), *, note: bool = False
) -> Finding:
    """Return a finding that makes numbers doubtful, in words.

    Args:
        note: Whether what it says stands beside the number already.
    """
    severity: Literal["info", "warning"] = "info" if note else "warning"
    return Finding(kind, severity, cells, value, words.text, words.consequence, words.remedy)


def fitting(texts: Iterable[str]) -> str:
    """Return the first text that has room, else the last, without parts at its end that have none."""
    text = ""
    for text in texts:
        if len(text) <= MAX_LETTERS:
            return text
    while len(text) > MAX_LETTERS and (end := max(text.rfind(sign) for sign in ("; ", ": ", ", "))) > 0:
        text = text[:end]
    return text


def counted_lines(
    what: str, cells: CellsFound, so: str, do: str, noun: str = "numbers", became: str = ""
) -> Iterator[Words]:
    """Yield lines that say how many cells have what, with the first as an example if there is room.

    Args:
        so: What it means for them, in few words.
        do: What to do, likewise.
        noun: What cells are called that are counted.
        became: What became of the first.
    """
    count = f"{what}: {len(cells.rows)} of {cells.of}"
    for example in cells.examples(cells.rows[0]):
        yield Words(f"{count} {noun}{example}{became if example else ''}", so, do)
    yield Words(count, so, do)
