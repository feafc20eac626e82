"""All that a result says beyond its numbers: facts with their sentences, for programs and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.compare.within import Within
from mpigauge.document.finding import Finding
from mpigauge.document.state_words import state_findings
from mpigauge.find import comparisons, missing_ratios
from mpigauge.find.card_sentences import cards_finding
from mpigauge.find.comparison_sentences import comparison
from mpigauge.find.damage import damage_finding
from mpigauge.find.disturbance_sentences import disturbance_findings
from mpigauge.find.imported import unread_findings
from mpigauge.find.memory_cost_sentences import memory_finding
from mpigauge.find.memory_costs import memory_facts
from mpigauge.find.missing_ratio_sentences import ranks_apart_finding
from mpigauge.find.steadiness_sentences import steadiness_finding
from mpigauge.find.warning_sentences import sentence
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.rows.transport.cards_used import cards_used
from mpigauge.vocabulary import NOTES

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

NOT_COMPARED = (missing_ratios.modes_apart, missing_ratios.libraries_apart)
"""What could not be compared."""


def findings_of(result: Result, rows: Sequence[Row], controls: Sequence[Row] = ()) -> Iterator[Finding]:
    """All findings: what disturbed, states and speed of the machine, copies, cards, comparisons, warnings.

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
        yield from map(comparison, compare(curves))
    for missing in NOT_COMPARED:
        yield from map(ranks_apart_finding, missing(curves))
    yield from map(ranks_apart_finding, missing_ratios.copies_apart(rows))
    yield from warning_findings(rows)


def warning_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """Every warning of every cell."""
    for row in rows:
        for warning in row.warnings:
            yield Finding(
                warning.kind,
                "info" if warning.kind in NOTES else "warning",
                (row.cell,),
                dict(warning.values),
                sentence(warning),
            )
