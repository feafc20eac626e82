"""The list that github-action-benchmark reads as customSmallerIsBetter: times in nanoseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpigauge.show.formats.times import times_of
from mpigauge.units import interval

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.show.formats.times import CellTime


def render(document: Document) -> str:
    """Return an entry per measured cell, with its interval, launches and samples in words.

    Source: https://github.com/benchmark-action/github-action-benchmark

    Raises:
        UsageError: The document has no times.
    """
    entries = [_entry(time) for time in times_of(document, "github")]
    return json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _entry(time: CellTime) -> dict[str, float | str]:
    entry: dict[str, float | str] = {"name": time.name, "unit": "ns", "value": time.value_ns}
    if ends := interval(time.low_ns, time.high_ns, "{:.6g}".format):
        entry["range"] = ends
    return entry | {"extra": f"{time.launches} launches, {time.samples} samples"}
