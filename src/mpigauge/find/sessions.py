"""Steadiness of the machine and sessions beside each other: what intervals cover, and what changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mpigauge.compare.session_sentences import sessions_finding, sessions_line, unlike_line
from mpigauge.document.finding import Finding, finding_record
from mpigauge.query.query import measured_result
from mpigauge.rows.machine.over_sessions import session_mismatches, spans_of
from mpigauge.rows.machine.steadiness import speeds_apart
from mpigauge.units import format_factor, format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.query.query import Source
    from mpigauge.rows.machine.over_sessions import SessionIntervals
    from mpigauge.rows.machine.steadiness import SpeedsApart, Steadiness


# ---- One machine ---------------------------------------------------------------------------------


def steadiness_words(seen: Steadiness) -> str:
    """Return what was not steady, in a few words: the first two of what there is."""
    words = []
    if seen.changes and seen.ratio is not None:
        words.append(f"some launches {format_factor(seen.ratio)} times as slow as others")
    if seen.has_speeds and seen.usual_share is not None:
        words.append(f"{format_percent(seen.usual_share)} at the usual speed")
    if seen.shares_cores and seen.shared_share is not None:
        words.append(f"cores shared ({format_percent(seen.shared_share)})")
    if seen.has_steal and seen.stolen_share is not None:
        words.append(f"{format_percent(seen.stolen_share)} steal")
    if len(words) > 1:
        # It would not fit a line of 80 columns beside another.
        words[0] = words[0].removesuffix(" as others")
    return ", ".join(words[:2])


def steadiness_finding(seen: Steadiness) -> Finding | None:
    """Return an unsteady machine with its numbers and what to do; None if it was steady."""
    if seen.steady:
        return None
    said = []
    if seen.changes and seen.fast_s and seen.slow_s:
        times = f"{format_time(seen.fast_s)} to {format_time(seen.slow_s)}"
        said.append(f"from launch to launch the same arithmetic took {times}")
    if seen.has_speeds and seen.usual_share is not None and seen.usual_s is not None:
        said.append(
            f"{format_percent(seen.usual_share)} of the visits were made at the usual speed of the cores, at "
            f"which arithmetic takes {format_time(seen.usual_s)} (--only quiet: these visits)"
        )
    if seen.shares_cores and seen.shared_share is not None and seen.shared_slowdown is not None:
        said.append(
            f"in {format_percent(seen.shared_share)} of the visits another hardware thread used a rank's "
            f"core, and arithmetic took {format_factor(seen.shared_slowdown)} times as long (--only quiet: "
            "the other visits)"
        )
    if seen.has_steal and seen.stolen_share is not None:
        said.append(f"a hypervisor gave {format_percent(seen.stolen_share)} of its cores' time to others")
    text = (
        f"unsteady machine: {'; '.join(said)}; intervals cover what was seen in these launches, not another "
        "hour: --over 1h, or wait until mpigauge doctor --watch 10s finds it quiet"
    )
    return Finding("unsteady-machine", "warning", (), asdict(seen) | {"ratio": seen.ratio}, text)


def speeds_finding(fact: SpeedsApart, names: Sequence[str]) -> Finding:
    """Return that the machine was slower in one result than in another.

    Args:
        names: Of all results.
    """
    ratio = format_factor(fact.ratio)
    times = f"{format_time(fact.slow_s)} instead of {format_time(fact.fast_s)}"
    text = (
        f"machine {ratio} times as slow in {names[fact.slow]} as in {names[fact.fast]} (arithmetic: {times})"
    )
    return Finding("speeds-apart", "warning", (), asdict(fact) | {"ratio": fact.ratio}, text)


# ---- Several results -----------------------------------------------------------------------------


def spans(sources: Sequence[Source]) -> list[SessionIntervals]:
    """Return both intervals of each set of sources that are sessions of each other."""
    return spans_of([measured_result(source) for source in sources])


def sessions_lines(sources: Sequence[Source]) -> Iterator[str]:
    """Yield what intervals of one time and over sessions cover; names the sources if there are others."""
    found = spans(sources)
    for one in found:
        everything = len(found) == 1 and len(one.members) == len(sources)
        yield sessions_line(one, () if everything else [sources[member].name for member in one.members])
    # One says it: of several results the others are as the first, or as far from it.
    for fact in session_mismatches([measured_result(source) for source in sources])[:1]:
        yield unlike_line(fact, [source.name for source in sources])
    if slower := _speeds(sources):
        yield slower.text


def _speeds(sources: Sequence[Source]) -> Finding | None:
    """Return that the machine itself was slower in one of them; None if it was not."""
    fact = speeds_apart([source.result for source in sources])
    return speeds_finding(fact, [source.name for source in sources]) if fact else None


def sessions_records(sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yield findings about sessions, each with the files that it is of."""
    for one in spans(sources):
        members = [sources[member] for member in one.members]
        files = [str(source.result.path) for source in members]
        found = sessions_finding(one, [source.name for source in members])
        yield {"file": files[0], "files": files, **finding_record(found)}
    if speeds := _speeds(sources):
        files = [str(source.result.path) for source in sources]
        yield {"file": files[0], "files": files, **finding_record(speeds)}
