"""One row for each factor: fields, plan keys, words and the kernel's text follow from the table."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, fields

from mpigauge.document.phrases import SAID_WITH, UNSAID, WORDS, phrases_of
from mpigauge.plan.factors import (
    BY_NAME,
    CURVE,
    FACTORS,
    KERNEL_FACTORS,
    default_value,
)
from mpigauge.plan.model import Cell, FactorValues, JobKey
from mpigauge.plan.patterns import Pattern
from mpigauge.vocabulary import SYNCS

USUAL = Cell("pingpong", "standard", 8, 2, "openmpi", "5.0.11")


def test_every_field_of_a_cell_is_a_factor() -> None:
    assert {factor.name for factor in FACTORS} == set(Cell.__struct_fields__)
    assert len(BY_NAME) == len(FACTORS)


def test_every_key_that_can_be_asked_for_chooses_a_factor() -> None:
    assert {factor.asked for factor in FACTORS} - {""} == set(FactorValues.__struct_fields__)


def test_the_factors_of_a_launch_are_those_of_its_identity() -> None:
    assert {factor.name for factor in FACTORS if factor.job} == set(JobKey.__struct_fields__)


def test_a_factor_that_not_all_patterns_have_names_a_property_of_patterns() -> None:
    for factor in FACTORS:
        assert not factor.has or hasattr(Pattern, factor.has)


def test_cells_of_patterns_without_a_factor_say_nothing_of_it() -> None:
    absent = {field.name: field.default for field in fields(Cell)}
    for factor in FACTORS:
        if factor.has:
            assert absent[factor.name] in ("", 0, False), factor.name


def test_all_factors_have_words_but_the_size() -> None:
    assert {*WORDS, *SAID_WITH, "bytes"} == set(BY_NAME)
    assert all(other in WORDS for other in SAID_WITH.values())


def test_default_values_are_not_mentioned() -> None:
    reduction = msgspec.structs.replace(
        USUAL,
        **{name: default_value(name) for name in ("sync", "datatype", "op", "root")},
    )
    said = {"pattern", "mode", "mpi", "ranks"}
    assert {name for name, phrase in phrases_of(reduction).items() if phrase not in UNSAID} == said


def test_one_rank_is_singular() -> None:
    one = Cell("imb_io_open_close", "standard", 0, 1, "unknown", "")
    assert phrases_of(one)["ranks"] == "1 rank"


def test_rows_of_one_curve_differ_in_size_window_or_pair() -> None:
    assert set(BY_NAME) - set(CURVE) == {"bytes", "window", "pair"}


def test_factors_without_a_default_cannot_be_asked_for() -> None:
    with pytest.raises(KeyError):
        default_value("pattern")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mode", st.text(st.characters(categories=["L"]))),
        ("bytes", st.integers(0, 10**18 - 1)),
        ("depth", st.integers(0, 10**18 - 1)),
        ("root", st.one_of(st.just("rotating"), st.integers(0, 10**6).map(str))),
        ("in_place", st.booleans()),
        ("sync", st.sampled_from(SYNCS)),
    ],
)
def test_values_in_the_kernels_plan_are_read_back(name: str, values: st.SearchStrategy[object]) -> None:
    @given(values)
    def holds(value: object) -> None:
        assert BY_NAME[name].read(BY_NAME[name].written(value)) == value  # type: ignore[arg-type]

    holds()


@pytest.mark.parametrize(
    ("name", "text"), [("sync", "c"), ("bytes", ""), ("bytes", "-1"), ("depth", "-1"), ("root", "first")]
)
def test_invalid_values_are_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        BY_NAME[name].read(text)


def test_the_kernels_plan_has_only_factors_of_the_cell() -> None:
    empty = {name for name, value in asdict(USUAL).items() if value in ("", False)}
    told = {factor.name for factor in KERNEL_FACTORS if factor.written(getattr(USUAL, factor.name))}
    assert not told & empty
