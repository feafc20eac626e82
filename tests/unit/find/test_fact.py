"""What follows from the fields of a fact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.fact import cell_of, launches_of, rests_on, weight_of
from mpigauge.rows.group import Subject
from mpigauge.stats.decision import Ratio
from mpigauge.stats.interval import Number
from tests.made import cell

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell


@dataclass(frozen=True, slots=True)
class At:
    """A number at one size."""

    bytes: int
    number: Number


@dataclass(frozen=True, slots=True)
class Curves:
    """A fact of two curves, and what else follows from the first."""

    name: str
    base: Subject
    other: Cell | None
    ratio: Ratio
    at: tuple[At, ...] = ()


BASE, OTHER = cell(size=8), cell("exchange", size=8)
TWICE = Ratio(2.0, 1.9, 2.1, 9)


def test_a_fact_is_about_its_first_cell() -> None:
    assert cell_of(Curves("", Subject(BASE, "far"), OTHER, TWICE)) == BASE


def test_a_fact_rests_on_all_of_its_cells() -> None:
    assert rests_on(Curves("", Subject(BASE), OTHER, TWICE)) == {BASE, OTHER}
    assert rests_on(Curves("", Subject(BASE), None, TWICE)) == {BASE}


def test_a_fact_of_curves_rests_on_each_of_them_at_all_of_its_sizes() -> None:
    fact = Curves("", Subject(BASE), OTHER, TWICE, (At(8, TWICE), At(64, TWICE)))
    sizes = {(one.pattern, one.bytes) for one in rests_on(fact)}
    assert sizes == {(one, size) for one in (BASE.pattern, OTHER.pattern) for size in (8, 64)}


def test_a_fact_rests_on_as_many_launches_as_the_least_certain_of_its_numbers() -> None:
    assert launches_of(Curves("", Subject(BASE), OTHER, TWICE)) == 9
    assert launches_of(Curves("", Subject(BASE), OTHER, TWICE, (At(8, Number(1.0, launches=4)),))) == 4


@pytest.mark.parametrize("times", [2.0, 0.5])
def test_a_fact_says_the_more_the_farther_its_ratio_is_from_one(times: float) -> None:
    fact = Curves("", Subject(BASE), OTHER, Ratio(times, None, None, 9))
    assert weight_of(fact) == pytest.approx(math.log(2))


def test_a_fact_may_say_itself_what_it_rests_on() -> None:
    @dataclass(frozen=True, slots=True)
    class Own(Curves):
        launches: int = 3

        @property
        def weight(self) -> float:
            return 0.0

        @property
        def rests_on(self) -> frozenset[Cell]:
            return frozenset()

    fact = Own("", Subject(BASE), OTHER, TWICE)
    assert (launches_of(fact), weight_of(fact), rests_on(fact)) == (3, 0.0, frozenset())
