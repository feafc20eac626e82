"""Files that option -Z of rccl-tests writes, as CSV or JSON: a time per line.

Source: Reporter in src/common.cu of rccl-tests: microseconds, GB/s, and as ranks its processes.
"""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

from mpigauge.importers.nccl.job import Proof, collective_of
from mpigauge.importers.nccl.operation import PLACES, Operation
from mpigauge.importers.text import is_number, is_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

HEADING = re.compile(r"numCycle,collective,")
OBJECT = re.compile(r'\{ *"numCycle" *:')
HINT = "rccl-tests -Z writes size (B), time (us) and algbw (GB/s)"
TITLE = "rccl-tests"
COUNTS = ("numcycle", "size", "inplace")
RATES = ("time", "algbw", "busbw")


class CsvFile:
    """Reader of the lines of the file.

    Attributes:
        columns: Columns of its heading; empty for JSON, and before the first line.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.columns: list[str] = []
        self._cycle = ""

    def take(self, line: TextLine) -> bool:
        """Read a line; return whether it is one of the file.

        Raises:
            LineError: It is not what it must be.
        """
        if HEADING.match(line.text):
            self.columns, self._cycle = [_key(name) for name in line.text.split(",")], ""
            return True
        if OBJECT.match(line.text):
            self._row(line, _object(line))
            return True
        if not self.columns or not line.text[:1].isdigit():
            return False
        words = next(csv.reader([line.text]), [])
        if len(words) != len(self.columns):
            raise line.refused(
                f"has {len(words)} values below {len(self.columns)} columns", "complete the row"
            )
        self._row(line, dict(zip(self.columns, words, strict=True)))
        return True

    def _row(self, line: TextLine, row: Mapping[str, str]) -> None:
        for name in (*COUNTS, *RATES):
            word = row.get(name, "")
            if not (is_whole(word) if name in COUNTS else is_number(word)):
                raise line.refused(f"{name}: {word!r} is no number", HINT)
        if self._cycle != row["numcycle"]:
            self._collector.begin_table(TITLE, line)
            self._cycle = row["numcycle"]
        proof, op, wrong = Proof(), row.get("redop", ""), row.get("wrong", "0")
        name = collective_of(row.get("collective", ""))
        size = int(row["size"])
        proof.add(size, row["time"], row["algbw"], row["busbw"])
        operation = Operation(
            name=name,
            place=PLACES[row["inplace"] != "0"],
            mode_words=(),
            size=size,
            ranks=_ranks(row, proof.ranks(name)),
            datatype=row.get("type", ""),
            op="" if op == "none" else op,
            root="",
            blocks=0,
        )
        if size:
            stated = "" if wrong in {"0", "N/A"} else f"{wrong[:20]} wrong elements"
            operation.take(self._collector, line, row["time"], row["algbw"], wrong=stated)


def _ranks(row: Mapping[str, str], allowed: Sequence[int]) -> int:
    """Return the number of ranks: processes times devices of each, unless rates contradict it; 0 if unknown.

    Args:
        allowed: Numbers of ranks that the rates allow.
    """
    counts = [row.get(name, "1") for name in ("ranks", "gpusperrank", "gpus")]
    stated = 1
    for count in counts:
        stated *= int(count) if is_whole(count) else 0
    if len(allowed) == 1:
        return allowed[0]
    return stated if stated in allowed else 0


def _object(line: TextLine) -> dict[str, str]:
    try:
        found = json.loads(line.text.rstrip(", "), parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        raise line.refused("is not JSON", "complete the line") from None
    return {_key(name): value for name, value in found.items() if isinstance(value, str)}


def _key(name: str) -> str:
    """Return the name of a value, which CSV and JSON spell differently."""
    key = name.strip().lower().removeprefix("#")
    return "collective" if key == "name" else key
