"""The link map in sentences and as a document: matrices of small maps, the verdict, pairs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.document.document import AUTOMATIC, DOT, Column, Document, Line, Table
from mpigauge.document.phrases import PAIR_DASH, PAIRINGS, state_words
from mpigauge.document.status_words import status_and_reason
from mpigauge.linkmap import hosts_differ as host_words
from mpigauge.linkmap.metrics import metrics_of, pair_metrics
from mpigauge.linkmap.verdict import (
    HiddenByScatter,
    LaunchesDifferTooMuch,
    LinksIncomplete,
    MayBeChance,
    ScatterRaisesFactor,
    TooFewHosts,
    TooFewLaunches,
    UsualIsFastest,
    latency_of,
    rate_of,
)
from mpigauge.rows.group import subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Unit, Units
    from mpigauge.linkmap.hosts_differ import HostDifference
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.slow_links import Extent
    from mpigauge.linkmap.verdict import MapNote, MeasuredLink, SlowElement, UndecidedReason
    from mpigauge.rows.rows import Row

_SUSPECTS_SHOWN = 5
MAX_HOST_LINES = 5


def undecided(reason: UndecidedReason, *, remedies: bool = True) -> str:
    """Return why a map is undecided, or would be if nothing were slow.

    Args:
        remedies: Whether with what to do, which is for who measures.
    """
    match reason:
        case TooFewHosts(count, needed):
            more = f"it takes {needed} or more{f': --hosts, or --np {needed}' * remedies}"
            return f"with {count} nobody can tell which is slow, nor what is usual; {more}"
        case LaunchesDifferTooMuch():
            return "launches differ so much that no number of them would tell"
        case TooFewLaunches(launches, needed):
            few = "one launch cannot tell" if launches == 1 else f"{launches} launches are too few"
            return f"{few}{f': use --launches {needed} or more' * remedies}"
        case MayBeChance(launches):
            return f"what looks slow may be chance{f': use more than {launches} launches' * remedies}"
        case HiddenByScatter(size_bytes, factor):
            size = units.format_size(size_bytes)
            return f"links differ anyway at {size}: one is known to be slow from a factor of {factor:.3g} on"
        case LinksIncomplete(missing, links):
            return f"{missing} of {links} links were not measured in all sizes"


def note(fact: MapNote) -> str:
    """Return what else a reader should know of a map."""
    match fact:
        case UsualIsFastest():
            return (
                "of three the fastest link is taken for the usual: a slow link cannot be told from two slow "
                "hosts, nor a slow host from a fast link"
            )
        case ScatterRaisesFactor(size_bytes, factor):
            return f"links differ anyway at {size_bytes} B: there only a factor of {factor:.3g} counts"


def trouble(link: MeasuredLink) -> str:
    """Return what went wrong on a link; empty if nothing did."""
    return "" if link.trouble is None else status_and_reason(link.trouble)


def verdict_lines(shown: LinkMap, *, remedies: bool = True) -> list[Line]:
    """Return what is or may be slow, a line each; else one line that says that nothing is.

    Args:
        remedies: Whether with what to do or to type, which is for who measures.
    """
    verdict = shown.verdict
    why = [undecided(reason, remedies=remedies) for reason in verdict.reasons]
    lines = [Line(f"{_word(slow)} host {_what(shown, slow)}", "bad") for slow in verdict.hosts]
    lines += [Line(f"{_word(slow)} link {_what(shown, slow)}", "bad") for slow in verdict.links]
    lines += [
        Line(f"failed link {PAIR_DASH.join(link.names)}: {trouble(link)}", "bad")
        for link in shown.links
        if link.trouble
    ]
    if verdict.word == "none":
        lines.append(Line(f"nothing is slow: {_asked(shown)}", "good"))
    if verdict.word == "undecided":
        reasons = [f"undecided: {reason}" for reason in why] or ["undecided"]
        lines += [Line(reason, "doubt") for reason in reasons]
    worst, rest = verdict.suspects[:_SUSPECTS_SHOWN], verdict.suspects[_SUSPECTS_SHOWN:]
    lines += [Line(f"perhaps slow: {_what(shown, slow)}", "doubt") for slow in worst]
    more = f"perhaps slow: {len(rest)} more{' (--format json has all)' * remedies}"
    lines += [Line(more, "doubt")] if rest else []
    if verdict.suspects and verdict.word != "undecided":
        lines += [Line(f"not certain: {reason}", "doubt") for reason in why]
    return lines


def _word(slow: SlowElement) -> str:
    return "flaky" if slow.flaky else "slow"


def _what(shown: LinkMap, slow: SlowElement) -> str:
    """Return names and factors of something slow."""
    quantities = (
        (shown.latency_bytes, slow.latency, _latency),
        (shown.rate_bytes, slow.rate, _rate),
    )
    parts = [
        _longer(size, extent) + _beside_usual(shown, slow, extent, words)
        for size, extent, words in quantities
        if extent is not None
    ]
    return f"{PAIR_DASH.join(slow.names)}: {', '.join(parts)}"


def _beside_usual(
    shown: LinkMap, slow: SlowElement, extent: Extent, words: Callable[[Sequence[MeasuredLink]], str]
) -> str:
    """Return ` (2.04 ms where 39.7 µs to 40.9 µs is usual)`, if that is slow and with one usual time."""
    verdict = shown.verdict
    if len(verdict.groups) > 1 or (extent.flaky and not extent.by_middle):
        return ""
    odd = (*verdict.hosts, *verdict.links, *verdict.suspects)
    # A link that is slow by itself is named for that, also where one of its hosts is slow, too.
    others = [other for other in odd if other is not slow and len(other.names) >= len(slow.names)]
    between = [link for link in shown.links if len(_hosts(link)) > 1]
    alike = [link for link in between if _is_of(link, slow) and not _is_of_any(link, others)]
    usual = words([link for link in between if not _is_of_any(link, odd)])
    return f" ({words(alike)} where {usual} is usual)" if words(alike) and usual else ""


def _is_of_any(link: MeasuredLink, odd: Iterable[SlowElement]) -> bool:
    return any(_is_of(link, slow) for slow in odd)


def _is_of(link: MeasuredLink, slow: SlowElement) -> bool:
    """Return whether a link is the slow one, or of the slow host."""
    return ({*link.names} | _hosts(link)).issuperset(slow.names)


def _hosts(link: MeasuredLink) -> set[str]:
    """Return the hosts of both ends; on a map of one host, the ranks."""
    return {name.partition(":")[0] for name in link.names}


def _latency(links: Sequence[MeasuredLink]) -> str:
    times = [link.latency.time.estimate for link in links if link.latency and link.latency.time]
    return _range([units.format_time(value) for value in sorted(times)])


def _rate(links: Sequence[MeasuredLink]) -> str:
    rates = (link.rate.rate_bytes_per_s if link.rate else None for link in links)
    return _range(
        [units.format_rate(value) for value in sorted(value for value in rates if value is not None)]
    )


def _range(ordered: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys([*ordered[:1], *ordered[-1:]]))


def _longer(size_bytes: int | None, extent: Extent) -> str:
    """Return the factor, and in how many launches if not in all."""
    times = units.format_factor(extent.factor)
    longer = f"{units.format_size(size_bytes)} takes {times} times as long as usual"
    return f"{longer} in {extent.slow} of {extent.launches} launches" if extent.flaky else longer


def _asked(shown: LinkMap) -> str:
    verdict = shown.verdict
    count = len(verdict.judged)
    return f"no link or host of {count} takes {units.format_factor(verdict.factor)} times as long as usual"


def false_alarms(shown: LinkMap) -> str:
    """Return how often the rule is wrong."""
    return f"false alarms: at most {units.format_percent(shown.verdict.error_rate)} of healthy networks"


def host_lines(shown: LinkMap, *, remedies: bool = True) -> Iterator[str]:
    """Yield the differences of a map's hosts; first those in which a slow host differs from most."""
    blamed = (*shown.verdict.hosts, *shown.verdict.links)
    slow = {name.partition(":")[0] for one in blamed for name in one.names}
    found = sorted(shown.differences, key=lambda one: not slow & {*one.outliers})
    yield from map(host_words.sentence, found[:MAX_HOST_LINES])
    if len(found) > MAX_HOST_LINES:
        yield f"hosts differ: {len(found) - MAX_HOST_LINES} more{': --format json' * remedies}"


# ---- The document --------------------------------------------------------------------------------

MAX_MATRIX = 12
"""Ranks of a map that is printed whole; of larger ones there is the figure."""

Quantity = tuple[str, int, "Unit", "Callable[[MeasuredLink], float | None]"]
"""What it is called, of which size in bytes, its unit, and that of a link."""


def document(
    shown: LinkMap,
    *,
    quiet: bool = False,
    chosen: Units = AUTOMATIC,
    unknown: str = units.MISSING,
    remedies: bool = True,
) -> Document:
    """Return the map as a document; only its verdict if asked for.

    Args:
        remedies: Whether with what to do or to type, which is for who measures.
        unknown: Sign in a matrix in place of a number that was not measured.
    """
    verdict = verdict_lines(shown, remedies=remedies)
    hosts = host_lines(shown, remedies=remedies)
    after = [*map(note, shown.verdict.notes), *hosts, false_alarms(shown)]
    return Document(
        head=[] if quiet else [*_head(shown, chosen)],
        tables=[] if quiet or len(shown.names) > MAX_MATRIX else [*_matrices(shown, chosen, unknown)],
        units=chosen,
        foot=verdict if quiet else [*verdict, *map(Line, after)],
        data=lambda: record(shown),
        records=lambda: [
            _pair(link) | {"hosts": PAIR_DASH.join(link.names), "ranks": _ranks(link)} for link in shown.links
        ],
        metrics=lambda: metrics_of(shown),
    )


def _head(shown: LinkMap, chosen: Units) -> Iterator[str]:
    """Yield what was measured, and the range of its numbers."""
    cell = shown.cell
    words = [
        "link map",
        f"{cell.pattern}, {cell.mode}",
        cell.job.name,
        units.counted(shown.launches, "launch"),
    ]
    words += state_words(subject_of([row for link in shown.links for row in link.rows]))
    yield DOT.join([*words, *([PAIRINGS[cell.pairing]] if cell.pairing else [])])
    for what, size, unit, get in quantities(shown):
        values = sorted(value for link in shown.links if (value := get(link)) is not None)
        if values:
            in_time = unit == "s"
            form, asked = (units.format_time, chosen.time) if in_time else (units.format_rate, chosen.rate)
            least, middle, most = (form(value, asked) for value in (values[0], median(values), values[-1]))
            yield f"{what} of {units.format_size(size)}: median {middle}, {least} to {most}"
    if len(shown.verdict.groups) > 1:
        yield f"groups by latency: {' | '.join(' '.join(group) for group in shown.verdict.groups)}"


def quantities(shown: LinkMap) -> Iterator[Quantity]:
    """Yield latency and bandwidth, as far as the map has them."""
    if shown.latency_bytes is not None:
        yield "latency", shown.latency_bytes, "s", latency_of
    if shown.rate_bytes is not None:
        yield "bandwidth", shown.rate_bytes, "B/s", rate_of


# ---- Matrices ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One quantity of all pairs, in one unit.

    Attributes:
        names: Names of the ranks.
        values: Values by pair, in either order.
        printed: The unit in which they are printed.
        bad: Pairs that stand out.
        unknown: Sign in place of a value that was not measured.
    """

    names: Sequence[str]
    unit: Unit
    values: Mapping[tuple[int, int], float | None]
    printed: str
    bad: set[tuple[int, int]]
    unknown: str

    def column(self, rank: int) -> Column:
        """Return the column of a rank, for rows that are ranks."""
        return Column(
            f"to_{rank}",
            self.names[rank],
            lambda other: self.values.get((other, rank)),
            self.unit,
            lambda other, _: self._text((other, rank)),
            tone=lambda other: "bad" if (other, rank) in self.bad else "",
        )

    def _text(self, pair: tuple[int, int]) -> str:
        if pair not in self.values:
            return ""
        if self.values[pair] is None:
            return self.unknown
        form = units.format_time_in if self.unit == "s" else units.format_rate_in
        return form(self.values[pair], self.printed)


def _matrices(shown: LinkMap, chosen: Units, unknown: str) -> Iterator[Table]:
    """Yield matrices with a row and a column per rank; links stand out that are slow in it, or failed."""
    ranks = range(len(shown.names))
    first = Column("rank", "", lambda rank: shown.names[rank], left=True, goes=None)
    for what, size, unit, get in quantities(shown):
        values = {link.ranks: get(link) for link in shown.links}
        values |= {(j, i): value for (i, j), value in values.items()}
        asked, fitting = (chosen.time, units.time_unit) if unit == "s" else (chosen.rate, units.rate_unit)
        printed = fitting(values.values()) if asked == units.AUTO else asked
        matrix = _Matrix(shown.names, unit, values, printed, _bad(shown, of_latency=unit == "s"), unknown)
        title = f"{what} of {units.format_size(size)}, {units.unit_symbol(printed)}"
        yield Table(title, "", ranks, [first, *map(matrix.column, ranks)])


def _bad(shown: LinkMap, *, of_latency: bool) -> set[tuple[int, int]]:
    """Return the pairs that are slow in latency or in bandwidth, and those that failed."""

    def is_slow(one: SlowElement) -> bool:
        return (one.latency if of_latency else one.rate) is not None

    slow = {one.names for one in filter(is_slow, shown.verdict.links)}
    failed = {link.names for link in shown.links if link.trouble}
    hosts = {name for one in filter(is_slow, shown.verdict.hosts) for name in one.names}
    marked = {link.ranks for link in shown.links if link.names in slow | failed or hosts & set(link.names)}
    return marked | {(j, i) for i, j in marked}


# ---- For programs --------------------------------------------------------------------------------


def record(shown: LinkMap) -> dict[str, Any]:
    """Return the whole map in SI base units: docs/map.md."""
    verdict = shown.verdict
    return {
        "pairs": [_pair(link) for link in shown.links],
        "slow_links": [{"hosts": list(one.names), **_factors(one)} for one in verdict.links],
        "slow_hosts": [{"host": one.names[0], **_factors(one)} for one in verdict.hosts],
        "suspects": [{"hosts": list(one.names), **_factors(one)} for one in verdict.suspects],
        "failed_links": [
            {"hosts": list(link.names), "reason": trouble(link)} for link in shown.links if link.trouble
        ],
        "groups": [list(group) for group in verdict.groups],
        "judged": list(verdict.judged),
        "verdict": verdict.word,
        "reasons": [undecided(reason) for reason in verdict.reasons],
        "notes": [note(fact) for fact in verdict.notes],
        "hosts_differ": [_difference(one) for one in shown.differences],
        "factor": verdict.factor,
        "error_rate": verdict.error_rate,
        "launches": shown.launches,
        "launches_needed": verdict.launches_needed,
        "latency_bytes": shown.latency_bytes,
        "rate_bytes": shown.rate_bytes,
        "pattern": shown.cell.pattern,
        "mode": shown.cell.mode,
        "pairing": shown.cell.pairing,
        "ranks": shown.cell.ranks,
        "mpi": shown.cell.mpi,
        "mpi_version": shown.cell.mpi_version,
        "transport": shown.cell.transport,
    }


def _difference(difference: HostDifference) -> dict[str, Any]:
    values = [{"value": value, "hosts": list(hosts)} for value, hosts in difference.values]
    return {
        "fact": difference.fact,
        "card": difference.card,
        "values": values,
        "outliers": list(difference.outliers),
    }


def _ranks(link: MeasuredLink) -> str:
    return "-".join(map(str, link.ranks))


def _pair(link: MeasuredLink) -> dict[str, Any]:
    latency = link.latency.time if link.latency else None
    return {
        "hosts": list(link.names),
        "ranks": list(link.ranks),
        "latency_s": latency.estimate if latency else None,
        "latency_low_s": latency.low if latency else None,
        "latency_high_s": latency.high if latency else None,
        **_rates(link.rate),
        "launches": max((row.time.launches for row in link.rows if row.time), default=0),
        "status": next((row.status for row in link.rows if row.status != "ok"), "ok"),
    }


def _rates(row: Row | None) -> dict[str, float | None]:
    """Return rates of an interval of times: the slowest rate belongs to the longest time."""
    time = row.time if row else None
    rate = row.rate_bytes_per_s if row else None
    if row is None or time is None or rate is None:
        return dict.fromkeys(("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s"))
    return {
        "rate_bytes_per_s": rate,
        "rate_low_bytes_per_s": rate * time.estimate / time.high if time.high else None,
        "rate_high_bytes_per_s": rate * time.estimate / time.low if time.low else None,
    }


def _factors(slow: SlowElement) -> dict[str, float | None]:
    return {
        "factor": slow.factor,
        "flaky": slow.flaky,
        **_extent("latency", slow.latency),
        **_extent("rate", slow.rate),
    }


def _extent(what: str, extent: Extent | None) -> dict[str, float | None]:
    return {
        f"{what}_factor": extent.factor if extent else None,
        f"{what}_launches": extent.launches if extent else None,
        f"{what}_slow_launches": extent.slow if extent else None,
        f"{what}_slow_factor": extent.factor if extent else None,
    }


# ---- Some pairs side by side ---------------------------------------------------------------------


def beside(links: Sequence[MeasuredLink]) -> Document:
    """Return times by size of some pairs, a column each."""
    by_size = [{row.cell.bytes: row for row in link.rows} for link in links]
    sizes = sorted({size for rows in by_size for size in rows})
    columns = [Column("size", "size", lambda size: size, "B", goes=None)]
    columns += [_pair_column(link, rows) for link, rows in zip(links, by_size, strict=True)]
    if len(links) > 1:
        columns.append(
            Column(
                "ratios",
                "ratios to the first",
                lambda size: _ratios(rows.get(size) for rows in by_size),
                goes=0,
            )
        )
    return Document(
        tables=[Table("", "", sizes, columns)],
        data=lambda: {"pairs": [*map(_pair_rows, links)]},
        metrics=lambda: pair_metrics(links),
    )


def _pair_column(link: MeasuredLink, rows: Mapping[int, Row]) -> Column:
    def value(size: int) -> float | None:
        row = rows.get(size)
        return row.time.estimate if row and row.time else None

    return Column(
        PAIR_DASH.join(link.names),
        PAIR_DASH.join(link.names),
        value,
        "s",
        lambda size, chosen: _entry(rows.get(size), chosen),
    )


def _pair_rows(link: MeasuredLink) -> dict[str, Any]:
    return {"hosts": list(link.names), "ranks": list(link.ranks), "rows": [_row(row) for row in link.rows]}


def _row(row: Row) -> dict[str, Any]:
    time = row.time
    return {
        "bytes": row.cell.bytes,
        "time_s": time.estimate if time else None,
        "low_s": time.low if time else None,
        "high_s": time.high if time else None,
        "mean_s": time.mean if time else None,
        "stddev_s": time.stddev if time else None,
        "rate_bytes_per_s": row.rate_bytes_per_s,
    }


def _entry(row: Row | None, chosen: Units) -> str:
    if row is None or row.time is None:
        return units.MISSING
    time = row.time
    uneven = time.is_uneven
    ends = units.interval_of_times(time.low, time.high, chosen.time) if uneven else ""
    width = f"({ends})" if ends else units.format_relative(time.half_width)
    return f"{units.format_time(time.estimate, chosen.time)} {width}"


def _ratios(rows: Iterable[Row | None]) -> str:
    first, *others = [row.time.estimate if row and row.time else None for row in rows]
    return ", ".join(
        units.format_factor(other / first) if first and other else units.MISSING for other in others
    )
