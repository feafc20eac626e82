"""Rows and findings for programs: SI base units, null where there is no number (docs/numbers-fields.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.context import context_record
from mpigauge.document.finding import finding_record
from mpigauge.document.records import cell_record, finite_or_none
from mpigauge.document.status_words import reason
from mpigauge.find.answer import answers
from mpigauge.find.findings import findings_of, told
from mpigauge.find.headline import headline_record, headlines_of
from mpigauge.find.transport import doubt_of
from mpigauge.linkmap import table as linkmap_table
from mpigauge.linkmap.linkmap import is_map, map_or_none
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.machine.split import split_of
from mpigauge.show.columns import EXTRA_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.sessions import OverSessions
    from mpigauge.rows.machine.split import State
    from mpigauge.rows.rows import Row, StateTime
    from mpigauge.rows.transport.proof import Travel
    from mpigauge.stats.interval import Number

STATISTICS = ("estimate", "low", "high", "mean", "stddev", "min", "p5", "p25", "p75", "p95", "p99", "max")
SHARES = (
    "half_width",
    "launches_half_width",
    "machine_half_width",
    "launch_share",
    "visit_share",
    "round_share",
)
"""Fields of a time that are not times."""

MORE_STATISTICS = ("median", "geometric_mean", "rank_low", "rank_high", *SHARES)


def record(row: Row) -> dict[str, Any]:
    """Return a row as JSON has it: SI base units, null where there is no number."""
    time = row.time
    return {
        **cell_record(row.cell),
        "state": row.state,
        "states": [_state_time(state) for state in row.states],
        "status": row.status,
        "reason": reason(row),
        "launches": time.launches if time else 0,
        "samples": time.samples if time else 0,
        "batch": row.batch,
        "time_s": _time_record(time) if time else None,
        "rate_bytes_per_s": finite_or_none(row.rate_bytes_per_s),
        "bus_bytes_per_s": finite_or_none(row.bus_bytes_per_s),
        "cpu_s_per_op": finite_or_none(row.cpu_s_per_op),
        "cpu_share": finite_or_none(row.cpu_share),
        **_cards_record(row.travel),
        "disturbed_share": finite_or_none(row.disturbed_share),
        **_start_record(row),
        "overlap": _parts(row.overlap, OVERLAP_PARTS),
        "across": _across_record(row.across),
        "sessions": sessions_record(row.sessions),
        **{name: _parts(row.ratios.get(name), RATIO_PARTS) for name in YARDSTICKS},
        "first_s": finite_or_none(row.first_s),
        "limit_bytes": row.limit_bytes,
        "advised_samples": row.advised_samples,
        "warnings": [warning.kind for warning in row.warnings],
        **{
            column.field: finite_or_none(column.value(row))
            for column in EXTRA_COLUMNS.values()
            if column.field
        },
    }


def _cards_record(travel: Travel | None) -> dict[str, Any]:
    """Return which cards carried the messages of a row, and whether that proves its transport."""
    return {
        "net_share": finite_or_none(travel.ip_share if travel else None),
        "rdma_share": finite_or_none(travel.rdma_share if travel else None),
        "transport_proof": travel.proof if travel else None,
        "transport_doubt": doubt_of(travel) if travel else "",
    }


def _time_record(time: Timing) -> dict[str, Any]:
    numbers = {name: finite_or_none(getattr(time, name)) for name in STATISTICS + MORE_STATISTICS}
    return {**numbers, "statistic": time.statistic or None}


def _state_time(state: StateTime) -> dict[str, Any]:
    """Return the time of a cell in one of several states of the machine."""
    time = state.time
    return {
        "state": state.state,
        "launches": time.launches,
        "samples": time.samples,
        "time_s": _time_record(time),
    }


def sessions_record(over: OverSessions | None) -> dict[str, Any] | None:
    """Return a time over the sessions of all results shown together: docs/numbers-fields.md."""
    if over is None:
        return None
    times = {name: finite_or_none(getattr(over.time, name)) for name in SESSIONS_TIMES}
    return {"count": over.sessions, "seconds": over.seconds, "time_s": times}


def flat_sessions(record: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a time over sessions without nesting: sessions_time_low_s."""
    known = record or {}
    times = known.get("time_s", {})
    return {
        "sessions_count": known.get("count"),
        "sessions_seconds": known.get("seconds"),
        **{f"sessions_{flat_time(name)}": times.get(name) for name in SESSIONS_TIMES},
    }


def state_record(state: State) -> dict[str, Any]:
    """Return a state of the machine: docs/numbers-fields.md."""
    handover_s = state.handover_s
    return {
        "name": state.name,
        "of": state.of,
        "line_s": handover_s if state.of == "line" else None,
        "path_s": handover_s if state.of == "path" else None,
        "visits": state.visits,
        "time_share": state.time_share,
        "episodes": state.episodes,
    }


OVERLAP_PARTS = ("estimate", "low", "high", "pure_s")
RATIO_PARTS = ("estimate", "low", "high", "paired")
SESSIONS_TIMES = ("estimate", "low", "high", "half_width")
ACROSS_PARTS = (*SESSIONS_TIMES, "sessions")
NESTED = {"overlap": OVERLAP_PARTS, "across": ACROSS_PARTS, **dict.fromkeys(YARDSTICKS, RATIO_PARTS)}


def _start_record(row: Row) -> dict[str, Any]:
    start, clock = row.start, row.clock
    return {
        "skew_p50_s": start.skew_p50_s if start else None,
        "skew_p99_s": start.skew_p99_s if start else None,
        "late_share": start.late_share if start else None,
        "root_s": start.root_s if start else None,
        "local_s": start.local_s if start else None,
        "clock_shared": clock.shared if clock else None,
        "clock_error_s": clock.error_s if clock else None,
        "clock_bound_s": clock.bound_s if clock else None,
    }


def _across_record(over: Number | None) -> dict[str, float | None] | None:
    parts = _parts(over, SESSIONS_TIMES)
    return None if parts is None or over is None else {**parts, "sessions": over.launches}


def _parts(value: Number | None, names: Sequence[str]) -> dict[str, float | None] | None:
    return None if value is None else {name: finite_or_none(getattr(value, name)) for name in names}


def result_record(
    result: Result,
    rows: Sequence[Row],
    notes: Sequence[str],
    stat: str = "median",
) -> dict[str, Any]:
    """Return everything that is said of a result."""
    failures = [
        {"launch": f.launch, "kind": f.kind, "pattern": f.cell.pattern if f.cell else None, "words": f.words}
        for f in result.failures
    ]
    return {
        "context": context_record(result, stat),
        "rows": [record(row) for row in rows],
        "states": [state_record(state) for state in split_of(result).states],
        "left_out_visits": len(result.left_out),
        "left_out": [
            {"cell": cell_record(one.cell), "kind": one.kind, "reason": one.reason}
            for one in result.campaign.left_out
        ],
        "failures": failures,
        "stopped": result.ends[-1].reason if result.ends else None,
        "notes": list(notes),
        "findings": [finding_record(one) for one in told(findings_of(result, rows))],
        "headline": [headline_record(one) for one in headlines_of(result, rows)],
        "answer": answer_records(result, rows),
        "map": _map(result, rows),
    }


def _map(result: Result, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return the verdict of `mpigauge map` if the result is a map."""
    shown = map_or_none(result, rows) if is_map(result) else None
    return linkmap_table.record(shown) if shown is not None else None


ANSWERED = (
    *("pattern", "mode", "bytes", "mpi", "mpi_version", "transport", "placement", "ranks"),
    *("senders", "depth", "block_bytes", "stride_bytes", "partitions", "tests", "rma_window"),
)
"""Factors of a cell in the answer."""


def answer_records(result: Result, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the few numbers that sum up a result, in SI base units: docs/tables.md."""
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    return [
        {
            "quantity": quote.quoted_as,
            **{name: getattr(quote.row.cell, name) for name in ANSWERED},
            "state": quote.row.state,
            "value": finite_or_none(quote.value),
            "low": finite_or_none(quote.low),
            "high": finite_or_none(quote.high),
            "unit": quote.unit,
            "half_width": finite_or_none(quote.half_width),
            "sessions": sessions_record(quote.sessions),
        }
        for answer in answers(rows, patterns)
        for quote in answer.quotes
    ]


def flat_time(name: str) -> str:
    """Return the flattened name of a field of a time."""
    return f"time_{name}" if name in SHARES else f"time_{name}_s"


def flat_record(row: Row) -> dict[str, Any]:
    """Return a row without nesting: time_s.low becomes time_low_s."""
    flat = record(row)
    times = flat.pop("time_s") or {}
    flat |= {flat_time(name): times.get(name) for name in STATISTICS + MORE_STATISTICS}
    for outer, names in NESTED.items():
        parts = flat.pop(outer) or {}
        flat |= {f"{outer}_{name}": parts.get(name) for name in names}
    flat |= flat_sessions(flat.pop("sessions"))
    del flat["states"]
    flat["warnings"] = " ".join(flat["warnings"])
    return flat
