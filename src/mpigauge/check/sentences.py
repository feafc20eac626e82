"""Sentences about checked expectations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.check.expectations import DEFAULT_STATISTIC
from mpigauge.document.phrases import UNSAID, phrases_of
from mpigauge.rows.estimate import Printed
from mpigauge.vocabulary import EXPECTATION_VERDICTS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.check.expectations import CheckedExpectation

NOT_MEASURED = "not measured"
IMPORTED = "imported, one number, no interval"


def headline(found: Sequence[CheckedExpectation]) -> str:
    """Return how many numbers have each verdict, the worst first."""
    counts = Counter(one.verdict for one in found)
    if len(counts) == 1 and counts["holds"]:
        return f"holds: all of {len(found)} numbers"
    texts = [f"{word}: {counts[word]}" for word in EXPECTATION_VERDICTS if counts[word]]
    return f"{'; '.join(texts)}, of {len(found)} numbers"


def verdict(one: CheckedExpectation) -> str:
    """Return the words of a verdict on a number."""
    if one.row is None:
        return NOT_MEASURED
    if other := _other_statistic(one):
        return f"{one.verdict}: imported, {other}, no {one.expectation.stat}"
    if one.value is None:
        return one.row.status if one.row.time is None and one.row.status != "ok" else NOT_MEASURED
    if _is_single(one):
        return f"{one.verdict}: {IMPORTED}"
    if one.low is None:
        launches = one.row.time.launches if one.row.time is not None else 0
        return f"{one.verdict}: {launches} launch{'' if launches == 1 else 'es'}, no interval"
    return (
        f"{one.verdict}: beyond by itself, not among all"
        if one.verdict != one.single_verdict
        else one.verdict
    )


def _other_statistic(one: CheckedExpectation) -> str:
    """Return the statistic that another program printed instead of the expected one; empty if none."""
    time = one.row.time if one.row is not None else None
    has_other = one.value is None and isinstance(time, Printed) and one.expectation.stat != DEFAULT_STATISTIC
    return time.statistic or UNKNOWN if has_other and isinstance(time, Printed) else ""


def _is_single(one: CheckedExpectation) -> bool:
    """Return whether it is a number that another program has printed once."""
    return one.low is None and one.value is not None and one.row is not None and one.row.imported


def cell_of(one: CheckedExpectation) -> str:
    """Return the words of its cell; the expectation's text if it has none."""
    if one.row is None:
        return one.expectation.text
    phrases = [phrase for phrase in phrases_of(one.row.cell).values() if phrase not in UNSAID]
    return " ".join([*phrases, *([f"state {one.row.state}"] if one.row.state else [])])


def size_of(one: CheckedExpectation) -> str:
    """Return the message size in words."""
    return units.format_size(one.row.cell.bytes) if one.row is not None and one.row.sized else ""


def notes(found: Sequence[CheckedExpectation]) -> Iterator[str]:
    """Yield what to do about undecided numbers."""
    if nothing := sum(one.value is None and not _other_statistic(one) for one in found):
        yield f"{NOT_MEASURED}: {nothing}; what was not measured does not hold"
    if beyond := sum(one.verdict != one.single_verdict for one in found):
        tested = sum(one.p is not None for one in found)
        yield f"beyond its bound by itself: {beyond}; among {tested} numbers chance does that in over 5 %"
    if any(one.single_verdict == "undecided" and one.low is not None for one in found):
        yield "undecided: the bound lies in the interval; more launches narrow it: --launches, --precision"
    if single := sum(map(_is_single, found)):
        yield f"imported: {single}; texts of several runs of one command have an interval: mpigauge import"
    if any(one.value is not None and one.low is None and not _is_single(one) for one in found):
        yield "no interval: --launches 5 at least"
