"""Conclusions as a document: the most telling of each topic first, as many as a screen holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.analysis.explain.evidence import Evidence
from mpigauge.analysis.explain.topics import conclusions
from mpigauge.plan.factors import BY_NAME
from mpigauge.show.document import Document, Line
from mpigauge.show.tables.records import finding_record
from mpigauge.show.words import answer as machine
from mpigauge.show.words.explain.parts import count
from mpigauge.show.words.explain.sentences import sentence_of
from mpigauge.show.words.finding import finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.explain.topics import Conclusion
    from mpigauge.analysis.rows import Row
    from mpigauge.show.document import Units
    from mpigauge.show.query import Source

SAID_MOST = 10


@dataclass(frozen=True, slots=True)
class Said:
    """A conclusion with its sentence."""

    source: Source
    conclusion: Conclusion
    text: str

    @property
    def launches(self) -> int:
        """In which it rests."""
        return self.conclusion.fact.launches


def document(sources: Sequence[Source], chosen: Units, *, everything: bool = False) -> Document:
    """What follows from results.

    Args:
        everything: All conclusions; else at most ten of each result.
    """
    found = [said_of(source) for source in sources]
    return Document(
        head=[machine.machine_of(source.result) for source in sources[:1]],
        foot=[
            line for mine in found for line in _lines(mine, several=len(sources) > 1, everything=everything)
        ],
        units=chosen,
        data=lambda: {"conclusions": [_record(one) for mine in found for one in mine]},
        records=lambda: (_flat(one) for mine in found for one in mine),
    )


def said_of(source: Source) -> list[Said]:
    """All that is concluded of one result."""
    evidence = Evidence(source.result, source.rows)
    varied = varied_in(source.rows)
    return [Said(source, one, sentence_of(one, varied)) for one in conclusions(evidence)]


def varied_in(rows: Iterable[Row]) -> frozenset[str]:
    """Factors in which the cells that talk differ."""
    cells = [row.cell for row in rows if row.talks and row.time is not None]
    return frozenset(name for name in BY_NAME if len({getattr(cell, name) for cell in cells}) > 1)


def _lines(found: Sequence[Said], *, several: bool, everything: bool) -> Iterator[Line]:
    """The sentences of one result."""
    for one in found if everything else found[:SAID_MOST]:
        name = f"{one.source.name}: " if several else ""
        yield Line(f"{name}{one.text} ({count(one.launches, 'launch', 'launches')})", "title")
    if not found:
        yield Line("nothing follows: conclusions take two of something, measured in two launches or more")
    if not everything and len(found) > SAID_MOST:
        yield Line(f"{len(found) - SAID_MOST} more: --all", "quiet")


def _record(one: Said) -> Mapping[str, Any]:
    """docs/numbers.md#conclusions."""
    fact: Any = one.conclusion.fact
    found = finding(one.conclusion.topic, fact, one.text)
    return {"result": one.source.name, "launches": one.launches, **finding_record(found)}


def _flat(one: Said) -> Mapping[str, Any]:
    return {
        "result": one.source.name,
        "topic": one.conclusion.topic,
        "launches": one.launches,
        "text": one.text,
    }
