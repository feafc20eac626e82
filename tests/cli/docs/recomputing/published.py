"""Tables that others have printed: a CSV file beside one that says what its columns are."""

from __future__ import annotations

import csv
import tomllib
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.reading import CELL, RATES, TIMES, USUAL, Row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def published(table: Path, columns: Path) -> list[Row]:
    """Numbers of a report: a table beside the file that says what its columns are."""
    words = tomllib.loads(columns.read_text(encoding="utf-8"))
    with table.open(encoding="utf-8", newline="") as lines:
        kept = [line for line in csv.DictReader(lines) if _wanted(line, words)]
    return [_published(line, words) for line in kept]


def _wanted(line: Mapping[str, str], words: Mapping[str, Any]) -> bool:
    return all(line[name] in only for name, only in words.get("only", {}).items())


def _published(line: Mapping[str, str], words: Mapping[str, Any]) -> Row:
    cell: dict[str, Any] = {name: USUAL.get(name, "") for name in CELL} | {"ranks": 2, "mode": "standard"}
    cell |= {name: _said(line, words[name]) for name in CELL if name in words}
    cell["bytes"] = round(_scaled(line, words["bytes"], {"bit": 1 / 8}))
    row = Row(cell, None)
    if "rate" in words:
        row.printed_s = row.bytes_per_time / _scaled(line, words["rate"], RATES)
    else:
        row.printed_s = _scaled(line, words["time"], TIMES)
    if "stddev" in words:
        row.printed_stddev_s = _scaled(line, words["stddev"], TIMES)
    return row


def _said(line: Mapping[str, str], how: Any) -> Any:
    if not isinstance(how, dict):
        return how
    text = line[how["column"]]
    return how["values"].get(text, text) if "values" in how else text


def _scaled(line: Mapping[str, str], how: Any, units: Mapping[str, float]) -> float:
    if not isinstance(how, dict):
        return float(how)
    return float(_said(line, how)) * units.get(how.get("unit", ""), 1.0) * float(how.get("factor", 1))
