"""A copy of a result without names: which texts it has, and which it has not."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields, replace

from mpigauge.plan.hosts import Host
from mpigauge.result.kernel_data import Card, HostCards, Machine, RankPlace
from mpigauge.result.reader import load, records_of
from mpigauge.result.records import (
    Campaign,
    Difference,
    Failure,
    Imported,
    Launch,
    Record,
    Resumed,
    Unread,
)
from mpigauge.result.replacements import LEFT_OUT, Replacements
from mpigauge.result.without_names import FIELDS, text_fields, without_names
from mpigauge.result.writer import line_of, write_whole
from tests.made import ENVIRONMENT, JOB, LIBRARY, RECORDS, SMALL, campaign, cell, launch, visit
from tests.stored import stored_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.plan.model import Cell, JobKey


def kinds_in(kind: Any) -> Iterator[type[Struct]]:
    """The types of records in a type."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
        for field in fields(kind):
            yield from kinds_in(field.type)
    else:
        for part in get_args(kind):
            yield from kinds_in(part)


def copy_of(records: Sequence[Record]) -> list[Any]:
    """The records of a copy."""
    return [*without_names(records)]


def test_of_each_text_it_is_said_what_becomes_of_it() -> None:
    kinds = dict.fromkeys(kinds_in(Record))
    texts = {kind: {field.name for field in text_fields(kind) if field.has_text} for kind in kinds}
    assert {kind: names for kind, names in texts.items() if names} == {
        kind: {*rules} for kind, rules in FIELDS.items()
    }


def test_a_text_of_which_nothing_is_said_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {name: rule for name, rule in FIELDS[Launch].items() if name not in ("reported", "clock")}
    fields_without: dict[type[Struct], Any] = {**FIELDS, Launch: rules}
    monkeypatch.setattr("mpigauge.result.without_names.FIELDS", fields_without)
    _, copied = copy_of([campaign(SMALL), replace(launch(1), reported="node1", clock="node1")])
    assert (copied.reported, copied.clock) == ("", "")


# ---- Names planted everywhere --------------------------------------------------------------------

HOSTS = st.from_regex(r"zq[a-z]{2,8}[0-9]{1,4}(\.xw[a-z]{3,6}\.org)?", fullmatch=True)
USERS = st.from_regex(r"xj[a-z]{3,9}", fullmatch=True)
FOLDERS = st.from_regex(r"qv[a-z]{3,9}", fullmatch=True)
CLOSED = frozenset("format started without datatype op root pair group groups order orders".split())  # noqa: SIM905


def planted(value: Any, text: str, host: str, path: str) -> Any:
    """A value with a text in place of each of its texts; where only a name may be, with that of a host."""
    match value:
        case str():
            return text
        case Struct():
            return _planted_record(value, text, host, path)
        case tuple() | list():
            return type(value)(planted(one, text, host, path) for one in value)
        case dict():
            return {f"{host} {name}": planted(one, text, host, path) for name, one in value.items()}
    return value


def _planted_record(record: Struct, text: str, host: str, path: str) -> Struct:
    changes: dict[str, Any] = {}
    for name, _, _ in text_fields(type(record)):
        value = getattr(record, name)
        if name in CLOSED:
            continue
        if name in {"placement", "label"}:
            changes[name] = host[:32] if name == "label" else f"{host},{host}"
        elif name == "placements":
            changes[name] = (f"{host},{host}",)
        elif name == "setting":
            changes[name] = f"UCX_TLS={path} SLURM_X={host}"
        elif name in ("host", "hosts", "hosts_skipped") or (type(record) is Host and name == "name"):
            changes[name] = host if isinstance(value, str) else (value and planted(value, host, host, path))
        elif name == "cards" and isinstance(record, HostCards):
            changes[name] = tuple(
                replace(planted(one, text, host, path), name=f"br-{host}"[:40]) for one in value
            )
        elif name == "vary":
            changes[name] = {"UCX_TLS": (path, host)}
        elif name == "variables" and not value:
            changes[name] = {"OMPI_MCA_x": text, "FI_PROVIDER": path}
        else:
            changes[name] = planted(value, text, host, path)
    return replace(record, **changes)


ALL: tuple[Record, ...] = (
    replace(
        campaign(SMALL),
        plan=replace(campaign(SMALL).plan, hosts=(Host("node1", 2),), mpi=("mpich",), mpi_options=("--x",)),
        libraries=(
            replace(
                LIBRARY,
                mpicc_options=("-x",),
                configuration={"configure": "x"},
                parameter_files={"/x": {"y": "z"}},
                environment={"X": "y", "Z": None},
            ),
        ),
    ),
    replace(
        launch(1),
        cards=(HostCards(("node1",), (Card("eth0", "ip", counted=True),)),),
        machines=(Machine("node1", "x", "y", 1),),
        options_found=("x",),
    ),
    visit(1, 0, SMALL, [3, 1, 2], corrupt="x"),
    Failure(1, "crash", "x", cell=SMALL, job=JOB),
    Imported(SMALL, 1.5, statistic="x", source="x: line 3"),
    Unread("x", "y", "z"),
    Resumed(
        "2026-01-02T00:00:00+00:00",
        "x",
        "y",
        (Difference("build", "x", "y"),),
        (LIBRARY,),
        ENVIRONMENT,
        ("node1",),
    ),
)


def numbers_of(record: Record | None) -> Any:
    """All of a record that is no text, as its line has it."""
    return None if record is None else _without_texts(msgspec.json.decode(line_of(record)))


def _without_texts(value: Any) -> Any:
    match value:
        case dict():
            return [_without_texts(one) for name, one in value.items() if name not in ("version", "without")]
        case list() if value and not isinstance(value[0], int | float):
            return [_without_texts(one) for one in value]
    return "" if isinstance(value, str) else value


@given(HOSTS, USERS, FOLDERS)
def test_a_name_is_nowhere_in_the_copy_whatever_text_it_was_in(host: str, user: str, folder: str) -> None:
    path = f"/home/{user}/{folder}/mpicc"
    said = f"{host} says:{path} to {user}@{host}, and {user}'s -I{path} on {host}-ib0 at 10.1.2.3 fe80::1:2"
    before = [planted(record, said, host, path) for record in ALL]
    after = copy_of(before)
    content = b"".join(map(line_of, after)).decode()
    names = (user, folder, *host.split(".")[:2], "10.1.2.3", "fe80")
    assert not [name for name in names if name in content]
    assert [*map(numbers_of, after)] == [*map(numbers_of, before)]


@given(HOSTS, USERS, FOLDERS)
def test_the_copy_can_be_read(host: str, user: str, folder: str) -> None:
    path = f"/home/{user}/{folder}/mpicc"
    copied = copy_of([planted(record, f"{host} {user}", host, path) for record in ALL])
    result = load(Path("shared.jsonl"), map(line_of, copied))
    assert (result.damaged, result.incomplete, result.campaign.without) == ([], set(), ("names",))


# ---- What stands in their place ------------------------------------------------------------------


def hosts_of_plan(*names: str) -> Campaign:
    """A campaign on these hosts."""
    first = campaign(SMALL)
    return replace(first, plan=replace(first.plan, hosts=tuple(map(Host, names))))


def test_hosts_are_numbered_as_in_the_plan_and_called_alike_everywhere() -> None:
    of = replace(SMALL, placement="b7,a3")
    first = replace(
        hosts_of_plan("b7", "a3"), cells=(of,), environment=replace(ENVIRONMENT, host="login.site.org")
    )
    job = replace(JOB, placement="b7,a3")
    started = replace(
        launch(1, job=job),
        command=("mpiexec", "--host", "b7:2,a3:2"),
        ranks_at=(RankPlace("b7.site.org", "0", 0, 1, 1, 1, 0.0), RankPlace("A3", "0", 0, 1, 1, 1, 0.0)),
    )
    copied, began, measured = copy_of([first, started, visit(1, 0, of, [1, 2])])
    assert [host.name for host in copied.plan.hosts] == ["host1", "host2"]
    assert copied.cells[0] == measured.cell
    assert measured.cell.placement == began.job.placement == "host1,host2"
    assert [place.host for place in began.ranks_at] == ["host1.domain1", "host2"]
    assert began.command == ("mpiexec", "--host", "host1:2,host2:2")
    assert copied.environment.host == "host3.domain1"


def test_many_hosts_sort_as_they_did() -> None:
    names = [f"node{number:02}" for number in range(1, 12)]
    copied, *_ = copy_of([hosts_of_plan(*names)])
    replaced = [host.name for host in copied.plan.hosts]
    assert replaced == sorted(replaced)


def test_hosts_of_a_lab_keep_the_names_that_mpigauge_gave_them() -> None:
    records = [*records_of(Path("docs/results/map.jsonl.gz"))]
    copied = next(without_names(records))
    assert isinstance(copied, Campaign)
    assert {host.name for host in copied.plan.hosts} == {host.name for host in records[0].plan.hosts}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("command", "copied"),
    [
        ("mpiexec -n 2 --map-by core -x UCX_TLS", "mpiexec -n 2 --map-by core -x UCX_TLS"),
        ("srun --account=physics -p fast -N 2", "srun --account=value1 -p value2 -N 2"),
        ("/opt/ann/bin/mpicc -I/opt/ann/include -lmpi -O2", "/path1/mpicc -I/path2/include -lmpi -O2"),
        ("--jobid=1234567 -n 4096", "--jobid=value1 -n 4096"),
        ("tcp,self", "tcp,self"),
        ("10.0.0.7", "address1"),
        ("00:1b:63:84:45:e6", "address1"),
    ],
)
def test_of_a_command_words_stay_that_programs_share(command: str, copied: str) -> None:
    assert Replacements().words(command) == copied


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("Open MPI v5.0.11, package: Open MPI ann@built", "Open MPI v5.0.11, package: Open MPI user1@host1"),
        ("Fri Sep 25 20:45:26 UTC 2026", "Fri Sep 25 20:45:26 UTC 2026"),
        ("100 Gb/sec (4X EDR)", "100 Gb/sec (4X EDR)"),
        ("the wheel mpich in ~/venv", "the wheel mpich in /path1/file1"),
        ("https://ann.org/x", "address1"),
    ],
)
def test_sentences_keep_all_but_names(text: str, copied: str) -> None:
    assert Replacements().text(text) == copied


@pytest.mark.parametrize(
    ("name", "value", "copied"),
    [
        ("UCX_TLS", "rc,sm,self", "rc,sm,self"),
        ("UCX_RNDV_THRESH", "65536", "65536"),
        ("UCX_NET_DEVICES", "secret0:1", "value1:1"),
        ("SLURM_JOB_ID", "12", "value1"),
        ("I_MPI_PIN", "off", "off"),
        ("LD_LIBRARY_PATH", "/a/lib:/b", "/path1/lib:/file1"),
        ("X", "(not recorded)", "(not recorded)"),
    ],
)
def test_values_of_variables_are_replaced_but_switches_and_sizes(name: str, value: str, copied: str) -> None:
    assert Replacements().value(name, value) == copied


def test_what_a_job_said_before_it_died_is_left_out() -> None:
    *_, failed = copy_of([campaign(SMALL), Failure(1, "crash", "node17 is on fire")])
    assert failed.words == LEFT_OUT


def test_an_account_is_replaced_wherever_it_stands() -> None:
    first = campaign(SMALL, title="scaling of phys42 on one node")
    first = replace(first, environment=replace(ENVIRONMENT, variables={"SLURM_JOB_ACCOUNT": "phys42"}))
    copied, *_ = copy_of([first])
    assert copied.plan.title == "scaling of value1 on one node"


def test_a_damaged_line_stays_one_in_the_copy(tmp_path: Path) -> None:
    file, shared = tmp_path / "r.jsonl", tmp_path / "shared.jsonl"
    lines = [line_of(record) for record in RECORDS]
    file.write_bytes(b"".join([*lines[:5], b"{damaged\n", *lines[5:], b'{"type"']))
    write_whole(shared, without_names([*records_of(file)]))
    results = [load(path) for path in (file, shared)]
    assert results[0].damaged == results[1].damaged == [6]
    assert results[0].incomplete == results[1].incomplete


@pytest.mark.parametrize("path", stored_results())
def test_a_stored_result_has_the_same_numbers_and_no_names(path: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared.jsonl.gz"
    records = [*records_of(path)]
    write_whole(shared, without_names(records))
    copied = [*records_of(shared)]
    for one, other in zip(records, copied, strict=True):
        assert numbers_of(other) == numbers_of(one)
    cells = dict.fromkeys(_cells_of(records))
    assert len(cells) == len(dict.fromkeys(_cells_of(copied)))
    content = gzip.decompress(shared.read_bytes()).decode()
    first = records[0]
    assert isinstance(first, Campaign)
    words = {path for one in first.libraries for path in (one.mpicc, one.mpiexec, one.kernel)}
    words |= {value for value in first.environment.variables.values() if "/" in value}
    words |= set() if first.plan.lab else {first.environment.host}
    assert not [word for word in words if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", content)]


def _cells_of(records: Sequence[Record | None]) -> Iterator[Cell | JobKey]:
    for record in records:
        if isinstance(record, Campaign):
            yield from record.cells
        elif (of := getattr(record, "cell", None)) is not None:
            yield of


def test_cells_that_differ_stay_apart() -> None:
    cells = [
        cell(placement=place, setting=setting) for place in ("a,b", "b,a") for setting in ("X=/p/q", "X=/p/r")
    ]
    copied, *_ = copy_of([campaign(*cells)])
    assert len({*copied.cells}) == len(cells)
