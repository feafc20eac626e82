"""The registry of topics: a row of it is enough to be found, put in order, told and shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.document.document import Units
from mpigauge.find.explain.table import document
from mpigauge.find.explain.topics import TOPICS, Topic, conclusions
from mpigauge.query.query import source_of
from tests.made import campaign, cell, launches_of, measured, result_of
from tests.places import DOCS
from tests.unit.find.explain.made_evidence import evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell

SIZES = (8, 64)
CELLS = [cell(size=size) for size in SIZES]
NUMBERS = range(1, 4)


@dataclass(frozen=True, slots=True)
class Made:
    """A fact that says itself what it rests on and how much it says."""

    cell: Cell
    launches: int
    weight: float


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(evidence: Evidence) -> Iterator[Made]:
        for weight, curve in enumerate(evidence.curves()):
            yield Made(curve[0].cell, len(NUMBERS), weight)

    def sentence(fact: Made, _varied: Collection[str], _chosen: Units) -> str:
        return f"made of {fact.cell.pattern}"

    monkeypatch.setitem(TOPICS, "made", Topic(find, sentence, sentence, with_ratios=True))


@pytest.mark.usefixtures("made")
def test_a_topic_that_is_added_is_told_and_shown() -> None:
    visits = measured(CELLS, NUMBERS, lambda _, number: [100_000 + number] * 30)
    result = result_of(campaign(*CELLS), *launches_of(CELLS, NUMBERS), *visits)
    said = document([source_of(result, "median")], Units(), most=None)
    lines = [line.text for line in said.foot]
    assert "made of pingpong (3 launches)" in lines
    assert any(line.startswith("times as long: ") for line in lines)
    assert said.data is not None
    (record,) = [one for one in said.data()["conclusions"] if one["kind"] == "made"]
    assert (record["launches"], record["value"]["weight"]) == (3, 0)


@pytest.mark.usefixtures("made")
def test_facts_of_one_topic_are_told_the_most_telling_first() -> None:
    several = [*CELLS, *(replace(one, mode="synchronous") for one in CELLS)]
    found = conclusions(evidence(several, lambda _, number: [100_000 + number] * 30))
    assert [one.fact.weight for one in found if one.topic == "made"] == [1, 0]


def test_the_page_lists_every_topic_in_the_order_in_which_they_are_told() -> None:
    text = (DOCS / "explain.md").read_text(encoding="utf-8")
    section = re.search(r"^## Topics$(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    assert re.findall(r"^\| `([a-z-]+)` \|", section[1], re.MULTILINE) == [*TOPICS]
