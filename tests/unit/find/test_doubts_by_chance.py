"""Rows of worlds in which nothing is wrong hardly carry a doubt; those with something planted do."""

from __future__ import annotations

import numpy as np
import pytest

from mpigauge.find.warning_sentences import NOTES
from mpigauge.rows.warnings import Circumstances, warnings_for
from tests.unit.rows.planted import estimate

CELLS, LAUNCHES, VISITS, ROUNDS = 80, 10, 8, 16


def doubts(
    launch: float, visit: float, round_: float, step_ns: float = 0.0, time_ns: float = 5000.0
) -> float:
    """Share of the rows with one; spreads are standard deviations of log t."""
    generator = np.random.default_rng(17)
    shape = (CELLS, LAUNCHES, VISITS, ROUNDS)
    logs = generator.normal(0, launch, (*shape[:2], 1, 1)) + generator.normal(0, visit, (*shape[:3], 1))
    times = time_ns * np.exp(logs + generator.normal(0, round_, shape))
    steps = None
    if step_ns:
        times = np.floor((times + generator.uniform(0, step_ns, shape)) / step_ns) * step_ns
        steps = [[1e-9 * step_ns] * VISITS] * LAUNCHES
    found = [estimate([list(one) for one in cell], steps_s=steps) for cell in 1e-9 * times]
    circumstances = [Circumstances(estimate=one, ranks=2, cores=2, precision=0.03) for one in found]
    kinds = [
        {warning.kind for warning in warnings_for(one)} - NOTES - {"clock-step"} for one in circumstances
    ]
    return float(np.mean([bool(mine) for mine in kinds]))


@pytest.mark.parametrize(
    ("launch", "visit", "round_", "step_ns", "time_ns"),
    [
        (0.0, 0.0, 0.03, 0.0, 5000.0),
        (0.03, 0.0, 0.03, 0.0, 5000.0),
        (0.10, 0.0, 0.03, 0.0, 5000.0),
        (0.01, 0.02, 0.01, 0.0, 5000.0),
        (0.005, 0.0, 0.03, 10.0, 488.0),
        (0.0, 0.0, 0.03, 10.0, 485.0),
    ],
)
def test_chance_hardly_gives_a_row_a_doubt(
    launch: float, visit: float, round_: float, step_ns: float, time_ns: float
) -> None:
    # 2 % of 80 rows, and three standard deviations.
    assert doubts(launch, visit, round_, step_ns, time_ns) <= 0.06
