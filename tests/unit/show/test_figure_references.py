"""Figures of bandwidth with what it is held against: links of a lab, named rates, copies in memory."""

from __future__ import annotations

import re
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.plan.lab import Lab
from mpigauge.show.figures import figure
from mpigauge.show.references import names
from tests.made import campaign, cell, launch, measured, written
from tests.unit.show.drawing import LAUNCHES, SIZES, drawn, law_ns, query
from tests.unit.show.test_figure_below import of_cells

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query

GBIT = 1e9 / 8


def beside(asked: Query, *references: str) -> Figure:
    return figure(changed(asked, references=references))


def lines_of(whole: Figure) -> list[Any]:
    """Those of references, in their order."""
    return references_in(whole.axes[0])


def references_in(axes: Any) -> list[Any]:
    found = [one for one in axes.get_lines() if str(one.get_gid()).startswith("reference-")]
    return sorted(found, key=lambda one: str(one.get_gid()))


def words_of(whole: Figure) -> list[str]:
    return [
        one.get_text() for one in whole.axes[0].texts if str(one.get_gid()).startswith("words-of-reference")
    ]


def in_a_lab(lab: Lab | None) -> Path:
    """Two ranks on two hosts."""
    cells = [cell(size=size, placement="h1,h2", transport="tcp") for size in SIZES[1:]]
    first = campaign(*cells)
    first = replace(first, plan=replace(first.plan, lab=lab))
    hosts = [replace(place, host=f"h{1 + rank}") for rank, place in enumerate(launch(1).ranks_at)]
    launches = [replace(launch(number, job=cells[0].job), ranks_at=tuple(hosts)) for number in LAUNCHES]
    visits = measured(cells, LAUNCHES, lambda of, number: [law_ns(of) * 100 + number] * 6)
    return written("lab.jsonl", first, *launches, *visits)


def test_a_link_of_a_lab_has_a_line_at_its_rate(machine: Path) -> None:
    whole = beside(query("rate", in_a_lab(Lab(hosts=2, rate="1gbit"))), "link")
    (line,) = lines_of(whole)
    assert [*line.get_ydata()] == [GBIT, GBIT]
    assert words_of(whole) == ["link 1.00 Gbit/s one way"]
    low, high = whole.axes[0].get_ylim()
    assert low < GBIT < high


@pytest.mark.parametrize("lab", [None, Lab(hosts=2, rate="none")])
def test_a_link_whose_rate_nobody_knows_is_refused(machine: Path, lab: Lab | None) -> None:
    with pytest.raises(UsageError, match="the rate of its link is not known") as refused:
        beside(query("rate", in_a_lab(lab)), "link")
    assert "--reference 100Gbit/s" in str(refused.value.hint)


def test_copies_are_a_curve_of_what_was_measured(result: Path) -> None:
    whole = beside(query("rate", result, series=("pingpong shm standard",)), "memcpy")
    (line,) = lines_of(whole)
    sizes = [size for size in SIZES if size]
    assert [*line.get_xdata()] == sizes
    drawn_of_it = drawn(query("rate", result, series=("memcpy",)))["points-0"]
    assert np.allclose(line.get_ydata(), drawn_of_it[1])
    assert words_of(whole) == ["memcpy"]


def test_a_named_rate_stands_in_its_own_unit_far_above_the_curves(result: Path) -> None:
    for linear in (False, True):
        asked = query("rate", result, series=("pingpong tcp",), linear=linear)
        whole = beside(asked, "100Gbit/s", "20 GB/s")
        assert words_of(whole) == ["100 Gbit/s", "20.0 GB/s"]
        assert [line.get_ydata()[0] for line in lines_of(whole)] == [100 * GBIT, 20e9]
        assert whole.axes[0].get_ylim()[1] > 20e9


def test_unasked_there_is_none(result: Path) -> None:
    assert lines_of(figure(query("rate", result, series=("pingpong",)))) == []


def test_what_was_not_measured_is_said(result: Path) -> None:
    with pytest.raises(UsageError, match="crosscopy was not measured in it"):
        beside(query("rate", result, series=("pingpong",)), "crosscopy")
    with pytest.raises(UsageError, match="neither a name nor a rate"):
        beside(query("rate", result, series=("pingpong",)), "$x^2$")
    assert names()[0] == "link"


def test_what_tcp_leaves_of_a_link_is_known_too(machine: Path) -> None:
    whole = beside(query("rate", in_a_lab(Lab(hosts=2, rate="1gbit"))), "tcp")
    (line,) = lines_of(whole)
    assert line.get_ydata()[0] == pytest.approx(GBIT * 1448 / 1538)
    assert words_of(whole) == ["TCP at most 941 Mbit/s one way"]


@pytest.mark.parametrize("kind", ["modes", "placements"])
def test_panels_have_them_within_their_axes(result: Path, kind: str) -> None:
    """Also where all that was measured is far below."""
    for linear in (False, True):
        whole = beside(query(kind, result, linear=linear), "100Gbit/s")
        known = [(axes, line) for axes in whole.axes for line in references_in(axes)]
        assert len(known) > 1
        assert all(line.get_ydata()[0] < axes.get_ylim()[1] for axes, line in known)


def test_one_panel_that_knows_it_is_enough(machine: Path) -> None:
    """Where one of two places is no link, its panel has no line."""
    cells = [
        cell(size=size, transport=transport, placement=place)
        for transport, place in (("tcp", "h1,h2"), ("shm", "same-host"))
        for size in SIZES[1:]
    ]
    first = campaign(*cells)
    first = replace(first, plan=replace(first.plan, lab=Lab(hosts=2, rate="1gbit")))
    launches = []
    for job in dict.fromkeys(of.job for of in cells):
        names = ["h1", "h2"] if job.placement == "h1,h2" else ["h1", "h1"]
        for number in LAUNCHES:
            one = launch(number, job=job)
            places = [replace(place, host=name) for place, name in zip(one.ranks_at, names, strict=True)]
            launches.append(replace(one, ranks_at=tuple(places)))
    visits = measured(cells, LAUNCHES, lambda of, number: [law_ns(of) * 100 + number] * 6)
    whole = beside(query("placements", written("two.jsonl", first, *launches, *visits)), "link")
    drawn_lines = [
        len([one for one in axes.get_lines() if "reference" in str(one.get_gid())]) for axes in whole.axes
    ]
    assert sorted(drawn_lines) == [0, 0, 0, 1]  # two panels, and the widths of intervals below each


def test_a_copy_of_one_size_is_a_mark(result: Path) -> None:
    whole = beside(query("rate", result, series=("pingpong shm standard",), sizes="1KiB"), "memcpy")
    (line,) = lines_of(whole)
    assert len(line.get_xdata()) == 1
    assert line.get_marker() == "D"


def test_a_copy_of_which_little_is_within_the_axes_is_said_and_not_drawn(machine: Path) -> None:
    cells = [cell(pattern, size) for pattern in ("pingpong", "memcpy") for size in SIZES[1:]]
    path = of_cells(cells, lambda of: 100_000 + 10 * of.bytes if of.pattern == "pingpong" else 100)
    whole = beside(query("rate", path, series=("pingpong",), linear=True), "memcpy")
    assert not lines_of(whole)
    assert [one for one in words_of(whole) if one.startswith("memcpy: up to")]


def test_copies_far_above_the_curves_do_not_press_a_linear_axis(result: Path) -> None:
    """They are said in the unit of the axis; a logarithmic axis has room for them."""
    asked = query("rate", result, series=("pingpong tcp",), linear=True)
    asked = changed(asked, units=Units(rate="GB/s"))
    whole, plain = beside(asked, "memcpy"), figure(asked)
    assert whole.axes[0].get_ylim()[1] == pytest.approx(plain.axes[0].get_ylim()[1])
    (said,) = [one.get_text() for one in whole.axes[0].texts if "beyond" in str(one.get_gid())]
    assert re.fullmatch(r"memcpy: up to [\d.]+ GB/s", said)
    assert words_of(beside(changed(asked, linear=False), "memcpy")) == ["memcpy"]
