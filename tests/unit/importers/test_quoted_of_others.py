"""What the short answer quotes of other benchmarks: the operation alone, rates as rates, and of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.document.document import Units
from mpigauge.errors import MpigaugeError
from mpigauge.find.answer import answers, detail, heading, lines_of
from mpigauge.importers import reading
from mpigauge.importers.collector import Collector, TableMeaning, cell_of
from mpigauge.importers.text import TextLine
from mpigauge.plan.benchmarks import ONE_SIDED
from mpigauge.plan.patterns import known
from mpigauge.result.reader import result_of
from mpigauge.rows.rows import rows
from tests.places import ROOT
from tests.printed import FILES, FOLDER, records_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.find.answer import Quote, QuoteLine
    from mpigauge.plan.benchmarks import Counterpart
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

US = 1e-6
FOREIGN = ROOT / "tests" / "data" / "foreign"
OVERLAP = """# OSU MPI Non-blocking {} Latency Test v7.3
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_CHAR.
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
8                      10.00              5.00              4.75              0.00
"""
BLOCKING = """# OSU MPI {} Latency Test v7.3
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
8                       5.25
"""
RATES = """# OSU {} v7.3
# Size      Bandwidth (MB/s)
1                       2.00
64                    128.00
4096                 9000.00
65536                8000.00
"""
BIBAND = """#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# Benchmarking Biband
# #processes = 4
       #bytes #repetitions   Mbytes/sec      Msg/sec
            0         1000         0.00      2000000
            1         1000         3.00      3000000
         1024         1000      1024.00      1000000
"""


def lines_quoted(folder: Path, text: str) -> list[QuoteLine]:
    """What is quoted of a text, of all its jobs."""
    records = records_of(folder / "text", text)
    result = result_of(folder / "text", records)
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    return [line for one in answers(rows(result), patterns) for line in lines_of([one])]


def quotes_of(folder: Path, text: str) -> list[Quote]:
    """Their numbers."""
    return [line.first for line in lines_quoted(folder, text)]


def said(lines: Sequence[QuoteLine]) -> dict[str, float | None]:
    """Headings and values."""
    return {heading(line): line.first.value for line in lines}


def rows_of_text(folder: Path, text: str) -> list[Row]:
    return rows(result_of(folder / "text", records_of(folder / "text", text)))


# ---- Nonblocking collectives ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Allreduce", "allreduce nonblocking, 8 B"),
        ("All-to-All", "alltoall nonblocking, 8 B"),
        ("Neighborhood Allgather", "osu_non_blocking_neighborhood_allgather_latency pure, 8 B"),
    ],
)
def test_a_nonblocking_collective_is_quoted_by_its_communication_alone(
    tmp_path: Path, title: str, expected: str
) -> None:
    assert said(lines_quoted(tmp_path, OVERLAP.format(title))) == {expected: pytest.approx(4.75 * US)}


def test_a_nonblocking_collective_of_imb_is_quoted_by_its_communication_alone(tmp_path: Path) -> None:
    text = (FOLDER / "imb_nbc.txt").read_text(encoding="utf-8")
    assert said(lines_quoted(tmp_path, text)) == {
        "allreduce nonblocking, 8 B": pytest.approx(1.79 * US),
        "barrier nonblocking": pytest.approx(1.14 * US),
    }


def test_a_blocking_one_needs_no_mode_wherever_it_stands(tmp_path: Path) -> None:
    """Only ours has a usual mode that goes without saying, not whatever a text has first."""
    texts = [BLOCKING.format("Allreduce"), OVERLAP.format("Bcast").replace("Bcast", "Broadcast")]
    assert list(said(lines_quoted(tmp_path, "".join(texts)))) == ["allreduce, 8 B", "bcast nonblocking, 8 B"]
    assert list(said(lines_quoted(tmp_path, "".join(texts[::-1])))) == [
        "bcast nonblocking, 8 B",
        "allreduce, 8 B",
    ]


def test_a_mode_that_is_not_our_usual_one_is_named(tmp_path: Path) -> None:
    text = "# OSU MPI Latency Persistent Test v7.3\n# Size  Latency (us)\n8  1.25\n"
    (quote, *_) = quotes_of(tmp_path, text)
    assert detail(quote, Units()) == "pingpong persistent, one way"


def test_how_a_pattern_of_others_was_measured_is_named(tmp_path: Path) -> None:
    """A rate of both directions is none of one, though it is the only one of its pattern."""
    head = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
    texts = (
        f"Send{how} BW Test\n{head}\n 65536      1000       2757.96     2757.93     0.044127\n"
        for how in (" Bidirectional", "")
    )
    both, one = (heading(lines_quoted(tmp_path, text)[0]) for text in texts)
    assert (both, one) == (
        "perftest_send_bw bidirectional bandwidth, 64 KiB",
        "perftest_send_bw bandwidth, 64 KiB",
    )


def test_the_usual_mode_is_quoted_wherever_it_stands(tmp_path: Path) -> None:
    text = "# OSU MPI Latency{} Test v7.3\n# Size  Latency (us)\n8  {}\n"
    texts = [text.format(" Persistent", "1.25"), text.format("", "1.50")]
    texts += [RATES.format(f"MPI {name} Test") for name in ("Bi-Directional Bandwidth", "Bandwidth")]
    modes = {quote.quoted_as: quote.row.cell.mode for quote in quotes_of(tmp_path, "".join(texts))}
    assert (modes["latency"], modes["message-rate"]) == ("standard", "unidirectional")


def test_a_mode_of_others_says_how_it_was_measured(tmp_path: Path) -> None:
    """Unlike ours, it is never what everybody expects: one of a single mode alone goes without saying."""
    above = "# Benchmarking Unidir_Put\n# #processes = 2\n#    MODE: AGGREGATE\n"
    text = f"{above}#bytes #repetitions t[usec]\n8 100 3.21\n"
    assert list(said(lines_quoted(tmp_path, text))) == ["imb_ext_unidir_put aggregate, 8 B"]
    without = text.replace("#    MODE: AGGREGATE\n", "")
    assert list(said(lines_quoted(tmp_path, without))) == ["imb_ext_unidir_put, 8 B"]


# ---- Rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "names"),
    [
        (
            "MPI_Put Bandwidth Test",
            ("osu_mpi_put_bandwidth, 4 KiB", "osu_mpi_put_bandwidth message rate, 1 B"),
        ),
        (
            "MPI_Get Bandwidth Test",
            ("osu_mpi_get_bandwidth, 4 KiB", "osu_mpi_get_bandwidth message rate, 1 B"),
        ),
        ("MPI-CUDA Bandwidth Test", ("osu_cuda_bandwidth, 4 KiB", "osu_cuda_bandwidth message rate, 1 B")),
        (
            "MPI_Put Bi-directional Bandwidth Test",
            (
                "osu_mpi_put_bi_directional_bandwidth, 4 KiB",
                "osu_mpi_put_bi_directional_bandwidth message rate, 1 B",
            ),
        ),
    ],
)
def test_rates_are_quoted_as_rates(tmp_path: Path, title: str, names: tuple[str, str]) -> None:
    """The best of any size in bytes, of the smallest in messages, as its text has them."""
    assert said(lines_quoted(tmp_path, RATES.format(title))) == {
        names[0]: pytest.approx(9e9),
        names[1]: pytest.approx(2e6),
    }


def test_rates_of_imb_are_quoted_as_printed(tmp_path: Path) -> None:
    assert said(lines_quoted(tmp_path, BIBAND)) == {
        "multi-stream bidirectional bandwidth, 1 KiB": pytest.approx(1024e6),
        "multi-stream bidirectional message rate, 1 B": pytest.approx(3e6),
    }


def test_what_means_the_same_here_is_quoted_as_ours(tmp_path: Path) -> None:
    assert said(lines_quoted(tmp_path, RATES.format("MPI Bandwidth Test"))) == {
        "bandwidth": pytest.approx(9e9),
        "message rate": pytest.approx(2e6),
    }


@pytest.mark.parametrize("pairs", [1, 2, 48, 620])
def test_messages_are_those_of_all_pairs(tmp_path: Path, pairs: int) -> None:
    text = f"""# OSU MPI Multiple Bandwidth / Message Rate Test v7.3
# [ pairs: {pairs} ] [ window size: 64 ]
# Size                  MB/s        Messages/s
# Datatype: MPI_CHAR.
1                      58.09       58086503.51
1024                 40960.00       40000000.00
"""
    found = rows_of_text(tmp_path, text)
    assert {row.cell.bytes: row.messages_per_s for row in found} == {
        1: pytest.approx(58086503.51),
        1024: pytest.approx(4e7),
    }
    assert {row.cell.bytes: row.rate_bytes_per_s for row in found}[1024] == pytest.approx(40960e6)
    assert {row.cell.ranks for row in found} == {2 * pairs}
    assert said(lines_quoted(tmp_path, text)) == {
        "multi-stream bandwidth, 1 KiB": pytest.approx(40960e6),
        "multi-stream message rate, 1 B": pytest.approx(58086503.51),
    }


def test_an_unknown_number_of_pairs_gives_no_message_rate(tmp_path: Path) -> None:
    (row,) = rows_of_text(tmp_path, "# OSU MPI Multi Latency Test v7.3\n# Size  Latency (us)\n8  1.25\n")
    assert row.messages_per_s is None
    assert row.time is not None
    assert row.time.estimate == pytest.approx(1.25 * US)


def test_an_unknown_number_of_ranks_gives_no_bus_bandwidth(tmp_path: Path) -> None:
    (allreduce,) = rows_of_text(tmp_path, BLOCKING.format("Allreduce"))
    assert allreduce.bus_bytes_per_s is None
    assert allreduce.rate_bytes_per_s == pytest.approx(8 / (5.25 * US))
    (bcast,) = rows_of_text(tmp_path, BLOCKING.format("Broadcast"))
    assert bcast.bus_bytes_per_s == bcast.rate_bytes_per_s


# ---- Whatever has numbers ------------------------------------------------------------------------

ONE_SIDED_OF_OSU = """# OSU MPI_{} Test v7.4
# Window creation: MPI_Win_allocate
# Synchronization: {}
# Size          Latency (us)
8                     0.0207
1024                  0.1000
"""
SAMPLES = [path for path in sorted(FOREIGN.iterdir()) if path.suffix not in {".toml", ".tsv", ".gz"}]


@pytest.mark.parametrize("twin", [twin for twin in ONE_SIDED if not twin.rate], ids=lambda twin: twin.osu)
def test_one_sided_operations_of_others_are_quoted_as_ours(tmp_path: Path, twin: Counterpart) -> None:
    text = ONE_SIDED_OF_OSU.format(twin.osu.removesuffix(" Test"), f"MPI_Win_{twin.mode}")
    (quote,) = quotes_of(tmp_path, text)
    assert (quote.pattern.name, quote.row.cell.ranks) == (twin.pattern, 2)
    assert quote.value == pytest.approx(0.0207 * US)


@pytest.mark.parametrize("name", [name for name, pattern in known().items() if not pattern.is_floor])
def test_any_pattern_of_ours_with_a_time_is_quoted(name: str) -> None:
    collector = Collector(ranks=2)
    line = TextLine("text", 1, "8 1.25")
    collector.begin_file("text", [line])
    meaning = TableMeaning(name, known()[name].modes[0].name)
    collector.add_time(meaning, cell_of(meaning, 8, 2), US, "mean", line)
    result = result_of(FOLDER, collector.records())
    assert is_answered(result)


def test_whatever_has_a_number_is_answered_by_a_row() -> None:
    read = [result for path in (*FILES, *SAMPLES) if (result := result_or_none(path)) is not None]
    assert len(read) > len(FILES)
    assert [result.campaign.plan.title for result in read if not is_answered(result)] == []


def result_or_none(path: Path) -> Result | None:
    """What a text becomes; None where nothing is read of it alone."""
    try:
        records = reading.read_any(path)
    except MpigaugeError:
        return None
    return result_of(path, records) if records is not None else None


def is_answered(result: Result) -> bool:
    """Whether every job with a number has a line in the answer."""
    found, patterns = rows(result), {pattern.name: pattern for pattern in result.campaign.patterns}
    timed = {row.cell.job for row in found if row.time is not None}
    return {one.job for one in answers(found, patterns)} == timed


def test_of_several_windows_the_largest_is_quoted_and_named(tmp_path: Path) -> None:
    """A row of each size has one column per window: what was best stands in the last."""
    text = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.3
# [ pairs: 1 ] [ window size: varied ]
# Uni-directional Bandwidth (MB/sec)
#       1              2              4
#
1           1.20        2.10      4.10
1024      900.20     1600.10   3300.10
"""
    bandwidth = quotes_of(tmp_path, text)[0]
    assert bandwidth.value == pytest.approx(3300.1e6)
    assert detail(bandwidth, Units()) == "2 ranks, 4 in flight"
