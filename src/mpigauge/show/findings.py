"""What the doctor has found, as text: one line a finding, its state first, to be searched by grep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.vocabulary import FindingState


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's.

    Attributes:
        state: ok, note (it will disturb) or lacks (it cannot be done).
    """

    state: FindingState
    what: str
    value: str
    remedy: str = ""


def text(findings: Sequence[Finding]) -> str:
    """Aligned, a remedy below its finding."""
    width = max(len(finding.what) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:<6} {finding.what:<{width}}  {finding.value}")
        if finding.remedy:
            lines.append(f"{'':<6} {'':<{width}}  -> {finding.remedy}")
    return "\n".join([*lines, ""])


def summary(findings: Sequence[Finding], libraries: int) -> str:
    """In one line, whether one can measure here and what will be seen of the place.

    Args:
        libraries: How many MPI libraries work.
    """
    lacking = [finding.what for finding in findings if finding.state == "lacks"]
    if lacking:
        return f"not ready to measure: {' and '.join(dict.fromkeys(lacking))} missing"
    notes = sum(finding.state == "note" for finding in findings)
    disturbing = f"{_count(notes, 'thing')} to know, marked !" if notes else "nothing to object to"
    return f"ready to measure: {_count(libraries, 'library', 'libraries')}; {disturbing}"


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or f'{one}s'}"
