"""Texts of other benchmarks: each number is read in its unit, as what it is of, or refused by line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mpigauge import importers
from mpigauge.errors import UsageError
from mpigauge.importers import reading
from mpigauge.result.records import Campaign, Imported, Unread
from tests.printed import FILES, FOLDER, failures_of, found, records_of, said_of, times_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Record

OSU, IMB = FOLDER / "osu_latency_7.4.txt", FOLDER / "imb_mpi1_2021.11.txt"
US = 1e-6


def pattern_of(records: Iterable[Record], name: str) -> Pattern:
    campaign = next(record for record in records if isinstance(record, Campaign))
    return next(pattern for pattern in campaign.patterns if pattern.name == name)


def rows_of(path: Path) -> dict[int, list[str]]:
    """The rows of a table of OSU, by size, read in the simplest way."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {int(words[0]): words for words in lines if words and words[0].isdigit()}


# ---- OSU -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["osu_latency_7.4.txt", "osu_latency_7.4_c_z.txt"])
def test_latency_is_a_ping_pong_one_way(name: str) -> None:
    expected = {
        ("pingpong", "standard", size, 2): pytest.approx(float(words[1]) * US)
        for size, words in rows_of(FOLDER / name).items()
    }
    assert len(expected) > 10
    assert found(name) == expected


def test_bandwidth_is_a_stream_of_messages() -> None:
    expected = {
        ("stream", "unidirectional", size, 2): pytest.approx(size / (float(words[1]) * 1e6))
        for size, words in rows_of(FOLDER / "osu_bw_7.4.txt").items()
    }
    assert found("osu_bw_7.4.txt") == expected


def test_a_bidirectional_rate_counts_two_messages(tmp_path: Path) -> None:
    text = "# OSU MPI Bi-Directional Bandwidth Test v5.6.3\n# Size      Bandwidth (MB/s)\n1024    2048.00\n"
    ((cell, time_s),) = times_of(records_of(tmp_path / "bibw", text)).items()
    assert (cell.pattern, cell.mode) == ("stream", "bidirectional")
    assert time_s == pytest.approx(2 * 1024 / 2048e6)


def test_full_statistics_leave_the_mean_and_unknown_ranks_no_wrong_rate() -> None:
    records = records_of(FOLDER / "osu_allreduce_7.4_f.txt")
    times = times_of(records)
    assert {(of.pattern, of.mode, of.ranks, of.datatype, of.op) for of in times} == {
        ("allreduce", "blocking", 0, "MPI_CHAR", "sum")
    }
    assert times[next(of for of in times if of.bytes == 65536)] == pytest.approx(111.12 * US)
    assert {record.statistic for record in records if isinstance(record, Imported)} == {"mean over ranks"}


def test_a_collective_whose_rate_depends_on_ranks_that_nobody_names_has_none(tmp_path: Path) -> None:
    text = "# OSU MPI Allgather Latency Test v6.1\n# Size       Avg Latency(us)\n8    1.00\n"
    pattern = pattern_of(records_of(tmp_path / "a", text), "allgather")
    assert pattern.sized
    assert not pattern.moves_bytes


def test_a_barrier_has_no_size() -> None:
    assert found("osu_barrier_7.4_f.txt") == {("barrier", "blocking", 0, 0): pytest.approx(0.61 * US)}


def test_overlap_is_two_times() -> None:
    times = found("osu_iallreduce_7.4.txt")
    assert times["allreduce", "overlap", 16, 0] == pytest.approx(20.85 * US)
    assert times["allreduce", "nonblocking", 16, 0] == pytest.approx(2.13 * US)


def test_init_is_in_milliseconds() -> None:
    assert found("osu_init_7.4.txt") == {("osu_init", "standard", 0, 2): pytest.approx(23e-3)}


def test_several_pairs_are_ours_and_have_the_rate_of_all(tmp_path: Path) -> None:
    times = found("osu_mbw_mr_made.txt")
    assert times == {
        ("multi-stream", "unidirectional", 1, 4): pytest.approx(1 / 5e6),
        ("multi-stream", "unidirectional", 1024, 4): pytest.approx(1 / 4e6),
    }
    shown = shown_rates(FOLDER / "osu_mbw_mr_made.txt")
    assert shown == {1: pytest.approx(5e6), 1024: pytest.approx(4096e6)}


def shown_rates(path: Path) -> dict[int, float]:
    from mpigauge.result.reader import result_of  # noqa: PLC0415
    from mpigauge.rows.rows import rows  # noqa: PLC0415 - numpy, for this test alone

    return {
        row.cell.bytes: row.rate_bytes_per_s
        for row in rows(result_of(path, records_of(path)))
        if row.rate_bytes_per_s
    }


def test_a_failed_validation_is_no_number(tmp_path: Path) -> None:
    text = OSU.with_name("osu_latency_7.4_c_z.txt").read_text(encoding="utf-8")
    changed = re.sub(r"(?m)^(64 .*)Pass", r"\1Fail", text)
    records = records_of(tmp_path / "c", changed)
    assert failures_of(records) == [("pingpong", 64, "corrupt")]
    assert 64 not in {of.bytes for of in times_of(records)}


@pytest.mark.parametrize("title", ["MPI-CUDA Latency", "MPI_Put Latency"])
def test_what_we_do_not_measure_keeps_its_name(tmp_path: Path, title: str) -> None:
    text = f"# OSU {title} Test v7.3\n# Size       Avg Latency(us)\n8    1.00\n"
    ((cell, time_s),) = times_of(records_of(tmp_path / "a", text)).items()
    assert cell.pattern.startswith("osu_")
    assert time_s == pytest.approx(1e-6)


def test_a_block_scattered_reduction_counts_otherwise_and_keeps_its_name(tmp_path: Path) -> None:
    text = "# OSU MPI Reduce_scatter Latency Test v7.3\n# Size       Avg Latency(us)\n8    1.00\n"
    ((cell, _),) = times_of(records_of(tmp_path / "a", text)).items()
    assert cell.pattern == "osu_reduce_scatter_latency"


# ---- IMB -----------------------------------------------------------------------------------------


def test_every_table_of_imb_is_read_as_what_it_is() -> None:
    times = found(IMB.name)
    assert len(times) == 14 + 12 + 1 + 14 + 14
    assert times["pingpong", "standard", 4096, 2] == pytest.approx(3.44 * US)
    assert times["allreduce", "blocking", 4096, 2] == pytest.approx(11.99 * US), "of the slowest rank"
    assert times["barrier", "blocking", 0, 2] == pytest.approx(0.57 * US)
    assert times["shift", "sendrecv", 4096, 2] == pytest.approx(8.72 * US)
    assert times["stream", "unidirectional", 4096, 2] == pytest.approx(1 / 1749546)


def test_what_imb_says_of_the_machine_and_reductions_is_kept() -> None:
    campaign, *others = records_of(IMB)
    assert isinstance(campaign, Campaign)
    assert (campaign.environment.system, campaign.environment.kernel) == ("Linux x86_64", "6.18.44-fc-v669")
    reduced = {of for of in times_of(others) if of.pattern == "allreduce"}
    assert {(of.datatype, of.op) for of in reduced} == {("float", "sum")}


def test_rows_without_numbers_are_failures() -> None:
    records = records_of(FOLDER / "imb_mpi1_out_of_mem.txt")
    assert failures_of(records) == [("pingpong", 1048576, "refused")]
    assert len(times_of(records)) == 3
    assert failures_of(records_of(FOLDER / "imb_mpi1_time_out.txt")) == [("pingpong", 0, "timeout")]


def test_overlap_of_imb_is_two_times_with_one_definition_of_pure() -> None:
    times = found("imb_nbc.txt")
    assert times["allreduce", "overlap", 16, 2] == pytest.approx(2.40 * US)
    assert times["allreduce", "nonblocking", 16, 2] == pytest.approx(1.81 * US)
    assert times["barrier", "nonblocking", 0, 2] == pytest.approx(1.14 * US)


def test_groups_of_two_are_pairs_at_one_time() -> None:
    times = times_of(records_of(FOLDER / "imb_multi_made.txt"))
    assert {(of.pair, of.pairing, of.ranks, of.bytes): time_s for of, time_s in times.items()} == {
        ("0-1", "tournament", 4, 0): pytest.approx(10.19 * US),
        ("2-3", "tournament", 4, 0): pytest.approx(10.22 * US),
        ("0-1", "tournament", 4, 1024): pytest.approx(12.00 * US),
        ("2-3", "tournament", 4, 1024): pytest.approx(12.50 * US),
    }


def test_one_sided_modes_are_told_apart() -> None:
    assert found("imb_rma_made.txt") == {
        ("imb_rma_unidir_put", "aggregate", 8, 2): pytest.approx(0.5 * US),
        ("put", "flush", 8, 2): pytest.approx(1.0 * US),
    }


def test_a_rate_of_old_megabytes_is_no_contradiction(tmp_path: Path) -> None:
    text = IMB.read_text(encoding="utf-8").replace("1191.79", f"{1191.79e6 / 2**20:.2f}")
    assert times_of(records_of(tmp_path / "old", text)) == times_of(records_of(IMB))


# ---- What launchers add, and what is missing -----------------------------------------------------

PREFIXES = ("0: ", "[0] ", "[1,0]<stdout>:", "[1,0]<stdout> ", "Fri Nov 20 15:21:22 2026[1,0]<stdout>:")
NOISE = (
    "",
    "Lmod: loading gcc/13.2",
    "[node1:17] mca_base_component_repository_open: unable to open mca_btl_x",
    "[1658400000.123456] [node1:17   :0]  ucp_worker.c:1855 UCX  WARN  no device",
    "srun: launch/slurm: _step_signal: Terminating StepId=17.0",
    "3 total processes killed (some possibly by mpiexec during cleanup)",
    "\x1b[31mwarning:\x1b[0m the CPU governor is powersave",
)


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("sample", [OSU, IMB, FOLDER / "osu_iallreduce_7.4.txt"], ids=lambda path: path.stem)
def test_what_launchers_put_before_each_line_does_not_matter(
    tmp_path: Path, sample: Path, prefix: str
) -> None:
    text = "".join(f"{prefix}{line}\n" for line in sample.read_text(encoding="utf-8").split("\n"))
    assert times_of(records_of(tmp_path / "t", text)) == times_of(records_of(sample))


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("sample", [OSU, IMB, FOLDER / "osu_iallreduce_7.4.txt"], ids=lambda path: path.stem)
def test_what_others_say_between_any_two_lines_does_not_matter(
    tmp_path: Path, sample: Path, noise: str
) -> None:
    text = "".join(f"{noise}\n{line}\n" for line in sample.read_text(encoding="utf-8").split("\n"))
    assert times_of(records_of(tmp_path / "t", text)) == times_of(records_of(sample))


def changed(sample: Path, old: str, new: str) -> str:
    text = sample.read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


REFUSED = {
    "an unknown unit": (OSU, "Latency(us)", "Latency(xs)", "no unit is called 'xs'"),
    "a rate as a time": (OSU, "Latency(us)", "Latency(MB/s)", "no unit is called 'MB/s'"),
    "a time as a rate": (FOLDER / "osu_bw_7.4.txt", "(MB/s)", "(us)", "no unit is called 'us'"),
    "no unit": (OSU, "Avg Latency(us)", "Avg Latency", "columns are not understood"),
    "no heading": (OSU, "# Size       Avg Latency(us)\n", "", "numbers without a heading"),
    "an unknown column": (
        OSU,
        "Avg Latency(us)",
        "Avg Latency(us) Jitter(us)",
        "not understood from 'Jitter",
    ),
    "a torn row": (OSU, "1.73", "1.7\n3", "'1.7' may be torn: fewer digits than others, no row below"),
    "a row without its number": (OSU, "1.73", "", "has 1 word below 2 columns"),
    "a row without its size": (OSU, "4                       1.73", "s 1.73", "'s' is no size"),
    "a row of IMB without its size": (IMB, "         1024         1000", "x 1000", "'x' is no size"),
    "a number too many": (OSU, "1.73", "1.73 2.00", "has 3 words below 2 columns"),
    "a size that goes back": (OSU, "\n64 ", "\n6  ", "the size 6 comes after 32"),
    "columns of another title": (OSU, "Latency Test", "Bandwidth Test", "not those of the title"),
    "a damaged title": (OSU, "# OSU MPI Latency Test v7.4", "# OSU MPI: Latency Test", "title of the table"),
    "an unknown unit of IMB": (IMB, "t[usec]", "t[xsec]", "'t[xsec]' is not understood"),
    "a wrong unit of IMB": (IMB, "t[usec]", "t[msec]", "its time and its rate contradict"),
    "a wrong number of IMB": (IMB, "0.91", "9.10", "its time and its rate contradict"),
    "a torn count of IMB": (IMB, "1083030", "0.5]1083030", "'0.5]1083030' is not a number"),
}


@pytest.mark.parametrize(("sample", "old", "new", "said"), REFUSED.values(), ids=REFUSED)
def test_what_the_text_does_not_say_is_named_by_line(
    tmp_path: Path, sample: Path, old: str, new: str, said: str
) -> None:
    sentence = said_of(tmp_path / "t", changed(sample, old, new))
    assert re.search(rf"line \d+: .*{re.escape(said)}", sentence)


def test_what_stands_above_a_torn_line_is_kept_and_below_it_nothing(tmp_path: Path) -> None:
    records = records_of(tmp_path / "t", changed(OSU, "1.73", ""))
    (unread,) = (record for record in records if isinstance(record, Unread))
    assert {cell.bytes for cell in times_of(records)} == {1, 2}
    assert (unread.source, unread.below) == (f"{tmp_path / 't'}: line 7", len(rows_of(OSU)) - 3)


def test_a_unit_that_is_known_scales_the_numbers(tmp_path: Path) -> None:
    times = times_of(records_of(tmp_path / "t", changed(OSU, "(us)", "(ms)")))
    assert times == {of: pytest.approx(1000 * time_s) for of, time_s in times_of(records_of(OSU)).items()}


def test_the_same_table_twice_is_two_runs(tmp_path: Path) -> None:
    text = OSU.read_text(encoding="utf-8")
    records = [one for one in records_of(tmp_path / "t", text + text) if isinstance(one, Imported)]
    assert {one.cell.label for one in records} == {"run-1", "run-2"}
    assert {one.launch for one in records} == {1}


def test_a_number_that_is_printed_as_zero_is_none(tmp_path: Path) -> None:
    text = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1     0.00\n2     0.01\n"
    records = records_of(tmp_path / "t", text)
    assert failures_of(records) == [("stream", 1, "refused")]
    assert len(times_of(records)) == 1


def size_in(line: str, size: int) -> bool:
    """Whether a line has a size: in bytes, or as fabtests write it."""
    written = (f"{size}", f"{size / 2**10:g}k", f"{size / 2**20:g}m")
    return any(re.search(rf"(?<![\w.]){re.escape(word)}\b", line) for word in written)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_sample_is_recognised_and_names_its_lines(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    records = records_of(path)
    for record in records:
        if isinstance(record, Imported) and ": line " in record.source:
            number = int(record.source.rpartition(" ")[2])
            assert size_in(lines[number - 1], record.cell.bytes) or not record.cell.bytes
    assert times_of(records) or failures_of(records)


def test_a_file_of_nobody_is_not_recognised() -> None:
    assert reading.recognised(b"hello\nworld 1 2 3\n") == ()
    assert reading.recognised(b"") == ()


def test_a_file_that_gives_no_number_is_named_beside_others_that_do(tmp_path: Path) -> None:
    (tmp_path / "none").write_text("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n", encoding="ascii")
    with pytest.raises(UsageError, match="none: has no number in it"):
        importers.read("osu", [OSU, tmp_path / "none"])
    with pytest.raises(UsageError, match=rf"{IMB.name}: is of the format imb, not osu") as refusal:
        importers.read("osu", [OSU, IMB])
    assert refusal.value.hint == f"mpigauge import imb {IMB}"


def test_more_ranks_than_a_result_can_have_are_refused(tmp_path: Path) -> None:
    """It would be written, and could not be read again."""
    text = (FOLDER / "osu_init_7.4.txt").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="line 2: no result can have this"):
        records_of(tmp_path / "init.txt", text.replace("nprocs: 2,", "nprocs: 99999999,"))
