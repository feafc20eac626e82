"""Reading results: whole ones, torn ones, old and strange ones; and large ones in good time."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.find.findings import doubts_of, findings_of, told
from mpigauge.find.foot import foot_of
from mpigauge.result.reader import Result, load
from mpigauge.result.records import VERSION, Clock, Done, Imported, Launch
from mpigauge.rows.rows import rows
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.curves import document
from mpigauge.show.formats import GENERAL, render
from tests.made import (
    JOB,
    MODELS,
    RECORDS,
    SMALL,
    campaign,
    clock,
    collective,
    launch,
    lines_of,
    together,
    visit,
)
from tests.truth import check, truth
from tests.unit.result.reading import WHOLE, loaded

INT64 = st.integers(-(2**63), 2**63 - 1)
repeatable = settings(derandomize=True, deadline=None)
VERSION_1 = Path(__file__).with_name("version_1.jsonl")
"""As mpigauge wrote it before there were collectives: the same records, but for the clock."""

ENDS = [at + 1 for at, byte in enumerate(WHOLE) if byte == ord("\n")]


def count(result: Result) -> int:
    """How many records there are."""
    done = (*result.launches, *result.clocks, *result.visits, *result.eager, *result.blocked)
    return 1 + len([*done, *result.failures, *result.done, *result.ends])


def refusal(file: Path, content: bytes) -> UsageError:
    """The error that this content raises; it names the file and says what to do."""
    with pytest.raises(UsageError) as caught:
        loaded(file, content)
    assert caught.value.sentence.startswith(f"{file}: ")
    assert caught.value.hint
    return caught.value


def test_a_whole_file_gives_every_record_back(file: Path) -> None:
    result = loaded(file, WHOLE)
    assert not result.torn
    assert count(result) == len(RECORDS)
    assert result.campaign == RECORDS[0]
    assert [*result.launches, *result.done, *result.ends] == [RECORDS[i] for i in (1, 8, 7, 13, 14)]
    assert result.clocks == [RECORDS[2]]
    assert result.visits == [RECORDS[i] for i in (3, 4, 9, 10)]
    assert [*result.eager, *result.blocked, *result.failures] == [RECORDS[i] for i in (5, 6, 11, 12)]


@repeatable
@given(
    st.lists(st.tuples(st.integers(0, 9999), INT64, INT64).map(tuple), max_size=3),
    st.booleans(),
    st.booleans(),
)
def test_clocks_come_back_as_they_were(
    file: Path, checks: list[tuple[int, int, int]], shared: bool, learned: bool
) -> None:
    written = msgspec.convert(
        msgspec.to_builtins(clock(3, shared=shared, models=MODELS if learned else ()))
        | {"checks": [dict(zip(("rank", "low_ns", "high_ns"), check, strict=True)) for check in checks]},
        Clock,
    )
    assert loaded(file, lines_of(campaign(SMALL), launch(3), written)).clocks == [written]


def test_visits_that_start_together_come_back_as_they_were(file: Path) -> None:
    cell = collective("bcast", sync="barrier", root="rotating", in_place=True)
    written = together(1, 0, cell, [300, 400], late=[1], pure_ns=[200], work_ns=210, cpu_ns=None)
    result = loaded(file, lines_of(campaign(cell), launch(1), written))
    assert result.visits == [written]
    assert result.campaign.cells == (cell,)
    assert result.launches[0].variables == {"I_MPI_ROOT": "/opt"}


def test_every_line_begins_with_its_type() -> None:
    assert all(line.startswith(b'{"type":"') for line in WHOLE.splitlines())
    assert b" " not in WHOLE.split(b'"title"')[0]


@pytest.mark.thorough
def test_a_file_cut_anywhere_loses_no_whole_line(file: Path) -> None:
    # At every place around the ends of lines, and at some within them: nothing tells those apart.
    near = {end + step for end in (0, *ENDS) for step in range(-3, 4)} & {*range(len(WHOLE))}
    for cut in sorted(near | {*range(0, len(WHOLE), 11)}):
        whole_lines = sum(end <= cut for end in ENDS)
        if whole_lines == 0:
            words = refusal(file, WHOLE[:cut]).sentence
            assert words.endswith("is empty" if cut == 0 else "is not a result file of mpigauge")
            continue
        result = loaded(file, WHOLE[:cut])
        assert count(result) == whole_lines
        assert result.torn == (cut not in ENDS)


@pytest.mark.parametrize("junk", [b"", b"\0" * 4096, b"{", b'{"type":"unheard-of"}', b'"\xff"', b"[" * 999])
def test_a_damaged_line_costs_itself(file: Path, junk: bytes) -> None:
    """As a file system may leave it that was not asked in time to keep what it had."""
    lines = WHOLE.splitlines()
    for number in range(2, len(lines) + 1):
        result = loaded(file, b"\n".join([*lines[: number - 1], junk, *lines[number:], b""]))
        assert result.damaged == [number]
        if not isinstance(RECORDS[number - 1], Launch):
            assert count(result) == len(RECORDS) - 1
            assert not result.unfounded
    assert loaded(file, WHOLE).damaged == []


@pytest.mark.parametrize("lost", [b"", b"junk" + lines_of(RECORDS[1])])
def test_records_of_a_launch_without_its_own_are_left_out(file: Path, lost: bytes) -> None:
    """Where its ranks were, and by which clock it was measured, nobody knows."""
    result = loaded(file, lines_of(RECORDS[0]) + lost + lines_of(*RECORDS[2:]))
    assert [one.number for one in result.launches] == [2]
    assert {one.launch for one in result.visits} == {2}
    assert [*result.clocks, *result.eager, *result.blocked] == []
    assert result.unfounded == {(1, JOB): 5}
    first = 3 if lost else 2
    assert result.obsolete == [*range(first, first + 6)]
    found = rows(result)
    assert all(set(row.time.by_launch) <= {2} for row in found if row.time is not None)
    assert any(
        "5 records left out of a launch that lacks its first one" in str(line)
        for line in foot_of(result, found)
    )
    assert "mpigauge resume" in doubts_of(result, found)[0].line


LAST_OF_1 = next(number for number, record in enumerate(RECORDS) if isinstance(record, Done))


@pytest.mark.parametrize("at", range(1, len(RECORDS) + 1))
def test_a_launch_with_a_damaged_line_in_it_is_incomplete(file: Path, at: int) -> None:
    """What the line had is not known; between launches it can have been of none."""
    result = loaded(file, lines_of(*RECORDS[:at]) + b"junk\n" + lines_of(*RECORDS[at:]))
    number = 1 if 1 < at <= LAST_OF_1 else 2 if LAST_OF_1 + 1 < at < len(RECORDS) - 1 else None
    assert {launch for launch, _ in result.incomplete} == ({number} if number else set())
    assert result.is_resumable == (number is not None)
    found = rows(result)
    (said,) = (line.line for line in doubts_of(result, found) if line.kind == "damaged")
    assert ("mpigauge resume" in said) == (number is not None)
    assert ("no launch lacks records" in said) == (number is None)


def test_lost_lines_are_reported(file: Path) -> None:
    result = loaded(file, lines_of(RECORDS[0]) + b"junk\njunk\n" + lines_of(*RECORDS[1:]) + b"junk\n")
    found = rows(result)
    words = f"3 lines of the file are damaged and left out: 2 to 3, {len(RECORDS) + 3}"
    assert any(words in str(line) for line in foot_of(result, found))
    assert doubts_of(result, found)[0].kind == "damaged"
    (finding,) = (one for one in told(findings_of(result, found)) if one.kind == "damaged")
    assert finding.value == {"lines": [2, 3, len(RECORDS) + 3]}
    assert finding.text.startswith(words)


def test_a_newer_version_is_refused_with_a_message(file: Path) -> None:
    error = refusal(file, lines_of(campaign(SMALL, version=VERSION + 1), launch(1)))
    assert f"version {VERSION + 1}" in error.sentence
    assert "newer mpigauge" in error.hint
    # Whatever else has changed in it.
    strange = (
        f'{{"type":"campaign","format":"mpigauge","version":{VERSION + 9},"plan":[]}}\n{{"type":"new"}}\n'
    )
    assert f"version {VERSION + 9}" in refusal(file, strange.encode()).sentence


def test_a_file_of_version_1_is_read_and_shown(file: Path) -> None:
    text = VERSION_1.read_text(encoding="utf-8")
    assert not any(
        f'"{word}":' in text for word in ("sync", "datatype", "root", "late", "skew_ns", "pure_ns")
    )
    old = load(VERSION_1)
    assert (old.campaign.version, old.torn, old.clocks) == (1, False, [])
    assert all(not one.variables for one in old.launches)
    first = replace(RECORDS[0], environment=old.campaign.environment)
    new = loaded(file, lines_of(first, *(one for one in RECORDS[1:] if not isinstance(one, Clock))))
    assert old.campaign.cells == new.campaign.cells
    assert [*old.visits, *old.eager, *old.blocked] == [*new.visits, *new.eager, *new.blocked]
    assert [*old.failures, *old.done, *old.ends] == [*new.failures, *new.done, *new.ends]
    assert rows(old) == rows(new)
    for form in GENERAL:
        shown, anew = (
            render(document(one, rows(one), list(EXTRA_COLUMNS), Units()), form)
            .replace(str(one.path), "")
            .replace("tab:version-1-", "tab:result-")
            for one in (old, new)
        )
        assert shown.replace('"result_version": 1', f'"result_version": {VERSION}') == anew


def test_two_results_in_one_file_are_refused(file: Path) -> None:
    error = refusal(file, WHOLE + WHOLE)
    assert f"line {len(RECORDS) + 1} begins a second campaign" in error.sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n", "is not a result file"),
        (b"hello\n", "is not a result file"),
        (b"\x1f\x8b\x08\n", "it is compressed, and damaged in its first line"),
        (b'{"type":"visit"}\n', "is not a result file"),
        (b'{"type":"campaign","format":"other","version":1}\n', "is not a result file"),
        (b'{"type":"campaign","format":"mpigauge","version":1}\n', "line 1 is damaged"),
        (b"[" * 100_000 + b"\n", "is not a result file"),
        (b'"\xff\xfe"\n', "is not a result file"),
        (b'{"type":"\xff","format":"mpigauge"}\n', "is not a result file"),
    ],
)
def test_a_file_that_is_not_a_result_is_refused(file: Path, content: bytes, words: str) -> None:
    assert words in refusal(file, content).sentence


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(UsageError) as caught:
            load(path)
        assert str(path) in caught.value.sentence


# ---- A million samples ---------------------------------------------------------------------------


@truth
def test_a_million_samples_take_about_as_long_as_numpy_takes_to_read_them(file: Path) -> None:
    """In time of this process, which what else a machine does leaves alone."""
    generator = np.random.default_rng(1)
    records = [
        visit(number, i, SMALL, generator.integers(1000, 2000, 12_500).tolist())
        for number in range(1, 11)
        for i in range(8)
    ]
    content = lines_of(campaign(SMALL), *map(launch, range(1, 11)), *records)
    text = ",".join(",".join(map(str, record.samples_ns)) for record in records)

    begun = time.process_time()
    integers = np.fromstring(text, dtype=np.int64, sep=",")
    numpy_s = time.process_time() - begun
    file.write_bytes(content)
    begun = time.process_time()
    result = load(file)
    load_s = time.process_time() - begun
    (row,) = rows(result)
    estimate_s = time.process_time() - begun - load_s

    assert row.time is not None
    assert row.time.samples == integers.size == 1_000_000
    assert row.time.median == pytest.approx(np.median(integers) / 2 * 1e-9)
    check("1e6 samples loaded and estimated / read by numpy", (load_s + estimate_s) / numpy_s, below=30)


def test_a_file_is_text_that_others_can_read() -> None:
    for line in WHOLE.splitlines():
        assert msgspec.json.decode(line)["type"] in {
            "campaign",
            "launch",
            "clock",
            "visit",
            "eager",
            "blocked",
            "failure",
            "done",
            "end",
        }


def test_visits_of_one_cell_share_it(file: Path) -> None:
    file.write_bytes(WHOLE)
    result = load(file)
    planned = {cell: cell for cell in result.campaign.cells}
    assert result.visits
    assert all(visit.cell is planned[visit.cell] for visit in result.visits)


def with_moment(which: int, started: str) -> bytes:
    """A whole result but for the moment in one of its lines."""
    lines = WHOLE.splitlines(keepends=True)
    assert b"2026-01-01T00:00:00+00:00" in lines[which]
    lines[which] = lines[which].replace(b"2026-01-01T00:00:00+00:00", started.encode())
    return b"".join(lines)


NO_MOMENTS = ("yesterday", "2026-02-30T00:00:00+00:00", "2026-01-01T00:00:00", "2026")


@pytest.mark.parametrize("started", [*NO_MOMENTS, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("which", [1, -1])
def test_a_record_with_an_invalid_time_is_a_damaged_line(file: Path, started: str, which: int) -> None:
    """Of a launch and of an end: all that shows a result would have to ask."""
    assert loaded(file, with_moment(which, started)).damaged == [which % len(RECORDS) + 1]


def test_a_campaign_with_an_invalid_time_names_the_damaged_line(file: Path) -> None:
    assert "line 1 is damaged" in refusal(file, with_moment(0, "yesterday")).sentence


@pytest.mark.parametrize(
    ("field", "value"),
    [("visits", 10**7), ("rounds_min", 10**9), ("rounds_max", 10**9), ("budget_s", 1e9), ("over_s", 1e300)],
)
def test_a_plan_out_of_the_kernels_limits_is_damaged(file: Path, field: str, value: float) -> None:
    """To continue it would take all memory before the first launch."""
    first, rest = WHOLE.split(b"\n", 1)
    campaign = msgspec.json.decode(first)
    campaign["plan"][field] = value
    error = refusal(file, msgspec.json.encode(campaign) + b"\n" + rest)
    assert "line 1 is damaged" in error.sentence
    assert f"plan.{field}" in error.sentence


@pytest.mark.parametrize(
    ("which", "key", "value"),
    [
        (0, "min_ranks", -1),
        (0, "active_ranks", 2**63 - 1),
        (0, "directions", -1),
        (0, "directions", 0),
        (0, "parts", 2**40),
        (0, "unit_bytes", -8),
        (0, "operation", [0, 1e308, 0, 0]),
        (0, "cpu_quota", 1e308),
        (1, "startup_s", 1e308),
        (1, "steal_s", -1e308),
        (1, "ranks", 0),
        (1, "threads", 2**62),
    ],
)
def test_a_number_that_no_measurement_gives_is_a_damaged_line(
    file: Path, which: int, key: str, value: object
) -> None:
    """Whoever shows the result would divide by it, count up to it, or add it up."""
    lines = WHOLE.splitlines(keepends=True)
    record = msgspec.json.decode(lines[which])
    assert put(record, key, value), f"no {key} in {record}"
    lines[which] = msgspec.json.encode(record) + b"\n"
    if which:
        assert loaded(file, b"".join(lines)).damaged == [which + 1]
    else:
        assert key in refusal(file, b"".join(lines)).sentence or key == "operation"


def put(value: object, key: str, new: object) -> bool:
    """Change what has this key, wherever it is; return whether there is such."""
    if isinstance(value, dict):
        found = key in value
        if found:
            value[key] = new
        return [found, *(put(one, key, new) for name, one in value.items() if name != key)].count(True) > 0
    if isinstance(value, list):
        return [put(one, key, new) for one in value].count(True) > 0
    return False


def test_zero_ranks_are_allowed_in_imported_results_only(file: Path) -> None:
    none = visit(1, 0, replace(SMALL, ranks=0), [1000])
    printed = Imported(replace(SMALL, ranks=0), 1e-6)
    result = loaded(file, lines_of(campaign(SMALL), none, printed))
    assert (result.damaged, result.imported) == ([2], [printed])
