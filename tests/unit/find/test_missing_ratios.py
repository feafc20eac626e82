"""Ratios that are missing since ranks were not equally far apart: said once for each pair, never else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.compare.curves import curves_of, rows_by_curve
from mpigauge.find import comparisons
from mpigauge.find.comparisons import (
    RanksApart,
    copies_apart,
    libraries_apart,
    missing_ratios,
    modes_apart,
    ranks_apart_finding,
    ranks_apart_line,
)
from mpigauge.find.findings import findings_of, told
from mpigauge.find.foot import foot_of
from mpigauge.rows.rows import rows
from mpigauge.rows.same_distance import ANYWHERE, apart, like_ratio
from tests.made import campaign, cell, launches_of, measured, result_of, written
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from tests.conftest import Cli

LAUNCHES = range(1, 6)
SIZES = (8, 1024, 65536)
repeatable = settings(derandomize=True, deadline=None, max_examples=25)

HERE = [cell(size=size) for size in SIZES]
THERE = [cell(size=size, mpi="mpich", mpi_version="4.2.3") for size in SIZES]
READY = [cell(size=size, mode="ready") for size in SIZES]
COPIES = [cell("crosscopy", size) for size in SIZES]

NOT_ALIKE_NS = 50.0
"""Beside 40 ns, and too near for a state of its own."""


def records(lines_ns: Mapping[Cell, float], launches: range = LAUNCHES) -> Iterator[Record]:
    """Cells whose ranks were so far apart in all launches; 0: that is not known."""
    yield campaign(*lines_ns)
    yield from launches_of(lines_ns, launches)
    for of, line_ns in lines_ns.items():
        known = {"line_ns": [line_ns, line_ns]} if line_ns else {}
        yield from measured([of], launches, lambda of, number: [2000 + of.bytes + 7 * number] * 9, **known)


def found_of(lines_ns: Mapping[Cell, float]) -> list[Row]:
    return rows(result_of(*records(lines_ns)))


def all_of(lines_ns: Mapping[Cell, float]) -> list[RanksApart]:
    """What is missing between modes and libraries, and of copies."""
    found = found_of(lines_ns)
    curves = curves_of(rows_by_curve(found))
    return [*modes_apart(curves), *libraries_apart(curves), *copies_apart(found)]


def at(cells: list[Cell], line_ns: float) -> dict[Cell, float]:
    return dict.fromkeys(cells, line_ns)


# ---- What is missing -----------------------------------------------------------------------------


def test_two_libraries_at_two_distances_have_one_line_for_all_sizes() -> None:
    lines_ns = at(HERE, 40.0) | at(THERE, 245.0)
    assert not [*comparisons.libraries(curves_of(rows_by_curve(found_of(lines_ns))))]
    (fact,) = all_of(lines_ns)
    assert fact.between == "library"
    assert (fact.other_s, fact.first_s) == pytest.approx((245e-9, 40e-9))
    assert (fact.missing, fact.sizes) == (3, 3)
    line = ranks_apart_line(fact)
    assert line.startswith("no ratio of MPICH 4.2.3 and Open MPI 5.0.11: ")
    assert "245 ns and 40.0 ns apart" in line
    assert ranks_apart_finding(fact).cells == (fact.other, fact.first)


def test_only_the_sizes_that_lack_it_are_counted() -> None:
    (fact,) = all_of(at(HERE, 40.0) | at(THERE[:1], NOT_ALIKE_NS) | at(THERE[1:], 41.0))
    assert (fact.missing, fact.sizes) == (1, 3)
    assert "at 1 of 3 sizes" in ranks_apart_line(fact)


def test_modes_and_copies_of_one_job_are_told_by_their_names() -> None:
    modes, copies = all_of(at(HERE, 40.0) | at(READY, NOT_ALIKE_NS) | at(COPIES, 42.0))
    assert (modes.between, copies.between) == ("mode", "baseline")
    assert "pingpong ready and standard (Open MPI 5.0.11, 2 ranks)" in ranks_apart_line(modes)
    assert "pingpong ready and crosscopy" in ranks_apart_line(copies)


@pytest.mark.parametrize("line_ns", [0.0, 40.0, 44.0])
def test_where_there_is_a_ratio_nothing_is_missing(line_ns: float) -> None:
    lines_ns = at(HERE, 40.0) | at(THERE, line_ns) | at(READY, line_ns) | at(COPIES, line_ns)
    assert all_of(lines_ns) == []


def test_a_single_launch_has_no_ratio_wherever_its_ranks_were() -> None:
    found = rows(result_of(*records(at(HERE, 40.0) | at(THERE, 245.0), range(1, 2))))
    assert [*libraries_apart(curves_of(rows_by_curve(found)))] == []


known = st.dictionaries(
    st.sampled_from(LAUNCHES),
    st.sampled_from([40.0, 50.0, 245.0]).map(lambda line_ns: ("line", line_ns * 1e-9)),
)
launches = st.lists(st.floats(1e-6, 2e-6), min_size=1, max_size=5)


@repeatable
@given(launches, launches, known, known)
def test_it_is_told_exactly_where_distance_alone_takes_a_ratio(
    over_s: list[float], under_s: list[float], over_at: Distances, under_at: Distances
) -> None:
    over, under = (estimate([[np.array([time_s])] for time_s in times_s]) for times_s in (over_s, under_s))
    anywhere, here = like_ratio(over, under), like_ratio(over, under, (over_at, under_at))
    there_is = anywhere is not None and anywhere.low is not None
    none_here = here is None or here.low is None
    why = apart(over, under, (over_at, under_at))
    assert (why is not None) == (there_is and none_here)
    if why is not None:
        for middle_s, at_s in ((why.over_s, over_at), (why.under_s, under_at)):
            values_s = [value_s for _, value_s in at_s.values()]
            assert min(values_s) <= middle_s <= max(values_s)
        assert apart(over, under, ANYWHERE) is None


# ---- Where it is said ----------------------------------------------------------------------------


def test_it_stands_in_the_foot_and_in_the_findings() -> None:
    result = result_of(*records(at(HERE, 40.0) | at(THERE, 245.0) | at(COPIES, 90.0)))
    found = rows(result)
    lines = [line.text for line in foot_of(result, found) if line.text.startswith("no ratio")]
    assert len(lines) == 2
    findings = [one for one in told(findings_of(result, found)) if one.kind == "ranks-apart"]
    assert [one.value["between"] for one in findings] == ["library", "baseline"]
    assert [one.text for one in findings] == lines


def test_the_summary_and_figures_of_ratios_say_it(machine: Path, cli: Cli) -> None:
    unlike = written("apart.jsonl", *records(at(HERE, 40.0) | at(THERE, 245.0)))
    assert "no ratio of MPICH" in cli("show", unlike, "--table", "summary").out
    words = ("--series", "openmpi", "--series", "mpich")
    done = cli("plot", unlike, "--kind", "ratio", *words, "-o", "ratio.svg")
    assert done.status == 2
    assert "no ratio at 3 sizes: their ranks were 245 ns and 40.0 ns apart" in done.err
    some = written("some.jsonl", *records(at(HERE, 40.0) | at(THERE[:1], NOT_ALIKE_NS) | at(THERE[1:], 40.0)))
    done = cli("plot", some, "--kind", "ratio", *words, "-o", "ratio.svg")
    assert done.status == 0, done.err
    assert "no ratio at 1 size" in (machine / "work" / "ratio.svg").read_text(encoding="utf-8")
    assert missing_ratios([]) == ""
