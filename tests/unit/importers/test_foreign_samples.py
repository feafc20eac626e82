"""Texts of other benchmarks as people post them: every number that is read, held against the text by hand.

`expected.tsv` was written from the texts: a line is a table, with its numbers and unit as they are printed.
Lines with `refused`, `unread` or `corrupt` in place of a pattern say what is not read, and why.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import UsageError
from mpigauge.importers.loading import load
from mpigauge.importers.text import content_of, decoded
from mpigauge.rows.rows import rows
from tests.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result

FOLDER = ROOT / "tests" / "data" / "foreign"
EXPECTED = FOLDER / "expected.tsv"
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
BYTES_PER_S = {"MB/s": 1e6, "MiB/s": 2.0**20, "GB/s": 1e9, "Gb/s": 1e9 / 8, "Mbit/s": 1e6 / 8}
MESSAGES = {"Messages/s": 1.0, "Mpps": 1e6}
REFUSED, UNREAD, CORRUPT = "refused", "unread", "corrupt"
CLOSE = 1e-9

Name = tuple[str, str, int, str]
"""Pattern, mode, ranks and label of a table; of one with several windows also which."""


@dataclass(frozen=True)
class Expected:
    """What one text is to become.

    Attributes:
        tables: Numbers by size, as they are printed, of each table and unit; several of a size are launches.
        refused: Words of the reason why nothing is read; empty if something is.
        unread: Numbers of lines that are named as not understood.
        corrupt: Sizes without a number, as the text says that their data was wrong, by mode.
    """

    tables: dict[tuple[Name, str], dict[int, list[str]]]
    refused: str = ""
    unread: tuple[int, ...] = ()
    corrupt: dict[str, tuple[int, ...]] | None = None

    @property
    def cells(self) -> dict[tuple[Name, int], int]:
        """How many launches each cell has."""
        return {
            (name, size): len(printed)
            for (name, _), numbers in self.tables.items()
            for size, printed in numbers.items()
        }


def _expected() -> dict[str, Expected]:
    lines = defaultdict[str, list[dict[str, str]]](list)
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            lines[line["file"]].append(line)
    return {name: _of(mine) for name, mine in lines.items()}


def _of(lines: Sequence[dict[str, str]]) -> Expected:
    said = {kind: [line for line in lines if line["pattern"] == kind] for kind in (REFUSED, UNREAD, CORRUPT)}
    tables = {
        ((line["pattern"], line["mode"], int(line["ranks"]), line["label"]), line["unit"]): {
            int(size): numbers.split("|")
            for size, _, numbers in (one.partition("=") for one in line["values"].split())
        }
        for line in lines
        if line["pattern"] not in said
    }
    return Expected(
        tables,
        "".join(line["values"] for line in said[REFUSED]),
        tuple(int(word) for line in said[UNREAD] for word in line["values"].split()),
        {line["mode"]: tuple(map(int, line["values"].split())) for line in said[CORRUPT]},
    )


ALL = _expected()
READ = [name for name, one in ALL.items() if not one.refused]


def _names(result: Result) -> dict[Cell, Name]:
    several = len({one.cell.window for one in result.imported} - {0}) > 1
    return {
        cell: (cell.pattern, cell.mode, cell.ranks, f"window {cell.window}" if several else cell.label)
        for cell in result.campaign.cells
    }


def _times(result: Result) -> dict[tuple[Name, int], list[float]]:
    found, names = defaultdict[tuple[Name, int], list[float]](list), _names(result)
    for one in sorted(result.imported, key=lambda one: one.launch):
        found[names[one.cell], one.cell.bytes].append(one.time_s)
    return found


def _is_rounded(value: float | None, printed: str, unit: float) -> bool:
    """Whether a number is the one that is printed, within half of its last digit, and of the count's."""
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    return value is not None and abs(value / unit - float(printed)) <= half + 5e-6 * float(printed)


def _wrong(expected: Expected, result: Result) -> Iterator[str]:
    """What is not as it is printed."""
    times, names = _times(result), _names(result)
    shown = {(names[row.cell], row.cell.bytes): row for row in rows(result)}
    counted = {name for name, unit in expected.tables if unit in MESSAGES}
    for (name, unit), numbers in expected.tables.items():
        for size, printed in numbers.items():
            row = shown.get((name, size))
            mine, wanted = times.get((name, size), []), list(map(float, printed))
            if unit in SECONDS:
                right = _close(mine, [number * SECONDS[unit] for number in wanted])
            elif row is None:
                right = False
            elif unit in MESSAGES:
                right = _close([row.messages_per_s], [wanted[0] * MESSAGES[unit]])
            elif name in counted:
                right = _is_rounded(row.rate_bytes_per_s, printed[0], BYTES_PER_S[unit])
            else:
                right = _close([row.rate_bytes_per_s], [wanted[0] * BYTES_PER_S[unit]])
            if not right:
                yield f"{name} {size} B: {printed} {unit} became {mine}"


def _close(found: Sequence[float | None], wanted: Sequence[float]) -> bool:
    return len(found) == len(wanted) and all(
        one is not None and math.isclose(one, other, rel_tol=CLOSE)
        for one, other in zip(found, wanted, strict=True)
    )


def test_every_text_is_expected_to_be_something() -> None:
    assert set(ALL) == {path.name for path in FOLDER.iterdir()} - {EXPECTED.name, "README.md"}


@pytest.mark.parametrize("name", READ)
def test_every_number_is_read_as_it_is_printed_and_no_other(name: str) -> None:
    result = load(FOLDER / name)
    assert {key: len(times) for key, times in _times(result).items()} == ALL[name].cells
    assert [*_wrong(ALL[name], result)] == []
    failed = defaultdict[str, list[int]](list)
    for one in result.failures:
        assert one.cell is not None
        assert one.kind == CORRUPT
        failed[one.cell.mode].append(one.cell.bytes)
    assert failed == {mode: [*sizes] for mode, sizes in (ALL[name].corrupt or {}).items()}


@pytest.mark.parametrize("name", READ)
def test_lines_that_cannot_be_rows_are_named_and_no_others(name: str) -> None:
    unread = [int(one.source.rpartition(" ")[2]) for one in load(FOLDER / name).unread]
    assert unread == [*ALL[name].unread]


BY_FILE = {"24_nccl_alltoall_empty_redop_tags.txt", "78_netpipe_exo_like.out"}
"""What is known by the name of its file, or by the shape of all its lines."""


@pytest.mark.parametrize("name", sorted({*READ} - BY_FILE))
@pytest.mark.parametrize("other", ["74_imb_allreduce_16.txt", "39b_osu_utf8_bom_blank_first.txt"])
def test_what_stands_before_or_after_another_suite_is_read_as_alone(
    tmp_path: Path, name: str, other: str
) -> None:
    texts = [decoded(content_of(FOLDER / one)) for one in (name, other)]
    alone = sum(len(load(FOLDER / one).imported) for one in (name, other))
    for both in (texts, reversed(texts)):
        (tmp_path / "both.txt").write_text("\n".join(both), encoding="utf-8")
        assert len(load(tmp_path / "both.txt").imported) == alone


@pytest.mark.parametrize("name", [name for name, one in ALL.items() if one.refused])
def test_what_has_no_number_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(FOLDER / name)
    said = f"{refused.value.sentence} {refused.value.hint}"
    assert str(FOLDER / name) in said
    assert all(words in said for words in ALL[name].refused.split("; ")), said


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A text with one digit that its expectation does not have."""
    path = tmp_path / "77_osu75_eessi_cuda_two.txt"
    path.write_bytes((FOLDER / path.name).read_bytes().replace(b"46061.86", b"46061.85"))
    return path


def test_a_changed_digit_would_be_seen(damaged: Path) -> None:
    assert len([*_wrong(ALL[damaged.name], load(damaged))]) == 1
