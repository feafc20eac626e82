"""Two of anything held against each other, as they were asked for: for the verdict and for its figure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.compare.alike import differences, unlike_builds
from mpigauge.compare.comparison import CONTROLS, compare
from mpigauge.compare.interim_looks import level_of
from mpigauge.compare.sentences import sides_of
from mpigauge.compare.sides import (
    compared_by,
    differing,
    first_pairs,
    pairs_between,
    pairs_by,
    unmatched_between,
    unmatched_by,
    varied,
)
from mpigauge.compare.suspicious import first_looks
from mpigauge.errors import UsageError
from mpigauge.find.imported import nothing_alike, unknown_ranks
from mpigauge.plan.factors import COMPARED_BY, REGRESSES
from mpigauge.query.query import source_of
from mpigauge.show.selected import selected
from mpigauge.stats.decision import Thresholds
from mpigauge.units import parse_fraction, parse_margin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import Unmatched
    from mpigauge.query.query import Query, Source
    from mpigauge.result.reader import Result

MOST = 2


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSources:
    """A comparison, and what is compared.

    Attributes:
        factors: Those in which the two of each pair differ.
        sides: What is held against what, in words.
        first: Of numbers that were measured again, what was first seen of them.
    """

    shown: Comparison
    factors: frozenset[str]
    sides: str
    first: Mapping[Compared, Compared] = field(default_factory=dict)


def held(query: Query, *, asked: bool = False) -> ComparedSources:
    """What a query compares: two of one result, or a second result against a first.

    Two results of different machines are compared all the same, and marked: `check_alike` refuses them.

    Args:
        asked: Whether a verdict is asked for, whatever it is that differs; naming what it is by asks for one.

    Raises:
        UsageError: There is nothing to compare, or more than two.
    """
    check_count(len(query.sources), query.by)
    found = _pairs(list(map(_without_probes, selected(query))), query.by)
    thresholds = query.thresholds
    if len(query.sources) == 1:
        thresholds = replace(thresholds, level=level_of(query.sources[0].result.campaign.plan))
    results = [source.result for source in query.sources]
    builds = unlike_builds(found.pairs, *(results[side].campaign.libraries for side in (0, -1)))
    shown = replace(
        compare(found.pairs, thresholds),
        forced=_unlike(query.sources),
        builds=tuple(builds),
        unasked="" if asked else _unasked(query, found.found_by),
        unmatched=found.unmatched,
    )
    return ComparedSources(shown, found.factors, found.sides)


def _unasked(query: Query, found_by: str) -> str:
    """The factor that was found to differ, unless it is of builds or settings, or the plan is to decide."""
    deciding = any(source.result.campaign.plan.until == "decided" for source in query.sources)
    return "" if deciding or found_by in REGRESSES else found_by


def held_again(query: Query, first: ComparedSources, result: Result, by: str | None) -> ComparedSources:
    """The same question of a result that has its suspicious numbers again, which alone answers it.

    Args:
        first: What was found before.
        by: What is compared within the new result.
    """
    found = held(replace(query, sources=[source_of(result, query.stat, "all")], by=by), asked=True)
    again = f"measured again: {len(found.shown.cells)} of {len(first.shown.cells)} numbers"
    sides = f"{found.sides}, {again}; the new launches alone decide"
    return replace(found, sides=sides, first=first_looks(found.shown, first.shown))


def thresholds_of(margin: str, allow: str) -> Thresholds:
    """What a comparison is held to, as users write it.

    Raises:
        UsageError: One is no share, or less is allowed than does not matter.
    """
    found = Thresholds(parse_margin(margin), parse_fraction(allow))
    if found.allow < found.margin:
        raise UsageError(
            f"--allow {allow} is less than --margin {margin}", "what does not matter must be allowed"
        )
    return found


def check_count(results: int, by: str | None) -> None:
    """One result, or two that are not also compared within.

    Raises:
        UsageError: It is otherwise.
    """
    if results > MOST:
        raise UsageError(f"{results} results: two can be compared", "name the base first: compare A B")
    check_by(results, by)


def check_by(results: int, by: str | None) -> None:
    """What is compared within one result is not asked of several.

    Raises:
        UsageError: It is.
    """
    if by is not None and results > 1:
        raise UsageError("--by compares within one result, and two are named", "leave one of them out")


def check_alike(sources: Sequence[Source]) -> None:
    """Two results must be of one machine and one mpigauge, or it is these that are compared.

    Raises:
        UsageError: They are not.
    """
    if differs := _unlike(sources):
        raise UsageError(
            f"{sources[0].result.path} and {sources[1].result.path} cannot be compared: {'; '.join(differs)}",
            "--force compares them all the same",
        )


def _check_known(by: str | None, source: Source) -> None:
    """What is compared by is a factor, or a variable that this result varies."""
    variables = varied(source.result.campaign.cells)
    if by is not None and by not in (*COMPARED_BY, *variables):
        raise UsageError(
            f"{source.result.path}: --by {by}: it is no factor, and no variable that was varied",
            f"choose one of {', '.join((*COMPARED_BY, *variables))}",
        )


def _unlike(sources: Sequence[Source]) -> tuple[str, ...]:
    """In what two results differ that must be alike."""
    return tuple(differences(*(source.result for source in sources))) if len(sources) == MOST else ()


class _Found(NamedTuple):
    """What is held against what.

    Attributes:
        factors: Those that are compared.
        sides: Both in words.
        unmatched: What has no partner, without what no library takes part in.
        found_by: Within one result, the factor that was found to differ; empty where it was named.
    """

    pairs: list[Pair]
    factors: frozenset[str]
    sides: str
    unmatched: tuple[Unmatched, ...]
    found_by: str = ""


def _pairs(sources: Sequence[Source], by: str | None) -> _Found:
    """Two results, or what differs within one."""
    if len(sources) > 1:
        base, other = sources
        pairs = pairs_between(base.rows, other.rows)
        compared = differing(base.rows, other.rows)
        if not pairs:
            unknown = unknown_ranks([(str(one.result.path), one.rows) for one in sources])
            raise UsageError(
                f"{other.result.path} has no cell that {base.result.path} has, too",
                unknown or nothing_alike(base.rows, other.rows),
            )
        alone = _asked(unmatched_between(base.rows, other.rows), compared)
        return _Found(pairs, compared, f"{other.name} against {base.name}", alone)
    (source,) = sources
    libraries = source.result.campaign.libraries
    _check_known(by, source)
    known = [*source.rows, *source.controls]
    factor, pairs = (by, pairs_by(known, by, libraries)) if by else first_pairs(known, libraries)
    if pairs:
        compared = compared_by(factor)
        sides = sides_of([pair for pair in pairs if not pair.other.cell.arm], compared)
        return _Found(
            pairs, compared, sides, _asked(unmatched_by(source.rows, factor), compared), "" if by else factor
        )
    if not any(row.time for row in known):
        raise UsageError(
            f"{source.result.path}: nothing can be compared: nothing was measured", "mpigauge show says why"
        )
    raise UsageError(
        f"{source.result.path}: nothing can be compared: "
        + (f"nothing differs in {by}" if by else "it has one of everything"),
        "measure two in turn: mpigauge run --mpi A --mpi B; or name two results",
    )


def _asked(found: Iterable[Unmatched], compared: frozenset[str]) -> tuple[Unmatched, ...]:
    """Without what is a control; copies are none where modes or buffers are compared."""
    copies = not compared.isdisjoint(("mode", "buffers"))
    return tuple(one for one in found if copies or one.row.cell.pattern not in CONTROLS)


def _without_probes(source: Source) -> Source:
    """Rows that have a time, or should."""
    probes = {name for name, pattern in source.patterns.items() if pattern.probes}
    return replace(source, rows=[row for row in source.rows if row.cell.pattern not in probes])
