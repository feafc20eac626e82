"""Reading files of older versions of the format: what changed with each version, and the conversion of lines.

A version that only added fields with defaults needs no step here: its lines are read as they are. A line in
the present form is not changed: a file that an older mpigauge began has both forms once it was resumed.

To add a field to the file: give it a default, and describe it in the docstring of its record. To change one:
raise `records.VERSION`, add a line to HISTORY, the step that converts an older record, and a small file that
the version before wrote in tests/unit/result.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mpigauge.result.records import Record
from mpigauge.vocabulary import AUTO, SAME_HOST

HISTORY: Mapping[int, str] = {
    6: "campaigns have `without`, plans `patience_s` and `all_ranks`, launches `options_found`, "
    "`warmup_bytes`, `traced_ranks`, `init_ns` and `init_median_ns`, ranks of a launch `cores` and "
    "`threads`, visits `verified` and `rank_ns`, records `done` `throttled`, records `eager` `crossing`, "
    "records `imported` `launch`, records `unread`, "
    "cells `group`, `groups`, `senders` and `order`, the tables of a plan `groups`, `senders` and `orders`, "
    "libraries `parameter_files`, `wheel`, `other_mpicc`, `other_fault`, `loaded_by` and `environment`, "
    "environments "
    "`shared_memory_bytes` and `shared_memory_free_bytes`; "
    "cells `rma_window`, `depth`, `block_bytes`, `stride_bytes` and `partitions`, the tables of a plan "
    "`rma_windows`, `depths`, `blocks`, `strides` and `partitions`; cells and tables `tests`",
    5: "the identity of a launch is one object: records `launch`, `clock` and `done` have `job` in place of "
    "`mpi`, `mpi_version`, `transport`, `placed` and `ranks`; where ranks ran is `ranks_at`, which was "
    "`placement`; added since: launches have `cards`, `throttled`, `machines` and `first_round_trip_ns`, "
    "cards `speed`, `mtu`, `driver` and `firmware`, machines `memory_bytes`, `microcode`, `online`, "
    "`governor` and `clock_source`, "
    "visits `ip_received_bytes`, `ip_sent_bytes`, `rdma_received_bytes`, `rdma_sent_bytes`, "
    "`uncounted_cards`, `by_card` and `issue_ns`, plans `mpiexec`, `check_hosts`, `skip_dead`, "
    "`hosts_skipped`, `vary`, `until` and `control`, cells and the identity of a launch `label`, `setting` "
    "and `arm`, libraries `mpicc_options`, `digest` and `label`, environments `cpu_quota`; "
    "records `resumed`; failures of the kind `undead`, `end` with the reason `decided`",
    4: "records `imported`",
    3: "pairs: cells have `pair` and `pairing`, the tables of a plan `pairs`; hosts: plans have `hosts`, "
    "`placements`, `binding`, `launcher`, `remote_shell` and `lab`, launches `placed`, visits `relay_late`; "
    "one kernel for several libraries: plans have `abi`, libraries `built_by` and `compiler`, launches "
    "`built_by` and `reported`; imported results: launches without times, `end` with the reason `imported`",
    2: "collectives: cells have `sync`, `datatype`, `op`, `root` and `in_place`; visits have `lead_ns`, "
    "`late`, `skew_ns`, `root_ns`, `local_ns`, `pure_ns` and `work_ns`, and `cpu_ns` may be null; records "
    "`clock`; launches have `variables`; visits have `net_bytes` and `net_calls`",
    1: "first version",
}
"""What each version added, for docs/result-file.md."""

Raw = dict[str, Any]
DECODER: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class _Typed(Struct):
    """The type of a line."""

    type: str


_WORDS = {
    "mpi": "mpi",
    "mpi_version": "mpi_version",
    "transport": "transport",
    "placement": "placed",
    "ranks": "ranks",
}
"""The fields of a job, with their names before version 5."""


def _with_job(record: Raw) -> Raw:
    """Convert to version 5, in which one object has the identity of a launch."""
    if "job" not in record:
        words = {"transport": AUTO, "placed": SAME_HOST} | record
        record["job"] = {field: words[word] for field, word in _WORDS.items() if word in words}
    return record


def _launch_with_job(record: Raw) -> Raw:
    """Convert a launch to version 5; before, `placement` was where its ranks ran."""
    if "placement" in record:
        record["ranks_at"] = record["placement"]
    return _with_job(record)


_STEPS: Mapping[int, Mapping[str, Callable[[Raw], Raw]]] = {
    5: {"launch": _launch_with_job, "clock": _with_job, "done": _with_job},
}
"""Conversions from the version before, by version and type of record."""


def record_of(line: bytes, version: int) -> Record:
    """Return the record of a line in a file of an older version.

    Raises:
        DecodeError: The line is not a record.
        RecursionError: It is nested more deeply than any record.
    """
    steps = list(_steps(version, msgspec.json.decode(line, type=_Typed).type))
    if not steps:
        return DECODER.decode(line)
    raw: Raw = msgspec.json.decode(line)
    for step in steps:
        raw = step(raw)
    record: Record = msgspec.convert(raw, Record)
    return record


def _steps(version: int, kind: str) -> Iterator[Callable[[Raw], Raw]]:
    """Yield the conversions for a record of this type, the oldest first."""
    for later in sorted(_STEPS):
        if later > version and kind in _STEPS[later]:
            yield _STEPS[later][kind]
