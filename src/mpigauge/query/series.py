"""Series: rows that differ in one thing only, with names that say what tells one from the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.compare.curves import without_window
from mpigauge.document.phrases import OF_JOB, UNSAID, phrases_of, state_phrase
from mpigauge.errors import UsageError
from mpigauge.plan.names import plain
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.sizes import wanted
from mpigauge.rows.group import words_key
from mpigauge.sequences import group_by
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Query, Source
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row

SERIES_MOST = 14
"""In one figure; more cannot be told apart."""

NAMED_MOST = 6
"""In a hint."""

EAGER = patterns_with(lambda pattern: pattern.family == "message")
"""Patterns of plain messages, whose protocol changes at the eager limit. Collectives change algorithms
elsewhere, and copies in memory nothing."""

CROWDED = "oversubscribed"
"""Of series with more ranks than cores."""

GAP = 256
"""A line goes to a size at most so many times as large."""

PATTERNS_MOST = 3
"""That a title names."""

FILE = "file"


class Point(NamedTuple):
    """A value with its interval, where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Rows that are one line of a figure.

    Attributes:
        factors: What it is of, in words by name: pattern, mode, mpi and so on.
        rows: In the order of the line, those without a value, too.
        label: What tells it from the others.
        breaks: Sizes above which the protocol is another.
    """

    source: Source
    factors: Factors
    rows: list[Row]
    label: str = ""
    breaks: tuple[int, ...] = ()

    def key(self, but: Container[str] = ()) -> Key:
        """Return all that it is of but these factors; its result too, unless the file is among them."""
        return (None if FILE in but else id(self.source), *words_key(self.factors, but))

    @property
    def oversubscribed(self) -> bool:
        """Whether all of it was measured with more ranks than cores."""
        timed = [row for row in self.rows if row.time is not None]
        return bool(timed) and all(row.oversubscribed for row in timed)

    @property
    def imported(self) -> bool:
        """Whether others have measured it, of whom we have no samples."""
        timed = [row for row in self.rows if row.time is not None]
        return bool(timed) and all(row.imported for row in timed)


def factors_of(source: Source, row: Row) -> Factors:
    """All that a row is of but its size, in phrases; its window and state only where there are several."""
    phrases = phrases_of(row.cell) | {FILE: source.name}
    if without_window(row.cell) not in source.windows:
        phrases.pop("window", None)
    return phrases | (state_phrase(row.of) if len(source.states_shown) > 1 else {})


def timed(query: Query) -> list[tuple[Source, Row]]:
    """Rows of patterns that have a time, in the sizes asked for; neither probes nor the floor."""
    chosen = wanted(query.sizes)
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
    query: Query, keep: Callable[[Row], bool] = lambda _: True, *, sized: bool = True, most: int = SERIES_MOST
) -> list[Series]:
    """Series whose x is the size; those asked for, labelled.

    Args:
        sized: Without what has no size, such as barriers.
        most: How many can be told apart.

    Raises:
        UsageError: There are none, or too many.
    """
    pairs = [(source, row) for source, row in timed(query) if (row.sized or not sized) and keep(row)]
    found = grouped(pairs, factors_of)
    for number, one in enumerate(found):
        one.rows.sort(key=lambda row: row.cell.bytes)
        found[number] = replace(one, breaks=_breaks(one))
    timed_ones = [one for one in found if any(row.time is not None for row in one.rows)]
    return chosen(query, timed_ones, most=most)


def grouped(pairs: Iterable[tuple[Source, Row]], factors: Callable[[Source, Row], Factors]) -> list[Series]:
    """Rows of one result with equal factors, in the order of the first of each."""
    alone = [Series(source, factors(source, row), [row]) for source, row in pairs]
    return [replace(mine[0], rows=[row for one in mine for row in one.rows]) for mine in alike_but((), alone)]


def alike_but(factors: Collection[str], found: Iterable[Series]) -> list[list[Series]]:
    """Return series in groups that differ in these factors alone, in the order of the first of each."""
    return [*group_by(found, lambda one: one.key(factors)).values()]


def _breaks(one: Series) -> tuple[int, ...]:
    cell = one.rows[0].cell
    limit = one.source.limits.get(cell.job)
    mode = one.source.patterns[cell.pattern].mode(cell.mode)
    passes = cell.pattern not in EAGER or (mode is not None and mode.never_eager)
    return () if limit is None or passes else (limit,)


def limits_of(found: Sequence[Series]) -> dict[int, str]:
    """Eager limits that break lines, in bytes, with their words: also whose they are, if not those of all."""
    broken = ((limit, one) for one in found for limit in one.breaks)
    owners = group_by(broken, lambda pair: pair[0])
    return {
        limit: ", ".join([f"eager limit {format_size(limit)}", *_whose([one for _, one in mine], found)])
        for limit, mine in sorted(owners.items())
    }


def _whose(owners: Sequence[Series], found: Sequence[Series]) -> Iterator[str]:
    """What tells the owners of a limit from the other series: libraries, then what else jobs differ in."""
    for name in (*OF_JOB, FILE):
        mine, all_of_it = ({one.factors.get(name, "") for one in some} for some in (owners, found))
        if mine != all_of_it and (words := sorted(mine - {""})):
            yield " and ".join(words)


# ---- Choosing and naming -------------------------------------------------------------------------


def chosen(query: Query, found: Sequence[Series], *, most: int = SERIES_MOST) -> list[Series]:
    """The series asked for, in the order asked for, each with a label.

    Raises:
        UsageError: There are none, or more than a figure can show.
    """
    if not found:
        raise _nothing_there(query)
    named = _asked(query, labelled(found)) if query.series else labelled(found)
    if len(named) > most:
        word = next(named[0].factors[name] for name in names_that_vary(named) if name in named[0].factors)
        raise query.lacks(
            f"{len(named)} series are more than the {most} that can be told apart",
            f'choose with --series, such as --series "{word}"',
        )
    return named


def _nothing_there(query: Query) -> UsageError:
    """Why a query finds nothing: other sizes, or nothing was measured."""
    if query.sizes and (there := _sizes_there(query)):
        lacking = f"nothing of it was measured in the sizes {query.sizes}; there are {there}"
        return query.lacks(lacking, "name others: 8,1KiB, or a range with all in it: 0:2000")
    return query.lacks("nothing that it shows was measured")


def _sizes_there(query: Query) -> str:
    """The sizes that have a time, the first and the last of many."""
    rows = [row for source in query.sources for row in source.rows if row.time is not None and row.sized]
    words = [format_size(size) for size in sorted({row.cell.bytes for row in rows})]
    return ", ".join(words if len(words) <= NAMED_MOST else [*words[:3], "...", *words[-2:]])


def _asked(query: Query, found: Sequence[Series]) -> list[Series]:
    asked: dict[int, Series] = {}
    for text in query.series:
        words, sign, label = text.partition("=")
        mine = [number for number, one in enumerate(found) if _matches(words, one)]
        mine = mine or [number for number, one in enumerate(found) if _calls(words, one)]
        if not mine or not words.strip():
            names = [f'"{one.label}"' for one in found[:NAMED_MOST]]
            more = " ..." if len(found) > NAMED_MOST else ""
            raise UsageError(
                f"--series: no series has the words {words!r}", f"there are {', '.join(names)}{more}"
            )
        if sign and len(mine) > 1:
            raise UsageError(
                f"--series: {len(mine)} series have the words {words!r}, and one label does for one",
                f'give more words, such as "{_name(found[mine[0]])}={label}"',
            )
        for number in mine:
            asked.setdefault(
                number,
                replace(found[number], label=label.strip() + _mark(found[number])) if sign else found[number],
            )
    kept = list(asked.values())
    # Labels tell what differs among those that are left, unless users gave them.
    fresh = labelled([replace(one, label="") for one in kept])
    given = {id(one) for one in kept if all(one is not other for other in found)}
    return [
        one if id(one) in given else replace(one, label=new.label)
        for one, new in zip(kept, fresh, strict=True)
    ]


def _matches(words: str, one: Series) -> bool:
    """Whether all words stand in its name, or are what plans call its library, or the ranks of its pair."""
    cell = one.rows[0].cell
    names = f"{_name(one)} {one.label} {cell.mpi} {cell.pair}"
    return has_words(re.split(r"[\s,]+", words.strip()), names)


def _calls(words: str, one: Series) -> bool:
    """Return whether all words stand in its name or are MPI functions that it calls: `Isend`, `MPI_Isend`."""
    cell = one.rows[0].cell
    pattern = one.source.patterns.get(cell.pattern)
    mode = pattern.mode(cell.mode) if pattern else None
    calls = mode.calls if mode else ()
    asked = re.split(r"[\s,]+", words.strip())
    others = [word for word in asked if plain(word) not in calls]
    return len(others) < len(asked) and (not others or _matches(" ".join(others), one))


def has_words(words: Iterable[str], name: str) -> bool:
    """Whether all words stand in a name, each as a whole one."""
    return all(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", name) for word in words)


def _name(one: Series) -> str:
    return " ".join(one.factors.values())


def labelled(*groups: Sequence[Series], without: Collection[str] = ()) -> list[Series]:
    """Each with what tells it from the others of its group; the file is named if nothing else does.

    Args:
        without: Factors that the figure tells otherwise.
    """
    found = [one for group in groups for one in group]
    labels = told_apart(*([one.factors for one in group] for group in groups), without=without)
    return [
        replace(one, label=(label or _alone(one)) + _mark(one))
        for one, label in zip(found, labels, strict=True)
    ]


def told_apart(*groups: Sequence[Factors], without: Collection[str] = ()) -> list[str]:
    """What tells each from the others of its group, the file if nothing else does; empty if it is alone."""
    found = [factors for group in groups for factors in group]
    varying = [name for name in differing(found) if name not in without]
    short = [name for name in varying if name != FILE]
    labels: list[list[str]] = []
    for names, unsaid in ((short, UNSAID), (short, ()), (varying, UNSAID), (varying, ())):
        labels = [[_label(factors, names, unsaid) for factors in group] for group in groups]
        if all(len({*mine}) == len(mine) and (len(found) == 1 or all(mine)) for mine in labels):
            break
    return [label for mine in labels for label in mine]


def _mark(one: Series) -> str:
    """What nobody may take for their own measurement, or for one of the library alone, says so."""
    return " (imported)" if one.imported else f", {CROWDED}" if one.oversubscribed else ""


def _label(factors: Factors, names: Iterable[str], unsaid: Collection[str]) -> str:
    words = [factors[name] for name in names if name in factors]
    return ", ".join(word for word in words if word not in unsaid)


def _alone(one: Series) -> str:
    return ", ".join(one.factors[name] for name in ("pattern", "mode") if name in one.factors)


def differing(found: Sequence[Factors]) -> list[str]:
    """Factors in which they are not all the same."""
    names = dict.fromkeys(name for factors in found for name in factors)
    return [name for name in names if len({factors.get(name) for factors in found}) > 1]


def names_that_vary(found: Sequence[Series]) -> list[str]:
    """Factors in which series differ."""
    return differing([one.factors for one in found])


def common_words(found: Sequence[Series], without: Collection[str] = ()) -> str:
    """What all of them are: the title."""
    varying = {*names_that_vary(found), FILE, *without}
    shared: Mapping[str, str] = found[0].factors
    words = [word for name, word in shared.items() if name not in varying and word not in UNSAID]
    return ", ".join(words)


def title_words(found: Sequence[Series], without: Collection[str] = ()) -> str:
    """A title: the patterns, and what else all of them are."""
    patterns = list(dict.fromkeys(one.factors["pattern"] for one in found if "pattern" in one.factors))
    rest = common_words(found, ("pattern", *without))
    if len(patterns) > PATTERNS_MOST:
        patterns = [*patterns[: PATTERNS_MOST - 1], f"{len(patterns) - PATTERNS_MOST + 1} more"]
    said = " and ".join(filter(None, [", ".join(patterns[:-1]), *patterns[-1:]]))
    return ", ".join(filter(None, [said, rest]))


# ---- Points --------------------------------------------------------------------------------------


def pieces_of(one: Series, point: Callable[[Row], Point | None]) -> list[list[Point]]:
    """Points that may be connected: not over a size that is missing, the eager limit, or from 0 B."""
    pieces: list[list[Point]] = [[]]
    last: int | None = None
    for row in one.rows:
        here = point(row)
        size = row.cell.bytes
        if here is None:
            pieces.append([])
            continue
        if last is not None and _parted(one, last, size):
            pieces.append([])
        pieces[-1].append(here)
        last = size
    return [piece for piece in pieces if piece]


def _parted(one: Series, last: int, size: int) -> bool:
    """Whether a line between these sizes would say more than was measured."""
    return last == 0 or size > GAP * last or any(last <= limit < size for limit in one.breaks)


def time_point(row: Row) -> Point | None:
    """Its time, in seconds."""
    time = row.time
    if time is None or time.estimate <= 0:
        return None
    return Point(row.cell.bytes, time.estimate, time.low, time.high)


def rate_point(row: Row) -> Point | None:
    """Its rate, in bytes per second."""
    time, rate = row.time, row.rate_bytes_per_s
    if time is None or not rate:
        return None
    moved = rate * time.estimate
    ends = (None, None) if not time.low or not time.high else (moved / time.high, moved / time.low)
    return Point(row.cell.bytes, rate, *ends)


def size_words(row: Row) -> str:
    """Its size for people."""
    return format_size(row.cell.bytes) if row.sized else ""
