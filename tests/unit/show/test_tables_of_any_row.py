"""Tables: nothing that a row may have makes them crash or break a line."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.document.document import Units
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.reasons import CellFailed, WouldDeadlock
from mpigauge.rows.rows import Row
from mpigauge.rows.synchrony import ClockState, Overlap, Start
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.curves import document
from mpigauge.show.formats import GENERAL, render
from mpigauge.stats.decision import Ratio
from mpigauge.vocabulary import FailureKind
from tests.made import (
    BLIND,
    LARGE,
    LIMIT,
    SMALL,
    campaign,
    cell,
    result_of,
)
from tests.unit.show.tabled import (
    ALLREDUCE,
    EVERYTHING,
    RATIO_FIELDS,
    document_of,
    known,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell


repeatable = settings(derandomize=True, deadline=None)


times = st.one_of(st.none(), st.floats(0, 1e6), st.just(math.nan))
estimates = st.builds(
    Estimate,
    **{name: st.floats(0, 1e6) for name in ("estimate", "mean", "min", "p25", "median", "p75", "max")},
    **dict.fromkeys(
        (
            "low",
            "high",
            "rank_low",
            "rank_high",
            "stddev",
            "p5",
            "p95",
            "p99",
            "launch_share",
            "launch_variance",
            "round_variance",
        ),
        times,
    ),
    **{name: st.integers(1, 10**6) for name in ("launches", "samples")},
    kinds=st.none(),
    by_launch=st.just({}),
)
row_lists = st.lists(
    st.builds(
        Row,
        cell=st.sampled_from([SMALL, LARGE, LIMIT, BLIND, ALLREDUCE]),
        status=st.sampled_from(["ok", "failed", "skipped"]),
        reason=st.one_of(
            st.none(),
            st.builds(CellFailed, st.sampled_from(get_args(FailureKind)), st.integers(1), st.text()),
            st.builds(WouldDeadlock, st.integers(0), st.booleans()),
        ),
        time=st.one_of(st.none(), estimates),
        rate_bytes_per_s=times,
        directions=st.integers(1, 2),
        cpu_s_per_op=times,
        first_s=times,
        limit_bytes=st.one_of(st.none(), st.integers(0)),
        advised_samples=st.one_of(st.none(), st.integers(0)),
        batch=st.integers(0, 100),
        warnings=st.just(()),
        bus_bytes_per_s=times,
        cpu_share=st.one_of(st.none(), st.floats(0, 1)),
        start=st.one_of(
            st.none(),
            st.builds(
                Start,
                skew_p50_s=st.floats(0, 1e6),
                skew_p99_s=st.floats(0, 1e6),
                late_share=st.floats(0, 1),
                root_s=times,
                local_s=times,
            ),
        ),
        clock=st.one_of(
            st.none(), st.builds(ClockState, st.booleans(), st.floats(0, 1e6), st.floats(0, 1e6))
        ),
        overlap=st.one_of(
            st.none(),
            st.builds(Overlap, st.floats(-1e6, 1e6), times, times, st.just(1), st.floats(1e-9, 1e6)),
        ),
        ratios=st.dictionaries(
            st.sampled_from(sorted(RATIO_FIELDS)),
            st.one_of(
                st.builds(Ratio, st.floats(0, 1e6), st.none(), st.none(), st.just(1)),
                st.builds(Ratio, *[st.floats(0, 1e6)] * 3, st.integers(2, 30)),
            ),
        ),
        # So that lines can be counted by their sizes.
        sized=st.just(True),
    ).map(lambda row: row if row.cell.sync else replace(row, start=None)),
    max_size=4,
)


@repeatable
@given(row_lists, st.sampled_from(list(GENERAL)))
def test_no_row_makes_it_crash_or_break_a_line(found: list[Row], form: str) -> None:
    text = render(document(EVERYTHING, found, list(EXTRA_COLUMNS), Units()), form)
    curves = sum(row.cell.pattern != "eager" for row in found)
    expected = {"json": len(found), "csv": len(found), "text": curves, "markdown": curves}
    assert form not in COUNTED or COUNTED[form](text) == expected[form]


def sized_lines(text: str, begin: str) -> int:
    """How many lines begin with a size."""
    return len(re.findall(rf"^{re.escape(begin)} *\d+ (?:B|[KM]iB) ", text, re.MULTILINE))


COUNTED: dict[str, Callable[[str], int]] = {
    "json": lambda text: len(json.loads(text)["rows"]),
    "csv": lambda text: len(list(csv.DictReader(io.StringIO(text, newline="")))),
    "text": lambda text: sized_lines(text, " "),
    "markdown": lambda text: sized_lines(text, "| "),
}
"""Rows in a text, of those formats whose grammar is known here."""


def test_windows_of_one_size_are_told_apart() -> None:
    def headings(*cells: Cell) -> list[str]:
        (section,) = document_of(result_of(campaign(*cells))).tables
        return [column.heading for column in section.columns]

    assert headings(cell(window=4), cell(window=64))[0] == "window"
    assert headings(cell(window=64), cell(size=1024, window=64))[0] == "size"


def test_json_has_every_warning_and_every_fact_below_the_table_as_data() -> None:
    shown = document_of(known(cell(size=64), cell("memcpy", 64), launches=3))
    whole = json.loads(render(shown, "json"))
    warned = [
        (found["cells"][0]["pattern"], found["kind"])
        for found in whole["findings"]
        if found["severity"] == "warning" and found["cells"]
    ]
    assert warned == [(row["pattern"], kind) for row in whole["rows"] for kind in row["warnings"]]
    (cost,) = (found for found in whole["findings"] if found["kind"] == "cost-in-copies")
    assert cost["text"] in whole["notes"]
    assert cost["value"]["least"]["estimate"] == whole["rows"][0]["memcpy_ratio"]["estimate"]
    assert cost["value"]["least_bytes"] == 64
