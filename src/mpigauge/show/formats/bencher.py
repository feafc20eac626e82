"""Bencher Metric Format, for bencher.dev: every time with its interval, in nanoseconds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpigauge.show.formats.times import times_of

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.show.formats.times import Timed

LATENCY = "latency"
"""The measure that every project has there, in nanoseconds; its other one counts operations, not bytes."""


def render(document: Document) -> str:
    """An object with a benchmark for each cell that was measured.

    Source: https://bencher.dev/docs/reference/bencher-metric-format

    Raises:
        UsageError: The document has no times.
    """
    found = {one.name: {LATENCY: _metric(one)} for one in times_of(document, "bencher")}
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _metric(one: Timed) -> dict[str, float]:
    ends = {"value": one.value_ns, "lower_value": one.low_ns, "upper_value": one.high_ns}
    return {name: value for name, value in ends.items() if value is not None}
