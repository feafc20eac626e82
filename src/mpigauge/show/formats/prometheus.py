"""Prometheus text format, for node_exporter's textfile collector: times, or a map's verdict, as gauges."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from mpigauge.plan.factors import FACTORS
from mpigauge.rows.group import STATE
from mpigauge.show.formats.times import cells_in, timed_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Document

    Record = Mapping[str, Any]

FACTOR_NAMES = tuple(factor.name for factor in FACTORS)


def render(document: Document) -> str:
    """Return a gauge per number and cell, or those that a document has of its own.

    They have no time stamps, which the textfile collector refuses.

    Source: https://prometheus.io/docs/instrumenting/exposition_formats

    Raises:
        UsageError: The document has no times.
    """
    if document.metrics is not None:
        families = (_family(one.name, one.about, one.samples) for one in document.metrics())
        return "\n".join([*chain.from_iterable(families), ""])
    timed = timed_records(document, "prometheus")
    names = _labels_of(timed)
    lines: list[str] = []
    for name, about, value in GAUGES:
        values = [(record, value(record)) for record in timed]
        lines += _family(
            name, about, [(_cell(record, names), number) for record, number in values if number is not None]
        )
    lines += _family("mpigauge_cells", "Cells by what became of them.", _statuses(document))
    lines += _family("mpigauge_start_timestamp_seconds", "When measuring began, Unix time.", _starts(timed))
    return "\n".join([*lines, ""])


def _time(part: str) -> Callable[[Record], float | None]:
    return lambda record: record.get(f"time_{part}_s")


GAUGES: tuple[tuple[str, str, Callable[[Record], float | None]], ...] = (
    ("mpigauge_latency_seconds", "Time of one operation; of messages, one way.", _time("estimate")),
    ("mpigauge_latency_lower_seconds", "Lower end of its 95 % interval across launches.", _time("low")),
    ("mpigauge_latency_upper_seconds", "Upper end of its 95 % interval across launches.", _time("high")),
    (
        "mpigauge_bandwidth_bytes_per_second",
        "Bytes of one operation, in all directions, over its time.",
        lambda record: record.get("rate_bytes_per_s"),
    ),
    ("mpigauge_launches", "Launches that the time is of.", lambda record: record.get("launches")),
)


def _family(name: str, about: str, samples: Sequence[tuple[Mapping[str, Any], float]]) -> Iterator[str]:
    """Return all samples of one metric below its description; nothing if there are none."""
    if samples:
        yield from (f"# HELP {name} {about}", f"# TYPE {name} gauge")
    for labels, value in samples:
        written = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
        yield f"{name}{f'{{{written}}}' if written else ''} {value!r}"


def escaped(text: object) -> str:
    """Return the value of a label, escaped as the format requires."""
    words = str(text).encode("utf-8", "replace").decode("utf-8")
    return words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _labels_of(records: Sequence[Record]) -> list[str]:
    """Return the factors that some cell has, and the state; those that distinguish series always stay."""
    return [
        name
        for name in (*FACTOR_NAMES, STATE)
        if any(record.get(name) not in (None, "", False) for record in records)
    ]


def _cell(record: Record, names: Sequence[str]) -> dict[str, Any]:
    known = {name: record.get(name) for name in names}
    labels = {name: str(value).lower() if isinstance(value, bool) else value for name, value in known.items()}
    return {name: value for name, value in labels.items() if value not in (None, "")} | _host(record)


def _host(record: Record) -> dict[str, Any]:
    return {"host": record["host"]} if record.get("host") else {}


def _statuses(document: Document) -> list[tuple[dict[str, Any], float]]:
    counts = Counter((record.get("status"), record.get("host")) for record in cells_in(document))
    return [
        ({"status": status, **_host({"host": host})}, n) for (status, host), n in counts.items() if status
    ]


def _starts(records: Sequence[Record]) -> list[tuple[dict[str, Any], float]]:
    """Return a sample per host; of several results of a host the last counts."""
    starts: dict[str, float] = {}
    for record in records:
        if (seconds := _unix_s(record.get("started") or "")) is not None:
            host = str(record.get("host") or "")
            starts[host] = max(seconds, starts.get(host, seconds))
    return [(_host({"host": host}), seconds) for host, seconds in starts.items()]


def _unix_s(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
