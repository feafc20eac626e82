"""On a terminal: nothing is wider than it, no number is cut or changed, and what is hidden is named."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mpigauge.document import bars
from mpigauge.document.document import Column, Document, Line, Table, Units
from mpigauge.document.plain_signs import PLAIN, plain
from mpigauge.rows.estimate import Printed, Timing
from mpigauge.rows.rows import rows
from mpigauge.show import formats
from mpigauge.show.columns import EXTRA_COLUMNS, NOTES, USUAL_COLUMNS
from mpigauge.show.curves import document
from mpigauge.show.formats.terminal import UNLIMITED, hiding_order, render
from tests.made import BLIND, LIMIT, campaign, cell, collective, launch, result_of, together, visit
from tests.unit.show.console import console
from tests.unit.show.tabled import SMALL_RESULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.reader import Result

repeatable = settings(derandomize=True, deadline=None)
WIDTHS = (60, 80, 100, 120, 200)
SIZES = tuple(cell(size=8 * 16**power) for power in range(5))
ALLREDUCE = collective("allreduce", 64)
ESCAPE = "\x1b"


def curve() -> Result:
    """Times over five decades; one differs twofold between launches, and some cells were never visited."""
    spread = [1.0, 1.01, 0.99, 1.02, 1.0, 0.98]
    visits = [
        visit(
            number,
            place,
            of,
            100 * [round(200 * 10**place * factor * (2 if place == 2 and number % 2 else 1))],
        )
        for number, factor in enumerate(spread, 1)
        for place, of in enumerate(SIZES[:4])
    ]
    visits += [
        together(number, 9, ALLREDUCE, 100 * [round(1000 * one)]) for number, one in enumerate(spread, 1)
    ]
    return result_of(campaign(*SIZES, BLIND, LIMIT, ALLREDUCE), *(launch(n) for n in range(1, 7)), *visits)


@cache
def document_of(*columns: str) -> Document:
    """All that is said of it."""
    result = curve()
    return document(result, rows(result), columns, Units())


def unasked(one: Document) -> Document:
    """The same, as if nobody had asked for its extra columns, which may then be hidden."""
    columns = {column.name: column for column in EXTRA_COLUMNS.values()}
    tables = [
        replace(table, columns=[columns.get(column.name, column) for column in table.columns])
        for table in one.tables
    ]
    return replace(one, tables=tables)


DOCUMENTS = {
    "curve": document_of(),
    "all columns": unasked(document_of(*EXTRA_COLUMNS)),
    "every record": document(SMALL_RESULT, rows(SMALL_RESULT), (), Units()),
}
documents = pytest.mark.parametrize("name", DOCUMENTS)


def shown(one: Document, width: int, encoding: str = "utf-8") -> list[str]:
    """The lines of a document on a terminal."""
    return render(one, console(width, encoding)).splitlines()


def hidden_of(lines: list[str]) -> list[str]:
    """The headings that the last lines call hidden."""
    words = " ".join(line.strip() for line in lines)
    found = re.search(r"columns hidden \(terminal too narrow\): (.*); widen it, or pipe into less -S", words)
    return found[1].split(", ") if found else []


# ---- What fits -----------------------------------------------------------------------------------


@documents
@given(width=st.integers(30, 260), encoding=st.sampled_from(["utf-8", "ascii", "latin-1"]))
@repeatable
def test_no_line_is_wider_than_the_terminal(name: str, width: int, encoding: str) -> None:
    lines = shown(DOCUMENTS[name], width, encoding)
    assert max(map(cell_len, lines)) <= width


@documents
@given(width=st.integers(50, 260))
@repeatable
def test_the_numbers_are_those_of_the_plain_table(name: str, width: int) -> None:
    """Those of every column that is not hidden, in the same order, and none of a hidden one."""
    one = DOCUMENTS[name]
    lines = shown(one, width)
    hidden = hidden_of(lines)
    for section in one.tables:
        columns = [column for column in section.columns if column is not NOTES]
        for row in section.rows:
            entries = [column.text(row, one.units) for column in columns if column.heading not in hidden]
            pattern = r"^ *" + r" {2,}".join(map(re.escape, entries)) + r"( |$)"
            assert any(re.match(pattern, line) for line in lines), entries


@documents
@given(width=st.integers(40, 260))
@repeatable
def test_no_word_is_lost(name: str, width: int) -> None:
    """Those above and below the tables, and notes, wrapped or not."""
    one = DOCUMENTS[name]
    squeezed = re.sub(r"\s+", "", "".join(shown(one, width)))
    for words in (*one.head, *(line.text for line in one.foot), *(table.about for table in one.tables)):
        assert re.sub(r"\s+", "", words) in squeezed
    lines = shown(one, width)
    for table in one.tables:
        for row in table.rows:
            for word in NOTES.text(row, one.units).split():
                assert any(word in line for line in lines), word


@documents
def test_the_wider_the_terminal_the_less_is_hidden(name: str) -> None:
    counts = [len(hidden_of(shown(DOCUMENTS[name], width))) for width in (*range(40, 200, 20), 1000)]
    assert all(wide <= narrow for narrow, wide in pairwise(counts))
    assert counts[0] > 0
    assert counts[-1] == 0


def test_columns_are_hidden_in_the_order_that_is_documented() -> None:
    one = document_of()
    order = [hidden_of(shown(one, width)) for width in range(200, 40, -5)]
    longest = order[-1]
    assert all(longest[: len(some)] == some for some in order)
    headings = {column.heading: column.name for column in (*USUAL_COLUMNS, *EXTRA_COLUMNS.values())}
    known = {"latency": "time"} | headings
    columns = {column.name: column for column in (*USUAL_COLUMNS, *EXTRA_COLUMNS.values())}
    goes = [columns[known[heading]].goes or 0 for heading in longest]
    assert goes == sorted(goes)


@given(width=st.integers(30, 120), count=st.integers(2, 12))
@repeatable
def test_any_table_fits(width: int, count: int) -> None:
    """Columns with the same names and other headings, rows of any kind, words at the left."""
    first = Column("line", "place", str, left=True)
    numbers = [
        [Column(str(n), f"{title} {n}", lambda row: f"{len(str(row))} us") for n in range(count)]
        for title in ("one", "other")
    ]
    rows_: Any = ["same host", "h1,h2"]
    tables = [Table(f"a table {n}", "", rows_, [first, *some]) for n, some in enumerate(numbers)]
    lines = shown(replace(document_of(), tables=tables), width)
    assert max(map(cell_len, lines)) <= width
    tables_ = "\n".join(lines).partition("columns hidden")[0]
    assert "\n  place      one 0" in tables_ or "one 0" in hidden_of(lines)
    assert "\n  same host  " in tables_
    names = {f"{title} {n}" for title in ("one", "other") for n in range(count)}
    assert {name for name in names if f"  {name}" not in tables_} == set(hidden_of(lines))


@given(
    width=st.integers(30, 200),
    headings=st.lists(
        st.sampled_from(["shm", "tcp, h1,h2", "Open MPI 5.0.11, 4 ranks"]), min_size=1, max_size=9
    ),
)
@repeatable
def test_columns_that_never_go_stand_below_with_the_heads_of_their_rows(
    width: int, headings: list[str]
) -> None:
    """Every number of every row once, in the order of the columns."""

    def more(number: int, row: tuple[str, int]) -> str:
        return f"{row[1] + number} us"

    numbers = [Column(f"{n}", heading, partial(more, n), goes=None) for n, heading in enumerate(headings)]
    rows_ = [("latency", 1000), ("bandwidth", 2000)]
    one = Table("", "", rows_, [Column("head", "", lambda row: row[0], left=True, goes=None), *numbers])
    lines = shown(Document(tables=[one]), width)
    assert max(map(cell_len, lines)) <= width
    blocks = [block.splitlines() for block in "\n".join(lines).split("\n\n")]
    for head, first in rows_:
        found = [line for block in blocks for line in block if line.startswith(f"  {head} ")]
        assert len(found) == len(blocks), "the head of the row is in every block"
        told = [int(number) for line in found for number in re.findall(r"(\d+) us", line)]
        assert told == [first + n for n in range(len(headings))]
    words = " ".join(" ".join(lines).split())
    assert all(words.count(part) >= 1 for heading in headings for part in heading.split(", "))


def test_a_heading_is_broken_between_what_tells_columns_apart_before_a_block_is() -> None:
    columns = [
        Column(str(n), f"Open MPI 5.0.11, {n} ranks", lambda _: "22.1 GB/s", goes=None) for n in range(3)
    ]
    table = Table("", "", [""], [Column("head", "", lambda _: "bandwidth", left=True, goes=None), *columns])
    above, below, numbers = shown(Document(tables=[table]), 70)[:3]
    assert above.split() == ["Open", "MPI", "5.0.11,"] * 3
    assert below.split() == ["0", "ranks", "1", "ranks", "2", "ranks"]
    assert numbers.count("GB/s") == 3
    assert [len(above), len(below)] == [len(numbers)] * 2


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "asked", [("kappa", "cpu"), ("root", "mean"), ("kappa", "p99", "max", "stddev"), (*EXTRA_COLUMNS,)]
)
def test_columns_that_were_asked_for_are_never_hidden(asked: tuple[str, ...], width: int) -> None:
    """Whether they have a number or none."""
    lines = shown(document_of(*asked), width)
    headings = {EXTRA_COLUMNS[name].heading for name in asked}
    assert headings.isdisjoint(hidden_of(lines))
    assert max(map(cell_len, lines)) <= width
    for heading in headings:
        assert any(f"  {heading}" in line for line in lines), heading
    if len(asked) == 2:
        usual = ("8 B", "128 B", "2 KiB", "32 KiB")
        assert hidden_of(lines)
        assert all(sum(line.startswith("  ") and f" {size} " in line for line in lines) for size in usual)


def test_columns_without_a_number_go_first_and_those_asked_for_stay_longer() -> None:
    names = ["size", "time", "half_width", "interval", "rate", "samples", "mean", "p99"]
    known = {column.name: column for column in USUAL_COLUMNS} | EXTRA_COLUMNS
    order = hiding_order([known[name] for name in names], set(names) - {"mean"})
    assert order == ["mean", "samples", "interval", "rate", "p99"]
    assert not {"size", "time", "half_width"} & set(order)


def test_without_a_limit_it_is_the_plain_text() -> None:
    """As with --color always on a pipe."""
    one = document_of()
    plain = [re.sub(r" +notes$", "", line) for line in formats.render(one, "text").splitlines()]
    assert [re.sub(r" +notes$", "", line) for line in shown(one, UNLIMITED)] == plain


@given(st.text(min_size=1, max_size=150), st.integers(30, 120))
@repeatable
def test_no_title_can_move_the_cursor_or_break_the_page(title: str, width: int) -> None:
    one = campaign(cell(size=8), title=title)
    result = result_of(one)
    lines = render(document(result, rows(result), (), Units()), console(width)).split("\n")
    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)


# ---- Colour and encoding -------------------------------------------------------------------------


@documents
@pytest.mark.parametrize("width", WIDTHS)
def test_colour_is_never_the_only_carrier(name: str, width: int) -> None:
    coloured = render(DOCUMENTS[name], console(width, color=True))
    assert ESCAPE in coloured
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert without == render(DOCUMENTS[name], console(width))
    assert ESCAPE not in without


@documents
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_cannot_be_printed_has_a_plain_sign(name: str, encoding: str) -> None:
    """One for one, so that the lines stay as long as they are, and of the numbers not a sign is a "?"."""
    lines = shown(DOCUMENTS[name], 200, encoding)
    assert all(line.isascii() for line in lines)
    assert [len(line) for line in lines] == [len(line) for line in shown(DOCUMENTS[name], 200)]
    assert not any("?" in line for line in lines if "these are my last words" not in line)


def test_every_plain_sign_is_one_character_of_ascii() -> None:
    assert all(len(sign) == 1 and sign.isascii() for sign in PLAIN.values())
    assert all(len(sign) == 1 and not sign.isascii() for sign in PLAIN)
    assert plain("12.3 \N{MICRO SIGN}s \N{PLUS-MINUS SIGN}1.2 %\N{SNOWMAN}") == "12.3 us ~1.2 %?"


# ---- Bars ----------------------------------------------------------------------------------------

times = st.floats(1e-9, 100.0)
widths = st.floats(1.0, 30.0)


def timed(estimate: float, factor: float | None) -> Timing:
    """A time with an interval of this factor either way, or without one."""
    time = Printed(estimate=estimate)
    return time if factor is None else replace(time, low=estimate / factor, high=estimate * factor)


@given(st.lists(st.tuples(times, st.none() | widths), min_size=2, max_size=8), st.integers(14, 32))
@repeatable
def test_a_bar_fits_and_grows_with_the_time(cells: list[tuple[float, float | None]], width: int) -> None:
    estimates = [timed(estimate, factor) for estimate, factor in cells]
    axis = bars.axis_of(estimates)
    assert axis is not None
    assert axis.left_s < min(one.estimate for one in estimates)
    assert axis.right_s >= max(one.estimate for one in estimates)
    for one in estimates:
        drawn = bars.bar(axis, one, width)
        assert 0 < len(drawn) <= width
        assert (bars.NO_INTERVAL in drawn) == (one.low is None)
    narrow = sorted(one.estimate for one in estimates)
    lengths = [len(bars.bar(axis, timed(estimate, 1.0), width)) for estimate in narrow]
    assert lengths == sorted(lengths)


@given(times, st.floats(1.5, 2.9), st.integers(20, 32))
@repeatable
def test_an_interval_is_drawn_where_it_is(time: float, factor: float, width: int) -> None:
    wide = timed(time, factor)
    axis = bars.axis_of([wide, timed(time * 2, 1.01)])
    assert axis is not None
    drawn = bars.bar(axis, wide, width)
    low, high = (axis.place(end, width) for end in (time / factor, time * factor))
    assert drawn.index(bars.INTERVAL) == int(low)
    assert len(drawn) == math.ceil(high)


def test_the_ends_of_the_axis_are_round_and_named() -> None:
    axis = bars.axis_of([timed(236e-9, 1.05), timed(52.9e-6, 1.14)])
    assert axis is not None
    assert axis.heading(20).split("  ")[0] == "100 ns"
    assert axis.heading(20).endswith(" 100 \N{MICRO SIGN}s")
    assert len(axis.heading(20)) == 20
    assert axis.heading(10) == ""


def test_there_is_no_axis_for_one_time() -> None:
    assert bars.axis_of([timed(1e-6, 1.1)]) is None
    assert bars.axis_of([]) is None


def test_bars_stand_in_all_tables_or_in_none() -> None:
    for width in range(50, 200, 15):
        text_ = "\n".join(shown(document_of(), width))
        drawn = [bars.CERTAIN in part for part in text_.split("\n\n") if "pingpong, standard" in part]
        assert len(set(drawn)) == 1
        assert (bars.CERTAIN in text_) == ("bars: time" in text_)
    assert bars.CERTAIN in text_
    assert bars.INTERVAL in text_.partition("bars:")[0]


@pytest.mark.parametrize(("width", "there"), [(24, False), (29, False), (30, True), (80, True)])
@pytest.mark.parametrize("goes", [50, None])
def test_words_beside_numbers_are_hidden_where_they_would_be_cut(
    width: int, there: bool, goes: int | None
) -> None:
    """Unless they are what the table is about."""
    columns = [
        Column("what", "", lambda row: row[0], left=True, goes=None),
        Column("note", "", lambda row: row[1], left=True, wraps=True, goes=goes),
    ]
    table = Table("", "", [("latency", "pingpong, one way"), ("bandwidth", "pingpong at 8 B")], columns)
    text = render(Document(head=[], tables=[table], foot=[], units=Units()), console(width))
    assert ("one way" in " ".join(text.split())) == (there or goes is None)
    assert ("\n    pingpong, one way\n" in text) == (not there and goes is None)
    assert ("too narrow): note;" in " ".join(text.split())) == (not there and goes is not None)


@pytest.mark.parametrize("width", range(26, 70))
def test_no_line_ends_within_a_number_or_an_interval(width: int) -> None:
    """Wherever the terminal ends; words fit into it as before."""
    micro, dash = "\N{MICRO SIGN}", "\N{EN DASH}"
    wholes = (
        f"(29.2 {dash} 42.5)",
        f"16.0 {micro}s",
        f"(12.9 {micro}s {dash} 23.5 {micro}s)",
        "4 MiB",
        "11.0 GB/s",
    )
    words = "it takes 35.3 times {} as long as before, {} {} of 10 launches, at {} it has {}".format(*wholes)
    lines = render(Document(foot=[Line(words)]), console(width)).splitlines()
    assert " ".join(line.strip() for line in lines) == words
    assert all(len(line) <= width for line in lines)
    for whole in wholes:
        assert any(whole in line for line in lines)


# ---- What a narrow terminal loses -------------------------------------------------------------------


def compared(heads: Sequence[str]) -> Table:
    """Rows with a size, two times and a ratio, of which only the head may be said elsewhere."""
    sizes = "16 KiB to 128 KiB (4 sizes, 2 alone undecided)"
    columns = [
        Column("cell", "", lambda head: head, left=True, goes=None),
        Column("sizes", "size", lambda _: sizes, left=True, goes=None, tells=True),
        Column("base", "base", lambda _: "1.31 us", goes=None),
        Column("other", "other", lambda _: "2.35 us", goes=None),
        Column("ratio", "times as long", lambda _: "2.79 (2.66 - 2.92)", goes=None),
    ]
    return Table("", "", [*heads], columns)


def test_what_all_rows_say_is_said_once_above_before_a_column_is_lost() -> None:
    lines = shown(Document(tables=[compared(["pingpong standard", "pingpong standard"])]), 80)
    assert sum("pingpong standard" in line for line in lines) == 1
    heading = next(line for line in lines if "base" in line)
    assert [*heading.split()] == ["size", "base", "other", "times", "as", "long"]
    assert sum("2.79 (2.66" in line for line in lines) == 2


def test_of_heads_the_part_in_common_is_said_once_above() -> None:
    heads = ["put flush, window allocate", "get, window allocate"]
    lines = shown(Document(tables=[compared(heads)]), 70)
    assert sum("window allocate" in line for line in lines) == 1
    assert any(line.startswith("  put flush ") for line in lines)
    assert any(line.startswith("  get ") for line in lines)


def answered() -> Table:
    """A number, how sure it is, and a note with two clauses."""
    columns = [
        Column("what", "", lambda row: row, left=True, goes=None),
        Column("value", "", lambda _: "447 ns", goes=None),
        Column("sure", "", lambda _: "392 - 787 ns", left=True, goes=None),
        Column("note", "", lambda _: "2 ranks; 2.30 us at 64 KiB", left=True, wraps=True, goes=1, sheds=True),
    ]
    return Table("", "", ["latency, 8 B", "put flush, 8 B"], columns)


@pytest.mark.parametrize(
    ("width", "notes"), [(80, "2 ranks; 2.30 us at 64 KiB"), (64, "2 ranks"), (55, ""), (40, "")]
)
def test_notes_go_first_and_never_how_sure_a_number_is(width: int, notes: str) -> None:
    lines = shown(Document(tables=[answered()]), width)
    first = next(line for line in lines if "447 ns" in line)
    assert first.partition("787 ns")[2].strip() == notes
    assert sum("392 - 787 ns" in line for line in lines) == 2
    assert bool(hidden_of(lines)) == (not notes)
