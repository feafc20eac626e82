"""One page's numbers predicted from another's: messages over a WAN, and broadcasts from messages.

    python benchmarks/predictions.py

Reads docs/results and prints a table for results.md. A message of n bytes is predicted as the latency of the
empty message plus the time of its frames on the planted link and of one more, which the switch stores and
forwards (docs/lab.md), and above the eager limit one round trip more;
a broadcast among four as the messages of the longest way of a binomial tree: two on the LAN, and across
the WAN one there and one on the LAN of the other site.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.plan.lab import TCP_SHARE
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from mpigauge.units import format_percent, format_size, format_time, parse_link_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.rows.rows import Row

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
LINKS = {"h1,h2": "100mbit", "h1,h3": "10mbit"}
"""Links of examples/wan.toml."""

NAMES = {"h1,h2": "LAN", "h1,h3": "WAN"}
SIZES = (8 * 1024, 32 * 1024, 64 * 1024, 128 * 1024, 256 * 1024)
BCAST_BYTES = (512, 64 * 1024)
FRAME_BYTES = 1448
"""Payload bytes of a message in a full Ethernet frame."""


@dataclass(frozen=True)
class Prediction:
    """Predicted and measured time in seconds, and the basis of the prediction."""

    what: str
    by: str
    predicted_s: float
    row: Row

    def __str__(self) -> str:
        time, measured_s = self.row.time, seconds(self.row)
        ends = (time.low, time.high) if time is not None else (None, None)
        interval = " to ".join(map(format_time, ends))
        error = self.predicted_s / measured_s - 1
        sign = "+" if error >= 0 else "\N{MINUS SIGN}"
        return (
            f"| {self.what} | {self.by} | {format_time(self.predicted_s)} | {format_time(measured_s)} "
            f"({interval}) | {sign}{format_percent(abs(error))} |"
        )


def main() -> None:
    """Print the table."""
    print("| what | predicted as | predicted | measured | error |")
    print("| --- | --- | ---: | ---: | ---: |")
    found = [row for row in rows(load(RESULTS / "wan.jsonl.gz")) if row.time or row.limit_bytes]
    for one in (*messages(found), *broadcasts(found)):
        print(one)


def messages(found: list[Row]) -> Iterator[Prediction]:
    """Yield predictions of messages between two hosts, from the empty message and the known rate."""
    for (mpi, place), times in by_way(found).items():
        limit = limit_of(found, mpi, place)
        trip_s = 2 * seconds(times[0])
        for size in SIZES:
            frames_s = (size + FRAME_BYTES) / (parse_link_rate(LINKS[place]) * TCP_SHARE)
            rendezvous_s = trip_s if limit is not None and size > limit else 0.0
            by = "latency + frames" + (" + 1 round trip" if rendezvous_s else "")
            what = f"{mpi}, {NAMES[place]}, {format_size(size)}"
            yield Prediction(what, by, seconds(times[0]) + frames_s + rendezvous_s, times[size])


def broadcasts(found: list[Row]) -> Iterator[Prediction]:
    """Yield predictions of broadcasts among four hosts, from messages between two."""
    measured = [row for row in rows(load(RESULTS / "wan-collectives.jsonl.gz")) if row.time]
    ways = by_way(found)
    for row in measured:
        cell = row.cell
        if cell.pattern != "bcast" or cell.bytes not in BCAST_BYTES:
            continue
        lan_s = seconds(ways[cell.mpi, "h1,h2"][cell.bytes])
        wan_s = seconds(ways[cell.mpi, "h1,h3"][cell.bytes])
        across = "h5" in cell.placement
        by = "a message on the WAN + one on the LAN" if across else "2 messages on the LAN"
        what = f"{cell.mpi}, bcast among 4, {'WAN' if across else 'LAN'}, {format_size(cell.bytes)}"
        yield Prediction(what, by, lan_s + (wan_s if across else lan_s), row)


def by_way(found: list[Row]) -> dict[tuple[str, str], dict[int, Row]]:
    """Return messages one way, by library and placement, then by size."""
    ways: dict[tuple[str, str], dict[int, Row]] = {}
    for row in found:
        if row.cell.pattern == "pingpong":
            ways.setdefault((row.cell.mpi, row.cell.placement), {})[row.cell.bytes] = row
    return ways


def limit_of(found: list[Row], mpi: str, place: str) -> int | None:
    """Return the eager limit of a library over a network; None if none was found."""
    limits = (row for row in found if row.limit_bytes and row.cell.mpi == mpi and row.cell.placement == place)
    return next((row.limit_bytes for row in limits), None)


def seconds(row: Row) -> float:
    """Return the time of a row; NaN if it has none."""
    return row.time.estimate if row.time is not None else math.nan


if __name__ == "__main__":
    main()
