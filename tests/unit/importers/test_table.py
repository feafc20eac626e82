"""Tables that people make: each column of numbers with a unit is a run, and nothing else is."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.importers import read
from mpigauge.importers.loading import load
from mpigauge.importers.reading import recognised
from tests.printed import records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli

CAPTION = """\
| OSU MPI All-to-Allv Personalized Exchange Latency Test v7.2(us) |            |            |
|-----------------------------------------------------------------|------------|------------|
| Size                                                            | Before     | After      |
| 1                                                               | 14,276.09  | 14,388.25  |
| 1,024                                                           | 15,375.00  | **15.5**   |
"""
PAGE = """\
<table>
  <caption>osu_latency (us)</caption>
  <thead><tr><th>Size</th><th>main</th><th>branch</th></tr></thead>
  <tbody>
    <tr>
      <td>8</td>
      <td>1.50</td>
      <td>1.40</td>
    </tr>
    <tr><td>64 KiB</td><td>20.0</td><td>-</td></tr>
  </tbody>
</table>
"""
Found = dict[tuple[str, str, int], object]


def found(folder: Path, text: str) -> Found:
    """Seconds by pattern, label and size."""
    times = times_of(records_of(folder / "table.txt", text))
    return {(cell.pattern, cell.label, cell.bytes): time_s for cell, time_s in times.items()}


def expected(pattern: str, **runs: dict[int, float]) -> Found:
    return {
        (pattern, label, size): pytest.approx(time_s)
        for label, times in runs.items()
        for size, time_s in times.items()
    }


def test_a_row_with_one_field_is_the_caption_of_all_columns(tmp_path: Path) -> None:
    assert found(tmp_path, CAPTION) == expected(
        "table_osu_mpi_all_to_allv_latency",
        Before={1: 14276.09e-6, 1024: 15375e-6},
        After={1: 14388.25e-6, 1024: 15.5e-6},
    )


ROWS = "|---|---:|---:|\n| 8 | 1.50 | 1.40 |\n| 16 | 1.60 | 1.45 |\n"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("| Size (B) | main (us) | branch (us) |\n" + ROWS, "table_latency"),
        ("| Message size | Latency [usec] main | branch, us |\n" + ROWS, "table_latency"),
        (
            "### osu_latency (\N{GREEK SMALL LETTER MU}s)\n\n| Size | main | branch |\n" + ROWS,
            "table_osu_latency",
        ),
        ("Latency in us:\n\n| `bytes` | main | branch |\n" + ROWS, "table_latency"),
        ("> | Size | main (us) | branch (us) |\n> " + ROWS.replace("\n", "\n> "), "table_latency"),
        ("    | Size | main (us) | branch (us) |\n    " + ROWS.replace("\n", "\n    "), "table_latency"),
        ("Size | main (us) | branch (us)\n---|---|---\n8 | 1.50 | 1.40\n16 | 1.60 | 1.45\n", "table_latency"),
        ("size,main (us),branch (us)\n8,1.50,1.40\n16,1.60,1.45\n", "table_latency"),
        ("# of yesterday\nsize;main_us;branch_us\n8;1.50;1.40\n16;1.60;1.45\n", "table_latency"),
        ("# size\tmain (us)\tbranch (us)\n8\t1.50\t1.40\n16\t1.60\t1.45\n", "table_latency"),
    ],
)
def test_units_stand_in_headings_or_above_them(tmp_path: Path, text: str, pattern: str) -> None:
    assert found(tmp_path, text) == expected(
        pattern, main={8: 1.5e-6, 16: 1.6e-6}, branch={8: 1.4e-6, 16: 1.45e-6}
    )


@pytest.mark.parametrize(
    "page", [PAGE, "<p>" + PAGE.replace("<table>", "</p>\n<table class='x'>"), PAGE.upper()]
)
def test_tables_of_pages_are_read(tmp_path: Path, page: str) -> None:
    page = (
        page.replace("OSU_LATENCY (US)", "osu_latency (us)")
        .replace("MAIN", "main")
        .replace("BRANCH", "branch")
    )
    page = page.replace("64 KIB", "64 KiB")
    assert found(tmp_path, page) == expected(
        "table_osu_latency", main={8: 1.5e-6, 65536: 20e-6}, branch={8: 1.4e-6}
    )


def test_a_rate_becomes_the_time_of_one_message_both_ways_if_it_says_so(tmp_path: Path) -> None:
    assert found(tmp_path, "| Size | old (GB/s) |\n|--|--|\n| 0 | 0 |\n| 1000 | 2.0 |\n") == expected(
        "table_bandwidth", old={1000: 0.5e-6}
    )
    both = "**Bi-directional bandwidth (MiB/s)**\n\n| Size | old |\n|--|--|\n| 1048576 | 2.0 |\n"
    assert found(tmp_path, both) == expected("table_bi_directional_bandwidth", old={1048576: 1.0})


def test_the_program_that_stands_before_size_names_what_was_measured(tmp_path: Path) -> None:
    text = "osu_bw size | ompi SHM (MB/S) | OMPI SHM (w/o fbox) (MB/S)\n-- | -- | --\n1000 | 10.0 | 20.0\n"
    assert found(tmp_path, text) == {
        ("table_osu_bw", "ompi-SHM", 1000): pytest.approx(1e-4),
        ("table_osu_bw", "OMPI-SHM-w-o-fbox", 1000): pytest.approx(5e-5),
    }


def test_blanks_may_part_thousands_and_sizes_have_the_unit_above_them(tmp_path: Path) -> None:
    text = (
        "| Message Size\n![a plot](https://example.org)\n"
        " (MB) | Ring (\N{MICRO SIGN}s) | Tuned (\N{MICRO SIGN}s) |\n|--:|--:|--:|\n"
        "| 256 | 405 462.40 | \N{EM DASH} |\n"
    )
    assert found(tmp_path, text) == expected("table_latency", Ring={256 * 10**6: 0.4054624})


def test_cells_may_have_units_and_factors_stand_before_sizes(tmp_path: Path) -> None:
    text = (
        "### AM ping-pong latency\n\n| ranks | op | size | SHM | network | network / SHM |\n"
        "|--|--|--|--|--|--|\n"
        "| 2 | am | 8B | 2.22 us | 4.79 us | 2.16x |\n| 8 | am | 8B | 0.5 ms | - | - |\n"
    )
    times = times_of(records_of(tmp_path / "table.md", text))
    assert {(of.pattern, of.mode, of.ranks, of.bytes, of.label): time_s for of, time_s in times.items()} == {
        ("table_am_ping_pong_latency", "op am", 2, 8, "SHM"): pytest.approx(2.22e-6),
        ("table_am_ping_pong_latency", "op am", 2, 8, "network"): pytest.approx(4.79e-6),
        ("table_am_ping_pong_latency", "op am", 8, 8, "SHM"): pytest.approx(0.5e-3),
    }


def test_the_same_columns_of_two_tables_are_runs_of_their_own(tmp_path: Path) -> None:
    table = "| Size | old (us) | new (us) |\n|--|--|--|\n| 8 | 2.0 | 1.0 |\n"
    times = times_of(records_of(tmp_path / "table.md", f"On one node\n\n{table}\nOn two nodes\n\n{table}"))
    assert [cell.label for cell in times] == [
        "old-one-node",
        "new-one-node",
        "old-two-nodes",
        "new-two-nodes",
    ]
    long = "a-very-long-heading-of-a-column"
    times = times_of(records_of(tmp_path / "table.md", table.replace("old", long) * 2))
    assert len(times) == 4
    assert max(len(cell.label) for cell in times) <= 32


def test_times_and_rates_of_one_table_are_two_patterns(tmp_path: Path) -> None:
    text = (
        "**my results, mean:**\n\n| Size | Latency (us) | Bandwidth (MB/s) |\n|--|--|--|\n| 8 | 2.0 | 4.0 |\n"
    )
    assert found(tmp_path, text) == {
        ("table_my_results_mean_latency", "", 8): pytest.approx(2e-6),
        ("table_my_results_mean_bandwidth", "", 8): pytest.approx(2e-6),
    }


def test_what_is_no_run_is_left_out(tmp_path: Path) -> None:
    text = (
        "| Size | old (us) | new (us) | min (us) | diff (us) | Speedup | Iterations |\n"
        "|--|--|--|--|--|--|--|\n"
        "| 8 | 2.0 | 1.0 | 0.5 | 1.0 | 2.0x | 1000 |\n"
    )
    assert found(tmp_path, text) == expected("table_latency", old={8: 2e-6}, new={8: 1e-6})
    text = "Time (us)\n\n| Size | old | new | Speedup |\n|--|--|--|--|\n| 8 | 2.0 | 1.0 | 2.0 |\n"
    assert [of[1] for of in found(tmp_path, text)] == ["old", "new"]


def test_labels_are_made_of_headings_whatever_they_are(tmp_path: Path) -> None:
    text = "| Size | mtl/ofi (cxi), us | 4.1.5 (us) |\n|--|--|--|\n| 8 | 2.0 | 1.0 |\n"
    assert [of[1] for of in found(tmp_path, text)] == ["mtl-ofi-cxi", "run-4.1.5"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("| Size | Before | After |\n" + ROWS, "line 1: does not say the unit of 'Before'"),
        ("size,bandwidth\n1,2.5\n", "line 1: does not say the unit of 'bandwidth'"),
        (
            "| Size | Bandwidth (MB/sec) |\n|--|--|\n| 8 | 1.0 |\n",
            "its MB may be 10^6 or 2^20 bytes",
        ),
        ("| Size | Speedup |\n|--|--|\n| 8 | 1.0 |\n", "has no column of times or rates"),
        ("| Size | old (us) | old (us) |\n" + ROWS, "two columns are of the same run"),
        ("| Size | old (us) |\n|--|--|\n| 4M | 1.0 |\n", "line 3: '4M': no unit of size is called 'M'"),
        (
            "| Size | old (us) |\n|--|--|\n| 8 | 1,024 |\n",
            "the comma may be one of thousands or a decimal point",
        ),
        ("size;old (us)\n8;2,5\n", "line 2: '2,5' is not a number"),
        ("| Size | old (us) |\n|--|--|\n| 8 | fast |\n", "line 3: 'fast' is not a number"),
        ("| Size | old (us) |\n|--|--|\n| 8 | 1.0 | 2.0 |\n", "line 3: has 3 fields below 2 headings"),
    ],
)
def test_what_could_be_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in said_of(tmp_path / "table.md", text)


def test_rows_above_a_damaged_row_are_kept(tmp_path: Path) -> None:
    text = "| Size | old (us) |\n|--|--|\n| 8 | 1.0 |\n| all | 2.0 |\n| 16 | 3.0 |\n"
    assert found(tmp_path, text) == expected("table_latency", old={8: 1e-6})
    assert "'all' is not a size in bytes" in said_of(tmp_path / "table.md", text)


def test_a_table_of_something_else_is_no_result(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "other.md"
    path.write_text("| Node | Latency (us) |\n|--|--|\n| a | 1.0 |\n", encoding="ascii")
    assert cli("show", path).status != 0


@pytest.mark.parametrize(
    "heading", ["# Size\tLatency (us)", "# Size\tAvg Latency(us)\tMin Latency(us)", "Size\tBandwidth (MB/s)"]
)
def test_headings_of_suites_with_tabs_begin_no_other_table(tmp_path: Path, heading: str) -> None:
    path = tmp_path / "osu.txt"
    path.write_text(f"# OSU MPI Latency Test v5.9\n{heading}\n8\t1.84\n", encoding="ascii")
    assert recognised(path.read_bytes()) == ("osu",)


@given(
    begin=st.integers(0, len(PAGE)),
    length=st.integers(1, 12),
    more=st.sampled_from(["", "<tr>", "<td>", "<"]),
)
def test_a_damaged_page_gives_what_it_says_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, begin: int, length: int, more: str
) -> None:
    path = tmp_path_factory.mktemp("page") / "page.html"
    text = PAGE[:begin] + more + PAGE[begin + length :]
    path.write_text(text, encoding="utf-8")
    try:
        times = times_of(read("table", [path]))
    except UsageError:
        return
    printed = {float(word) for word in re.findall(r"[0-9]+(?:\.[0-9]+)?", text)}
    assert {round(time_s * 1e6, 6) for time_s in times.values()} <= printed


@pytest.mark.parametrize(
    "line",
    [
        *("-" * 10**5 + "x", "| " * 10**5, "size" + " " * 10**5 + "x", "size (" + "a" * 10**5),
        *("+a" + "-" * 10**5 + "x", "| Key: " + " " * 10**5, "(" * 10**5, "*" * 10**5 + "a", "\n" * 10**5),
    ],
)
def test_long_lines_take_no_time_to_speak_of(tmp_path: Path, line: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(f"{line}\n| Size | old (us) |\n|--|--|\n{line}\n{line}", encoding="ascii")
    began = time.process_time()
    with suppress(UsageError):
        load(path)
    assert time.process_time() - began < 30


NAMES = st.lists(st.from_regex(r"[a-z]{4,8}x", fullmatch=True), min_size=1, max_size=4, unique=True)


@given(
    names=NAMES,
    sizes=st.lists(st.integers(0, 2**40), min_size=1, max_size=5, unique=True),
    unit=st.sampled_from(["us", "ms", "ns", "s", "MB/s", "GiB/s"]),
    form=st.sampled_from(["| {} |", "{}"]),
    data=st.data(),
)
def test_what_is_printed_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    names: list[str],
    sizes: list[int],
    unit: str,
    form: str,
    data: st.DataObject,
) -> None:
    scale = {"us": 1e-6, "ms": 1e-3, "ns": 1e-9, "s": 1.0, "MB/s": 1e6, "GiB/s": 2.0**30}[unit]
    values = {
        (name, size): data.draw(st.decimals("0.01", "99999", places=2)) for name in names for size in sizes
    }
    between = " | " if form != "{}" else ","
    rows = [["size", *(f"{name} ({unit})" for name in names)]]
    rows += [[str(size), *(str(values[name, size]) for name in names)] for size in sizes]
    path = tmp_path_factory.mktemp("table") / "table.txt"
    path.write_text("".join(f"{form.format(between.join(row))}\n" for row in rows), encoding="ascii")
    rated = "/" in unit
    wanted = {
        (name, size): pytest.approx(size / (float(value) * scale) if rated else float(value) * scale)
        for (name, size), value in values.items()
        if size or not rated
    }
    if wanted:
        times = times_of(read("table", [path]))
        assert {(cell.label, cell.bytes): time_s for cell, time_s in times.items()} == wanted


# ---- Factors -------------------------------------------------------------------------------------


def named(folder: Path, text: str) -> dict[tuple[str, int, str, int], float]:
    """Microseconds by mode, ranks, label and size."""
    times = times_of(records_of(folder / "table.csv", text))
    return {(of.mode, of.ranks, of.label, of.bytes): round(time_s * 1e6, 6) for of, time_s in times.items()}


@pytest.mark.parametrize(
    ("heading", "row", "key"),
    [
        ("src,dst,Size,Avg Latency(us)", "n1,n2,8,1.5", ("src n1 dst n2", 0, "", 8)),
        ("nodes;Size (B);Latency (us)", "2;8;1.5", ("nodes 2", 0, "", 8)),
        ("num_ranks\tbytes\tlatency_us", "4\t8\t1.5", ("standard", 4, "", 8)),
        (",mpi,size_bytes,time_us", "0,ompi,8,1.5", ("mpi ompi", 0, "", 8)),
        ("index,size,min_us,avg_us,p99_us", "7,8,1.0,1.5,2.0", ("standard", 0, "", 8)),
        ("size,latency (us),nprocs", "8,1.5,4", ("standard", 4, "", 8)),
        ("| | Size | ompi (us) |\n|--|--|--|", "| lat | 8 | 1.5 |", ("lat", 0, "ompi", 8)),
    ],
)
def test_columns_beside_that_of_sizes_are_factors(
    tmp_path: Path, heading: str, row: str, key: tuple[str, int, str, int]
) -> None:
    assert named(tmp_path, f"{heading}\n{row}\n") == {key: 1.5}


def test_words_behind_numbers_are_the_label_where_rows_need_one(tmp_path: Path) -> None:
    text = (
        "size,avg (us),mpi,note,nodes\n8,1.0,ompi,a,2\n8,2.0,mpich,a,2\n16,1.1,ompi,b,2\n16,2.1,mpich,c,2\n"
    )
    assert named(tmp_path, text) == {
        ("standard", 0, "ompi", 8): 1.0,
        ("standard", 0, "mpich", 8): 2.0,
        ("standard", 0, "ompi", 16): 1.1,
        ("standard", 0, "mpich", 16): 2.1,
    }
    alone = "size,time (us),note\n8,1.0,eager\n16,1.1,eager\n32,1.2,rendezvous\n64,1.3,rendezvous\n"
    assert {key[2] for key in named(tmp_path, alone)} == {""}


def test_counts_behind_numbers_are_factors_where_rows_need_them(tmp_path: Path) -> None:
    text = "size,time (us),nodes\n8,1.0,2\n16,1.1,2\n8,2.0,4\n16,2.1,4\n"
    assert {key[0] for key in named(tmp_path, text)} == {"nodes 2", "nodes 4"}


def test_long_words_behind_numbers_are_cut_to_labels_of_their_own(tmp_path: Path) -> None:
    long = "a-toolchain-with-a-name-that-is-longer-than-labels"
    rows = "".join(
        f"{size},{time},{long}-{end}\n"
        for size, time, end in ((8, 1, "x"), (8, 2, "y"), (16, 3, "x"), (16, 4, "y"))
    )
    found = named(tmp_path, f"size,time (us),toolchain\n{rows}")
    assert sorted(found.values()) == [1.0, 2.0, 3.0, 4.0]
    assert len({key[2] for key in found}) == 2


@pytest.mark.parametrize(
    "text",
    [
        "| Size | UCX | OFI |\n|---|---|---|\n| (B) | (us) | (us) |\n| 8 | 1.5 | 1.6 |\n",
        "size\tUCX\tOFI\n\tus\tus\n8\t1.5\t1.6\n",
        "<table><tr><th>Size</th><th>UCX</th><th>OFI</th></tr>\n<tr><td>(B)</td><td>us</td><td>us</td></tr>\n<tr><td>8</td><td>1.5</td><td>1.6</td></tr></table>",
    ],
)
def test_units_may_stand_below_headings(tmp_path: Path, text: str) -> None:
    assert {key[2:]: time for key, time in named(tmp_path, text).items()} == {
        ("UCX", 8): 1.5,
        ("OFI", 8): 1.6,
    }


def test_the_name_of_a_program_in_a_heading_stays_whole(tmp_path: Path) -> None:
    names = "osu_bw openmpi (MB/s) | osu_bw mpich (MB/s) | bandwidth ucx (MB/s)"
    text = f"| Size | {names} |\n|--|--|--|--|\n| 8 | 1 | 2 | 3 |\n"
    assert [of[1] for of in found(tmp_path, text)] == ["osu_bw-openmpi", "osu_bw-mpich", "ucx"]
