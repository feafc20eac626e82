"""What a comparison says: its verdict first, then what it rests on and how often that is wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.comparison import BASE_LEAST, CONTROLS, distance, without_effect
from mpigauge.compare.pairs import Matched
from mpigauge.compare.session_sentences import few, odd_lines
from mpigauge.document.phrases import UNSAID, WORDS, phrases_of, state_words
from mpigauge.document.ratio_words import OF_PAIRS, VERDICTS
from mpigauge.plan.library_names import library_name
from mpigauge.rows.estimate import Printed
from mpigauge.stats.decision import LAUNCHES_LEAST
from mpigauge.stats.power import TIMES_MARGIN
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.alike import Builds
    from mpigauge.compare.comparison import Compared, Comparison, NoEffect, Run, Together
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import OddPair
    from mpigauge.document.phrases import Factors
    from mpigauge.result.surroundings import LibraryRecord
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision
    from mpigauge.vocabulary import ComparisonVerdict, MachineSign, Verdict

LEFT_OUT = ("pattern", "mode")
TOO_FEW = "too few launches"
ELSEWHERE = "ranks elsewhere"
TOO_FEW_SESSIONS = "too few sessions"
IMPORTED = "imported"
OWN_STATISTIC = "our own of rounds (--stat)"
FORCED_MOST = 4
"""Of what differs though it must not, so many are named in words; JSON has all."""

WORDS_MOST = 6
"""Of a configuration that another has not."""

SIDES_MOST = 3
"""Of what is held against a base, so many are named above all; lines name their own."""

FIRST_OF_EACH = "the first of their kind"

ALONE = "without a partner"
ONE_SIDE: Mapping[str, str] = {"base": "the base", "other": "the other"}
"""Of two results that differ in no factor."""

MACHINE = "the machine moved"

SIGNS: Mapping[MachineSign, str] = {
    "arithmetic": "arithmetic",
    "line": "hand-over of a cache line",
    "path": "empty message between hosts",
}
"""What shows the machine itself."""

NOT_IN_TURN = {"slower": "longer", "faster": "shorter"}
"""What is said of launches that were not made in turn: it may be the machine."""

COUNTED = {
    "no difference": "the same",
    TOO_FEW: "undecided",
    TOO_FEW_SESSIONS: "undecided",
    ELSEWHERE: "undecided",
}
"""What words of numbers are counted as."""


def headline(shown: Comparison, verdict: ComparisonVerdict) -> str:
    """The verdict on all of it, and how many numbers are slower, faster, the same and undecided."""
    counts = _counts(shown)
    count, allow = len(shown.cells), units.format_percent(shown.thresholds.allow)
    if shown.unasked and count:
        return f"no verdict on {shown.unasked}: {_of(count)} {_listed(counts)}"
    match verdict:
        case "slower":
            first = [word for word in ("slower", "lost") if counts.get(word)]
            said = [f"{word}: {counts.pop(word)} of {count} numbers" for word in first]
            if not said:
                del counts["slower"]
            return "; ".join([*(said or [_pooled(shown, "slower")]), _listed(counts)])
        case "machine":
            moved = f"{MACHINE}: {_names(shown)} changed, which cannot differ"
            return f"{moved}; {_of(count)} {_listed(counts)}" if count else moved
        case "faster":
            faster = counts.pop("faster")
            some = f"faster: {faster} of {count} numbers" if faster else _pooled(shown, "faster")
            return f"{some}; none is slower by {allow}; {_listed(counts)}"
        case "same":
            return (
                f"no difference that matters: none of {count} numbers is slower by {allow}; {_listed(counts)}"
            )
        case "undecided":
            return f"undecided: {_open(shown, counts)}"


def _pooled(shown: Comparison, word: Verdict) -> str:
    """Where no number by itself has the word, but neighbouring sizes as one."""
    sizes = sum(len(one.cells) for one in shown.together if one.decision.verdict == word)
    return f"{word}: {sizes} sizes together, none of {units.counted(len(shown.cells), 'number')} alone"


def _counts(shown: Comparison) -> dict[str, int]:
    """How many numbers have each word: the four that are always told, and what else there is."""
    said = Counter(COUNTED.get(word, word) for word in map(_word, shown.cells))
    usual = ["slower", "faster", "the same", "undecided"]
    if not all(one.trusted for one in shown.cells):
        usual = [NOT_IN_TURN.get(word, word) for word in usual]
    return {word: said[word] for word in [*usual, *sorted(said.keys() - set(usual))]}


def _listed(counts: Mapping[str, int]) -> str:
    """`5 slower, 2 faster, 16 the same, 1 undecided`."""
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _of(count: int) -> str:
    return f"of {units.counted(count, 'number')}"


def _open(shown: Comparison, counts: Mapping[str, int]) -> str:
    count = len(shown.cells)
    if shown.sessions is not None and not shown.judges:
        return few(shown.sessions, BASE_LEAST)
    if imported := sum(one.pair.imported for one in shown.cells):
        return f"{imported} of {count} numbers are imported on one side at least: no launches, so no verdict"
    if not count:
        return "no number of a library is on both sides in a like state of the machine"
    if not shown.judges:
        return f"not measured in turn, a difference may be the machine's; {_of(count)} {_listed(counts)}"
    open_ = sum(
        one.decision is None or not one.decision.passes(shown.thresholds.allow) for one in shown.cells
    )
    allow = units.format_percent(shown.thresholds.allow)
    if open_:
        why = f"{open_} of {count} numbers may be slower by {allow}"
    elif counts.get("undecided") or not shown.unmatched:
        why = "not every number is decided"
    else:
        why = f"{units.counted(len(shown.unmatched), 'number')} {ALONE}"
    return f"{why}; {_listed(counts)}"


def asking(shown: Comparison) -> Iterator[str]:
    """What to type for a verdict that nobody has asked for."""
    if by := shown.unasked:
        yield f"ratios alone; a verdict on {by}, with its exit status: --by {by}"


def forced(shown: Comparison) -> str:
    """What differs and was compared by --force; empty if nothing does."""
    if not shown.forced:
        return ""
    more = len(shown.forced) - FORCED_MOST
    named = [*shown.forced[:FORCED_MOST], *([f"{more} more"] if more > 0 else [])]
    return f"forced: {'; '.join(named)}"


def verdict_of(one: Compared) -> str:
    """The word for a cell."""
    if one.lost:
        return "lost"
    if one.pair.base.time is None or one.pair.other.time is None:
        return "not measured"
    if one.decision is None:
        return _unjudged(one.pair)
    if one.verdict == "undecided" and one.decision.verdict in DIFFERENT:
        return NOT_IN_TURN[one.decision.verdict]
    return f"{VERDICTS[one.verdict]}{', small but real' if one.decision.small else ''}"


def _unjudged(pair: Pair) -> str:
    """Why there is nothing to say of two times."""
    if pair.imported:
        return IMPORTED
    if pair.sessions is not None:
        return TOO_FEW_SESSIONS
    return ELSEWHERE if pair.elsewhere else TOO_FEW


def verdict_of_run(run: Run) -> str:
    """The word for all its cells; whether they are small only if all are."""
    said = dict.fromkeys(map(verdict_of, run.cells))
    return next(iter(said)) if len(said) == 1 else _word(run.worst)


def _word(one: Compared) -> str:
    """The same without how small it is."""
    return verdict_of(one).partition(",")[0]


def ratio_of(one: Compared) -> str:
    """Of a cell: a ratio with its interval; where nothing is decided, that it has none."""
    if (ratio := one.ratio) is None or one.decision is not None:
        return ratio_words(one.decision)
    return f"{units.format_factor(ratio)} (no interval)"


def ratio_words(decision: Decision | None) -> str:
    """A ratio with its interval; nothing if there is none."""
    if decision is None:
        return units.MISSING
    ratio = units.format_factor(decision.ratio)
    return units.with_interval(ratio, decision.low, decision.high, units.format_factor)


def first_words(one: Compared, first: Mapping[Compared, Compared]) -> str:
    """The ratio that a number had before it was measured again."""
    return ratio_words(first[one].decision) if one in first else units.MISSING


def name_of(row: Row, unsaid: Collection[str]) -> str:
    """Of a cell, without the factors of which all have one value, and without what goes without saying."""
    phrases = phrases_of(row.cell)
    said = [word for name, word in phrases.items() if name not in unsaid and word not in UNSAID]
    return " ".join([*said, *state_words(row.of)])


def common(rows: Iterable[Row]) -> Factors:
    """What all cells are of alike, in words by factor; their pattern is said of each."""
    first, *others = [phrases_of(row.cell) for row in rows] or [{}]
    return {
        name: phrase
        for name, phrase in first.items()
        if name not in LEFT_OUT and all(other.get(name) == phrase for other in others)
    }


def size_of(run: Run) -> str:
    """`2 KiB to 64 KiB (6 of 7 sizes)`."""
    return sizes_of(run.cells[0].pair.base, run.cells[-1].pair.base, len(run.cells), run.sizes)


def sizes_of(first: Row, last: Row, count: int, sizes: int) -> str:
    """The same of the first and the last of so many cells, of so many sizes between them."""
    if not first.sized:
        return ""
    begin, end = units.format_size(first.cell.bytes), units.format_size(last.cell.bytes)
    some = f" ({count} of {sizes} sizes)" if count < sizes else f" ({count} sizes)"
    return begin if count == 1 else f"{units.span(begin, end)}{some}"


def saying_sides(cells: Iterable[Compared], compared: frozenset[str]) -> Callable[[Compared], str]:
    """What a line of many says of its sides: `mpich 5.0.2`; with its base where these differ.

    Returns:
        What says nothing, if all lines have the same sides.
    """
    names = {one: (_side(one.pair.base, compared), _side(one.pair.other, compared)) for one in cells}
    bases, others = (set(side) for side in zip(*names.values(), strict=True)) if names else (set(), set())
    if len(bases) > 1:
        return lambda one: f"{names[one][1]} against {names[one][0]}"
    return (lambda one: names[one][1]) if len(others) > 1 else (lambda _: "")


def sides_of(pairs: Sequence[Pair], compared: frozenset[str]) -> str:
    """Of all pairs: the others against their base, or against their bases where not all have one."""
    bases, others = (
        [*dict.fromkeys(_side(row, compared) for row in rows)]
        for rows in ((pair.base for pair in pairs), (pair.other for pair in pairs))
    )
    said = ", ".join(others) if len(others) <= SIDES_MOST else f"{len(others)} others"
    return f"{said} against {' or '.join(bases) if len(bases) <= SIDES_MOST else FIRST_OF_EACH}"


def _side(row: Row, compared: frozenset[str]) -> str:
    return " ".join(phrases_of(row.cell, _said(compared)).values())


def _said(compared: frozenset[str]) -> list[str]:
    return [name for name in WORDS if name in compared]


def unmatched(shown: Comparison, compared: frozenset[str], *, everything: bool) -> Iterator[str]:
    """`without a partner: 20 numbers of pingpong (11 of MPICH 5.0.2, 9 of Open MPI 5.0.11)`, or which."""
    named = [(_side(one.row, compared) or ONE_SIDE[one.side], one.row) for one in shown.unmatched]
    if named and not everything:
        patterns = [*dict.fromkeys(row.cell.pattern for _, row in named)]
        which = ", ".join(patterns) if len(patterns) <= SIDES_MOST else f"{len(patterns)} patterns"
        sides = ", ".join(f"{count} of {name}" for name, count in Counter(name for name, _ in named).items())
        yield f"{ALONE}: {units.counted(len(named), 'number')} of {which} ({sides}); --all names them"
        return
    curves: dict[str, list[str]] = defaultdict(list)
    for name, row in named:
        curves[f"{name_of(row, compared)}, {name}"] += (
            [units.format_size(row.cell.bytes)] if row.sized else []
        )
    for curve, sizes in curves.items():
        yield f"{ALONE}: {curve}{': ' if sizes else ''}{', '.join(sizes)}"


def notes(
    shown: Comparison, compared: frozenset[str] = frozenset(), *, everything: bool = False
) -> Iterator[str]:
    """What else is to be known, below the table.

    Args:
        compared: Factors that are compared.
        everything: How often these launches would be wrong, too, which is for who doubts them.
    """
    said = Counter(map(verdict_of, shown.cells))
    if gaps := said["not measured"]:
        yield f"not measured on one side: {gaps}"
    if imported := said[IMPORTED]:
        yield f"imported: {imported}; one number each: how far launches or days are apart is not known"
    if unknown := sum(not (one.pair.base.cell.ranks and one.pair.other.cell.ranks) for one in shown.cells):
        yield f"ranks unknown: {unknown}; how many took part may differ: mpigauge import --np N says it"
    yield from _unlike_statistics([one.pair for one in shown.cells if one.ratio is not None])
    yield from _few_launches(shown.cells)
    if some := said[TOO_FEW_SESSIONS]:
        yield f"{TOO_FEW_SESSIONS}: {some}; a verdict takes {BASE_LEAST} at least, since the last change"
    yield from odd_lines(shown.odd)
    yield from _within_one_state([one.pair for one in shown.cells if one.decision is not None])
    open_ = [one.decision for one in shown.cells if one.decision and one.decision.verdict == "undecided"]
    if open_ and shown.judges:
        yield _undecided(open_, shown.thresholds.margin, "launches" if shown.sessions is None else "sessions")
    unsaid, side = (
        compared | common(one.pair.base for one in shown.cells).keys(),
        saying_sides(shown.cells, compared),
    )
    yield from (_together(one, side(one.cells[0]), unsaid) for one in shown.together)
    yield from map(_odd, shown.odd_launches)
    if any(one.decision is not None and one.pair.paired for one in shown.cells):
        yield f"times as long: {OF_PAIRS}"
    yield from map(_builds, shown.builds)
    for one in without_effect(shown):
        yield _no_effect(one, shown.thresholds.margin)
    if shown.controls and shown.judges and not (shown.moved or shown.signs):
        yield _unmoved(shown)
    if shown.rates and everything:
        yield _rates(shown)


def _unlike_statistics(pairs: Iterable[Pair]) -> Iterator[str]:
    """Where the numbers of two sides are not of one kind: a mean over ranks, and the slowest of them."""
    sides = [tuple(_statistic(row) for row in (pair.other, pair.base)) for pair in pairs]
    for (other, base), count in Counter(side for side in sides if all(side)).items():
        if other != base:
            yield f"statistics differ: {count}; {other} against {base}: a part of the ratio may be that"


def _statistic(row: Row) -> str:
    """What a time is of the samples of a launch; empty if nobody says."""
    return row.time.statistic if isinstance(row.time, Printed) else OWN_STATISTIC


def _few_launches(cells: Sequence[Compared]) -> Iterator[str]:
    """Too few at all, or too few in like states of the machine, and how many it would take."""
    if elsewhere := sum(verdict_of(one) == ELSEWHERE for one in cells):
        yield f"{ELSEWHERE}: {elsewhere}; not equally far apart on both sides, so that is not compared"
    pairs = [one.pair for one in cells if verdict_of(one) == TOO_FEW]
    apart = [pair for pair in pairs if isinstance(pair, Matched) and pair.made >= LAUNCHES_LEAST]
    if few := len(pairs) - len(apart):
        yield f"{TOO_FEW}: {few}; a verdict takes {LAUNCHES_LEAST} at least: --launches 10"
    if apart:
        needed = max(pair.needed for pair in apart)
        yield (
            f"{TOO_FEW} in like states: {len(apart)}; a verdict takes {LAUNCHES_LEAST} of both sides "
            f"in one state: --launches {needed}"
        )


def _within_one_state(pairs: Sequence[Pair]) -> Iterator[str]:
    """Where the machine changed between the launches of most pairs."""
    alone = [pair.alone for pair in pairs if isinstance(pair, Matched) and pair.alone is not None]
    if alone:
        states = ", ".join(dict.fromkeys(str(pair.base.state) for pair in alone))
        yield f"compared within one state ({states}), as the machine changes between launches: {len(alone)}"


def _unmoved(shown: Comparison) -> str:
    """How far controls are apart; those that nothing can be decided of have not been seen to stay."""
    decided = [one for one in shown.controls if one.decision is not None]
    if not decided:
        return f"controls could not be compared: {_controls(shown)}; whether the machine moved is not known"
    most = ratio_words(max(decided, key=distance).decision)
    return f"controls did not move: {_controls(shown)}, at most {most}"


def _odd(one: OddPair) -> str:
    factor = units.format_factor(one.factor)
    return (
        f"launch {one.launch} is odd in {one.cells} of {one.of} numbers ({factor} times the usual ratio): "
        "pulled in, and left out of what decides"
    )


def _together(one: Together, side: str, unsaid: Collection[str]) -> str:
    """`slower together: pingpong standard 8 B to 1 KiB (4 sizes): 1.05 (1.03 - 1.08) times as long`."""
    first, last = one.cells[0].pair.base, one.cells[-1].pair.base
    where = sizes_of(first, last, len(one.cells), len(one.cells))
    name = " ".join(filter(None, (name_of(first, unsaid), side, where)))
    return f"{VERDICTS[one.decision.verdict]} together: {name}: {ratio_words(one.decision)} times as long"


def _builds(one: Builds) -> str:
    """`configured otherwise: only pr Open MPI 5.0.11 has --enable-debug`."""
    sides = ((one.other, one.only_other), (one.base, one.only_base))
    return f"configured otherwise: {'; '.join(_build(*side) for side in sides if side[1])}"


def _build(library: LibraryRecord, only: Sequence[str]) -> str:
    name = library_name(library.name, library.version, library.label)
    more = len(only) - WORDS_MOST
    return f"only {name} has {' '.join(only[:WORDS_MOST])}{f' and {more} more words' if more > 0 else ''}"


def _no_effect(one: NoEffect, margin: float) -> str:
    """`A=2 changed nothing measurable: all 12 numbers are within 3.0 % of A=1`."""
    numbers = "all {} numbers are" if one.numbers > 1 else "its only number is"
    within = f"{numbers.format(one.numbers)} within {units.format_percent(margin)} of {one.base}"
    return f"{one.other} changed nothing measurable: {within}; perhaps the library does not know it"


def _controls(shown: Comparison) -> str:
    """How many there are of either kind."""
    alone = sum(one.pair.base.cell.pattern in CONTROLS for one in shown.controls)
    counts = {"without any MPI library": alone, "of one library, measured twice": len(shown.controls) - alone}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)


def of_figure(shown: Comparison, runs: Sequence[Run], controls: Sequence[Run]) -> Iterator[str]:
    """Below a figure that has a line for each of these: what a bar is, and what is not drawn."""
    yield "bars: 95 % intervals that hold for all numbers at once"
    if any(len(run.cells) > 1 for run in runs):
        yield "neighbouring sizes with one verdict are one line, by the size that is farthest from 1"
    if controls:
        yield "controls: what cannot differ"
    silent = sum(one.decision is None and not one.lost for one in shown.cells)
    if more := len(shown.cells) - silent - sum(len(run.cells) for run in runs):
        yield f"not drawn: {more} more, which differ less or not"
    if silent:
        yield f"without a ratio: {silent}, of too few launches or not measured"


def _undecided(open_: Sequence[Decision], margin: float, replications: str) -> str:
    """`undecided: 6; these launches show a difference from 29 % on, --launches 244 from 6.0 % on`.

    Launches are asked for where there are fewer.
    """
    detectable = units.format_percent(median(one.missed for one in open_))
    text = f"undecided: {len(open_)}; these {replications} show a difference from {detectable} on"
    needed = [one.needed for one in open_ if one.needed is not None and one.needed > one.launches]
    if needed and margin:
        text += f", --launches {round(median(needed))} from {units.format_percent(TIMES_MARGIN * margin)} on"
    return text


def _rates(shown: Comparison) -> str:
    """What was tried on these very launches, as counts: a share of so few says little by itself."""
    alarms, *planted = shown.rates
    found = ", ".join(f"+{100 * rate.planted:g} % {rate.times} of {rate.of}" for rate in planted)
    tried = f"of these launches {alarms.of} comparisons of equals were made"
    return f"{tried}: false alarms {alarms.times}; numbers made slower, and found: {found}"


def _control_name(pair: Pair) -> str:
    name = pair.base.cell.pattern
    return name if name in CONTROLS else f"{name} of one library, measured twice,"


def _names(shown: Comparison) -> str:
    cells = [_control_name(one.pair) for one in shown.moved]
    return ", ".join(dict.fromkeys([*cells, *(SIGNS[sign] for sign in shown.signs)]))
