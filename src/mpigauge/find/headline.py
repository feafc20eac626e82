"""The first lines of an answer: what a campaign found about what it varied, a sentence for each factor.

All ratios are those of `explain` and `compare`: `find.explain.contrasts` finds them. What one-sided
operations, queues, blocks and partitions cost is said by the topics of `explain`. A campaign that varied
nothing, or nothing that has a ratio, begins with its latency and its bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace as with_fields

from mpigauge import units
from mpigauge.compare.size_ratio import launches_needed
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import OF_JOB, UNSAID, phrases_of, state_suffix
from mpigauge.document.ratio_words import VERDICTS
from mpigauge.document.records import cell_record, finite_or_none, state_record
from mpigauge.document.size_words import at_size, every_size
from mpigauge.find.answer import (
    UNITS_OF_TIMES,
    about_messages,
    answers,
    heading,
    is_quotable,
    latency_bytes,
    lines_of,
    number_and_width,
    timed_part,
)
from mpigauge.find.explain.contrasts import (
    BUILD,
    ORDER,
    SENDERS,
    contrasts,
    is_many,
    name_of,
    orders,
    senders,
)
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.groups import headline as groups_headline
from mpigauge.find.explain.groups import togethers
from mpigauge.find.explain.queues_and_parts import PartCost
from mpigauge.find.explain.table import varied_in
from mpigauge.find.explain.topics import TOPICS
from mpigauge.find.fact import cell_of, weight_of
from mpigauge.find.imported import cells_cut_short
from mpigauge.find.phrases import VERDICT_NEEDS, WITHIN, NamesOfTwo, subject, would_tell
from mpigauge.linkmap.linkmap import is_map
from mpigauge.plan.factors import PLACE, SIZE
from mpigauge.rows.group import Subject, cell_key, row_key
from mpigauge.sequences import group_by, runs
from mpigauge.stats.interval import is_known
from mpigauge.stats.limits import ENOUGH_LAUNCHES, LAUNCHES_OF_A_VERDICT
from mpigauge.vocabulary import (
    DIFFERENT,
    QUOTED_OF_PAIRS,
    QUOTED_RATES,
    QUOTED_TIMES,
    TOLD_AT_ONE_SIZE,
    TOPICS_IN_ANSWERS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.compare.size_ratio import SizeRatio
    from mpigauge.document.document import Units
    from mpigauge.find.answer import Answer, Quote, QuoteLine
    from mpigauge.find.explain.contrasts import Contrast
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Topic, Varied, Verdict

FACTORS: Mapping[Varied, frozenset[str]] = {
    "library": BUILD,
    "setting": frozenset({"setting"}),
    "place": PLACE,
    "mode": frozenset({"mode"}),
    "ranks": frozenset({"ranks"}),
    "order": ORDER,
    "senders": SENDERS,
}
"""Factors that an answer can be about, in the order of `plan.factors.FACTORS`: the first varied one leads.

What groups at once cost each other is no contrast of two values, and has a line of its own."""

FINDERS: Mapping[Varied, Callable[[Evidence], Iterator[Contrast]]] = {"order": orders, "senders": senders}
"""Where not every two cells that differ in these factors are compared."""

MAX_FACTORS = 2
"""Most factors with a sentence."""

MAX_TOPICS = 2
"""Most topics with a sentence."""

MAX_COURSES = 2
"""Most curves that are each followed over all sizes; of more, one size is told."""

MAX_SEGMENTS = 3
"""Most parts of a curve that are told one by one; of more, how many sizes differ."""

TWICE = 2.0
"""Ratio from which on it is said as a factor instead of a percentage."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence about a factor that was varied, or about the numbers of a campaign that varied none.

    Attributes:
        factor: What was varied; None for numbers alone.
        contrasts: Pairs of curves that it compares, all with one base.
        at_bytes: Sizes whose ratio it quotes, for each of these pairs.
        limit_bytes: Eager limit above which one of its modes would deadlock; None if none would.
        topic: Topic of `explain` whose line it is; None if it is of none.
    """

    factor: Varied | None
    text: str
    contrasts: tuple[Contrast, ...] = ()
    at_bytes: tuple[tuple[int, ...], ...] = ()
    limit_bytes: int | None = None
    topic: Topic | None = None

    @property
    def is_finding(self) -> bool:
        """Whether it is more than numbers, so that `explain` says more of it."""
        return self.factor is not None or self.topic is not None


class FactorRatio(NamedTuple):
    """How many times as long a cell takes as the one with the first value of the varied factor."""

    ratio: Ratio
    base: Subject


class VariedFactors:
    """What a campaign varied: contrasts by factor, found when first asked for.

    Args:
        found: Answers of the result; modes count as varied where it has nothing but messages.
    """

    def __init__(self, evidence: Evidence, found: Sequence[Answer]) -> None:
        self.evidence = evidence
        self._answers = found

    @cached_property
    def found(self) -> Mapping[Varied, Sequence[Contrast]]:
        """Contrasts of the first factors that have any, at most MAX_FACTORS of them."""
        found: dict[Varied, Sequence[Contrast]] = {}
        for factor, names in FACTORS.items():
            if len(found) < MAX_FACTORS and self._is_varied(factor):
                find = FINDERS.get(factor, lambda evidence, names=names: contrasts(evidence, names))
                found |= {factor: mine} if (mine := [*find(self.evidence)]) else {}
        return found

    def _is_varied(self, factor: Varied) -> bool:
        cells = (row.cell for row in self.evidence.rows if row.time is not None)
        several = len({tuple(getattr(cell, name) for name in FACTORS[factor]) for cell in cells}) > 1
        return several and (factor != "mode" or about_messages(self._answers))

    @property
    def first(self) -> Varied | None:
        """The factor that leads; None if none was varied, or none has a ratio."""
        return next(iter(self.found), None)

    @cached_property
    def told(self) -> Sequence[Contrast]:
        """Contrasts with the base of the first sentence; empty if none is about a factor."""
        return _told(self.evidence, self.found[self.first]) if self.first is not None else ()

    @cached_property
    def _ratios(self) -> Mapping[tuple[Key, int], FactorRatio]:
        found: dict[tuple[Key, int], FactorRatio] = {}
        for one in self.found[self.first] if self.first is not None else ():
            # Of no state is what was measured where the machine has none, such as between other hosts.
            curves = {row_key(of, SIZE) for of in (one.base._replace(cell=one.other), Subject(one.other))}
            for curve, point in product(curves, one.points):
                found.setdefault((curve, point.bytes), FactorRatio(point.ratio, one.base))
        return found

    def ratio(self, row: Row) -> FactorRatio | None:
        """Return the ratio of a row to that with the first value of the leading factor.

        None for the first value itself, and where there is no ratio.
        """
        return self._ratios.get((row_key(row, SIZE), row.cell.bytes))


def varied_of(result: Result, rows: Sequence[Row], found: Sequence[Answer]) -> VariedFactors:
    """Return what was varied in a result."""
    return VariedFactors(Evidence(result, rows), found)


def headlines_of(result: Result, rows: Sequence[Row]) -> list[Headline]:
    """Return the headlines of a result; none of a map, which has a verdict."""
    if is_map(result):
        return []
    found = answers(rows, {pattern.name: pattern for pattern in result.campaign.patterns})
    return headlines(varied_of(result, rows, found), found)


def headlines(varied: VariedFactors, found: Sequence[Answer], chosen: Units = AUTOMATIC) -> list[Headline]:
    """Return what was found about the factors that were varied; else the latency and the bandwidth."""
    evidence = varied.evidence
    of_jobs, of_cells = [*_of_groups(evidence)], [*_of_topics(evidence, chosen)]
    for factor, mine in varied.found.items():
        (of_cells if factor == "mode" else of_jobs).extend(_of_factor(evidence, factor, mine))
    return [*of_jobs, *of_cells] or [*_numbers(found, chosen, evidence.result)]


def headline_record(fact: Headline) -> dict[str, Any]:
    """Return a headline as JSON has it: docs/numbers-fields.md."""
    return {
        "factor": fact.factor,
        "topic": fact.topic,
        "text": fact.text,
        "ratios": [
            {
                "base": cell_record(one.base.cell) | {"bytes": point.bytes},
                "other": cell_record(one.other) | {"bytes": point.bytes},
                **state_record(one.base),
                "estimate": finite_or_none(point.ratio.estimate),
                "low": finite_or_none(point.ratio.low),
                "high": finite_or_none(point.ratio.high),
                "paired": point.ratio.paired,
                "verdict": point.verdict,
            }
            for one, sizes in zip(fact.contrasts, fact.at_bytes, strict=True)
            for point in one.points
            if point.bytes in sizes
        ],
        "limit_bytes": fact.limit_bytes,
    }


def _of_groups(evidence: Evidence) -> Iterator[Headline]:
    """Yield what groups at once cost each other, of the operations of which that tells most."""
    facts = sorted(togethers(evidence), key=weight_of, reverse=True)
    names = varied_in(evidence.rows)
    yield from (
        Headline("groups", groups_headline(fact, names), topic="groups") for fact in facts[:MAX_FACTORS]
    )


def _of_topics(evidence: Evidence, chosen: Units) -> Iterator[Headline]:
    """Yield what tells most of each of the first topics that have a finding."""
    names, crowded = varied_in(evidence.rows), evidence.crowded
    found = ((name, [*filter(_is_certain, TOPICS[name].find(evidence))]) for name in TOPICS_IN_ANSWERS)
    for name, facts in islice(((name, facts) for name, facts in found if facts), MAX_TOPICS):
        fact = max(facts, key=lambda one: (cell_of(one).job not in crowded, weight_of(one)))
        yield Headline(None, TOPICS[name].headline(fact, names, chosen), topic=name)


def _is_certain(fact: object) -> bool:
    """Return whether a fact is a finding: of queues, blocks and partitions, that they differ by how much."""
    if not isinstance(fact, PartCost):
        return True
    differing = [step.ratio for step in fact.steps if step.ratio.verdict in DIFFERENT]
    return bool(differing) and all(is_known(ratio.low, ratio.high) for ratio in differing)


# ---- A factor that was varied --------------------------------------------------------------------


def _of_factor(evidence: Evidence, factor: Varied, found: Sequence[Contrast]) -> Iterator[Headline]:
    """Yield what is said of a factor: of the base that tells most, each other value against it."""
    others = _told(evidence, found)
    base = others[0].base
    names = Names(evidence, factor, [base.cell, *(one.other for one in others)])
    about = _about(evidence, factor, base, alone=len({one.base for one in found}) == 1)
    common = set.intersection(*({point.bytes for point in one.points} for one in others))
    if len(others) > MAX_COURSES or (factor in TOLD_AT_ONE_SIZE and len(others) > 1):
        if common:
            size = latency_bytes(common)
            text = f"{about}{_at_one_size(others, names, size)}"
            yield Headline(factor, text, tuple(others), ((size,),) * len(others))
        return
    deadlock = _deadlock(evidence, others) if factor == "mode" else None
    for one in others:
        text, sizes = _course(one, names)
        limit = None
        if deadlock is not None:
            cell, limit = deadlock
            text, deadlock = f"{text}; above {units.format_size(limit)} {names.of(cell)} would deadlock", None
        yield Headline(factor, f"{about}{text}", (one,), (sizes,), limit)


def _told(evidence: Evidence, found: Sequence[Contrast]) -> Sequence[Contrast]:
    """Return the contrasts with the base that tells most."""
    return min(group_by(found, lambda one: one.base).values(), key=lambda mine: _rank(evidence, mine))


def _rank(evidence: Evidence, mine: Sequence[Contrast]) -> tuple[bool, bool, bool, float]:
    """Return how little the contrasts with a base tell: the least for messages one way of ranks on own cores.

    Of these, as in `explain`, those come first that are most decided and differ most.
    """
    cell = mine[0].base.cell
    crowded, is_message = cell.job in evidence.crowded, cell.pattern in evidence.messages
    one_way = evidence.patterns[cell.pattern].one_way
    return crowded, not is_message, not one_way, -max(map(weight_of, mine))


def _about(evidence: Evidence, factor: Varied, base: Subject, *, alone: bool) -> str:
    """Return what a sentence is about, with a colon; nothing for messages one way that are all there is."""
    if alone and evidence.patterns[base.cell.pattern].one_way:
        return ""
    return f"{subject(base, varied_in(evidence.rows), FACTORS[factor])}: "


def _deadlock(evidence: Evidence, others: Sequence[Contrast]) -> tuple[Cell, int] | None:
    """Return the curve whose larger messages were not started, since they would deadlock, and the limit."""
    cells = [others[0].base.cell, *(one.other for one in others)]
    blocked = {cell_key(row.cell, SIZE) for row in evidence.rows if row.status == "blocked"}
    limits = ((cell, evidence.limits.get(cell.job)) for cell in cells if cell_key(cell, SIZE) in blocked)
    return next(((cell, limit) for cell, limit in limits if limit is not None), None)


class Names:
    """Names of the values of a factor: MPI functions for modes that differ in these.

    Args:
        cells: A cell of each value.
    """

    def __init__(self, evidence: Evidence, factor: Varied, cells: Sequence[Cell]) -> None:
        self._factor = factor
        modes = (evidence.patterns[cell.pattern].mode(cell.mode) for cell in cells)
        calls = [mode.call if mode is not None and factor == "mode" else "" for mode in modes]
        are_told = "" not in calls and len({*calls}) == len(cells)
        plain = (value_name(factor, cell) for cell in cells)
        self._names = dict(zip(cells, calls if are_told else plain, strict=True))

    def of(self, cell: Cell) -> str:
        """Return the name of the value that a cell has."""
        return self._names[cell]

    def sides(self, one: Contrast) -> NamesOfTwo:
        """Return the names of both sides of a contrast, and by what they are held against each other."""
        many, base_many = (
            self._factor == "ranks" or is_many(FACTORS[self._factor], cell)
            for cell in (one.other, one.base.cell)
        )
        return NamesOfTwo(self.of(one.other), self.of(one.base.cell), many, base_many, bool(one.rates))


def value_name(factor: Varied, cell: Cell) -> str:
    """Return the value of a factor in few words; a place as columns are headed: `tcp h1,h2`."""
    if factor != "place":
        return name_of(FACTORS[factor])(cell)
    phrases = phrases_of(cell, ["transport", "placement"]).values()
    return " ".join(phrase for phrase in phrases if phrase not in UNSAID) or cell.placement


# ---- Amounts -------------------------------------------------------------------------------------


def _amount(point: SizeRatio, sides: NamesOfTwo) -> str:
    """Return how much longer something takes, with its interval: `13 % (11 - 15) longer`, `no difference`.

    Args:
        sides: What is held against each other, and whether by rates.
    """
    ratio = sides.ratio(point.ratio)
    if point.verdict not in DIFFERENT:
        return VERDICTS[point.verdict]
    longer = ratio.verdict == "slower"
    if not is_known(ratio.low, ratio.high):
        return sides.more if longer else "less"
    low, high = ratio.low, ratio.high
    if ratio.estimate >= TWICE:
        factor = units.format_factor(ratio.estimate)
        return (
            f"{_with_ends(factor, low, high, units.format_factor)} times{'' if sides.by_rate else ' as long'}"
        )
    near, far = (low, high) if longer else (high, low)
    percent = f"{_percent(ratio.estimate)} %"
    return f"{_with_ends(percent, near, far, _percent)} {sides.more if longer else 'less'}"


def _percent(ratio: float) -> str:
    """Return how far a ratio is from 1, in per cent without the sign."""
    return units.format_percent(abs(ratio - 1)).removesuffix(" %")


def _with_ends(text: str, low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return a number with its interval, if that has ends and they do not look like the number."""
    looks_exact = low is not None and high is not None and write(low) == write(high)
    return text if looks_exact else units.with_interval(text, low, high, write)


def _takes(names: Names, one: Contrast, point: SizeRatio, up_to: str = "") -> str:
    """Return the whole phrase: `MPI_Isend takes 13 % (11 - 15) longer than MPI_Send`."""
    sides = names.sides(one)
    amount = _amount(point, sides)
    limit = up_to if is_known(point.ratio.low, point.ratio.high) else ""
    if amount.endswith(("times", "as long")):
        return f"{sides.other} {sides.takes} {limit}{amount.removesuffix(' as long')} {sides.as_base}"
    amount = f"{amount.removesuffix('less')}{sides.less}" if amount.endswith("less") else amount
    return f"{sides.other} {sides.takes} {limit}{amount} than {sides.base}"


MAX_NAMED_ALIKE = 2
"""Values of a factor that are named one by one where the same is said of each."""


def _at_one_size(others: Sequence[Contrast], names: Names, size_bytes: int) -> str:
    """Return the ratios of several to their base at one size, those that differ first."""
    pairs = [(one, point) for one in others for point in one.points if point.bytes == size_bytes]
    (first, point), *more = sorted(pairs, key=lambda pair: pair[1].verdict not in DIFFERENT)
    begin = (
        _takes(names, first, point)
        if point.verdict in DIFFERENT
        else f"{_pair(first, names)}: {_amount(point, names.sides(first))}"
    )
    told = group_by(
        ((names.of(one.other), _amount(at, names.sides(one)).removesuffix(" as long")) for one, at in more),
        lambda pair: pair[1],
    )
    rest = (text for amount, mine in told.items() for text in _others([name for name, _ in mine], amount))
    return ", ".join([f"{begin}{at_size(first.other, size_bytes)}", *rest])


def _others(found: Sequence[str], amount: str) -> Iterator[str]:
    """Yield what is said of others of the same amount, of each by its name; of many, how many they are."""
    if len(found) > MAX_NAMED_ALIKE:
        yield f"{amount} for {len(found)} others"
    else:
        yield from (f"{name} {amount}" for name in found)


def _pair(one: Contrast, names: Names) -> str:
    return f"{names.of(one.other)} against {names.of(one.base.cell)}"


def ratio_of(varied: VariedFactors, quote: Quote | None) -> Ratio | None:
    """Return the ratio of a number of the answer to that with the first value; of a rate, of the rates.

    None where there is no ratio, as for the first value itself and for numbers that are no times.
    """
    if quote is None or quote.unit not in UNITS_OF_TIMES or (found := varied.ratio(quote.row)) is None:
        return None
    return found.ratio if quote.unit == "s" else found.ratio.turned


def ratio_cell(ratio: Ratio) -> str:
    """Return `1.13×`, `same` or `undecided`; `higher` or `lower` where no more is known."""
    match ratio.verdict:
        case "same":
            return "same"
        case "undecided":
            return VERDICTS[ratio.verdict]
    if not is_known(ratio.low, ratio.high):
        return "higher" if ratio.estimate > 1 else "lower"
    return f"{units.format_factor(ratio.estimate)}×"


# ---- A curve over all sizes ----------------------------------------------------------------------


class CurveSegment(NamedTuple):
    """Neighbouring sizes of one verdict, undecided ones among them included.

    Attributes:
        at: The sizes that have the verdict.
        inside: All sizes from the first of them to the last.
    """

    verdict: Verdict
    at: list[SizeRatio]
    inside: list[SizeRatio]

    @property
    def worst(self) -> SizeRatio:
        """The size whose ratio is farthest from 1."""
        return max(self.at, key=lambda point: max(point.ratio.estimate, 1 / point.ratio.estimate))

    def where(self, points: Sequence[SizeRatio], cell: Cell) -> str:
        """Return where it is so, among all sizes of a pair of curves: ` up to 512 B`."""
        first, last = (units.format_size(one.bytes) for one in (self.inside[0], self.inside[-1]))
        some = f" at {len(self.at)} of {len(self.inside)} sizes" if len(self.at) < len(self.inside) else ""
        if len(self.inside) == 1:
            return at_size(cell, self.inside[0].bytes)
        if len(self.inside) == len(points):
            return some or f" at {every_size(len(points))}"
        if self.inside[0] is points[0]:
            return f"{some} up to {last}"
        return (
            f"{some} from {first} on" if self.inside[-1] is points[-1] else f"{some} from {first} to {last}"
        )


def segments_of(points: Sequence[SizeRatio]) -> list[CurveSegment]:
    """Return runs of one verdict, sizes rising; undecided sizes between two of one verdict join them."""
    decided = [place for place, point in enumerate(points) if point.verdict != "undecided"]
    ends = runs(decided, lambda one, two: points[one].verdict == points[two].verdict)
    found, begin = [], 0
    for run in ends:
        found += _open(points[begin : run[0]])
        inside = [*points[run[0] : run[-1] + 1]]
        found.append(CurveSegment(points[run[0]].verdict, [points[place] for place in run], inside))
        begin = run[-1] + 1
    return [*found, *_open(points[begin:])]


def _open(points: Sequence[SizeRatio]) -> list[CurveSegment]:
    return [CurveSegment("undecided", [*points], [*points])] if points else []


def _course(one: Contrast, names: Names) -> tuple[str, tuple[int, ...]]:
    """Return how one curve goes beside its base over all sizes, and the sizes whose ratios it quotes."""
    segments = segments_of(one.points)
    if len(segments) > MAX_SEGMENTS:
        return _pooled(one, names)
    lead, *rest = sorted(segments, key=lambda segment: segment.verdict == "undecided")
    begin, quoted = _lead(one, names, lead)
    more = [_later(one, segment, names) for segment in rest]
    sizes = [*quoted, *(segment.worst.bytes for segment in rest if segment.verdict in DIFFERENT)]
    return "; ".join([begin, *more]), tuple(sizes)


def _lead(one: Contrast, names: Names, lead: CurveSegment) -> tuple[str, list[int]]:
    """Return the segment that is told first: at the size of the latency, or where it differs most."""
    where = lead.where(one.points, one.other)
    if lead.verdict == "undecided":
        return f"{_pair(one, names)}: {VERDICTS[lead.verdict]}{where}{_why_undecided(lead.at)}", []
    if lead.verdict == "same":
        return f"{_pair(one, names)}: {VERDICTS[lead.verdict]} (within {WITHIN}){where}", []
    size = latency_bytes(point.bytes for point in one.points)
    point = next((point for point in lead.at if point.bytes == size), None)
    if point is None:
        up_to = "up to " if len(lead.at) > 1 else ""
        return f"{_takes(names, one, lead.worst, up_to)}{where}", [lead.worst.bytes]
    text, last = f"{_takes(names, one, point)}{at_size(one.other, size)}", lead.at[-1]
    if len(lead.inside) < len(one.points) or last is point:
        return text, [size]
    amount = _amount(last, names.sides(one)).removesuffix(" as long")
    return f"{text}, {amount}{at_size(one.other, last.bytes)}", [size, last.bytes]


def _why_undecided(points: Sequence[SizeRatio]) -> str:
    """Return what a verdict on some sizes takes; nothing where that is not known."""
    if max(point.ratio.launches for point in points) < LAUNCHES_OF_A_VERDICT:
        return f" ({VERDICT_NEEDS}: --launches {ENOUGH_LAUNCHES})"
    needed = launches_needed(points)
    return "" if needed is None else f" ({would_tell(needed)})"


def _later(one: Contrast, segment: CurveSegment, names: Names) -> str:
    """Return a segment that is told after another."""
    worst = segment.worst
    several = (
        segment.verdict in DIFFERENT and len(segment.at) > 1 and is_known(worst.ratio.low, worst.ratio.high)
    )
    amount = _amount(worst, names.sides(one))
    return f"{'up to ' if several else ''}{amount}{segment.where(one.points, one.other)}"


def _pooled(one: Contrast, names: Names) -> tuple[str, tuple[int, ...]]:
    """Return at how many sizes a curve differs, and by how much at most, where it changes often."""
    by_verdict = group_by(one.points, lambda point: point.verdict)
    parts = [CurveSegment(name, by_verdict[name], [*one.points]) for name in VERDICTS if name in by_verdict]
    lead, *rest = parts
    begin = f"{_takes(names, one, lead.worst, 'up to ')} at {len(lead.at)} of {len(one.points)} sizes"
    more = [f"{_later(one, part, names).partition(' at ')[0]} at {len(part.at)}" for part in rest]
    quoted = (part.worst.bytes for part in parts if part.verdict in DIFFERENT)
    return ", ".join([begin, *more]), tuple(quoted)


# ---- Nothing varied ------------------------------------------------------------------------------


def _numbers(found: Sequence[Answer], chosen: Units, result: Result) -> Iterator[Headline]:
    """Yield the latency and the best bandwidth of the first job, or its first two numbers."""
    if not found:
        return
    lines = [line for line in lines_of(found[:1]) if _is_told(line.first)]
    messages = [line for line in lines if line.first.quoted_as in QUOTED_OF_PAIRS]
    if not lines:
        return
    said = _first_two(messages) if messages else _of_two_patterns(lines)
    of = found[0].quotes[0].row
    job = [phrase for phrase in phrases_of(of.cell, OF_JOB).values() if phrase not in UNSAID]
    cut_short = cells_cut_short(result)
    numbers = "; ".join(
        _in_part(line, chosen)
        if line.first.quoted_as in QUOTED_RATES and with_fields(line.first.row.cell, bytes=0) in cut_short
        else _number(line, chosen)
        for line in said
    )
    where = f"{', '.join(job)}: " if len(found) > 1 else ""
    yield Headline(None, f"{where}{numbers}{state_suffix(of.of)}")


def _first_two(messages: Sequence[QuoteLine]) -> list[QuoteLine]:
    """Return the first two numbers of messages; a rate of the size of the latency is no best one."""
    first, *more = messages[:2]
    return [first, *(line for line in more if line.first.row.cell.bytes != first.first.row.cell.bytes)]


def _of_two_patterns(lines: Sequence[QuoteLine]) -> list[QuoteLine]:
    """Return the first number, and the first of the next pattern; without any, its second number."""
    first, *more = lines
    others = [line for line in more if line.first.pattern.name != first.first.pattern.name]
    return [first, *(others or more)[:1]]


def _is_told(quote: Quote) -> bool:
    """Return whether a number of the answer is known well enough to be the finding of a campaign."""
    if quote.awaited or quote.unit == "B" or not is_quotable(quote):
        return False
    return quote.row.imported or is_known(quote.low, quote.high)


def _in_part(line: QuoteLine, chosen: Units) -> str:
    """Return a rate of a table of which rows are missing: nobody knows the best of them."""
    size = units.format_size(line.first.row.cell.bytes)
    said = number_and_width(line.first, chosen)
    return f"{_without_size(line)} {said} ({size}), of a table of which rows are missing"


def _without_size(line: QuoteLine) -> str:
    """Return what a number is, beside which its size is said."""
    return heading(line).removesuffix(f", {units.format_size(line.first.row.cell.bytes)}")


def _number(line: QuoteLine, chosen: Units) -> str:
    """Return a number of the answer as part of a sentence."""
    quote, text = line.first, number_and_width(line.first, chosen)
    size = units.format_size(quote.row.cell.bytes)
    match quote.quoted_as:
        case "latency":
            return f"a message of {size} takes {text}" if quote.row.sized else f"a message takes {text}"
        case "bandwidth":
            return f"{text} at best ({size})"
        case "both-directions":
            return f"{text} in both directions at best ({size})"
        case quoted if quoted in QUOTED_TIMES:
            return " ".join(filter(None, [f"{_operation(line)} takes {text}", timed_part(quote)]))
        case quoted if quoted in QUOTED_RATES:
            return f"{_without_size(line)} {text} at best ({size})"
    return f"{heading(line)} {text}"


def _operation(line: QuoteLine) -> str:
    """Return an operation with its size: `allreduce of 8 B`."""
    name, comma, size = heading(line).rpartition(", ")
    return f"{name} of {size}" if comma else size
