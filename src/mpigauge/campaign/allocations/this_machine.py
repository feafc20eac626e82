"""Whether this machine is one of the hosts of a list, by its name or by its addresses."""

import platform
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import closing

from mpigauge.plan.hosts import short

LOOK_UP_S = 5.0
"""Longest time in which further names are looked up: where none answers, each takes seconds."""


def is_among(names: Sequence[str]) -> bool:
    """Return whether a name is this machine's, or an alias or an interface's name, whose address is here."""
    return short(platform.node()) in map(short, names) or any(map(_is_address_here, _addresses(names)))


def _addresses(names: Iterable[str]) -> Iterable[tuple[socket.AddressFamily, str]]:
    """Yield the addresses of names, as long as there is time."""
    end = time.monotonic() + LOOK_UP_S
    for name in names:
        if time.monotonic() > end:
            return
        try:
            found = socket.getaddrinfo(name, None, type=socket.SOCK_DGRAM)
        except (OSError, UnicodeError):  # nobody knows it; it is too long to be asked for
            continue
        yield from ((family, str(address[0])) for family, _, _, _, address in found)


def _is_address_here(found: tuple[socket.AddressFamily, str]) -> bool:
    """Return whether an address is one of ours: only such can be bound to."""
    family, address = found
    try:
        with closing(socket.socket(family, socket.SOCK_DGRAM)) as own:
            own.bind((address, 0))
    except OSError:
        return False
    return True
