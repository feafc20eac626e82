"""Posted texts of other benchmarks with what happens to them on their way, and what must hold of them then.

The oracle knows no format: a time that was read must be a number of the line that its source names, by a unit
that this line or the heading above it names, or follow from a rate or count that stands there.
"""

from __future__ import annotations

import gzip
import math
import re
import time
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers.loading import load
from tests.places import ROOT
from tests.printed import FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Imported

    Lines = list[str]

FOLDER = ROOT / "tests" / "data" / "foreign"
NO_TEXTS = {"README.md", "expected.tsv"}
MAX_SECONDS = 1.0
"""Of processor time for one text: the machine may be busy."""

MAX_CHANGES = 3

TIMES = {
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs"), 1e-6),
    **dict.fromkeys(("ns", "nsec"), 1e-9),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("s", "sec", "seconds"), 1.0),
    "min": 60.0,
    "h": 3600.0,
}
RATES = {
    **dict.fromkeys(("MB/s", "MB/S"), (1e6, 2.0**20)),
    **dict.fromkeys(("Mbytes/sec", "MB/sec"), (1e6, 2.0**20)),
    **dict.fromkeys(("GB/s", "GB/sec"), (1e9,)),
    **dict.fromkeys(("MiB/s", "MiB/sec"), (2.0**20,)),
    **dict.fromkeys(("GiB/s", "GiB/sec"), (2.0**30,)),
    **dict.fromkeys(("Mbps", "Mbit/s", "Mb/s", "Mb/sec"), (1e6 / 8, 2.0**20 / 8)),
    **dict.fromkeys(("Gbps", "Gbit/s", "Gb/s", "Gb/sec"), (1e9 / 8,)),
}
"""Bytes per second: of some units that depends on the program, not on the text."""

COUNTS = {"Messages/s": 1.0, "Msg/sec": 1.0, "msg/s": 1.0, "Mpps": 1e6, "Mxfers/sec": 1e6}
WRONG = ("(xs)", "(fs)", "[xsec]", "[fsec]", "XB/s", "[XB/sec]", "(lb/s)", "Xbytes/sec", "(us/s)")
"""Units that no benchmark has."""

RIGHT = (
    "(min)",
    "(ms)",
    "(ns)",
    "(s)",
    "[msec]",
    "[sec]",
    "[nsec]",
    "GB/s",
    "MiB/s",
    "(GB/s)",
    "Gbit/s",
    "[Gb/sec]",
)
UNIT = re.compile(r"\(us\)|\(usec\)|\[usec\]|\(?\b[MG]B/s\b\)?|\[[MG]i?b?B?/sec\]|\bMbytes/sec|\(seconds\)")
_KNOWN = {*TIMES, *RATES, *COUNTS}
_STRANGE = {word.strip("()[]") for word in WRONG}
_BRACKETS = re.compile(r"[(\[]\s*([^()\[\]\s]{1,12})\s*[)\]]")
_BARE = re.compile(
    r"(?<![\w/(\[])(?<![0-9] )([A-Za-z]{1,8}/s(?:ec)?|usec|nsec|msec|[MG]bps)(?:/xfer)?(?![\w)\]])"
)
_IN_ROW = re.compile(r"(?<=[0-9]) +(usecs?|nsec|msec|sec|us|ms|ns|s|[MG]bps)\b")
_HEADING = re.compile(r"[^A-Za-z0-9|]*(?:Size\b|bytes\s+#)[^|]*")
_GROUPED = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?(?![\w,])")
_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?!\w|\.[0-9])")
_SCALED = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)([kmg])\b")
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SOURCE = re.compile(r": line ([0-9]+)$")


# ---- What happens to texts -----------------------------------------------------------------------


def _some(lines: Lines, chance: Random) -> int:
    """A line, rather one that is not empty."""
    full = [at for at, line in enumerate(lines) if line.strip()]
    return chance.choice(full or range(len(lines)))


def drop(lines: Lines, chance: Random) -> None:
    """A line is lost."""
    del lines[_some(lines, chance)]


def double(lines: Lines, chance: Random) -> None:
    """A line comes twice, there or elsewhere."""
    at = _some(lines, chance)
    lines.insert(chance.choice((at, chance.randrange(len(lines)))), lines[at])


def cut(lines: Lines, chance: Random) -> None:
    """The rest of a line is lost."""
    at = _some(lines, chance)
    lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]


def join(lines: Lines, chance: Random) -> None:
    """Two lines are one."""
    at = _some(lines, chance)
    lines[at : at + 2] = ["".join(lines[at : at + 2])]


def split(lines: Lines, chance: Random) -> None:
    """A line is broken in two, as mails do."""
    at = _some(lines, chance)
    place = chance.randrange(len(lines[at]) + 1)
    lines[at : at + 1] = [lines[at][:place], lines[at][place:]]


def characters(lines: Lines, chance: Random) -> None:
    """Some characters are lost, or two change places."""
    at = _some(lines, chance)
    text = lines[at]
    place, count = chance.randrange(len(text) or 1), chance.choice((1, 1, 1, 2, 5))
    if chance.random() < 0.5:
        lines[at] = text[:place] + text[place + count :]
    else:
        lines[at] = text[:place] + text[place : place + 2][::-1] + text[place + 2 :]


def digit(lines: Lines, chance: Random) -> None:
    """A digit of a number is lost, or another."""
    at = _some(lines, chance)
    found = [match.start() for match in re.finditer("[0-9.]", lines[at])]
    if found:
        place = chance.choice(found)
        new = chance.choice(("", "", chance.choice("0123456789.-,e")))
        lines[at] = lines[at][:place] + new + lines[at][place + 1 :]


def unit(lines: Lines, chance: Random) -> None:
    """A heading has another unit, or one that is none."""
    places = [(at, match) for at, line in enumerate(lines) for match in UNIT.finditer(line)]
    if places:
        at, match = chance.choice(places)
        new = chance.choice(WRONG if chance.random() < 0.5 else RIGHT)
        lines[at] = lines[at][: match.start()] + new + lines[at][match.end() :]


def columns(lines: Lines, chance: Random) -> None:
    """Two words of a line change places, or one is lost, or comes twice."""
    at = _some(lines, chance)
    words = re.split(r"(\s+)", lines[at])
    places = range(0, len(words), 2)
    one, other = chance.choice(places), chance.choice(places)
    match chance.randrange(3):
        case 0:
            words[one], words[other] = words[other], words[one]
        case 1:
            words[one] = ""
        case _:
            words[one] = f"{words[one]} {words[one]}"
    lines[at] = "".join(words)


PREFIXES = (
    *("[1,0]<stdout>: ", "[0] ", "0: ", "node001: ", "> ", "    ", "\t", "| ", "12:34:56  ", "vm 0: "),
    *("2026-11-25T10:02:59.1234567Z ", "[Wed Nov 25 10:02:59 2026][1,0]<stdout>: ", "\x1b[32m", "7 ", "1.5 "),
)


def prefix(lines: Lines, chance: Random) -> None:
    """Something stands before lines: all, from one on, or some."""
    text, begin = chance.choice(PREFIXES), chance.choice((0, chance.randrange(len(lines))))
    share = chance.choice((1.0, 1.0, 0.7))
    lines[begin:] = [text + line if chance.random() < share else line for line in lines[begin:]]


STRANGERS = (
    *("real 12.34", "Elapsed: 12.34", "8 nodes", "12 34", "16", "1024 -1", "10:05:04 done", "4 7 9 11 13 15"),
    *(" 0 0x0000000000054db0 __GI___sigaction()  :0", "srun: error: node1: task 3: Killed", "0.5 0.5 0.5"),
    *("[node1:1234] *** Process received signal ***", "3 more processes have sent help", "cxi0 tx 115762638"),
    *("#", "# Benchmarking", "# OSU MPI", "| 1 | 2 |", "-----", "1\N{NO-BREAK SPACE}2", "real\t5m12.331s"),
)


def stranger(lines: Lines, chance: Random) -> None:
    """Another program has said something between."""
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(STRANGERS))


NOTES = (" # warm", " <- here", "  \N{LEFTWARDS ARROW} switch", "slurmstepd: error: 5", " 1.00", " x", "%")


def behind(lines: Lines, chance: Random) -> None:
    """Somebody, or another program, has written behind a line."""
    at = _some(lines, chance)
    notes = (
        " # warm",
        " <- here",
        "  \N{LEFTWARDS ARROW} switch",
        "slurmstepd: error: 5",
        " 1.00",
        " x",
        "%",
    )
    lines[at] += chance.choice(notes)


def again(lines: Lines, chance: Random) -> None:
    """The text comes twice, whole or in part."""
    begin = chance.randrange(len(lines))
    lines += lines[begin:]


LINES: tuple[Callable[[Lines, Random], None], ...] = (
    *(drop, double, cut, join, split, characters, digit, unit, unit),
    *(columns, prefix, stranger, behind, again),
)


def _cut_anywhere(text: str, chance: Random) -> tuple[bytes, str]:
    data = text.encode()[: chance.randrange(len(text.encode()) + 1)]
    return data, data.decode("utf-8", "replace")


def _in_latin(text: str, _: Random) -> tuple[bytes, str]:
    data = text.encode("latin-1", "replace")
    return data, data.decode("latin-1")


def _packed(text: str, chance: Random) -> tuple[bytes, str]:
    """Compressed, rarely not to its end."""
    packed = gzip.compress(text.encode(), mtime=0)
    return packed[: -chance.randrange(1, 20)] if chance.random() < 0.5 else packed, text


ENCODINGS: tuple[Callable[[str, Random], tuple[bytes, str]], ...] = (
    *(_cut_anywhere, _in_latin, _packed),
    *(lambda text, _: (text.encode("utf-16"), text), lambda text, _: (text.encode("utf-8-sig"), text)),
    lambda text, _: (text.replace("\n", "\r\n").encode(), text),
    *[lambda text, _: (text.encode(), text)] * 6,
)
"""What makes bytes of a text, with the characters that are in them: mostly as it was."""


@cache
def samples(only: str = "") -> tuple[tuple[str, str], ...]:
    """Names and texts of all samples, or of one alone.

    Raises:
        ValueError: There is none of this name.
    """
    paths = [*sorted(path for path in FOLDER.iterdir() if path.name not in NO_TEXTS), *FILES]
    found = tuple((path.name, _text_of(path)) for path in paths if only in {"", path.name})
    if not found:
        raise ValueError(f"no sample is called {only}: there are {', '.join(path.name for path in paths)}")
    return found


def _text_of(path: Path) -> str:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    for encoding in ("utf-16",) if data[:2] == b"\xff\xfe" else ("utf-8-sig", "latin-1"):
        try:
            return data.decode(encoding).replace("\r\n", "\n")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


ONLY = [""]
"""The one sample that inputs are made of; empty for all."""


def changed(chance: Random) -> tuple[str, bytes, str]:
    """The name of a sample, its bytes with something wrong, and the characters that are in them."""
    name, text = chance.choice(samples(ONLY[0]))
    lines = text.split("\n")
    for _ in range(chance.randint(1, MAX_CHANGES)):
        chance.choice(LINES)(lines, chance)
        lines = lines or [""]
    return name.removesuffix(".gz"), *chance.choice(ENCODINGS)("\n".join(lines), chance)


# ---- What must hold of them ----------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """What came of a text.

    Attributes:
        wrong: What must not be; empty if all is well.
    """

    name: str
    result: Result | None
    wrong: str = ""


def read(chance: Random, folder: Path) -> Read:
    """Change a text, read it as a user would, and hold every number against what is in it."""
    name, content, text = changed(chance)
    path = folder / name
    path.write_bytes(content)
    begun = time.process_time()
    try:
        result = load(path)
    except UsageError as error:
        return Read(name, None, _too_long(begun) or ("" if error.sentence else "refused without a word"))
    finally:
        path.unlink()
    return Read(name, result, _too_long(begun) or wrong_in(result, text))


def _too_long(begun: float) -> str:
    took = time.process_time() - begun
    return f"took {took:.1f} s" if took > MAX_SECONDS else ""


def wrong_in(result: Result, text: str) -> str:
    """What is read and is not printed; empty if all is."""
    lines = [_CODES.sub("", line) for line in (text.split("\n") if "\n" in text else text.split("\r"))]
    cells = set[tuple[object, int]]()
    for one in result.imported:
        if (one.cell, one.launch) in cells:
            return f"a cell is read twice: {one}"
        cells.add((one.cell, one.launch))
        source = _SOURCE.search(one.source)
        if ": result " in one.source or '"nccl_version"' in text:
            wrong = _in_json(one, text)
        else:
            wrong = _wrong_number(one, lines, int(source[1])) if source else f"of no line: {one.source}"
        if wrong:
            return wrong
    return ""


def _in_json(one: Imported, text: str) -> str:
    found = any(math.isclose(one.time_s, number * 1e-6, rel_tol=1e-6) for number in _numbers(text))
    return "" if found else f"{one.time_s} s is not in the text"


def _wrong_number(one: Imported, lines: Lines, number: int) -> str:
    line = lines[number - 1]
    bars = one.cell.pattern.startswith(("table", "ucx"))
    units = _units([above if bars or not above.rstrip().endswith("|") else "" for above in lines], number)
    if not any(math.isclose(one.time_s, time_s, rel_tol=1e-9) for time_s in _times(one, line, units)):
        return f"{one.time_s} s of {one.cell.pattern} is no number of {line!r} in {sorted(units)}"
    if not units and not _is_proved(one, line):
        return f"{one.time_s} s is proved by nothing in {line!r}"
    near = lines[max(0, number - 2) : number]  # a mail may have broken the row
    sized = not one.cell.bytes or any(one.cell.bytes in _sizes(part) for part in near)
    if not sized and not _names_size(one, lines, line):
        return f"{one.cell.bytes} B is no size of {line!r}"
    return ""


def _names_size(one: Imported, lines: Lines, line: str) -> bool:
    """Whether the size stands above, as that of a whole run does, or is the one that its rates leave."""
    if not one.cell.pattern.startswith("ucx"):
        return False
    rate = one.cell.bytes / one.time_s / 2**20
    # Until 2017 its rate was that of one direction of the two.
    proved = any(math.isclose(rate, number * of, rel_tol=1e-2) for number in _numbers(line) for of in (1, 2))
    return proved or any(one.cell.bytes in _sizes(above) for above in lines)


def _units(lines: Lines, number: int) -> set[str]:
    """The units that a line has itself, else those of the nearest heading above; none if it names none."""
    if mine := {*_IN_ROW.findall(lines[number - 1])} & _KNOWN:
        return mine
    for at in reversed(range(number - 1)):
        named = _named(lines[at])
        if "Message Rate Profile" in lines[at]:
            return {"msg/s"}
        if named & (_KNOWN | _STRANGE) or _HEADING.fullmatch(lines[at]):
            return (named | _broken(lines[:at], 20 if len(lines[at].split()) == 1 else 3)) & _KNOWN
    return set()


def _broken(above: Lines, most: int) -> set[str]:
    """The units of the lines right above a line of a heading: a mail may have broken it."""
    near = [line for line in above[-most:] if "#bytes" in line]  # something may have been said between
    right = takewhile(lambda named: named & _KNOWN, map(_named, reversed(above)))
    return set[str]().union(*map(_named, near), *right)


def _named(line: str) -> set[str]:
    return {*_BRACKETS.findall(line), *_BARE.findall(line)}


def _numbers(line: str) -> list[float]:
    grouped = [float(word.replace(",", "")) for word in _GROUPED.findall(line)]
    return grouped + [float(word) for word in _NUMBER.findall(line)]


def _sizes(line: str) -> set[float]:
    powers = {"k": 10, "m": 20, "g": 30}
    return {*_numbers(line)} | {float(word) * 2.0 ** powers[scale] for word, scale in _SCALED.findall(line)}


def _times(one: Imported, line: str, units: set[str]) -> Iterator[float]:
    numbers = _numbers(line)
    if one.cell.pattern.startswith("julia") or (
        one.cell.pattern.startswith("nccl") and _is_proved(one, line)
    ):
        # Julia's one-sided tests print microseconds below "time (seconds)"; rates of NCCL prove them.
        units = {*units, "us"}
    each = {1.0, 2.0, 4.0, one.cell.ranks / 2}
    for number in numbers:
        yield from (number * TIMES[name] for name in units & set(TIMES))
        yield from (number * scale for scale in ((1.0, 1e-6) if not units else ()))
    for number in filter(None, numbers):
        for name in units & set(RATES):
            yield from (count * one.cell.bytes / (number * rate) for rate in RATES[name] for count in each)
        yield from (count / (number * COUNTS[name]) for name in units & set(COUNTS) for count in each)


def _is_proved(one: Imported, line: str) -> bool:
    """Whether a number of the line is the size over the time, in some unit, where no unit is named."""
    rates = [one.cell.bytes / one.time_s / unit for unit in (1e6 / 8, 2.0**20 / 8, 1e9 / 8, 1e9, 2.0**20)]
    return any(abs(number - rate) <= max(0.03 * rate, 0.01) for number in _numbers(line) for rate in rates)
