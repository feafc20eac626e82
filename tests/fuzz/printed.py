"""Output of other benchmarks with something wrong in it: refused, or all numbers in the unit they name.

The oracle reads in the simplest way: a time that was taken must be a number of the line that it is from, in a
unit that the text itself names, or follow from a rate or count of that line.
"""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.formats import reading
from mpigauge.result.records import Imported
from tests.fuzz.mutate import lines_changed, text_changed
from tests.printed import FILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from random import Random

    from mpigauge.result.records import Record

TEXT = Path("printed.txt")
_TIMES = ["ns", "us", "µs", "μs", "ms", "s", "min", "h", "nsec", "usec", "msec", "sec", "usec/xfer"]
SECONDS = dict(
    zip(_TIMES, (1e-9, 1e-6, 1e-6, 1e-6, 1e-3, 1.0, 60.0, 3600.0, 1e-9, 1e-6, 1e-3, 1.0, 1e-6), strict=True)
)
_RATES = ["MB/s", "GB/s", "MiB/s", "GiB/s", "Mbit/s", "Gbit/s"]
BYTES_PER_S = dict(zip(_RATES, (1e6, 1e9, 2.0**20, 2.0**30, 1e6 / 8, 1e9 / 8), strict=True))
"""Written anew, not taken from what is tested."""

OF_NETWORKS = {
    "perftest": {"MB/sec": 2.0**20, "MiB/sec": 2.0**20, "Gb/sec": 1e9 / 8},
    "fabtests": {"MB/sec": 1e6},
}
"""Bytes per second in units that not all programs mean alike."""

MESSAGES = "Mpps"
UNITS = {*SECONDS, *BYTES_PER_S, MESSAGES, *(unit for units in OF_NETWORKS.values() for unit in units)}
UNITS_NAMED = re.compile(
    r"[(\[](\w+(?:/s(?:ec)?)?)[)\]]|(?<![\w(])(\w+/(?:s|sec|xfer))(?![\w)])|avg: [0-9.]+ (\w+)"
)
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?![\w])")
COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""What a launcher colours lines with; no part of the number behind it."""

NAMELESS = ("netpipe", "nccl")
"""What names no units in every form: NetPIPE's file has no heading, JSON has keys alone. Their numbers prove
each other."""

WORDS_OF_UNITS = re.compile(
    rb"\(us\)|\[usec\]|\[MB/sec\]|\[Gb/sec\]|MB/s|GB/s|Mbytes/sec|Msg/sec|Messages/s|\bms\b"
)
OTHER_UNITS = (
    b"(ms)",
    b"(ns)",
    b"(s)",
    b"(xs)",
    b"[msec]",
    b"[sec]",
    b"[xsec]",
    b"[MB/sec]",
    b"[MiB/sec]",
    b"[Gb/sec]",
    b"[GB/sec]",
    b"MiB/s",
    b"KB/s",
    b"Gbit/s",
)


_chosen = list(FILES)


def restrict(name: str) -> None:
    """From now on inputs are made of this file alone.

    Raises:
        ValueError: There is no such file.
    """
    _chosen[:] = [path for path in FILES if path.name == name]
    samples.cache_clear()
    if not _chosen:
        raise ValueError(f"no sample is called {name}: there are {', '.join(path.name for path in FILES)}")


@cache
def samples() -> tuple[tuple[str, bytes], ...]:
    """The format of each file, and its content."""
    found = [(reading.recognised(path.read_bytes()), path.read_bytes()) for path in _chosen]
    return tuple((names[0], content) for names, content in found if names)


def changed(content: bytes, chance: Random) -> bytes:
    """A text with wrong words, half of the time with another unit among them."""
    if content.startswith(b"{") and chance.random() < 0.7:
        return lines_changed(content, chance)
    if chance.random() < 0.5:
        found = list(WORDS_OF_UNITS.finditer(content))
        if found:
            place = chance.choice(found)
            content = content[: place.start()] + chance.choice(OTHER_UNITS) + content[place.end() :]
        if chance.random() < 0.5:
            return content
    return text_changed(content, chance)


def wrong_units(name: str, content: bytes, taken: Iterable[Record]) -> str:
    """A time that no line gives in the unit that stands above it; empty if there is none."""
    text = content.decode("utf-8", "replace")
    lines = text.split("\n")
    for one in (record for record in taken if isinstance(record, Imported)):
        place = re.search(r": line ([0-9]+)$", one.source)
        line = COLOUR.sub("", lines[int(place[1]) - 1] if place else text)
        named = UNITS if name in NAMELESS else _above(lines[: int(place[1])] if place else [])
        if not any(
            math.isclose(one.time_s, time_s, rel_tol=1e-9) for time_s in _times(line, named, one, name)
        ):
            return f"{one.time_s} s is no number of {line!r} in (its unit)"
        if name in NAMELESS and not _is_proved(one, line):
            return f"{one.time_s} s of {one.cell.bytes} B is proved by nothing in ({line[:80]!r})"
    return ""


def _above(lines: Sequence[str]) -> set[str]:
    """The units of the nearest line that names some: in brackets, of a rate, or those of osu_init."""
    found = ({unit for names in UNITS_NAMED.findall(line) for unit in names} for line in reversed(lines))
    return next(filter(None, (units & UNITS for units in found)), set())


def _times(line: str, named: set[str], one: Imported, name: str) -> Iterator[float]:
    numbers = [float(word) for word in NUMBER.findall(line)]
    rates = BYTES_PER_S | OF_NETWORKS.get(name, {})
    for number in numbers:
        yield from (number * SECONDS[unit] for unit in named & set(SECONDS))
    for number in filter(None, numbers):
        for moved in (1, 2):
            yield from (moved * one.cell.bytes / (number * rates[unit]) for unit in named & set(rates))
        scale = 1e6 if MESSAGES in named else 1.0
        yield from (count / (number * scale) for count in (1, 2, one.cell.ranks / 2))


def _is_proved(one: Imported, line: str) -> bool:
    """Whether some number of the line is about the size over the time, in a unit of its program."""
    if not one.cell.bytes:
        return True
    rate = one.cell.bytes / one.time_s
    units = (1e9, 1e9 / 8, 2**20 / 8, 1e6 / 8)
    numbers = [float(word) for word in NUMBER.findall(line)]
    half = 0.5  # NCCL prints as few digits as fit: 123 GB/s
    return any(
        abs(number - rate / unit) <= max(half, 0.03 * rate / unit) for number in numbers for unit in units
    )
