"""Claims held against results of a lab: a number that was put into its links is none of a network."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.claimed import material, result
from tests.made import cell
from tests.unit.check.test_claims import RATIO, SIZES, modes, one

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.check.claims import Material
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import StateName

FAR = 'kind = "ratio"\nover = { placement = "h1,h3" }\nunder = { placement = "h1,h2" }\nbound = "> 2"\n'


def places(*, in_lab: bool, file: str = "r") -> Material:
    cells = [cell(placement=placement) for placement in ("h1,h2", "h1,h3")]
    return material(
        result(cells, lambda of, _: 3000.0 if of.placement == "h1,h3" else 1000), file, in_lab=in_lab
    )


@pytest.mark.parametrize(
    ("states", "count"), [((None, None), 1), (("far", None), 1), (("far", "far"), 1), (("far", "near"), 0)]
)
def test_a_state_of_one_host_hinders_no_ratio_to_two(
    tmp_path: Path, states: tuple[StateName | None, StateName | None], count: int
) -> None:
    """Ranks on two hosts are in no state; what is in another one is not divided."""
    here = places(in_lab=False)
    rows = [replace(row, state=state) for row, state in zip(here.rows, states, strict=True)]
    assert len(one(tmp_path, FAR, replace(here, rows=rows)).here.numbers) == count


def _far_takes(times: float, of: Cell, _: int) -> float:
    return 1000 * (times if of.placement == "h1,h3" else 1)


@pytest.mark.parametrize(
    ("kind", "more", "numbers"),
    [("from", 'limit = "< 2"', [8, math.inf]), ("peak", 'quantity = "bandwidth"', [1 / 1.5, 1 / 9])],
)
def test_each_state_has_its_own_number(tmp_path: Path, kind: str, more: str, numbers: list[float]) -> None:
    """Of all sizes together: near, the far way takes half as long again, and nine times as long far."""
    cells = [cell(size=size, placement=place) for place in ("h1,h2", "h1,h3") for size in SIZES]
    near, far = (material(result(cells, partial(_far_takes, times))) for times in (1.5, 9.0))
    rows = [replace(row, state="near") for row in near.rows] + [replace(row, state="far") for row in far.rows]
    text = FAR.replace("ratio", kind) + more
    found = one(
        tmp_path, text.replace('"> 2"', '"> 2B"' if kind == "from" else '"> 2"'), replace(near, rows=rows)
    )
    assert [number.estimate for number in found.here.numbers] == pytest.approx(numbers)


def test_a_planted_number_is_none_of_a_network(tmp_path: Path) -> None:
    found = one(tmp_path, f"{FAR}planted = true", places(in_lab=True))
    assert (found.here.gap, found.verdict) == ("planted", "untestable")
    assert found.here.numbers[0].estimate == pytest.approx(3)


def test_real_hosts_test_what_a_lab_only_restates(tmp_path: Path) -> None:
    assert one(tmp_path, f"{FAR}planted = true", places(in_lab=False)).verdict == "confirmed"
    both = one(tmp_path, f"{FAR}planted = true", places(in_lab=True), places(in_lab=False, file="s"))
    assert both.verdict == "confirmed"
    assert [number.of.material.file for number in both.here.numbers] == ["s"]


def test_what_the_plan_does_not_say_is_tested_in_a_lab_too(tmp_path: Path) -> None:
    assert one(tmp_path, FAR, places(in_lab=True)).verdict == "confirmed"


def test_messages_on_one_host_of_a_lab_are_real(tmp_path: Path) -> None:
    here = modes({8: 3.0})
    lab = replace_lab(here)
    assert one(tmp_path, f'{RATIO}bound = "> 2"\nplanted = true', lab).verdict == "confirmed"


def replace_lab(of: Material) -> Material:
    return type(of)(of.file, of.rows, of.patterns, True, of.title)
