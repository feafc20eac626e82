"""What `mpigauge show` says: the numbers that sum a result up, and those of tables."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.ledger import Either
from tests.cli.docs.recomputing.statistics_of import Interval, ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cli.docs.recomputing.cells import Book
    from tests.cli.docs.recomputing.reading import Row

COPIES = {
    "kappa": ("crosscopy", "standard"),
    "memcpy_ratio": ("memcpy", "standard"),
    "copy_ratio": ("copy", "O3"),
    "copy_o0_ratio": ("copy", "O0"),
}


def with_ends(found: Interval) -> dict[str, Any]:
    """Return an interval as a fact has it."""
    return {"estimate": found.estimate, "low": found.low, "high": found.high}


def rate_of(row: Row, directions: int = 1) -> Interval:
    """Return the bytes over the time."""
    over, one = row.bytes_per_time / directions, row.time
    return Interval(
        over / one.estimate, one.high and over / one.high, one.low and over / one.low, one.launches
    )


def copy_of(row: Row, pattern: str, mode: str) -> Row | None:
    """Return the copy of the same size and job, in the same state or of which none is known."""
    rows = row.result.shown if row.result else []
    found = [one for one in rows if one.visits and (one.pattern, one.mode) == (pattern, mode)]
    found = [one for one in found if one.bytes == row.bytes and one.job == row.job]
    return next((one for one in found if one.state in (row.state, None)), None)


def of_answer(one: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """Recompute a number that sums a result up."""
    file, state = book.files[0], one["state"]
    if one["quantity"] == "eager-limit":
        return {"value": book.limit(file, one)}
    curve = book.curve(file, one, state)
    row = next(row for row in curve if row.bytes == one["bytes"])
    if one["quantity"] == "copies":
        sticks = [stick for names in COPIES.values() if (stick := copy_of(row, *names))]
        ratios = [ratio(row.times, stick.times, alike=not row.in_state_of(stick)) for stick in sticks]
        known = [_answered(own, row.bytes) for own in ratios if own]
        return {name: Either(one[name] for one in known) for name in known[0]} | {"bytes": row.bytes}
    if one["unit"] == "B/s":
        best = max(curve, key=lambda row: row.bytes_per_time / row.seconds)
        return _answered(rate_of(best), best.bytes)
    return _answered(row.time, row.bytes)


def _answered(found: Interval, size: int) -> dict[str, Any]:
    return {
        "bytes": size,
        "value": found.estimate,
        "low": found.low,
        "high": found.high,
        "half_width": found.half_width,
    }


def of_entry(entry: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """Recompute the numbers of an entry of a table."""
    row = book.row(entry["file"], entry, entry["state"])
    own: dict[str, Any] = {"launches": len(row.launches), "samples": len(row.samples)}
    match entry["quantity"]:
        case "n":
            own |= {"value": len(row.samples), "low": None, "high": None}
        case "mean" | "std. dev.":
            own |= {"value": _described(row, entry["quantity"]), "low": None, "high": None}
        case _ if entry["unit"] in ("s", "B/s"):
            found = rate_of(row) if entry["unit"] == "B/s" else row.time
            own |= {"value": found.estimate, "low": found.low, "high": found.high}
    return own


def _described(row: Row, what: str) -> float | None:
    if row.result is None:
        return row.printed_s if what == "mean" else row.printed_stddev_s
    return stdev(row.samples) if what == "std. dev." else fmean(row.samples)
