"""What follows from two results together stands above what follows from each, under both names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from mpigauge.show.document import Units
from mpigauge.show.query import Source, source_of
from mpigauge.show.tables.explain import document
from tests.made import campaign, collective, launch, measured, result_of

YIELD = "OMPI_MCA_mpi_yield_when_idle"
CROWDED = collective("barrier", ranks=8)
LAUNCHES = range(1, 4)


def source(name: str, value: str, time_ns: int) -> Source:
    """A barrier of more ranks than cores, which were told to give way or not."""
    launches = [replace(launch(number, job=CROWDED.job), variables={YIELD: value}) for number in LAUNCHES]
    visits = measured([CROWDED], LAUNCHES, lambda _, number: [time_ns + number] * 30)
    made = result_of(campaign(CROWDED), *launches, *visits)
    return source_of(replace_path(made, name), "median")


def replace_path(made: Any, name: str) -> Any:
    made.path = Path(f"{name}.jsonl")
    return made


def test_two_results() -> None:
    both = [source("told", "1", 50_000), source("busy", "0", 900_000)]
    said = document(both, Units(), gives_way={"openmpi": {YIELD: "1"}})
    first, *_ = said.data()["conclusions"]
    assert (first["result"], first["kind"], first["launches"]) == ("told / busy", "yielding", 3)
    assert "not told to give way" in first["text"]
    assert next(iter(said.records()))["result"] == "told / busy"


def test_nothing_is_known_of_giving_way() -> None:
    both = [source("told", "1", 50_000), source("busy", "0", 900_000)]
    assert document(both, Units()).data()["conclusions"] == []
