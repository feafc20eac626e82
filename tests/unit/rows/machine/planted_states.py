"""Visits with known readings of the machine, so that its states can be found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.made import cell, visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Visit

SMALL = cell(size=8)


def visits_with(lines_ns: Sequence[Sequence[float]], **more: object) -> list[Visit]:
    """Visits of one cell, ten a launch, whose readings of the line are these."""
    return [
        visit(1 + number // 10, number % 10, SMALL, [200], line_ns=list(pair), **more)
        for number, pair in enumerate(lines_ns)
    ]


def lines(
    generator: np.random.Generator, centres_ns: Sequence[float] | np.ndarray, spread: float = 0.03
) -> list[list[float]]:
    """Two readings for every visit, around a centre each."""
    logs = np.log(np.asarray(centres_ns))[:, None] + spread * generator.standard_normal((len(centres_ns), 2))
    return [[float(before), float(after)] for before, after in np.exp(logs)]
