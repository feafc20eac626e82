"""What follows for numbers between emulated hosts whose packets were late, in words."""

from __future__ import annotations

from mpigauge.units import format_time

MANY = 0.25
"""The share of late packets from which on they are no matter of tails alone."""


def is_useless(share: float, late_s: float, planted_s: float) -> bool:
    """Return whether a number is of the emulator: many packets were late by the delay of the lab, or more.

    Args:
        share: Fraction of packets that were late.
        late_s: Their least lateness.
        planted_s: The delay of the lab between its hosts.
    """
    return share >= MANY and late_s >= planted_s


def consequence(share: float, late_s: float, planted_s: float, numbers: str) -> str:
    """Return what to do with numbers between hosts; the arguments are those of `is_useless`."""
    if is_useless(share, late_s, planted_s):
        return f"do not use {numbers}"
    if share >= MANY:
        return f"{format_time(late_s)} or more too much in {numbers}"
    return f"do not use p95 and p99 of {numbers}"
