"""Verbs that read results work cell by cell: all samples as floating-point numbers are several files long."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from mpigauge.importers import loading
from tests.made import PLACE, campaign, cell, collective, launches_of, measured, written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

NUMBERS = range(1, 6)
CELLS = [
    *(cell(size=size, mode=mode) for mode in ("standard", "synchronous") for size in range(0, 64, 8)),
    *(collective(size=size) for size in range(0, 64, 8)),
]
VERBS = (
    "show r.jsonl --all --state all",
    "show r.jsonl --format json --stat p99",
    "explain r.jsonl",
    "model r.jsonl",
    "compare r.jsonl r.jsonl",
    "check r.jsonl --guidelines",
    "history .",
)
"""Others have a part that does not grow with the result: a library of charts, a piece of a table."""

MAX_AGAIN = 0.6
"""Of the file: the result itself takes as much as that, so that both are less than twice as long."""


def save(visits: int, samples: int) -> Path:
    """Write a result of a clock with steps, which are looked for in every sample."""
    generator = np.random.default_rng(1)

    def times_ns(_cell: Cell, _launch: int) -> list[int]:
        drawn: list[int] = generator.normal(3000, 60, samples).astype(int).tolist()
        return drawn

    place = replace(PLACE, clock_step_ns=25)
    launches = [replace(one, ranks_at=(place, place)) for one in launches_of(CELLS, NUMBERS)]
    each = [
        replace(visit, id=turn * len(CELLS) + visit.id)
        for turn in range(visits)
        for visit in measured(CELLS, NUMBERS, times_ns)
    ]
    return written("r.jsonl", campaign(*CELLS), *launches, *each)


def test_no_verb_holds_the_samples_of_all_cells_at_once(
    cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(1, 30)
    for verb in VERBS:
        cli(*verb.split())  # what is imported and cached on the way is not of the result
    path = save(10, 1000)
    result = loading.load(path)
    monkeypatch.setattr(loading, "load", lambda _: result)
    assert {verb: share for verb in VERBS if (share := made_again(cli, verb, path)) > MAX_AGAIN} == {}


def made_again(cli: Cli, verb: str, path: Path) -> float:
    """Return the most bytes that a verb allocates, beside the loaded result, over those of its file."""
    tracemalloc.start()
    try:
        assert not cli(*verb.split()).err
        return tracemalloc.get_traced_memory()[1] / path.stat().st_size
    finally:
        tracemalloc.stop()
