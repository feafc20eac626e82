"""Packets of an emulated network that were late: from which share on a number is the emulator's."""

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
