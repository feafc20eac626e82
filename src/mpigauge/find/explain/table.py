"""Conclusions as a document: the most telling of each topic first, as many as a screen holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import AUTOMATIC, Document, Line
from mpigauge.document.finding import finding, finding_record
from mpigauge.document.ratio_words import OF_PAIRS, VERDICTS
from mpigauge.document.status_words import reason_sentence
from mpigauge.find import answer as machine
from mpigauge.find import maps
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.topics import TOPICS, conclusions, conclusions_across
from mpigauge.find.fact import cell_of, launches_of
from mpigauge.find.findings import disturbances_of, told
from mpigauge.find.phrases import WITHIN
from mpigauge.linkmap import table as linkmap_table
from mpigauge.rows.rows import why_nothing
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.topics import Conclusion
    from mpigauge.query.query import Source

    GivesWay = Mapping[str, Mapping[str, str]]

MAX_SAID = 10
"""Of each result, and of several together, unless asked for more or fewer."""


@dataclass(frozen=True, slots=True)
class Said:
    """A conclusion with its sentence.

    Attributes:
        name: Of the result, or of both, that it is about.
        text: In one line.
        details: With all details.
    """

    name: str
    conclusion: Conclusion
    text: str
    details: str

    @property
    def remedy(self) -> str:
        """Advice, where it leaves something open; else empty."""
        return TOPICS[self.conclusion.topic].remedy(self.conclusion.fact)

    @property
    def launches(self) -> int:
        """How many launches it rests on."""
        return launches_of(self.conclusion.fact)

    @property
    def is_told(self) -> bool:
        """Whether texts have it; else it is a record alone."""
        return TOPICS[self.conclusion.topic].told


def document(
    sources: Sequence[Source],
    chosen: Units,
    *,
    most: int | None = MAX_SAID,
    gives_way: GivesWay | None = None,
) -> Document:
    """Return what follows from results.

    Args:
        most: How many conclusions of each result, and of several together, at most; None for all.
        gives_way: As of `Evidence`.
    """
    found = [
        said_across(sources, gives_way or {}, chosen),
        *(said_of(source, chosen) for source in sources),
    ]
    return Document(
        head=[*maps.verdicts(sources), *(machine.machine_of(source.result) for source in sources[:1])],
        foot=[*_lines(sources, found, most=most), *_disturbed(sources)],
        units=chosen,
        schema="explain",
        data=lambda: {
            "conclusions": [_record(one) for mine in found for one in mine],
            "disturbances": [
                {"result": source.name, **finding_record(one)}
                for source in sources
                for one in told(disturbances_of(source.result, source.rows))
            ],
            "maps": [
                {"result": source.name, **linkmap_table.record(shown)}
                for source in sources
                if (shown := maps.map_of(source)) is not None
            ],
        },
        records=lambda: (_flat(one) for mine in found for one in mine),
    )


def _disturbed(sources: Sequence[Source]) -> Iterator[Line]:
    """Yield what makes all of it doubtful."""
    for source in sources:
        name = f"{source.name}: " if len(sources) > 1 else ""
        for one in disturbances_of(source.result, source.rows):
            yield Line(f"! {name}{one.text}", "doubt")


def said_of(source: Source, chosen: Units = AUTOMATIC) -> list[Said]:
    """Return all that is concluded of one result."""
    evidence = Evidence(source.result, source.rows, controls=source.controls)
    varied = varied_in(source.rows)
    return [
        Said(source.name, one, one.headline(varied, chosen), one.sentence(varied, chosen))
        for one in conclusions(evidence)
    ]


def said_across(sources: Sequence[Source], gives_way: GivesWay, chosen: Units = AUTOMATIC) -> list[Said]:
    """Return all that is concluded of several results together, or of two jobs of one."""
    evidences = [Evidence(source.result, source.rows, gives_way, source.controls) for source in sources]
    varied = [varied_in(source.rows) for source in sources]
    found = []
    for one in conclusions_across(evidences):
        name = " / ".join(dict.fromkeys(sources[place].name for place in one.results))
        differ = frozenset().union(*(varied[place] for place in one.results))
        found.append(Said(name, one, one.headline(differ, chosen), one.sentence(differ, chosen)))
    return found


def _lines(sources: Sequence[Source], found: Sequence[Sequence[Said]], *, most: int | None) -> Iterator[Line]:
    """Yield the sentences of all results, and how many there is no room for."""
    told = [
        sorted(
            (one for one in mine if one.is_told and not _is_within_another(one, mine)),
            key=lambda one: TOPICS[one.conclusion.topic].unasked,
        )
        for mine in found
    ]
    shown = [one for mine in told for one in mine[:most]]
    for one in shown:
        name = f"{one.name}: " if len(sources) > 1 else ""
        yield Line(f"{name}{one.text} ({counted(one.launches, 'launch')})", "title")
        details = "; ".join(filter(None, [one.details, one.remedy]))
        if most is None and details != one.text:
            yield Line(f"  {details}", "quiet")
    if most is None and any(TOPICS[one.conclusion.topic].with_ratios for one in shown):
        yield Line(f"times as long: {OF_PAIRS}", "quiet")
    if any(VERDICTS["same"] in one.text for one in shown):
        yield Line(f"{VERDICTS['same']}: within {WITHIN}", "quiet")
    if not shown:
        yield from _nothing_follows(sources)
    if left_out := sum(map(len, told)) - len(shown):
        yield Line(f"{left_out} more: --all", "quiet")


def _nothing_follows(sources: Sequence[Source]) -> Iterator[Line]:
    """Yield why there is no conclusion: of results without a number, why they have none."""
    without = [(source, why) for source in sources if (why := why_nothing(source.rows))]
    for source, why in without:
        name = f"{source.name}: " if len(sources) > 1 else ""
        yield Line(f"{name}nothing follows, since nothing was measured: {reason_sentence(why)}")
    if len(without) < len(sources):
        yield Line("nothing follows: conclusions take two of something, measured in two launches or more")


def _is_within_another(one: Said, all_of_result: Sequence[Said]) -> bool:
    """Return whether another sentence of a result says what this one does."""
    whole, cell = TOPICS[one.conclusion.topic].within, cell_of(one.conclusion.fact)
    return any(
        other.conclusion.topic == whole and cell_of(other.conclusion.fact) == cell for other in all_of_result
    )


def _record(one: Said) -> Mapping[str, Any]:
    """Return a conclusion as docs/numbers-verbs.md#conclusions has it."""
    fact: Any = one.conclusion.fact
    found = replace(finding(one.conclusion.topic, fact, one.text), remedy=one.remedy)
    return {"result": one.name, "launches": one.launches, **finding_record(found), "details": one.details}


def _flat(one: Said) -> Mapping[str, Any]:
    return {
        "result": one.name,
        "topic": one.conclusion.topic,
        "launches": one.launches,
        "text": one.text,
    }
