"""What a result file holds, read without mpigauge: the numbers that are shown must be from there."""

from __future__ import annotations

import contextlib
import json
import math
import zlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.schema import fields_of

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = ("window", "depth", "block_bytes", "stride_bytes", "partitions", "senders", "tests")
USUAL = {
    "transport": "auto",
    "placement": "same-host",
    "buffers": "warm",
    "in_place": False,
    **dict.fromkeys(NUMBERS, 0),
}
KEY = fields_of("Cell")
NEAR = 1e-9
GZIP = zlib.MAX_WBITS | 16
"""The format of what zlib unpacks."""


def wrong_numbers(out: str, path: Path) -> str:
    """What a table as JSON has that its file has not; empty if all of it is there."""
    try:
        shown = json.loads(out, parse_constant=_none_such)
    except ValueError as error:
        return f"no JSON: {error}"
    times, published, step_s = _times_s(path)
    for row in shown["rows"]:
        key = _key(row)
        if row["time_s"] is None:
            continue
        if wrong := _wrong_row(row, times[key], published[key], step_s):
            return f"{wrong} in {key}"
    return ""


def _none_such(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _wrong_row(row: dict[str, Any], times_s: list[float], published_s: list[float], step_s: float) -> str:
    """Whether it is of the samples of its cell: as many at most, its ends among them, its middle between."""
    time = row["time_s"]
    if not all(
        value is None or math.isfinite(value) for value in time.values() if not isinstance(value, str)
    ):
        return "a number that is none"
    if not times_s:
        return "" if _is_middle(time["estimate"], published_s) else "a time of nothing"
    if row["samples"] > len(times_s):
        return "more samples than there are"
    if not (_among(time["min"], times_s) and _among(time["max"], times_s)):
        return "an end that is no sample"
    # Rounds that the clock cannot tell apart are spread over one step of it.
    if not time["min"] - step_s <= time["estimate"] <= time["max"] + step_s:
        return "a middle that is outside"
    return ""


def _is_middle(value: float | None, values: list[float]) -> bool:
    """Return whether a time is the one that was published, or between those of several launches."""
    if len(values) < 2:
        return _among(value, values)
    return value is not None and min(values) * (1 - NEAR) <= value <= max(values) * (1 + NEAR)


def _among(value: float | None, values: list[float]) -> bool:
    return value is not None and any(math.isclose(value, one, rel_tol=NEAR) for one in values)


def _key(cell: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cell.get(name, USUAL.get(name, "")) for name in KEY)


def _unpacked(content: bytes) -> bytes:
    """What a compressed file holds, up to where it is damaged."""
    unpacking = zlib.decompressobj(wbits=GZIP)
    data = bytearray()
    with contextlib.suppress(zlib.error):
        for at in range(len(content)):  # what comes with a byte that is damaged would be lost
            data += unpacking.decompress(content[at : at + 1])
    return bytes(data)


def _times_s(path: Path) -> tuple[dict[Any, list[float]], dict[Any, list[float]], float]:
    """Times of single operations by cell, of visits and of what others have published; two clock steps."""
    content = path.read_bytes()
    data = _unpacked(content) if path.suffix == ".gz" else content
    times: dict[Any, list[float]] = defaultdict(list)
    published: dict[Any, list[float]] = defaultdict(list)
    step_ns = 1.0
    for line in data.split(b"\n"):
        try:
            record = json.loads(line.decode("utf-8", "replace"))
            if record["type"] == "visit":
                times[_key(record["cell"])] += [ns * 1e-9 / record["ops"] for ns in record["samples_ns"]]
            elif record["type"] == "launch":
                places = record["ranks_at"] if "ranks_at" in record else record["placement"]
                step_ns = max([step_ns, *(float(place["clock_step_ns"]) for place in places)])
            elif record["type"] == "imported":
                published[_key(record["cell"])].append(record["time_s"])
        except (ValueError, TypeError, KeyError, ZeroDivisionError, AttributeError, OverflowError):
            continue
    return times, published, 2 * step_ns * 1e-9
