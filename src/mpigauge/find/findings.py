"""All that a result says beyond its numbers: facts with their sentences, for programs and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.compare.within import Within
from mpigauge.document.finding import Finding
from mpigauge.document.state_words import state_findings
from mpigauge.find import comparisons
from mpigauge.find.disturbances import disturbance_findings
from mpigauge.find.imported import damage_finding, unread_findings
from mpigauge.find.memory_costs import memory_facts, memory_finding
from mpigauge.find.sessions import steadiness_finding
from mpigauge.find.transport import cards_finding
from mpigauge.find.warning_sentences import NOTES, sentence
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.rows.transport.cards_used import cards_used

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

COMPARISONS = (
    comparisons.latencies_of_places,
    comparisons.payoffs_of_places,
    comparisons.modes,
    comparisons.libraries,
    comparisons.settings,
)
"""All comparisons within one result."""

NOT_COMPARED = (comparisons.modes_apart, comparisons.libraries_apart)
"""What could not be compared."""


def findings_of(result: Result, rows: Sequence[Row], controls: Sequence[Row] = ()) -> Iterator[Finding]:
    """Yield all findings: disturbances, state and speed of the machine, copies, cards, comparisons, warnings.

    Args:
        controls: Rows of control arms.
    """
    yield from disturbance_findings(result, rows)
    yield from filter(None, [damage_finding(result)])
    yield from unread_findings(result)
    yield from state_findings(result)
    yield from filter(None, [steadiness_finding(steadiness_of(result))])
    yield from map(memory_finding, memory_facts(rows, measured_machine(result).caches))
    yield from map(cards_finding, cards_used(rows))
    curves = curves_of(rows_by_curve(rows), Within(result, [*rows, *controls]))
    for compare in COMPARISONS:
        yield from map(comparisons.comparison, compare(curves))
    for missing in NOT_COMPARED:
        yield from map(comparisons.ranks_apart_finding, missing(curves))
    yield from map(comparisons.ranks_apart_finding, comparisons.copies_apart(rows))
    yield from warning_findings(rows)


def warning_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """Yield every warning of every cell."""
    for row in rows:
        for warning in row.warnings:
            yield Finding(
                warning.kind,
                "info" if warning.kind in NOTES else "warning",
                (row.cell,),
                dict(warning.values),
                sentence(warning),
            )
