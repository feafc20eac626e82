"""perftest, libfabric's tests and NetPIPE's screen: units, directions, and what a time is of.

The rows of real outputs are facts of public posts; addresses and names of hosts are others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.importers import reading
from mpigauge.result.reader import result_of
from mpigauge.result.records import Campaign, Failure, Imported
from mpigauge.rows.rows import rows
from tests.printed import FOLDER, records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.plan.model import Cell

US, MIB, GBIT = 1e-6, 2.0**20, 1e9 / 8
SIZED = " #bytes     #iterations    "
MIB_RATES = f"{SIZED}BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
GBIT_RATES = f"{SIZED}BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
TIMES = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec]\n"
)
RATE_OF = {MIB_RATES: MIB, GBIT_RATES: GBIT}
PINGPONG = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
FABTESTS = "bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n"


def seconds(path: Path, text: str) -> dict[tuple[str, str, int], float]:
    """Seconds by pattern, mode and size of a text with one table of each."""
    return {
        (of.pattern, of.mode, of.bytes): time_s for of, time_s in times_of(records_of(path, text)).items()
    }


def rates(path: Path, text: str) -> dict[tuple[str, str, int], float]:
    """MB/s by pattern, mode and size, as tables and answers have them."""
    return {
        (row.cell.pattern, row.cell.mode, row.cell.bytes): row.rate_bytes_per_s / 1e6
        for row in rows(result_of(path, records_of(path, text)))
        if row.rate_bytes_per_s is not None
    }


def times_of_any(path: Path, text: str) -> dict[Cell, float]:
    """Seconds by cell of a text that may be refused."""
    path.write_text(text, encoding="utf-8")
    try:
        return times_of(records_of(path))
    except UsageError:
        return {}


# ---- perftest ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "row", "bytes_per_s"),
    [
        (
            MIB_RATES,
            "65536      1000             2757.96            2757.93		   0.044127",
            2757.93 * MIB,
        ),
        (MIB_RATES, "2          5000             4.26               3.88           2.036842", 2.036842e6 * 2),
        (
            GBIT_RATES,
            "65536      5000             51.05              51.04              0.097356",
            0.097356e6 * 65536,
        ),
        (
            GBIT_RATES,
            "2          5000           0.142947            0.012281            0.767588",
            0.767588e6 * 2,
        ),
        (
            GBIT_RATES,
            "65536      560845           0.00               98.02                0.186950",
            0.18695e6 * 65536,
        ),
    ],
)
def test_a_rate_of_perftest_is_in_the_unit_of_its_heading(
    tmp_path: Path, heading: str, row: str, bytes_per_s: float
) -> None:
    (time_s,) = times_of(records_of(tmp_path / "bw", f"RDMA_Write BW Test\n{heading} {row}\n")).values()
    size, _, _, printed, _ = row.split()
    assert int(size) / time_s == pytest.approx(bytes_per_s, rel=1e-5)
    assert int(size) / time_s == pytest.approx(float(printed) * RATE_OF[heading], rel=2e-3)


def test_both_directions_of_perftest_are_told_from_one(tmp_path: Path) -> None:
    row = " 4096       8758300          0.00 11403.46                   2.919285\n"
    both, one = (
        f"Send{how} BW Test\n Number of qps   : 1\n TX depth        : 128\n{MIB_RATES}{row}"
        for how in (" Bidirectional", "")
    )
    assert rates(tmp_path / "b", both) == {
        ("perftest_send_bw", "bidirectional", 4096): pytest.approx(11403.46 * MIB / 1e6, rel=1e-5)
    }
    assert seconds(tmp_path / "b", both) == {
        ("perftest_send_bw", "bidirectional", 4096): pytest.approx(2 / 2.919285e6, rel=1e-5)
    }
    assert seconds(tmp_path / "o", one) == {
        ("perftest_send_bw", "standard", 4096): pytest.approx(1 / 2.919285e6, rel=1e-5)
    }


def test_what_each_side_has_sent_is_of_one_direction(tmp_path: Path) -> None:
    row = "65536      5000             {0}             {0}  	   {1}\n"
    both, local, remote = (
        GBIT_RATES + row.format(*of) for of in ((189.5, 0.361443), (90.25, 0.172138), (99.25, 0.189304))
    )
    title = "RDMA_Write Bidirectional BW Test\n"
    text = f"{title}{both}\n Local results: \n----\n{local}\n Remote results: \n----\n{remote}"
    assert rates(tmp_path / "both", text) == {
        ("perftest_write_bw", "bidirectional", 65536): pytest.approx(189.5 * 125, rel=1e-4),
        ("perftest_write_bw", "bidirectional local", 65536): pytest.approx(90.25 * 125, rel=1e-4),
        ("perftest_write_bw", "bidirectional remote", 65536): pytest.approx(99.25 * 125, rel=1e-4),
    }


@pytest.mark.parametrize(
    ("title", "name", "time_of"),
    [
        ("Send Latency Test", "perftest_send_lat", "one message: half a round trip"),
        ("RDMA_Write Latency Test", "perftest_write_lat", "one message: half a round trip"),
        ("RDMA_Read Latency Test", "perftest_read_lat", "one operation: there and back"),
        ("Atomic FETCH_AND_ADD Latency Test", "perftest_atomic_lat", "one operation: there and back"),
    ],
)
def test_a_latency_of_perftest_is_its_mean(tmp_path: Path, title: str, name: str, time_of: str) -> None:
    row = " 2       1000          1.76           6.12         1.79             1.80       0.06 1.88  6.12\n"
    records = records_of(tmp_path / "lat", f"{title}\n{TIMES}{row}")
    (one,) = (record for record in records if isinstance(record, Imported))
    assert (one.cell.pattern, one.cell.bytes, one.statistic) == (name, 2, "mean")
    assert one.time_s == pytest.approx(1.8 * US)
    (campaign,) = (record for record in records if isinstance(record, Campaign))
    assert campaign.patterns[0].time_of == time_of


def test_older_versions_print_a_median(tmp_path: Path) -> None:
    heading = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"
    text = f"RDMA_Read Latency Test\n{heading} 2       1000          1.10        6.12     1.25\n"
    (one,) = (one for one in records_of(tmp_path / "lat", text) if isinstance(one, Imported))
    assert one.time_s == pytest.approx(1.25 * US)
    assert one.statistic == "median"


@pytest.mark.parametrize("options", ["-a -n 5 -F -C", "-a --report-cycles -F"], ids=["short", "long"])
def test_cycles_below_a_heading_that_says_usec_are_refused(tmp_path: Path, options: str) -> None:
    row = " 1024    5          8000.00        9000.00      8299.00      8299.00     10.00  9000.00 9000.00\n"
    text = f"[root@localhost master]# ib_write_lat {options}\n RDMA_Write Latency Test\n{TIMES}{row}"
    assert said_of(tmp_path / "lat", text).endswith("line 3: its times are cycles, as -C in the command says")


def test_factors_that_perftest_prints_above_its_table_are_part_of_the_cell(tmp_path: Path) -> None:
    table = (
        "                    RDMA_Write{how} BW Test\n Number of qps   : {pairs}\t\tTransport type : IB\n"
        " Connection type : {kind}\t\tUsing SRQ      : OFF\n{more}"
        f"{MIB_RATES} 65536      1000   2757.96   2757.93   0.044127\n deallocating GPU buffer 00007f3fa4\n"
    )
    usual: dict[str, object] = {"how": "", "pairs": 1, "kind": "RC", "more": ""}
    tables: list[dict[str, object]] = [
        {},
        {"pairs": 4, "kind": "UC"},
        {"how": " Post List", "more": " Post List       : 64\n"},
        {"more": " Use ROCm memory : ON\n"},
        {},
    ]
    device = "initializing CUDA\ncuMemAlloc() of a 131072 bytes GPU buffer\nallocated GPU buffer at 00007f\n"
    text = device + "".join(table.format(**(usual | more)) for more in tables)
    found = [of.mode for of in times_of(records_of(tmp_path / "bw", text))]
    assert found == ["device", "UC 4 queue pairs", "lists of 64", "device", "standard"]


def test_tables_of_perftest_without_titles_are_of_the_program_that_is_named_above_them(
    tmp_path: Path,
) -> None:
    tables = (
        f"{MIB_RATES}1024       1000             0.00               **{rate}**		   {count}\n"
        for rate, count in (("5544.28", "5.677340"), ("920.13", "0.942218"))
    )
    commands = "Case1:numactl -C 64 ib_send_bw -a\nCase2:numactl -C 64 ib_send_bw\n\n"
    text = f"{commands}Case1 data:\n{{}}\nCase2 data:\n{{}}"
    times = times_of(records_of(tmp_path / "bw", text.format(*tables)))
    assert [(of.pattern, of.label) for of in times] == [
        ("perftest_send_bw", "Case1"),
        ("perftest_send_bw", "Case2"),
    ]
    assert list(times.values()) == pytest.approx([1 / 5.67734e6, 1 / 0.942218e6])


def test_the_depth_of_its_queue_is_a_window() -> None:
    cells = times_of(records_of(FOLDER / "perftest_write_bw_made.txt"))
    assert {(of.mode, of.window) for of in cells} == {("bidirectional 2 queue pairs", 128)}


def test_a_row_of_perftest_that_contradicts_itself_ends_its_table(tmp_path: Path) -> None:
    rows_of_it = " 2 5000 1.23 0.02 1.200000\n 4 5000 1.23 1.20 0.075000\n 8 5000 1.23 0.08 1.250000\n"
    text = f"RDMA_Write BW Test\n{GBIT_RATES}{rows_of_it}"
    assert len(times_of(records_of(tmp_path / "bw", text))) == 1
    assert said_of(tmp_path / "bw", text).endswith("its rates in bytes and in messages contradict each other")


@pytest.mark.parametrize(
    ("heading", "why"),
    [
        (MIB_RATES.replace("average[MB/sec]", "average[GB/sec]"), "no unit is called 'GB/sec'"),
        (TIMES.replace("t_avg[usec]", "t_avg[msec]"), "no unit is called 'msec'"),
        (" #flows	fs_min_time[usec]	fs_max_time[usec]\n", "it counts flows, not messages"),
    ],
)
def test_a_heading_of_perftest_that_is_not_known_is_refused(tmp_path: Path, heading: str, why: str) -> None:
    assert why in said_of(
        tmp_path / "x", f"Send BW Test\n{heading} 2 1000 1.00 1.00 1.00 1.00 1.00 1.00 1.00\n"
    )


@given(
    size=st.integers(1, 2**31),
    per_s=st.floats(1.0, 3e8),
    heading=st.sampled_from([MIB_RATES, GBIT_RATES]),
    both=st.booleans(),
)
def test_what_perftest_would_print_of_a_rate_is_read_as_that_rate(
    tmp_path_factory: pytest.TempPathFactory, size: int, per_s: float, heading: str, *, both: bool
) -> None:
    average = size * per_s / RATE_OF[heading]
    row = f" {size}    1000    {average:.2f}    {average:.2f}    {per_s / 1e6:.6f}\n"
    path = tmp_path_factory.mktemp("perftest") / "bw"
    text = f"Send{' Bidirectional' * both} BW Test\n{heading}{row}"
    path.write_text(text, encoding="utf-8")
    exact = max(average / 0.005, per_s / 0.5)
    records = reading.read_any(path)
    assert records is not None
    for time_s in times_of(records).values():
        assert (2 if both else 1) / time_s == pytest.approx(per_s, rel=20 / exact)


# ---- libfabric -----------------------------------------------------------------------------------


def test_a_time_of_fi_pingpong_is_half_a_round_trip(tmp_path: Path) -> None:
    text = (
        '$ fi_pingpong -p "tcp;ofi_rxm" -e rdm -d eth0 192.0.2.1\n\n'
        f"{PINGPONG}64      10      =10      1.2k        0.03s      0.05    1378.30       0.00\n"
        "1k      10      =10      20k         0.00s     89.04      11.50       0.09\n"
        "1m      10      =10      20m         0.01s   2659.00     394.35       0.00\n\n"
        "Make sure communications with tcp can go through.\n"
    )
    assert seconds(tmp_path / "pp", text) == {
        ("fi_pingpong", "rdm", 64): pytest.approx(1378.3 * US),
        ("fi_pingpong", "rdm", 1024): pytest.approx(11.5 * US),
        ("fi_pingpong", "rdm", 1048576): pytest.approx(394.35 * US),
    }
    assert said_of(tmp_path / "pp", text) == ""


def test_rates_of_fabtests_are_of_10_to_the_6_bytes(tmp_path: Path) -> None:
    text = (
        "host$ ./build/fabtests/bin/fi_rma_bw -p efa -o write -E -D cuda -S all 192.0.2.1\n"
        f"{FABTESTS}1       20k     19k         0.03s      0.75       1.33       0.75\n"
        "1.5k    20k     29m         0.03s   1212.41       1.27       0.79\n"
        "12k     20k     234m        0.04s   6770.81       1.81       0.55\n"
        "768k    2k      1.4g        0.13s  11843.86      66.40       0.02\n"
    )
    found = {size: rate for (name, mode, size), rate in rates(tmp_path / "bw", text).items()}
    assert found == {
        1: pytest.approx(0.75, rel=5e-3),
        1536: pytest.approx(1212.41),
        12288: pytest.approx(6770.81),
        786432: pytest.approx(11843.86),
    }
    assert {key[:2] for key in rates(tmp_path / "bw", text)} == {("fabtests_rma_bw", "write device")}


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ("1       10k     19k         0.30s      0.07      14.94       0.07\n", "fabtests_pingpong"),
        ("1m      200     200m        0.03s   6892.86     152.12       0.01\n", "fabtests_unnamed"),
    ],
)
def test_a_table_without_a_program_is_named_by_how_often_it_counts_its_bytes(
    tmp_path: Path, rows: str, name: str
) -> None:
    assert {of.pattern for of in times_of(records_of(tmp_path / "x.txt", FABTESTS + rows))} == {name}


def test_a_size_that_is_rounded_is_refused(tmp_path: Path) -> None:
    text = f"{FABTESTS}64      10k     1.2m        0.20s      3.20      20.00       0.05\n"
    rounded = "15k     1k      29m         0.10s   5000.00       3.10       0.32\n"
    assert said_of(tmp_path / "x", text + rounded).endswith("line 3: its rate times its time is not its size")
    rounded = "1.4k    1k      2.8m        0.10s    500.00       3.00       0.33\n"
    assert said_of(tmp_path / "x", text + rounded).endswith("line 3: '1.4k' is not a whole number of bytes")


def test_old_versions_print_gbit_per_second(tmp_path: Path) -> None:
    text = (
        "$ fi_msg_pingpong 192.0.2.1\nname      bytes   iters   total       time     Gb/sec    usec/xfer\n"
        "4k_lat    4k      10k     78m         0.08s      8.19       4.00\n"
    )
    assert seconds(tmp_path / "x", text) == {("fabtests_msg_pingpong", "4k_lat", 4096): pytest.approx(4 * US)}


@pytest.mark.parametrize("word", ["3,20", "1,1", "1e1", "nan", "inf", "-3.20"])
def test_a_word_that_is_no_number_is_named(tmp_path: Path, word: str) -> None:
    text = f"{PINGPONG}64      10      =10      1.2k        0.00s      {word}      20.00       0.05\n"
    assert times_of_any(tmp_path / "pp", text) == {}


def test_messages_that_were_not_acknowledged_are_no_measurement(tmp_path: Path) -> None:
    text = f"{PINGPONG}64      10      +3       1.2k        0.00s      3.20      20.00       0.05\n"
    (failure,) = (one for one in records_of(tmp_path / "pp", text) if isinstance(one, Failure))
    assert "+3" in failure.words


def scaled(count: int, letters: dict[str, int], *, tenths: bool) -> str:
    """A count as libfabric prints it: cut off behind its letter, or behind the first digit below 10."""
    letter, unit = next((letter, unit) for letter, unit in letters.items() if count >= unit or unit == 1)
    tenth = count % unit * 10 // unit if tenths and count // unit < 10 else 0
    return f"{count // unit}.{tenth}{letter}" if tenth else f"{count // unit}{letter}"


@given(
    size=st.integers(0, 22).flatmap(lambda power: st.sampled_from([1 << power, 3 << power])),
    iterations=st.sampled_from([1, 10, 100, 1000, 10_000, 20_000]),
    elapsed_us=st.integers(1, 10**6),
)
def test_what_fi_pingpong_would_print_is_read_as_half_its_round_trip(
    tmp_path_factory: pytest.TempPathFactory, size: int, iterations: int, elapsed_us: int
) -> None:
    sizes, counts = {"g": 2**30, "m": 2**20, "k": 2**10, "": 1}, {"m": 10**6, "k": 10**3, "": 1}
    moved, count = 2 * iterations * size, scaled(iterations, counts, tenths=False)
    half_us = elapsed_us / iterations / 2
    assume(half_us >= 0.01 and moved / elapsed_us < 1e5)  # above, its columns meet
    row = (
        f"{scaled(size, sizes, tenths=True):8}{count:8}={count:8}{scaled(moved, sizes, tenths=True):8}"
        f"{elapsed_us / 1e6:8.2f}s{moved / elapsed_us:10.2f}{half_us:11.2f}       0.00\n"
    )
    path = tmp_path_factory.mktemp("fabtests") / "x"
    found = times_of_any(path, PINGPONG + row)
    assert {of.bytes: time_s for of, time_s in found.items()} == {
        size: pytest.approx(half_us * US, abs=0.0051e-6)
    }


def test_what_fabtests_print_for_machines_is_read_like_their_table(tmp_path: Path) -> None:
    text = (
        "---\n./fi_rdm_bw -p tcp -m 192.0.2.1 :\n"
        "- { xfer_size: 64, iterations: 10000, total: 640000, time: 0.015000, MB/sec: 42.666667, "
        "usec/xfer: 1.500000, Mxfers/sec: 0.666667 }\n"
    )
    assert seconds(tmp_path / "x", text) == {("fabtests_rdm_bw", "standard", 64): pytest.approx(1.5 * US)}


def test_rows_below_a_heading_that_was_damaged_are_not_those_of_the_one_above_it(tmp_path: Path) -> None:
    row = "64      10      =10      1.2k        0.00s      3.20      20.00       0.05\n"
    text = f"{PINGPONG}{row}{PINGPONG.replace('MB/sec', 'MB(sec')}{row}"
    assert len(times_of(records_of(tmp_path / "pp", text))) == 1
    assert said_of(tmp_path / "pp", text).endswith("line 3: the columns are not understood")
    rates_row = " 65536      1000             2757.96            2757.93		   0.044127\n"
    text = f"Send BW Test\n{MIB_RATES}{rates_row}{MIB_RATES.replace('#bytes', '#size')}{rates_row}"
    assert len(times_of(records_of(tmp_path / "bw", text))) == 1
    assert said_of(tmp_path / "bw", text).endswith("line 4: the columns are not understood")


# ---- NetPIPE -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "size", "time_s"),
    [
        ("  0:       1 bytes 100000 times -->      4.83 Mbps in       1.58 usec", 1, 1.58e-6),
        (" 78:   49155 bytes     80 times -->    499.57 Mbps in     750.69 usec", 49155, 750.69e-6),
        (" 68:   16383 bytes  22340 times -->  22114.91 Mbps in 0.000005652 sec", 16383, 5.652e-6),
        ("  1:    1000 bytes   4999 times -->    800.00 Mbps in      10.00 usec  6.25% CPU load", 1000, 1e-5),
        ("  2:   1.027 KB     24999 times -->    8.216 Gbps  in    1.000 usecs", 1027, 1e-6),
    ],
)
def test_a_row_of_netpipe_s_screen_proves_itself(tmp_path: Path, row: str, size: int, time_s: float) -> None:
    assert seconds(tmp_path / "np", f"Now starting the main loop\n{row}\n") == {
        ("netpipe", "standard", size): pytest.approx(time_s)
    }


@pytest.mark.parametrize(
    ("said", "rate", "mode", "bandwidth"),
    [
        ("Passing data in both directions simultaneously.", "1600.00", "bidirectional", 200.0),
        ("Bi-directional mode using 2 pairs of nodes.", "3200.00", "bidirectional", 400.0),
        ("Streaming in one direction only.", "800.00", "stream", 100.0),
    ],
)
def test_lines_above_say_in_which_direction_netpipe_sends(
    tmp_path: Path, said: str, rate: str, mode: str, bandwidth: float
) -> None:
    row = f"  0:    1000 bytes   4999 times --> {rate} Mbps in      10.00 usec\n"
    text = f"{said}\n\nNow starting the main loop\n{row}"
    assert seconds(tmp_path / "np", text) == {("netpipe", mode, 1000): pytest.approx(1e-5)}
    assert rates(tmp_path / "np", text) == {("netpipe", mode, 1000): pytest.approx(bandwidth)}


@given(size=st.integers(1, 2**27), time_us=st.floats(0.01, 1e7), unit=st.sampled_from([2**20, 10**6]))
def test_what_netpipe_would_print_is_read_as_its_time(
    tmp_path_factory: pytest.TempPathFactory, size: int, time_us: float, unit: int
) -> None:
    rate = 8 * size / (time_us * US) / unit
    row = f"  0: {size:7d} bytes   4999 times --> {rate:9.2f} Mbps in {time_us:10.2f} usec\n"
    found = times_of_any(tmp_path_factory.mktemp("netpipe") / "np", row)
    assert list(found.values()) == [pytest.approx(time_us * US, abs=0.0051e-6)]


def test_a_tag_of_a_launcher_in_the_middle_of_a_row_is_no_part_of_it(tmp_path: Path) -> None:
    tag = "Mon Feb 19 19:09:19 2018[1,0]<stdout>:"
    rows = "\n".join(
        f"{tag} {number}:     {size} bytes 22340 times --> {tag} {rate} Mbps in {time} sec"
        for number, size, rate, time in (
            (68, 16383, "22114.91", "0.000005652"),
            (69, 16386, "22307.59", "0.000005604"),
        )
    )
    assert list(seconds(tmp_path / "np", rows).values()) == pytest.approx([5.652e-6, 5.604e-6])


def test_rows_that_prove_nothing_or_are_cut_off_are_named(tmp_path: Path) -> None:
    row = "  0:       1 bytes 100000 times -->      4.83 Mbps in       1.58 usec\n"
    wrong = "  1:     200 bytes 100000 times -->      4.83 Mbps in       1.58 usec\n"
    rounded = "  2:   1.049 MB     24999 times -->    8.392 Gbps in    1.000 msecs\n"
    said = said_of(tmp_path / "np", f"{row}{wrong}{rounded}  3:     300 bytes 100000 times -->\n")
    assert [line.partition(": ")[2].partition(": ")[2] for line in said.splitlines()] == [
        "its rate is not its size over its time",
        "its size is rounded to thousands of bytes: 1.049 MB",
        "has no time: the run ended here",
    ]


def test_columns_that_prove_nothing_are_not_taken_for_netpipe(tmp_path: Path) -> None:
    for text in (
        "1 0.42\n2 0.43\n",
        "1 2.5 3.5\n2 2.6 3.6\n",
        "8 4.72 4.50 5.21 1000\n16 4.80 4.6 5.3 1000\n",
    ):
        path = tmp_path / "columns"
        path.write_text(text, encoding="utf-8")
        assert reading.read_any(path) is None


def test_version_4_writes_np_out_in_seconds(tmp_path: Path) -> None:
    text = "    1000   800.00000   790.00000    780.00000   0.00001000\n"
    assert seconds(tmp_path / "np.out", text) == {("netpipe", "standard", 1000): pytest.approx(1e-5)}


ENDS = (
    " local address: LID 0x06 QPN {} PSN 0xc8533e OUT 0x10 RKey 0x080585 VAddr 0x007f41cb03a000\n"
    " remote address: LID 0x05 QPN {} PSN 0xc8533e OUT 0x10 RKey 0x0805b9 VAddr 0x007f99dfba7000\n"
)
SENDS, RECEIVES = " TX depth        : 128\n", " RX depth        : 512\n"


def end(side: str, first: str, second: str, rate: str) -> str:
    """What one end of a run prints."""
    head = f"{'Send BW Test':>32}\n{side}{ENDS.format(first, second)}{MIB_RATES}"
    return f"{head} 65536      1000             0.00               {rate}                      0.000049\n\n"


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        (end(RECEIVES, "0x0d02", "0x0d24", "3.08") + end(SENDS, "0x0d24", "0x0d02", "3.06"), [3.06]),
        (end(SENDS, "0x0d24", "0x0d02", "3.06") + end(RECEIVES, "0x0d02", "0x0d24", "3.08"), [3.06]),
        (end(SENDS, "0x0d24", "0x0d02", "3.06") + end(SENDS, "0x0d24", "0x0d02", "3.08"), [3.06]),
        (end(SENDS, "0x0d24", "0x0d02", "3.06") + end(SENDS, "0x0d25", "0x0d03", "3.08"), [3.06, 3.08]),
    ],
)
def test_of_both_ends_of_a_run_the_numbers_of_the_one_that_sends_are_read(
    tmp_path: Path, text: str, rates: list[float]
) -> None:
    times = [one.time_s for one in records_of(tmp_path / "a.txt", text) if isinstance(one, Imported)]
    assert times == [pytest.approx(65536 / (rate * MIB)) for rate in rates]
