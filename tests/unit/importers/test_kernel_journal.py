"""Kernel plans that are handed out, and their journals that come back: whole, torn, or another plan's."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.importers import read
from mpigauge.result.reader import load
from mpigauge.result.records import Visit
from tests.fakes.law import operation_ns

if TYPE_CHECKING:
    from tests.conftest import Cli, Done, Install
    from tests.fakes.mpi import FakeMpi

PLAN = ("pingpong", "stream", "bcast", "eager", "--sizes", "8,64", "--root", "rotating", "--seed", "3")
FILES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def handed_out(cli: Cli, *words: str) -> Path:
    """A kernel plan in plan.txt."""
    done = cli("kernel", "plan", *(words or PLAN))
    assert done.status == 0, done.err
    Path("plan.txt").write_text(done.out, encoding="utf-8")
    return Path("plan.txt")


def launched(cli: Cli, path: str, mpi: str = "openmpi", ranks: str = "2", **variables: str) -> Path:
    """A journal, as somebody's launcher makes it of plan.txt."""
    kernel = cli("kernel", "path", "--mpi", mpi).out.strip()
    environment = {**os.environ, "FAKE_RANKS": ranks, **variables}
    with Path(path).open("ab") as output:
        subprocess.run([kernel, "plan.txt", "-"], stdout=output, env=environment, check=False)
    return Path(path)


def imported(cli: Cli, *words: object) -> Done:
    """What import says, with the table as JSON."""
    return cli("import", "journal", *words, "-o", "r.jsonl", "--format", "json")


def rows(done: Done) -> list[dict[str, Any]]:
    """The rows of a table."""
    found: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return found


@pytest.mark.usefixtures("openmpi")
def test_a_plan_and_its_journals_make_a_result(cli: Cli) -> None:
    plan = handed_out(cli)
    journals = [launched(cli, f"j{number}") for number in range(3)]
    for journal in journals:  # the fake's times are all the same, those of no two real launches are
        with journal.open("a", encoding="utf-8") as file:
            file.write(f"the words of {journal}\n")
    done = imported(cli, plan, *journals)
    assert done.status == 0, done.err
    for row in rows(done):
        assert row["status"] == "ok"
        if row["pattern"] in ("pingpong", "bcast"):
            assert row["launches"] == 3
            law_ns = operation_ns(row["pattern"], row["mode"], row["bytes"], 2, 100)
            assert row["time_s"]["estimate"] * 1e9 == pytest.approx(law_ns)
    result = load(Path("r.jsonl"))
    assert [launch.number for launch in result.launches] == [1, 2, 3]
    assert {cell.pattern for cell in result.campaign.cells} == {
        "null",
        "pingpong",
        "stream",
        "bcast",
        "eager",
    }
    assert {cell.root for cell in result.campaign.cells if cell.pattern == "bcast"} == {"rotating"}
    assert {cell.placement for cell in result.campaign.cells} == {"same-host"}
    assert (len(result.done), result.failures, result.ends[-1].reason) == (3, [], "imported")


@pytest.mark.usefixtures("openmpi")
def test_an_imported_result_has_the_records_of_a_measured_one(cli: Cli) -> None:
    words = ("pingpong", "stream", "--sizes", "8,64", "--launches", "1", "--seed", "3")
    assert cli("run", *words, "-q", "-o", "ours.jsonl").status == 0
    imported(cli, handed_out(cli, *words), launched(cli, "j"))
    ours, theirs = load(Path("ours.jsonl")), load(Path("r.jsonl"))
    assert set(theirs.campaign.cells) == set(ours.campaign.cells)
    assert theirs.campaign.patterns == ours.campaign.patterns
    assert {(visit.id, visit.cell) for visit in theirs.visits} >= {(v.id, v.cell) for v in ours.visits}


@pytest.mark.usefixtures("openmpi")
def test_resume_leaves_an_imported_result_as_it_is(cli: Cli) -> None:
    imported(cli, handed_out(cli), launched(cli, "j"))
    before = Path("r.jsonl").read_bytes()
    assert cli("resume", "r.jsonl").status == 0
    assert Path("r.jsonl").read_bytes() == before


def test_libraries_are_told_apart_by_what_they_say(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi("openmpi")
    fake_mpi("mpich", "5.0.2", latency_ns=300)
    plan = handed_out(cli, *PLAN, "--mpi", "openmpi")
    done = imported(cli, plan, *(launched(cli, f"j.{mpi}", mpi) for mpi in ("openmpi", "mpich")))
    times = {row["mpi"]: row["time_s"]["estimate"] for row in rows(done) if row["pattern"] == "pingpong"}
    assert times["mpich"] > 2 * times["openmpi"]
    assert [launch.number for launch in load(Path("r.jsonl")).launches] == [1, 1]


@pytest.mark.usefixtures("openmpi")
def test_a_library_that_nobody_knows_has_the_name_that_it_gives_itself(cli: Cli) -> None:
    handed_out(cli)
    launched(cli, "j")
    changed(b"Open MPI v", b"Own MPI v", "j")
    done = imported(cli, "plan.txt", "j")
    assert done.status == 0
    assert {(row["mpi"], row["mpi_version"]) for row in rows(done)} == {("own-mpi", "5.0.11")}


def test_the_machine_of_an_import_is_that_of_its_first_rank(cli: Cli, openmpi: FakeMpi) -> None:
    handed_out(cli)
    launched(cli, "j")
    changed(b'"cpu":"Made","kernel":"6.1"', b'"cpu":"Fast CPU","kernel":"5.9"', "j")
    assert imported(cli, "plan.txt", "j").status == 0
    environment = load(Path("r.jsonl")).campaign.environment
    assert (environment.cpu, environment.kernel) == ("Fast CPU", "5.9")


@pytest.mark.usefixtures("openmpi")
def test_a_torn_journal_loses_nothing_and_is_a_failure(cli: Cli) -> None:
    plan, whole = handed_out(cli), launched(cli, "whole").read_bytes()
    first = whole.index(b"\n") + 1
    chance = random.Random(7)
    for at in [first, len(whole) - 1, *(chance.randrange(first, len(whole)) for _ in range(8))]:
        Path("torn").write_bytes(whole[:at])
        records = read("journal", [plan, Path("torn")])
        visits = [record for record in records if isinstance(record, Visit)]
        assert len(visits) == len(re.findall(rb'^\{"visit":.*\}$', whole[:at], re.MULTILINE))
        kinds = [getattr(record, "kind", type(record).__name__) for record in records[-2:]]
        assert kinds == (["Done", "End"] if at == len(whole) - 1 else ["crash", "End"])


@pytest.mark.usefixtures("openmpi")
def test_an_end_without_all_answers_is_a_failure_that_says_so(cli: Cli) -> None:
    """As where lines were lost on the way, or deleted."""
    plan, whole = handed_out(cli), launched(cli, "whole").read_bytes()
    lines = whole.splitlines(keepends=True)
    visits = [line for line in lines if line.startswith(b'{"visit"')]
    Path("j").write_bytes(b"".join(line for line in lines if line not in visits[1:3]))
    assert imported(cli, plan, "j").status == 0
    result = load(Path("r.jsonl"))
    assert len(result.visits) == len(visits) - 2
    assert (result.done, len(result.failures)) == ([], 1)
    assert re.match(
        r"mpigauge: journal incomplete: 2 of \d+ visits without an answer", result.failures[0].words
    )


@pytest.mark.usefixtures("openmpi")
def test_an_end_of_another_program_ends_nothing(cli: Cli) -> None:
    plan, whole = handed_out(cli), launched(cli, "whole").read_bytes()
    first = whole.index(b"\n") + 1
    Path("j").write_bytes(whole[:first] + b'{"end":5}\n' + whole[first:])
    assert read("journal", [plan, Path("j")]) == read("journal", [plan, Path("whole")])


@pytest.mark.usefixtures("openmpi")
def test_a_crash_is_recorded_with_its_cell_and_its_words(cli: Cli) -> None:
    plan = handed_out(cli)
    whole, torn = launched(cli, "whole"), launched(cli, "torn", FAKE_CRASH="pingpong:64")
    torn.write_bytes(torn.read_bytes() + b"\nslurmstepd: error: *** STEP 17.0 ON node0 CANCELLED ***\n")
    done = imported(cli, plan, whole, torn)
    assert done.status == 0, done.err
    (failure,) = load(Path("r.jsonl")).failures
    assert (failure.launch, failure.kind) == (2, "crash")
    assert "CANCELLED" in failure.words
    assert failure.cell is not None
    assert (failure.cell.pattern, failure.cell.bytes) == ("pingpong", 64)


@pytest.mark.usefixtures("openmpi")
def test_a_job_that_was_run_again_may_go_on_in_the_same_journal(cli: Cli) -> None:
    plan = handed_out(cli)
    launched(cli, "j", FAKE_CRASH="pingpong:64")
    with Path("j").open("ab") as file:
        file.write(b"\n")
    launched(cli, "j")
    assert imported(cli, plan, "j").status == 0
    result = load(Path("r.jsonl"))
    assert (len(result.launches), len(result.failures), len(result.done)) == (2, 1, 1)


@pytest.mark.usefixtures("openmpi")
def test_a_job_that_goes_on_behind_a_torn_line_is_a_launch_of_its_own(cli: Cli) -> None:
    plan = handed_out(cli)
    torn = launched(cli, "j").read_bytes()
    Path("j").write_bytes(torn[: torn.rindex(b'{"visit"') + 30])
    launched(cli, "j")
    assert imported(cli, plan, "j").status == 0
    result = load(Path("r.jsonl"))
    assert (len(result.launches), len(result.failures), len(result.done)) == (2, 1, 1)


@pytest.mark.parametrize("pairs", ["tournament", "serial"])
@pytest.mark.usefixtures("openmpi")
def test_pairs_come_back_as_pairs(cli: Cli, pairs: str) -> None:
    plan = 'sizes = "8"\nranks = [4]\nbudget = "10s"\n'
    plan += f'[[measure]]\npattern = "pingpong"\npairs = "{pairs}"\n'
    Path("plan.toml").write_text(plan, encoding="utf-8")
    handed_out(cli, "--plan", "plan.toml")
    assert imported(cli, "plan.txt", launched(cli, "j", ranks="4")).status == 0
    cells = [cell for cell in load(Path("r.jsonl")).campaign.cells if cell.pattern == "pingpong"]
    assert [(cell.pair, cell.pairing) for cell in cells] == [
        (pair, pairs) for pair in ("0-1", "0-2", "0-3", "1-2", "1-3", "2-3")
    ]
    assert cli("map", "r.jsonl").status == 5  # one launch decides nothing


@pytest.mark.usefixtures("openmpi")
def test_a_journal_that_is_given_twice_is_no_second_launch(cli: Cli) -> None:
    """Two equal launches would make an interval of nothing."""
    handed_out(cli, "pingpong", "--sizes", "8")
    launched(cli, "j1")
    Path("j2").write_bytes(Path("j1").read_bytes())
    for again in ("j1", "j2"):
        done = cli("import", "journal", "plan.txt", "j1", again)
        assert done.status == 2
        assert f"{again}: is the same journal as j1" in done.err


@pytest.mark.usefixtures("openmpi")
def test_a_journal_without_measurements_gives_a_result_and_status_4(cli: Cli) -> None:
    plan, path = handed_out(cli), launched(cli, "j")
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    done = imported(cli, plan, path)
    assert done.status == 4
    assert "r.jsonl: nothing was measured" in done.err
    assert len(load(Path("r.jsonl")).failures) == 1


def changed(before: bytes, after: bytes, path: str = "j") -> None:
    """Something else stands in a file."""
    text = Path(path).read_bytes()
    assert before in text
    Path(path).write_bytes(text.replace(before, after, 1))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("before", "after", "path", "sentence"),
    [
        (b'"ranks":2', b'"ranks":4', "j", r"j: line 1 reports 4 ranks, but plan.txt is for 2"),
        (b'"kernel":2', b'"kernel":9', "j", r"j: line 1 comes from kernel version 9"),
        (b'{"launch"', b'{"lunch"', "j", r"j: line 2 comes before a launch"),
        (b'{"begin":0', b'{"begin":999', "j", r"j: line \d+ does not fit plan.txt: there is no visit 999"),
        (b'"window":64', b'"window":9', "j", r"j: line \d+ does not fit plan.txt: visit \d+ has another"),
        (b"version=2", b"version=9", "plan.txt", r"plan.txt: has version 9"),
        (b"launch ", b"lunch ", "plan.txt", r"plan.txt: is not a plan of the kernel"),
        (b"\nend\n", b"\n", "plan.txt", r"plan.txt: is not a plan of the kernel"),
        (b'{"mpigauge"', b"{", "plan.txt", r"plan.txt: the line of its source, after `end`, is damaged"),
        (b"visit id=0", b"visit id=zero", "plan.txt", r"plan.txt: line 2: id 'zero' is not a number"),
        (b"visit id=0", b"visit", "plan.txt", r"plan.txt: line 2: id is missing"),
        (b" bytes=", b" bytes=-", "plan.txt", r"plan.txt: line 2: bytes '-[0-9]+' is not a number"),
        (b"mode=", b"mode=un", "plan.txt", r"plan.txt: line 2: the mode 'un"),
        (b" root=-1", b" root=first", "plan.txt", r"plan.txt: line \d+: root 'first' is not a number"),
        (
            b" pattern=",
            b" pair=1-1 pattern=",
            "plan.txt",
            r"plan.txt: line 2: '1-1' is not a pair of 2 ranks",
        ),
        (
            b'{"begin":1',
            b'{"skip":0,"reason":"time"}\n{"begin":1',
            "j",
            r"j: line 5 does not fit plan.txt: visit 0 had",
        ),
        (b'"batch":', b'"batch":0', "j", r"j: line \d+ is damaged"),
        (b'"samples_ns":[', b'"samples_ns":[-', "j", r"j: line \d+ is damaged"),
        (b"pattern=", b"pattern=un", "plan.txt", r"plan.txt: line 2: the pattern 'un"),
        (
            b"sync=common",
            b"sync=somehow",
            "plan.txt",
            r"plan.txt: line \d+: sync 'somehow' is not one of common",
        ),
    ],
)
@pytest.mark.usefixtures("openmpi")
def test_a_line_that_does_not_fit_the_plan_is_named(
    cli: Cli, before: bytes, after: bytes, path: str, sentence: str
) -> None:
    handed_out(cli)
    launched(cli, "j")
    changed(before, after, path)
    done = imported(cli, "plan.txt", "j")
    assert (done.status, done.out) == (2, "")
    assert re.search(rf"^mpigauge: {sentence}", done.err), done.err
    assert not Path("r.jsonl").exists()


@pytest.mark.parametrize(
    "words", [("none", "j"), ("plan.txt", "none"), ("plan.txt",), ("plan.txt", "plan.txt")]
)
@pytest.mark.usefixtures("openmpi")
def test_files_that_are_not_there_or_no_journals(cli: Cli, words: tuple[str, ...]) -> None:
    handed_out(cli)
    launched(cli, "j")
    done = imported(cli, *words)
    assert done.status == 2
    assert "Traceback" not in done.err


@FILES
@given(data=st.data())
def test_any_damage_is_a_sentence_or_a_result(openmpi: FakeMpi, cli: Cli, data: st.DataObject) -> None:
    if not Path("plan.txt").exists():
        handed_out(cli, "pingpong", "--sizes", "8", "--seed", "3")
        launched(cli, "j")
    files = {"plan.txt": Path("plan.txt").read_bytes(), "j": Path("j").read_bytes()}
    name = data.draw(st.sampled_from(sorted(files)))
    text = files[name]
    at = data.draw(st.integers(0, len(text) - 1))
    junk = data.draw(st.binary(max_size=4))
    Path("damaged").write_bytes(text[:at] + junk + text[at + data.draw(st.integers(0, 9)) :])
    paths = [Path("damaged" if other == name else other) for other in ("plan.txt", "j")]
    with contextlib.suppress(UsageError):
        records = read("journal", paths)
        assert type(records[-1]).__name__ == "End"
        for record in records:  # what is written must be readable
            assert msgspec.json.decode(msgspec.json.encode(record), type=type(record)) == record
