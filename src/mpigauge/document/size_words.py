"""Sizes in words: one, several, a range of them, and at which of all of them something is so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.patterns import patterns_with
from mpigauge.sequences import consecutive, runs
from mpigauge.units import counted, format_size
from mpigauge.units import span as range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.plan.model import Cell

UNSIZED = patterns_with(lambda pattern: not pattern.sized)
"""Patterns whose size is not said."""

BOTH = 2

MAX_PLACES = 2
"""Most ranges of sizes that are named; of more, how many sizes they are."""


def at_size(cell: Cell, size_bytes: int) -> str:
    """Return where something is so, ` at 8 B`; nothing for what has no size."""
    return "" if cell.pattern in UNSIZED else f" at {format_size(size_bytes)}"


def span(sizes_bytes: Iterable[int]) -> str:
    """Return the smallest and the largest of some sizes, `8 B to 64 KiB`, or one size."""
    ordered = sorted(sizes_bytes)
    return range_of(format_size(ordered[0]), format_size(ordered[-1]))


def crossed_between(before_bytes: int, size_bytes: int) -> str:
    """Return between which two measured sizes something changes, `between 4 KiB and 32 KiB`."""
    return f"between {format_size(before_bytes)} and {format_size(size_bytes)}"


def every_size(number: int) -> str:
    """Return `all 7 sizes`; for two, `both sizes`."""
    return "both sizes" if number == BOTH else f"all {number} sizes"


def where(
    some_bytes: Sequence[int],
    every_bytes: Sequence[int],
    cell: Cell,
    most_places: int = MAX_PLACES,
    among: int | None = None,
) -> str:
    """Return at which of all sizes something is so: ` up to 512 B`, ` from 64 KiB on`, ` at all 7 sizes`.

    Args:
        some_bytes: Rising; some of `every_bytes`, which rise, too.
        cell: For what has no size.
        most_places: Most ranges of sizes that are named; of more, how many sizes they are.
        among: Of how many sizes some are counted; None for all.
    """
    if cell.pattern in UNSIZED:
        return ""
    if len(every_bytes) == 1:
        return at_size(cell, every_bytes[0])
    if len(some_bytes) == len(every_bytes):
        return f" at {every_size(len(every_bytes))}"
    places = [*runs([every_bytes.index(size) for size in some_bytes], consecutive)]
    if len(places) > most_places:
        return f" at {len(some_bytes)} of {among or len(every_bytes)} sizes"
    *more, last = [_place(every_bytes, place[0], place[-1]) for place in places]
    return f"{','.join(more)} and{last}" if more else last


def _place(every_bytes: Sequence[int], first: int, last: int) -> str:
    begin, end = (format_size(every_bytes[place]) for place in (first, last))
    if first == last:
        return f" at {begin}"
    if first == 0:
        return f" up to {end}"
    return f" from {begin} on" if last == len(every_bytes) - 1 else f" from {begin} to {end}"


def listed(sizes_bytes: Sequence[int]) -> str:
    """Return sizes one by one, `8 B and 64 KiB`: others may lie between them of which it is not so."""
    *more, last = map(format_size, sizes_bytes)
    return f"{', '.join(more)} and {last}" if more else last


def range_and_count(first_bytes: int, last_bytes: int, count: int, among: int, more: str = "") -> str:
    """Return the first and last of some sizes and how many they are: `2 KiB to 64 KiB (6 of 7 sizes)`.

    Args:
        among: How many there are from the first to the last.
        more: What else is said of them.
    """
    if count == 1:
        return format_size(first_bytes)
    some = f"{count} of {among} sizes" if count < among else counted(count, "size")
    said = ", ".join(filter(None, [some, more]))
    return f"{range_of(format_size(first_bytes), format_size(last_bytes))} ({said})"
