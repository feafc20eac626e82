"""What follows from two results together stands above what follows from each, under both names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mpigauge.document.document import Document, Units
from mpigauge.find.explain.table import document
from mpigauge.query.query import Source, source_of
from tests.made import campaign, collective, launch, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Mapping

YIELD = "OMPI_MCA_mpi_yield_when_idle"
CROWDED = collective("barrier", ranks=8)
LAUNCHES = range(1, 4)


def source(name: str, value: str, time_ns: int) -> Source:
    """A barrier of more ranks than cores, which were told to give way or not."""
    launches = [replace(launch(number, job=CROWDED.job), variables={YIELD: value}) for number in LAUNCHES]
    visits = measured([CROWDED], LAUNCHES, lambda _, number: [time_ns + number] * 30)
    made = result_of(campaign(CROWDED), *launches, *visits)
    made.path = Path(f"{name}.jsonl")
    return source_of(made, "median")


def data_of(said: Document) -> Mapping[str, Any]:
    """What JSON shows."""
    assert said.data is not None
    return said.data()


def test_two_results() -> None:
    both = [source("told", "1", 50_000), source("busy", "0", 900_000)]
    said = document(both, Units(), gives_way={"openmpi": {YIELD: "1"}})
    first, *_ = data_of(said)["conclusions"]
    assert (first["result"], first["kind"], first["launches"]) == ("told / busy", "yielding", 3)
    assert f"with {YIELD}=0" in first["text"]
    assert "not told to give way" in first["details"]
    assert said.records is not None
    assert next(iter(said.records()))["result"] == "told / busy"


def test_nothing_is_known_of_giving_way() -> None:
    both = [source("told", "1", 50_000), source("busy", "0", 900_000)]
    found = data_of(document(both, Units()))["conclusions"]
    assert not [one for one in found if one["kind"] == "yielding"]
