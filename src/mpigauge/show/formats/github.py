"""The list that github-action-benchmark reads as customSmallerIsBetter: times in nanoseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpigauge.show.formats.times import times_of
from mpigauge.units import interval

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.show.formats.times import Timed


def render(document: Document) -> str:
    """An entry for each cell that was measured; its interval, launches and samples in words.

    Source: https://github.com/benchmark-action/github-action-benchmark

    Raises:
        UsageError: The document has no times.
    """
    found = [_entry(one) for one in times_of(document, "github")]
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _entry(one: Timed) -> dict[str, float | str]:
    entry: dict[str, float | str] = {"name": one.name, "unit": "ns", "value": one.value_ns}
    if ends := interval(one.low_ns, one.high_ns, "{:.6g}".format):
        entry["range"] = ends
    return entry | {"extra": f"{one.launches} launches, {one.samples} samples"}
