"""Results of strangers: whatever is in them is data, in text, tables, figures and messages."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.result.reader import load
from tests.made import campaign, cell, launch, lines_of, visit

if TYPE_CHECKING:
    from tests.conftest import Cli

ESCAPE = "\x1b]0;owned\x07"
NAMES = (f"5.0{ESCAPE}", "5.0\n| pwned |", "<script>alert(1)</script>", "=HYPERLINK(1)", "$\\frac{", "$")
SMALL = cell(size=8)


def kept(version: str) -> Path:
    """A result of a library that calls itself so."""
    of = replace(SMALL, mpi_version=version)
    launches = [replace(launch(n), job=of.job) for n in (1, 2)]
    visits = [visit(n, 0, of, [200, 210, 190, 205]) for n in (1, 2)]
    path = Path("stranger.jsonl")
    path.write_bytes(lines_of(campaign(of), *launches, *visits))
    return path


@pytest.mark.parametrize("version", NAMES)
def test_names_are_data_in_every_text(cli: Cli, machine: Path, version: str) -> None:
    path = kept(version)
    for words in (["--all"], [], ["--table", "summary"], ["--all", "--format", "markdown"]):
        done = cli("show", path, *words)
        assert done.status == 0, done.err
        assert "\x1b" not in done.out
        assert "\n| pwned" not in done.out
        assert "<script" not in done.out or "markdown" not in words
    json.loads(cli("show", path, "--format", "json").out)


@pytest.mark.parametrize("version", NAMES)
def test_a_cell_of_csv_is_no_formula(cli: Cli, machine: Path, version: str) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("show", kept(version), "--format", "csv").out)))
    (name,) = {row["mpi_version"] for row in rows}
    assert not name.startswith("=")
    assert name.isprintable()


@pytest.mark.parametrize("version", NAMES)
def test_labels_of_figures_are_no_mathematics(cli: Cli, machine: Path, version: str) -> None:
    done = cli("plot", kept(version), "--kind", "time", "-o", "figure.svg")
    assert done.status == 0, done.err
    assert Path("figure.svg").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"samples_ns": [10**400]},
        {"ops": 10**30},
        {"elapsed_s": -(10**400)},
        {"cell": {"pair": "a-b"}},
        {"cell": {"pair": "0-1\n"}},
        {"cell": {"pair": "1-0"}},
        {"cell": {"pair": "0-2"}},
        {"cell": {"ranks": 10**12}},
        {"cell": {"bytes": 2**70}},
        {"cell": {"pattern": "pingpong\x1b[2J"}},
        {"cell": {"mode": "standard\n"}},
        {"cell": {"mode": "s" * 256}},
        {"cell": {"mpi": "openmpi\0"}},
        {"cell": {"transport": "shm\r"}},
        {"cell": {"placement": "h1,h2\n"}},
        {"cell": {"placement": "h" * (2**22 + 1)}},
        {"cell": {"buffers": "lukewarm"}},
        {"cell": {"datatype": "double; drop"}},
        {"cell": {"op": "$"}},
        {"cell": {"root": "-1"}},
    ],
)
def test_a_number_that_nobody_measured_is_a_damaged_line(machine: Path, change: dict[str, Any]) -> None:
    path = kept("5.0")
    lines = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[-1])
    for name, value in change.items():
        record[name] = record[name] | value if isinstance(value, dict) else value
    path.write_text("\n".join([*lines[:-1], json.dumps(record), ""]), encoding="utf-8")
    assert load(path).damaged == [len(lines)]


@pytest.mark.parametrize(
    "plan",
    [
        {"placements": ["h1,-oProxyCommand=sh"]},
        {"placements": ["h1,,h2"]},
        {"placements": [""]},
        {"hosts_skipped": ["-h"]},
        {"launcher": "mpiexec\0"},
        {"mpiexec": "/opt/mpiexec\0"},
        {"remote_shell": "\0"},
        {"mpi_options": ["-x", "\0"]},
        {"variables": {"A=B": "1"}},
        {"variables": {"": "1"}},
        {"variables": {"A": "\0"}},
    ],
)
def test_a_plan_that_nobody_could_have_asked_for_is_refused(machine: Path, plan: dict[str, Any]) -> None:
    path = kept("5.0")
    first, *others = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(first)
    record["plan"] |= plan
    path.write_text("\n".join([json.dumps(record), *others, ""]), encoding="utf-8")
    with pytest.raises(UsageError, match="line 1 is damaged") as caught:
        load(path)
    assert f"$.plan.{next(iter(plan))}" in caught.value.sentence


@pytest.mark.parametrize("placement", ["1, 2", "h1 , node-2.example", "same-host", "10.0.0.1,10.0.0.2"])
def test_a_plan_as_people_write_it_is_read(machine: Path, placement: str) -> None:
    path = kept("5.0")
    head, *others = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(head)
    record["plan"] |= {"placements": [placement], "mpi_options": ["--x\ny"], "variables": {"A-B": "\n"}}
    path.write_text("\n".join([json.dumps(record), *others, ""]), encoding="utf-8")
    assert load(path).campaign.plan.placements == (placement,)


def test_a_launch_without_ranks_can_be_shown(cli: Cli, machine: Path) -> None:
    path = kept("5.0")
    empty = [replace(one, ranks_at=()) for one in load(path).launches]
    whole = load(path)
    path.write_bytes(lines_of(whole.campaign, *empty, *whole.visits))
    assert cli("show", "--all", path).status == 0


def test_no_message_speaks_to_the_terminal(cli: Cli, machine: Path) -> None:
    done = cli("show", f"nothing{ESCAPE}\nmpigauge: all is well")
    assert done.status == 2
    assert "\x1b" not in done.err


@pytest.mark.thorough
def test_a_file_made_to_fill_the_memory_is_refused(cli: Cli, machine: Path) -> None:
    path = kept("5.0").rename("bomb.jsonl")
    content = path.read_bytes() + b"0" * (300 << 20)
    Path("bomb.jsonl.gz").write_bytes(gzip.compress(content, compresslevel=1))
    done = cli("show", "bomb.jsonl.gz")
    assert done.status == 2
    assert "more than 200 times its size" in done.err


def map_of(ranks: int) -> Path:
    """A result of two pairs, whose launches say of two ranks where they were."""
    cells = [replace(SMALL, ranks=ranks, pair=pair, pairing="serial") for pair in ("0-1", "1-2")]
    launches = [replace(launch(n), job=cells[0].job) for n in (1, 2)]
    visits = [visit(n, place, of, [200, 210, 190, 205]) for n in (1, 2) for place, of in enumerate(cells)]
    path = Path("map.jsonl")
    path.write_bytes(lines_of(campaign(*cells), *launches, *visits))
    return path


def test_a_map_whose_ranks_are_not_all_placed_has_their_numbers(cli: Cli, machine: Path) -> None:
    done = cli("map", map_of(3), "--format", "json")
    assert [pair["hosts"] for pair in json.loads(done.out)["pairs"]] == [["0", "1"], ["1", "2"]]


def test_a_map_that_would_take_all_memory_is_refused(cli: Cli, machine: Path) -> None:
    done = cli("map", map_of(2**24))
    assert done.status == 2
    assert "has a map of 16777216 ranks" in done.err
