"""Our times under the names of other benchmarks: their readers find them, and ours read them back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from mpigauge import importers
from mpigauge.document.document import Document
from mpigauge.errors import UsageError
from mpigauge.importers import reading
from mpigauge.plan.benchmarks import (
    BY_IMB,
    BY_OSU,
    COUNTERPARTS,
    LEFT_OUT,
    ONE_SIDED,
    WITHOUT_COMPUTATION,
    Counterpart,
)
from mpigauge.plan.patterns import known
from mpigauge.result.records import Campaign, Imported
from mpigauge.show.formats import FOREIGN, left_out, render
from tests.made import cell, collective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.plan.model import Cell

READER = {"osu-validation": "osu"}
"""What reads a format that has not the name of its program."""

PRINTED_S = 0.51e-4 * 1e-6
"""Half a unit of the last digit of a time."""

PRINTED_BYTES_PER_S = 0.51e-4 * 1e6


def cell_of(twin: Counterpart, size: int, **more: object) -> Cell:
    """A cell of a twin, with all that its pattern asks for."""
    pattern = known()[twin.pattern]
    factors: dict[str, object] = {"window": 64} if pattern.windowed else {}
    if pattern.starts_together:
        return collective(twin.pattern, size, twin.mode, **(factors | more))
    factors |= {"rma_window": "create"} if pattern.one_sided else {}
    return cell(twin.pattern, size, twin.mode, **(factors | more))


def record_of(of: Cell, time_s: float, hidden: float = 0.25) -> dict[str, Any]:
    """As much of the record of a row as these formats read."""
    mode = known()[of.pattern].mode(of.mode)
    assert mode is not None
    return asdict(of) | {
        "time_estimate_s": time_s,
        "rate_bytes_per_s": mode.directions * of.bytes / time_s if of.bytes else None,
        "status": "ok",
        "launches": 5,
        "statistic": "median",
        "samples": 500,
        "overlap_estimate": hidden if mode.overlaps else None,
        "overlap_pure_s": time_s / 2 if mode.overlaps else None,
    }


def shown(records: Sequence[Mapping[str, Any]], form: str) -> str:
    return render(Document(records=lambda: records), form)


def read_back(text: str, form: str, folder: Path) -> dict[Cell, float]:
    path = folder / "printed.txt"
    path.write_text(text, encoding="utf-8")
    reader = READER.get(form, form)
    assert reading.recognised(path.read_bytes()) == (reader,)
    campaign, *records = importers.read(reader, [path])
    assert isinstance(campaign, Campaign)
    return {record.cell: record.time_s for record in records if isinstance(record, Imported)}


# ---- Round trips ---------------------------------------------------------------------------------

NAMED = [
    (form, twin)
    for form in FOREIGN
    for twin in (*COUNTERPARTS, *ONE_SIDED)
    if getattr(twin, READER.get(form, form))
]
SECONDS = st.floats(1e-8, 10.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("printed")


@pytest.mark.parametrize(("form", "twin"), NAMED, ids=lambda value: getattr(value, "mode", value))
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_what_is_printed_is_read_back(
    form: str, twin: Counterpart, folder: Path, data: st.DataObject
) -> None:
    sized = known()[twin.pattern].moves_bytes
    sizes = data.draw(st.sets(st.integers(1, 2**32), min_size=1, max_size=4)) if sized else {0}
    times = {cell_of(twin, size): data.draw(SECONDS) for size in sizes}
    back = read_back(shown([record_of(of, time_s) for of, time_s in times.items()], form), form, folder)
    alone = {of for of in back if of.mode != twin.mode}
    assert {of.mode for of in alone} <= {WITHOUT_COMPUTATION.get(twin)}
    assert {of: back[of] for of in back if of not in alone} == {
        of: pytest.approx(time_s, rel=error_of(twin, of, time_s), abs=PRINTED_S)
        for of, time_s in times.items()
        if of in back or not is_lost(twin, of, time_s)
    }


@pytest.mark.parametrize("form", FOREIGN)
def test_a_queue_in_front_and_groups_at_once_have_no_twin(form: str) -> None:
    whole = collective("bcast", ranks=8)
    at_once = collective("bcast", ranks=8, group="0-3", groups="2")
    behind = cell("matching", mode="any-source", depth=4096)
    records = [record_of(of, 1e-6) for of in (whole, at_once, behind)]
    lines = shown(records, form).splitlines()
    assert f"{LEFT_OUT}bcast blocking, matching any-source: no benchmark there means the same" in lines
    assert not any("PingPongAnySource" in line for line in lines)


def test_the_table_of_a_group_has_its_number_of_ranks() -> None:
    text = shown([record_of(collective("bcast", ranks=8, group="0-3"), 1e-6)], "imb")
    assert "# #processes = 4 " in text.splitlines()


def test_pairs_and_neighbours_of_many_ranks_are_read_back(folder: Path) -> None:
    for form, twin in (("osu", BY_OSU["multi latency"]), ("imb", BY_IMB["Exchange"])):
        times = {cell_of(twin, size, ranks=6): size * 1e-7 for size in (8, 64)}
        text = shown([record_of(of, time_s) for of, time_s in times.items()], form)
        assert read_back(text, form, folder) == {of: pytest.approx(time_s) for of, time_s in times.items()}


def test_rates_of_pairs_say_how_many_pairs_and_messages_there_are(folder: Path) -> None:
    of = cell_of(BY_OSU["multiple bandwidth / message rate"], 1024, ranks=6)
    text = shown([record_of(of, 2e-6)], "osu")
    assert "# [ pairs: 3 ] [ window size: 64 ]" in text
    assert text.split()[-2:] == ["512.0000", "500000.0000"]
    assert read_back(text, "osu", folder) == {of: pytest.approx(2e-6)}


@pytest.mark.parametrize(
    ("mode", "name", "numbers"),
    [
        ("unidirectional", "Uniband", ["512.0000", "500000.0000"]),
        ("bidirectional", "Biband", ["1024.0000", "1000000.0000"]),
    ],
)
@pytest.mark.parametrize(
    ("factors", "processes"), [({}, 2), ({"ranks": 6}, 6), ({"ranks": 6, "senders": 1, "group": "0,3"}, 2)]
)
def test_streams_of_several_pairs_are_bands_of_imb(
    folder: Path, mode: str, name: str, numbers: list[str], factors: dict[str, object], processes: int
) -> None:
    of = collective("multi-stream", 1024, mode, window=64, **factors)
    text = shown([record_of(of, 2e-6)], "imb")
    assert f"# Benchmarking {name} \n# #processes = {processes} \n" in text
    (row,) = re.findall(r"(?m)^ +1024 .*", text)
    assert row.split()[-2:] == numbers
    assert read_back(text, "imb", folder) == {of: pytest.approx(2e-6)}


def error_of(twin: Counterpart, of: Cell, time_s: float) -> float:
    """Relative, of a rate that was rounded."""
    if not twin.rate:
        return 1e-12
    least = min(of.bytes, 1) / time_s
    return 2 * PRINTED_BYTES_PER_S * max(1e-6, time_s / of.bytes) + 1e-4 / max(least, 1e-4)


def is_lost(twin: Counterpart, of: Cell, time_s: float) -> bool:
    """Whether a rate has no digit that is printed."""
    return twin.rate and (of.bytes / time_s < 2 * PRINTED_BYTES_PER_S)


def test_libraries_placements_and_states_have_tables_of_their_own(folder: Path) -> None:
    twin = BY_OSU["latency"]
    cells = [
        cell_of(twin, 8),
        cell_of(twin, 8, mpi="mpich", mpi_version="5.0.2"),
        cell_of(twin, 8, placement="different-hosts"),
        cell_of(twin, 8, label="mine", setting="A=1 B=2"),
    ]
    for form in FOREIGN:
        text = shown([record_of(of, 1e-6 * number) for number, of in enumerate(cells, 1)], form)
        assert len(
            re.findall(r"(?m)^# mpigauge [\d.]+: median of each launch, median over 5 launches.*", text)
        ) == len(cells)
        assert read_back(text, form, folder) == {
            of: pytest.approx(1e-6 * number) for number, of in enumerate(cells, 1)
        }


def test_what_has_no_such_name_is_named(folder: Path) -> None:
    records = [record_of(cell_of(BY_OSU["latency"], 8), 1e-6), record_of(cell("ring", 8), 1e-6)]
    for form in FOREIGN:
        text = shown(records, form)
        assert left_out(text) == ["mpigauge leaves out ring standard: no benchmark there means the same"]
        assert len(read_back(text, form, folder)) == 1
        with pytest.raises(UsageError, match=f"format {form} has no name for ring standard"):
            shown(records[1:], form)


def test_imb_has_no_table_without_its_number_of_ranks(folder: Path) -> None:
    """It prints them above each, and read back, 0 of them would be no table."""
    unknown, told = (record_of(collective("allreduce", 8, ranks=ranks), 1e-6) for ranks in (0, 4))
    text = shown([unknown, told | {"bytes": 16}], "imb")
    assert {of.ranks for of in read_back(text, "imb", folder)} == {4}
    assert left_out(text) == ["mpigauge leaves out allreduce blocking: nobody says its number of ranks"]
    with pytest.raises(UsageError, match="allreduce blocking: nobody says its number of ranks"):
        shown([unknown], "imb")
    assert {of.ranks for of in read_back(shown([unknown], "osu"), "osu", folder)} == {0}


def test_numbers_of_others_are_no_table_of_imb(folder: Path) -> None:
    """It would have made-up repetitions, and one time as least, mean and largest over ranks."""
    kept, imported = (record_of(collective("allreduce", size, ranks=4), 1e-6) for size in (8, 16))
    imported |= {"samples": 0, "launches": 0, "placement": "unknown"}
    text = shown([kept, imported], "imb")
    assert {of.bytes for of in read_back(text, "imb", folder)} == {8}
    why = "allreduce blocking: imported without its repetitions, least and mean"
    assert left_out(text) == [f"mpigauge leaves out {why}"]
    with pytest.raises(UsageError, match=why):
        shown([imported], "imb")
    assert {of.bytes for of in read_back(shown([imported], "osu"), "osu", folder)} == {16}


def test_a_foreign_label_cannot_forge_a_row() -> None:
    evil = cell_of(BY_OSU["latency"], 8, placement="x\n8    0.0001\n# Size")
    for form in FOREIGN:
        lines = shown([record_of(evil, 1e-6)], form).split("\n")
        assert not [line for line in lines if "0.0001" in line and not line.startswith("# mpigauge")]


# ---- The expressions of programs that read theirs ------------------------------------------------


def test_a_row_has_passed_where_every_payload_was_right(folder: Path) -> None:
    """One that was wrong once has failed for good; of an imported number nobody knows."""
    rows = [record_of(cell_of(BY_OSU["latency"], size), 1e-6) for size in (1, 2, 4)]
    rows[1] |= {"status": "corrupt"}
    rows[2] |= {"launches": 0}
    text = shown(rows, "osu-validation")
    assert re.findall(r"(?m)^(\d).* (\S+)$", text) == [("1", "Pass"), ("2", "Fail"), ("4", "-")]
    assert {of.bytes for of in read_back(text, "osu-validation", folder)} == {1, 4}


def test_what_has_no_payload_has_no_validation() -> None:
    record = record_of(cell_of(BY_OSU["barrier latency"], 0), 1e-6)
    assert shown([record], "osu-validation") == shown([record], "osu")


OF_SIZE = r"\s*(?P<msg_size>[0-9]+)"
RAMBLE_OSU = {
    "latency": (r"#\s+Size\s+Avg Latency\(us\)\s*$", rf"{OF_SIZE}+\s+(?P<fom>[0-9\.]+)\s*$"),
    "bandwidth": (r"# Size\s+Bandwidth \(MB/s\)\s*$", rf"{OF_SIZE}\s+(?P<fom>[0-9\.]+)\s*$"),
    "barrier latency": (r"# Avg Latency\(us\)\s*$", r"\s*(?P<fom>[0-9\.]+)\s*$"),
    "non-blocking allreduce latency": (
        r"#\s+Size\s+Overall\(us\)\s+Compute\(us\)\s+Pure Comm\.\(us\)\s+Overlap\(%\)\s*$",
        rf"{OF_SIZE}\s+(?P<fom>[0-9\.]+)\s+[0-9\.]+\s+[0-9\.]+\s+[0-9\.]+\s*$",
    ),
}
"""As application.py of osu-micro-benchmarks in Ramble has them: what tells a table, and its rows."""


@pytest.mark.parametrize("name", RAMBLE_OSU)
def test_ramble_finds_the_table_and_its_rows(name: str) -> None:
    heading, row = RAMBLE_OSU[name]
    text = shown([record_of(cell_of(BY_OSU[name], 1024), 2e-6)], "osu").split("\n")
    assert [bool(re.match(heading, line)) for line in text].count(True) == 1
    ((number),) = [match["fom"] for line in text if (match := re.match(row, line))]
    assert float(number) == pytest.approx(512.0 if name == "bandwidth" else 2.0)
    (version,) = [
        match["ver"] for line in text if (match := re.match(r"# OSU.*Test (?P<ver>v[0-9\.]+)", line))
    ]
    assert version == "v7.4"


NUMBER = r"\d+\.\d+"
START = r"^\s+(?P<bytes>\d+)\s+(?P<repetitions>\d+)\s+"
RAMBLE_IMB = {
    "PingPong": rf"{START}(?P<t_avg>{NUMBER})\s+(?P<bw>{NUMBER})$",
    "Allreduce": rf"{START}(?P<t_min>{NUMBER})\s+(?P<t_avg>{NUMBER})\s+(?P<t_max>{NUMBER})$",
    "Sendrecv": rf"{START}(?P<t_min>{NUMBER})\s+{NUMBER}\s+(?P<t_avg>{NUMBER})\s+(?P<bw>{NUMBER})$",
}
"""As application.py of intel-mpi-benchmarks in Ramble has them."""


@pytest.mark.parametrize("name", RAMBLE_IMB)
def test_ramble_finds_the_rows_of_imb(name: str) -> None:
    text = shown([record_of(cell_of(BY_IMB[name], 1024), 2e-6)], "imb").split("\n")
    (match,) = [match for line in text if (match := re.match(RAMBLE_IMB[name], line))]
    assert (match["bytes"], match["repetitions"], float(match["t_avg"])) == ("1024", "500", 2.0)
    if name != "Allreduce":
        assert float(match["bw"]) == pytest.approx({"PingPong": 512.0, "Sendrecv": 1024.0}[name])


def test_a_table_says_whose_numbers_it_has_and_that_they_are_no_means() -> None:
    for form in FOREIGN:
        text = shown([record_of(cell_of(BY_OSU["latency"], 8), 1e-6)], form)
        assert re.search(
            r"(?m)^# mpigauge \S+: median of each launch, median over 5 launches; Open .*5\.0\.11.*2 ranks$",
            text,
        )
