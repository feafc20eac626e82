"""A result that an older mpigauge began is continued: both wrote in one file, which is read as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.result.reader import Result, load

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

MEASURE = ("pingpong", "bcast", "--sizes", "8,64", "--launches", "2", "--seed", "7")


def as_of_version_4(record: dict[str, Any]) -> dict[str, Any]:
    """A record as mpigauge wrote it when launches had no object for what they are of."""
    if record["type"] == "campaign":
        return record | {"version": 4}
    if (job := record.pop("job", None)) is None:
        return record
    if "ranks_at" in record:
        record["placement"] = record.pop("ranks_at")
    return {**record, "placed": job.pop("placement"), **job}


def visits_of(result: Result) -> set[tuple[int, int, str, int]]:
    """What was measured, by launch and place in its order."""
    return {
        (visit.launch, visit.id, visit.cell.pattern, visit.cell.bytes)
        for visit in result.visits
        if not visit.corrupt
    }


@pytest.mark.parametrize("lines", [2, 3, 30, 60])
def test_a_result_of_version_4_goes_on_in_its_order(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.5")  # so imprecise that no visit is left out
    assert cli("run", *MEASURE, "-o", "whole.jsonl").status == 0
    records = [json.loads(line) for line in Path("whole.jsonl").read_bytes().splitlines()]
    text = "".join(json.dumps(as_of_version_4(record)) + "\n" for record in records[:lines])
    assert '"job"' not in text
    Path("r.jsonl").write_text(text, encoding="utf-8")
    assert cli("resume", "--trust", "r.jsonl").status == 0
    assert Path("r.jsonl").read_text(encoding="utf-8").startswith(text)
    whole, resumed = load(Path("whole.jsonl")), load(Path("r.jsonl"))
    assert visits_of(resumed) == visits_of(whole)
    assert {launch.job for launch in resumed.launches} == {launch.job for launch in whole.launches}
    assert len(resumed.done) == len(whole.done)
