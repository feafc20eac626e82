"""Parts of sentences that several topics share: times, rates and ratios with intervals, what fits a line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.two import MINUS, ON_AVERAGE
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.stats.decision import MARGIN
from mpigauge.stats.interval import is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.document.document import Units
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number

EMULATED = "over the emulated network of a lab"
"""Said where delays and rates were put in."""

CROWDED = "more ranks than cores"
"""Said where ranks share cores, so that the scheduler of the system is in the numbers."""

NEARLY_NONE = 0.0005
"""Below it a relative difference is nobody's concern."""


def headed(about: str, text: str) -> str:
    """Return a sentence after what it is about, if that need be said."""
    return f"{about}: {text}" if about else text


def time(
    seconds: float, low_s: float | None = None, high_s: float | None = None, chosen: Units = AUTOMATIC
) -> str:
    """Return a time with its interval in brackets; the number alone without one."""

    def write(time_s: float) -> str:
        return units.format_time(time_s, chosen.time)

    return units.with_interval(write(seconds), low_s, high_s, write)


def extra(seconds: float, chosen: Units = AUTOMATIC) -> str:
    """Return a difference of times, with its sign."""
    return f"{MINUS if seconds < 0 else '+'}{units.format_time(abs(seconds), chosen.time)}"


def share(fraction: Number) -> str:
    """Return a positive share with its interval in brackets; the number alone without one."""
    said, *ends = (units.format_percent(one) for one in (fraction.estimate, fraction.low, fraction.high))
    # The interval of what is always the whole is a number twice.
    if fraction.low is None or set(ends) == {said}:
        return said
    return f"{said} ({ends[0].removesuffix(' %')} {units.DASH} {ends[1]})"


def signed_percent(fraction: float) -> str:
    """Return a relative difference, with its sign; nearly none is `0.0 %`."""
    if abs(fraction) < NEARLY_NONE:
        return "0.0 %"
    return f"{MINUS if fraction < 0 else '+'}{units.format_percent(abs(fraction))}"


def rate(
    bytes_per_s: float,
    ends: tuple[float | None, float | None] = (None, None),
    chosen: Units = AUTOMATIC,
) -> str:
    """Return a bandwidth with its interval in brackets, in the unit of tables."""
    unit = units.rate_unit([bytes_per_s]) if chosen.rate == units.AUTO else chosen.rate

    def write(rate: float) -> str:
        return units.format_rate_in(rate, unit)

    return units.with_interval(f"{write(bytes_per_s)} {unit}", *ends, write)


def known_rate(bytes_per_s: float, ends: tuple[float | None, float | None], chosen: Units = AUTOMATIC) -> str:
    """Return a bandwidth with its interval; words where that leaves it not known."""
    return rate(bytes_per_s, ends, chosen) if is_known(*ends) else "not known"


def wire_rate(bytes_per_s: float) -> str:
    """Return the rate of a link, in bits, as links are called."""
    unit = "Gbit/s" if bytes_per_s >= units.RATE_UNITS["Gbit/s"] else "Mbit/s"
    return f"{units.format_rate_in(bytes_per_s, unit)} {unit}"


WITHIN = f"{100 * MARGIN:g} %"


# ---- One finding in one line ---------------------------------------------------------------------

MAX_WORDS = 25
"""Words of a line on the screen, with the launches that it rests on; a number and its unit are one."""

LAUNCHES_WORDS = 2
"""Words of the launches that a line ends in."""

_ONE_WORD = re.compile(r"(?<=\d) (?=(?:[nm\N{MICRO SIGN}]?s|[kKMGT]?i?B(?:/s)?|[MG]bit/s)\b|%)")


def words_of(text: str) -> int:
    """Return how many words a line has; a number with unit and kind is one, a dash between two none."""
    return len(_ONE_WORD.sub("", text).replace(ON_AVERAGE, "").replace(f" {units.DASH} ", " ").split())


def in_one_line(candidates: Iterable[str], *, most_words: int = MAX_WORDS - LAUNCHES_WORDS) -> str:
    """Return the first text that has room in a line, else the shortest."""
    found = list(candidates)
    fitting = (text for text in found if words_of(text) <= most_words)
    return next(fitting, min(found, key=words_of))


def known_times(ratio: Ratio, *, interval: bool = True) -> str:
    """Return `2.31 times`, with its interval if there is room; words where it is not known."""
    if not is_known(ratio.low, ratio.high):
        return "an unknown number of times"
    alone = times_words(replace(ratio, low=None, high=None))
    return _unless_alike(times_words(ratio), alone, alone.removesuffix(" times")) if interval else alone


def in_a_line(text: str) -> bool:
    """Return whether a text has room in a line, beside the launches that it ends in."""
    return words_of(text) <= MAX_WORDS - LAUNCHES_WORDS


def fitting(about: str, parts: Sequence[str], has_room: Callable[[str], bool] = in_a_line) -> int:
    """Return how many parts of a sentence have room, from the first on; at least one."""
    counts = range(1, len(parts) + 1)
    return max((count for count in counts if has_room(headed(about, "; ".join(parts[:count])))), default=1)


def in_times(begin: str, ratio: Ratio, *ends: str) -> str:
    """Return `MPI_Isend takes 1.11 times (1.09 - 1.14) as long ...`, with as much as there is room for.

    Args:
        ends: What follows the number, the longest first; of each, the number has its interval if possible.
    """
    times = [known_times(ratio, interval=each) for each in (True, False)]
    return in_one_line(f"{begin} {each} {end}" for end in ends for each in times)


def known_time(seconds: float, low_s: float | None, high_s: float | None, chosen: Units = AUTOMATIC) -> str:
    """Return a time with its interval; words where that leaves it not known."""
    if not is_known(low_s, high_s):
        return "a time not known"
    alone = time(seconds, chosen=chosen)
    return _unless_alike(time(seconds, low_s, high_s, chosen), alone, alone)


def known_share(fraction: Number, *, interval: bool = True) -> str:
    """Return a positive share, with its interval if there is room; words where that leaves it not known."""
    if not is_known(fraction.low, fraction.high):
        return "a share not known"
    return share(fraction) if interval else units.format_percent(fraction.estimate)


def _unless_alike(text: str, alone: str, number: str) -> str:
    """Return a text with an interval; the number alone where both ends are written like it."""
    return alone if text == f"{alone} ({number} {units.DASH} {number})" else text
