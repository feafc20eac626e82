"""Forms of a link map: pure functions from a map to text. MAP_FORMATS is the one list of them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import Any

from mpigauge import units
from mpigauge.analysis.linkmap import Link, LinkMap, Slow
from mpigauge.analysis.rows import Row
from mpigauge.show.document import DOT
from mpigauge.show.words.factors import PAIRINGS
from mpigauge.show.words.map import note, trouble, undecided

MATRIX_MOST = 12
"""Ranks of a map that is printed whole; of larger ones there is the figure."""

DASH = " \N{EN DASH} "


# ---- In words ------------------------------------------------------------------------------------


def verdict_lines(shown: LinkMap) -> list[str]:
    """What is slow, a line each; else one line that says so."""
    verdict = shown.verdict
    lines = [f"slow host {_what(shown, one)}" for one in verdict.hosts]
    lines += [f"slow link {_what(shown, one)}" for one in verdict.links]
    lines += [f"failed link {DASH.join(link.names)}: {trouble(link)}" for link in shown.links if link.trouble]
    if verdict.word == "none":
        lines.append(f"nothing is slow: {_asked(shown)}")
    if verdict.word == "undecided":
        lines += [f"undecided: {undecided(reason)}" for reason in verdict.reasons] or ["undecided"]
        lines += [f"perhaps slow: {_what(shown, one)}" for one in verdict.suspects]
    return lines


def _what(shown: LinkMap, one: Slow) -> str:
    """Names and factors."""
    pairs = ((shown.latency_bytes, one.latency_factor), (shown.rate_bytes, one.rate_factor))
    parts = [
        f"{units.format_size(size)} takes {units.format_factor(factor)} times as long as usual"
        for size, factor in pairs
        if factor is not None
    ]
    return f"{DASH.join(one.names)}: {', '.join(parts)}"


def _asked(shown: LinkMap) -> str:
    verdict = shown.verdict
    count = len(verdict.judged)
    return f"no link or host of {count} takes {units.format_factor(verdict.factor)} times as long as usual"


def text(shown: LinkMap) -> str:
    """What is slow, and small maps whole."""
    lines = [*head(shown), "", *_matrices(shown), *verdict_lines(shown), *map(note, shown.verdict.notes)]
    return "\n".join([*lines, error_rate(shown), ""])


def error_rate(shown: LinkMap) -> str:
    """How often the rule is wrong."""
    rate = units.format_percent(shown.verdict.error_rate)
    return f"on {rate} of uniform networks, at most, anything would be called slow"


def head(shown: LinkMap) -> Iterator[str]:
    """What was measured, and between which numbers it lies."""
    cell = shown.cell
    words = ["link map", f"{cell.pattern}, {cell.mode}", cell.job.name, f"{shown.launches} launches"]
    yield DOT.join([*words, *([PAIRINGS[cell.pairing]] if cell.pairing else [])])
    for what, size, form, get in quantities(shown):
        values = sorted(value for link in shown.links if (value := get(link)) is not None)
        if values:
            least, middle, most = (form(value) for value in (values[0], median(values), values[-1]))
            yield f"{what} of {units.format_size(size)}: {middle} in the middle, {least} to {most}"
    if len(shown.verdict.groups) > 1:
        yield f"groups by latency: {' | '.join(' '.join(group) for group in shown.verdict.groups)}"


Quantity = tuple[str, int, Callable[[float | None], str], Callable[[Link], float | None]]


def quantities(shown: LinkMap) -> Iterator[Quantity]:
    """Latency and rate: what they are called, their size, how a number is written, and that of a link."""
    if shown.latency_bytes is not None:
        yield "latency", shown.latency_bytes, units.format_time, latency_of
    if shown.rate_bytes is not None:
        yield "rate", shown.rate_bytes, units.format_rate, rate_of


def latency_of(link: Link) -> float | None:
    """One-way time of the smallest message, s."""
    return link.latency.time.estimate if link.latency and link.latency.time else None


def rate_of(link: Link) -> float | None:
    """Of the largest message, bytes/s."""
    return link.rate.rate_bytes_per_s if link.rate else None


def _matrices(shown: LinkMap) -> Iterator[str]:
    if len(shown.names) > MATRIX_MOST:
        return
    for what, size, form, get in quantities(shown):
        yield f"{what} of {units.format_size(size)}"
        entries = {link.ranks: form(get(link)) for link in shown.links}
        entries |= {(j, i): entry for (i, j), entry in entries.items()}
        everyone = range(len(shown.names))
        table = [["", *shown.names]]
        table += [[shown.names[i], *(entries.get((i, j), "") for j in everyone)] for i in everyone]
        yield from _aligned(table)
        yield ""


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  " + "  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)).rstrip()


# ---- For programs --------------------------------------------------------------------------------


def as_json(shown: LinkMap) -> str:
    """Everything, in SI base units: docs/map.md."""
    verdict = shown.verdict
    whole = {
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
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _pair(link: Link) -> dict[str, Any]:
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
    """The slowest rate belongs to the longest time."""
    time = row.time if row else None
    rate = row.rate_bytes_per_s if row else None
    if row is None or time is None or rate is None:
        return dict.fromkeys(("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s"))
    return {
        "rate_bytes_per_s": rate,
        "rate_low_bytes_per_s": rate * time.estimate / time.high if time.high else None,
        "rate_high_bytes_per_s": rate * time.estimate / time.low if time.low else None,
    }


def _factors(one: Slow) -> dict[str, float | None]:
    return {
        "factor": one.factor,
        "latency_factor": one.latency_factor,
        "rate_factor": one.rate_factor,
    }


MAP_FORMATS: dict[str, Callable[[LinkMap], str]] = {"text": text, "json": as_json}


# ---- Some pairs beside each other ----------------------------------------------------------------


def beside(links: Sequence[Link], form: str) -> str:
    """Times by size of some pairs, a column each."""
    if form == "json":
        pairs = [
            {"hosts": list(link.names), "ranks": list(link.ranks), "rows": [_row(row) for row in link.rows]}
            for link in links
        ]
        return json.dumps({"pairs": pairs}, indent=1, ensure_ascii=False) + "\n"
    return "\n".join([*_aligned(beside_table(links)), ""])


def beside_table(links: Sequence[Link]) -> list[list[str]]:
    """The same as words: a heading, then a line a size."""
    sizes = sorted({row.cell.bytes for link in links for row in link.rows})
    by_size = [{row.cell.bytes: row for row in link.rows} for link in links]
    table = [["size", *(DASH.join(link.names) for link in links)]]
    for size in sizes:
        found = [rows.get(size) for rows in by_size]
        table.append([units.format_size(size), *(_entry(row) for row in found)])
    if len(links) > 1:
        table[0].append("ratios to the first")
        for line, size in zip(table[1:], sizes, strict=True):
            line.append(_ratios([rows.get(size) for rows in by_size]))
    return table


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


def _entry(row: Row | None) -> str:
    if row is None or row.time is None:
        return units.MISSING
    return f"{units.format_time(row.time.estimate)} {units.format_relative(row.time.half_width)}"


def _ratios(rows: Iterable[Row | None]) -> str:
    first, *others = [row.time.estimate if row and row.time else None for row in rows]
    return ", ".join(
        units.format_factor(other / first) if first and other else units.MISSING for other in others
    )
