"""Bencher Metric Format, for bencher.dev: every time with its interval, in nanoseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpigauge.show.formats.times import times_of

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.show.formats.times import CellTime

LATENCY = "latency"
"""Bencher's built-in measure in nanoseconds; its other one counts operations, not bytes."""


def render(document: Document) -> str:
    """Return a JSON object with a benchmark per measured cell.

    Source: https://bencher.dev/docs/reference/bencher-metric-format

    Raises:
        UsageError: The document has no times.
    """
    benchmarks = {time.name: {LATENCY: _metric(time)} for time in times_of(document, "bencher")}
    return json.dumps(benchmarks, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _metric(time: CellTime) -> dict[str, float]:
    ends = {"value": time.value_ns, "lower_value": time.low_ns, "upper_value": time.high_ns}
    return {name: value for name, value in ends.items() if value is not None}
