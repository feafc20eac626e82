"""All that a result says beyond its numbers, from one list of kinds: KINDS.

Lines with `!`, what stands below tables, the `findings` of JSON and the disturbances that `explain` adds are
views of `findings_of`. To add a kind: its facts, words and `FindingKind` in the file of its topic, a place
here, and a row in docs/warnings.md. A warning of rows is a row of `warning_sentences.WORDS` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.compare.within import Within
from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import Line
from mpigauge.document.state_words import state_findings
from mpigauge.find import comparisons
from mpigauge.find.disturbances import DISTURBED, PORTABLE, THROTTLED
from mpigauge.find.explain.copies import cost_findings
from mpigauge.find.kinds import DOUBTFUL, About, FindingKind, Found, Words
from mpigauge.find.memory_costs import memory_facts, memory_finding
from mpigauge.find.missing import MISSING
from mpigauge.find.sessions import DISTURBED_LAUNCHES, UNSTEADY
from mpigauge.find.transport import cards_finding
from mpigauge.find.warning_sentences import WARNINGS
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.transport.cards_used import cards_used

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.document import Tone
    from mpigauge.document.finding import Finding
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

MAX_DOUBTS = 4
"""Doubts on one screen."""

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


def _states(about: About) -> Iterator[Finding]:
    yield from state_findings(about.result)


def _memory(about: About) -> Iterator[Finding]:
    yield from cost_findings(about.rows, varied_in(about.rows))
    yield from map(memory_finding, memory_facts(about.rows, measured_machine(about.result).caches))


def _cards(about: About) -> Iterator[Finding]:
    yield from map(cards_finding, cards_used(about.rows))


def _compared(about: About) -> Iterator[Finding]:
    curves = curves_of(rows_by_curve(about.rows), Within(about.result, [*about.rows, *about.controls]))
    varied = varied_in(about.rows)
    for compare in COMPARISONS:
        yield from (comparisons.comparison(fact, varied) for fact in compare(curves))
    for missing in NOT_COMPARED:
        yield from map(comparisons.ranks_apart_finding, missing(curves))
    yield from map(comparisons.ranks_apart_finding, comparisons.copies_apart(about.rows))


def _fact(name: str, find: Callable[[About], Iterator[Finding]]) -> FindingKind:
    """Return a kind of facts that make nothing doubtful, each of which is a finding already."""
    return FindingKind(
        name, "fact", find, lambda found: Words(found.text), told=lambda _, found: iter([found])
    )


KINDS: tuple[FindingKind, ...] = (
    *(kind for kind in WARNINGS if kind.severity == "wrong"),
    *DISTURBED,
    *MISSING,
    UNSTEADY,
    THROTTLED,
    DISTURBED_LAUNCHES,
    *(kind for kind in WARNINGS if kind.severity != "wrong"),
    PORTABLE,
    _fact("states", _states),
    _fact("memory", _memory),
    _fact("cards-used", _cards),
    _fact("compared", _compared),
)
"""All kinds of findings; those that make numbers wrong stand first, the worst of them before others."""


def findings_of(
    result: Result, rows: Sequence[Row], controls: Sequence[Row] = (), *, doubtful: bool = False
) -> list[Found]:
    """Return all findings about a result, in the order of their kinds.

    Args:
        controls: Rows of control arms.
        doubtful: Whether only what makes numbers doubtful is asked for: comparisons take longer.
    """
    return _found(About(result, rows, controls), lambda kind: not doubtful or kind.severity in DOUBTFUL)


def _found(about: About, asked: Callable[[FindingKind], bool]) -> list[Found]:
    """Return the findings of the kinds that are asked for, in the order of all kinds."""
    kinds = [(place, kind) for place, kind in enumerate(KINDS) if asked(kind)]
    return [Found(about, kind, fact, place) for place, kind in kinds for fact in kind.find(about)]


def told(found: Iterable[Found]) -> Iterator[Finding]:
    """Yield findings as JSON has them: of a warning, one for each cell."""
    for one in found:
        yield from one.told()


def doubts_of(result: Result, rows: Sequence[Row]) -> list[Found]:
    """Return what makes numbers doubtful and is no chance, the worst first."""
    found = findings_of(result, rows, doubtful=True)
    return sorted((one for one in found if one.on_screen), key=lambda one: one.rank)


def worst_doubts(
    result: Result, rows: Sequence[Row], most: int = MAX_DOUBTS, name: str = ""
) -> Iterator[Line]:
    """Yield the worst doubts of a result, as a screen has them: `! launches are bimodal: …`.

    Args:
        name: What stands before each, where there are several results.
    """
    for doubt in doubts_of(result, rows)[:most]:
        yield Line(f"! {name}{doubt.line}", "doubt")


def doubt_lines(result: Result, rows: Sequence[Row], *, remedies: bool = True) -> Iterator[Line]:
    """Yield all that makes numbers doubtful, in whole sentences, in the order of the kinds.

    Args:
        remedies: Whether with what to do, which is for who measures.
    """
    for one in findings_of(result, rows, doubtful=True):
        tone: Tone = "" if one.of.severity == "note" else "doubt"
        yield from (Line((words if remedies else words.told).text, tone) for words in one.below())


def disturbances_of(result: Result, rows: Sequence[Row]) -> list[Found]:
    """Return what makes all numbers of a result wrong, the worst first."""
    names = {kind.name for kind in DISTURBED if kind.severity in DOUBTFUL}
    return _found(About(result, rows), lambda kind: kind.name in names)
