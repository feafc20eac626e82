"""A machine whose speed changed while a result was measured, in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge.document.finding import Finding
from mpigauge.units import format_factor, format_percent, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.rows.machine.steadiness import SpeedsApart, Steadiness


def steadiness_words(seen: Steadiness) -> str:
    """What was not steady, in a few words: the first two of what there is."""
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
    """The same with its numbers and what to do; None of a steady machine."""
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
    """That the machine was slower in one result than in another.

    Args:
        names: Of all results.
    """
    ratio = format_factor(fact.ratio)
    times = f"{format_time(fact.slow_s)} instead of {format_time(fact.fast_s)}"
    text = (
        f"machine {ratio} times as slow in {names[fact.slow]} as in {names[fact.fast]} (arithmetic: {times})"
    )
    return Finding("speeds-apart", "warning", (), asdict(fact) | {"ratio": fact.ratio}, text)
