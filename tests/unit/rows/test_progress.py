"""Whether an operation waits for its target, by the samples of each launch."""

from __future__ import annotations

import pytest

from mpigauge.rows.synchrony import Progress, progress_of
from tests.made import cell, measured

WORK_NS = 1000
LONG, SHORT = 800, 50


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        ([LONG, LONG], Progress(1, 1)),
        ([SHORT, SHORT, SHORT], Progress(0, 1)),
        ([], None),
        ([SHORT, LONG], None),
        ([SHORT, SHORT, LONG], None),
        ([SHORT, SHORT, SHORT, SHORT, LONG], Progress(0, 1)),
        ([SHORT, SHORT, SHORT, LONG, LONG], Progress(1, 1)),
    ],
)
def test_few_samples_tell_only_what_all_of_them_say(samples: list[int], found: Progress | None) -> None:
    visits = [*measured([cell("progress", 8, "put")], [1], lambda *_: samples, work_ns=WORK_NS)]
    assert progress_of(visits) == found


def test_a_launch_that_does_not_tell_is_none_of_those_that_do() -> None:
    visits = [
        *measured(
            [cell("progress", 8, "put")],
            [1, 2],
            lambda _, launch: [LONG] * 9 if launch == 1 else [SHORT, LONG],
            work_ns=WORK_NS,
        )
    ]
    assert progress_of(visits) == Progress(1, 1)
