"""Sentences of a comparison: its verdict first, then what it is based on and how often that is wrong."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge import units
from mpigauge.compare.cells import CONTROLS
from mpigauge.compare.comparison import MIN_BASE_SESSIONS, distance, perhaps_without_effect, without_effect
from mpigauge.compare.session_sentences import odd_lines, too_few_words
from mpigauge.document.phrases import (
    WORDS,
    differs,
    phrases_of,
    state_words,
    told,
)
from mpigauge.document.ratio_words import OF_PAIRS, VERDICTS
from mpigauge.document.size_words import range_and_count
from mpigauge.plan.factors import BY_NAME
from mpigauge.plan.groups import group_asked
from mpigauge.plan.library_names import library_name
from mpigauge.rows.estimate import Printed
from mpigauge.rows.group import in_one_state
from mpigauge.stats.decision import TIMES_MARGIN
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.alike import Builds
    from mpigauge.compare.comparison import Compared, Comparison, EagerLimitOfSide, NoEffect, PooledSizes, Run
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import OddPair
    from mpigauge.document.phrases import Factors
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.rows.group import OfCell
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision, Ratio
    from mpigauge.vocabulary import ComparisonVerdict, MachineSign, Verdict

LEFT_OUT = ("pattern", "mode")
TOO_FEW = "too few launches"
ELSEWHERE = "ranks elsewhere"
TOO_FEW_SESSIONS = "too few sessions"
NOT_MEASURED = "not measured"
IMPORTED = "imported"
OWN_STATISTIC = "our own of rounds"
MAX_FORCED = 4
"""Differences of a forced comparison that are named; JSON has all."""

MAX_WORDS = 6
"""Configuration options that are named, of those that only one build has."""

MAX_SIDES = 3
"""Sides that are named above the table; with more, lines name their own."""

FIRST_OF_EACH = "the first of their kind"

ALONE = "without a partner"
ONE_SIDE: Mapping[str, str] = {"base": "the base", "other": "the other"}
"""Names of two results that differ in no factor."""

MACHINE = "the machine moved"

SIGNS: Mapping[MachineSign, str] = {
    "arithmetic": "arithmetic",
    "line": "hand-over of a cache line",
}
"""Words for what shows the machine itself."""

NOT_IN_TURN = {"slower": "longer", "faster": "shorter"}
"""Words for launches that were not made in turn: the difference may be the machine's."""

COUNTED = {
    "no difference": "the same",
    TOO_FEW: "undecided",
    TOO_FEW_SESSIONS: "undecided",
    ELSEWHERE: "undecided",
}
"""Words under which verdicts of single numbers are counted."""


def headline(shown: Comparison, verdict: ComparisonVerdict) -> str:
    """Return the verdict on the whole, and how many numbers are slower, faster, the same and undecided."""
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
    """Return the verdict on neighbouring sizes as one, where no number by itself has it."""
    sizes = sum(len(one.cells) for one in shown.together if one.decision.verdict == word)
    return f"{word}: {sizes} sizes together, none of {units.counted(len(shown.cells), 'number')} alone"


def _counts(shown: Comparison) -> dict[str, int]:
    """Return the number of cells per verdict: the four that are always named, and others that occur."""
    said = Counter(COUNTED.get(word, word) for word in map(_word, shown.cells))
    usual = ["slower", "faster", "the same", "undecided"]
    if not all(one.trusted for one in shown.cells):
        usual = [NOT_IN_TURN.get(word, word) for word in usual]
    return {word: said[word] for word in [*usual, *sorted(said.keys() - set(usual))]}


def _listed(counts: Mapping[str, int]) -> str:
    """Return `5 slower, 2 faster, 16 the same, 1 undecided`."""
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _of(count: int) -> str:
    return f"of {units.counted(count, 'number')}"


def _open(shown: Comparison, counts: Mapping[str, int]) -> str:
    count = len(shown.cells)
    if shown.sessions is not None and not shown.judges:
        return too_few_words(shown.sessions, MIN_BASE_SESSIONS)
    if imported := sum(one.pair.imported for one in shown.cells):
        return f"{imported} of {count} numbers are imported on one side at least: no launches, so no verdict"
    if not count:
        return f"no {'time' if shown.limits else 'number'} of a library is on both sides"
    if not shown.judges:
        return f"not measured in turn, a difference may be the machine's; {_of(count)} {_listed(counts)}"
    gaps = sum(verdict_of(one) == NOT_MEASURED for one in shown.deciding)
    undecided = sum(
        one.decision is None or not one.decision.passes(shown.thresholds.allow) for one in shown.deciding
    )
    open_ = undecided - gaps
    allow = units.format_percent(shown.thresholds.allow)
    if open_:
        why = f"{open_} of {count} numbers may be slower by {allow}"
    elif gaps:
        why = f"{gaps} of {count} numbers are not measured on one side"
    elif counts.get("undecided") or not shown.unmatched:
        why = "not every number is decided"
    else:
        why = f"{units.counted(len(shown.unmatched), 'number')} {ALONE}"
    return f"{why}; {_listed(counts)}"


def how_to_ask(shown: Comparison) -> Iterator[str]:
    """Yield what to type for a verdict that was not asked for."""
    if by := shown.unasked:
        yield f"ratios alone; a verdict on {by}, with its exit status: --by {by}"


def forced_words(shown: Comparison) -> str:
    """Return what differs and was compared by --force; empty if nothing does."""
    if not shown.forced:
        return ""
    more = len(shown.forced) - MAX_FORCED
    named = [*shown.forced[:MAX_FORCED], *([f"{more} more"] if more > 0 else [])]
    return f"forced: {'; '.join(named)}"


def verdict_of(cell: Compared) -> str:
    """Return the word for the verdict on a cell."""
    if cell.lost:
        return "lost"
    if cell.pair.base.time is None or cell.pair.other.time is None:
        return NOT_MEASURED
    if cell.decision is None:
        return _unjudged(cell.pair)
    if cell.verdict == "undecided" and cell.decision.verdict in DIFFERENT:
        return NOT_IN_TURN[cell.decision.verdict]
    return f"{VERDICTS[cell.verdict]}{', small but real' if cell.decision.small else ''}"


def _unjudged(pair: Pair) -> str:
    """Return why there is no verdict on two times."""
    if pair.imported:
        return IMPORTED
    if pair.sessions is not None:
        return TOO_FEW_SESSIONS
    return ELSEWHERE if pair.ranks_elsewhere else TOO_FEW


def verdict_of_run(run: Run) -> str:
    """Return the word for all cells of a run; small only if all of them are."""
    said = dict.fromkeys(map(verdict_of, run.cells))
    return next(iter(said)) if len(said) == 1 else _word(run.worst)


def _word(cell: Compared) -> str:
    """Return the word for a verdict, without how small the difference is."""
    return verdict_of(cell).partition(",")[0]


def ratio_of(run: Run) -> str:
    """Return the ratio of a run with its interval; without a decision, that it has none."""
    if run.number is not None or (ratio := run.worst.ratio) is None:
        return ratio_words(run.number)
    return f"{units.format_factor(ratio)} (no interval)"


def ratio_words(ratio: Ratio | None) -> str:
    """Return a ratio with its interval; `units.MISSING` if there is none.

    Of an interval that goes ten times beyond its number only the end that a verdict rests on is said.
    """
    if ratio is None:
        return units.MISSING
    if not is_open(ratio):
        return units.with_interval(
            units.format_factor(ratio.estimate), ratio.low, ratio.high, units.format_factor
        )
    if ratio.verdict == "slower" and ratio.low is not None:
        return f"at least {units.format_factor(ratio.low)}"
    if ratio.verdict == "faster" and ratio.high is not None:
        return f"at most {units.format_factor(ratio.high)}"
    return "not known"


def is_open(ratio: Ratio) -> bool:
    """Return whether an interval goes ten times beyond its number, on either side."""
    low, high = ratio.low or 0.0, math.inf if ratio.high is None else ratio.high
    return ratio.estimate >= units.MAX_REACH * low or high >= units.MAX_REACH * ratio.estimate


def first_words(cell: Compared, first: Mapping[Compared, Compared]) -> str:
    """Return the ratio that a number had before it was measured again; `units.MISSING` if none."""
    return ratio_words(first[cell].decision) if cell in first else units.MISSING


@dataclass(frozen=True, slots=True)
class CellNaming:
    """The factors that names of cells say, to tell cells from each other.

    Attributes:
        unsaid: Factors that they leave out: those compared, and those that all cells share.
        varied: Factors in which cells differ, so that even a usual value is said.
        of_states: Whether the state of the machine is said: cells of one state are told so once.
    """

    unsaid: frozenset[str] = frozenset()
    varied: frozenset[str] = frozenset()
    of_states: bool = True

    def name(self, named: OfCell, without: Collection[str] = ()) -> str:
        """Return the name of a cell, without some more factors."""
        unsaid = {*self.unsaid, *without}
        phrases = {name: phrase for name, phrase in _phrases(named).items() if name not in unsaid}
        state = state_words(named.of) if self.of_states else []
        return " ".join([*told(phrases, self.varied - unsaid).values(), *state])


def naming_of_pairs(compared: frozenset[str], shown: Iterable[Compared]) -> CellNaming:
    """Return how to name the cells of a comparison; the state of the machine only if they are of several."""
    pairs = [one.pair for one in shown]
    return replace(naming(compared, pairs), of_states=not in_one_state(pairs))


def naming(compared: frozenset[str], named_cells: Iterable[OfCell] = ()) -> CellNaming:
    """Return how to name cells that are compared by some factors, beside those of these rows."""
    cells = [*named_cells]
    named = [(of.cell.pattern, _phrases(of)) for of in cells]
    varied = (name for name in WORDS if differs(name, ((of, found.get(name)) for of, found in named)))
    return CellNaming(frozenset({*_compared_factors(compared), *common(cells)}), frozenset(varied))


def _phrases(named: OfCell) -> Factors:
    """Return the phrases of a cell, of the group that was asked for, as order and senders are said, too."""
    return phrases_of(with_fields(named.cell, group=group_asked(named.cell)))


def common(cells: Iterable[OfCell]) -> Factors:
    """Return the phrases that all cells share, by factor; without the pattern, which each cell says."""
    first, *others = [phrases_of(one.cell) for one in cells] or [{}]
    return {
        name: phrase
        for name, phrase in first.items()
        if name not in LEFT_OUT and all(other.get(name) == phrase for other in others)
    }


def sizes_of(run: Run) -> str:
    """Return `2 KiB to 64 KiB (7 sizes)`, and how many of these are undecided alone; empty without sizes."""
    first, last = run.cells[0].pair.base, run.cells[-1].pair.base
    apart = run.piece.apart_bytes if run.piece is not None and run.verdict in DIFFERENT else ()
    said = f"{len(apart)} alone undecided" if apart else ""
    return sizes_between(first, last, len(run.cells), len(run.cells), said)


def sizes_between(first: Row, last: Row, count: int, sizes: int, more: str = "") -> str:
    """Return the first and last size of some cells, and how many of the sizes between they are."""
    return range_and_count(first.cell.bytes, last.cell.bytes, count, sizes, more) if first.sized else ""


OF_SEVERAL_SIZES = "of several sizes: geometric means, each with its own interval"


def side_namer(cells: Iterable[Compared], compared: frozenset[str]) -> Callable[[Compared], str]:
    """Return a function that names the sides of a line: `mpich 5.0.2`; with its base if bases differ.

    Returns:
        A function of a cell; it returns an empty text if all lines have the same sides.
    """
    names = {cell: (_side(cell.pair.base, compared), _side(cell.pair.other, compared)) for cell in cells}
    bases, others = (set(side) for side in zip(*names.values(), strict=True)) if names else (set(), set())
    if len(bases) > 1:
        return lambda cell: f"{names[cell][1]} against {names[cell][0]}"
    return (lambda cell: names[cell][1]) if len(others) > 1 else (lambda _: "")


def sides_of(pairs: Sequence[Pair], compared: frozenset[str]) -> str:
    """Return the names of all others against their base, or their bases if there are several."""
    bases, others = (
        [*dict.fromkeys(_side(row, compared) for row in rows)]
        for rows in ((pair.base for pair in pairs), (pair.other for pair in pairs))
    )
    said = ", ".join(others) if len(others) <= MAX_SIDES else f"{len(others)} others"
    return f"{said} against {' or '.join(bases) if len(bases) <= MAX_SIDES else FIRST_OF_EACH}"


def eager_limits(limits: Sequence[EagerLimitOfSide], compared: frozenset[str]) -> Iterator[str]:
    """Yield `eager limit: 16304 B with main MPICH 4.3.2, 8112 B with pr MPICH 5.0.2`; nothing without any."""
    found = _sides_by_limit(limits, compared)
    if len(set().union(*found.values())) < sum(map(len, found.values())):
        # What is compared does not tell whose limit it is, as a mode or a place does not: all factors do.
        cells = [one.row.cell for one in limits]
        varied = frozenset(name for name in WORDS if len({getattr(cell, name) for cell in cells}) > 1)
        found = _sides_by_limit(limits, varied)
    if len(found) > 1:
        said = ", ".join(f"{limit} with {' and '.join(sorted(sides))}" for limit, sides in found.items())
        yield f"eager limit: {said}"
    elif any(len(sides) > 1 for sides in found.values()):
        yield f"eager limit: {next(iter(found))} on both sides"


def _sides_by_limit(limits: Sequence[EagerLimitOfSide], named_by: frozenset[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for one in limits:
        limit = f"{one.row.limit_bytes} B" if one.row.limit_bytes is not None else "none found"
        found[limit].add(ONE_SIDE[one.side] if one.side else _side(one.row, named_by))
    return found


def _side(row: Row, compared: frozenset[str]) -> str:
    names = _compared_factors(compared)
    phrases = phrases_of(row.cell, names)
    return " ".join(filter(None, (phrases.get(name, BY_NAME[name].without) for name in names)))


def _compared_factors(compared: frozenset[str]) -> list[str]:
    brought = {other for name in compared for other in BY_NAME[name].brings}
    return [name for name in WORDS if name in compared - brought]


def unmatched(
    shown: Comparison, compared: frozenset[str], *, everything: bool, remedies: bool = True
) -> Iterator[str]:
    """Yield `without a partner: 20 numbers of pingpong (11 of MPICH 5.0.2, 9 of Open MPI 5.0.11)`, or all."""
    named = [(_side(one.row, compared) or ONE_SIDE[one.side], one.row) for one in shown.unmatched]
    if named and not everything:
        patterns = [*dict.fromkeys(row.cell.pattern for _, row in named)]
        which = ", ".join(patterns) if len(patterns) <= MAX_SIDES else f"{len(patterns)} patterns"
        sides = ", ".join(f"{count} of {name}" for name, count in Counter(name for name, _ in named).items())
        yield (
            f"{ALONE}: {units.counted(len(named), 'number')} of {which} ({sides})"
            + "; --all names them" * remedies
        )
        return
    cells = (*(one.row for one in shown.unmatched), *(one.pair.base for one in shown.cells))
    names = CellNaming(frozenset(_compared_factors(compared)), naming(compared, cells).varied)
    curves: dict[str, list[str]] = defaultdict(list)
    for name, row in named:
        curves[f"{names.name(row)}, {name}"] += [units.format_size(row.cell.bytes)] if row.sized else []
    for curve, sizes in curves.items():
        yield f"{ALONE}: {curve}{': ' if sizes else ''}{', '.join(sizes)}"


def notes(
    shown: Comparison,
    compared: frozenset[str] = frozenset(),
    *,
    everything: bool = False,
    remedies: bool = True,
) -> Iterator[str]:
    """Yield what else a reader should know, below the table.

    Args:
        compared: Factors that are compared.
        everything: Whether to include the error rates of these launches.
        remedies: Whether with what to do, which is for who measures.
    """
    said = Counter(map(verdict_of, shown.cells))
    if gaps := said[NOT_MEASURED]:
        yield f"not measured on one side: {gaps}"
    if imported := said[IMPORTED]:
        yield f"imported: {imported}; one number each: how far launches or days are apart is not known"
    if unknown := sum(not (one.pair.base.cell.ranks and one.pair.other.cell.ranks) for one in shown.cells):
        yield f"ranks unknown: {unknown}; how many took part may differ" + (
            ": mpigauge import --np N says it" * remedies
        )
    unlike = _unlike_statistics([one.pair for one in shown.cells if one.ratio is not None])
    yield from (f"{line}{'; ours: --stat' * remedies}" for line in unlike)
    yield from _few_launches(shown, remedies=remedies)
    if some := said[TOO_FEW_SESSIONS]:
        takes = f"a verdict takes {MIN_BASE_SESSIONS} at least, since the last change"
        yield f"{TOO_FEW_SESSIONS}: {some}; {takes}"
    yield from odd_lines(shown.odd)
    open_ = [one.decision for one in shown.cells if one.decision and one.decision.verdict == "undecided"]
    if open_ and shown.judges:
        replications = "launches" if shown.sessions is None else "sessions"
        yield _undecided(open_, shown.thresholds.margin, replications, remedies=remedies)
    names = naming_of_pairs(compared, shown.cells)
    side = side_namer(shown.cells, compared)
    yield from (_pooled_sizes(one, side(one.cells[0]), names) for one in shown.together)
    yield from map(_odd, shown.odd_launches)
    if any(one.decision is not None and one.pair.paired for one in shown.cells):
        yield f"times as long: {OF_PAIRS}"
    yield from map(_builds, shown.builds)
    yield from _settings_without_effect(shown)
    if shown.controls and shown.judges and not (shown.moved or shown.signs):
        yield _unmoved(shown)
    if shown.rates and everything:
        yield _rates(shown)


def _unlike_statistics(pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield a line if numbers of two sides are of two kinds: mean over ranks, and slowest rank."""
    sides = [tuple(_statistic(row) for row in (pair.other, pair.base)) for pair in pairs]
    for (other, base), count in Counter(side for side in sides if all(side)).items():
        if other != base:
            yield f"statistics differ: {count}; {other} against {base}: a part of the ratio may be that"


def _statistic(row: Row) -> str:
    """Return which statistic of a launch's samples a time is; empty if unknown."""
    if isinstance(row.time, Printed):
        return row.time.statistic
    # What sessions of imported numbers predict is of no statistic of ours.
    return OWN_STATISTIC if row.visits else ""


ASKED_LAUNCHES = 10
"""Launches that are asked for where there are too few."""


def _few_launches(shown: Comparison, *, remedies: bool) -> Iterator[str]:
    """Yield which launches are too few, at all or in like states, and how many it would take.

    Where as many were made, asking for them would change nothing: the others gave no times here.
    """
    cells = shown.cells
    if elsewhere := sum(verdict_of(cell) == ELSEWHERE for cell in cells):
        yield f"{ELSEWHERE}: {elsewhere}; not equally far apart on both sides, so that is not compared"
    pairs = [cell.pair for cell in cells if verdict_of(cell) == TOO_FEW]
    unlike = [
        pair
        for pair in pairs
        if pair.of.state is not None and pair.launches_in_any_state >= LAUNCHES_OF_A_VERDICT
    ]
    if too_few_words := len(pairs) - len(unlike):
        made = launches_made(shown)
        if any(row.imported for pair in pairs for row in (pair.base, pair.other)):
            ask = ": import as many texts of each side" * remedies
        elif made < ASKED_LAUNCHES:
            ask = f": --launches {ASKED_LAUNCHES}" * remedies
        else:
            ask = f"; {made} were made, of which the others gave no times here"
        yield f"{TOO_FEW}: {too_few_words}; a verdict takes {LAUNCHES_OF_A_VERDICT} at least{ask}"
    if unlike:
        needed = max(pair.launches_needed for pair in unlike)
        yield (
            f"{TOO_FEW} in like states: {len(unlike)}; a verdict takes {LAUNCHES_OF_A_VERDICT} of both sides "
            f"in one state{f': --launches {needed}' * remedies}"
        )


def launches_made(shown: Comparison) -> int:
    """Return how many launches gave a time of any number, the fewest of both sides."""
    pairs = [one.pair for one in (*shown.cells, *shown.controls)]
    sides = ([pair.base for pair in pairs], [pair.other for pair in pairs])
    return min(len({visit.launch for row in rows for visit in row.visits}) for rows in sides)


MAX_CONTROL_REACH = 0.1
"""Interval of a control, as a fraction on either side of 1, that still shows that it stood still."""


MAY_HAVE_MOVED = "controls undecided, they may have moved"


def stood_still(controls: Iterable[Decision]) -> bool:
    """Return whether the intervals of controls are narrow enough to show that none moved."""
    return all(max(1 / one.low, one.high) - 1 <= MAX_CONTROL_REACH for one in controls)


def _unmoved(shown: Comparison) -> str:
    """Return how far controls are apart; undecided ones have not been shown to be unmoved."""
    decided = [control for control in shown.controls if control.decision is not None]
    if not decided:
        return f"controls could not be compared: {_controls(shown)}; whether the machine moved is not known"
    farthest = max(decided, key=distance).decision
    most = f"at most {ratio_words(farthest)}"
    if farthest is not None and is_open(farthest):
        most = "how far is not known"
    if not stood_still(one.decision for one in decided if one.decision):
        return f"{MAY_HAVE_MOVED}: {_controls(shown)}, {most}"
    return f"controls did not move: {_controls(shown)}, {most}"


def _odd(odd: OddPair) -> str:
    factor = units.format_factor(odd.factor)
    return (
        f"launch {odd.launch} is odd in {odd.cells} of {odd.of} numbers ({factor} times the usual ratio): "
        "pulled in, and left out of what decides"
    )


def _pooled_sizes(sizes: PooledSizes, side: str, names: CellNaming) -> str:
    """Return `slower together: pingpong standard 8 B to 1 KiB (4 sizes): 1.05 (1.03 - 1.08) times as ...`."""
    first, last = sizes.cells[0].pair, sizes.cells[-1].pair
    where = sizes_between(first.base, last.base, len(sizes.cells), len(sizes.cells))
    name = " ".join(filter(None, (names.name(first), side, where)))
    return f"{VERDICTS[sizes.decision.verdict]} together: {name}: {ratio_words(sizes.decision)} times as long"


def _builds(builds: Builds) -> str:
    """Return `configured otherwise: only pr Open MPI 5.0.11 has --enable-debug`."""
    sides = ((builds.other, builds.only_other), (builds.base, builds.only_base))
    return f"configured otherwise: {'; '.join(_build(*side) for side in sides if side[1])}"


def _build(library: LibraryRecord, only: Sequence[str]) -> str:
    name = library_name(library.name, library.version, library.label)
    more = len(only) - MAX_WORDS
    return f"only {name} has {' '.join(only[:MAX_WORDS])}{f' and {more} more words' if more > 0 else ''}"


def _settings_without_effect(shown: Comparison) -> Iterator[str]:
    yield from (_no_effect(one, shown.thresholds.margin) for one in without_effect(shown))
    yield from (_perhaps_no_effect(one, shown.thresholds.margin) for one in perhaps_without_effect(shown))


def _no_effect(setting: NoEffect, margin: float) -> str:
    """Return `A=2 changed nothing measurable: all 12 numbers are within 3.0 % of A=1`."""
    numbers = "all {} numbers are" if setting.numbers > 1 else "its only number is"
    within = f"{numbers.format(setting.numbers)} within {units.format_percent(margin)} of {setting.base}"
    return f"{setting.other} changed nothing measurable: {within}; perhaps the library does not know it"


def _perhaps_no_effect(setting: NoEffect, margin: float) -> str:
    """Return `perhaps A=2 changes nothing: all 12 numbers are within 3.0 % of A=1`, of what is undecided."""
    near = f"all {setting.numbers} numbers are within {units.format_percent(margin)} of {setting.base}"
    return f"perhaps {setting.other} changes nothing: {near}, not certainly; the library may not know it"


def _controls(shown: Comparison) -> str:
    """Return how many controls there are of either kind."""
    without_library = sum(control.pair.base.cell.pattern in CONTROLS for control in shown.controls)
    counts = {
        "without any MPI library": without_library,
        "of one library, measured twice": len(shown.controls) - without_library,
    }
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count)


def figure_notes(shown: Comparison, runs: Sequence[Run], controls: Sequence[Run]) -> Iterator[str]:
    """Yield notes below a figure with a line per cell: what a bar is, and what is not drawn."""
    yield "bars: 95 % intervals that hold for all numbers at once"
    if any(len(run.cells) > 1 for run in runs):
        yield "sizes that differ alike are one line, of geometric means, with an interval of its own"
    if controls:
        yield "controls: what cannot differ"
    silent = sum(cell.decision is None and not cell.lost for cell in shown.cells)
    if more := len(shown.cells) - silent - sum(len(run.cells) for run in runs):
        yield f"not drawn: {more} more, which differ less or not"
    if silent:
        yield f"without a ratio: {silent}, of too few launches or not measured"


def _undecided(open_: Sequence[Decision], margin: float, replications: str, *, remedies: bool) -> str:
    """Return `undecided: 6; these launches show a difference from 29 % on, --launches 244 from 6.0 % on`.

    Launches are asked for where there are fewer.
    """
    detectable = units.format_percent(median(decision.missed for decision in open_))
    text = f"undecided: {len(open_)}; these {replications} show a difference from {detectable} on"
    needed = [
        decision.needed
        for decision in open_
        if decision.needed is not None and decision.needed > decision.launches
    ]
    if needed and margin and remedies:
        text += f", --launches {round(median(needed))} from {units.format_percent(TIMES_MARGIN * margin)} on"
    return text


def _rates(shown: Comparison) -> str:
    """Return the rates of decisions tried on these launches, as counts: shares of few say little."""
    alarms, *planted = shown.rates
    found = ", ".join(f"+{100 * rate.planted:g} % {rate.times} of {rate.of}" for rate in planted)
    tried = f"of these launches {alarms.of} comparisons of equals were made"
    return f"{tried}: false alarms {alarms.times}; numbers made slower, and found: {found}"


def _control_name(pair: Pair) -> str:
    name = pair.base.cell.pattern
    return name if name in CONTROLS else f"{name} of one library, measured twice,"


def _names(shown: Comparison) -> str:
    cells = [_control_name(control.pair) for control in shown.moved]
    return ", ".join(dict.fromkeys([*cells, *(SIGNS[sign] for sign in shown.signs)]))
