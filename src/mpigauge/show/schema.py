"""JSON of `mpigauge show` as types, for its JSON Schema and for the types of columns.

What has a list elsewhere (statistics, yardsticks, columns with a field) is taken from there, so that a type
cannot say less than the document has. docs/numbers-fields.md says what each field means.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from mpigauge.plan.model import Cell
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.warnings import WarningKind
from mpigauge.show import records
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.formats.json import VERSIONS
from mpigauge.vocabulary import (
    Distance,
    EndReason,
    FailureKind,
    LeftOutKind,
    Proof,
    QuotedAs,
    StateName,
    Status,
    Topic,
    Varied,
    Verdict,
)

if TYPE_CHECKING:
    from mpigauge.document.columnar import Kind

Number = float | None
STRICT: dict[str, Any] = {"frozen": True, "forbid_unknown_fields": True, "kw_only": True}


def _struct(name: str, fields: dict[str, Any], *bases: type[Struct]) -> type[Struct]:
    return msgspec.defstruct(name, [*fields.items()], bases=bases or None, module=__name__, **STRICT)


TimeRecord = _struct(
    "TimeRecord",
    {**dict.fromkeys(records.STATISTICS + records.MORE_STATISTICS, Number), "statistic": str | None},
)
Overlap = _struct("Overlap", dict.fromkeys(records.OVERLAP_PARTS, Number))
Ratio = _struct("Ratio", dict.fromkeys(records.RATIO_PARTS, Number) | {"paired": bool})
Across = _struct("Across", dict.fromkeys(records.ACROSS_PARTS, Number) | {"sessions": int})
SessionsTime = _struct("SessionsTime", dict.fromkeys(records.SESSIONS_TIMES, Number))
Sessions = _struct("Sessions", {"count": int, "seconds": float, "time_s": SessionsTime})
StateTime = _struct("StateTime", {"state": StateName, "launches": int, "samples": int, "time_s": TimeRecord})

ROW: dict[str, Any] = {
    "state": StateName | None,
    "states": list[StateTime],  # type: ignore[valid-type]
    "status": Status,
    "reason": str,
    "launches": int,
    "samples": int,
    "batch": int,
    "time_s": TimeRecord | None,
    **dict.fromkeys(("rate_bytes_per_s", "bus_bytes_per_s", "cpu_s_per_op", "cpu_share"), Number),
    **dict.fromkeys(("net_share", "rdma_share"), Number),
    "transport_proof": Proof | None,
    "transport_doubt": str,
    "disturbed_share": Number,
    **dict.fromkeys(("skew_p50_s", "skew_p99_s", "late_share", "root_s", "local_s"), Number),
    "clock_shared": bool | None,
    **dict.fromkeys(("clock_error_s", "clock_bound_s"), Number),
    "overlap": Overlap | None,
    "across": Across | None,
    "sessions": Sessions | None,
    **dict.fromkeys(YARDSTICKS, Ratio | None),
    "first_s": Number,
    "limit_bytes": int | None,
    "advised_samples": int | None,
    "warnings": list[WarningKind],
    **{column.field: Number for column in EXTRA_COLUMNS.values() if column.field},
}
Row = _struct("Row", ROW, Cell)

State = _struct(
    "State",
    {
        "name": StateName,
        "of": Distance,
        "line_s": Number,
        "path_s": Number,
        "visits": int,
        "time_share": float,
        "episodes": int,
    },
)
FailureRecord = _struct(
    "FailureRecord", {"launch": int, "kind": FailureKind, "pattern": str | None, "words": str}
)
LeftOutRecord = _struct("LeftOutRecord", {"cell": Cell, "kind": LeftOutKind, "reason": str})
Finding = _struct(
    "Finding",
    {
        "kind": str,
        "severity": Literal["warning", "info"],
        "cells": list[Cell],
        "value": dict[str, Any],
        **dict.fromkeys(("text", "consequence", "remedy"), str),
    },
)
VariedRatio = _struct(
    "VariedRatio",
    {
        "base": Cell,
        "other": Cell,
        "state": StateName | None,
        **dict.fromkeys(("estimate", "low", "high"), Number),
        "paired": bool,
        "verdict": Verdict,
    },
)
Headline = _struct(
    "Headline",
    {
        "factor": Varied | None,
        "topic": Topic | None,
        "text": str,
        "ratios": list[VariedRatio],  # type: ignore[valid-type]
        "limit_bytes": int | None,
    },
)
_CELL = {field.name: field.type for field in msgspec.structs.fields(Cell)}
Quote = _struct(
    "Quote",
    {
        "quantity": QuotedAs,
        **{name: _CELL[name] for name in records.ANSWERED},
        "state": StateName | None,
        **dict.fromkeys(("value", "low", "high", "half_width"), Number),
        "unit": Literal["s", "B/s", "1/s", "B", "1"],
        "sessions": Sessions | None,
    },
)
LibrarySaid = _struct(
    "LibrarySaid", dict.fromkeys(("name", "version", "label", "standard", "mpicc", "says"), str)
)
Context = _struct(
    "Context",
    {
        **dict.fromkeys(("file", "title", "host", "cpu"), str),
        "cores": int | None,
        **dict.fromkeys(("system", "kernel", "hypervisor"), str),
        "hosts": list[str],
        "emulated": bool,
        "started": str,
        "seconds": float | None,
        "libraries": list[LibrarySaid],  # type: ignore[valid-type]
        "mpigauge": str,
        "commit": str,
        "seed": int,
        "precision": float,
        "statistic": str | None,
        "result_version": int,
        "without": list[str],
    },
)
Show = _struct(
    "Show",
    {
        "format": Literal["mpigauge-show"],
        "version": int,
        "context": Context,
        "rows": list[Row],  # type: ignore[valid-type]
        "states": list[State],  # type: ignore[valid-type]
        "left_out_visits": int,
        "left_out": list[LeftOutRecord],  # type: ignore[valid-type]
        "failures": list[FailureRecord],  # type: ignore[valid-type]
        "stopped": EndReason | None,
        "notes": list[str],
        "findings": list[Finding],  # type: ignore[valid-type]
        "headline": list[Headline],  # type: ignore[valid-type]
        "answer": list[Quote],  # type: ignore[valid-type]
        "map": dict[str, Any] | None,
    },
)
"""Whole output of `mpigauge show RESULT --format json`."""


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the output, with the name of its version."""
    (whole,), definitions = msgspec.json.schema_components([Show], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        # The docstring of Cell is for our sources; docs/numbers-fields.md describes the fields.
        definition.pop("description", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:mpigauge:show:{VERSIONS['show']}",
        "title": f"the JSON of mpigauge show RESULT, version {VERSIONS['show']}",
        **whole,
        "$defs": definitions,
    }


# ---- Types of columns ----------------------------------------------------------------------------

_KINDS: dict[type, Kind] = {bool: "flag", int: "integer", float: "number", str: "text", list: "text"}


def kinds_of_rows() -> dict[str, Kind]:
    """Return the types of all flattened columns of rows, whether or not a result has values of them."""
    kinds: dict[str, Kind] = {}
    for field in msgspec.structs.fields(Row):
        kind = _plain(field.type)
        if isinstance(kind, type) and issubclass(kind, Struct):
            kinds |= dict(_nested(field.name, kind))
        elif field.name != "states":
            kinds[field.name] = _KINDS[kind]
    return kinds


def _nested(name: str, kind: type[Struct]) -> list[tuple[str, Kind]]:
    """Return the flattened fields of a struct, named as by `records.flat_record`."""
    if name == "time_s":
        numbers = (field for field in kind.__struct_fields__ if field != "statistic")
        return [(records.flat_time(field), "number") for field in numbers]
    if name == "sessions":
        times = [(f"sessions_{records.flat_time(field)}", "number") for field in records.SESSIONS_TIMES]
        return [("sessions_count", "integer"), ("sessions_seconds", "number"), *times]  # type: ignore[list-item]
    return [(f"{name}_{field.name}", _KINDS[_plain(field.type)]) for field in msgspec.structs.fields(kind)]


def _plain(kind: Any) -> Any:
    """Return a type without None, constraints and choices."""
    origin = get_origin(kind)
    if origin is Literal:
        return str
    if origin in (Union, types.UnionType):
        return next(_plain(argument) for argument in get_args(kind) if argument is not type(None))
    if hasattr(kind, "__metadata__"):
        return _plain(kind.__origin__)
    return origin or kind
