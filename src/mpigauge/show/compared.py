"""Comparison of two results, or of two parts of one, for the verdict and for its figure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from mpigauge.compare.alike import builds_that_differ, differences
from mpigauge.compare.cells import CONTROLS, compared_by, varied_variables
from mpigauge.compare.comparison import EagerLimitOfSide, compare
from mpigauge.compare.interim_looks import thresholds_of_result
from mpigauge.compare.sentences import ONE_SIDE, sides_of
from mpigauge.compare.sides import (
    differing_as_a_whole,
    first_pairs,
    pairs_between,
    pairs_by,
    unmatched_between,
    unmatched_by,
)
from mpigauge.compare.suspicious import first_looks
from mpigauge.document.state_words import left_out_line, states_in_brief
from mpigauge.errors import UsageError
from mpigauge.find.findings import disturbances_of
from mpigauge.find.imported import nothing_alike, unknown_ranks
from mpigauge.plan.factors import COMPARED_BY, VERDICT_FACTORS
from mpigauge.query.query import source_of
from mpigauge.rows.reasons import NoEagerLimit
from mpigauge.show.selected import selected
from mpigauge.stats.decision import Thresholds
from mpigauge.units import parse_fraction, parse_margin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import Unmatched
    from mpigauge.plan.patterns import Mode, Pattern
    from mpigauge.query.query import Query, Source
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

MAX_RESULTS = 2

MODE = "mode"
TOO_LONG = frozenset({"disturbed", "traced"})
"""Kinds of findings that make all times of a result too long: a ratio may be theirs."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSources:
    """Comparison, and what it compares.

    Attributes:
        factors: Factors in which the two of each pair differ.
        sides: Both sides in words.
        first: First comparison of numbers that were measured again.
        base_files: Files of the sessions that are the base, the newest first.
        hint: A line on earlier results; empty for none.
        doubts: What makes the times of a side wrong, as `show` says it.
        states: Which states the machine had, and of which the numbers are.
    """

    shown: Comparison
    factors: frozenset[str]
    sides: str
    first: Mapping[Compared, Compared] = field(default_factory=dict)
    base_files: tuple[Path, ...] = ()
    hint: str = ""
    doubts: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


class OneOfEverythingError(UsageError):
    """A result has nothing that could be compared: nothing in it was measured in turn."""


def compare_sources(query: Query, *, verdict_asked: bool = False) -> ComparedSources:
    """Compare what a query asks for: two parts of one result, or a second result with a first.

    Results of different machines are compared, and marked as such: `check_alike` refuses them.

    Args:
        verdict_asked: Whether a verdict is asked for, whatever differs; naming a factor asks for one.

    Raises:
        UsageError: There is nothing to compare, or there are more than two sides.
    """
    check_count(len(query.sources), query.by)
    paired = _pairs(list(map(_without_probes, selected(query))), query.by)
    thresholds = query.thresholds
    if len(query.sources) == 1:
        thresholds = thresholds_of_result(query.sources[0].result, thresholds)
    results = [source.result for source in query.sources]
    builds = builds_that_differ(paired.pairs, *(results[side].campaign.libraries for side in (0, -1)))
    shown = replace(
        compare(paired.pairs, thresholds),
        forced=_unlike(query.sources),
        builds=tuple(builds),
        unasked="" if verdict_asked else _factor_without_verdict(query, paired.found_by),
        unmatched=paired.unmatched,
        limits=tuple(_limits(query.sources)),
    )
    return ComparedSources(
        shown,
        paired.factors,
        paired.sides,
        doubts=doubts_of(query.sources),
        states=states_of(query.sources),
    )


def states_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return which states the machine had, and of which the numbers are; of two results, of which of them."""
    return tuple(
        f"{side}: {line}" if len(sources) > 1 else line
        for source, side in zip(sources, ONE_SIDE.values(), strict=False)
        for line in states_in_brief(source.result, source.rows)
    )


def _limits(sources: Sequence[Source]) -> Iterator[EagerLimitOfSide]:
    """Yield the cells that probed the eager limit, of two results with their side."""
    sides: tuple[Literal["base", "other", ""], ...] = ("base", "other") if len(sources) > 1 else ("",)
    for source, side in zip(sources, sides, strict=True):
        yield from (EagerLimitOfSide(row, side) for row in source.rows if _has_probed(row))


def _has_probed(row: Row) -> bool:
    return row.limit_bytes is not None or isinstance(row.reason, NoEagerLimit)


def doubts_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return what makes all times of a result too long, and what is left out; of two, of which of them."""
    return tuple(_doubts(sources))


def _doubts(sources: Sequence[Source]) -> Iterator[str]:
    for source, side in zip(sources, ONE_SIDE.values(), strict=False):
        where = f"{side}: " if len(sources) > 1 else ""
        yield from (f"{where}{line}" for line in left_out_line(source.result))
        for one in disturbances_of(source.result, source.rows):
            if one.kind in TOO_LONG:
                yield f"{where}{one.line}"


def _factor_without_verdict(query: Query, found_by: str) -> str:
    """Return the differing factor, unless it is of builds or settings, or the plan runs until decided."""
    deciding = any(source.result.campaign.plan.until == "decided" for source in query.sources)
    return "" if deciding or found_by in VERDICT_FACTORS else found_by


def compare_remeasured(
    query: Query, first: ComparedSources, result: Result, by: str | None
) -> ComparedSources:
    """Compare the suspicious numbers that were measured again; only these new numbers decide.

    Args:
        first: Comparison before.
        by: Factor that is compared within the new result.
    """
    compared = compare_sources(
        replace(query, sources=[source_of(result, query.stat)], by=by), verdict_asked=True
    )
    measured_again = f"measured again: {len(compared.shown.cells)} of {len(first.shown.cells)} numbers"
    sides = f"{compared.sides}, {measured_again}; the new launches alone decide"
    return replace(compared, sides=sides, first=first_looks(compared.shown, first.shown))


def thresholds_of(margin: str, allow: str) -> Thresholds:
    """Parse the thresholds of a comparison.

    Raises:
        UsageError: A value is no share, or the allowed change is smaller than the margin.
    """
    thresholds = Thresholds(parse_margin(margin), parse_fraction(allow))
    if thresholds.allow < thresholds.margin:
        raise UsageError(
            f"--allow {allow} is less than --margin {margin}", "what does not matter must be allowed"
        )
    return thresholds


def check_count(results: int, by: str | None) -> None:
    """Refuse more than two results, and two results if --by compares within one.

    Raises:
        UsageError: There are too many.
    """
    if results > MAX_RESULTS:
        raise UsageError(f"{results} results: two can be compared", "name the base first: compare A B")
    check_by(results, by)


def check_by(results: int, by: str | None) -> None:
    """Refuse --by for several results.

    Raises:
        UsageError: There are several.
    """
    if by is not None and results > 1:
        raise UsageError("--by compares within one result, and two are named", "leave one of them out")


def check_alike(sources: Sequence[Source]) -> None:
    """Refuse results of different machines or versions of mpigauge: that difference would be compared.

    Raises:
        UsageError: They differ.
    """
    if differs := _unlike(sources):
        raise UsageError(
            f"{sources[0].result.path} and {sources[1].result.path} cannot be compared: {'; '.join(differs)}",
            "--force compares them all the same",
        )


def _check_known(by: str | None, source: Source) -> None:
    """Refuse a --by that is neither a factor nor a variable that this result varies."""
    variables = varied_variables(source.result.campaign.cells)
    if by is not None and by not in (*COMPARED_BY, *variables):
        raise UsageError(
            f"{source.result.path}: --by {by}: it is no factor, and no variable that was varied",
            _by_values(by, source) or f"choose one of {', '.join((*COMPARED_BY, *variables))}",
        )


def _by_values(by: str, source: Source) -> str:
    """Return how to compare the values of a factor that --by names in its place; empty if they are none."""
    words, cells = [word.strip() for word in by.split(",")], source.result.campaign.cells
    known = {cell.pattern: source.patterns[cell.pattern] for cell in cells if cell.pattern in source.patterns}
    for factor in COMPARED_BY:
        values = {str(getattr(cell, factor, "")) for cell in cells}
        modes = [mode.name if (mode := _mode(word, known.values())) else word for word in words]
        chosen = modes if factor == MODE else words
        if {*chosen} <= values:
            series = [f"--series {shlex.quote(value)}" for value in chosen] if len(chosen) > 1 else []
            return f"those are values: {' '.join([f'--by {factor}', *series])}"
    return ""


def _mode(word: str, patterns: Iterable[Pattern]) -> Mode | None:
    return next((mode for pattern in patterns if (mode := pattern.mode_meant(word))), None)


def _unlike(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return in what two results differ that must be alike."""
    return tuple(differences(*(source.result for source in sources))) if len(sources) == MAX_RESULTS else ()


class _PairsFound(NamedTuple):
    """Pairs to compare.

    Attributes:
        factors: Factors that are compared.
        sides: Both sides in words.
        unmatched: Cells without a partner, except those that do not depend on the library.
        found_by: Factor that was found to differ within one result; empty if it was named.
    """

    pairs: list[Pair]
    factors: frozenset[str]
    sides: str
    unmatched: tuple[Unmatched, ...]
    found_by: str = ""


def _pairs(sources: Sequence[Source], by: str | None) -> _PairsFound:
    """Return the pairs of two results, or of what differs within one."""
    if len(sources) > 1:
        base, other = sources
        pairs = pairs_between(base.rows, other.rows)
        compared = differing_as_a_whole(base.rows, other.rows)
        if not pairs:
            unknown = unknown_ranks([(str(source.result.path), source.rows) for source in sources])
            raise UsageError(
                f"{other.result.path} has no cell that {base.result.path} has, too",
                unknown or nothing_alike(base.rows, other.rows),
            )
        unmatched = _without_controls(unmatched_between(base.rows, other.rows), compared)
        return _PairsFound(pairs, compared, f"{other.name} against {base.name}", unmatched)
    (source,) = sources
    libraries = source.result.campaign.libraries
    _check_known(by, source)
    known = [*source.rows, *source.controls]
    factor, pairs = (by, pairs_by(known, by, libraries)) if by else first_pairs(known, libraries)
    if pairs:
        compared = compared_by(factor)
        sides = sides_of([pair for pair in pairs if not pair.other.cell.arm], compared)
        return _PairsFound(
            pairs,
            compared,
            sides,
            _without_controls(unmatched_by(source.rows, factor), compared),
            "" if by else factor,
        )
    if not any(row.time for row in known):
        raise UsageError(
            f"{source.result.path}: nothing can be compared: nothing was measured", "mpigauge show says why"
        )
    in_turn = "measure two in turn: mpigauge run --mpi A --mpi B; or name two results"
    nothing = f"{source.result.path}: nothing can be compared"
    if by:
        raise UsageError(f"{nothing}: nothing differs in {by}", in_turn)
    raise OneOfEverythingError(f"{nothing}: it has one of everything", in_turn)


def _without_controls(unmatched: Iterable[Unmatched], compared: frozenset[str]) -> tuple[Unmatched, ...]:
    """Drop controls among cells without a partner; copies are none where modes or buffers are compared."""
    copies = not compared.isdisjoint(("mode", "buffers"))
    return tuple(cell for cell in unmatched if copies or cell.row.cell.pattern not in CONTROLS)


def _without_probes(source: Source) -> Source:
    """Return rows with a time, or planned to have one."""
    probes = {name for name, pattern in source.patterns.items() if pattern.probes}
    return replace(source, rows=[row for row in source.rows if row.cell.pattern not in probes])
