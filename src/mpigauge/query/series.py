"""Series: rows that differ in one thing only, with names that say what tells one from the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.compare.curves import without_window
from mpigauge.document.phrases import OF_JOB, UNSAID, differs, phrases_of, state_phrase, told
from mpigauge.errors import UsageError
from mpigauge.plan.names import normalised
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.sizes import size_filter
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row

MAX_SERIES = 14
"""Series of one figure: more cannot be distinguished."""

MAX_NAMED = 6
"""Series or sizes named in a hint."""

EAGER = patterns_with(lambda pattern: pattern.family == "message")
"""Patterns of plain messages, whose protocol changes at the eager limit. Collectives change algorithms
elsewhere, and copies in memory nothing."""

CROWDED = "oversubscribed"
"""Label of series with more ranks than cores."""

GAP = 256
"""A line connects a size to one at most so many times as large."""

MAX_PATTERNS = 3
"""Patterns that a title names."""

FILE = "file"


class Point(NamedTuple):
    """A value with its interval, if it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The rows of one line of a figure.

    Attributes:
        factors: Phrases by factor: pattern, mode, mpi and so on.
        rows: In the order of the line, including those without a value.
        label: Text that distinguishes it from the others.
        breaks: Sizes above which the protocol changes.
    """

    source: Source
    factors: Factors
    rows: list[Row]
    label: str = ""
    breaks: tuple[int, ...] = ()

    def key(self, but: Container[str] = ()) -> Key:
        """Return all factors but these, as a key; with the result, unless the file is among them."""
        return (None if FILE in but else id(self.source), *words_key(self.factors, but))

    @property
    def oversubscribed(self) -> bool:
        """Return whether all of it was measured with more ranks than cores."""
        timed = [row for row in self.rows if row.time is not None]
        return bool(timed) and all(row.oversubscribed for row in timed)

    @property
    def imported(self) -> bool:
        """Return whether others measured it, so that there are no samples."""
        timed = [row for row in self.rows if row.time is not None]
        return bool(timed) and all(row.imported for row in timed)


def factors_of(source: Source, row: Row) -> Factors:
    """Return the phrases of all factors of a row but its size; window and state only if there are several."""
    phrases = phrases_of(row.cell) | {FILE: source.name}
    if without_window(row.cell) not in source.windows:
        phrases.pop("window", None)
    return phrases | (state_phrase(row.of) if len(source.states_shown) > 1 else {})


def timed_rows(query: Query) -> list[tuple[Source, Row]]:
    """Return the rows of patterns that have a time, in the sizes asked for; neither probes nor the floor."""
    chosen = size_filter(query.sizes)
    return [
        (source, row)
        for source in query.sources
        for row in source.rows
        if (pattern := source.patterns.get(row.cell.pattern)) is not None
        and not pattern.probes
        and not pattern.is_floor
        and (chosen(row.cell.bytes) or not row.sized)
    ]


def against_size(
    query: Query, keep: Callable[[Row], bool] = lambda _: True, *, sized: bool = True, most: int = MAX_SERIES
) -> list[Series]:
    """Return the series against size that were asked for, labelled.

    Args:
        sized: Without what has no size, such as barriers.
        most: How many can be distinguished.

    Raises:
        UsageError: There are none, or too many.
    """
    pairs = [(source, row) for source, row in timed_rows(query) if (row.sized or not sized) and keep(row)]
    series = grouped(pairs, factors_of)
    for number, one in enumerate(series):
        one.rows.sort(key=lambda row: row.cell.bytes)
        series[number] = replace(one, breaks=_breaks(one))
    timed_ones = [one for one in series if any(row.time is not None for row in one.rows)]
    return choose_series(query, timed_ones, most=most)


def grouped(pairs: Iterable[tuple[Source, Row]], factors: Callable[[Source, Row], Factors]) -> list[Series]:
    """Return rows as series of one result and equal factors, in the order of the first of each."""
    single = [Series(source, factors(source, row), [row]) for source, row in pairs]
    return [
        replace(group[0], rows=[row for one in group for row in one.rows])
        for group in grouped_except((), single)
    ]


def grouped_except(factors: Collection[str], series: Iterable[Series]) -> list[list[Series]]:
    """Return series in groups that differ in these factors alone, in the order of the first of each."""
    return [*group_by(series, lambda one: one.key(factors)).values()]


def _breaks(series: Series) -> tuple[int, ...]:
    cell = series.rows[0].cell
    limit = series.source.limits.get(cell.job)
    mode = series.source.patterns[cell.pattern].mode(cell.mode)
    passes = cell.pattern not in EAGER or (mode is not None and mode.never_eager)
    return () if limit is None or passes else (limit,)


def limits_of(series: Sequence[Series]) -> dict[int, str]:
    """Return the eager limits that break lines, in bytes, with their words.

    The words name the owners, unless a limit is that of all series.
    """
    broken = ((limit, one) for one in series for limit in one.breaks)
    owners = group_by(broken, lambda pair: pair[0])
    return {
        limit: ", ".join(
            [f"eager limit {format_size(limit)}", *_owner_words([one for _, one in of_limit], series)]
        )
        for limit, of_limit in sorted(owners.items())
    }


def _owner_words(owners: Sequence[Series], series: Sequence[Series]) -> Iterator[str]:
    """Yield what tells the owners of a limit from the other series: libraries, then other factors of jobs."""
    for name in (*OF_JOB, FILE):
        own, all_values = ({one.factors.get(name, "") for one in some} for some in (owners, series))
        if own != all_values and (words := sorted(own - {""})):
            yield " and ".join(words)


# ---- Choosing and naming -------------------------------------------------------------------------


def choose_series(query: Query, candidates: Sequence[Series], *, most: int = MAX_SERIES) -> list[Series]:
    """Return the series asked for, in the order asked for, each with a label.

    Raises:
        UsageError: There are none, or more than a figure can show.
    """
    if not candidates:
        raise _nothing_there(query)
    chosen = _requested(query, with_labels(candidates)) if query.series else with_labels(candidates)
    if len(chosen) > most:
        word = next(chosen[0].factors[name] for name in varying_factors(chosen) if name in chosen[0].factors)
        raise query.lacks(
            f"{len(chosen)} series are more than the {most} that can be told apart",
            f'choose with --series, such as --series "{word}"',
        )
    return chosen


def _nothing_there(query: Query) -> UsageError:
    """Return the error of a query that finds nothing: other sizes, or nothing was measured."""
    if query.sizes and (there := _sizes_there(query)):
        lacking = f"nothing of it was measured in the sizes {query.sizes}; there are {there}"
        return query.lacks(lacking, "name others: 8,1KiB, or a range with all in it: 0:2000")
    return query.lacks("nothing that it shows was measured")


def _sizes_there(query: Query) -> str:
    """Return the sizes that have a time; of many the first and the last."""
    rows = [row for source in query.sources for row in source.rows if row.time is not None and row.sized]
    words = [format_size(size) for size in sorted({row.cell.bytes for row in rows})]
    return ", ".join(words if len(words) <= MAX_NAMED else [*words[:3], "...", *words[-2:]])


def _requested(query: Query, candidates: Sequence[Series]) -> list[Series]:
    asked: dict[int, Series] = {}
    for text in query.series:
        words, sign, label = text.partition("=")
        matching = [number for number, one in enumerate(candidates) if _matches(words, one)]
        matching = matching or [number for number, one in enumerate(candidates) if _matches_calls(words, one)]
        if not matching or not words.strip():
            names = [f'"{one.label}"' for one in candidates[:MAX_NAMED]]
            more = " ..." if len(candidates) > MAX_NAMED else ""
            raise UsageError(
                f"--series: no series has the words {words!r}", f"there are {', '.join(names)}{more}"
            )
        if sign and len(matching) > 1:
            raise UsageError(
                f"--series: {len(matching)} series have the words {words!r}, and one label does for one",
                f'give more words, such as "{_name(candidates[matching[0]])}={label}"',
            )
        for number in matching:
            asked.setdefault(
                number,
                replace(candidates[number], label=label.strip() + _origin_suffix(candidates[number]))
                if sign
                else candidates[number],
            )
    kept = list(asked.values())
    # Labels tell what differs among those that are left, unless users gave them.
    fresh = with_labels([replace(one, label="") for one in kept])
    given = {id(one) for one in kept if all(one is not other for other in candidates)}
    return [
        one if id(one) in given else replace(one, label=new.label)
        for one, new in zip(kept, fresh, strict=True)
    ]


def _matches(words: str, series: Series) -> bool:
    """Return whether all words are in its name, what plans call its library, or the ranks of its pair."""
    cell = series.rows[0].cell
    names = f"{_name(series)} {series.label} {cell.mpi} {cell.pair}"
    return has_words(re.split(r"[\s,]+", words.strip()), names)


def _matches_calls(words: str, series: Series) -> bool:
    """Return whether all words stand in its name or are MPI functions that it calls: `Isend`, `MPI_Isend`."""
    cell = series.rows[0].cell
    pattern = series.source.patterns.get(cell.pattern)
    mode = pattern.mode(cell.mode) if pattern else None
    calls = mode.calls if mode else ()
    asked = re.split(r"[\s,]+", words.strip())
    others = [word for word in asked if normalised(word) not in calls]
    return len(others) < len(asked) and (not others or _matches(" ".join(others), series))


def has_words(words: Iterable[str], name: str) -> bool:
    """Return whether all words are in a name, each as a whole one."""
    return all(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", name) for word in words)


def _name(series: Series) -> str:
    return " ".join(series.factors.values())


def with_labels(*groups: Sequence[Series], without: Collection[str] = ()) -> list[Series]:
    """Return the series with labels that distinguish those of a group; by file if nothing else does.

    Args:
        without: Factors that the figure shows otherwise.
    """
    series = [one for group in groups for one in group]
    labels = distinguishing_labels(*([one.factors for one in group] for group in groups), without=without)
    return [
        replace(one, label=(label or _own_name(one)) + _origin_suffix(one))
        for one, label in zip(series, labels, strict=True)
    ]


def distinguishing_labels(*groups: Sequence[Factors], without: Collection[str] = ()) -> list[str]:
    """Return labels that distinguish the members of each group, by file if nothing else does.

    Empty for the only member of a group.
    """
    members = [factors for group in groups for factors in group]
    names = differing_factors(members)
    by_pattern = {name: [(one.get("pattern", ""), one.get(name)) for one in members] for name in names}
    varied = [name for name, values in by_pattern.items() if differs(name, values)]
    varying = [name for name in names if name not in without]
    short = [name for name in varying if name != FILE]
    labels: list[list[str]] = []
    for said, usual in ((short, varied), (short, None), (varying, varied), (varying, None)):
        labels = [[_label(one, said, usual) for one in group] for group in groups]
        if all(
            len({*of_group}) == len(of_group) and (len(members) == 1 or all(of_group)) for of_group in labels
        ):
            break
    return [label for of_group in labels for label in of_group]


def _origin_suffix(series: Series) -> str:
    """Return the suffix of labels that warns of imported or oversubscribed numbers."""
    return " (imported)" if series.imported else f", {CROWDED}" if series.oversubscribed else ""


def _label(factors: Factors, names: Collection[str], usual_of: Collection[str] | None) -> str:
    """Return the phrases of some factors; their usual values only of some of them, unless that is None."""
    mine = {name: phrase for name, phrase in factors.items() if name in {"pattern", *names}}
    phrases = mine if usual_of is None else told(mine, usual_of)
    return ", ".join(phrases[name] for name in names if name in phrases)


def _own_name(series: Series) -> str:
    return ", ".join(series.factors[name] for name in ("pattern", "mode") if name in series.factors)


def differing_factors(found: Sequence[Factors]) -> list[str]:
    """Return the factors in which they are not all the same."""
    names = dict.fromkeys(name for factors in found for name in factors)
    return [name for name in names if len({factors.get(name) for factors in found}) > 1]


def varying_factors(series: Sequence[Series]) -> list[str]:
    """Return the factors in which series differ."""
    return differing_factors([one.factors for one in series])


def common_words(series: Sequence[Series], without: Collection[str] = ()) -> str:
    """Return the words that all series share: the title."""
    varying = {*varying_factors(series), FILE, *without}
    shared: Mapping[str, str] = series[0].factors
    words = [word for name, word in shared.items() if name not in varying and word not in UNSAID]
    return ", ".join(words)


def title_words(series: Sequence[Series], without: Collection[str] = ()) -> str:
    """Return a title: the patterns, and what else all series share."""
    patterns = list(dict.fromkeys(one.factors["pattern"] for one in series if "pattern" in one.factors))
    rest = common_words(series, ("pattern", *without))
    if len(patterns) > MAX_PATTERNS:
        patterns = [*patterns[: MAX_PATTERNS - 1], f"{len(patterns) - MAX_PATTERNS + 1} more"]
    said = " and ".join(filter(None, [", ".join(patterns[:-1]), *patterns[-1:]]))
    return ", ".join(filter(None, [said, rest]))


# ---- Points --------------------------------------------------------------------------------------


def pieces_of(series: Series, point: Callable[[Row], Point | None]) -> list[list[Point]]:
    """Return points that may be connected: not over a missing size, an eager limit, or from 0 B."""
    pieces: list[list[Point]] = [[]]
    last: int | None = None
    for row in series.rows:
        value = point(row)
        size = row.cell.bytes
        if value is None:
            pieces.append([])
            continue
        if last is not None and _disconnected(series, last, size):
            pieces.append([])
        pieces[-1].append(value)
        last = size
    return [piece for piece in pieces if piece]


def _disconnected(series: Series, last: int, size: int) -> bool:
    """Return whether a line between these sizes would claim more than was measured."""
    return last == 0 or size > GAP * last or any(last <= limit < size for limit in series.breaks)


def time_point(row: Row) -> Point | None:
    """Return the time of a row as a point, in seconds; None if it has none."""
    time = row.time
    if time is None or time.estimate <= 0:
        return None
    return Point(row.cell.bytes, time.estimate, time.low, time.high)


def rate_point(row: Row) -> Point | None:
    """Return the rate of a row as a point, in bytes per second; None if it has none."""
    time, rate = row.time, row.rate_bytes_per_s
    if time is None or not rate:
        return None
    moved = rate * time.estimate
    ends = (None, None) if not time.low or not time.high else (moved / time.high, moved / time.low)
    return Point(row.cell.bytes, rate, *ends)


def size_words(row: Row) -> str:
    """Return the size of a row as text; empty if it has none."""
    return format_size(row.cell.bytes) if row.sized else ""
