"""Sizes, times, rates and fractions as people write and read them; inside the program, bytes and seconds.

One table per quantity serves parsing and printing. To add a unit, add its line to the table.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DASH = "\N{EN DASH}"
MISSING = DASH
"""Text for a missing number: None, NaN or infinite."""

AUTO = "auto"

MAX_REACH = 10.0
"""Factor between an interval's end and its number from which on the end is given as a factor."""

SIZE_UNITS = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
}
"""Bytes in each unit of size."""

NS = 1e-9
"""Seconds of one nanosecond."""

TIME_UNITS = {
    "ns": NS,
    "us": 1e-6,
    "\N{MICRO SIGN}s": 1e-6,
    "\N{GREEK SMALL LETTER MU}s": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
}
"""Seconds in each unit of time."""

RATE_UNITS = {
    "MB/s": 1e6,
    "GB/s": 1e9,
    "Mbit/s": 1e6 / 8,
    "Gbit/s": 1e9 / 8,
    "MiB/s": 2.0**20,
    "GiB/s": 2.0**30,
}
"""Bytes per second in each unit of rate."""

LINK_RATE_UNITS = {"kbit": 1e3 / 8, "mbit": 1e6 / 8, "gbit": 1e9 / 8, "tbit": 1e12 / 8}
"""Bytes per second in each unit of link rate, in small letters; Gbps and Gb/s are gbit, too."""

_BITS_PER_S = re.compile(r"([kKmMgGtT])b(?:ps|/s)")
"""Ends of rates in bits; a capital B is of bytes."""

TIME_CHOICES = (AUTO, "ns", "us", "ms", "s")
"""Units that a user may choose for times."""

RATE_CHOICES = (AUTO, *RATE_UNITS)
"""Units that a user may choose for rates."""

_AUTO_TIMES = ("ns", "\N{MICRO SIGN}s", "ms", "s")
_AUTO_RATES = ("MB/s", "GB/s")
_PRINTED_SIZES = ("TiB", "GiB", "MiB", "KiB")
_MOST_DIGITS = 4
_DURATIONS = ((120, 1.0, "s"), (120, 60.0, "min"), (48, 3600.0, "h"), (math.inf, 86_400.0, "days"))
_WHOLE_FROM = 9.95
_PERCENT = 100.0

FACTOR_FROM = 9.995
"""Value from which on shares are written as factors: "× 90" says more than "8957 %"."""
MAX_HALF_WIDTH = 0.995
"""Relative half-width from which on it is written as a factor: nothing takes a time of minus 20 %."""
KNOWN_WITHIN = 1000.0
"""Factor beyond which an end of an interval says only that it is at least that far away."""

MAX_FACTOR = 99_999.5
"""Largest factor without an exponent."""

# The counts of digits are bounded so that no text can make int() refuse or float() overflow unseen.
_SIZE = re.compile(r"(-?)([0-9]{1,18})(?:\.([0-9]{1,18}))?\s*([A-Za-z]*)")
_DECIMAL = r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?"
_DURATION = re.compile(rf"({_DECIMAL})\s*([A-Za-z\N{{MICRO SIGN}}\N{{GREEK SMALL LETTER MU}}]*)")
_FRACTION = re.compile(rf"({_DECIMAL})\s*(%?)")

_LENGTH = re.compile(rf"({_DECIMAL})\s*(in|cm|mm)")
_PER_INCH = {"in": 1.0, "cm": 2.54, "mm": 25.4}

_LINK_RATE = re.compile(rf"({_DECIMAL})\s*([A-Za-z]+)(?:/s)?")

_RATE = re.compile(rf"({_DECIMAL})\s*([A-Za-z]+/s)")

_SIZE_HINT = f"write a number and one of {' '.join(SIZE_UNITS)}, such as 8 or 64KiB"
_DURATION_HINT = "write a number and one of ns us ms s min h, such as 500ms or 2min; without a unit, seconds"
_LINK_RATE_HINT = "write a number and one of kbit mbit gbit, such as 100mbit or 1gbit"
_RATE_HINT = f"write a number and one of {' '.join(RATE_UNITS)}, such as 10GB/s"
_FRACTION_HINT = "write it as 3% or 0.03"


def parse_size(text: str) -> int:
    """Parse a message size: ``"8"``, ``"1KiB"``, ``"4 MiB"``, ``"1.5kB"``; in bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a size in bytes", _SIZE_HINT)
    minus, whole, decimals, unit = match.groups(default="")
    if minus:
        raise UsageError(f"the size {text!r} is negative", "write 0 or more bytes")
    if unit and unit not in SIZE_UNITS:
        raise UsageError(f"{text!r}: no unit of size is called {unit!r}", _size_unit_hint(unit))
    scale: int = 10 ** len(decimals)
    size, rest = divmod(int(whole + decimals) * SIZE_UNITS[unit or "B"], scale)
    if rest:
        raise UsageError(f"{text!r} is not a whole number of bytes", "use a whole number of bytes")
    return size


def _size_unit_hint(unit: str) -> str:
    # "4K" means 4096 to one reader and 4000 to the next: it is asked, not guessed.
    letter = unit[0].upper()
    binary, decimal = f"{letter}iB", "kB" if letter == "K" else f"{letter}B"
    if binary not in SIZE_UNITS:
        return _SIZE_HINT
    return f"write {binary} for {SIZE_UNITS[binary]} bytes or {decimal} for {SIZE_UNITS[decimal]} bytes"


def parse_duration(text: str) -> float:
    """Parse a duration: ``"60s"``, ``"500ms"``, ``"2min"``, ``"90"``; in seconds, above 0."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a span of time", _DURATION_HINT)
    number, unit = match.groups()
    if unit and unit not in TIME_UNITS:
        raise UsageError(f"{text!r}: no unit of time is called {unit!r}", _DURATION_HINT)
    seconds = float(number) * TIME_UNITS[unit or "s"]
    if not 0 < seconds < math.inf:
        raise UsageError(f"the time {text!r} must be above 0 and finite", _DURATION_HINT)
    return seconds


def parse_length_in(text: str) -> float:
    """Parse a width on paper: ``"3.3in"``, ``"84mm"``, ``"8.4 cm"``; in inches."""
    match = _LENGTH.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a width", "write 3.3in, 84mm or 8.4cm")
    return float(match[1]) / _PER_INCH[match[2]]


def parse_link_rate(text: str) -> float:
    """Parse a link rate: ``"100mbit"``, ``"1 Gbit/s"``; in bytes per second, above 0."""
    match = _LINK_RATE.fullmatch(_BITS_PER_S.sub(r"\1bit", text.strip()))
    unit = match[2].lower() if match is not None else ""
    if match is None or unit not in LINK_RATE_UNITS:
        raise UsageError(f"{text!r} is not the rate of a link", _LINK_RATE_HINT)
    bytes_per_s = float(match[1]) * LINK_RATE_UNITS[unit]
    if not 0 < bytes_per_s < math.inf:
        raise UsageError(f"the rate {text!r} must be above 0 and finite", _LINK_RATE_HINT)
    return bytes_per_s


def parse_rate(text: str) -> float:
    """Parse a data rate: ``"10GB/s"``, ``"9.4 Gbit/s"``, ``"100mbit"``; in bytes per second, above 0."""
    match = _RATE.fullmatch(text.strip())
    if match is None or match[2] not in RATE_UNITS:
        try:
            return parse_link_rate(text)
        except UsageError:
            raise UsageError(f"{text!r} is not a rate", _RATE_HINT) from None
    bytes_per_s = float(match[1]) * RATE_UNITS[match[2]]
    if not 0 < bytes_per_s < math.inf:
        raise UsageError(f"the rate {text!r} must be above 0 and finite", _RATE_HINT)
    return bytes_per_s


def parse_fraction(text: str) -> float:
    """Parse a fraction: ``"3%"`` or ``"0.03"``; between 0 and 1, both excluded."""
    match = _FRACTION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a fraction", _FRACTION_HINT)
    number, percent = match.groups()
    fraction = float(number) / (_PERCENT if percent else 1.0)
    if not 0 < fraction < 1:
        raise UsageError(f"the fraction {text!r} must lie between 0 and 100 %", _FRACTION_HINT)
    return fraction


def parse_margin(text: str) -> float:
    """Parse a fraction, or ``"0"`` and ``"0%"`` for none."""
    return 0.0 if text.strip() in ("0", "0%") else parse_fraction(text)


def format_size(size_bytes: int | None) -> str:
    """Format a size exactly, so that `parse_size` reads it back: ``"1 KiB"``, ``"1.5 MiB"``, ``"1001 B"``.

    The unit is the largest that divides it, or in which it has at most four digits.
    """
    if size_bytes is None:
        return MISSING
    for unit in _PRINTED_SIZES:
        if abs(size_bytes) >= SIZE_UNITS[unit] and (number := _exact_number(size_bytes, SIZE_UNITS[unit])):
            return f"{number} {unit}"
    return f"{size_bytes} B"


def format_rough_size(size_bytes: int) -> str:
    """Format a size with three digits: ``"31.2 GiB"``."""
    for unit in _PRINTED_SIZES:
        if size_bytes >= SIZE_UNITS[unit]:
            return f"{float(f'{size_bytes / SIZE_UNITS[unit]:.3g}'):g} {unit}"
    return f"{size_bytes} B"


def _exact_number(size_bytes: int, unit_bytes: int) -> str:
    """Return the size in a unit if that is exact and short, else an empty text."""
    if size_bytes % unit_bytes == 0:
        return str(size_bytes // unit_bytes)
    for decimals in range(1, _MOST_DIGITS):
        digits, rest = divmod(size_bytes * 10**decimals, unit_bytes)
        if rest == 0 and abs(digits) < 10**_MOST_DIGITS:
            return f"{size_bytes / unit_bytes:.{decimals}f}"
    return ""


def format_time(seconds: float | None, unit: str = AUTO) -> str:
    """Format a time with three significant digits and its unit: ``"487 ns"``, ``"12.3 ms"``."""
    unit = time_unit((seconds,)) if unit == AUTO else unit
    return _with_unit(format_time_in(seconds, unit), unit_symbol(unit))


def format_time_in(seconds: float | None, unit: str) -> str:
    """Format a time as a bare number, in the unit that the heading of its column names."""
    return _number_in(seconds, unit, TIME_UNITS)


def time_unit(seconds: Iterable[float | None]) -> str:
    """Return one unit for a column of times, as printed: that of the geometric middle of its range."""
    return _column_unit(seconds, {unit: TIME_UNITS[unit] for unit in _AUTO_TIMES})


def format_duration(seconds: float) -> str:
    """Format a duration: ``"43 s"``, ``"12 min"``, ``"1.5 h"``, ``"3 days"``."""
    scale, unit = next((scale, unit) for most, scale, unit in _DURATIONS if seconds < most * scale)
    number = seconds / scale
    text = f"{number:.1f}".removesuffix(".0") if number < _WHOLE_FROM else f"{number:.0f}"
    return f"{text} {unit}"


def format_rate(bytes_per_s: float | None, unit: str = AUTO) -> str:
    """Format a rate with three significant digits and its unit: ``"12.3 GB/s"``."""
    unit = rate_unit((bytes_per_s,)) if unit == AUTO else unit
    return _with_unit(format_rate_in(bytes_per_s, unit), unit)


def format_rate_in(bytes_per_s: float | None, unit: str) -> str:
    """Format a rate as a bare number, in the unit that the heading of its column names."""
    return _number_in(bytes_per_s, unit, RATE_UNITS)


def rate_unit(bytes_per_s: Iterable[float | None]) -> str:
    """Return one unit for a column of rates: that of the geometric middle of its range."""
    return _column_unit(bytes_per_s, {unit: RATE_UNITS[unit] for unit in _AUTO_RATES})


def format_percent(fraction: float | None) -> str:
    """Format a fraction with two significant digits: ``"1.2 %"``, ``"12 %"``, ``"× 90"``."""
    if fraction is None or not math.isfinite(fraction):
        return MISSING
    if abs(fraction) >= FACTOR_FROM:
        return f"\N{MULTIPLICATION SIGN} {_factor(fraction)}"
    percent = fraction * _PERCENT
    return _with_unit(f"{percent:.0f}" if abs(percent) >= 9.95 else format_significant(percent, 2), "%")  # noqa: PLR2004


def format_half_width(fraction: float | None) -> str:
    """Format ``high / estimate - 1`` of an interval, for a column whose heading has the sign: ``"1.2 %"``.

    A wide one is the factor between the estimate and either end: ``"×/÷ 91"``, at most ``"> ×/÷ 1000"``.
    """
    if fraction is None or not MAX_HALF_WIDTH <= fraction < math.inf:
        return format_percent(fraction)
    more = "> " if 1 + fraction > KNOWN_WITHIN else ""
    return f"{more}\N{MULTIPLICATION SIGN}/\N{DIVISION SIGN} {_factor(min(1 + fraction, KNOWN_WITHIN))}"


def format_factor(value: float) -> str:
    """Format a ratio with three significant digits: ``"1.00"``, ``"152"``."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")  # noqa: PLR2004 - three of them


def _factor(value: float) -> str:
    return format_significant(value, 2) if abs(value) < MAX_FACTOR else f"{value:.1e}"


def format_relative(fraction: float | None) -> str:
    """Format a relative half-width: ``"±1.2 %"``, ``"×/÷ 91"``."""
    text = format_half_width(fraction)
    return f"\N{PLUS-MINUS SIGN}{text}" if text.endswith("%") else text


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 host`, `2 hosts`, `3 launches`."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun: `hosts`, `launches`, `libraries`."""
    if re.search("[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "s", "sh", "x")) else f"{noun}s"


def interval(low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return the ends of an interval: `1.20 - 1.38`; empty if one of them is unknown."""
    return "" if low is None or high is None else f"{write(low)} {DASH} {write(high)}"


FAR_APART = 1000.0
"""Ratio of an interval's ends above which each has its own unit."""


def interval_of_times(low: float | None, high: float | None, unit: str = AUTO) -> str:
    """Return both ends in one unit, or each in its own if they are too far apart for one: `412 - 480 ns`."""
    return _in_one_unit(low, high, unit, time_unit, format_time, format_time_in)


def interval_of_rates(low: float | None, high: float | None, unit: str = AUTO) -> str:
    """Return both ends in one unit, as those of times."""
    return _in_one_unit(low, high, unit, rate_unit, format_rate, format_rate_in)


def _in_one_unit(
    low: float | None,
    high: float | None,
    unit: str,
    unit_of: Callable[[Iterable[float | None]], str],
    with_unit: Callable[[float], str],
    in_unit: Callable[[float, str], str],
) -> str:
    if low is None or high is None:
        return MISSING
    if unit == AUTO and high > FAR_APART * low:
        return interval(low, high, with_unit)
    one = unit_of((low, high)) if unit == AUTO else unit
    return f"{interval(low, high, lambda end: in_unit(end, one))} {unit_symbol(one)}"


def with_interval(text: str, low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return a number with its interval: `1.28 (1.20 - 1.38)`; without it if it is unknown."""
    ends = interval(low, high, write)
    return f"{text} ({ends})" if ends else text


def span(first: str, last: str, dash: str = " to ") -> str:
    """Return a range of texts: `8 B to 64 KiB`; one text if both are equal. An `interval` has a dash."""
    return first if first == last else f"{first}{dash}{last}"


def unit_symbol(unit: str) -> str:
    """Return the symbol of a unit of time: `µs` for `us`."""
    return "\N{MICRO SIGN}s" if unit == "us" else unit


def _with_unit(number: str, unit: str) -> str:
    return number if number == MISSING else f"{number} {unit}"


def _number_in(value: float | None, unit: str, units: Mapping[str, float]) -> str:
    if unit not in units:
        raise UsageError(f"no unit is called {unit!r}", f"choose from {', '.join(units)}")
    if value is None or not math.isfinite(value):
        return MISSING
    return format_significant(value / units[unit], 3)


def format_significant(value: float, digits: int = 3) -> str:
    """Return a number with this many significant digits, also zeros; with an exponent only below 0.0001."""
    if value == 0:
        return "0"
    if abs(value) >= 10**digits - 0.5:
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def _column_unit(values: Iterable[float | None], units: Mapping[str, float]) -> str:
    magnitudes = [abs(value) for value in values if value is not None and math.isfinite(value) and value != 0]
    if not magnitudes:
        return next(iter(units))
    middle = math.sqrt(min(magnitudes)) * math.sqrt(max(magnitudes))
    # Rounded as it will be printed: 999.7 ns is "1.00 µs", not "1000 ns".
    rounded = float(f"{middle:.2e}")
    fitting = [unit for unit in units if units[unit] <= rounded]
    return fitting[-1] if fitting else next(iter(units))
