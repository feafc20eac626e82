"""The states of the machine in words: which there were, for how long, and what the hardware says of them."""

from __future__ import annotations


def in_state(state: str | None) -> str:
    """What follows a name, where it is of one state among several: ` while far`."""
    return f" while {state}" if state else ""
