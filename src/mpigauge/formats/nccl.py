"""Output of nccl-tests: the table on its screen, or the JSON file of its option -J.

Operations of NCCL on GPUs are none of MPI's: they keep the name of their program. A time is checked by the
rate beside it, which proves both units. Source: src/util.cu of nccl-tests 2.18.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mpigauge.formats.collected import Collected, LineParser, Meaning, cell_of
from mpigauge.formats.text import Line, agree, ends_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HINT = "nccl-tests prints size (B), time (us) and algbw (GB/s)"
NAMED = re.compile(r"# Collective test starting: (\S+)")
ENDED = re.compile(r"# Collective test concluded")
DEVICE = re.compile(r"#\s+Rank\s+([0-9]{1,7}) (?:Group\s+[0-9]+ )?Pid")
HEADING = ["#", "size", "count", "type"]
NAMES = (("redop", "root"), ("redop",), ("root",), ())
"""What may stand between type and time: older versions leave out what an operation has not."""

NUMBERS = ["time", "algbw", "busbw"]
DEVIATION = "error"
"""Older versions have the largest deviation in the place of a count of wrong elements."""

WRONG = {"#wrong", DEVIATION}
DEVIATIONS_MOST = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
"""Above which those versions call a value out of bounds; 0 of whole numbers."""

UNITS = ["(B)", "(elements)", "(us)", "(GB/s)", "(GB/s)", "(us)", "(GB/s)", "(GB/s)"]
PER_CALL = {"i_min", "i_max", "i_p99", "i_cv%"}
UNITS_PER_CALL = ["(us)", "(us)", "(us)", "(%)"]
PLACES = ("out-of-place", "in-place")
JSON_VERSIONS = range(1, 3)
GB, US = 1e9, 1e-6
NUMBER_MOST = 1e15
FIRST = 3
"""Words of every row before what older versions may leave out."""


@dataclass(slots=True)
class _Table:
    """What is known of the table that is read.

    Attributes:
        ranks: The largest that a line names, and 1: lines of devices may be cut.
        named: Those ranks that lines name.
        width: Columns of out-of-place alone, and as many of in-place.
        names: What stands between type and time.
        deviates: Whether its last column is the largest deviation.
        proved: Whether the line with the units was there.
        ended: Whether a line that was no row ended it.
    """

    name: str = ""
    ranks: int = 0
    named: set[int] = field(default_factory=set)
    width: int = 0
    names: tuple[str, ...] = ()
    deviates: bool = False
    proved: bool = False
    ended: bool = False


class Parser(LineParser):
    """Reads tables of nccl-tests, or a JSON file of theirs."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._table = _Table()
        self._json: list[Line] = []

    def take(self, line: Line) -> None:
        """Read a line.

        Raises:
            LineError: A heading or row is not understood.
        """
        if self._json or line.text.startswith("{"):
            self._json.append(line)
        else:
            self._table = _next(line, self._table, self.found)

    def end_table(self) -> None:
        """Leave the table: rows below are read under the next heading alone."""
        self._table.width, self._table.ended = 0, True

    def finish(self) -> None:
        """Read JSON, which needs all lines.

        Raises:
            LineError: It is none of theirs.
        """
        if self._json:
            self.found.begin("nccl-tests", self._json[0])
            _read_json(self._json, self.found)


def _take(found: Collected, line: Line, name: str, key: tuple[str, ...], of: _Numbers) -> None:
    """One time, or what was wrong with what it is of."""
    place, datatype, op = key
    meaning = Meaning(f"nccl_{name}", place, time_of="one operation on GPUs, mean")
    more = {"datatype": datatype, "op": "" if op == "none" else op}
    cell = cell_of(meaning, of.size, of.ranks, None, **more)
    low, high = (end * US for end in ends_of(of.time_us))
    rate = ends_of(of.rate)
    moved = (of.size / high, of.size / low if low else math.inf)
    if of.size and not agree((rate[0] * GB, rate[1] * GB), moved):
        raise line.refused("its rate is not its size over its time", HINT)
    if of.wrong:
        found.fail(meaning, cell, "corrupt", of.wrong, line)
    else:
        found.take(meaning, cell, float(of.time_us) * US, "mean", line)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Those of a row that matter, as they are printed, and what was wrong with its data, in words."""

    size: int
    ranks: int
    time_us: str
    rate: str
    wrong: str


def _next(line: Line, table: _Table, found: Collected) -> _Table:
    """The table after a line."""
    if match := NAMED.match(line.text):
        table = _Table(name=_short(match[1]))
    elif (line.text.startswith("# nThread") and table.width) or ENDED.match(line.text):
        table = _Table()
    elif match := DEVICE.match(line.text):
        _device(int(match[1]), line, table)
    elif line.text.startswith("#"):
        _heading(line, table, found)
    elif line.words and line.words[0].isdigit() and len(line.words) > 1:
        _row(line, table, found)
    return table


def _device(rank: int, line: Line, table: _Table) -> None:
    if rank in table.named:
        raise line.refused(
            f"rank {rank} a second time: each process ran alone",
            "build nccl-tests with MPI=1, so that its processes are ranks of one job",
        )
    table.named.add(rank)
    table.ranks = max(table.ranks, rank + 1)


def _short(program: str) -> str:
    """`all_reduce` of `./build/all_reduce_perf`; letters of names alone."""
    return (
        re.sub(r"[^a-z0-9]+", "_", PurePath(program).name.lower().removesuffix("_perf")).strip("_") or "test"
    )


def _heading(line: Line, table: _Table, found: Collected) -> None:
    words = line.words
    if "size" in words or "algbw" in words:
        names, rest = words[4:], list[str]()
        if NUMBERS[0] in names:
            place = names.index(NUMBERS[0])
            names, rest = names[:place], [word for word in names[place:] if word != "timestamp"]
        halves = [word for word in rest if word not in PER_CALL]
        numbers = [*NUMBERS, halves[3] if len(halves) > 3 else ""]  # noqa: PLR2004 - behind them
        known = words[:4] == HEADING and tuple(names) in NAMES
        if not known or halves != numbers * 2 or numbers[3] not in WRONG:
            raise line.refused("the columns are not understood", HINT)
        table.names, table.deviates, table.width = tuple(names), numbers[3] == DEVIATION, len(rest) // 2
        table.ended = False
        found.begin("nccl-tests", line)
    elif "(B)" in words or "(us)" in words or "(GB/s)" in words:
        per_call = UNITS_PER_CALL if table.width > len(NUMBERS) + 1 else []
        half = ["(us)", "(GB/s)", "(GB/s)", *per_call]
        if words[1 : 3 + 2 * len(half)] != ["(B)", "(elements)", *half, *half]:
            raise line.refused("the units are not understood", HINT)
        table.proved = True


def _row(line: Line, table: _Table, found: Collected) -> None:
    words, first = line.words, FIRST + len(table.names)
    if not (table.width and table.proved):
        if len(words) > FIRST and not table.ended:
            raise line.refused("numbers without a heading that says what they are", HINT)
        return
    if table.names == ("redop",) and len(words) == FIRST + 2 * table.width:
        first = FIRST  # it is blank of what does not reduce
    if len(words) < first + 2 * table.width:
        if words[1].isdigit():
            raise line.refused("has fewer numbers than there are columns", "complete the row")
        return
    op = words[FIRST] if "redop" in table.names and first > FIRST else ""
    for at, place in enumerate(PLACES):
        time_us, rate, _, wrong = words[first + at * table.width :][:4]
        if not all(map(_is_number, (time_us, rate))):
            raise line.refused(f"{place}: {time_us!r} is not a time", "complete the row")
        said = _said_wrong(wrong, words[2], deviates=table.deviates)
        of = _Numbers(int(words[0][:18]), table.ranks, time_us, rate, said)
        _take(found, line, table.name or "unnamed", (place, words[2], op), of)


def _said_wrong(word: str, datatype: str, *, deviates: bool) -> str:
    """What was wrong with the data, in words; empty if nothing was, or nobody looked."""
    if word in {"0", "N/A"}:
        return ""
    if not deviates:
        return f"{word} wrong elements"
    known = re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e[+-]?[0-9]{1,3})?", word, re.ASCII)
    if known and float(word) <= DEVIATIONS_MOST.get(datatype, 0.0):
        return ""
    return f"a deviation of {word}"


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,9})?", word, re.ASCII) is not None


# ---- JSON ----------------------------------------------------------------------------------------


def _read_json(lines: Sequence[Line], found: Collected) -> None:
    first = lines[0]
    try:
        whole = json.loads("\n".join(line.text for line in lines))
    except (ValueError, RecursionError):
        raise first.refused("is not JSON", "nccl-tests -J writes it") from None
    version = whole.get("version") if isinstance(whole, dict) else None
    if not isinstance(version, int) or version not in JSON_VERSIONS:
        raise first.refused(f"version {version!r} of nccl-tests' JSON is not known", "versions 1 and 2 are")
    ranks = len(_list(_dict(whole.get("config")).get("devices")))
    program = next(iter(_list(whole.get("args"))), "")
    for number, one in enumerate(_list(whole.get("results")), start=1):
        line = Line(f"{first.file}: result {number}", first.number, "")
        name = program or _dict(one).get("experiment_name") or ""
        for place, numbers, size, key in _timed(_dict(one), line):
            of = _Numbers(size, ranks, *_printed(numbers, line), _wrong(numbers))
            _take(found, line, _short(str(name)), (place, *key), of)


def _timed(one: dict[str, Any], line: Line) -> Iterator[tuple[str, dict[str, Any], int, tuple[str, str]]]:
    """Times of a result: its place, its numbers, its size, and of what datatype and operation."""
    size = one.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**62:
        raise line.refused("has no size", HINT)
    key = (_word(one.get("type")), _word(one.get("redop")))
    for place in PLACES:
        if isinstance(numbers := one.get(place.replace("-", "_")), dict):
            yield place, numbers, size, key


def _printed(numbers: dict[str, Any], line: Line) -> tuple[str, str]:
    """Time and rate as text, with the six digits that the file has."""
    found = [numbers.get(name) for name in ("time", "alg_bw")]
    if not all(
        isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < NUMBER_MOST for one in found
    ):
        raise line.refused("has no time, or no rate that proves it", HINT)
    return f"{found[0]:.6f}", f"{found[1]:.6f}"


def _wrong(numbers: dict[str, Any]) -> str:
    wrong = numbers.get("nwrong")
    return f"{f'{wrong}'[:20]} wrong elements" if wrong else ""


def _word(value: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "", value)[:40] if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
