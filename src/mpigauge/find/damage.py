"""What is lost of a result file, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.finding import Finding
from mpigauge.sequences import consecutive, runs
from mpigauge.units import DASH, counted, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import PackedDamage

RUNS_NAMED = 4


PACKED: dict[PackedDamage, str] = {
    "cut": "the compressed file ends in the middle: what it has before that is shown",
    "damaged": "the compressed file is damaged: what it has before that is shown",
    "altered": "the checksum of the compressed file is wrong: numbers may have changed",
}


def damage_finding(result: Result) -> Finding | None:
    """The same as a finding; None of a file that is whole."""
    if not (lines := damage_lines(result.damaged, result.packed_damage)):
        return None
    facts: dict[str, object] = {"lines": list(result.damaged)}
    if result.packed_damage:
        facts["packed"] = result.packed_damage
    return Finding("damaged", "warning", (), facts, "; ".join(lines))


def damage_lines(numbers: Sequence[int], packed: PackedDamage | None) -> list[str]:
    """What is lost of a file, a line for each reason; none of one that is whole."""
    return [
        *([PACKED[packed]] if packed else []),
        *([damaged_line(numbers)] if numbers else []),
    ]


def damaged_line(numbers: Sequence[int]) -> str:
    """That lines are lost, and which, neighbours as one."""
    verb = "is" if len(numbers) == 1 else "are"
    return f"{counted(len(numbers), 'line')} of the file {verb} damaged and left out: {_runs(numbers)}"


def _runs(numbers: Sequence[int]) -> str:
    found = runs(numbers, consecutive)
    named = [span(str(run[0]), str(run[-1]), DASH) for run in found[:RUNS_NAMED]]
    return ", ".join([*named, *(["..."] if len(found) > RUNS_NAMED else [])])
