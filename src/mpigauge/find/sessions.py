"""Results beside each other: what the intervals of their sessions cover, and whether the machine changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.compare.session_sentences import sessions_finding, sessions_line, unlike_line
from mpigauge.document.finding import finding_record
from mpigauge.find.steadiness_sentences import speeds_finding
from mpigauge.query.query import measured
from mpigauge.rows.machine.over_sessions import spans_of, unlike
from mpigauge.rows.machine.steadiness import speeds_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.query.query import Source
    from mpigauge.rows.machine.over_sessions import Spans


def spans(sources: Sequence[Source]) -> list[Spans]:
    """Both intervals of each set of sources that are sessions of each other."""
    return spans_of([measured(source) for source in sources])


def sessions_lines(sources: Sequence[Source]) -> Iterator[str]:
    """What the intervals of one time and those over sessions cover; names the sources if there are others."""
    found = spans(sources)
    for one in found:
        everything = len(found) == 1 and len(one.members) == len(sources)
        yield sessions_line(one, () if everything else [sources[member].name for member in one.members])
    # One says it: of several results the others are as the first, or as far from it.
    for fact in unlike([measured(source) for source in sources])[:1]:
        yield unlike_line(fact, [source.name for source in sources])
    if slower := _speeds(sources):
        yield slower.text


def _speeds(sources: Sequence[Source]) -> Finding | None:
    """If the machine itself was slower in one of them."""
    fact = speeds_apart([source.result for source in sources])
    return speeds_finding(fact, [source.name for source in sources]) if fact else None


def sessions_records(sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """The same as findings, each with the files that it is of."""
    for one in spans(sources):
        members = [sources[member] for member in one.members]
        files = [str(source.result.path) for source in members]
        found = sessions_finding(one, [source.name for source in members])
        yield {"file": files[0], "files": files, **finding_record(found)}
    if speeds := _speeds(sources):
        files = [str(source.result.path) for source in sources]
        yield {"file": files[0], "files": files, **finding_record(speeds)}
