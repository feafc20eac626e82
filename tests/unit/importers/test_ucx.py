# ruff: noqa: E501 - tables are as wide as they are printed
"""Text of ucx_perftest: one number of each table, with the size that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.importers import read
from tests.printed import records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

RULE = "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+"
HEADING = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       {kind:>8} (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
{rule}
|    {first}     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
{rule}
"""
OLD = """\
+--------------+-----------------------------+---------------------+-----------------------+
|              |       latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+---------+---------+---------+----------+----------+-----------+-----------+
| # iterations | typical | average | overall |  average |  overall |   average |   overall |
+--------------+---------+---------+---------+----------+----------+-----------+-----------+
"""
BOX = """\
+----------------------------------------------------------------------------------------------------------+
| API:          {api} layer                                                                             |
| Test:         {test}                                                                          |
| Data layout:  {layout}                                                                                |
| Send memory:  {memory}                                                                                       |
| Recv memory:  {memory}                                                                                       |
| Message size: {size}                                                                                  |
| Window size:  1                                                                                          |
+----------------------------------------------------------------------------------------------------------+
"""
LATENCY = "[thread 0]            121919     16.418    16.859    16.405     1697.07    1744.03       59317       60958\n"
LAST = "Final:                 92260     16.871    16.627    16.259     1720.71    1759.69       60143       61505\n"
STREAM = "Final:               1000000      0.039     0.125     0.125       60.84      60.84     7974856     7974856\n"


def heading(kind: str = "latency", first: str = "Stage") -> str:
    return HEADING.format(kind=kind, rule=RULE, first=first)


def box(
    test: str = "tag match latency",
    *,
    size: int = 30000,
    api: str = "protocol",
    layout: str = "(automatic)",
    memory: str = "host",
) -> str:
    return BOX.format(test=test, size=size, api=api, layout=layout, memory=memory)


def found(folder: Path, text: str) -> dict[tuple[str, str, int], float]:
    """Seconds by pattern, mode and size."""
    times = times_of(records_of(folder / "ucx.txt", text))
    assert {cell.ranks for cell in times} == {2}
    return {(cell.pattern, cell.mode, cell.bytes): time_s for cell, time_s in times.items()}


@pytest.mark.parametrize(
    "text",
    [
        box() + heading() + LATENCY + LAST,
        heading() + box() + LATENCY + LAST,
        box() + OLD + LATENCY[10:] + LAST[10:],
    ],
)
def test_the_last_line_of_a_table_counts_with_what_the_box_says(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == {("ucx_tag_lat", "standard", 30000): pytest.approx(16.259e-6)}


def test_a_size_follows_from_rates_that_leave_no_other(tmp_path: Path) -> None:
    assert found(tmp_path, heading() + LAST) == {
        ("ucx_unnamed_lat", "standard", 30000): pytest.approx(16.259e-6)
    }


def test_a_command_line_says_size_memory_and_test(tmp_path: Path) -> None:
    row = "Final:      10      0.353  2202.916  2202.916    45394.37   45394.37         454         454\n"
    command = "$ ucx_perftest -m cuda,host -t tag_bw -n 10 -s $((1024*1024*100)) node1\n"
    assert found(tmp_path, command + heading("overhead") + row) == {
        ("ucx_tag_bw", "cuda-host", 104857600): pytest.approx(2202.916e-6)
    }
    assert "does not say the size of its messages; by its rates it is between" in said_of(
        tmp_path / "x.txt", heading("overhead") + row
    )


@pytest.mark.parametrize(
    "command",
    [
        "[user@node02 ompi]$ ucx_perftest node03 -t tag_bw -m cuda -s $((4 * 1024 * 1024)) -n 1000",
        "time numactl --physcpubind=0 ./ucx_perftest -t tag_bw -m cuda -s 4194304 node03",
        "UCX_TLS=tcp ucx_perftest node03 -t tag_bw -s 4194304 -m cuda",
        "ucx_perftest -s 8 & sleep 1; UCX_TLS=tcp ucx_perftest -t tag_bw -m cuda -s 4194304 localhost",
    ],
)
def test_command_lines_are_found_behind_prompts_and_variables(tmp_path: Path, command: str) -> None:
    row = "Final:      1000    201.639   253.497   253.497    15779.29   15779.29        3945        3945\n"
    text = f"First some words on ucx_perftest.\n{command}\n{heading('overhead')}{row}"
    assert [*found(tmp_path, text)] == [("ucx_tag_bw", "cuda-cuda", 2**22)]


def test_rows_are_no_names_of_the_table_below_them(tmp_path: Path) -> None:
    text = f"before\n{heading()}{LAST}\nafter\n{heading()}{LAST}{heading()}{LAST}"
    labels = [cell.label for cell in times_of(records_of(tmp_path / "ucx.txt", text))]
    assert not [label for label in labels if label.startswith("Final")]


def test_blocks_of_a_message_are_one_size(tmp_path: Path) -> None:
    text = "$ ucx_perftest -t am_bw -s 10000,1000:20\n" + heading() + LAST
    assert found(tmp_path, text) == {("ucx_am_bw", "standard", 30000): pytest.approx(16.259e-6, rel=1e-4)}


def test_a_size_that_the_rates_contradict_is_not_believed(tmp_path: Path) -> None:
    assert found(tmp_path, box(size=8) + heading() + LAST) == {
        ("ucx_tag_lat", "standard", 30000): pytest.approx(16.259e-6)
    }


def test_a_stream_is_timed_by_its_messages_where_they_have_more_digits(tmp_path: Path) -> None:
    text = box("tag match bandwidth", size=8) + heading("overhead") + STREAM
    assert found(tmp_path, text) == {("ucx_tag_bw", "standard", 8): pytest.approx(1 / 7974856)}


def test_what_the_box_says_of_memory_and_layout_is_the_mode(tmp_path: Path) -> None:
    text = box("active message latency", api="transport", layout="zcopy", memory="cuda") + heading() + LAST
    assert [*found(tmp_path, text)] == [("ucx_am_lat", "cuda-cuda zcopy", 30000)]


THREADS = "".join(
    f"[thread {thread}]       7000     0.100     0.200     0.200       38.15      38.15     5000000     5000000\n"
    for thread in (0, 1)
)


def test_several_threads_are_taken_by_the_line_that_sums_them_up(tmp_path: Path) -> None:
    total = "Final:                  7000                         0.200                  76.29                10000000\n"
    text = box("tag match bandwidth", size=8) + heading("overhead") + THREADS
    assert found(tmp_path, text + total) == {("ucx_tag_bw", "2 threads", 8): pytest.approx(1e-7)}
    assert "is of one of 2 threads, and no last line sums them up" in said_of(tmp_path / "x.txt", text)


def test_tests_of_a_batch_have_the_names_that_its_file_gives_them(tmp_path: Path) -> None:
    rows = (
        "  tag_lat/8        1000      0.300     0.320     0.320       23.84      23.84     3125000     3125000\n"
        "tag_lat/16        1000      0.300     0.320     0.320       47.68      47.68     3125000     3125000\n"
    )
    expected = {("ucx_tag_lat", "standard", size): pytest.approx(0.32e-6) for size in (8, 16)}
    assert found(tmp_path, heading("overhead", "Test") + rows) == expected
    above = "".join(
        f"+{name}{RULE[len(name) + 1 :]}\nFinal: {row.split(maxsplit=1)[1]}"
        for name, row in zip(("tag_lat/8", "tag_lat/16"), rows.splitlines(keepends=True), strict=True)
    )
    assert found(tmp_path, heading("overhead") + above) == expected
    values = (
        "tests,msg_pow2,iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
        "tag_lat,8,1000,0.300,0.320,0.320,23.84,23.84,3125000,3125000\n"
        "tag_lat,16,1000,0.300,0.320,0.320,47.68,47.68,3125000,3125000\n"
    )
    assert found(tmp_path, values) == expected


def test_whole_numbers_may_have_commas_and_lines_more_than_numbers(tmp_path: Path) -> None:
    row = "Final:    1,000,000      0.039     0.125     0.125       60.84      60.84   7,974,856   7,974,856  more\n"
    assert [*found(tmp_path, heading("overhead") + row)] == [("ucx_unnamed_bw", "standard", 8)]


def test_tables_of_one_file_are_each_of_their_size(tmp_path: Path) -> None:
    text = (
        box()
        + heading()
        + LAST
        + "\n"
        + box(size=8, test="tag match bandwidth")
        + heading("overhead")
        + STREAM
    )
    assert [*found(tmp_path, text)] == [("ucx_tag_lat", "standard", 30000), ("ucx_tag_bw", "standard", 8)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (heading() + LAST[:60] + "\n", "has 4 numbers below 8 columns"),
        (heading().replace("(MB/s)", "(GB/s)") + LAST, "no unit of ucx_perftest is called 'GB/s'"),
        (
            heading() + LAST.replace("61505", "61600"),
            "its rates in bytes and in messages contradict each other",
        ),
        (
            box("put bandwidth", size=8) + heading("overhead") + STREAM.replace("0.125  ", "0.250  "),
            "its time and its count of messages contradict each other",
        ),
    ],
)
def test_what_could_be_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in said_of(tmp_path / "x.txt", text)


@pytest.mark.parametrize("units", ["(s)", "xs"])
def test_columns_without_units_that_are_known_are_none(tmp_path: Path, units: str) -> None:
    text = box() + heading() + LAST
    damaged = box() + heading().replace("(usec)", units) + LAST
    assert found(tmp_path, text + damaged) == found(tmp_path, text)


def test_a_torn_last_line_leaves_the_lines_above_it(tmp_path: Path) -> None:
    text = box() + heading() + LATENCY + LAST[:60] + "\n"
    assert found(tmp_path, text) == {("ucx_tag_lat", "standard", 30000): pytest.approx(16.405e-6)}
    assert "has 4 numbers below 8 columns" in said_of(tmp_path / "x.txt", text)


@given(
    size=st.integers(1, 4096),
    time_us=st.floats(0.05, 500),
    named=st.booleans(),
)
def test_whatever_is_printed_is_read_with_its_size(
    tmp_path_factory: pytest.TempPathFactory, size: int, time_us: float, named: bool
) -> None:
    """A size that is not said is the right one, or none."""
    path = tmp_path_factory.mktemp("ucx") / "ucx.txt"
    rate, count = size / time_us * 1e6 / 2**20, 1e6 / time_us
    row = f"Final: 1000 {time_us:.3f} {time_us:.3f} {time_us:.3f} {rate:.2f} {rate:.2f} {count:.0f} {count:.0f}\n"
    path.write_text((box(size=size) if named else "") + heading() + row, encoding="ascii")
    if not named and "does not say the size" in said_of(path):
        return
    ((cell, time_s),) = times_of(read("ucx", [path])).items()
    assert cell.bytes == size
    assert time_s == pytest.approx(time_us * 1e-6, abs=0.5e-9)
