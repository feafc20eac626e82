"""Findings of the doctor as a document: a table per group, and a summary line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.document.document import Cases, Column, Document, Line, Table
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Tone
    from mpigauge.vocabulary import FindingState

LIBRARY = "MPI library"
SCHEDULER = "scheduler"
TONES: Mapping[FindingState, Tone] = {"ok": "good", "info": "", "note": "doubt", "lacks": "bad"}


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """Result of one check.

    Attributes:
        state: ok, info (neither good nor bad, or unknown), note (it disturbs) or lacks (prevents measuring).
    """

    state: FindingState
    what: str
    value: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    """Line of a table: a finding, or its remedy below it."""

    state: str
    what: str
    text: str
    tone: Tone


def document(grouped: Mapping[str, Sequence[DoctorFinding]], environment: Mapping[str, Any]) -> Document:
    """Return the findings as a document, a table per group.

    Args:
        environment: Description of the machine, for programs.
    """
    findings = [finding for group in grouped.values() for finding in group]
    return Document(
        tables=[Table(name, "", [*lines_of(group)], columns_of(findings)) for name, group in grouped.items()],
        foot=[_summary(findings)],
        data=lambda: {"findings": [*map(asdict, findings)], "environment": environment},
        records=lambda: map(asdict, findings),
        cases=lambda: [_cases(name, group) for name, group in grouped.items()],
    )


def _cases(title: str, group: Sequence[DoctorFinding]) -> Cases:
    """Return a case per finding, with its remedy."""
    lines = [
        _Line(
            finding.state,
            finding.what,
            " -> ".join(filter(None, [finding.value, finding.remedy])),
            TONES[finding.state],
        )
        for finding in group
    ]
    return Cases(Table(title, "", lines, columns_of(group)), [finding.what for finding in group])


def lines_of(group: Sequence[DoctorFinding]) -> Iterator[_Line]:
    """Return a line per finding, and one per remedy."""
    for finding in group:
        tone = TONES[finding.state]
        yield _Line(finding.state, finding.what, finding.value, tone)
        if finding.remedy:
            yield _Line("", "", f"-> {finding.remedy}", tone)


def columns_of(findings: Sequence[DoctorFinding]) -> list[Column]:
    """Return columns of one width in all groups, so that their values align."""
    width = max((len(finding.what) for finding in findings), default=0)
    return [
        Column(
            "state", "", lambda line: f"{line.state:<5}", left=True, goes=None, tone=lambda line: line.tone
        ),
        Column("what", "", lambda line: f"{line.what:<{width}}", left=True, goes=None),
        Column("value", "", lambda line: line.text, left=True, wraps=True, goes=None, tone=_tone),
    ]


def _tone(line: _Line) -> Tone:
    return "" if line.state else line.tone


def _summary(findings: Sequence[DoctorFinding]) -> Line:
    """Return whether one can measure here, and what to expect."""
    lacking = dict.fromkeys(finding.what for finding in findings if finding.state == "lacks")
    missing = " and ".join(what for what in lacking if what != SCHEDULER)
    in_the_way = "variables of a scheduler or launcher are in the way" if SCHEDULER in lacking else ""
    if lacking:
        why = ", and ".join(filter(None, [missing and f"{missing} missing", in_the_way]))
        return Line(f"not ready to measure: {why}", "bad")
    libraries = sum(finding.what == LIBRARY and finding.state == "ok" for finding in findings)
    notes = sum(finding.state == "note" for finding in findings)
    doubts = counted(notes, "note") if notes else "no problems found"
    return Line(f"ready to measure: {counted(libraries, 'library')}; {doubts}", "good")
