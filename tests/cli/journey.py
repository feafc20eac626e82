"""Campaigns that the journeys from a command line to a table share, and how to read what comes out."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fakes.law import PATTERNS

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from tests.conftest import Done


TIMED = [name for name in PATTERNS if name not in ("null", "eager")]
MEASURE = ("pingpong", "--sizes", "8,64", "--launches", "3", "--seed", "7")
"""Three cells with the floor, each visited eight times in three launches."""

EVERY_VISIT = {"FAKE_JITTER": "0.5"}
"""So imprecise that no visit is left out, so that the whole plan shows in the file."""

Rows = dict[tuple[str, str, int, int, str], dict[str, Any]]


def rows_of(done: Done, status: int = 0) -> Rows:
    """The rows of a JSON table, by pattern, mode, bytes, ranks and library."""
    assert done.status == status, done.err
    keys = ("pattern", "mode", "bytes", "ranks", "mpi")
    return {tuple(row[key] for key in keys): row for row in json.loads(done.out)["rows"]}


def estimates_ns(rows: Rows) -> dict[tuple[str, int], float]:
    """Times by pattern and bytes, of rows that have one."""
    return {(key[0], key[2]): row["time_s"]["estimate"] * 1e9 for key, row in rows.items() if row["time_s"]}


def states(rows: Rows, pattern: str = "pingpong") -> dict[int, str]:
    """States by bytes."""
    return {key[2]: row["status"] for key, row in rows.items() if key[0] == pattern}


def measured_visits(result: Result) -> list[tuple[int, int, Cell, list[int]]]:
    """What a campaign with this seed measures, whatever happened to it on the way."""
    return sorted((visit.launch, visit.id, visit.cell, list(visit.samples_ns)) for visit in result.visits)


TOGETHER = ("allreduce", "bcast", "--sizes", "8,64", "--sync", "common,barrier", "--seed", "7")
"""Eight cells and the floor."""

FACTORS = ("pattern", "mode", "bytes", "ranks", "sync", "datatype", "op", "root", "in_place")


def by_factors(done: Done, *patterns: str, status: int = 0) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of some patterns by all that tells collectives apart."""
    assert done.status == status, done.err
    found = [row for row in json.loads(done.out)["rows"] if row["pattern"] in patterns]
    rows = {tuple(row[key] for key in FACTORS): row for row in found}
    assert len(rows) == len(found)
    return rows


def catches_sigterm(pid: int) -> bool:
    """Whether a process has come so far as to have a handler for it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)
