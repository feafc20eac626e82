"""What a library reports of its transports, in words: `on-host sm` is shared memory (docs/numbers.md)."""

from __future__ import annotations

NAMES = {
    "sm": "shared memory",
    "vader": "shared memory",
    "shm": "shared memory",
    "tcp": "TCP",
    "ucx": "UCX",
    "ofi": "libfabric",
    "ch4:ofi": "libfabric",
    "ch4:ucx": "UCX",
}
"""By the words of libraries; any other stays as it is."""

PLACES = {"on-host": "within a host", "off-host": "between hosts"}


def transport_words(report: str) -> str:
    """A report of `mpi.transport_report`; where messages go is said unless all stay within a host."""
    parts = report.split(", ")
    whole = [part for part in parts if not part.startswith("on-host ")] == []
    return ", ".join(_part(part, placed=not whole) for part in parts)


def _part(part: str, *, placed: bool) -> str:
    place, _, rest = part.partition(" ")
    if place not in PLACES:
        return " and ".join(NAMES.get(word, word) for word in part.split(" + "))
    share, _, name = rest.rpartition(" ")
    words = [share, NAMES.get(name, name), PLACES[place] if placed else ""]
    return " ".join(filter(None, words))
