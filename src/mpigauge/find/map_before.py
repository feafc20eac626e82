"""What became slower in a link map since the earlier maps of an equal plan, and its sentences.

The map itself asks which link is slow beside the others. This asks which is slow beside itself, so it also
sees what is slow as a whole, and the link of two hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.compare.comparison import MIN_BASE_SESSIONS, distance
from mpigauge.compare.history.baseline import against
from mpigauge.compare.history.earlier import relabelled
from mpigauge.compare.history.session import session_of
from mpigauge.compare.session_sentences import day_of, other_words, switches
from mpigauge.document.document import Document, Line, Metric
from mpigauge.document.phrases import PAIR_DASH
from mpigauge.document.records import decision_record, finite_or_none
from mpigauge.linkmap.table import verdict_lines
from mpigauge.plan.round_robin import pair_ranks
from mpigauge.rows.machine.sessions import are_daily
from mpigauge.sequences import group_by
from mpigauge.stats.decision import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.history.changes import VersionChange
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import Verdict

MIN_LINKS_OF_HOST = 2
"""Links from which those of a host are more than a link."""

MAX_CHANGES_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class LinkChange:
    """The time of one size on one link, beside the earlier maps.

    Attributes:
        names: Names of both ends, as in the map.
    """

    names: tuple[str, str]
    compared: Compared

    @property
    def bytes(self) -> int:
        """Message size, in bytes."""
        return self.compared.pair.other.cell.bytes

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts of both ends; on a map of one host, the ranks."""
        return frozenset(name.partition(":")[0] for name in self.names)


@dataclass(frozen=True, slots=True)
class SlowedElement:
    """What takes longer than in the earlier maps.

    Attributes:
        names: Both ends of a link, or one host; empty if it is all links.
        ratios: How many times as long it takes, the median of its links, by size in bytes.
    """

    names: tuple[str, ...]
    ratios: Mapping[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class MapChanges:
    """A map beside the earlier ones of its plan.

    Attributes:
        comparison: Of each link and size, against what the earlier maps let expect.
        links: In the order of the map.
        before: The earlier maps, the newest first; may be none.
        switches: Versions that differ from those of the newest.
    """

    comparison: Comparison
    links: tuple[LinkChange, ...]
    before: tuple[SessionResult, ...]
    switches: tuple[VersionChange, ...]

    @property
    def enough(self) -> bool:
        """Return whether there are enough earlier maps for a verdict."""
        return len(self.before) >= MIN_BASE_SESSIONS

    @property
    def slower(self) -> bool:
        """Return whether anything takes longer than before, or is lost."""
        return self.comparison.verdict == "slower"

    @property
    def undecided(self) -> bool:
        """Return whether it is not known whether anything takes longer."""
        return self.comparison.verdict == "undecided"

    def with_verdict(self, verdict: Verdict) -> list[LinkChange]:
        """Return the links and sizes that have a verdict."""
        return [link for link in self.links if link.compared.verdict == verdict]


def map_session(result: Result, shown: LinkMap, labels: Mapping[str, str] | None = None) -> SessionResult:
    """Return a map as a session: its latencies and its times of the largest message.

    It has no signs of the machine: the distance of ranks is what a map measures.

    Args:
        labels: Labels that its library gets, by kind; None for its own.
    """
    rows = [row for link in shown.links for row in (link.latency, link.rate) if row is not None]
    session = session_of(result, relabelled(rows, labels or {}))
    return replace(session, signs={})


def changes_of(before: Sequence[SessionResult], new: SessionResult, shown: LinkMap) -> MapChanges:
    """Return what differs between a map and the earlier ones, by its own factor and rate of false alarms.

    Args:
        before: The earlier maps, the newest first, all with the same names of ranks.
        new: The map as a session.
    """
    enough, level = shown.verdict.factor - 1, shown.verdict.error_rate
    found = against(before[::-1], new, Thresholds(enough, enough, level))
    links = []
    for cell in found.shown.cells:
        i, j = pair_ranks(cell.pair.other.cell.pair)
        links.append(LinkChange((shown.names[i], shown.names[j]), cell))
    return MapChanges(found.shown, tuple(links), tuple(before), tuple(found.switches))


# ---- What is slower: all of it, a host, or a link ------------------------------------------------


def slowed(changes: MapChanges) -> list[SlowedElement]:
    """Return what takes longer than before, the worst first: all links, a host with all its links, a link."""
    found: dict[tuple[str, ...], dict[int, float]] = {}
    for size, links in group_by(changes.links, lambda link: link.bytes).items():
        for names, ratio in _slowed_at(links):
            found.setdefault(names, {})[size] = ratio
    elements = [SlowedElement(*one) for one in found.items()]
    return sorted(elements, key=lambda one: -max(one.ratios.values()))


def _slowed_at(links: Sequence[LinkChange]) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield what is slower at one size, with its ratio."""
    slow = [link for link in links if link.compared.verdict == "slower"]
    if len(slow) == len(links) >= MIN_LINKS_OF_HOST:
        yield (), _ratio(slow)
        return
    blamed: set[str] = set()
    for host in dict.fromkeys(name.partition(":")[0] for link in links for name in link.names):
        own = [link for link in links if host in link.hosts and len(link.hosts) > 1]
        if len(own) >= MIN_LINKS_OF_HOST and all(link.compared.verdict == "slower" for link in own):
            blamed.add(host)
            yield (host,), _ratio(own)
    for link in slow:
        if not link.hosts & blamed:
            yield link.names, _ratio([link])


def _ratio(links: Iterable[LinkChange]) -> float:
    return median(link.compared.ratio or 1.0 for link in links)


# ---- Sentences -----------------------------------------------------------------------------------


def change_lines(changes: MapChanges) -> list[Line]:
    """Return what is slower than in the earlier maps, a line each; else one line: as before, or undecided."""
    if changes.slower:
        found = slowed(changes)
        lines = [Line(f"slower than before: {_slowed_words(one, changes)}", "bad") for one in found]
        more = len(lines) - MAX_CHANGES_SHOWN
        lost = [link for link in changes.links if link.compared.lost]
        lines += [Line(f"lost since then: {PAIR_DASH.join(link.names)}", "bad") for link in lost]
        return [*lines[:MAX_CHANGES_SHOWN], *([Line(f"slower: {more} more: --format json")] * (more > 0))]
    if changes.undecided:
        return [Line(f"as before? {_open_words(changes)}", "doubt")]
    factor = units.format_factor(1 + changes.comparison.thresholds.margin)
    said = f"as before: no link takes {factor} times as long as {_then(changes)}"
    faster = len(changes.with_verdict("faster"))
    return [Line(f"{said}; faster: {faster} of {len(changes.links)} numbers" if faster else said, "good")]


def _slowed_words(one: SlowedElement, changes: MapChanges) -> str:
    what = PAIR_DASH.join(one.names) if one.names else "all links"
    kind = {0: "", 1: "host "}.get(len(one.names), "link ")
    first, *more = [
        (units.format_size(size), units.format_factor(ratio)) for size, ratio in one.ratios.items()
    ]
    times = ", ".join([f"{first[0]} takes {first[1]}", *(f"{size} {ratio}" for size, ratio in more)])
    return f"{kind}{what}: {times} times as long as {_then(changes)}"


def _then(changes: MapChanges) -> str:
    """Return `in results/b.jsonl of 2026-11-08 and 2 maps before it (Open MPI 5.0.7 -> 5.0.8)`."""
    daily = are_daily(one.begun_s for one in changes.before)
    newest, more = changes.before[0], len(changes.before) - 1
    before = f" and {units.counted(more, 'map')} before it" if more else ""
    what = f" ({said})" if (said := switches(changes.switches)) else ""
    return f"in {newest.path} of {day_of(newest.begun_s, daily=daily)}{before}{what}"


def _open_words(changes: MapChanges) -> str:
    count = len(changes.before)
    if not count:
        return (
            f"no earlier map of this plan is in results/, nor kept; a verdict takes {MIN_BASE_SESSIONS} maps"
        )
    if not changes.enough:
        takes = f"a verdict takes {MIN_BASE_SESSIONS} earlier maps: measure {MIN_BASE_SESSIONS - count} more"
        return f"{takes}; {_farthest(changes)} as {_then(changes)}"
    unlike = [link for link in changes.links if link.compared.decision is None]
    if unlike:
        count = len(unlike)
        return (
            f"{count} of {len(changes.links)} numbers are not in {MIN_BASE_SESSIONS} earlier maps "
            "with the ranks equally far apart"
        )
    factor = 1 + changes.comparison.thresholds.allow
    open_ = [link for link in changes.links if not _passes(link.compared, factor - 1)]
    may = f"{len(open_)} of {len(changes.links)} numbers may take {units.format_factor(factor)} times as long"
    return f"{may} as {_then(changes)}: these maps differ too much; {_farthest(changes)}"


def _passes(compared: Compared, allow: float) -> bool:
    return compared.decision is not None and compared.decision.passes(allow)


def _farthest(changes: MapChanges) -> str:
    """Return `the farthest from 1: h1 - h3, 8 B, 1.80 times as long`: a ratio without a verdict."""
    known = [link for link in changes.links if link.compared.ratio is not None]
    if not known:
        return "no number is in both"
    link = max(known, key=lambda one: _apart(one.compared))
    size, ratio = units.format_size(link.bytes), units.format_factor(link.compared.ratio or 1.0)
    return f"most changed: {PAIR_DASH.join(link.names)}, {size}: {ratio} times as long"


def _apart(compared: Compared) -> float:
    ratio = compared.ratio or 1.0
    return max(distance(compared), ratio, 1 / ratio)


def with_changes(
    document: Document, shown: LinkMap, changes: MapChanges | None, path: str, *, said: bool, brief: bool
) -> Document:
    """Return the document of a map with what changed since the earlier ones, below its verdict.

    Args:
        changes: None if there is nothing to look back at.
        path: The map's file, as an argument.
        said: Whether the text says it, too.
        brief: Whether it says nothing but that: not how to name other maps.
    """
    if changes is None:
        return document
    verdict, lines = len(verdict_lines(shown)), change_lines(changes) if said else []
    if changes.before and said and not brief:
        lines.append(Line(other_words(path)))
    data, metrics = document.data, document.metrics
    count = Metric(
        "mpigauge_map_slower_than_before",
        "Hosts and links that take longer than in earlier maps.",
        [({}, float(len(slowed(changes))))],
    )
    return replace(
        document,
        foot=[*document.foot[:verdict], *lines, *document.foot[verdict:]],
        data=None if data is None else lambda: {**data(), "before": _record(changes)},
        metrics=None if metrics is None else lambda: [*metrics(), count],
    )


def _record(changes: MapChanges) -> dict[str, Any]:
    """Return the changes for programs: docs/map.md#json."""
    return {
        "files": [str(one.path) for one in changes.before],
        "verdict": changes.comparison.verdict,
        "slowed": [
            {"hosts": [*one.names], "bytes": size, "ratio": ratio}
            for one in slowed(changes)
            for size, ratio in one.ratios.items()
        ],
        "links": [
            {
                "hosts": [*link.names],
                "bytes": link.bytes,
                "before_s": finite_or_none(link.compared.pair.time_s(0)),
                "now_s": finite_or_none(link.compared.pair.time_s(1)),
                "ratio": finite_or_none(link.compared.ratio),
                **decision_record(link.compared.decision, "low", "high"),
                "verdict": link.compared.verdict,
            }
            for link in changes.links
        ],
    }
