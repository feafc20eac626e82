"""A campaign goes on as it was begun; otherwise only if told to, and then its rows say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.campaign import trusted_results
from mpigauge.result.reader import load
from tests.cli.journey import EVERY_VISIT, MEASURE, rows_of

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

RESULT = Path("r.jsonl")


@pytest.fixture
def interrupted(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Half of a campaign of this user: one of two launches of the only job."""
    assert openmpi
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    assert cli("run", *MEASURE, "-o", str(RESULT), "-q").status == 0
    lines = RESULT.read_bytes().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if b'"type":"done"' in line)
    RESULT.write_bytes(b"".join(lines[: first + 1]))
    return RESULT


def begun_with(**other: Any) -> None:
    """Makes the result one that this user has begun with something else."""
    first, *others = RESULT.read_bytes().splitlines(keepends=True)
    head = json.loads(first)
    head["environment"] |= other.pop("environment", {})
    head["libraries"][0] |= other.pop("library", {})
    RESULT.write_bytes(json.dumps(head | other).encode() + b"\n" + b"".join(others))
    trusted_results.remember(load(RESULT).campaign)


OTHERWISE = [
    ("host", {"environment": {"host": "elsewhere"}}, "elsewhere"),
    ("processor", {"environment": {"cpu": "Z80"}}, "Z80"),
    ("cores", {"environment": {"cores": 999}}, "999"),
    ("system", {"environment": {"kernel": "2.4.0"}}, "2.4.0"),
    ("caches", {"environment": {"caches": {"L1 Data": 512}}}, "512"),
    ("mpigauge", {"mpigauge": "0.0.9"}, "0.0.9"),
    (
        "build",
        {"library": {"kernel": "/cache/openmpi-5.0.11-0123456789abcdef/mpigauge-kernel"}},
        "0123456789abcdef",
    ),
]


@pytest.mark.parametrize(("what", "other", "word"), OTHERWISE, ids=[what for what, _, _ in OTHERWISE])
def test_what_differs_is_said_and_nothing_is_measured(
    cli: Cli, interrupted: Path, what: str, other: dict[str, Any], word: str
) -> None:
    begun_with(**other)
    before = interrupted.read_bytes()
    done = cli("resume", str(interrupted))
    assert done.status == 3
    assert f"{what} " in done.err
    assert word in done.err
    assert "--anyway" in done.err
    assert interrupted.read_bytes() == before


def test_what_went_on_anyway_is_recorded_and_marks_the_rows_of_both(cli: Cli, interrupted: Path) -> None:
    begun_with(environment={"host": "elsewhere"}, mpigauge="0.0.9")
    done = cli("resume", "--anyway", str(interrupted), "--format", "json")
    rows = rows_of(done)
    (resumed,) = load(interrupted).resumed
    assert [one.what for one in resumed.differs] == ["host", "mpigauge"]
    assert resumed.differs[0].then == "elsewhere"
    measured = {key: row["warnings"] for key, row in rows.items() if key[0] == "pingpong"}
    assert len(measured) == 2
    assert all("mixed" in kinds for kinds in measured.values())
    assert "differ in host, mpigauge" in cli("show", "--all", str(interrupted)).out


def test_a_third_session_is_held_against_the_second(cli: Cli, interrupted: Path) -> None:
    begun_with(environment={"host": "elsewhere"})
    assert cli("resume", "--anyway", str(interrupted)).status == 0
    lines = interrupted.read_bytes().splitlines(keepends=True)
    interrupted.write_bytes(b"".join(lines[:-3]))
    assert cli("resume", str(interrupted)).status == 0
    assert len(load(interrupted).resumed) == 1


def test_what_goes_on_as_it_was_is_not_marked(cli: Cli, interrupted: Path) -> None:
    assert cli("resume", str(interrupted)).status == 0
    assert not load(interrupted).resumed
    assert not load(interrupted).mixed
