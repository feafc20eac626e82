"""Files of older versions: real ones of each are read, as today's records; damage in them has a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from mpigauge.document.document import Units
from mpigauge.plan.model import JobKey
from mpigauge.result import older_versions
from mpigauge.result.reader import Result, load
from mpigauge.result.records import VERSION
from mpigauge.rows.rows import rows
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.curves import document
from mpigauge.show.formats import GENERAL, render
from tests.made import campaign, cell, launch, lines_of

if TYPE_CHECKING:
    from mpigauge.result.records import Record

HERE = Path(__file__).parent
OLDER = range(1, VERSION)
"""A file of each, as mpigauge wrote it then; from 2 on only the first visit of a cell in a launch is kept."""

TWO = JobKey("openmpi", "5.0.11", "auto", "same-host", 2)
THREE = msgspec.structs.replace(TWO, ranks=3)


def file_of(version: int) -> Path:
    return HERE / f"version_{version}.jsonl"


def records_of(result: Result) -> list[Record]:
    """All of them, by kind."""
    return [
        result.campaign,
        *result.launches,
        *result.clocks,
        *result.visits,
        *result.eager,
        *result.blocked,
        *result.failures,
        *result.done,
        *result.ends,
    ]


def test_every_version_has_its_line_in_the_history() -> None:
    assert list(older_versions.HISTORY) == list(range(VERSION, 0, -1))


@pytest.mark.parametrize("version", OLDER)
def test_what_launches_did_not_time_then_is_not_known(version: int) -> None:
    result = load(file_of(version))
    assert {(one.init_ns, one.init_median_ns) for one in result.launches} == {(-1, -1)}


def test_a_file_of_this_version_may_lack_what_was_added_to_it() -> None:
    """Such fields have defaults; one that an older program of this version wrote is read as it is."""
    whole = launch(1)
    line = json.loads(lines_of(campaign(cell()), whole).splitlines()[1])
    for added in ("init_ns", "init_median_ns"):
        line.pop(added)
    assert older_versions.record_of(json.dumps(line).encode(), VERSION) == whole


@pytest.mark.parametrize("version", OLDER)
def test_a_file_is_read_whole(version: int) -> None:
    lines = file_of(version).read_bytes().splitlines()
    assert msgspec.json.decode(lines[0])["version"] == version
    result = load(file_of(version))
    assert result.campaign.version == version
    assert len(records_of(result)) == len(lines)
    assert not result.torn


@pytest.mark.parametrize("version", OLDER)
def test_launches_have_their_job(version: int) -> None:
    result = load(file_of(version))
    jobs = {TWO, THREE} if version > 2 else {TWO}
    assert {launch.job for launch in result.launches} == jobs == {cell.job for cell in result.campaign.cells}
    assert {done.job for done in result.done} == jobs
    assert {clock.job for clock in result.clocks} == ({TWO} if version > 1 else set())
    assert all(len(launch.ranks_at) == launch.job.ranks for launch in result.launches)


@pytest.mark.parametrize("version", OLDER)
def test_records_of_older_versions_are_converted(version: int, tmp_path: Path) -> None:
    """Written anew they are a file of this version, which says the same in every form."""
    before = load(file_of(version))
    head = msgspec.structs.replace(before.campaign, version=VERSION)
    path = tmp_path / file_of(version).name  # which labels of LaTeX have
    path.write_bytes(lines_of(head, *records_of(before)[1:]))
    after = load(path)
    assert records_of(after)[1:] == records_of(before)[1:]
    for form in GENERAL:
        texts = [
            render(document(one, rows(one), list(EXTRA_COLUMNS), Units()), form) for one in (before, after)
        ]
        said, new = (f'"result_version": {number}' for number in (version, VERSION))
        assert texts[0].replace(str(before.path), "").replace(said, new) == texts[1].replace(str(path), "")


@pytest.mark.parametrize("version", OLDER)
def test_a_file_that_was_continued_has_lines_of_both_versions(version: int, tmp_path: Path) -> None:
    first, *old = file_of(version).read_bytes().splitlines(keepends=True)
    new = lines_of(*records_of(load(file_of(version)))[1:])
    path = tmp_path / "both.jsonl"
    path.write_bytes(b"".join([first, *old]) + new)
    once, twice = records_of(load(file_of(version)))[1:], records_of(load(path))[1:]
    assert len(twice) == 2 * len(once)
    assert all(record in once for record in twice)


def kinds_of(version: int) -> list[str]:
    lines = file_of(version).read_bytes().splitlines()
    return [msgspec.json.decode(line)["type"] for line in lines]


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("kind", ["launch", "done", "visit"])
@pytest.mark.parametrize(
    "damage", [b'{"type":"%s"}', b'{"type":"%s","launch":[],"ranks":{},"mpi":1}', b'{"type":"%s",', b"[]"]
)
def test_damage_costs_the_line(version: int, kind: str, damage: bytes, tmp_path: Path) -> None:
    lines = file_of(version).read_bytes().splitlines()
    number = kinds_of(version).index(kind)
    lines[number] = damage.replace(b"%s", kind.encode())
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"\n".join([*lines, b""]))
    assert load(path).damaged == [number + 1]


@pytest.mark.parametrize("field", ["mpi", "mpi_version", "ranks"])
def test_a_launch_that_lacks_part_of_its_identity_is_damaged(field: str, tmp_path: Path) -> None:
    lines = file_of(4).read_bytes().splitlines()
    number = kinds_of(4).index("done")
    done: dict[str, Any] = msgspec.json.decode(lines[number])
    del done[field]
    lines[number] = msgspec.json.encode(done)
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(b"\n".join([*lines, b""]))
    assert load(path).damaged == [number + 1]
