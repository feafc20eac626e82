"""Forms of a table: pure functions from a document to text. FORMATS is the one list of them.

To add one: a function from Document to text, a line in FORMATS, and a sample in
tests/show/test_tables.py.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import asdict

from mpigauge.analysis.baselines import YARDSTICKS
from mpigauge.analysis.ratios import Ratio
from mpigauge.analysis.rows import Row
from mpigauge.analysis.synchrony import Overlap
from mpigauge.plan.model import Cell
from mpigauge.show.document import Document, Section
from mpigauge.show.words.finding import Finding
from mpigauge.show.words.result import findings_of
from mpigauge.show.words.status import reason


def _cells_of(document: Document, section: Section) -> list[list[str]]:
    return [[column.text(row, document.units) for column in section.columns] for row in section.rows]


def _text(document: Document) -> str:
    """Aligned columns, without colour, boxes or a limit of width."""
    lines = [*document.head, ""]
    for section in document.sections:
        table = [[column.heading for column in section.columns], *_cells_of(document, section)]
        widths = [max(len(row[i]) for row in table) for i in range(len(section.columns))]
        lines += [section.title, *([f"  {section.about}"] if section.about else [])]
        left = [column.left for column in section.columns]
        lines += ["  " + _aligned(row, widths, left) for row in table]
        lines.append("")
    return "\n".join([*lines, *document.foot, ""])


def _aligned(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    words = [
        text.ljust(width) if to_left else text.rjust(width)
        for text, width, to_left in zip(row, widths, left, strict=True)
    ]
    return "  ".join(words).rstrip()


def _markdown(document: Document) -> str:
    """Tables to paste into a page."""
    lines = [f"*{document.head[0]}*", "", *document.head[1:], ""]
    for section in document.sections:
        lines += [f"**{section.title}** ({section.about})", ""]
        lines.append(piped(column.heading for column in section.columns))
        lines.append(piped("---" if column.left else "---:" for column in section.columns))
        lines += [piped(row) for row in _cells_of(document, section)]
        lines.append("")
    return "\n".join([*lines, *(f"- {line}" for line in document.foot), ""])


def piped(words: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(word.replace("|", "\\|") for word in words) + " |"


STATISTICS = ("estimate", "low", "high", "mean", "stddev", "min", "p5", "p25", "p75", "p95", "p99", "max")
MORE_STATISTICS = ("median", "rank_low", "rank_high", "half_width", "launch_share")


def cell_record(cell: Cell) -> dict[str, Any]:
    """What a cell is of, as JSON has it."""
    return asdict(cell)


def record(row: Row) -> dict[str, Any]:
    """A row as JSON has it: SI base units, null where there is no number."""
    time = row.time
    return {
        **cell_record(row.cell),
        "status": row.status,
        "reason": reason(row),
        "launches": time.launches if time else 0,
        "samples": time.samples if time else 0,
        "batch": row.batch,
        "time_s": {name: _number(getattr(time, name)) for name in STATISTICS + MORE_STATISTICS}
        if time
        else None,
        "rate_bytes_per_s": _number(row.rate_bytes_per_s),
        "bus_bytes_per_s": _number(row.bus_bytes_per_s),
        "cpu_s_per_op": _number(row.cpu_s_per_op),
        "cpu_share": _number(row.cpu_share),
        "net_share": _number(row.net_share),
        **_start_record(row),
        "overlap": _parts(row.overlap, OVERLAP_PARTS),
        **{name: _parts(row.ratios.get(name), RATIO_PARTS) for name in YARDSTICKS},
        "first_s": _number(row.first_s),
        "limit_bytes": row.limit_bytes,
        "advised_samples": row.advised_samples,
        "warnings": [warning.kind for warning in row.warnings],
    }


OVERLAP_PARTS = ("estimate", "low", "high", "pure_s")
RATIO_PARTS = ("estimate", "low", "high")
NESTED = {"overlap": OVERLAP_PARTS, **dict.fromkeys(YARDSTICKS, RATIO_PARTS)}


def _start_record(row: Row) -> dict[str, Any]:
    start, clock = row.start, row.clock
    return {
        "skew_p50_s": start.skew_p50_s if start else None,
        "skew_p99_s": start.skew_p99_s if start else None,
        "late_share": start.late_share if start else None,
        "root_s": start.root_s if start else None,
        "local_s": start.local_s if start else None,
        "clock_shared": clock.shared if clock else None,
        "clock_error_s": clock.error_s if clock else None,
        "clock_bound_s": clock.bound_s if clock else None,
    }


def _parts(value: Overlap | Ratio | None, names: Sequence[str]) -> dict[str, float | None] | None:
    return None if value is None else {name: _number(getattr(value, name)) for name in names}


def _number(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _json(document: Document) -> str:
    """Everything, in SI base units: docs/formats.md."""
    failures = [
        {"launch": f.launch, "kind": f.kind, "pattern": f.cell.pattern if f.cell else None, "words": f.words}
        for f in document.result.failures
    ]
    ends = document.result.ends
    whole = {
        "rows": [record(row) for row in document.rows],
        "failures": failures,
        "stopped": ends[-1].reason if ends else None,
        "notes": document.foot,
        "findings": [
            finding_record(one) for one in findings_of(document.result, document.rows, document.stat)
        ],
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def finding_record(found: Finding) -> dict[str, Any]:
    """A finding as JSON has it: docs/formats.md."""
    return {
        "kind": found.kind,
        "severity": found.severity,
        "cells": [cell_record(cell) for cell in found.cells],
        "value": found.value,
        "text": found.text,
    }


def _csv(document: Document) -> str:
    """One line a cell, in SI base units."""
    out = io.StringIO()
    flat = [_flat(record(row)) for row in document.rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    writer = csv.DictWriter(out, names, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(flat)
    return out.getvalue()


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """One level: time_s.low becomes time_low_s."""
    times = row.pop("time_s") or {}
    shares = {"half_width", "launch_share"}
    row |= {f"time_{n}" if n in shares else f"time_{n}_s": times.get(n) for n in STATISTICS + MORE_STATISTICS}
    for outer, names in NESTED.items():
        parts = row.pop(outer) or {}
        row |= {f"{outer}_{name}": parts.get(name) for name in names}
    row["warnings"] = " ".join(row["warnings"])
    return {name: csv_value(value) for name, value in row.items()}


def csv_value(value: Any) -> Any:
    """Nothing for None; no carriage return, which csv would not quote and readers take for a line's end."""
    if value is None:
        return ""
    return value.replace("\r", " ") if isinstance(value, str) else value


FORMATS: dict[str, Callable[[Document], str]] = {
    "text": _text,
    "markdown": _markdown,
    "csv": _csv,
    "json": _json,
}


def render(document: Document, form: str) -> str:
    """Writes a document in one of FORMATS."""
    return FORMATS[form](document)
