"""What follows for numbers between emulated hosts whose packets were late, in words."""

from __future__ import annotations

from mpigauge.rows.late_packets import MANY, is_useless
from mpigauge.units import format_time


def consequence(share: float, late_s: float, planted_s: float, numbers: str) -> str:
    """Return what to do with numbers between hosts; the arguments are those of `is_useless`."""
    if is_useless(share, late_s, planted_s):
        return f"do not use {numbers}"
    if share >= MANY:
        return f"{format_time(late_s)} or more too much in {numbers}"
    return f"do not use p95 and p99 of {numbers}"
