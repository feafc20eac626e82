"""Columns of sentences on a terminal: all of their words, side by side, in the width that there is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.document.document import Column, Document, Table
from mpigauge.show.formats import terminal
from tests.unit.show.console import console

WORDS = st.lists(st.text("abc", min_size=1, max_size=8), max_size=30).map(" ".join)
COLUMNS = (
    Column("one", "one", lambda row: row[0], left=True, wraps=True, goes=None),
    Column("two", "two", lambda row: row[1], left=True, wraps=True, goes=None),
    Column("last", "last", lambda row: row[2], left=True, goes=None),
)


def shown(rows: list[tuple[str, str, str]], width: int) -> list[str]:
    return terminal.render(Document(tables=[Table("", "", rows, COLUMNS)]), console(width)).splitlines()


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS, st.just("refuted")), min_size=1, max_size=3), st.integers(60, 200))
def test_no_word_is_lost_and_no_line_too_wide(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = shown(rows, width)
    assert max(map(len, lines)) <= width
    words = sorted(word for line in lines[1:] for word in line.split())
    assert words == sorted(word for row in rows for entry in row for word in entry.split())


@pytest.mark.parametrize("width", [60, 120])
def test_a_short_column_leaves_its_room_to_the_long_one(width: int) -> None:
    first = shown([("a b c", "word " * 40, "refuted")], width)[1]
    assert first.startswith("  a b c  word")
    assert first.count("word") >= (width - len("  a b c    refuted")) // len("word ") - 1


@settings(deadline=None)
@given(st.integers(2, 6), st.integers(8, 24), st.integers(60, 120))
def test_a_ratio_stays_beside_its_number_where_a_table_goes_on_below(
    numbers: int, wide: int, width: int
) -> None:
    def column(name: str, text: str, *, joined: bool = False) -> Column:
        return Column(name, name, lambda _: text, goes=None, joined=joined)

    pairs = [
        one
        for number in range(numbers)
        for one in (column(f"number{number}", "9" * wide), column(f"ratio{number}", "1.0", joined=True))
    ]
    table = Table("", "", [object()], [column("head", "latency"), *pairs])
    headings = terminal.render(Document(tables=[table]), console(width)).splitlines()
    for number in range(numbers):
        (line,) = (line for line in headings if f"number{number}" in line)
        assert f"ratio{number}" in line
