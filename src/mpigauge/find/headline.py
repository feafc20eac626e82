"""The first lines of an answer: what a campaign found about what it varied, a sentence for each factor.

All ratios are those of `explain` and `compare`: `find.explain.contrasts` finds them. What one-sided
operations, queues, blocks and partitions cost is said by the topics of `explain`. A campaign that varied
nothing, or nothing that has a ratio, begins with its latency and its bandwidth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace as with_fields

from mpigauge import units
from mpigauge.compare.two import amount_of, at_sizes, takes, where_of
from mpigauge.document.cell_names import subject, varied_in
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import OF_JOB, UNSAID, phrases_of, state_suffix
from mpigauge.document.ratio_words import VERDICTS
from mpigauge.document.records import cell_record, finite_or_none, state_record
from mpigauge.find.answer import (
    UNITS_OF_TIMES,
    about_messages,
    answers,
    heading,
    is_quotable,
    lines_of,
    number_and_width,
    timed_part,
)
from mpigauge.find.explain.contrasts import (
    BUILD,
    MODE,
    ORDER,
    RANKS,
    SENDERS,
    at_latency,
    contrasts,
    in_brief,
    name_of,
    orders,
    senders,
    sides_of,
)
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.groups import headline as groups_headline
from mpigauge.find.explain.groups import togethers
from mpigauge.find.explain.queues_and_parts import PartCost
from mpigauge.find.explain.ranks import growths
from mpigauge.find.explain.ranks import headline as growth_headline
from mpigauge.find.explain.topics import TOPICS, telling
from mpigauge.find.fact import weight_of
from mpigauge.find.imported import cells_cut_short
from mpigauge.find.phrases import headed
from mpigauge.linkmap.linkmap import is_map
from mpigauge.plan.factors import PLACE, SIZE
from mpigauge.rows.group import Subject, cell_key, row_key
from mpigauge.sequences import group_by
from mpigauge.stats.interval import is_known
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
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

    from mpigauge.compare.two import SizePiece
    from mpigauge.document.document import Units
    from mpigauge.find.answer import Answer, Quote, QuoteLine
    from mpigauge.find.explain.contrasts import Contrast
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Topic, Varied

FACTORS: Mapping[Varied, frozenset[str]] = {
    "library": BUILD,
    "setting": frozenset({"setting"}),
    "place": PLACE,
    "mode": MODE,
    "ranks": RANKS,
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

MAX_LETTERS = 158
"""Letters of a sentence: two lines of a narrow terminal."""

MAX_COURSES = 2
"""Most curves that are each followed over all sizes; of more, one size is told."""


class QuotedRatio(NamedTuple):
    """A ratio in a headline, of one size or of several together.

    Attributes:
        base: What the other is held against, at any size.
    """

    base: Subject
    other: Cell
    sizes_bytes: tuple[int, ...]
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence about a factor that was varied, or about the numbers of a campaign that varied none.

    Attributes:
        factor: What was varied; None for numbers alone.
        ratios: Those that it quotes.
        limit_bytes: Eager limit above which one of its modes would deadlock; None if none would.
        topic: Topic of `explain` whose line it is; None if it is of none.
    """

    factor: Varied | None
    text: str
    ratios: tuple[QuotedRatio, ...] = ()
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
        found_of = (
            _of_ranks(evidence, chosen) if factor == "ranks" else _of_factor(evidence, factor, mine, chosen)
        )
        (of_cells if factor == "mode" else of_jobs).extend(found_of)
    return [*of_jobs, *of_cells] or [*_numbers(found, chosen, evidence.result)]


def headline_record(fact: Headline) -> dict[str, Any]:
    """Return a headline as JSON has it: docs/numbers-fields.md."""
    return {
        "factor": fact.factor,
        "topic": fact.topic,
        "text": fact.text,
        "ratios": [
            {
                "base": cell_record(one.base.cell) | {"bytes": one.sizes_bytes[0]},
                "other": cell_record(one.other) | {"bytes": one.sizes_bytes[0]},
                **state_record(one.base),
                "sizes_bytes": [*one.sizes_bytes],
                "estimate": finite_or_none(one.ratio.estimate),
                "low": finite_or_none(one.ratio.low),
                "high": finite_or_none(one.ratio.high),
                "paired": one.ratio.paired,
                "verdict": one.ratio.verdict,
            }
            for one in fact.ratios
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
    names = varied_in(evidence.rows)
    found = ((name, [*filter(_is_certain, TOPICS[name].find(evidence))]) for name in TOPICS_IN_ANSWERS)
    for name, facts in islice(((name, facts) for name, facts in found if facts), MAX_TOPICS):
        fact = max(facts, key=partial(telling, evidence))
        yield Headline(None, TOPICS[name].headline(fact, names, chosen), topic=name)


def _is_certain(fact: object) -> bool:
    """Return whether a fact is a finding: of queues, blocks and partitions, that they differ by how much.

    Of what was over before, how much that is says so: the rest is too small for a narrow ratio.
    """
    if not isinstance(fact, PartCost):
        return True
    if fact.hidden is not None:
        return fact.steps[-1].ratio.verdict in DIFFERENT
    differing = [step.ratio for step in fact.steps if step.ratio.verdict in DIFFERENT]
    return bool(differing) and all(is_known(ratio.low, ratio.high) for ratio in differing)


# ---- A factor that was varied --------------------------------------------------------------------


def _of_factor(
    evidence: Evidence, factor: Varied, found: Sequence[Contrast], chosen: Units
) -> Iterator[Headline]:
    """Yield what is said of a factor: of the base that tells most, each other value against it."""
    others, varied = _told(evidence, found), varied_in(evidence.rows)
    if len(others) > MAX_COURSES or (factor in TOLD_AT_ONE_SIZE and len(others) > 1):
        leads = [at_latency(one) for one in others]
        about = subject(others[0].base, varied, FACTORS[factor])
        text = headed(about, _several(others, leads))
        quoted = (
            one for contrast, lead in zip(others, leads, strict=True) for one in _quoted(contrast, lead)
        )
        yield Headline(factor, text, tuple(quoted))
        return
    deadlock = _deadlock(evidence, others) if factor == "mode" else None
    for one in others:
        text, pieces = in_brief(one, varied, chosen, lambda text: len(text) <= MAX_LETTERS)
        limit = None
        if deadlock is not None:
            cell, limit = deadlock
            name = sides_of(one).base if cell == one.base.cell else sides_of(one).other
            text, deadlock = f"{text}; above {units.format_size(limit)} {name} would deadlock", None
        yield Headline(factor, text, tuple(_quoted(one, *pieces)), limit)


def _quoted(one: Contrast, *pieces: SizePiece) -> Iterator[QuotedRatio]:
    """Yield the ratios of pieces with a difference."""
    for piece in pieces:
        if piece.pooled is not None and piece.verdict in DIFFERENT:
            yield QuotedRatio(one.base, one.other, piece.sizes_bytes, piece.pooled)


def _of_ranks(evidence: Evidence, chosen: Units) -> Iterator[Headline]:
    """Yield what more ranks do to the operation of which that tells most."""
    fact = max(growths(evidence), key=partial(telling, evidence), default=None)
    if fact is not None:
        smallest, most = fact.at[0], fact.at[0].most
        ratios = []
        if most is not None and most.ratio is not None:
            other = with_fields(fact.of.cell, ranks=most.ranks)
            ratios.append(QuotedRatio(fact.of, other, (smallest.bytes,), most.ratio))
        text = growth_headline(fact, varied_in(evidence.rows), chosen)
        yield Headline("ranks", text, tuple(ratios), topic="ranks")


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


def _deadlock(evidence: Evidence, others: Sequence[Contrast]) -> tuple[Cell, int] | None:
    """Return the curve whose larger messages were not started, since they would deadlock, and the limit."""
    cells = [others[0].base.cell, *(one.other for one in others)]
    blocked = {cell_key(row.cell, SIZE) for row in evidence.rows if row.status == "blocked"}
    limits = ((cell, evidence.limits.get(cell.job)) for cell in cells if cell_key(cell, SIZE) in blocked)
    return next(((cell, limit) for cell, limit in limits if limit is not None), None)


def value_name(factor: Varied, cell: Cell) -> str:
    """Return the value of a factor in few words, as sentences name it."""
    return name_of(FACTORS[factor])(cell)


# ---- Several values ------------------------------------------------------------------------------

MAX_INTERVALS = 3
"""Most values of a factor that are each told with the interval and the sizes of their ratio."""


def _several(others: Sequence[Contrast], leads: Sequence[SizePiece]) -> str:
    """Return how several compare with their base, each where the latency is: those that differ first.

    Of many the one that differs most leads, and the others are told in short: the table has their numbers.
    """
    pairs = [*zip(others, leads, strict=True)]
    in_short = len(pairs) > MAX_INTERVALS
    pairs.sort(key=lambda pair: (pair[1].verdict not in DIFFERENT, -_weight(pair[1]) if in_short else 0))
    (first, lead), *more = pairs
    sides = sides_of(first)
    differs = lead.verdict in DIFFERENT
    begin = takes(lead, sides) if differs else f"{sides.other} against {sides.base}: {_amount(first, lead)}"
    told = group_by(
        more, lambda pair: pair[1].verdict if in_short and pair[1].verdict not in DIFFERENT else None
    )
    each = [
        f"{sides_of(one).other} {_amount(one, piece, interval=not in_short)}"
        f"{'' if (where := _where(one, piece)) == _where(first, lead) else where}"
        for one, piece in told.pop(None, [])
    ]
    alike = [
        f"{VERDICTS[verdict]}{_where(first, lead)}: {', '.join(sides_of(one).other for one, _ in mine)}"
        for verdict, mine in told.items()
        if verdict is not None
    ]
    return "; ".join([f"{begin}{_where(first, lead)}", *each, *alike, *_most_elsewhere(others, leads)])


def _most_elsewhere(others: Sequence[Contrast], leads: Sequence[SizePiece]) -> Iterator[str]:
    """Yield the piece that differs most of all, if that is at other sizes than the latency is."""
    pieces = [
        (one, piece)
        for one, lead in zip(others, leads, strict=True)
        for piece in one.pieces
        if piece.verdict in DIFFERENT and not {*lead.sizes_bytes} & {*piece.sizes_bytes}
    ]
    if pieces:
        one, most = max(pieces, key=lambda pair: _weight(pair[1]))
        if _weight(most) > max(map(_weight, leads)):
            yield f"most: {sides_of(one).other} {_amount(one, most)}{_where(one, most)}"


def _weight(piece: SizePiece) -> float:
    """Return how much a piece differs, where that is known."""
    ratio = piece.pooled
    known = ratio is not None and is_known(ratio.low, ratio.high)
    return abs(math.log(ratio.estimate)) if ratio is not None and known else 0.0


def _amount(one: Contrast, piece: SizePiece, *, interval: bool = True) -> str:
    if piece.verdict not in DIFFERENT:
        return VERDICTS[piece.verdict]
    return amount_of(piece, sides_of(one), interval=interval).removesuffix(" as long")


def _where(one: Contrast, piece: SizePiece) -> str:
    return where_of(piece, at_sizes([point.bytes for point in one.points], one.alone_bytes, one.other))


# ---- Ratios beside numbers -----------------------------------------------------------------------


def ratio_of(varied: VariedFactors, quote: Quote | None) -> Ratio | None:
    """Return the ratio of a number of the answer to that with the first value; of a rate, of the rates.

    None where there is no ratio, as for the first value itself and for numbers that are no times.
    """
    if quote is None or quote.unit not in UNITS_OF_TIMES or (found := varied.ratio(quote.row)) is None:
        return None
    return found.ratio if quote.unit == "s" else found.ratio.turned


def ratio_cell(ratio: Ratio, *, of_rates: bool = False) -> str:
    """Return `1.13×`, `same` or `undecided`; of a rate `6.5× lower`; no number where that is not known.

    Where there are too few launches to decide, how many there are: it may differ however much.
    """
    match ratio.verdict:
        case "same":
            return "same"
        case "undecided":
            few = ratio.launches < LAUNCHES_OF_A_VERDICT
            return units.counted(ratio.launches, "launch") if few else VERDICTS[ratio.verdict]
    if not is_known(ratio.low, ratio.high):
        return "higher" if ratio.estimate > 1 else "lower"
    if of_rates and ratio.estimate < 1:
        return f"{units.format_factor(1 / ratio.estimate)}× lower"
    return f"{units.format_factor(ratio.estimate)}×"


# ---- Nothing varied ------------------------------------------------------------------------------


def _numbers(found: Sequence[Answer], chosen: Units, result: Result) -> Iterator[Headline]:
    """Yield the latency and the best bandwidth of the first job, or its first two numbers."""
    if not found:
        return
    lines = [line for line in lines_of(found[:1]) if _is_told(line.first)]
    messages = [line for line in lines if line.first.quoted_as in QUOTED_OF_PAIRS]
    if not lines:
        return
    leads = messages and (messages[0] is lines[0] or messages[0].first.quoted_as == "latency")
    said = _first_two(messages) if leads else _of_two_patterns(lines)
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
    """Return the first number, and the first of the next pattern; without any, its second number.

    A rate of the size that is told is not the best of several.
    """
    first, *more = lines
    others = [line for line in more if line.first.pattern.name != first.first.pattern.name]
    size = first.first.row.cell.bytes
    second = [
        line for line in more if line.first.quoted_as not in QUOTED_RATES or line.first.row.cell.bytes != size
    ]
    return [first, *(others or second)[:1]]


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
