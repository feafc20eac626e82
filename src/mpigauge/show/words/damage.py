"""What is lost of a result file, in words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from mpigauge.show.words.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNS_NAMED = 4


def damage_finding(numbers: Sequence[int]) -> Finding | None:
    """The same as a finding; None of a file that is whole."""
    if not numbers:
        return None
    return Finding("damaged", "warning", (), {"lines": list(numbers)}, damaged_line(numbers))


def damaged_line(numbers: Sequence[int]) -> str:
    """That lines are lost, and which, neighbours as one."""
    noun, verb = ("line", "is") if len(numbers) == 1 else ("lines", "are")
    return f"{len(numbers)} {noun} of the file {verb} damaged and left out: {_runs(numbers)}"


def _runs(numbers: Sequence[int]) -> str:
    steps = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in run] for _, run in steps]
    named = [f"{run[0]}\N{EN DASH}{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:RUNS_NAMED]]
    return ", ".join([*named, *(["..."] if len(runs) > RUNS_NAMED else [])])
