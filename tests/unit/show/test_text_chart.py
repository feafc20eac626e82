"""Charts in eight lines of text: in any width and encoding, with two curves told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Document
from mpigauge.query.series import Point
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.formats import terminal
from mpigauge.show.text_chart import BLANK, LINES, ROUNDING, drawn, round_scale_of
from tests.unit.show.console import console

SIZES = (0, 8, 64, 512, 4096, 2**15, 2**18)


def chart(*curves: list[tuple[float, float]], quantity: str = "time") -> Chart:
    made = [ChartCurve(f"curve{n}", {}, [[Point(*one) for one in mine]]) for n, mine in enumerate(curves)]
    return Chart(made, quantity, what=quantity)  # type: ignore[arg-type]


def line(factor: float = 1.0) -> list[tuple[float, float]]:
    return [(size, factor * (1e-6 + size * 1e-9)) for size in SIZES]


points = st.lists(
    st.tuples(st.sampled_from([0, 1, 8, 4096, 2**22]), st.floats(1e-9, 1e3)),
    min_size=1,
    max_size=5,
    unique_by=lambda one: one[0],
).map(sorted)


@given(st.floats(1e-9, 1e3), st.floats(1, 1e6))
def test_an_axis_has_round_ends_that_hold_all_values(least: float, factor: float) -> None:
    scale = round_scale_of([least, least * factor])
    assert scale.low <= least * (1 + ROUNDING)
    assert scale.high >= least * factor * (1 - ROUNDING)
    if scale.is_log:
        assert {f"{end:.0e}"[0] for end in (scale.low, scale.high)} <= {"1", "2", "5"}
        assert scale.high / scale.low <= 6.25001 * factor


@given(st.lists(points, min_size=1, max_size=2), st.integers(80, 200))
def test_it_is_eight_lines_and_no_wider_than_asked(
    curves: list[list[tuple[float, float]]], width: int
) -> None:
    lines = drawn([chart(*curves), chart(*curves, quantity="rate")], width)
    assert len(lines) == LINES
    assert max(map(len, lines)) <= width


def test_axes_have_the_ends_of_sizes_round_values_and_what_they_are() -> None:
    lines = drawn([chart(line())], 40)
    assert lines[0] == "time over message size"
    heads = [line.partition("|")[0].strip() for line in lines[1:-1]]
    assert [head.removesuffix(" \N{MICRO SIGN}s") for head in heads if head] == ["500", "10", "1"]
    assert lines[-1].split() == ["0", "B", "512", "B", "256", "KiB"]


def is_braille(letter: str) -> bool:
    return BLANK < ord(letter) < BLANK + 256


def test_a_rising_curve_rises_from_the_lower_left_to_the_upper_right() -> None:
    rows = [row.partition("|")[2] for row in drawn([chart(line())], 40)[1:-1]]
    firsts = [next((place for place, letter in enumerate(row) if is_braille(letter)), None) for row in rows]
    assert all(place is not None for place in firsts)
    assert firsts == sorted(firsts, key=lambda place: -(place or 0))
    assert max(map(len, rows)) == 40 - len("500 us|")
    assert firsts[-1] == 0


def test_two_curves_have_letters_of_their_own_and_a_line_that_says_which() -> None:
    lines = drawn([chart(line(), line(100.0))], 80)
    assert lines[-1].split("  ")[0].endswith(" curve0")
    assert lines[-1].endswith("o curve1")
    assert sum(row.count("o") for row in lines[1:-2]) == len(SIZES) - 1, "the two smallest share a place"


@pytest.mark.parametrize(("width", "shown"), [(79, False), (80, True), (200, True)])
def test_a_terminal_that_is_too_narrow_has_none(width: int, *, shown: bool) -> None:
    document = Document(head=["head"], drawn=lambda room: drawn([chart(line())], room))
    text = terminal.render(document, console(width))
    assert ("over message size" in text) is shown
    assert max(map(len, text.splitlines())) <= max(width, 80)


def test_in_ascii_the_line_is_of_asterisks() -> None:
    document = Document(head=["head"], drawn=lambda room: drawn([chart(line(), line(3.0))], room))
    text = terminal.render(document, console(80, "ascii"))
    assert text.isascii()
    assert "***" in text
    assert "?" not in text
