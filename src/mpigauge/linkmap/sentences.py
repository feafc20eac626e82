"""What a link map says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import Line
from mpigauge.document.phrases import PAIR_DASH
from mpigauge.document.status_words import status_and_reason
from mpigauge.linkmap.reasons import (
    HiddenByScatter,
    LaunchesDifferTooMuch,
    LinksIncomplete,
    MayBeChance,
    ScatterRaisesFactor,
    TooFewHosts,
    TooFewLaunches,
    UsualIsFastest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.reasons import MapNote, UndecidedReason
    from mpigauge.linkmap.slow_links import Extent
    from mpigauge.linkmap.verdict import MeasuredLink, Slow

_SUSPECTS_SHOWN = 5


def undecided(reason: UndecidedReason) -> str:
    """Return why a map is undecided, or would be if nothing were slow."""
    match reason:
        case TooFewHosts(count, needed):
            more = f"it takes {needed} or more: --hosts, or --np {needed}"
            return f"with {count} nobody can tell which is slow, nor what is usual; {more}"
        case LaunchesDifferTooMuch():
            return "launches differ so much that no number of them would tell"
        case TooFewLaunches(launches, needed):
            few = "one launch cannot tell" if launches == 1 else f"{launches} launches are too few"
            return f"{few}: use --launches {needed} or more"
        case MayBeChance(launches):
            return f"what looks slow may be chance: use more than {launches} launches"
        case HiddenByScatter(size_bytes, factor):
            size = units.format_size(size_bytes)
            return f"links differ anyway at {size}: one is known to be slow from a factor of {factor:.3g} on"
        case LinksIncomplete(missing, links):
            return f"{missing} of {links} links were not measured in all sizes"


def note(fact: MapNote) -> str:
    """Return what else a reader should know of a map."""
    match fact:
        case UsualIsFastest():
            return (
                "of three the fastest link is taken for the usual: a slow link cannot be told from two slow "
                "hosts, nor a slow host from a fast link"
            )
        case ScatterRaisesFactor(size_bytes, factor):
            return f"links differ anyway at {size_bytes} B: there only a factor of {factor:.3g} counts"


def trouble(link: MeasuredLink) -> str:
    """Return what went wrong on a link; empty if nothing did."""
    return "" if link.trouble is None else status_and_reason(link.trouble)


def verdict_lines(shown: LinkMap) -> list[Line]:
    """Return what is slow, a line each; else one line that says so."""
    verdict = shown.verdict
    lines = [Line(f"{_word(one)} host {_what(shown, one)}", "bad") for one in verdict.hosts]
    lines += [Line(f"{_word(one)} link {_what(shown, one)}", "bad") for one in verdict.links]
    lines += [
        Line(f"failed link {PAIR_DASH.join(link.names)}: {trouble(link)}", "bad")
        for link in shown.links
        if link.trouble
    ]
    if verdict.word == "none":
        lines.append(Line(f"nothing is slow: {_asked(shown)}", "good"))
    if verdict.word == "undecided":
        reasons = [f"undecided: {undecided(reason)}" for reason in verdict.reasons] or ["undecided"]
        lines += [Line(reason, "doubt") for reason in reasons]
        worst, rest = verdict.suspects[:_SUSPECTS_SHOWN], verdict.suspects[_SUSPECTS_SHOWN:]
        lines += [Line(f"perhaps slow: {_what(shown, one)}", "doubt") for one in worst]
        lines += [Line(f"perhaps slow: {len(rest)} more (--format json has all)", "doubt")] if rest else []
    return lines


def _word(one: Slow) -> str:
    return "flaky" if one.flaky else "slow"


def _what(shown: LinkMap, one: Slow) -> str:
    """Return names and factors of something slow."""
    quantities = (
        (shown.latency_bytes, one.latency, _latency),
        (shown.rate_bytes, one.rate, _rate),
    )
    parts = [
        _longer(size, extent) + _beside_usual(shown, one, extent, words)
        for size, extent, words in quantities
        if extent is not None
    ]
    return f"{PAIR_DASH.join(one.names)}: {', '.join(parts)}"


def _beside_usual(
    shown: LinkMap, one: Slow, extent: Extent, words: Callable[[Sequence[MeasuredLink]], str]
) -> str:
    """Return ` (2.04 ms where 39.7 µs to 40.9 µs is usual)`, if always slow and with one usual time."""
    verdict = shown.verdict
    if len(verdict.groups) > 1 or extent.flaky:
        return ""
    odd = (*verdict.hosts, *verdict.links, *verdict.suspects)
    # A link that is slow by itself is named for that, also where one of its hosts is slow, too.
    others = [other for other in odd if other is not one and len(other.names) >= len(one.names)]
    between = [link for link in shown.links if len(_hosts(link)) > 1]
    mine = [link for link in between if _is_of(link, one) and not _is_of_any(link, others)]
    usual = words([link for link in between if not _is_of_any(link, odd)])
    return f" ({words(mine)} where {usual} is usual)" if words(mine) and usual else ""


def _is_of_any(link: MeasuredLink, odd: Iterable[Slow]) -> bool:
    return any(_is_of(link, one) for one in odd)


def _is_of(link: MeasuredLink, one: Slow) -> bool:
    """Return whether a link is the slow one, or of the slow host."""
    return ({*link.names} | _hosts(link)).issuperset(one.names)


def _hosts(link: MeasuredLink) -> set[str]:
    """Return the hosts of both ends; on a map of one host, the ranks."""
    return {name.partition(":")[0] for name in link.names}


def _latency(links: Sequence[MeasuredLink]) -> str:
    found = [link.latency.time.estimate for link in links if link.latency and link.latency.time]
    return _range([units.format_time(value) for value in sorted(found)])


def _rate(links: Sequence[MeasuredLink]) -> str:
    rates = (link.rate.rate_bytes_per_s if link.rate else None for link in links)
    return _range(
        [units.format_rate(value) for value in sorted(value for value in rates if value is not None)]
    )


def _range(ordered: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys([*ordered[:1], *ordered[-1:]]))


def _longer(size_bytes: int | None, extent: Extent) -> str:
    """Return the factor, and in how many launches if not in all."""
    times = units.format_factor(extent.factor)
    longer = f"{units.format_size(size_bytes)} takes {times} times as long as usual"
    return f"{longer} in {extent.slow} of {extent.launches} launches" if extent.flaky else longer


def _asked(shown: LinkMap) -> str:
    verdict = shown.verdict
    count = len(verdict.judged)
    return f"no link or host of {count} takes {units.format_factor(verdict.factor)} times as long as usual"


def false_alarms(shown: LinkMap) -> str:
    """Return how often the rule is wrong."""
    return f"false alarms: at most {units.format_percent(shown.verdict.error_rate)} of healthy networks"
